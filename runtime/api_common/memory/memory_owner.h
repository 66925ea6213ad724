/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of devices and of the host, and copies between them. */
#pragma once

#include "../process/process.h"
#include "shared.h"

enum { API_GRANULE = 2 << 20 /**< of the driver's mappings */ };

/* memory.c */
/** On the current device, aligned to 32 bytes; `extra` bytes behind are the block's too. */
leo_status api_memory_alloc(size_t bytes, size_t extra, void **ptr);
/** Whichever device's it is. LEO_ERR_INVALID_ARG: no block begins there. */
leo_status api_memory_free(void *ptr);
leo_status api_memory_info(size_t *free_bytes, size_t *total_bytes);
/** The open device whose memory `ptr` is; NULL: host memory. The caller has a context pinned. */
struct leo_rt_device *api_memory_owner(const void *ptr);

enum api_place_kind { API_PLACE_PAGEABLE, API_PLACE_PINNED, API_PLACE_DEVICE };
struct api_pointer {
    enum api_place_kind kind;
    int32_t device;       /**< as the user counts; of host memory: the current one */
    uint64_t base, bytes; /**< the block that holds it; 0 for pageable memory */
};
leo_status api_pointer_get(const void *ptr, struct api_pointer *pointer);
/** LEO_ERR_INVALID_ARG: not in one block of device memory. */
leo_status api_memory_check(const void *ptr, size_t bytes);

/* host_memory.c */
/** Pinned. */
leo_status api_host_alloc(size_t bytes, void **ptr);
leo_status api_host_free(void *ptr);
/** Whether we allocated what holds it; its block. */
bool api_host_block(const void *ptr, uint64_t *base, uint64_t *bytes);
/** The program's own memory. API_REGISTERED, API_NOT_REGISTERED. */
leo_status api_host_register(void *ptr, size_t bytes);
leo_status api_host_unregister(void *ptr);
/** LEO_OK: the device reaches it, at the same address. API_NOT_REGISTERED. */
leo_status api_host_check(const void *ptr);

/* copy.c */
/** Where a face says that a side of a copy lies; ANY: found from the address. */
enum api_side { API_SIDE_UNKNOWN, API_SIDE_ANY, API_SIDE_DEVICE };
struct api_copy {
    void *dst;
    const void *src;
    size_t bytes, room; /**< room at dst; SIZE_MAX: not said */
    enum api_side to, from;
};
/** Done when it returns. Waits for no stream. */
leo_status api_copy(const struct api_copy *copy);
leo_status api_copy_async(const struct api_copy *copy, const void *stream);
/** leo_rt_reduce_async; LEO_ERR_UNSUPPORTED: the generation has no such type. */
leo_status api_reduce_async(void *dst, const void *src, uint64_t bytes, enum leo_atomic kind,
                            enum leo_atomic_type type, const void *stream);
/** Rows: `bytes` of each, `height` of them. */
leo_status api_copy_2d_async(const struct api_copy *copy, size_t dst_pitch, size_t src_pitch,
                             size_t height, const void *stream);
leo_status api_copy_2d(const struct api_copy *copy, size_t dst_pitch, size_t src_pitch,
                       size_t height);
leo_status api_fill_async(void *ptr, size_t room, int value, size_t bytes, const void *stream);
leo_status api_fill(void *ptr, size_t room, int value, size_t bytes);
/** `count` words of 32 bits. */
leo_status api_fill_words_async(void *ptr, uint32_t value, size_t count, const void *stream);
leo_status api_fill_words(void *ptr, uint32_t value, size_t count);
/** 8 bytes of device memory that streams write and wait for. */
leo_status api_value_write(void *ptr, uint64_t value, const void *stream);
leo_status api_value_wait(void *ptr, uint64_t value, enum leo_value_compare compare,
                          const void *stream);

/* virtual_memory.c: addresses reserved apart from the memory behind them */
leo_status api_addresses_reserve(size_t bytes, void **ptr);
leo_status api_addresses_release(void *ptr);
/** Memory of the current device, a multiple of the granule. */
leo_status api_physical_alloc(int64_t device, size_t bytes, void **handle);
leo_status api_physical_free(const void *handle);
/** The whole of it, one address at a time. */
leo_status api_physical_map(void *ptr, size_t bytes, const void *handle);
leo_status api_physical_unmap(void *ptr);
/** Other processes can import it by the id; lets processes at it; the import, on the current
 * device.
 */
leo_status api_physical_export(const void *handle, bool any_process, api_shared_id *id);
leo_status api_physical_allow(api_shared_id id, const int32_t *pids, size_t count);
leo_status api_physical_import(api_shared_id id, int64_t device, void **handle);
