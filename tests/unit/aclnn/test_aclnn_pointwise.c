/* SPDX-License-Identifier: Apache-2.0 */
/* Every pointwise operator against its expression on the host: types, shapes that hurt, layouts, in
 * place. */
#include "rig.h"
#include "rig_args.h"

#include <math.h>
#include <pointwise/pointwise_args.h>
#include <pointwise_ref.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    unsigned rank;
    int64_t dim[8];
};

static const struct shape shapes[] = {
    {0, {0}},    {1, {0}},        {1, {1}},      {1, {15}},       {1, {16}},
    {1, {17}},   {2, {7, 13}},    {2, {1, 129}}, {3, {3, 1, 37}}, {8, {2, 1, 2, 1, 3, 2, 1, 5}},
    {1, {1009}}, {2, {67, 1031}},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };
enum { SPECIALS = RIG_MIXED + 1 }; // dense, with special values in place of random ones

static const struct op_pointwise_ref *find_ref(const char *name)
{
    for (unsigned i = 0; i < op_pointwise_ref_count; i++) {
        if (strcmp(op_pointwise_refs[i].name, name) == 0) {
            return &op_pointwise_refs[i];
        }
    }
    abort();
}

static bool is_float(enum op_type type)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 || type == OP_TYPE_BF16 ||
           type == OP_TYPE_F64;
}

/* One call: its tensors by parameter. */
struct call {
    const struct op_test_row *row;
    union op_test_arg args[16];
    struct rig_tensor tensors[16];
    bool is_tensor[16];
    double real[16];
    unsigned out;
    const struct op_pointwise_ref *ref;
    char cls; /* what its expression computes in: 'f'loat, 'd'ouble or 'i'nt64_t */
};

static char class_of(const struct call *call)
{
    bool wide = false, real = false, any = false;
    for (unsigned i = 0; i < call->row->var_count; i++) {
        const unsigned at = call->row->var[i];
        if (at >= OP_VAR_INDEX) {
            continue;
        }
        any = any || call->is_tensor[at];
        wide = wide || (call->is_tensor[at] && call->tensors[at].type == OP_TYPE_F64);
        real = real || (call->is_tensor[at] && is_float(call->tensors[at].type));
    }
    if (strcmp(call->row->compute, "int") == 0) {
        return 'i';
    }
    if (strcmp(call->row->compute, "real") == 0) {
        return 'd';
    }
    if (!any) {
        const enum op_type type = call->tensors[call->out].type;
        wide = type == OP_TYPE_F64;
        real = is_float(type);
    }
    wide = wide || (real && strcmp(call->row->compute, "wide") == 0);
    return wide ? 'd' : real || strcmp(call->row->compute, "float") == 0 ? 'f' : 'i';
}

/* A variable that is no parameter, for element `index` of the output. */
static int64_t place_of(const struct call *call, unsigned var, int64_t index)
{
    const struct rig_tensor *out = &call->tensors[call->out];
    const int64_t columns = out->rank > 0 ? out->dim[out->rank - 1] : 1;
    const int64_t rows = out->rank > 1 ? out->dim[out->rank - 2] : 1;
    switch (var) {
    case OP_VAR_INDEX:
        return index;
    case OP_VAR_ROW:
        return index / columns % rows;
    case OP_VAR_COLUMN:
        return index % columns;
    default:
        return call->tensors[call->row->var[0]].type == OP_TYPE_BOOL;
    }
}

/* The first generation has no infinities in results of 16 bits. */
static void saturate_f16(void *want)
{
    uint16_t bits;
    memcpy(&bits, want, sizeof(bits));
    if ((bits & 0x7c00) == 0x7c00) {
        bits = bits & 0x3ff ? 0 : (bits & 0x8000) | 0x7bff;
        memcpy(want, &bits, sizeof(bits));
    }
}

static void want_element(const struct call *call, int64_t index, void *want)
{
    const struct op_test_row *row = call->row;
    const struct op_pointwise_ref *ref = call->ref;
    const enum op_type type = call->tensors[call->out].type;
    const char cls = call->cls;
    float f[OP_TEST_VARS];
    double d[OP_TEST_VARS];
    int64_t v[OP_TEST_VARS];
    for (unsigned i = 0; i < row->var_count; i++) {
        const unsigned at = row->var[i];
        if (at >= OP_VAR_INDEX) {
            v[i] = place_of(call, at, index);
            f[i] = (float)v[i];
            d[i] = (double)v[i];
            continue;
        }
        if (!call->is_tensor[at]) {
            f[i] = (float)call->real[at];
            d[i] = call->real[at];
            v[i] = (int64_t)call->real[at];
            continue;
        }
        const struct rig_tensor *tensor = &call->tensors[at];
        const void *element = rig_tensor_at(tensor, rig_tensor_count(tensor) == 1 ? 0 : index);
        f[i] = rig_get_f(element, tensor->type);
        d[i] = rig_get_d(element, tensor->type);
        v[i] = rig_get_i(element, tensor->type);
    }
    if (cls == 'f') {
        rig_put_f(want, type, ref->f(f));
        if (rig_chip() == 0 && type == OP_TYPE_F16 && !row->moves) {
            saturate_f16(want);
        }
    } else if (cls == 'd') {
        rig_put_d(want, type, ref->d(d));
    } else {
        rig_put_i(want, type, ref->i(v));
        if (rig_chip() == 0 && type == OP_TYPE_F16) {
            saturate_f16(want);
        }
    }
}

/* Distance in steps of the type around `want`; float operators of 16 bits round what float
 * computed. */
static bool near(double got, double want, enum op_type type, double ulps)
{
    int exponent;
    const int digits = type == OP_TYPE_F64   ? 53
                       : type == OP_TYPE_F32 ? 24
                       : type == OP_TYPE_F16 ? 11
                                             : 8;
    const int least = type == OP_TYPE_F64 ? -1021 : type == OP_TYPE_F16 ? -13 : -125;
    frexp(want, &exponent);
    const double step = ldexp(1, (exponent < least ? least : exponent) - digits);
    return fabs(got - want) <= (digits < 24 ? 1 : ulps) * step;
}

/* The same bits, or as near as the row says; any NaN equals any other. */
static bool same(const void *got, const void *want, enum op_type type, double ulps)
{
    if (memcmp(got, want, rig_type_bytes(type)) == 0) {
        return true;
    }
    const double a = rig_get_d(got, type), b = rig_get_d(want, type);
    if (is_float(type) && b != b) {
        return a != a;
    }
    if (!is_float(type)) { // what f32 computed, rounded
        return ulps > 0 && fabs(a - b) <= fmax(1, ulps * 0x1p-23 * fabs(b));
    }
    return ulps > 0 && near(a, b, type, ulps);
}

/* "ulp=N" of the row; an operator without it is exact. */
static double ulps_of(const struct op_test_row *row)
{
    const char *text = strstr(row->test, "ulp=");
    return text ? strtod(text + 4, NULL) : 0;
}

/* Tensors have type `type`, but for the parameters that `own` gives one of its own (NULL: none). */
static void prepare(struct call *call, const struct op_test_row *row, enum op_type type,
                    const enum op_type *own, const struct shape *shape, enum rig_layout layout)
{
    const enum op_type scalar = is_float(type) ? OP_TYPE_F64 : OP_TYPE_I64;
    *call = (struct call){.row = row};
    for (unsigned i = 0; i < row->param_count; i++) {
        const struct op_test_param *param = &row->params[i];
        if (strcmp(param->code, "T") == 0) {
            const bool one = strstr(row->name, "FillTensor") && strcmp(param->name, "value") == 0;
            const bool written = param->role != 'I';
            enum rig_layout here =
                (int)layout == SPECIALS || (written && layout == RIG_EXPANDED) ? RIG_DENSE : layout;
            if (layout == RIG_MIXED) { // the output dense, inputs permuted
                here = written ? RIG_DENSE : RIG_PERMUTED;
            }
            enum op_type own_type = type;
            if (!(param->types[rig_chip()] >> type & 1)) {
                own_type = OP_TYPE_BOOL; // conditions and masks
            }
            own_type = own ? own[i] : own_type;
            call->tensors[i] = rig_tensor_make(own_type, one ? 0 : shape->rank, shape->dim,
                                               one ? RIG_DENSE : here, i + 1);
            call->is_tensor[i] = true;
            call->args[i].tensor = call->tensors[i].acl;
            call->out = written ? i : call->out;
        } else if (strcmp(param->code, "S") == 0) {
            double real = strcmp(param->name, "alpha") == 0 ? 3 : 2;
            int64_t integer = (int64_t)real;
            call->args[i].scalar = scalar == OP_TYPE_F64 ? aclCreateScalar(&real, ACL_DOUBLE)
                                                         : aclCreateScalar(&integer, ACL_INT64);
            call->real[i] = real;
        } else if (param->code[0] == 'f') {
            call->args[i].real = call->real[i] = 0.5;
        } else if (strcmp(param->code, "dtype") == 0) {
            call->args[i].type = rig_acl_type(own ? own[i] : type);
        } else {
            call->args[i].integer = strcmp(param->name, "steps") == 0 ? 37 : 1;
            call->real[i] = (double)call->args[i].integer;
        }
    }
    call->ref = find_ref(row->ref);
    call->cls = class_of(call);
}

static void finish(struct call *call)
{
    for (unsigned i = 0; i < call->row->param_count; i++) {
        if (call->is_tensor[i]) {
            rig_tensor_free(&call->tensors[i]);
        } else if (strcmp(call->row->params[i].code, "S") == 0) {
            aclDestroyScalar(call->args[i].scalar);
        }
    }
}

/* Numbers at which arithmetic has its corners; what a type cannot hold it rounds or saturates. */
enum { FLOAT_SPECIALS = 24, INT_SPECIALS = 12 };

static void put_special(void *at, enum op_type type, unsigned number)
{
    static const double floats[FLOAT_SPECIALS] = {
        NAN,      -0x1p-126, INFINITY, -INFINITY, 0,     -0.0,   0x1p-149, -0x1p-149,
        0x1p-126, 0x1p-24,   -0x1p-24, 0x1p-14,   65504, -65504, 3.4e38,   -3.4e38,
        1,        -1,        0.5,      2.5,       -3,    88.75,  -104,     3};
    const unsigned bits = 8 * rig_type_bytes(type);
    const int64_t least = INT64_MIN >> (64 - bits);
    const int64_t integers[INT_SPECIALS] = {least, ~least, least + 1, ~least - 1, 0,  1,
                                            -1,    2,      7,         -8,         63, 100};
    if (is_float(type)) {
        rig_put_d(at, type, floats[number % FLOAT_SPECIALS]);
    } else {
        rig_put_i(at, type, integers[number % INT_SPECIALS]);
    }
}

/* Every pair of special values in the first two tensors, and others beside them in further ones. */
static void fill_specials(struct call *call)
{
    unsigned step = 1, tensors = 0;
    for (unsigned i = 0; i < call->row->param_count; i++) {
        struct rig_tensor *tensor = &call->tensors[i];
        if (!call->is_tensor[i] || call->row->params[i].role == 'O') {
            continue;
        }
        const unsigned kinds = is_float(tensor->type) ? FLOAT_SPECIALS : INT_SPECIALS;
        for (int64_t k = 0; k < rig_tensor_count(tensor); k++) {
            const unsigned number = (unsigned)k / step + (tensors > 1 ? 5 * (unsigned)k : 0);
            put_special(rig_tensor_at(tensor, k), tensor->type, number);
        }
        rig_tensor_put(tensor);
        step *= tensors++ ? 1 : kinds;
    }
}

// Whether the result is of a kind that the output cannot hold: floats into integers, integers into
// bool.
static bool is_refused(const struct call *call)
{
    const enum op_type out = call->tensors[call->out].type;
    bool whole = false;
    for (unsigned i = 0; i < call->row->param_count; i++) {
        const struct op_test_param *param = &call->row->params[i];
        whole =
            whole ||
            (call->is_tensor[i] && param->role != 'O' && call->tensors[i].type != OP_TYPE_BOOL) ||
            (strcmp(param->code, "S") == 0 && strcmp(param->name, "alpha") != 0);
    }
    return call->row->cast && !is_float(out) &&
           (call->cls != 'i' || (out == OP_TYPE_BOOL && whole));
}

static void run_types(const struct op_test_row *row, enum op_type type, const enum op_type *own,
                      const struct shape *shape, enum rig_layout layout)
{
    struct call call;
    prepare(&call, row, type, own, shape, layout);
    if ((int)layout == SPECIALS) {
        fill_specials(&call);
    }
    struct rig_tensor *out = &call.tensors[call.out];
    const int64_t count = rig_tensor_count(out);
    const unsigned unit = rig_type_bytes(out->type);
    unsigned char *want = malloc((size_t)count * unit + 1);
    for (int64_t i = 0; i < count; i++) {
        want_element(&call, i, want + (size_t)i * unit);
    }
    const bool refused = is_refused(&call);
    const aclnnStatus code = rig_run(row, call.args, !refused);
    CU_ASSERT_EQUAL(code, refused ? 161002 : 0);
    rig_tensor_take(out);
    const double ulps = ulps_of(row);
    for (int64_t i = 0; !code && i < count; i++) {
        if (!same(rig_tensor_at(out, i), want + (size_t)i * unit, out->type, ulps)) {
            fprintf(stderr,
                    "%s, %s, shape of %u dimensions, layout %d: element %lld is %.17g, it must be "
                    "%.17g within %g units of the last place (test ulp=N of its row)\n",
                    row->name, rig_type_name(type), shape->rank, layout, (long long)i,
                    rig_get_d(rig_tensor_at(out, i), out->type),
                    rig_get_d(want + (size_t)i * unit, out->type), ulps);
            CU_FAIL("differs");
            break;
        }
    }
    free(want);
    finish(&call);
}

static void run_case(const struct op_test_row *row, enum op_type type, const struct shape *shape,
                     enum rig_layout layout)
{
    run_types(row, type, NULL, shape, layout);
}

// Types of the first tensor that is read, or of the only one.
static uint32_t types_of(const struct op_test_row *row)
{
    uint32_t types = 0;
    for (unsigned i = row->param_count; i-- > 0;) {
        if (strcmp(row->params[i].code, "T") == 0 && (types == 0 || row->params[i].role != 'O')) {
            types = row->params[i].types[rig_chip()];
        }
    }
    return types & ~(1u << OP_TYPE_C64 | 1u << OP_TYPE_C128 | 1u << OP_TYPE_U64);
}

static void run_row(const struct op_test_row *row)
{
    const uint32_t types = types_of(row);
    for (unsigned type = 0; type < OP_TYPES; type++) {
        if (!(types >> type & 1)) {
            continue;
        }
        // Every type sees every shape once, with layouts in turn; the first type sees all layouts,
        // and the large shape at the end, which keeps every core busy.
        for (unsigned i = 0; i < SHAPES - (type > 0); i++) {
            run_case(row, (enum op_type)type, &shapes[i],
                     (enum rig_layout)((i + type) % RIG_LAYOUTS));
        }
        for (unsigned layout = 0; layout < RIG_LAYOUTS && type == 0; layout++) {
            run_case(row, (enum op_type)type, &shapes[6], (enum rig_layout)layout);
            run_case(row, (enum op_type)type, &shapes[9], (enum rig_layout)layout);
        }
    }
}

/* Lengths that hold every pair, on the scalar unit and in lanes. */
static void special_values_meet(void)
{
    static const struct shape pairs[] = {{1, {FLOAT_SPECIALS * FLOAT_SPECIALS}}, {2, {17, 1031}}};
    for (unsigned i = 0; i < op_test_row_count; i++) {
        const struct op_test_row *row = &op_test_rows[i];
        const uint32_t types = strcmp(row->family, "pointwise") == 0 ? types_of(row) : 0;
        for (unsigned type = 0; type < OP_TYPES; type++) {
            if (types >> type & 1) {
                run_case(row, (enum op_type)type, &pairs[0], (enum rig_layout)SPECIALS);
            }
        }
        if (types >> OP_TYPE_I64 & 1) { // pairs of words
            run_case(row, OP_TYPE_I64, &pairs[1], (enum rig_layout)SPECIALS);
        }
    }
}

static void every_operator_is_its_expression(void)
{
    for (unsigned i = 0; i < op_test_row_count; i++) {
        if (strcmp(op_test_rows[i].family, "pointwise") == 0) {
            run_row(&op_test_rows[i]);
        }
    }
}

/* Copies between layouts of sizes that fill several tiles, types of every width, and operators on
 * such layouts. */
static void copies_between_layouts(void)
{
    static const struct shape larger[] = {
        {2, {67, 1031}},     {2, {1031, 67}},     {3, {5, 70, 130}},
        {4, {3, 17, 9, 33}}, {3, {130, 3, 65}},   {2, {3, 1000}},
        {2, {2000, 3}},      {4, {2, 5, 29, 29}}, {4, {3, 9, 14, 16}},
    };
    enum { LARGER = sizeof(larger) / sizeof(larger[0]) };
    static const char *const names[] = {"InplaceCopy", "Cast", "Add", "Mul"};
    for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        const struct op_test_row *row = rig_row(names[k]);
        const uint32_t types = types_of(row);
        for (unsigned type = 0; type < OP_TYPES; type++) {
            // The types that have lanes of their own see every shape, of the others each its part.
            const unsigned step = type < 3 ? 1 : 3;
            for (unsigned i = type % step; types >> type & 1 && i < LARGER; i += step) {
                for (unsigned layout = 0; layout < (k < 2 && type < 3 ? RIG_LAYOUTS : 2);
                     layout++) {
                    run_case(row, (enum op_type)type, &larger[i],
                             (enum rig_layout)(layout == 0 ? RIG_MIXED : layout));
                }
            }
        }
    }
}

/* Of an element of the whole, the one of a tensor that has some dimensions of 1. */
static int64_t broadcast_place(const struct shape *whole, const struct shape *other, int64_t k)
{
    int64_t at = 0, step = 1;
    for (unsigned d = whole->rank; d-- > 0; k /= whole->dim[d]) {
        at += other->dim[d] == 1 ? 0 : k % whole->dim[d] * step;
        step *= other->dim[d];
    }
    return at;
}

/* [rows, columns] with a row, a column, one element and a matrix that repeats in the middle, in
 * every float type; rows longer than a tile, and of odd length. */
static void broadcasts_of_rows_and_columns(void)
{
    static const struct shape wholes[] = {{2, {300, 64}},  {2, {37, 1000}},  {2, {41, 100}},
                                          {2, {7, 3000}},  {3, {5, 60, 8}},  {2, {1100, 49}},
                                          {3, {9, 70, 9}}, {2, {2500, 2}},   {2, {5, 8192}},
                                          {2, {3, 4097}},  {3, {6, 40, 27}}, {2, {130, 8069}}};
    const struct op_test_row *row = rig_row("Mul");
    for (unsigned type = OP_TYPE_F32; type <= OP_TYPE_BF16; type++) {
        for (unsigned i = 0;
             row->params[0].types[rig_chip()] >> type & 1 && i < sizeof(wholes) / sizeof(wholes[0]);
             i++) {
            for (unsigned way = 0; way < 4; way++) {
                struct shape other = wholes[i];
                for (unsigned d = 0; d < other.rank; d++) {
                    const bool last = d + 1 == other.rank,
                               one[] = {!last, last, true, d + 2 == other.rank};
                    other.dim[d] = one[way] ? 1 : other.dim[d];
                }
                struct rig_tensor a = rig_tensor_make((enum op_type)type, wholes[i].rank,
                                                      wholes[i].dim, RIG_DENSE, 1);
                struct rig_tensor b =
                    rig_tensor_make((enum op_type)type, other.rank, other.dim, RIG_DENSE, 2);
                struct rig_tensor out = rig_tensor_make((enum op_type)type, wholes[i].rank,
                                                        wholes[i].dim, RIG_DENSE, 3);
                const union op_test_arg args[] = {
                    {.tensor = a.acl}, {.tensor = b.acl}, {.tensor = out.acl}};
                CU_ASSERT_EQUAL(rig_run(row, args, true), 0);
                rig_tensor_take(&out);
                long bad = 0;
                for (int64_t k = 0; k < rig_tensor_count(&out); k++) {
                    float want;
                    const int64_t at = broadcast_place(&wholes[i], &other, k);
                    rig_put_f(&want, (enum op_type)type,
                              rig_get_f(rig_tensor_at(&a, k), (enum op_type)type) *
                                  rig_get_f(rig_tensor_at(&b, at), (enum op_type)type));
                    if (rig_chip() == 0 && type == OP_TYPE_F16) {
                        saturate_f16(&want);
                    }
                    bad += !same(rig_tensor_at(&out, k), &want, (enum op_type)type, 0);
                }
                CU_ASSERT_EQUAL(bad, 0);
                rig_tensor_free(&a);
                rig_tensor_free(&b);
                rig_tensor_free(&out);
            }
        }
    }
}

/* Conversions of integers to every type, and integers of two types in one call. */
static void integers_of_several_types(void)
{
    static const enum op_type types[] = {OP_TYPE_BOOL, OP_TYPE_I8,  OP_TYPE_U8,
                                         OP_TYPE_I16,  OP_TYPE_I32, OP_TYPE_I64};
    static const char *const names[] = {"Add", "Sub", "Mul", "Maximum", "LtTensor", "EqTensor"};
    static const struct shape own_shapes[] = {{1, {1009}}, {2, {40, 96}}};
    const struct op_test_row *cast = rig_row("Cast");
    for (unsigned i = 0; i < 6; i++) {
        for (unsigned to = 0; to < OP_TYPES; to++) {
            const enum op_type own[] = {types[i], (enum op_type)to, (enum op_type)to};
            if (cast->params[2].types[rig_chip()] >> to & 1 && to != OP_TYPE_C64 &&
                to != OP_TYPE_C128 && to != OP_TYPE_U64) {
                run_types(cast, types[i], own, &own_shapes[0], RIG_DENSE);
            }
        }
        for (unsigned k = 0; k < 36; k++) {
            const struct op_test_row *row = rig_row(names[k / 6]);
            enum op_type own[4] = {types[i], types[k % 6], types[i], types[i]};
            own[row->param_count - 1] = k / 6 > 3 ? OP_TYPE_BOOL : types[k % 6];
            run_types(row, types[i], own, &own_shapes[0], RIG_DENSE);
            run_types(row, types[i], own, &own_shapes[1], k % 2 ? RIG_PERMUTED : RIG_EXPANDED);
        }
    }
}

/* f32 next to multiples of pi / 2, where the parts of pi that are taken off decide what is left. */
static void sine_and_cosine_near_their_zeros(void)
{
    static const double quarter = 1.5707963267948966;
    const int64_t count = 30000;
    struct rig_tensor in = rig_tensor_make(OP_TYPE_F32, 1, &count, RIG_DENSE, 1),
                      out = rig_tensor_make(OP_TYPE_F32, 1, &count, RIG_DENSE, 2);
    for (int64_t i = 0; i < count; i++) {
        rig_put_d(rig_tensor_at(&in, i), OP_TYPE_F32, (double)(i - count / 2) * quarter);
    }
    rig_tensor_put(&in);
    const union op_test_arg args[] = {{.tensor = in.acl}, {.tensor = out.acl}};
    for (int cosine = 0; cosine < 2; cosine++) {
        int64_t wrong = 0;
        CU_ASSERT_EQUAL(rig_run(rig_row(cosine ? "Cos" : "Sin"), args, true), 0);
        rig_tensor_take(&out);
        for (int64_t i = 0; i < count; i++) {
            const double x = rig_get_d(rig_tensor_at(&in, i), OP_TYPE_F32),
                         got = rig_get_d(rig_tensor_at(&out, i), OP_TYPE_F32),
                         want = cosine ? cos(x) : sin(x);
            wrong += !(fabs(got - want) <= 4 * 0x1p-23 * fabs(want));
        }
        CU_ASSERT_EQUAL(wrong, 0);
    }
    rig_tensor_free(&in);
    rig_tensor_free(&out);
}

// 57.13 is 57.125 among halves, 57.25 among bfloats: equal to such elements.
static void numbers_are_compared_as_their_tensor(void)
{
    static const struct {
        enum op_type type;
        double nearest;
    } cases[] = {{OP_TYPE_F16, 57.125}, {OP_TYPE_BF16, 57.25}, {OP_TYPE_F32, (double)57.13f}};
    static const int64_t dim[] = {3};
    double number = 57.13;
    aclScalar *scalar = aclCreateScalar(&number, ACL_DOUBLE);
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!(rig_types(&rig_row("GeScalar")->params[0]) >> cases[i].type & 1)) {
            continue;
        }
        struct rig_tensor in = rig_tensor_make(cases[i].type, 1, dim, RIG_DENSE, 1),
                          out = rig_tensor_make(OP_TYPE_BOOL, 1, dim, RIG_DENSE, 2);
        for (int64_t k = 0; k < 3; k++) {
            rig_put_d(rig_tensor_at(&in, k), cases[i].type,
                      k == 1 ? cases[i].nearest : 56.0 + 2 * (double)k);
        }
        rig_tensor_put(&in);
        const union op_test_arg args[] = {
            {.tensor = in.acl}, {.scalar = scalar}, {.tensor = out.acl}};
        static const char *const rows[] = {"EqScalar", "GeScalar", "LtScalar"};
        static const bool want[][3] = {
            {false, true, false}, {false, true, true}, {true, false, false}};
        for (unsigned r = 0; r < 3; r++) {
            CU_ASSERT_EQUAL(rig_run(rig_row(rows[r]), args, true), 0);
            rig_tensor_take(&out);
            for (int64_t k = 0; k < 3; k++) {
                CU_ASSERT_EQUAL(rig_get_i(rig_tensor_at(&out, k), OP_TYPE_BOOL), want[r][k]);
            }
        }
        rig_tensor_free(&in);
        rig_tensor_free(&out);
    }
    CU_ASSERT_EQUAL(aclDestroyScalar(scalar), 0);
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"pointwise_broadcasts_of_rows_and_columns", broadcasts_of_rows_and_columns},
        {"pointwise_copies_between_layouts", copies_between_layouts},
        {"pointwise_integers_of_several_types", integers_of_several_types},
        {"pointwise_special_values_meet", special_values_meet},
        {"pointwise_sine_and_cosine_near_their_zeros", sine_and_cosine_near_their_zeros},
        {"pointwise_numbers_are_compared_as_their_tensor", numbers_are_compared_as_their_tensor},
        {"pointwise_every_operator_is_its_expression", every_operator_is_its_expression},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_pointwise", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
