/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong calls of every operator, made from its row: each parameter NULL, of a type it does not
 * take, without memory, written through a stride of 0; odd shapes; the executor of another
 * operator, or one that is gone; no workspace or too little; a stream of another device. The code
 * is the documented one, the text names operator and parameter, and nothing is written.
 */
#include "rig_args.h"

#include <aclnn/aclnn_base.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMS = RIG_PARAMS, SLOT = 256, GUARD = 0x5b };

/* Device memory, a slot for each parameter, that no wrong call may touch. */
static unsigned char *memory;

/* Phase 1, and with `runs` phase 2, which must fail; the arguments end. */
static aclnnStatus plan_and_free(const struct op_test_row *row, union op_test_arg *args, bool runs)
{
    uint64_t bytes;
    aclOpExecutor *executor = NULL;
    aclnnStatus status = row->phase1(args, &bytes, &executor);
    if (!status) {
        const aclnnStatus run =
            runs ? row->phase2(memory, UINT64_MAX, executor, rig_stream()) : status;
        CU_ASSERT_EQUAL(aclDestroyAclOpExecutor(executor), 0);
        status = run;
    }
    for (unsigned i = 0; i < row->param_count; i++) {
        rig_arg_free(&row->params[i], args[i]);
    }
    return status;
}

/* Phase 1 with parameter `absent` NULL (PARAMS: none). */
static aclnnStatus call(const struct op_test_row *row, const struct rig_wish *wanted,
                        unsigned absent)
{
    struct rig_wish placed = *wanted;
    const struct rig_wish *wish = &placed;
    placed.memory = memory;
    placed.slot = SLOT;
    union op_test_arg args[PARAMS + 1];
    for (unsigned i = 0; i < row->param_count; i++) {
        args[i] = rig_arg_make(&row->params[i], i, wish);
        if (i == absent) {
            rig_arg_free(&row->params[i], args[i]);
            args[i] = (union op_test_arg){.integer = 0};
        }
    }
    return plan_and_free(row, args, wanted->no_memory);
}

static void expect(const struct op_test_row *row, const char *param, const char *what,
                   aclnnStatus status, aclnnStatus wanted)
{
    const char *text = aclGetRecentErrMsg();
    const bool named = text && strstr(text, row->name) && strstr(text, param);
    if (status != wanted || !named) {
        fprintf(stderr, "%s, %s %s: code %d, expected %d: %s\n", row->name, param, what, status,
                wanted, text ? text : "(no text)");
    }
    CU_ASSERT_EQUAL(status, wanted);
    CU_ASSERT_TRUE(named);
}

static const struct rig_wish plain = {.rank = 1, .param = PARAMS, .dim = {4}},
                             square = {.rank = 2, .param = PARAMS, .dim = {2, 2}};

static void parameters_are_checked(void)
{
    for (unsigned r = 0; r < op_test_row_count; r++) {
        const struct op_test_row *row = &op_test_rows[r];
        for (unsigned i = 0; i < row->param_count && rig_row_is_here(row); i++) {
            const struct op_test_param *param = &row->params[i];
            struct rig_wish wish = plain;
            wish.param = i;
            wish.type = rig_first_type(param);
            if (rig_param_is_handle(param) && !param->optional) {
                expect(row, param->name, "NULL", call(row, &plain, i), ACLNN_ERR_PARAM_NULLPTR);
            }
            if (param->code[0] != 'T') {
                continue;
            }
            if (param->role != 'I') {
                wish.repeats = true;
                expect(row, param->name, "with stride 0", call(row, &wish, PARAMS),
                       ACLNN_ERR_PARAM_INVALID);
                wish.repeats = false;
                wish.overlaps = true;
                wish.shape = &square;
                expect(row, param->name, "over itself", call(row, &wish, PARAMS),
                       ACLNN_ERR_PARAM_INVALID);
                wish.overlaps = false;
                wish.shape = NULL;
            }
            // Phase 1 asks for a size only: what it refuses has another reason. Phase 2 needs all.
            const aclnnStatus planned = call(row, &wish, PARAMS);
            wish.no_memory = true;
            const aclnnStatus status = call(row, &wish, PARAMS);
            if (planned) {
                CU_ASSERT_EQUAL(status, planned);
                (void)aclGetRecentErrMsg();
            } else {
                expect(row, param->name, "without memory", status, ACLNN_ERR_PARAM_NULLPTR);
            }
            wish.no_memory = false;
            wish.format = ACL_FORMAT_NC1HWC0_C04;
            expect(row, param->name, "in a format that is none of ours", call(row, &wish, PARAMS),
                   ACLNN_ERR_PARAM_INVALID);
            wish.format = 0;
            for (unsigned type = 0; type < OP_TYPES; type++) {
                if (!(rig_types(param) >> type & 1)) {
                    wish.type = (enum op_type)type;
                    expect(row, param->name, "of another type", call(row, &wish, PARAMS),
                           ACLNN_ERR_PARAM_INVALID);
                    break;
                }
            }
        }
    }
}

/* An operator that the chip does not have says so. */
static void numbers_below_zero_are_refused(void)
{
    const int64_t count = 4;
    struct rig_tensor x = rig_tensor_eighths(OP_TYPE_F32, 1, &count, RIG_DENSE, 1),
                      y = rig_tensor_eighths(OP_TYPE_F32, 1, &count, RIG_DENSE, 2);
    for (int sign = -1; sign < 2; sign++) {
        const float bound = 0.5f * (float)sign;
        aclScalar *number = aclCreateScalar((void *)(uintptr_t)&bound, ACL_FLOAT);
        const union op_test_arg args[] = {{.tensor = x.acl}, {.scalar = number}, {.tensor = y.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("Softshrink"), args, sign >= 0), sign < 0 ? 161002 : 0);
        aclDestroyScalar(number);
    }
    rig_tensor_free(&x);
    rig_tensor_free(&y);
}

static void missing_operators_are_told(void)
{
    for (unsigned r = 0; r < op_test_row_count; r++) {
        const struct op_test_row *row = &op_test_rows[r];
        if (!rig_row_is_here(row)) {
            expect(row, "this operator is not on ", "on this chip", call(row, &plain, PARAMS),
                   ACLNN_ERR_PARAM_INVALID);
        }
    }
}

/* Whatever the shapes, phase 1 plans the call or says what it is about. */
static void odd_shapes_are_planned_or_told(void)
{
    static const struct rig_wish shapes[] = {
        {.rank = 0, .param = PARAMS},
        {.rank = 1, .param = PARAMS, .dim = {0}},
        {.rank = 1, .param = PARAMS, .dim = {1}},
        {.rank = 2, .param = PARAMS, .dim = {3, 5}},
        {.rank = 2, .param = PARAMS, .dim = {0, 3}},
        {.rank = 3, .param = PARAMS, .dim = {2, 2, 3}},
        {.rank = 4, .param = PARAMS, .dim = {1, 2, 2, 2}},
        {.rank = 5, .param = PARAMS, .dim = {1, 1, 2, 2, 2}},
        {.rank = 8, .param = PARAMS, .dim = {1, 1, 2, 1, 2, 1, 2, 1}},
    };
    for (unsigned r = 0; r < op_test_row_count; r++) {
        const struct op_test_row *row = &op_test_rows[r];
        for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]) && rig_row_is_here(row); i++) {
            const aclnnStatus status = call(row, &shapes[i], PARAMS);
            if (status) {
                expect(row, "", "of an odd shape", status, ACLNN_ERR_PARAM_INVALID);
            }
        }
    }
}

/* The same with one tensor of another shape than the rest. */
static void one_odd_shape_is_planned_or_told(void)
{
    static const struct rig_wish all = {.rank = 2, .param = PARAMS, .dim = {4, 6}};
    static const struct rig_wish others[] = {
        {.rank = 0},
        {.rank = 1, .dim = {0}},
        {.rank = 2, .dim = {5, 7}},
        {.rank = 3, .dim = {1, 4, 6}},
        {.rank = 8, .dim = {1, 1, 1, 1, 1, 1, 1, 1}},
    };
    for (unsigned r = 0; r < op_test_row_count; r++) {
        const struct op_test_row *row = &op_test_rows[r];
        for (unsigned i = 0; i < row->param_count && rig_row_is_here(row); i++) {
            struct rig_wish wish = all;
            wish.param = i;
            wish.type = rig_first_type(&row->params[i]);
            for (unsigned k = 0; row->params[i].code[0] == 'T' && k < 5; k++) {
                wish.shape = &others[k];
                const aclnnStatus status = call(row, &wish, PARAMS);
                if (status) {
                    expect(row, "", "of another shape", status, ACLNN_ERR_PARAM_INVALID);
                }
            }
        }
    }
}

static aclnnStatus abs_of(const int64_t *stride, int64_t offset)
{
    static const int64_t dim[] = {4, 6}, dense[] = {6, 1};
    const struct op_test_row *row = rig_row("Abs");
    aclTensor *self =
                  aclCreateTensor(dim, 2, ACL_FLOAT, stride, offset, ACL_FORMAT_ND, dim, 2, memory),
              *out = aclCreateTensor(dim, 2, ACL_FLOAT, dense, 0, ACL_FORMAT_ND, dim, 2,
                                     memory + SLOT);
    const union op_test_arg args[] = {{.tensor = self}, {.tensor = out}};
    uint64_t bytes;
    aclOpExecutor *executor;
    const aclnnStatus status = row->phase1(args, &bytes, &executor);
    if (status) {
        expect(row, "self", "of a part that is not there", status, ACLNN_ERR_PARAM_INVALID);
    } else {
        CU_ASSERT_EQUAL(aclDestroyAclOpExecutor(executor), 0);
    }
    CU_ASSERT_EQUAL(aclDestroyTensor(self), 0);
    CU_ASSERT_EQUAL(aclDestroyTensor(out), 0);
    return status;
}

/* Channels come second, whatever a caller's dimensions are called; views lie in their storage. */
static void tensors_are_what_they_say(void)
{
    static const struct rig_wish image = {.rank = 4, .param = 1, .dim = {1, 2, 4, 4}};
    static const int64_t stride[] = {6, 1}, far[] = {6, 2};
    static const char *const names[] = {"Convolution", "MaxPool2dWithMask", "UpsampleNearest2d",
                                        "BatchNorm"};
    for (unsigned k = 0; k < 4; k++) {
        const struct op_test_row *row = rig_row(names[k]);
        struct rig_wish wish = image;
        wish.param = 0;
        wish.type = rig_first_type(&row->params[0]);
        wish.format = ACL_FORMAT_NHWC;
        expect(row, "has format NHWC", "is", call(row, &wish, PARAMS), ACLNN_ERR_PARAM_INVALID);
    }
    CU_ASSERT_EQUAL(abs_of(stride, 0), 0);
    CU_ASSERT_EQUAL(abs_of(stride, -1), ACLNN_ERR_PARAM_INVALID);
    CU_ASSERT_EQUAL(abs_of(stride, 1), ACLNN_ERR_PARAM_INVALID);
    CU_ASSERT_EQUAL(abs_of(far, 0), ACLNN_ERR_PARAM_INVALID);
}

// Phase 1 of Abs into a result of three dimensions with these strides.
static aclnnStatus abs_into(const int64_t *dim, const int64_t *stride)
{
    const struct op_test_row *row = rig_row("Abs");
    const int64_t storage = 1024, dense[] = {dim[1] * dim[2], dim[2], 1};
    aclTensor *self =
                  aclCreateTensor(dim, 3, ACL_FLOAT, dense, 0, ACL_FORMAT_ND, &storage, 1, memory),
              *out = aclCreateTensor(dim, 3, ACL_FLOAT, stride, 0, ACL_FORMAT_ND, &storage, 1,
                                     memory + SLOT);
    const union op_test_arg args[] = {{.tensor = self}, {.tensor = out}};
    uint64_t bytes;
    aclOpExecutor *executor;
    const aclnnStatus status = row->phase1(args, &bytes, &executor);
    if (!status) {
        CU_ASSERT_EQUAL(aclDestroyAclOpExecutor(executor), 0);
    }
    CU_ASSERT_EQUAL(aclDestroyTensor(self), 0);
    CU_ASSERT_EQUAL(aclDestroyTensor(out), 0);
    return status;
}

/* Whether elements share memory, seen from marking each place. */
static bool shares(const int64_t *dim, const int64_t *stride)
{
    bool marked[1024] = {false}, twice = false;
    for (int64_t i = 0; i < dim[0] * dim[1] * dim[2]; i++) {
        const int64_t at = i / (dim[1] * dim[2]) * stride[0] + i / dim[2] % dim[1] * stride[1] +
                           i % dim[2] * stride[2];
        twice = twice || marked[at];
        marked[at] = true;
    }
    return twice;
}

static void results_do_not_overlap_themselves(void)
{
    uint64_t state = 1;
    unsigned refused = 0;
    for (unsigned i = 0; i < 5000; i++) {
        int64_t dim[3], stride[3];
        for (unsigned d = 0; d < 3; d++) {
            dim[d] = 1 + (int64_t)(rig_random(&state) % 6);
            stride[d] = 1 + (int64_t)(rig_random(&state) % 60);
        }
        const bool wanted = shares(dim, stride);
        CU_ASSERT_EQUAL(abs_into(dim, stride), wanted ? ACLNN_ERR_PARAM_INVALID : 0);
        refused += wanted;
    }
    CU_ASSERT_TRUE(refused > 500 && refused < 4500);
}

/* The text is about a parameter of the call, not of an operator that it is made of. */
static void texts_are_about_the_call(void)
{
    static const struct {
        const char *row, *param, *text;
    } cases[] = {
        {"Cummax", "indicesOut", "indicesOut has shape"},
        {"Cummin", "indicesOut", "indicesOut has shape"},
        {"GeluBackwardV2", "gradInput", "gradInput has shape"},
        {"GeluBackwardV2", "self", "self of shape"},
        {"PreluBackward", "gradInput", "gradInput has shape"},
        {"PreluBackward", "gradOutput", "gradOutput has shape"},
        {"BinaryCrossEntropyWithLogitsTargetBackward", "gradTarget", "gradTarget has shape"},
        {"BinaryCrossEntropyWithLogitsTargetBackward", "gradOutput", "gradOutput of shape"},
        {"BinaryCrossEntropyWithLogitsTargetBackward", "weightOptional", "weightOptional of shape"},
        {"BinaryCrossEntropyWithLogitsTargetBackward", "posWeightOptional",
         "posWeightOptional of shape"},
        {"IndexFillTensor", "out", "out has shape"},
        {"MaxUnpool2d", "indices", "indices"},
    };
    static const struct rig_wish other = {.rank = 2, .dim = {5, 7}};
    for (unsigned k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        const struct op_test_row *row = rig_row(cases[k].row);
        struct rig_wish wish = {.rank = 2, .param = PARAMS, .dim = {4, 6}, .shape = &other};
        for (unsigned i = 0; i < row->param_count; i++) {
            if (strcmp(row->params[i].name, cases[k].param) == 0) {
                wish.param = i;
                wish.type = rig_first_type(&row->params[i]);
            }
        }
        CU_ASSERT_NOT_EQUAL_FATAL(wish.param, PARAMS);
        expect(row, cases[k].text, "of another shape", call(row, &wish, PARAMS),
               ACLNN_ERR_PARAM_INVALID);
    }
}

/* Phase 1 of a row of x (4 x 6), lists of integers and a result. */
static aclnnStatus with_lists(const char *name, int64_t first, int64_t second)
{
    static const int64_t dim[] = {4, 6}, dense[] = {6, 1};
    const struct op_test_row *row = rig_row(name);
    const int64_t items[] = {first, second};
    union op_test_arg args[4];
    for (unsigned i = 0; i < row->param_count; i++) {
        if (strcmp(row->params[i].code, "IA") == 0) {
            args[i].ints = aclCreateIntArray(items, 2);
        } else {
            args[i].tensor = aclCreateTensor(dim, 2, ACL_FLOAT, dense, 0, ACL_FORMAT_ND, dim, 2,
                                             memory + i * SLOT);
        }
    }
    return plan_and_free(row, args, false);
}

static void lists_are_told_by_their_items(void)
{
    CU_ASSERT_EQUAL(with_lists("Roll", 0, 1), 0);
    expect(rig_row("Roll"), "dims[1] is 2", "out of range", with_lists("Roll", 0, 2),
           ACLNN_ERR_PARAM_INVALID);
    expect(rig_row("Roll"), "dims[0] is -3", "out of range", with_lists("Roll", -3, 0),
           ACLNN_ERR_PARAM_INVALID);
    CU_ASSERT_EQUAL(with_lists("Repeat", 1, 1), 0);
    expect(rig_row("Repeat"), "repeats[0] is -1", "negative", with_lists("Repeat", -1, 1),
           ACLNN_ERR_PARAM_INVALID);
    expect(rig_row("Repeat"), "repeats[1] is -4", "negative", with_lists("Repeat", 0, -4),
           ACLNN_ERR_PARAM_INVALID);
}

static struct rig_wish placed_plain(void)
{
    struct rig_wish wish = plain;
    wish.memory = memory;
    wish.slot = SLOT;
    return wish;
}

static void places_for_results_are_needed(void)
{
    const struct rig_wish placed = placed_plain();
    for (unsigned r = 0; r < op_test_row_count; r++) {
        const struct op_test_row *row = &op_test_rows[r];
        union op_test_arg args[PARAMS + 1];
        uint64_t bytes;
        aclOpExecutor *executor;
        for (unsigned i = 0; i < row->param_count; i++) {
            args[i] = rig_arg_make(&row->params[i], i, &placed);
        }
        expect(row, "workspaceSize", "NULL", row->phase1(args, NULL, &executor),
               ACLNN_ERR_PARAM_NULLPTR);
        expect(row, "executor", "NULL", row->phase1(args, &bytes, NULL), ACLNN_ERR_PARAM_NULLPTR);
        for (unsigned i = 0; i < row->param_count; i++) {
            rig_arg_free(&row->params[i], args[i]);
        }
    }
}

static void executors_belong_to_their_operator(void)
{
    const struct op_test_row *abs = rig_row("Abs");
    const struct rig_wish placed = placed_plain();
    union op_test_arg args[2];
    uint64_t bytes;
    aclOpExecutor *executor = NULL;
    for (unsigned i = 0; i < 2; i++) {
        args[i] = rig_arg_make(&abs->params[i], i, &placed);
    }
    CU_ASSERT_EQUAL_FATAL(abs->phase1(args, &bytes, &executor), 0);
    CU_ASSERT_EQUAL(aclSetAclOpExecutorRepeatable(executor), 0);
    for (unsigned r = 0; r < op_test_row_count; r++) {
        const struct op_test_row *row = &op_test_rows[r];
        if (row != abs) {
            expect(row, "aclnnAbsGetWorkspaceSize", "executor of Abs",
                   row->phase2(NULL, 0, executor, rig_stream()), ACLNN_ERR_PARAM_INVALID);
        }
        expect(row, "executor", "NULL", row->phase2(NULL, 0, NULL, rig_stream()),
               ACLNN_ERR_PARAM_NULLPTR);
    }
    CU_ASSERT_EQUAL(aclDestroyAclOpExecutor(executor), 0);
    expect(abs, "executor", "destroyed", abs->phase2(NULL, 0, executor, rig_stream()),
           ACLNN_ERR_PARAM_INVALID);
    for (unsigned i = 0; i < 2; i++) {
        rig_arg_free(&abs->params[i], args[i]);
    }
}

/* Phase 2 of planned calls of every operator: without workspace, with too little, on a stream of
 * another device. */
static void workspaces_and_streams_must_fit(void)
{
    static const struct rig_wish shapes[] = {
        {.rank = 1, .param = PARAMS, .dim = {4}},
        {.rank = 2, .param = PARAMS, .dim = {4, 4}},
        {.rank = 4, .param = PARAMS, .dim = {1, 2, 2, 2}},
    };
    unsigned planned = 0, with_workspace = 0;
    aclrtStream other;
    CU_ASSERT_EQUAL_FATAL(aclrtSetDevice(1), 0); // LEO_DEVICES=2, as ctest sets it
    CU_ASSERT_EQUAL_FATAL(aclrtCreateStream(&other), 0);
    CU_ASSERT_EQUAL_FATAL(aclrtSetDevice(0), 0);
    for (unsigned r = 0; r < op_test_row_count; r++) {
        const struct op_test_row *row = &op_test_rows[r];
        for (unsigned k = 0; k < sizeof(shapes) / sizeof(shapes[0]) && rig_row_is_here(row); k++) {
            struct rig_wish placed = shapes[k];
            union op_test_arg args[PARAMS + 1];
            uint64_t bytes = 0;
            aclOpExecutor *executor = NULL;
            placed.memory = memory;
            placed.slot = SLOT;
            for (unsigned i = 0; i < row->param_count; i++) {
                args[i] = rig_arg_make(&row->params[i], i, &placed);
            }
            if (!row->phase1(args, &bytes, &executor)) {
                planned++;
                CU_ASSERT_EQUAL(aclSetAclOpExecutorRepeatable(executor), 0);
                expect(row, "stream", "of another device",
                       row->phase2(memory, bytes, executor, other), ACLNN_ERR_RUNTIME_ERROR);
                CU_ASSERT_EQUAL(aclrtSetDevice(1), 0);
                expect(row, "stream", "of another device than phase 1's",
                       row->phase2(memory, bytes, executor, other), ACLNN_ERR_PARAM_INVALID);
                CU_ASSERT_EQUAL(aclrtSetDevice(0), 0);
                if (bytes > 0) {
                    with_workspace++;
                    expect(row, "workspace", "NULL",
                           row->phase2(NULL, bytes, executor, rig_stream()),
                           ACLNN_ERR_PARAM_NULLPTR);
                    expect(row, "workspace", "too small",
                           row->phase2(memory, bytes - 1, executor, rig_stream()),
                           ACLNN_ERR_PARAM_INVALID);
                }
                CU_ASSERT_EQUAL(aclDestroyAclOpExecutor(executor), 0);
                expect(row, "executor", "destroyed",
                       row->phase2(memory, bytes, executor, rig_stream()), ACLNN_ERR_PARAM_INVALID);
            }
            for (unsigned i = 0; i < row->param_count; i++) {
                rig_arg_free(&row->params[i], args[i]);
            }
        }
    }
    printf("%u calls, %u with workspace\n", planned, with_workspace);
    CU_ASSERT_TRUE(planned > 400 && with_workspace > 40);
    CU_ASSERT_EQUAL(aclrtSetDevice(1), 0);
    CU_ASSERT_EQUAL(aclrtDestroyStream(other), 0);
    CU_ASSERT_EQUAL(aclrtResetDevice(1), 0);
    CU_ASSERT_EQUAL(aclrtSetDevice(0), 0);
}

static void nothing_was_written(void)
{
    unsigned char *host = malloc((size_t)PARAMS * SLOT);
    CU_ASSERT_PTR_NOT_NULL_FATAL(host);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    CU_ASSERT_EQUAL(aclrtMemcpy(host, PARAMS * SLOT, memory, PARAMS * SLOT, 2), 0);
    for (size_t i = 0; i < (size_t)PARAMS * SLOT; i++) {
        CU_ASSERT_EQUAL(host[i], GUARD);
    }
    free(host);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"parameters_are_checked", parameters_are_checked},
        {"numbers_below_zero_are_refused", numbers_below_zero_are_refused},
        {"missing_operators_are_told", missing_operators_are_told},
        {"odd_shapes_are_planned_or_told", odd_shapes_are_planned_or_told},
        {"one_odd_shape_is_planned_or_told", one_odd_shape_is_planned_or_told},
        {"tensors_are_what_they_say", tensors_are_what_they_say},
        {"results_do_not_overlap_themselves", results_do_not_overlap_themselves},
        {"texts_are_about_the_call", texts_are_about_the_call},
        {"lists_are_told_by_their_items", lists_are_told_by_their_items},
        {"places_for_results_are_needed", places_for_results_are_needed},
        {"executors_belong_to_their_operator", executors_belong_to_their_operator},
        {"workspaces_and_streams_must_fit", workspaces_and_streams_must_fit},
        {"nothing_was_written", nothing_was_written},
    };
    rig_open();
    if (aclrtMalloc((void **)&memory, PARAMS * SLOT, 0) ||
        aclrtMemset(memory, PARAMS * SLOT, GUARD, PARAMS * SLOT)) {
        return 1;
    }
    const int code =
        leo_test_main("aclnn_bad_input", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
