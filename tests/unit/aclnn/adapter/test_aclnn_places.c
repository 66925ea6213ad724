/* SPDX-License-Identifier: Apache-2.0 */
/* What is put, added and joined at places, under the names the adapter uses: against plain loops on
 * the host. */
#include "rig_named.h"
#include "rig_values.h"

#include <math.h>
#include <stdlib.h>

static bool is_here(void)
{
    return rig_chip() == 1;
}

static double at(const struct rig_tensor *t, int64_t i)
{
    return rig_get_d(rig_tensor_at(t, i), t->type);
}

/* An index of `limit` places, some of them more than once. */
static struct rig_tensor places_make(enum op_type type, unsigned rank, const int64_t *dim,
                                     int64_t limit)
{
    struct rig_tensor t = rig_tensor_make(type, rank, dim, RIG_DENSE, 9);
    for (int64_t i = 0; i < rig_tensor_count(&t); i++) {
        rig_put_i(rig_tensor_at(&t, i), type, i * 7 % 5 % limit);
    }
    rig_tensor_put(&t);
    return t;
}

/* ---- several ways to join ---- */

enum { ROWS = 5, COLUMNS = 6, MORE = 9 };

static double join(int64_t reduce, double old, double x)
{
    switch (reduce) {
    case 0:
        return x;
    case 2:
        return old * x;
    case 3:
        return fmax(old, x);
    case 4:
        return fmin(old, x);
    default:
        return old + x;
    }
}

static void reference(const struct rig_tensor *self, const struct rig_tensor *index,
                      const struct rig_tensor *src, int64_t reduce, bool include, double *want)
{
    int64_t count[ROWS * COLUMNS] = {0};
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        want[i] = at(self, i);
        count[i] = include ? 1 : 0;
    }
    for (int64_t i = 0; i < MORE * COLUMNS; i++) {
        const int64_t to = rig_get_i(rig_tensor_at(index, i), index->type) * COLUMNS + i % COLUMNS;
        want[to] = count[to]++ ? join(reduce, want[to], at(src, i)) : at(src, i);
    }
    for (int64_t i = 0; reduce == 5 && i < ROWS * COLUMNS; i++) {
        want[i] /= count[i] > 1 ? (double)count[i] : 1;
    }
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        want[i] = self->type == OP_TYPE_I32 ? floor(want[i]) : want[i];
    }
}

static void joins(enum op_type type, int64_t reduce, bool include)
{
    const int64_t dim[] = {ROWS, COLUMNS}, src_dim[] = {MORE, COLUMNS};
    struct rig_tensor self = rig_tensor_eighths(type, 2, dim, RIG_PERMUTED, 3),
                      src = rig_tensor_eighths(type, 2, src_dim, RIG_SLICED, 4),
                      out = rig_tensor_eighths(type, 2, dim, RIG_DENSE, 5),
                      index = places_make(OP_TYPE_I64, 2, src_dim, ROWS);
    double want[ROWS * COLUMNS];
    for (int64_t i = 0; type == OP_TYPE_I32 && i < MORE * COLUMNS; i++) {
        rig_put_i(rig_tensor_at(&src, i), type, i * 13 % 11 - 5);
        rig_put_i(rig_tensor_at(&self, i % (ROWS * COLUMNS)), type, i * 5 % 7 - 3);
    }
    rig_tensor_put(&self);
    rig_tensor_put(&src);
    reference(&self, &index, &src, reduce, include, want);
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("ScatterReduce", true, {"self", {.tensor = self.acl}},
                                  {"index", {.tensor = index.acl}}, {"src", {.tensor = src.acl}},
                                  {"reduce", {.integer = reduce}},
                                  {"includeSelf", {.integer = include}},
                                  {"out", {.tensor = out.acl}}),
                    0);
    CU_ASSERT_EQUAL(RIG_RUN_NAMED("InplaceScatterReduce", true, {"selfRef", {.tensor = self.acl}},
                                  {"index", {.tensor = index.acl}}, {"src", {.tensor = src.acl}},
                                  {"reduce", {.integer = reduce}},
                                  {"includeSelf", {.integer = include}}),
                    0);
    rig_tensor_take(&out);
    rig_tensor_take(&self);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        CU_ASSERT_DOUBLE_EQUAL(at(&out, i), want[i], 1e-6 * (1 + fabs(want[i])));
        CU_ASSERT_DOUBLE_EQUAL(at(&self, i), want[i], 1e-6 * (1 + fabs(want[i])));
    }
    CU_ASSERT_NOT_EQUAL(RIG_RUN_NAMED("ScatterReduce", false, {"self", {.tensor = self.acl}},
                                      {"index", {.tensor = index.acl}},
                                      {"src", {.tensor = src.acl}}, {"reduce", {.integer = 6}},
                                      {"out", {.tensor = out.acl}}),
                        0);
    struct rig_tensor all[] = {self, src, out, index};
    rig_values_free(all, 4, NULL, 0);
}

static void elements_are_joined(void)
{
    for (int64_t reduce = 0; reduce < 6; reduce++) {
        for (int include = 0; include < 2; include++) {
            joins(OP_TYPE_F32, reduce, include);
            joins(OP_TYPE_I32, reduce, include);
        }
    }
}

/* ---- slices ---- */

static void slices_are_gathered(void)
{
    const int64_t dim[] = {4, ROWS, 3}, index_dim[] = {2, 3}, out_dim[] = {4, 2, 3, 3};
    struct rig_tensor self = rig_tensor_eighths(OP_TYPE_F16, 3, dim, RIG_PERMUTED, 3),
                      out = rig_tensor_eighths(OP_TYPE_F16, 4, out_dim, RIG_DENSE, 4),
                      index = places_make(OP_TYPE_I32, 2, index_dim, ROWS);
    if (is_here()) {
        CU_ASSERT_EQUAL(RIG_RUN_NAMED("GatherV3", true, {"self", {.tensor = self.acl}},
                                      {"dim", {.integer = 1}}, {"index", {.tensor = index.acl}},
                                      {"mode", {.integer = 1}}, {"out", {.tensor = out.acl}}),
                        0);
        rig_tensor_take(&out);
        for (int64_t i = 0; i < 72; i++) {
            const int64_t row = rig_get_i(rig_tensor_at(&index, i / 3 % 6), OP_TYPE_I32);
            CU_ASSERT_EQUAL(at(&out, i), at(&self, (i / 18 * ROWS + row) * 3 + i % 3));
        }
    }
    CU_ASSERT_NOT_EQUAL(RIG_RUN_NAMED("GatherV3", false, {"self", {.tensor = self.acl}},
                                      {"dim", {.integer = 1}}, {"index", {.tensor = index.acl}},
                                      {"batchDims", {.integer = 1}}, {"out", {.tensor = out.acl}}),
                        0);
    struct rig_tensor all[] = {self, out, index};
    rig_values_free(all, 3, NULL, 0);
}

static void slices_are_added(void)
{
    const int64_t dim[] = {ROWS, 3}, source_dim[] = {4, 3}, index_dim[] = {4};
    const double factor = 0.5;
    double want[ROWS * 3];
    struct rig_tensor self = rig_tensor_eighths(OP_TYPE_F32, 2, dim, RIG_PERMUTED, 3),
                      source = rig_tensor_eighths(OP_TYPE_F32, 2, source_dim, RIG_DENSE, 4),
                      index = places_make(OP_TYPE_I32, 1, index_dim, ROWS);
    aclScalar *alpha = aclCreateScalar((void *)(uintptr_t)&factor, ACL_DOUBLE);
    for (int64_t i = 0; i < ROWS * 3; i++) {
        want[i] = at(&self, i);
    }
    for (int64_t i = 0; i < 12; i++) {
        const int64_t row = rig_get_i(rig_tensor_at(&index, i / 3), OP_TYPE_I32);
        want[row * 3 + i % 3] += factor * at(&source, i);
    }
    const aclnnStatus code =
        RIG_RUN_NAMED("IndexAddV2", is_here(), {"self", {.tensor = self.acl}},
                      {"index", {.tensor = index.acl}}, {"source", {.tensor = source.acl}},
                      {"alpha", {.scalar = alpha}}, {"out", {.tensor = self.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    rig_tensor_take(&self);
    for (int64_t i = 0; is_here() && i < ROWS * 3; i++) {
        CU_ASSERT_DOUBLE_EQUAL(at(&self, i), want[i], 1e-6);
    }
    (void)aclDestroyScalar(alpha);
    struct rig_tensor all[] = {self, source, index};
    rig_values_free(all, 3, NULL, 0);
}

static void slices_are_replaced(void)
{
    const int64_t dim[] = {4, ROWS, 3}, index_dim[] = {3, 2}, update_dim[] = {3, 3};
    const int64_t where[] = {3, 1, 0, 4, 2, 2};
    double want[4 * ROWS * 3];
    struct rig_tensor self = rig_tensor_eighths(OP_TYPE_F16, 3, dim, RIG_DENSE, 3),
                      updates = rig_tensor_eighths(OP_TYPE_F16, 2, update_dim, RIG_PERMUTED, 4),
                      indices = rig_tensor_make(OP_TYPE_I64, 2, index_dim, RIG_DENSE, 5);
    for (int64_t i = 0; i < 4 * ROWS * 3; i++) {
        want[i] = at(&self, i);
    }
    for (int64_t i = 0; i < 6; i++) {
        rig_put_i(rig_tensor_at(&indices, i), OP_TYPE_I64, where[i]);
    }
    for (int64_t i = 0; i < 9; i++) {
        want[(where[i / 3 * 2] * ROWS + where[i / 3 * 2 + 1]) * 3 + i % 3] = at(&updates, i);
    }
    rig_tensor_put(&indices);
    const aclnnStatus code =
        RIG_RUN_NAMED("ScatterNdUpdate", is_here(), {"varRef", {.tensor = self.acl}},
                      {"indices", {.tensor = indices.acl}}, {"updates", {.tensor = updates.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    rig_tensor_take(&self);
    for (int64_t i = 0; is_here() && i < 4 * ROWS * 3; i++) {
        CU_ASSERT_EQUAL(at(&self, i), want[i]);
    }
    CU_ASSERT_NOT_EQUAL(RIG_RUN_NAMED("ScatterNdUpdate", false, {"varRef", {.tensor = self.acl}},
                                      {"indices", {.tensor = updates.acl}},
                                      {"updates", {.tensor = updates.acl}}),
                        0);
    struct rig_tensor all[] = {self, updates, indices};
    rig_values_free(all, 3, NULL, 0);
}

/* ---- lists ---- */

enum { TENSORS = 3, HEADS = 2, SLOTS = 7, STEPS = 3, WIDTH = 4 };

static void parts_of_lists_are_replaced(void)
{
    static const int64_t first[] = {4, 1, 5}, length[] = {3, 2, 2}, wanted[] = {1, 1, 0};
    const int64_t dim[] = {HEADS, SLOTS, WIDTH}, update_dim[] = {TENSORS, HEADS, STEPS, WIDTH},
                  indice_dim[] = {TENSORS, 2}, mask_dim[] = {TENSORS};
    struct rig_tensor vars[TENSORS],
        updates = rig_tensor_eighths(OP_TYPE_F16, 4, update_dim, RIG_PERMUTED, 4),
        indice = rig_tensor_make(OP_TYPE_I64, 2, indice_dim, RIG_DENSE, 5),
        mask = rig_tensor_make(OP_TYPE_U8, 1, mask_dim, RIG_DENSE, 6);
    static char update[] = "update", add[] = "add";
    static double want[TENSORS][HEADS * SLOTS * WIDTH];
    for (int64_t k = 0; k < TENSORS; k++) {
        vars[k] = rig_tensor_eighths(OP_TYPE_F16, 3, dim, RIG_DENSE, 10 + (uint64_t)k);
        rig_put_i(rig_tensor_at(&indice, 2 * k), OP_TYPE_I64, first[k]);
        rig_put_i(rig_tensor_at(&indice, 2 * k + 1), OP_TYPE_I64, length[k]);
        rig_put_i(rig_tensor_at(&mask, k), OP_TYPE_U8, wanted[k]);
        for (int64_t i = 0; i < HEADS * SLOTS * WIDTH; i++) {
            const int64_t h = i / WIDTH / SLOTS, step = i / WIDTH % SLOTS - first[k];
            const bool put = wanted[k] && step >= 0 && step < length[k];
            want[k][i] = put ? at(&updates, ((k * HEADS + h) * STEPS + step) * WIDTH + i % WIDTH)
                             : at(&vars[k], i);
        }
    }
    rig_tensor_put(&indice);
    rig_tensor_put(&mask);
    aclTensorList *list = rig_list_make(vars, TENSORS);
    const aclnnStatus code = RIG_RUN_NAMED(
        "ScatterList", is_here(), {"varRef", {.tensors = list}}, {"indice", {.tensor = indice.acl}},
        {"updates", {.tensor = updates.acl}}, {"maskOptional", {.tensor = mask.acl}},
        {"reduceOptional", {.text = update}}, {"axis", {.integer = -2}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    CU_ASSERT_NOT_EQUAL(RIG_RUN_NAMED("ScatterList", false, {"varRef", {.tensors = list}},
                                      {"indice", {.tensor = indice.acl}},
                                      {"updates", {.tensor = updates.acl}},
                                      {"reduceOptional", {.text = add}}, {"axis", {.integer = -2}}),
                        0);
    for (int64_t k = 0; k < TENSORS; k++) {
        rig_tensor_take(&vars[k]);
        for (int64_t i = 0; is_here() && i < HEADS * SLOTS * WIDTH; i++) {
            CU_ASSERT_EQUAL(at(&vars[k], i), want[k][i]);
        }
    }
    rig_list_free(list, vars, TENSORS);
    rig_values_free(vars, TENSORS, NULL, 0);
    struct rig_tensor all[] = {updates, indice, mask};
    rig_values_free(all, 3, NULL, 0);
}

static void tensors_are_joined_by_chunks(void)
{
    const int64_t a_dim[] = {7, 2}, b_dim[] = {4}, c_dim[] = {2, 3}, out_dim[] = {3, 6 + 2 + 3};
    struct rig_tensor parts[] = {rig_tensor_eighths(OP_TYPE_BF16, 2, a_dim, RIG_PERMUTED, 3),
                                 rig_tensor_eighths(OP_TYPE_BF16, 1, b_dim, RIG_DENSE, 4),
                                 rig_tensor_eighths(OP_TYPE_BF16, 2, c_dim, RIG_DENSE, 5)},
                      out = rig_tensor_eighths(OP_TYPE_F32, 2, out_dim, RIG_DENSE, 6);
    const int64_t width[] = {6, 2, 3};
    aclTensorList *list = rig_list_make(parts, 3);
    const aclnnStatus code =
        RIG_RUN_NAMED("ChunkCat", is_here(), {"tensors", {.tensors = list}},
                      {"numChunks", {.integer = 3}}, {"out", {.tensor = out.acl}});
    CU_ASSERT_EQUAL(code == 0, is_here());
    CU_ASSERT_NOT_EQUAL(RIG_RUN_NAMED("ChunkCat", false, {"tensors", {.tensors = list}},
                                      {"dim", {.integer = 1}}, {"numChunks", {.integer = 3}},
                                      {"out", {.tensor = out.acl}}),
                        0);
    rig_tensor_take(&out);
    for (int64_t row = 0; is_here() && row < 3; row++) {
        for (int64_t k = 0, column = 0; k < 3; column += width[k++]) {
            for (int64_t i = 0; i < width[k]; i++) {
                const int64_t from = row * width[k] + i;
                const double want = from < rig_tensor_count(&parts[k]) ? at(&parts[k], from) : 0;
                CU_ASSERT_EQUAL(at(&out, row * 11 + column + i), want);
            }
        }
    }
    rig_list_free(list, parts, 3);
    rig_values_free(parts, 3, NULL, 0);
    rig_tensor_free(&out);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"elements_are_joined", elements_are_joined},
        {"slices_are_gathered", slices_are_gathered},
        {"slices_are_added", slices_are_added},
        {"slices_are_replaced", slices_are_replaced},
        {"parts_of_lists_are_replaced", parts_of_lists_are_replaced},
        {"tensors_are_joined_by_chunks", tensors_are_joined_by_chunks},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_places", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
