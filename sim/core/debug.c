/* SPDX-License-Identifier: Apache-2.0 */
#include "debug.h"

#include "../check/check.h"
#include "../memory/hbm.h"
#include "cores.h"
#include <leo/alloc.h>
#include <string.h>

/* So many turns may held cores wait for one that steps: then it waits for one of them. */
enum { MAX_TURNS = 1 << 16 };
/* Instructions of the longest text with breakpoints. */
enum { MAX_MARKS = 1 << 24 };

struct sim_debug {
    const struct leo_debugger *debugger;
    struct sim_cores *cores;
    struct sim_debug_core *core;
    struct sim_scalar_marks marks;
    bool began, is_asked;
    enum leo_debug_motion fresh; /**< of blocks that begin */
    unsigned turns;
};

/* The debugger's name for the chip. */
static struct leo_debug_chip *chip_of(struct sim_debug *debug)
{
    return (struct leo_debug_chip *)(void *)debug;
}

static struct sim_debug *debug_of(struct leo_debug_chip *chip)
{
    return (struct sim_debug *)(void *)chip;
}

/* Which cores must ask before each instruction. */
static void settle(struct sim_debug *debug)
{
    for (unsigned id = 0; id < debug->cores->count; id++) {
        debug->cores->core[id].scalar.is_stepping =
            !debug->began || debug->is_asked || debug->core[id].motion != LEO_DEBUG_GO;
    }
}

static struct sim_core *find_thread(struct sim_debug *debug, uint32_t thread)
{
    for (unsigned id = 0; id < debug->cores->count; id++) {
        if (debug->core[id].is_live && debug->core[id].thread == thread) {
            return &debug->cores->core[id];
        }
    }
    return NULL;
}

static const char *memories_of(const struct sim_core *core)
{
    return core->kind == LEO_CORE_KIND_CUBE     ? "L1 L0A L0B L0C"
           : core->kind == LEO_CORE_KIND_VECTOR ? "UB"
                                                : "UB L1 L0A L0B L0C";
}

static void describe(const struct sim_core *core, struct leo_debug_thread *thread)
{
    *thread = (struct leo_debug_thread){
        .id = core->debug->thread,
        .block = core->block_idx,
        .core = (uint16_t)core->id,
        .kind = (uint8_t)core->kind,
        .sub_block = (uint8_t)core->sub_block_idx,
        .is_in_group = core->group_vectors != 0,
        .waits = core->park != SIM_PARK_NONE,
        .holds = memories_of(core),
    };
}

static size_t list_threads(struct leo_debug_chip *chip, struct leo_debug_thread *list, size_t room)
{
    struct sim_debug *debug = debug_of(chip);
    size_t count = 0;
    for (uint32_t last = 0;;) {
        const struct sim_core *next = NULL;
        for (unsigned id = 0; id < debug->cores->count; id++) {
            const struct sim_debug_core *core = &debug->core[id];
            if (core->is_live && core->thread > last &&
                (!next || core->thread < next->debug->thread)) {
                next = &debug->cores->core[id];
            }
        }
        if (!next) {
            return count;
        }
        last = next->debug->thread;
        if (count < room) {
            describe(next, &list[count]);
        }
        count++;
    }
}

static bool get_registers(struct leo_debug_chip *chip, uint32_t thread,
                          struct leo_debug_registers *registers)
{
    struct sim_core *core = find_thread(debug_of(chip), thread);
    if (core) {
        *registers = (struct leo_debug_registers){core->scalar.x, core->scalar.f, &core->scalar.pc,
                                                  &core->scalar.fcsr};
    }
    return core != NULL;
}

static bool get_special(struct leo_debug_chip *chip, uint32_t thread, unsigned csr, uint64_t *value)
{
    struct sim_core *core = find_thread(debug_of(chip), thread);
    if (!core) {
        return false;
    }
    const struct sim_fault fault = core->scalar.fault;
    const bool good = sim_core_csr_read(&core->scalar, csr, value);
    core->scalar.fault = fault;
    return good;
}

/* Host memory behind the first of [addr, addr + bytes), which may be less than that. */
static uint8_t *reach(struct sim_core *core, uint64_t addr, uint64_t bytes, bool write)
{
    const bool window = addr >= LEO_MAP_WINDOWS && addr < LEO_MAP_PRIVATE;
    if (!window && addr >= LEO_MAP_IMAGE) {
        return sim_core_gm(core, addr & ~SIM_GM_NO_L2, bytes, write);
    }
    const uint64_t space =
        LEO_MEM_SPACE_UB + (window ? (addr - LEO_MAP_WINDOWS) / LEO_MAP_WINDOW_BYTES : 0);
    return space < LEO_MEM_SPACE_PRIVATE
               ? sim_core_local(core, (enum leo_mem_space)space, addr, bytes, 1)
               : NULL;
}

static size_t copy_memory(struct leo_debug_chip *chip, uint32_t thread, uint64_t addr, void *data,
                          size_t bytes, bool write)
{
    struct sim_core *core = find_thread(debug_of(chip), thread);
    if (!core) {
        return 0;
    }
    const struct sim_fault fault = core->scalar.fault;
    size_t done = 0;
    while (done < bytes) {
        size_t part = bytes - done;
        uint8_t *host = reach(core, addr + done, part, write);
        while (!host && part > 1) { // up to where the memory ends
            part /= 2;
            host = reach(core, addr + done, part, write);
        }
        if (!host) {
            break;
        }
        memcpy(write ? (void *)host : (uint8_t *)data + done,
               write ? (uint8_t *)data + done : (void *)host, part);
        done += part;
    }
    core->scalar.fault = fault;
    return done;
}

static bool set_mark(struct leo_debug_chip *chip, uint64_t addr, bool on)
{
    struct sim_scalar_marks *marks = &debug_of(chip)->marks;
    const uint64_t index = (addr - LEO_MAP_IMAGE) / 4;
    if (addr < LEO_MAP_IMAGE || addr % 4 || index >= MAX_MARKS) {
        return false;
    }
    if (index >= marks->count) {
        if (!on) {
            return true;
        }
        const uint64_t count = index + 4096;
        uint8_t *grown = leo_realloc(marks->mark, count);
        if (!grown) {
            return false;
        }
        memset(grown + marks->count, 0, count - marks->count);
        marks->mark = grown;
        marks->count = count;
    }
    marks->mark[index] = on;
    return true;
}

static void release(struct sim_core *core)
{
    core->debug->is_released = true;
    core->debug->released_pc = core->scalar.pc;
    core->debug->released_at = core->scalar.instructions;
}

static void move_threads(struct leo_debug_chip *chip, uint32_t thread, enum leo_debug_motion motion,
                         uint64_t low, uint64_t high)
{
    struct sim_debug *debug = debug_of(chip);
    if (thread == LEO_DEBUG_ALL) {
        debug->fresh = motion == LEO_DEBUG_HOLD ? LEO_DEBUG_HOLD : LEO_DEBUG_GO;
    }
    for (unsigned id = 0; id < debug->cores->count; id++) {
        struct sim_debug_core *core = &debug->core[id];
        if (thread != LEO_DEBUG_ALL && (!core->is_live || core->thread != thread)) {
            continue;
        }
        core->motion = motion;
        core->low = low;
        core->high = high;
        if (motion == LEO_DEBUG_RANGE && core->is_live) {
            release(&debug->cores->core[id]);
        }
    }
}

static void forget_all(struct leo_debug_chip *chip)
{
    struct sim_scalar_marks *marks = &debug_of(chip)->marks;
    if (marks->count) {
        memset(marks->mark, 0, marks->count);
    }
    move_threads(chip, LEO_DEBUG_ALL, LEO_DEBUG_GO, 0, 0);
}

static const struct leo_debug_ops debug_ops = {
    .threads = list_threads,
    .registers = get_registers,
    .special = get_special,
    .memory = copy_memory,
    .mark = set_mark,
    .forget = forget_all,
    .move = move_threads,
};

/* Everything stands still until the debugger lets it go on. */
static void stop_all(struct sim_core *core, const struct leo_debug_stop *stop)
{
    struct sim_debug *debug = core->debug->debug;
    debug->is_asked = false;
    debug->turns = 0;
    debug->debugger->stopped(debug->debugger->user, &debug_ops, chip_of(debug), stop);
    settle(debug);
}

static void release_held(struct sim_debug *debug)
{
    debug->fresh = LEO_DEBUG_GO;
    for (unsigned id = 0; id < debug->cores->count; id++) {
        if (debug->core[id].motion == LEO_DEBUG_HOLD) {
            debug->core[id].motion = LEO_DEBUG_GO;
        }
    }
    settle(debug);
}

/* Whether there is a reason to stop before the instruction at pc. */
static bool has_reason(const struct sim_debug *debug, const struct sim_debug_core *core,
                       uint64_t pc, enum leo_debug_why *why)
{
    const uint64_t index = (pc - LEO_MAP_IMAGE) / 4;
    if (!debug->began) {
        *why = LEO_DEBUG_ENTRY;
        return true;
    }
    if (debug->is_asked || (index < debug->marks.count && debug->marks.mark[index])) {
        *why = LEO_DEBUG_BREAK;
        return true;
    }
    *why = LEO_DEBUG_STEP;
    return core->motion == LEO_DEBUG_RANGE && !(pc >= core->low && pc < core->high);
}

bool sim_debug_wants(const struct sim_debug *debug, uint64_t image_addr)
{
    return debug->debugger->wants(debug->debugger->user, image_addr);
}

bool sim_debug_meet(struct sim_scalar *scalar)
{
    struct sim_core *core = scalar->owner;
    struct sim_debug_core *own = core->debug;
    struct sim_debug *debug = own->debug;
    if (own->motion == LEO_DEBUG_HOLD) {
        if (++debug->turns < MAX_TURNS) {
            return false;
        }
        release_held(debug);
    }
    debug->turns = 0;
    if (own->is_released && own->released_pc == scalar->pc &&
        own->released_at == scalar->instructions) {
        return true; // tried again
    }
    struct leo_debug_stop stop = {.thread = own->thread, .pc = scalar->pc};
    if (has_reason(debug, own, scalar->pc, &stop.why)) {
        debug->began = true;
        stop_all(core, &stop);
        if (own->motion == LEO_DEBUG_HOLD || scalar->pc != stop.pc) {
            return false;
        }
    }
    release(core);
    return true;
}

void sim_debug_fault(struct sim_core *core)
{
    if (!core->debug->is_live) {
        return;
    }
    const struct sim_fault *fault = &core->scalar.fault;
    const struct leo_debug_stop stop = {
        .why = LEO_DEBUG_FAULT,
        .thread = core->debug->thread,
        .code = (uint16_t)fault->code,
        .unit = (uint8_t)fault->unit,
        .space = (uint8_t)fault->space,
        .addr = fault->addr,
        .bytes = fault->bytes,
        .pc = fault->pc,
    };
    stop_all(core, &stop);
}

void sim_debug_found(struct sim_core *core, unsigned first)
{
    const struct sim_findings *findings = &core->check->findings;
    for (unsigned i = first; core->debug->is_live && i < findings->count; i++) {
        const struct sim_finding *finding = &findings->list[i];
        const struct leo_debug_stop stop = {
            .why = LEO_DEBUG_FINDING,
            .thread = core->debug->thread,
            .code = (uint16_t)finding->code,
            .unit = finding->unit,
            .other_unit = finding->other_unit,
            .space = finding->space,
            .addr = finding->addr,
            .bytes = finding->bytes,
            .pc = LEO_MAP_IMAGE + finding->pc,
            .other_pc = finding->other_pc ? LEO_MAP_IMAGE + finding->other_pc : 0,
        };
        stop_all(core, &stop);
    }
}

void sim_debug_look(struct sim_core *core)
{
    struct sim_debug *debug = core->debug->debug;
    if (!debug->is_asked && debug->debugger->interrupted(debug->debugger->user)) {
        debug->is_asked = true;
        settle(debug);
    }
}

void sim_debug_begin(struct sim_core *core)
{
    struct sim_debug *debug = core->debug->debug;
    const uint32_t members = core->group_vectors ? 1 + core->group_vectors : 1;
    const uint32_t member =
        core->group_vectors && core->kind == LEO_CORE_KIND_VECTOR ? 1 + core->sub_block_idx : 0;
    *core->debug = (struct sim_debug_core){
        .debug = debug,
        .is_live = sim_decoded_breaks(core->scalar.text),
        .thread = 1 + core->block_idx * members + member,
        .motion = debug->fresh,
    };
    settle(debug);
}

void sim_debug_end(struct sim_core *core)
{
    struct sim_debug *debug = core->debug->debug;
    core->debug->is_live = false;
    core->debug->motion = LEO_DEBUG_GO;
    if (debug->fresh == LEO_DEBUG_HOLD) {
        release_held(debug); // the one that was to step is gone
    }
}

leo_status sim_debug_create(struct sim_cores *cores, const struct leo_debugger *debugger,
                            struct sim_debug **out)
{
    struct sim_debug *debug = leo_calloc(1, sizeof(*debug));
    *out = debug;
    if (!debug) {
        return LEO_ERR_NO_MEMORY;
    }
    debug->debugger = debugger;
    debug->cores = cores;
    debug->core = leo_calloc(cores->count, sizeof(*debug->core));
    if (!debug->core) {
        return LEO_ERR_NO_MEMORY;
    }
    for (unsigned id = 0; id < cores->count; id++) {
        debug->core[id].debug = debug;
        cores->core[id].debug = &debug->core[id];
        cores->core[id].scalar.marks = &debug->marks;
    }
    return LEO_OK;
}

void sim_debug_destroy(struct sim_debug *debug)
{
    if (debug) {
        leo_free(debug->core);
        leo_free(debug->marks.mark);
        leo_free(debug);
    }
}
