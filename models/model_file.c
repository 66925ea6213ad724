/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a model. Little-endian: magic, version, bytes in all, checksum of what follows; then
 * the parts of struct leo_model in order, each list behind its count, variants without weights.
 */
#include "model_file.h"

#include <leo/model.h>

#include <leo/alloc.h>
#include <leo/dtype.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_COUNT = 1 << 22, /* of anything: far above real models */
    MAX_ARGS = 32,
    MAX_GEARS = 128,
    MAX_GEAR_WIDTH = 128,
};

static const char magic[8] = "LEOMODEL";
static const char vendor_magic[4] = "IMOD";

void leo_model_free(struct leo_model *model)
{
    if (!model) {
        return;
    }
    for (uint32_t i = 0; model->calls && i < model->call_count; i++) {
        for (uint32_t k = 0; model->calls[i].args && k < model->calls[i].arg_count; k++) {
            leo_free(model->calls[i].args[k].list);
        }
        leo_free(model->calls[i].args);
    }
    leo_free(model->calls);
    leo_free(model->values);
    leo_free(model->nodes);
    leo_free(model->aipps);
    leo_free(model->inputs);
    leo_free(model->outputs);
    leo_free(model->weights);
    leo_free(model->gears);
    for (uint32_t i = 0; model->variants && i < model->gear_count; i++) {
        leo_model_free(&model->variants[i]);
    }
    leo_free(model->variants);
    memset(model, 0, sizeof(*model));
}

uint64_t leo_model_io_bytes(const struct leo_model_io *io)
{
    uint64_t bytes = leo_dtype_bytes((enum leo_dtype)io->dtype);
    for (uint32_t d = 0; d < io->rank; d++) {
        bytes *= (uint64_t)io->dim[d];
    }
    return bytes;
}

// FNV-1a over words.
uint64_t model_file_checksum(const uint8_t *data, size_t bytes)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        uint64_t word;
        memcpy(&word, data + at, 8);
        sum = (sum ^ word) * UINT64_C(0x100000001b3);
        sum ^= sum >> 29;
    }
    for (; at < bytes; at++) {
        sum = (sum ^ data[at]) * UINT64_C(0x100000001b3);
    }
    return sum;
}

/* Bytes of an element of an argument's list; 0: it has none. */
static size_t list_unit(uint32_t kind)
{
    switch (kind) {
    case LEO_OP_TENSORS:
        return sizeof(uint32_t);
    case LEO_OP_INTS:
        return sizeof(int64_t);
    case LEO_OP_BOOLS:
        return sizeof(bool);
    case LEO_OP_TEXT:
        return 1;
    default:
        return 0;
    }
}

struct writer {
    uint8_t *data; /* NULL: only counts */
    size_t at;
};

static void put(struct writer *writer, const void *data, size_t bytes)
{
    if (writer->data && bytes) {
        memcpy(writer->data + writer->at, data, bytes);
    }
    writer->at += bytes;
}

static void put_ios(struct writer *writer, const struct leo_model_io *ios, uint32_t count)
{
    put(writer, &count, sizeof(count));
    put(writer, ios, count * sizeof(*ios));
}

static void put_call(struct writer *writer, const struct leo_model_call *call)
{
    put(writer, call->op, sizeof(call->op));
    put(writer, &call->node, sizeof(call->node));
    put(writer, &call->arg_count, sizeof(call->arg_count));
    for (uint32_t i = 0; i < call->arg_count; i++) {
        const struct leo_model_arg *arg = &call->args[i];
        put(writer, &arg->kind, sizeof(arg->kind));
        put(writer, &arg->count, sizeof(arg->count));
        put(writer, &arg->number, sizeof(arg->number));
        put(writer, &arg->value, sizeof(arg->value));
        put(writer, arg->list, list_unit(arg->kind) * arg->count);
    }
}

static void put_calls(struct writer *writer, const struct leo_model *model)
{
    put(writer, model->soc, sizeof(model->soc));
    put(writer, model->name, sizeof(model->name));
    put_ios(writer, model->inputs, model->input_count);
    put_ios(writer, model->outputs, model->output_count);
    put(writer, &model->value_count, sizeof(model->value_count));
    put(writer, model->values, model->value_count * sizeof(*model->values));
    put(writer, &model->node_count, sizeof(model->node_count));
    put(writer, model->nodes, model->node_count * sizeof(*model->nodes));
    put(writer, &model->aipp_count, sizeof(model->aipp_count));
    put(writer, model->aipps, model->aipp_count * sizeof(*model->aipps));
    put(writer, &model->call_count, sizeof(model->call_count));
    for (uint32_t i = 0; i < model->call_count; i++) {
        put_call(writer, &model->calls[i]);
    }
    put(writer, &model->work_bytes, sizeof(model->work_bytes));
}

static void put_model(struct writer *writer, const struct leo_model *model)
{
    put_calls(writer, model);
    put(writer, &model->aipp_input, sizeof(model->aipp_input));
    put(writer, &model->aipp_value, sizeof(model->aipp_value));
    put(writer, &model->gear_kind, sizeof(model->gear_kind));
    put(writer, &model->gear_count, sizeof(model->gear_count));
    put(writer, &model->gear_width, sizeof(model->gear_width));
    put(writer, model->gears,
        (size_t)model->gear_count * model->gear_width * sizeof(*model->gears));
    for (uint32_t i = 0; i < model->gear_count; i++) {
        put_calls(writer, &model->variants[i]);
    }
    put(writer, &model->weight_bytes, sizeof(model->weight_bytes));
    put(writer, model->weights, model->weight_bytes);
}

leo_status leo_model_write(const struct leo_model *model, uint8_t **data, size_t *bytes)
{
    struct writer count = {.at = MODEL_FILE_HEADER};
    put_model(&count, model);
    *data = leo_calloc(count.at, 1);
    if (!*data) {
        return LEO_ERR_NO_MEMORY;
    }
    struct writer writer = {.data = *data, .at = MODEL_FILE_HEADER};
    put_model(&writer, model);
    const uint32_t version = MODEL_FILE_VERSION;
    const uint64_t all = count.at, sum = model_file_checksum(*data + MODEL_FILE_HEADER,
                                                             count.at - MODEL_FILE_HEADER);
    memcpy(*data, magic, sizeof(magic));
    memcpy(*data + 8, &version, sizeof(version));
    memcpy(*data + MODEL_FILE_BYTES_AT, &all, sizeof(all));
    memcpy(*data + MODEL_FILE_SUM_AT, &sum, sizeof(sum));
    *bytes = count.at;
    return LEO_OK;
}

struct reader {
    const uint8_t *data;
    size_t at, bytes;
    bool short_of; /* something lay beyond the end, or a count is impossible */
    bool no_memory;
};

static void get(struct reader *reader, void *to, size_t bytes)
{
    if (reader->short_of || bytes > reader->bytes - reader->at) {
        reader->short_of = true;
        memset(to, 0, bytes);
        return;
    }
    if (bytes) {
        memcpy(to, reader->data + reader->at, bytes);
    }
    reader->at += bytes;
}

// A list behind its count, each element of `unit` bytes at least in the file.
static uint32_t get_count(struct reader *reader, size_t unit)
{
    uint32_t count;
    get(reader, &count, sizeof(count));
    if (count > MAX_COUNT || count > (reader->bytes - reader->at) / unit) {
        reader->short_of = true;
        count = 0;
    }
    return count;
}

static void *room(struct reader *reader, size_t count, size_t unit)
{
    void *data = leo_calloc(count ? count : 1, unit);
    reader->no_memory = reader->no_memory || !data;
    return data;
}

// A list as it lies in the file.
static void *get_list(struct reader *reader, size_t unit, uint32_t *count)
{
    *count = get_count(reader, unit);
    void *list = room(reader, *count, unit);
    if (list) {
        get(reader, list, *count * unit);
    }
    return list;
}

static void get_arg(struct reader *reader, struct leo_model_arg *arg)
{
    get(reader, &arg->kind, sizeof(arg->kind));
    get(reader, &arg->count, sizeof(arg->count));
    get(reader, &arg->number, sizeof(arg->number));
    get(reader, &arg->value, sizeof(arg->value));
    const size_t unit = list_unit(arg->kind);
    if (!unit) {
        return;
    }
    if (arg->count > MAX_COUNT || arg->count * unit > reader->bytes - reader->at) {
        reader->short_of = true;
        arg->count = 0;
    }
    arg->list = room(reader, arg->count, unit);
    if (arg->list) {
        get(reader, arg->list, arg->count * unit);
    }
}

static void get_call(struct reader *reader, struct leo_model_call *call)
{
    get(reader, call->op, sizeof(call->op));
    get(reader, &call->node, sizeof(call->node));
    uint32_t count;
    get(reader, &count, sizeof(count));
    if (count > MAX_ARGS || call->op[sizeof(call->op) - 1]) {
        reader->short_of = true;
        return;
    }
    call->args = room(reader, count, sizeof(*call->args));
    for (; call->args && call->arg_count < count && !reader->short_of; call->arg_count++) {
        get_arg(reader, &call->args[call->arg_count]);
    }
}

static void get_calls(struct reader *reader, struct leo_model *model)
{
    get(reader, model->soc, sizeof(model->soc));
    get(reader, model->name, sizeof(model->name));
    model->inputs = get_list(reader, sizeof(*model->inputs), &model->input_count);
    model->outputs = get_list(reader, sizeof(*model->outputs), &model->output_count);
    model->values = get_list(reader, sizeof(*model->values), &model->value_count);
    model->nodes = get_list(reader, sizeof(*model->nodes), &model->node_count);
    model->aipps = get_list(reader, sizeof(*model->aipps), &model->aipp_count);
    const uint32_t calls = get_count(reader, sizeof(model->calls->op));
    model->calls = room(reader, calls, sizeof(*model->calls));
    for (; model->calls && model->call_count < calls && !reader->short_of; model->call_count++) {
        get_call(reader, &model->calls[model->call_count]);
    }
    get(reader, &model->work_bytes, sizeof(model->work_bytes));
}

static void get_gears(struct reader *reader, struct leo_model *model)
{
    uint32_t count;
    get(reader, &model->gear_kind, sizeof(model->gear_kind));
    get(reader, &count, sizeof(count));
    get(reader, &model->gear_width, sizeof(model->gear_width));
    if (count > MAX_GEARS || model->gear_width > MAX_GEAR_WIDTH) {
        reader->short_of = true;
        return;
    }
    model->gears = room(reader, (size_t)count * model->gear_width, sizeof(*model->gears));
    model->variants = room(reader, count, sizeof(*model->variants));
    if (!model->gears || !model->variants) {
        return;
    }
    model->gear_count = count;
    get(reader, model->gears, (size_t)count * model->gear_width * sizeof(*model->gears));
    for (uint32_t i = 0; i < count && !reader->short_of; i++) {
        get_calls(reader, &model->variants[i]);
    }
}

static void get_model(struct reader *reader, struct leo_model *model)
{
    get_calls(reader, model);
    get(reader, &model->aipp_input, sizeof(model->aipp_input));
    get(reader, &model->aipp_value, sizeof(model->aipp_value));
    get_gears(reader, model);
    get(reader, &model->weight_bytes, sizeof(model->weight_bytes));
    if (model->weight_bytes != reader->bytes - reader->at) {
        reader->short_of = true;
    }
    if (!reader->short_of) {
        model->weights = room(reader, model->weight_bytes, 1);
    }
    if (model->weights) {
        get(reader, model->weights, model->weight_bytes);
    }
}

static bool is_name(const char *name, size_t bytes)
{
    return memchr(name, 0, bytes) != NULL;
}

// Elements of whole bytes.
static bool is_type(uint32_t dtype)
{
    return dtype < LEO_DTYPE_COUNT && leo_dtype_bytes((enum leo_dtype)dtype) > 0;
}

static bool is_io(const struct leo_model_io *io)
{
    bool good = io->rank <= LEO_OP_RANK_MAX && is_type(io->dtype) &&
                is_name(io->name, sizeof(io->name)) && io->is_nhwc <= (io->rank == 4);
    uint64_t count = 1;
    for (uint32_t d = 0; good && d < io->rank; d++) {
        good = io->dim[d] >= 0 && !__builtin_mul_overflow(count, (uint64_t)io->dim[d], &count) &&
               count < UINT64_C(1) << 40;
    }
    return good;
}

// Whether all elements of a value lie inside its region.
static bool is_value(const struct leo_model *model, const struct leo_model_value *value)
{
    uint64_t room_bytes = value->region == LEO_MODEL_WORK ? model->work_bytes : model->weight_bytes;
    if (value->rank > LEO_OP_RANK_MAX || !is_type(value->dtype) ||
        value->region >= LEO_MODEL_REGIONS ||
        value->offset % leo_dtype_bytes((enum leo_dtype)value->dtype)) {
        return false;
    }
    if (value->region == LEO_MODEL_INPUT || value->region == LEO_MODEL_OUTPUT) {
        const bool in = value->region == LEO_MODEL_INPUT;
        if (value->index >= (in ? model->input_count : model->output_count)) {
            return false;
        }
        room_bytes =
            leo_model_io_bytes(in ? &model->inputs[value->index] : &model->outputs[value->index]);
    }
    uint64_t last = 0, part;
    bool is_empty = false;
    for (uint32_t d = 0; d < value->rank; d++) {
        is_empty = is_empty || value->dim[d] == 0;
        const uint64_t steps = value->dim[d] > 0 ? (uint64_t)value->dim[d] - 1 : 0;
        if (value->dim[d] < 0 || value->stride[d] < 0 ||
            __builtin_mul_overflow(steps, (uint64_t)value->stride[d], &part) ||
            __builtin_add_overflow(last, part, &last) || last > UINT64_C(1) << 40) {
            return false;
        }
    }
    const uint64_t bytes =
        is_empty ? 0 : (last + 1) * leo_dtype_bytes((enum leo_dtype)value->dtype);
    return value->offset <= room_bytes && bytes <= room_bytes - value->offset;
}

static bool is_node(const struct leo_model *model, const struct leo_model_node *node)
{
    return is_name(node->name, sizeof(node->name)) && is_name(node->type, sizeof(node->type)) &&
           node->into <= model->node_count;
}

// Settings of an input whose numbers can be written as the integers they are.
static bool is_static_aipp(const struct leo_model *model, const struct leo_model_aipp *aipp)
{
    bool good = aipp->input >= 1 && aipp->input <= model->input_count &&
                is_name(aipp->settings.input, sizeof(aipp->settings.input));
    for (unsigned k = 0; good && k < LEO_AIPP_KEYS; k++) {
        good = aipp->settings.at[k] > -0x1p31 && aipp->settings.at[k] < 0x1p31;
    }
    for (unsigned d = 0; good && d < 4; d++) {
        good = aipp->dim[d] >= 0 && aipp->dim[d] < INT64_C(1) << 31;
    }
    return good;
}

static bool is_call(const struct leo_model *model, const struct leo_model_call *call)
{
    bool good = call->node <= model->node_count;
    for (uint32_t i = 0; i < call->arg_count && good; i++) {
        const struct leo_model_arg *arg = &call->args[i];
        const uint32_t *values = arg->list;
        good = arg->kind <= LEO_OP_TEXT &&
               (arg->kind != LEO_OP_TENSOR || arg->value < model->value_count) &&
               (arg->kind != LEO_OP_DTYPE || arg->value < LEO_DTYPE_COUNT) &&
               (arg->kind != LEO_OP_TEXT || (arg->count && is_name(arg->list, arg->count)));
        const uint8_t *bools = arg->list;
        for (uint32_t k = 0; good && arg->kind == LEO_OP_BOOLS && k < arg->count; k++) {
            good = bools[k] <= 1;
        }
        for (uint32_t k = 0; good && arg->kind == LEO_OP_TENSORS && k < arg->count; k++) {
            good = values[k] < model->value_count;
        }
    }
    return good;
}

static bool is_one(const struct leo_model *model)
{
    bool good = is_name(model->soc, sizeof(model->soc)) &&
                is_name(model->name, sizeof(model->name)) && model->work_bytes < UINT64_C(1) << 40;
    for (uint32_t i = 0; good && i < model->input_count; i++) {
        good = is_io(&model->inputs[i]);
    }
    for (uint32_t i = 0; good && i < model->output_count; i++) {
        good = is_io(&model->outputs[i]);
    }
    for (uint32_t i = 0; good && i < model->value_count; i++) {
        good = is_value(model, &model->values[i]);
    }
    for (uint32_t i = 0; good && i < model->node_count; i++) {
        good = is_node(model, &model->nodes[i]);
    }
    for (uint32_t i = 0; good && i < model->aipp_count; i++) {
        good = is_static_aipp(model, &model->aipps[i]);
    }
    for (uint32_t i = 0; good && i < model->call_count; i++) {
        good = is_call(model, &model->calls[i]);
    }
    return good;
}

// A variant's inputs and outputs fit those of the whole.
static bool fits(const struct leo_model_io *whole, const struct leo_model_io *part, uint32_t count)
{
    bool good = true;
    for (uint32_t i = 0; good && i < count; i++) {
        good = part[i].rank == whole[i].rank && part[i].dtype == whole[i].dtype &&
               leo_model_io_bytes(&part[i]) <= leo_model_io_bytes(&whole[i]);
    }
    return good;
}

static bool is_variant(const struct leo_model *model, struct leo_model *variant)
{
    variant->weight_bytes = model->weight_bytes; // its values lie in there
    const bool good = variant->input_count + 1 == model->input_count &&
                      variant->output_count == model->output_count && is_one(variant) &&
                      fits(model->inputs, variant->inputs, variant->input_count) &&
                      fits(model->outputs, variant->outputs, variant->output_count) &&
                      variant->work_bytes <= model->work_bytes;
    variant->weight_bytes = 0;
    return good;
}

// Pictures become a dense tensor of floats in the work area.
static bool is_aipp(const struct leo_model *model)
{
    if (model->aipp_input == 0) {
        return model->aipp_value == 0;
    }
    if (model->aipp_input >= model->input_count || model->aipp_value >= model->value_count) {
        return false;
    }
    const struct leo_model_io *io = &model->inputs[model->aipp_input - 1];
    const struct leo_model_value *value = &model->values[model->aipp_value];
    int64_t stride = 1;
    bool good = io->rank == 1 && io->dtype == LEO_DTYPE_U8 && value->rank == 4 &&
                value->region == LEO_MODEL_WORK &&
                (value->dtype == LEO_DTYPE_F16 || value->dtype == LEO_DTYPE_F32);
    for (uint32_t d = 4; good && d-- > 0;) {
        good = value->dim[d] > 0 && value->stride[d] == stride;
        stride *= value->dim[d];
    }
    return good;
}

static bool is_model(struct leo_model *model)
{
    const bool has_gears = model->gear_count > 0;
    bool good = is_one(model) && is_aipp(model) && model->gear_kind < LEO_MODEL_GEAR_KINDS &&
                has_gears == (model->gear_kind != LEO_MODEL_NO_GEARS) &&
                has_gears == (model->gear_width > 0);
    if (good && has_gears) {
        const struct leo_model_io *last =
            model->input_count ? &model->inputs[model->input_count - 1] : NULL;
        good = last && last->dtype == LEO_DTYPE_S64 && last->rank == 1 &&
               last->dim[0] == model->gear_width && model->value_count == 0 &&
               model->call_count == 0;
    }
    for (uint32_t i = 0; good && i < model->gear_count; i++) {
        good = is_variant(model, &model->variants[i]);
    }
    return good;
}

static const char *header_fault(const uint8_t *data, size_t bytes)
{
    uint32_t version;
    uint64_t all, sum;
    if (bytes >= sizeof(vendor_magic) && memcmp(data, vendor_magic, sizeof(vendor_magic)) == 0) {
        return "it was made by the vendor's atc and holds code of the vendor's cores: make it anew "
               "with "
               "this toolkit's atc";
    }
    if (bytes < MODEL_FILE_HEADER || memcmp(data, magic, sizeof(magic)) != 0) {
        return "it is no model of this toolkit's atc";
    }
    memcpy(&version, data + 8, sizeof(version));
    memcpy(&all, data + MODEL_FILE_BYTES_AT, sizeof(all));
    memcpy(&sum, data + MODEL_FILE_SUM_AT, sizeof(sum));
    if (version != MODEL_FILE_VERSION) {
        return "its version is another than this library's: make it anew with this toolkit's atc";
    }
    if (all != bytes) {
        return "it is cut off, or has bytes behind its end";
    }
    return sum == model_file_checksum(data + MODEL_FILE_HEADER, bytes - MODEL_FILE_HEADER)
               ? NULL
               : "its checksum is wrong: it is damaged";
}

leo_status leo_model_read(const void *data, size_t bytes, struct leo_model *model,
                          char error[LEO_MODEL_ERROR])
{
    memset(model, 0, sizeof(*model));
    const char *fault = header_fault(data, bytes);
    struct reader reader = {.data = data, .at = MODEL_FILE_HEADER, .bytes = bytes};
    if (!fault) {
        get_model(&reader, model);
        fault = reader.no_memory                      ? "out of host memory"
                : reader.short_of || !is_model(model) ? "its parts do not fit together"
                                                      : NULL;
    }
    if (!fault) {
        return LEO_OK;
    }
    snprintf(error, LEO_MODEL_ERROR, "the model cannot be read: %s", fault);
    leo_model_free(model);
    return reader.no_memory ? LEO_ERR_NO_MEMORY : LEO_ERR_PARSE;
}
