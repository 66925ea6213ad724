/* SPDX-License-Identifier: Apache-2.0 */
/* Misuse of operators: a status, a text that says what to mend, and nothing launched. */
#include "rig.h"

#include <stdio.h>
#include <string.h>

static const enum leo_dtype F16 = LEO_DTYPE_F16, F32 = LEO_DTYPE_F32, S32 = LEO_DTYPE_S32;

static struct rig rig;
static struct rig_buffer memory;

/* A tensor somewhere in `memory`. */
static struct leo_op_tensor at(uint64_t offset, enum leo_dtype dtype, unsigned rank, uint32_t d0,
                               uint32_t d1)
{
    return (struct leo_op_tensor){memory.tensor.addr + offset, dtype, rank, {d0, d1}};
}

static void expect(leo_status got, leo_status want, const char *text)
{
    if (got != want || !strstr(leo_rt_last_error(), text)) {
        fprintf(stderr, "expected %s with '%s', got %s: %s\n", leo_status_name(want), text,
                leo_status_name(got), leo_rt_last_error());
    }
    CU_ASSERT_EQUAL(got, want);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), text));
}

static void begin(void)
{
    rig_init(&rig, rig_socs[0], 1, NULL);
    memory = rig_put(&rig, F32, 65536, 0, NULL);
}

/* Nothing may have run: the memory is as it was. */
static void end(void)
{
    static uint8_t bytes[65536 * 4];
    bool same = true;
    rig_synchronize(&rig);
    rig_take(&rig, &memory, bytes);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        same = same && bytes[i] == 0xa5;
    }
    CU_ASSERT_TRUE(same);
    rig_finish(&rig);
}

static void matmul_refuses_wrong_arguments(void)
{
    begin();
    const struct leo_op_tensor a = at(0, F16, 2, 4, 8), b = at(1024, F16, 2, 8, 6),
                               out = at(2048, F16, 2, 4, 6);
    const struct leo_op_tensor wide = at(0, F32, 2, 4, 8), flat = at(0, F16, 1, 32, 0),
                               zero = at(0, F16, 2, 0, 8);
    const struct leo_op_tensor bad_b = at(1024, F16, 2, 7, 6), bad_out = at(2048, F16, 2, 4, 7);
    const struct leo_op_tensor over_a = at(32, F16, 2, 4, 6), bias5 = at(4096, F32, 1, 5, 0),
                               bias16 = at(4096, F16, 1, 6, 0);
    const struct leo_op_tensor odd = at(1, F16, 2, 4, 8), null_addr = {0, F16, 2, {4, 8}},
                               rank5 = {64, F16, 5, {1}};
    const struct leo_op_tensor huge = at(0, F16, 2, 1u << 31, 1u << 31),
                               unknown = at(0, (enum leo_dtype)99, 2, 4, 8);
    const struct leo_op_tensor over_b = at(1024 + 94, F16, 2, 4, 6), over = at(2048, F32, 1, 6, 0);
    const struct leo_op_matmul_opts with_over = {.bias = &over};
    const struct leo_op_matmul_opts transposed = {.transpose_a = true}, with5 = {.bias = &bias5},
                                    with16 = {.bias = &bias16};
    expect(leo_op_matmul(NULL, rig.stream, &a, &b, NULL, &out), LEO_ERR_INVALID_ARG,
           "context is NULL");
    expect(leo_op_matmul(rig.context, NULL, &a, &b, NULL, &out), LEO_ERR_INVALID_ARG,
           "stream is NULL");
    expect(leo_op_matmul(rig.context, rig.stream, NULL, &b, NULL, &out), LEO_ERR_INVALID_ARG,
           "a is NULL");
    expect(leo_op_matmul(rig.context, rig.stream, &a, &b, NULL, NULL), LEO_ERR_INVALID_ARG,
           "out is NULL");
    expect(leo_op_matmul(rig.context, rig.stream, &wide, &b, NULL, &out), LEO_ERR_DTYPE,
           "a has type");
    expect(leo_op_matmul(rig.context, rig.stream, &unknown, &b, NULL, &out), LEO_ERR_DTYPE,
           "unknown");
    expect(leo_op_matmul(rig.context, rig.stream, &flat, &b, NULL, &out), LEO_ERR_SHAPE,
           "2 dimensions");
    expect(leo_op_matmul(rig.context, rig.stream, &zero, &b, NULL, &out), LEO_ERR_SHAPE,
           "dimension 0 of a is 0");
    expect(leo_op_matmul(rig.context, rig.stream, &rank5, &b, NULL, &out), LEO_ERR_SHAPE, "rank 5");
    expect(leo_op_matmul(rig.context, rig.stream, &huge, &b, NULL, &out), LEO_ERR_SHAPE,
           "larger than");
    expect(leo_op_matmul(rig.context, rig.stream, &a, &bad_b, NULL, &out), LEO_ERR_SHAPE,
           "must be 8 (columns of a)");
    expect(leo_op_matmul(rig.context, rig.stream, &a, &b, &transposed, &out), LEO_ERR_SHAPE,
           "transposed a");
    expect(leo_op_matmul(rig.context, rig.stream, &a, &b, NULL, &bad_out), LEO_ERR_SHAPE,
           "columns of b");
    expect(leo_op_matmul(rig.context, rig.stream, &a, &b, NULL, &over_a), LEO_ERR_INVALID_ARG,
           "out overlaps a");
    expect(leo_op_matmul(rig.context, rig.stream, &a, &b, NULL, &over_b), LEO_ERR_INVALID_ARG,
           "out overlaps b");
    expect(leo_op_matmul(rig.context, rig.stream, &a, &b, &with_over, &out), LEO_ERR_INVALID_ARG,
           "out overlaps bias");
    expect(leo_op_matmul(rig.context, rig.stream, &a, &b, &with5, &out), LEO_ERR_SHAPE, "bias");
    expect(leo_op_matmul(rig.context, rig.stream, &a, &b, &with16, &out), LEO_ERR_DTYPE,
           "bias has type");
    expect(leo_op_matmul(rig.context, rig.stream, &odd, &b, NULL, &out), LEO_ERR_BAD_POINTER,
           "multiple of its element size");
    expect(leo_op_matmul(rig.context, rig.stream, &null_addr, &b, NULL, &out), LEO_ERR_BAD_POINTER,
           "address 0");
    end();
}

static void elementwise_operators_refuse_wrong_arguments(void)
{
    begin();
    const struct leo_op_tensor a = at(0, F16, 2, 4, 8), b = at(1024, F16, 2, 4, 8),
                               out = at(2048, F16, 2, 4, 8);
    const struct leo_op_tensor wide = at(4096, F32, 2, 4, 8), other = at(1024, F16, 2, 8, 4),
                               near_a = at(32, F16, 2, 4, 8);
    const struct leo_op_tensor flag = at(8192, S32, 1, 1, 0), flags = at(8192, S32, 1, 2, 0),
                               velocity = at(9000, F32, 2, 4, 8);
    expect(leo_op_add(rig.context, rig.stream, &a, &wide, &out), LEO_ERR_DTYPE, "must be equal");
    expect(leo_op_add(rig.context, rig.stream, &a, &other, &out), LEO_ERR_SHAPE, "[8, 4]");
    expect(leo_op_add(rig.context, rig.stream, &a, &b, &near_a), LEO_ERR_INVALID_ARG,
           "the very same tensor");
    expect(leo_op_relu(rig.context, rig.stream, &a, &near_a), LEO_ERR_INVALID_ARG, "overlaps");
    expect(leo_op_relu(rig.context, rig.stream, &flag, &flag), LEO_ERR_DTYPE, "f16 or f32");
    expect(leo_op_relu_grad(rig.context, rig.stream, &a, &b, &wide), LEO_ERR_DTYPE, "din");
    expect(leo_op_cast(rig.context, rig.stream, &a, &b, NULL), LEO_ERR_DTYPE,
           "one must be f16, the other f32");
    expect(leo_op_cast(rig.context, rig.stream, &wide, &out, &flags), LEO_ERR_SHAPE, "one element");
    expect(leo_op_cast(rig.context, rig.stream, &wide, &out, &wide), LEO_ERR_DTYPE, "overflow");
    expect(leo_op_momentum_sgd(rig.context, rig.stream, &a, &velocity, &wide, 1, 1, 1),
           LEO_ERR_DTYPE, "weight");
    expect(leo_op_momentum_sgd(rig.context, rig.stream, &wide, &wide, &velocity, 1, 1, 1),
           LEO_ERR_INVALID_ARG, "overlaps");
    end();
}

static void row_operators_refuse_wrong_arguments(void)
{
    begin();
    const struct leo_op_tensor x = at(0, F32, 2, 4, 10), prob = at(4096, F32, 2, 4, 10),
                               loss = at(8192, F32, 1, 4, 0);
    const struct leo_op_tensor labels = at(9216, S32, 1, 4, 0), three = at(9216, S32, 1, 3, 0),
                               one = at(0, F32, 2, 40, 1);
    const struct leo_op_tensor many = at(0, F32, 2, 1, 4097), sum = at(9216, F32, 1, 9, 0),
                               label1 = at(60000, S32, 1, 1, 0);
    const struct leo_op_tensor label40 = at(60000, S32, 1, 40, 0);
    expect(leo_op_softmax_xent(rig.context, rig.stream, &x, &three, &loss, &prob), LEO_ERR_SHAPE,
           "one a row");
    expect(leo_op_softmax_xent(rig.context, rig.stream, &x, &x, &loss, &prob), LEO_ERR_DTYPE,
           "labels");
    expect(leo_op_softmax_xent(rig.context, rig.stream, &x, &labels, &loss, &x), LEO_OK, "");
    expect(leo_op_softmax_xent(rig.context, rig.stream, &one, &label40, &loss, &one), LEO_ERR_SHAPE,
           "2 to 4096");
    expect(leo_op_softmax_xent_grad(rig.context, rig.stream, &many, &label1, 1, &many),
           LEO_ERR_SHAPE, "4097 classes");
    expect(leo_op_column_sum(rig.context, rig.stream, &x, &sum), LEO_ERR_SHAPE, "in's columns");
    expect(leo_op_column_sum(rig.context, rig.stream, &x, &prob), LEO_ERR_SHAPE, "1 dimension");
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(rig.stream, -1),
                    LEO_ERR_FAULT); // the pattern in memory is no label
    rig_take(&rig, &memory, NULL);
    rig_finish(&rig);
}

static void context_refuses_null(void)
{
    struct leo_op_context *context = NULL;
    expect(leo_op_context_create(NULL, &context), LEO_ERR_INVALID_ARG, "device is NULL");
    leo_op_context_destroy(NULL);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"context_refuses_null", context_refuses_null},
        {"matmul_refuses_wrong_arguments", matmul_refuses_wrong_arguments},
        {"elementwise_operators_refuse_wrong_arguments",
         elementwise_operators_refuse_wrong_arguments},
        {"row_operators_refuse_wrong_arguments", row_operators_refuse_wrong_arguments},
    };
    return leo_test_main("errors", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
