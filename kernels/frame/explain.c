/* SPDX-License-Identifier: Apache-2.0 */
#include "explain.h"

#include "plan_internal.h"

#include <inttypes.h>
#include <leo/alloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024, FIRST_BYTES = 4096 };

struct op_explain {
    size_t bytes, capacity;
    char text[];
};

void op_explain_begin(struct op_plan *plan)
{
    const char *text = getenv("LEO_OP_EXPLAIN");
    if (!text || strcmp(text, "1") != 0) {
        return;
    }
    plan->explain = leo_calloc(1, sizeof(*plan->explain) + FIRST_BYTES);
    if (plan->explain) {
        plan->explain->capacity = FIRST_BYTES;
    }
}

void op_explain_end(struct op_plan *plan, leo_status status)
{
    if (!plan->explain) {
        return;
    }
    if (status != LEO_OK) {
        op_explain_line(plan, "refused: %s", leo_rt_last_error());
    }
    fwrite(plan->explain->text, 1, plan->explain->bytes, stderr);
    leo_free(plan->explain);
    plan->explain = NULL;
}

size_t op_explain_mark(const struct op_plan *plan)
{
    return plan->explain ? plan->explain->bytes : 0;
}

void op_explain_drop(struct op_plan *plan, size_t mark)
{
    if (plan->explain) {
        plan->explain->bytes = mark;
    }
}

// Room for a line more; what no memory is left for is not said.
static bool reserve(struct op_plan *plan)
{
    struct op_explain *explain = plan->explain;
    if (!explain || explain->bytes + LINE <= explain->capacity) {
        return explain != NULL;
    }
    const size_t capacity = explain->capacity * 2;
    explain = leo_realloc(explain, sizeof(*explain) + capacity);
    if (explain) {
        explain->capacity = capacity;
        plan->explain = explain;
    }
    return explain != NULL;
}

struct line {
    char text[LINE];
    size_t bytes;
};

// What does not fit into a line is cut.
static void __attribute__((format(printf, 2, 0))) vappend(struct line *line, const char *format,
                                                          va_list words)
{
    const size_t room = LINE - 1 - line->bytes; // the line's end comes behind it
    const int bytes = vsnprintf(line->text + line->bytes, room, format, words);
    if (bytes > 0) {
        line->bytes += (size_t)bytes < room ? (size_t)bytes : room - 1;
    }
}

static void __attribute__((format(printf, 2, 3))) append(struct line *line, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    vappend(line, format, words);
    va_end(words);
}

static struct line begin_line(const struct op_plan *plan, unsigned more)
{
    struct line line = {.bytes = 0};
    append(&line, "%*s", (int)(plan->depth + more) * 2, "");
    return line;
}

static void put_line(struct op_plan *plan, size_t at, struct line *line)
{
    if (!reserve(plan)) {
        return;
    }
    struct op_explain *explain = plan->explain;
    line->text[line->bytes++] = '\n';
    memmove(explain->text + at + line->bytes, explain->text + at, explain->bytes - at);
    memcpy(explain->text + at, line->text, line->bytes);
    explain->bytes += line->bytes;
}

static void append_numbers(struct line *line, const int64_t *items, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        append(line, "%s%" PRId64, i ? ", " : "", items[i]);
    }
}

// f32[2, 3], and behind it what makes it more than rows without gaps: the format, or the strides.
static void append_tensor(struct line *line, const struct op_tensor *tensor)
{
    append(line, "%s[", op_type_name(tensor->type));
    append_numbers(line, tensor->dim, tensor->rank);
    append(line, "]");
    if (op_format_is_native(tensor->format)) {
        append(line, " %s", op_format_name(tensor->format));
    } else if (!op_tensor_is_dense(tensor)) {
        append(line, " strides ");
        append_numbers(line, tensor->stride, tensor->rank);
    }
}

void op_explain_row(struct op_plan *plan, const struct op_row *row, const struct op_value *args)
{
    const char *between = "(";
    if (!plan->explain) {
        return;
    }
    struct line line = begin_line(plan, 0);
    append(&line, "%s", row->name);
    for (unsigned i = 0; i < row->param_count; i++) {
        const bool one = row->params[i].kind == OP_KIND_TENSOR && args[i].tensor,
                   list = row->params[i].kind == OP_KIND_TENSOR_LIST && args[i].tensors;
        if (!one && !list) {
            continue;
        }
        append(&line, "%s%s ", between, row->params[i].name);
        if (one) {
            append_tensor(&line, args[i].tensor);
        } else {
            append(&line, "%" PRIu64 " tensors", args[i].tensors->count);
        }
        between = "; ";
    }
    append(&line, ")");
    put_line(plan, plan->explain->bytes, &line);
}

static void __attribute__((format(printf, 3, 0))) vput_line(struct op_plan *plan, size_t at,
                                                            const char *format, va_list words)
{
    if (plan->explain) {
        struct line line = begin_line(plan, 1);
        vappend(&line, format, words);
        put_line(plan, at, &line);
    }
}

void op_explain_line(struct op_plan *plan, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    vput_line(plan, op_explain_mark(plan), format, words);
    va_end(words);
}

void op_explain_insert(struct op_plan *plan, size_t mark, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    vput_line(plan, mark, format, words);
    va_end(words);
}
