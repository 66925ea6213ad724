/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator inside this process. The only file of the driver that knows it. */
#include "range.h"

#include <leo/alloc.h>
#include <leo/driver.h>
#include <leo/sim.h>
#include <leo/transport.h>
#include <stdatomic.h>
#include <stdio.h>

_Static_assert((int)LEO_DRV_CHECK_HAZARD == LEO_SIM_CHECK_HAZARD &&
                   (int)LEO_DRV_CHECK_INIT == LEO_SIM_CHECK_INIT &&
                   (int)LEO_DRV_CHECK_RACE == LEO_SIM_CHECK_RACE &&
                   (int)LEO_DRV_CHECK_BOUNDS == LEO_SIM_CHECK_BOUNDS &&
                   (int)LEO_DRV_CHECK_POISON == LEO_SIM_CHECK_POISON,
               "the same bits");

enum { DMA_ALIGN = 64, DMA_PAGE = 4096 };

struct sim_transport {
    struct leo_transport base;
    struct leo_sim_chip *chip;
    struct drv_range range;
    _Atomic uint64_t next_addr; /**< DMA addresses are never used twice: a stale one faults. */
};

static struct sim_transport *sim_of(struct leo_transport *transport)
{
    return (struct sim_transport *)(void *)transport;
}

static void sim_close(struct leo_transport *transport)
{
    leo_sim_chip_destroy(sim_of(transport)->chip);
    drv_range_release(&sim_of(transport)->range);
    leo_free(transport);
}

static leo_status sim_reg_read(struct leo_transport *transport, uint32_t offset, unsigned bytes,
                               uint64_t *value)
{
    *value = leo_sim_reg_read(sim_of(transport)->chip, offset, bytes);
    return LEO_OK;
}

static leo_status sim_reg_write(struct leo_transport *transport, uint32_t offset, unsigned bytes,
                                uint64_t value)
{
    leo_sim_reg_write(sim_of(transport)->chip, offset, bytes, value);
    return LEO_OK;
}

static leo_status sim_dma_map(struct leo_transport *transport, void *host_ptr, size_t bytes,
                              uint64_t *dma_addr)
{
    struct sim_transport *sim = sim_of(transport);
    // A page between two ranges, so that an overrun hits neither.
    uint64_t span = (bytes + DMA_PAGE - 1) / DMA_PAGE * DMA_PAGE + DMA_PAGE;
    uint64_t addr = atomic_fetch_add(&sim->next_addr, span);
    leo_status status = leo_sim_dma_map(sim->chip, addr, host_ptr, bytes);
    *dma_addr = status ? 0 : addr;
    return status;
}

static void sim_dma_unmap(struct leo_transport *transport, uint64_t dma_addr)
{
    leo_sim_dma_unmap(sim_of(transport)->chip, dma_addr);
}

static leo_status sim_dma_alloc(struct leo_transport *transport, size_t bytes, void **host_ptr,
                                uint64_t *dma_addr)
{
    *host_ptr = NULL;
    // The pointer to free stands in front of the aligned memory.
    char *memory = leo_calloc(1, bytes + DMA_ALIGN + sizeof(void *));
    if (!memory) {
        return LEO_ERR_NO_MEMORY;
    }
    uintptr_t start = (uintptr_t)memory + sizeof(void *);
    char *aligned = memory + sizeof(void *) + (DMA_ALIGN - start % DMA_ALIGN) % DMA_ALIGN;
    ((void **)(void *)aligned)[-1] = memory;
    leo_status status = sim_dma_map(transport, aligned, bytes, dma_addr);
    if (status) {
        leo_free(memory);
        return status;
    }
    *host_ptr = aligned;
    return LEO_OK;
}

static void sim_dma_free(struct leo_transport *transport, void *host_ptr, uint64_t dma_addr)
{
    sim_dma_unmap(transport, dma_addr);
    leo_free(((void **)host_ptr)[-1]);
}

static void *sim_window(struct leo_transport *transport, uint64_t addr, uint64_t bytes)
{
    return leo_sim_window(sim_of(transport)->chip, addr, bytes);
}

static leo_status sim_adopt(struct leo_transport *transport, uint64_t addr, uint64_t bytes,
                            void *host, bool keep)
{
    return leo_sim_adopt(sim_of(transport)->chip, addr, bytes, host, keep);
}

static void sim_name_tag(struct leo_transport *transport, uint32_t tag, const char *name)
{
    leo_sim_name_tag(sim_of(transport)->chip, tag, name);
}

static void sim_note_link(struct leo_transport *transport, const struct leo_link_note *note)
{
    leo_sim_note_link(sim_of(transport)->chip, note);
}

static leo_status sim_irq_wait(struct leo_transport *transport, uint64_t timeout_ns)
{
    return leo_sim_chip_run(sim_of(transport)->chip, timeout_ns);
}

static leo_status sim_irq_wait_within(struct leo_transport *transport, uint64_t timeout_ns,
                                      uint64_t kernel_ns)
{
    return leo_sim_chip_run_within(sim_of(transport)->chip, timeout_ns, kernel_ns);
}

static bool sim_image_polls(struct leo_transport *transport, const struct leo_image_desc *desc,
                            const void *image)
{
    (void)transport;
    return leo_sim_image_polls(desc, image);
}

static void sim_watch(struct leo_transport *transport)
{
    leo_sim_chip_watch(sim_of(transport)->chip);
}

static leo_status sim_run_ahead(struct leo_transport *transport, uint64_t timeout_ns)
{
    return leo_sim_chip_run_ahead(sim_of(transport)->chip, timeout_ns);
}

static const struct leo_transport_ops sim_transport_ops = {
    .name = "sim",
    .close = sim_close,
    .reg_read = sim_reg_read,
    .reg_write = sim_reg_write,
    .dma_alloc = sim_dma_alloc,
    .dma_free = sim_dma_free,
    .dma_map = sim_dma_map,
    .dma_unmap = sim_dma_unmap,
    .window = sim_window,
    .adopt = sim_adopt,
    .name_tag = sim_name_tag,
    .note_link = sim_note_link,
    .run_ahead = sim_run_ahead,
    .image_polls = sim_image_polls,
    .watch = sim_watch,
    .irq_wait = sim_irq_wait,
    .irq_wait_within = sim_irq_wait_within,
};

leo_status leo_drv_transport_sim_open(const struct leo_drv_sim_opts *opts,
                                      struct leo_transport **transport, char *error,
                                      size_t error_bytes)
{
    *transport = NULL;
    if (error && error_bytes) {
        error[0] = '\0';
    }
    struct sim_transport *sim = leo_calloc(1, sizeof(*sim));
    if (!sim) {
        if (error) {
            snprintf(error, error_bytes, "out of host memory");
        }
        return LEO_ERR_NO_MEMORY;
    }
    sim->base.ops = &sim_transport_ops;
    atomic_init(&sim->next_addr, 16 * DMA_PAGE);
    drv_range_take(&sim->range, opts->index);
    const struct leo_sim_opts sim_opts = {
        .size = sizeof(sim_opts),
        .soc_text = opts->soc_text,
        .soc_text_name = opts->soc_text_name,
        .host_threads = opts->host_threads,
        .simd = opts->simd,
        .check = opts->check,
        .tape = opts->tape,
        .no_values = opts->no_values,
        .debugger = opts->debugger,
        .gm_base = sim->range.base,
        .gm_bytes = sim->range.bytes,
    };
    leo_status status = leo_sim_chip_create(&sim_opts, &sim->chip, error, error_bytes);
    if (status) {
        drv_range_release(&sim->range);
        leo_free(sim);
        return status;
    }
    *transport = &sim->base;
    return LEO_OK;
}
