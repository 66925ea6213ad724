/* SPDX-License-Identifier: Apache-2.0 */
/* Operators called by name: attributes, and the way to the library that has the operators. */
#include "acl_op_model.h"

#include <dlfcn.h>
#include <leo/acl_hook.h>
#include <leo/alloc.h>
#include <string.h>

aclopAttr *aclopCreateAttr(void)
{
    return leo_calloc(1, sizeof(aclopAttr));
}

static void free_attr(struct leo_acl_attr *attr)
{
    leo_free(attr->name);
    leo_free(attr->value.text);
    leo_free(attr->list_sizes);
    leo_free(attr);
}

void aclopDestroyAttr(const aclopAttr *attr)
{
    struct leo_acl_attr *next;
    for (struct leo_acl_attr *one = attr ? attr->first : NULL; one; one = next) {
        next = one->next;
        free_attr(one);
    }
    leo_free((void *)(uintptr_t)attr);
}

// Takes a name and a copy of the values; a name set before gets the new value.
static struct leo_acl_attr *make_attr(const char *name, enum leo_acl_attr_kind kind, size_t count,
                                      const void *values, size_t bytes)
{
    struct leo_acl_attr *attr = leo_calloc(1, sizeof(*attr));
    if (!attr) {
        return NULL;
    }
    attr->kind = kind;
    attr->count = count;
    attr->name = leo_alloc(strlen(name) + 1);
    attr->value.text = leo_alloc(bytes + 1);
    if (!attr->name || !attr->value.text) {
        free_attr(attr);
        return NULL;
    }
    strcpy(attr->name, name);
    if (bytes) {
        memcpy(attr->value.text, values, bytes);
    }
    return attr;
}

static void put_attr(aclopAttr *list, struct leo_acl_attr *attr)
{
    struct leo_acl_attr **at = &list->first;
    while (*at && strcmp((*at)->name, attr->name) != 0) {
        at = &(*at)->next;
    }
    if (*at) {
        attr->next = (*at)->next;
        free_attr(*at);
    }
    *at = attr;
}

static aclError check_attr(const char *func, const aclopAttr *attr, const char *name, int count,
                           const void *values)
{
    if (!attr || !name || count < 0 || (count > 0 && !values)) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s of attribute '%s' %s",
                        attr && name ? "values" : "attr or attrName", name ? name : "?",
                        count < 0 ? "have a count below 0" : "is NULL");
    }
    return ACL_SUCCESS;
}

static aclError set_attr(const char *func, aclopAttr *attr, const char *name,
                         enum leo_acl_attr_kind kind, int count, const void *values, size_t bytes)
{
    aclError error = check_attr(func, attr, name, count, values);
    if (error) {
        return error;
    }
    struct leo_acl_attr *made = make_attr(name, kind, (size_t)count, values, (size_t)count * bytes);
    if (!made) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    put_attr(attr, made);
    return ACL_SUCCESS;
}

aclError aclopSetAttrBool(aclopAttr *attr, const char *attrName, uint8_t attrValue)
{
    return set_attr("aclopSetAttrBool", attr, attrName, LEO_ACL_ATTR_BOOL, 1, &attrValue,
                    sizeof(attrValue));
}

aclError aclopSetAttrInt(aclopAttr *attr, const char *attrName, int64_t attrValue)
{
    return set_attr("aclopSetAttrInt", attr, attrName, LEO_ACL_ATTR_INT, 1, &attrValue,
                    sizeof(attrValue));
}

aclError aclopSetAttrFloat(aclopAttr *attr, const char *attrName, float attrValue)
{
    return set_attr("aclopSetAttrFloat", attr, attrName, LEO_ACL_ATTR_FLOAT, 1, &attrValue,
                    sizeof(attrValue));
}

aclError aclopSetAttrString(aclopAttr *attr, const char *attrName, const char *attrValue)
{
    return set_attr("aclopSetAttrString", attr, attrName, LEO_ACL_ATTR_STRING, 1, attrValue,
                    attrValue ? strlen(attrValue) + 1 : 0);
}

aclError aclopSetAttrDataType(aclopAttr *attr, const char *attrName, aclDataType attrValue)
{
    return set_attr("aclopSetAttrDataType", attr, attrName, LEO_ACL_ATTR_DATA_TYPE, 1, &attrValue,
                    sizeof(attrValue));
}

aclError aclopSetAttrListBool(aclopAttr *attr, const char *attrName, int numValues,
                              const uint8_t *values)
{
    return set_attr("aclopSetAttrListBool", attr, attrName, LEO_ACL_ATTR_BOOLS, numValues, values,
                    sizeof(*values));
}

aclError aclopSetAttrListInt(aclopAttr *attr, const char *attrName, int numValues,
                             const int64_t *values)
{
    return set_attr("aclopSetAttrListInt", attr, attrName, LEO_ACL_ATTR_INTS, numValues, values,
                    sizeof(*values));
}

aclError aclopSetAttrListFloat(aclopAttr *attr, const char *attrName, int numValues,
                               const float *values)
{
    return set_attr("aclopSetAttrListFloat", attr, attrName, LEO_ACL_ATTR_FLOATS, numValues, values,
                    sizeof(*values));
}

aclError aclopSetAttrListDataType(aclopAttr *attr, const char *attrName, int numValues,
                                  const aclDataType values[])
{
    return set_attr("aclopSetAttrListDataType", attr, attrName, LEO_ACL_ATTR_DATA_TYPES, numValues,
                    values, sizeof(*values));
}

aclError aclopSetAttrListString(aclopAttr *attr, const char *attrName, int numValues,
                                const char **values)
{
    const char *func = "aclopSetAttrListString";
    aclError error = check_attr(func, attr, attrName, numValues, values);
    size_t bytes = 0;
    for (int i = 0; !error && i < numValues; i++) {
        bytes += values[i] ? strlen(values[i]) + 1 : 1;
    }
    if (error) {
        return error;
    }
    char *text = leo_alloc(bytes + 1);
    struct leo_acl_attr *made = NULL;
    if (text) {
        size_t used = 0;
        for (int i = 0; i < numValues; i++) {
            const char *value = values[i] ? values[i] : "";
            strcpy(text + used, value);
            used += strlen(value) + 1;
        }
        made = make_attr(attrName, LEO_ACL_ATTR_STRINGS, (size_t)numValues, text, bytes);
        leo_free(text);
    }
    if (!made) {
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    put_attr(attr, made);
    return ACL_SUCCESS;
}

static size_t sum_sizes(int count, const int *sizes)
{
    size_t sum = 0;
    for (int i = 0; i < count; i++) {
        sum += sizes[i] > 0 ? (size_t)sizes[i] : 0;
    }
    return sum;
}

aclError aclopSetAttrListListInt(aclopAttr *attr, const char *attrName, int numLists,
                                 const int *numValues, const int64_t *const values[])
{
    const char *func = "aclopSetAttrListListInt";
    aclError error = check_attr(func, attr, attrName, numLists, values);
    if (!error) {
        error = check_attr(func, attr, attrName, numLists, numValues);
    }
    if (error) {
        return error;
    }
    size_t total = sum_sizes(numLists, numValues), used = 0;
    struct leo_acl_attr *made = make_attr(attrName, LEO_ACL_ATTR_INT_LISTS, total, NULL, 0);
    int64_t *all = leo_calloc(total + 1, sizeof(*all));
    int *sizes = leo_calloc((size_t)numLists + 1, sizeof(*sizes));
    if (!made || !all || !sizes) {
        leo_free(all);
        leo_free(sizes);
        if (made) {
            free_attr(made);
        }
        return acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
    }
    for (int i = 0; i < numLists; i++) {
        sizes[i] = numValues[i] > 0 ? numValues[i] : 0;
        for (int j = 0; j < sizes[i]; j++) {
            all[used++] = values[i][j];
        }
    }
    leo_free(made->value.text);
    made->value.ints = all;
    made->list_count = (size_t)numLists;
    made->list_sizes = sizes;
    put_attr(attr, made);
    return ACL_SUCCESS;
}

void leo_acl_set_op_executor(leo_acl_op_fn run, leo_acl_op_known_fn is_known)
{
    atomic_store(&acl_process()->op_is_known, (uintptr_t)is_known);
    atomic_store(&acl_process()->run_op, (uintptr_t)run);
}

// A program may call by type name before anything else has loaded the operators, which lie beside
// this library and register themselves.
static leo_acl_op_fn find_executor(void)
{
    leo_acl_op_fn run = (leo_acl_op_fn)atomic_load(&acl_process()->run_op);
    if (!run && dlopen("libopapi.so", RTLD_NOW)) {
        run = (leo_acl_op_fn)atomic_load(&acl_process()->run_op);
    }
    return run;
}

bool leo_acl_op_is_known(const char *type)
{
    const leo_acl_op_known_fn is_known =
        find_executor() ? (leo_acl_op_known_fn)atomic_load(&acl_process()->op_is_known) : NULL;
    return is_known && is_known(type);
}

static bool are_given(int count, const void *descs, const void *buffers, bool with_data)
{
    return count == 0 || (count > 0 && descs && (buffers || !with_data));
}

aclError acl_op_check(const char *func, const struct leo_acl_op *op, bool with_data)
{
    return op->type && are_given(op->input_count, op->input_descs, op->inputs, with_data) &&
                   are_given(op->output_count, op->output_descs, op->outputs, with_data)
               ? ACL_SUCCESS
               : acl_fail(ACL_ERROR_INVALID_PARAM, func,
                          "an argument is NULL or a count is below 0");
}

/* `must_fit`: of a program that has loaded models only what fits one. */
static aclError run_op(const char *func, const struct leo_acl_op *op, bool must_fit)
{
    aclError error = acl_op_check(func, op, true);
    if (!error && must_fit) {
        error = acl_op_model_check(func, op);
    }
    if (error || acl_tdt_run_op(op, &error)) {
        return error;
    }
    leo_acl_op_fn run = find_executor();
    return run ? run(op)
               : acl_fail(ACL_ERROR_OP_NOT_FOUND, func,
                          "operator %s: no library of operators is loaded (libopapi.so has them, "
                          "and was not found beside libascendcl.so)",
                          op->type);
}

static struct leo_acl_op plain_op(const char *type, int input_count,
                                  const aclTensorDesc *const input_descs[],
                                  const aclDataBuffer *const inputs[], int output_count,
                                  const aclTensorDesc *const output_descs[],
                                  aclDataBuffer *const outputs[], const aclopAttr *attr,
                                  aclrtStream stream)
{
    return (struct leo_acl_op){
        .type = type,
        .input_count = input_count,
        .output_count = output_count,
        .input_descs = input_descs,
        .inputs = inputs,
        .output_descs = output_descs,
        .outputs = outputs,
        .attr = attr,
        .stream = stream,
    };
}

/* The second form, which tells the shapes of outputs. */
static struct leo_acl_op shaped_op(const char *type, int input_count, aclTensorDesc *input_descs[],
                                   aclDataBuffer *inputs[], int output_count,
                                   aclTensorDesc *output_descs[], aclDataBuffer *outputs[],
                                   const aclopAttr *attr, aclrtStream stream)
{
    struct leo_acl_op op =
        plain_op(type, input_count, (const aclTensorDesc *const *)input_descs,
                 (const aclDataBuffer *const *)inputs, output_count,
                 (const aclTensorDesc *const *)output_descs, outputs, attr, stream);
    op.shaped = output_descs;
    return op;
}

aclError aclopCompileAndExecute(const char *opType, int numInputs,
                                const aclTensorDesc *const inputDesc[],
                                const aclDataBuffer *const inputs[], int numOutputs,
                                const aclTensorDesc *const outputDesc[],
                                aclDataBuffer *const outputs[], const aclopAttr *attr,
                                aclopEngineType engineType, aclopCompileType compileFlag,
                                const char *opPath, aclrtStream stream)
{
    // Engine and compile flag choose among ways to the same result.
    (void)engineType;
    (void)compileFlag;
    (void)opPath;
    const struct leo_acl_op op = plain_op(opType, numInputs, inputDesc, inputs, numOutputs,
                                          outputDesc, outputs, attr, stream);
    return run_op(__func__, &op, false);
}

aclError aclopCompileAndExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
                                  aclDataBuffer *inputs[], int numOutputs,
                                  aclTensorDesc *outputDesc[], aclDataBuffer *outputs[],
                                  aclopAttr *attr, aclopEngineType engineType,
                                  aclopCompileType compileFlag, const char *opPath,
                                  aclrtStream stream)
{
    (void)engineType;
    (void)compileFlag;
    (void)opPath;
    const struct leo_acl_op op = shaped_op(opType, numInputs, inputDesc, inputs, numOutputs,
                                           outputDesc, outputs, attr, stream);
    return run_op(__func__, &op, false);
}

aclError aclopExecute(const char *opType, int numInputs, const aclTensorDesc *const inputDesc[],
                      const aclDataBuffer *const inputs[], int numOutputs,
                      const aclTensorDesc *const outputDesc[], aclDataBuffer *const outputs[],
                      const aclopAttr *attr, aclrtStream stream)
{
    const struct leo_acl_op op = plain_op(opType, numInputs, inputDesc, inputs, numOutputs,
                                          outputDesc, outputs, attr, stream);
    return run_op(__func__, &op, true);
}

aclError aclopExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
                        aclDataBuffer *inputs[], int numOutputs, aclTensorDesc *outputDesc[],
                        aclDataBuffer *outputs[], aclopAttr *attr, aclrtStream stream)
{
    const struct leo_acl_op op = shaped_op(opType, numInputs, inputDesc, inputs, numOutputs,
                                           outputDesc, outputs, attr, stream);
    return run_op(__func__, &op, true);
}
