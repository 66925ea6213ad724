/* SPDX-License-Identifier: Apache-2.0 */
/* Decoded scalar instructions: sixteen bytes each, ready to dispatch. */
#pragma once

#include "scalar.h"
#include "softfloat.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "memory of the core is little-endian; the host must be too"
#endif

/** What the run loop dispatches on. Decoding gives the codes up to SIM_CODE_PLAIN; linking may
 * replace them by the later ones. */
enum sim_scalar_code {
    SIM_CODE_ILLEGAL,
    SIM_CODE_END, /**< one past the last instruction: the fetch that left the text */
    SIM_CODE_CUSTOM,
    SIM_CODE_FITS, /**< check_field: SIM_CODE_CUSTOM if the operand does not fit */
    SIM_CODE_FLOAT,
    SIM_CODE_FLOAT_DIV,
#define SCALAR_INSN(code, mnemonic, mask, match, form) SIM_CODE_##code,
#define SCALAR_FLOAT(mnemonic, mask, match, kind, format, source)
#include "insns.def"
#undef SCALAR_INSN
#undef SCALAR_FLOAT
/* Floating point that the host may do (float_host.h). */
#define HOST_FLOAT(kind, format, source, rounding) SIM_CODE_F_##kind##_##format##source,
#include "host_floats.def"
#undef HOST_FLOAT
    SIM_CODE_J,          /**< jal x0 */
    SIM_CODE_JAL_OUT,    /**< to a place outside of the text */
    SIM_CODE_BRANCH_OUT, /**< if taken, to a place outside of the text */
    SIM_CODE_POLL,       /**< `behind`, when the environment lets it (poll_loop.c) */
    SIM_CODE_BREAK,      /**< `behind`, when there is no breakpoint (sim_decoded_break) */
    SIM_CODE_BREAK_POLL, /**< SIM_CODE_POLL, when there is no breakpoint */
    SIM_CODE_PLAIN,
    SIM_CODE_CHECK = SIM_CODE_PLAIN, /**< `plain`, after looking at the time limit */
    SIM_CODE_COUNT
};
_Static_assert(SIM_CODE_PLAIN <= UINT8_MAX, "plain has 8 bits");

/** What a floating-point instruction does, in any format. */
enum sim_float_kind {
    SIM_FLOAT_ADD,
    SIM_FLOAT_SUB,
    SIM_FLOAT_MUL,
    SIM_FLOAT_DIV,
    SIM_FLOAT_SQRT,
    SIM_FLOAT_MADD,
    SIM_FLOAT_MSUB,
    SIM_FLOAT_NMSUB,
    SIM_FLOAT_NMADD,
    SIM_FLOAT_SGNJ,
    SIM_FLOAT_SGNJN,
    SIM_FLOAT_SGNJX,
    SIM_FLOAT_MIN,
    SIM_FLOAT_MAX,
    SIM_FLOAT_LE,
    SIM_FLOAT_LT,
    SIM_FLOAT_EQ,
    SIM_FLOAT_CLASS,
    SIM_FLOAT_MV_X_F,
    SIM_FLOAT_MV_F_X,
    SIM_FLOAT_CVT_W_F,
    SIM_FLOAT_CVT_WU_F,
    SIM_FLOAT_CVT_L_F,
    SIM_FLOAT_CVT_LU_F,
    SIM_FLOAT_CVT_F_W,
    SIM_FLOAT_CVT_F_WU,
    SIM_FLOAT_CVT_F_L,
    SIM_FLOAT_CVT_F_LU,
    SIM_FLOAT_CVT_F_F
};

/** The extra operands of a floating-point instruction, in the place of an immediate. */
struct sim_float_fields {
    uint8_t kind;       /**< enum sim_float_kind */
    uint8_t format : 4; /**< enum sim_float_format; of the result of CVT_F_F */
    uint8_t source : 4; /**< of the operand of CVT_F_F */
    uint8_t rm;         /**< enum sim_float_rm */
    uint8_t rs3;
};

/** The rest of an instruction of the other units; its registers that the form lacks are x0. */
struct sim_custom_fields {
    uint32_t insn : 9; /**< enum leo_insn */
    uint32_t rs3 : 5;
    uint32_t sub : 5;  /**< u4 form */
    uint32_t imm : 12; /**< i form */
};
_Static_assert(LEO_INSN_COUNT <= 512, "insn has 9 bits");

struct sim_scalar_op {
    uint16_t code; /**< enum sim_scalar_code */
    uint8_t rd, rs1, rs2;
    uint8_t plain;  /**< the code without looking at time */
    uint8_t run;    /**< instructions from here to one that looks at time, inclusive */
    uint8_t behind; /**< of SIM_CODE_POLL and what follows it: what it does */
    union {
        /** Sign-extended; shift amount; CSR number. Linked: what auipc gives; of a jump inside the
         * text the distance in bytes of these structs. */
        int64_t imm;
        struct sim_float_fields flt;
        struct sim_custom_fields custom;
    };
};
_Static_assert(sizeof(struct sim_scalar_op) == 16, "one tick a byte (reach.h)");

/** What an instruction does, whatever the loop looks at before. */
static inline enum sim_scalar_code sim_scalar_meaning(const struct sim_scalar_op *op)
{
    return (enum sim_scalar_code)(op->plain >= SIM_CODE_POLL ? op->behind : op->plain);
}

struct sim_decoded {
    uint64_t base, bytes;      /**< bytes: whole instructions only */
    struct sim_scalar_op *ops; /**< bytes / 4, and one SIM_CODE_END */
    uint32_t *words;
    struct sim_poll_loop *poll_loop; /**< loops that may wait for memory, by rising `at` */
    size_t poll_loop_count;
};

/** Decodes one instruction word. Never fails: what is unknown becomes SIM_CODE_ILLEGAL. */
struct sim_scalar_op sim_scalar_decode(uint32_t word);

/** Prepares decoded instructions for the run loop: where jumps go, where time is
 * looked at. */
void sim_scalar_link(struct sim_decoded *decoded);

/** Executes a floating-point instruction; false = its rounding
 * mode is not valid (nothing changed). */
bool sim_scalar_float(struct sim_scalar *scalar, const struct sim_scalar_op *op);

/** Executes a csr* instruction. False = fault set, or (code NONE) the environment wants it tried
 * again. */
bool sim_scalar_csr(struct sim_scalar *scalar, const struct sim_scalar_op *op);

/** Bytes of a load or atomic access; 0: it is neither. */
unsigned sim_scalar_load_bytes(enum sim_scalar_code code);

/** Executes lr, sc or amo* on its aligned operand and returns the value of rd. */
uint64_t sim_scalar_atomic(struct sim_scalar *scalar, const struct sim_scalar_op *op, uint64_t addr,
                           uint8_t *operand);
