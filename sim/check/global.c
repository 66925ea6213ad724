/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to global memory of all blocks of a launch: ordered within a block, no race between
 * blocks, reading what somebody wrote. */
#include "check.h"

#include <leo/alloc.h>

#define LINE_BYTES  UINT64_C(64) /* SIM_CHECK_LINE_BYTES */
#define BLOCK_BYTES 32u          /* of a burst */

/* Places of the shadow's reads. */
enum { READ_LAST, READ_OTHER_BLOCK, READ_SCALAR };

/* A place for a record; 0: no memory. */
static uint32_t new_record(struct sim_check_global *global)
{
    if (global->records == global->capacity) {
        uint32_t capacity = global->capacity ? global->capacity * 2 : 1024;
        struct sim_check_record *grown = leo_realloc(global->record, capacity * sizeof(*grown));
        if (!grown) {
            return 0;
        }
        global->record = grown;
        global->capacity = capacity;
    }
    global->records += global->records == 0; // number 0 is no record
    return global->records++;
}

static uint32_t add_record(struct sim_check_global *global, const struct sim_check_note *note,
                           uint16_t core)
{
    uint32_t place = new_record(global);
    if (place == 0) {
        return 0;
    }
    global->record[place] = (struct sim_check_record){
        .block = note->block,
        .number = note->number,
        .pc = note->pc,
        .core = core,
        .unit = note->unit,
        .atomic = (note->span.touch & SIM_TOUCH_ATOMIC) != 0,
        .line = note->line,
        .blocks = note->blocks,
        .origin = place,
    };
    return place;
}

/** One noted access that is being compared. */
struct compare {
    struct sim_check_global *global;
    struct sim_check_written *written;
    const struct sim_check_note *note;
    uint16_t core;
    uint32_t record;
    bool ordered; /**< what others did is */
    bool write, atomic, unwritten_found;
};

static void find(const struct compare *compare, enum leo_fault code, enum leo_check_kind kind,
                 uint32_t other, uint64_t addr, uint64_t bytes)
{
    const struct sim_check_note *note = compare->note;
    const struct sim_check_record *record = &compare->global->record[other];
    const struct sim_finding finding = {
        .code = code,
        .kind = kind,
        .unit = note->unit,
        .other_unit = other ? record->unit : 0,
        .space = LEO_MEM_SPACE_GM,
        .core = compare->core,
        .pc = note->pc,
        .other_pc = other ? record->pc : 0,
        .block = note->block,
        .other_block = other ? record->block : note->block,
        .event = other ? (uint8_t)record->core : 0,
        .addr = addr,
        .bytes = bytes,
    };
    sim_findings_add(&compare->global->findings, &finding);
}

/* A block is on one core, or of a group launch on several. */
static bool is_own(const struct compare *compare, const struct sim_check_record *record)
{
    return record->block == compare->note->block && record->core == compare->core;
}

static void compare_with(const struct compare *compare, uint32_t other, enum leo_check_kind kind,
                         uint64_t addr, uint64_t bytes)
{
    if (other == 0 || other == compare->record) {
        return;
    }
    const struct sim_check_record *record = &compare->global->record[other];
    const struct sim_check_note *note = compare->note;
    const bool after_read = kind == LEO_CHECK_KIND_WRITE_AFTER_READ;
    if (compare->atomic && record->atomic) {
        return; // additions commute
    }
    // A raise that this core's own set was part of tells of its own work as well.
    if (sim_remote_has(note->remote, record->core, record->block, record->unit, record->number,
                       after_read) ||
        sim_check_was_released(compare->global, record, note->remote, after_read)) {
        if (kind == LEO_CHECK_KIND_READ_AFTER_WRITE && !is_own(compare, record) &&
            sim_check_is_kept_back(compare->global, record) &&
            compare->global->which & SIM_CHECK_RACE) {
            find(compare, LEO_FAULT_RACE, LEO_CHECK_KIND_NOT_CLEANED, other, addr, bytes);
        }
        return;
    }
    if (!is_own(compare, record)) {
        if (compare->ordered) {
            return;
        }
        const bool past_end =
            bytes < BLOCK_BYTES && ((kind == LEO_CHECK_KIND_READ_AFTER_WRITE && note->blocks) ||
                                    (after_read && record->blocks));
        if (past_end) {
            return;
        }
        if (compare->global->which & SIM_CHECK_RACE) {
            find(compare, LEO_FAULT_RACE, kind, other, addr, bytes);
        }
        return;
    }
    if (record->number <= note->known.done[record->unit] ||
        (record->unit == note->unit && note->unit == LEO_PIPE_S) ||
        (record->unit == LEO_PIPE_S && after_read) ||
        !(compare->global->which & SIM_CHECK_HAZARD)) {
        return;
    }
    find(compare, LEO_FAULT_HAZARD, kind, other, addr, bytes);
}

static void keep_reader(const struct compare *compare, struct sim_shadow_entry *entry)
{
    if (compare->note->unit == LEO_PIPE_S) {
        entry->read[READ_SCALAR] = compare->record;
        return;
    }
    const uint32_t last = entry->read[READ_LAST];
    if (last && !is_own(compare, &compare->global->record[last])) {
        entry->read[READ_OTHER_BLOCK] = last;
    }
    entry->read[READ_LAST] = compare->record;
}

static void touch_stretch(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    const struct compare *compare = context;
    const uint64_t bytes = (uint64_t)entry->end - entry->begin;
    if (!compare->write) {
        compare_with(compare, entry->write, LEO_CHECK_KIND_READ_AFTER_WRITE, addr, bytes);
        keep_reader(compare, entry);
        return;
    }
    compare_with(compare, entry->write, LEO_CHECK_KIND_WRITE_AFTER_WRITE, addr, bytes);
    for (unsigned i = 0; i < SIM_SHADOW_READS; i++) {
        compare_with(compare, entry->read[i], LEO_CHECK_KIND_WRITE_AFTER_READ, addr, bytes);
    }
    entry->write = compare->record;
    memset(entry->read, 0, sizeof(entry->read));
}

/* Another block's scalar store in the same cache line: the line that is written back later takes
 * the other's bytes with it. */
static void look_at_line(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    const struct compare *compare = context;
    const struct sim_check_record *record = &compare->global->record[entry->write];
    if (entry->write && !is_own(compare, record) && record->line && compare->note->line) {
        compare_with(compare, entry->write, LEO_CHECK_KIND_SAME_LINE, addr,
                     (uint64_t)entry->end - entry->begin);
    }
}

static void look_around(struct compare *compare, uint64_t addr, uint64_t bytes)
{
    const uint64_t first = addr & ~(LINE_BYTES - 1), end = addr + bytes;
    const uint64_t last = (end + LINE_BYTES - 1) & ~(LINE_BYTES - 1);
    if (compare->global->records != 0 && !compare->atomic) {
        sim_shadow_peek(&compare->global->shadow, first, addr - first, look_at_line, compare);
        sim_shadow_peek(&compare->global->shadow, end, last - end, look_at_line, compare);
    }
}

static void look_at_written(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    struct compare *compare = context;
    const bool past_end =
        compare->note->blocks && (uint64_t)entry->end - entry->begin < BLOCK_BYTES;
    if (entry->write == 0 && !compare->unwritten_found && !past_end) {
        compare->unwritten_found = true;
        find(compare, LEO_FAULT_NOT_WRITTEN, LEO_CHECK_KIND_NONE, 0, addr,
             (uint64_t)entry->end - entry->begin);
    }
}

static void compare_range(void *context, uint64_t addr, uint64_t bytes)
{
    struct compare *compare = context;
    if (compare->global->which & SIM_CHECK_INIT) {
        if (compare->write) {
            sim_check_written_set(compare->written, addr, bytes, true);
        } else {
            sim_shadow_visit(&compare->written->shadow, addr, bytes, look_at_written, compare);
        }
    }
    if (compare->global->which & (SIM_CHECK_HAZARD | SIM_CHECK_RACE)) {
        if (compare->write) {
            look_around(compare, addr, bytes);
        }
        sim_shadow_visit(&compare->global->shadow, addr, bytes, touch_stretch, compare);
    }
}

/** A line of a core that is written back. */
struct cleaning {
    struct sim_check_global *global;
    uint32_t block;
    uint16_t core;
};

/* Only this line of what may be a longer access. */
static void clean_stretch(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    const struct cleaning *cleaning = context;
    struct sim_check_global *global = cleaning->global;
    struct sim_check_record cleaned = global->record[entry->write];
    (void)addr;
    if (entry->write == 0 || cleaned.unit != LEO_PIPE_S || cleaned.clean ||
        cleaned.core != cleaning->core || cleaned.block != cleaning->block) {
        return;
    }
    cleaned.clean = true;
    uint32_t place = new_record(global);
    if (place) {
        global->record[place] = cleaned;
        entry->write = place;
    }
}

static void clean(struct sim_check_global *global, const struct sim_check_note *note, uint16_t core)
{
    if (note->all) {
        global->cleaned[core] = (struct sim_check_cleaned){note->block, note->number};
    } else if (global->records != 0) {
        struct cleaning cleaning = {global, note->block, core};
        sim_shadow_visit(&global->shadow, note->span.addr, LINE_BYTES, clean_stretch, &cleaning);
    }
}

static void compare_note(struct sim_check_global *global, const struct sim_check_note *note,
                         const struct sim_check *check, struct sim_check_written *written)
{
    struct compare compare = {
        .global = global,
        .written = written,
        .note = note,
        .core = check->core,
        .ordered = check->cross.failed,
        .record = add_record(global, note, check->core),
        .atomic = (note->span.touch & SIM_TOUCH_ATOMIC) != 0,
    };
    if (compare.record == 0) {
        return; // out of memory
    }
    // An atomic write is one access: no other access comes between its read and its write.
    if (note->span.touch & SIM_TOUCH_READ && !compare.atomic) {
        sim_span_each(NULL, &note->span, compare_range, &compare);
    }
    if (note->span.touch & SIM_TOUCH_WRITE) {
        if (global->polls) {
            sim_check_release(global, note, compare.record);
        }
        compare.write = true;
        sim_span_each(NULL, &note->span, compare_range, &compare);
    }
}

void sim_check_global_begin(struct sim_check_global *global, unsigned which, bool polls)
{
    sim_shadow_finish(&global->shadow);
    sim_check_release_forget(global);
    global->polls = polls;
    global->kepts = 0;
    global->which = which;
    memset(global->cleaned, 0, sizeof(global->cleaned));
    global->records = 0;
    global->findings = (struct sim_findings){0};
}

void sim_check_global_finish(struct sim_check_global *global)
{
    sim_shadow_finish(&global->shadow);
    sim_check_release_forget(global);
    leo_free(global->release);
    leo_free(global->record);
    memset(global, 0, sizeof(*global));
}

void sim_check_global_take(struct sim_check_global *global, struct sim_check *check,
                           struct sim_check_written *written)
{
    for (unsigned i = 0; i < check->findings.count; i++) {
        sim_findings_add(&global->findings, &check->findings.list[i]);
    }
    global->findings.more += check->findings.more;
    check->findings = (struct sim_findings){0};
    for (size_t i = 0; i < check->notes; i++) {
        if (check->note[i].clean) {
            clean(global, &check->note[i], check->core);
            continue;
        }
        compare_note(global, &check->note[i], check, written);
    }
    check->notes = 0;
    sim_check_settle_kept(global, check);
    sim_check_cross_taken(&check->cross);
}

static void set_written(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    (void)addr;
    entry->write = *(const bool *)context;
}

void sim_check_written_set(struct sim_check_written *memory, uint64_t addr, uint64_t bytes,
                           bool written)
{
    sim_shadow_visit(&memory->shadow, addr, bytes, set_written, &written);
}

/** A walk over what was touched, for the gaps between. */
struct gaps {
    struct leo_unwritten *found;
    uint64_t next; /**< the bytes before it are counted */
};

static void add_gap(struct gaps *gaps, uint64_t end)
{
    struct leo_unwritten *found = gaps->found;
    if (end > gaps->next) {
        found->first = found->bytes ? found->first : gaps->next;
        found->bytes += end - gaps->next;
    }
}

static void pass_written(void *context, uint64_t addr, struct sim_shadow_entry *entry)
{
    struct gaps *gaps = context;
    if (entry->write != 0) {
        add_gap(gaps, addr);
        gaps->next = addr + entry->end - entry->begin;
    }
}

void sim_check_written_look(const struct sim_check_written *memory, uint64_t addr, uint64_t bytes,
                            struct leo_unwritten *found)
{
    struct gaps gaps = {found, addr};
    *found = (struct leo_unwritten){.known = !memory->shadow.full};
    if (found->known) {
        sim_shadow_peek(&memory->shadow, addr, bytes, pass_written, &gaps);
        add_gap(&gaps, addr + bytes);
    }
}
