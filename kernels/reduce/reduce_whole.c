/* SPDX-License-Identifier: Apache-2.0 */
/* Variances, and extremes with their places, of rows that fit UB: one launch, each row read once.
 */
#include "reduce_vector.h"
#include "reduce_whole_args.h"

#include <string.h>

enum {
    LINE = 16, // f32 of a line
    LANES = 64,
    STEPS = 6,        // [A] instructions on each element
    ROW_CYCLES = 300, // [A] of a row beside them
};

static bool can_load(const struct op_plan *plan, enum op_type type)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 ||
           (type == OP_TYPE_BF16 && op_plan_chip(plan) == OP_ON_910B);
}

// Rows of a length that is worth it, as the call's tensor has them.
static bool take_rows(const struct op_plan *plan, const struct op_tensor *self, const bool *reduced,
                      struct op_reduce_whole_args *args)
{
    memset(args, 0, sizeof(*args));
    args->rows = args->length = 1;
    for (unsigned i = 0; i < self->rank; i++) {
        *(reduced[i] ? &args->length : &args->rows) *= (uint64_t)self->dim[i];
    }
    return can_load(plan, self->type) && op_reduce_has_rows(self, reduced) &&
           args->length >= OP_REDUCE_WHOLE_LENGTH_MIN && args->length <= OP_REDUCE_WHOLE_LENGTH_MAX;
}

// Blocks share lines of no output where ends of lists go through the scalar unit's cache.
static leo_status launch(struct op_plan *plan, const struct op_tensor *self,
                         struct op_reduce_whole_args *args)
{
    struct op_tensor dense;
    leo_status status = op_plan_dense(plan, self, self->type, &dense);
    if (status != LEO_OK) {
        return status;
    }
    const uint64_t elements = args->rows * args->length,
                   granule = op_plan_has_tail(plan, sizeof(float)) ? LINE : 1;
    const struct op_share share =
        op_share_make(args->rows, granule, granule,
                      op_plan_cores_for(plan, elements * op_type_bytes(self->type),
                                        args->rows * ROW_CYCLES + elements * STEPS / LANES));
    args->in = dense.addr;
    args->in_type = (uint8_t)self->type;
    args->per_block = share.per_block;
    return op_plan_launch(plan, "reduce_whole", "reduce_whole_rows", share.blocks, args,
                          sizeof(*args), 3);
}

// A list of results: the output if it is as the kernel writes it and no end of it lies in a line
// of something else, else one of our own.
static leo_status place(struct op_plan *plan, const struct op_tensor *out, enum op_type type,
                        struct op_tensor *made)
{
    *made = *out;
    return out->type == type && op_tensor_is_dense(out) && !op_plan_has_tail(plan, sizeof(float))
               ? LEO_OK
               : op_plan_temp(plan, type, out->rank, out->dim, made);
}

// Floats by CopyExtreme: their infinities are no overflow.
static leo_status give(struct op_plan *plan, const struct op_tensor *out,
                       const struct op_tensor *made)
{
    const struct op_value copy[] = {op_value_tensor(made), op_value_tensor(out)};
    if (made->addr == out->addr) {
        return LEO_OK;
    }
    return op_type_is_float(out->type) ? op_plan_call(plan, "CopyExtreme", copy, 2)
                                       : op_plan_copy(plan, out, made);
}

leo_status op_reduce_plan_variance(struct op_plan *plan, const struct op_reduction *r)
{
    struct op_reduce_whole_args args;
    struct op_tensor out, mean;
    if ((r->mode != OP_REDUCE_VAR && r->mode != OP_REDUCE_STD) ||
        !take_rows(plan, r->self, r->reduced, &args) || !can_load(plan, r->out->type) ||
        (r->second && !can_load(plan, r->second->type))) {
        return OP_DECLINED;
    }
    const double length = (double)args.length, divisor = length - (double)r->correction;
    args.mode = r->mode == OP_REDUCE_STD ? OP_REDUCE_WHOLE_DEVIATION : OP_REDUCE_WHOLE_VARIANCE;
    args.mean_scale = (float)((double)args.rows / (length * (double)args.rows));
    args.share = (float)(1 / length);
    args.divisor = divisor > 0 ? (float)divisor : 0;
    leo_status status = place(plan, r->out, OP_TYPE_F32, &out);
    if (status == LEO_OK && r->second) {
        status = place(plan, r->second, OP_TYPE_F32, &mean);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.out = out.addr;
    args.extra = r->second ? mean.addr : 0;
    status = launch(plan, r->self, &args);
    if (status == LEO_OK) {
        status = give(plan, r->out, &out);
    }
    return status == LEO_OK && r->second ? give(plan, r->second, &mean) : status;
}

leo_status op_reduce_plan_extreme(struct op_plan *plan, const struct op_tensor *self,
                                  const bool *reduced, enum op_reduce_mode mode,
                                  const struct op_tensor *value, const struct op_tensor *index)
{
    struct op_reduce_whole_args args;
    struct op_tensor extreme, places;
    if (!take_rows(plan, self, reduced, &args) || (value && !can_load(plan, value->type))) {
        return OP_DECLINED;
    }
    args.mode = mode == OP_REDUCE_MAX ? OP_REDUCE_WHOLE_MAX : OP_REDUCE_WHOLE_MIN;
    leo_status status = place(plan, index, OP_TYPE_I64, &places);
    if (status == LEO_OK && value) {
        status = place(plan, value, OP_TYPE_F32, &extreme);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.out = value ? extreme.addr : 0;
    args.extra = places.addr;
    status = launch(plan, self, &args);
    if (status == LEO_OK) {
        status = give(plan, index, &places);
    }
    return status == LEO_OK && value ? give(plan, value, &extreme) : status;
}
