/* SPDX-License-Identifier: Apache-2.0 */
#include "import.h"

#include <leo/alloc.h>
#include <leo/dtype.h>
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

__extension__ typedef _Float16 onnx_half;

void onnx_fail(struct onnx_import *import, const char *format, ...)
{
    char text[TEXT];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    const LeoOnnx__Node *node = import->node;
    if (node) {
        leo_build_fail(&import->build, "node %s of type %s: %s",
                       node->name && *node->name ? node->name
                       : node->n_output          ? node->output[0]
                                                 : "(no name)",
                       node->op_type ? node->op_type : "(none)", text);
    } else {
        leo_build_fail(&import->build, "%s", text);
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

static struct onnx_tensor *add_tensor(struct onnx_import *import, const char *name,
                                      enum leo_dtype dtype, uint32_t rank, const int64_t *dim)
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
    return add_tensor(import, import->node->output[index], dtype, rank, dim);
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

uint32_t onnx_weight(struct onnx_import *import, uint32_t rank, const int64_t *dim,
                     const float *data)
{
    if (import->floats == LEO_DTYPE_F32) {
        return leo_build_weight(&import->build, LEO_DTYPE_F32, rank, dim, data);
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
        halves[i] = (onnx_half)data[i];
    }
    const uint32_t value = leo_build_weight(&import->build, LEO_DTYPE_F16, rank, dim, halves);
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
        leo_build_weight(&import->build, tensor->dtype, tensor->rank, tensor->dim, data);
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
    if (!tensor || leo_build_is_dense(&import->build, value)) {
        return value;
    }
    const uint32_t dense =
        leo_build_value(&import->build, onnx_dtype(import, tensor), tensor->rank, tensor->dim);
    LEO_BUILD_CALL(&import->build, "InplaceCopy", leo_build_tensor(dense), leo_build_tensor(value));
    return dense;
}

void onnx_reshaped(struct onnx_import *import, const struct onnx_tensor *from, uint32_t rank,
                   const int64_t *dim)
{
    struct onnx_tensor input = *from; // the list of tensors may move
    int64_t count = 1, stride[LEO_OP_RANK_MAX];
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
        onnx_set_value(out, leo_build_view(&import->build, value, rank, dim, stride, 0));
    }
}

const LeoOnnx__Attribute *onnx_attribute(const struct onnx_import *import, const char *name)
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
    const LeoOnnx__Attribute *attribute = onnx_attribute(import, name);
    return attribute ? attribute->i : other;
}

float onnx_attribute_float(const struct onnx_import *import, const char *name, float other)
{
    const LeoOnnx__Attribute *attribute = onnx_attribute(import, name);
    return attribute ? attribute->f : other;
}

uint32_t onnx_attribute_ints(const struct onnx_import *import, const char *name, int64_t *ints,
                             uint32_t room)
{
    const LeoOnnx__Attribute *attribute = onnx_attribute(import, name);
    uint32_t count = 0;
    for (; attribute && count < attribute->n_ints && count < room; count++) {
        ints[count] = attribute->ints[count];
    }
    return count;
}

bool onnx_attribute_is(const struct onnx_import *import, const char *name, const char *text)
{
    const LeoOnnx__Attribute *attribute = onnx_attribute(import, name);
    return attribute && attribute->has_s && attribute->s.len == strlen(text) &&
           memcmp(attribute->s.data, text, attribute->s.len) == 0;
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
static bool take_element(const LeoOnnx__Tensor *from, struct onnx_tensor *to, size_t i)
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

void onnx_take_data(struct onnx_import *import, const LeoOnnx__Tensor *from, struct onnx_tensor *to)
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

static bool is_initializer(const LeoOnnx__Graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_initializer; i++) {
        if (graph->initializer[i]->name && strcmp(graph->initializer[i]->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void take_initializers(struct onnx_import *import)
{
    for (size_t i = 0; i < import->graph->n_initializer && !import->build.failed; i++) {
        const LeoOnnx__Tensor *from = import->graph->initializer[i];
        struct onnx_tensor *to =
            add_tensor(import, from->name ? from->name : "", LEO_DTYPE_F32, 0, NULL);
        if (to) {
            onnx_take_data(import, from, to);
        }
    }
}

static const struct leo_import_shape *option_shape(const struct leo_import_options *options,
                                                   const char *name)
{
    for (uint32_t i = 0; i < options->shape_count; i++) {
        if (strcmp(options->shapes[i].input, name) == 0) {
            return &options->shapes[i];
        }
    }
    return NULL;
}

static void take_io_shape(struct onnx_import *import, const LeoOnnx__ValueInfo *info,
                          struct leo_model_io *io)
{
    const LeoOnnx__TensorType *type = info->type ? info->type->tensor_type : NULL;
    const struct leo_import_shape *shape = option_shape(import->options, info->name);
    if (shape) {
        io->rank = shape->rank;
        memcpy(io->dim, shape->dim, sizeof(io->dim));
        return;
    }
    if (!type || !type->shape || type->shape->n_dim > LEO_OP_RANK_MAX) {
        onnx_fail(import, "input %s has no shape of at most 8 dimensions: give --input_shape",
                  info->name);
        return;
    }
    io->rank = (uint32_t)type->shape->n_dim;
    for (uint32_t d = 0; d < io->rank; d++) {
        io->dim[d] = type->shape->dim[d]->has_dim_value ? type->shape->dim[d]->dim_value : -1;
    }
}

// An input that is not a weight: floats become what the model computes in.
static void take_input(struct onnx_import *import, const LeoOnnx__ValueInfo *info)
{
    struct leo_model *model = &import->build.model;
    struct leo_model_io *io = &model->inputs[model->input_count];
    const LeoOnnx__TensorType *type = info->type ? info->type->tensor_type : NULL;
    enum leo_dtype dtype;
    if (!type || !onnx_take_type(type->elem_type, &dtype)) {
        onnx_fail(import, "input %s has an element type that is not served", info->name);
        return;
    }
    snprintf(io->name, sizeof(io->name), "%s", info->name);
    take_io_shape(import, info, io);
    const bool half =
        dtype == LEO_DTYPE_F32 && (import->options->half_inputs || type->elem_type == ONNX_FLOAT16);
    io->dtype = half ? LEO_DTYPE_F16 : dtype;
    struct onnx_tensor *tensor = add_tensor(import, info->name, dtype, io->rank, io->dim);
    if (!tensor) {
        return;
    }
    model->input_count++;
    uint32_t value = leo_build_io(&import->build, LEO_MODEL_INPUT, model->input_count - 1);
    if (dtype == LEO_DTYPE_F32 && io->dtype != import->floats) {
        const uint32_t cast = leo_build_value(&import->build, import->floats, io->rank, io->dim);
        LEO_BUILD_CALL(&import->build, "InplaceCopy", leo_build_tensor(cast),
                       leo_build_tensor(value));
        value = cast;
    }
    onnx_set_value(tensor, value);
}

static void take_inputs(struct onnx_import *import)
{
    struct leo_model *model = &import->build.model;
    const LeoOnnx__Graph *graph = import->graph;
    model->inputs = leo_calloc(graph->n_input + 1, sizeof(*model->inputs));
    model->outputs = leo_calloc(graph->n_output + 1, sizeof(*model->outputs));
    if (!model->inputs || !model->outputs) {
        onnx_fail(import, "out of host memory");
        return;
    }
    for (size_t i = 0; i < import->options->shape_count; i++) {
        bool found = false;
        for (size_t k = 0; k < graph->n_input; k++) {
            found = found || strcmp(graph->input[k]->name, import->options->shapes[i].input) == 0;
        }
        if (!found) {
            onnx_fail(import, "--input_shape names input %s, which the model has not",
                      import->options->shapes[i].input);
        }
    }
    for (size_t i = 0; i < graph->n_input && !import->build.failed; i++) {
        // Old files list weights among the inputs.
        if (!is_initializer(graph, graph->input[i]->name)) {
            take_input(import, graph->input[i]);
        }
    }
}

static void take_output(struct onnx_import *import, const LeoOnnx__ValueInfo *info)
{
    struct leo_model *model = &import->build.model;
    struct leo_model_io *io = &model->outputs[model->output_count];
    struct onnx_tensor *tensor = onnx_find(import, info->name);
    if (!tensor) {
        onnx_fail(import, "output %s is made by no node", info->name);
        return;
    }
    const uint32_t value = onnx_value(import, tensor);
    snprintf(io->name, sizeof(io->name), "%s", info->name);
    io->dtype = tensor->dtype == LEO_DTYPE_F32 && import->options->half_outputs ? LEO_DTYPE_F16
                                                                                : tensor->dtype;
    io->rank = tensor->rank;
    memcpy(io->dim, tensor->dim, sizeof(io->dim));
    model->output_count++;
    LEO_BUILD_CALL(
        &import->build, "InplaceCopy",
        leo_build_tensor(leo_build_io(&import->build, LEO_MODEL_OUTPUT, model->output_count - 1)),
        leo_build_tensor(value));
}

static void take_nodes(struct onnx_import *import)
{
    const LeoOnnx__Graph *graph = import->graph;
    for (size_t i = 0; i < graph->n_node && !import->build.failed; i++) {
        import->node = graph->node[i];
        if (import->skipped[i]) {
            continue;
        }
        const char *op = import->node->op_type ? import->node->op_type : "";
        const onnx_handler handler = onnx_find_handler(op);
        if (!handler || (import->node->domain && *import->node->domain &&
                         strcmp(import->node->domain, "ai.onnx") != 0)) {
            onnx_fail(import, "no operator of the library serves this type%s",
                      handler ? " of its domain" : "");
        } else if (import->node->n_output == 0) {
            onnx_fail(import, "it has no output");
        } else {
            handler(import);
        }
    }
    import->node = NULL;
}

// Every input and output has a name.
static bool has_names(const LeoOnnx__Graph *graph)
{
    bool good = true;
    for (size_t i = 0; i < graph->n_input; i++) {
        good = good && graph->input[i]->name;
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        good = good && graph->output[i]->name;
    }
    return good;
}

static bool prepare(struct onnx_import *import, const LeoOnnx__Model *file)
{
    size_t tensors = import->graph->n_initializer + import->graph->n_input;
    for (size_t i = 0; i < file->n_opset_import; i++) {
        const char *domain = file->opset_import[i]->domain;
        if (!domain || !*domain || strcmp(domain, "ai.onnx") == 0) {
            import->opset = file->opset_import[i]->version;
        }
    }
    for (size_t i = 0; i < import->graph->n_node; i++) {
        tensors += import->graph->node[i]->n_output;
    }
    import->tensor_room = (uint32_t)tensors;
    import->tensors = leo_calloc(tensors + 1, sizeof(*import->tensors));
    import->skipped = leo_calloc(import->graph->n_node + 1, sizeof(*import->skipped));
    return import->tensors && import->skipped;
}

static void run_import(struct onnx_import *import, const LeoOnnx__Model *file)
{
    if (!prepare(import, file)) {
        onnx_fail(import, "out of host memory");
        return;
    }
    take_initializers(import);
    take_inputs(import);
    take_nodes(import);
    for (size_t i = 0; i < import->graph->n_output && !import->build.failed; i++) {
        take_output(import, import->graph->output[i]);
    }
    leo_build_finish(&import->build);
}

leo_status leo_import_onnx(const void *data, size_t bytes, const struct leo_import_options *options,
                           struct leo_model *model, char error[LEO_MODEL_ERROR])
{
    struct onnx_import import = {.options = options,
                                 .floats = options->keep_f32 ? LEO_DTYPE_F32 : LEO_DTYPE_F16};
    memset(model, 0, sizeof(*model));
    LeoOnnx__Model *file = leo_onnx__model__unpack(NULL, bytes, data);
    if (!file || !file->graph || file->graph->n_node == 0 || !has_names(file->graph)) {
        snprintf(error, LEO_MODEL_ERROR, "the file is no ONNX model, or has no nodes or names");
        if (file) {
            leo_onnx__model__free_unpacked(file, NULL);
        }
        return LEO_ERR_PARSE;
    }
    import.graph = file->graph;
    snprintf(import.build.model.soc, sizeof(import.build.model.soc), "%s", options->soc);
    run_import(&import, file);
    for (uint32_t i = 0; i < import.tensor_count; i++) {
        leo_free(import.tensors[i].known);
    }
    leo_free(import.tensors);
    leo_free(import.skipped);
    const bool failed = import.build.failed;
    if (failed) {
        snprintf(error, LEO_MODEL_ERROR, "%s", import.build.error);
    } else {
        *model = import.build.model;
        memset(&import.build.model, 0, sizeof(import.build.model));
    }
    leo_build_free(&import.build);
    leo_onnx__model__free_unpacked(file, NULL);
    return failed ? LEO_ERR_UNSUPPORTED : LEO_OK;
}
