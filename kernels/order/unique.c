/* SPDX-License-Identifier: Apache-2.0 */
/* Elements and slices without repetition: the kernel counts, the host then sets the shapes of the
 * outputs. A row says whether equal ones must be neighbours ("unique"). */
#include "unique.h"
#include "../frame/chain.h"
#include "../frame/dims.h"

#include <inttypes.h>
#include <string.h>

enum { NO_DIM = 1000 }; /* what UniqueConsecutive passes for "all elements" */

struct shape_step {
    uint64_t count; /* address */
    unsigned values, counts, rank, dim;
    bool has_counts;
    int64_t shape[OP_RANK_MAX];
};

static leo_status set_shapes(const struct op_host_run *run, const void *data)
{
    struct shape_step step;
    int64_t count = 0;
    memcpy(&step, data, sizeof(step));
    leo_status status = leo_rt_stream_synchronize(run->stream, -1);
    if (status == LEO_OK) {
        status =
            leo_rt_memcpy(run->device, &count, (const void *)(uintptr_t)step.count, sizeof(count));
    }
    if (status != LEO_OK) {
        return status;
    }
    step.shape[step.dim] = count;
    op_host_set_shape(run, step.values, step.rank, step.shape);
    if (step.has_counts) {
        op_host_set_shape(run, step.counts, 1, &count);
    }
    return LEO_OK;
}

// An i64 output of `count` elements; 0 if it is not asked for.
static leo_status take_output(const struct op_call *call, const char *name, bool asked,
                              int64_t count, uint64_t *addr)
{
    *addr = 0;
    if (!op_call_has(call, name)) {
        return LEO_OK;
    }
    const struct op_tensor *out = op_call_tensor(call, name);
    if (!asked) {
        return LEO_OK;
    }
    if (op_tensor_count(out) < count || out->type != OP_TYPE_I64 || !op_tensor_is_dense(out)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%s is %s%s: it must be dense i64 with room for %" PRId64 " elements",
                            name, op_type_name(out->type), op_tensor_shape_text(out).text, count);
    }
    *addr = out->addr;
    return LEO_OK;
}

// Slices along `dim` one after the other; no dimension: all elements.
static struct op_tensor as_slices(struct op_chain *chain, const struct op_tensor *self,
                                  const unsigned *dim, struct op_unique_args *args,
                                  struct shape_step *step)
{
    args->outer = args->inner = 1;
    if (!dim) {
        args->rows = (uint64_t)op_tensor_count(self);
        step->rank = 1;
        return op_chain_dense(chain, self->type, self);
    }
    unsigned order[OP_RANK_MAX] = {*dim};
    for (unsigned i = 0, k = 1; i < self->rank; i++) {
        if (i != *dim) {
            order[k++] = i;
            *(i < *dim ? &args->outer : &args->inner) *= (uint64_t)self->dim[i];
        }
    }
    args->rows = (uint64_t)self->dim[*dim];
    step->rank = self->rank;
    step->dim = *dim;
    memcpy(step->shape, self->dim, sizeof(step->shape));
    const struct op_tensor turned = op_tensor_permute(self, order);
    return op_chain_dense(chain, self->type, &turned);
}

// Slices of any size, by one scalar unit.
static leo_status launch(const struct op_call *call, struct op_unique_args *args)
{
    leo_status status = op_plan_temp_bytes(call->plan, 64, &args->count);
    if (status == LEO_OK) {
        status = op_plan_temp_bytes(call->plan, args->rows * 32, &args->scratch);
    }
    return status == LEO_OK
               ? op_plan_launch(call->plan, "unique", "unique", 1, args, sizeof(*args), 6)
               : status;
}

leo_status op_plan_unique(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *values = op_call_tensor(call, "valueOut");
    struct op_unique_args args;
    struct shape_step step;
    unsigned dim = 0;
    leo_status status = LEO_OK;
    memset(&args, 0, sizeof(args));
    memset(&step, 0, sizeof(step));
    const bool by_dim =
        op_call_has(call, "dim") && op_call_int(call, "dim") != NO_DIM && self->rank > 0;
    if (by_dim) {
        status = op_take_dim(call, op_call_int(call, "dim"), self->rank, &dim);
    }
    if (status == LEO_OK && (op_tensor_count(values) < op_tensor_count(self) ||
                             !op_tensor_is_dense(values) || values->type != self->type)) {
        status = op_call_fail(
            call, LEO_ERR_SHAPE,
            "valueOut is %s%s: it must be dense, of self's type, with room for %" PRId64,
            op_type_name(values->type), op_tensor_shape_text(values).text, op_tensor_count(self));
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor rows = as_slices(&chain, self, by_dim ? &dim : NULL, &args, &step);
    const bool inverse = op_call_int(call, "returnInverse") != 0;
    const bool counts =
        op_call_has(call, "returnCounts") ? op_call_int(call, "returnCounts") != 0 : by_dim;
    status = chain.status;
    if (status == LEO_OK) {
        status = take_output(call, "inverseOut", inverse, (int64_t)args.rows, &args.inverse);
    }
    if (status == LEO_OK) {
        status = take_output(call, "countsOut", counts, (int64_t)args.rows, &args.counts);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.values = values->addr;
    args.in = rows.addr;
    args.type = (uint8_t)self->type;
    args.sorted = strcmp(op_row_attr(call->row, "unique"), "sorted") == 0;
    status = !by_dim && op_unique_takes_list(self->type, (int64_t)args.rows)
                 ? op_unique_plan_list(call, &args, &args.count)
                 : launch(call, &args);
    step.count = args.count;
    step.values = op_call_tensor_index(call, "valueOut");
    step.has_counts = args.counts != 0;
    step.counts = step.has_counts ? op_call_tensor_index(call, "countsOut") : 0;
    return status == LEO_OK ? op_plan_host(call->plan, set_shapes, &step, sizeof(step), 1) : status;
}
