/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators over lists of tensors: another operator for each member. A row says which and with what
 * ("each"): its words are parameters of the row (a list stands for its member), =N a whole number
 * as an argument by value, #N a scalar, [] an empty list of numbers, %name the type of a tensor,
 * @name the member's element of a tensor that has one for each.
 */
#include "../frame/family.h"
#include "../frame/words.h"
#include "../tile/tile_table.h"

#include <inttypes.h>
#include <leo/alloc.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS_MAX = 12 };

/* Space for what an argument points at. */
struct holder {
    struct op_scalar scalar;
    struct op_ints ints;
    struct op_tensor element;
};

// Member `index` of a list argument; another argument as it is.
static struct op_value member_of(const struct op_value *value, uint64_t index)
{
    struct op_value out = *value;
    if (value->kind == OP_KIND_TENSOR_LIST) {
        out = op_value_tensor(value->tensors->items[index]);
    } else if (value->kind == OP_KIND_SCALAR_LIST) {
        out = op_value_scalar(value->scalars->items[index]);
    }
    return out;
}

static struct op_value argument(const struct op_call *call, const char *word, uint64_t index,
                                struct holder *holder)
{
    if (word[0] == '=') {
        return op_value_int(strtoll(word + 1, NULL, 10));
    }
    if (word[0] == '#') {
        holder->scalar = op_scalar_int(strtoll(word + 1, NULL, 10));
        return op_value_scalar(&holder->scalar);
    }
    if (strcmp(word, "[]") == 0) {
        holder->ints = (struct op_ints){NULL, 0};
        return op_value_ints(&holder->ints);
    }
    if (word[0] == '%') {
        return op_value_type(member_of(op_call_value(call, word + 1), index).tensor->type);
    }
    if (word[0] == '@') {
        const struct op_tensor *all = op_call_tensor(call, word + 1);
        holder->element = *all;
        holder->element.rank = 0;
        holder->element.addr += index * (uint64_t)all->stride[0] * op_type_bytes(all->type);
        return op_value_tensor(&holder->element);
    }
    return member_of(op_call_value(call, word), index);
}

// Tensors that hold a number for each member.
static leo_status check_numbers(const struct op_call *call, uint64_t count)
{
    const char *text = op_row_attr(call->row, "each");
    char word[OP_WORD_BYTES];
    while (op_next_word(&text, word)) {
        const struct op_tensor *all = word[0] == '@' ? op_call_tensor(call, word + 1) : NULL;
        if (all && (all->rank != 1 || (uint64_t)all->dim[0] != count)) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "%s has shape %s, it must have an element for each of %" PRIu64
                                " members",
                                word + 1, op_tensor_shape_text(all).text, count);
        }
    }
    return LEO_OK;
}

static leo_status check_lists(const struct op_call *call, uint64_t *count)
{
    bool first = true;
    for (unsigned i = 0; i < call->row->param_count; i++) {
        const struct op_value *value = &call->args[i];
        uint64_t length = *count;
        if (value->kind == OP_KIND_TENSOR_LIST) {
            length = value->tensors->count;
        } else if (value->kind == OP_KIND_SCALAR_LIST) {
            length = value->scalars->count;
        } else {
            continue;
        }
        if (!first && length != *count) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "%s has %" PRIu64 " members, the list before it %" PRIu64,
                                call->row->params[i].name, length, *count);
        }
        first = false;
        *count = length;
    }
    return LEO_OK;
}

/* Memory that a member reads or writes. */
struct range {
    uint64_t begin, end, member;
    bool written;
};

static const uint64_t every_member = UINT64_MAX;

/* How far ranges reach that begin before a place. */
struct reach {
    uint64_t end, member;
    uint64_t end_of_others; /* members beside the one that reaches furthest */
};

static void extend(struct reach *reach, const struct range *range)
{
    if (range->member == reach->member) {
        reach->end = range->end > reach->end ? range->end : reach->end;
    } else if (range->end > reach->end) {
        *reach = (struct reach){range->end, range->member, reach->end};
    } else if (range->end > reach->end_of_others) {
        reach->end_of_others = range->end;
    }
}

static bool reaches(const struct reach *reach, const struct range *range)
{
    const bool own = range->member == reach->member;
    return (own ? reach->end_of_others : reach->end) > range->begin;
}

static int compare_begins(const void *a, const void *b)
{
    const uint64_t x = ((const struct range *)a)->begin, y = ((const struct range *)b)->begin;
    return x < y ? -1 : x > y;
}

static void add_range(struct range *ranges, uint64_t *count, const struct op_tensor *tensor,
                      uint64_t member, bool written)
{
    const uint64_t bytes = tensor ? op_tensor_extent(tensor) : 0;
    if (bytes) {
        ranges[(*count)++] = (struct range){tensor->addr, tensor->addr + bytes, member, written};
    }
}

static uint64_t collect_ranges(const struct op_call *call, struct range *ranges)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < call->row->param_count; i++) {
        const struct op_value *value = &call->args[i];
        const bool written = call->row->params[i].role != OP_ROLE_IN;
        if (value->kind == OP_KIND_TENSOR) {
            add_range(ranges, &count, value->tensor, every_member, written);
        }
        for (uint64_t k = 0; value->kind == OP_KIND_TENSOR_LIST && k < value->tensors->count; k++) {
            add_range(ranges, &count, value->tensors->items[k], k, written);
        }
    }
    return count;
}

// Whether no member writes what another one reads or writes.
static leo_status find_apart(const struct op_call *call, uint64_t members, bool *apart)
{
    struct range *ranges =
        leo_calloc((size_t)call->row->param_count * (members + 1), sizeof(*ranges));
    if (!ranges) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY,
                           "out of host memory for the ranges of %" PRIu64 " members", members);
    }
    const uint64_t count = collect_ranges(call, ranges);
    struct reach all = {.member = every_member}, written = all;
    *apart = true;
    qsort(ranges, count, sizeof(*ranges), compare_begins);
    for (uint64_t i = 0; i < count && *apart; i++) {
        const struct range *range = &ranges[i];
        *apart = !reaches(range->written ? &all : &written, range) &&
                 !(range->written && range->member == every_member);
        extend(&all, range);
        if (range->written) {
            extend(&written, range);
        }
    }
    leo_free(ranges);
    return LEO_OK;
}

leo_status op_plan_foreach(const struct op_call *call)
{
    const uint32_t first = op_plan_steps(call->plan);
    uint64_t count = 0;
    leo_status status = check_lists(call, &count);
    if (status == LEO_OK) {
        status = check_numbers(call, count);
    }
    for (uint64_t i = 0; status == LEO_OK && i < count; i++) {
        const char *text = op_row_attr(call->row, "each");
        char op[OP_WORD_BYTES], word[OP_WORD_BYTES];
        struct op_value args[ARGS_MAX];
        struct holder holders[ARGS_MAX];
        unsigned used = 0;
        (void)op_next_word(&text, op);
        while (used < ARGS_MAX && op_next_word(&text, word)) {
            args[used] = argument(call, word, i, &holders[used]);
            used++;
        }
        status = op_plan_call(call->plan, op, args, used);
    }
    bool apart = false;
    if (status == LEO_OK) {
        status = find_apart(call, count, &apart);
    }
    return status == LEO_OK && apart ? op_tile_table_join(call->plan, first) : status;
}
