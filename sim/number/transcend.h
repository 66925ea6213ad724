/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of the exp and ln sequences, shared by the generic and the SIMD code. */
#pragma once

#define SIM_LOG2E       1.44269504088896341f
#define SIM_ROUND_MAGIC 12582912.0f /* 1.5 x 2^23: adding it rounds to an integer */
#define SIM_LN2_HIGH    0.693145751953125f
#define SIM_LN2_LOW     1.42860682e-6f

/* exp: beyond these the result is infinite, or zero */
#define SIM_EXP_MAX 89.0f
#define SIM_EXP_MIN -105.0f
/* (e^r - 1 - r) / r^2 on |r| <= ln2 / 2 */
#define SIM_EXP_C2 0.5f
#define SIM_EXP_C3 0.166666666f
#define SIM_EXP_C4 0.0416666666f
#define SIM_EXP_C5 0.00833333333f
#define SIM_EXP_C6 0.00138888889f
#define SIM_EXP_C7 0.000198412698f

/* ln: (ln(1 + f) - f + f^2 / 2) / f^3 on sqrt(1/2) - 1 <= f < sqrt(2) - 1 */
#define SIM_LN_C0          3.3333331174e-1f
#define SIM_LN_C1          -2.4999993993e-1f
#define SIM_LN_C2          2.0000714765e-1f
#define SIM_LN_C3          -1.6668057665e-1f
#define SIM_LN_C4          1.4249322787e-1f
#define SIM_LN_C5          -1.2420140846e-1f
#define SIM_LN_C6          1.1676998740e-1f
#define SIM_LN_C7          -1.1514610310e-1f
#define SIM_LN_C8          7.0376836292e-2f
#define SIM_SQRT_HALF_BITS 0x3f3504f3u
#define SIM_LEAST_NORMAL   1.17549435e-38f
#define SIM_TWO_23         8388608.0f
