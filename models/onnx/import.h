/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the ONNX importer: tensors by name, of which some are known on the host (integers of
 * shapes, weights) and some have a value in the model; a node's handler makes the ones it writes.
 */
#pragma once

#include "../aipp.h"

#include <leo/model_import.h>
#include <onnx.pb-c.h>

/** Known numbers are float or int64_t; a tensor may be known and have a value too. */
struct onnx_tensor {
    const char *name;
    enum leo_dtype dtype; /**< F32 stands for what floats are computed in */
    uint32_t rank;
    int64_t dim[LEO_OP_RANK_MAX];
    void *known; /**< owned: float if dtype is F32, else int64_t; NULL: not known */
    uint32_t value;
    bool has_value;
};

struct onnx_import {
    struct model_build build;
    const struct leo_import_options *options;
    OnnxFile__Graph *graph;
    OnnxFile__Node *node; /**< the one being imported */
    int64_t opset;
    enum leo_dtype floats; /**< of the model: F16 or F32 */
    struct onnx_tensor *tensors;
    uint32_t tensor_count, tensor_room;
    bool *skipped;        /**< by node: folded into one before, or not needed */
    const char **outputs; /**< names of the tensors that the model gives */
    uint32_t output_count;
    struct leo_aipp_list *aipp; /**< NULL: none */
    struct onnx_fused *fused;   /**< patterns that were found */
    bool bad_option;            /**< what failed was an option's value */
};

typedef void (*onnx_handler)(struct onnx_import *import);
/** NULL: no such operator is served. */
onnx_handler onnx_find_handler(const char *op);

/** Ends the import with the node's name in the text. */
void onnx_fail(struct onnx_import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The same for the value of an option. */
void onnx_bad_option(struct onnx_import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Whether a shape is one of a tensor that may exist; fails if not. Negative sizes are looked at
 * elsewhere. */
bool onnx_fits(struct onnx_import *import, uint32_t rank, const int64_t *dim);
/** A tensor of this name, neither known nor with a value; NULL: no room, or the import has failed.
 */
struct onnx_tensor *onnx_add(struct onnx_import *import, const char *name, enum leo_dtype dtype,
                             uint32_t rank, const int64_t *dim);
struct onnx_tensor *onnx_find(struct onnx_import *import, const char *name);
/** Input `index` of the node; NULL if it is left out. A name that no node makes fails. */
struct onnx_tensor *onnx_input(struct onnx_import *import, size_t index);
size_t onnx_input_count(const struct onnx_import *import);
/** Makes output `index` of the node, neither known nor with a value. */
struct onnx_tensor *onnx_output(struct onnx_import *import, size_t index, enum leo_dtype dtype,
                                uint32_t rank, const int64_t *dim);
/** The same, with room for numbers that are known. */
struct onnx_tensor *onnx_known(struct onnx_import *import, size_t index, enum leo_dtype dtype,
                               uint32_t rank, const int64_t *dim);
/** The output is the input with another shape of as many elements. */
void onnx_reshaped(struct onnx_import *import, const struct onnx_tensor *from, uint32_t rank,
                   const int64_t *dim);
int64_t onnx_count(const struct onnx_tensor *tensor);
/** Type in the model. */
enum leo_dtype onnx_dtype(const struct onnx_import *import, const struct onnx_tensor *tensor);
/** The tensor in the model: known ones become weights. */
uint32_t onnx_value(struct onnx_import *import, struct onnx_tensor *tensor);
/** The same without gaps. */
uint32_t onnx_dense(struct onnx_import *import, struct onnx_tensor *tensor);
/** Known floats as a weight of the model's type. */
uint32_t onnx_weight(struct onnx_import *import, uint32_t rank, const int64_t *dim,
                     const float *data);
void onnx_set_value(struct onnx_tensor *tensor, uint32_t value);

/* Attributes of the node. */
const OnnxFile__Attribute *onnx_attribute(const struct onnx_import *import, const char *name);
int64_t onnx_attribute_int(const struct onnx_import *import, const char *name, int64_t other);
float onnx_attribute_float(const struct onnx_import *import, const char *name, float other);
/** How many of them, at most `room`; 0 if there is none. */
uint32_t onnx_attribute_ints(const struct onnx_import *import, const char *name, int64_t *ints,
                             uint32_t room);
bool onnx_attribute_is(const struct onnx_import *import, const char *name, const char *text);
/** The position of an attribute's word; `other` if it is not given, -1: it is none of them. */
int onnx_attribute_word(const struct onnx_import *import, const char *name,
                        const char *const *words, size_t count, int other);
/** Input `index` as a number, which must be known; an input that is left out leaves *number.
 * False: it failed. `name` is for the text. */
bool onnx_known_number(struct onnx_import *import, const char *name, size_t index, double *number);
/** Integers from an attribute or, in newer operators, from input `index`; they must be known. */
uint32_t onnx_ints(struct onnx_import *import, const char *name, size_t index, int64_t *ints,
                   uint32_t room);
/** A dimension, negative ones from the end; fails outside. */
uint32_t onnx_axis(struct onnx_import *import, int64_t axis, uint32_t rank);
/** Type of a number of the format; floats are F32. False: it is not served. */
bool onnx_take_type(int32_t type, enum leo_dtype *dtype);
/** The same of an input or output of the model, or a failure with `what` and the name: the chip has
 * no double precision. `half`: floats are F16; so are halves of the file. */
bool onnx_take_io_type(struct onnx_import *import, const char *what, const char *name,
                       const OnnxFile__TensorType *type, bool half, enum leo_dtype *dtype);
/** A tensor of the file as one that is known. */
void onnx_take_data(struct onnx_import *import, const OnnxFile__Tensor *from,
                    struct onnx_tensor *to);

/* Handlers, by subject. */
void onnx_unary(struct onnx_import *import);
void onnx_binary(struct onnx_import *import);
void onnx_sum(struct onnx_import *import);
void onnx_clip(struct onnx_import *import);
void onnx_with_slope(struct onnx_import *import);
void onnx_hard_sigmoid(struct onnx_import *import);
void onnx_where(struct onnx_import *import);
void onnx_softmax(struct onnx_import *import);
void onnx_reduce(struct onnx_import *import);
void onnx_gelu(struct onnx_import *import);

void onnx_constant(struct onnx_import *import);
void onnx_constant_of_shape(struct onnx_import *import);
void onnx_dropout(struct onnx_import *import);
void onnx_identity(struct onnx_import *import);
void onnx_shape(struct onnx_import *import);
void onnx_reshape(struct onnx_import *import);
void onnx_flatten(struct onnx_import *import);
void onnx_squeeze(struct onnx_import *import);
void onnx_unsqueeze(struct onnx_import *import);
void onnx_transpose(struct onnx_import *import);
void onnx_concat(struct onnx_import *import);
void onnx_slice(struct onnx_import *import);
void onnx_split(struct onnx_import *import);
void onnx_gather(struct onnx_import *import);
void onnx_cast(struct onnx_import *import);
void onnx_expand(struct onnx_import *import);
void onnx_pad(struct onnx_import *import);

void onnx_conv(struct onnx_import *import);
void onnx_conv_transpose(struct onnx_import *import);
void onnx_batch_norm(struct onnx_import *import);
void onnx_layer_norm(struct onnx_import *import);
void onnx_pool(struct onnx_import *import);
void onnx_global_pool(struct onnx_import *import);
void onnx_gemm(struct onnx_import *import);
void onnx_matmul(struct onnx_import *import);
void onnx_matmul_bias(struct onnx_import *import);
void onnx_lrn(struct onnx_import *import);
void onnx_resize(struct onnx_import *import);

void onnx_activation(struct onnx_import *import);
void onnx_prelu(struct onnx_import *import);
void onnx_is(struct onnx_import *import);
void onnx_arg(struct onnx_import *import);
void onnx_hardmax(struct onnx_import *import);

void onnx_gather_elements(struct onnx_import *import);
void onnx_scatter_elements(struct onnx_import *import);
void onnx_gather_nd(struct onnx_import *import);
void onnx_scatter_nd(struct onnx_import *import);
void onnx_top_k(struct onnx_import *import);
void onnx_cum_sum(struct onnx_import *import);
void onnx_trilu(struct onnx_import *import);
void onnx_tile(struct onnx_import *import);
void onnx_eye_like(struct onnx_import *import);
void onnx_size(struct onnx_import *import);
void onnx_range(struct onnx_import *import);
void onnx_depth_to_space(struct onnx_import *import);
void onnx_space_to_depth(struct onnx_import *import);

void onnx_group_norm(struct onnx_import *import);
void onnx_rms_norm(struct onnx_import *import);
void onnx_mean_variance(struct onnx_import *import);
void onnx_lp_norm(struct onnx_import *import);
void onnx_class_loss(struct onnx_import *import);

void onnx_lstm(struct onnx_import *import);
void onnx_gru(struct onnx_import *import);
void onnx_attention(struct onnx_import *import);
void onnx_fused_attention(struct onnx_import *import);
void onnx_rotary(struct onnx_import *import);
void onnx_quantize(struct onnx_import *import);
void onnx_dequantize(struct onnx_import *import);
void onnx_grid_sample(struct onnx_import *import);
void onnx_one_hot(struct onnx_import *import);
void onnx_prior_box(struct onnx_import *import);
