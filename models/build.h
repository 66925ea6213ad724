/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model being made: values get storage when they are made, and places in the work area at the
 * end, by when they are first and last used. Not thread-safe. What fails sets `failed` and a text,
 * after which all calls do nothing; numbers of values are then 0.
 */
#pragma once

#include <leo/model.h>
#include <stdbool.h>

struct model_build_storage;

struct model_build {
    struct leo_model model;
    struct model_build_storage *storages;
    uint32_t storage_count, storage_room, value_room, call_room;
    uint32_t *storage_of; /**< by value; of a value that is not in the work area: nothing */
    uint64_t weight_room;
    uint32_t node; /**< that calls are of from now on, from 1 on; 0: none */
    bool failed;
    char error[LEO_MODEL_ERROR];
};

void model_build_free(struct model_build *build);
void model_build_fail(struct model_build *build, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** A dense tensor in the work area. */
uint32_t model_build_value(struct model_build *build, enum leo_dtype dtype, uint32_t rank,
                           const int64_t *dim);
/** The value is written before the first call. */
void model_build_is_given(struct model_build *build, uint32_t value);
/** A dense tensor among the weights: a copy of `data`. */
uint32_t model_build_weight(struct model_build *build, enum leo_dtype dtype, uint32_t rank,
                            const int64_t *dim, const void *data);
/** The tensor of input or output `index`. */
uint32_t model_build_io(struct model_build *build, enum leo_model_region region, uint32_t index);
/** Another look at a value: from `offset` elements on. */
uint32_t model_build_view(struct model_build *build, uint32_t value, uint32_t rank,
                          const int64_t *dim, const int64_t *stride, int64_t offset);
bool model_build_is_dense(const struct model_build *build, uint32_t value);

struct leo_model_arg model_build_tensor(uint32_t value);
struct leo_model_arg model_build_number(double number);
struct leo_model_arg model_build_none(void);
struct leo_model_arg model_build_dtype(enum leo_dtype dtype);
struct leo_model_arg model_build_text(const char *text); /**< same */
struct leo_model_arg model_build_ints(const int64_t *ints,
                                      uint32_t count); /**< copied by the call */
struct leo_model_arg model_build_tensors(const uint32_t *values, uint32_t count); /**< same */
/** Appends a call of leo/op.h. */
void model_build_call(struct model_build *build, const char *op, const struct leo_model_arg *args,
                      uint32_t count);
#define MODEL_BUILD_CALL(build, op, ...)                                                           \
    model_build_call(build, op, (const struct leo_model_arg[]){__VA_ARGS__},                       \
                     sizeof((const struct leo_model_arg[]){__VA_ARGS__}) /                         \
                         sizeof(struct leo_model_arg))
/** Gives the work area's places; the model is complete then. */
void model_build_finish(struct model_build *build);
