/* SPDX-License-Identifier: Apache-2.0 */
/* Models of single operators, as atc --singleop writes them: which operators, on which tensors, a
 * program has compiled. The library computes them; a program that has loaded models may execute no
 * others, as on a card. */
#include "acl_op_model.h"

#include <dirent.h>
#include <jansson.h>
#include <leo/alloc.h>
#include <leo/op_model.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 3 /* the folder and two levels below it */, PATH_BYTES = 4096 };

/* ---- reading ---- */

static bool are_tensors(const json_t *list)
{
    size_t index;
    json_t *desc;
    json_array_foreach(list, index, desc)
    {
        const json_t *shape = json_object_get(desc, "shape"),
                     *range = json_object_get(desc, "range");
        if (!json_is_integer(json_object_get(desc, "type")) ||
            !json_is_integer(json_object_get(desc, "format")) || !json_is_array(shape) ||
            (range && json_array_size(range) != json_array_size(shape))) {
            return false;
        }
    }
    return json_is_array(list);
}

static aclError keep(const char *func, json_t *op)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    if (!process->op_models) {
        process->op_models = json_array();
    }
    const bool good = process->op_models && json_array_append_new(process->op_models, op) == 0;
    pthread_mutex_unlock(&process->lock);
    return good ? ACL_SUCCESS : acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
}

static aclError read_model(const char *func, const char *name, const void *data, size_t bytes)
{
    const char *text;
    size_t length;
    const char *why = leo_op_model_text(data, bytes, &text, &length);
    json_t *op = why ? NULL : json_loadb(text, length, 0, NULL);
    if (!op || !json_is_string(json_object_get(op, "op")) ||
        !are_tensors(json_object_get(op, "inputs")) ||
        !are_tensors(json_object_get(op, "outputs")) ||
        !json_is_object(json_object_get(op, "attrs"))) {
        json_decref(op);
        return acl_fail(ACL_ERROR_DESERIALIZE_MODEL, func, "%s: %s", name,
                        why ? why : "what it holds is no operator");
    }
    return keep(func, op);
}

void acl_op_models_drop(void)
{
    struct acl_process *process = acl_process();
    pthread_mutex_lock(&process->lock);
    json_decref(process->op_models);
    process->op_models = NULL;
    pthread_mutex_unlock(&process->lock);
}

aclError aclopLoad(const void *model, size_t modelSize)
{
    return model && modelSize ? read_model(__func__, "the model", model, modelSize)
                              : acl_null(__func__, "model");
}

static aclError read_file(const char *func, const char *path)
{
    FILE *file = fopen(path, "rb");
    char *data = leo_alloc(LEO_OP_MODEL_MAX + 1);
    aclError error = ACL_ERROR_READ_MODEL_FAILURE;
    if (file && data) {
        error = read_model(func, path, data, fread(data, 1, LEO_OP_MODEL_MAX + 1, file));
    } else {
        (void)acl_fail(error, func, "'%s' cannot be read", path);
    }
    leo_free(data);
    if (file) {
        (void)fclose(file);
    }
    return error;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

static aclError read_folder(const char *func, const char *path, unsigned depth)
{
    struct dirent **entries;
    const int count = scandir(path, &entries, NULL, alphasort);
    aclError error = count < 0
                         ? acl_fail(ACL_ERROR_READ_MODEL_FAILURE, func, "'%s' is no folder", path)
                         : ACL_SUCCESS;
    for (int i = 0; i < count; i++) {
        char inner[PATH_BYTES];
        const char *name = entries[i]->d_name;
        snprintf(inner, sizeof(inner), "%s/%s", path, name);
        if (!error && entries[i]->d_type == DT_DIR && name[0] != '.' && depth < MAX_DEPTH) {
            error = read_folder(func, inner, depth + 1);
        } else if (!error && entries[i]->d_type != DT_DIR && ends_with(name, ".om")) {
            error = read_file(func, inner);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return error;
}

aclError aclopSetModelDir(const char *modelDir)
{
    return modelDir ? read_folder(__func__, modelDir, 1) : acl_null(__func__, "modelDir");
}

/* ---- looking for a call ---- */

static bool fits_shape(const json_t *model, const aclTensorDesc *desc)
{
    const json_t *shape = json_object_get(model, "shape"), *range = json_object_get(model, "range");
    if (json_array_size(shape) == 1 && json_integer_value(json_array_get(shape, 0)) == -2) {
        return true; // any
    }
    if (desc->dim_count != json_array_size(shape)) {
        return false;
    }
    for (size_t i = 0; i < desc->dim_count; i++) {
        const int64_t dim = json_integer_value(json_array_get(shape, i));
        const json_t *bounds = json_array_get(range, i);
        const int64_t low = json_integer_value(json_array_get(bounds, 0)),
                      high = json_integer_value(json_array_get(bounds, 1));
        if (dim >= 0 ? desc->dims[i] != dim
                     : desc->dims[i] < low || (high > 0 && desc->dims[i] > high)) {
            return false;
        }
    }
    return true;
}

static bool fit_tensors(const json_t *models, int count, const aclTensorDesc *const descs[])
{
    if (json_array_size(models) != (size_t)count) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        const json_t *model = json_array_get(models, (size_t)i);
        const json_int_t type = json_integer_value(json_object_get(model, "type"));
        // What is not given is of no type and may be a NULL.
        if (!descs[i]
                ? type != ACL_DT_UNDEFINED
                : type != descs[i]->type ||
                      json_integer_value(json_object_get(model, "format")) != descs[i]->format ||
                      !fits_shape(model, descs[i])) {
            return false;
        }
    }
    return true;
}

static json_t *number_list(const struct leo_acl_attr *attr)
{
    json_t *list = json_array();
    for (size_t i = 0; i < attr->count; i++) {
        json_t *value = NULL;
        switch (attr->kind) {
        case LEO_ACL_ATTR_BOOL:
        case LEO_ACL_ATTR_BOOLS:
            value = json_boolean(attr->value.bools[i]);
            break;
        case LEO_ACL_ATTR_INT:
        case LEO_ACL_ATTR_INTS:
        case LEO_ACL_ATTR_INT_LISTS:
            value = json_integer(attr->value.ints[i]);
            break;
        case LEO_ACL_ATTR_FLOAT:
        case LEO_ACL_ATTR_FLOATS:
            value = json_real((double)attr->value.floats[i]);
            break;
        case LEO_ACL_ATTR_DATA_TYPE:
        case LEO_ACL_ATTR_DATA_TYPES:
            value = json_integer(attr->value.types[i]);
            break;
        case LEO_ACL_ATTR_STRING:
        case LEO_ACL_ATTR_STRINGS:
            break;
        }
        json_array_append_new(list, value ? value : json_null());
    }
    return list;
}

static json_t *text_list(const struct leo_acl_attr *attr)
{
    json_t *list = json_array();
    const char *text = attr->value.text;
    const size_t count = attr->kind == LEO_ACL_ATTR_STRING ? 1 : attr->count;
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_string(text));
        text += strlen(text) + 1;
    }
    return list;
}

/* All values of an attribute in a row, as atc writes them. */
static json_t *attr_values(const struct leo_acl_attr *attr)
{
    return attr->kind == LEO_ACL_ATTR_STRING || attr->kind == LEO_ACL_ATTR_STRINGS
               ? text_list(attr)
               : number_list(attr);
}

static bool same_value(const json_t *a, const json_t *b)
{
    // A float of the call is a float's; the text of a file holds more digits.
    return json_is_number(a) && json_is_number(b)
               ? (float)json_number_value(a) == (float)json_number_value(b)
               : json_equal(a, b) != 0;
}

static bool fits_attr(const json_t *attrs, const struct leo_acl_attr *attr)
{
    const json_t *want = json_object_get(attrs, attr->name);
    json_t *got = attr_values(attr);
    bool same = json_is_array(want) && json_array_size(want) == json_array_size(got);
    for (size_t i = 0; same && i < json_array_size(got); i++) {
        same = same_value(json_array_get(want, i), json_array_get(got, i));
    }
    json_decref(got);
    return same;
}

static bool fit_attrs(const json_t *attrs, const aclopAttr *call)
{
    size_t count = 0;
    for (const struct leo_acl_attr *attr = call ? call->first : NULL; attr; attr = attr->next) {
        if (!fits_attr(attrs, attr)) {
            return false;
        }
        count++;
    }
    return count == json_object_size(attrs);
}

static bool fits(const json_t *model, const struct leo_acl_op *op)
{
    return fit_tensors(json_object_get(model, "inputs"), op->input_count, op->input_descs) &&
           fit_tensors(json_object_get(model, "outputs"), op->output_count, op->output_descs) &&
           fit_attrs(json_object_get(model, "attrs"), op->attr);
}

/* Models that are loaded, and those of a call's type. */
struct near {
    size_t all, of_type;
};

/* Without models every call may be executed. */
static bool may_execute(const struct leo_acl_op *op, struct near *near)
{
    struct acl_process *process = acl_process();
    size_t index;
    json_t *model;
    *near = (struct near){0};
    pthread_mutex_lock(&process->lock);
    near->all = json_array_size(process->op_models);
    bool found = near->all == 0;
    json_array_foreach(process->op_models, index, model)
    {
        if (strcmp(json_string_value(json_object_get(model, "op")), op->type) == 0) {
            near->of_type++;
            found = found || fits(model, op);
        }
    }
    pthread_mutex_unlock(&process->lock);
    return found;
}

aclError acl_op_model_check(const char *func, const struct leo_acl_op *op)
{
    struct near near;
    return may_execute(op, &near)
               ? ACL_SUCCESS
               : acl_fail(ACL_ERROR_OP_NOT_FOUND, func,
                          "operator %s with these tensors and attributes is none of the %zu models "
                          "that are loaded (%zu of this type): compile it with atc --singleop, or "
                          "call aclopCompile",
                          op->type, near.all, near.of_type);
}

/* ---- compiling ---- */

static json_t *describe(int count, const aclTensorDesc *const descs[])
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *shape = json_array();
        const bool is_given = descs[i] && descs[i]->dim_count != LEO_ACL_NO_DIMS;
        for (size_t d = 0; is_given && d < descs[i]->dim_count; d++) {
            json_array_append_new(shape, json_integer(descs[i]->dims[d]));
        }
        json_array_append_new(
            list, json_pack("{s:i,s:i,s:o}", "type", descs[i] ? (int)descs[i]->type : -1, "format",
                            descs[i] ? (int)descs[i]->format : -1, "shape", shape));
    }
    return list;
}

aclError acl_op_model_add(const char *func, const struct leo_acl_op *op)
{
    struct near ignored;
    if (may_execute(op, &ignored)) {
        return ACL_SUCCESS;
    }
    json_t *attrs = json_object();
    for (const struct leo_acl_attr *one = op->attr ? op->attr->first : NULL; one; one = one->next) {
        json_object_set_new(attrs, one->name, attr_values(one));
    }
    json_t *made = json_pack("{s:s,s:o,s:o,s:o}", "op", op->type, "inputs",
                             describe(op->input_count, op->input_descs), "outputs",
                             describe(op->output_count, op->output_descs), "attrs", attrs);
    return made ? keep(func, made) : acl_fail(ACL_ERROR_BAD_ALLOC, func, "out of host memory");
}
