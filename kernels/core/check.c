/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>

struct shape_text {
    char text[64];
};

static struct shape_text text_of_shape(const struct leo_op_tensor *tensor)
{
    struct shape_text out = {"["};
    size_t at = 1;
    for (unsigned i = 0; i < tensor->rank && i < 4; i++) {
        at += (size_t)snprintf(out.text + at, sizeof(out.text) - at, "%s%" PRIu32, i ? ", " : "",
                               tensor->dim[i]);
    }
    snprintf(out.text + at, sizeof(out.text) - at, "]");
    return out;
}

static unsigned bit_of(enum leo_dtype dtype)
{
    return dtype == LEO_DTYPE_F16   ? OP_F16
           : dtype == LEO_DTYPE_F32 ? OP_F32
           : dtype == LEO_DTYPE_S32 ? OP_S32
                                    : 0;
}

static const char *text_of_dtypes(unsigned dtypes)
{
    switch (dtypes) {
    case OP_F16:
        return "f16";
    case OP_F32:
        return "f32";
    case OP_S32:
        return "s32";
    default:
        return "f16 or f32";
    }
}

uint64_t op_tensor_elements(const struct leo_op_tensor *tensor)
{
    uint64_t count = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        count *= tensor->dim[i];
    }
    return count;
}

uint32_t op_tensor_unit(const struct leo_op_tensor *tensor)
{
    return tensor->dtype == LEO_DTYPE_F16 ? 2 : 4;
}

/* No device has so many elements; keeps every later product of sizes far from 64 bits. */
static const uint64_t most_elements = UINT64_C(1) << 40;

leo_status op_check_tensor(const char *op, struct op_arg arg, unsigned dtypes)
{
    const struct leo_op_tensor *tensor = arg.tensor;
    if (!tensor) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%s: %s is NULL", op, arg.name);
    }
    if (tensor->rank > 4) {
        return leo_rt_fail(LEO_ERR_SHAPE, "%s: %s has rank %u, at most 4 is possible", op, arg.name,
                           tensor->rank);
    }
    if (!(bit_of(tensor->dtype) & dtypes)) {
        const char *name =
            (unsigned)tensor->dtype < LEO_DTYPE_COUNT ? leo_dtype_name(tensor->dtype) : "unknown";
        return leo_rt_fail(LEO_ERR_DTYPE, "%s: %s has type %s, it must be %s", op, arg.name, name,
                           text_of_dtypes(dtypes));
    }
    uint64_t count = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        if (tensor->dim[i] == 0) {
            return leo_rt_fail(LEO_ERR_SHAPE, "%s: dimension %u of %s is 0", op, i, arg.name);
        }
        if (count > most_elements / tensor->dim[i]) {
            return leo_rt_fail(LEO_ERR_SHAPE, "%s: %s %s is larger than any device memory", op,
                               arg.name, text_of_shape(tensor).text);
        }
        count *= tensor->dim[i];
    }
    if (tensor->addr == 0) {
        return leo_rt_fail(LEO_ERR_BAD_POINTER, "%s: %s has address 0", op, arg.name);
    }
    if (tensor->addr % op_tensor_unit(tensor)) {
        return leo_rt_fail(LEO_ERR_BAD_POINTER,
                           "%s: address 0x%" PRIx64
                           " of %s is not a multiple of its element size %u",
                           op, tensor->addr, arg.name, op_tensor_unit(tensor));
    }
    return LEO_OK;
}

leo_status op_check_rank(const char *op, struct op_arg arg, unsigned rank)
{
    if (arg.tensor->rank != rank) {
        return leo_rt_fail(LEO_ERR_SHAPE, "%s: %s has shape %s, it must have %u dimension%s", op,
                           arg.name, text_of_shape(arg.tensor).text, rank, rank == 1 ? "" : "s");
    }
    return LEO_OK;
}

leo_status op_check_same_shape(const char *op, struct op_arg a, struct op_arg b)
{
    bool same = a.tensor->rank == b.tensor->rank;
    for (unsigned i = 0; same && i < a.tensor->rank; i++) {
        same = a.tensor->dim[i] == b.tensor->dim[i];
    }
    if (!same) {
        return leo_rt_fail(LEO_ERR_SHAPE, "%s: %s has shape %s but %s has %s; they must be equal",
                           op, a.name, text_of_shape(a.tensor).text, b.name,
                           text_of_shape(b.tensor).text);
    }
    return LEO_OK;
}

leo_status op_check_same_dtype(const char *op, struct op_arg a, struct op_arg b)
{
    if (a.tensor->dtype != b.tensor->dtype) {
        return leo_rt_fail(LEO_ERR_DTYPE, "%s: %s is %s but %s is %s; they must be equal", op,
                           a.name, leo_dtype_name(a.tensor->dtype), b.name,
                           leo_dtype_name(b.tensor->dtype));
    }
    return LEO_OK;
}

leo_status op_check_dim(const char *op, struct op_arg arg, unsigned index, uint32_t expected,
                        const char *what)
{
    if (arg.tensor->dim[index] != expected) {
        return leo_rt_fail(LEO_ERR_SHAPE,
                           "%s: %s has shape %s; dimension %u must be %" PRIu32 " (%s)", op,
                           arg.name, text_of_shape(arg.tensor).text, index, expected, what);
    }
    return LEO_OK;
}

leo_status op_check_apart(const char *op, struct op_arg in, struct op_arg out, bool in_place)
{
    const uint64_t in_begin = in.tensor->addr, out_begin = out.tensor->addr;
    const uint64_t in_end = in_begin + op_tensor_elements(in.tensor) * op_tensor_unit(in.tensor);
    const uint64_t out_end =
        out_begin + op_tensor_elements(out.tensor) * op_tensor_unit(out.tensor);
    if (in_begin >= out_end || out_begin >= in_end) {
        return LEO_OK;
    }
    if (in_place && in_begin == out_begin && in_end == out_end) {
        return LEO_OK;
    }
    return leo_rt_fail(LEO_ERR_INVALID_ARG, "%s: %s overlaps %s in memory%s", op, out.name, in.name,
                       in_place ? "; it may only be the very same tensor" : "");
}

leo_status op_check_pointers(const char *op, const struct leo_op_context *context,
                             const struct leo_rt_stream *stream)
{
    if (!context || !stream) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%s: %s is NULL", op,
                           context ? "stream" : "context");
    }
    return LEO_OK;
}
