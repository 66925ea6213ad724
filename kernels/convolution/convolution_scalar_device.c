/* SPDX-License-Identifier: Apache-2.0 */
/* A convolution and its two gradients on the scalar unit: any types, strides, groups. Sums in
 * double, of integers in 64 bits, channels (images) outermost, then positions in order. */
#include "../device/element.h"
#include "convolution_args.h"

/* Products along one dimension: byte offsets of the first pair, and of the next ones. */
struct run {
    int64_t count, a, b, a_step, b_step;
};

OP_INLINE int64_t up(int64_t n, int64_t d)
{
    return n <= 0 ? 0 : (n + d - 1) / d;
}

/* Positions of the input that an output position covers: those of the kernel that lie inside. */
OP_INLINE struct run run_out(const struct op_convolution_dim *d, int64_t o)
{
    const int64_t base = o * d->stride - d->pad, first = up(-base, d->dilation);
    const int64_t last = base >= d->in ? 0 : (d->in - 1 - base) / d->dilation + 1;
    const int64_t end = last < d->kernel ? last : d->kernel;
    return (struct run){end - first, (base + first * d->dilation) * d->a, first * d->b,
                        d->dilation * d->a, d->b};
}

/* Output positions that cover an input position, and through which kernel position each. */
OP_INLINE struct run run_input(const struct op_convolution_dim *d, int64_t i)
{
    int64_t k = 0, step = 1, back = d->dilation;
    for (; back % d->stride; back += d->dilation) {
        step++;
    }
    back /= d->stride; // output positions from one kernel position that fits to the next
    while (k < step && (i + d->pad - k * d->dilation) % d->stride) {
        k++;
    }
    if (k == step || i + d->pad < k * d->dilation) {
        return (struct run){0, 0, 0, 0, 0};
    }
    int64_t o = (i + d->pad - k * d->dilation) / d->stride;
    if (o >= d->out) {
        const int64_t skip = up(o - d->out + 1, back);
        o -= skip * back;
        k += skip * step;
    }
    if (o < 0 || k >= d->kernel) {
        return (struct run){0, 0, 0, 0, 0};
    }
    const int64_t by_kernel = (d->kernel - 1 - k) / step + 1, by_out = o / back + 1;
    return (struct run){by_kernel < by_out ? by_kernel : by_out, o * d->a, k * d->b, -back * d->a,
                        step * d->b};
}

/* Output positions whose kernel position k lies inside the input. */
OP_INLINE struct run run_weight(const struct op_convolution_dim *d, int64_t k)
{
    const int64_t base = k * d->dilation - d->pad, first = up(-base, d->stride);
    const int64_t last = base >= d->in ? 0 : (d->in - 1 - base) / d->stride + 1;
    const int64_t end = last < d->out ? last : d->out;
    return (struct run){end - first, first * d->a, (base + first * d->stride) * d->b, d->a,
                        d->stride * d->b};
}

OP_INLINE bool is_integer(uint32_t type)
{
    return type >= OP_TYPE_I8 && type <= OP_TYPE_BOOL;
}

struct total {
    double real;
    uint64_t whole; /* of integers, without the bits that do not fit */
};

static struct total sum_along(uint64_t a, uint64_t b, const struct run *run, uint32_t a_type,
                              uint32_t b_type, struct total sum)
{
    if (a_type == OP_TYPE_F32 && b_type == OP_TYPE_F32) {
        for (int64_t i = 0; i < run->count; i++) {
            sum.real += (double)*(const __gm__ float *)a * (double)*(const __gm__ float *)b;
            a += (uint64_t)run->a_step;
            b += (uint64_t)run->b_step;
        }
        return sum;
    }
    for (int64_t i = 0; i < run->count; i++) {
        if (is_integer(a_type)) {
            sum.whole += (uint64_t)op_get_i(a, a_type) * (uint64_t)op_get_i(b, b_type);
        } else {
            sum.real += op_get_d(a, a_type) * op_get_d(b, b_type);
        }
        a += (uint64_t)run->a_step;
        b += (uint64_t)run->b_step;
    }
    return sum;
}

static struct total sum_volume(const struct op_convolution_args *t, uint64_t a, uint64_t b,
                               const struct run *run, struct total sum)
{
    for (int64_t z = 0; z < run[0].count; z++) {
        const uint64_t a_z = a + (uint64_t)(z * run[0].a_step);
        const uint64_t b_z = b + (uint64_t)(z * run[0].b_step);
        for (int64_t y = 0; y < run[1].count; y++) {
            sum =
                sum_along(a_z + (uint64_t)(y * run[1].a_step), b_z + (uint64_t)(y * run[1].b_step),
                          &run[2], t->a_type, t->b_type, sum);
        }
    }
    return sum;
}

static struct total result_at(const struct op_convolution_args *t, uint64_t index)
{
    struct run run[OP_CONVOLUTION_DIMS];
    uint64_t a = t->a, b = t->b;
    for (uint32_t d = OP_CONVOLUTION_DIMS; d-- > 0;) {
        const uint64_t above = index / (uint64_t)t->size[d];
        const int64_t at = (int64_t)(index - above * (uint64_t)t->size[d]);
        run[d] = t->goal == OP_CONVOLUTION_OUT     ? run_out(&t->dim[d], at)
                 : t->goal == OP_CONVOLUTION_INPUT ? run_input(&t->dim[d], at)
                                                   : run_weight(&t->dim[d], at);
        a += (uint64_t)run[d].a;
        b += (uint64_t)run[d].b;
        index = above;
    }
    const int64_t first = (int64_t)(index / (uint64_t)t->count[1]);
    const int64_t second = (int64_t)index - first * t->count[1];
    const int64_t group = (t->goal == OP_CONVOLUTION_WEIGHT ? first : second) / t->group_size;
    a += (uint64_t)(first * t->a_first + second * t->a_second + group * t->a_group);
    b += (uint64_t)(first * t->b_first + second * t->b_second + group * t->b_group);
    struct total sum = {0, 0};
    for (int64_t i = 0; i < t->depth; i++) {
        sum = sum_volume(t, a, b, run, sum);
        a += (uint64_t)t->a_depth;
        b += (uint64_t)t->b_depth;
    }
    if (t->bias) {
        const uint64_t bias = t->bias + (uint64_t)(second * t->bias_stride);
        sum.real += op_get_d(bias, t->bias_type);
        sum.whole += (uint64_t)op_get_i(bias, t->bias_type);
    }
    return sum;
}

__global__ __vector__ void convolution(struct op_convolution_args args)
{
    const struct op_convolution_args t = args;
    const uint64_t count = (uint64_t)(t.count[0] * t.count[1] * t.size[0] * t.size[1] * t.size[2]);
    const struct op_span span = op_block_span(t.result, t.result_type, count, t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const struct total sum = result_at(&t, i);
        const uint64_t to = t.result + i * op_bytes_of(t.result_type);
        if (t.result_type == OP_TYPE_BOOL) {
            op_put_low(to, t.result_type, sum.whole != 0);
        } else if (is_integer(t.result_type)) {
            op_put_low(to, t.result_type, (int64_t)sum.whole);
        } else {
            op_put_d(to, t.result_type, sum.real);
        }
    }
    op_flush();
}
