/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_norm_planes.h"
#include "dims.h"

#include "../device/batch_norm_planes_args.h"

#include <stdio.h>
#include <string.h>

bool op_planes_fit(int64_t length, const struct op_tensor *in, const struct op_tensor *gradient,
                   const struct op_tensor *out)
{
    return length >= OP_PLANE_LEAST && length <= OP_PLANE_MOST &&
           (in->type == OP_TYPE_F32 || in->type == OP_TYPE_F16) &&
           (!gradient || gradient->type == in->type) &&
           (!out || (out->type == in->type && op_tensor_is_dense(out)));
}

static leo_status launch(struct op_plan *plan, const char *pass, const struct op_norm_rows *rows,
                         const struct op_tensor *gradient, const struct op_tensor *in,
                         uint64_t granule, struct op_planes_args *args)
{
    char name[40];
    snprintf(name, sizeof(name), "norm_%s_%s", pass, op_type_name(in->type));
    args->in = in->addr;
    args->gradient = gradient ? gradient->addr : 0;
    args->rows = (uint64_t)rows->rows;
    args->length = (uint64_t)rows->length;
    args->channels = (uint64_t)rows->entries;
    const struct op_share share =
        op_share_make(args->rows, granule, granule, op_plan_vector_cores(plan));
    args->per_block = share.per_block;
    return op_plan_launch(plan, "batch_norm_planes", name, share.blocks, args, sizeof(*args), 6);
}

static leo_status launch_join(struct op_plan *plan, const char *kernel,
                              const struct op_norm_rows *rows, struct op_planes_join_args *args)
{
    args->channels = (uint64_t)rows->entries;
    args->images = (uint64_t)(rows->rows / rows->entries);
    args->length = (uint64_t)rows->length;
    const struct op_share share = op_share_make(args->channels, OP_PLANE_CHANNELS,
                                                OP_PLANE_CHANNELS, op_plan_vector_cores(plan));
    args->per_block = share.per_block;
    return op_plan_launch(plan, "batch_norm_join", kernel, share.blocks, args, sizeof(*args), 3);
}

/* Two arrays of lanes from a pass over the planes, joined. */
static leo_status reduce(struct op_plan *plan, const char *pass, const char *join,
                         const struct op_norm_rows *rows, const struct op_tensor *gradient,
                         const struct op_tensor *in, uint64_t means, uint64_t *out)
{
    const uint64_t bytes = (uint64_t)rows->rows * OP_PLANE_LANES * sizeof(float);
    struct op_planes_args args;
    struct op_planes_join_args join_args;
    memset(&args, 0, sizeof(args));
    memset(&join_args, 0, sizeof(join_args));
    args.numbers = means;
    leo_status status = op_plan_temp_bytes(plan, bytes, &args.first);
    if (status == LEO_OK) {
        status = op_plan_temp_bytes(plan, bytes, &args.second);
    }
    if (status == LEO_OK) {
        status =
            op_plan_temp_bytes(plan, (uint64_t)rows->entries * sizeof(struct op_norm_moments), out);
    }
    if (status == LEO_OK) {
        status = launch(plan, pass, rows, gradient, in, OP_PLANE_CHANNELS, &args);
    }
    if (status != LEO_OK) {
        return status;
    }
    join_args.first = args.first;
    join_args.second = args.second;
    join_args.out = *out;
    return launch_join(plan, join, rows, &join_args);
}

leo_status op_planes_plan_moments(struct op_plan *plan, const struct op_norm_rows *rows,
                                  const struct op_tensor *in, uint64_t *moments)
{
    return reduce(plan, "moments", "planes_join_moments", rows, NULL, in, 0, moments);
}

leo_status op_planes_plan_sums(struct op_plan *plan, const struct op_norm_rows *rows,
                               const struct op_tensor *gradient, const struct op_tensor *in,
                               uint64_t means, uint64_t *sums)
{
    struct op_planes_join_args args;
    memset(&args, 0, sizeof(args));
    if (means) {
        args.first = means;
        leo_status status = op_plan_temp_bytes(
            plan, (uint64_t)rows->entries * OP_PLANE_LANES * sizeof(float), &args.out);
        if (status == LEO_OK) {
            status = launch_join(plan, "planes_spread", rows, &args);
        }
        if (status != LEO_OK) {
            return status;
        }
    }
    return reduce(plan, "sums", "planes_join_sums", rows, gradient, in, args.out, sums);
}

leo_status op_planes_plan_apply(struct op_plan *plan, const struct op_norm_rows *rows,
                                const struct op_tensor *gradient, const struct op_tensor *in,
                                uint64_t table, const struct op_tensor *out)
{
    struct op_planes_args args;
    memset(&args, 0, sizeof(args));
    args.out = out->addr;
    args.numbers = table;
    return launch(plan, gradient ? "gradient" : "apply", rows, gradient, in,
                  op_row_granule((uint64_t)rows->length, op_type_bytes(in->type)), &args);
}
