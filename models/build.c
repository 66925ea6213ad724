/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <leo/alloc.h>
#include <leo/dtype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/** Bytes of the work area, and the calls that first and last use them. */
struct model_build_storage {
    uint64_t bytes, offset;
    uint32_t first, last;
    bool used;
};

void model_build_free(struct model_build *build)
{
    leo_model_free(&build->model);
    leo_free(build->storages);
    leo_free(build->storage_of);
    memset(build, 0, sizeof(*build));
}

void model_build_fail(struct model_build *build, const char *format, ...)
{
    if (!build->failed) {
        va_list list;
        va_start(list, format);
        vsnprintf(build->error, sizeof(build->error), format, list);
        va_end(list);
    }
    build->failed = true;
}

// Room for one more element of a list.
static bool grow(struct model_build *build, void **list, uint32_t count, uint32_t *room,
                 size_t unit)
{
    if (count < *room) {
        return true;
    }
    const uint32_t more = *room ? *room * 2 : 64;
    void *larger = leo_realloc(*list, more * unit);
    if (!larger) {
        model_build_fail(build, "out of host memory");
        return false;
    }
    *list = larger;
    *room = more;
    return true;
}

static uint64_t count_of(uint32_t rank, const int64_t *dim)
{
    uint64_t count = 1;
    for (uint32_t d = 0; d < rank; d++) {
        count *= (uint64_t)dim[d];
    }
    return count;
}

static uint32_t add_value(struct model_build *build, const struct leo_model_value *value,
                          uint32_t storage)
{
    struct leo_model *model = &build->model;
    uint32_t room = build->value_room;
    if (build->failed ||
        !grow(build, (void **)&model->values, model->value_count, &room, sizeof(*value))) {
        return 0;
    }
    if (!grow(build, (void **)&build->storage_of, model->value_count, &build->value_room,
              sizeof(*build->storage_of))) {
        return 0;
    }
    model->values[model->value_count] = *value;
    build->storage_of[model->value_count] = storage;
    return model->value_count++;
}

static void set_dense(struct leo_model_value *value, uint32_t rank, const int64_t *dim)
{
    int64_t stride = 1;
    value->rank = rank;
    for (uint32_t d = rank; d-- > 0;) {
        value->dim[d] = dim[d];
        value->stride[d] = stride;
        stride *= dim[d];
    }
}

uint32_t model_build_value(struct model_build *build, enum leo_dtype dtype, uint32_t rank,
                           const int64_t *dim)
{
    struct leo_model_value value = {.region = LEO_MODEL_WORK, .dtype = dtype};
    if (build->failed || !grow(build, (void **)&build->storages, build->storage_count,
                               &build->storage_room, sizeof(*build->storages))) {
        return 0;
    }
    set_dense(&value, rank, dim);
    build->storages[build->storage_count] =
        (struct model_build_storage){.bytes = count_of(rank, dim) * leo_dtype_bytes(dtype)};
    return add_value(build, &value, build->storage_count++);
}

void model_build_is_given(struct model_build *build, uint32_t value)
{
    if (!build->failed) {
        struct model_build_storage *storage = &build->storages[build->storage_of[value]];
        storage->used = true;
        storage->first = 0;
        storage->last = 0;
    }
}

uint32_t model_build_weight(struct model_build *build, enum leo_dtype dtype, uint32_t rank,
                            const int64_t *dim, const void *data)
{
    struct leo_model *model = &build->model;
    struct leo_model_value value = {
        .region = LEO_MODEL_WEIGHT, .dtype = dtype, .offset = model->weight_bytes};
    const uint64_t bytes = count_of(rank, dim) * leo_dtype_bytes(dtype),
                   // What reads whole blocks may read behind the end.
        all =
            (bytes + LEO_OP_READ_MARGIN + LEO_MODEL_ALIGN - 1) / LEO_MODEL_ALIGN * LEO_MODEL_ALIGN;
    set_dense(&value, rank, dim);
    if (build->failed) {
        return 0;
    }
    if (model->weight_bytes + all > build->weight_room) {
        const uint64_t room = (model->weight_bytes + all) * 3 / 2;
        uint8_t *larger = leo_realloc(model->weights, room);
        if (!larger) {
            model_build_fail(build, "out of host memory");
            return 0;
        }
        model->weights = larger;
        build->weight_room = room;
    }
    memset(model->weights + model->weight_bytes, 0, all);
    memcpy(model->weights + model->weight_bytes, data, bytes);
    model->weight_bytes += all;
    return add_value(build, &value, 0);
}

uint32_t model_build_io(struct model_build *build, enum leo_model_region region, uint32_t index)
{
    const struct leo_model_io *io =
        region == LEO_MODEL_INPUT ? &build->model.inputs[index] : &build->model.outputs[index];
    struct leo_model_value value = {.region = region, .index = index, .dtype = io->dtype};
    set_dense(&value, io->rank, io->dim);
    return add_value(build, &value, 0);
}

uint32_t model_build_view(struct model_build *build, uint32_t of, uint32_t rank, const int64_t *dim,
                          const int64_t *stride, int64_t offset)
{
    if (build->failed) {
        return 0;
    }
    struct leo_model_value value = build->model.values[of];
    value.rank = rank;
    value.offset += (uint64_t)offset * leo_dtype_bytes((enum leo_dtype)value.dtype);
    memset(value.dim, 0, sizeof(value.dim));
    memset(value.stride, 0, sizeof(value.stride));
    memcpy(value.dim, dim, rank * sizeof(*dim));
    memcpy(value.stride, stride, rank * sizeof(*stride));
    return add_value(build, &value, build->storage_of[of]);
}

bool model_build_is_dense(const struct model_build *build, uint32_t value)
{
    if (build->failed) {
        return true;
    }
    const struct leo_model_value *v = &build->model.values[value];
    int64_t stride = 1;
    bool dense = true;
    for (uint32_t d = v->rank; d-- > 0;) {
        dense = dense && (v->dim[d] == 1 || v->stride[d] == stride);
        stride *= v->dim[d];
    }
    return dense;
}

struct leo_model_arg model_build_tensor(uint32_t value)
{
    return (struct leo_model_arg){.kind = LEO_OP_TENSOR, .value = value};
}

struct leo_model_arg model_build_number(double number)
{
    return (struct leo_model_arg){.kind = LEO_OP_NUMBER, .number = number};
}

struct leo_model_arg model_build_none(void)
{
    return (struct leo_model_arg){.kind = LEO_OP_NONE};
}

struct leo_model_arg model_build_dtype(enum leo_dtype dtype)
{
    return (struct leo_model_arg){.kind = LEO_OP_DTYPE, .value = dtype};
}

struct leo_model_arg model_build_text(const char *text)
{
    return (struct leo_model_arg){
        .kind = LEO_OP_TEXT, .count = (uint32_t)strlen(text) + 1, .list = (void *)(uintptr_t)text};
}

struct leo_model_arg model_build_ints(const int64_t *ints, uint32_t count)
{
    return (struct leo_model_arg){
        .kind = LEO_OP_INTS, .count = count, .list = (void *)(uintptr_t)ints};
}

struct leo_model_arg model_build_tensors(const uint32_t *values, uint32_t count)
{
    return (struct leo_model_arg){
        .kind = LEO_OP_TENSORS, .count = count, .list = (void *)(uintptr_t)values};
}

// Lists of the caller become the model's own.
static bool copy_list(struct model_build *build, struct leo_model_arg *arg)
{
    const size_t unit = arg->kind == LEO_OP_INTS      ? sizeof(int64_t)
                        : arg->kind == LEO_OP_TENSORS ? sizeof(uint32_t)
                        : arg->kind == LEO_OP_TEXT    ? 1
                                                      : 0;
    if (!unit) {
        return true;
    }
    void *copy = leo_calloc(arg->count ? arg->count : 1, unit);
    if (!copy) {
        model_build_fail(build, "out of host memory");
        return false;
    }
    memcpy(copy, arg->list, arg->count * unit);
    arg->list = copy;
    return true;
}

void model_build_call(struct model_build *build, const char *op, const struct leo_model_arg *args,
                      uint32_t count)
{
    struct leo_model *model = &build->model;
    if (build->failed || !grow(build, (void **)&model->calls, model->call_count, &build->call_room,
                               sizeof(*model->calls))) {
        return;
    }
    struct leo_model_call *call = &model->calls[model->call_count];
    memset(call, 0, sizeof(*call));
    snprintf(call->op, sizeof(call->op), "%s", op);
    call->node = build->node;
    call->args = leo_calloc(count, sizeof(*args));
    if (!call->args) {
        model_build_fail(build, "out of host memory");
        return;
    }
    model->call_count++;
    for (uint32_t i = 0; i < count; i++) {
        call->args[i] = args[i];
        if (!copy_list(build, &call->args[i])) {
            return;
        }
        call->arg_count++;
    }
}

static void use(struct model_build *build, uint32_t value, uint32_t call)
{
    if (build->model.values[value].region != LEO_MODEL_WORK) {
        return;
    }
    struct model_build_storage *storage = &build->storages[build->storage_of[value]];
    storage->first = storage->used ? storage->first : call;
    storage->last = call;
    storage->used = true;
}

static void find_uses(struct model_build *build)
{
    for (uint32_t i = 0; i < build->model.call_count; i++) {
        const struct leo_model_call *call = &build->model.calls[i];
        for (uint32_t k = 0; k < call->arg_count; k++) {
            const uint32_t *values = call->args[k].list;
            if (call->args[k].kind == LEO_OP_TENSOR) {
                use(build, call->args[k].value, i);
            }
            for (uint32_t t = 0; call->args[k].kind == LEO_OP_TENSORS && t < call->args[k].count;
                 t++) {
                use(build, values[t], i);
            }
        }
    }
}

// The lowest place that no storage in use at the same time has; those before `at` have theirs.
static uint64_t lowest_place(const struct model_build *build, uint32_t at, uint64_t bytes)
{
    const struct model_build_storage *own = &build->storages[at];
    uint64_t place = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < at; i++) {
            const struct model_build_storage *other = &build->storages[i];
            const bool together =
                other->used && other->first <= own->last && own->first <= other->last;
            if (together && place < other->offset + other->bytes && other->offset < place + bytes) {
                place = other->offset + other->bytes;
                moved = true;
            }
        }
    }
    return place;
}

void model_build_finish(struct model_build *build)
{
    struct leo_model *model = &build->model;
    if (build->failed) {
        return;
    }
    find_uses(build);
    for (uint32_t i = 0; i < build->storage_count; i++) {
        struct model_build_storage *storage = &build->storages[i];
        if (!storage->used) {
            continue;
        }
        storage->bytes = (storage->bytes + LEO_OP_READ_MARGIN + LEO_MODEL_ALIGN - 1) /
                         LEO_MODEL_ALIGN * LEO_MODEL_ALIGN;
        storage->offset = lowest_place(build, i, storage->bytes);
        if (storage->offset + storage->bytes > model->work_bytes) {
            model->work_bytes = storage->offset + storage->bytes;
        }
    }
    for (uint32_t i = 0; i < model->value_count; i++) {
        if (model->values[i].region == LEO_MODEL_WORK) {
            const struct model_build_storage *storage = &build->storages[build->storage_of[i]];
            // A value that no call uses has no place; it is no part of the model.
            model->values[i].offset += storage->used ? storage->offset : 0;
            model->values[i].index = build->storage_of[i];
            if (!storage->used) {
                model->values[i].rank = 1;
                model->values[i].dim[0] = 0;
            }
        }
    }
}
