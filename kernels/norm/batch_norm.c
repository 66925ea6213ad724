/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm, and its parts that SyncBatchNorm calls. */
#include "batch_norm_planes.h"

#include <inttypes.h>
#include <string.h>

/* A call's input as rows: a plane of each image and channel. */
struct batch {
    const struct op_call *call;
    struct op_plan *plan;
    bool planes;         /* for batch_norm_planes.h */
    struct op_tensor in; /* dense */
    int64_t images, channels, length;
    struct op_norm_rows rows;
};

static leo_status take_batch(const struct op_call *call, struct batch *batch)
{
    const struct op_tensor *input = op_call_tensor(call, "input");
    if (input->rank < 2) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "input has shape %s, it must have at least 2 dimensions",
                            op_tensor_shape_text(input).text);
    }
    batch->call = call;
    batch->plan = call->plan;
    batch->images = input->dim[0];
    batch->channels = input->dim[1];
    batch->length = 1;
    for (unsigned i = 2; i < input->rank; i++) {
        batch->length *= input->dim[i];
    }
    batch->rows = (struct op_norm_rows){.rows = batch->images * batch->channels,
                                        .length = batch->length,
                                        .entry_rows = 1,
                                        .entries = batch->channels};
    batch->in = *input;
    return LEO_OK;
}

static leo_status make_dense(const struct batch *batch, const char *name, struct op_tensor *out)
{
    const struct op_tensor *tensor = op_call_tensor(batch->call, name);
    return batch->planes ? op_plan_dense(batch->plan, tensor, tensor->type, out)
                         : op_norm_plan_input(batch->plan, tensor, out);
}

/* The input, dense, for what is made of it and of the gradient that has this name; y NULL: numbers
 * alone. */
static leo_status make_input(struct batch *batch, const char *gradient, const struct op_tensor *y)
{
    const struct op_planes maps = {.x = &batch->in,
                                   .gradient =
                                       gradient ? op_call_tensor(batch->call, gradient) : NULL,
                                   .y = y};
    batch->planes = op_planes_fit(batch->plan, &maps);
    return make_dense(batch, "input", &batch->in);
}

static leo_status check_input(const struct batch *batch, const char *name)
{
    return op_call_check_shape(batch->call, name, batch->in.rank, batch->in.dim);
}

// A tensor of one number per channel that the call reads; 0 if it is absent.
static leo_status take(const struct batch *batch, const char *name, uint64_t *addr)
{
    const struct op_tensor *tensor = op_call_tensor(batch->call, name);
    *addr = 0;
    if (!tensor) {
        return LEO_OK;
    }
    leo_status status = op_call_check_shape(batch->call, name, 1, &batch->channels);
    return status == LEO_OK ? op_norm_take(batch->plan, tensor, addr) : status;
}

static leo_status need(const struct batch *batch, const char *name, const char *when,
                       uint64_t *addr)
{
    if (!op_call_tensor(batch->call, name)) {
        return op_call_fail(batch->call, LEO_ERR_BAD_POINTER, "%s is NULL, but %s", name, when);
    }
    return take(batch, name, addr);
}

static leo_status place(const struct batch *batch, const char *name, uint64_t *addr)
{
    const struct op_tensor *tensor = op_call_tensor(batch->call, name);
    leo_status status =
        tensor ? op_call_check_shape(batch->call, name, 1, &batch->channels) : LEO_OK;
    return status == LEO_OK ? op_norm_place(batch->plan, tensor, addr) : status;
}

static leo_status give(const struct batch *batch, const char *name, uint64_t addr)
{
    return op_norm_give(batch->plan, addr, op_call_tensor(batch->call, name));
}

/* The running statistics are read where they are written: a converted copy of them is both. */
struct running {
    uint64_t mean, variance;
};

static leo_status take_running(const struct batch *batch, struct running *running)
{
    leo_status status = take(batch, "runningMean", &running->mean);
    return status == LEO_OK ? take(batch, "runningVar", &running->variance) : status;
}

static leo_status give_running(const struct batch *batch, const struct running *running)
{
    leo_status status = give(batch, "runningMean", running->mean);
    return status == LEO_OK ? give(batch, "runningVar", running->variance) : status;
}

enum { CHANNELS_A_BLOCK = 16 }; // f32 of a line

static struct op_share share_channels(const struct batch *batch)
{
    return op_share_make((uint64_t)batch->channels, CHANNELS_A_BLOCK, CHANNELS_A_BLOCK,
                         op_plan_vector_cores(batch->plan));
}

static leo_status launch(const struct batch *batch, struct op_batch_norm_args *args)
{
    const struct op_share share = share_channels(batch);
    args->images = args->images ? args->images : (uint64_t)batch->images;
    args->channels = (uint64_t)batch->channels;
    args->length = (uint64_t)batch->length;
    args->per_block = share.per_block;
    return op_plan_launch(batch->plan, "batch_norm", "batch_norm", share.blocks, args,
                          sizeof(*args), 11);
}

static leo_status place_table(const struct batch *batch, uint64_t *table)
{
    return op_plan_temp_bytes(batch->plan, (uint64_t)batch->channels * sizeof(struct op_norm_entry),
                              table);
}

/* Statistics, those of the input if `source` says so, and y if it is wanted. */
static leo_status run_forward(const struct batch *batch, struct op_batch_norm_args *args,
                              const struct op_tensor *y)
{
    args->eps = op_call_real(batch->call, "eps");
    if (batch->planes) {
        const struct op_planes maps = {.x = &batch->in, .y = y};
        return op_planes_plan_forward(batch->plan, &maps, args);
    }
    leo_status status = LEO_OK;
    if (args->source == OP_BATCH_NORM_ROWS) {
        status = op_norm_plan_moments(batch->plan, &batch->rows, &batch->in, &args->moments);
    }
    if (status == LEO_OK && y) {
        status = place_table(batch, &args->table);
    }
    if (status == LEO_OK) {
        status = launch(batch, args);
    }
    return status == LEO_OK && y
               ? op_norm_plan_apply(batch->plan, &batch->rows, NULL, &batch->in, args->table, y)
               : status;
}

static leo_status plan_training(const struct batch *batch, struct op_batch_norm_args *args)
{
    struct running running;
    leo_status status = take_running(batch, &running);
    if (status == LEO_OK) {
        status = place(batch, "saveMean", &args->mean_out);
    }
    if (status == LEO_OK) {
        status = place(batch, "saveInvstd", &args->second_out);
    }
    if (status != LEO_OK) {
        return status;
    }
    args->source = OP_BATCH_NORM_ROWS;
    args->running_mean = running.mean;
    args->running_variance = running.variance;
    args->momentum = op_call_real(batch->call, "momentum");
    status = run_forward(batch, args, op_call_tensor(batch->call, "output"));
    if (status == LEO_OK) {
        status = give_running(batch, &running);
    }
    if (status == LEO_OK) {
        status = give(batch, "saveMean", args->mean_out);
    }
    return status == LEO_OK ? give(batch, "saveInvstd", args->second_out) : status;
}

static leo_status plan_evaluation(const struct batch *batch, struct op_batch_norm_args *args)
{
    leo_status status = need(batch, "runningMean", "training is false", &args->mean);
    if (status == LEO_OK) {
        status = need(batch, "runningVar", "training is false", &args->second);
    }
    args->source = OP_BATCH_NORM_VARIANCE;
    return status == LEO_OK ? run_forward(batch, args, op_call_tensor(batch->call, "output"))
                            : status;
}

static leo_status plan_forward(struct batch *batch)
{
    struct op_batch_norm_args args;
    memset(&args, 0, sizeof(args));
    leo_status status = check_input(batch, "output");
    if (status != LEO_OK || op_tensor_count(&batch->in) == 0) {
        return status;
    }
    status = make_input(batch, NULL, op_call_tensor(batch->call, "output"));
    if (status == LEO_OK) {
        status = take(batch, "weight", &args.weight);
    }
    if (status == LEO_OK) {
        status = take(batch, "bias", &args.bias);
    }
    if (status != LEO_OK) {
        return status;
    }
    return op_call_int(batch->call, "training") ? plan_training(batch, &args)
                                                : plan_evaluation(batch, &args);
}

static leo_status launch_gradient(const struct batch *batch,
                                  struct op_batch_norm_gradient_args *args)
{
    const struct op_share share = share_channels(batch);
    args->images = (uint64_t)batch->images;
    args->channels = (uint64_t)batch->channels;
    args->length = (uint64_t)batch->length;
    args->per_block = share.per_block;
    return op_plan_launch(batch->plan, "batch_norm", "batch_norm_gradient", share.blocks, args,
                          sizeof(*args), 12);
}

/* Sums, unless they are given, gradients of weight and bias, and y if it is wanted. */
static leo_status run_backward(const struct batch *batch, struct op_batch_norm_gradient_args *args,
                               const struct op_tensor *gradient, const struct op_tensor *y)
{
    args->eps = op_call_has(batch->call, "eps") ? op_call_real(batch->call, "eps") : 0;
    if (batch->planes) {
        const struct op_planes maps = {.x = &batch->in, .gradient = gradient, .y = y};
        return op_planes_plan_backward(batch->plan, &maps, args);
    }
    leo_status status = LEO_OK;
    if (!args->gradient_sum) {
        status = op_norm_plan_sums(batch->plan, &batch->rows, gradient, &batch->in, args->mean,
                                   &args->sums);
    }
    if (status == LEO_OK && y) {
        status = place_table(batch, &args->table);
    }
    if (status == LEO_OK) {
        status = launch_gradient(batch, args);
    }
    return status == LEO_OK && y
               ? op_norm_plan_apply(batch->plan, &batch->rows, gradient, &batch->in, args->table, y)
               : status;
}

static leo_status take_wanted(const struct batch *batch, const char *name, unsigned index,
                              const struct op_tensor **out)
{
    const struct op_bools *mask = op_call_value(batch->call, "outputMask")->bools;
    if (mask->count != 3) {
        return op_call_fail(batch->call, LEO_ERR_INVALID_ARG,
                            "outputMask has %" PRIu64 " entries, it must have 3", mask->count);
    }
    *out = mask->items[index] ? op_call_tensor(batch->call, name) : NULL;
    if (mask->items[index] && !*out) {
        return op_call_fail(batch->call, LEO_ERR_BAD_POINTER,
                            "%s is NULL, but outputMask[%u] is true", name, index);
    }
    return LEO_OK;
}

/* What a backward call is asked for. */
struct wanted {
    const struct op_tensor *input, *weight, *bias;
};

static leo_status take_gradients(const struct batch *batch, struct wanted *wanted)
{
    leo_status status = check_input(batch, "gradOut");
    if (status == LEO_OK) {
        status = take_wanted(batch, "gradInput", 0, &wanted->input);
    }
    if (status == LEO_OK) {
        status = take_wanted(batch, "gradWeight", 1, &wanted->weight);
    }
    if (status == LEO_OK) {
        status = take_wanted(batch, "gradBias", 2, &wanted->bias);
    }
    return status == LEO_OK && wanted->input ? check_input(batch, "gradInput") : status;
}

static leo_status take_statistics(const struct batch *batch,
                                  struct op_batch_norm_gradient_args *args)
{
    args->training = op_call_int(batch->call, "training") != 0;
    args->source = OP_BATCH_NORM_VARIANCE;
    leo_status status = args->training
                            ? need(batch, "saveMean", "training is true", &args->mean)
                            : need(batch, "runningMean", "training is false", &args->mean);
    if (status != LEO_OK) {
        return status;
    }
    return args->training ? need(batch, "saveInvstd", "training is true", &args->second)
                          : need(batch, "runningVar", "training is false", &args->second);
}

static leo_status plan_backward(struct batch *batch)
{
    struct op_batch_norm_gradient_args args;
    struct wanted wanted;
    struct op_tensor gradient;
    memset(&args, 0, sizeof(args));
    leo_status status = take_gradients(batch, &wanted);
    if (status != LEO_OK || op_tensor_count(&batch->in) == 0) {
        return status;
    }
    status = make_input(batch, "gradOut", wanted.input);
    if (status == LEO_OK) {
        status = make_dense(batch, "gradOut", &gradient);
    }
    if (status == LEO_OK) {
        status = take(batch, "weight", &args.weight);
    }
    if (status == LEO_OK) {
        status = take_statistics(batch, &args);
    }
    if (status == LEO_OK) {
        status = op_norm_place(batch->plan, wanted.weight, &args.weight_gradient);
    }
    if (status == LEO_OK) {
        status = op_norm_place(batch->plan, wanted.bias, &args.bias_gradient);
    }
    if (status == LEO_OK) {
        status = run_backward(batch, &args, &gradient, wanted.input);
    }
    if (status == LEO_OK) {
        status = op_norm_give(batch->plan, args.weight_gradient, wanted.weight);
    }
    return status == LEO_OK ? op_norm_give(batch->plan, args.bias_gradient, wanted.bias) : status;
}

static leo_status plan_stats(struct batch *batch)
{
    struct op_batch_norm_args args;
    memset(&args, 0, sizeof(args));
    if (op_tensor_count(&batch->in) == 0) {
        return op_call_fail(batch->call, LEO_ERR_SHAPE, "input has no elements (shape %s)",
                            op_tensor_shape_text(&batch->in).text);
    }
    leo_status status = make_input(batch, NULL, NULL);
    if (status == LEO_OK) {
        status = place(batch, "mean", &args.mean_out);
    }
    if (status == LEO_OK) {
        status = place(batch, "invstd", &args.second_out);
    }
    args.source = OP_BATCH_NORM_ROWS;
    args.inverse = true;
    if (status == LEO_OK) {
        status = run_forward(batch, &args, NULL);
    }
    if (status == LEO_OK) {
        status = give(batch, "mean", args.mean_out);
    }
    return status == LEO_OK ? give(batch, "invstd", args.second_out) : status;
}

static leo_status plan_elements(struct batch *batch)
{
    struct op_batch_norm_args args;
    memset(&args, 0, sizeof(args));
    leo_status status = check_input(batch, "output");
    if (status != LEO_OK || op_tensor_count(&batch->in) == 0) {
        return status;
    }
    status = make_input(batch, NULL, op_call_tensor(batch->call, "output"));
    if (status == LEO_OK) {
        status = take(batch, "weight", &args.weight);
    }
    if (status == LEO_OK) {
        status = take(batch, "bias", &args.bias);
    }
    if (status == LEO_OK) {
        status = take(batch, "mean", &args.mean);
    }
    if (status == LEO_OK) {
        status = take(batch, "invstd", &args.second);
    }
    args.source = OP_BATCH_NORM_INVERSE;
    return status == LEO_OK ? run_forward(batch, &args, op_call_tensor(batch->call, "output"))
                            : status;
}

static leo_status plan_gather(struct batch *batch)
{
    struct op_batch_norm_args args;
    struct running running;
    memset(&args, 0, sizeof(args));
    const struct op_call *call = batch->call;
    const struct op_tensor *mean = op_call_tensor(call, "mean"),
                           *counts = op_call_tensor(call, "counts");
    const int64_t replicas = op_tensor_count(counts), shape[] = {replicas, batch->channels};
    leo_status status = op_call_check_shape(call, "mean", 2, shape);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "invstd", 2, shape);
    }
    if (status != LEO_OK || batch->channels == 0) {
        return status;
    }
    status = op_norm_take(batch->plan, mean, &args.mean);
    if (status == LEO_OK) {
        status = op_norm_take(batch->plan, op_call_tensor(call, "invstd"), &args.second);
    }
    if (status == LEO_OK) {
        status = op_norm_take(batch->plan, counts, &args.counts);
    }
    if (status == LEO_OK) {
        status = take_running(batch, &running);
    }
    if (status == LEO_OK) {
        status = place(batch, "meanAll", &args.mean_out);
    }
    if (status == LEO_OK) {
        status = place(batch, "invstdAll", &args.second_out);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.source = OP_BATCH_NORM_REPLICAS;
    args.inverse = true;
    args.images = (uint64_t)replicas;
    args.running_mean = running.mean;
    args.running_variance = running.variance;
    args.momentum = op_call_real(call, "momentum");
    args.eps = op_call_real(call, "eps");
    status = launch(batch, &args);
    if (status == LEO_OK) {
        status = give_running(batch, &running);
    }
    if (status == LEO_OK) {
        status = give(batch, "meanAll", args.mean_out);
    }
    return status == LEO_OK ? give(batch, "invstdAll", args.second_out) : status;
}

static leo_status plan_sums(struct batch *batch)
{
    static const struct {
        const char *name, *flag;
        size_t at;
    } outs[] = {
        {"sumDy", "inputG", offsetof(struct op_batch_norm_gradient_args, gradient_sum_out)},
        {"sumDyXmu", "inputG", offsetof(struct op_batch_norm_gradient_args, product_sum_out)},
        {"gradWeight", "weightG", offsetof(struct op_batch_norm_gradient_args, weight_gradient)},
        {"gradBias", "biasG", offsetof(struct op_batch_norm_gradient_args, bias_gradient)},
    };
    struct op_batch_norm_gradient_args args;
    struct op_tensor gradient;
    memset(&args, 0, sizeof(args));
    leo_status status = check_input(batch, "gradOut");
    if (status != LEO_OK || op_tensor_count(&batch->in) == 0) {
        return status;
    }
    status = make_input(batch, "gradOut", NULL);
    if (status == LEO_OK) {
        status = make_dense(batch, "gradOut", &gradient);
    }
    if (status == LEO_OK) {
        status = take(batch, "mean", &args.mean);
    }
    if (status == LEO_OK) {
        status = take(batch, "invstd", &args.second);
    }
    for (unsigned i = 0; status == LEO_OK && i < sizeof(outs) / sizeof(outs[0]); i++) {
        if (op_call_int(batch->call, outs[i].flag)) {
            status = place(batch, outs[i].name, (uint64_t *)((char *)&args + outs[i].at));
        }
    }
    args.source = OP_BATCH_NORM_INVERSE;
    if (status == LEO_OK) {
        status = run_backward(batch, &args, &gradient, NULL);
    }
    for (unsigned i = 0; status == LEO_OK && i < sizeof(outs) / sizeof(outs[0]); i++) {
        if (op_call_int(batch->call, outs[i].flag)) {
            status = give(batch, outs[i].name, *(uint64_t *)((char *)&args + outs[i].at));
        }
    }
    return status;
}

static leo_status plan_elements_backward(struct batch *batch)
{
    struct op_batch_norm_gradient_args args;
    struct op_tensor gradient, counter;
    memset(&args, 0, sizeof(args));
    leo_status status = check_input(batch, "gradOut");
    if (status == LEO_OK) {
        status = check_input(batch, "gradInput");
    }
    if (status != LEO_OK || op_tensor_count(&batch->in) == 0) {
        return status;
    }
    status = make_input(batch, "gradOut", op_call_tensor(batch->call, "gradInput"));
    if (status == LEO_OK) {
        status = make_dense(batch, "gradOut", &gradient);
    }
    if (status == LEO_OK) {
        status = make_dense(batch, "counter", &counter);
    }
    const struct {
        const char *name;
        uint64_t *addr;
    } ins[] = {{"mean", &args.mean},
               {"invstd", &args.second},
               {"weight", &args.weight},
               {"sumDy", &args.gradient_sum},
               {"sumDyXmu", &args.product_sum}};
    for (unsigned i = 0; status == LEO_OK && i < sizeof(ins) / sizeof(ins[0]); i++) {
        status = take(batch, ins[i].name, ins[i].addr);
    }
    if (status != LEO_OK) {
        return status;
    }
    args.source = OP_BATCH_NORM_INVERSE;
    args.training = true;
    args.counter = counter.addr;
    args.replicas = (uint64_t)op_tensor_count(&counter);
    return run_backward(batch, &args, &gradient, op_call_tensor(batch->call, "gradInput"));
}

leo_status op_plan_batch_norm(const struct op_call *call)
{
    static const struct {
        const char *name;
        leo_status (*plan)(struct batch *batch);
    } operators[] = {
        {"BatchNorm", plan_forward},
        {"BatchNormBackward", plan_backward},
        {"BatchNormStats", plan_stats},
        {"BatchNormElemt", plan_elements},
        {"BatchNormGatherStatsWithCounts", plan_gather},
        {"BatchNormReduceBackward", plan_sums},
        {"BatchNormElemtBackward", plan_elements_backward},
    };
    struct batch batch;
    leo_status status = op_call_check_channels(call);
    if (status == LEO_OK) {
        status = take_batch(call, &batch);
    }
    for (unsigned i = 0; status == LEO_OK && i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (strcmp(call->row->name, operators[i].name) == 0) {
            return operators[i].plan(&batch);
        }
    }
    return status;
}
