/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run loop. An instruction ends with a jump to the next one's label (labels as values), and a
 * program counter is a pointer to the decoded instruction.
 *
 * Time and count cost nothing on the way: a decoded instruction is sixteen bytes and an ALU
 * instruction sixteen ticks, so the distance run through the text is both. `spent` is what the
 * pointer has to be moved by to be the ticks of all instructions since the start; jumps correct it;
 * what an instruction costs more than an ALU instruction is taken from `limit`.
 *
 * The limit is looked at after jumps, where `run` tells how many instructions may follow before the
 * next look, each as slow as the slowest. When they might not fit, `table` becomes one that looks
 * before every instruction, so that a run stops at exactly the same one.
 */
#include "decode.h"
#include "float_host_all.h"
#include "reach.h"
#include <leo/debug.h>

#include <string.h>

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
/** Further than any run goes. */
#define TICKS_FOREVER (INT64_MAX / 2)

static void set_fault(struct sim_scalar *scalar, enum leo_fault code, uint64_t addr, uint64_t bytes)
{
    scalar->fault = (struct sim_fault){.code = code, .addr = addr, .bytes = bytes};
}

static bool run_atomic(struct sim_scalar *scalar, const struct sim_scalar_op *op, int64_t *ticks)
{
    uint64_t addr = scalar->x[op->rs1];
    const enum sim_scalar_code code = sim_scalar_meaning(op);
    unsigned bytes = code < SIM_CODE_LR_D ? 4 : 8;
    bool is_load = code == SIM_CODE_LR_W || code == SIM_CODE_LR_D;
    if (addr % bytes != 0) {
        set_fault(scalar, LEO_FAULT_MISALIGNED_SCALAR, addr, bytes);
        return false;
    }
    const struct sim_region *region =
        sim_scalar_reach(scalar, addr, bytes, is_load ? SIM_ACCESS_READ : SIM_ACCESS_WRITE);
    if (!region) {
        return false;
    }
    if (scalar->env->order) {
        scalar->env->order(scalar, addr);
    }
    if (region->access & SIM_ACCESS_WATCHED && scalar->env->watch) {
        scalar->env->watch(scalar, addr, bytes,
                           is_load ? SIM_ACCESS_READ : SIM_ACCESS_READ | SIM_ACCESS_WRITE);
    }
    scalar->x[op->rd] = sim_scalar_atomic(scalar, op, addr, region->host + (addr - region->base));
    scalar->x[0] = 0;
    double cycles = (double)region->load_cycles + (is_load ? 0 : (double)region->store_cycles);
    *ticks = sim_scalar_ticks(scalar, cycles) - SIM_TICKS;
    return true;
}

/* Whether the environment lets what looks at memory go on. */
static bool may_poll(struct sim_scalar *scalar, const struct sim_scalar_op *op)
{
    if (op->behind == SIM_CODE_CUSTOM) {
        return scalar->env->poll(scalar, 0, 0);
    }
    const bool atomic = op->behind >= SIM_CODE_LR_W && op->behind <= SIM_CODE_AMOMAXU_D;
    return scalar->env->poll(scalar, scalar->x[op->rs1] + (atomic ? 0 : (uint64_t)op->imm),
                             sim_scalar_load_bytes((enum sim_scalar_code)op->behind));
}

static bool run_custom(struct sim_scalar *scalar, const struct sim_scalar_op *op, uint32_t word)
{
    struct sim_op custom = {
        .insn = (enum leo_insn)op->custom.insn,
        .sub = (uint8_t)op->custom.sub,
        .imm = (uint16_t)op->custom.imm,
        .a = scalar->x[op->rd],
        .b = scalar->x[op->rs1],
        .c = scalar->x[op->rs2],
        .d = scalar->x[op->custom.rs3],
        .pc = scalar->pc,
        .word = word,
    };
    return scalar->env->custom(scalar, &custom);
}

LEO_INLINE uint64_t sext(uint64_t value, unsigned bits)
{
    return (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

LEO_INLINE uint64_t divide(int64_t a, int64_t b)
{
    return b == 0 ? UINT64_MAX : b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

LEO_INLINE uint64_t remainder_of(int64_t a, int64_t b)
{
    return b == 0 ? (uint64_t)a : b == -1 ? 0 : (uint64_t)(a % b);
}

/* What each instruction of alu.def computes. */
#define EVALUATE(code, result)                                                                     \
    LEO_INLINE uint64_t eval_##code(uint64_t a, uint64_t b, uint64_t imm)                          \
    {                                                                                              \
        (void)a, (void)b, (void)imm;                                                               \
        return result;                                                                             \
    }
#define ALU(code, result)      EVALUATE(code, result)
#define MULTIPLY(code, result) EVALUATE(code, result)
#define DIVIDE(code, result)   EVALUATE(code, result)
#define BRANCH(code, taken)    EVALUATE(code, taken)
#define LOAD(code, bytes, result)                                                                  \
    LEO_INLINE uint64_t extend_##code(uint64_t value)                                              \
    {                                                                                              \
        return result;                                                                             \
    }
#include "alu.def"

static bool takes_branch(uint32_t word, uint64_t a, uint64_t b)
{
    switch (word >> 12 & 7) {
    case 0:
        return eval_BEQ(a, b, 0);
    case 1:
        return eval_BNE(a, b, 0);
    case 4:
        return eval_BLT(a, b, 0);
    case 5:
        return eval_BGE(a, b, 0);
    case 6:
        return eval_BLTU(a, b, 0);
    default:
        return eval_BGEU(a, b, 0);
    }
}

/** Costs beyond an ALU instruction. */
struct extra {
    int64_t mul, div, branch, float_op, float_div;
};

static struct extra get_extra(struct sim_scalar *scalar)
{
    const struct sim_scalar_time *time = &scalar->time;
    struct extra extra = {
        .mul = sim_scalar_ticks(scalar, time->mul) - SIM_TICKS,
        .div = sim_scalar_ticks(scalar, time->div) - SIM_TICKS,
        .branch = sim_scalar_ticks(scalar, time->branch) - SIM_TICKS,
        .float_op = sim_scalar_ticks(scalar, time->float_op) - SIM_TICKS,
        .float_div = sim_scalar_ticks(scalar, time->float_div) - SIM_TICKS,
    };
    const int64_t all[] = {0, extra.mul, extra.div, extra.branch, extra.float_op, extra.float_div};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        int64_t ticks = all[i] + SIM_TICKS;
        scalar->slowest = ticks > scalar->slowest ? ticks : scalar->slowest;
    }
    return extra;
}

static double tick_of(const struct sim_scalar *scalar)
{
    return scalar->time.alu / SIM_TICKS;
}

/** Makes anchor and anchor_ticks say the time of `cycle`. */
static void set_anchor(struct sim_scalar *scalar)
{
    double expected = scalar->anchor + (double)scalar->anchor_ticks * tick_of(scalar);
    if (scalar->cycle < expected || scalar->cycle > expected) {
        scalar->anchor = scalar->cycle;
        scalar->anchor_ticks = 0;
    }
}

/** The first tick after now at which `until` is reached. */
static int64_t ticks_until(const struct sim_scalar *scalar, double until)
{
    double tick = tick_of(scalar);
    double ticks = ceil((until - scalar->anchor) / tick);
    if (!(ticks < (double)TICKS_FOREVER)) {
        return TICKS_FOREVER;
    }
    if (ticks < (double)scalar->anchor_ticks) {
        return 0;
    }
    // The division may have rounded: what counts is the cycle that a tick is.
    int64_t n = (int64_t)ticks;
    while (scalar->anchor + (double)n * tick < until) {
        n++;
    }
    while (n > 0 && scalar->anchor + (double)(n - 1) * tick >= until) {
        n--;
    }
    return n - scalar->anchor_ticks;
}

/* Whether a debugger may want to stop before the instruction at this address. */
static bool is_marked(const struct sim_scalar *scalar, uint64_t addr)
{
    const struct sim_scalar_marks *marks = scalar->marks;
    const uint64_t index = (addr - LEO_MAP_IMAGE) / 4;
    return scalar->is_stepping || (marks && index < marks->count && marks->mark[index]);
}

/* The instruction at `index` begins at `cycle`, after `number` others: the one before ends. */
static void count_op(struct sim_scalar *scalar, size_t index, uint64_t number, double cycle)
{
    struct sim_scalar_counted *last = &scalar->counted;
    if (last->number == number + 1 && last->index == index) {
        return; // tried again
    }
    if (last->number) {
        scalar->counts[last->index].cycles += cycle - last->cycle;
    }
    scalar->counts[index].count++;
    *last = (struct sim_scalar_counted){index, number + 1, cycle};
}

/* gcc and clang know labels as values; ISO C does not. */
#pragma GCC diagnostic ignored "-Wpedantic"

#define X          (scalar->x)
#define IMM        ((uint64_t)op->imm)
#define DISPATCH() goto *table[op->code]
#define NEXT()                                                                                     \
    do {                                                                                           \
        op++;                                                                                      \
        DISPATCH();                                                                                \
    } while (0)
/** Ticks of the instructions before op, all taken as ALU instructions. */
#define TICKS_AT(op) (spent + (int64_t)(intptr_t)(op))
/** Goes on at the place `to`, this instruction done. */
#define JUMP(to)                                                                                   \
    do {                                                                                           \
        int64_t ticks_ = TICKS_AT(op) + SIM_TICKS;                                                 \
        op = (to);                                                                                 \
        spent = ticks_ - (int64_t)(intptr_t)op;                                                    \
        if (!LIKELY(ticks_ + op->run * slowest < limit)) {                                         \
            table = careful;                                                                       \
        }                                                                                          \
        DISPATCH();                                                                                \
    } while (0)
/* A value of `bytes` bytes; a memcpy into the low part of a wider variable would go through the
 * host's memory. */
#define FETCH(bytes, type)                                                                         \
    LEO_INLINE uint64_t fetch_##bytes(const uint8_t *host)                                         \
    {                                                                                              \
        type value;                                                                                \
        memcpy(&value, host, bytes);                                                               \
        return value;                                                                              \
    }
FETCH(1, uint8_t)
FETCH(2, uint16_t)
FETCH(4, uint32_t)
FETCH(8, uint64_t)
#undef FETCH
/** A function, so that tests/tsan.supp can name this access alone. */
LEO_INLINE void put_bytes(uint8_t *host, uint64_t value, size_t bytes)
{
    memcpy(host, &value, bytes);
}

#define NEAR(distance) ((const struct sim_scalar_op *)((const char *)op + (distance)))
/** scalar->pc, cycle and instructions as before op. */
#define SETTLE()                                                                                   \
    do {                                                                                           \
        int64_t plain_ = TICKS_AT(op);                                                             \
        scalar->pc = base + (uint64_t)(op - ops) * 4;                                              \
        scalar->instructions = instructions + (uint64_t)plain_ / SIM_TICKS;                        \
        scalar->anchor_ticks += plain_ + (start - limit);                                          \
        scalar->cycle = scalar->anchor + (double)scalar->anchor_ticks * tick_of(scalar);           \
    } while (0)
/** scalar->pc and cycle as before op, for a look: the count goes on. */
#define SHOW()                                                                                     \
    do {                                                                                           \
        int64_t ticks_now_ = scalar->anchor_ticks + TICKS_AT(op) + (start - limit);                \
        scalar->pc = base + (uint64_t)(op - ops) * 4;                                              \
        scalar->cycle = scalar->anchor + (double)ticks_now_ * tick_of(scalar);                     \
    } while (0)
/** Starts over after SETTLE, the next instruction being `next`. */
#define RESTART(next)                                                                              \
    do {                                                                                           \
        op = (next);                                                                               \
        spent = -(int64_t)(intptr_t)op;                                                            \
        instructions = scalar->instructions;                                                       \
        set_anchor(scalar);                                                                        \
        limit = start = ticks_until(scalar, until_cycle);                                          \
        table = careful;                                                                           \
    } while (0)
#define DO_LOAD(bytes, a, result)                                                                  \
    do {                                                                                           \
        uint64_t addr_ = (a) + IMM, value = 0;                                                     \
        const struct sim_reach *reach_ = &scalar->load_reach[op->rs1];                             \
        uint64_t offset_ = addr_ - reach_->base;                                                   \
        if (LIKELY(offset_ < reach_->span && !(addr_ & ((bytes) - 1) & reach_->align))) {          \
            value = fetch_##bytes(reach_->host + offset_);                                         \
            limit -= reach_->ticks;                                                                \
        } else {                                                                                   \
            int64_t ticks_ = 0;                                                                    \
            scalar->pc = base + (uint64_t)(op - ops) * 4; /* for env->watch */                     \
            if (!sim_scalar_load(scalar, op->rs1, addr_, bytes, &value, &ticks_)) {                \
                goto stopped;                                                                      \
            }                                                                                      \
            limit -= ticks_;                                                                       \
            table = careful; /* `slowest` may have grown */                                        \
        }                                                                                          \
        result;                                                                                    \
    } while (0)
#define DO_STORE(bytes, a, value)                                                                  \
    do {                                                                                           \
        uint64_t addr_ = (a) + IMM, value_ = (value);                                              \
        const struct sim_reach *reach_ = &scalar->store_reach[op->rs1];                            \
        uint64_t offset_ = addr_ - reach_->base;                                                   \
        if (LIKELY(offset_ < reach_->span && !(addr_ & ((bytes) - 1) & reach_->align))) {          \
            put_bytes(reach_->host + offset_, value_, bytes);                                      \
            limit -= reach_->ticks;                                                                \
        } else {                                                                                   \
            int64_t ticks_ = 0;                                                                    \
            SHOW(); /* for env->watch */                                                           \
            if (!sim_scalar_store(scalar, op->rs1, addr_, bytes, value_, &ticks_)) {               \
                goto stopped;                                                                      \
            }                                                                                      \
            limit -= ticks_;                                                                       \
            table = careful;                                                                       \
        }                                                                                          \
    } while (0)

enum sim_scalar_stop sim_scalar_run(struct sim_scalar *scalar, double until_cycle)
{
    static const void *const quick[SIM_CODE_COUNT] = {
        [SIM_CODE_ILLEGAL] = &&do_illegal,
        [SIM_CODE_END] = &&do_end,
        [SIM_CODE_CUSTOM] = &&do_custom,
        [SIM_CODE_FITS] = &&do_fits,
        [SIM_CODE_FLOAT] = &&do_float,
        [SIM_CODE_FLOAT_DIV] = &&do_float_div,
#define ALU(code, result)         [SIM_CODE_##code] = &&do_##code,
#define MULTIPLY(code, result)    [SIM_CODE_##code] = &&do_##code,
#define DIVIDE(code, result)      [SIM_CODE_##code] = &&do_##code,
#define BRANCH(code, taken)       [SIM_CODE_##code] = &&do_##code,
#define LOAD(code, bytes, result) [SIM_CODE_##code] = &&do_##code,
#define STORE(code, bytes)        [SIM_CODE_##code] = &&do_##code,
#include "alu.def"
        [SIM_CODE_AUIPC] = &&do_LUI,
        [SIM_CODE_JAL] = &&do_jal,
        [SIM_CODE_J] = &&do_j,
        [SIM_CODE_JAL_OUT] = &&do_jal_out,
        [SIM_CODE_JALR] = &&do_jalr,
        [SIM_CODE_BRANCH_OUT] = &&do_branch_out,
        [SIM_CODE_FENCE] = &&do_fence,
        [SIM_CODE_ECALL] = &&do_ecall,
        [SIM_CODE_EBREAK] = &&do_trap,
        [SIM_CODE_UNIMP] = &&do_trap,
        [SIM_CODE_CSRRW... SIM_CODE_CSRRCI] = &&do_csr,
        [SIM_CODE_LR_W... SIM_CODE_AMOMAXU_D] = &&do_atomic,
        [SIM_CODE_FLH] = &&do_flh,
        [SIM_CODE_FLW] = &&do_flw,
        [SIM_CODE_FLD] = &&do_fld,
        [SIM_CODE_FSH] = &&do_fsh,
        [SIM_CODE_FSW] = &&do_fsw,
        [SIM_CODE_FSD] = &&do_fsd,
#define HOST_FLOAT(kind, format, source, rounding)                                                 \
    [SIM_CODE_F_##kind##_##format##source] = &&do_F_##kind##_##format##source,
#include "host_floats.def"
#undef HOST_FLOAT
        [SIM_CODE_POLL] = &&do_poll,
        [SIM_CODE_BREAK] = &&do_break,
        [SIM_CODE_BREAK_POLL] = &&do_break,
        [SIM_CODE_CHECK] = &&do_check,
    };
    static const void *const careful[SIM_CODE_COUNT] = {
        [0 ... SIM_CODE_COUNT - 1] = &&take_care,
    };
    const void *const *table;
    const struct sim_decoded *text = scalar->text;
    const struct sim_scalar_op *const ops = text->ops;
    const struct sim_scalar_op *op = ops;
    const struct extra extra = get_extra(scalar);
    const uint64_t base = text->base, bytes = text->bytes;
    int64_t slowest = scalar->slowest;
    int64_t spent, limit, start;
    uint64_t instructions;
    uint64_t target = scalar->pc - base; // offset in the text
    enum sim_scalar_stop stop = SIM_SCALAR_BLOCKED;

    RESTART(ops);
    if (target >= bytes || target % 4 != 0) {
        goto left_text;
    }
    RESTART(&ops[target / 4]);
    DISPATCH();

take_care:
    slowest = scalar->slowest;
    if (TICKS_AT(op) >= limit) {
        SETTLE();
        return SIM_SCALAR_TIME;
    }
    if (TICKS_AT(op) + op->run * slowest < limit) {
        table = quick;
        DISPATCH();
    }
    goto *quick[op->plain];

do_check: // reached from the instruction before, or by a jump
    if (!LIKELY(TICKS_AT(op) + op->run * slowest < limit)) {
        table = careful;
        DISPATCH();
    }
    goto *quick[op->plain];

#define ALU(code, result)                                                                          \
    do_##code : X[op->rd] = eval_##code(X[op->rs1], X[op->rs2], IMM);                              \
    NEXT();
#define MULTIPLY(code, result)                                                                     \
    do_##code : X[op->rd] = eval_##code(X[op->rs1], X[op->rs2], IMM);                              \
    limit -= extra.mul;                                                                            \
    NEXT();
#define DIVIDE(code, result)                                                                       \
    do_##code : X[op->rd] = eval_##code(X[op->rs1], X[op->rs2], IMM);                              \
    limit -= extra.div;                                                                            \
    NEXT();
#define BRANCH(code, taken)                                                                        \
    do_##code : limit -= extra.branch;                                                             \
    if (eval_##code(X[op->rs1], X[op->rs2], IMM)) {                                                \
        JUMP(NEAR(op->imm));                                                                       \
    }                                                                                              \
    NEXT();
#define LOAD(code, bytes, result)                                                                  \
    do_##code : DO_LOAD(bytes, X[op->rs1], X[op->rd] = extend_##code(value));                      \
    NEXT();
#define STORE(code, bytes)                                                                         \
    do_##code : DO_STORE(bytes, X[op->rs1], X[op->rs2]);                                           \
    NEXT();
#include "alu.def"

do_flh:
    DO_LOAD(2, X[op->rs1], scalar->f[op->rd] = value | UINT64_MAX << 16);
    NEXT();
do_flw:
    DO_LOAD(4, X[op->rs1], scalar->f[op->rd] = value | UINT64_MAX << 32);
    NEXT();
do_fld:
    DO_LOAD(8, X[op->rs1], scalar->f[op->rd] = value);
    NEXT();
do_fsh:
    DO_STORE(2, X[op->rs1], scalar->f[op->rs2]);
    NEXT();
do_fsw:
    DO_STORE(4, X[op->rs1], scalar->f[op->rs2]);
    NEXT();
do_fsd:
    DO_STORE(8, X[op->rs1], scalar->f[op->rs2]);
    NEXT();

#define HOST_FLOAT(kind, format, source, rounding)                                                 \
    do_F_##kind##_##format##source : if (LIKELY(host_##kind##_##format##source(scalar, op)))       \
    {                                                                                              \
        limit -= SIM_FLOAT_##kind == SIM_FLOAT_DIV || SIM_FLOAT_##kind == SIM_FLOAT_SQRT           \
                     ? extra.float_div                                                             \
                     : extra.float_op;                                                             \
        NEXT();                                                                                    \
    }                                                                                              \
    goto do_any_float;
#include "host_floats.def"
#undef HOST_FLOAT

do_any_float:
    if (op->flt.kind == SIM_FLOAT_DIV || op->flt.kind == SIM_FLOAT_SQRT) {
        goto do_float_div;
    }
do_float:
    if (!sim_scalar_float(scalar, op)) {
        goto illegal;
    }
    limit -= extra.float_op;
    NEXT();
do_float_div:
    if (!sim_scalar_float(scalar, op)) {
        goto illegal;
    }
    limit -= extra.float_div;
    NEXT();

do_j:
    limit -= extra.branch;
    JUMP(NEAR(op->imm));
do_jal:
    limit -= extra.branch;
    X[op->rd] = base + (uint64_t)(op - ops + 1) * 4;
    JUMP(NEAR(op->imm));
do_jalr:
    target = ((X[op->rs1] + IMM) & ~UINT64_C(1)) - base;
    X[op->rd] = base + (uint64_t)(op - ops + 1) * 4;
    limit -= extra.branch;
    if (LIKELY(target < bytes && target % 4 == 0)) {
        JUMP(&ops[target / 4]);
    }
    op++;
    goto left_text;
do_jal_out:
    X[op->rd] = base + (uint64_t)(op - ops + 1) * 4;
    goto jumped_out;
do_branch_out:
    if (!takes_branch(text->words[op - ops], X[op->rs1], X[op->rs2])) {
        limit -= extra.branch;
        NEXT();
    }
jumped_out:
    target = (uint64_t)(op - ops) * 4 + IMM;
    limit -= extra.branch;
    op++;
    goto left_text;

do_break: // of a text with a debugger; looks at the time as do_check does
    if (table != careful && !LIKELY(TICKS_AT(op) + op->run * slowest < limit)) {
        table = careful;
        DISPATCH();
    }
    if (scalar->counts) {
        const int64_t plain = TICKS_AT(op);
        const int64_t ticks = scalar->anchor_ticks + plain + (start - limit);
        count_op(scalar, (size_t)(op - ops), instructions + (uint64_t)plain / SIM_TICKS,
                 scalar->anchor + (double)ticks * tick_of(scalar));
    }
    if (is_marked(scalar, base + (uint64_t)(op - ops) * 4)) {
        SETTLE();
        if (!scalar->env->meet(scalar)) {
            goto stopped_settled;
        }
        RESTART(op);
    }
    if (op->plain == SIM_CODE_BREAK) {
        goto *quick[op->behind];
    }
do_poll:
    scalar->pc = base + (uint64_t)(op - ops) * 4;
    if (scalar->env->poll && !may_poll(scalar, op)) {
        goto stopped;
    }
    goto *quick[op->behind];

do_fence:
    NEXT();
do_atomic: {
    int64_t ticks = 0;
    SHOW(); // for env->watch
    if (!run_atomic(scalar, op, &ticks)) {
        goto stopped;
    }
    limit -= ticks;
    table = careful;
    NEXT();
}
do_fits:
    if (LIKELY(sim_field_fits(op->custom.imm, X[op->rs1]))) {
        limit += SIM_TICKS; // it takes no time
        NEXT();
    }
    // A word of the units, which tells what is wrong.
do_custom:
    SETTLE();
    if (!run_custom(scalar, op, text->words[op - ops])) {
        goto stopped_settled;
    }
    scalar->instructions++; // handing over is part of what the environment charges
    RESTART(op + 1);
    DISPATCH();
do_csr:
    SETTLE();
    if (!sim_scalar_csr(scalar, op)) {
        goto stopped_settled;
    }
    goto system_done;
do_ecall:
    SETTLE();
    if (!scalar->env->ecall) {
        set_fault(scalar, LEO_FAULT_ILLEGAL_INSTRUCTION, 0, 0);
        goto stopped_settled;
    }
    if (!scalar->env->ecall(scalar)) {
        if (scalar->fault.code != LEO_FAULT_NONE) {
            goto stopped_settled;
        }
        scalar->instructions++;
        return SIM_SCALAR_EXITED;
    }
system_done:
    scalar->instructions++;
    RESTART(op + 1);
    limit -= SIM_TICKS; // of the instruction itself
    DISPATCH();
do_trap:
    set_fault(scalar, LEO_FAULT_KERNEL_TRAP, 0, 0);
    goto stopped;
do_illegal:
illegal:
    set_fault(scalar, LEO_FAULT_ILLEGAL_INSTRUCTION, 0, 0);
    goto stopped;
do_end:
    target = bytes;

left_text: // op is where the count stands, target the place
    SETTLE();
    scalar->pc = base + target;
    if (scalar->pc == LEO_MAP_RETURN) {
        return SIM_SCALAR_RETURNED;
    }
    set_fault(scalar, LEO_FAULT_BAD_FETCH, scalar->pc, 4);
    scalar->fault.pc = scalar->pc;
    if (op > ops) { // the last instruction before: the jump, or where the text ends
        scalar->fault.pc = base + (uint64_t)(op - 1 - ops) * 4;
        scalar->fault.word = text->words[op - 1 - ops];
    }
    return SIM_SCALAR_FAULT;

stopped: // at this instruction, which has had no effect: a fault, or to be tried again
    SETTLE();
stopped_settled:
    if (scalar->fault.code != LEO_FAULT_NONE) {
        scalar->fault.pc = scalar->pc;
        scalar->fault.word = text->words[op - ops];
        stop = SIM_SCALAR_FAULT;
    }
    return stop;
}
