/* SPDX-License-Identifier: Apache-2.0 */
/* Gather along a dimension, and rows put back, against a plain loop: elements of 1, 2, 4 and 8
 * bytes, indices of 4 and 8, lines that end at blocks of 32 bytes and lines that do not, many and
 * few of them. */
#include "rig.h"

#include <leo/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    int64_t outer, length, count, inner;
};

static const struct shape shapes[] = {
    {7, 64, 64, 1},     // whole blocks, several lines a run
    {50, 33, 41, 1},    // gaps between lines
    {3, 12, 700, 1},    // few lines: cores share them
    {1, 5000, 4100, 1}, // more indices than a slot has room for
    {40, 100, 8, 1},    // short lines of whole blocks
    {40, 100, 9, 1},    // short lines with gaps
    {2, 30, 50, 64},    // columns
    {3, 9, 200, 37},    // columns with gaps
    {1, 700, 300, 100},
};

static uint64_t put(struct rig *rig, const void *data, size_t bytes)
{
    uint64_t addr;
    CU_ASSERT_EQUAL_FATAL(leo_rt_memory_alloc(rig->device, bytes + LEO_OP_READ_MARGIN, &addr),
                          LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_memcpy(rig->device, (void *)(uintptr_t)addr, data, bytes), LEO_OK);
    return addr;
}

/* Places of every kind: any, the first and last, counted from the end. */
static int64_t place_at(struct rig_random *random, int64_t length)
{
    const uint32_t draw = rig_random_next(random);
    const int64_t place = (int64_t)(draw >> 8) % length;
    return draw & 3 ? place : place - length;
}

static void put_index(void *indices, enum leo_dtype type, size_t at, int64_t value)
{
    if (type == LEO_DTYPE_S64) {
        ((int64_t *)indices)[at] = value;
    } else {
        ((int32_t *)indices)[at] = (int32_t)value;
    }
}

static bool gathers(struct rig *rig, const struct shape *s, enum leo_dtype type, size_t unit,
                    enum leo_dtype index_type)
{
    enum { GUARD = 64 };
    const size_t from = (size_t)(s->outer * s->length * s->inner),
                 to = (size_t)(s->outer * s->count * s->inner),
                 index_unit = index_type == LEO_DTYPE_S64 ? 8 : 4;
    uint8_t *table = rig_alloc(from, unit), *want = rig_alloc(to * unit + GUARD, 1),
            *got = rig_alloc(to * unit + GUARD, 1), *indices = rig_alloc(to, index_unit);
    struct rig_random random = {from + to * unit};
    for (size_t i = 0; i < from * unit; i++) {
        table[i] = (uint8_t)(rig_random_next(&random) >> 16);
    }
    memset(want, 0xa5, to * unit + GUARD);
    memset(got, 0xa5, to * unit + GUARD);
    for (size_t i = 0; i < to; i++) {
        const int64_t place = place_at(&random, s->length);
        const size_t row = i / (size_t)(s->count * s->inner), column = i % (size_t)s->inner,
                     at = (row * (size_t)s->length +
                           (size_t)(place < 0 ? place + s->length : place)) *
                              (size_t)s->inner +
                          column;
        put_index(indices, index_type, i, place);
        memcpy(want + i * unit, table + at * unit, unit);
    }
    const int64_t dim[] = {s->outer, s->length, s->inner}, few[] = {s->outer, s->count, s->inner};
    const uint64_t table_addr = put(rig, table, from * unit),
                   index_addr = put(rig, indices, to * index_unit),
                   out_addr = put(rig, got, to * unit + GUARD);
    const struct leo_op_tensor self = leo_op_tensor(table_addr, type, 3, dim),
                               index = leo_op_tensor(index_addr, index_type, 3, few),
                               out = leo_op_tensor(out_addr, type, 3, few);
    CU_ASSERT_EQUAL(LEO_OP(rig->context, "Gather", leo_op_arg_tensor(&self), leo_op_arg_number(1),
                           leo_op_arg_tensor(&index), leo_op_arg_tensor(&out)),
                    LEO_OK);
    rig_synchronize(rig);
    CU_ASSERT_EQUAL(leo_rt_memcpy(rig->device, got, (void *)(uintptr_t)out_addr, to * unit + GUARD),
                    LEO_OK);
    const long differs = rig_compare(want, got, to * unit + GUARD, 1);
    if (differs >= 0) {
        fprintf(stderr, "[%lld, %lld -> %lld, %lld] of %zu bytes: byte %ld\n", (long long)s->outer,
                (long long)s->length, (long long)s->count, (long long)s->inner, unit, differs);
    }
    leo_rt_memory_free(rig->device, table_addr);
    leo_rt_memory_free(rig->device, index_addr);
    leo_rt_memory_free(rig->device, out_addr);
    free(table);
    free(want);
    free(got);
    free(indices);
    return differs < 0;
}

static void elements_are_those_named(void)
{
    static const struct {
        enum leo_dtype type;
        size_t unit;
    } types[] = {{LEO_DTYPE_S8, 1}, {LEO_DTYPE_F16, 2}, {LEO_DTYPE_F32, 4}, {LEO_DTYPE_S64, 8}};
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
            for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
                CU_ASSERT_TRUE(
                    gathers(&rig, &shapes[i], types[k].type, types[k].unit, LEO_DTYPE_S64));
                CU_ASSERT_TRUE(
                    gathers(&rig, &shapes[i], types[k].type, types[k].unit, LEO_DTYPE_S32));
            }
        }
        rig_finish(&rig);
    }
}

/* An index that is outside ends the kernel, whose fault names it. */
static void indices_outside_are_named(void)
{
    static const int64_t wrong[] = {64, -65, INT64_C(1) << 40};
    static const char *const said[] = {"index 64 of a dimension of 64",
                                       "index -65 of a dimension of 64", "of a dimension of 64"};
    const int64_t dim[] = {8, 64};
    for (int i = 0; i < 3; i++) {
        struct rig rig;
        int64_t indices[8 * 64] = {0};
        float values[8 * 64] = {0};
        indices[300] = wrong[i];
        rig_init(&rig, rig_socs[1], 0, NULL);
        const struct leo_op_tensor self = leo_op_tensor(put(&rig, values, sizeof(values)),
                                                        LEO_DTYPE_F32, 2, dim),
                                   index = leo_op_tensor(put(&rig, indices, sizeof(indices)),
                                                         LEO_DTYPE_S64, 2, dim),
                                   out = leo_op_tensor(put(&rig, values, sizeof(values)),
                                                       LEO_DTYPE_F32, 2, dim);
        CU_ASSERT_EQUAL(LEO_OP(rig.context, "Gather", leo_op_arg_tensor(&self),
                               leo_op_arg_number(1), leo_op_arg_tensor(&index),
                               leo_op_arg_tensor(&out)),
                        LEO_OK);
        CU_ASSERT_NOT_EQUAL(leo_rt_stream_synchronize(rig.stream, -1), LEO_OK);
        CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), said[i]));
        rig_finish(&rig);
    }
}

/* Rows of `width` floats put at places that come again and again: the last one stays. Under the
 * index of a whole slice they are the same as by a list. */
static void put_rows(struct rig *rig, int64_t limit, int64_t width, int64_t count, bool by_list)
{
    const size_t size = (size_t)(limit * width), given = (size_t)(count * width);
    float *table = rig_alloc(size, 4), *want = rig_alloc(size, 4), *values = rig_alloc(given, 4);
    int64_t *list = rig_alloc((size_t)count, 8);
    struct rig_random random = {given};
    for (int64_t i = 0; i < count; i++) {
        list[i] = place_at(&random, limit);
        for (int64_t k = 0; k < width; k++) {
            const float x = values[i * width + k] = rig_random_float(&random);
            want[(list[i] < 0 ? list[i] + limit : list[i]) * width + k] = x;
        }
    }
    const int64_t dim[] = {limit, width}, few[] = {count, width};
    const uint64_t table_addr = put(rig, table, size * 4),
                   list_addr = put(rig, list, (size_t)count * 8),
                   values_addr = put(rig, values, given * 4);
    const struct leo_op_tensor to = leo_op_tensor(table_addr, LEO_DTYPE_F32, 2, dim),
                               from = leo_op_tensor(values_addr, LEO_DTYPE_F32, 2, few);
    struct leo_op_tensor index = leo_op_tensor(list_addr, LEO_DTYPE_S64, by_list ? 1 : 2, few);
    if (by_list) {
        CU_ASSERT_EQUAL(LEO_OP(rig->context, "InplaceIndexCopy", leo_op_arg_tensor(&to),
                               leo_op_arg_number(0), leo_op_arg_tensor(&index),
                               leo_op_arg_tensor(&from)),
                        LEO_OK);
    } else {
        index.stride[0] = 1;
        index.stride[1] = 0;
        CU_ASSERT_EQUAL(LEO_OP(rig->context, "InplaceScatter", leo_op_arg_tensor(&to),
                               leo_op_arg_number(0), leo_op_arg_tensor(&index),
                               leo_op_arg_tensor(&from), leo_op_arg_number(0)),
                        LEO_OK);
    }
    rig_synchronize(rig);
    CU_ASSERT_EQUAL(leo_rt_memcpy(rig->device, table, (void *)(uintptr_t)table_addr, size * 4),
                    LEO_OK);
    CU_ASSERT_EQUAL(rig_compare(want, table, size, 4), -1);
    leo_rt_memory_free(rig->device, table_addr);
    leo_rt_memory_free(rig->device, list_addr);
    leo_rt_memory_free(rig->device, values_addr);
    free(table);
    free(want);
    free(values);
    free(list);
}

static void the_last_row_stays(void)
{
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        rig_init(&rig, rig_socs[soc], 0, NULL);
        for (int by_list = 0; by_list < 2; by_list++) {
            put_rows(&rig, 100, 8, 1000, by_list); // a block a row: cores share the rows
            put_rows(&rig, 7, 24, 500, by_list);
            put_rows(&rig, 5000, 40, 90, by_list);
            put_rows(&rig, 300, 1000, 200, by_list);
        }
        rig_finish(&rig);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"gather_elements_are_those_named", elements_are_those_named},
        {"gather_the_last_row_stays", the_last_row_stays},
        {"gather_indices_outside_are_named", indices_outside_are_named},
    };
    return leo_test_main("op_gather", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
