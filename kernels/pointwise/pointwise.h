/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the pointwise family: a call being planned (pointwise_work.c), and its ways over the
 * vector unit (pointwise_moves.c, _wide.c, _tiles.c). */
#pragma once

#include "../frame/family.h"

/** A call: its output and the tensor behind each variable, all of the output's shape. */
struct op_pointwise_work {
    const struct op_call *call;
    const struct op_pointwise *op;
    struct op_tensor out, tensors[OP_POINTWISE_MAX];
    bool is_tensor[OP_POINTWISE_MAX]; /**< else a number */
    double real[OP_POINTWISE_MAX];
    int64_t integer[OP_POINTWISE_MAX];
    enum op_type common; /**< what the inputs promote to */
};

/** The index space: dimensions in the order of the output's memory, merged where every tensor
 * allows it. */
struct op_pointwise_space {
    unsigned rank; /**< at least 1 */
    int64_t dim[OP_RANK_MAX];
    int64_t stride[1 + OP_POINTWISE_MAX][OP_RANK_MAX]; /**< elements; 0 = the output */
};

/** The tensors of work->call, whose out and inputs are known; checks that shapes broadcast. */
LEO_MUST_CHECK leo_status op_pointwise_take_tensors(struct op_pointwise_work *work);
/** Operators that only move bits take complex numbers of 8 bytes as integers; others refuse. */
LEO_MUST_CHECK leo_status op_pointwise_take_complex(struct op_pointwise_work *work);
/** The common type, and the variables that are no tensors. */
void op_pointwise_take_numbers(struct op_pointwise_work *work);
/** In what the call computes: 'f' float, 'i' integers, 'd' double. */
char op_pointwise_class(const struct op_pointwise_work *work);
void op_pointwise_make_space(const struct op_pointwise_work *work,
                             struct op_pointwise_space *space);
/** Whether later elements of the output have higher addresses, which sharing by lines needs. */
bool op_pointwise_is_ascending(const struct op_pointwise_space *space);
/** Whether an infinite result is no overflow: a number of the call is infinite, as the fill value
 * of a mask is, or results are elements of inputs that are no wider. */
bool op_pointwise_keeps_infinities(const struct op_pointwise_work *work);
/** Whether a variable is where its element lies. */
bool op_pointwise_is_place(const struct op_pointwise_work *work, unsigned var);
/** Whether one of the expression is: then dimensions must stay as they are. */
bool op_pointwise_asks_places(const struct op_pointwise_work *work);
/** Whether the output is the one input, converted if need be. */
bool op_pointwise_is_copy(const struct op_pointwise_work *work);

/* Ways of a call; OP_DECLINED: it is not for this one. */
/** The vector unit's launch. `class`: f computes in
 * float, i in integers, of others it can be copies. */
LEO_MUST_CHECK leo_status op_pointwise_plan_tiles(const struct op_pointwise_work *work,
                                                  const struct op_pointwise_space *space,
                                                  char class);
/** Whether types and expression are the vector unit's, whatever the layout. */
bool op_pointwise_fits_vector(const struct op_pointwise_work *work, bool floats);
/** The steps of a call on 64-bit integers that the vector unit has. */
LEO_MUST_CHECK leo_status op_pointwise_plan_wide(const struct op_pointwise_work *work);
/** The launch of a copy without conversion between layouts. */
LEO_MUST_CHECK leo_status op_pointwise_plan_moves(const struct op_pointwise_work *work,
                                                  const struct op_pointwise_space *space);
/** The same by way of several launches. */
LEO_MUST_CHECK leo_status op_pointwise_plan_planes(const struct op_pointwise_work *work,
                                                   const struct op_pointwise_space *space);
/** Ranges of whole numbers, start + step * index. */
LEO_MUST_CHECK leo_status op_pointwise_plan_range(const struct op_pointwise_work *work);
/**
 * Channels that do not fill a block: out [images][positions][16] = in [images][channels][positions]
 * with zeros behind the last of fewer than 16 channels, elements of 16 or 32 bits. Strides of
 * images and, of in, channels: elements.
 */
struct op_padded_channels {
    struct op_tensor out, in; /**< their address and type */
    int64_t images, channels, positions;
    int64_t out_image, in_image, in_channel;
};
LEO_MUST_CHECK leo_status op_pointwise_plan_padded(const struct op_call *call,
                                                   const struct op_padded_channels *channels);
/** Copies numbers of which some are complex, part by part (complex.c). */
LEO_MUST_CHECK leo_status op_complex_plan_copy(const struct op_call *call,
                                               const struct op_tensor *out,
                                               const struct op_tensor *in);
