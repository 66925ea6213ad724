/* SPDX-License-Identifier: Apache-2.0 */
#include "phase.h"

#include "describe.h"
#include "dump.h"
#include "executor.h"
#include "objects.h"

#include <leo/acl_hook.h>
#include <stdio.h>
#include <string.h>

static aclnnStatus code_of(leo_status status)
{
    switch (status) {
    case LEO_OK:
        return ACLNN_SUCCESS;
    case LEO_ERR_BAD_POINTER:
        return ACLNN_ERR_PARAM_NULLPTR;
    case LEO_ERR_SHAPE:
    case LEO_ERR_DTYPE:
    case LEO_ERR_INVALID_ARG:
    case LEO_ERR_RANGE:
    case LEO_ERR_UNSUPPORTED:
        return ACLNN_ERR_PARAM_INVALID;
    case LEO_ERR_NO_MEMORY:
        return ACLNN_ERR_INNER;
    default:
        return ACLNN_ERR_RUNTIME_ERROR;
    }
}

static aclnnStatus fail_status(const char *func, leo_status status)
{
    const char *text = leo_rt_last_error();
    return leo_acl_fail(code_of(status), func, "%s", *text ? text : leo_status_text(status));
}

struct name {
    char text[96];
};

static struct name phase_name(const struct op_row *row, const char *suffix)
{
    struct name name;
    snprintf(name.text, sizeof(name.text), "aclnn%s%s", row->name, suffix);
    return name;
}

typedef leo_status visit_fn(const struct op_row *row, const struct op_param *param,
                            const struct op_tensor *tensor, void *user);

// Each tensor that is given, lists' members too; ends at a status.
static leo_status each_tensor(const struct op_row *row, const struct op_value *args,
                              visit_fn *visit, void *user)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; status == LEO_OK && i < row->param_count; i++) {
        const struct op_param *param = &row->params[i];
        if (param->kind == OP_KIND_TENSOR && args[i].tensor) {
            status = visit(row, param, args[i].tensor, user);
        }
        const struct op_tensor_list *list =
            param->kind == OP_KIND_TENSOR_LIST ? args[i].tensors : NULL;
        for (uint64_t k = 0; status == LEO_OK && list && k < list->count; k++) {
            status = list->items[k] ? visit(row, param, list->items[k], user) : LEO_OK;
        }
    }
    return status;
}

// Views lie in the storage that the caller has described.
static leo_status check_view(const struct op_row *row, const struct op_param *param,
                             const struct op_tensor *tensor, void *user)
{
    (void)user;
    return opapi_check_view(row->name, param->name, tensor);
}

/* Tensors without memory in phase 1: adapters ask for a size first and set addresses, or make the
 * executor anew, when they launch. They are planned for with places of their own. */
#define FIRST_PLACE (UINT64_C(1) << 60)
#define NEXT_PLACE  (UINT64_C(1) << 48)

// Tensors come as aclTensor * and are only passed through the tables as const.
static struct op_tensor *writable(const struct op_tensor *tensor)
{
    return (struct op_tensor *)(uintptr_t)tensor;
}

static leo_status lend_place(const struct op_row *row, const struct op_param *param,
                             const struct op_tensor *tensor, void *last)
{
    uint64_t *place = last;
    (void)row;
    (void)param;
    if (tensor->addr == 0) {
        writable(tensor)->addr = *place += NEXT_PLACE;
    }
    return LEO_OK;
}

static leo_status take_place(const struct op_row *row, const struct op_param *param,
                             const struct op_tensor *tensor, void *user)
{
    (void)row;
    (void)param;
    (void)user;
    if (tensor->addr > FIRST_PLACE) {
        writable(tensor)->addr = 0;
    }
    return LEO_OK;
}

static leo_status get_plan(struct op_engine *engine, const struct op_row *row,
                           const struct op_value *args, struct op_plan **plan)
{
    uint64_t last = FIRST_PLACE;
    (void)each_tensor(row, args, lend_place, &last);
    leo_status status = op_plan_get(engine, row, args, plan);
    if (last > FIRST_PLACE) {
        (void)each_tensor(row, args, take_place, NULL);
    }
    return status;
}

/* The arguments as the operator takes them: a tensor of numbers of 4 bits as words where the row's
 * word `nibbles` names the parameter. `lent` has room for the row's parameters. */
static const struct op_value *as_taken(const struct op_row *row, const struct op_value *args,
                                       struct op_value *lent)
{
    const struct op_value *taken = args;
    for (unsigned i = 0; i < row->param_count; i++) {
        const aclTensor *tensor = row->params[i].kind == OP_KIND_TENSOR
                                      ? (const aclTensor *)(const void *)args[i].tensor
                                      : NULL;
        if (!tensor || tensor->words.rank == 0) {
            continue;
        }
        const char *packed = op_row_attr(row, "nibbles");
        if (packed && strcmp(packed, row->params[i].name) == 0) {
            memcpy(lent, args, row->param_count * sizeof(*lent));
            lent[i].tensor = &tensor->words;
            taken = lent;
        }
    }
    return taken;
}

static aclnnStatus check_memory(const char *func, const aclOpExecutor *executor)
{
    const struct op_row *row = op_plan_row(executor->plan);
    for (unsigned i = 0, param = 0; i < executor->count; i++) {
        while (executor->first[param + 1] <= i) {
            param++;
        }
        const struct op_tensor *tensor = executor->tensors[i];
        if (tensor && executor->addr[i] == 0 && op_tensor_count(tensor) > 0) {
            return leo_acl_fail(ACLNN_ERR_PARAM_NULLPTR, func,
                                "%s has no memory (its data pointer is NULL)",
                                row->params[param].name);
        }
    }
    return ACLNN_SUCCESS;
}

aclnnStatus opapi_phase1(const struct op_row *row, const struct op_value *args,
                         uint64_t *workspace_size, aclOpExecutor **executor)
{
    struct leo_rt_device *device;
    struct op_engine *engine;
    struct op_plan *plan;
    if (!workspace_size || !executor) {
        return leo_acl_fail(ACLNN_ERR_PARAM_NULLPTR, phase_name(row, "GetWorkspaceSize").text, "%s",
                            executor ? "workspaceSize is NULL" : "executor is NULL");
    }
    if (leo_acl_check_build(LEO_BUILD, row) || leo_acl_device_get(&device)) {
        return ACLNN_ERR_RUNTIME_ERROR; // with the facade's text
    }
    struct op_value lent[OP_PARAMS_MAX];
    const struct op_value *taken = as_taken(row, args, lent);
    const uint64_t begin_ns = leo_rt_profile_is_on(device) ? leo_rt_profile_clock_ns() : 0;
    leo_status status = op_engine_get(device, &engine);
    if (status == LEO_OK) {
        status = get_plan(engine, row, taken, &plan);
    }
    if (status == LEO_OK) {
        status = each_tensor(row, args, check_view, NULL);
        if (status != LEO_OK) {
            op_plan_put(plan);
        }
    }
    if (status == LEO_OK) {
        *executor = opapi_executor_make(plan, device, taken);
        if (*executor) {
            *workspace_size = op_plan_workspace_bytes(plan);
        } else {
            status = leo_rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", row->name);
        }
    }
    if (begin_ns) {
        leo_rt_profile_call(device, LEO_RT_PROFILE_CALL, phase_name(row, "GetWorkspaceSize").text,
                            begin_ns);
    }
    return status == LEO_OK ? ACLNN_SUCCESS
                            : fail_status(phase_name(row, "GetWorkspaceSize").text, status);
}

// An operator whose result size depends on data tells it: the caller reads it with aclGetViewShape.
static void set_shape(void *user, unsigned index, unsigned rank, const int64_t *dim)
{
    const aclOpExecutor *executor = user;
    const struct op_tensor *tensor = index < executor->count ? executor->tensors[index] : NULL;
    if (tensor) {
        struct op_tensor shaped = op_tensor_dense(tensor->addr, tensor->type, rank, dim);
        shaped.format = tensor->format;
        *writable(tensor) = shaped;
    }
}

static aclnnStatus check_run(const struct op_row *row, const char *func, const void *workspace,
                             uint64_t workspace_size, const aclOpExecutor *executor,
                             const struct leo_rt_device *device)
{
    char text[160];
    const uint64_t needed = op_plan_workspace_bytes(executor->plan);
    if (op_plan_row(executor->plan) != row) {
        snprintf(text, sizeof(text), "the executor was made by aclnn%sGetWorkspaceSize",
                 op_plan_row(executor->plan)->name);
        return leo_acl_fail(ACLNN_ERR_PARAM_INVALID, func, "%s", text);
    }
    if (needed > 0 && !workspace) {
        snprintf(text, sizeof(text), "workspace is NULL, %llu bytes are needed",
                 (unsigned long long)needed);
        return leo_acl_fail(ACLNN_ERR_PARAM_NULLPTR, func, "%s", text);
    }
    if (workspace_size < needed) {
        snprintf(text, sizeof(text), "the workspace has %llu bytes, %llu are needed",
                 (unsigned long long)workspace_size, (unsigned long long)needed);
        return leo_acl_fail(ACLNN_ERR_PARAM_INVALID, func, "%s", text);
    }
    if (device != executor->device) {
        return leo_acl_fail(ACLNN_ERR_PARAM_INVALID, func,
                            "the stream belongs to another device than the one current in phase 1");
    }
    return check_memory(func, executor);
}

static aclnnStatus run_plan(const aclOpExecutor *executor, struct leo_rt_stream *rt,
                            const struct op_run *run)
{
    leo_status status = op_plan_run(executor->plan, rt, run);
    return status == LEO_OK ? ACLNN_SUCCESS
                            : fail_status(phase_name(op_plan_row(executor->plan), "").text, status);
}

static struct opapi_call call_of(const aclOpExecutor *executor)
{
    return (struct opapi_call){op_plan_row(executor->plan), executor->tensors, executor->addr,
                               executor->first};
}

static aclnnStatus run_dumped(const aclOpExecutor *executor, struct leo_rt_stream *rt,
                              const struct op_run *run, aclrtStream stream)
{
    const struct op_row *row = op_plan_row(executor->plan);
    const struct opapi_call call = call_of(executor);
    void *dump;
    if (opapi_dump_begin(&(struct leo_acl_dump_name){.type = row->name}, &call, stream, &dump)) {
        return ACLNN_ERR_RUNTIME_ERROR; // with the facade's text
    }
    aclnnStatus code = run_plan(executor, rt, run);
    return leo_acl_dump_end(row->name, dump, code != ACLNN_SUCCESS) ? ACLNN_ERR_RUNTIME_ERROR
                                                                    : code;
}

aclnnStatus opapi_phase2(const struct op_row *row, void *workspace, uint64_t workspace_size,
                         aclOpExecutor *executor, aclrtStream stream)
{
    struct leo_rt_stream *rt;
    struct leo_rt_device *device;
    const struct name func = phase_name(row, "");
    if (!opapi_executor_is_live(func.text, executor)) {
        return executor ? ACLNN_ERR_PARAM_INVALID : ACLNN_ERR_PARAM_NULLPTR;
    }
    if (leo_acl_stream_get(stream, &rt, &device)) {
        return leo_acl_fail(ACLNN_ERR_RUNTIME_ERROR, func.text, "stream %p: %s", (void *)stream,
                            leo_rt_last_error());
    }
    aclnnStatus code = check_run(row, func.text, workspace, workspace_size, executor, device);
    if (!code) {
        char tag[DESCRIBE_BYTES];
        const uint64_t begin_ns = leo_rt_profile_is_on(device) ? leo_rt_profile_clock_ns() : 0;
        if (begin_ns) {
            const struct opapi_call call = call_of(executor);
            opapi_describe(func.text, &call, tag);
        }
        const struct op_run run = {.addr = executor->addr,
                                   .addr_count = executor->count,
                                   .workspace = (uintptr_t)workspace,
                                   .tag = begin_ns ? tag : NULL,
                                   .set_shape = set_shape,
                                   .user = executor};
        code = leo_acl_dump_is_on() ? run_dumped(executor, rt, &run, stream)
                                    : run_plan(executor, rt, &run);
        if (!executor->repeatable) {
            opapi_executor_free(executor);
        }
        if (begin_ns) {
            leo_rt_profile_call(device, LEO_RT_PROFILE_OPERATOR, tag, begin_ns);
        }
    }
    return code;
}
