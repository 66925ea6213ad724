/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the driver share about one device. */
#pragma once

#include "heap.h"
#include "mmio.h"
#include "ring.h"
#include "virtual.h"
#include <leo/driver.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    DRV_ADMIN_DEPTH = 64,
    DRV_FAULT_DEPTH = 64,
    DRV_QUEUE_MAX = 4096,
    DRV_WAIT_TURN_NS = 10000000,
    DRV_PATIENCE = 64, /**< looks at a register that is to change */
    DRV_SPACE = 1,     /**< address space of all work of this process */
};

struct leo_drv_queue {
    struct leo_drv_device *device;
    struct drv_ring ring;
    void *memory; /**< both rings */
    uint64_t memory_addr;
    uint32_t head_told; /**< completion head the device knows */
    uint16_t number;
    uint8_t priority;
    bool lost; /**< a reset took it */
    leo_drv_complete_fn complete;
    void *user;
    struct leo_drv_queue *next; /**< next work queue of the device */
};

/** Rings of profile records. */
struct drv_profile {
    void *memory; /**< counts, then task records, then trace records; NULL = off */
    uint64_t memory_addr;
    uint32_t tasks, traces;
};

struct leo_drv_device {
    struct drv_mmio mmio;
    struct leo_caps caps;
    /** Held over an admin command from its submission to its end, and over changes to `profile`.
     * Taken before lock. */
    pthread_mutex_t admin_lock;
    /** Protects rings, the list and numbers of queues, the heap, cmd_id and `dead`. Not held while
     * waiting. */
    pthread_mutex_t lock;
    pthread_mutex_t wait_lock;   /**< Held by the thread that waits for an interrupt. Taken last. */
    _Atomic uint64_t interrupts; /**< taken so far; grows under wait_lock */
    struct leo_drv_queue admin;
    struct leo_drv_completion admin_done;
    uint32_t admin_cmd; /**< command that is under way */
    bool admin_is_done;
    bool dead; /**< an admin command never came back: only reset and destroy help */
    struct leo_fault_record *faults;
    uint64_t faults_addr;
    struct leo_drv_queue *queues;
    uint8_t *queue_used; /**< by queue number */
    uint32_t next_cmd;
    struct drv_heap heap;
    struct drv_virtual virtual;
    struct drv_profile profile;
};

/** Reads and checks the registers that say what the device is (caps.c). */
LEO_MUST_CHECK leo_status drv_caps_read(const struct drv_mmio *mmio, struct leo_caps *caps);
/** Programs the admin rings and enables the device (device.c). Queue state starts anew. */
LEO_MUST_CHECK leo_status drv_device_enable(struct leo_drv_device *device);
/** Lets a device that is slow to obey its control register go on a little (device.c). */
void drv_device_nudge(struct leo_drv_device *device);
/** Runs one admin command to its end (queue.c). Caller holds admin_lock. LEO_ERR_IO: the device
 * refused it. */
LEO_MUST_CHECK leo_status drv_admin_run(struct leo_drv_device *device, struct leo_sqe *entry);
/** Takes completions of one queue (queue.c). Caller holds lock. */
unsigned drv_queue_take(struct leo_drv_queue *queue);
/** The admin queue's callback: notes the end of the command under way. */
void drv_admin_complete(void *user, uint32_t cmd_id, const struct leo_drv_completion *done);
/** Frees profile memory without telling the device (profile.c). */
void drv_profile_drop(struct leo_drv_device *device);
