/* SPDX-License-Identifier: Apache-2.0 */
/* Margin loss of several labels, on the scalar unit; sums in double. */
#include "../device/element.h"
#include "multilabel_args.h"

OP_INLINE int64_t label_of(const struct op_multilabel_args *t, uint64_t row, uint64_t k)
{
    const int64_t label =
        *(const __gm__ volatile int64_t *)(t->target + (row * t->classes + k) * 8);
    leo_assert(label < (int64_t)t->classes, "label %lld of %llu classes", (long long)label,
               (unsigned long long)t->classes);
    return label;
}

/* What one label adds: its margins to the classes that are not marked. A NaN is no margin. */
OP_INLINE double margins_of(const struct op_multilabel_args *t, uint64_t row, int64_t label)
{
    const uint64_t self = t->self + row * t->classes * op_bytes_of(t->self_type);
    const uint64_t marks = t->is_target + row * t->classes * op_bytes_of(t->is_target_type);
    const double own = op_get_d(self + (uint64_t)label * op_bytes_of(t->self_type), t->self_type);
    double sum = 0;
    for (uint64_t k = 0; k < t->classes; k++) {
        if (op_get_f(marks + k * op_bytes_of(t->is_target_type), t->is_target_type) == 0) {
            const double margin =
                1 - own + op_get_d(self + k * op_bytes_of(t->self_type), t->self_type);
            sum += margin > 0 ? margin : 0;
        }
    }
    return sum;
}

__global__ __vector__ void multilabel(struct op_multilabel_args args)
{
    const struct op_multilabel_args t = args;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.rows);
    op_infinite_begin();
    for (uint64_t row = begin; row < end; row++) {
        const uint64_t marks = t.is_target + row * t.classes * op_bytes_of(t.is_target_type);
        double sum = 0;
        for (uint64_t k = 0; k < t.classes; k++) {
            op_put_f(marks + k * op_bytes_of(t.is_target_type), t.is_target_type, 0);
        }
        for (uint64_t k = 0; k < t.classes && label_of(&t, row, k) >= 0; k++) {
            op_put_f(marks + (uint64_t)label_of(&t, row, k) * op_bytes_of(t.is_target_type),
                     t.is_target_type, 1);
        }
        for (uint64_t k = 0; k < t.classes && label_of(&t, row, k) >= 0; k++) {
            sum += margins_of(&t, row, label_of(&t, row, k));
        }
        *(__gm__ volatile float *)(t.losses + row * 4) = (float)(sum / (double)t.classes);
    }
    op_flush();
}
