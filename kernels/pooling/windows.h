/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows over planes on the vector unit, in f32: planes become groups of eight channels, whose
 * pixels are blocks of 32 bytes, by one transposition, and results go back by another
 * (pooling/window_device.h).
 */
#pragma once

#include "../frame/family.h"

#include "window_args.h"

/** The geometry of a call; [0] is the height, [1] the width. */
struct op_windows {
    struct op_plan *plan;
    int64_t images, channels;
    int64_t large[2], small[2], kernel[2], stride[2], pad[2], dilation[2];
    bool of_large;          /**< pieces are rows of the large map */
    bool whole;             /**< pieces are as large as they can be: their number does not count */
    bool level;             /**< rows of both maps are equally long, if windows step by one */
    bool weighted;          /**< a slot holds a block for each element of the kernel */
    unsigned small_tensors; /**< in a slot, in the shape of small */
    uint32_t rest_rows, rest_bytes; /**< UB beside the slots: rows of small, and bytes */
};

/** Everything of the arguments but addresses and per_block; false: it does not fit. */
bool op_windows_fit(const struct op_windows *w, struct op_window_args *args);
/** Whether a map is stored in NC1HWC0, in a type that goes to lanes and back as it is. */
bool op_windows_is_blocks(const struct op_tensor *tensor);
/** A temporary for planes [n, c, 1, h, w] (or such a map) in lanes; `load`: with what they hold. */
LEO_MUST_CHECK leo_status op_windows_load(struct op_plan *plan, const struct op_tensor *planes,
                                          bool load, struct op_tensor *lanes);
/** Planes from lanes, converted to their type. */
LEO_MUST_CHECK leo_status op_windows_store(struct op_plan *plan, const struct op_tensor *lanes,
                                           const struct op_tensor *planes);
