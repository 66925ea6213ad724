/* SPDX-License-Identifier: Apache-2.0 */
/* What MindSpore's networks call: slices with masks and their gradients, splitting, bias by
 * channel, activations cut at 6, a fused step of Adam, pooling to one place; and operators without
 * a type name that it alone calls. */
#include "rig_named.h"

#include <aclnn/acl_meta.h>
#include <aclnnop/aclnn_cat.h>
#include <math.h>

static const struct rig_bound exact = {0};
static const struct rig_bound bound = {.of_each = 4e-6, .of_largest = 2e-6, .roundings = 1};

/* ---- slices ---- */

/** A slice of x [3, 4, 5], and where its elements lie there. */
struct slice {
    unsigned numbers;
    int64_t begin[3], end[3], step[3];
    int64_t masks[5]; /**< begin, end, ellipsis, new axis, shrink */
    unsigned rank;
    int64_t dim[4], from, stride[4];
};

static const struct slice slices[] = {
    {3, {1, 0, 1}, {3, 0, 5}, {1, 1, 2}, {0, 2, 0, 0, 0}, 3, {2, 4, 2}, 21, {20, 5, 2}},
    {3, {9, -3, 0}, {-1, 9, 5}, {1, 2, 3}, {1, 0, 0, 0, 0}, 3, {2, 2, 2}, 5, {20, 10, 3}},
    {2, {0, 1}, {0, 2}, {1, 1}, {0, 0, 1, 0, 2}, 2, {3, 4}, 1, {20, 5}},
    {2, {0, -2}, {0, 0}, {1, 1}, {0, 0, 0, 1, 2}, 3, {1, 4, 5}, 20, {0, 5, 1}},
    {1, {2}, {3}, {1}, {0, 0, 0, 0, 0}, 3, {1, 4, 5}, 40, {20, 5, 1}},
};
enum { SLICES = sizeof(slices) / sizeof(slices[0]) };

static aclopAttr *masks_of(const struct slice *slice)
{
    static const char *const names[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                        "shrink_axis_mask"};
    aclopAttr *attr = aclopCreateAttr();
    for (unsigned i = 0; i < 5; i++) {
        aclopSetAttrInt(attr, names[i], slice->masks[i]);
    }
    return attr;
}

static int64_t place_of(const struct slice *slice, int64_t i)
{
    int64_t place = slice->from;
    for (unsigned d = slice->rank; d-- > 0; i /= slice->dim[d]) {
        place += i % slice->dim[d] * slice->stride[d];
    }
    return place;
}

static int64_t count_of(const struct slice *slice)
{
    int64_t count = 1;
    for (unsigned d = 0; d < slice->rank; d++) {
        count *= slice->dim[d];
    }
    return count;
}

static void add_numbers(struct rig_named_made *made, const struct slice *slice)
{
    const int64_t dim[] = {slice->numbers};
    rig_named_input(made, rig_named_ints(OP_TYPE_I64, 1, dim, slice->begin));
    rig_named_input(made, rig_named_ints(OP_TYPE_I64, 1, dim, slice->end));
    rig_named_input(made, rig_named_ints(OP_TYPE_I64, 1, dim, slice->step));
}

static const int64_t whole[] = {3, 4, 5};

static void slices_have_masks(void)
{
    for (unsigned k = 0; k < SLICES; k++) {
        struct rig_named_made made = {0};
        rig_named_input(&made, rig_named_floats(3, whole, k + 1));
        add_numbers(&made, &slices[k]);
        rig_named_output(&made, rig_named_floats(slices[k].rank, slices[k].dim, 9));
        for (int64_t i = 0; i < count_of(&slices[k]); i++) {
            made.want[0][i] = rig_named_at(&made, 0, place_of(&slices[k], i));
        }
        rig_named_expect("StridedSlice", masks_of(&slices[k]), &made, 0xe, exact);
    }
}

static void gradients_of_slices_lie_in_zeros(void)
{
    const int64_t three[] = {3};
    for (unsigned k = 0; k < SLICES; k++) {
        struct rig_named_made made = {0};
        rig_named_input(&made, rig_named_ints(OP_TYPE_I64, 1, three, whole));
        add_numbers(&made, &slices[k]);
        rig_named_input(&made, rig_named_floats(slices[k].rank, slices[k].dim, k + 1));
        rig_named_output(&made, rig_named_floats(3, whole, 9));
        for (int64_t i = 0; i < count_of(&slices[k]); i++) {
            made.want[0][place_of(&slices[k], i)] = rig_named_at(&made, 4, i);
        }
        rig_named_expect("StridedSliceGrad", masks_of(&slices[k]), &made, 0xf, exact);
    }
}

static void slices_outside_are_refused(void)
{
    static const struct slice wrong[] = {
        {1, {3}, {4}, {1}, {0, 0, 0, 0, 1}, 2, {4, 5}, 0, {0}},
        {1, {0}, {3}, {-1}, {0, 0, 0, 0, 0}, 3, {3, 4, 5}, 0, {0}},
        {1, {0}, {2}, {1}, {0, 0, 0, 0, 0}, 3, {3, 4, 5}, 0, {0}},
    };
    for (unsigned k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
        struct rig_named_made made = {0};
        rig_named_input(&made, rig_named_floats(3, whole, 1));
        add_numbers(&made, &wrong[k]);
        rig_named_output(&made, rig_named_floats(wrong[k].rank, wrong[k].dim, 9));
        struct rig_tensor *const in[] = {&made.t[0], &made.t[1], &made.t[2], &made.t[3]},
                                 *const out[] = {&made.t[4]};
        CU_ASSERT_NOT_EQUAL(
            rig_named_try("StridedSlice",
                          (struct rig_named){in, 4, out, 1, masks_of(&wrong[k]), 0xe}),
            0);
        rig_named_free(&made);
    }
}

static void parts_of_a_split(void)
{
    const int64_t one[] = {1}, last[] = {-1}, dim[2][3] = {{3, 4, 2}, {3, 4, 3}};
    struct rig_named_made made = {0};
    rig_named_input(&made, rig_named_ints(OP_TYPE_I32, 1, one, last));
    rig_named_input(&made, rig_named_floats(3, whole, 1));
    for (unsigned k = 0; k < 2; k++) {
        rig_named_output(&made, rig_named_floats(3, dim[k], k + 2));
        for (int64_t i = 0; i < 12 * dim[k][2]; i++) {
            made.want[k][i] =
                rig_named_at(&made, 1, i / dim[k][2] * 5 + i % dim[k][2] + (k ? dim[0][2] : 0));
        }
    }
    rig_named_expect("Split", NULL, &made, 1, exact);
}

/* ---- networks ---- */

static void bias_goes_to_channels(void)
{
    for (int second = 0; second < 2; second++) {
        const int64_t channels = second ? 4 : 5;
        aclopAttr *attr = aclopCreateAttr();
        aclopSetAttrString(attr, "data_format", second ? "NCHW" : "NHWC");
        struct rig_named_made made = {0};
        rig_named_input(&made, rig_named_floats(3, whole, 1));
        rig_named_input(&made, rig_named_floats(1, &channels, 2));
        rig_named_output(&made, rig_named_floats(3, whole, 3));
        for (int64_t i = 0; i < 60; i++) {
            made.want[0][i] =
                rig_named_at(&made, 0, i) + rig_named_at(&made, 1, second ? i / 5 % 4 : i % 5);
        }
        rig_named_expect("BiasAdd", attr, &made, 0, bound);
    }
}

static void relu_up_to_6(void)
{
    const int64_t dim[] = {9};
    const double x[] = {-3, -0.0, 0.5, 3, 5.75, 6, 6.5, 100, -INFINITY};
    struct rig_named_made forward = {0}, back = {0};
    struct rig_tensor values = rig_named_floats(1, dim, 1), same = rig_named_floats(1, dim, 1);
    for (int i = 0; i < 9; i++) {
        rig_put_f(rig_tensor_at(&values, i), OP_TYPE_F32, (float)x[i]);
        rig_put_f(rig_tensor_at(&same, i), OP_TYPE_F32, (float)x[i]);
    }
    rig_tensor_put(&values);
    rig_tensor_put(&same);
    rig_named_input(&forward, values);
    rig_named_output(&forward, rig_named_floats(1, dim, 2));
    rig_named_input(&back, rig_named_floats(1, dim, 3));
    rig_named_input(&back, same);
    rig_named_output(&back, rig_named_floats(1, dim, 4));
    for (int i = 0; i < 9; i++) {
        forward.want[0][i] = x[i] < 0 ? 0 : x[i] > 6 ? 6 : x[i];
        back.want[0][i] = x[i] > 0 && x[i] < 6 ? rig_named_at(&back, 0, i) : 0;
    }
    rig_named_expect("Relu6", NULL, &forward, 0, exact);
    rig_named_expect("Relu6Grad", NULL, &back, 0, exact);
}

static void adam_with_decay(void)
{
    enum { N = 37 };
    const int64_t dim[] = {N}, one[] = {1};
    const double factor[] = {0.125, 0.875, 0.125, 0.9375, 0.0625, 0.25, 0.0078125};
    struct rig_named_made made = {0};
    for (unsigned i = 0; i < 4; i++) { // grad, v, m, var
        struct rig_tensor t = rig_named_floats(1, dim, i + 1);
        for (int64_t k = 0; i == 1 && k < N; k++) { // squares
            const float v = rig_get_f(rig_tensor_at(&t, k), OP_TYPE_F32);
            rig_put_f(rig_tensor_at(&t, k), OP_TYPE_F32, v * v);
        }
        rig_tensor_put(&t);
        rig_named_input(&made, t);
    }
    for (unsigned i = 0; i < 7; i++) {
        struct rig_tensor t = rig_named_floats(1, one, 1);
        rig_put_f(rig_tensor_at(&t, 0), OP_TYPE_F32, (float)factor[i]);
        rig_tensor_put(&t);
        rig_named_input(&made, t);
    }
    for (unsigned i = 0; i < 3; i++) {
        rig_named_output(&made, rig_named_floats(1, dim, 9));
    }
    for (int64_t i = 0; i < N; i++) {
        const double g = rig_named_at(&made, 0, i), v = rig_named_at(&made, 1, i),
                     m = rig_named_at(&made, 2, i), var = rig_named_at(&made, 3, i);
        made.want[0][i] = v * factor[3] + g * g * factor[4];
        made.want[1][i] = m * factor[1] + g * factor[2];
        made.want[2][i] = var - factor[0] * (made.want[1][i] / (sqrt(made.want[0][i]) + factor[6]) +
                                             var * factor[5]);
    }
    rig_named_expect("AdamApplyOneWithDecay", NULL, &made, 0,
                     (struct rig_bound){.of_each = 2e-5, .of_largest = 2e-5, .roundings = 2});
}

static void pooled_to_one_place(void)
{
    const int64_t dim[] = {2, 3, 4, 4}, one[] = {2, 3, 1, 1}, size[] = {1, 1};
    struct rig_named_made forward = {0}, back = {0};
    aclopAttr *attr = aclopCreateAttr();
    aclopSetAttrListInt(attr, "output_size", 2, size);
    rig_named_input(&forward, rig_named_floats(4, dim, 1));
    rig_named_output(&forward, rig_named_floats(4, one, 2));
    rig_named_input(&back, rig_named_floats(4, one, 3));
    rig_named_output(&back, rig_named_floats(4, dim, 4));
    for (int64_t i = 0; i < 96; i++) {
        forward.want[0][i / 16] += rig_named_at(&forward, 0, i) / 16;
        back.want[0][i] = rig_named_at(&back, 0, i / 16) / 16;
    }
    rig_named_expect("CustAdaptiveAvgPool2D", attr, &forward, 0, bound);
    rig_named_expect("CustAdaptiveAvgPool2DGrad", NULL, &back, 0, bound);
}

static void cross_entropy_of_sigmoids(void)
{
    struct rig_named_made forward = {0}, back = {0};
    rig_named_input(&forward, rig_named_floats(3, whole, 1));
    rig_named_input(&forward, rig_named_floats(3, whole, 2));
    rig_named_output(&forward, rig_named_floats(3, whole, 3));
    for (unsigned i = 0; i < 3; i++) { // predictions, targets, gradients of the losses
        rig_named_input(&back, rig_named_floats(3, whole, i + 1));
    }
    rig_named_output(&back, rig_named_floats(3, whole, 4));
    for (int64_t i = 0; i < 60; i++) {
        const double x = rig_named_at(&forward, 0, i), t = rig_named_at(&forward, 1, i);
        forward.want[0][i] = log1p(exp(x)) - x * t;
        back.want[0][i] = (1 / (1 + exp(-x)) - t) * rig_named_at(&back, 2, i);
    }
    const struct rig_bound near = {.of_each = 2e-5, .of_largest = 2e-5, .roundings = 2};
    rig_named_expect("SigmoidCrossEntropyWithLogits", NULL, &forward, 0, near);
    rig_named_expect("SigmoidCrossEntropyWithLogitsGrad", NULL, &back, 0, near);
}

static void sums_of_segments(void)
{
    const int64_t list[] = {2, 3}, dim[] = {2, 3, 5}, sums[] = {4, 5}, one[] = {1}, four[] = {4},
                  at[] = {3, 0, 3, -1, 1, 3};
    struct rig_named_made made = {0};
    rig_named_input(&made, rig_named_floats(3, dim, 1));
    rig_named_input(&made, rig_named_ints(OP_TYPE_I32, 2, list, at));
    rig_named_input(&made, rig_named_ints(OP_TYPE_I32, 1, one, four));
    rig_named_output(&made, rig_named_floats(2, sums, 2));
    for (int64_t i = 0; i < 30; i++) {
        if (at[i / 5] >= 0) {
            made.want[0][at[i / 5] * 5 + i % 5] += rig_named_at(&made, 0, i);
        }
    }
    rig_named_expect("UnsortedSegmentSum", NULL, &made, 4, bound);
}

/* ---- without a type name ---- */

// What follows a list of tensors counts it as one.
static void addresses_behind_a_list(void)
{
    const int64_t dim[] = {3, 4, 5}, joined[] = {6, 4, 5};
    struct rig_tensor a = rig_named_floats(3, dim, 1), b = rig_named_floats(3, dim, 2),
                      out = rig_named_floats(3, joined, 3);
    const aclTensor *both[] = {a.acl, b.acl};
    aclTensorList *list = aclCreateTensorList(both, 2);
    uint64_t bytes = 0;
    aclOpExecutor *executor = NULL;
    void *first, *second, *place;
    CU_ASSERT_EQUAL_FATAL(aclGetRawTensorAddr(a.acl, &first), 0);
    CU_ASSERT_EQUAL_FATAL(aclGetRawTensorAddr(b.acl, &second), 0);
    CU_ASSERT_EQUAL_FATAL(aclGetRawTensorAddr(out.acl, &place), 0);
    CU_ASSERT_EQUAL_FATAL(aclnnCatGetWorkspaceSize(list, 0, out.acl, &bytes, &executor), 0);
    CU_ASSERT_EQUAL(aclSetAclOpExecutorRepeatable(executor), 0);
    // The other way round.
    CU_ASSERT_EQUAL(aclSetDynamicTensorAddr(executor, 0, 0, list, second), 0);
    CU_ASSERT_EQUAL(aclSetDynamicTensorAddr(executor, 0, 1, list, first), 0);
    CU_ASSERT_EQUAL(aclSetTensorAddr(executor, 1, out.acl, place), 0);
    CU_ASSERT_NOT_EQUAL(aclSetTensorAddr(executor, 0, out.acl, place), 0);
    CU_ASSERT_NOT_EQUAL(aclSetTensorAddr(executor, 2, out.acl, place), 0);
    CU_ASSERT_EQUAL_FATAL(bytes, 0);
    CU_ASSERT_EQUAL(aclnnCat(NULL, bytes, executor, rig_stream()), 0);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    rig_tensor_take(&out);
    for (int64_t i = 0; i < 120; i++) {
        CU_ASSERT_EQUAL(rig_values_at(&out, i), rig_values_at(i < 60 ? &b : &a, i % 60));
    }
    CU_ASSERT_EQUAL(aclDestroyAclOpExecutor(executor), 0);
    aclDestroyTensorList(list); // and its tensors
    a.acl = b.acl = NULL;
    rig_tensor_free(&a);
    rig_tensor_free(&b);
    rig_tensor_free(&out);
}

static void expanded(void)
{
    const int64_t dim[] = {4, 1}, wide[] = {3, 4, 5}, size[] = {3, -1, 5};
    struct rig_tensor x = rig_named_floats(2, dim, 1), out = rig_named_floats(3, wide, 2);
    aclIntArray *list = aclCreateIntArray(size, 3);
    union op_test_arg args[] = {{.tensor = x.acl}, {.ints = list}, {.tensor = out.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Expand"), args, true), 0);
    rig_tensor_take(&out);
    for (int64_t i = 0; i < 60; i++) {
        CU_ASSERT_EQUAL(rig_values_at(&out, i), rig_values_at(&x, i / 5 % 4));
    }
    aclDestroyIntArray(list);
    rig_tensor_free(&x);
    rig_tensor_free(&out);
}

static void slices_named_by_rows(void)
{
    const int64_t list[] = {2}, rows[] = {2, 2}, taken[] = {2, 5}, at[] = {2, 1, 0, -1},
                  first[] = {1, 1}, updates[] = {2, 4, 5};
    struct rig_tensor x = rig_named_floats(3, whole, 1), out = rig_named_floats(2, taken, 2),
                      names = rig_named_ints(OP_TYPE_I64, 2, rows, at),
                      ones = rig_named_ints(OP_TYPE_I32, 1, list, first),
                      more = rig_named_floats(3, updates, 3), sum = rig_named_floats(3, whole, 4);
    double before[60];
    union op_test_arg gather[] = {
        {.tensor = x.acl}, {.tensor = names.acl}, {.integer = 1}, {.tensor = out.acl}};
    union op_test_arg scatter[] = {{.tensor = sum.acl}, {.tensor = ones.acl}, {.tensor = more.acl}};
    union op_test_arg scatter_nd[] = {
        {.tensor = sum.acl}, {.tensor = names.acl}, {.tensor = out.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("GatherNd"), gather, true), 0);
    rig_tensor_take(&out);
    for (int64_t i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL(rig_values_at(&out, i), rig_values_at(&x, i < 5 ? 45 + i : 10 + i));
    }
    for (int64_t i = 0; i < 60; i++) {
        before[i] = rig_values_at(&sum, i);
    }
    CU_ASSERT_EQUAL(rig_run(rig_row("TfScatterAdd"), scatter, true), 0);
    CU_ASSERT_EQUAL(rig_run(rig_row("TfScatterAdd"), scatter_nd, true), 0);
    rig_tensor_take(&sum);
    for (int64_t i = 0; i < 60; i++) {
        double want = before[i];
        want += i / 20 == 1 ? rig_values_at(&more, i - 20) + rig_values_at(&more, i) : 0;
        want += i >= 45 && i < 50 ? rig_values_at(&out, i - 45) : 0;
        want += i >= 15 && i < 20 ? rig_values_at(&out, i - 10) : 0;
        CU_ASSERT_DOUBLE_EQUAL(rig_values_at(&sum, i), want, 1e-5);
    }
    struct rig_tensor *all[] = {&x, &out, &names, &ones, &more, &sum};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        rig_tensor_free(all[i]);
    }
}

static void diagonals(void)
{
    const int64_t list[] = {3}, square[] = {4, 4};
    struct rig_tensor x = rig_named_floats(1, list, 1), matrix = rig_named_floats(2, square, 2),
                      back = rig_named_floats(1, list, 3);
    union op_test_arg make[] = {{.tensor = x.acl}, {.integer = 1}, {.tensor = matrix.acl}};
    union op_test_arg take[] = {{.tensor = matrix.acl}, {.integer = 1}, {.tensor = back.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Diag"), make, true), 0);
    CU_ASSERT_EQUAL(rig_run(rig_row("Diag"), take, true), 0);
    rig_tensor_take(&matrix);
    rig_tensor_take(&back);
    for (int64_t i = 0; i < 16; i++) {
        CU_ASSERT_EQUAL(rig_values_at(&matrix, i), i % 5 == 1 ? rig_values_at(&x, i / 5) : 0);
    }
    for (int64_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(rig_values_at(&back, i), rig_values_at(&x, i));
    }
    rig_tensor_free(&x);
    rig_tensor_free(&matrix);
    rig_tensor_free(&back);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"slices_have_masks", slices_have_masks},
        {"gradients_of_slices_lie_in_zeros", gradients_of_slices_lie_in_zeros},
        {"slices_outside_are_refused", slices_outside_are_refused},
        {"parts_of_a_split", parts_of_a_split},
        {"bias_goes_to_channels", bias_goes_to_channels},
        {"relu_up_to_6", relu_up_to_6},
        {"adam_with_decay", adam_with_decay},
        {"pooled_to_one_place", pooled_to_one_place},
        {"cross_entropy_of_sigmoids", cross_entropy_of_sigmoids},
        {"sums_of_segments", sums_of_segments},
        {"addresses_behind_a_list", addresses_behind_a_list},
        {"expanded", expanded},
        {"slices_named_by_rows", slices_named_by_rows},
        {"diagonals", diagonals},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_named_steps", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
