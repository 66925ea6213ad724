/* SPDX-License-Identifier: Apache-2.0 */
/* IEEE 754 arithmetic in integers, as RISC-V asks: the host's floating-point environment is neither
 * read nor changed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum sim_float_format { SIM_FLOAT_H, SIM_FLOAT_S, SIM_FLOAT_D, SIM_FLOAT_B /**< bf16 */ };

/** Rounding modes with their numbers in instructions and frm. */
enum sim_float_rm {
    SIM_RM_RNE,
    SIM_RM_RTZ,
    SIM_RM_RDN,
    SIM_RM_RUP,
    SIM_RM_RMM,
    SIM_RM_COUNT,
    SIM_RM_DYN = 7
};

/** Exceptions with their bits in fflags. */
enum sim_float_flag {
    SIM_FLAG_NX = 1,
    SIM_FLAG_UF = 2,
    SIM_FLAG_OF = 4,
    SIM_FLAG_DZ = 8,
    SIM_FLAG_NV = 16
};

/** How an operation rounds and what it raised. */
struct sim_float_env {
    enum sim_float_rm rm;
    unsigned flags; /**< enum sim_float_flag bits, collected */
};

/** Kinds of integers a float converts to and from. */
enum sim_float_int { SIM_INT_W, SIM_INT_WU, SIM_INT_L, SIM_INT_LU };

/* Operands and results are the bits of the format, right-aligned. */
unsigned sim_float_width(enum sim_float_format format);
uint64_t sim_float_nan(enum sim_float_format format);
uint64_t sim_float_add(enum sim_float_format format, uint64_t a, uint64_t b,
                       struct sim_float_env *env);
uint64_t sim_float_mul(enum sim_float_format format, uint64_t a, uint64_t b,
                       struct sim_float_env *env);
uint64_t sim_float_div(enum sim_float_format format, uint64_t a, uint64_t b,
                       struct sim_float_env *env);
uint64_t sim_float_sqrt(enum sim_float_format format, uint64_t a, struct sim_float_env *env);
/** a * b + c with one rounding. */
uint64_t sim_float_fma(enum sim_float_format format, uint64_t a, uint64_t b, uint64_t c,
                       struct sim_float_env *env);
uint64_t sim_float_min(enum sim_float_format format, uint64_t a, uint64_t b,
                       struct sim_float_env *env);
uint64_t sim_float_max(enum sim_float_format format, uint64_t a, uint64_t b,
                       struct sim_float_env *env);
bool sim_float_eq(enum sim_float_format format, uint64_t a, uint64_t b, struct sim_float_env *env);
bool sim_float_lt(enum sim_float_format format, uint64_t a, uint64_t b, struct sim_float_env *env);
bool sim_float_le(enum sim_float_format format, uint64_t a, uint64_t b, struct sim_float_env *env);
/** The ten-bit mask of fclass. */
uint64_t sim_float_classify(enum sim_float_format format, uint64_t a);
uint64_t sim_float_convert(enum sim_float_format to, enum sim_float_format from, uint64_t a,
                           struct sim_float_env *env);
/** Saturating; 32-bit results are sign-extended (the unsigned one too). */
uint64_t sim_float_to_int(enum sim_float_int to, enum sim_float_format from, uint64_t a,
                          struct sim_float_env *env);
uint64_t sim_float_from_int(enum sim_float_format to, enum sim_float_int from, uint64_t value,
                            struct sim_float_env *env);
