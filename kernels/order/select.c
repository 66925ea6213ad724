/* SPDX-License-Identifier: Apache-2.0 */
/* Results whose size depends on data: the kernel counts, the host then sets the shape of out. */
#include "select.h"
#include "../frame/chain.h"

#include "select_args.h"

#include <string.h>

enum { LEAST_PACKED = 4096 }; // [A] elements; fewer are done sooner on the scalar unit

struct shape_step {
    uint64_t count; /* address */
    unsigned tensor, rank;
    int64_t other; /* the dimension that is known */
    bool columns, flat;
};

static leo_status set_shape(const struct op_host_run *run, const void *data)
{
    const struct shape_step *step = data;
    int64_t count = 0;
    leo_status status = leo_rt_stream_synchronize(run->stream, -1);
    if (status == LEO_OK) {
        status =
            leo_rt_memcpy(run->device, &count, (const void *)(uintptr_t)step->count, sizeof(count));
    }
    if (status != LEO_OK) {
        return status;
    }
    const int64_t rows[] = {count, step->other}, columns[] = {step->other, count};
    op_host_set_shape(run, step->tensor, step->flat ? 1 : 2, step->columns ? columns : rows);
    return LEO_OK;
}

static void take_mask(struct op_select_args *args, const struct op_tensor *mask)
{
    args->mask = mask->addr;
    args->mask_type = (uint8_t)mask->type;
    args->rank = (uint8_t)mask->rank;
    args->elements = (uint64_t)op_tensor_count(mask);
    args->bytes = op_type_bytes(mask->type) == 1 && op_tensor_is_dense(mask);
    for (unsigned i = 0; i < mask->rank; i++) {
        args->dim[i] = mask->dim[i];
        args->mask_stride[i] = mask->stride[i] * op_type_bytes(mask->type);
    }
}

// Whether the 910B1's vector unit can pack what is selected.
static bool can_pack(const struct op_plan *plan, const struct op_select_args *args, bool values)
{
    const uint32_t unit = op_type_bytes((enum op_type)args->out_type);
    return op_plan_chip(plan) == OP_ON_910B && args->bytes && args->elements >= LEAST_PACKED &&
           (values ? args->dense && args->in_type == args->out_type && (unit == 2 || unit == 4)
                   : args->rank == 1 && args->elements <= INT32_MAX);
}

// args->count is where their number goes.
static leo_status launch(struct op_plan *plan, bool values, struct op_select_args *args)
{
    enum { ADDRESSES = 5, LINE_COUNTS = 8 };
    const bool packs = can_pack(plan, args, values);
    const char *kernel = packs    ? values ? "select_pack_values" : "select_pack_positions"
                         : values ? "select_values"
                                  : "select_positions";
    const uint32_t cores = op_plan_vector_cores(plan);
    const uint64_t parts = (args->elements + OP_SELECT_PART - 1) / OP_SELECT_PART;
    const struct op_share share = op_share_make(parts, LINE_COUNTS, LINE_COUNTS, cores);
    args->per_block = share.per_block;
    leo_status status = op_plan_temp_bytes(plan, 64, &args->count);
    if (status == LEO_OK) {
        status = op_plan_temp_bytes(plan, parts * 8 + 64, &args->counts);
    }
    if (status == LEO_OK && parts > 0) {
        status = op_plan_launch(plan, "select", "select_count", share.blocks, args, sizeof(*args),
                                ADDRESSES);
    }
    // What is packed has the blocks of the counts; else each writes a share of the results.
    const uint32_t most = packs ? share.blocks : cores;
    const uint32_t blocks = parts == 0 ? 1 : parts < most ? (uint32_t)parts : most;
    return status == LEO_OK
               ? op_plan_launch(plan, "select", kernel, blocks, args, sizeof(*args), ADDRESSES)
               : status;
}

static leo_status run(const struct op_call *call, bool values, struct op_select_args *args,
                      struct shape_step step)
{
    leo_status status = launch(call->plan, values, args);
    step.count = args->count;
    step.tensor = op_call_tensor_index(call, "out");
    return status == LEO_OK ? op_plan_host(call->plan, set_shape, &step, sizeof(step), 1) : status;
}

leo_status op_select_plan_list(struct op_plan *plan, const struct op_tensor *mask,
                               const struct op_tensor *in, uint64_t out, uint64_t *count)
{
    struct op_select_args args;
    memset(&args, 0, sizeof(args));
    take_mask(&args, mask);
    args.out = out;
    if (in) {
        args.in = in->addr;
        args.in_type = args.out_type = (uint8_t)in->type;
        args.dense = 1;
    }
    leo_status status = launch(plan, in != NULL, &args);
    *count = args.count;
    return status;
}

// out has room for the most there can be.
static leo_status check_room(const struct op_call *call, int64_t elements)
{
    const struct op_tensor *out = op_call_tensor(call, "out");
    if (op_tensor_count(out) < elements || !op_tensor_is_dense(out)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "out of shape %s has no room for %lld elements in a row",
                            op_tensor_shape_text(out).text, (long long)elements);
    }
    return LEO_OK;
}

// A dense mask of bytes in place of a long one that is none.
static leo_status make_bytes(const struct op_call *call, struct op_tensor *mask)
{
    enum { LEAST = 1024 }; // [A] elements; fewer are not worth a launch
    const bool bytes = op_type_bytes(mask->type) == 1 && op_tensor_is_dense(mask);
    if (bytes || op_tensor_count(mask) < LEAST || op_type_is_complex(mask->type)) {
        return LEO_OK;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor made = op_chain_temp_like(&chain, OP_TYPE_BOOL, mask);
    const struct op_scalar zero = op_scalar_int(0);
    if (op_type_bytes(mask->type) == 1) {
        op_chain_copy(&chain, &made, mask);
    } else {
        OP_CHAIN_CALL(&chain, "NeScalar", op_value_tensor(mask), op_value_scalar(&zero),
                      op_value_tensor(&made));
    }
    *mask = made;
    return chain.status;
}

static leo_status plan_positions(const struct op_call *call, bool columns)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    struct op_select_args args;
    leo_status status = check_room(call, op_tensor_count(self) * (int64_t)self->rank);
    if (status == LEO_OK) {
        status = op_call_check_type(call, "out", OP_TYPE_I64);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_tensor mask = *self;
    status = make_bytes(call, &mask);
    if (status != LEO_OK) {
        return status;
    }
    memset(&args, 0, sizeof(args));
    take_mask(&args, &mask);
    args.out = out->addr;
    args.columns = columns;
    return run(call, false, &args,
               (struct shape_step){.other = (int64_t)self->rank, .columns = columns});
}

static leo_status plan_values(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    const struct op_tensor *mask = op_call_tensor(call, "mask");
    struct op_select_args args;
    struct op_tensor in, set;
    int64_t dim[OP_RANK_MAX], count = 1;
    unsigned rank = 0;
    if (!op_shape_join(self, &rank, dim) || !op_shape_join(mask, &rank, dim)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "mask has shape %s, self %s: they do not broadcast",
                            op_tensor_shape_text(mask).text, op_tensor_shape_text(self).text);
    }
    for (unsigned i = 0; i < rank; i++) {
        count *= dim[i];
    }
    leo_status status = check_room(call, count);
    if (status != LEO_OK) {
        return status;
    }
    (void)op_tensor_broadcast(self, rank, dim, &in);
    (void)op_tensor_broadcast(mask, rank, dim, &set);
    status = make_bytes(call, &set);
    if (status != LEO_OK) {
        return status;
    }
    memset(&args, 0, sizeof(args));
    take_mask(&args, &set);
    args.in = in.addr;
    args.in_type = (uint8_t)in.type;
    args.dense = op_tensor_is_dense(&in);
    for (unsigned i = 0; i < rank; i++) {
        args.in_stride[i] = in.stride[i] * op_type_bytes(in.type);
    }
    args.out = out->addr;
    args.out_type = (uint8_t)out->type;
    return run(call, true, &args, (struct shape_step){.flat = true});
}

leo_status op_plan_select(const struct op_call *call)
{
    const char *word = op_row_attr(call->row, "select");
    return strcmp(word, "values") == 0 ? plan_values(call)
                                       : plan_positions(call, strcmp(word, "columns") == 0);
}
