/* SPDX-License-Identifier: Apache-2.0 */
/* One vector instruction, over and over, with operands as given. */
#include "vec_op.h"

#include <leo/device.h>

/** The vector instructions of isa/insn/vector.isa, in its order. */
enum vec_op {
#define VEC_WORD(name, opcode, f3, f2, is_u4, sub, config) VEC_OP_##name,
#include <vec_words.def>
#undef VEC_WORD
    VEC_OP_COUNT
};

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

#define ISSUE_0(opcode, f3, f2, sub) LEO_R4(opcode, f3, f2, a, b, c, d)
#define ISSUE_1(opcode, f3, f2, sub) LEO_U4(opcode, f3, f2, sub, a, b, d)

#define VEC_WORD(name, opcode, f3, f2, is_u4, sub, config)                                         \
    static void issue_##name(const struct vec_shape *s)                                            \
    {                                                                                              \
        const uint64_t a = s->a, b = s->b, c = s->c, d = s->d;                                     \
        const uint32_t count = s->count;                                                           \
        (void)c;                                                                                   \
        if (!s->barrier) {                                                                         \
            for (uint32_t i = 0; i < count; i++) {                                                 \
                ISSUE_##is_u4(opcode, f3, f2, sub);                                                \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            ISSUE_##is_u4(opcode, f3, f2, sub);                                                    \
            pipe_barrier(PIPE_V);                                                                  \
        }                                                                                          \
    }
#include <vec_words.def>
#undef VEC_WORD

__global__ __vector__ void vec_op(struct vec_shape shape)
{
    const struct vec_shape *s = &shape;
    set_mask(s);
    for (uint32_t i = 0; i < 4; i++) {
        set_va_reg_sb((ub_addr8_t)i, s->va[i]);
    }
    switch ((enum vec_op)s->op) {
#define VEC_WORD(name, opcode, f3, f2, is_u4, sub, config)                                         \
    case VEC_OP_##name:                                                                            \
        return issue_##name(s);
#include <vec_words.def>
#undef VEC_WORD
    case VEC_OP_COUNT:
        break;
    }
    trap();
}
