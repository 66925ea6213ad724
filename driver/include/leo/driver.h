/* SPDX-License-Identifier: Apache-2.0 */
/* The user-space driver: one device, its queues, its memory. Knows registers and rings, not what is
 * behind them. */
#pragma once

#include <leo/caps.h>
#include <leo/faults.h>
#include <leo/isa_enums.h>
#include <leo/layout.h>
#include <leo/link_note.h>
#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct leo_debugger;
struct leo_transport;
struct leo_drv_device;
struct leo_drv_queue;

/** Addresses a simulated device has unless the process's address space is limited: 1 TiB, far more
 * than memory, so that they can be reserved ahead of it. */
#define LEO_DRV_GM_BYTES UINT64_C(0x10000000000)

/** Most findings of the checker that are reported of one task. */
#define LEO_DRV_CHECKS 16

/** How a submitted entry ended. */
struct leo_drv_completion {
    uint16_t status; /**< enum leo_fault, 0 = good. */
    uint64_t start_ns, end_ns;
    bool has_record;
    struct leo_fault_record record;
    unsigned checks; /**< findings of the checker; then `record` is not set */
    struct leo_check_record check[LEO_DRV_CHECKS];
};

/** Called for every completed entry of a queue, in order, on the thread that polls or waits, with
 * the device's lock held: it must not call the driver. */
typedef void (*leo_drv_complete_fn)(void *user, uint32_t cmd_id,
                                    const struct leo_drv_completion *done);

/** Opens the simulator inside this process (transport_sim.c). Options as in leo_sim_opts. */
struct leo_drv_sim_opts {
    size_t size;
    const char *soc_text, *soc_text_name;
    unsigned host_threads;
    const char *simd;
    /** Number of the device: its addresses are those of place `index` among the process's chips if
     * that is free, else of the next free place. */
    unsigned index;
    unsigned check;                      /**< enum leo_drv_check bits */
    const char *tape;                    /**< file that records what the chip does; NULL = none */
    bool no_values;                      /**< units compute nothing */
    const struct leo_debugger *debugger; /**< leo/debug.h; NULL = none */
};

/** What kernels are checked for (docs/hw/check.md). */
enum leo_drv_check {
    LEO_DRV_CHECK_HAZARD = 1,
    LEO_DRV_CHECK_INIT = 2,
    LEO_DRV_CHECK_RACE = 4,
    LEO_DRV_CHECK_BOUNDS = 8,
    LEO_DRV_CHECK_POISON = 16, /**< what was not written reads as NaN */
    LEO_DRV_CHECK_ALL = 15
};
leo_status leo_drv_transport_sim_open(const struct leo_drv_sim_opts *opts,
                                      struct leo_transport **transport, char *error,
                                      size_t error_bytes);
/** A device that answers registers from a table and completes nothing unless told to: for tests
 * (transport_null.c). */
struct leo_drv_null_opts {
    size_t size;
    int fail_after; /**< The n-th call of any function from now fails (1 = the next), 0 = never. */
    bool complete;  /**< Work completes when it is submitted, not only admin commands. */
    bool no_map;    /**< dma_map is not supported. */
};
leo_status leo_drv_transport_null_open(const struct leo_drv_null_opts *opts,
                                       struct leo_transport **transport);
void leo_drv_transport_null_fail_after(struct leo_transport *transport, int calls);
/** Completes the next `count` entries of a queue (numbers from 1 as created) with a fault code, 0 =
 * good. Returns how many there were. */
unsigned leo_drv_transport_null_complete(struct leo_transport *transport, unsigned queue,
                                         unsigned count, uint16_t fault);

/** Takes over the transport (closed by destroy, and on failure). Enables the device and its admin
 * queue. */
leo_status leo_drv_device_create(struct leo_transport *transport, struct leo_drv_device **device);
void leo_drv_device_destroy(struct leo_drv_device *device);
void leo_drv_device_get_caps(const struct leo_drv_device *device, struct leo_caps *caps);
/** Resets a wedged function: all queues and device memory are gone, handles stay to be destroyed.
 */
leo_status leo_drv_device_reset(struct leo_drv_device *device);
/** Whether only a reset helps it: an admin command never came back, or it says so itself. */
bool leo_drv_device_is_dead(struct leo_drv_device *device);
/** Queues in use, the driver's own among them. */
uint32_t leo_drv_device_queues(struct leo_drv_device *device);
leo_status leo_drv_device_sim_time(struct leo_drv_device *device, uint64_t *ns);

/** Device memory. Addresses are 512-byte aligned; the mapping is exactly `bytes` long. */
leo_status leo_drv_memory_alloc(struct leo_drv_device *device, uint64_t bytes, bool read_only,
                                uint64_t *addr);
leo_status leo_drv_memory_free(struct leo_drv_device *device, uint64_t addr);
void leo_drv_memory_info(struct leo_drv_device *device, uint64_t *free_bytes,
                         uint64_t *total_bytes);
/** Finds the allocation that holds `addr` (LEO_ERR_BAD_POINTER if none). */
leo_status leo_drv_memory_find(struct leo_drv_device *device, uint64_t addr, uint64_t *base,
                               uint64_t *bytes);

/** Reads an on-chip buffer of a core as its last block left it: for debuggers, while no kernel
 * runs. */
leo_status leo_drv_local_read(struct leo_drv_device *device, unsigned core,
                              enum leo_mem_space space, uint64_t offset, void *out, size_t bytes);
/** How many bytes of a range have not been written since they were allocated; `known` 0: the chip
 * does not keep track (LEO_CHECK without init). */
leo_status leo_drv_memory_unwritten(struct leo_drv_device *device, uint64_t addr, uint64_t bytes,
                                    struct leo_unwritten *found);
/* Addresses apart from memory, in granules of 2 MiB: a range is reserved, memory is taken, and
 * mapped into parts of the range, where neighbouring parts are one. An unmapped part has lost its
 * contents. LEO_ERR_BAD_POINTER: not such a range; LEO_ERR_STATE: parts of it are mapped. */
leo_status leo_drv_addresses_reserve(struct leo_drv_device *device, uint64_t bytes, uint64_t *addr);
leo_status leo_drv_addresses_release(struct leo_drv_device *device, uint64_t addr);
/** Bytes of the range that begins at `addr`. */
leo_status leo_drv_addresses_size(struct leo_drv_device *device, uint64_t addr, uint64_t *bytes);
leo_status leo_drv_physical_take(struct leo_drv_device *device, uint64_t bytes);
void leo_drv_physical_give(struct leo_drv_device *device, uint64_t bytes);
leo_status leo_drv_addresses_map(struct leo_drv_device *device, uint64_t addr, uint64_t bytes);
leo_status leo_drv_addresses_unmap(struct leo_drv_device *device, uint64_t addr, uint64_t bytes);

/** Addresses for pages of the host mapped at `host`, which move away from there: memory that is
 * another process's too, and not this device's. */
leo_status leo_drv_memory_attach(struct leo_drv_device *device, uint64_t bytes, void *host,
                                 uint64_t *addr);
leo_status leo_drv_memory_detach(struct leo_drv_device *device, uint64_t addr);

/** The allocation nearest to an address that may lie in none (LEO_ERR_NOT_FOUND: there is no
 * allocation). */
leo_status leo_drv_memory_nearest(struct leo_drv_device *device, uint64_t addr, uint64_t *base,
                                  uint64_t *bytes);

/** Host memory the device can reach for as long as it stays allocated / mapped. */
leo_status leo_drv_dma_alloc(struct leo_drv_device *device, size_t bytes, void **host_ptr,
                             uint64_t *dma_addr);
void leo_drv_dma_free(struct leo_drv_device *device, void *host_ptr, uint64_t dma_addr);
/** Host address behind device memory, for leo_drv_dma_map on another device; NULL: there is none.
 */
void *leo_drv_memory_window(struct leo_drv_device *device, uint64_t addr, uint64_t bytes);
/** Keeps device memory, whole pages of the host, in pages mapped at `host`, which move away from
 * there, for as long as the allocation lasts; `keep`: they take over the contents. */
leo_status leo_drv_memory_adopt(struct leo_drv_device *device, uint64_t addr, uint64_t bytes,
                                void *host, bool keep);
/** A name for later tasks whose entries have this tag, for a record of the device's. */
void leo_drv_name_tag(struct leo_drv_device *device, uint32_t tag, const char *name);
/** What the host did with other cards, for the same record: before its second event is recorded. */
void leo_drv_note_link(struct leo_drv_device *device, const struct leo_link_note *note);
leo_status leo_drv_dma_map(struct leo_drv_device *device, void *host_ptr, size_t bytes,
                           uint64_t *dma_addr);
void leo_drv_dma_unmap(struct leo_drv_device *device, uint64_t dma_addr);

enum { LEO_DRV_PRIORITY_LEAST = LEO_PRIORITY_LEAST };
/** `priority`: kernels of queues with a smaller number get free cores first; 0 to
 * LEO_DRV_PRIORITY_LEAST. */
leo_status leo_drv_queue_create(struct leo_drv_device *device, uint32_t depth, uint8_t priority,
                                leo_drv_complete_fn complete, void *user,
                                struct leo_drv_queue **queue);
/** Entries not yet complete are abandoned without callback. */
void leo_drv_queue_destroy(struct leo_drv_queue *queue);
/** Writes an entry (cmd_id is filled in and returned) and rings. LEO_ERR_FULL: poll or wait, then
 * again. */
leo_status leo_drv_queue_submit(struct leo_drv_queue *queue, struct leo_sqe *entry,
                                uint32_t *cmd_id);
/** Takes completions that are there. `count` (may be NULL) receives how many. */
leo_status leo_drv_queue_poll(struct leo_drv_queue *queue, unsigned *count);
/** Interrupts taken so far. Read it before looking at the rings, and hand it to
 * leo_drv_device_wait. */
uint64_t leo_drv_device_interrupts(const struct leo_drv_device *device);
/** Waits for an interrupt after the first `seen` and takes nothing; statuses as leo_drv_queue_wait,
 * and LEO_ERR_BUSY: not in that time, because cores poll memory that only the host could change.
 * UINT64_MAX: these end in a deadlock after a tenth of a second without anything else to do.
 * For callers that poll several queues, from several threads. */
leo_status leo_drv_device_wait(struct leo_drv_device *device, uint64_t seen, uint64_t timeout_ns);
/** The same, and LEO_ERR_NOT_READY too when a kernel has run for `kernel_ns` of the device's time.
 */
leo_status leo_drv_device_wait_within(struct leo_drv_device *device, uint64_t seen,
                                      uint64_t timeout_ns, uint64_t kernel_ns);
/** Lets the device compute what is submitted before its time, for about `timeout_ns` of wall time:
 * LEO_OK: all values are there; LEO_ERR_NOT_READY: the rest must wait for its time;
 * LEO_ERR_TIMEOUT: there is more to do; LEO_ERR_BUSY: another thread moves the device;
 * LEO_ERR_UNSUPPORTED: it does not do such things. No time
 * shows it. */
leo_status leo_drv_device_run_ahead(struct leo_drv_device *device, uint64_t timeout_ns);
/** Whether the code of an image, whose bytes these are, waits for memory in loops. */
bool leo_drv_image_polls(struct leo_drv_device *device, const struct leo_image_desc *desc,
                         const void *image);
/** Tasks may wait for what others store: the device lets none see a store before its time from now
 * on, and computes nothing early. */
void leo_drv_device_watch(struct leo_drv_device *device);
/** Waits until some queue of the device has completions, takes those of this queue. LEO_ERR_TIMEOUT
 * after `timeout_ns` of wall time; LEO_ERR_NOT_READY if the device is idle and none can come. */
leo_status leo_drv_queue_wait(struct leo_drv_queue *queue, uint64_t timeout_ns);

/** Profiles: rings of task and trace records the device fills (0 records = off). Off frees them. */
leo_status leo_drv_profile_start(struct leo_drv_device *device, uint32_t tasks, uint32_t traces);
leo_status leo_drv_profile_stop(struct leo_drv_device *device);
/** What has been recorded; pointers stay valid until stop. Counts may exceed the rings: later ones
 * are lost. */
leo_status leo_drv_profile_get(struct leo_drv_device *device, const struct leo_task_record **tasks,
                               uint64_t *task_count, const struct leo_trace_record **traces,
                               uint64_t *trace_count);

#ifdef __cplusplus
}
#endif
