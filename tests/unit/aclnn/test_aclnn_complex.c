/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of complex numbers against the host's, and results that an output cannot hold. */
#include "rig.h"

#include <complex.h>
#include <math.h>
#include <string.h>

enum { ROWS = 5, COLUMNS = 7 };

static double complex get(const struct rig_tensor *t, int64_t index)
{
    float c64[2];
    double c128[2];
    switch (t->type) {
    case OP_TYPE_C64:
        memcpy(c64, rig_tensor_at(t, index), sizeof(c64));
        return c64[0] + I * c64[1];
    case OP_TYPE_C128:
        memcpy(c128, rig_tensor_at(t, index), sizeof(c128));
        return c128[0] + I * c128[1];
    default:
        return rig_get_d(rig_tensor_at(t, index), t->type);
    }
}

// Numbers of many sizes; some parts are 0.
static struct rig_tensor make(enum op_type type, unsigned rank, const int64_t *dim,
                              enum rig_layout layout, int64_t seed)
{
    struct rig_tensor t = rig_tensor_make(type, rank, dim, layout, (uint64_t)seed);
    for (int64_t i = 0; i < rig_tensor_count(&t); i++) {
        const int64_t n = (i * 37 + seed * 11) % 101 - 50;
        const float c64[] = {(float)n / 8, n % 5 ? (float)(n * n % 23 - 11) / 4 : 0};
        const double c128[] = {c64[0], c64[1]};
        if (type == OP_TYPE_C64) {
            memcpy(rig_tensor_at(&t, i), c64, sizeof(c64));
        } else if (type == OP_TYPE_C128) {
            memcpy(rig_tensor_at(&t, i), c128, sizeof(c128));
        } else {
            type == OP_TYPE_F64 ? (void)memcpy(rig_tensor_at(&t, i), c128, sizeof(double))
                                : rig_put_f(rig_tensor_at(&t, i), type, c64[0]);
        }
    }
    rig_tensor_put(&t);
    return t;
}

static double complex compute(char op, double complex a, double complex b, double complex alpha)
{
    return op == '+' ? a + alpha * b : op == '-' ? a - alpha * b : op == '*' ? a * b : a / b;
}

static void expect(const struct rig_tensor *out, int64_t index, double complex want, double room)
{
    const double complex got = get(out, index);
    CU_ASSERT(cabs(got - want) <= room * (1 + cabs(want)));
}

struct call {
    const char *op;
    char sign;
    enum op_type a, b, out;
    bool wide_alpha, in_place;
};

static void run(const struct call *c)
{
    const int64_t dim[] = {ROWS, COLUMNS}, row[] = {COLUMNS};
    const double part[] = {0.5, -2}, one[] = {1, 0};
    struct rig_tensor a = make(c->a, 2, dim, RIG_SLICED, 1), b = make(c->b, 1, row, RIG_DENSE, 2),
                      out = make(c->out, 2, dim, RIG_PERMUTED, 3);
    aclScalar *alpha =
        aclCreateScalar((void *)(uintptr_t)(c->wide_alpha ? part : one), ACL_COMPLEX128);
    const bool sum = c->sign == '+' || c->sign == '-';
    union op_test_arg args[4] = {{.tensor = a.acl}, {.tensor = b.acl}};
    args[2] = sum ? (union op_test_arg){.scalar = alpha} : (union op_test_arg){.tensor = out.acl};
    args[3] = (union op_test_arg){.tensor = out.acl};
    double complex before[ROWS * COLUMNS];
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        before[i] = get(&a, i);
    }
    if (c->in_place) { // the twin ends before the output
        CU_ASSERT_EQUAL(rig_run(rig_row(c->op), args, true), 0);
        rig_tensor_take(&a);
    } else {
        CU_ASSERT_EQUAL(rig_run(rig_row(c->op), args, true), 0);
        rig_tensor_take(&out);
    }
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
        const double complex y = get(&b, i % COLUMNS);
        if (c->sign == '/' && y == 0) {
            continue;
        }
        expect(c->in_place ? &a : &out, i,
               compute(c->sign, before[i], y, c->wide_alpha ? 0.5 - 2 * I : 1),
               c->out == OP_TYPE_C128 ? 1e-14 : 1e-6);
    }
    CU_ASSERT_EQUAL(aclDestroyScalar(alpha), 0);
    rig_tensor_free(&a);
    rig_tensor_free(&b);
    rig_tensor_free(&out);
}

static void tensors_of_complex_numbers(void)
{
    static const struct call calls[] = {
        {"Add", '+', OP_TYPE_C64, OP_TYPE_C64, OP_TYPE_C64, false, false},
        {"Add", '+', OP_TYPE_C64, OP_TYPE_F32, OP_TYPE_C64, true, false},
        {"Sub", '-', OP_TYPE_F16, OP_TYPE_C64, OP_TYPE_C64, true, false},
        {"Sub", '-', OP_TYPE_C128, OP_TYPE_C128, OP_TYPE_C128, false, false},
        {"Mul", '*', OP_TYPE_C64, OP_TYPE_C64, OP_TYPE_C64, false, false},
        {"Mul", '*', OP_TYPE_F32, OP_TYPE_C64, OP_TYPE_C64, false, false},
        {"Mul", '*', OP_TYPE_C128, OP_TYPE_F64, OP_TYPE_C128, false, false},
        {"Div", '/', OP_TYPE_C64, OP_TYPE_C64, OP_TYPE_C64, false, false},
        {"Div", '/', OP_TYPE_C64, OP_TYPE_F32, OP_TYPE_C64, false, false},
        {"InplaceMul", '*', OP_TYPE_C64, OP_TYPE_C64, OP_TYPE_C64, false, true},
        {"InplaceAdd", '+', OP_TYPE_C64, OP_TYPE_C64, OP_TYPE_C64, true, true},
        {"InplaceDiv", '/', OP_TYPE_C64, OP_TYPE_C64, OP_TYPE_C64, false, true},
    };
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        run(&calls[i]);
    }
}

static void numbers_and_signs(void)
{
    const int64_t dim[] = {ROWS, COLUMNS};
    const double complex factor = 1.5 - 0.25 * I;
    const double part[] = {creal(factor), cimag(factor)}, one[] = {1, 0};
    struct rig_tensor a = make(OP_TYPE_C64, 2, dim, RIG_SLICED, 1),
                      real = make(OP_TYPE_F32, 2, dim, RIG_DENSE, 2),
                      out = make(OP_TYPE_C64, 2, dim, RIG_PERMUTED, 3);
    aclScalar *number = aclCreateScalar((void *)(uintptr_t)part, ACL_COMPLEX128),
              *alpha = aclCreateScalar((void *)(uintptr_t)one, ACL_COMPLEX128);
    for (int which = 0; which < 5; which++) { // the fourth: a real tensor by a complex number
        static const char *const ops[] = {"Adds", "Muls", "Divs", "Muls", "Neg"};
        const struct rig_tensor *x = which == 3 ? &real : &a;
        const union op_test_arg add[] = {
            {.tensor = x->acl}, {.scalar = number}, {.scalar = alpha}, {.tensor = out.acl}};
        const union op_test_arg mul[] = {
            {.tensor = x->acl}, {.scalar = number}, {.tensor = out.acl}};
        const union op_test_arg neg[] = {{.tensor = x->acl}, {.tensor = out.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row(ops[which]),
                                which == 0   ? add
                                : which == 4 ? neg
                                             : mul,
                                true),
                        0);
        rig_tensor_take(&out);
        for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
            const double complex v = get(x, i);
            expect(&out, i,
                   which == 0   ? v + factor
                   : which == 2 ? v / factor
                   : which == 4 ? -v
                                : v * factor,
                   1e-6);
        }
    }
    CU_ASSERT_EQUAL(aclDestroyScalar(number), 0);
    CU_ASSERT_EQUAL(aclDestroyScalar(alpha), 0);
    rig_tensor_free(&a);
    rig_tensor_free(&real);
    rig_tensor_free(&out);
}

/* ---- functions ---- */

static double complex of_log2(double complex x)
{
    return clog(x) / log(2);
}

static double complex of_log10(double complex x)
{
    return clog(x) / log(10);
}

static double complex of_sign(double complex x)
{
    return x / cabs(x);
}

static void functions_of_one_number(void)
{
    static const struct {
        const char *op;
        double complex (*function)(double complex);
    } calls[] = {{"Exp", cexp},   {"Log", clog}, {"Log2", of_log2}, {"Log10", of_log10},
                 {"Sqrt", csqrt}, {"Sin", csin}, {"Cos", ccos},     {"Sinh", csinh},
                 {"Cosh", ccosh}, {"Tan", ctan}, {"Tanh", ctanh},   {"Sign", of_sign}};
    const int64_t dim[] = {ROWS, COLUMNS};
    const enum op_type types[] = {OP_TYPE_C64, OP_TYPE_C128};
    for (unsigned i = 0; i < 2 * sizeof(calls) / sizeof(calls[0]); i++) {
        const unsigned n = i / 2;
        struct rig_tensor in = make(types[i % 2], 2, dim, RIG_SLICED, 1),
                          out = make(types[i % 2], 2, dim, RIG_PERMUTED, 3);
        const union op_test_arg args[] = {{.tensor = in.acl}, {.tensor = out.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row(calls[n].op), args, true), 0);
        rig_tensor_take(&out);
        for (int64_t k = 0; k < ROWS * COLUMNS; k++) {
            const double complex x = get(&in, k);
            if (x != 0) { // where logarithms are infinite
                expect(&out, k, calls[n].function(x), i % 2 ? 1e-13 : 2e-5);
            }
        }
        rig_tensor_free(&in);
        rig_tensor_free(&out);
    }
}

/* ---- parts ---- */

static void sums_and_turns_go_by_parts(void)
{
    const int64_t dim[] = {ROWS, COLUMNS}, row[] = {COLUMNS}, last[] = {1}, first[] = {0};
    struct rig_tensor in = make(OP_TYPE_C64, 2, dim, RIG_PERMUTED, 1),
                      sum = make(OP_TYPE_C64, 1, row, RIG_DENSE, 2),
                      turned = make(OP_TYPE_C64, 2, dim, RIG_SLICED, 3),
                      real = rig_tensor_make(OP_TYPE_F32, 1, row, RIG_DENSE, 4);
    aclIntArray *over = aclCreateIntArray(first, 1), *along = aclCreateIntArray(last, 1);
    const union op_test_arg sums[] = {{.tensor = in.acl},
                                      {.ints = over},
                                      {.integer = 0},
                                      {.integer = ACL_COMPLEX64},
                                      {.tensor = sum.acl}},
                            turns[] = {{.tensor = in.acl}, {.ints = along}, {.tensor = turned.acl}},
                            wrong[] = {{.tensor = in.acl},
                                       {.ints = over},
                                       {.integer = 0},
                                       {.integer = ACL_FLOAT},
                                       {.tensor = real.acl}};
    CU_ASSERT_EQUAL(rig_run(rig_row("ReduceSum"), sums, true), 0);
    CU_ASSERT_EQUAL(rig_run(rig_row("Flip"), turns, true), 0);
    CU_ASSERT_EQUAL(rig_run(rig_row("ReduceSum"), wrong, false), 161002);
    rig_tensor_take(&sum);
    rig_tensor_take(&turned);
    for (int64_t c = 0; c < COLUMNS; c++) {
        double complex want = 0;
        for (int64_t r = 0; r < ROWS; r++) {
            want += get(&in, r * COLUMNS + c);
            expect(&turned, r * COLUMNS + c, get(&in, r * COLUMNS + COLUMNS - 1 - c), 0);
        }
        expect(&sum, c, want, 1e-6);
    }
    CU_ASSERT_EQUAL(aclDestroyIntArray(over), 0);
    CU_ASSERT_EQUAL(aclDestroyIntArray(along), 0);
    struct rig_tensor *const all[] = {&in, &sum, &turned, &real};
    for (unsigned i = 0; i < 4; i++) {
        rig_tensor_free(all[i]);
    }
}

static void tensors_are_filled_and_compared(void)
{
    const enum op_type types[] = {OP_TYPE_C64, OP_TYPE_C128};
    const int64_t dim[] = {ROWS, COLUMNS};
    const double number[] = {1.5, -0.25};
    aclScalar *value = aclCreateScalar((void *)(uintptr_t)number, ACL_COMPLEX128);
    for (unsigned i = 0; i < 2; i++) {
        struct rig_tensor filled = make(types[i], 2, dim, RIG_SLICED, 1),
                          other = make(types[i], 2, dim, RIG_DENSE, 2),
                          same = rig_tensor_make(OP_TYPE_BOOL, 2, dim, RIG_DENSE, 3);
        const union op_test_arg fill[] = {{.tensor = filled.acl}, {.scalar = value}},
                                compare[] = {{.tensor = filled.acl},
                                             {.tensor = other.acl},
                                             {.tensor = same.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row("InplaceFillScalar"), fill, true), 0);
        rig_tensor_take(&filled);
        for (int64_t k = 0; k < ROWS * COLUMNS; k++) {
            expect(&filled, k, number[0] + I * number[1], 0);
        }
        // One element is the same, one has the same real part alone.
        memcpy(rig_tensor_at(&other, 3), rig_tensor_at(&filled, 3), rig_type_bytes(types[i]));
        memcpy(rig_tensor_at(&other, 5), rig_tensor_at(&filled, 5), rig_type_bytes(types[i]) / 2);
        rig_tensor_put(&other);
        CU_ASSERT_EQUAL(rig_run(rig_row("EqTensor"), compare, true), 0);
        rig_tensor_take(&same);
        for (int64_t k = 0; k < ROWS * COLUMNS; k++) {
            CU_ASSERT_EQUAL(rig_get_i(rig_tensor_at(&same, k), OP_TYPE_BOOL),
                            get(&filled, k) == get(&other, k));
        }
        rig_tensor_free(&filled);
        rig_tensor_free(&other);
        rig_tensor_free(&same);
    }
    CU_ASSERT_EQUAL(aclDestroyScalar(value), 0);
}

/* ---- Fourier transforms ---- */

enum { SIGNALS = 2, SAMPLES = 50, PIECE = 16, HOP = 5, WINDOW = 11 };
enum { PIECES = (SAMPLES - PIECE) / HOP + 1, BINS = PIECE / 2 + 1 };

static double complex bin_of(const struct rig_tensor *signal, const struct rig_tensor *window,
                             int64_t batch, int64_t piece, int64_t bin)
{
    const int64_t first = (PIECE - WINDOW) / 2;
    double complex sum = 0;
    for (int64_t i = 0; i < PIECE; i++) {
        const bool inside = i >= first && i < first + WINDOW;
        const double weight = !inside ? 0 : window ? creal(get(window, i - first)) : 1;
        sum += creal(get(signal, batch * SAMPLES + piece * HOP + i)) * weight *
               cexp(-2 * I * acos(-1) * (double)(bin * i) / PIECE);
    }
    return sum;
}

static void run_stft(bool complex_out, bool windowed, bool normalized)
{
    const int64_t dim[] = {SIGNALS, SAMPLES}, list[] = {WINDOW},
                  shape[] = {SIGNALS, BINS, PIECES, 2};
    struct rig_tensor signal = make(OP_TYPE_F32, 2, dim, RIG_SLICED, 1),
                      window = make(OP_TYPE_F32, 1, list, RIG_DENSE, 2),
                      out = make(complex_out ? OP_TYPE_C64 : OP_TYPE_F32, complex_out ? 3 : 4,
                                 shape, RIG_PERMUTED, 3);
    const union op_test_arg args[] = {
        {.tensor = signal.acl},  {.tensor = windowed ? window.acl : NULL},
        {.tensor = out.acl},     {.integer = PIECE},
        {.integer = HOP},        {.integer = WINDOW},
        {.integer = normalized}, {.integer = 1},
        {.integer = complex_out}};
    CU_ASSERT_EQUAL(rig_run(rig_row("Stft"), args, true), 0);
    rig_tensor_take(&out);
    for (int64_t i = 0; i < SIGNALS * BINS * PIECES; i++) {
        const double complex want = bin_of(&signal, windowed ? &window : NULL, i / (BINS * PIECES),
                                           i % PIECES, i / PIECES % BINS) *
                                    (normalized ? 0.25 : 1);
        const double complex got =
            complex_out ? get(&out, i) : get(&out, 2 * i) + I * get(&out, 2 * i + 1);
        CU_ASSERT(cabs(got - want) <= 2e-4);
    }
    rig_tensor_free(&signal);
    rig_tensor_free(&window);
    rig_tensor_free(&out);
}

static void pieces_of_signals_are_transformed(void)
{
    for (int way = 0; rig_chip() == 1 && way < 4; way++) {
        run_stft(way & 1, way != 2, way >> 1);
    }
}

// A result of a kind that the output cannot hold is refused, and the output stays as it is.
static void results_must_fit_their_output(void)
{
    static const struct {
        const char *op;
        enum op_type a, b, out;
    } calls[] = {{"Mul", OP_TYPE_I64, OP_TYPE_F32, OP_TYPE_I64},
                 {"Mul", OP_TYPE_F16, OP_TYPE_F16, OP_TYPE_I32},
                 {"Div", OP_TYPE_I32, OP_TYPE_I32, OP_TYPE_I32},
                 {"Mul", OP_TYPE_I32, OP_TYPE_I32, OP_TYPE_BOOL},
                 {"Mul", OP_TYPE_C64, OP_TYPE_C64, OP_TYPE_F32}};
    const int64_t dim[] = {ROWS};
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct rig_tensor a = rig_tensor_make(calls[i].a, 1, dim, RIG_DENSE, 1),
                          b = rig_tensor_make(calls[i].b, 1, dim, RIG_DENSE, 2),
                          out = rig_tensor_make(calls[i].out, 1, dim, RIG_DENSE, 3);
        const union op_test_arg args[] = {
            {.tensor = a.acl}, {.tensor = b.acl}, {.tensor = out.acl}};
        CU_ASSERT_EQUAL(rig_run(rig_row(calls[i].op), args, false), 161002);
        CU_ASSERT_PTR_NOT_NULL(strstr(aclGetRecentErrMsg(), "can't be cast to"));
        rig_tensor_free(&a);
        rig_tensor_free(&b);
        rig_tensor_free(&out);
    }
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"tensors_of_complex_numbers", tensors_of_complex_numbers},
        {"numbers_and_signs", numbers_and_signs},
        {"functions_of_one_number", functions_of_one_number},
        {"sums_and_turns_go_by_parts", sums_and_turns_go_by_parts},
        {"tensors_are_filled_and_compared", tensors_are_filled_and_compared},
        {"pieces_of_signals_are_transformed", pieces_of_signals_are_transformed},
        {"results_must_fit_their_output", results_must_fit_their_output},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_complex", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
