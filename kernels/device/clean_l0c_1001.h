/* SPDX-License-Identifier: Apache-2.0 */
/*
 * L0C of the coupled core without what earlier kernels left in it. Results leave L0C in whole
 * fractals, and a conversion to f16 remembers an overflow in rows and columns that no result has,
 * too: GradScaler would skip the step. What the kernel itself left there is as large as its
 * results.
 */
#pragma once

#include "inline.h"

/** Zero in 256 rows of `blocks` blocks of 16 columns, all that there is: one product of zeros.
 * Takes 512 bytes at the front of UB and of L1, and the fronts of L0A and L0B. */
OP_INLINE void op_clean_l0c(uint32_t blocks)
{
    enum { FRACTALS = 16, ROWS = 16 * FRACTALS };
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    vector_dup(op_ub_f16(0), (half)0, 2, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_cbuf((__cbuf__ void *)0, (__ubuf__ void *)0, 0, 1, 16, 0, 0);
    pipe_barrier(PIPE_ALL);
    load_cbuf_to_ca((__ca__ half *)0, (__cbuf__ half *)0, 0, FRACTALS, 0, 0, 0, false, inc);
    load_cbuf_to_cb((__cb__ half *)0, (__cbuf__ half *)0, 0, blocks, 0, 0, 0, false, inc);
    pipe_barrier(PIPE_ALL);
    mad((__cc__ float *)0, (__ca__ half *)0, (__cb__ half *)0,
        op_mad(ROWS, 16, blocks * 16, false, true));
    pipe_barrier(PIPE_ALL);
}
