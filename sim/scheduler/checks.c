/* SPDX-License-Identifier: Apache-2.0 */
/* The checker (check/check.h) along the life of a kernel: blocks start and end, findings become
 * fault records of the task. */
#include "../check/check.h"
#include "../chip/chip.h"

#include <leo/alloc.h>
#include <string.h>

leo_status sim_checks_create(struct leo_sim_chip *chip, unsigned which)
{
    chip->check_which = which;
    if (!(which & ~(unsigned)LEO_SIM_CHECK_POISON)) {
        return LEO_OK;
    }
    chip->check = leo_calloc(chip->core_count, sizeof(*chip->check));
    chip->written = leo_calloc(1, sizeof(*chip->written));
    if (!chip->check || !chip->written) {
        return LEO_ERR_NO_MEMORY;
    }
    for (unsigned id = 0; id < chip->core_count; id++) {
        sim_check_init(&chip->check[id], which, chip->config.arch, id, chip->core_count);
        chip->core[id].check = &chip->check[id];
    }
    return LEO_OK;
}

void sim_checks_destroy(struct leo_sim_chip *chip)
{
    for (unsigned id = 0; chip->check && id < chip->core_count; id++) {
        sim_check_finish(&chip->check[id]);
    }
    if (chip->written) {
        sim_shadow_finish(&chip->written->shadow);
    }
    leo_free(chip->check);
    leo_free(chip->written);
}

void sim_checks_forget(struct sim_stream *stream)
{
    if (stream->check) {
        sim_check_global_finish(stream->check);
        leo_free(stream->check);
        stream->check = NULL;
    }
}

void sim_checks_start(struct leo_sim_chip *chip, unsigned queue)
{
    struct sim_stream *stream = &chip->scheduler.stream[queue];
    if (!chip->check) {
        return;
    }
    if (!stream->check) {
        stream->check = leo_calloc(1, sizeof(*stream->check));
    }
    if (stream->check) {
        unsigned unknown = atomic_load(&chip->windowed) ? SIM_CHECK_INIT : 0;
        sim_check_global_begin(stream->check, chip->check_which & ~unknown,
                               sim_decoded_spins(stream->kernel.image->decoded));
    }
}

/* All bits set: NaN in every float format, and no number that a kernel would take for data. */
static void poison(const struct leo_sim_chip *chip, void *bytes, uint64_t count)
{
    if (chip->check_which & LEO_SIM_CHECK_POISON) {
        memset(bytes, 0xff, count);
    }
}

void sim_checks_block(struct leo_sim_chip *chip, unsigned id, const struct sim_kernel *kernel,
                      struct sim_check_global *check)
{
    for (int space = LEO_MEM_SPACE_UB; space < LEO_MEM_SPACE_PRIVATE; space++) {
        const struct sim_local *local = &chip->core[id].local[space];
        poison(chip, local->data, local->bytes);
    }
    if (chip->check) {
        sim_check_begin(&chip->check[id], kernel->next_block, chip->hbm.base);
        chip->check[id].array = kernel->image->array;
        chip->check[id].arrays = kernel->image->arrays;
        chip->check[id].global = check;
    }
}

void sim_checks_after(struct leo_sim_chip *chip, unsigned id, bool returned)
{
    struct sim_stream *stream = &chip->scheduler.stream[chip->scheduler.slot[id].queue];
    if (!chip->check || !stream->check) {
        return;
    }
    if (returned) {
        sim_check_end(&chip->check[id]);
    }
    sim_check_global_take(stream->check, &chip->check[id], chip->written);
}

void sim_checks_finish(struct sim_stream *stream)
{
    if (stream->check && stream->check->findings.count && stream->fault.code == LEO_FAULT_NONE) {
        stream->fault.code = stream->check->findings.list[0].code;
        stream->checked = true;
    }
}

uint32_t sim_checks_write(struct leo_sim_chip *chip, unsigned queue,
                          const struct sim_findings *findings)
{
    const struct sim_stream *stream = &chip->scheduler.stream[queue];
    uint32_t first = 0;
    for (unsigned i = 0; i < findings->count; i++) {
        const struct sim_finding *finding = &findings->list[i];
        const struct leo_check_record record = {
            .code = (uint16_t)finding->code,
            .unit = finding->unit,
            .core = finding->core,
            .queue = (uint16_t)queue,
            .block = finding->block,
            .cmd_id = stream->entry.cmd_id,
            .pc = finding->pc,
            .addr = finding->addr,
            .bytes = finding->bytes,
            .other_pc = finding->other_pc,
            .other_block = finding->other_block,
            .image_addr = stream->kernel.body.image_addr,
            .space = finding->space,
            .kind = (uint8_t)finding->kind,
            .other_unit = finding->other_unit,
            .event = finding->event,
            .rest = (uint32_t)(findings->count - 1 - i + findings->more),
        };
        struct leo_fault_record bytes;
        _Static_assert(sizeof(bytes) == sizeof(record), "one ring");
        memcpy(&bytes, &record, sizeof(bytes));
        uint32_t number = sim_fault_write(chip, &bytes);
        first = i == 0 ? number : first;
    }
    return first;
}

void sim_checks_written(struct leo_sim_chip *chip, uint64_t addr, uint64_t bytes, bool written)
{
    if (!written) {
        poison(chip, chip->hbm.data + (addr - chip->hbm.base), bytes);
    }
    if (chip->written) {
        sim_check_written_set(chip->written, addr, bytes, written);
    }
}
