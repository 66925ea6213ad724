/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef _Float16 half_float;

enum { GUARD = RIG_GUARD, GUARD_BYTE = 0xff }; // NaN in every float type

// One device and stream for the program: the interface under test has one process as well.
static struct {
    aclrtStream stream;
    unsigned chip;
} rig;

static void must(int code, const char *what)
{
    if (code) {
        const char *text = aclGetRecentErrMsg();
        fprintf(stderr, "%s: %d %s\n", what, code, text ? text : "");
        CU_FAIL_FATAL("the device does not work");
    }
}

void rig_open(void)
{
    must(aclInit(NULL), "aclInit");
    must(aclrtSetDevice(0), "aclrtSetDevice");
    must(aclrtCreateStream(&rig.stream), "aclrtCreateStream");
    rig.chip = strstr(aclrtGetSocName(), "910B") != NULL;
}

void rig_close(void)
{
    must(aclrtDestroyStream(rig.stream), "aclrtDestroyStream");
    must(aclrtResetDevice(0), "aclrtResetDevice");
    must(aclFinalize(), "aclFinalize");
}

void rig_reset(void)
{
    must(aclrtDestroyStream(rig.stream), "aclrtDestroyStream");
    must(aclrtResetDevice(0), "aclrtResetDevice");
    must(aclrtSetDevice(0), "aclrtSetDevice");
    must(aclrtCreateStream(&rig.stream), "aclrtCreateStream");
}

aclrtStream rig_stream(void)
{
    return rig.stream;
}

unsigned rig_chip(void)
{
    return rig.chip;
}

const struct op_test_row *rig_row(const char *name)
{
    for (unsigned i = 0; i < op_test_row_count; i++) {
        if (strcmp(op_test_rows[i].name, name) == 0) {
            return &op_test_rows[i];
        }
    }
    fprintf(stderr, "there is no operator %s\n", name);
    abort();
}

static const struct {
    const char *name;
    aclDataType acl;
    unsigned bytes;
} types[OP_TYPES] = {
    [OP_TYPE_F32] = {"f32", ACL_FLOAT, 4},
    [OP_TYPE_F16] = {"f16", ACL_FLOAT16, 2},
    [OP_TYPE_BF16] = {"bf16", ACL_BF16, 2},
    [OP_TYPE_F64] = {"f64", ACL_DOUBLE, 8},
    [OP_TYPE_I8] = {"i8", ACL_INT8, 1},
    [OP_TYPE_U8] = {"u8", ACL_UINT8, 1},
    [OP_TYPE_I16] = {"i16", ACL_INT16, 2},
    [OP_TYPE_U16] = {"u16", ACL_UINT16, 2},
    [OP_TYPE_I32] = {"i32", ACL_INT32, 4},
    [OP_TYPE_U32] = {"u32", ACL_UINT32, 4},
    [OP_TYPE_I64] = {"i64", ACL_INT64, 8},
    [OP_TYPE_U64] = {"u64", ACL_UINT64, 8},
    [OP_TYPE_BOOL] = {"bool", ACL_BOOL, 1},
    [OP_TYPE_C64] = {"c64", ACL_COMPLEX64, 8},
    [OP_TYPE_C128] = {"c128", ACL_COMPLEX128, 16},
};

unsigned rig_type_bytes(enum op_type type)
{
    return types[type].bytes;
}

aclDataType rig_acl_type(enum op_type type)
{
    return types[type].acl;
}

const char *rig_type_name(enum op_type type)
{
    return types[type].name;
}

uint64_t rig_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 20;
}

static uint16_t to_bfloat(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    if (value != value) {
        return 0x7fc0;
    }
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float rig_get_f(const void *at, enum op_type type)
{
    uint16_t bits;
    uint32_t wide;
    half_float half;
    float value;
    uint64_t u64;
    switch (type) {
    case OP_TYPE_F32:
        memcpy(&value, at, 4);
        return value;
    case OP_TYPE_F16:
        memcpy(&half, at, 2);
        return (float)half;
    case OP_TYPE_BF16:
        memcpy(&bits, at, 2);
        wide = (uint32_t)bits << 16;
        memcpy(&value, &wide, 4);
        return value;
    case OP_TYPE_F64:
        return (float)rig_get_d(at, type);
    case OP_TYPE_U64:
        memcpy(&u64, at, 8);
        return (float)u64;
    default:
        return (float)rig_get_i(at, type);
    }
}

double rig_get_d(const void *at, enum op_type type)
{
    double value;
    switch (type) {
    case OP_TYPE_F64:
        memcpy(&value, at, 8);
        return value;
    case OP_TYPE_F32:
    case OP_TYPE_F16:
    case OP_TYPE_BF16:
    case OP_TYPE_U64:
        return (double)rig_get_f(at, type);
    default:
        return (double)rig_get_i(at, type);
    }
}

static int64_t to_integer(double value)
{
    return value != value    ? 0
           : value >= 0x1p63 ? INT64_MAX
           : value < -0x1p63 ? INT64_MIN
                             : (int64_t)value;
}

int64_t rig_get_i(const void *at, enum op_type type)
{
    int64_t value = 0;
    switch (type) {
    case OP_TYPE_I8:
        return *(const int8_t *)at;
    case OP_TYPE_U8:
    case OP_TYPE_BOOL:
        return *(const uint8_t *)at;
    case OP_TYPE_I16: {
        int16_t narrow;
        memcpy(&narrow, at, 2);
        return narrow;
    }
    case OP_TYPE_I32: {
        int32_t narrow;
        memcpy(&narrow, at, 4);
        return narrow;
    }
    case OP_TYPE_U16:
    case OP_TYPE_U32:
    case OP_TYPE_I64:
    case OP_TYPE_U64:
        memcpy(&value, at, types[type].bytes);
        return value;
    default:
        return to_integer(rig_get_d(at, type));
    }
}

static int64_t saturate(enum op_type type, int64_t value)
{
    if (type == OP_TYPE_I32) {
        return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
    }
    if (type == OP_TYPE_U32) {
        return value > UINT32_MAX ? UINT32_MAX : value < 0 ? 0 : value;
    }
    return value;
}

void rig_put_f(void *at, enum op_type type, float value)
{
    half_float half;
    uint16_t bits;
    switch (type) {
    case OP_TYPE_F32:
        memcpy(at, &value, 4);
        return;
    case OP_TYPE_F16:
        half = (half_float)value;
        memcpy(at, &half, 2);
        return;
    case OP_TYPE_BF16:
        bits = to_bfloat(value);
        memcpy(at, &bits, 2);
        return;
    default:
        rig_put_d(at, type, (double)value);
        return;
    }
}

void rig_put_d(void *at, enum op_type type, double value)
{
    switch (type) {
    case OP_TYPE_F64:
        memcpy(at, &value, 8);
        return;
    case OP_TYPE_F32:
    case OP_TYPE_F16:
    case OP_TYPE_BF16:
        rig_put_f(at, type, (float)value);
        return;
    case OP_TYPE_BOOL:
        *(uint8_t *)at = value != 0;
        return;
    default:
        rig_put_i(at, type, saturate(type, to_integer(value)));
        return;
    }
}

void rig_put_i(void *at, enum op_type type, int64_t value)
{
    double wide;
    switch (type) {
    case OP_TYPE_F32:
    case OP_TYPE_F16:
    case OP_TYPE_BF16:
        rig_put_f(at, type, (float)value);
        return;
    case OP_TYPE_F64:
        wide = (double)value;
        memcpy(at, &wide, 8);
        return;
    case OP_TYPE_C64:
    case OP_TYPE_C128:
        memset(at, 0, types[type].bytes);
        rig_put_i(at, type == OP_TYPE_C64 ? OP_TYPE_F32 : OP_TYPE_F64, value);
        return;
    case OP_TYPE_BOOL:
        *(uint8_t *)at = value != 0;
        return;
    default:
        memcpy(at, &value, types[type].bytes);
        return;
    }
}

// Small numbers mostly, every 7th a special one of the type.
static void random_element(unsigned char *at, enum op_type type, uint64_t *state)
{
    static const float specials[] = {0.0f,      -0.0f,    INFINITY, -INFINITY, NAN,
                                     0x1p-140f, 65504.0f, 1e30f,    -1e30f,    1.0f};
    const uint64_t bits = rig_random(state);
    const double small = ((double)(int64_t)(bits % 4096) - 2048) / 64;
    if (type == OP_TYPE_BOOL) {
        *at = bits & 1;
    } else if (type == OP_TYPE_C64 || type == OP_TYPE_C128) {
        const enum op_type part = type == OP_TYPE_C64 ? OP_TYPE_F32 : OP_TYPE_F64;
        random_element(at, part, state);
        random_element(at + types[part].bytes, part, state);
    } else if (type == OP_TYPE_F32 || type == OP_TYPE_F16 || type == OP_TYPE_BF16 ||
               type == OP_TYPE_F64) {
        rig_put_d(at, type, bits % 7 == 0 ? (double)specials[bits / 7 % 10] : small);
    } else {
        rig_put_i(at, type,
                  bits % 7 == 0 ? INT64_MIN >> (64 - 8 * types[type].bytes) : (int64_t)small);
    }
}

int64_t rig_tensor_count(const struct rig_tensor *tensor)
{
    int64_t count = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        count *= tensor->dim[i];
    }
    return count;
}

static void lay_out(struct rig_tensor *tensor, enum rig_layout layout)
{
    int64_t stride = 1;
    tensor->offset = layout == RIG_SLICED ? 3 : 0;
    for (unsigned i = tensor->rank; i-- > 0;) {
        // Permuted: the first dimension is the one without gaps. Sliced: rows of a wider matrix.
        const unsigned at = layout == RIG_PERMUTED ? tensor->rank - 1 - i : i;
        tensor->stride[at] = stride;
        stride *= tensor->dim[at] + (layout == RIG_SLICED ? 2 : 0);
        stride = stride ? stride : 1;
    }
    if (layout == RIG_EXPANDED && tensor->rank > 0) {
        tensor->stride[0] = 0;
    }
}

struct rig_tensor rig_tensor_make(enum op_type type, unsigned rank, const int64_t *dim,
                                  enum rig_layout layout, uint64_t seed)
{
    struct rig_tensor tensor = {.type = type, .rank = rank};
    memcpy(tensor.dim, dim, rank * sizeof(*dim));
    lay_out(&tensor, layout);
    int64_t last = tensor.offset;
    for (unsigned i = 0; i < rank; i++) {
        last += dim[i] > 0 ? (dim[i] - 1) * tensor.stride[i] : 0;
    }
    const int64_t elements = last + 1;
    const size_t bytes = (size_t)elements * types[type].bytes;
    tensor.storage_bytes = bytes;
    tensor.host = malloc(bytes);
    for (int64_t i = 0; i < elements; i++) {
        random_element(tensor.host + (size_t)i * types[type].bytes, type, &seed);
    }
    void *base;
    must(aclrtMalloc(&base, bytes + (size_t)2 * GUARD, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    tensor.base = (uintptr_t)base;
    must(aclrtMemset(base, bytes + (size_t)2 * GUARD, GUARD_BYTE, bytes + (size_t)2 * GUARD),
         "aclrtMemset");
    tensor.acl = aclCreateTensor(tensor.dim, rank, types[type].acl, tensor.stride, tensor.offset,
                                 ACL_FORMAT_ND, &elements, 1, (char *)base + GUARD);
    CU_ASSERT_PTR_NOT_NULL_FATAL(tensor.acl);
    rig_tensor_put(&tensor);
    return tensor;
}

struct rig_tensor rig_tensor_eighths(enum op_type type, unsigned rank, const int64_t *dim,
                                     enum rig_layout layout, uint64_t seed)
{
    struct rig_tensor tensor = rig_tensor_make(type, rank, dim, layout, seed);
    const int64_t count = rig_tensor_count(&tensor);
    for (int64_t i = 0; i < count; i++) {
        rig_put_d(rig_tensor_at(&tensor, i), type, ((double)(rig_random(&seed) % 17) - 8) / 8);
    }
    rig_tensor_put(&tensor);
    return tensor;
}

void rig_tensor_put(struct rig_tensor *tensor)
{
    must(aclrtMemcpy((char *)(uintptr_t)tensor->base + GUARD, tensor->storage_bytes, tensor->host,
                     tensor->storage_bytes, ACL_MEMCPY_HOST_TO_DEVICE),
         "aclrtMemcpy");
}

void rig_tensor_take(struct rig_tensor *tensor)
{
    const size_t bytes = tensor->storage_bytes + (size_t)2 * GUARD;
    unsigned char *all = malloc(bytes);
    must(aclrtMemcpy(all, bytes, (void *)(uintptr_t)tensor->base, bytes, ACL_MEMCPY_DEVICE_TO_HOST),
         "aclrtMemcpy");
    bool whole = true;
    for (size_t i = 0; i < GUARD; i++) {
        whole =
            whole && all[i] == GUARD_BYTE && all[GUARD + tensor->storage_bytes + i] == GUARD_BYTE;
    }
    CU_ASSERT_TRUE(whole);
    memcpy(tensor->host, all + GUARD, tensor->storage_bytes);
    free(all);
}

void rig_tensor_free(struct rig_tensor *tensor)
{
    must(aclDestroyTensor(tensor->acl), "aclDestroyTensor");
    must(aclrtFree((void *)(uintptr_t)tensor->base), "aclrtFree");
    free(tensor->host);
}

void *rig_tensor_at(const struct rig_tensor *tensor, int64_t index)
{
    int64_t at = tensor->offset;
    for (unsigned i = tensor->rank; i-- > 0;) {
        at += index % tensor->dim[i] * tensor->stride[i];
        index /= tensor->dim[i];
    }
    return tensor->host + (size_t)at * types[tensor->type].bytes;
}

aclnnStatus rig_run(const struct op_test_row *row, const union op_test_arg *args, bool loud)
{
    uint64_t bytes = 0;
    aclOpExecutor *executor = NULL;
    void *workspace = NULL;
    aclnnStatus code = row->phase1(args, &bytes, &executor);
    if (!code && bytes > 0) {
        must(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    }
    if (!code) {
        code = row->phase2(workspace, bytes, executor, rig.stream);
    }
    if (!code) {
        code = aclrtSynchronizeStream(rig.stream);
    }
    if (code && loud) {
        const char *text = aclGetRecentErrMsg();
        fprintf(stderr, "aclnn%s: %d %s\n", row->name, code, text ? text : "");
    }
    if (workspace) {
        must(aclrtFree(workspace), "aclrtFree");
    }
    return code;
}

void rig_run_finite(const struct op_test_row *row, const union op_test_arg *args)
{
    enum { STATUS = 64 };
    uint32_t raised = 1;
    void *status;
    must(aclrtMalloc(&status, STATUS, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    must(aclrtResetOverflowStatus(rig.stream), "aclrtResetOverflowStatus");
    CU_ASSERT_EQUAL(rig_run(row, args, true), 0);
    must(aclrtGetOverflowStatus(status, STATUS, rig.stream), "aclrtGetOverflowStatus");
    must(aclrtSynchronizeStream(rig.stream), "aclrtSynchronizeStream");
    must(aclrtMemcpy(&raised, sizeof(raised), status, sizeof(raised), ACL_MEMCPY_DEVICE_TO_HOST),
         "aclrtMemcpy");
    CU_ASSERT_EQUAL(raised, 0);
    must(aclrtFree(status), "aclrtFree");
}

void rig_expect_integers(struct rig_tensor *tensor, const int64_t *want, int64_t count,
                         const char *what)
{
    int64_t wrong = 0;
    rig_tensor_take(tensor);
    for (int64_t i = 0; i < count; i++) {
        const int64_t got = rig_get_i(rig_tensor_at(tensor, i), tensor->type);
        if (got != want[i] && wrong++ == 0) {
            fprintf(stderr, "%s: %lld is %lld, expected %lld\n", what, (long long)i, (long long)got,
                    (long long)want[i]);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}
