/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that run out of the on-chip array they begin in. */
#include "check.h"

#include "../core/core.h"

enum { BLOCK_BYTES = 32 };

/* Units write and read whole blocks; arrays begin on blocks. */
static uint64_t whole_blocks(uint64_t bytes)
{
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

static const struct leo_image_array *find_array(const struct sim_check *check, uint64_t addr)
{
    for (size_t i = 0; i < check->arrays; i++) {
        const struct leo_image_array *array = &check->array[i];
        if (addr >= array->addr && addr - array->addr < array->bytes) {
            return array;
        }
    }
    return NULL; // a bare offset, or memory without a name
}

static void look_at_span(struct sim_check *check, const struct sim_op *op,
                         const struct sim_span *span)
{
    const struct leo_image_array *array = find_array(check, span->addr);
    if (!array) {
        return;
    }
    if (span->low >= array->addr &&
        span->low - array->addr + span->extent <= whole_blocks(array->bytes)) {
        return;
    }
    const struct sim_finding finding = {
        .code = LEO_FAULT_ARRAY_BOUNDS,
        .unit = op->row->pipe,
        .space = span->space,
        .core = check->core,
        .pc = (uint32_t)(op->pc - LEO_MAP_IMAGE),
        .block = check->block,
        .other_block = check->block,
        .addr = span->low,
        .bytes = span->extent,
    };
    sim_findings_add(&check->findings, &finding);
}

void sim_check_arrays(struct sim_check *check, const struct sim_op *op)
{
    const struct sim_footprint *foot = op->foot;
    for (unsigned i = 0; i < foot->count && check->arrays; i++) {
        const struct sim_span *span = &foot->span[i];
        // Fractals are counted whole: their padding may lie behind the array.
        if (span->touch != 0 && span->space != LEO_MEM_SPACE_GM &&
            !(span->touch & SIM_TOUCH_PADDED)) {
            look_at_span(check, op, span);
        }
    }
}

/* Whether an access is for sure outside of the array that was meant. What stands between the end of
 * an array and the end of its last block belongs to none: whichever array was meant, that is
 * outside of it. */
static bool leaves_array(const struct sim_check *check, uint64_t addr, uint64_t bytes)
{
    const struct leo_image_array *begins = find_array(check, addr);
    if (begins) {
        return addr + bytes > begins->addr + begins->bytes;
    }
    for (size_t i = 0; i < check->arrays; i++) {
        const struct leo_image_array *array = &check->array[i];
        if (addr >= array->addr && addr - array->addr < whole_blocks(array->bytes)) {
            return true;
        }
    }
    return false;
}

void sim_check_arrays_scalar(struct sim_check *check, uint64_t addr, uint64_t bytes, uint64_t pc)
{
    if (!leaves_array(check, addr, bytes)) {
        return;
    }
    const struct sim_finding finding = {
        .code = LEO_FAULT_ARRAY_BOUNDS,
        .unit = LEO_PIPE_S,
        .space = LEO_MEM_SPACE_UB,
        .core = check->core,
        .pc = (uint32_t)pc,
        .block = check->block,
        .other_block = check->block,
        .addr = addr,
        .bytes = bytes,
    };
    sim_findings_add(&check->findings, &finding);
}
