/* SPDX-License-Identifier: Apache-2.0 */
/* Embedding and its gradient, rows put and added by a list: rows that are whole blocks and rows
 * that are not, tables in several parts, repeated and padding indices. Numbers are multiples of
 * 1/8, whose sums are exact. */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double at(const struct rig_tensor *tensor, int64_t index)
{
    return rig_get_d(rig_tensor_at(tensor, index), tensor->type);
}

static struct rig_tensor make(enum op_type type, unsigned rank, const int64_t *dim,
                              enum rig_layout layout, uint64_t seed, uint64_t range)
{
    struct rig_tensor tensor = rig_tensor_make(type, rank, dim, layout, seed);
    for (int64_t i = 0; i < rig_tensor_count(&tensor); i++) {
        const double number = (double)(rig_random(&seed) % range);
        rig_put_d(rig_tensor_at(&tensor, i), type,
                  type == OP_TYPE_I32 || type == OP_TYPE_I64 ? number : number / 8 - 1);
    }
    rig_tensor_put(&tensor);
    return tensor;
}

static void expect(struct rig_tensor *out, const double *want, const char *what)
{
    int64_t wrong = 0;
    rig_tensor_take(out);
    for (int64_t i = 0; i < rig_tensor_count(out); i++) {
        if (at(out, i) != want[i] && wrong++ == 0) {
            fprintf(stderr, "%s, %s: element %lld is %g, expected %g\n", what,
                    rig_type_name(out->type), (long long)i, at(out, i), want[i]);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void run_embedding(int64_t rows, int64_t columns, int64_t count, enum op_type type,
                          enum op_type index_type, int64_t padding, enum rig_layout layout)
{
    const int64_t table_dim[] = {rows, columns}, list[] = {1, count},
                  out_dim[] = {1, count, columns};
    // Few different indices: many values meet in a row.
    struct rig_tensor table = make(type, 2, table_dim, RIG_DENSE, 1, 17),
                      index = make(index_type, 2, list, layout, 2,
                                   (uint64_t)(rows < 100 ? rows : rows - 3)),
                      out = make(type, 3, out_dim, layout, 3, 17),
                      gradient = make(type, 3, out_dim, layout, 4, 17),
                      sums = make(type, 2, table_dim, RIG_DENSE, 5, 17);
    double *want = calloc((size_t)(count * columns), sizeof(double)),
           *want_sums = calloc((size_t)(rows * columns), sizeof(double));
    for (int64_t i = 0; i < count * columns; i++) {
        const int64_t row = (int64_t)at(&index, i / columns), place = row * columns + i % columns;
        want[i] = at(&table, place);
        want_sums[place] += row == padding ? 0 : at(&gradient, i);
    }
    const union op_test_arg forward[] = {
        {.tensor = table.acl}, {.tensor = index.acl}, {.tensor = out.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Embedding"), forward, true), 0);
    expect(&out, want, "Embedding");
    const union op_test_arg backward[] = {{.tensor = gradient.acl}, {.tensor = index.acl},
                                          {.integer = rows},        {.integer = padding},
                                          {.integer = 0},           {.tensor = sums.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("EmbeddingDenseBackward"), backward, true), 0);
    expect(&sums, want_sums, "EmbeddingDenseBackward");
    free(want);
    free(want_sums);
    struct rig_tensor *all[] = {&table, &index, &out, &gradient, &sums};
    for (unsigned i = 0; i < 5; i++) {
        rig_tensor_free(all[i]);
    }
}

static void free_all(struct rig_tensor *tensors, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        rig_tensor_free(&tensors[i]);
    }
}

/* Rows of a table, repeated ones too, put and added: the last one put stays. */
static void run_changes(int64_t rows, int64_t columns, int64_t count, enum op_type type)
{
    const int64_t table_dim[] = {rows, columns}, list[] = {count}, value_dim[] = {count, columns};
    struct rig_tensor all[] = {make(type, 2, table_dim, RIG_DENSE, 1, 17),
                               make(OP_TYPE_I64, 1, list, RIG_DENSE, 2, (uint64_t)rows - 1),
                               make(type, 2, value_dim, RIG_DENSE, 3, 17),
                               make(type, 2, table_dim, RIG_DENSE, 4, 17)};
    struct rig_tensor *table = &all[0], *index = &all[1], *values = &all[2], *out = &all[3];
    double *put = calloc((size_t)(rows * columns), sizeof(double)),
           *sum = calloc((size_t)(rows * columns), sizeof(double));
    for (int64_t i = 0; i < rows * columns; i++) {
        put[i] = sum[i] = at(table, i);
    }
    for (int64_t i = 0; i < count * columns; i++) {
        const int64_t place = (int64_t)at(index, i / columns) * columns + i % columns;
        put[place] = at(values, i);
        sum[place] += 2 * at(values, i);
    }
    const double two = 2;
    aclScalar *alpha = aclCreateScalar((void *)(uintptr_t)&two, ACL_DOUBLE);
    const union op_test_arg add[] = {{.tensor = table->acl}, {.integer = 0},
                                     {.tensor = index->acl}, {.tensor = values->acl},
                                     {.scalar = alpha},      {.tensor = out->acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("IndexAdd"), add, true), 0);
    expect(out, sum, "IndexAdd");
    const union op_test_arg copy[] = {
        {.tensor = table->acl}, {.integer = 0}, {.tensor = index->acl}, {.tensor = values->acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("InplaceIndexCopy"), copy, true), 0);
    expect(table, put, "InplaceIndexCopy");
    aclDestroyScalar(alpha);
    free(put);
    free(sum);
    free_all(all, 4);
}

static void rows_put_and_added(void)
{
    static const int64_t columns[] = {8, 9, 16, 33, 77, 1023};
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        for (unsigned t = 0; t < (rig_chip() == 0 ? 2u : 3u); t++) {
            run_changes(7, columns[i], 20, types[t]);
        }
    }
}

/* Rows named once or more are scaled to a norm of 2 at most; others stay. */
static void norms_are_limited(void)
{
    const int64_t dim[] = {9, 40}, list[] = {2, 4};
    struct rig_tensor all[] = {make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1, 17),
                               make(OP_TYPE_I64, 2, list, RIG_DENSE, 2, 6)};
    struct rig_tensor *table = &all[0], *index = &all[1];
    double want[9 * 40];
    for (int64_t i = 0; i < 9 * 40; i++) {
        if (i < 40) { // a row whose norm is small enough
            rig_put_d(rig_tensor_at(table, i), OP_TYPE_F32, 0.125);
        }
        want[i] = at(table, i);
    }
    rig_tensor_put(table);
    for (int64_t i = 0; i < 8; i++) {
        const int64_t row = (int64_t)at(index, i) * 40;
        double squares = 0;
        for (int64_t k = row; k < row + 40; k++) {
            squares += at(table, k) * at(table, k);
        }
        for (int64_t k = row; k < row + 40 && squares > 4; k++) {
            want[k] = at(table, k) * 2 / (sqrt(squares) + 1e-7);
        }
    }
    const union op_test_arg args[] = {
        {.tensor = table->acl}, {.tensor = index->acl}, {.real = 2}, {.real = 2}};
    CU_ASSERT_EQUAL(rig_run(rig_row("EmbeddingRenorm"), args, true), 0);
    rig_tensor_take(table);
    for (int64_t i = 0; i < 9 * 40; i++) {
        CU_ASSERT_DOUBLE_EQUAL(at(table, i), want[i], 1e-6);
    }
    free_all(all, 2);
}

static void rows_and_their_gradients(void)
{
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_BF16};
    for (unsigned t = 0; t < (rig_chip() == 0 ? 2u : 3u); t++) {
        run_embedding(9, 16, 40, types[t], OP_TYPE_I64, -1, RIG_DENSE);
        run_embedding(9, 48, 40, types[t], OP_TYPE_I32, 3, RIG_PERMUTED);
        run_embedding(9, 3, 40, types[t], OP_TYPE_I64, 3, RIG_DENSE); // element by element
        run_embedding(9, 19, 40, types[t], OP_TYPE_I64, 3, RIG_DENSE);
        run_embedding(9, 333, 40, types[t], OP_TYPE_I32, -1, RIG_SLICED);
        run_embedding(9, 16, 40, types[t], OP_TYPE_I64, -1, RIG_SLICED);
    }
    run_embedding(4050, 17, 1100, OP_TYPE_F32, OP_TYPE_I64, 7, RIG_DENSE);  // two parts, two slots
    run_embedding(2000, 264, 9000, OP_TYPE_F32, OP_TYPE_I32, 7, RIG_DENSE); // a list in parts
    run_embedding(1, 1032, 70, OP_TYPE_F32, OP_TYPE_I64, -1, RIG_DENSE);    // columns alone
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"embedding_rows_and_their_gradients", rows_and_their_gradients},
        {"rows_put_and_added", rows_put_and_added},
        {"norms_are_limited", norms_are_limited},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_embedding", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
