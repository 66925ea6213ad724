/* SPDX-License-Identifier: Apache-2.0 */
/* Places in sorted lists, and counts. A row says which ("count"). */
#include "../frame/chain.h"
#include "../frame/whole.h"

#include "count_args.h"

#include <inttypes.h>
#include <string.h>

static leo_status plan_search(const struct op_call *call)
{
    const char *name = op_call_has(call, "boundaries") ? "boundaries" : "sortedSequence";
    const struct op_tensor *sorted = op_call_tensor(call, name),
                           *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out"),
                           *sorter = op_call_optional(call, "sorter");
    const bool shared = sorted->rank <= 1;
    bool fits = sorted->rank > 0 && (shared ? true : sorted->rank == self->rank);
    for (unsigned i = 0; fits && !shared && i + 1 < sorted->rank; i++) {
        fits = sorted->dim[i] == self->dim[i];
    }
    if (!fits || (sorter && op_tensor_count(sorter) && !op_tensor_same_shape(sorter, sorted))) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s of shape %s does not fit self of shape %s",
                            name, op_tensor_shape_text(sorted).text,
                            op_tensor_shape_text(self).text);
    }
    leo_status status = op_call_check_shape(call, "out", self->rank, self->dim);
    if (status != LEO_OK || op_tensor_count(self) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor list = op_chain_dense(&chain, sorted->type, sorted),
                           in = op_chain_dense(&chain, self->type, self),
                           place = op_chain_temp_like(&chain, OP_TYPE_I64, self);
    struct op_search_args args = {
        .out = place.addr,
        .in = in.addr,
        .sorted = list.addr,
        .count = (uint64_t)op_tensor_count(self),
        .length = (uint64_t)sorted->dim[sorted->rank - 1],
        .per_row = self->rank ? (uint64_t)self->dim[self->rank - 1] : 1,
        .in_type = (uint8_t)self->type,
        .sorted_type = (uint8_t)sorted->type,
        .right = op_call_int(call, "right") != 0,
        .shared = shared,
    };
    if (sorter && op_tensor_count(sorter)) {
        args.sorter = op_chain_dense(&chain, OP_TYPE_I64, sorter).addr;
    }
    const struct op_share share =
        op_share_make(args.count, 1, 16, op_plan_vector_cores(call->plan));
    args.per_block = share.per_block;
    if (chain.status == LEO_OK) {
        chain.status = op_plan_launch(call->plan, "count", "count_search", share.blocks, &args,
                                      sizeof(args), 4);
    }
    op_chain_copy(&chain, out, &place);
    return chain.status;
}

// A number beside a tensor takes the tensor's type, as everywhere; beside integers a fraction makes
// it f32.
leo_status op_plan_search_number(const struct op_call *call)
{
    const struct op_tensor *sorted = op_call_tensor(call, "sortedSequence"),
                           *sorter = op_call_tensor(call, "sorter"),
                           *out = op_call_tensor(call, "out");
    const struct op_scalar *self = op_call_scalar(call, "self");
    const enum op_type type = op_type_promote_scalar(sorted->type, self->type);
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor list = type == sorted->type ? *sorted
                                                       : op_chain_dense(&chain, type, sorted),
                           number = op_chain_temp(&chain, type, 0, NULL);
    OP_CHAIN_CALL(&chain, "InplaceFillScalar", op_value_tensor(&number), op_value_scalar(self));
    OP_CHAIN_CALL(&chain, "SearchSorted", op_value_tensor(&list), op_value_tensor(&number),
                  op_value_int(op_call_int(call, "outInt32")),
                  op_value_int(op_call_int(call, "right")), op_value_tensor(sorter),
                  op_value_tensor(out));
    return chain.status;
}

// Counts of parts of the elements, a core's each, are added up; weights are added in order, by one.
static leo_status run_count(struct op_chain *chain, const char *kernel, struct op_count_args *args,
                            const struct op_tensor *out)
{
    enum { ADDRESSES = 4, LINE_COUNTS = 8, LEAST = 1024 /* [A] elements of a part */ };
    const uint32_t cores = op_plan_vector_cores(chain->plan);
    const int64_t bins = op_tensor_count(out);
    const struct op_share share =
        op_share_make(args->count, 1, op_most(LEAST, bins), args->weights ? 1 : cores);
    const int64_t blocks = share.blocks > 0 ? share.blocks : 1,
                  dim[] = {blocks, op_round_up(bins, LINE_COUNTS)};
    const struct op_tensor counts =
        op_chain_temp(chain, args->weights ? OP_TYPE_F64 : OP_TYPE_I64, 2, dim);
    args->out = counts.addr;
    args->bins = (uint64_t)bins;
    args->per_block = share.per_block;
    args->pitch = (uint64_t)dim[1] * 8;
    if (chain->status == LEO_OK && bins) {
        chain->status = op_plan_launch(chain->plan, "count", kernel, (uint32_t)blocks, args,
                                       sizeof(*args), ADDRESSES);
    }
    const struct op_tensor all = op_view_slice(&counts, 1, 0, bins),
                           first = op_view_select(&all, 0, 0);
    if (blocks == 1) {
        op_chain_copy(chain, out, &first);
        return chain->status;
    }
    const int64_t parts = 0;
    const struct op_ints dims = {.count = 1, .items = &parts};
    const struct op_tensor total = op_chain_temp_like(chain, OP_TYPE_I64, &first);
    OP_CHAIN_CALL(chain, "ReduceSum", op_value_tensor(&all), op_value_ints(&dims), op_value_int(0),
                  op_value_type(OP_TYPE_I64), op_value_tensor(&total));
    op_chain_copy(chain, out, &total);
    return chain->status;
}

static leo_status plan_bins(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *weights = op_call_tensor(call, "weights"),
                           *out = op_call_tensor(call, "out");
    if (self->rank != 1 || out->rank != 1 || (weights && !op_tensor_same_shape(self, weights))) {
        return op_call_fail(
            call, LEO_ERR_SHAPE, "self has shape %s, weights %s, out %s: they must be lists",
            op_tensor_shape_text(self).text, weights ? op_tensor_shape_text(weights).text : "none",
            op_tensor_shape_text(out).text);
    }
    if (out->dim[0] < op_call_int(call, "minlength")) {
        return op_call_fail(call, LEO_ERR_SHAPE, "out has shape %s, minlength is %" PRId64,
                            op_tensor_shape_text(out).text, op_call_int(call, "minlength"));
    }
    struct op_chain chain = op_chain_begin(call);
    struct op_count_args args = {.in = op_chain_dense(&chain, self->type, self).addr,
                                 .in_type = (uint8_t)self->type,
                                 .count = (uint64_t)op_tensor_count(self)};
    if (weights) {
        args.weights = op_chain_dense(&chain, weights->type, weights).addr;
        args.weight_type = (uint8_t)weights->type;
    }
    return run_count(&chain, "count_bins", &args, out);
}

// args->range: what the call says, or the extremes of the elements, of many by their reductions.
static void plan_range(struct op_chain *chain, const struct op_tensor *dense,
                       struct op_count_args *args)
{
    const int64_t two = 2;
    struct op_count_args range = *args;
    if (args->low == args->high && args->count > 1) {
        const struct op_tensor pair = op_chain_temp(chain, dense->type, 1, &two),
                               least = op_view_select(&pair, 0, 0),
                               most = op_view_select(&pair, 0, 1);
        OP_CHAIN_CALL(chain, "AminmaxAll", op_value_tensor(dense), op_value_tensor(&least),
                      op_value_tensor(&most));
        range.in = pair.addr;
        range.count = 2;
    }
    if (chain->status == LEO_OK) {
        chain->status = op_plan_temp_bytes(chain->plan, 64, &range.range);
    }
    if (chain->status == LEO_OK) {
        chain->status =
            op_plan_launch(chain->plan, "count", "count_range", 1, &range, sizeof(range), 4);
    }
    args->range = range.range;
}

static leo_status plan_histogram(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    const int64_t bins = op_call_int(call, "bins");
    const double low = op_call_scalar(call, "min")->real, high = op_call_scalar(call, "max")->real;
    if (bins <= 0 || !(low <= high)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG, "%" PRId64 " bins from %g to %g", bins, low,
                            high);
    }
    leo_status status = op_call_check_shape(call, "out", 1, &bins);
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const struct op_tensor dense = op_chain_dense(&chain, self->type, self);
    struct op_count_args args = {.in = dense.addr,
                                 .in_type = (uint8_t)self->type,
                                 .count = (uint64_t)op_tensor_count(self),
                                 .low = low,
                                 .high = high,
                                 .wide = self->type == OP_TYPE_F64};
    plan_range(&chain, &dense, &args);
    return run_count(&chain, "count_histogram", &args, out);
}

leo_status op_plan_count(const struct op_call *call)
{
    const char *word = op_row_attr(call->row, "count");
    return strcmp(word, "search") == 0 ? plan_search(call)
           : strcmp(word, "bins") == 0 ? plan_bins(call)
                                       : plan_histogram(call);
}
