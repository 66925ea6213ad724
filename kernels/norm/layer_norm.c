/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisations whose rows are contiguous: LayerNorm and RmsNorm (a weight for each element of a
 * row), GroupNorm (a row is a group of planes, a weight is a plane's). */
#include "../frame/dims.h"
#include "group_norm.h"
#include "norm.h"

#include "layer_norm_args.h"
#include "layer_norm_gradient_args.h"

#include <inttypes.h>
#include <string.h>

/* The parameters of a call, under one name each; NULL: it has none. */
struct names {
    const char *in, *gradient, *weight, *bias, *out, *mean, *inverse, *eps;
    const char *weight_gradient, *bias_gradient;
};

static const struct names layer = {"input",
                                   NULL,
                                   "weightOptional",
                                   "biasOptional",
                                   "out",
                                   "meanOutOptional",
                                   "rstdOutOptional",
                                   "eps",
                                   NULL,
                                   NULL};
static const struct names layer_back = {"input",         "gradOut",    "weightOptional", NULL,
                                        "gradInputOut",  "mean",       "rstd",           NULL,
                                        "gradWeightOut", "gradBiasOut"};
static const struct names group = {"self",    NULL,      "gamma", "beta", "out",
                                   "meanOut", "rstdOut", "eps",   NULL,   NULL};
static const struct names group_back = {"input", "gradOut", "gamma", NULL,           "gradInput",
                                        "mean",  "rstd",    NULL,    "gradGammaOut", "gradBetaOut"};
static const struct names rms = {"x",  NULL,      "gamma",   NULL, "yOut",
                                 NULL, "rstdOut", "epsilon", NULL, NULL};
static const struct names rms_back = {"x",  "dy",   "gamma", NULL,        "dxOut",
                                      NULL, "rstd", NULL,    "dgammaOut", NULL};

struct norm {
    const struct op_call *call;
    struct op_plan *plan;
    const struct names *names;
    struct op_tensor in; /* dense once planned */
    struct op_norm_rows rows;
};

static const struct op_tensor *tensor_of(const struct norm *norm, const char *name)
{
    return name ? op_call_tensor(norm->call, name) : NULL;
}

static leo_status check_count(const struct norm *norm, const char *name, int64_t count,
                              const char *what)
{
    const struct op_tensor *tensor = tensor_of(norm, name);
    if (tensor && op_tensor_count(tensor) != count) {
        return op_call_fail(norm->call, LEO_ERR_SHAPE,
                            "%s has shape %s, it must have %" PRId64 " elements: %s", name,
                            op_tensor_shape_text(tensor).text, count, what);
    }
    return LEO_OK;
}

static leo_status take_group_rows(struct norm *norm)
{
    const struct op_call *call = norm->call;
    const int64_t images = op_call_int(call, "N"), channels = op_call_int(call, "C"),
                  plane = op_call_int(call, "HxW"), groups = op_call_int(call, "group");
    if (groups < 1 || channels < 0 || channels % groups != 0 || images < 0 || plane < 0 ||
        op_tensor_count(&norm->in) != images * channels * plane) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%s has shape %s, but N = %" PRId64 ", C = %" PRId64 ", HxW = %" PRId64
                            ", group = %" PRId64,
                            norm->names->in, op_tensor_shape_text(&norm->in).text, images, channels,
                            plane, groups);
    }
    norm->rows.rows = images * groups;
    norm->rows.length = channels / groups * plane;
    norm->rows.weight_span = plane;
    norm->rows.weights = channels;
    return LEO_OK;
}

// The shape of a row: normalizedShape, or that of gamma. The input ends with it.
static leo_status take_layer_rows(struct norm *norm)
{
    const struct op_tensor *in = &norm->in;
    unsigned rank;
    int64_t shape[OP_RANK_MAX];
    if (op_call_has(norm->call, "normalizedShape")) {
        const struct op_ints *ints = op_call_ints(norm->call, "normalizedShape");
        rank = ints->count > OP_RANK_MAX ? OP_RANK_MAX : (unsigned)ints->count;
        memcpy(shape, ints->items, rank * sizeof(*shape));
    } else {
        const struct op_tensor *gamma = op_call_tensor(norm->call, "gamma");
        rank = gamma->rank;
        memcpy(shape, gamma->dim, rank * sizeof(*shape));
    }
    int64_t length = 1;
    for (unsigned i = 0; i < rank; i++) {
        length *= shape[i];
    }
    if (rank == 0 || rank > in->rank ||
        memcmp(shape, in->dim + in->rank - rank, rank * sizeof(*shape)) != 0) {
        return op_call_fail(norm->call, LEO_ERR_SHAPE, "%s of shape %s does not end with %s",
                            norm->names->in, op_tensor_shape_text(in).text,
                            op_shape_text(rank, shape).text);
    }
    norm->rows.rows = length ? op_tensor_count(in) / length : 0;
    norm->rows.length = length;
    norm->rows.weight_span = 1;
    norm->rows.weights = length;
    return LEO_OK;
}

static leo_status check_shapes(const struct norm *norm)
{
    const struct names *names = norm->names;
    leo_status status = LEO_OK;
    if (tensor_of(norm, names->out)) {
        status = op_call_check_shape(norm->call, names->out, norm->in.rank, norm->in.dim);
    }
    if (status == LEO_OK && names->gradient) {
        status = op_call_check_shape(norm->call, names->gradient, norm->in.rank, norm->in.dim);
    }
    const char *const by_weight[] = {names->weight, names->bias, names->weight_gradient,
                                     names->bias_gradient};
    for (unsigned i = 0; status == LEO_OK && i < 4; i++) {
        status = check_count(norm, by_weight[i], norm->rows.weights, "one for each weight");
    }
    if (status == LEO_OK) {
        status = check_count(norm, names->mean, norm->rows.rows, "one for each row");
    }
    return status == LEO_OK ? check_count(norm, names->inverse, norm->rows.rows, "one for each row")
                            : status;
}

static leo_status make_dense(struct norm *norm)
{
    leo_status status = op_norm_plan_input(norm->plan, &norm->in, &norm->in);
    if (status == LEO_OK) {
        status = op_norm_take(norm->plan, tensor_of(norm, norm->names->weight), &norm->rows.weight);
    }
    return status == LEO_OK
               ? op_norm_take(norm->plan, tensor_of(norm, norm->names->bias), &norm->rows.bias)
               : status;
}

static leo_status place_table(const struct norm *norm, uint64_t *table)
{
    return op_plan_temp_bytes(norm->plan, (uint64_t)norm->rows.rows * sizeof(struct op_norm_entry),
                              table);
}

enum {
    ROWS_A_BLOCK = 16, // f32 of a line
    LANES = 64,
    STEPS = 10,       // [A] instructions on each element
    ROW_CYCLES = 100, // [A] of a row beside them
};

// Whether rows can stay in UB from their sums to their result: of one type all over, with a weight
// for each element, if any.
static bool fits_tile(const struct norm *norm)
{
    const enum op_type type = norm->in.type;
    const bool loads = type == OP_TYPE_F32 || type == OP_TYPE_F16 ||
                       (type == OP_TYPE_BF16 && op_plan_chip(norm->plan) == OP_ON_910B);
    const bool weighted =
        tensor_of(norm, norm->names->weight) || tensor_of(norm, norm->names->bias);
    return loads && tensor_of(norm, norm->names->out)->type == type && norm->rows.length > 0 &&
           norm->rows.length <= OP_ROW_TILE_LEAST &&
           (!weighted || (norm->rows.weight_span == 1 && norm->rows.weights == norm->rows.length));
}

static leo_status take_tile_args(const struct norm *norm, const struct op_tensor *out,
                                 struct op_layer_norm_args *args)
{
    const struct names *names = norm->names;
    struct op_tensor in;
    leo_status status = op_plan_dense(norm->plan, &norm->in, norm->in.type, &in);
    if (status == LEO_OK) {
        status = op_norm_take(norm->plan, tensor_of(norm, names->weight), &args->weight);
    }
    if (status == LEO_OK) {
        status = op_norm_take(norm->plan, tensor_of(norm, names->bias), &args->bias);
    }
    if (status == LEO_OK) {
        status = op_norm_place(norm->plan, tensor_of(norm, names->mean), &args->mean);
    }
    if (status == LEO_OK) {
        status = op_norm_place(norm->plan, tensor_of(norm, names->inverse), &args->inverse);
    }
    args->in = in.addr;
    args->out = out->addr;
    args->type = (uint8_t)in.type;
    args->rows = (uint64_t)norm->rows.rows;
    args->length = (uint64_t)norm->rows.length;
    args->no_mean = norm->rows.no_mean;
    args->eps = (float)op_call_real(norm->call, names->eps);
    return status;
}

// All in one kernel.
static leo_status plan_tiles(const struct norm *norm)
{
    const struct names *names = norm->names;
    const struct op_tensor *out = tensor_of(norm, names->out);
    const uint32_t unit = op_type_bytes(out->type);
    struct op_layer_norm_args args;
    struct op_tensor made = *out;
    memset(&args, 0, sizeof(args));
    // Where ends of rows are no whole blocks, blocks of rows must begin at lines, as in memory of
    // our own.
    if (!op_tensor_is_dense(out) || op_plan_has_tail(norm->plan, norm->rows.length * unit)) {
        leo_status status = op_plan_temp(norm->plan, out->type, out->rank, out->dim, &made);
        if (status != LEO_OK) {
            return status;
        }
    }
    leo_status status = take_tile_args(norm, &made, &args);
    if (status != LEO_OK) {
        return status;
    }
    const bool tails = op_plan_has_tail(norm->plan, sizeof(float)); // of lists of statistics
    const uint64_t granule = tails && (args.mean || args.inverse) ? ROWS_A_BLOCK : 1,
                   lines = op_plan_row_granule(norm->plan, args.length, unit),
                   elements = args.rows * args.length,
                   cycles = args.rows * ROW_CYCLES + elements * STEPS / LANES;
    const struct op_share share =
        op_share_make(args.rows, granule > lines ? granule : lines, 1,
                      op_plan_cores_for(norm->plan, 2 * elements * unit, cycles));
    args.per_block = share.per_block;
    status = op_plan_launch(norm->plan, "layer_norm", "layer_norm", share.blocks, &args,
                            sizeof(args), 6);
    if (status == LEO_OK && made.addr != out->addr) {
        status = op_plan_copy(norm->plan, out, &made);
    }
    if (status == LEO_OK) {
        status = op_norm_give(norm->plan, args.mean, tensor_of(norm, names->mean));
    }
    return status == LEO_OK
               ? op_norm_give(norm->plan, args.inverse, tensor_of(norm, names->inverse))
               : status;
}

// The statistics kernels of batch norm: a row is a channel with one image.
static leo_status plan_passes(struct norm *norm)
{
    const struct names *names = norm->names;
    const struct op_tensor *mean = tensor_of(norm, names->mean),
                           *inverse = tensor_of(norm, names->inverse);
    struct op_batch_norm_args args;
    memset(&args, 0, sizeof(args));
    leo_status status = make_dense(norm);
    if (status == LEO_OK) {
        status = op_norm_plan_moments(norm->plan, &norm->rows, &norm->in, &args.moments);
    }
    if (status == LEO_OK) {
        status = op_norm_place(norm->plan, mean, &args.mean_out);
    }
    if (status == LEO_OK) {
        status = op_norm_place(norm->plan, inverse, &args.second_out);
    }
    if (status == LEO_OK) {
        status = place_table(norm, &args.table);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.source = OP_BATCH_NORM_ROWS;
    args.inverse = true;
    args.images = 1;
    args.channels = (uint64_t)norm->rows.rows;
    args.length = (uint64_t)norm->rows.length;
    args.eps = op_call_real(norm->call, names->eps);
    const struct op_share share =
        op_share_make(args.channels, ROWS_A_BLOCK, ROWS_A_BLOCK, op_plan_vector_cores(norm->plan));
    args.per_block = share.per_block;
    status = op_plan_launch(norm->plan, "batch_norm", "batch_norm", share.blocks, &args,
                            sizeof(args), 11);
    if (status == LEO_OK) {
        status = op_norm_give(norm->plan, args.mean_out, mean);
    }
    if (status == LEO_OK) {
        status = op_norm_give(norm->plan, args.second_out, inverse);
    }
    if (status != LEO_OK) {
        return status;
    }
    return op_norm_plan_apply(norm->plan, &norm->rows, NULL, &norm->in, args.table,
                              tensor_of(norm, names->out));
}

// GroupNorm by planes; false: the input has rows of weights, or planes that the passes do not take.
static bool is_group_norm(const struct norm *norm, struct op_group_norm *out)
{
    const struct names *names = norm->names;
    *out = (struct op_group_norm){.call = norm->call};
    if (!op_call_has(norm->call, "HxW")) {
        return false;
    }
    out->images = op_call_int(norm->call, "N");
    out->channels = op_call_int(norm->call, "C");
    out->groups = op_call_int(norm->call, "group");
    out->length = op_call_int(norm->call, "HxW");
    out->x = &norm->in;
    out->gradient = tensor_of(norm, names->gradient);
    out->gamma = tensor_of(norm, names->weight);
    out->beta = tensor_of(norm, names->bias);
    out->out = tensor_of(norm, names->out);
    out->mean = tensor_of(norm, names->mean);
    out->inverse = tensor_of(norm, names->inverse);
    out->gamma_gradient = tensor_of(norm, names->weight_gradient);
    out->beta_gradient = tensor_of(norm, names->bias_gradient);
    out->eps = names->eps ? op_call_real(norm->call, names->eps) : 0;
    return op_group_norm_fits(out);
}

static leo_status plan_forward(struct norm *norm)
{
    struct op_group_norm planes;
    if (is_group_norm(norm, &planes)) {
        return op_group_norm_forward(&planes);
    }
    return fits_tile(norm) ? plan_tiles(norm) : plan_passes(norm);
}

static leo_status plan_input_gradient(const struct norm *norm, const struct op_tensor *gradient,
                                      uint64_t mean, uint64_t inverse)
{
    struct op_batch_norm_gradient_args args;
    memset(&args, 0, sizeof(args));
    leo_status status =
        op_norm_plan_sums(norm->plan, &norm->rows, gradient, &norm->in, mean, &args.sums);
    if (status == LEO_OK) {
        status = place_table(norm, &args.table);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.source = OP_BATCH_NORM_INVERSE;
    args.training = true;
    args.no_mean = norm->rows.no_mean;
    args.mean = mean;
    args.second = inverse;
    args.images = 1;
    args.channels = (uint64_t)norm->rows.rows;
    args.length = (uint64_t)norm->rows.length;
    const struct op_share share =
        op_share_make(args.channels, ROWS_A_BLOCK, ROWS_A_BLOCK, op_plan_vector_cores(norm->plan));
    args.per_block = share.per_block;
    status = op_plan_launch(norm->plan, "batch_norm", "batch_norm_gradient", share.blocks, &args,
                            sizeof(args), 12);
    if (status != LEO_OK) {
        return status;
    }
    return op_norm_plan_apply(norm->plan, &norm->rows, gradient, &norm->in, args.table,
                              tensor_of(norm, norm->names->out));
}

static leo_status plan_columns(const struct norm *norm, const char *name,
                               const struct op_tensor *gradient, uint64_t mean, uint64_t inverse)
{
    const struct op_tensor *out = tensor_of(norm, name);
    uint64_t addr;
    leo_status status = op_norm_place(norm->plan, out, &addr);
    if (status == LEO_OK) {
        status =
            op_norm_plan_columns(norm->plan, &norm->rows, gradient, &norm->in, mean, inverse, addr);
    }
    return status == LEO_OK ? op_norm_give(norm->plan, addr, out) : status;
}

// Whether output `index` is asked for; then it must be there.
static leo_status take_wanted(const struct norm *norm, const char *name, unsigned index,
                              bool *wanted)
{
    *wanted = name != NULL;
    if (!name || !op_call_has(norm->call, "outputMask")) {
        return LEO_OK;
    }
    const struct op_bools *mask = op_call_value(norm->call, "outputMask")->bools;
    if (mask->count != 3) {
        return op_call_fail(norm->call, LEO_ERR_INVALID_ARG,
                            "outputMask has %" PRIu64 " entries, it must have 3", mask->count);
    }
    *wanted = mask->items[index];
    if (*wanted && !op_call_tensor(norm->call, name)) {
        return op_call_fail(norm->call, LEO_ERR_BAD_POINTER,
                            "%s is NULL, but outputMask[%u] is true", name, index);
    }
    return LEO_OK;
}

static leo_status take_statistics(struct norm *norm, struct op_tensor *gradient, uint64_t *mean,
                                  uint64_t *inverse)
{
    const struct op_tensor *given = tensor_of(norm, norm->names->gradient);
    leo_status status = make_dense(norm);
    if (status == LEO_OK) {
        status = op_norm_plan_input(norm->plan, given, gradient);
    }
    if (status == LEO_OK) {
        status = op_norm_take(norm->plan, tensor_of(norm, norm->names->inverse), inverse);
    }
    return status == LEO_OK ? op_norm_take(norm->plan, tensor_of(norm, norm->names->mean), mean)
                            : status;
}

// Whether one pass over memory gives all gradients: as fits_tile, with two inputs.
static bool fits_gradient_tile(const struct norm *norm, bool to_input)
{
    const struct names *names = norm->names;
    const enum op_type type = norm->in.type;
    const bool loads = type == OP_TYPE_F32 || type == OP_TYPE_F16 ||
                       (type == OP_TYPE_BF16 && op_plan_chip(norm->plan) == OP_ON_910B);
    return loads && tensor_of(norm, names->gradient)->type == type &&
           (!to_input || tensor_of(norm, names->out)->type == type) && norm->rows.length > 0 &&
           norm->rows.length <= OP_NORM_GRADIENT_MAX && norm->rows.weight_span == 1 &&
           norm->rows.weights == norm->rows.length;
}

// The sums of all blocks, one after the other: of weights, and `pitch` behind them of biases.
static leo_status join_parts(const struct norm *norm, uint64_t parts, uint32_t blocks,
                             uint32_t pitch, struct op_tensor *sums)
{
    const int64_t dim[] = {blocks, 2 * (int64_t)pitch}, item = 0;
    const struct op_tensor all = op_tensor_dense(parts, OP_TYPE_F32, 2, dim);
    leo_status status = op_plan_temp(norm->plan, OP_TYPE_F32, 1, dim + 1, sums);
    if (status != LEO_OK) {
        return status;
    }
    const struct op_ints over = {&item, 1};
    const struct op_value args[] = {op_value_tensor(&all), op_value_ints(&over),
                                    op_value_int(false), op_value_type(OP_TYPE_F32),
                                    op_value_tensor(sums)};
    return op_plan_call(norm->plan, "ReduceSum", args, 5);
}

// The sums from element `from` on.
static leo_status give_sums(const struct norm *norm, const char *name, const struct op_tensor *sums,
                            uint32_t from)
{
    const struct op_tensor *out = tensor_of(norm, name);
    const struct op_tensor made =
        op_tensor_dense(sums->addr + from * sizeof(float), OP_TYPE_F32, out->rank, out->dim);
    return op_plan_copy(norm->plan, out, &made);
}

static leo_status take_gradient_args(const struct norm *norm,
                                     struct op_layer_norm_gradient_args *args)
{
    const struct names *names = norm->names;
    struct op_tensor in, gradient;
    leo_status status = op_plan_dense(norm->plan, &norm->in, norm->in.type, &in);
    if (status == LEO_OK) {
        status = op_plan_dense(norm->plan, tensor_of(norm, names->gradient), in.type, &gradient);
    }
    if (status == LEO_OK) {
        status = op_norm_take(norm->plan, tensor_of(norm, names->weight), &args->weight);
    }
    if (status == LEO_OK) {
        status = op_norm_take(norm->plan, tensor_of(norm, names->mean), &args->mean);
    }
    if (status == LEO_OK) {
        status = op_norm_take(norm->plan, tensor_of(norm, names->inverse), &args->inverse);
    }
    if (status != LEO_OK) {
        return status;
    }
    args->in = in.addr;
    args->gradient = gradient.addr;
    args->type = (uint8_t)in.type;
    args->rows = (uint64_t)norm->rows.rows;
    args->length = (uint64_t)norm->rows.length;
    args->pitch = (uint32_t)(args->length + 15) / 16 * 16; // lines of the blocks
    return LEO_OK;
}

static leo_status plan_gradient_tiles(const struct norm *norm, bool to_input, bool to_weight,
                                      bool to_bias)
{
    const struct names *names = norm->names;
    const uint32_t unit = op_type_bytes(norm->in.type);
    struct op_layer_norm_gradient_args args;
    struct op_tensor made = norm->in;
    memset(&args, 0, sizeof(args));
    leo_status status = take_gradient_args(norm, &args);
    if (status == LEO_OK && to_input) {
        // As for the forward pass: blocks of rows begin at lines.
        made = *tensor_of(norm, names->out);
        if (!op_tensor_is_dense(&made) || op_plan_has_tail(norm->plan, norm->rows.length * unit)) {
            status = op_plan_temp(norm->plan, made.type, made.rank, made.dim, &made);
        }
        args.out = made.addr;
    }
    const struct op_share share = op_share_make(args.rows, op_row_granule(args.length, unit), 1,
                                                op_plan_vector_cores(norm->plan));
    if (status == LEO_OK) {
        status = op_plan_temp_bytes(norm->plan, (uint64_t)share.blocks * 2 * args.pitch * 4,
                                    &args.parts);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.per_block = share.per_block;
    status = op_plan_launch(norm->plan, "layer_norm_gradient", "layer_norm_gradient", share.blocks,
                            &args, sizeof(args), 7);
    if (status == LEO_OK && to_input && made.addr != tensor_of(norm, names->out)->addr) {
        status = op_plan_copy(norm->plan, tensor_of(norm, names->out), &made);
    }
    struct op_tensor sums;
    if (status == LEO_OK && (to_weight || to_bias)) {
        status = join_parts(norm, args.parts, share.blocks, args.pitch, &sums);
    }
    if (status == LEO_OK && to_weight) {
        status = give_sums(norm, names->weight_gradient, &sums, 0);
    }
    return status == LEO_OK && to_bias ? give_sums(norm, names->bias_gradient, &sums, args.pitch)
                                       : status;
}

static leo_status plan_backward(struct norm *norm)
{
    struct op_tensor gradient;
    uint64_t mean, inverse;
    bool to_input, to_weight, to_bias;
    leo_status status = take_wanted(norm, norm->names->out, 0, &to_input);
    if (status == LEO_OK) {
        status = take_wanted(norm, norm->names->weight_gradient, 1, &to_weight);
    }
    if (status == LEO_OK) {
        status = take_wanted(norm, norm->names->bias_gradient, 2, &to_bias);
    }
    struct op_group_norm planes;
    if (status == LEO_OK && is_group_norm(norm, &planes)) {
        planes.out = to_input ? planes.out : NULL;
        planes.gamma_gradient = to_weight ? planes.gamma_gradient : NULL;
        planes.beta_gradient = to_bias ? planes.beta_gradient : NULL;
        return op_group_norm_backward(&planes);
    }
    if (status == LEO_OK && fits_gradient_tile(norm, to_input)) {
        return plan_gradient_tiles(norm, to_input, to_weight, to_bias);
    }
    if (status == LEO_OK) {
        status = take_statistics(norm, &gradient, &mean, &inverse);
    }
    if (status == LEO_OK && to_input) {
        status = plan_input_gradient(norm, &gradient, mean, inverse);
    }
    if (status == LEO_OK && to_weight) {
        status = plan_columns(norm, norm->names->weight_gradient, &gradient, mean, inverse);
    }
    return status == LEO_OK && to_bias
               ? plan_columns(norm, norm->names->bias_gradient, &gradient, 0, 0)
               : status;
}

// Gradients of weights that no element contributes to are 0.
static leo_status plan_empty(const struct norm *norm)
{
    const char *const names[] = {norm->names->weight_gradient, norm->names->bias_gradient};
    for (unsigned i = 0; i < 2; i++) {
        const struct op_tensor *out = tensor_of(norm, names[i]);
        const struct op_value args[] = {op_value_tensor(out)};
        leo_status status = out ? op_plan_call(norm->plan, "InplaceZero", args, 1) : LEO_OK;
        if (status != LEO_OK) {
            return status;
        }
    }
    return LEO_OK;
}

leo_status op_plan_layer_norm(const struct op_call *call)
{
    const bool grouped = op_call_has(call, "HxW"), root = op_call_has(call, "x");
    const bool backward = op_call_has(call, "gradOut") || op_call_has(call, "dy");
    struct norm norm = {.call = call, .plan = call->plan};
    norm.names = grouped    ? backward ? &group_back : &group
                 : root     ? backward ? &rms_back : &rms
                 : backward ? &layer_back
                            : &layer;
    norm.in = *op_call_tensor(call, norm.names->in);
    leo_status status = grouped ? take_group_rows(&norm) : take_layer_rows(&norm);
    if (status == LEO_OK) {
        status = check_shapes(&norm);
    }
    if (status != LEO_OK) {
        return status;
    }
    norm.rows.entry_rows = 1;
    norm.rows.entries = norm.rows.rows;
    norm.rows.no_mean = root;
    if (op_tensor_count(&norm.in) == 0) {
        return backward ? plan_empty(&norm) : LEO_OK;
    }
    return backward ? plan_backward(&norm) : plan_forward(&norm);
}
