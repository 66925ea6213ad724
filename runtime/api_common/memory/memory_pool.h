/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of device memory that streams take blocks from and give them back to, in their order. */
#pragma once

#include "../process/process.h"

enum api_pool_number {
    API_POOL_THRESHOLD, /**< bytes kept when blocks come back; what is more goes to the device */
    API_POOL_RESERVED,  /**< bytes taken from the device */
    API_POOL_RESERVED_HIGH,
    API_POOL_USED, /**< bytes in blocks that are handed out */
    API_POOL_USED_HIGH,
};

/** `most_bytes`: 0 = what the device has. Of the current device. */
leo_status api_pool_create(uint64_t most_bytes, void **handle);
/** The current device's own, made when it is first asked for. */
leo_status api_pool_default(void **handle);
/** Blocks handed out stay until they are freed. */
leo_status api_pool_destroy(const void *handle);
/** Usable at once by the stream's later tasks. */
leo_status api_pool_alloc(const void *handle, size_t bytes, const void *stream, void **ptr);
/** After the stream's earlier tasks: for the same stream at once, for others when it got there. */
leo_status api_pool_free(void *ptr, const void *stream);
leo_status api_pool_trim(const void *handle, uint64_t keep_bytes);
leo_status api_pool_get(const void *handle, enum api_pool_number number, uint64_t *value);
/** The threshold; of the high marks: 0 only, which begins them anew. */
leo_status api_pool_set(const void *handle, enum api_pool_number number, uint64_t value);
struct api_pool;
