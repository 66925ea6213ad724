/* SPDX-License-Identifier: Apache-2.0 */
/* Parts and orders of tensors, and slices taken and put by lists of places: against loops. */
#include "rig.h"

enum { A = 3, B = 4, C = 5, COUNT = A * B * C };
static const int64_t dims[] = {A, B, C};

static double at(const struct rig_tensor *t, int64_t index)
{
    return rig_get_d(rig_tensor_at(t, index), t->type);
}

static void free_all(struct rig_tensor **all, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        rig_tensor_free(all[i]);
    }
}

static struct rig_tensor numbers(const int64_t *values, int64_t count)
{
    struct rig_tensor t = rig_tensor_make(OP_TYPE_I64, 1, &count, RIG_DENSE, 1);
    for (int64_t i = 0; i < count; i++) {
        rig_put_i(rig_tensor_at(&t, i), OP_TYPE_I64, values[i]);
    }
    rig_tensor_put(&t);
    return t;
}

static void dimensions_are_put_in_order(void)
{
    const int64_t order[] = {2, 0, -2}, twice[] = {2, 0, 2}, turned[] = {C, A, B};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F16, 3, dims, RIG_SLICED, 1),
                      y = rig_tensor_make(OP_TYPE_F16, 3, turned, RIG_DENSE, 2);
    aclIntArray *good = aclCreateIntArray(order, 3), *bad = aclCreateIntArray(twice, 3);
    union op_test_arg args[] = {{.tensor = x.acl}, {.ints = good}, {.tensor = y.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Permute"), args, true), 0);
    rig_tensor_take(&y);
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t c = i / (A * B), a = i / B % A, b = i % B;
        CU_ASSERT_EQUAL(at(&y, i), at(&x, (a * B + b) * C + c));
    }
    args[1].ints = bad;
    CU_ASSERT_EQUAL(rig_run(rig_row("Permute"), args, false), 161002);
    aclDestroyIntArray(good);
    aclDestroyIntArray(bad);
    struct rig_tensor *all[] = {&x, &y};
    free_all(all, 2);
}

static void steps_of_a_dimension_are_taken(void)
{
    const int64_t shape[] = {A, B, 2};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 3, dims, RIG_PERMUTED, 1),
                      y = rig_tensor_make(OP_TYPE_F32, 3, shape, RIG_DENSE, 2);
    union op_test_arg args[] = {{.tensor = x.acl}, {.integer = -1}, {.integer = 1},
                                {.integer = 9},    {.integer = 2},  {.tensor = y.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Slice"), args, true), 0);
    rig_tensor_take(&y);
    for (int64_t i = 0; i < A * B * 2; i++) {
        CU_ASSERT_EQUAL(at(&y, i), at(&x, i / 2 * C + 1 + 2 * (i % 2)));
    }
    args[4].integer = 0;
    CU_ASSERT_EQUAL(rig_run(rig_row("Slice"), args, false), 161002);
    struct rig_tensor *all[] = {&x, &y};
    free_all(all, 2);
}

static void parts_have_their_sizes(void)
{
    const int64_t sizes[] = {1, 3}, wrong[] = {1, 2}, first[] = {A, 1, C}, second[] = {A, 3, C};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 3, dims, RIG_PERMUTED, 1),
                      y = rig_tensor_make(OP_TYPE_F32, 3, first, RIG_DENSE, 2),
                      z = rig_tensor_make(OP_TYPE_F32, 3, second, RIG_DENSE, 3);
    const aclTensor *const list[] = {y.acl, z.acl};
    aclTensorList *out = aclCreateTensorList(list, 2);
    aclIntArray *good = aclCreateIntArray(sizes, 2), *bad = aclCreateIntArray(wrong, 2);
    union op_test_arg args[] = {
        {.tensor = x.acl}, {.ints = good}, {.integer = 1}, {.tensors = out}};
    CU_ASSERT_EQUAL(rig_run(rig_row("SplitWithSize"), args, true), 0);
    rig_tensor_take(&y);
    rig_tensor_take(&z);
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t a = i / (B * C), b = i / C % B, c = i % C;
        CU_ASSERT_EQUAL(at(&x, i), b == 0 ? at(&y, a * C + c) : at(&z, (a * 3 + b - 1) * C + c));
    }
    args[1].ints = bad;
    CU_ASSERT_EQUAL(rig_run(rig_row("SplitWithSize"), args, false), 161002);
    aclDestroyIntArray(good);
    aclDestroyIntArray(bad);
    rig_tensor_free(&x); // the list owns the others' acl objects
    y.acl = z.acl = NULL;
    aclDestroyTensorList(out);
    rig_tensor_free(&y);
    rig_tensor_free(&z);
}

static void shape_and_order_change_in_either_order(void)
{
    const int64_t order[] = {1, 0}, as[] = {A * B, C}, flat[] = {C, A * B}, turn[] = {2, 1, 0};
    const int64_t late[] = {C * B, A};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 3, dims, RIG_PERMUTED, 1),
                      y = rig_tensor_make(OP_TYPE_F32, 2, flat, RIG_DENSE, 2),
                      z = rig_tensor_make(OP_TYPE_F32, 2, late, RIG_DENSE, 2);
    aclIntArray *perm = aclCreateIntArray(order, 2), *shape = aclCreateIntArray(as, 2),
                *perm3 = aclCreateIntArray(turn, 3), *shape2 = aclCreateIntArray(late, 2);
    const union op_test_arg after[] = {
        {.tensor = x.acl}, {.ints = perm}, {.ints = shape}, {.integer = 0}, {.tensor = y.acl}};
    const union op_test_arg before[] = {
        {.tensor = x.acl}, {.ints = perm3}, {.ints = shape2}, {.integer = 1}, {.tensor = z.acl}};
    const union op_test_arg wrong[] = {
        {.tensor = x.acl}, {.ints = perm}, {.ints = shape2}, {.integer = 0}, {.tensor = y.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("ConfusionTranspose"), after, true), 0);
    CU_ASSERT_EQUAL(rig_run(rig_row("ConfusionTranspose"), before, true), 0);
    rig_tensor_take(&y);
    rig_tensor_take(&z);
    for (int64_t i = 0; i < COUNT; i++) {
        CU_ASSERT_EQUAL(at(&y, i), at(&x, i % (A * B) * C + i / (A * B)));
        CU_ASSERT_EQUAL(at(&z, i), at(&x, (i % A * B + i / A % B) * C + i / (A * B)));
    }
    CU_ASSERT_EQUAL(rig_run(rig_row("ConfusionTranspose"), wrong, false), 161002);
    aclDestroyIntArray(perm);
    aclDestroyIntArray(shape);
    aclDestroyIntArray(perm3);
    aclDestroyIntArray(shape2);
    struct rig_tensor *all[] = {&x, &y, &z};
    free_all(all, 3);
}

static void places_of_sorted_elements(void)
{
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 3, dims, RIG_PERMUTED, 1),
                      y = rig_tensor_make(OP_TYPE_I64, 3, dims, RIG_DENSE, 2);
    for (int64_t down = 0; down < 2; down++) {
        const union op_test_arg args[] = {
            {.tensor = x.acl}, {.integer = -1}, {.integer = down}, {.tensor = y.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("Argsort"), args, true), 0);
        rig_tensor_take(&y);
        for (int64_t i = 0; i < COUNT; i++) {
            if (i % C) { // in order, and equal ones as they lay
                const int64_t was = rig_get_i(rig_tensor_at(&y, i - 1), OP_TYPE_I64),
                              is = rig_get_i(rig_tensor_at(&y, i), OP_TYPE_I64);
                const double a = at(&x, i / C * C + was), b = at(&x, i / C * C + is);
                CU_ASSERT(a == b ? was < is : (down ? a > b : a < b));
            }
        }
    }
    struct rig_tensor *all[] = {&x, &y};
    free_all(all, 2);
}

static void slices_are_taken_by_place(void)
{
    const int64_t places[] = {3, 0, 1, 1, 2, 0}, square[] = {2, 3}, shape[] = {A, 2, 3, C};
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 3, dims, RIG_PERMUTED, 1),
                      index = rig_tensor_make(OP_TYPE_I32, 2, square, RIG_DENSE, 2),
                      y = rig_tensor_make(OP_TYPE_F32, 4, shape, RIG_DENSE, 3);
    for (int64_t i = 0; i < 6; i++) {
        rig_put_i(rig_tensor_at(&index, i), OP_TYPE_I32, places[i]);
    }
    rig_tensor_put(&index);
    const union op_test_arg args[] = {
        {.tensor = x.acl}, {.integer = 1}, {.tensor = index.acl}, {.tensor = y.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("GatherV2"), args, true), 0);
    rig_tensor_take(&y);
    for (int64_t i = 0; i < A * 6 * C; i++) {
        CU_ASSERT_EQUAL(at(&y, i), at(&x, (i / (6 * C) * B + places[i / C % 6]) * C + i % C));
    }
    struct rig_tensor *all[] = {&x, &index, &y};
    free_all(all, 3);
}

static void updates_go_to_a_place_of_each_slice(void)
{
    enum { N = 2, H = 3, LENGTH = 7, D = 4, NEW = 2 };
    const int64_t cache[] = {N, H, LENGTH, D}, updates[] = {N, H, NEW, D}, places[] = {5, 1};
    struct rig_tensor data = rig_tensor_eighths(OP_TYPE_F16, 4, cache, RIG_PERMUTED, 1),
                      was = rig_tensor_eighths(OP_TYPE_F16, 4, cache, RIG_PERMUTED, 1),
                      more = rig_tensor_eighths(OP_TYPE_F16, 4, updates, RIG_SLICED, 2),
                      index = numbers(places, N), short_index = numbers(places, 1);
    union op_test_arg args[] = {
        {.tensor = data.acl}, {.tensor = index.acl}, {.tensor = more.acl}, {.integer = -2}};
    CU_ASSERT_EQUAL(rig_run(rig_row("InplaceScatterUpdate"), args, true), 0);
    rig_tensor_take(&data);
    for (int64_t i = 0; i < N * H * LENGTH * D; i++) {
        const int64_t n = i / (H * LENGTH * D), h = i / (LENGTH * D) % H,
                      at_length = i / D % LENGTH, step = at_length - places[n];
        CU_ASSERT_EQUAL(at(&data, i), step >= 0 && step < NEW
                                          ? at(&more, ((n * H + h) * NEW + step) * D + i % D)
                                          : at(&was, i));
    }
    args[1].tensor = short_index.acl;
    CU_ASSERT_NOT_EQUAL(rig_run(rig_row("InplaceScatterUpdate"), args, false), 0);
    struct rig_tensor *all[] = {&data, &was, &more, &index, &short_index};
    free_all(all, 5);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"dimensions_are_put_in_order", dimensions_are_put_in_order},
        {"steps_of_a_dimension_are_taken", steps_of_a_dimension_are_taken},
        {"parts_have_their_sizes", parts_have_their_sizes},
        {"shape_and_order_change_in_either_order", shape_and_order_change_in_either_order},
        {"places_of_sorted_elements", places_of_sorted_elements},
        {"slices_are_taken_by_place", slices_are_taken_by_place},
        {"updates_go_to_a_place_of_each_slice", updates_go_to_a_place_of_each_slice},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_view", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
