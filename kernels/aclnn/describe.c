/* SPDX-License-Identifier: Apache-2.0 */
#include "describe.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct text {
    char *at;
    size_t left; /**< with the terminating zero */
};

// Appends as a whole or not at all.
__attribute__((format(printf, 2, 3))) static bool append(struct text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int need = vsnprintf(text->at, text->left, fmt, args);
    va_end(args);
    if (need < 0 || (size_t)need >= text->left) {
        *text->at = '\0';
        return false;
    }
    text->at += need;
    text->left -= (size_t)need;
    return true;
}

// The words profilers use.
static const char *type_word(enum op_type type)
{
    switch (type) {
    case OP_TYPE_F16:
        return "FLOAT16";
    case OP_TYPE_F32:
        return "FLOAT";
    case OP_TYPE_F64:
        return "DOUBLE";
    case OP_TYPE_BF16:
        return "DT_BF16";
    case OP_TYPE_I8:
        return "INT8";
    case OP_TYPE_I16:
        return "INT16";
    case OP_TYPE_I32:
        return "INT32";
    case OP_TYPE_I64:
        return "INT64";
    case OP_TYPE_U8:
        return "UINT8";
    case OP_TYPE_BOOL:
        return "BOOL";
    default:
        return op_type_name(type);
    }
}

static const char *format_word(int format)
{
    switch (format) {
    case ACL_FORMAT_NCHW:
        return "NCHW";
    case ACL_FORMAT_NHWC:
        return "NHWC";
    case ACL_FORMAT_NCDHW:
        return "NCDHW";
    case ACL_FORMAT_NCL:
        return "NCL";
    default:
        return "ND";
    }
}

static bool append_tensor(struct text *text, const struct op_tensor *tensor, bool first)
{
    const struct text before = *text;
    bool good = append(text, "%s%s[", first ? "" : ";", type_word(tensor->type));
    for (unsigned i = 0; good && i < tensor->rank; i++) {
        good = append(text, "%s%" PRId64, i ? "," : "", tensor->dim[i]);
    }
    good = good && append(text, "]/%s", format_word(tensor->format));
    if (!good) {
        *text = before;
        *text->at = '\0';
    }
    return good;
}

static void append_role(struct text *text, const aclOpExecutor *executor, bool outputs)
{
    const struct op_row *row = op_plan_row(executor->plan);
    bool first = true;
    for (unsigned i = 0; i < row->param_count; i++) {
        const enum op_role role = row->params[i].role;
        if (outputs ? role == OP_ROLE_IN : role == OP_ROLE_OUT) {
            continue;
        }
        for (uint32_t at = executor->first[i]; at < executor->first[i + 1]; at++) {
            if (executor->tensors[at] && !append_tensor(text, executor->tensors[at], first)) {
                return;
            }
            first = first && !executor->tensors[at];
        }
    }
}

void opapi_describe(const aclOpExecutor *executor, const char *func, char text[DESCRIBE_BYTES])
{
    // Two bars must always fit.
    struct text out = {text, DESCRIBE_BYTES / 2};
    append(&out, "%s|", func);
    append_role(&out, executor, false);
    out.left = (size_t)(text + DESCRIBE_BYTES - out.at);
    append(&out, "|");
    append_role(&out, executor, true);
}
