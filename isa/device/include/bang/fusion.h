/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by <bang.h>: (a op b) op c. The letters of a tag behind F are the two operations: A sum,
 * S difference, M product. Assumed: each is rounded, and the three-letter names mean this.
 */
#pragma once

template <typename First, typename Second> struct leo_fusion {
};

constexpr leo_fusion<leo_op_mul, leo_op_add> FUSION_FMA;
constexpr leo_fusion<leo_op_mul, leo_op_sub> FUSION_FMS;
constexpr leo_fusion<leo_op_add, leo_op_mul> FUSION_FAM;
constexpr leo_fusion<leo_op_sub, leo_op_mul> FUSION_FSM;
constexpr leo_fusion<leo_op_add, leo_op_add> FUSION_FAA;
constexpr leo_fusion<leo_op_add, leo_op_sub> FUSION_FAS;
constexpr leo_fusion<leo_op_sub, leo_op_add> FUSION_FSA;
constexpr leo_fusion<leo_op_sub, leo_op_sub> FUSION_FSS;

/* Numbers as elements. Not leo_stage, which calls on them may use. */
__nram__ uint8_t leo_numbers[2][LEO_STAGE_BYTES];

/* Elements from `at` on, or a number as so many elements in a place of the language. */
template <typename T, typename V>
LEO_BANG const T *leo_operand(V from, int64_t at, int64_t count, int place)
{
    if constexpr (std::is_pointer<V>::value) {
        return from + at;
    } else {
        __bang_write_value((T *)leo_numbers[place], count, from);
        return (const T *)leo_numbers[place];
    }
}

/** b and c are elements or numbers; the result may stand where a or b do. */
template <typename T, typename First, typename Second, typename B, typename C>
LEO_BANG_SMALL void __bang_fusion(leo_fusion<First, Second>, T *dst, const T *a, B b, C c,
                                  int64_t count)
{
    constexpr int64_t most = LEO_STAGE_BYTES / sizeof(T);
    for (int64_t at = 0; at < count; at += most) {
        const int64_t part = count - at < most ? count - at : most;
        const T *right = leo_operand<T>(b, at, part, 0), *last = leo_operand<T>(c, at, part, 1);
        if (last == dst + at) {
            leo_bang_refuse("__bang_fusion: the result may not stand where the last operand does");
            return;
        }
        leo_each<First>(dst + at, a + at, right, 0, part);
        leo_each<Second>(dst + at, dst + at, last, 0, part);
    }
}
