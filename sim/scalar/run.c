/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run loop. sim_scalar_run is one long switch on purpose: program counter, time and count stay
 * in host registers and an instruction costs a few host cycles; a function per instruction was
 * several times slower.
 */
#include "decode.h"

#include <string.h>

#define LEO_INLINE static inline __attribute__((always_inline))

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

void sim_scalar_forget(struct sim_scalar *scalar)
{
    memset(scalar->region_cache, 0, sizeof(scalar->region_cache));
}

void sim_scalar_reset(struct sim_scalar *scalar)
{
    memset(scalar->x, 0, sizeof(scalar->x));
    memset(scalar->f, 0, sizeof(scalar->f));
    scalar->pc = 0;
    scalar->fcsr = 0;
    scalar->cycle = 0;
    scalar->instructions = 0;
    scalar->reservation = 0;
    scalar->fault = (struct sim_fault){0};
    sim_scalar_forget(scalar);
}

static void set_fault(struct sim_scalar *scalar, enum leo_fault code, uint64_t addr, uint64_t bytes)
{
    scalar->fault = (struct sim_fault){.code = code, .addr = addr, .bytes = bytes};
}

LEO_INLINE bool has_range(const struct sim_region *region, uint64_t addr, unsigned bytes,
                          unsigned access)
{
    uint64_t offset = addr - region->base;
    return offset < region->bytes && region->bytes - offset >= bytes &&
           (region->access & access) == access;
}

/** Any region but the first cached one. */
static __attribute__((noinline)) const struct sim_region *
find_region(struct sim_scalar *scalar, uint64_t addr, unsigned bytes, enum sim_access access)
{
    struct sim_region *cache = scalar->region_cache;
    const size_t count = sizeof(scalar->region_cache) / sizeof(cache[0]);
    for (size_t i = 0; i < count; i++) {
        if (has_range(&cache[i], addr, bytes, access)) {
            return &cache[i];
        }
    }
    struct sim_region region;
    if (!scalar->env->find(scalar, addr, bytes, access, &region)) {
        return NULL;
    }
    memmove(&cache[1], &cache[0], (count - 1) * sizeof(cache[0]));
    cache[0] = region;
    return &cache[0];
}

/** The region of an aligned (or allowed to be misaligned) access; NULL = fault set or to be tried
 * again. */
LEO_INLINE const struct sim_region *reach(struct sim_scalar *scalar, uint64_t addr, unsigned bytes,
                                          enum sim_access access)
{
    const struct sim_region *region = &scalar->region_cache[0];
    if (!has_range(region, addr, bytes, access)) {
        region = find_region(scalar, addr, bytes, access);
    }
    if (addr % bytes != 0 && region && !(region->access & SIM_ACCESS_MISALIGNED)) {
        set_fault(scalar, LEO_FAULT_MISALIGNED_SCALAR, addr, bytes);
        return NULL;
    }
    return region;
}

LEO_INLINE bool load(struct sim_scalar *scalar, const struct sim_scalar_op *op, unsigned bytes,
                     uint64_t *value, double *cost)
{
    uint64_t addr = scalar->x[op->rs1] + (uint64_t)(int64_t)op->imm;
    const struct sim_region *region = reach(scalar, addr, bytes, SIM_ACCESS_READ);
    if (!region) {
        return false;
    }
    *value = 0;
    memcpy(value, region->host + (addr - region->base), bytes);
    *cost = (double)region->load_cycles;
    return true;
}

LEO_INLINE bool store(struct sim_scalar *scalar, const struct sim_scalar_op *op, unsigned bytes,
                      uint64_t value, double *cost)
{
    uint64_t addr = scalar->x[op->rs1] + (uint64_t)(int64_t)op->imm;
    const struct sim_region *region = reach(scalar, addr, bytes, SIM_ACCESS_WRITE);
    if (!region) {
        return false;
    }
    memcpy(region->host + (addr - region->base), &value, bytes);
    *cost = (double)region->store_cycles;
    return true;
}

static bool run_atomic(struct sim_scalar *scalar, const struct sim_scalar_op *op, double *cost)
{
    uint64_t addr = scalar->x[op->rs1];
    unsigned bytes = op->code < SIM_CODE_LR_D ? 4 : 8;
    bool is_load = op->code == SIM_CODE_LR_W || op->code == SIM_CODE_LR_D;
    if (addr % bytes != 0) {
        set_fault(scalar, LEO_FAULT_MISALIGNED_SCALAR, addr, bytes);
        return false;
    }
    const struct sim_region *region =
        reach(scalar, addr, bytes, is_load ? SIM_ACCESS_READ : SIM_ACCESS_WRITE);
    if (!region) {
        return false;
    }
    if (scalar->env->order) {
        scalar->env->order(scalar, addr);
    }
    scalar->x[op->rd] = sim_scalar_atomic(scalar, op, addr, region->host + (addr - region->base));
    *cost = (double)region->load_cycles + (is_load ? 0 : (double)region->store_cycles);
    return true;
}

static bool run_custom(struct sim_scalar *scalar, enum leo_insn insn, uint32_t word)
{
    struct leo_insn_word fields;
    (void)leo_insn_decode(word, &fields); // known to succeed since decoding
    bool has_c = leo_insn_info(insn)->form == LEO_INSN_FORM_R4;
    bool has_d = leo_insn_info(insn)->form != LEO_INSN_FORM_I;
    struct sim_op op = {
        .insn = insn,
        .sub = fields.sub,
        .imm = (uint16_t)fields.imm,
        .a = scalar->x[fields.rd],
        .b = scalar->x[fields.rs1],
        .c = has_c ? scalar->x[fields.rs2] : 0,
        .d = has_d ? scalar->x[fields.rs3] : 0,
        .pc = scalar->pc,
        .word = word,
    };
    return scalar->env->custom(scalar, &op);
}

static uint64_t sext(uint64_t value, unsigned bits)
{
    return (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

static uint64_t divide(int64_t a, int64_t b)
{
    return b == 0 ? UINT64_MAX : b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

static uint64_t remainder_of(int64_t a, int64_t b)
{
    return b == 0 ? (uint64_t)a : b == -1 ? 0 : (uint64_t)(a % b);
}

/** Multiplications, divisions and remainders. */
static uint64_t multiply_divide(enum sim_scalar_code code, uint64_t a, uint64_t b)
{
    uint32_t aw = (uint32_t)a, bw = (uint32_t)b;
    switch ((int)code) {
    case SIM_CODE_MUL:
        return a * b;
    case SIM_CODE_MULH:
        return (uint64_t)(((i128)(int64_t)a * (int64_t)b) >> 64);
    case SIM_CODE_MULHSU:
        return (uint64_t)(((i128)(int64_t)a * (i128)(u128)b) >> 64);
    case SIM_CODE_MULHU:
        return (uint64_t)(((u128)a * b) >> 64);
    case SIM_CODE_DIV:
        return divide((int64_t)a, (int64_t)b);
    case SIM_CODE_DIVU:
        return b ? a / b : UINT64_MAX;
    case SIM_CODE_REM:
        return remainder_of((int64_t)a, (int64_t)b);
    case SIM_CODE_REMU:
        return b ? a % b : a;
    case SIM_CODE_MULW:
        return sext(a * b, 32);
    case SIM_CODE_DIVW:
        return sext(divide((int32_t)aw, (int32_t)bw), 32);
    case SIM_CODE_DIVUW:
        return bw ? sext(aw / bw, 32) : UINT64_MAX;
    case SIM_CODE_REMW:
        return sext(remainder_of((int32_t)aw, (int32_t)bw), 32);
    default: // remuw
        return sext(bw ? aw % bw : aw, 32);
    }
}

enum sim_scalar_stop sim_scalar_run(struct sim_scalar *scalar, double until_cycle)
{
    const struct sim_decoded *text = scalar->text;
    const struct sim_scalar_op *ops = text->ops;
    const struct sim_scalar_time time = scalar->time;
    const uint64_t base = text->base, bytes = text->bytes;
    uint64_t *x = scalar->x;
    uint64_t offset = scalar->pc - base; // of the current instruction in the text
    uint64_t count = scalar->instructions, value = 0;
    double cycle = scalar->cycle;
    enum sim_scalar_stop stop = SIM_SCALAR_BLOCKED;

    if (offset >= bytes || offset % 4 != 0) {
        goto left_text;
    }
    for (;;) {
        if (cycle >= until_cycle) {
            stop = SIM_SCALAR_TIME;
            goto done;
        }
        const struct sim_scalar_op *op = &ops[offset / 4];
        const uint64_t a = x[op->rs1], b = x[op->rs2], imm = (uint64_t)(int64_t)op->imm;
        uint64_t *rd = &x[op->rd];
        double cost = time.alu;
        switch ((enum sim_scalar_code)op->code) {
        case SIM_CODE_LUI:
            *rd = imm;
            break;
        case SIM_CODE_AUIPC:
            *rd = base + offset + imm;
            break;
        case SIM_CODE_JAL:
            *rd = base + offset + 4;
            offset += imm;
            goto jumped;
        case SIM_CODE_JALR:
            *rd = base + offset + 4;
            offset = ((a + imm) & ~UINT64_C(1)) - base;
            goto jumped;
        case SIM_CODE_BEQ:
            offset += a == b ? imm : 4;
            goto jumped;
        case SIM_CODE_BNE:
            offset += a != b ? imm : 4;
            goto jumped;
        case SIM_CODE_BLT:
            offset += (int64_t)a < (int64_t)b ? imm : 4;
            goto jumped;
        case SIM_CODE_BGE:
            offset += (int64_t)a >= (int64_t)b ? imm : 4;
            goto jumped;
        case SIM_CODE_BLTU:
            offset += a < b ? imm : 4;
            goto jumped;
        case SIM_CODE_BGEU:
            offset += a >= b ? imm : 4;
            goto jumped;
        case SIM_CODE_LB:
            if (!load(scalar, op, 1, &value, &cost)) {
                goto stopped;
            }
            *rd = sext(value, 8);
            break;
        case SIM_CODE_LH:
            if (!load(scalar, op, 2, &value, &cost)) {
                goto stopped;
            }
            *rd = sext(value, 16);
            break;
        case SIM_CODE_LW:
            if (!load(scalar, op, 4, &value, &cost)) {
                goto stopped;
            }
            *rd = sext(value, 32);
            break;
        case SIM_CODE_LD:
            if (!load(scalar, op, 8, rd, &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_LBU:
            if (!load(scalar, op, 1, rd, &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_LHU:
            if (!load(scalar, op, 2, rd, &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_LWU:
            if (!load(scalar, op, 4, rd, &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_SB:
            if (!store(scalar, op, 1, b, &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_SH:
            if (!store(scalar, op, 2, b, &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_SW:
            if (!store(scalar, op, 4, b, &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_SD:
            if (!store(scalar, op, 8, b, &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_FLH:
            if (!load(scalar, op, 2, &value, &cost)) {
                goto stopped;
            }
            scalar->f[op->rd] = value | UINT64_MAX << 16;
            break;
        case SIM_CODE_FLW:
            if (!load(scalar, op, 4, &value, &cost)) {
                goto stopped;
            }
            scalar->f[op->rd] = value | UINT64_MAX << 32;
            break;
        case SIM_CODE_FLD:
            if (!load(scalar, op, 8, &scalar->f[op->rd], &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_FSH:
            if (!store(scalar, op, 2, scalar->f[op->rs2], &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_FSW:
            if (!store(scalar, op, 4, scalar->f[op->rs2], &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_FSD:
            if (!store(scalar, op, 8, scalar->f[op->rs2], &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_ADDI:
            *rd = a + imm;
            break;
        case SIM_CODE_SLTI:
            *rd = (int64_t)a < (int64_t)imm;
            break;
        case SIM_CODE_SLTIU:
            *rd = a < imm;
            break;
        case SIM_CODE_XORI:
            *rd = a ^ imm;
            break;
        case SIM_CODE_ORI:
            *rd = a | imm;
            break;
        case SIM_CODE_ANDI:
            *rd = a & imm;
            break;
        case SIM_CODE_SLLI:
            *rd = a << imm;
            break;
        case SIM_CODE_SRLI:
            *rd = a >> imm;
            break;
        case SIM_CODE_SRAI:
            *rd = (uint64_t)((int64_t)a >> imm);
            break;
        case SIM_CODE_ADDIW:
            *rd = sext(a + imm, 32);
            break;
        case SIM_CODE_SLLIW:
            *rd = sext(a << imm, 32);
            break;
        case SIM_CODE_SRLIW:
            *rd = sext((uint32_t)a >> imm, 32);
            break;
        case SIM_CODE_SRAIW:
            *rd = (uint64_t)(int64_t)((int32_t)(uint32_t)a >> imm);
            break;
        case SIM_CODE_ADD:
            *rd = a + b;
            break;
        case SIM_CODE_SUB:
            *rd = a - b;
            break;
        case SIM_CODE_SLL:
            *rd = a << (b & 63);
            break;
        case SIM_CODE_SLT:
            *rd = (int64_t)a < (int64_t)b;
            break;
        case SIM_CODE_SLTU:
            *rd = a < b;
            break;
        case SIM_CODE_XOR:
            *rd = a ^ b;
            break;
        case SIM_CODE_SRL:
            *rd = a >> (b & 63);
            break;
        case SIM_CODE_SRA:
            *rd = (uint64_t)((int64_t)a >> (b & 63));
            break;
        case SIM_CODE_OR:
            *rd = a | b;
            break;
        case SIM_CODE_AND:
            *rd = a & b;
            break;
        case SIM_CODE_ADDW:
            *rd = sext(a + b, 32);
            break;
        case SIM_CODE_SUBW:
            *rd = sext(a - b, 32);
            break;
        case SIM_CODE_SLLW:
            *rd = sext(a << (b & 31), 32);
            break;
        case SIM_CODE_SRLW:
            *rd = sext((uint32_t)a >> (b & 31), 32);
            break;
        case SIM_CODE_SRAW:
            *rd = (uint64_t)(int64_t)((int32_t)(uint32_t)a >> (b & 31));
            break;
        case SIM_CODE_MUL:
        case SIM_CODE_MULW:
        case SIM_CODE_MULH:
        case SIM_CODE_MULHSU:
        case SIM_CODE_MULHU:
            *rd = multiply_divide((enum sim_scalar_code)op->code, a, b);
            cost = time.mul;
            break;
        case SIM_CODE_DIV:
        case SIM_CODE_DIVU:
        case SIM_CODE_REM:
        case SIM_CODE_REMU:
        case SIM_CODE_DIVW:
        case SIM_CODE_DIVUW:
        case SIM_CODE_REMW:
        case SIM_CODE_REMUW:
            *rd = multiply_divide((enum sim_scalar_code)op->code, a, b);
            cost = time.div;
            break;
        case SIM_CODE_FENCE:
            break;
        case SIM_CODE_FLOAT:
        case SIM_CODE_FLOAT_DIV:
            if (!sim_scalar_float(scalar, op)) {
                set_fault(scalar, LEO_FAULT_ILLEGAL_INSTRUCTION, 0, 0);
                goto stopped;
            }
            cost = op->code == SIM_CODE_FLOAT ? time.float_op : time.float_div;
            break;
        case SIM_CODE_LR_W:
        case SIM_CODE_SC_W:
        case SIM_CODE_AMOSWAP_W:
        case SIM_CODE_AMOADD_W:
        case SIM_CODE_AMOXOR_W:
        case SIM_CODE_AMOAND_W:
        case SIM_CODE_AMOOR_W:
        case SIM_CODE_AMOMIN_W:
        case SIM_CODE_AMOMAX_W:
        case SIM_CODE_AMOMINU_W:
        case SIM_CODE_AMOMAXU_W:
        case SIM_CODE_LR_D:
        case SIM_CODE_SC_D:
        case SIM_CODE_AMOSWAP_D:
        case SIM_CODE_AMOADD_D:
        case SIM_CODE_AMOXOR_D:
        case SIM_CODE_AMOAND_D:
        case SIM_CODE_AMOOR_D:
        case SIM_CODE_AMOMIN_D:
        case SIM_CODE_AMOMAX_D:
        case SIM_CODE_AMOMINU_D:
        case SIM_CODE_AMOMAXU_D:
            if (!run_atomic(scalar, op, &cost)) {
                goto stopped;
            }
            break;
        case SIM_CODE_CUSTOM:
            cost = 0; // handing over is part of what the environment charges
            scalar->pc = base + offset;
            scalar->cycle = cycle;
            scalar->instructions = count;
            if (!run_custom(scalar, (enum leo_insn)op->insn, text->words[offset / 4])) {
                cycle = scalar->cycle;
                goto stopped;
            }
            cycle = scalar->cycle;
            break;
        case SIM_CODE_CSRRW:
        case SIM_CODE_CSRRS:
        case SIM_CODE_CSRRC:
        case SIM_CODE_CSRRWI:
        case SIM_CODE_CSRRSI:
        case SIM_CODE_CSRRCI:
            scalar->pc = base + offset;
            scalar->cycle = cycle;
            scalar->instructions = count;
            if (!sim_scalar_csr(scalar, op)) {
                cycle = scalar->cycle;
                goto stopped;
            }
            cycle = scalar->cycle;
            break;
        case SIM_CODE_ECALL:
            scalar->pc = base + offset;
            scalar->cycle = cycle;
            scalar->instructions = count;
            if (!scalar->env->ecall) {
                set_fault(scalar, LEO_FAULT_ILLEGAL_INSTRUCTION, 0, 0);
                goto stopped;
            }
            if (!scalar->env->ecall(scalar)) {
                cycle = scalar->cycle;
                if (scalar->fault.code == LEO_FAULT_NONE) {
                    count++;
                    stop = SIM_SCALAR_EXITED;
                    goto done;
                }
                goto stopped;
            }
            cycle = scalar->cycle;
            break;
        case SIM_CODE_EBREAK:
        case SIM_CODE_UNIMP:
            set_fault(scalar, LEO_FAULT_KERNEL_TRAP, 0, 0);
            goto stopped;
        case SIM_CODE_ILLEGAL:
            set_fault(scalar, LEO_FAULT_ILLEGAL_INSTRUCTION, 0, 0);
            goto stopped;
        case SIM_CODE_END:
            goto left_text;
        }
        x[0] = 0;
        cycle += cost;
        count++;
        offset += 4;
        continue;

    jumped:
        x[0] = 0;
        cycle += time.branch;
        count++;
        if (offset >= bytes || offset % 4 != 0) {
            goto left_text;
        }
    }

left_text:
    stop = SIM_SCALAR_RETURNED;
    if (base + offset != SIM_RETURN_ADDR) {
        set_fault(scalar, LEO_FAULT_BAD_FETCH, base + offset, 4);
        stop = SIM_SCALAR_FAULT;
        scalar->fault.pc = base + offset;
    }
    goto done;

stopped: // at this instruction, which has had no effect: a fault, or to be tried again
    if (scalar->fault.code != LEO_FAULT_NONE) {
        scalar->fault.pc = base + offset;
        scalar->fault.word = text->words[offset / 4];
        stop = SIM_SCALAR_FAULT;
    }

done:
    scalar->pc = base + offset;
    scalar->cycle = cycle;
    scalar->instructions = count;
    return stop;
}
