/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of a convolution as the Cube's programs take them: maps in NC1HWC0, weights in FRACTAL_Z,
 * in groups of channels of 32 bytes. */
#pragma once

#include "convolution.h"
#include "convolution_launch.h"

struct op_convolution_lowering {
    const struct op_call *call;
    struct op_plan *plan;
    const struct op_convolution *shape;
    enum op_type type; /**< the cube's */
    uint32_t flags;    /**< OP_CONVOLUTION_CUBE_HF32 or 0 */
    struct op_convolution_room room;
};

/** Channels of a group, which are 32 bytes: 16, of f32 8. */
static inline int64_t op_convolution_c0(enum op_type type)
{
    return 32 / (int64_t)op_type_bytes(type);
}

/** The memory of an operand (of five dimensions, or native) in the cube's type and this format. */
LEO_MUST_CHECK leo_status op_convolution_take(const struct op_convolution_lowering *low,
                                              const struct op_tensor *wide, int format,
                                              struct op_tensor *storage);
/** Weights in FRACTAL_Z as x's gradient takes them: channels exchanged, elements of the kernel in
 * reverse order. */
LEO_MUST_CHECK leo_status op_convolution_take_turned(const struct op_convolution_lowering *low,
                                                     const struct op_tensor *wide,
                                                     struct op_tensor *storage);
/** Elements of a kernel: `lines` from `top` on, each a stride of the convolution further, and so
 * the columns. */
struct op_convolution_taps {
    int64_t top, lines, left, columns;
};
/** Those of weights in FRACTAL_Z. */
LEO_MUST_CHECK leo_status op_convolution_take_some(const struct op_convolution_lowering *low,
                                                   const struct op_tensor *units,
                                                   const struct op_convolution_taps *taps,
                                                   struct op_tensor *storage);
/** Where a result in a native format goes: to `wide` itself, or to a temporary that
 * op_convolution_finish brings there. */
LEO_MUST_CHECK leo_status op_convolution_begin(const struct op_convolution_lowering *low,
                                               const struct op_tensor *wide, int format,
                                               struct op_tensor *native, struct op_tensor *storage);
LEO_MUST_CHECK leo_status op_convolution_finish(const struct op_convolution_lowering *low,
                                                const struct op_tensor *native,
                                                const struct op_tensor *wide);
