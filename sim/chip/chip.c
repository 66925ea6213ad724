/* SPDX-License-Identifier: Apache-2.0 */
#include "chip.h"

#include "../host/host_pool.h"
#include "../host/pages.h"
#include "../simd/simd.h"
#include "../tape/record.h"
#include <fenv.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

static leo_status create_cores(struct leo_sim_chip *chip)
{
    const struct sim_config *config = &chip->config;
    uint64_t bytes = sim_core_arena_bytes(config);
    chip->core_count = config->cube_cores + config->vector_cores;
    chip->arena_bytes =
        bytes * chip->core_count + sim_host_pool_threads(chip->pool) * SIM_SCRATCH_BYTES;
    chip->arena = sim_pages_reserve(chip->arena_bytes);
    chip->core = leo_aligned_alloc(64, chip->core_count * sizeof(*chip->core));
    if (chip->core) {
        memset(chip->core, 0, chip->core_count * sizeof(*chip->core));
    }
    chip->trace = leo_calloc(chip->core_count, sizeof(*chip->trace));
    if (!chip->arena || !chip->core || !chip->trace) {
        return LEO_ERR_NO_MEMORY;
    }
    chip->scratch = chip->arena + bytes * chip->core_count;
    for (unsigned id = 0; id < chip->core_count; id++) {
        sim_core_init(&chip->core[id], config, chip->simd, sim_insns, id, chip->arena + id * bytes);
        sim_time_log_init(&chip->core[id].log, &chip->log_pool);
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
    return sim_hbm_create(&chip->hbm, base, bytes);
}

static leo_status create_tape(struct leo_sim_chip *chip, const char *path, char *error,
                              size_t error_bytes)
{
    leo_status status = sim_tape_create(path, &chip->config, &chip->hbm, &chip->tape);
    if (status == LEO_ERR_IO) {
        snprintf(error, error_bytes, "cannot write the tape %s", path);
    }
    for (unsigned id = 0; chip->tape && id < chip->core_count; id++) {
        chip->core[id].track = sim_tape_track(chip->tape, id);
    }
    return status;
}

static leo_status create(struct leo_sim_chip *chip, const struct leo_sim_opts *opts, char *error,
                         size_t error_bytes)
{
    leo_status status =
        sim_config_parse(opts->soc_text, opts->soc_text_name, &chip->config, error, error_bytes);
    if (status) {
        return status;
    }
    status = sim_simd_select(opts->simd, &chip->simd);
    if (status) {
        snprintf(error, error_bytes, "this host cannot run simd path '%s'",
                 opts->simd ? opts->simd : "best");
        return status;
    }
    status = sim_host_lock_create(&chip->run_lock);
    if (!status) {
        status = sim_host_pool_create(opts->host_threads, &chip->pool);
    }
    if (!status) {
        status = create_memory(chip, opts);
    }
    if (!status) {
        status = sim_l2_create(&chip->l2, chip->hbm.base, chip->hbm.bytes, chip->config.l2_bytes);
    }
    if (!status) {
        status = sim_time_pool_create(&chip->log_pool);
    }
    if (!status) {
        status = create_cores(chip);
    }
    if (!status) {
        struct sim_time_config time = sim_time_config_of(&chip->config);
        status = sim_time_engine_create(&time, &chip->l2, &chip->engine);
    }
    if (!status) {
        status = sim_checks_create(chip, opts->check);
    }
    if (!status) {
        status = sim_function_init(chip, sim_chip_reset);
    }
    if (!status) {
        status = sim_scheduler_init(chip);
    }
    if (!status && opts->tape) {
        status = create_tape(chip, opts->tape, error, error_bytes);
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
    uint64_t offset = addr - chip->hbm.base;
    bool inside =
        addr >= chip->hbm.base && offset <= chip->hbm.bytes && bytes <= chip->hbm.bytes - offset;
    if (!inside) {
        return NULL;
    }
    atomic_store(&chip->windowed, true);
    return chip->hbm.data + offset;
}

leo_status leo_sim_adopt(struct leo_sim_chip *chip, uint64_t addr, uint64_t bytes, void *host,
                         bool keep)
{
    uint64_t offset = addr - chip->hbm.base;
    if (addr < chip->hbm.base || offset > chip->hbm.bytes || bytes > chip->hbm.bytes - offset) {
        return LEO_ERR_RANGE;
    }
    sim_host_lock_take(chip->run_lock); // no core runs
    leo_status status = sim_hbm_adopt(&chip->hbm, addr, bytes, host, keep);
    atomic_store(&chip->windowed, true);
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
    sim_host_pool_destroy(chip->pool);
    const bool polled = sim_tape_polls(chip->tape);
    if (!sim_tape_destroy(chip->tape) && chip->log) {
        chip->log(chip->log_user, 0,
                  polled
                      ? "the tape is of no use: a kernel polled global memory, and how long that "
                        "takes is not on it"
                      : "the tape could not be written to its end");
    }
    sim_scheduler_finish(chip);
    sim_function_finish(chip);
    for (unsigned id = 0; chip->trace && id < chip->core_count; id++) {
        sim_trace_finish(&chip->trace[id]);
    }
    for (unsigned id = 0; chip->core && id < chip->core_count; id++) {
        sim_time_log_finish(&chip->core[id].log);
    }
    sim_time_engine_destroy(chip->engine);
    sim_time_pool_destroy(&chip->log_pool);
    for (unsigned i = 0; i < LEO_SPACES; i++) {
        sim_space_finish(&chip->space[i]);
    }
    sim_checks_destroy(chip);
    leo_free(chip->trace);
    leo_free(chip->core);
    sim_pages_release(chip->arena, chip->arena_bytes);
    sim_l2_destroy(&chip->l2);
    sim_hbm_destroy(&chip->hbm);
    sim_host_lock_destroy(chip->run_lock);
    leo_free(chip);
}

void leo_sim_name_tag(struct leo_sim_chip *chip, uint32_t tag, const char *name)
{
    if (chip->tape) {
        sim_tape_name(chip->tape, tag, name);
    }
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

static leo_status run(struct leo_sim_chip *chip, uint64_t timeout_ns)
{
    uint64_t begin = timeout_ns == UINT64_MAX ? 0 : sim_host_now_ns();
    for (;;) {
        sim_function_control(chip);
        sim_scheduler_advance(chip);
        if (sim_function_has_irq(chip)) {
            return LEO_OK;
        }
        // Cores that poll memory may wait for what another thread of the host submits.
        const bool for_ever = timeout_ns == UINT64_MAX;
        if (!sim_scheduler_step(chip, for_ever)) {
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

leo_status leo_sim_chip_run(struct leo_sim_chip *chip, uint64_t timeout_ns)
{
    sim_host_lock_take(chip->run_lock);
    fenv_t callers;
    take_floats(&callers);
    leo_status status = run(chip, timeout_ns);
    fesetenv(&callers);
    sim_host_lock_give(chip->run_lock);
    return status;
}
