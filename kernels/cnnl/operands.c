/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of a call: what descriptors say, numbers in host memory, temporaries. */
#include "cnnl_call.h"

#include "handle.h"
#include "tensor_desc.h"

#include <leo/alloc.h>
#include <string.h>

struct op_tensor *cnnl_view(struct cnnl_call *call, const struct op_tensor *tensor)
{
    if (!tensor || call->status != CNNL_STATUS_SUCCESS) {
        return NULL;
    }
    if (call->tensor_count == CNNL_CALL_TENSORS) {
        cnnl_refuse(call, "more than %d tensors", CNNL_CALL_TENSORS);
        return NULL;
    }
    struct op_tensor *made = &call->tensors[call->tensor_count++];
    *made = *tensor;
    return made;
}

// What the descriptor says, without its memory.
static bool describe(struct cnnl_call *call, const char *name, cnnlTensorDescriptor_t desc,
                     struct op_tensor *out)
{
    *out = (struct op_tensor){.rank = 0};
    if (call->status != CNNL_STATUS_SUCCESS) {
        return false;
    }
    if (!cnnl_tensor_is_live(desc)) {
        cnnl_bad(call, "%s_desc is NULL or no live tensor descriptor", name);
    } else if (!cnnl_type_of(desc->type, &out->type)) {
        cnnl_refuse(call, "%s has type %d, for which there are no operators", name,
                    (int)desc->type);
    } else if (desc->quantized) {
        cnnl_refuse(call, "%s is in fixed point (position %d, scale %g)", name, desc->position,
                    (double)desc->scale);
    } else if (desc->onchip == CNNL_DTYPE_INT8 || desc->onchip == CNNL_DTYPE_INT16 ||
               desc->onchip == CNNL_DTYPE_INT31) {
        cnnl_refuse(call, "%s is to be computed with in fixed point (type %d)", name,
                    (int)desc->onchip);
    } else {
        out->rank = desc->rank;
        memcpy(out->dim, desc->dim, sizeof(desc->dim));
        memcpy(out->stride, desc->stride, sizeof(desc->stride));
    }
    return call->status == CNNL_STATUS_SUCCESS;
}

// A number in host memory becomes a tensor of one element, or of its shape with repeats.
static const struct op_tensor *from_host(struct cnnl_call *call, const char *name,
                                         const struct op_tensor *shape, const void *data)
{
    static const int64_t one[] = {1};
    const struct op_scalar *number = cnnl_host(call, name, shape->type, data);
    if (op_tensor_count(shape) != 1) {
        cnnl_bad(call, "%s is in host memory, it must be one number", name);
    }
    const struct op_tensor *made = cnnl_temp(call, shape->type, shape->rank, shape->dim);
    struct op_tensor *flat = cnnl_view(call, made);
    if (flat) {
        *flat = op_tensor_dense(made->addr, made->type, 1, one);
    }
    const struct op_value args[] = {op_value_tensor(flat), op_value_scalar(number)};
    cnnl_run(call, "InplaceFillScalar", args);
    return made;
}

static const struct op_tensor *take(struct cnnl_call *call, const char *name,
                                    cnnlTensorDescriptor_t desc, const void *data, bool read)
{
    struct op_tensor tensor;
    if (!describe(call, name, desc, &tensor)) {
        return NULL;
    }
    if (!data && op_tensor_count(&tensor) > 0) {
        cnnl_bad(call, "%s is NULL", name);
        return NULL;
    }
    if (desc->pointer_mode == CNNL_POINTER_MODE_HOST) {
        if (!read) {
            cnnl_bad(call, "%s is written, it cannot be in host memory", name);
            return NULL;
        }
        return from_host(call, name, &tensor, data);
    }
    tensor.addr = (uintptr_t)data;
    return cnnl_view(call, &tensor);
}

const struct op_tensor *cnnl_in(struct cnnl_call *call, const char *name,
                                cnnlTensorDescriptor_t desc, const void *data)
{
    return take(call, name, desc, data, true);
}

const struct op_tensor *cnnl_out(struct cnnl_call *call, const char *name,
                                 cnnlTensorDescriptor_t desc, const void *data)
{
    return take(call, name, desc, data, false);
}

const struct op_tensor *cnnl_optional_in(struct cnnl_call *call, const char *name,
                                         cnnlTensorDescriptor_t desc, const void *data)
{
    return desc && data ? take(call, name, desc, data, true) : NULL;
}

const struct op_tensor *cnnl_optional_out(struct cnnl_call *call, const char *name,
                                          cnnlTensorDescriptor_t desc, const void *data)
{
    return desc && data ? take(call, name, desc, data, false) : NULL;
}

// Host memory for a list of any length: tensors, then pointers to them.
static struct op_tensor *list_memory(struct cnnl_call *call, int64_t count,
                                     const struct op_tensor ***items)
{
    struct op_tensor *tensors =
        leo_calloc((size_t)count + 1, sizeof(*tensors) + sizeof(struct op_tensor *));
    if (!tensors || call->block_count == CNNL_CALL_LISTS) {
        leo_free(tensors);
        cnnl_take(call, leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a list"));
        return NULL;
    }
    call->blocks[call->block_count++] = tensors;
    *items = (const struct op_tensor **)(void *)(tensors + count + 1);
    return tensors;
}

const struct op_tensor_list *cnnl_list(struct cnnl_call *call, const char *name, int64_t count,
                                       const cnnlTensorDescriptor_t desc[],
                                       const void *const data[], bool optional)
{
    const struct op_tensor **items;
    if (optional && (!desc || !data)) {
        return NULL;
    }
    if (count < 0 || count > INT32_MAX || (count && (!desc || !data))) {
        cnnl_bad(call, "%s: %lld tensors, or a list is NULL", name, (long long)count);
    }
    if (call->status != CNNL_STATUS_SUCCESS) {
        return NULL;
    }
    struct op_tensor *tensors = list_memory(call, count, &items);
    for (int64_t i = 0; tensors && i < count; i++) {
        if (!desc[i] && !data[i]) {
            continue; // an index that is not given
        }
        if (!describe(call, name, desc[i], &tensors[i])) {
            return NULL;
        }
        if (desc[i]->pointer_mode == CNNL_POINTER_MODE_HOST) {
            cnnl_refuse(call, "%s: a list with numbers in host memory", name);
        }
        tensors[i].addr = (uintptr_t)data[i];
        items[i] = &tensors[i];
    }
    if (!tensors || call->list_count == CNNL_CALL_LISTS) {
        return NULL;
    }
    struct op_tensor_list *list = &call->lists[call->list_count++];
    *list = (struct op_tensor_list){items, (uint64_t)count};
    return list;
}

// Where a layout has its channels and in which order its other dimensions come.
static const struct {
    bool known;
    unsigned rank;
    unsigned order[CNNL_DIM_MAX]; /**< dimension i of the view is this one of the descriptor */
} layouts[] = {
    [CNNL_LAYOUT_NCHW] = {true, 4, {0, 1, 2, 3}},
    [CNNL_LAYOUT_NHWC] = {true, 4, {0, 3, 1, 2}},
    [CNNL_LAYOUT_HWCN] = {true, 4, {3, 2, 0, 1}},
    [CNNL_LAYOUT_NDHWC] = {true, 5, {0, 4, 1, 2, 3}},
    [CNNL_LAYOUT_NCDHW] = {true, 5, {0, 1, 2, 3, 4}},
    [CNNL_LAYOUT_NC] = {true, 2, {0, 1}},
    [CNNL_LAYOUT_NLC] = {true, 3, {0, 2, 1}},
    [CNNL_LAYOUT_NCL] = {true, 3, {0, 1, 2}},
};

const struct op_tensor *cnnl_channels_second(struct cnnl_call *call, const char *name,
                                             cnnlTensorDescriptor_t desc,
                                             const struct op_tensor *tensor)
{
    if (!tensor) {
        return NULL;
    }
    const unsigned layout = (unsigned)desc->layout;
    if (layout >= sizeof(layouts) / sizeof(layouts[0]) || !layouts[layout].known) {
        cnnl_refuse(call, "%s has layout %u, which does not say where its channels are", name,
                    layout);
    } else if (layouts[layout].rank != tensor->rank) {
        cnnl_bad(call, "%s has %u dimensions, its layout has %u", name, tensor->rank,
                 layouts[layout].rank);
    }
    struct op_tensor *view = cnnl_view(call, tensor);
    if (view) {
        *view = op_tensor_permute(tensor, layouts[layout].order);
    }
    return view;
}

const struct op_tensor *cnnl_vector(struct cnnl_call *call, const void *data, enum op_type type,
                                    int64_t count)
{
    const struct op_tensor vector = op_tensor_dense((uintptr_t)data, type, 1, &count);
    return data ? cnnl_view(call, &vector) : NULL;
}

const struct op_tensor *cnnl_temp(struct cnnl_call *call, enum op_type type, unsigned rank,
                                  const int64_t *dim)
{
    struct op_tensor made = op_tensor_dense(0, type, rank, dim);
    if (call->status != CNNL_STATUS_SUCCESS) {
        return NULL;
    }
    const uint64_t bytes = (uint64_t)op_tensor_count(&made) * op_type_bytes(type);
    cnnl_take(call, cnnl_arena_take(call->handle, bytes, &made.addr));
    return cnnl_view(call, &made);
}

const struct op_tensor *cnnl_temp_like(struct cnnl_call *call, enum op_type type,
                                       const struct op_tensor *shape)
{
    return shape ? cnnl_temp(call, type, shape->rank, shape->dim) : NULL;
}

const struct op_tensor *cnnl_as(struct cnnl_call *call, enum op_type type,
                                const struct op_tensor *tensor)
{
    if (!tensor || tensor->type == type) {
        return tensor;
    }
    const struct op_tensor *made = cnnl_temp_like(call, type, tensor);
    cnnl_copy(call, made, tensor);
    return made;
}

void cnnl_copy(struct cnnl_call *call, const struct op_tensor *to, const struct op_tensor *from)
{
    const struct op_value args[] = {op_value_tensor(to), op_value_tensor(from)};
    cnnl_run(call, "InplaceCopy", args);
}
