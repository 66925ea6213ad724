/* SPDX-License-Identifier: Apache-2.0 */
/* Made by math_tables.py; not edited. */
#pragma once

#include <stdint.h>

#define LN2_0            0x1.62e42ff000000p-1
#define LN2_1            -0x1.718432a1b0e26p-35
#define HALF_PI_0        0x1.921fb54442d18p+0
#define HALF_PI_1        0x1.1a62633145c07p-54
#define HALF_PI_2        -0x1.f1976b7ed8fbcp-110
#define PI_0             0x1.921fb54442d18p+1
#define PI_1             0x1.1a62633145c07p-53
#define LOG2_E_0         0x1.71547652b82fep+0
#define LOG2_E_1         0x1.777d0ffda0d24p-56
#define LOG10_E_0        0x1.bcb7b1526e50ep-2
#define LOG10_E_1        0x1.95355baaafad3p-57
#define LN2_FULL_0       0x1.62e42fefa39efp-1
#define LN2_FULL_1       0x1.abc9e3b39803fp-56
#define TWO_OVER_PI      0x1.45f306dc9c883p-1
#define TWO_OVER_SQRT_PI 0x1.20dd750429b6dp+0

/** atan(k / 16) */
__attribute__((unused)) static const double atan_high[] = {0x0.0p+0,
                                                           0x1.ff55bb72cfdeap-5,
                                                           0x1.fd5ba9aac2f6ep-4,
                                                           0x1.7b97b4bce5b02p-3,
                                                           0x1.f5b75f92c80ddp-3,
                                                           0x1.362773707ebccp-2,
                                                           0x1.6f61941e4def1p-2,
                                                           0x1.a64eec3cc23fdp-2,
                                                           0x1.dac670561bb4fp-2,
                                                           0x1.0657e94db30d0p-1,
                                                           0x1.1e00babdefeb4p-1,
                                                           0x1.345f01cce37bbp-1,
                                                           0x1.4978fa3269ee1p-1,
                                                           0x1.5d58987169b18p-1,
                                                           0x1.700a7c5784634p-1,
                                                           0x1.819d0b7158a4dp-1,
                                                           0x1.921fb54442d18p-1};
/** what atan_high lacks */
__attribute__((unused)) static const double atan_low[] = {0x0.0p+0,
                                                          -0x1.c934d86d23f1dp-60,
                                                          -0x1.cd37686760c17p-59,
                                                          0x1.347b0b4f881cap-58,
                                                          0x1.8ab6e3cf7afbdp-57,
                                                          -0x1.963a544b672d8p-57,
                                                          -0x1.c63aae6f6e918p-56,
                                                          -0x1.24dec1b50b7ffp-56,
                                                          0x1.a2b7f222f65e2p-56,
                                                          -0x1.d5b495f6349e6p-56,
                                                          -0x1.928df287a668fp-58,
                                                          0x1.1021137c71102p-55,
                                                          0x1.2419a87f2a458p-56,
                                                          0x1.0028e4bc5e7cap-57,
                                                          -0x1.8c34d25aadef6p-56,
                                                          -0x1.bf76229d3b917p-56,
                                                          0x1.1a62633145c07p-55};
/** erf(x) / x in powers of x * x, 0 < x < 1 */
__attribute__((unused)) static const double erf_small[] = {
    0x1.20dd750429b6dp+0,  -0x1.812746b0379e7p-2,  0x1.ce2f21a042be2p-4,  -0x1.b82ce31288b47p-6,
    0x1.565bcd0e6a2eep-8,  -0x1.c02db40035f1ep-11, 0x1.f9a326f7ac5b1p-14, -0x1.f4d25bf9af03ap-17,
    0x1.b9e6c38e5cf3dp-20, -0x1.5f73c3bf14b91p-23, 0x1.fcbb312b48443p-27, -0x1.517ce02f1265fp-30,
    0x1.9a0fcb5e22c5bp-34, -0x1.b40e7abf9f000p-38, 0x1.3c01fd3a74542p-42};
/** (1 + 2 x) erfc(x) exp(x * x) in powers of (x - 4) / (x + 4), 0.5 < x < 28 */
__attribute__((unused)) static const double erfc_scaled[] = {
    0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28ep-3,  0x1.f7f5df66fd7bdp-7,   0x1.16ecefcfa538fp-4,
    -0x1.9ddb23c3e9102p-4,  0x1.7fee004e12699p-4,   -0x1.0fb06dfe48b83p-4,  0x1.3079edf67eac9p-5,
    -0x1.09623885458bep-6,  0x1.49c67287cd6bfp-8,   -0x1.8d4a99978ed3cp-11, -0x1.a1df2700afd1cp-13,
    0x1.3be033d992e2dp-13,  -0x1.995908b23ed69p-16, -0x1.7881e1b6cf4f1p-17, 0x1.7f25fab6d64b8p-18,
    0x1.3882c9249bf24p-22,  -0x1.baebd2a350359p-21, 0x1.519dc1ca036edp-24,  0x1.d801e20deaa97p-24,
    -0x1.703f9db324477p-26, -0x1.e908c9c2a1a03p-27, 0x1.e71e03f98d911p-29,  0x1.7a2118b1ff936p-30,
    -0x1.6d274501184b0p-32};
/** 2 / pi, the fraction's bits from the highest on. */
__attribute__((unused)) static const uint64_t two_over_pi_bits[] = {
    UINT64_C(0xa2f9836e4e441529), UINT64_C(0xfc2757d1f534ddc0), UINT64_C(0xdb6295993c439041),
    UINT64_C(0xfe5163abdebbc561), UINT64_C(0xb7246e3a424dd2e0), UINT64_C(0x6492eea09d1921c),
    UINT64_C(0xfe1deb1cb129a73e), UINT64_C(0xe88235f52ebb4484), UINT64_C(0xe99c7026b45f7e41),
    UINT64_C(0x3991d639835339f4), UINT64_C(0x9c845f8bbdf9283b), UINT64_C(0x1ff897ffde05980f),
    UINT64_C(0xef2f118b5a0a6d1f), UINT64_C(0x6d367ecf27cb09b7), UINT64_C(0x4f463f669e5fea2d),
    UINT64_C(0x7527bac7ebe5f17b), UINT64_C(0x3d0739f78a5292ea), UINT64_C(0x6bfb5fb11f8d5d08),
    UINT64_C(0x56033046fc7b6bab), UINT64_C(0xf0cfbc209af4361d)};
