/* SPDX-License-Identifier: Apache-2.0 */
/* Making plans. */
#include "dims.h"
#include "explain.h"
#include "key.h"
#include "layout.h"
#include "plan_internal.h"

#include <inttypes.h>
#include <leo/alloc.h>
#include <leo/op.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEMP_ALIGN = 512 };

static const struct op_param *find_param(const struct op_row *row, const char *name)
{
    for (unsigned i = 0; i < row->param_count; i++) {
        if (strcmp(row->params[i].name, name) == 0) {
            return &row->params[i];
        }
    }
    return NULL;
}

bool op_call_has(const struct op_call *call, const char *name)
{
    return find_param(call->row, name) != NULL;
}

const struct op_value *op_call_value(const struct op_call *call, const char *name)
{
    const struct op_param *param = find_param(call->row, name);
    if (!param) {
        fprintf(stderr, "operator %s has no parameter %s\n", call->row->name, name);
        abort();
    }
    return &call->args[param - call->row->params];
}

const struct op_tensor *op_call_tensor(const struct op_call *call, const char *name)
{
    return op_call_value(call, name)->tensor;
}

const struct op_tensor *op_call_optional(const struct op_call *call, const char *name)
{
    return op_call_has(call, name) ? op_call_tensor(call, name) : NULL;
}

const struct op_tensor *op_call_given(const struct op_call *call, const char *name)
{
    const struct op_tensor *tensor = op_call_optional(call, name);
    return tensor && op_tensor_count(tensor) ? tensor : NULL;
}

bool op_call_has_complex(const struct op_call *call)
{
    for (unsigned i = 0; i < call->row->param_count; i++) {
        const struct op_value *value = &call->args[i];
        if ((value->kind == OP_KIND_TENSOR && value->tensor &&
             op_type_is_complex(value->tensor->type)) ||
            (value->kind == OP_KIND_SCALAR && value->scalar &&
             op_type_is_complex(value->scalar->type))) {
            return true;
        }
    }
    return false;
}

const struct op_scalar *op_call_scalar(const struct op_call *call, const char *name)
{
    return op_call_value(call, name)->scalar;
}

const struct op_ints *op_call_ints(const struct op_call *call, const char *name)
{
    return op_call_value(call, name)->ints;
}

int64_t op_call_int(const struct op_call *call, const char *name)
{
    return op_call_value(call, name)->integer;
}

double op_call_real(const struct op_call *call, const char *name)
{
    return op_call_value(call, name)->real;
}

unsigned op_call_tensor_index(const struct op_call *call, const char *name)
{
    unsigned index = 0;
    for (unsigned i = 0; strcmp(call->row->params[i].name, name) != 0; i++) {
        if (call->row->params[i].kind == OP_KIND_TENSOR) {
            index++;
        } else if (call->row->params[i].kind == OP_KIND_TENSOR_LIST && call->args[i].tensors) {
            index += (unsigned)call->args[i].tensors->count;
        }
    }
    return index;
}

leo_status op_call_fail(const struct op_call *call, leo_status status, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return leo_rt_fail(status, "%s: %s", call->row->name, text);
}

leo_status op_call_check_number(const struct op_call *call, const char *name)
{
    const struct op_tensor *tensor = op_call_tensor(call, name);
    return op_tensor_count(tensor) == 1
               ? LEO_OK
               : op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s: it must have one element",
                              name, op_tensor_shape_text(tensor).text);
}

struct op_tensor op_call_number(const struct op_call *call, const char *name)
{
    struct op_tensor number = *op_call_tensor(call, name);
    number.rank = 0;
    return number;
}

leo_status op_call_check_type(const struct op_call *call, const char *name, enum op_type type)
{
    const enum op_type got = op_call_tensor(call, name)->type;
    return got == type ? LEO_OK
                       : op_call_fail(call, LEO_ERR_DTYPE, "%s is %s: it must be %s", name,
                                      op_type_name(got), op_type_name(type));
}

leo_status op_call_check_shape(const struct op_call *call, const char *name, unsigned rank,
                               const int64_t *dim)
{
    const struct op_tensor *tensor = op_call_tensor(call, name);
    if (tensor->rank != rank || memcmp(tensor->dim, dim, rank * sizeof(*dim)) != 0) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s, it must be %s", name,
                            op_tensor_shape_text(tensor).text, op_shape_text(rank, dim).text);
    }
    return LEO_OK;
}

leo_status op_call_check_channels(const struct op_call *call)
{
    for (unsigned i = 0; i < call->row->param_count; i++) {
        const struct op_tensor *tensor =
            call->row->params[i].kind == OP_KIND_TENSOR ? call->args[i].tensor : NULL;
        if (tensor && op_format_has_channels_last(tensor->format)) {
            return op_call_fail(call, LEO_ERR_INVALID_ARG,
                                "%s has format %s, it must be ND, NCL, NCHW, NCDHW or one with "
                                "blocks of channels: channels are the second dimension",
                                call->row->params[i].name, op_format_name(tensor->format));
        }
    }
    return LEO_OK;
}

// Room for `bytes` more; grows by doubling.
static leo_status reserve(void **memory, uint32_t *capacity, uint32_t used, uint32_t more,
                          size_t unit)
{
    if (used + more <= *capacity) {
        return LEO_OK;
    }
    uint32_t wanted = *capacity ? *capacity : 8;
    while (wanted < used + more) {
        wanted *= 2;
    }
    void *grown = leo_realloc(*memory, wanted * unit);
    if (!grown) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a plan");
    }
    *memory = grown;
    *capacity = wanted;
    return LEO_OK;
}

static leo_status add_step(struct op_plan *plan, const struct op_step *step, const void *args,
                           size_t bytes)
{
    const uint32_t padded = (uint32_t)(bytes + 7) / 8 * 8;
    void *steps = plan->steps, *memory = plan->args;
    leo_status status =
        reserve(&steps, &plan->step_capacity, plan->step_count, 1, sizeof(*plan->steps));
    plan->steps = steps;
    if (status == LEO_OK) {
        status = reserve(&memory, &plan->args_capacity, plan->args_bytes, padded, 1);
        plan->args = memory;
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_step *place = &plan->steps[plan->step_count++];
    *place = *step;
    place->args_at = plan->args_bytes;
    place->args_bytes = (uint32_t)bytes;
    if (bytes > 0) {
        memcpy(plan->args + plan->args_bytes, args, bytes);
    }
    plan->args_bytes += padded;
    return LEO_OK;
}

leo_status op_plan_launch(struct op_plan *plan, const char *program, const char *kernel,
                          uint32_t blocks, const void *args, size_t bytes, unsigned addresses)
{
    struct op_step step = {.kind = OP_STEP_LAUNCH, .blocks = blocks, .addresses = addresses};
    if (blocks == 0) {
        return LEO_OK; // nothing to do, as for an empty tensor
    }
    leo_status status = op_chip_check_program(op_plan_numbers(plan), program);
    if (status == LEO_OK) {
        status = op_engine_kernel(plan->engine, program, kernel, &step.kernel);
    }
    op_explain_line(plan, "kernel %s of %s, %" PRIu32 " blocks", kernel, program, blocks);
    return status == LEO_OK ? add_step(plan, &step, args, bytes) : status;
}

uint32_t op_plan_steps(const struct op_plan *plan)
{
    return plan->step_count;
}

const void *op_plan_launch_args(const struct op_plan *plan, uint32_t step, const char *program,
                                const char *kernel, size_t *bytes)
{
    const struct op_step *s = &plan->steps[step];
    struct leo_rt_kernel *wanted;
    if (s->kind != OP_STEP_LAUNCH ||
        op_engine_kernel(plan->engine, program, kernel, &wanted) != LEO_OK || s->kernel != wanted) {
        return NULL;
    }
    for (uint32_t i = 0; i < s->addresses; i++) {
        uint64_t word;
        memcpy(&word, plan->args + s->args_at + i * 8, sizeof(word));
        if (word && op_symbol_source(word) == OP_SOURCE_WORKSPACE) {
            return NULL;
        }
    }
    *bytes = s->args_bytes;
    return plan->args + s->args_at;
}

void op_plan_drop_step(struct op_plan *plan, uint32_t step)
{
    plan->step_count--;
    memmove(&plan->steps[step], &plan->steps[step + 1],
            (plan->step_count - step) * sizeof(*plan->steps));
}

leo_status op_plan_fill(struct op_plan *plan, uint64_t addr, uint8_t value, uint64_t bytes)
{
    if (bytes == 0) {
        return LEO_OK;
    }
    op_explain_line(plan, "fill of %" PRIu64 " bytes", bytes);
    const struct op_step step = {
        .kind = OP_STEP_FILL, .value = value, .fill_addr = addr, .fill_bytes = bytes};
    return add_step(plan, &step, NULL, 0);
}

leo_status op_plan_host(struct op_plan *plan, op_host_fn fn, const void *args, size_t bytes,
                        unsigned addresses)
{
    op_explain_line(plan, "on the host");
    const struct op_step step = {.kind = OP_STEP_HOST, .host = fn, .addresses = addresses};
    return add_step(plan, &step, args, bytes);
}

leo_status op_plan_temp_bytes(struct op_plan *plan, uint64_t bytes, uint64_t *addr)
{
    *addr = op_symbol(OP_SOURCE_WORKSPACE) + plan->workspace_top;
    plan->workspace_top += (bytes + TEMP_ALIGN - 1) / TEMP_ALIGN * TEMP_ALIGN;
    if (plan->workspace_top > plan->workspace_bytes) {
        plan->workspace_bytes = plan->workspace_top;
    }
    return LEO_OK;
}

uint64_t op_plan_temp_mark(const struct op_plan *plan)
{
    return plan->workspace_top;
}

void op_plan_temp_release(struct op_plan *plan, uint64_t mark)
{
    plan->workspace_top = mark;
}

leo_status op_plan_temp(struct op_plan *plan, enum op_type type, unsigned rank, const int64_t *dim,
                        struct op_tensor *out)
{
    uint64_t addr;
    struct op_tensor tensor = op_tensor_dense(0, type, rank, dim);
    leo_status status = op_plan_temp_bytes(plan, op_tensor_extent(&tensor), &addr);
    tensor.addr = addr;
    *out = tensor;
    return status;
}

struct leo_rt_device *op_plan_device(const struct op_plan *plan)
{
    return op_engine_device(plan->engine);
}

const struct leo_caps *op_plan_caps(const struct op_plan *plan)
{
    return op_engine_caps(plan->engine);
}

const struct op_chip *op_plan_numbers(const struct op_plan *plan)
{
    return op_engine_numbers(plan->engine);
}

unsigned op_plan_chip(const struct op_plan *plan)
{
    return op_engine_chip(plan->engine);
}

uint32_t op_plan_vector_cores(const struct op_plan *plan)
{
    const struct leo_caps *caps = op_engine_caps(plan->engine);
    return caps->vector_cores ? caps->vector_cores : caps->cube_cores;
}

uint32_t op_plan_block_spread(const struct op_plan *plan)
{
    return op_engine_numbers(plan->engine)->block_spread;
}

uint32_t op_plan_cores_for(const struct op_plan *plan, uint64_t bytes, uint64_t cycles)
{
    // As many cores share the L2.
    const uint64_t all = 2 * bytes / op_plan_numbers(plan)->l2_read_rate + cycles,
                   spread = op_plan_block_spread(plan);
    const uint32_t most = op_plan_vector_cores(plan);
    uint32_t cores = 1;
    while (cores < most && (uint64_t)cores * cores * spread < all) {
        cores++;
    }
    return cores;
}

uint32_t op_plan_cube_cores(const struct op_plan *plan)
{
    return op_engine_caps(plan->engine)->cube_cores;
}

bool op_plan_has_tail(const struct op_plan *plan, uint64_t bytes)
{
    enum { BLOCK = 32 };
    return op_plan_chip(plan) == OP_ON_910A && bytes % BLOCK != 0;
}

uint64_t op_plan_row_granule(const struct op_plan *plan, uint64_t length, unsigned unit)
{
    return op_plan_has_tail(plan, length * unit) ? op_row_granule(length, unit) : 1;
}

struct op_share op_share_make(uint64_t count, uint64_t granule, uint64_t least, uint32_t cores)
{
    struct op_share share;
    share.per_block = (count + cores - 1) / cores;
    share.per_block = share.per_block < least ? least : share.per_block;
    share.per_block = (share.per_block + granule - 1) / granule * granule;
    share.blocks = (uint32_t)((count + share.per_block - 1) / share.per_block);
    return share;
}
