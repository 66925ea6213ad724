/* SPDX-License-Identifier: Apache-2.0 */
#include "describe.h"

#include "../frame/layout.h"

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
    static const char *const word[] = {
        [OP_TYPE_F16] = "FLOAT16",  [OP_TYPE_F32] = "FLOAT",  [OP_TYPE_F64] = "DOUBLE",
        [OP_TYPE_BF16] = "DT_BF16", [OP_TYPE_I8] = "INT8",    [OP_TYPE_I16] = "INT16",
        [OP_TYPE_I32] = "INT32",    [OP_TYPE_I64] = "INT64",  [OP_TYPE_U8] = "UINT8",
        [OP_TYPE_U16] = "UINT16",   [OP_TYPE_U32] = "UINT32", [OP_TYPE_U64] = "UINT64",
        [OP_TYPE_BOOL] = "BOOL",
    };
    const bool known = (size_t)type < sizeof(word) / sizeof(word[0]) && word[type];
    return known ? word[type] : op_type_name(type);
}

static const char *format_word(int format)
{
    switch (format) {
    case ACL_FORMAT_NCHW:
        return "NCHW";
    case ACL_FORMAT_NCDHW:
        return "NCDHW";
    case ACL_FORMAT_NCL:
        return "NCL";
    default:
        return op_format_name(format);
    }
}

// As it is stored, like the vendor's profiler: a native format with its five dimensions.
static bool append_tensor(struct text *text, const struct op_tensor *tensor, bool first)
{
    const struct text before = *text;
    struct op_tensor stored;
    if (!op_layout_storage(tensor, &stored)) {
        stored = *tensor;
    }
    bool good = append(text, "%s%s[", first ? "" : ";", type_word(tensor->type));
    for (unsigned i = 0; good && i < stored.rank; i++) {
        good = append(text, "%s%" PRId64, i ? "," : "", stored.dim[i]);
    }
    good = good && append(text, "]/%s", format_word(tensor->format));
    if (!good) {
        *text = before;
        *text->at = '\0';
    }
    return good;
}

static void append_role(struct text *text, const struct opapi_call *call, bool outputs)
{
    bool first = true;
    for (unsigned i = 0; i < call->row->param_count; i++) {
        const enum op_role role = call->row->params[i].role;
        if (outputs ? role == OP_ROLE_IN : role == OP_ROLE_OUT) {
            continue;
        }
        for (uint32_t at = call->first[i]; at < call->first[i + 1]; at++) {
            if (call->tensors[at] && !append_tensor(text, call->tensors[at], first)) {
                return;
            }
            first = first && !call->tensors[at];
        }
    }
}

void opapi_describe(const char *name, const struct opapi_call *call, char text[DESCRIBE_BYTES])
{
    // Two bars must always fit.
    struct text out = {text, DESCRIBE_BYTES / 2};
    append(&out, "%s|", name);
    append_role(&out, call, false);
    out.left = (size_t)(text + DESCRIBE_BYTES - out.at);
    append(&out, "|");
    append_role(&out, call, true);
}
