/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that a call by type name has in host memory: numbers, lists of them, views. */
#include "aclop_internal.h"

#include "../frame/layout.h"
#include "objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// A few numbers that lie in device memory: all work before must be done.
static const void *read_back(struct aclop_call *call, const struct op_tensor *tensor)
{
    const uint64_t bytes = op_tensor_extent(tensor);
    struct leo_rt_stream *stream;
    struct leo_rt_device *device;
    if (bytes > sizeof(call->read_back)) {
        aclop_fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH, "an input must be in host memory");
        return NULL;
    }
    call->error = leo_acl_stream_get(call->op->stream, &stream, &device);
    if (!call->error) {
        leo_status status = leo_rt_stream_synchronize(stream, -1);
        if (status == LEO_OK) {
            status = leo_rt_memcpy(device, call->read_back, (const void *)(uintptr_t)tensor->addr,
                                   bytes);
        }
        call->error = leo_acl_status(call->op->type, status);
    }
    return call->error ? NULL : call->read_back;
}

// Data of an input in host memory, NULL after a failure.
static const void *host_data(struct aclop_call *call, unsigned number, struct op_tensor *tensor)
{
    if (!aclop_tensor(call, 'x', number, tensor)) {
        return NULL;
    }
    const aclTensorDesc *desc = call->op->input_descs[number];
    const void *data = desc->constant ? desc->constant : (const void *)(uintptr_t)tensor->addr;
    if (op_tensor_count(tensor) == 0) {
        return call->read_back;
    }
    if (desc->placement == ACL_MEMTYPE_DEVICE && !desc->constant && data) {
        data = read_back(call, tensor);
    } else if (!data) {
        aclop_fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH, "an input has no memory");
    }
    return data;
}

// Integers of an input in host memory.
void aclop_host_numbers(struct aclop_call *call, unsigned at, unsigned number)
{
    struct op_tensor tensor;
    const void *data = host_data(call, number, &tensor);
    if (!data) {
        return;
    }
    if (tensor.type != OP_TYPE_I32 && tensor.type != OP_TYPE_I64) {
        aclop_fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH,
                   "an input must be int32 or int64 in host memory");
        return;
    }
    const uint64_t count = (uint64_t)op_tensor_count(&tensor);
    int64_t *numbers = aclop_numbers(call, at, count);
    for (uint64_t i = 0; numbers && i < count; i++) {
        numbers[i] =
            tensor.type == OP_TYPE_I32 ? ((const int32_t *)data)[i] : ((const int64_t *)data)[i];
    }
    call->args[at] = op_value_ints(&call->ints[at]);
}

// Pairs of an input in host memory, the last dimension first; at most `most` numbers if not 0.
void aclop_host_pairs(struct aclop_call *call, unsigned at, unsigned number, uint64_t most)
{
    aclop_host_numbers(call, at, number);
    struct op_ints *ints = &call->ints[at];
    if (call->error || ints->count % 2) {
        return;
    }
    int64_t *items = call->numbers[at];
    const uint64_t pairs = ints->count / 2;
    for (uint64_t i = 0; i < pairs / 2; i++) {
        int64_t *one = items + 2 * i, *other = items + 2 * (pairs - 1 - i);
        const int64_t before = one[0], after = one[1];
        one[0] = other[0];
        one[1] = other[1];
        other[0] = before;
        other[1] = after;
    }
    ints->count = most && ints->count > most ? most : ints->count;
}

// The number an input holds in host memory, or number `index` of several.
void aclop_host_scalar(struct aclop_call *call, unsigned at, unsigned number, uint64_t index)
{
    struct op_tensor tensor;
    const void *data = host_data(call, number, &tensor);
    if (!data) {
        return;
    }
    const uint64_t count = (uint64_t)op_tensor_count(&tensor);
    const bool one = index < count && (index > 0 || count == 1);
    if (one && tensor.type == OP_TYPE_I32) {
        aclop_put_number(call, at, op_scalar_int(((const int32_t *)data)[index]));
    } else if (one && (tensor.type == OP_TYPE_I64 || tensor.type == OP_TYPE_U64)) {
        aclop_put_number(call, at, op_scalar_int(((const int64_t *)data)[index]));
    } else if (one && tensor.type == OP_TYPE_F32) {
        aclop_put_number(call, at, op_scalar_real((double)((const float *)data)[index]));
    } else if (one && tensor.type == OP_TYPE_F16) {
        aclop_put_number(
            call, at, op_scalar_real((double)aclFloat16ToFloat(((const aclFloat16 *)data)[index])));
    } else if (one && tensor.type == OP_TYPE_BOOL) {
        aclop_put_number(call, at, op_scalar_int(((const uint8_t *)data)[index] != 0));
    } else {
        char text[160];
        snprintf(text, sizeof(text),
                 "input %u has type %s and %" PRIu64
                 " elements: it must be one int32, int64, float32, float16 or bool in host memory",
                 number, op_type_name(tensor.type), count);
        aclop_fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH, text);
    }
}

// Integers of inputs `from`, from + 1 and from + 2: `rank` of the first, as many of the second, one
// of the third.
static bool three_lists(struct aclop_call *call, unsigned from, unsigned *rank,
                        int64_t numbers[3][OP_RANK_MAX])
{
    struct op_tensor list;
    for (unsigned i = 0; i < 3; i++) {
        const int64_t *data = host_data(call, from + i, &list);
        if (!data) {
            return false;
        }
        const int64_t count = op_tensor_count(&list);
        *rank = i == 0 ? (unsigned)count : *rank;
        if (list.type != OP_TYPE_I64 || count > OP_RANK_MAX || count != (i == 2 ? 1 : *rank)) {
            aclop_fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH,
                       "what describes a part of a tensor must be int64, one for each dimension");
            return false;
        }
        memcpy(numbers[i], data, (size_t)count * sizeof(int64_t));
    }
    return true;
}

static bool take_rows(struct aclop_call *call, unsigned number, struct op_tensor *tensor)
{
    if (!aclop_tensor(call, 'x', number, tensor)) {
        return false;
    }
    if (op_format_is_native(tensor->format)) {
        aclop_fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH, "a part can only be taken of rows");
        return false;
    }
    return true;
}

// An input seen with other sizes, strides and a first element: inputs `from`, from + 1 and from
// + 2.
void aclop_host_view(struct aclop_call *call, unsigned at, unsigned number, unsigned from)
{
    struct op_tensor tensor;
    int64_t numbers[3][OP_RANK_MAX];
    unsigned rank = 0;
    if (!take_rows(call, number, &tensor) || !three_lists(call, from, &rank, numbers)) {
        return;
    }
    const int64_t offset = numbers[2][0];
    if (!op_layout_fits(rank, numbers[0], numbers[1], offset, op_tensor_count(&tensor))) {
        aclop_fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH, "a view reaches beyond its tensor");
        return;
    }
    struct op_tensor view = tensor;
    view.addr += (uint64_t)offset * op_type_bytes(tensor.type);
    view.rank = rank;
    memcpy(view.dim, numbers[0], rank * sizeof(*view.dim));
    memcpy(view.stride, numbers[1], rank * sizeof(*view.stride));
    call->tensors[at] = view;
    call->args[at] = op_value_tensor(&call->tensors[at]);
}

// Inputs `from` and on as the indices of the dimensions that have a 1 in input `number`.
void aclop_host_indices(struct aclop_call *call, unsigned at, unsigned number, unsigned from)
{
    // What an index operator takes for a dimension that is not indexed.
    static const int64_t none = 0;
    aclop_host_numbers(call, at, number);
    const struct op_ints mask = call->ints[at];
    if (!call->error && mask.count > OP_RANK_MAX) {
        aclop_fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH, "more than 8 dimensions are indexed");
    }
    for (uint64_t i = 0; i < mask.count && !call->error; i++) {
        call->member[i] = &call->members[i];
        if (mask.items[i] == 0) {
            call->members[i] = op_tensor_dense(0, OP_TYPE_F32, 1, &none);
        } else if (!aclop_tensor(call, 'x', from++, &call->members[i])) {
            return;
        }
    }
    call->list = (struct op_tensor_list){call->member, mask.count};
    call->args[at] = op_value_tensors(&call->list);
}
