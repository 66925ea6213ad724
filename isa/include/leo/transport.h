/* SPDX-License-Identifier: Apache-2.0 */
/* How a driver reaches a device: one table of functions, the same for every way of attachment. */
#pragma once

#include <leo/link_note.h>
#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct leo_image_desc;
struct leo_transport;

/**
 * One way to reach a device. Every function takes the transport it was opened as. Calls may come
 * from several threads at once except close. A failing call changes nothing.
 */
struct leo_transport_ops {
    /** Names the transport in messages: "sim", "null". */
    const char *name;
    void (*close)(struct leo_transport *transport);
    /** Reads or writes `bytes` (4 or 8) at a register offset of BAR 0. */
    leo_status (*reg_read)(struct leo_transport *transport, uint32_t offset, unsigned bytes,
                           uint64_t *value);
    leo_status (*reg_write)(struct leo_transport *transport, uint32_t offset, unsigned bytes,
                            uint64_t value);
    /** Zeroed memory both sides can use; `dma_addr` is what the device calls it. 64-byte aligned.
     */
    leo_status (*dma_alloc)(struct leo_transport *transport, size_t bytes, void **host_ptr,
                            uint64_t *dma_addr);
    void (*dma_free)(struct leo_transport *transport, void *host_ptr, uint64_t dma_addr);
    /** Lets the device reach caller's own memory. LEO_ERR_UNSUPPORTED: copy through dma_alloc
     * memory. */
    leo_status (*dma_map)(struct leo_transport *transport, void *host_ptr, size_t bytes,
                          uint64_t *dma_addr);
    void (*dma_unmap)(struct leo_transport *transport, uint64_t dma_addr);
    /** Host address behind [addr, addr + bytes) of device memory, for another device's dma_map;
     * NULL: there is none. May itself be NULL. */
    void *(*window)(struct leo_transport *transport, uint64_t addr, uint64_t bytes);
    /** Keeps device memory in whole pages of the host at `host`, which move away from there;
     * `keep`: they take over the contents. May itself be NULL. */
    leo_status (*adopt)(struct leo_transport *transport, uint64_t addr, uint64_t bytes, void *host,
                        bool keep);
    /** A name for later tasks with this tag, for records of the device's. May itself be NULL. */
    void (*name_tag)(struct leo_transport *transport, uint32_t tag, const char *name);
    /** What other cards were part of, for records of the device's. May itself be NULL. */
    void (*note_link)(struct leo_transport *transport, const struct leo_link_note *note);
    /** Lets the device compute ahead of time for so long; statuses as leo_sim_chip_run_ahead has
     * them. May itself be NULL. */
    leo_status (*run_ahead)(struct leo_transport *transport, uint64_t timeout_ns);
    /** Whether code of an image waits for memory in loops, as leo_sim_image_polls. May itself be
     * NULL, and then so is the next. */
    bool (*image_polls)(struct leo_transport *transport, const struct leo_image_desc *desc,
                        const void *image);
    /** Nothing stored must be seen before its time from now on, as leo_sim_chip_watch. */
    void (*watch)(struct leo_transport *transport);
    /**
     * Waits until an unmasked interrupt is pending or `timeout_ns` of wall time have passed
     * (LEO_ERR_TIMEOUT). LEO_ERR_NOT_READY: the device is idle and no interrupt can come.
     */
    leo_status (*irq_wait)(struct leo_transport *transport, uint64_t timeout_ns);
    /** The same, and LEO_ERR_NOT_READY too when a kernel has run for `kernel_ns` of the device's
     * time. May itself be NULL: then it is as irq_wait. */
    leo_status (*irq_wait_within)(struct leo_transport *transport, uint64_t timeout_ns,
                                  uint64_t kernel_ns);
};

/** Base of every transport: concrete ones put it first in their own struct. */
struct leo_transport {
    const struct leo_transport_ops *ops;
};

#ifdef __cplusplus
}
#endif
