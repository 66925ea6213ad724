/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel needs before its blocks run: a checked entry, arguments, image; and a core at the
 * start of a block. */
#include "scheduler.h"

#include <leo/alloc.h>
#include <leo/debug.h>
#include <string.h>

enum { REGISTER_SLOTS = 8 };

static bool is_right_kind(const struct sim_scheduler *scheduler, unsigned kind)
{
    if (scheduler->config->vector_cores == 0) {
        return kind == LEO_CORE_KIND_AICORE || kind == LEO_CORE_KIND_ANY;
    }
    return kind == LEO_CORE_KIND_CUBE || kind == LEO_CORE_KIND_VECTOR ||
           kind == LEO_CORE_KIND_MIX || kind == LEO_CORE_KIND_MIX_ONE;
}

/* Vector cores that run a block together with a cube core. */
static uint32_t vectors_of(const struct sim_scheduler *scheduler, enum leo_core_kind kind)
{
    return kind == LEO_CORE_KIND_MIX
               ? scheduler->config->vector_cores / scheduler->config->cube_cores
           : kind == LEO_CORE_KIND_MIX_ONE ? 1
                                           : 0;
}

static bool fetch_args(struct sim_scheduler *scheduler, struct sim_stream *stream, uint16_t number)
{
    const struct leo_sqe_kernel *body = &stream->kernel.body;
    if (body->args_bytes > stream->args_capacity) {
        uint8_t *args = leo_realloc(stream->args, body->args_bytes);
        if (!args) {
            return sim_stream_fault(stream, LEO_FAULT_NO_MEMORY, body->args_addr, body->args_bytes);
        }
        stream->args = args;
        stream->args_capacity = body->args_bytes;
    }
    if (body->args_bytes == 0) {
        return true;
    }
    if (body->args_flags & LEO_SQE_KERNEL_IN_DEVICE) {
        const struct sim_space *space = &scheduler->memory->space[number];
        if (!sim_space_find(space, body->args_addr, body->args_bytes)) {
            return sim_stream_fault(stream, LEO_FAULT_GM_OUT_OF_RANGE, body->args_addr,
                                    body->args_bytes);
        }
        memcpy(stream->args,
               scheduler->memory->hbm.data + (body->args_addr - scheduler->memory->hbm.base),
               body->args_bytes);
        return true;
    }
    return sim_dma_read(&scheduler->host->dma, body->args_addr, stream->args, body->args_bytes) ||
           sim_stream_fault(stream, LEO_FAULT_DMA_OUT_OF_RANGE, body->args_addr, body->args_bytes);
}

/* Slots that are offsets become addresses, the same in every block. */
static bool relocate(struct sim_stream *stream)
{
    const struct leo_sqe_kernel *body = &stream->kernel.body;
    uint64_t base = LEO_MAP_PRIVATE_END - ((body->args_bytes + 15) & ~UINT64_C(15));
    for (unsigned slot = 0; slot < 64; slot++) {
        if (!(body->reloc >> slot & 1)) {
            continue;
        }
        uint64_t value;
        if (slot >= body->slots) {
            return sim_stream_fault(stream, LEO_FAULT_BAD_ENTRY, 0, 0);
        }
        memcpy(&value, stream->args + slot * sizeof(value), sizeof(value));
        if (value > body->args_bytes) {
            return sim_stream_fault(stream, LEO_FAULT_BAD_ENTRY, 0, 0);
        }
        value += base;
        memcpy(stream->args + slot * sizeof(value), &value, sizeof(value));
    }
    return true;
}

/* What the blocks need in memory: arguments and image. */
static bool load(struct sim_scheduler *scheduler, struct sim_stream *stream, uint16_t space)
{
    struct sim_kernel *kernel = &stream->kernel;
    const struct leo_sqe_kernel *body = &kernel->body;
    if (!fetch_args(scheduler, stream, space) || !relocate(stream)) {
        return false;
    }
    enum leo_fault fault;
    struct sim_image *image = sim_image_take(scheduler, space, body->image_addr, &fault);
    if (!image) {
        return sim_stream_fault(stream, fault, body->image_addr, sizeof(struct leo_image_desc));
    }
    const struct leo_image_desc *desc = &image->desc;
    if (body->entry % 4 || body->entry < desc->text_offset ||
        body->entry - desc->text_offset >= desc->text_bytes) {
        sim_image_release(image);
        return sim_stream_fault(stream, LEO_FAULT_BAD_IMAGE, body->entry, 4);
    }
    kernel->image = image;
    return true;
}

bool sim_kernel_load(struct sim_scheduler *scheduler, struct sim_stream *stream, uint16_t space)
{
    struct sim_kernel *kernel = &stream->kernel;
    memset(kernel, 0, sizeof(*kernel));
    kernel->team = SIM_NO_TEAM;
    memcpy(&kernel->body, stream->entry.body, sizeof(kernel->body));
    const struct leo_sqe_kernel *body = &kernel->body;
    if (!is_right_kind(scheduler, stream->entry.core_kind) || body->block_num == 0 ||
        body->block_num > LEO_MAX_BLOCKS || body->args_bytes > LEO_MAX_ARGS_BYTES ||
        body->args_flags & ~LEO_SQE_KERNEL_IN_DEVICE ||
        (uint64_t)body->slots * 8 > body->args_bytes) {
        return sim_stream_fault(stream, LEO_FAULT_BAD_ENTRY, 0, 0);
    }
    if (!scheduler->replay && !load(scheduler, stream, space)) {
        return false;
    }
    kernel->kind = scheduler->config->vector_cores ? (enum leo_core_kind)stream->entry.core_kind
                                                   : LEO_CORE_KIND_AICORE;
    uint32_t limit_us = body->limit_us ? body->limit_us : scheduler->config->default_limit_us;
    kernel->group_vectors = vectors_of(scheduler, kernel->kind);
    kernel->limit_cycles = (double)limit_us * scheduler->config->clock_khz * 1e-3;
    return true;
}

/* Gives the core its memory for a block. */
static void prepare_memory(struct sim_scheduler *scheduler, const struct sim_stream *stream,
                           uint16_t space, struct sim_core *core)
{
    const struct leo_image_desc *desc = &stream->kernel.image->desc;
    uint32_t args_bytes = stream->kernel.body.args_bytes;
    uint64_t args_addr = LEO_MAP_PRIVATE_END - ((args_bytes + 15) & ~UINT64_C(15));
    core->space = &scheduler->memory->space[space];
    core->gm = scheduler->memory->hbm.data;
    core->gm_base = scheduler->memory->hbm.base;
    core->image = scheduler->memory->hbm.data +
                  (stream->kernel.image->addr + sizeof(*desc) - scheduler->memory->hbm.base);
    core->image_read_only = desc->rw_offset;
    core->image_bytes = desc->rw_offset + desc->rw_bytes + desc->bss_bytes;
    core->stack_end = args_addr - desc->stack_bytes;
    core->private_end = LEO_MAP_PRIVATE_END;
    core->stack_clear = args_addr;
    core->scalar.text = stream->kernel.image->decoded;
    const struct leo_debugger *counter = scheduler->counter;
    core->scalar.counts =
        counter ? counter->counts(counter->user, stream->kernel.image->addr, core->id,
                                  desc->text_offset, desc->text_bytes / sizeof(uint32_t))
                : NULL;
    memcpy(core->image_private, core->image + desc->rw_offset, desc->rw_bytes);
    memset(core->image_private + desc->rw_bytes, 0, desc->bss_bytes);
    if (args_bytes) {
        memcpy(core->private_window + (args_addr - LEO_MAP_PRIVATE), stream->args, args_bytes);
    }
}

static bool saturates(const struct sim_scheduler *scheduler, const struct leo_sqe *entry)
{
    const enum leo_float_mode mode = sim_entry_float_mode(entry);
    return mode == LEO_FLOAT_MODE_OWN ? scheduler->config->arch == 1001
                                      : mode == LEO_FLOAT_MODE_SATURATE;
}

void sim_kernel_begin(struct sim_scheduler *scheduler, const struct sim_stream *stream,
                      uint16_t space, uint32_t number, struct sim_core *core)
{
    const struct sim_kernel *kernel = &stream->kernel;
    uint64_t args_addr = LEO_MAP_PRIVATE_END - ((kernel->body.args_bytes + 15) & ~UINT64_C(15));
    // Arguments past the eighth are where the calling convention wants them: at the stack pointer.
    bool on_stack = kernel->body.slots > REGISTER_SLOTS;
    struct sim_block block = {
        .entry = kernel->body.entry,
        .sp = on_stack ? args_addr + REGISTER_SLOTS * sizeof(uint64_t) : args_addr,
        .block_idx = number,
        .block_num = kernel->body.block_num,
        .group_vectors = kernel->group_vectors,
        .limit_cycles = kernel->limit_cycles,
        .saturate = saturates(scheduler, &stream->entry),
    };
    unsigned in_registers = on_stack ? REGISTER_SLOTS : kernel->body.slots;
    if (in_registers && !scheduler->replay) {
        memcpy(block.argument, stream->args, in_registers * sizeof(uint64_t));
    }
    if (!scheduler->replay) {
        prepare_memory(scheduler, stream, space, core);
    }
    sim_core_begin(core, &block);
}
