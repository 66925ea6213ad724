/* SPDX-License-Identifier: Apache-2.0 */
/* Operators called by name in other forms: handles of calls that are repeated, casts. */
#include "acl_op_model.h"

#include <leo/acl_hook.h>
#include <leo/alloc.h>
#include <string.h>

/** A call without its data. */
struct aclopHandle {
    char *type;
    int input_count, output_count;
    aclTensorDesc **descs; /**< of inputs, then of outputs */
    aclopAttr *attr;
};

/* ---- copies ---- */

static aclTensorDesc *copy_desc(const aclTensorDesc *desc)
{
    aclTensorDesc *copy = leo_alloc(sizeof(*copy));
    if (!copy) {
        return NULL;
    }
    *copy = *desc;
    if (desc->constant) {
        copy->constant = leo_alloc(desc->constant_bytes + 1);
        if (!copy->constant) {
            leo_free(copy);
            return NULL;
        }
        memcpy(copy->constant, desc->constant, desc->constant_bytes);
    }
    return copy;
}

static aclError copy_texts(aclopAttr *to, const struct leo_acl_attr *attr)
{
    const char **texts = leo_calloc(attr->count + 1, sizeof(*texts));
    const char *text = attr->value.text;
    for (size_t i = 0; texts && i < attr->count; i++) {
        texts[i] = text;
        text += strlen(text) + 1;
    }
    aclError error = texts ? aclopSetAttrListString(to, attr->name, (int)attr->count, texts)
                           : ACL_ERROR_BAD_ALLOC;
    leo_free(texts);
    return error;
}

static aclError copy_lists(aclopAttr *to, const struct leo_acl_attr *attr)
{
    const int64_t **lists = leo_calloc(attr->list_count + 1, sizeof(*lists));
    const int64_t *list = attr->value.ints;
    for (size_t i = 0; lists && i < attr->list_count; i++) {
        lists[i] = list;
        list += attr->list_sizes[i];
    }
    aclError error = lists ? aclopSetAttrListListInt(to, attr->name, (int)attr->list_count,
                                                     attr->list_sizes, lists)
                           : ACL_ERROR_BAD_ALLOC;
    leo_free(lists);
    return error;
}

static aclError copy_attr(aclopAttr *to, const struct leo_acl_attr *attr)
{
    const int count = (int)attr->count;
    switch (attr->kind) {
    case LEO_ACL_ATTR_BOOL:
        return aclopSetAttrBool(to, attr->name, attr->value.bools[0]);
    case LEO_ACL_ATTR_INT:
        return aclopSetAttrInt(to, attr->name, attr->value.ints[0]);
    case LEO_ACL_ATTR_FLOAT:
        return aclopSetAttrFloat(to, attr->name, attr->value.floats[0]);
    case LEO_ACL_ATTR_STRING:
        return aclopSetAttrString(to, attr->name, attr->value.text);
    case LEO_ACL_ATTR_DATA_TYPE:
        return aclopSetAttrDataType(to, attr->name, attr->value.types[0]);
    case LEO_ACL_ATTR_BOOLS:
        return aclopSetAttrListBool(to, attr->name, count, attr->value.bools);
    case LEO_ACL_ATTR_INTS:
        return aclopSetAttrListInt(to, attr->name, count, attr->value.ints);
    case LEO_ACL_ATTR_FLOATS:
        return aclopSetAttrListFloat(to, attr->name, count, attr->value.floats);
    case LEO_ACL_ATTR_DATA_TYPES:
        return aclopSetAttrListDataType(to, attr->name, count, attr->value.types);
    case LEO_ACL_ATTR_STRINGS:
        return copy_texts(to, attr);
    case LEO_ACL_ATTR_INT_LISTS:
        return copy_lists(to, attr);
    }
    return ACL_ERROR_INVALID_PARAM;
}

/* ---- handles ---- */

void aclopDestroyHandle(aclopHandle *handle)
{
    for (int i = 0; handle && handle->descs && i < handle->input_count + handle->output_count;
         i++) {
        aclDestroyTensorDesc(handle->descs[i]);
    }
    if (handle) {
        aclopDestroyAttr(handle->attr);
        leo_free(handle->descs);
        leo_free(handle->type);
        leo_free(handle);
    }
}

static bool fill_handle(aclopHandle *handle, const struct leo_acl_op *op)
{
    const int count = op->input_count + op->output_count;
    handle->type = leo_alloc(strlen(op->type) + 1);
    handle->descs = leo_calloc((size_t)count + 1, sizeof(aclTensorDesc *));
    handle->attr = aclopCreateAttr();
    bool good = handle->type && handle->descs && handle->attr;
    if (good) {
        strcpy(handle->type, op->type);
        handle->input_count = op->input_count;
        handle->output_count = op->output_count;
    }
    for (int i = 0; good && i < count; i++) {
        const aclTensorDesc *desc =
            i < op->input_count ? op->input_descs[i] : op->output_descs[i - op->input_count];
        handle->descs[i] = desc ? copy_desc(desc) : NULL;
        good = !desc || handle->descs[i];
    }
    for (const struct leo_acl_attr *attr = op->attr ? op->attr->first : NULL; good && attr;
         attr = attr->next) {
        good = copy_attr(handle->attr, attr) == ACL_SUCCESS;
    }
    return good;
}

aclError aclopCreateHandle(const char *opType, int numInputs,
                           const aclTensorDesc *const inputDesc[], int numOutputs,
                           const aclTensorDesc *const outputDesc[], const aclopAttr *opAttr,
                           aclopHandle **handle)
{
    const struct leo_acl_op op = {.type = opType,
                                  .input_count = numInputs,
                                  .output_count = numOutputs,
                                  .input_descs = inputDesc,
                                  .output_descs = outputDesc,
                                  .attr = opAttr};
    aclError error = handle ? acl_op_check(__func__, &op, false) : acl_null(__func__, "handle");
    if (!error) {
        error = acl_op_model_check(__func__, &op);
    }
    if (error) {
        return error;
    }
    aclopHandle *made = leo_calloc(1, sizeof(*made));
    if (!made || !fill_handle(made, &op)) {
        aclopDestroyHandle(made);
        return acl_fail(ACL_ERROR_BAD_ALLOC, __func__, "out of host memory");
    }
    *handle = made;
    return ACL_SUCCESS;
}

aclError aclopExecWithHandle(aclopHandle *handle, int numInputs,
                             const aclDataBuffer *const inputs[], int numOutputs,
                             aclDataBuffer *const outputs[], aclrtStream stream)
{
    if (!handle || numInputs != handle->input_count || numOutputs != handle->output_count) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                        "handle is NULL, or %d inputs and %d outputs are not those it was made for",
                        numInputs, numOutputs);
    }
    const aclTensorDesc *const *descs = (const aclTensorDesc *const *)handle->descs;
    return aclopExecute(handle->type, numInputs, descs, inputs, numOutputs, descs + numInputs,
                        outputs, handle->attr, stream);
}

/* ---- casts ---- */

aclError aclopCast(const aclTensorDesc *srcDesc, const aclDataBuffer *srcBuffer,
                   const aclTensorDesc *dstDesc, aclDataBuffer *dstBuffer, uint8_t truncate,
                   aclrtStream stream)
{
    aclopHandle *handle;
    // Floats become integers by truncation; nothing else is documented for it.
    aclError error =
        aclopCreateHandleForCast((aclTensorDesc *)(uintptr_t)srcDesc,
                                 (aclTensorDesc *)(uintptr_t)dstDesc, truncate, &handle);
    if (!error) {
        error = aclopExecWithHandle(handle, 1, &srcBuffer, 1, &dstBuffer, stream);
        aclopDestroyHandle(handle);
    }
    return error;
}

aclError aclopCreateHandleForCast(aclTensorDesc *srcDesc, aclTensorDesc *dstDesc, uint8_t truncate,
                                  aclopHandle **handle)
{
    const aclTensorDesc *const src = srcDesc, *const dst = dstDesc;
    (void)truncate;
    if (!src || !dst) {
        return acl_null(__func__, src ? "dstDesc" : "srcDesc");
    }
    return aclopCreateHandle("Cast", 1, &src, 1, &dst, NULL, handle); // the types say it all
}

aclError aclopCompile(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
                      int numOutputs, const aclTensorDesc *const outputDesc[],
                      const aclopAttr *attr, aclopEngineType engineType,
                      aclopCompileType compileFlag, const char *opPath)
{
    // Engine and compile flag choose among ways to the same result.
    (void)engineType;
    (void)compileFlag;
    (void)opPath;
    const struct leo_acl_op op = {.type = opType,
                                  .input_count = numInputs,
                                  .output_count = numOutputs,
                                  .input_descs = inputDesc,
                                  .output_descs = outputDesc,
                                  .attr = attr};
    aclError error = acl_op_check(__func__, &op, false);
    if (!error && !leo_acl_op_is_known(opType)) {
        error =
            acl_fail(ACL_ERROR_OP_NOT_FOUND, __func__, "there is no operator of type %s", opType);
    }
    return error ? error : acl_op_model_add(__func__, &op);
}
