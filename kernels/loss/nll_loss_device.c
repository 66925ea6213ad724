/* SPDX-License-Identifier: Apache-2.0 */
/* Negative log likelihood and its gradient, on the scalar unit; sums in double. */
#include "../device/element.h"
#include "nll_loss_args.h"

/* The class of sample (n, i), or -1: ignored. */
OP_INLINE int64_t class_of(const struct op_nll_loss_args *t, uint64_t n, uint64_t i)
{
    const int64_t class =
        op_get_i(t->target + n * (uint64_t)t->target_stride[0] + i * (uint64_t)t->target_stride[1],
                 t->target_type);
    if (class == t->ignore) {
        return -1;
    }
    leo_assert(class >= 0 && (uint64_t)class < t->classes, "class %lld of %llu", (long long)class,
               (unsigned long long)t->classes);
    return class;
}

OP_INLINE double weight_of(const struct op_nll_loss_args *t, int64_t class)
{
    return op_get_d(t->weight + (uint64_t)(class * t->weight_stride), t->weight_type);
}

OP_INLINE double loss_of(const struct op_nll_loss_args *t, uint64_t n, uint64_t i, int64_t class)
{
    return -op_get_d(t->self + n * (uint64_t)t->self_stride[0] +
                         (uint64_t)(class * t->self_stride[1]) + i * (uint64_t)t->self_stride[2],
                     t->self_type);
}

/* Block b has samples [b * per_block, ..) of [batch, inner]. Losses that are not reduced go to out;
 * else the block's sum and weight go to a line of their own in parts. */
__global__ __vector__ void nll_loss(struct op_nll_loss_args args)
{
    const struct op_nll_loss_args t = args;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.batch * t.inner);
    uint64_t n = begin / t.inner, i = begin - n * t.inner;
    double sum = 0, total = 0;
    for (uint64_t k = begin; k < end; k++) {
        const int64_t class = class_of(&t, n, i);
        double loss = 0;
        if (class >= 0) {
            const double weight = weight_of(&t, class);
            loss = loss_of(&t, n, i, class) * weight;
            total += weight;
        }
        sum += loss;
        if (t.reduction == OP_LOSS_NONE) {
            op_put_d(t.out + k * op_bytes_of(t.out_type), t.out_type, loss);
        }
        if (++i == t.inner) {
            i = 0;
            n++;
        }
    }
    if (t.reduction != OP_LOSS_NONE) {
        const uint64_t line = t.parts + (uint64_t)get_block_idx() * OP_LINE;
        *(__gm__ volatile double *)line = sum;
        *(__gm__ volatile double *)(line + 8) = total;
    } else if (get_block_idx() == 0) {
        op_put_d(t.total, t.total_type, 0);
    }
    op_flush();
}

/* The parts of `blocks` blocks, in their order. */
__global__ __vector__ void nll_loss_join(struct op_nll_loss_args args)
{
    const struct op_nll_loss_args t = args;
    double sum = 0, total = 0;
    for (uint32_t block = 0; block < t.blocks; block++) {
        const uint64_t line = t.parts + block * (uint64_t)OP_LINE;
        sum += *(const __gm__ volatile double *)line;
        total += *(const __gm__ volatile double *)(line + 8);
    }
    op_put_d(t.out, t.out_type, t.reduction == OP_LOSS_MEAN ? sum / total : sum);
    op_put_d(t.total, t.total_type, total);
    op_flush();
}

/* What the gradient is at a sample's class. */
OP_INLINE double gradient_of(const struct op_nll_loss_args *t, uint64_t n, uint64_t i,
                             int64_t class, double total)
{
    const double grad = op_get_d(
        t->grad + n * (uint64_t)t->grad_stride[0] + i * (uint64_t)t->grad_stride[1], t->grad_type);
    return -weight_of(t, class) * grad / total;
}

OP_INLINE double total_of(const struct op_nll_loss_args *t)
{
    return t->reduction == OP_LOSS_MEAN ? op_get_d(t->total, t->total_type) : 1;
}

/* out is zero: only the targets' elements are written. Block b has batches [b * per_block, ..). */
__global__ __vector__ void nll_loss_backward(struct op_nll_loss_args args)
{
    const struct op_nll_loss_args t = args;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.batch);
    const double total = total_of(&t);
    for (uint64_t n = begin; n < end; n++) {
        for (uint64_t i = 0; i < t.inner; i++) {
            const int64_t class = class_of(&t, n, i);
            if (class >= 0) {
                const uint64_t at = (n * t.classes + (uint64_t)class) * t.inner + i;
                op_put_d(t.out + at * op_bytes_of(t.out_type), t.out_type,
                         gradient_of(&t, n, i, class, total));
            }
        }
    }
    op_flush();
}

/* The gradient at each sample's class to out [batch, inner], and the class (-1: ignored) to parts.
 * Block b has samples [b * per_block, ..). */
__global__ __vector__ void nll_loss_values(struct op_nll_loss_args args)
{
    const struct op_nll_loss_args t = args;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.batch * t.inner);
    const double total = total_of(&t);
    uint64_t n = begin / t.inner, i = begin - n * t.inner;
    for (uint64_t k = begin; k < end; k++) {
        const int64_t class = class_of(&t, n, i);
        *(__gm__ float *)(t.parts + k * 4) = (float)class;
        op_put_d(t.out + k * op_bytes_of(t.out_type), t.out_type,
                 class < 0 ? 0 : gradient_of(&t, n, i, class, total));
        if (++i == t.inner) {
            i = 0;
            n++;
        }
    }
    op_flush();
}
