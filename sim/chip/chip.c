/* SPDX-License-Identifier: Apache-2.0 */
#include "chip.h"

#include "../core/debug.h"
#include "../host/host_pool.h"
#include "../host/pages.h"
#include "../memory/unknown.h"
#include "../scheduler/run_ahead.h"
#include "../simd/simd.h"
#include "../tape/record.h"
#include <fenv.h>
#include <leo/alloc.h>
#include <leo/debug.h>
#include <stdio.h>
#include <string.h>

static leo_status create_cores(struct leo_sim_chip *chip)
{
    const struct sim_config *config = &chip->config;
    uint64_t bytes = sim_core_arena_bytes(config);
    chip->cores.count = config->cube_cores + config->vector_cores;
    chip->arena_bytes =
        bytes * chip->cores.count + sim_host_pool_threads(chip->cores.pool) * SIM_SCRATCH_BYTES;
    chip->arena = sim_pages_reserve(chip->arena_bytes);
    chip->cores.core = leo_aligned_alloc(64, chip->cores.count * sizeof(*chip->cores.core));
    if (chip->cores.core) {
        memset(chip->cores.core, 0, chip->cores.count * sizeof(*chip->cores.core));
    }
    chip->cores.trace = leo_calloc(chip->cores.count, sizeof(*chip->cores.trace));
    if (!chip->arena || !chip->cores.core || !chip->cores.trace) {
        return LEO_ERR_NO_MEMORY;
    }
    chip->cores.scratch = chip->arena + bytes * chip->cores.count;
    for (unsigned id = 0; id < chip->cores.count; id++) {
        sim_core_init(&chip->cores.core[id], config, chip->cores.simd, sim_insns, id,
                      chip->arena + id * bytes);
        sim_time_log_init(&chip->cores.core[id].log, &chip->log_pool);
    }
    return LEO_OK;
}

// Device memory at the addresses asked for; less of it if those are few.
static leo_status create_memory(struct leo_sim_chip *chip, const struct leo_sim_opts *opts)
{
    struct sim_config *config = &chip->config;
    uint64_t base = opts->gm_base ? opts->gm_base : LEO_MAP_GM;
    uint64_t bytes = opts->gm_bytes ? opts->gm_bytes : config->hbm_bytes;
    if (base < LEO_MAP_GM || base % 4096 || bytes % 4096 || base + bytes < base) {
        return LEO_ERR_INVALID_ARG;
    }
    config->hbm_bytes = config->hbm_bytes < bytes ? config->hbm_bytes : bytes;
    return sim_hbm_create(&chip->memory.hbm, base, bytes);
}

static leo_status create_tape(struct leo_sim_chip *chip, const struct leo_sim_opts *opts,
                              char *error, size_t error_bytes)
{
    leo_status status =
        sim_tape_create(opts->tape, &chip->config, opts->soc_text, &chip->memory.hbm, &chip->tape);
    if (status == LEO_ERR_IO) {
        snprintf(error, error_bytes, "cannot write the tape %s", opts->tape);
    }
    chip->function.tape = chip->scheduler.tape = chip->tape;
    for (unsigned id = 0; chip->tape && id < chip->cores.count; id++) {
        chip->cores.core[id].track = sim_tape_track(chip->tape, id);
    }
    return status;
}

static leo_status create_unknown(struct leo_sim_chip *chip, const struct leo_sim_opts *opts,
                                 char *error, size_t error_bytes)
{
    if (opts->check) {
        snprintf(error, error_bytes, "kernels that compute no values cannot be checked");
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status =
        sim_unknown_create(chip->memory.hbm.base, chip->memory.hbm.bytes, &chip->memory.unknown);
    for (unsigned id = 0; id < chip->cores.count; id++) {
        chip->cores.core[id].unknown = chip->memory.unknown;
    }
    return status;
}

static void reset_chip(void *chip)
{
    sim_chip_reset(chip);
}

/* Who works with what. */
static void compose(struct leo_sim_chip *chip)
{
    chip->scheduler.config = &chip->config;
    chip->scheduler.cores = &chip->cores;
    chip->scheduler.memory = &chip->memory;
    chip->scheduler.host = &chip->function;
    chip->function.config = &chip->config;
    chip->function.hbm = &chip->memory.hbm;
    chip->function.reset = reset_chip;
    chip->function.chip = chip;
}

static bool stops(const struct leo_sim_opts *opts)
{
    return opts->debugger && opts->debugger->stopped;
}

static leo_status create(struct leo_sim_chip *chip, const struct leo_sim_opts *opts, char *error,
                         size_t error_bytes)
{
    leo_status status =
        sim_config_parse(opts->soc_text, opts->soc_text_name, &chip->config, error, error_bytes);
    if (status) {
        return status;
    }
    status = sim_simd_select(opts->simd, &chip->cores.simd);
    if (status) {
        snprintf(error, error_bytes, "this host cannot run simd path '%s'",
                 opts->simd ? opts->simd : "best");
        return status;
    }
    status = sim_host_lock_create(&chip->run_lock);
    chip->function.run_lock = chip->run_lock;
    if (!status) {
        status = sim_host_pool_create(stops(opts) ? 1 : opts->host_threads, &chip->cores.pool);
    }
    if (!status) {
        status = create_memory(chip, opts);
    }
    if (!status) {
        status = sim_l2_create(&chip->memory.l2, chip->memory.hbm.base, chip->memory.hbm.bytes,
                               chip->config.l2_bytes, chip->config.l2_written_part);
    }
    if (!status) {
        status = sim_time_pool_create(&chip->log_pool);
    }
    if (!status) {
        status = create_cores(chip);
    }
    if (!status) {
        struct sim_time_config time = sim_time_config_of(&chip->config);
        status = sim_time_engine_create(&time, &chip->memory.l2, &chip->cores.engine);
    }
    if (!status) {
        status = sim_checks_create(&chip->scheduler, opts->check);
    }
    if (!status) {
        status = sim_function_init(&chip->function);
    }
    if (!status) {
        status = sim_scheduler_init(&chip->scheduler);
    }
    if (!status && opts->debugger && opts->debugger->counts) {
        chip->scheduler.counter = opts->debugger;
    }
    if (!status && stops(opts)) {
        status = sim_debug_create(&chip->cores, opts->debugger, &chip->scheduler.debug);
    }
    if (!status && opts->no_values) {
        status = create_unknown(chip, opts, error, error_bytes);
    }
    if (!status && opts->tape) {
        status = create_tape(chip, opts, error, error_bytes);
    }
    if (status && !error[0]) {
        snprintf(error, error_bytes, "%s",
                 status == LEO_ERR_INVALID_ARG ? "its device addresses are out of range"
                                               : "out of host memory, or of addresses (ulimit -v)");
    }
    return status;
}

void *leo_sim_window(struct leo_sim_chip *chip, uint64_t addr, uint64_t bytes)
{
    uint64_t offset = addr - chip->memory.hbm.base;
    bool inside = addr >= chip->memory.hbm.base && offset <= chip->memory.hbm.bytes &&
                  bytes <= chip->memory.hbm.bytes - offset;
    if (!inside) {
        return NULL;
    }
    atomic_store(&chip->memory.windowed, true);
    return chip->memory.hbm.data + offset;
}

/* Who only computes values before their time gives way. */
static void take_chip(struct leo_sim_chip *chip)
{
    atomic_fetch_add(&chip->scheduler.wanted, 1);
    sim_host_lock_take(chip->run_lock);
    atomic_fetch_sub(&chip->scheduler.wanted, 1);
}

leo_status leo_sim_adopt(struct leo_sim_chip *chip, uint64_t addr, uint64_t bytes, void *host,
                         bool keep)
{
    uint64_t offset = addr - chip->memory.hbm.base;
    if (addr < chip->memory.hbm.base || offset > chip->memory.hbm.bytes ||
        bytes > chip->memory.hbm.bytes - offset) {
        return LEO_ERR_RANGE;
    }
    take_chip(chip); // no core runs
    leo_status status = sim_hbm_adopt(&chip->memory.hbm, addr, bytes, host, keep);
    atomic_store(&chip->memory.windowed, true);
    sim_host_lock_give(chip->run_lock);
    return status;
}

/* Rounding, flushing and traps of the calling program must not reach simulated numbers or times. */
static void take_floats(fenv_t *callers)
{
    fegetenv(callers);
    fesetenv(FE_DFL_ENV);
}

leo_status leo_sim_chip_create(const struct leo_sim_opts *opts, struct leo_sim_chip **chip_out,
                               char *error, size_t error_bytes)
{
    char ignored[1];
    if (!error || !error_bytes) {
        error = ignored;
        error_bytes = sizeof(ignored);
    }
    error[0] = '\0';
    if (!chip_out) {
        return LEO_ERR_INVALID_ARG;
    }
    *chip_out = NULL;
    if (!opts || opts->size != sizeof(*opts) || !opts->soc_text) {
        snprintf(error, error_bytes, "options without size or SoC text");
        return LEO_ERR_INVALID_ARG;
    }
    struct leo_sim_chip *chip = leo_calloc(1, sizeof(*chip));
    if (!chip) {
        snprintf(error, error_bytes, "out of host memory");
        return LEO_ERR_NO_MEMORY;
    }
    chip->log = opts->log;
    chip->log_user = opts->log_user;
    compose(chip);
    fenv_t callers;
    take_floats(&callers);
    leo_status status = create(chip, opts, error, error_bytes);
    fesetenv(&callers);
    if (status) {
        leo_sim_chip_destroy(chip);
        return status;
    }
    *chip_out = chip;
    return LEO_OK;
}

void leo_sim_chip_destroy(struct leo_sim_chip *chip)
{
    if (!chip) {
        return;
    }
    sim_host_pool_destroy(chip->cores.pool);
    if (!sim_tape_destroy(chip->tape) && chip->log) {
        chip->log(chip->log_user, 0, "the tape could not be written to its end");
    }
    sim_scheduler_finish(&chip->scheduler);
    sim_debug_destroy(chip->scheduler.debug);
    sim_function_finish(&chip->function);
    for (unsigned id = 0; chip->cores.trace && id < chip->cores.count; id++) {
        sim_trace_finish(&chip->cores.trace[id]);
    }
    for (unsigned id = 0; chip->cores.core && id < chip->cores.count; id++) {
        sim_time_log_finish(&chip->cores.core[id].log);
    }
    sim_time_engine_destroy(chip->cores.engine);
    sim_time_pool_destroy(&chip->log_pool);
    for (unsigned i = 0; i < LEO_SPACES; i++) {
        sim_space_finish(&chip->memory.space[i]);
    }
    sim_checks_destroy(&chip->scheduler);
    leo_free(chip->cores.trace);
    leo_free(chip->cores.core);
    sim_pages_release(chip->arena, chip->arena_bytes);
    sim_l2_destroy(&chip->memory.l2);
    sim_unknown_destroy(chip->memory.unknown);
    sim_hbm_destroy(&chip->memory.hbm);
    sim_host_lock_destroy(chip->run_lock);
    leo_free(chip);
}

void leo_sim_name_tag(struct leo_sim_chip *chip, uint32_t tag, const char *name)
{
    if (chip->tape) {
        sim_tape_name(chip->tape, tag, name);
    }
}

void leo_sim_note_link(struct leo_sim_chip *chip, const struct leo_link_note *note)
{
    if (chip->tape) {
        sim_tape_link(chip->tape, note);
    }
}

uint64_t leo_sim_reg_read(struct leo_sim_chip *chip, uint32_t offset, unsigned bytes)
{
    return sim_function_read(&chip->function, offset, bytes);
}

void leo_sim_reg_write(struct leo_sim_chip *chip, uint32_t offset, unsigned bytes, uint64_t value)
{
    sim_function_write(&chip->function, offset, bytes, value);
}

leo_status leo_sim_dma_map(struct leo_sim_chip *chip, uint64_t dma_addr, void *host_ptr,
                           size_t bytes)
{
    return sim_dma_map(&chip->function.dma, dma_addr, host_ptr, bytes);
}

void leo_sim_dma_unmap(struct leo_sim_chip *chip, uint64_t dma_addr)
{
    sim_dma_unmap(&chip->function.dma, dma_addr);
}

static leo_status run(struct leo_sim_chip *chip, uint64_t timeout_ns, uint64_t kernel_ns)
{
    uint64_t begin = timeout_ns == UINT64_MAX ? 0 : sim_host_now_ns();
    for (;;) {
        sim_function_control(&chip->function);
        sim_scheduler_advance(&chip->scheduler);
        if (sim_function_has_irq(&chip->function)) {
            return LEO_OK;
        }
        if (kernel_ns != UINT64_MAX && sim_scheduler_has_run(&chip->scheduler, kernel_ns)) {
            return LEO_ERR_NOT_READY;
        }
        // Cores that poll memory may wait for what another thread of the host submits.
        const bool for_ever = timeout_ns == UINT64_MAX;
        if (!sim_scheduler_step(&chip->scheduler, for_ever)) {
            return LEO_ERR_NOT_READY;
        }
        if (chip->scheduler.rests && !for_ever) {
            return LEO_ERR_BUSY;
        }
        if (timeout_ns != UINT64_MAX && sim_host_now_ns() - begin >= timeout_ns) {
            return LEO_ERR_TIMEOUT;
        }
    }
}

leo_status leo_sim_chip_run_ahead(struct leo_sim_chip *chip, uint64_t timeout_ns)
{
    if (!sim_host_lock_try(chip->run_lock)) {
        return LEO_ERR_BUSY;
    }
    fenv_t callers;
    take_floats(&callers);
    leo_status status = sim_run_ahead_run(&chip->scheduler, sim_host_now_ns() + timeout_ns);
    sim_function_control(&chip->function);
    fesetenv(&callers);
    sim_host_lock_give(chip->run_lock);
    return status;
}

void leo_sim_chip_watch(struct leo_sim_chip *chip)
{
    take_chip(chip);
    sim_polls_watch(&chip->scheduler);
    sim_host_lock_give(chip->run_lock);
}

leo_status leo_sim_chip_run(struct leo_sim_chip *chip, uint64_t timeout_ns)
{
    return leo_sim_chip_run_within(chip, timeout_ns, UINT64_MAX);
}

leo_status leo_sim_chip_run_within(struct leo_sim_chip *chip, uint64_t timeout_ns,
                                   uint64_t kernel_ns)
{
    take_chip(chip);
    fenv_t callers;
    take_floats(&callers);
    leo_status status = run(chip, timeout_ns, kernel_ns);
    fesetenv(&callers);
    sim_host_lock_give(chip->run_lock);
    return status;
}
