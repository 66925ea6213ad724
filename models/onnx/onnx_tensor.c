/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of an import, attributes of its nodes, and numbers of the file. */
#include "import.h"

#include <leo/alloc.h>
#include <leo/dtype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Element types of the format. */
enum {
    ONNX_FLOAT = 1,
    ONNX_UINT8,
    ONNX_INT8,
    ONNX_UINT16,
    ONNX_INT16,
    ONNX_INT32,
    ONNX_INT64,
    ONNX_STRING,
    ONNX_BOOL,
    ONNX_FLOAT16,
    ONNX_DOUBLE,
};

enum { TEXT = 400 };

static const int64_t MAX_ELEMENTS = INT64_C(1)
                                    << 40; // far above memory: what follows cannot overflow

__extension__ typedef _Float16 onnx_half;

void onnx_fail(struct onnx_import *import, const char *format, ...)
{
    char text[TEXT];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    const OnnxFile__Node *node = import->node;
    if (node) {
        model_build_fail(&import->build, "node %s of type %s: %s",
                         node->name && *node->name ? node->name
                         : node->n_output          ? node->output[0]
                                                   : "(no name)",
                         node->op_type ? node->op_type : "(none)", text);
    } else {
        model_build_fail(&import->build, "%s", text);
    }
}

struct onnx_tensor *onnx_find(struct onnx_import *import, const char *name)
{
    for (uint32_t i = import->tensor_count; i-- > 0;) {
        if (strcmp(import->tensors[i].name, name) == 0) {
            return &import->tensors[i];
        }
    }
    return NULL;
}

size_t onnx_input_count(const struct onnx_import *import)
{
    return import->node->n_input;
}

struct onnx_tensor *onnx_input(struct onnx_import *import, size_t index)
{
    if (index >= import->node->n_input || !*import->node->input[index]) {
        return NULL;
    }
    struct onnx_tensor *tensor = onnx_find(import, import->node->input[index]);
    if (!tensor) {
        onnx_fail(import, "its input %s is made by no node before it", import->node->input[index]);
    }
    return tensor;
}

bool onnx_fits(struct onnx_import *import, uint32_t rank, const int64_t *dim)
{
    int64_t count = 1;
    bool fits = rank <= LEO_OP_RANK_MAX;
    for (uint32_t d = 0; fits && d < rank; d++) {
        fits = dim[d] <= MAX_ELEMENTS && count <= MAX_ELEMENTS / (dim[d] > 1 ? dim[d] : 1);
        count *= fits && dim[d] > 1 ? dim[d] : 1;
    }
    if (!fits) {
        onnx_fail(import, "a tensor has more than 8 dimensions or 2^40 elements");
    }
    return fits;
}

struct onnx_tensor *onnx_add(struct onnx_import *import, const char *name, enum leo_dtype dtype,
                             uint32_t rank, const int64_t *dim)
{
    if (import->build.failed) {
        return NULL;
    }
    if (import->tensor_count == import->tensor_room || rank > LEO_OP_RANK_MAX) {
        onnx_fail(import,
                  rank > LEO_OP_RANK_MAX ? "%s has more than 8 dimensions" : "%s: too many tensors",
                  name);
        return NULL;
    }
    if (!onnx_fits(import, rank, dim)) {
        return NULL;
    }
    struct onnx_tensor *tensor = &import->tensors[import->tensor_count++];
    *tensor = (struct onnx_tensor){.name = name, .dtype = dtype, .rank = rank};
    for (uint32_t d = 0; d < rank; d++) {
        tensor->dim[d] = dim[d];
        if (dim[d] < 0) {
            onnx_fail(import, "dimension %u of %s is not known: give --input_shape", d, name);
        }
    }
    return tensor;
}

struct onnx_tensor *onnx_output(struct onnx_import *import, size_t index, enum leo_dtype dtype,
                                uint32_t rank, const int64_t *dim)
{
    return onnx_add(import, import->node->output[index], dtype, rank, dim);
}

static bool make_known(struct onnx_import *import, struct onnx_tensor *tensor)
{
    const size_t unit = tensor->dtype == LEO_DTYPE_F32 ? sizeof(float) : sizeof(int64_t);
    const int64_t count = onnx_count(tensor);
    tensor->known = leo_calloc((size_t)(count ? count : 1), unit);
    if (!tensor->known) {
        onnx_fail(import, "out of host memory");
    }
    return tensor->known != NULL;
}

struct onnx_tensor *onnx_known(struct onnx_import *import, size_t index, enum leo_dtype dtype,
                               uint32_t rank, const int64_t *dim)
{
    struct onnx_tensor *tensor = onnx_output(import, index, dtype, rank, dim);
    return tensor && make_known(import, tensor) ? tensor : NULL;
}

int64_t onnx_count(const struct onnx_tensor *tensor)
{
    int64_t count = 1;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        count *= tensor->dim[d];
    }
    return count;
}

enum leo_dtype onnx_dtype(const struct onnx_import *import, const struct onnx_tensor *tensor)
{
    return tensor->dtype == LEO_DTYPE_F32 ? import->floats : tensor->dtype;
}

void onnx_set_value(struct onnx_tensor *tensor, uint32_t value)
{
    if (tensor) {
        tensor->value = value;
        tensor->has_value = true;
    }
}

/* Finite numbers stay finite: masks are made of the least float, times 0 where nothing is hidden.
 */
static onnx_half narrow_weight(float number)
{
    const float most = 65504;
    const float bounded = number > most ? most : number < -most ? -most : number;
    return (onnx_half)(isinf(number) ? number : bounded);
}

uint32_t onnx_weight(struct onnx_import *import, uint32_t rank, const int64_t *dim,
                     const float *data)
{
    if (import->floats == LEO_DTYPE_F32) {
        return model_build_weight(&import->build, LEO_DTYPE_F32, rank, dim, data);
    }
    size_t count = 1;
    for (uint32_t d = 0; d < rank; d++) {
        count *= (size_t)dim[d];
    }
    onnx_half *halves = leo_calloc(count ? count : 1, sizeof(*halves));
    if (!halves) {
        onnx_fail(import, "out of host memory");
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        halves[i] = narrow_weight(data[i]);
    }
    const uint32_t value = model_build_weight(&import->build, LEO_DTYPE_F16, rank, dim, halves);
    leo_free(halves);
    return value;
}

// Known integers in their own width.
static uint32_t weight_of_integers(struct onnx_import *import, const struct onnx_tensor *tensor)
{
    const int64_t *known = tensor->known, count = onnx_count(tensor);
    const uint32_t bytes = leo_dtype_bytes(tensor->dtype);
    uint8_t *data = leo_calloc((size_t)(count ? count : 1), bytes);
    if (!data) {
        onnx_fail(import, "out of host memory");
        return 0;
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy(data + (size_t)i * bytes, &known[i], bytes); // little-endian: the low bytes
    }
    const uint32_t value =
        model_build_weight(&import->build, tensor->dtype, tensor->rank, tensor->dim, data);
    leo_free(data);
    return value;
}

uint32_t onnx_value(struct onnx_import *import, struct onnx_tensor *tensor)
{
    if (!tensor || import->build.failed) {
        return 0;
    }
    if (!tensor->has_value && tensor->known) {
        onnx_set_value(tensor, tensor->dtype == LEO_DTYPE_F32
                                   ? onnx_weight(import, tensor->rank, tensor->dim, tensor->known)
                                   : weight_of_integers(import, tensor));
    }
    return tensor->value;
}

uint32_t onnx_dense(struct onnx_import *import, struct onnx_tensor *tensor)
{
    const uint32_t value = onnx_value(import, tensor);
    if (!tensor || model_build_is_dense(&import->build, value)) {
        return value;
    }
    const uint32_t dense =
        model_build_value(&import->build, onnx_dtype(import, tensor), tensor->rank, tensor->dim);
    MODEL_BUILD_CALL(&import->build, "InplaceCopy", model_build_tensor(dense),
                     model_build_tensor(value));
    return dense;
}

void onnx_reshaped(struct onnx_import *import, const struct onnx_tensor *from, uint32_t rank,
                   const int64_t *dim)
{
    struct onnx_tensor input = *from; // the list of tensors may move
    int64_t count = 1, stride[LEO_OP_RANK_MAX];
    if (!onnx_fits(import, rank, dim)) {
        return;
    }
    for (uint32_t d = rank; d-- > 0;) {
        stride[d] = count;
        count *= dim[d];
    }
    if (count != onnx_count(&input)) {
        onnx_fail(import, "%lld elements cannot have a shape of %lld",
                  (long long)onnx_count(&input), (long long)count);
        return;
    }
    const uint32_t value = input.known ? 0 : onnx_dense(import, &input);
    struct onnx_tensor *out = onnx_output(import, 0, input.dtype, rank, dim);
    if (out && input.known && make_known(import, out)) {
        memcpy(out->known, input.known,
               (size_t)count * (input.dtype == LEO_DTYPE_F32 ? sizeof(float) : sizeof(int64_t)));
    } else if (out) {
        onnx_set_value(out, model_build_view(&import->build, value, rank, dim, stride, 0));
    }
}

const OnnxFile__Attribute *onnx_attribute(const struct onnx_import *import, const char *name)
{
    for (size_t i = 0; i < import->node->n_attribute; i++) {
        if (import->node->attribute[i]->name &&
            strcmp(import->node->attribute[i]->name, name) == 0) {
            return import->node->attribute[i];
        }
    }
    return NULL;
}

int64_t onnx_attribute_int(const struct onnx_import *import, const char *name, int64_t other)
{
    const OnnxFile__Attribute *attribute = onnx_attribute(import, name);
    return attribute ? attribute->i : other;
}

float onnx_attribute_float(const struct onnx_import *import, const char *name, float other)
{
    const OnnxFile__Attribute *attribute = onnx_attribute(import, name);
    return attribute ? attribute->f : other;
}

uint32_t onnx_attribute_ints(const struct onnx_import *import, const char *name, int64_t *ints,
                             uint32_t room)
{
    const OnnxFile__Attribute *attribute = onnx_attribute(import, name);
    uint32_t count = 0;
    for (; attribute && count < attribute->n_ints && count < room; count++) {
        ints[count] = attribute->ints[count];
    }
    return count;
}

bool onnx_attribute_is(const struct onnx_import *import, const char *name, const char *text)
{
    const OnnxFile__Attribute *attribute = onnx_attribute(import, name);
    return attribute && attribute->has_s && attribute->s.len == strlen(text) &&
           memcmp(attribute->s.data, text, attribute->s.len) == 0;
}

int onnx_attribute_word(const struct onnx_import *import, const char *name,
                        const char *const *words, size_t count, int other)
{
    int found = onnx_attribute(import, name) ? -1 : other;
    for (size_t i = 0; i < count; i++) {
        found = onnx_attribute_is(import, name, words[i]) ? (int)i : found;
    }
    return found;
}

bool onnx_known_number(struct onnx_import *import, const char *name, size_t index, double *number)
{
    const struct onnx_tensor *tensor = onnx_input(import, index);
    if (tensor && (!tensor->known || onnx_count(tensor) != 1)) {
        onnx_fail(import, "its %s must be a number that is known when the model is compiled", name);
        return false;
    }
    if (tensor) {
        *number = tensor->dtype == LEO_DTYPE_F32 ? (double)*(const float *)tensor->known
                                                 : (double)*(const int64_t *)tensor->known;
    }
    return true;
}

uint32_t onnx_ints(struct onnx_import *import, const char *name, size_t index, int64_t *ints,
                   uint32_t room)
{
    const struct onnx_tensor *tensor = onnx_input(import, index);
    if (!tensor) {
        return onnx_attribute_ints(import, name, ints, room);
    }
    const int64_t *known = tensor->known, count = onnx_count(tensor);
    if (!known || tensor->dtype == LEO_DTYPE_F32 || count > room) {
        onnx_fail(import, "its %s must be integers that are known when the model is compiled",
                  name);
        return 0;
    }
    memcpy(ints, known, (size_t)count * sizeof(*ints));
    return (uint32_t)count;
}

uint32_t onnx_axis(struct onnx_import *import, int64_t axis, uint32_t rank)
{
    const int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= (int64_t)(rank ? rank : 1)) {
        onnx_fail(import, "dimension %lld is outside of a tensor of %u", (long long)axis, rank);
        return 0;
    }
    return (uint32_t)at;
}

bool onnx_take_type(int32_t type, enum leo_dtype *dtype)
{
    static const int8_t types[] = {
        [0] = -1,
        [ONNX_FLOAT] = LEO_DTYPE_F32,
        [ONNX_UINT8] = LEO_DTYPE_U8,
        [ONNX_INT8] = LEO_DTYPE_S8,
        [ONNX_UINT16] = -1,
        [ONNX_INT16] = LEO_DTYPE_S16,
        [ONNX_INT32] = LEO_DTYPE_S32,
        [ONNX_INT64] = LEO_DTYPE_S64,
        [ONNX_STRING] = -1,
        [ONNX_BOOL] = LEO_DTYPE_B8,
        [ONNX_FLOAT16] = LEO_DTYPE_F32,
        [ONNX_DOUBLE] = LEO_DTYPE_F32,
    };
    const bool good = type > 0 && type < (int32_t)(sizeof(types)) && types[type] >= 0;
    *dtype = good ? (enum leo_dtype)types[type] : LEO_DTYPE_F32;
    return good;
}

static float raw_float(const uint8_t *raw, int32_t type, size_t i)
{
    float single;
    double wide;
    onnx_half narrow;
    switch (type) {
    case ONNX_FLOAT16:
        memcpy(&narrow, raw + i * sizeof(narrow), sizeof(narrow));
        return (float)narrow;
    case ONNX_DOUBLE:
        memcpy(&wide, raw + i * sizeof(wide), sizeof(wide));
        return (float)wide;
    default:
        memcpy(&single, raw + i * sizeof(single), sizeof(single));
        return single;
    }
}

static int64_t raw_integer(const uint8_t *raw, enum leo_dtype dtype, size_t i)
{
    const uint32_t bytes = leo_dtype_bytes(dtype), shift = 64 - 8 * bytes;
    int64_t value = 0;
    memcpy(&value, raw + i * bytes, bytes);
    const bool is_signed = dtype != LEO_DTYPE_U8 && dtype != LEO_DTYPE_B8;
    return is_signed ? (int64_t)((uint64_t)value << shift) >> shift : value;
}

static uint32_t raw_bytes(int32_t type, enum leo_dtype dtype)
{
    return type == ONNX_FLOAT16 ? 2 : type == ONNX_DOUBLE ? 8 : leo_dtype_bytes(dtype);
}

// Element i of the list that has this type.
static bool take_element(const OnnxFile__Tensor *from, struct onnx_tensor *to, size_t i)
{
    const int32_t type = from->data_type;
    float *floats = to->known;
    int64_t *ints = to->known;
    if (from->has_raw_data) {
        if (to->dtype == LEO_DTYPE_F32) {
            floats[i] = raw_float(from->raw_data.data, type, i);
        } else {
            ints[i] = raw_integer(from->raw_data.data, to->dtype, i);
        }
        return true;
    }
    if (type == ONNX_FLOAT && i < from->n_float_data) {
        floats[i] = from->float_data[i];
    } else if (type == ONNX_DOUBLE && i < from->n_double_data) {
        floats[i] = (float)from->double_data[i];
    } else if (type == ONNX_FLOAT16 && i < from->n_int32_data) {
        const uint16_t bits = (uint16_t)from->int32_data[i];
        floats[i] = raw_float((const uint8_t *)&bits, type, 0);
    } else if (type == ONNX_INT64 && i < from->n_int64_data) {
        ints[i] = from->int64_data[i];
    } else if (to->dtype != LEO_DTYPE_F32 && type != ONNX_INT64 && i < from->n_int32_data) {
        ints[i] = from->int32_data[i];
    } else {
        return false;
    }
    return true;
}

void onnx_take_data(struct onnx_import *import, const OnnxFile__Tensor *from,
                    struct onnx_tensor *to)
{
    const char *name = to->name;
    if (from->n_dims > LEO_OP_RANK_MAX || !onnx_take_type(from->data_type, &to->dtype) ||
        (from->has_data_location && from->data_location == 1)) {
        onnx_fail(import,
                  "constant %s: element type %d, %zu dimensions or data in another file are not "
                  "served",
                  name, from->data_type, from->n_dims);
        return;
    }
    to->rank = (uint32_t)from->n_dims;
    uint64_t count = 1;
    for (uint32_t d = 0; d < to->rank; d++) {
        to->dim[d] = from->dims[d];
        if (from->dims[d] < 0 || from->dims[d] > 1 << 30 || count > 1 << 30) {
            onnx_fail(import, "constant %s has an impossible shape", name);
            return;
        }
        count *= (uint64_t)from->dims[d];
    }
    if ((from->has_raw_data &&
         from->raw_data.len != count * raw_bytes(from->data_type, to->dtype)) ||
        !make_known(import, to)) {
        onnx_fail(import, "constant %s has more or less data than its shape says", name);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!take_element(from, to, i)) {
            onnx_fail(import, "constant %s has less data than its shape says", name);
            return;
        }
    }
}
