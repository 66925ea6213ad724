/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the functions of the vector unit are from the truth (HW-NUM-20), which MPFR computes: all
 * f16, all f32 of [1/2, 2) for ln, and samples of all f32. Usage: ulp [SAMPLES [PROCESSES]].
 */
#include "number/number.h"

#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PRECISION = 64, MAX_PROCESSES = 256 };

enum { EXP, LN, RSQRT, SQRT, REC, FUNCTIONS };

struct worst {
    double ulps;
    uint32_t at; /* bits of the argument */
    uint64_t count, not_nearest;
};

struct worsts {
    struct worst half[FUNCTIONS], single[FUNCTIONS];
};

static int invert(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding)
{
    return mpfr_ui_div(to, 1, x, rounding);
}

static const struct {
    const char *name;
    float (*ours)(float x);
    int (*truth)(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding);
    double bound;
    uint64_t most; /* f16 results that are not the nearest */
} functions[FUNCTIONS] = {
    [EXP] = {"exp", sim_number_exp, mpfr_exp, 1.1, 2},
    [LN] = {"ln", sim_number_ln, mpfr_log, 0.83, 1},
    [RSQRT] = {"rsqrt", sim_number_rsqrt, mpfr_rec_sqrt, 1.5, 0},
    [SQRT] = {"sqrt", sim_number_sqrt, mpfr_sqrt, 0.5, 0},
    [REC] = {"rec", sim_number_rec, invert, 0.5, 0},
};

/* A format: fraction bits, exponent of the least normal number, of the largest. */
struct format {
    int fraction, least, largest;
};

static const struct format f16 = {10, -14, 15}, f32 = {23, -126, 127};

/* Notes |got - truth| in units of the last place of the truth; results that overflow are not
 * numbers of the format and are left out. */
static void note(struct worst *worst, const struct format *format, float got, const mpfr_t truth,
                 mpfr_t scratch, float x)
{
    if (!mpfr_number_p(truth) || isinf(got)) {
        return;
    }
    long exponent = mpfr_zero_p(truth) ? format->least : mpfr_get_exp(truth) - 1;
    if (exponent > format->largest) {
        return;
    }
    exponent = exponent < format->least ? format->least : exponent;
    mpfr_d_sub(scratch, (double)got, truth, MPFR_RNDN);
    mpfr_mul_2si(scratch, scratch, format->fraction - exponent, MPFR_RNDN);
    const double ulps = fabs(mpfr_get_d(scratch, MPFR_RNDA));
    worst->count++;
    worst->not_nearest += ulps > 0.5;
    if (ulps > worst->ulps) {
        worst->ulps = ulps;
        worst->at = sim_number_bits(x);
    }
}

static bool is_argument(unsigned function, float x)
{
    if (isnan(x) || isinf(x)) {
        return false;
    }
    return function == EXP ? x <= 89 && x >= -105 : function == REC ? x != 0 : x > 0;
}

struct bench {
    struct worsts *worsts;
    mpfr_t x, truth, scratch;
};

static void measure(struct bench *bench, unsigned function, float x, bool half)
{
    if (!is_argument(function, x)) {
        return;
    }
    float got = functions[function].ours(x);
    mpfr_set_flt(bench->x, x, MPFR_RNDN);
    functions[function].truth(bench->truth, bench->x, MPFR_RNDN);
    if (half) {
        got = sim_number_f16_to_f32(sim_number_f32_to_f16(got, LEO_ROUND_RINT));
        note(&bench->worsts->half[function], &f16, got, bench->truth, bench->scratch, x);
    } else {
        note(&bench->worsts->single[function], &f32, got, bench->truth, bench->scratch, x);
    }
}

/* The share of one of several processes. */
static void measure_share(struct worsts *worsts, long samples, unsigned share, unsigned shares)
{
    struct bench bench = {.worsts = worsts};
    uint64_t state = 88172645463325252u + share;
    mpfr_inits2(PRECISION, bench.x, bench.truth, bench.scratch, (mpfr_ptr)NULL);
    for (uint32_t bits = share; bits < 0x10000; bits += shares) {
        for (unsigned i = 0; i < FUNCTIONS; i++) {
            measure(&bench, i, sim_number_f16_to_f32((uint16_t)bits), true);
        }
    }
    for (uint32_t bits = 0x3f000000 + share; bits < 0x40000000; bits += shares) {
        measure(&bench, LN, sim_number_float(bits), false);
    }
    for (long i = share; i < samples; i += shares) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const uint32_t bits = (uint32_t)(state >> 16);
        const float any = sim_number_float(bits), size = fabsf(any);
        // Most f32 are too large or too small for exp: its arguments are spread evenly.
        measure(&bench, EXP, (float)(int32_t)bits * (105.0f / 2147483648.0f), false);
        measure(&bench, LN, size, false);
        measure(&bench, RSQRT, size, false);
        measure(&bench, SQRT, size, false);
        measure(&bench, REC, any, false);
    }
    mpfr_clears(bench.x, bench.truth, bench.scratch, (mpfr_ptr)NULL);
}

static void join(struct worst *to, const struct worst *from)
{
    if (from->ulps > to->ulps) {
        to->ulps = from->ulps;
        to->at = from->at;
    }
    to->count += from->count;
    to->not_nearest += from->not_nearest;
}

static int report(const struct worsts *worsts, unsigned shares)
{
    int wrong = 0;
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        struct worst half = {0}, single = {0};
        for (unsigned share = 0; share < shares; share++) {
            join(&half, &worsts[share].half[i]);
            join(&single, &worsts[share].single[i]);
        }
        printf(
            "%-5s f32: %.5f ulp at 0x%08x of %llu; f16: %.5f ulp, %llu of %llu not the nearest\n",
            functions[i].name, single.ulps, single.at, (unsigned long long)single.count, half.ulps,
            (unsigned long long)half.not_nearest, (unsigned long long)half.count);
        wrong += single.ulps > functions[i].bound || half.not_nearest > functions[i].most;
    }
    return wrong != 0;
}

int main(int argc, char **argv)
{
    const long samples = argc > 1 ? atol(argv[1]) : 100000000;
    const long asked = argc > 2 ? atol(argv[2]) : sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned shares = asked < 1 ? 1 : asked > MAX_PROCESSES ? MAX_PROCESSES : (unsigned)asked;
    struct worsts *worsts = mmap(NULL, shares * sizeof(*worsts), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (worsts == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    for (unsigned share = 0; share < shares; share++) {
        const pid_t child = fork();
        if (child < 0) {
            perror("fork");
            return 1;
        }
        if (child == 0) {
            measure_share(&worsts[share], samples, share, shares);
            _exit(0);
        }
    }
    int status, wrong = 0;
    while (wait(&status) > 0) {
        wrong |= status;
    }
    return wrong ? 1 : report(worsts, shares);
}
