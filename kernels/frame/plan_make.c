/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a call: checked, found again or made. */
#include "cache.h"
#include "explain.h"
#include "key.h"
#include "plan_internal.h"

#include <leo/alloc.h>
#include <string.h>

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

static leo_status make_plan(struct op_engine *engine, const struct op_row *row,
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
        op_explain_begin(plan);
        status = op_plan_add_row(plan, row, symbols.args);
        op_explain_end(plan, status);
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

leo_status op_plan_get(struct op_engine *engine, const struct op_row *row,
                       const struct op_value *args, struct op_plan **out)
{
    struct op_key key;
    leo_status status = op_check_args(engine, row, args);
    if (status != LEO_OK) {
        return status;
    }
    if (!op_key_make(&key, row, args)) {
        op_key_finish(&key);
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", row->name);
    }
    struct op_plan *plan = op_cache_find(op_engine_cache(engine), &key);
    if (!plan) {
        status = make_plan(engine, row, args, &plan);
        if (status == LEO_OK) {
            op_cache_keep(op_engine_cache(engine), &key, plan);
        }
    }
    op_key_finish(&key);
    *out = plan;
    return status;
}
