/* SPDX-License-Identifier: Apache-2.0 */
/* What vec_op is asked to do: shared by host and device. */
#pragma once

#include <stdint.h>

enum vec_op {
    VEC_VADD,
    VEC_VSUB,
    VEC_VMUL,
    VEC_VDIV,
    VEC_VMAX,
    VEC_VMIN,
    VEC_VABS,
    VEC_VEXP,
    VEC_VLN,
    VEC_VSQRT,
    VEC_VRSQRT,
    VEC_VREC,
    VEC_VRELU,
    VEC_VADDS,
    VEC_VMULS,
    VEC_VMAXS,
    VEC_VMINS,
    VEC_VCADD,
    VEC_VCMAX,
    VEC_VCMIN,
    VEC_VCOPY
};

/** Addresses in UB; strides in blocks of 32 bytes. */
struct vec_shape {
    uint64_t dst, src0, src1;
    uint32_t op, count, repeat;
    uint32_t barrier; /**< a barrier behind each instruction */
    uint32_t elems;   /**< counter mode; 0 = by repeats, all lanes */
    uint32_t dst_blk, src0_blk, src1_blk, dst_rep, src0_rep, src1_rep;
};
