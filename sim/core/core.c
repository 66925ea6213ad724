/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

#include "../check/check.h"
#include "../host/host_pool.h"
#include "../memory/hbm.h"
#include "../memory/space.h"
#include "../memory/unknown.h"
#include "../tape/record.h"
#include "debug.h"
#include "deferred_mmad.h"
#include "state.h"
#include "stores.h"
#include <string.h>

static bool refuse_ecall(struct sim_scalar *scalar)
{
    return sim_core_fault(scalar->owner, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_PRIVATE, 0,
                          0);
}

/* Cores run at the same time on the host: what they do to one word of global memory happens in the
 * order of cores. */
static void order_atomic(struct sim_scalar *scalar, uint64_t addr)
{
    const struct sim_core *core = scalar->owner;
    if (addr >= LEO_MAP_GM) {
        sim_host_pool_wait_turn(core->pool, core->first_turn, core->turn);
    }
}

/* What the unit buffer holds was computed by the units. */
static void look(struct sim_core *core, uint64_t addr, unsigned bytes, bool global)
{
    core->looked |= !global || sim_unknown_has(core->unknown, addr & ~SIM_GM_NO_L2, bytes);
}

static void watch(struct sim_scalar *scalar, uint64_t addr, unsigned bytes, unsigned access)
{
    const struct sim_core *core = scalar->owner;
    unsigned touch = (access & SIM_ACCESS_READ ? SIM_TOUCH_READ : 0u) |
                     (access & SIM_ACCESS_WRITE ? SIM_TOUCH_WRITE : 0u);
    if (touch == (SIM_TOUCH_READ | SIM_TOUCH_WRITE)) {
        touch |= SIM_TOUCH_ATOMIC;
    }
    bool global = addr >= LEO_MAP_GM;
    if (global && core->stores && touch & SIM_TOUCH_WRITE) {
        const struct sim_span span = sim_store_span(addr, bytes);
        sim_core_stored(scalar->owner, &span, LEO_PIPE_S);
    }
    if (core->unknown && touch & SIM_TOUCH_READ) {
        look(scalar->owner, addr, bytes, global);
    }
    if (!core->check || (global && core->poll.passing && touch == SIM_TOUCH_READ)) {
        return; // what polls is ordered by what it reads
    }
    uint64_t at = !global && addr >= LEO_MAP_WINDOWS ? addr - LEO_MAP_WINDOWS : addr;
    const unsigned found = core->check->findings.count;
    sim_check_scalar(core->check, global ? LEO_MEM_SPACE_GM : LEO_MEM_SPACE_UB, at, bytes, touch,
                     scalar->pc - LEO_MAP_IMAGE);
    sim_core_name_callers(core, found);
    if (core->debug) {
        sim_debug_found(scalar->owner, found);
    }
}

static const struct sim_scalar_env core_env = {
    .find = sim_core_find,
    .line = sim_core_load_line,
    .order = order_atomic,
    .watch = watch,
    .poll = sim_core_poll,
    .custom = sim_core_issue,
    .csr_read = sim_core_csr_read,
    .csr_write = sim_core_csr_write,
    .ecall = refuse_ecall,
    .meet = sim_debug_meet,
};

/* Which buffers a core has: a cube core has no UB, a vector core nothing else. */
static uint32_t local_bytes(const struct sim_config *config, enum leo_core_kind kind,
                            enum leo_mem_space space)
{
    bool cube = kind != LEO_CORE_KIND_VECTOR;
    switch (space) {
    case LEO_MEM_SPACE_UB:
        return kind != LEO_CORE_KIND_CUBE ? config->ub_bytes : 0;
    case LEO_MEM_SPACE_L1:
        return cube ? config->l1_bytes : 0;
    case LEO_MEM_SPACE_L0A:
        return cube ? config->l0a_bytes : 0;
    case LEO_MEM_SPACE_L0B:
        return cube ? config->l0b_bytes : 0;
    case LEO_MEM_SPACE_L0C:
        return cube ? config->l0c_bytes : 0;
    case LEO_MEM_SPACE_BT:
        return cube ? config->bt_bytes : 0;
    case LEO_MEM_SPACE_FB:
        return cube ? config->fb_bytes : 0;
    case LEO_MEM_SPACE_GM:
    case LEO_MEM_SPACE_PRIVATE:
        break;
    }
    return 0;
}

uint64_t sim_core_arena_bytes(const struct sim_config *config)
{
    uint64_t bytes = LEO_MAP_WINDOW_BYTES + SIM_PRIVATE_IMAGE_BYTES;
    for (int space = 0; space < LEO_MEM_SPACE_COUNT; space++) {
        bytes +=
            sim_core_pages(local_bytes(config, LEO_CORE_KIND_AICORE, (enum leo_mem_space)space));
    }
    return bytes + sim_core_sparse_bytes(config);
}

static enum leo_core_kind kind_of(const struct sim_config *config, unsigned id)
{
    if (config->vector_cores == 0) {
        return LEO_CORE_KIND_AICORE;
    }
    return id < config->cube_cores ? LEO_CORE_KIND_CUBE : LEO_CORE_KIND_VECTOR;
}

void sim_core_init(struct sim_core *core, const struct sim_config *config,
                   const struct sim_simd *simd, const struct sim_insn *insns, unsigned id,
                   uint8_t *arena)
{
    memset(core, 0, sizeof(*core));
    core->config = config;
    core->simd = simd;
    core->insns = insns;
    core->id = id;
    core->kind = kind_of(config, id);
    core->sub_block_num = 1;
    if (core->kind == LEO_CORE_KIND_VECTOR) {
        core->sub_block_num = config->vector_cores / config->cube_cores;
        core->sub_block_idx = (id - config->cube_cores) % core->sub_block_num;
    }
    for (int space = 0; space < LEO_MEM_SPACE_COUNT; space++) {
        uint32_t bytes = local_bytes(config, core->kind, (enum leo_mem_space)space);
        core->local[space] = (struct sim_local){arena, bytes};
        arena += sim_core_pages(bytes);
    }
    core->sparse = arena;
    arena += sim_core_sparse_bytes(config);
    core->private_window = arena;
    arena += LEO_MAP_WINDOW_BYTES;
    core->image_private = arena;
    sim_caches_init(&core->caches, config);
    core->scalar.env = &core_env;
    core->scalar.line_bytes = config->dcache_line_bytes;
    core->scalar.owner = core;
    core->scalar.time = (struct sim_scalar_time){
        .alu = config->scalar_alu,
        .mul = config->scalar_mul,
        .div = config->scalar_div,
        .branch = config->scalar_branch,
        .float_op = config->scalar_float,
        .float_div = config->scalar_float_div,
    };
}

void sim_core_begin(struct sim_core *core, const struct sim_block *block)
{
    struct sim_scalar *scalar = &core->scalar;
    sim_sections_zero(&sim_core_sections, core, SIM_SECTION_BLOCK);
    sim_core_forget(core);
    scalar->pc = LEO_MAP_IMAGE + block->entry;
    core->entry = block->entry;
    scalar->x[1] = LEO_MAP_RETURN;
    scalar->x[2] = block->sp;
    memcpy(&scalar->x[10], block->argument, sizeof(block->argument));
    sim_caches_begin(&core->caches, block->entry);
    core->block_idx = block->block_idx;
    core->block_num = block->block_num;
    core->group_vectors = block->group_vectors;
    core->limit = block->limit_cycles;
    if (core->kind == LEO_CORE_KIND_VECTOR) {
        core->sub_block_num = block->group_vectors
                                  ? block->group_vectors
                                  : core->config->vector_cores / core->config->cube_cores;
    }
    core->vmask[0] = core->vmask[1] = UINT64_MAX;
    const struct leo_cfg_ctrl ctrl = {.saturate = block->saturate};
    core->ctrl = leo_cfg_ctrl_pack(&ctrl);
    if (core->track) {
        sim_tape_begin(core->track, core);
    }
    if (core->debug) {
        sim_debug_begin(core);
    }
}

/* What ended a run, into the log. */
static void log_stop(struct sim_core *core, enum sim_time_kind kind)
{
    struct sim_time_record record = {.kind = (uint8_t)kind};
    sim_core_log_missed(core);
    sim_core_log(core, &record, NULL);
}

/* The debugger stops at a fault, while the block is still there. */
static void tell_end(struct sim_core *core, enum sim_scalar_stop stop)
{
    if (stop == SIM_SCALAR_FAULT) {
        sim_debug_fault(core);
    }
    if (stop != SIM_SCALAR_TIME) {
        sim_debug_end(core);
    }
}

enum sim_scalar_stop sim_core_run(struct sim_core *core, double until, unsigned places)
{
    core->log_end = core->log.written + places;
    if (!sim_time_log_reserve(&core->log)) {
        return SIM_SCALAR_TIME; // tried again in the next run
    }
    if (core->debug) {
        sim_debug_look(core);
    } else {
        sim_deferred_begin(core);
    }
    enum sim_scalar_stop stop = sim_scalar_run(&core->scalar, until);
    sim_deferred_end(core);
    struct sim_fault *fault = &core->scalar.fault;
    if (stop == SIM_SCALAR_BLOCKED) {
        stop = SIM_SCALAR_TIME;
    }
    if (stop == SIM_SCALAR_EXITED) {
        // Has no meaning in a kernel; the environment above never asks for it.
        fault->code = LEO_FAULT_ILLEGAL_INSTRUCTION;
        stop = SIM_SCALAR_FAULT;
    }
    if (core->debug) {
        tell_end(core, stop);
    }
    if (stop == SIM_SCALAR_FAULT && fault->pc >= LEO_MAP_IMAGE && fault->pc < LEO_MAP_IMAGE_END) {
        fault->pc -= LEO_MAP_IMAGE;
        fault->caller = sim_core_caller(core, fault->pc);
    }
    if (core->park == SIM_PARK_FLAG || core->run_ahead_stop) {
        return stop; // what it waits for is the last record, or the next one
    }
    log_stop(core, stop != SIM_SCALAR_TIME          ? SIM_TIME_END
                   : core->park == SIM_PARK_POLL    ? SIM_TIME_PARK
                   : core->clock == SIM_CLOCK_ASKED ? SIM_TIME_MARK
                                                    : SIM_TIME_SCALAR);
    return stop;
}

/* What `core` is, whatever it does. */
static void keep_identity(struct sim_core *core, const struct sim_core *was)
{
    core->id = was->id;
    core->sub_block_idx = was->sub_block_idx;
    core->check = was->check;
    core->track = was->track;
    core->stores = was->stores;
    core->stored = was->stored;
    core->runs_ahead = was->runs_ahead;
    core->run_ahead_stop = false;
    core->scalar.owner = core;
    sim_core_forget(core);
}

void sim_core_exchange(struct sim_core *one, struct sim_core *other)
{
    const struct sim_core was = *one;
    *one = *other;
    *other = was;
    keep_identity(other, one);
    keep_identity(one, &was);
}

void sim_core_forget(struct sim_core *core)
{
    core->last_extent = NULL;
    sim_scalar_forget(&core->scalar);
}
