/* SPDX-License-Identifier: Apache-2.0 */
/* One vector instruction, over and over, with strides and addresses as given. */
#include "vec_op.h"

#include <leo/device.h>

#define INLINE static inline __attribute__((always_inline))

INLINE void barrier(const struct vec_shape *s)
{
    if (s->barrier) {
        pipe_barrier(PIPE_V);
    }
}

static void set_mask(const struct vec_shape *s)
{
    if (s->elems) {
        set_mask_count();
        set_vector_mask(0, s->elems);
    } else {
        set_mask_norm();
        set_vector_mask(~0ull, ~0ull);
    }
}

#define KERNEL     vec_op_f16
#define TYPE       half
#define BITS       uint16_t
#define NAME(name) name##_f16
#include "vec_op.inc"
#undef KERNEL
#undef TYPE
#undef BITS
#undef NAME

#define KERNEL     vec_op_f32
#define TYPE       float
#define BITS       uint32_t
#define NAME(name) name##_f32
#include "vec_op.inc"
