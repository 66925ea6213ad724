/* SPDX-License-Identifier: Apache-2.0 */
/* Means over windows as linear maps along one dimension after the other (resample_rows.c): uneven
 * shares, and volumes. */
#include "../image/resample.h"
#include "pooling.h"

#include "../frame/whole.h"

#include <string.h>

// Elements of the largest window along a dimension.
static int64_t widest(const struct op_pool *pool, const struct op_pooling_dim *dim, int64_t in,
                      int64_t out)
{
    return pool->adaptive ? op_least(op_parts(in, out) + 1, in) : dim->kernel;
}

leo_status op_pooling_plan_means(const struct op_pool *pool)
{
    const struct op_call *call = pool->call;
    const bool counts = op_call_has(call, "countIncludePad");
    const int64_t divisor = counts ? op_call_int(call, "divisorOverride") : 0;
    struct op_resample_args args;
    uint64_t table_bytes = 0;
    memset(&args, 0, sizeof(args));
    args.kind = pool->adaptive ? OP_RESAMPLE_SHARES : OP_RESAMPLE_WINDOWS;
    args.gradient = pool->backward;
    args.count_pad = counts && op_call_int(call, "countIncludePad");
    args.result_type = OP_TYPE_F32;
    for (unsigned d = 0; d < OP_RESAMPLE_DIMS; d++) {
        const struct op_pooling_dim *window = &pool->dim[d];
        const int64_t in = pool->large.dim[2 + d], out = pool->small.dim[2 + d];
        struct op_resample_dim *dim = &args.dim[d];
        if (in == 0 || out == 0 || (!pool->adaptive && window->dilation != 1)) {
            return OP_DECLINED;
        }
        *dim = (struct op_resample_dim){.in = in, .out = out, .ratio = (double)in / (double)out};
        dim->taps = widest(pool, window, in, out);
        if (!pool->adaptive) {
            dim->pad = window->pad;
            dim->stride = window->stride;
            dim->ratio = divisor == 0                         ? 0
                         : d + pool->dims == OP_RESAMPLE_DIMS ? (double)divisor
                                                              : 1;
        }
        if (!op_resample_place_table(dim, args.kind, pool->backward, &table_bytes)) {
            return OP_DECLINED;
        }
    }
    return op_resample_plan_rows(call, &args, pool->dims, table_bytes,
                                 pool->backward ? &pool->small : &pool->large,
                                 pool->backward ? &pool->large : &pool->small);
}
