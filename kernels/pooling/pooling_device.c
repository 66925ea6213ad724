/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling of any window over the last one to three dimensions on the scalar
 * unit. Gradients gather: an input position adds up the windows that contain
 * it, in order, in double. */
#include "../device/element.h"
#include "pooling_args.h"

/* Input positions of a window, or windows of an input position: [begin, end) by
 * step. */
struct range {
    int64_t begin, end, step;
};

OP_INLINE struct range window_of(const struct op_pooling_dim *d, int64_t o)
{
    if (d->kernel == 0) {
        return (struct range){o * d->in / d->out, ((o + 1) * d->in + d->out - 1) / d->out, 1};
    }
    int64_t begin = o * d->stride - d->pad;
    const int64_t end = begin + (d->kernel - 1) * d->dilation + 1;
    while (begin < 0) {
        begin += d->dilation;
    }
    return (struct range){begin, end < d->in ? end : d->in, d->dilation};
}

OP_INLINE struct range windows_with(const struct op_pooling_dim *d, int64_t i)
{
    if (d->kernel == 0) {
        return (struct range){i * d->out / d->in, ((i + 1) * d->out + d->in - 1) / d->in, 1};
    }
    const int64_t last = i + d->pad, first = last - (d->kernel - 1) * d->dilation;
    const int64_t begin = first <= 0 ? 0 : (first + d->stride - 1) / d->stride,
                  end = last / d->stride + 1;
    return (struct range){begin, end < d->out ? end : d->out, 1};
}

/* By how much an average divides along one dimension. */
OP_INLINE int64_t weight_of(const struct op_pooling_args *t, const struct op_pooling_dim *d,
                            int64_t o)
{
    const struct range window = window_of(d, o);
    if (d->kernel == 0 || !t->count_pad) {
        return window.end - window.begin;
    }
    const int64_t begin = o * d->stride - d->pad, end = begin + d->kernel;
    return (end < d->in + d->pad ? end : d->in + d->pad) - begin;
}

struct best {
    double value;
    int64_t at;
};

/* `type` is a constant: elements of up to 32 bits compare as floats. */
OP_INLINE struct best largest_of(const struct op_pooling_args *t, uint64_t a, const struct range *w,
                                 uint32_t type)
{
    const struct op_pooling_dim *d = t->dim;
    float most = -__builtin_inff();
    int64_t at = (w[0].begin * d[1].in + w[1].begin) * d[2].in + w[2].begin;
    for (int64_t z = w[0].begin; z < w[0].end; z += w[0].step) {
        for (int64_t y = w[1].begin; y < w[1].end; y += w[1].step) {
            uint64_t from = a + (uint64_t)(z * d[0].a + y * d[1].a + w[2].begin * d[2].a);
            const uint64_t step = (uint64_t)(w[2].step * d[2].a);
            const int64_t row = (z * d[1].in + y) * d[2].in;
            for (int64_t x = w[2].begin; x < w[2].end; x += w[2].step, from += step) {
                const float value = op_get_f(from, type);
                if (value > most || value != value) { // the last NaN wins, as in PyTorch
                    most = value;
                    at = row + x;
                }
            }
        }
    }
    return (struct best){(double)most, at};
}

static struct best largest_f64(const struct op_pooling_args *t, uint64_t a, const struct range *w)
{
    const struct op_pooling_dim *d = t->dim;
    struct best best = {-__builtin_inf(),
                        (w[0].begin * d[1].in + w[1].begin) * d[2].in + w[2].begin};
    for (int64_t z = w[0].begin; z < w[0].end; z += w[0].step) {
        for (int64_t y = w[1].begin; y < w[1].end; y += w[1].step) {
            const uint64_t row = a + (uint64_t)(z * d[0].a + y * d[1].a);
            for (int64_t x = w[2].begin; x < w[2].end; x += w[2].step) {
                const double value = op_get_d(row + (uint64_t)(x * d[2].a), t->a_type);
                if (value > best.value || value != value) {
                    best.value = value;
                    best.at = (z * d[1].in + y) * d[2].in + x;
                }
            }
        }
    }
    return best;
}

static struct best largest(const struct op_pooling_args *t, uint64_t a, const struct range *w)
{
    switch (t->a_type) {
    case OP_TYPE_F32:
        return largest_of(t, a, w, OP_TYPE_F32);
    case OP_TYPE_F16:
        return largest_of(t, a, w, OP_TYPE_F16);
    case OP_TYPE_BF16:
        return largest_of(t, a, w, OP_TYPE_BF16);
    default:
        return largest_f64(t, a, w);
    }
}

static double average(const struct op_pooling_args *t, uint64_t a, const struct range *w,
                      const int64_t *at)
{
    const struct op_pooling_dim *d = t->dim;
    double sum = 0;
    if (w[0].begin >= w[0].end || w[1].begin >= w[1].end || w[2].begin >= w[2].end) {
        return 0;
    }
    for (int64_t z = w[0].begin; z < w[0].end; z++) {
        for (int64_t y = w[1].begin; y < w[1].end; y++) {
            const uint64_t row = a + (uint64_t)(z * d[0].a + y * d[1].a);
            for (int64_t x = w[2].begin; x < w[2].end; x++) {
                sum += op_get_d(row + (uint64_t)(x * d[2].a), t->a_type);
            }
        }
    }
    const int64_t divisor = t->divisor ? t->divisor
                                       : weight_of(t, &d[0], at[0]) * weight_of(t, &d[1], at[1]) *
                                             weight_of(t, &d[2], at[2]);
    return sum / (double)divisor;
}

static double max_gradient(const struct op_pooling_args *t, uint64_t a, uint64_t index,
                           const struct range *w, const int64_t *at)
{
    const struct op_pooling_dim *d = t->dim;
    const int64_t own = (at[0] * d[1].in + at[1]) * d[2].in + at[2];
    double sum = 0;
    for (int64_t z = w[0].begin; z < w[0].end; z++) {
        for (int64_t y = w[1].begin; y < w[1].end; y++) {
            for (int64_t x = w[2].begin; x < w[2].end; x++) {
                const uint64_t o = (uint64_t)((z * d[1].out + y) * d[2].out + x);
                const int64_t from =
                    index && t->index_type == OP_TYPE_I32
                        ? *(const __gm__ volatile int32_t *)(index + o * 4)
                    : index
                        ? op_get_i(index + o * op_bytes_of(t->index_type), t->index_type)
                        : ((z * d[0].stride - d[0].pad) * d[1].in + y * d[1].stride - d[1].pad) *
                                  d[2].in +
                              x * d[2].stride - d[2].pad;
                if (from == own) {
                    sum +=
                        op_get_d(a + (uint64_t)(z * d[0].a + y * d[1].a + x * d[2].a), t->a_type);
                }
            }
        }
    }
    return sum;
}

static double average_gradient(const struct op_pooling_args *t, uint64_t a, const struct range *w)
{
    const struct op_pooling_dim *d = t->dim;
    double sum = 0;
    for (int64_t z = w[0].begin; z < w[0].end; z++) {
        for (int64_t y = w[1].begin; y < w[1].end; y++) {
            const int64_t outer = weight_of(t, &d[0], z) * weight_of(t, &d[1], y);
            for (int64_t x = w[2].begin; x < w[2].end; x++) {
                const int64_t divisor = t->divisor ? t->divisor : outer * weight_of(t, &d[2], x);
                sum += op_get_d(a + (uint64_t)(z * d[0].a + y * d[1].a + x * d[2].a), t->a_type) /
                       (double)divisor;
            }
        }
    }
    return sum;
}

/* One element of the result: position `at` of a plane. */
OP_INLINE void compute(const struct op_pooling_args *t, uint64_t to, uint64_t a, uint64_t index,
                       const int64_t *at)
{
    const bool gradient =
        t->goal == OP_POOLING_MAX_GRADIENT || t->goal == OP_POOLING_AVERAGE_GRADIENT;
    struct range w[OP_POOLING_DIMS];
    for (uint32_t d = 0; d < OP_POOLING_DIMS; d++) {
        w[d] = gradient ? windows_with(&t->dim[d], at[d]) : window_of(&t->dim[d], at[d]);
    }
    switch ((enum op_pooling_goal)t->goal) {
    case OP_POOLING_MAX:
        op_put_d(to, t->result_type, largest(t, a, w).value);
        return;
    case OP_POOLING_MAX_INDEX:
        op_put_i(to, t->result_type, largest(t, a, w).at);
        return;
    case OP_POOLING_MAX_GRADIENT:
        op_put_d(to, t->result_type, max_gradient(t, a, index, w, at));
        return;
    case OP_POOLING_AVERAGE:
        op_put_d(to, t->result_type, average(t, a, w, at));
        return;
    case OP_POOLING_AVERAGE_GRADIENT:
        op_put_d(to, t->result_type, average_gradient(t, a, w));
        return;
    }
}

__global__ __vector__ void pooling(struct op_pooling_args args)
{
    const struct op_pooling_args t = args;
    const bool gradient =
        t.goal == OP_POOLING_MAX_GRADIENT || t.goal == OP_POOLING_AVERAGE_GRADIENT;
    int64_t size[OP_POOLING_DIMS];
    for (uint32_t d = 0; d < OP_POOLING_DIMS; d++) {
        size[d] = gradient ? t.dim[d].in : t.dim[d].out;
    }
    const uint64_t positions = (uint64_t)(size[0] * size[1] * size[2]),
                   pitch = (uint64_t)t.result_pitch;
    const struct op_span span =
        op_block_span(t.result, t.result_type, (uint64_t)t.planes * pitch, t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        const uint64_t plane = i / pitch, position = i - plane * pitch;
        if (position >= positions) { // the gap up to the next plane
            i = (plane + 1) * pitch - 1;
            continue;
        }
        const uint64_t row = position / (uint64_t)size[2];
        const int64_t at[OP_POOLING_DIMS] = {(int64_t)(row / (uint64_t)size[1]),
                                             (int64_t)(row % (uint64_t)size[1]),
                                             (int64_t)(position % (uint64_t)size[2])};
        const uint64_t image = plane / (uint64_t)t.channels,
                       channel = plane - image * (uint64_t)t.channels;
        compute(&t, t.result + i * op_bytes_of(t.result_type),
                t.a + image * (uint64_t)t.a_image + channel * (uint64_t)t.a_channel,
                t.index ? t.index + plane * (uint64_t)t.index_pitch * op_bytes_of(t.index_type) : 0,
                at);
    }
    op_flush();
}
