/* SPDX-License-Identifier: Apache-2.0 */
/* The device math library, compiled for the host under other names, against the host's long double
 * functions. The bounds in units in the last place are those of docs/kernel_library.md. */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { DOUBLES = 100000, FLOAT_STEP = 25013, PAIRS = 200000 };

/* Worst error of the float and of the double function. */
#define ONE_ARGUMENT(X)                                                                            \
    X(exp, 0.501, 1)                                                                               \
    X(exp2, 0.501, 1)                                                                              \
    X(expm1, 0.501, 1.1)                                                                           \
    X(log, 0.501, 1)                                                                               \
    X(log2, 0.501, 0.6)                                                                            \
    X(log10, 0.501, 0.6)                                                                           \
    X(log1p, 0.501, 1.3)                                                                           \
    X(sqrt, 0.5, 0.5)                                                                              \
    X(cbrt, 0.501, 0.75)                                                                           \
    X(sin, 0.501, 0.8)                                                                             \
    X(cos, 0.501, 0.8)                                                                             \
    X(tan, 0.501, 2.5)                                                                             \
    X(asin, 0.501, 1.2)                                                                            \
    X(acos, 0.501, 1)                                                                              \
    X(atan, 0.501, 1)                                                                              \
    X(sinh, 0.501, 2.5)                                                                            \
    X(cosh, 0.501, 1.5)                                                                            \
    X(tanh, 0.501, 2.5)                                                                            \
    X(erf, 0.501, 2)                                                                               \
    X(erfc, 0.501, 4)                                                                              \
    X(floor, 0, 0)                                                                                 \
    X(ceil, 0, 0)                                                                                  \
    X(trunc, 0, 0)                                                                                 \
    X(round, 0, 0)                                                                                 \
    X(rint, 0, 0)                                                                                  \
    X(nearbyint, 0, 0)
#define TWO_ARGUMENTS(X)                                                                           \
    X(pow, 0.501, 1)                                                                               \
    X(hypot, 0.501, 0.6)                                                                           \
    X(atan2, 0.501, 1)                                                                             \
    X(fmod, 0, 0)                                                                                  \
    X(fdim, 0.5, 0.5)

#define DECLARE_ONE(name, worst_float, worst_double)                                               \
    double device_##name(double);                                                                  \
    float device_##name##f(float);
ONE_ARGUMENT(DECLARE_ONE)
#define DECLARE_TWO(name, worst_float, worst_double)                                               \
    double device_##name(double, double);                                                          \
    float device_##name##f(float, float);
TWO_ARGUMENTS(DECLARE_TWO)
double device_ldexp(double, int);
float device_ldexpf(float, int);
double device_frexp(double, int *);
double device_modf(double, double *);
long device_lround(double);
long device_lrintf(float);

/** Distance in units in the last place of a format with this precision; the sign of zero counts. */
static double distance(double got, long double reference, int precision, double least)
{
    double nearest = precision == DBL_MANT_DIG ? (double)reference : (double)(float)reference;
    if (isnan(nearest) || isnan(got)) {
        return isnan(nearest) && isnan(got) ? 0 : INFINITY;
    }
    if (isinf(nearest) || isinf(got)) {
        return nearest - got == 0 || (isinf(nearest) && isinf(got) && nearest * got > 0) ? 0
                                                                                         : INFINITY;
    }
    if (nearest == 0 && got == 0) {
        return signbit(nearest) == signbit(got) ? 0 : INFINITY;
    }
    int exponent;
    (void)frexp(fmax(fabs(nearest), least), &exponent);
    return (double)fabsl((long double)got - reference) / ldexp(1, exponent - precision);
}

static double distance_d(double got, long double reference)
{
    return distance(got, reference, DBL_MANT_DIG, DBL_MIN);
}

static double distance_f(float got, long double reference)
{
    return distance((double)got, reference, FLT_MANT_DIG, (double)FLT_MIN);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/** Any bits; and numbers of each size at which functions do something. */
static double make_double(uint64_t *seed, unsigned kind)
{
    uint64_t random = next_random(seed);
    double unit = (double)(int64_t)random * 0x1p-63, x;
    switch (kind % 6) {
    case 0:
        memcpy(&x, &random, sizeof(x));
        return x;
    case 1:
        return unit * 30;
    case 2:
        return unit;
    case 3:
        return unit * 750;
    case 4:
        return (double)((int)(random % 41) - 20) / 2;
    default:
        return ldexp(unit, (int)(next_random(seed) % 60) - 30);
    }
}

static void check_doubles(const char *name, double (*device)(double),
                          long double (*host)(long double), double bound)
{
    double worst = 0, at = 0;
    uint64_t seed = 88172645463325252;
    for (unsigned i = 0; i < DOUBLES; i++) {
        double x = make_double(&seed, i), off = distance_d(device(x), host((long double)x));
        if (off > worst) {
            worst = off;
            at = x;
        }
    }
    if (worst > bound) {
        printf("%s(%a): %.3f units off, bound %.3f\n", name, at, worst, bound);
    }
    CU_ASSERT(worst <= bound);
}

/** Floats over the whole range of bits. */
static void check_floats(const char *name, float (*device)(float), long double (*host)(long double),
                         double bound)
{
    double worst = 0;
    float at = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += FLOAT_STEP) {
        uint32_t word = (uint32_t)bits;
        float x;
        memcpy(&x, &word, sizeof(x));
        double off = distance_f(device(x), host((long double)x));
        if (off > worst) {
            worst = off;
            at = x;
        }
    }
    if (worst > bound) {
        printf("%sf(%a): %.3f units off, bound %.3f\n", name, (double)at, worst, bound);
    }
    CU_ASSERT(worst <= bound);
}

static void functions_of_one_argument_are_as_accurate_as_told(void)
{
#define CHECK_ONE(name, worst_float, worst_double)                                                 \
    check_doubles(#name, device_##name, name##l, worst_double);                                    \
    check_floats(#name, device_##name##f, name##l, worst_float);
    ONE_ARGUMENT(CHECK_ONE)
}

static void check_pairs(const char *name, double (*device)(double, double),
                        float (*device_f)(float, float),
                        long double (*host)(long double, long double), double bound_f, double bound)
{
    uint64_t seed = 1234567;
    double worst = 0, worst_f = 0;
    for (unsigned i = 0; i < PAIRS; i++) {
        double x = make_double(&seed, i), y = make_double(&seed, i / 6);
        float xf = (float)x, yf = (float)y;
        double off = distance_d(device(x, y), host((long double)x, (long double)y));
        double off_f = distance_f(device_f(xf, yf), host((long double)xf, (long double)yf));
        if (off > bound || off_f > bound_f) {
            printf("%s(%a, %a): %.3f units off, float %.3f\n", name, x, y, off, off_f);
        }
        worst = fmax(worst, off);
        worst_f = fmax(worst_f, off_f);
    }
    CU_ASSERT(worst <= bound);
    CU_ASSERT(worst_f <= bound_f);
}

static void functions_of_two_arguments_are_as_accurate_as_told(void)
{
#define CHECK_TWO(name, worst_float, worst_double)                                                 \
    check_pairs(#name, device_##name, device_##name##f, name##l, worst_float, worst_double);
    TWO_ARGUMENTS(CHECK_TWO)
}

static void edges_are_as_c_says(void)
{
    const double values[] = {0,    -0.0,     1,         -1,    0.5,     -0.5,    2,
                             -2,   3,        -3,        1e300, -1e300,  1e-310,  -1e-310,
                             1e22, INFINITY, -INFINITY, NAN,   0x1p-54, DBL_MAX, -DBL_MAX};
    const size_t count = sizeof(values) / sizeof(values[0]);
    for (size_t i = 0; i < count; i++) {
        double x = values[i];
#define CHECK_EDGE(name, worst_float, worst_double)                                                \
    CU_ASSERT(distance_d(device_##name(x), name##l((long double)x)) <= (worst_double) + 0.0);      \
    CU_ASSERT(distance_f(device_##name##f((float)x), name##l((long double)(float)x)) <=            \
              (worst_float) + 0.0);
        ONE_ARGUMENT(CHECK_EDGE)
        for (size_t k = 0; k < count; k++) {
            double y = values[k];
#define CHECK_EDGES(name, worst_float, worst_double)                                               \
    CU_ASSERT(distance_d(device_##name(x, y), name##l((long double)x, (long double)y)) <=          \
              (worst_double) + 0.0);
            TWO_ARGUMENTS(CHECK_EDGES)
        }
    }
}

static void parts_of_numbers_are_exact(void)
{
    uint64_t seed = 5;
    for (unsigned i = 0; i < DOUBLES; i++) {
        double x = make_double(&seed, i), whole, host_whole;
        int k = 0, host_k = 0, by = (int)(next_random(&seed) % 4600) - 2300;
        if (isnan(x)) {
            continue;
        }
        CU_ASSERT(distance_d(device_ldexp(x, by), (long double)ldexp(x, by)) == 0);
        CU_ASSERT(distance_f(device_ldexpf((float)x, by), (long double)ldexpf((float)x, by)) == 0);
        CU_ASSERT(device_modf(x, &whole) == modf(x, &host_whole) && whole == host_whole);
        if (!isinf(x)) {
            CU_ASSERT(device_frexp(x, &k) == frexp(x, &host_k) && k == host_k);
        }
        if (fabs(x) < 1e9) {
            CU_ASSERT_EQUAL(device_lround(x), lround(x));
            CU_ASSERT_EQUAL(device_lrintf((float)x), lrintf((float)x));
        }
    }
}

static const struct leo_test tests[] = {
    {"functions_of_one_argument_are_as_accurate_as_told",
     functions_of_one_argument_are_as_accurate_as_told},
    {"functions_of_two_arguments_are_as_accurate_as_told",
     functions_of_two_arguments_are_as_accurate_as_told},
    {"edges_are_as_c_says", edges_are_as_c_says},
    {"parts_of_numbers_are_exact", parts_of_numbers_are_exact},
};

int main(int argc, char **argv)
{
    return leo_test_main("device math", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
