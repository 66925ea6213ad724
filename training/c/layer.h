/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of a network: their operators, forward and backward. */
#pragma once

#include <leo/op.h>

enum layer_kind {
    LAYER_LINEAR, /**< out = in * weight + bias; weight [ins, outs] */
    LAYER_CONV,   /**< 3 x 3, padding 1; weight [outs, ins, 3, 3] */
    LAYER_RELU,
    LAYER_POOL, /**< largest of 2 x 2 */
    LAYER_END,
};

/** A layer and the shape of a row it takes: channels of height x width. */
struct layer {
    enum layer_kind kind;
    uint32_t ins, outs; /**< channels; of relu and pool the same */
    uint32_t side;      /**< height and width; 1 for linear layers */
};

uint32_t layer_inputs(const struct layer *layer);  /**< elements of a row */
uint32_t layer_outputs(const struct layer *layer); /**< elements of a row */
uint32_t layer_weights(const struct layer *layer); /**< without the bias */
uint32_t layer_biases(const struct layer *layer);
uint64_t layer_mask_bytes(const struct layer *layer, uint32_t rows); /**< 0: needs none */
/** Inputs that one output is a sum of. */
uint32_t layer_fan_in(const struct layer *layer);

/** Device memory of one layer in one pass over `rows` rows. */
struct layer_pass {
    struct leo_op_context *context;
    uint32_t rows;
    uint64_t in, out, weight, bias; /**< f16, but bias: f32 */
    enum leo_dtype out_dtype;       /**< of out and d_out */
    uint64_t mask;                  /**< pool: layer_mask_bytes of its own */
    uint64_t d_out, d_in;           /**< d_in: f16, 0 = not wanted */
    uint64_t d_weight, d_bias;      /**< f32 */
};
LEO_MUST_CHECK leo_status layer_forward(const struct layer *layer, const struct layer_pass *pass);
LEO_MUST_CHECK leo_status layer_backward(const struct layer *layer, const struct layer_pass *pass);
