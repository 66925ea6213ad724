/* SPDX-License-Identifier: Apache-2.0 */
/* Resizing and padding, forward and backward: linear maps along the last one to three dimensions.
 * A row says which ("resample"). */
#include "resample.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *word;
    enum op_resample_kind kind;
} kinds[] = {
    {"nearest", OP_RESAMPLE_NEAREST},     {"exact", OP_RESAMPLE_EXACT},
    {"linear", OP_RESAMPLE_LINEAR},       {"cubic", OP_RESAMPLE_CUBIC},
    {"linear_aa", OP_RESAMPLE_LINEAR_AA}, {"cubic_aa", OP_RESAMPLE_CUBIC_AA},
    {"reflect", OP_RESAMPLE_REFLECT},     {"replicate", OP_RESAMPLE_REPLICATE},
    {"wrap", OP_RESAMPLE_WRAP},
};

/* A call seen without the differences of its parameter names. */
struct resample {
    const struct op_call *call;
    enum op_resample_kind kind;
    bool gradient, pads;
    unsigned dims;           /* positions: the last ones */
    struct op_tensor before; /* of the map: its input, or the gradient of it */
    struct op_tensor after;
    struct op_resample_args args;
};

// The first of these parameters that the row has.
static const char *param_of(const struct op_call *call, const char *const *names)
{
    while (*names && !op_call_has(call, *names)) {
        names++;
    }
    return *names;
}

static leo_status take_tensors(struct resample *work)
{
    static const char *const ins[] = {"gradOut", "gradOutput", "self", "input", "x", NULL};
    static const char *const outs[] = {"gradInput", "out", NULL};
    const struct op_call *call = work->call;
    const char *in = param_of(call, ins), *out = param_of(call, outs);
    const struct op_ints *list = op_call_ints(call, work->pads ? "padding" : "outputSize");
    const uint64_t numbers = list->count;
    work->gradient = strncmp(in, "grad", 4) == 0;
    work->dims = (unsigned)(work->pads ? numbers / 2 : numbers);
    work->before = *op_call_tensor(call, work->gradient ? out : in);
    work->after = *op_call_tensor(call, work->gradient ? in : out);
    const unsigned rank = work->before.rank;
    if (work->dims < 1 || work->dims > OP_RESAMPLE_DIMS || (work->pads && numbers % 2) ||
        work->after.rank != rank ||
        (rank != work->dims + 2 && (!work->pads || rank != work->dims + 1))) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%s has %" PRIu64 " numbers for %s of shape %s and %s of %s",
                            work->pads ? "padding" : "outputSize", numbers, in,
                            op_tensor_shape_text(op_call_tensor(call, in)).text, out,
                            op_tensor_shape_text(op_call_tensor(call, out)).text);
    }
    for (unsigned i = 0; i + work->dims < rank; i++) {
        if (work->before.dim[i] != work->after.dim[i]) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "%s of shape %s and %s of shape %s differ in dimension %u", in,
                                op_tensor_shape_text(op_call_tensor(call, in)).text, out,
                                op_tensor_shape_text(op_call_tensor(call, out)).text, i);
        }
    }
    return LEO_OK;
}

// What the call says of position `d` (0 = first of its positions), against the shapes.
static leo_status check_size(const struct resample *work, unsigned d, int64_t before, int64_t after,
                             int64_t pad_begin, int64_t pad_end)
{
    const struct op_call *call = work->call;
    if (before <= 0 || after <= 0) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "position %u has %" PRId64 " elements before and %" PRId64 " after", d,
                            before, after);
    }
    if (!work->pads) {
        const int64_t said = op_call_ints(call, "outputSize")->items[d];
        const struct op_ints *in =
            op_call_has(call, "inputSize") ? op_call_ints(call, "inputSize") : NULL;
        if (said != after) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "outputSize[%u] is %" PRId64 ", the tensor has %" PRId64, d, said,
                                after);
        }
        if (in && (in->count != work->dims + 2 || in->items[d + 2] != before)) {
            return op_call_fail(call, LEO_ERR_SHAPE, "inputSize does not fit the shape %s",
                                op_tensor_shape_text(&work->before).text);
        }
        return LEO_OK;
    }
    if (before + pad_begin + pad_end != after) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%" PRId64 " elements padded by %" PRId64 " and %" PRId64
                            " are not %" PRId64,
                            before, pad_begin, pad_end, after);
    }
    const int64_t most = work->kind == OP_RESAMPLE_REFLECT ? before - 1
                         : work->kind == OP_RESAMPLE_WRAP  ? before
                                                           : INT64_MAX;
    if (pad_begin > most || pad_end > most) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "padding by %" PRId64 " and %" PRId64 ": of %" PRId64
                            " elements at most %" PRId64 " can be taken",
                            pad_begin, pad_end, before, most);
    }
    return LEO_OK;
}

// The multiplier the call gives for position `d`; 0 or less: none.
static double given_scale(const struct resample *work, unsigned d)
{
    static const char *const one[] = {"scaleL", "scale", "scales", NULL};
    static const char *const names[] = {"scalesD", "scalesH", "scalesW"};
    const char *name =
        work->dims == 1 ? param_of(work->call, one) : names[OP_RESAMPLE_DIMS - work->dims + d];
    return name && op_call_has(work->call, name) ? op_call_real(work->call, name) : 0;
}

static double ratio_of(const struct resample *work, unsigned d, int64_t before, int64_t after)
{
    const double given = given_scale(work, d);
    const bool wide = work->before.type == OP_TYPE_F64;
    double ratio = given > 0 ? 1 / given : (double)before / (double)after;
    if (work->args.align) {
        ratio = after > 1 ? (double)(before - 1) / (double)(after - 1) : 0;
    }
    return wide && work->kind != OP_RESAMPLE_NEAREST && work->kind != OP_RESAMPLE_EXACT
               ? ratio
               : (float)ratio;
}

static int64_t taps_of(enum op_resample_kind kind, double ratio)
{
    const double widest =
        fmin(fmax(ratio, 1), INT32_MAX); // more taps than the check below lets through
    switch (kind) {
    case OP_RESAMPLE_LINEAR:
        return 2;
    case OP_RESAMPLE_CUBIC:
        return 4;
    case OP_RESAMPLE_LINEAR_AA:
        return 2 * (int64_t)ceil(widest) + 1;
    case OP_RESAMPLE_CUBIC_AA:
        return 2 * (int64_t)ceil(2 * widest) + 1;
    default:
        return 1;
    }
}

static leo_status take_positions(struct resample *work, uint64_t *table_bytes)
{
    struct op_resample_args *args = &work->args;
    const struct op_tensor *a = work->gradient ? &work->after : &work->before;
    const unsigned first = work->before.rank - work->dims, skipped = OP_RESAMPLE_DIMS - work->dims;
    *table_bytes = 0;
    for (unsigned i = 0; i < OP_RESAMPLE_DIMS; i++) {
        struct op_resample_dim *dim = &args->dim[i];
        *dim = (struct op_resample_dim){.in = 1, .out = 1, .ratio = 1};
        if (i >= skipped) {
            const unsigned d = i - skipped, at = first + d;
            const int64_t *pad =
                work->pads ? op_call_ints(work->call, "padding")->items + 2 * (work->dims - 1 - d)
                           : NULL;
            const int64_t begin = pad ? pad[0] : 0, end = pad ? pad[1] : 0;
            dim->in = work->before.dim[at];
            dim->out = work->after.dim[at];
            leo_status status = check_size(work, d, dim->in, dim->out, begin, end);
            if (status != LEO_OK) {
                return status;
            }
            dim->pad = begin;
            dim->ratio = ratio_of(work, d, dim->in, dim->out);
            dim->a = a->stride[at] * op_type_bytes(a->type);
        }
        dim->taps = i < skipped ? 1 : taps_of((enum op_resample_kind)args->kind, dim->ratio);
        if (!op_resample_place_table(dim, args->kind, work->gradient, table_bytes)) {
            return op_call_fail(work->call, LEO_ERR_UNSUPPORTED,
                                "%" PRId64 " elements along a position", dim->out);
        }
    }
    return LEO_OK;
}

static void take_planes(struct resample *work, const struct op_tensor *a)
{
    struct op_resample_args *args = &work->args;
    const bool batched = a->rank == work->dims + 2;
    const unsigned channel = batched ? 1 : 0;
    args->a = a->addr;
    args->a_type = (uint8_t)a->type;
    args->channels = a->dim[channel];
    args->planes = args->channels * (batched ? a->dim[0] : 1);
    args->a_channel = a->stride[channel] * op_type_bytes(a->type);
    args->a_image = batched ? a->stride[0] * op_type_bytes(a->type) : 0;
}

static leo_status launch(struct resample *work, uint64_t table_bytes,
                         const struct op_tensor *result)
{
    struct op_plan *plan = work->call->plan;
    struct op_resample_args *args = &work->args;
    struct op_tensor made = *result;
    leo_status status = LEO_OK;
    if (!op_tensor_is_dense(result)) {
        status = op_plan_temp(plan, result->type, result->rank, result->dim, &made);
    }
    if (status != LEO_OK) {
        return status;
    }
    args->result = made.addr;
    args->result_type = (uint8_t)made.type;
    status = op_resample_plan_table(plan, args, table_bytes);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_share share =
        op_share_make((uint64_t)op_tensor_count(result), 1, 16, op_plan_vector_cores(plan));
    args->per_block = share.per_block;
    status = op_plan_launch(plan, "resample", "resample", share.blocks, args, sizeof(*args), 3);
    return status == LEO_OK && made.addr != result->addr ? op_plan_copy(plan, result, &made)
                                                         : status;
}

leo_status op_plan_resample(const struct op_call *call)
{
    struct resample work = {.call = call};
    const char *word = op_row_attr(call->row, "resample");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(word, kinds[i].word) == 0) {
            work.kind = kinds[i].kind;
        }
    }
    work.pads = work.kind >= OP_RESAMPLE_REFLECT;
    memset(&work.args, 0, sizeof(work.args));
    work.args.kind = (uint8_t)work.kind;
    work.args.align = op_call_has(call, "alignCorners") && op_call_int(call, "alignCorners");
    uint64_t table_bytes;
    leo_status status = op_call_check_channels(call);
    if (status == LEO_OK) {
        status = take_tensors(&work);
    }
    if (status != LEO_OK) {
        return status;
    }
    work.args.gradient = work.gradient;
    const struct op_tensor *a = work.gradient ? &work.after : &work.before,
                           *result = work.gradient ? &work.before : &work.after;
    if (op_tensor_count(result) == 0) {
        return LEO_OK;
    }
    status = take_positions(&work, &table_bytes);
    if (status != LEO_OK) {
        return status;
    }
    take_planes(&work, a);
    work.args.result_type = (uint8_t)result->type;
    status = op_resample_plan_rows(call, &work.args, work.dims, table_bytes, a, result);
    return status == OP_DECLINED ? launch(&work, table_bytes, result) : status;
}
