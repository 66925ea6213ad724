/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a model's calls. */
#include "model_run.h"

#include <leo/alloc.h>
#include <string.h>

enum { ARGS = 32, PLACE = 1 << 20 };

/** The call being made, and where the model's regions lie. */
struct running {
    const struct model_run *run;
    struct leo_op_tensor *tensors; /**< of the call, as many as it may need */
    uint32_t tensor_count;
};

static uint64_t region_of(const struct running *run, const struct leo_model_value *value)
{
    switch (value->region) {
    case LEO_MODEL_INPUT:
        return run->run->inputs[value->index];
    case LEO_MODEL_OUTPUT:
        return run->run->outputs[value->index];
    case LEO_MODEL_WEIGHT:
        return run->run->weights;
    default:
        return run->run->work;
    }
}

static const struct leo_op_tensor *take_tensor(struct running *run, uint32_t index)
{
    const struct leo_model_value *value = &run->run->model->values[index];
    struct leo_op_tensor *tensor = &run->tensors[run->tensor_count++];
    *tensor = (struct leo_op_tensor){.addr = region_of(run, value) + value->offset,
                                     .dtype = (enum leo_dtype)value->dtype,
                                     .rank = value->rank};
    memcpy(tensor->dim, value->dim, sizeof(tensor->dim));
    memcpy(tensor->stride, value->stride, sizeof(tensor->stride));
    return tensor;
}

static struct leo_op_arg take_arg(struct running *run, const struct leo_model_arg *arg)
{
    const uint32_t first = run->tensor_count;
    const uint32_t *values = arg->list;
    switch (arg->kind) {
    case LEO_OP_TENSOR:
        return leo_op_arg_tensor(take_tensor(run, arg->value));
    case LEO_OP_TENSORS:
        for (uint32_t i = 0; i < arg->count; i++) {
            (void)take_tensor(run, values[i]);
        }
        return leo_op_arg_tensors(&run->tensors[first], arg->count);
    case LEO_OP_NUMBER:
        return leo_op_arg_number(arg->number);
    case LEO_OP_INTS:
        return leo_op_arg_ints(arg->list, arg->count);
    case LEO_OP_BOOLS:
        return leo_op_arg_bools(arg->list, arg->count);
    case LEO_OP_DTYPE:
        return leo_op_arg_dtype((enum leo_dtype)arg->value);
    case LEO_OP_TEXT:
        return leo_op_arg_text(arg->list);
    default:
        return leo_op_arg_none();
    }
}

static uint32_t most_tensors(const struct leo_model *model)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < model->call_count; i++) {
        uint32_t count = 0;
        for (uint32_t k = 0; k < model->calls[i].arg_count; k++) {
            const struct leo_model_arg *arg = &model->calls[i].args[k];
            count += arg->kind == LEO_OP_TENSOR ? 1 : arg->kind == LEO_OP_TENSORS ? arg->count : 0;
        }
        most = count > most ? count : most;
    }
    return most;
}

/** What is done with each call. */
typedef leo_status (*call_fn)(struct leo_op_context *context, const char *op,
                              const struct leo_op_arg *args, uint32_t count, uint64_t *most);

// Of which node the next call is.
static void tell_node(const struct model_run *run, const struct leo_model_call *call)
{
    if (run->watch) {
        const char *node = call->node ? run->model->nodes[call->node - 1].name : NULL;
        run->watch->dump.node = node;
        run->watch->dumps = run->dumped && leo_acl_dump_model_is_on(run->dumped, node ? node : "");
    }
}

static leo_status each_call(struct running *run, struct leo_op_context *context, call_fn fn,
                            uint64_t *most, const struct leo_model_call **failed)
{
    const struct leo_model *model = run->run->model;
    struct leo_op_arg args[ARGS];
    leo_status status = LEO_OK;
    *failed = NULL;
    run->tensors = leo_calloc(most_tensors(model), sizeof(*run->tensors));
    if (!run->tensors) {
        return LEO_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < model->call_count && status == LEO_OK; i++) {
        const struct leo_model_call *call = &model->calls[i];
        run->tensor_count = 0;
        tell_node(run->run, call);
        for (uint32_t k = 0; k < call->arg_count; k++) {
            args[k] = take_arg(run, &call->args[k]);
        }
        status = fn(context, call->op, args, call->arg_count, most);
        *failed = status == LEO_OK ? NULL : call;
    }
    leo_free(run->tensors);
    return status;
}

static leo_status run_call(struct leo_op_context *context, const char *op,
                           const struct leo_op_arg *args, uint32_t count, uint64_t *most)
{
    (void)most;
    return leo_op_run(context, op, args, count);
}

static leo_status ask_call(struct leo_op_context *context, const char *op,
                           const struct leo_op_arg *args, uint32_t count, uint64_t *most)
{
    uint64_t bytes;
    leo_status status = leo_op_workspace(context, op, args, count, &bytes);
    *most = bytes > *most ? bytes : *most;
    return status;
}

leo_status model_run(const struct model_run *run, struct leo_op_context *context,
                     const struct leo_model_call **failed)
{
    struct running running = {.run = run};
    return each_call(&running, context, run_call, NULL, failed);
}

static uint64_t take_place(uint64_t *next, uint64_t bytes)
{
    const uint64_t place = *next;
    *next += (bytes / PLACE + 1) * PLACE;
    return place;
}

leo_status model_workspace(const struct leo_model *model, struct leo_op_context *context,
                           uint64_t *bytes, const struct leo_model_call **failed)
{
    // Plans depend on how addresses are aligned, and on which tensors overlap: each region has its
    // own.
    uint64_t next = PLACE;
    struct model_run places_of = {.model = model,
                                  .weights = take_place(&next, model->weight_bytes),
                                  .work = take_place(&next, model->work_bytes)};
    struct running run = {.run = &places_of};
    uint64_t *places =
        leo_calloc((size_t)model->input_count + model->output_count + 1, sizeof(*places));
    *bytes = 0;
    *failed = NULL;
    if (!places) {
        return LEO_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < model->input_count + model->output_count; i++) {
        const struct leo_model_io *io =
            i < model->input_count ? &model->inputs[i] : &model->outputs[i - model->input_count];
        places[i] = take_place(&next, leo_model_io_bytes(io));
    }
    places_of.inputs = places;
    places_of.outputs = places + model->input_count;
    leo_status status = each_call(&run, context, ask_call, bytes, failed);
    leo_free(places);
    return status;
}
