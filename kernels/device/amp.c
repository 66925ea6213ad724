/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient scaling of mixed precision training, on the scalar unit. */
#include "amp_args.h"
#include "element.h"

#include <math.h>

__global__ __vector__ void amp_unscale(struct op_unscale_args args)
{
    const struct op_unscale_args t = args;
    const struct op_span span = op_block_span(t.grad, t.grad_type, t.count, t.per_block);
    const uint32_t unit = op_bytes_of(t.grad_type);
    const float scale = op_get_f(t.scale, t.scale_type);
    float found = 0;
    for (uint64_t i = span.begin; i < span.end; i++) {
        const float x = op_get_f(t.grad + i * unit, t.grad_type);
        if (!(fabsf(x) < INFINITY)) {
            found = 1;
        }
        if (scale != 1) {
            op_put_f(t.grad + i * unit, t.grad_type, x * scale);
        }
    }
    *(__gm__ volatile float *)(t.flags + (uint64_t)get_block_idx() * OP_LINE) = found;
    op_flush();
}

/* found = 1 if a block found something; else it stays. */
__global__ __vector__ void amp_join(struct op_unscale_args args)
{
    const struct op_unscale_args t = args;
    for (uint32_t i = 0; i < t.lines; i++) {
        if (*(const __gm__ volatile float *)(t.flags + i * (uint64_t)OP_LINE) != 0) {
            op_put_f(t.found, t.found_type, 1);
            break;
        }
    }
    op_flush();
}

__global__ __vector__ void amp_update(struct op_amp_update_args args)
{
    const struct op_amp_update_args t = args;
    float scale = op_get_f(t.scale, t.scale_type);
    int64_t tracker = op_get_i(t.tracker, t.tracker_type);
    if (op_get_f(t.found, t.found_type) != 0) {
        scale *= (float)t.backoff;
        tracker = 0;
    } else if (tracker + 1 == t.interval) {
        const float grown = scale * (float)t.growth;
        scale = grown < INFINITY ? grown : scale;
        tracker = 0;
    } else {
        tracker++;
    }
    op_put_f(t.new_scale, t.new_scale_type, scale);
    op_put_i(t.new_tracker, t.new_tracker_type, tracker);
    op_flush();
}
