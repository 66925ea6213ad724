/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses of one core on chip: ordered with those before, and reading what somebody wrote. */
#include "check.h"

#include "../core/core.h"
#include <leo/alloc.h>

/* A number of the shadow: actor in the upper bits, whether what it wrote came from bytes that
 * nothing wrote, its instruction's number below. */
#define ACTOR_SHIFT 29u
#define UNDEFINED   (UINT32_C(1) << 28)
#define NUMBER_MASK (UNDEFINED - 1)
#define UNIT_FLAG   1u /* in the program counters of the past */

/* Stretches of undefined bytes that are followed from an instruction's sources to its results. */
enum { HOLES = 64 };

enum { PAST_FIRST = 256, PAST_MAX = 1 << 20, BLOCK_BYTES = 32, FRACTAL_BYTES = 512 };

static uint32_t stamp_of(enum leo_pipe unit, uint32_t number)
{
    return (uint32_t)unit << ACTOR_SHIFT | (number & NUMBER_MASK);
}

static void remember(struct sim_check_past *past, uint32_t number, uint32_t pc)
{
    if (number >= past->capacity && past->capacity < PAST_MAX) {
        uint32_t capacity = past->capacity ? past->capacity * 2 : PAST_FIRST;
        uint32_t *grown = leo_realloc(past->pc, capacity * sizeof(*grown));
        if (grown) {
            past->pc = grown;
            past->capacity = capacity;
        }
    }
    if (past->capacity) {
        past->pc[number % past->capacity] = pc;
    }
}

static uint32_t recall(const struct sim_check *check, enum leo_pipe unit, uint32_t number)
{
    const struct sim_check_past *past = &check->past[unit];
    bool kept = past->capacity && check->order.issued[unit] - number < past->capacity;
    return kept ? past->pc[number % past->capacity] : 0;
}

/* Which place of a stretch holds the reads of a unit: in each memory at most three units read. */
static unsigned read_place(enum leo_mem_space space, enum leo_pipe unit)
{
    switch (unit) {
    case LEO_PIPE_MTE3:
    case LEO_PIPE_FIX:
        return 1;
    case LEO_PIPE_S:
        return 2;
    case LEO_PIPE_V:
        return space == LEO_MEM_SPACE_L0C ? 2 : 0;
    case LEO_PIPE_M:
    case LEO_PIPE_MTE1:
    case LEO_PIPE_MTE2:
    case LEO_PIPE_ALL:
        break;
    }
    return 0;
}

/** One access that is being compared. */
struct access {
    struct sim_check *check;
    enum leo_pipe unit;
    enum leo_mem_space space;
    uint32_t stamp, pc;
    uint64_t shift; /**< from offsets in the memory to the kernel's addresses */
    unsigned touch;
    bool chained;   /**< the unit itself keeps it behind what it did before */
    bool unit_flag; /**< M and FIX hand results over by themselves */
    /* Undefined elements of the sources make undefined elements of the results (copies, lanes);
     * others report them at once. Places count elements in the order of the span. */
    bool follows;
    uint32_t unit_bytes; /**< of an element of the present span */
    uint64_t at;         /**< place of the present range */
    uint64_t range;      /**< its address */
    unsigned holes;
    struct {
        uint64_t begin, end;
    } hole[HOLES];
};

static void find(const struct access *access, enum leo_fault code, enum leo_check_kind kind,
                 uint32_t other, uint64_t addr, const struct sim_shadow_entry *entry)
{
    const enum leo_pipe unit = (enum leo_pipe)(other >> ACTOR_SHIFT);
    const struct sim_finding finding = {
        .code = code,
        .kind = kind,
        .unit = (uint8_t)access->unit,
        .other_unit = (uint8_t)unit,
        .space = (uint8_t)access->space,
        .core = access->check->core,
        .pc = access->pc,
        .other_pc = other ? recall(access->check, unit, other & NUMBER_MASK) & ~UNIT_FLAG : 0,
        .block = access->check->block,
        .other_block = access->check->block,
        .addr = addr + access->shift,
        .bytes = (uint64_t)entry->end - entry->begin,
    };
    sim_findings_add(&access->check->findings, &finding);
}

/* Whether the earlier access `other` is over before this one starts. */
static bool is_ordered(const struct access *access, uint32_t other, bool was_read)
{
    const enum leo_pipe unit = (enum leo_pipe)(other >> ACTOR_SHIFT);
    const uint32_t number = other & NUMBER_MASK;
    if (other == 0 || (other & ~UNDEFINED) == access->stamp ||
        number <= access->check->order.known[access->unit].done[unit]) {
        return true;
    }
    if (unit == access->unit) {
        return access->chained || unit == LEO_PIPE_S;
    }
    if (unit == LEO_PIPE_S && was_read) {
        return true; // a load is over before the scalar unit goes on
    }
    return access->unit_flag && recall(access->check, unit, number) & UNIT_FLAG;
}

static void note_hole(struct access *access, uint64_t addr, uint64_t bytes)
{
    const uint64_t first = access->at + (addr + access->shift - access->range);
    // Part of an element is not enough to say where it goes: of transposed fractals.
    const uint64_t begin = (first + access->unit_bytes - 1) / access->unit_bytes;
    const uint64_t end = (first + bytes) / access->unit_bytes;
    if (begin < end && access->holes < HOLES) {
        access->hole[access->holes].begin = begin;
        access->hole[access->holes++].end = end;
    }
}

static void compare_read(struct access *access, uint64_t addr, const struct sim_shadow_entry *entry)
{
    if (access->check->which & SIM_CHECK_HAZARD && !is_ordered(access, entry->write, false)) {
        find(access, LEO_FAULT_HAZARD, LEO_CHECK_KIND_READ_AFTER_WRITE, entry->write, addr, entry);
    }
    if (!(access->check->which & SIM_CHECK_INIT) ||
        (entry->write != 0 && !(entry->write & UNDEFINED))) {
        return;
    }
    const bool padding =
        access->touch & SIM_TOUCH_PADDED && entry->end - entry->begin < FRACTAL_BYTES;
    if (access->follows) {
        note_hole(access, addr, (uint64_t)entry->end - entry->begin);
    } else if (!padding && !(access->touch & SIM_TOUCH_MOVED)) {
        find(access, LEO_FAULT_NOT_WRITTEN, LEO_CHECK_KIND_NONE, entry->write, addr, entry);
    }
}

static void compare_write(const struct access *access, uint64_t addr,
                          const struct sim_shadow_entry *entry)
{
    if (!is_ordered(access, entry->write, false)) {
        find(access, LEO_FAULT_HAZARD, LEO_CHECK_KIND_WRITE_AFTER_WRITE, entry->write, addr, entry);
    }
    for (unsigned i = 0; i < SIM_SHADOW_READS; i++) {
        if (!is_ordered(access, entry->read[i], true)) {
            find(access, LEO_FAULT_HAZARD, LEO_CHECK_KIND_WRITE_AFTER_READ, entry->read[i], addr,
                 entry);
        }
    }
}

static void touch_stretch(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    struct access *access = context;
    if (access->touch & SIM_TOUCH_READ) {
        compare_read(access, addr, entry);
        entry->read[read_place(access->space, access->unit)] = access->stamp;
    }
    if (access->touch & SIM_TOUCH_WRITE) {
        if (access->check->which & SIM_CHECK_HAZARD) {
            compare_write(access, addr, entry);
        }
        entry->write = access->stamp;
        memset(entry->read, 0, sizeof(entry->read));
    }
}

static void touch_range(void *context, uint64_t addr, uint64_t bytes)
{
    struct access *access = context;
    access->range = addr;
    sim_shadow_visit(&access->check->local[access->space], addr - access->shift, bytes,
                     touch_stretch, access);
    access->at += bytes;
}

static void peek_stretch(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    compare_write(context, addr, entry);
}

static void peek_range(void *context, uint64_t addr, uint64_t bytes)
{
    struct access *access = context;
    sim_shadow_peek(&access->check->local[access->space], addr - access->shift, bytes, peek_stretch,
                    access);
}

static void set_undefined(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    (void)context;
    (void)addr;
    entry->write |= UNDEFINED;
}

/* What of this range of results comes from undefined elements. */
static void spoil_range(void *context, uint64_t addr, uint64_t bytes)
{
    struct access *access = context;
    const uint64_t first = access->at, end = first + bytes;
    for (unsigned i = 0; i < access->holes; i++) {
        uint64_t from = access->hole[i].begin * access->unit_bytes;
        uint64_t to = access->hole[i].end * access->unit_bytes;
        from = from > first ? from : first;
        to = to < end ? to : end;
        if (from < to) {
            sim_shadow_visit(&access->check->local[access->space],
                             addr - access->shift + (from - first), to - from, set_undefined, NULL);
        }
    }
    access->at = end;
}

static uint64_t bytes_of(const struct sim_span *span)
{
    return (uint64_t)span->level[0].count * span->level[1].count * span->level[2].count *
           span->bytes;
}

/* Whether element n of the result depends on element n of the sources alone; the bytes of an
 * element of a copy. */
static bool is_elementwise(const struct sim_op *op, uint32_t *element)
{
    const struct sim_span *dst = &op->foot->span[SIM_OPERAND_A],
                          *src = &op->foot->span[SIM_OPERAND_B];
    *element = 1;
    if (dst->touch == 0 || dst->space == LEO_MEM_SPACE_GM || src->touch & SIM_TOUCH_MOVED) {
        return false;
    }
    if (dst->lane_bytes != 0) {
        return true;
    }
    const bool other = op->foot->span[SIM_OPERAND_C].touch != 0 || src->touch == 0 ||
                       src->lane_bytes != 0 || src->space == LEO_MEM_SPACE_GM;
    if (other || op->row->pipe == LEO_PIPE_M || bytes_of(dst) != bytes_of(src)) {
        return false;
    }
    const bool fractals = dst->space == LEO_MEM_SPACE_L0A || dst->space == LEO_MEM_SPACE_L0B;
    // Fractals may be turned: followed as a whole.
    *element = fractals ? FRACTAL_BYTES : 1;
    return true;
}

static void add_note(struct sim_check *check, const struct sim_check_note *note)
{
    if (check->notes == check->capacity) {
        size_t capacity = check->capacity ? check->capacity * 2 : 256;
        struct sim_check_note *grown = leo_realloc(check->note, capacity * sizeof(*grown));
        if (!grown) {
            return;
        }
        check->note = grown;
        check->capacity = capacity;
    }
    check->note[check->notes++] = *note;
}

/* A loop of loads or stores side by side is one access as long as nothing was waited for. */
static bool extends(const struct sim_check *check, const struct sim_check_note *note)
{
    const struct sim_check_note *last = check->notes ? &check->note[check->notes - 1] : NULL;
    return last && !last->clean && last->unit == LEO_PIPE_S && note->unit == LEO_PIPE_S &&
           last->syncs == note->syncs && last->pc == note->pc &&
           last->span.touch == note->span.touch &&
           last->span.addr + last->span.bytes == note->span.addr;
}

static void note_global(struct sim_check *check, const struct sim_span *span, enum leo_pipe unit,
                        uint32_t number, uint32_t pc)
{
    if (span->low < check->gm_base) {
        return; // the kernel's own image and stack
    }
    const struct sim_check_note note = {
        .span = *span,
        .known = check->order.known[unit],
        .remote = check->cross.now,
        .number = number,
        .pc = pc,
        .block = check->block,
        .syncs = check->syncs,
        .unit = (uint8_t)unit,
        .line = unit == LEO_PIPE_S && check->arch != 1001,
        .blocks = unit == LEO_PIPE_MTE2 && span->bytes % BLOCK_BYTES == 0,
    };
    if (extends(check, &note)) {
        struct sim_check_note *last = &check->note[check->notes - 1];
        last->span.bytes += span->bytes;
        last->span.extent += span->bytes;
        last->number = number;
        return;
    }
    add_note(check, &note);
}

void sim_check_dcci(struct sim_check *check, uint64_t addr, bool all)
{
    const uint64_t line = addr & ~(uint64_t)(SIM_CHECK_LINE_BYTES - 1);
    const struct sim_check_note note = {
        .span = {.addr = line,
                 .level = {{1, 0}, {1, 0}, {1, 0}},
                 .bytes = SIM_CHECK_LINE_BYTES,
                 .low = line,
                 .extent = SIM_CHECK_LINE_BYTES},
        .number = check->order.issued[LEO_PIPE_S],
        .block = check->block,
        .unit = LEO_PIPE_S,
        .clean = true,
        .all = all,
    };
    check->syncs++;
    if (all || line >= check->gm_base) {
        add_note(check, &note);
    }
}

/* HW-CUBE: a chain of products on one block of L0C keeps its order by itself if it is long enough
 * (docs/hw/check.md). */
static bool is_chained(const struct sim_op *op)
{
    enum { CHAIN_FRACTALS = 10 }; // [P] the vendor's page of the instruction
    if (op->row->pipe != LEO_PIPE_M) {
        return false;
    }
    const struct leo_cfg_mad cfg = leo_cfg_mad_unpack(op->d);
    return (cfg.m + 15u) / 16 * ((cfg.n + 15u) / 16) >= CHAIN_FRACTALS;
}

static bool has_unit_flag(const struct sim_op *op)
{
    if (op->row->pipe == LEO_PIPE_M) {
        return leo_cfg_mad_unpack(op->d).unit_flag != 0;
    }
    return op->row->pipe == LEO_PIPE_FIX && leo_cfg_fix1_unpack(op->d).unit_flag != 0;
}

static void touch_spans(struct access *access, const struct sim_core *core,
                        const struct sim_footprint *foot, unsigned touch, uint32_t number,
                        uint32_t element)
{
    for (unsigned i = 0; i < foot->count; i++) {
        const struct sim_span *span = &foot->span[i];
        access->touch = span->touch & touch;
        if (!access->touch || span->touch == 0) {
            continue;
        }
        if (span->space == LEO_MEM_SPACE_GM) {
            if (core->poll.passing && touch == SIM_TOUCH_READ) {
                continue; // it is the wait (acquire.c)
            }
            note_global(access->check, span, access->unit, number, access->pc);
            continue;
        }
        access->touch |= span->touch & (SIM_TOUCH_PADDED | SIM_TOUCH_MOVED);
        access->at = 0;
        access->unit_bytes = span->lane_bytes ? span->lane_bytes : element;
        access->space = (enum leo_mem_space)span->space;
        access->shift = span->addr - (uint64_t)(span->host - core->local[span->space].data);
        sim_span_each(foot, span, touch_range, access);
        if (access->holes && touch == SIM_TOUCH_WRITE) {
            access->at = 0;
            sim_span_each(foot, span, spoil_range, access);
        }
    }
}

static bool overlaps(const struct sim_span *a, const struct sim_span *b)
{
    return a->space == b->space && a->low < b->low + b->extent && b->low < a->low + a->extent;
}

/* What is written in place is compared before the reads are noted: they take the place of reads
 * that are not over yet. */
static void look_in_place(struct access *access, const struct sim_core *core,
                          const struct sim_footprint *foot)
{
    const struct sim_span *dst = &foot->span[SIM_OPERAND_A];
    if (!(dst->touch & SIM_TOUCH_WRITE) || dst->space == LEO_MEM_SPACE_GM ||
        !(access->check->which & SIM_CHECK_HAZARD)) {
        return;
    }
    for (unsigned i = 0; i < foot->count; i++) {
        if (foot->span[i].touch & SIM_TOUCH_READ && overlaps(&foot->span[i], dst)) {
            access->space = (enum leo_mem_space)dst->space;
            access->shift = dst->addr - (uint64_t)(dst->host - core->local[dst->space].data);
            sim_span_each(foot, dst, peek_range, access);
            return;
        }
    }
}

static void find_empty(struct sim_check *check, const struct sim_op *op)
{
    const struct sim_lanes *lanes = &op->foot->lanes;
    if (op->row->pipe != LEO_PIPE_V || !(check->which & SIM_CHECK_BOUNDS) || lanes->asked == 0 ||
        lanes->count == 0) {
        return;
    }
    const struct sim_finding finding = {
        .code = LEO_FAULT_NO_LANE,
        .unit = LEO_PIPE_V,
        .space = LEO_MEM_SPACE_UB,
        .core = check->core,
        .pc = (uint32_t)(op->pc - LEO_MAP_IMAGE),
        .block = check->block,
        .addr = op->a,
    };
    sim_findings_add(&check->findings, &finding);
}

void sim_check_unit(struct sim_check *check, const struct sim_core *core, const struct sim_op *op)
{
    const struct sim_footprint *foot = op->foot;
    // The compare mask is taken when all vector work is done: as if the vector unit did it.
    const bool mask = op->insn == LEO_INSN_SET_CMPMASK;
    const enum leo_pipe unit = mask ? LEO_PIPE_V : (enum leo_pipe)op->row->pipe;
    if (!op->row->foot) {
        return;
    }
    const uint32_t number = sim_order_issue(&check->order, unit);
    if (mask) {
        check->order.known[unit].done[unit] = number - 1;
    }
    struct access access = {
        .check = check,
        .unit = unit,
        .stamp = stamp_of(unit, number),
        .pc = (uint32_t)(op->pc - LEO_MAP_IMAGE),
        .chained = is_chained(op),
        .unit_flag = has_unit_flag(op),
    };
    remember(&check->past[unit], number, access.pc | (access.unit_flag ? UNIT_FLAG : 0));
    if (foot->empty) {
        find_empty(check, op);
        return;
    }
    if (check->which & SIM_CHECK_BOUNDS) {
        sim_check_arrays(check, op);
    }
    uint32_t element;
    access.follows = is_elementwise(op, &element);
    look_in_place(&access, core, foot);
    touch_spans(&access, core, foot, SIM_TOUCH_READ, number, element);
    touch_spans(&access, core, foot, SIM_TOUCH_WRITE, number, element);
}

void sim_check_scalar(struct sim_check *check, enum leo_mem_space space, uint64_t addr,
                      uint64_t bytes, unsigned touch, uint64_t pc)
{
    const uint32_t number = ++check->order.issued[LEO_PIPE_S];
    remember(&check->past[LEO_PIPE_S], number, (uint32_t)pc);
    if (space == LEO_MEM_SPACE_GM) {
        const struct sim_span span = {
            .addr = addr,
            .level = {{1, 0}, {1, 0}, {1, 0}},
            .bytes = (uint32_t)bytes,
            .touch = (uint8_t)touch,
            .low = addr,
            .extent = bytes,
        };
        note_global(check, &span, LEO_PIPE_S, number, (uint32_t)pc);
        return;
    }
    if (check->which & SIM_CHECK_BOUNDS) {
        sim_check_arrays_scalar(check, LEO_MAP_WINDOWS + addr, bytes, pc);
    }
    struct access access = {
        .check = check,
        .unit = LEO_PIPE_S,
        .space = space,
        .stamp = stamp_of(LEO_PIPE_S, number),
        .pc = (uint32_t)pc,
        .touch = touch,
    };
    touch_range(&access, addr, bytes);
}
