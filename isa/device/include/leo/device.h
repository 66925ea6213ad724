/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device program includes: types, qualifiers, and the instructions of a core as functions.
 * C11 or C++17, clang. The compiler driver sets __NPU_ARCH__ (1001 or 2201); without it the
 * instructions of both are there.
 */
#pragma once

#include <leo/csr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__NPU_ARCH__) && __NPU_ARCH__ != 1001 && __NPU_ARCH__ != 2201
#error "__NPU_ARCH__ is neither 1001 nor 2201"
#endif
#if !defined(__NPU_ARCH__) || __NPU_ARCH__ == 1001
#define LEO_HAS_1001 1
#else
#define LEO_HAS_1001 0
#endif
#if !defined(__NPU_ARCH__) || __NPU_ARCH__ == 2201
#define LEO_HAS_2201 1
#else
#define LEO_HAS_2201 0
#endif

/* Both parts of a kernel for cube and vector cores are one compilation: what such a guard keeps for
 * one of them would be in neither. -D__DAV_CUBE__ or -D__DAV_VEC__ says which part a file is. */
#if LEO_HAS_2201 && !defined(__DAV_CUBE__) && !defined(__DAV_VEC__) &&                             \
    !defined(__DAV_C220_CUBE__) && !defined(__DAV_C220_VEC__)
#pragma GCC poison __DAV_CUBE__ __DAV_VEC__ __DAV_C220_CUBE__ __DAV_C220_VEC__
#endif

typedef _Float16 half;
typedef __bf16 bfloat16_t;

/* Qualifiers of functions: __global__ __aicore__ void kernel(...); on a split chip with a kind. */
#ifndef __global__
#define __global__ __attribute__((visibility("protected"), used))
#endif
#ifndef __aicore__
#define __aicore__
#endif
#define __vector__ __attribute__((section(".text.npu.aiv")))
#define __cube__   __attribute__((section(".text.npu.aic")))
/* A block is a cube core with its vector cores, here two or one of them: __mix__(1, 2). All run the
 * kernel; leo_is_cube() and leo_is_vector() tell them apart. */
#define __mix__(cubes, vectors) LEO_MIX_##cubes##_##vectors
#define LEO_MIX_1_2             __attribute__((section(".text.npu.mix")))
#define LEO_MIX_1_1             __attribute__((section(".text.npu.mix_one")))
#define LEO_MIX_1_0             __cube__
#define LEO_MIX_0_1             __vector__

/* Qualifiers of pointers. LEO_CHECK_SPACES is a lint (-fsyntax-only) that tells memories apart. */
#ifdef LEO_CHECK_SPACES
#define __gm__   __attribute__((address_space(1)))
#define __ubuf__ __attribute__((address_space(2)))
#define __cbuf__ __attribute__((address_space(3)))
#define __ca__   __attribute__((address_space(4)))
#define __cb__   __attribute__((address_space(5)))
#define __cc__   __attribute__((address_space(6)))
#else
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#endif

/* The same place in global memory, past the L2: what is moved by this address is not kept there. */
#define leo_no_l2(pointer)                                                                         \
    ((__typeof__(pointer))((uint64_t)(pointer) | UINT64_C(1) << LEO_GM_BIT_NO_L2))

/* Arrays in on-chip memory, in a function or outside: __ubuf_array__ half x[128]; */
#define __ubuf_array__                                                                             \
    static LEO_DEVICE __ubuf__ __attribute__((used, section(".npu.ub"), aligned(32)))
#define __cbuf_array__                                                                             \
    static LEO_DEVICE __cbuf__ __attribute__((used, section(".npu.l1"), aligned(512)))
#define __ca_array__                                                                               \
    static LEO_DEVICE __ca__ __attribute__((used, section(".npu.l0a"), aligned(512)))
#define __cb_array__                                                                               \
    static LEO_DEVICE __cb__ __attribute__((used, section(".npu.l0b"), aligned(512)))
#define __cc_array__                                                                               \
    static LEO_DEVICE __cc__ __attribute__((used, section(".npu.l0c"), aligned(1024)))

typedef enum { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL } pipe_t;
typedef enum {
    EVENT_ID0,
    EVENT_ID1,
    EVENT_ID2,
    EVENT_ID3,
    EVENT_ID4,
    EVENT_ID5,
    EVENT_ID6,
    EVENT_ID7,
} event_t;
typedef enum { VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX } Order_t;
typedef enum { inc, dec } addr_cal_mode_t;
typedef enum {
    PAD_NONE,
    PAD_MODE1,
    PAD_MODE2,
    PAD_MODE3,
    PAD_MODE4,
    PAD_MODE5,
    PAD_MODE6,
    PAD_MODE7,
    PAD_MODE8,
} pad_t;
typedef enum { CSIZE0, CSIZE1 } csize_t;
/* VA registers, and the half of a pair that vld_va_reg sets. */
typedef enum { VA0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 } ub_addr8_t;
typedef enum { L128, H128 } va_half_t;
/* Values of enum quant and enum cr of the instruction tables. */
typedef enum {
    NoQuant,
    F322F16,
    F322BF16,
    DEQF16,
    VDEQF16,
    QF322B8_PRE,
    VQF322B8_PRE,
    REQ8,
    VREQ8,
    REQ4,
    VREQ4,
    QF322B4_PRE,
    VQF322B4_PRE,
    DEQS16,
    VDEQS16,
} QuantMode_t;
typedef enum {
    CRMODE_NONE,
    CRMODE_F32toF16_NONE,
    CRMODE_F32toF16_RELU,
    CRMODE_NONE_RELU,
    CRMODE_F16,
    CRMODE_F16_RELU,
    CRMODE_F16toF32_NONE,
    CRMODE_F16_MUL,
    CRMODE_S32toF16_DEQSCALE_SPR,
    CRMODE_S32toS8_DEQSCALE_SPR,
    CRMODE_S32toU8_DEQSCALE_SPR,
} CRMODE_t;

#ifdef LEO_ONE_FILE // kernels and code for the host in one file
#define LEO_DEVICE __attribute__((device))
#else
#define LEO_DEVICE
#endif
#ifdef __cplusplus
#define LEO_OVERLOAD
#else
#define LEO_OVERLOAD __attribute__((overloadable))
#endif
/* nodebug: an instruction belongs to the line that calls it, in faults, profiles and debuggers. */
#define LEO_INTRIN                                                                                 \
    static inline LEO_DEVICE LEO_OVERLOAD __attribute__((always_inline, nodebug, unused))
/* A constant argument that does not fit its field is an error where it is given. */
#define LEO_LIMIT(param, most)                                                                     \
    __attribute__((diagnose_if((param) > (most),                                                   \
                               #param " does not fit: the field holds 0 to " #most, "error")))
#define LEO_LIMIT_SIGNED(param, most)                                                              \
    __attribute__((diagnose_if((param) < -(most) - 1 || (param) > (most),                          \
                               #param " does not fit: the field holds -" #most " - 1 to " #most,   \
                               "error")))
#define LEO_ABSENT(arch)                                                                           \
    LEO_DEVICE LEO_OVERLOAD __attribute__((                                                        \
        unavailable("not an instruction of chip " #arch " with operands of these types")))

/* Four UB addresses in blocks of 32 bytes, 16 bits each: bare offsets or places in the window. */
LEO_INTRIN uint64_t leo_ub_blocks(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return (a >> 5 & 0xffff) | (b >> 5 & 0xffff) << 16 | (c >> 5 & 0xffff) << 32 |
           (d >> 5 & 0xffff) << 48;
}

/*
 * One instruction of a unit. All registers are sources, so nothing is an output; x0 is used for a
 * constant 0. A pass for the host (no __riscv) parses kernels too and gets nothing.
 */
#ifdef __riscv
#define LEO_R4(opcode, f3, f2, a, b, c, d)                                                         \
    __asm__ __volatile__(".insn r4 " #opcode ", " #f3 ", " #f2 ", %z0, %z1, %z2, %z3"              \
                         :                                                                         \
                         : "rJ"((uint64_t)(a)), "rJ"((uint64_t)(b)), "rJ"((uint64_t)(c)),          \
                           "rJ"((uint64_t)(d))                                                     \
                         : "memory")
#define LEO_U4(opcode, f3, f2, sub, a, b, d)                                                       \
    __asm__ __volatile__(".insn r4 " #opcode ", " #f3 ", " #f2 ", %z0, %z1, x" #sub ", %z2"        \
                         :                                                                         \
                         : "rJ"((uint64_t)(a)), "rJ"((uint64_t)(b)), "rJ"((uint64_t)(d))           \
                         : "memory")
#define LEO_I(opcode, f3, b, imm)                                                                  \
    __asm__ __volatile__(".insn i " #opcode ", " #f3 ", x0, %z0, %1"                               \
                         :                                                                         \
                         : "rJ"((uint64_t)(b)), "i"(imm)                                           \
                         : "memory")
/* One that is not constant is reported by a word that takes no time (check_field), unless the
 * compiler knows that it fits. */
#define LEO_FITS(value, bits, field)                                                               \
    do {                                                                                           \
        if (!__builtin_constant_p((value) >> (bits) == 0) || (value) >> (bits) != 0) {             \
            LEO_I(0x5b, 4, value, LEO_FITS_IMM(bits, field));                                      \
        }                                                                                          \
    } while (0)
#define LEO_FITS_SIGNED(value, bits, field)                                                        \
    do {                                                                                           \
        if (((value) + (1 << ((bits) - 1))) >> (bits) != 0) {                                      \
            LEO_I(0x5b, 4, value, LEO_FITS_IMM((bits) - 1, field));                                \
        }                                                                                          \
    } while (0)
/* Twelve bits, as the assembler takes them: signed. */
#define LEO_FITS_IMM(bits, field) (((((bits) & 31) | (field) << 5) ^ 2048) - 2048)
#define LEO_FENCE()               __asm__ __volatile__("" : : : "memory")
/* A number that does not change while a block runs: not volatile, so that reads are merged. */
#define LEO_CSR_CONST(number, value) __asm__("csrr %0, %1" : "=r"(value) : "i"(number))
#define LEO_CSR_READ(number, value)                                                                \
    __asm__ __volatile__("csrr %0, %1" : "=r"(value) : "i"(number) : "memory")
#define LEO_CSR_WRITE(number, value)                                                               \
    __asm__ __volatile__("csrw %0, %1" : : "i"(number), "rK"((uint64_t)(value)) : "memory")
#define LEO_CSR_SET(number, bits)                                                                  \
    __asm__ __volatile__("csrsi %0, %1" : : "i"(number), "i"(bits) : "memory")
#define LEO_CSR_CLEAR(number, bits)                                                                \
    __asm__ __volatile__("csrci %0, %1" : : "i"(number), "i"(bits) : "memory")
#else
#define LEO_R4(opcode, f3, f2, a, b, c, d)   ((void)(a), (void)(b), (void)(c), (void)(d))
#define LEO_U4(opcode, f3, f2, sub, a, b, d) ((void)(a), (void)(b), (void)(d))
#define LEO_I(opcode, f3, b, imm)            ((void)(b), (void)(imm))
#define LEO_FITS(value, bits, field)         ((void)(value))
#define LEO_FITS_SIGNED(value, bits, field)  ((void)(value))
#define LEO_FENCE()                          ((void)0)
#define LEO_CSR_CONST(number, value)         ((value) = 0)
#define LEO_CSR_READ(number, value)          ((value) = 0)
#define LEO_CSR_WRITE(number, value)         ((void)(value))
#define LEO_CSR_SET(number, bits)            ((void)0)
#define LEO_CSR_CLEAR(number, bits)          ((void)0)
#endif

#include <leo/device_print.h>
#include <leo/device_scalar.h>
#include <leo/device_sync.h>
#include <leo/intrin.h>
// After the functions they use.
#include <leo/device_cross.h>
#include <leo/device_poll.h>
#include <leo/device_state.h>
