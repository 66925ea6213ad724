/* SPDX-License-Identifier: Apache-2.0 */
/* A few instruction encodings, enough to write kernels of a dozen words by hand. */
#pragma once

#include <leo/insn.h>
#include <stdint.h>

enum {
    ZERO = 0,
    RA = 1,
    SP = 2,
    T0 = 5,
    T1 = 6,
    T2 = 7,
    A0 = 10,
    A1,
    A2,
    A3,
    A4,
    A5,
    A6,
    A7,
    S2,
    S3,
    S4,
    S5,
    S6,
    S7
};

static inline uint32_t rv_i(uint32_t opcode, unsigned f3, unsigned rd, unsigned rs1, int imm)
{
    return opcode | rd << 7 | f3 << 12 | rs1 << 15 | (uint32_t)imm << 20;
}

static inline uint32_t rv_addi(unsigned rd, unsigned rs1, int imm)
{
    return rv_i(0x13, 0, rd, rs1, imm);
}

static inline uint32_t rv_slli(unsigned rd, unsigned rs1, unsigned by)
{
    return rv_i(0x13, 1, rd, rs1, (int)by);
}

static inline uint32_t rv_add(unsigned rd, unsigned rs1, unsigned rs2)
{
    return 0x33 | rd << 7 | rs1 << 15 | rs2 << 20;
}

static inline uint32_t rv_mul(unsigned rd, unsigned rs1, unsigned rs2)
{
    return rv_add(rd, rs1, rs2) | 1u << 25;
}

static inline uint32_t rv_lui(unsigned rd, uint32_t upper20)
{
    return 0x37 | rd << 7 | upper20 << 12;
}

static inline uint32_t rv_ld(unsigned rd, unsigned rs1, int imm)
{
    return rv_i(0x03, 3, rd, rs1, imm);
}

static inline uint32_t rv_store(unsigned f3, unsigned rs2, unsigned rs1, int imm)
{
    uint32_t bits = (uint32_t)imm;
    return 0x23 | (bits & 31) << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | (bits >> 5 & 127) << 25;
}

static inline uint32_t rv_sd(unsigned rs2, unsigned rs1, int imm)
{
    return rv_store(3, rs2, rs1, imm);
}

/* Branch if not equal. */
static inline uint32_t rv_bne(unsigned rs1, unsigned rs2, int imm)
{
    uint32_t bits = (uint32_t)imm;
    return 0x63 | 1u << 12 | rs1 << 15 | rs2 << 20 | (bits >> 11 & 1) << 7 | (bits >> 1 & 15) << 8 |
           (bits >> 5 & 63) << 25 | (bits >> 12 & 1) << 31;
}

static inline uint32_t rv_jr(unsigned rs1)
{
    return rv_i(0x67, 0, 0, rs1, 0);
}

static inline uint32_t rv_ret(void)
{
    return rv_jr(RA);
}

/* Jump to itself. */
static inline uint32_t rv_hang(void)
{
    return 0x6f;
}

static inline uint32_t rv_csrr(unsigned rd, unsigned csr)
{
    return rv_i(0x73, 2, rd, 0, (int)csr);
}

static inline uint32_t rv_csrw(unsigned csr, unsigned rs1)
{
    return rv_i(0x73, 1, 0, rs1, (int)csr);
}

/* A unit instruction of the r4 form: registers a b c d. */
static inline uint32_t rv_r4(enum leo_insn insn, unsigned a, unsigned b, unsigned c, unsigned d)
{
    const struct leo_insn_info *info = leo_insn_info(insn);
    uint32_t rs2 = info->form == LEO_INSN_FORM_R4 ? c << 20 : 0;
    return info->match | a << 7 | b << 15 | rs2 | d << 27;
}

/* A unit instruction of the i form. */
static inline uint32_t rv_sys(enum leo_insn insn, unsigned rs1, unsigned imm)
{
    return leo_insn_info(insn)->match | rs1 << 15 | imm << 20;
}

static inline uint32_t rv_flag(enum leo_insn insn, enum leo_pipe src, enum leo_pipe dst,
                               unsigned id)
{
    return rv_sys(insn, ZERO, (unsigned)src | (unsigned)dst << 4 | id << 8);
}
