/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Special values (NaN, infinities, -0, the smallest and largest numbers) through every row of the
 * families that reduce, scan, order and normalise lines, against plain C in double: made from the
 * rows, so that a new row of these families without a reference here fails. Pointwise rows have
 * theirs in test_aclnn_pointwise; that layouts do not matter for such values either,
 * test_aclnn_layouts says of all rows.
 */
#include "line_ref.h"
#include "rig.h"
#include "rig_args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = LINE_LENGTH, ROWS = 24 };

static bool is_float(enum op_type type)
{
    return type <= OP_TYPE_F64;
}

static double special(enum op_type type, unsigned number, bool sums)
{
    static const double large[] = {[OP_TYPE_F32] = 0x1.fffffep127,
                                   [OP_TYPE_F16] = 65504,
                                   [OP_TYPE_BF16] = 0x1.fep127,
                                   [OP_TYPE_F64] = 1e300};
    static const double tiny[] = {[OP_TYPE_F32] = 0x1p-149,
                                  [OP_TYPE_F16] = 0x1p-24,
                                  [OP_TYPE_BF16] = 0x1p-133,
                                  [OP_TYPE_F64] = 0x1p-1074};
    if (!is_float(type)) {
        const unsigned bits = type == OP_TYPE_BOOL ? 1 : 8 * rig_type_bytes(type);
        const bool positive = type == OP_TYPE_U8 || type == OP_TYPE_U16 || type == OP_TYPE_BOOL;
        const double most = ldexp(1, (int)bits - !positive) - 1;
        const double values[] = {most, positive ? 0 : -most - 1, 0, 1};
        return values[number % 4];
    }
    const double values[] = {NAN,        INFINITY,    -INFINITY,   -0.0,
                             tiny[type], -tiny[type], large[type], -large[type]};
    return values[number % (sums ? 6 : 8)];
}

/* Line r has none, one or many special values. */
static void fill(struct rig_tensor *tensor, bool sums)
{
    uint64_t state = 5;
    for (int64_t i = 0; i < rig_tensor_count(tensor); i++) {
        const int64_t row = i / LENGTH, column = i % LENGTH;
        const uint64_t random = rig_random(&state);
        double value = ((double)(random % 64) - 32) / 8;
        if (row == 1) {
            value = special(tensor->type, 1, sums); // all infinite
        } else if (row < 12 ? column == (row * 5) % LENGTH && row > 1 : random % 5 == 0) {
            value = special(tensor->type, (unsigned)(row < 12 ? (uint64_t)row : random >> 8), sums);
        }
        rig_put_d(rig_tensor_at(tensor, i), tensor->type,
                  is_float(tensor->type) ? value : trunc(value));
    }
    rig_tensor_put(tensor);
}

/* One call: the lines, the values made of them, and what comes with those. */
struct call {
    const struct op_test_row *row;
    const struct line_reference *reference;
    union op_test_arg args[16];
    struct rig_tensor in, outs[2];
    bool is_place[2];
    unsigned outputs;
};

static enum op_type type_of_output(const struct call *call, const struct op_test_param *param)
{
    const uint32_t types = rig_types(param);
    const enum op_type own = call->in.type;
    if (call->is_place[call->outputs]) {
        return OP_TYPE_I64;
    }
    if (call->reference->how & LINE_SUMS && !is_float(own)) {
        return OP_TYPE_I64;
    }
    const bool truths = strcmp(call->row->name, "All") == 0 || strcmp(call->row->name, "Any") == 0;
    return truths || !(types >> own & 1) ? OP_TYPE_BOOL : own;
}

static union op_test_arg plain_arg(const struct call *call, const struct op_test_param *param)
{
    static const int64_t second[] = {1};
    double real = 2;
    int64_t one = 1;
    union op_test_arg arg = {.integer = 0};
    if (strcmp(param->code, "IA") == 0) {
        arg.ints = aclCreateIntArray(second, 1);
    } else if (strcmp(param->code, "S") == 0) {
        arg.scalar = strcmp(param->name, "dim") == 0 ? aclCreateScalar(&one, ACL_INT64)
                                                     : aclCreateScalar(&real, ACL_DOUBLE);
    } else if (strcmp(param->code, "dtype") == 0) {
        arg.type = rig_acl_type(is_float(call->in.type) ? call->in.type : OP_TYPE_I64);
    } else if (strcmp(param->name, "k") == 0) {
        arg.integer = LINE_BYTES_MAX;
    } else {
        static const char *const ones[] = {"dim",    "correction", "unbiased",
                                           "stable", "largest",    "sorted"};
        for (unsigned i = 0; i < sizeof(ones) / sizeof(ones[0]); i++) {
            arg.integer = arg.integer || strcmp(param->name, ones[i]) == 0;
        }
    }
    return arg;
}

static void prepare(struct call *call, const struct op_test_row *row,
                    const struct line_reference *reference, struct rig_tensor in)
{
    *call = (struct call){.row = row, .reference = reference, .in = in};
    const int64_t made = reference->made ? reference->made : LENGTH;
    const int64_t dim[] = {ROWS, made};
    const bool whole = reference->how & LINE_WHOLE;
    for (unsigned i = 0; i < row->param_count; i++) {
        const struct op_test_param *param = &row->params[i];
        if (strcmp(param->code, "T") != 0) {
            call->args[i] = plain_arg(call, param);
        } else if (param->role == 'I') {
            call->args[i].tensor = in.acl;
        } else {
            const bool lines = reference->made != 1 || strcmp(row->name, "Topk") == 0;
            call->is_place[call->outputs] =
                strstr(param->name, "ndices") || strncmp(row->name, "Arg", 3) == 0;
            call->outs[call->outputs] = rig_tensor_make(type_of_output(call, param),
                                                        whole   ? 0
                                                        : lines ? 2
                                                                : 1,
                                                        dim, RIG_DENSE, 1);
            call->args[i].tensor = call->outs[call->outputs++].acl;
        }
    }
}

static void finish(struct call *call)
{
    for (unsigned i = 0; i < call->row->param_count; i++) {
        const char *code = call->row->params[i].code;
        if (strcmp(code, "S") == 0) {
            CU_ASSERT_EQUAL(aclDestroyScalar(call->args[i].scalar), 0);
        } else if (strcmp(code, "IA") == 0) {
            CU_ASSERT_EQUAL(aclDestroyIntArray(call->args[i].ints), 0);
        }
    }
    for (unsigned i = 0; i < call->outputs; i++) {
        rig_tensor_free(&call->outs[i]);
    }
}

/* What a result stored in the type is: halves of the first generation have no infinity and no NaN.
 */
static double stored(double value, enum op_type type)
{
    unsigned char bytes[8];
    rig_put_d(bytes, type, value);
    value = rig_get_d(bytes, type);
    if (rig_chip() == 0 && (type == OP_TYPE_F16 || type == OP_TYPE_BF16) && !isfinite(value)) {
        value = isnan(value) ? 0 : copysign(type == OP_TYPE_F16 ? 65504 : 0x1.fep127, value);
    }
    return value;
}

static bool same(double got, double want, enum op_type type, bool exact)
{
    static const double step[] = {
        [OP_TYPE_F32] = 2e-5, [OP_TYPE_F16] = 2e-3, [OP_TYPE_BF16] = 2e-2, [OP_TYPE_F64] = 1e-12};
    got = stored(got, type);
    want = stored(want, type);
    if (got == want || (isnan(got) && isnan(want))) {
        return true;
    }
    return !exact && is_float(type) && fabs(got - want) <= step[type] * (fabs(want) + 8);
}

static bool compare(struct call *call, const double *x, int64_t row)
{
    const struct line_reference *reference = call->reference;
    struct line line = {.x = x, .count = LENGTH};
    reference->make(&line);
    const int made = reference->made ? reference->made : LENGTH;
    for (int k = 0; k < made; k++) {
        for (unsigned o = 0; o < call->outputs; o++) {
            struct rig_tensor *out = &call->outs[o];
            const bool place = call->is_place[o];
            const int64_t at = reference->how & LINE_WHOLE ? 0 : row * made + k;
            const double got = rig_get_d(rig_tensor_at(out, at), out->type);
            const double want = place ? line.place[k] : o ? line.second[k] : line.value[k];
            // Which of equal elements was taken need not be the same.
            const bool as_good = place && got >= 0 && got < LENGTH &&
                                 line_compare(x[(int)got], x[line.place[k]]) == 0 &&
                                 strcmp(call->row->name, "Sort") != 0;
            if (!as_good && !same(got, want, out->type, !(reference->how & LINE_SUMS))) {
                fprintf(stderr, "%s, %s, line %lld, %s[%d] is %g, it must be %g\n", call->row->name,
                        rig_type_name(call->in.type), (long long)row,
                        o ? "second result" : "result", k, got, want);
                CU_FAIL("differs");
                return false;
            }
        }
    }
    return true;
}

static void run(const struct op_test_row *row, const struct line_reference *reference,
                enum op_type type)
{
    static const int64_t dim[] = {ROWS, LENGTH};
    const bool whole = reference->how & LINE_WHOLE;
    struct rig_tensor lines = rig_tensor_make(type, 2, dim, RIG_DENSE, 1);
    fill(&lines, reference->how & LINE_SUMS);
    for (int64_t r = 0; r < (whole ? ROWS : 1); r++) {
        struct rig_tensor in = lines;
        struct call call;
        if (whole) {
            in = rig_tensor_make(type, 1, &dim[1], RIG_DENSE, 1);
            memcpy(in.host, rig_tensor_at(&lines, r * LENGTH), in.storage_bytes);
            rig_tensor_put(&in);
        }
        prepare(&call, row, reference, in);
        CU_ASSERT_EQUAL(rig_run(row, call.args, true), 0);
        for (unsigned o = 0; o < call.outputs; o++) {
            rig_tensor_take(&call.outs[o]);
        }
        bool good = true;
        for (int64_t k = whole ? r : 0; good && k < (whole ? r + 1 : ROWS); k++) {
            double x[LENGTH];
            for (int i = 0; i < LENGTH; i++) {
                x[i] = rig_get_d(rig_tensor_at(&lines, k * LENGTH + i), type);
            }
            good = compare(&call, x, k);
        }
        finish(&call);
        if (whole) {
            rig_tensor_free(&in);
        }
    }
    rig_tensor_free(&lines);
}

static uint32_t types_of(const struct op_test_row *row, const struct line_reference *reference)
{
    uint32_t types = rig_types(&row->params[0]) & ~(1u << OP_TYPE_C64 | 1u << OP_TYPE_C128);
    for (unsigned type = OP_TYPE_I8; type < OP_TYPES; type++) {
        // Sums of 64 bits wrap, which double does not.
        const bool without =
            reference->how & LINE_FLOATS || (reference->how & LINE_SUMS && type == OP_TYPE_I64);
        types &= without ? ~(1u << type) : ~0u;
    }
    return types;
}

static void lines_have_their_references(void)
{
    static const char *const families[] = {"reduce", "sort", "rank", "softmax"};
    unsigned cases = 0;
    for (unsigned r = 0; r < op_test_row_count; r++) {
        const struct op_test_row *row = &op_test_rows[r];
        bool ours = false;
        for (unsigned i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
            ours = ours || strcmp(row->family, families[i]) == 0;
        }
        if (!ours) {
            continue;
        }
        const struct line_reference *reference = line_reference_find(row->name);
        if (!reference) {
            fprintf(stderr, "%s has no reference in this test\n", row->name);
            CU_FAIL("no reference");
            continue;
        }
        for (unsigned type = 0; type < OP_TYPES; type++) {
            if (types_of(row, reference) >> type & 1) {
                run(row, reference, (enum op_type)type);
                cases++;
            }
        }
    }
    CU_ASSERT_TRUE(cases > 100);
}

/* ---- what conversions may lose ---- */

// Signs of NaN in every float type, as rows and one by one.
static void signs_of_nan_are_seen(void)
{
    static const enum op_type types[] = {OP_TYPE_F32, OP_TYPE_F16, OP_TYPE_F64, OP_TYPE_BF16};
    static const int64_t counts[] = {7, 1200};
    for (unsigned k = 0; k < (rig_chip() == 0 ? 6u : 8u); k++) {
        const enum op_type type = types[k / 2];
        const unsigned bytes = rig_type_bytes(type);
        struct rig_tensor x = rig_tensor_make(type, 1, &counts[k % 2], RIG_SLICED, 1),
                          y = rig_tensor_make(OP_TYPE_BOOL, 1, &counts[k % 2], RIG_DENSE, 2);
        for (int64_t i = 0; i < counts[k % 2]; i++) {
            static const double values[] = {NAN, 1, 0, INFINITY, NAN, 0x1p-149, 3};
            unsigned char *at = rig_tensor_at(&x, i);
            rig_put_d(at, type, values[i % 7]);
            at[bytes - 1] = (unsigned char)((at[bytes - 1] & 0x7f) | (i % 3 == 0 ? 0x80 : 0));
        }
        rig_tensor_put(&x);
        const union op_test_arg args[] = {{.tensor = x.acl}, {.tensor = y.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("Signbit"), args, true), 0);
        rig_tensor_take(&y);
        for (int64_t i = 0; i < counts[k % 2]; i++) {
            CU_ASSERT_EQUAL(rig_get_i(rig_tensor_at(&y, i), OP_TYPE_BOOL), i % 3 == 0);
        }
        rig_tensor_free(&x);
        rig_tensor_free(&y);
    }
}

// What an integer type holds of a number.
static int64_t wrap(int64_t value, enum op_type type)
{
    unsigned char kept[16];
    rig_put_i(kept, type, value);
    return rig_get_i(kept, type);
}

// out = a + b, a * b and -a: as PyTorch has it, in the type of the inputs, whatever that of out is.
static void integers_wrap_before_they_are_converted(void)
{
    static const enum op_type ins[] = {OP_TYPE_I8,  OP_TYPE_U8,  OP_TYPE_I16,
                                       OP_TYPE_I32, OP_TYPE_I64, OP_TYPE_BOOL},
                              outs[] = {OP_TYPE_F32, OP_TYPE_F64, OP_TYPE_I64,
                                        OP_TYPE_I32, OP_TYPE_I16, OP_TYPE_I8};
    static const int64_t counts[] = {11, 1500};
    static const char *const rows[] = {"Add", "Mul", "Neg"};
    int64_t one = 1;
    aclScalar *alpha = aclCreateScalar(&one, ACL_INT64);
    for (unsigned k = 0; k < 6 * 6 * 2 * 3; k++) {
        const enum op_type in = ins[k % 6], to = outs[k / 6 % 6];
        const unsigned row = k / 72;
        const int64_t count = counts[k / 36 % 2];
        if (in == OP_TYPE_BOOL && row == 2) {
            continue; // not negated
        }
        struct rig_tensor a = rig_tensor_make(in, 1, &count, RIG_DENSE, 1),
                          b = rig_tensor_make(in, 1, &count, RIG_SLICED, 2),
                          y = rig_tensor_make(to, 1, &count, RIG_SLICED, 3);
        for (int64_t i = 0; i < count; i++) {
            rig_put_i(rig_tensor_at(&a, i), in, i * 46341);
            rig_put_i(rig_tensor_at(&b, i), in, i * 52057 - 30000);
        }
        rig_tensor_put(&a);
        rig_tensor_put(&b);
        const union op_test_arg add[] = {
            {.tensor = a.acl}, {.tensor = b.acl}, {.scalar = alpha}, {.tensor = y.acl}};
        const union op_test_arg mul[] = {{.tensor = a.acl}, {.tensor = b.acl}, {.tensor = y.acl}};
        const union op_test_arg neg[] = {{.tensor = a.acl}, {.tensor = y.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row(rows[row]),
                                row == 0   ? add
                                : row == 1 ? mul
                                           : neg,
                                true),
                        0);
        rig_tensor_take(&y);
        int64_t wrong = 0;
        for (int64_t i = 0; i < count; i++) {
            unsigned char want[8];
            const int64_t p = rig_get_i(rig_tensor_at(&a, i), in),
                          q = rig_get_i(rig_tensor_at(&b, i), in);
            rig_put_i(want, to, wrap(row == 0 ? p + q : row == 1 ? p * q : -p, in));
            wrong += memcmp(want, rig_tensor_at(&y, i), rig_type_bytes(to)) != 0;
        }
        if (wrong) {
            fprintf(stderr, "%s of %s into %s: %lld of %lld are wrong\n", rows[row],
                    rig_type_name(in), rig_type_name(to), (long long)wrong, (long long)count);
        }
        CU_ASSERT_EQUAL(wrong, 0);
        rig_tensor_free(&a);
        rig_tensor_free(&b);
        rig_tensor_free(&y);
    }
    CU_ASSERT_EQUAL(aclDestroyScalar(alpha), 0);
}

// The whole part of a float in 64 bits, of which narrower types take the low ones.
static int64_t whole_part(double x)
{
    return isnan(x) ? 0 : x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

// Few elements go by the scalar unit, many by the vector unit: both take the low bits.
static void narrow_integers_take_low_bits(void)
{
    static const enum op_type types[] = {OP_TYPE_I8, OP_TYPE_U8, OP_TYPE_I16};
    static const float numbers[] = {
        0,           -0.75f,     0.99f,     -1,       127,       128,     -128.5f,
        -129,        255.5f,     256,       32767,    -32769,    65535,   1e6f,
        -123456.7f,  2147483520, 0x1p31f,   -0x1p31f, 0x1.8p40f, 0x1p63f, -0x1p63f,
        -0x1.8p100f, INFINITY,   -INFINITY, NAN,      3};
    enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };
    for (unsigned k = 0; k < 6; k++) {
        const enum op_type type = types[k / 2];
        const int64_t count = k % 2 ? 5000 : NUMBERS;
        struct rig_tensor x = rig_tensor_make(OP_TYPE_F32, 1, &count, RIG_DENSE, 1),
                          y = rig_tensor_make(type, 1, &count, RIG_DENSE, 2);
        for (int64_t i = 0; i < count; i++) {
            rig_put_d(rig_tensor_at(&x, i), OP_TYPE_F32, numbers[i % NUMBERS]);
        }
        rig_tensor_put(&x);
        const union op_test_arg args[] = {{.tensor = y.acl}, {.tensor = x.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("InplaceCopy"), args, true), 0);
        rig_tensor_take(&y);
        for (int64_t i = 0; i < count; i++) {
            const int64_t want = wrap(whole_part(numbers[i % NUMBERS]), type);
            CU_ASSERT_EQUAL(rig_get_i(rig_tensor_at(&y, i), type), want);
        }
        rig_tensor_free(&x);
        rig_tensor_free(&y);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"special_signs_of_nan_are_seen", signs_of_nan_are_seen},
        {"special_integers_wrap_before_they_are_converted",
         integers_wrap_before_they_are_converted},
        {"special_narrow_integers_take_low_bits", narrow_integers_take_low_bits},
        {"special_lines_have_their_references", lines_have_their_references},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_special", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
