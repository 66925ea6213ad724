/* SPDX-License-Identifier: Apache-2.0 */
/* Maps so wide that the lines under a filter do not fit into L1: strips of columns of the output,
 * each a convolution of its own over the columns that its windows reach. */
#include "convolution.h"

#include "../frame/chain.h"

enum { LEAST_COLUMNS = 64 /**< [A] of a strip */, WIDTH = 4 /**< dimension of the columns */ };

// The convolution of columns [first, first + count) of y, and its first column of x.
static struct op_convolution strip_of(const struct op_convolution *s, int64_t first, int64_t count,
                                      int64_t *x_first)
{
    const int64_t reach = s->dilation[2] * (s->kernel[2] - 1) + 1,
                  begin = first * s->stride[2] - s->pad[2],
                  end = begin + (count - 1) * s->stride[2] + reach;
    struct op_convolution strip = *s;
    *x_first = begin > 0 ? begin : 0;
    strip.pad[2] = begin > 0 ? 0 : -begin;
    strip.x_size[2] = (end < s->x_size[2] ? end : s->x_size[2]) - *x_first;
    strip.y_size[2] = count;
    return strip;
}

// Declines, with nothing planned, if the cube does not take strips of `columns`.
static leo_status plan_strips(const struct op_call *call, const struct op_convolution *s,
                              enum op_convolution_goal goal, int64_t columns,
                              const struct op_tensor *x, const struct op_tensor *y,
                              const struct op_tensor *w)
{
    const bool to_weight = goal == OP_CONVOLUTION_WEIGHT;
    const int64_t count = (s->y_size[2] + columns - 1) / columns,
                  parts[] = {count, w->dim[0], w->dim[1], w->dim[2], w->dim[3], w->dim[4]};
    const uint64_t begin = op_plan_temp_mark(call->plan);
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor sums =
        to_weight ? op_chain_temp(&chain, OP_TYPE_F32, 6, parts) : (struct op_tensor){0};
    for (int64_t i = 0; chain.status == LEO_OK && i < count; i++) {
        const uint64_t mark = op_plan_temp_mark(call->plan);
        const int64_t first = i * columns, left = s->y_size[2] - first;
        int64_t x_first;
        const struct op_convolution strip =
            strip_of(s, first, left < columns ? left : columns, &x_first);
        const struct op_tensor map = op_view_slice(x, WIDTH, x_first, strip.x_size[2]),
                               out = op_view_slice(y, WIDTH, first, strip.y_size[2]),
                               sum = to_weight ? op_view_select(&sums, 0, i) : *w,
                               *a = to_weight ? &out : &map, *b = to_weight ? &map : w,
                               *to = to_weight ? &sum : &out;
        chain.status = op_convolution_plan_cube(call, &strip, goal, a, b, to);
        if (chain.status == OP_DECLINED && i > 0) {
            chain.status = op_convolution_plan_scalar(call, &strip, goal, a, b, NULL, to);
        }
        op_plan_temp_release(call->plan, mark);
    }
    if (chain.status == OP_DECLINED) { // narrower strips are next, with sums of their own
        op_plan_temp_release(call->plan, begin);
    }
    if (to_weight) {
        op_chain_sum(&chain, &sums, 0, w);
    }
    return chain.status;
}

leo_status op_convolution_plan_strips(const struct op_call *call, const struct op_convolution *s,
                                      enum op_convolution_goal goal, const struct op_tensor *a,
                                      const struct op_tensor *b, const struct op_tensor *out)
{
    const bool to_weight = goal == OP_CONVOLUTION_WEIGHT;
    if (goal == OP_CONVOLUTION_INPUT || s->groups != 1 || s->kernel[1] * s->kernel[2] == 1 ||
        op_convolution_copies_pay(s, goal, a)) {
        return OP_DECLINED;
    }
    leo_status status = OP_DECLINED;
    for (int64_t columns = (s->y_size[2] + 1) / 2;
         status == OP_DECLINED && columns >= LEAST_COLUMNS; columns = (columns + 1) / 2) {
        status = plan_strips(call, s, goal, columns, to_weight ? b : a, to_weight ? a : out,
                             to_weight ? out : b);
    }
    return status;
}
