/* SPDX-License-Identifier: Apache-2.0 */
/* Making plans. */
#include "key.h"
#include "layout.h"
#include "plan_internal.h"

#include <leo/alloc.h>
#include <leo/op.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEMP_ALIGN = 512, DEPTH_MAX = 8 };

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
    leo_status status = op_engine_kernel(plan->engine, program, kernel, &step.kernel);
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
    const struct op_step step = {
        .kind = OP_STEP_FILL, .value = value, .fill_addr = addr, .fill_bytes = bytes};
    return bytes ? add_step(plan, &step, NULL, 0) : LEO_OK;
}

leo_status op_plan_host(struct op_plan *plan, op_host_fn fn, const void *args, size_t bytes,
                        unsigned addresses)
{
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

leo_status op_plan_copy(struct op_plan *plan, const struct op_tensor *dst,
                        const struct op_tensor *src)
{
    const struct op_value args[] = {op_value_tensor(dst), op_value_tensor(src)};
    return op_plan_call(plan, "InplaceCopy", args, 2);
}

leo_status op_plan_dense(struct op_plan *plan, const struct op_tensor *tensor, enum op_type type,
                         struct op_tensor *out)
{
    if (tensor->type == type && op_tensor_is_dense(tensor)) {
        *out = op_tensor_dense(tensor->addr, type, tensor->rank, tensor->dim);
        return LEO_OK;
    }
    struct op_tensor dense; // callers may replace a tensor by its copy
    leo_status status = op_plan_temp(plan, type, tensor->rank, tensor->dim, &dense);
    if (status != LEO_OK) {
        return status;
    }
    status = op_plan_copy(plan, &dense, tensor);
    *out = dense;
    return status;
}

const struct leo_caps *op_plan_caps(const struct op_plan *plan)
{
    return op_engine_caps(plan->engine);
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
    return op_engine_block_spread(plan->engine);
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

struct op_share op_share_make(uint64_t count, uint64_t granule, uint64_t least, uint32_t cores)
{
    struct op_share share;
    share.per_block = (count + cores - 1) / cores;
    share.per_block = share.per_block < least ? least : share.per_block;
    share.per_block = (share.per_block + granule - 1) / granule * granule;
    share.blocks = (uint32_t)((count + share.per_block - 1) / share.per_block);
    return share;
}

static bool is_written(const struct op_param *param)
{
    return param->role != OP_ROLE_IN;
}

// An input that shares memory with an output in a way the operator cannot bear is read from a copy.
static leo_status part_inputs(const struct op_call *call, struct op_value *args,
                              struct op_tensor *copies)
{
    const struct op_row *row = call->row;
    for (unsigned i = 0; i < row->param_count; i++) {
        const struct op_tensor *in = args[i].tensor;
        if (row->params[i].kind != OP_KIND_TENSOR || row->params[i].role != OP_ROLE_IN || !in) {
            continue;
        }
        bool apart = true;
        for (unsigned j = 0; j < row->param_count; j++) {
            if (row->params[j].kind == OP_KIND_TENSOR && is_written(&row->params[j]) &&
                call->args[j].tensor) {
                const enum op_alias alias = op_tensor_alias(in, call->args[j].tensor);
                apart =
                    apart && (alias == OP_ALIAS_NONE || (alias == OP_ALIAS_SAME && row->same_ok));
            }
        }
        if (apart) {
            continue;
        }
        leo_status status = op_plan_temp(call->plan, in->type, in->rank, in->dim, &copies[i]);
        if (status == LEO_OK) {
            status = op_plan_copy(call->plan, &copies[i], in);
        }
        if (status != LEO_OK) {
            return status;
        }
        args[i].tensor = &copies[i];
    }
    return LEO_OK;
}

static leo_status plan_row(struct op_plan *plan, const struct op_row *row,
                           const struct op_value *args)
{
    struct op_layout_call stored;
    struct op_tensor copies[OP_PARAMS_MAX];
    struct op_call call = {row, stored.values, plan};
    const uint64_t top = op_plan_temp_mark(plan);
    leo_status status = op_layout_begin(plan, row, args, &stored);
    if (status == LEO_OK) {
        status = part_inputs(&call, stored.values, copies);
    }
    if (status == LEO_OK) {
        status = row->plan(&call);
    }
    if (status != LEO_OK) {
        stored.converted = false; // there is nothing to convert back
    }
    const leo_status finished = op_layout_finish(plan, row, args, &stored);
    op_plan_temp_release(plan, top);
    return status == LEO_OK ? finished : status;
}

leo_status op_plan_call(struct op_plan *plan, const char *op, const struct op_value *args,
                        unsigned count)
{
    const struct op_row *row = op_row_find(op);
    if (!row || row->param_count != count || plan->depth == DEPTH_MAX) {
        fprintf(stderr, "operator %s, called by %s with %u arguments, %s\n", op, plan->row->name,
                count, !row ? "does not exist" : "is called wrongly");
        abort();
    }
    leo_status status = op_check_args(plan->engine, row, args);
    if (status == LEO_OK) {
        plan->depth++;
        status = plan_row(plan, row, args);
        plan->depth--;
    }
    return status;
}

unsigned op_args_tensors(const struct op_row *row, const struct op_value *args)
{
    unsigned count = 0;
    for (unsigned i = 0; i < row->param_count; i++) {
        if (row->params[i].kind == OP_KIND_TENSOR) {
            count++;
        } else if (row->params[i].kind == OP_KIND_TENSOR_LIST && args[i].tensors) {
            count += (unsigned)args[i].tensors->count;
        }
    }
    return count;
}

void op_args_addresses(const struct op_row *row, const struct op_value *args, uint64_t *addr)
{
    for (unsigned i = 0; i < row->param_count; i++) {
        if (row->params[i].kind == OP_KIND_TENSOR) {
            *addr++ = args[i].tensor ? args[i].tensor->addr : 0;
        } else if (row->params[i].kind == OP_KIND_TENSOR_LIST && args[i].tensors) {
            for (uint64_t k = 0; k < args[i].tensors->count; k++) {
                *addr++ = args[i].tensors->items[k] ? args[i].tensors->items[k]->addr : 0;
            }
        }
    }
}

/* The arguments with symbolic addresses. Tensors that are the same memory or overlap get symbols of
 * one source, so that their relation is still seen. */
struct symbols {
    struct op_value args[OP_PARAMS_MAX];
    struct op_tensor_list lists[OP_PARAMS_MAX];
    struct op_tensor *tensors;
    const struct op_tensor **items;
    const struct op_tensor **real; /**< by source */
    unsigned count;
};

static const struct op_tensor *add_symbol(struct symbols *symbols, const struct op_tensor *real)
{
    const unsigned source = symbols->count++;
    symbols->real[source] = real;
    if (!real) {
        return NULL;
    }
    struct op_tensor *tensor = &symbols->tensors[source];
    *tensor = *real;
    tensor->addr = op_symbol(source);
    for (unsigned i = 0; i < source && i < OP_KEY_SEEN_MAX; i++) {
        const struct op_tensor *other = symbols->real[i];
        if (other && op_tensor_alias(real, other) != OP_ALIAS_NONE) {
            tensor->addr = symbols->tensors[i].addr + (real->addr - other->addr);
            break;
        }
    }
    return tensor;
}

static void make_symbols(struct symbols *symbols, const struct op_row *row,
                         const struct op_value *args)
{
    for (unsigned i = 0; i < row->param_count; i++) {
        symbols->args[i] = args[i];
        if (row->params[i].kind == OP_KIND_TENSOR) {
            symbols->args[i].tensor = add_symbol(symbols, args[i].tensor);
        } else if (row->params[i].kind == OP_KIND_TENSOR_LIST && args[i].tensors) {
            const unsigned begin = symbols->count;
            for (uint64_t k = 0; k < args[i].tensors->count; k++) {
                symbols->items[begin + k] = add_symbol(symbols, args[i].tensors->items[k]);
            }
            symbols->lists[i] =
                (struct op_tensor_list){symbols->items + begin, args[i].tensors->count};
            symbols->args[i].tensors = &symbols->lists[i];
        }
    }
}

leo_status op_plan_make(struct op_engine *engine, const struct op_row *row,
                        const struct op_value *args, struct op_plan **out)
{
    const unsigned count = op_args_tensors(row, args);
    struct symbols symbols = {.count = 0};
    struct op_plan *plan = leo_calloc(1, sizeof(*plan));
    symbols.tensors = leo_calloc(count + 1, sizeof(*symbols.tensors));
    symbols.items = leo_calloc(count + 1, sizeof(*symbols.items));
    symbols.real = leo_calloc(count + 1, sizeof(*symbols.real));
    leo_status status = LEO_OK;
    if (!plan || !symbols.tensors || !symbols.items || !symbols.real) {
        status = leo_rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory for a plan", row->name);
    } else if (count > OP_SOURCES_MAX) {
        status = leo_rt_fail(LEO_ERR_RANGE, "%s: %u tensors are more than the %d one call takes",
                             row->name, count, OP_SOURCES_MAX);
    } else {
        plan->engine = engine;
        plan->row = row;
        plan->references = 1;
        make_symbols(&symbols, row, args);
        status = plan_row(plan, row, symbols.args);
    }
    leo_free(symbols.tensors);
    leo_free(symbols.items);
    leo_free(symbols.real);
    if (status != LEO_OK) {
        op_plan_put(plan);
        return status;
    }
    *out = plan;
    return LEO_OK;
}

void op_plan_put(struct op_plan *plan)
{
    if (plan && atomic_fetch_sub(&plan->references, 1) <= 1) {
        leo_free(plan->steps);
        leo_free(plan->args);
        leo_free(plan->key);
        leo_free(plan);
    }
}

uint64_t op_plan_workspace_bytes(const struct op_plan *plan)
{
    return plan->workspace_bytes ? plan->workspace_bytes + LEO_OP_READ_MARGIN : 0;
}

const struct op_row *op_plan_row(const struct op_plan *plan)
{
    return plan->row;
}
