/* SPDX-License-Identifier: Apache-2.0 */
/* Operators made of others, and operators called by type name. */
#include "rig.h"

#include <acl/acl_op.h>
#include <acl/acl_op_compiler.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void small_numbers(struct rig_tensor *tensor)
{
    const unsigned unit = rig_type_bytes(tensor->type);
    for (size_t i = 0; i < tensor->storage_bytes / unit; i++) {
        rig_put_f(tensor->host + i * unit, tensor->type, (float)((int)(i * 7 % 23) - 11) / 4);
    }
    rig_tensor_put(tensor);
}

static float at(const struct rig_tensor *tensor, int64_t index)
{
    return rig_get_f(rig_tensor_at(tensor, index), tensor->type);
}

static void expect_near(float got, float want)
{
    CU_ASSERT_DOUBLE_EQUAL(got, want, 1e-5 + fabsf(want) * 1e-5);
}

static void glu_gates_one_half_by_the_other(void)
{
    const int64_t whole[] = {5, 6, 7}, half[] = {5, 3, 7};
    struct rig_tensor x = rig_tensor_make(OP_TYPE_F32, 3, whole, RIG_PERMUTED, 1);
    struct rig_tensor g = rig_tensor_make(OP_TYPE_F32, 3, half, RIG_DENSE, 2);
    struct rig_tensor out = rig_tensor_make(OP_TYPE_F32, 3, half, RIG_DENSE, 3);
    struct rig_tensor dx = rig_tensor_make(OP_TYPE_F32, 3, whole, RIG_DENSE, 4);
    small_numbers(&x);
    small_numbers(&g);
    const union op_test_arg forward[] = {{.tensor = x.acl}, {.integer = -2}, {.tensor = out.acl}};
    const union op_test_arg backward[] = {
        {.tensor = g.acl}, {.tensor = x.acl}, {.integer = 1}, {.tensor = dx.acl}};
    for (int swi = 0; swi < 2; swi++) {
        CU_ASSERT_EQUAL(rig_run(rig_row(swi ? "SwiGlu" : "Glu"), forward, true), 0);
        CU_ASSERT_EQUAL(rig_run(rig_row(swi ? "SwiGluGrad" : "GluBackward"), backward, true), 0);
        rig_tensor_take(&out);
        rig_tensor_take(&dx);
        for (int64_t i = 0; i < 105; i++) {
            const int64_t first = i / 21 * 42 + i % 21, second = first + 21;
            const float a = at(&x, first), b = at(&x, second), gradient = at(&g, i);
            const float s = 1 / (1 + expf(swi ? -a : -b));
            expect_near(at(&out, i), a * s * (swi ? b : 1));
            expect_near(at(&dx, first), gradient * (swi ? b * s * (1 + a * (1 - s)) : s));
            expect_near(at(&dx, second), gradient * a * s * (swi ? 1 : 1 - s));
        }
    }
    const union op_test_arg odd[] = {{.tensor = x.acl}, {.integer = 0}, {.tensor = out.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Glu"), odd, false), 161002);
    rig_tensor_free(&x);
    rig_tensor_free(&g);
    rig_tensor_free(&out);
    rig_tensor_free(&dx);
}

// Without factors both are 1; with beta 0 the NaN of self does not count.
static void addr_leaves_self_out_for_beta_0(void)
{
    const int64_t dim[] = {3, 5}, rows[] = {3}, columns[] = {5}, other[] = {4};
    struct rig_tensor self = rig_tensor_make(OP_TYPE_F32, 2, dim, RIG_PERMUTED, 1),
                      v = rig_tensor_make(OP_TYPE_F32, 1, rows, RIG_DENSE, 2),
                      w = rig_tensor_make(OP_TYPE_F32, 1, columns, RIG_DENSE, 3),
                      bad = rig_tensor_make(OP_TYPE_F32, 1, other, RIG_DENSE, 4),
                      out = rig_tensor_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 5);
    double zero_value = 0, two_value = 2;
    aclScalar *zero = aclCreateScalar(&zero_value, ACL_DOUBLE),
              *two = aclCreateScalar(&two_value, ACL_DOUBLE);
    small_numbers(&v);
    small_numbers(&w);
    for (int nan = 0; nan < 2; nan++) {
        small_numbers(&self);
        if (nan) {
            rig_put_f(rig_tensor_at(&self, 7), OP_TYPE_F32, NAN);
            rig_tensor_put(&self);
        }
        const union op_test_arg args[] = {{.tensor = self.acl},
                                          {.tensor = v.acl},
                                          {.tensor = w.acl},
                                          {.scalar = nan ? zero : NULL},
                                          {.scalar = nan ? two : NULL},
                                          {.tensor = out.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("Addr"), args, true), 0);
        rig_tensor_take(&out);
        for (int64_t i = 0; i < 15; i++) {
            const float product = at(&v, i / 5) * at(&w, i % 5);
            expect_near(at(&out, i), nan ? 2 * product : at(&self, i) + product);
        }
    }
    const union op_test_arg wrong[] = {{.tensor = self.acl}, {.tensor = bad.acl},
                                       {.tensor = w.acl},    {.scalar = zero},
                                       {.scalar = two},      {.tensor = out.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Addr"), wrong, false), 161002);
    const union op_test_arg outer[] = {{.tensor = v.acl}, {.tensor = w.acl}, {.tensor = out.acl}},
                            short_one[] = {
                                {.tensor = bad.acl}, {.tensor = w.acl}, {.tensor = out.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Ger"), outer, true), 0);
    rig_tensor_take(&out);
    for (int64_t i = 0; i < 15; i++) {
        expect_near(at(&out, i), at(&v, i / 5) * at(&w, i % 5));
    }
    CU_ASSERT_EQUAL(rig_run(rig_row("Ger"), short_one, false), 161002);
    aclDestroyScalar(zero);
    aclDestroyScalar(two);
    rig_tensor_free(&self);
    rig_tensor_free(&v);
    rig_tensor_free(&w);
    rig_tensor_free(&bad);
    rig_tensor_free(&out);
}

static void prelu_backward_sums_over_what_the_weight_repeats(void)
{
    const int64_t dim[] = {4, 3, 5}, channels[] = {3};
    struct rig_tensor x = rig_tensor_make(OP_TYPE_F32, 3, dim, RIG_DENSE, 1),
                      g = rig_tensor_make(OP_TYPE_F32, 3, dim, RIG_DENSE, 2);
    struct rig_tensor w = rig_tensor_make(OP_TYPE_F32, 1, channels, RIG_DENSE, 3);
    struct rig_tensor dx = rig_tensor_make(OP_TYPE_F32, 3, dim, RIG_DENSE, 4),
                      dw = rig_tensor_make(OP_TYPE_F32, 1, channels, RIG_DENSE, 5);
    small_numbers(&x);
    small_numbers(&g);
    small_numbers(&w);
    const union op_test_arg args[] = {{.tensor = g.acl},
                                      {.tensor = x.acl},
                                      {.tensor = w.acl},
                                      {.tensor = dx.acl},
                                      {.tensor = dw.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("PreluBackward"), args, true), 0);
    rig_tensor_take(&dx);
    rig_tensor_take(&dw);
    float sum[3] = {0, 0, 0};
    for (int64_t i = 0; i < 60; i++) {
        const int64_t channel = i / 5 % 3;
        const bool above = at(&x, i) > 0;
        expect_near(at(&dx, i), above ? at(&g, i) : at(&w, channel) * at(&g, i));
        sum[channel] += above ? 0 : at(&x, i) * at(&g, i);
    }
    for (int64_t i = 0; i < 3; i++) {
        expect_near(at(&dw, i), sum[i]);
    }
    rig_tensor_free(&x);
    rig_tensor_free(&g);
    rig_tensor_free(&w);
    rig_tensor_free(&dx);
    rig_tensor_free(&dw);
}

// Numbers below 0 and behind the columns mark none.
static void one_hot(enum op_type type, int64_t count, int64_t columns)
{
    const int64_t rows[] = {count}, wide[] = {count, columns}, *none = rows;
    struct rig_tensor index = rig_tensor_make(OP_TYPE_I64, 1, rows, RIG_DENSE, 1),
                      out = rig_tensor_make(type, 2, wide, RIG_DENSE, 2);
    struct rig_tensor on = rig_tensor_make(type, 0, none, RIG_DENSE, 3),
                      off = rig_tensor_make(type, 0, none, RIG_DENSE, 4);
    for (int64_t i = 0; i < count; i++) {
        rig_put_i(rig_tensor_at(&index, i), OP_TYPE_I64, i * 3 % (columns + 2) - 1);
    }
    rig_put_i(on.host, type, 9);
    rig_put_i(off.host, type, -2);
    rig_tensor_put(&index);
    rig_tensor_put(&on);
    rig_tensor_put(&off);
    const union op_test_arg args[] = {{.tensor = index.acl}, {.integer = columns},
                                      {.tensor = on.acl},    {.tensor = off.acl},
                                      {.integer = -1},       {.tensor = out.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("OneHot"), args, true), 0);
    rig_tensor_take(&out);
    for (int64_t i = 0; i < count * columns; i++) {
        CU_ASSERT_EQUAL(rig_get_i(rig_tensor_at(&out, i), type),
                        i % columns == i / columns * 3 % (columns + 2) - 1 ? 9 : -2);
    }
    rig_tensor_free(&index);
    rig_tensor_free(&on);
    rig_tensor_free(&off);
    rig_tensor_free(&out);
}

static void one_hot_marks_columns(void)
{
    one_hot(OP_TYPE_I32, 7, 5);
    one_hot(OP_TYPE_I64, 300, 50); // by comparing in the vector unit
    one_hot(OP_TYPE_F32, 90, 100);
}

static void complex_numbers_have_parts(void)
{
    const int64_t dim[] = {130};
    struct rig_tensor a = rig_tensor_make(OP_TYPE_F32, 1, dim, RIG_DENSE, 1),
                      b = rig_tensor_make(OP_TYPE_F32, 1, dim, RIG_DENSE, 2);
    struct rig_tensor z = rig_tensor_make(OP_TYPE_C64, 1, dim, RIG_DENSE, 3),
                      angle = rig_tensor_make(OP_TYPE_F32, 1, dim, RIG_DENSE, 4);
    small_numbers(&a);
    small_numbers(&b);
    const union op_test_arg join[] = {{.tensor = a.acl}, {.tensor = b.acl}, {.tensor = z.acl}};
    const union op_test_arg question[] = {{.tensor = z.acl}, {.tensor = angle.acl}};
    for (int polar = 0; polar < 2; polar++) {
        CU_ASSERT_EQUAL(rig_run(rig_row(polar ? "Polar" : "Complex"), join, true), 0);
        rig_tensor_take(&z);
        for (int64_t i = 0; i < 130; i++) {
            float part[2];
            memcpy(part, rig_tensor_at(&z, i), 8);
            expect_near(part[0], polar ? at(&a, i) * cosf(at(&b, i)) : at(&a, i));
            expect_near(part[1], polar ? at(&a, i) * sinf(at(&b, i)) : at(&b, i));
        }
    }
    CU_ASSERT_EQUAL(rig_run(rig_row("Complex"), join, true), 0);
    CU_ASSERT_EQUAL(rig_run(rig_row("AngleV2"), question, true), 0);
    rig_tensor_take(&angle);
    for (int64_t i = 0; i < 130; i++) {
        expect_near(at(&angle, i), atan2f(at(&b, i), at(&a, i)));
    }
    CU_ASSERT_EQUAL(rig_run(rig_row("Abs"), question, true), 0);
    rig_tensor_take(&angle);
    for (int64_t i = 0; i < 130; i++) {
        expect_near(at(&angle, i), hypotf(at(&a, i), at(&b, i)));
    }
    rig_tensor_free(&a);
    rig_tensor_free(&b);
    rig_tensor_free(&z);
    rig_tensor_free(&angle);
}

// Elements with equal indices; with wrap those at multiples of columns + 1, counted through the
// rows.
static void diagonals_are_filled(void)
{
    static const struct {
        unsigned rank;
        int64_t dim[4];
    } shapes[] = {{2, {5, 5}}, {2, {4, 9}},  {2, {9, 4}},    {2, {10, 4}}, {2, {17, 3}},
                  {2, {1, 6}}, {2, {40, 1}}, {3, {6, 6, 6}}, {2, {0, 3}},  {4, {3, 3, 3, 3}}};
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_I64, OP_TYPE_BOOL};
    double number = 1;
    aclScalar *value = aclCreateScalar(&number, ACL_DOUBLE);
    for (unsigned i = 0; i < 160; i++) {
        const unsigned shape = i / 2 % 10, rank = shapes[shape].rank;
        const int64_t *dim = shapes[shape].dim;
        const bool wrap = i % 2;
        struct rig_tensor self =
            rig_tensor_make(types[i / 40], rank, dim, i / 20 % 2 ? RIG_PERMUTED : RIG_SLICED, i);
        const int64_t count = rig_tensor_count(&self);
        double *want = malloc((size_t)count * sizeof(*want) + 1);
        for (int64_t k = 0; k < count; k++) {
            const int64_t row = k / dim[1], column = k % dim[1];
            int64_t index[4] = {0}, rest = k;
            for (unsigned d = rank; d-- > 0; rest /= dim[d]) {
                index[d] = rest % dim[d];
            }
            bool on = rank == 2 && wrap ? row % (dim[1] + 1) == column : true;
            for (unsigned d = 1; d < rank && !(rank == 2 && wrap); d++) {
                on = on && index[d] == index[0];
            }
            want[k] = on ? 1 : rig_get_d(rig_tensor_at(&self, k), self.type);
        }
        const union op_test_arg args[] = {
            {.tensor = self.acl}, {.scalar = value}, {.integer = wrap}};
        CU_ASSERT_EQUAL(rig_run(rig_row("InplaceFillDiagonal"), args, true), 0);
        rig_tensor_take(&self);
        for (int64_t k = 0; k < count; k++) {
            const double got = rig_get_d(rig_tensor_at(&self, k), self.type);
            CU_ASSERT(got == want[k] || (isnan(got) && isnan(want[k])));
        }
        free(want);
        rig_tensor_free(&self);
    }
    const int64_t line[] = {4}, box[] = {3, 3, 4};
    for (unsigned rank = 1; rank <= 3; rank += 2) {
        struct rig_tensor bad =
            rig_tensor_make(OP_TYPE_F32, rank, rank == 1 ? line : box, RIG_DENSE, 1);
        const union op_test_arg args[] = {{.tensor = bad.acl}, {.scalar = value}, {.integer = 0}};
        CU_ASSERT_EQUAL(rig_run(rig_row("InplaceFillDiagonal"), args, false), 161002);
        rig_tensor_free(&bad);
    }
    aclDestroyScalar(value);
}

static void logarithms_of_sums_over_axes(void)
{
    const int64_t dim[] = {5, 70, 9}, rows[] = {5, 1, 9}, axis[] = {-2};
    aclIntArray *over = aclCreateIntArray(axis, 1), *none = aclCreateIntArray(axis, 0);
    for (int type = OP_TYPE_F32; type <= OP_TYPE_F16; type++) {
        struct rig_tensor x = rig_tensor_make(type, 3, dim, RIG_PERMUTED, 1),
                          out = rig_tensor_make(type, 3, rows, RIG_DENSE, 2),
                          all = rig_tensor_make(type, 0, dim, RIG_DENSE, 3),
                          each = rig_tensor_make(type, 3, dim, RIG_DENSE, 4);
        const double bound = type == OP_TYPE_F32 ? 1e-6 : 1e-3;
        double total = 0;
        for (int64_t i = 0; i < 3150; i++) {
            rig_put_f(rig_tensor_at(&x, i), type, (float)(i * 7 % 23 + 1) / 8);
            total += (double)(i * 7 % 23 + 1) / 8;
        }
        rig_tensor_put(&x);
        const union op_test_arg kept[] = {{.tensor = x.acl},
                                          {.ints = over},
                                          {.integer = 1},
                                          {.integer = 1},
                                          {.tensor = out.acl}},
                                whole[] = {{.tensor = x.acl},
                                           {.ints = none},
                                           {.integer = 0},
                                           {.integer = 0},
                                           {.tensor = all.acl}},
                                single[] = {{.tensor = x.acl},
                                            {.ints = none},
                                            {.integer = 0},
                                            {.integer = 1},
                                            {.tensor = each.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("ReduceLogSum"), kept, true), 0);
        CU_ASSERT_EQUAL(rig_run(rig_row("ReduceLogSum"), whole, true), 0);
        CU_ASSERT_EQUAL(rig_run(rig_row("ReduceLogSum"), single, true), 0);
        rig_tensor_take(&out);
        rig_tensor_take(&all);
        rig_tensor_take(&each);
        CU_ASSERT_DOUBLE_EQUAL(at(&all, 0), log(total), bound * log(total));
        for (int64_t i = 0; i < 45; i++) {
            double sum = 0;
            for (int64_t k = 0; k < 70; k++) {
                sum += at(&x, (i / 9 * 70 + k) * 9 + i % 9);
            }
            CU_ASSERT_DOUBLE_EQUAL(at(&out, i), log(sum), bound * log(sum));
        }
        for (int64_t i = 0; i < 3150; i++) {
            const double want = log(at(&x, i));
            CU_ASSERT_DOUBLE_EQUAL(at(&each, i), want, bound * (1 + fabs(want)));
        }
        rig_tensor_free(&x);
        rig_tensor_free(&out);
        rig_tensor_free(&all);
        rig_tensor_free(&each);
    }
    aclDestroyIntArray(over);
    aclDestroyIntArray(none);
}

static void equal_compares_whole_tensors(void)
{
    const int64_t dim[] = {3, 50}, one[] = {1};
    struct rig_tensor a = rig_tensor_make(OP_TYPE_I32, 2, dim, RIG_DENSE, 1),
                      b = rig_tensor_make(OP_TYPE_I32, 2, dim, RIG_DENSE, 1);
    struct rig_tensor out = rig_tensor_make(OP_TYPE_BOOL, 1, one, RIG_DENSE, 2);
    const union op_test_arg args[] = {{.tensor = a.acl}, {.tensor = b.acl}, {.tensor = out.acl}};
    for (int differ = 0; differ < 2; differ++) {
        rig_put_i(rig_tensor_at(&b, 149), OP_TYPE_I32,
                  rig_get_i(rig_tensor_at(&a, 149), OP_TYPE_I32) + differ);
        rig_tensor_put(&b);
        CU_ASSERT_EQUAL(rig_run(rig_row("Equal"), args, true), 0);
        rig_tensor_take(&out);
        CU_ASSERT_EQUAL(out.host[0], !differ);
    }
    rig_tensor_free(&a);
    rig_tensor_free(&b);
    rig_tensor_free(&out);
}

static aclTensorDesc *describe(const struct rig_tensor *tensor)
{
    return aclCreateTensorDesc(rig_acl_type(tensor->type), (int)tensor->rank, tensor->dim,
                               ACL_FORMAT_ND);
}

static aclDataBuffer *buffer_of(const struct rig_tensor *tensor)
{
    void *data;
    CU_ASSERT_EQUAL(aclGetRawTensorAddr(tensor->acl, &data), 0);
    return aclCreateDataBuffer(data, tensor->storage_bytes);
}

static void operators_by_type_name_are_the_same_rows(void)
{
    const int64_t dim[] = {9, 8}, other[] = {9, 4}, product[] = {8, 4};
    struct rig_tensor a = rig_tensor_make(OP_TYPE_F16, 2, dim, RIG_DENSE, 1),
                      b = rig_tensor_make(OP_TYPE_F16, 2, other, RIG_DENSE, 2);
    struct rig_tensor out = rig_tensor_make(OP_TYPE_F16, 2, product, RIG_DENSE, 3);
    small_numbers(&a);
    small_numbers(&b);
    const aclTensorDesc *in_desc[] = {describe(&a), describe(&b)}, *out_desc[] = {describe(&out)};
    const aclDataBuffer *in[] = {buffer_of(&a), buffer_of(&b)};
    aclDataBuffer *result[] = {buffer_of(&out)};
    aclopAttr *attr = aclopCreateAttr();
    CU_ASSERT_EQUAL(aclopSetAttrBool(attr, "transpose_x1", 1), 0);
    CU_ASSERT_EQUAL(aclopCompileAndExecute("MatMul", 2, in_desc, in, 1, out_desc, result, attr,
                                           ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, rig_stream()),
                    0);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    rig_tensor_take(&out);
    for (int64_t i = 0; i < 32; i++) {
        float want = 0;
        for (int64_t k = 0; k < 9; k++) {
            want += at(&a, k * 8 + i / 4) * at(&b, k * 4 + i % 4);
        }
        CU_ASSERT_DOUBLE_EQUAL(at(&out, i), want, fabsf(want) * 1e-3 + 1e-3);
    }
    CU_ASSERT_EQUAL(aclopCompileAndExecute("NoSuchOperator", 2, in_desc, in, 1, out_desc, result,
                                           attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL,
                                           rig_stream()),
                    ACL_ERROR_OP_NOT_FOUND);
    CU_ASSERT_EQUAL(aclopCompileAndExecute("Add", 1, in_desc, in, 1, out_desc, result, NULL,
                                           ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, rig_stream()),
                    ACL_ERROR_OP_INPUT_NOT_MATCH);
    aclopDestroyAttr(attr);
    for (int i = 0; i < 2; i++) {
        aclDestroyTensorDesc(in_desc[i]);
        aclDestroyDataBuffer(in[i]);
    }
    aclDestroyTensorDesc(out_desc[0]);
    aclDestroyDataBuffer(result[0]);
    rig_tensor_free(&a);
    rig_tensor_free(&b);
    rig_tensor_free(&out);
}

static float status_word(const char *type, struct rig_tensor *status)
{
    const aclTensorDesc *desc[] = {describe(status)};
    aclDataBuffer *buffer[] = {buffer_of(status)};
    const aclDataBuffer *in[] = {buffer[0]};
    CU_ASSERT_EQUAL(aclopCompileAndExecute(type, 1, desc, in, 1, desc, buffer, NULL, ACL_ENGINE_SYS,
                                           ACL_COMPILE_SYS, NULL, rig_stream()),
                    0);
    CU_ASSERT_EQUAL(aclrtSynchronizeStream(rig_stream()), 0);
    CU_ASSERT_EQUAL(aclopCompileAndExecute(type, 1, desc, in, 0, NULL, NULL, NULL, ACL_ENGINE_SYS,
                                           ACL_COMPILE_SYS, NULL, rig_stream()),
                    ACL_ERROR_OP_INPUT_NOT_MATCH);
    aclDestroyTensorDesc(desc[0]);
    aclDestroyDataBuffer(buffer[0]);
    rig_tensor_take(status);
    return at(status, 0);
}

/* 910A: f16 results stop at 65504 and the status says so until it is cleared. 910B: infinities. */
static void float_status_remembers_overflows(void)
{
    const int64_t dim[] = {8}, few[] = {5}, many[] = {3000};
    struct rig_tensor status = rig_tensor_make(OP_TYPE_F32, 1, dim, RIG_DENSE, 1);
    const bool first = rig_chip() == 0;
    for (unsigned i = 0; i < 2; i++) {
        struct rig_tensor x = rig_tensor_make(OP_TYPE_F16, 1, i ? many : few, RIG_DENSE, 1);
        struct rig_tensor out = rig_tensor_make(OP_TYPE_F16, 1, i ? many : few, RIG_DENSE, 3);
        for (int64_t k = 0; k < rig_tensor_count(&x); k++) {
            rig_put_f(rig_tensor_at(&x, k), OP_TYPE_F16, 300);
        }
        rig_tensor_put(&x);
        const union op_test_arg args[] = {
            {.tensor = x.acl}, {.tensor = x.acl}, {.tensor = out.acl}};
        CU_ASSERT_EQUAL(status_word("NPUClearFloatStatus", &status), 0);
        CU_ASSERT_EQUAL(status_word("NPUGetFloatStatus", &status), 0);
        CU_ASSERT_EQUAL(rig_run(rig_row("Mul"), args, true), 0);
        rig_tensor_take(&out);
        CU_ASSERT_EQUAL(at(&out, 0), first ? 65504.0f : INFINITY);
        CU_ASSERT_EQUAL(status_word("NPUGetFloatStatus", &status), first);
        CU_ASSERT_EQUAL(status_word("NPUGetFloatStatus", &status), first);
        CU_ASSERT_EQUAL(status_word("NPUClearFloatStatus", &status), 0);
        CU_ASSERT_EQUAL(status_word("NPUGetFloatStatus", &status), 0);
        rig_tensor_free(&x);
        rig_tensor_free(&out);
    }
    rig_tensor_free(&status);
}

// PyTorch computes determinants on the CPU whatever the library has: so they are tested here.
static void determinants_have_sign_and_logarithm(void)
{
    static const float matrices[][9] = {{2, 0, 0, 0, -3, 0, 0, 0, 4},
                                        {0, 1, 0, 1, 0, 0, 0, 0, 1},
                                        {1, 2, 3, 4, 5, 6, 7, 8, 10},
                                        {1, 2, 3, 2, 4, 6, 1, 1, 1}};
    static const double determinant[] = {-24, -1, -3, 0};
    const int64_t shape[] = {4, 3, 3}, batch[] = {4};
    struct rig_tensor x = rig_tensor_make(OP_TYPE_F32, 3, shape, RIG_PERMUTED, 1);
    struct rig_tensor sign = rig_tensor_make(OP_TYPE_F32, 1, batch, RIG_DENSE, 2);
    struct rig_tensor size = rig_tensor_make(OP_TYPE_F32, 1, batch, RIG_SLICED, 3);
    for (int64_t i = 0; i < 36; i++) {
        rig_put_f(rig_tensor_at(&x, i), OP_TYPE_F32, matrices[i / 9][i % 9]);
    }
    rig_tensor_put(&x);
    const union op_test_arg both[] = {
        {.tensor = x.acl}, {.tensor = sign.acl}, {.tensor = size.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Slogdet"), both, true), 0);
    rig_tensor_take(&sign);
    rig_tensor_take(&size);
    for (int i = 0; i < 4; i++) {
        const double want = determinant[i];
        CU_ASSERT_EQUAL(at(&sign, i), (float)((want > 0) - (want < 0)));
        CU_ASSERT(want == 0 ? at(&size, i) < -30
                            : fabs((double)at(&size, i) - log(fabs(want))) < 1e-6);
    }
    const union op_test_arg log_only[] = {{.tensor = x.acl}, {.tensor = size.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Logdet"), log_only, true), 0);
    rig_tensor_take(&size);
    CU_ASSERT(isnan(at(&size, 0)));
    rig_tensor_free(&x);
    rig_tensor_free(&sign);
    rig_tensor_free(&size);
}

// Every dimension of up to eight is repeated.
static void repeats_of_many_dimensions(void)
{
    static const struct {
        unsigned rank, out_rank;
        int64_t dim[8], times[8];
    } cases[] = {{2, 2, {3, 5}, {2, 3}},
                 {5, 5, {2, 3, 1, 2, 5}, {2, 2, 2, 2, 2}},
                 {5, 6, {2, 3, 4, 2, 5}, {3, 2, 1, 2, 2, 2}},
                 {8, 8, {2, 2, 2, 1, 2, 2, 1, 3}, {1, 2, 1, 3, 2, 1, 2, 2}},
                 {5, 5, {2, 3, 2, 2, 5}, {2, 2, 0, 2, 2}}};
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_I8, OP_TYPE_I64};
    for (unsigned k = 0; k < 15; k++) {
        const unsigned which = k / 3, rank = cases[which].rank, out_rank = cases[which].out_rank;
        int64_t dim[8];
        for (unsigned i = 0; i < out_rank; i++) {
            const unsigned lead = out_rank - rank;
            dim[i] = cases[which].times[i] * (i < lead ? 1 : cases[which].dim[i - lead]);
        }
        struct rig_tensor x = rig_tensor_make(types[k % 3], rank, cases[which].dim, RIG_PERMUTED,
                                              1),
                          y = rig_tensor_make(types[k % 3], out_rank, dim, RIG_SLICED, 2);
        aclIntArray *times = aclCreateIntArray(cases[which].times, out_rank);
        const union op_test_arg args[] = {{.tensor = x.acl}, {.ints = times}, {.tensor = y.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("Repeat"), args, true), 0);
        rig_tensor_take(&y);
        int64_t wrong = 0;
        for (int64_t i = 0; i < rig_tensor_count(&y); i++) {
            int64_t rest = i, at = 0, step = 1;
            for (unsigned d = out_rank; d-- > out_rank - rank;) {
                const int64_t length = cases[which].dim[d - (out_rank - rank)];
                at += rest % dim[d] % length * step;
                step *= length;
                rest /= dim[d];
            }
            wrong += memcmp(rig_tensor_at(&y, i), rig_tensor_at(&x, at),
                            rig_type_bytes(types[k % 3])) != 0;
        }
        CU_ASSERT_EQUAL(wrong, 0);
        aclDestroyIntArray(times);
        rig_tensor_free(&x);
        rig_tensor_free(&y);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"repeats_of_many_dimensions", repeats_of_many_dimensions},
        {"compose_glu_gates_one_half_by_the_other", glu_gates_one_half_by_the_other},
        {"compose_prelu_backward_sums_over_what_the_weight_repeats",
         prelu_backward_sums_over_what_the_weight_repeats},
        {"compose_addr_leaves_self_out_for_beta_0", addr_leaves_self_out_for_beta_0},
        {"compose_one_hot_marks_columns", one_hot_marks_columns},
        {"compose_complex_numbers_have_parts", complex_numbers_have_parts},
        {"compose_diagonals_are_filled", diagonals_are_filled},
        {"compose_logarithms_of_sums_over_axes", logarithms_of_sums_over_axes},
        {"compose_equal_compares_whole_tensors", equal_compares_whole_tensors},
        {"compose_operators_by_type_name_are_the_same_rows",
         operators_by_type_name_are_the_same_rows},
        {"determinants_have_sign_and_logarithm", determinants_have_sign_and_logarithm},
        {"float_status_remembers_overflows", float_status_remembers_overflows},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_compose", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
