/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, joins, indices, masks, random numbers; handles and their queues. */
#include "rig.h"

#include <cnnl_extra.h>
#include <mlu_op.h>

#include <math.h>
#include <string.h>

static const double six[] = {1, 2, 3, 4, 5, 6};

static void shapes_change(void)
{
    const int turned[] = {1, 0}, twice[] = {1, 1};
    const int64_t begin[] = {0, -2}, end[] = {2, 3}, step[] = {1, 1};
    const float number = 7;
    struct rig rig = rig_begin();
    cnnlTransposeDescriptor_t d;
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_FLOAT, six, 2, 3),
                      tt = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 3, 2),
                      big = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 4, 3),
                      part = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 2),
                      left = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 1),
                      half = RIG(&rig, CNNL_DTYPE_HALF, NULL, 2, 3);
    OK(cnnlCreateTransposeDescriptor(&d));
    OK(cnnlSetTransposeDescriptor(d, 2, turned));
    OK(cnnlTranspose_v2(rig.handle, d, T(tx), T(tt), NULL, 0));
    NEAR(&rig, tt, ((double[]){1, 4, 2, 5, 3, 6}), 0);
    OK(cnnlSetTransposeDescriptor(d, 2, twice));
    EXPECT(cnnlTranspose_v2(rig.handle, d, T(tx), T(tt), NULL, 0), CNNL_STATUS_BAD_PARAM);
    OK(cnnlDestroyTransposeDescriptor(d));
    OK(cnnlTile(rig.handle, T(tx), T(big)));
    NEAR(&rig, big, ((double[]){1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}), 0);
    const cnnlTensorDescriptor_t parts_desc[] = {tx.desc, tx.desc};
    const void *const parts[] = {tx.ptr, tx.ptr};
    OK(cnnlConcat(rig.handle, 2, 0, parts_desc, parts, NULL, 0, T(big)));
    NEAR(&rig, big, ((double[]){1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}), 0);
    const cnnlTensorDescriptor_t pieces_desc[] = {left.desc, part.desc};
    void *const pieces[] = {left.ptr, part.ptr};
    OK(cnnlSplit(rig.handle, 2, 1, T(tx), NULL, 0, pieces_desc, pieces));
    NEAR(&rig, left, ((double[]){1, 4}), 0);
    NEAR(&rig, part, ((double[]){2, 3, 5, 6}), 0);
    OK(cnnlFill_v3(rig.handle, CNNL_POINTER_MODE_HOST, &number, T(part)));
    NEAR(&rig, part, ((double[]){7, 7, 7, 7}), 0);
    OK(cnnlStridedSlice_v2(rig.handle, T(tx), begin, end, step, T(part)));
    NEAR(&rig, part, ((double[]){2, 3, 5, 6}), 0);
    OK(cnnlFill_v3(rig.handle, CNNL_POINTER_MODE_DEVICE, left.ptr, T(part)));
    NEAR(&rig, part, ((double[]){1, 1, 1, 1}), 0);
    OK(cnnlCastDataType(rig.handle, T(tx), CNNL_CAST_FLOAT_TO_HALF, T(half)));
    NEAR(&rig, half, six, 0);
    OK(cnnlTri_v2(rig.handle, 0, true, T(tx), T(tx)));
    NEAR(&rig, tx, ((double[]){1, 2, 3, 0, 5, 6}), 0);
    rig_end(&rig);
}

static void other_libraries_share_handles_and_tensors(void)
{
    const int dims[] = {2, 3};
    struct rig rig = rig_begin();
    struct rig_tensor ty = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 3);
    mluOpHandle_t handle;
    mluOpTensorDescriptor_t d;
    mluOpFFTPlan_t plan;
    OK(mluOpCreate(&handle));
    OK(mluOpSetQueue(handle, rig.queue));
    OK(mluOpCreateTensorDescriptor(&d));
    OK(mluOpSetTensorDescriptor(d, MLUOP_LAYOUT_ARRAY, MLUOP_DTYPE_FLOAT, 2, dims));
    OK(cnnlFill(handle, 2, d, ty.ptr)); // a handle is a handle, a descriptor a descriptor
    NEAR(&rig, ty, ((double[]){2, 2, 2, 2, 2, 2}), 0);
    EXPECT(mluOpCreateFFTPlan(&plan), MLUOP_STATUS_NOT_SUPPORTED);
    EXPECT(cnnlExtraSetGenCaseMode(1), CNNL_STATUS_NOT_SUPPORTED);
    OK(mluOpDestroyTensorDescriptor(d));
    OK(mluOpDestroy(handle));
    rig_end(&rig);
}

static void ranges_count_up(void)
{
    const float start = 0.5F, step = 0.25F;
    const int64_t from = -3, by = 2;
    struct rig rig = rig_begin();
    struct rig_tensor reals = RIG(&rig, CNNL_DTYPE_HALF, NULL, 5),
                      whole = RIG(&rig, CNNL_DTYPE_INT64, NULL, 4);
    OK(cnnlArange_v3(rig.handle, &start, &step, T(reals)));
    NEAR(&rig, reals, ((double[]){0.5, 0.75, 1, 1.25, 1.5}), 0);
    OK(cnnlArange_v3(rig.handle, &from, &by, T(whole)));
    NEAR(&rig, whole, ((double[]){-3, -1, 1, 3}), 0);
    rig_end(&rig);
}

static void places_are_read_and_written(void)
{
    const double index[] = {1, 0}, value[] = {70, 80};
    struct rig rig = rig_begin();
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_FLOAT, six, 2, 3),
                      ti = RIG(&rig, CNNL_DTYPE_INT64, index, 2),
                      tv = RIG(&rig, CNNL_DTYPE_FLOAT, value, 2),
                      ty = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 2),
                      tz = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 3),
                      tt = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 2, 2),
                      places = RIG(&rig, CNNL_DTYPE_INT32, NULL, 2, 2);
    const cnnlTensorDescriptor_t second[CNNL_DIM_MAX] = {NULL, ti.desc};
    const void *const second_ptr[CNNL_DIM_MAX] = {NULL, ti.ptr};
    int rank = 0;
    int64_t sizes[CNNL_DIM_MAX];
    OK(cnnlGetAdvancedIndexOutputDim_v2(rig.handle, tx.desc, second, &rank, sizes));
    CU_ASSERT(rank == 2 && sizes[0] == 2 && sizes[1] == 2);
    OK(cnnlAdvancedIndex_v2(rig.handle, T(tx), second, second_ptr, NULL, 0, T(ty), NULL, NULL, NULL,
                            NULL));
    NEAR(&rig, ty, ((double[]){2, 1, 5, 4}), 0);
    const cnnlTensorDescriptor_t both[] = {ti.desc, ti.desc};
    const void *const both_ptr[] = {ti.ptr, ti.ptr};
    OK(cnnlIndexPut(rig.handle, T(tx), both, both_ptr, 2, T(tv), NULL, 0, true, true, T(tz)));
    NEAR(&rig, tz, ((double[]){81, 2, 3, 4, 75, 6}), 0);
    NEAR(&rig, tx, six, 0);
    OK(cnnlIndexSelect(rig.handle, 1, T(tx), T(ti), T(ty)));
    NEAR(&rig, ty, ((double[]){2, 1, 5, 4}), 0);
    OK(cnnlTopKTensor_v3(rig.handle, T(tx), 2, 1, true, true, false, NULL, 0, T(tt), T(places)));
    NEAR(&rig, tt, ((double[]){3, 2, 6, 5}), 0);
    NEAR(&rig, places, ((double[]){2, 1, 2, 1}), 0);
    rig_end(&rig);
}

static void masks_choose_elements(void)
{
    const double mask[] = {1, 0, 0, 1, 1, 0}, source[] = {10, 20, 30, 40, 50, 60};
    const float number = -1, scale = 2;
    struct rig rig = rig_begin();
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_FLOAT, six, 6),
                      tm = RIG(&rig, CNNL_DTYPE_BOOL, mask, 6),
                      ts = RIG(&rig, CNNL_DTYPE_FLOAT, source, 6),
                      one = RIG(&rig, CNNL_DTYPE_FLOAT, source, 1),
                      ty = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 6);
    OK(cnnlMasked_v4(rig.handle, CNNL_MASKED_FILL_HOST, T(tx), T(tm), NULL, NULL, &number, NULL, 0,
                     T(ty), NULL));
    NEAR(&rig, ty, ((double[]){-1, 2, 3, -1, -1, 6}), 0);
    OK(cnnlMasked_v4(rig.handle, CNNL_MASKED_FILL, T(tx), T(tm), T(one), NULL, NULL, 0, T(ty),
                     NULL));
    NEAR(&rig, ty, ((double[]){10, 2, 3, 10, 10, 6}), 0);
    OK(cnnlMasked_v4(rig.handle, CNNL_MASKED_SCATTER, T(tx), T(tm), T(ts), NULL, NULL, 0, T(ty),
                     NULL));
    NEAR(&rig, ty, ((double[]){10, 2, 3, 20, 30, 6}), 0);
    OK(cnnlMasked_v4(rig.handle, CNNL_MASKED_SCALE, T(tx), T(tm), NULL, NULL, &scale, NULL, 0,
                     T(ty), NULL));
    NEAR(&rig, ty, ((double[]){2, 0, 0, 8, 10, 0}), 0);
    OK(cnnlMasked_v4(rig.handle, CNNL_MASKED_SELECT, T(tx), T(tm), NULL, NULL, NULL, NULL, 0, T(ty),
                     NULL));
    double chosen[6];
    rig_read(&rig, &ty, chosen);
    CU_ASSERT(chosen[0] == 1 && chosen[1] == 4 && chosen[2] == 5); // the others are what they were
    rig_end(&rig);
}

static void random_numbers_follow_the_seed(void)
{
    enum { COUNT = 4096 };
    static double first[COUNT], again[COUNT], in[COUNT], mask[COUNT];
    double mean = 0, kept = 0;
    struct rig rig = rig_begin();
    struct rig_tensor ta = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, COUNT),
                      tm = RIG(&rig, CNNL_DTYPE_UINT8, NULL, COUNT);
    OK(cnnlGenerateRandUniform(rig.handle, CNNL_RAND_RNG_PHILOX, false, 7, 0, NULL, NULL, 0, 2, 4,
                               T(ta)));
    rig_read(&rig, &ta, first);
    OK(cnnlGenerateRandUniform(rig.handle, CNNL_RAND_RNG_PHILOX, false, 7, 0, NULL, NULL, 0, 2, 4,
                               T(ta)));
    rig_read(&rig, &ta, again);
    CU_ASSERT_EQUAL(memcmp(first, again, sizeof(first)), 0);
    for (int i = 0; i < COUNT; i++) {
        CU_ASSERT(first[i] >= 2 && first[i] <= 4);
        mean += first[i] / COUNT;
        in[i] = 1;
    }
    CU_ASSERT(fabs(mean - 3) < 0.05);
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_FLOAT, in, COUNT);
    OK(cnnlFusedDropout_v3(rig.handle, CNNL_RAND_RNG_PHILOX, T(tx), false, 7, 0, NULL, NULL, 0,
                           0.75, T(tm), T(ta)));
    rig_read(&rig, &ta, again);
    rig_read(&rig, &tm, mask);
    for (int i = 0; i < COUNT; i++) {
        CU_ASSERT(mask[i] == 0 || mask[i] == 1);
        CU_ASSERT(fabs(again[i] - mask[i] / 0.75) < 1e-6);
        kept += mask[i] / COUNT;
    }
    CU_ASSERT(fabs(kept - 0.75) < 0.03);
    EXPECT(cnnlGenerateRandUniform(rig.handle, CNNL_RAND_RNG_PHILOX, true, 0, 0, NULL, NULL, 0, 2,
                                   4, T(ta)),
           CNNL_STATUS_NOT_SUPPORTED);
    rig_end(&rig);
}

// The temporaries of one handle serve two queues, one after the other, without a wait of the host.
static void a_handle_changes_its_queue(void)
{
    const float alpha = 0.5F, beta = 1;
    double expected[6];
    struct rig rig = rig_begin();
    cnrtQueue_t other, now = NULL;
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_HALF, six, 6),
                      ty = RIG(&rig, CNNL_DTYPE_HALF, NULL, 6),
                      tz = RIG(&rig, CNNL_DTYPE_HALF, NULL, 6);
    for (int i = 0; i < 6; i++) {
        expected[i] = 0.5 * (0.5 * six[i] + 1) + 1;
    }
    OK(cnrtQueueCreate(&other));
    for (int i = 0; i < 4; i++) {
        OK(cnnlSetQueue(rig.handle, rig.queue));
        OK(cnnlTransform_v2(rig.handle, CNNL_POINTER_MODE_HOST, &alpha, T(tx), &beta, T(ty)));
        OK(cnnlSetQueue(rig.handle, other));
        OK(cnnlTransform_v2(rig.handle, CNNL_POINTER_MODE_HOST, &alpha, T(ty), &beta, T(tz)));
    }
    OK(cnnlGetQueue(rig.handle, &now));
    CU_ASSERT_PTR_EQUAL(now, other);
    OK(cnrtQueueSync(other));
    NEAR(&rig, tz, expected, 0);
    OK(cnnlSetQueue(rig.handle, rig.queue));
    OK(cnrtQueueDestroy(other));
    OK(cnnlAbs(rig.handle, T(tx), T(ty)));
    rig_end(&rig);
}

static void wrong_use_is_told(void)
{
    struct rig rig = rig_begin();
    int major = 0, minor = -1, patch = -1;
    cnnlTensorDescriptor_t fixed;
    struct rig_tensor tx = RIG(&rig, CNNL_DTYPE_FLOAT, six, 2, 3),
                      ty = RIG(&rig, CNNL_DTYPE_FLOAT, NULL, 3, 3);
    OK(cnnlGetLibVersion(&major, &minor, &patch));
    CU_ASSERT_EQUAL(cnnlGetVersion(), (size_t)(major * 10000 + minor * 100 + patch));
    CU_ASSERT_STRING_EQUAL(cnnlGetErrorString(CNNL_STATUS_NOT_SUPPORTED),
                           "CNNL_STATUS_NOT_SUPPORTED");
    EXPECT(cnnlAbs(NULL, T(tx), T(ty)), CNNL_STATUS_BAD_PARAM);
    EXPECT(cnnlAbs(rig.handle, NULL, tx.ptr, T(ty)), CNNL_STATUS_BAD_PARAM);
    TEXT("x_desc is NULL");
    EXPECT(cnnlAbs(rig.handle, tx.desc, NULL, T(ty)), CNNL_STATUS_BAD_PARAM);
    EXPECT(cnnlAbs(rig.handle, T(tx), T(ty)), CNNL_STATUS_BAD_PARAM);
    TEXT("[3, 3]");
    EXPECT(cnnlSetTensorDescriptor_v2(tx.desc, CNNL_LAYOUT_ARRAY, CNNL_DTYPE_FLOAT, 9, NULL),
           CNNL_STATUS_BAD_PARAM);
    EXPECT(cnnlSetTensorDescriptor_v2(tx.desc, CNNL_LAYOUT_ARRAY, (cnnlDataType_t)10, 0, NULL),
           CNNL_STATUS_BAD_PARAM);
    EXPECT(cnnlSetGenCaseMode(1), CNNL_STATUS_NOT_SUPPORTED);
    TEXT("not called from here yet");
    OK(cnnlCreateTensorDescriptor(&fixed));
    OK(cnnlSetTensorDescriptor_v2(fixed, CNNL_LAYOUT_ARRAY, CNNL_DTYPE_INT8, 1, (int64_t[]){6}));
    OK(cnnlSetTensorDescriptorPositionAndScale(fixed, -3, 1.5F));
    EXPECT(cnnlAbs(rig.handle, fixed, tx.ptr, fixed, tx.ptr), CNNL_STATUS_NOT_SUPPORTED);
    TEXT("fixed point");
    OK(cnnlDestroyTensorDescriptor(fixed));
    EXPECT(cnnlDestroyTensorDescriptor(NULL), CNNL_STATUS_BAD_PARAM);
    EXPECT(cnnlDestroy(NULL), CNNL_STATUS_BAD_PARAM);
    rig_end(&rig);
}

static const struct leo_test tests[] = {
    {"shapes_change", shapes_change},
    {"ranges_count_up", ranges_count_up},
    {"other_libraries_share_handles_and_tensors", other_libraries_share_handles_and_tensors},
    {"places_are_read_and_written", places_are_read_and_written},
    {"masks_choose_elements", masks_choose_elements},
    {"random_numbers_follow_the_seed", random_numbers_follow_the_seed},
    {"a_handle_changes_its_queue", a_handle_changes_its_queue},
    {"wrong_use_is_told", wrong_use_is_told},
};

int main(int argc, char **argv)
{
    return leo_test_main("cnnl_moves", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
