/* SPDX-License-Identifier: Apache-2.0 */
#include "singleop.h"

#include <acl/acl_base.h>
#include <dlfcn.h>
#include <errno.h>
#include <jansson.h>
#include <leo/op_model.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    NAME_BYTES = 253, /* with ".om" and NUL: what a folder takes, whatever tensors there are */
    PATH_BYTES = 4096
};

struct word {
    const char *name;
    int number;
};

static const struct word types[] = {{"float", ACL_FLOAT},
                                    {"float32", ACL_FLOAT},
                                    {"float16", ACL_FLOAT16},
                                    {"int8", ACL_INT8},
                                    {"int16", ACL_INT16},
                                    {"int32", ACL_INT32},
                                    {"int64", ACL_INT64},
                                    {"uint8", ACL_UINT8},
                                    {"uint16", ACL_UINT16},
                                    {"uint32", ACL_UINT32},
                                    {"uint64", ACL_UINT64},
                                    {"double", ACL_DOUBLE},
                                    {"bool", ACL_BOOL},
                                    {"string", ACL_STRING},
                                    {"complex64", ACL_COMPLEX64},
                                    {"complex128", ACL_COMPLEX128},
                                    {"bfloat16", ACL_BF16},
                                    {"UNDEFINED", ACL_DT_UNDEFINED},
                                    {NULL, 0}};
static const struct word formats[] = {{"ND", ACL_FORMAT_ND},
                                      {"NCHW", ACL_FORMAT_NCHW},
                                      {"NHWC", ACL_FORMAT_NHWC},
                                      {"NC1HWC0", ACL_FORMAT_NC1HWC0},
                                      {"FRACTAL_Z", ACL_FORMAT_FRACTAL_Z},
                                      {"FRACTAL_NZ", ACL_FORMAT_FRACTAL_NZ},
                                      {"NCDHW", ACL_FORMAT_NCDHW},
                                      {"NDHWC", ACL_FORMAT_NDHWC},
                                      {"HWCN", ACL_FORMAT_HWCN},
                                      {"RESERVED", ACL_FORMAT_UNDEFINED},
                                      {NULL, 0}};

/* An operator being read: what it is called in errors, its file's name so far, the first error. */
struct reading {
    char name[NAME_BYTES];
    char *error;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static void fail(struct reading *reading, const char *format,
                                                       ...)
{
    char text[ATC_ERROR / 2];
    va_list args;
    if (reading->failed) {
        return;
    }
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    reading->failed = true;
    snprintf(reading->error, ATC_ERROR, "E10001: --singleop: operator %.60s: %s", reading->name,
             text);
}

static int number_of(struct reading *reading, const struct word *words, const json_t *object,
                     const char *key)
{
    const char *name = json_string_value(json_object_get(object, key));
    while (words->name && (!name || strcmp(words->name, name) != 0)) {
        words++;
    }
    if (!words->name) {
        fail(reading, "\"%s\" is %.40s, which is none that is served", key,
             name ? name : "missing");
    }
    return words->number;
}

__attribute__((format(printf, 2, 3))) static void add_to_name(struct reading *reading,
                                                              const char *format, ...)
{
    const size_t used = strlen(reading->name);
    va_list args;
    va_start(args, format);
    vsnprintf(reading->name + used, sizeof(reading->name) - used, format, args);
    va_end(args);
}

/* [low, high] for each dimension; those that are given are their own. */
static json_t *take_range(struct reading *reading, const json_t *desc, const json_t *shape)
{
    const json_t *told = json_object_get(desc, "shape_range");
    json_t *range = json_array();
    size_t at = 0;
    for (size_t i = 0; i < json_array_size(shape); i++) {
        const json_int_t dim = json_integer_value(json_array_get(shape, i));
        // Ranges stand for the open dimensions alone, or for all.
        const bool for_all = json_array_size(told) == json_array_size(shape);
        const json_t *bounds = json_array_get(told, for_all ? i : at);
        const json_int_t low = bounds ? json_integer_value(json_array_get(bounds, 0)) : 0,
                         high = bounds ? json_integer_value(json_array_get(bounds, 1)) : -1;
        if (dim == -1) {
            at++;
            if (low < 0 || (high >= 0 && high < low)) {
                fail(reading, "a \"shape_range\" is from %lld to %lld", (long long)low,
                     (long long)high);
            }
        }
        json_array_append_new(range,
                              json_pack("[I,I]", dim == -1 ? low : dim, dim == -1 ? high : dim));
    }
    return range;
}

static json_t *take_tensor(struct reading *reading, const json_t *desc)
{
    const json_t *shape = json_object_get(desc, "shape");
    const int type = number_of(reading, types, desc, "type"),
              format = number_of(reading, formats, desc, "format");
    size_t index;
    json_t *dim;
    if (type == ACL_DT_UNDEFINED) { // not given
        return json_pack("{s:i,s:i,s:[]}", "type", type, "format", format, "shape");
    }
    add_to_name(reading, "_%d_%d", type, format);
    if (!json_is_array(shape)) {
        fail(reading, "a tensor has no \"shape\": [2, 3] or, of a scalar, []");
    }
    json_array_foreach(shape, index, dim)
    {
        const json_int_t value = json_integer_value(dim);
        add_to_name(reading, "_%lld", (long long)value);
        if (!json_is_integer(dim) || value < -2 || (value == -2 && json_array_size(shape) > 1)) {
            fail(reading, "a \"shape\" has %lld: sizes are 0 or more, -1 (any), or [-2] is all",
                 (long long)value);
        }
    }
    return json_pack("{s:i,s:i,s:O,s:o}", "type", type, "format", format, "shape",
                     json_is_array(shape) ? shape : json_null(), "range",
                     take_range(reading, desc, shape));
}

static json_t *take_tensors(struct reading *reading, const json_t *op, const char *key)
{
    const json_t *descs = json_object_get(op, key);
    json_t *list = json_array(), *desc;
    size_t index;
    if (!json_is_array(descs)) {
        fail(reading, "there is no list \"%s\"", key);
    }
    json_array_foreach(descs, index, desc)
    {
        json_array_append_new(list, take_tensor(reading, desc));
    }
    return list;
}

/* All numbers of lists in lists. */
static void flatten(json_t *value, json_t *list)
{
    size_t index;
    json_t *part;
    if (!json_is_array(value)) {
        json_array_append(list, value);
        return;
    }
    json_array_foreach(value, index, part)
    {
        flatten(part, list);
    }
}

static bool is_of_type(const char *type, const json_t *value)
{
    return strstr(type, "bool")     ? json_is_boolean(value)
           : strstr(type, "float")  ? json_is_number(value)
           : strstr(type, "string") ? json_is_string(value)
                                    : json_is_integer(value);
}

static const char attr_types[] =
    "|bool|int|float|string|list_bool|list_int|list_float|list_string|list_list_int|data_type|";

static void take_attr(struct reading *reading, json_t *attr, json_t *attrs)
{
    const char *name = json_string_value(json_object_get(attr, "name")),
               *type = json_string_value(json_object_get(attr, "type"));
    json_t *value = json_object_get(attr, "value"), *list = json_array(), *one;
    size_t index;
    char word[40];
    snprintf(word, sizeof(word), "|%s|", type ? type : "");
    if (!name || !strstr(attr_types, word)) {
        fail(reading, "attribute %.40s is of type %.20s: its types are %s", name ? name : "?",
             type ? type : "(none)", attr_types);
        json_decref(list);
        return;
    }
    if (strcmp(type, "data_type") == 0) {
        json_array_append_new(list, json_integer(number_of(reading, types, attr, "value")));
    } else {
        flatten(value, list);
        json_array_foreach(list, index, one)
        {
            if (!is_of_type(type, one)) {
                fail(reading, "attribute %.40s: a value is not %.20s", name, type);
            }
        }
        if (!value || json_is_array(value) != (strncmp(type, "list", 4) == 0)) {
            fail(reading, "attribute %.40s: its value is not %.20s", name, type);
        }
    }
    json_object_set_new(attrs, name, list);
}

static json_t *take_operator(struct reading *reading, const json_t *op, size_t number,
                             bool (*is_known)(const char *))
{
    const char *type = json_string_value(json_object_get(op, "op"));
    json_t *attrs = json_object(), *attr;
    size_t index;
    snprintf(reading->name, sizeof(reading->name), "%zu_%.100s", number, type ? type : "?");
    if (!type) {
        fail(reading, "\"op\" is missing: the operator's type");
    } else if (!is_known(type)) {
        snprintf(reading->error, ATC_ERROR,
                 "E10501: --singleop: operator %zu: there is no operator of type %.100s", number,
                 type);
        reading->failed = true;
    }
    json_t *inputs = take_tensors(reading, op, "input_desc"),
           *outputs = take_tensors(reading, op, "output_desc");
    json_array_foreach(json_object_get(op, "attr"), index, attr)
    {
        take_attr(reading, attr, attrs);
    }
    const char *name = json_string_value(json_object_get(op, "name"));
    if (name) { // the file is called so
        snprintf(reading->name, sizeof(reading->name), "%.200s", name);
    }
    return json_pack("{s:s,s:o,s:o,s:o}", "op", type ? type : "", "inputs", inputs, "outputs",
                     outputs, "attrs", attrs);
}

static void write_operator(struct reading *reading, const char *folder, const json_t *op)
{
    char path[PATH_BYTES];
    uint8_t head[LEO_OP_MODEL_HEAD];
    char *text = json_dumps(op, JSON_COMPACT | JSON_SORT_KEYS);
    const size_t length = text ? strlen(text) : 0;
    snprintf(path, sizeof(path), "%.3500s/%s.om", folder, reading->name);
    leo_op_model_head(text, length, head);
    FILE *file = text ? fopen(path, "wb") : NULL;
    bool good = file && fwrite(head, 1, sizeof(head), file) == sizeof(head) &&
                fwrite(text, 1, length, file) == length;
    if (file) {
        good = fclose(file) == 0 && good;
    }
    if (!good) {
        fail(reading, "the file %.200s cannot be written", path);
    }
    free(text);
}

/* NULL: the library of operators is not there. */
static bool (*find_known(void))(const char *)
{
    // It lies beside; with it comes the one that asks it.
    void *library = dlopen("libopapi.so", RTLD_NOW | RTLD_GLOBAL);
    bool (*is_known)(const char *) = NULL;
    void *symbol = library ? dlsym(library, "leo_acl_op_is_known") : NULL;
    memcpy(&is_known, &symbol, sizeof(symbol));
    return is_known;
}

/* The file's list; NULL: the error is reported. */
static json_t *read_list(const char *path, char error[ATC_ERROR])
{
    json_error_t reason;
    json_t *list = json_load_file(path, 0, &reason);
    if (!list) {
        snprintf(error, ATC_ERROR, "E10001: --singleop: %.200s: %.200s", path, reason.text);
    } else if (!json_is_array(list)) {
        snprintf(error, ATC_ERROR, "E10001: --singleop: %.200s must be a list of operators.", path);
        json_decref(list);
        list = NULL;
    }
    return list;
}

static int write_operators(const struct atc_options *options, const json_t *list,
                           bool (*is_known)(const char *), char error[ATC_ERROR])
{
    struct reading reading = {.error = error};
    if (mkdir(options->output, 0777) != 0 && errno != EEXIST) {
        snprintf(error, ATC_ERROR, "E10001: --output: the folder %.200s cannot be made",
                 options->output);
        return -1;
    }
    for (size_t i = 0; !reading.failed && i < json_array_size(list); i++) {
        json_t *made = take_operator(&reading, json_array_get(list, i), i, is_known);
        if (!reading.failed) {
            write_operator(&reading, options->output, made);
        }
        json_decref(made);
    }
    return reading.failed ? -1 : 0;
}

int atc_write_operators(const struct atc_options *options, char error[ATC_ERROR])
{
    bool (*is_known)(const char *) = find_known();
    if (!is_known) {
        snprintf(error, ATC_ERROR,
                 "E19999: the library of operators, in lib64 beside bin, is not loaded: %.200s",
                 dlerror());
        return -1;
    }
    json_t *list = read_list(options->singleop, error);
    const int code = list ? write_operators(options, list, is_known, error) : -1;
    json_decref(list);
    return code;
}
