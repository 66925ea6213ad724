/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_pool.h"

#include "../context/context.h"
#include "../process/code.h"
#include "memory_owner.h"

#include <leo/alloc.h>

enum { BLOCK_ALIGN = 512 };

struct block {
    struct api_range range;        /**< first; in the process's table while it is handed out */
    struct block *previous, *next; /**< in one of the pool's lists */
    struct api_pool *pool;
    const void *stream; /**< that gave it back */
    uint64_t stream_serial;
    struct leo_rt_event *given; /**< reached: any stream may have it */
};

struct api_pool {
    struct api_handle handle;
    struct leo_rt_device *device;
    pthread_mutex_t lock;       /**< protects the rest */
    struct block *free, *taken; /**< lists */
    uint64_t most, number[API_POOL_USED_HIGH + 1];
};

static void push(struct block **list, struct block *block)
{
    block->previous = NULL;
    block->next = *list;
    if (block->next) {
        block->next->previous = block;
    }
    *list = block;
}

static void take_out(struct block **list, struct block *block)
{
    if (block->next) {
        block->next->previous = block->previous;
    }
    if (block->previous) {
        block->previous->next = block->next;
    } else {
        *list = block->next;
    }
}

static void end_block(struct block *block)
{
    leo_rt_event_destroy(block->given);
    leo_free(block);
}

static void count(struct api_pool *pool, enum api_pool_number number, int64_t change)
{
    uint64_t *now = &pool->number[number], *high = now + 1;
    *now += (uint64_t)change;
    *high = *now > *high ? *now : *high;
}

static bool is_given(const struct block *block)
{
    return leo_rt_event_query(block->given) == LEO_OK;
}

// Gives free memory to the device until `keep` bytes are left. Caller holds the pool's lock.
static leo_status trim(struct api_pool *pool, uint64_t keep)
{
    leo_status status = LEO_OK;
    struct block *next;
    for (struct block *block = pool->free; block && pool->number[API_POOL_RESERVED] > keep;
         block = next) {
        next = block->next;
        if (is_given(block)) {
            leo_status freed = leo_rt_memory_free(pool->device, block->range.base);
            status = leo_status_first(status, freed);
            count(pool, API_POOL_RESERVED, -(int64_t)block->range.bytes);
            take_out(&pool->free, block);
            end_block(block);
        }
    }
    return status;
}

static void end_blocks(struct block **list)
{
    while (*list) {
        struct block *block = *list;
        take_out(list, block);
        end_block(block);
    }
}

static void end_pool(void *object)
{
    struct api_pool *pool = object;
    for (struct block *block = pool->taken; block; block = block->next) {
        (void)api_ranges_take(&api_process()->pool_blocks, block->range.base);
    }
    end_blocks(&pool->taken);
    end_blocks(&pool->free);
    pthread_mutex_destroy(&pool->lock);
    api_free(pool);
}

leo_status api_pool_create(uint64_t most_bytes, void **handle)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    struct api_pool *made = status == LEO_OK ? api_make(sizeof(*made)) : NULL;
    if (!made) {
        return status != LEO_OK ? status : LEO_ERR_NO_MEMORY;
    }
    pthread_mutex_init(&made->lock, NULL);
    made->device = context->rt;
    made->most = most_bytes;
    api_publish(made, API_KIND_POOL, &context->slot->pools, end_pool);
    *handle = made;
    return LEO_OK;
}

leo_status api_pool_default(void **handle)
{
    API_PINNED struct api_context *context = NULL;
    leo_status status = api_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    _Atomic(void *) *pool = &context->slot->default_pool;
    *handle = atomic_load(pool);
    void *made = NULL, *none = NULL;
    if (!*handle) {
        status = api_pool_create(0, &made);
    }
    if (made && !atomic_compare_exchange_strong(pool, &none, made)) {
        status = api_pool_destroy(made); // another thread was first
        made = none;
    }
    *handle = made ? made : *handle;
    return status;
}

static leo_status find(const void *handle, struct api_pool **pool)
{
    *pool = api_find(handle, API_KIND_POOL);
    return *pool ? LEO_OK : leo_rt_fail(API_BAD_ARGUMENT, "%p is no live pool of memory", handle);
}

leo_status api_pool_destroy(const void *handle)
{
    struct api_pool *pool;
    leo_status status = find(handle, &pool);
    if (status != LEO_OK) {
        return status;
    }
    pthread_mutex_lock(&pool->lock);
    if (pool->taken) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG,
                             "%llu bytes of the pool are in use: free its blocks first",
                             (unsigned long long)pool->number[API_POOL_USED]);
    }
    for (struct block *block = pool->free; status == LEO_OK && block; block = block->next) {
        status = leo_rt_event_synchronize(block->given, -1);
    }
    if (status == LEO_OK) {
        status = trim(pool, 0);
    }
    pthread_mutex_unlock(&pool->lock);
    if (status != LEO_OK) {
        api_unpin(pool);
    } else if (api_claim(pool)) {
        end_pool(pool);
    }
    return status;
}

// The smallest free block that is large enough and that the stream may have. Caller holds the lock.
static struct block *find_free(const struct api_pool *pool, size_t bytes,
                               const struct api_stream *stream)
{
    struct block *best = NULL;
    for (struct block *block = pool->free; block; block = block->next) {
        const bool own = block->stream == stream && block->stream_serial == stream->handle.serial;
        // Twice as much would be waste that no query shows.
        if (block->range.bytes >= bytes && block->range.bytes / 2 <= bytes &&
            (!best || block->range.bytes < best->range.bytes) && (own || is_given(block))) {
            best = block;
        }
    }
    return best;
}

// A new one. Caller holds the pool's lock.
static leo_status make_block(struct api_pool *pool, size_t bytes, struct block **out)
{
    uint64_t addr;
    if (pool->most && bytes > pool->most - pool->number[API_POOL_RESERVED]) {
        return leo_rt_fail(LEO_ERR_NO_DEVICE_MEMORY,
                           "%zu bytes are more than the pool has left: %llu of %llu are taken",
                           bytes, (unsigned long long)pool->number[API_POOL_RESERVED],
                           (unsigned long long)pool->most);
    }
    struct block *block = leo_calloc(1, sizeof(*block));
    leo_status status =
        block ? leo_rt_event_create(pool->device, &block->given) : LEO_ERR_NO_MEMORY;
    if (status == LEO_OK) {
        status = leo_rt_memory_alloc(pool->device, bytes, &addr);
    }
    if (status != LEO_OK) {
        if (block) {
            end_block(block);
        }
        return status;
    }
    block->pool = pool;
    block->range = (struct api_range){addr, bytes};
    count(pool, API_POOL_RESERVED, (int64_t)bytes);
    *out = block;
    return LEO_OK;
}

static leo_status take_block(struct api_pool *pool, size_t bytes, const struct api_stream *stream,
                             void **ptr)
{
    leo_status status = LEO_OK;
    struct block *block = find_free(pool, bytes, stream);
    if (block) {
        take_out(&pool->free, block);
    } else {
        status = make_block(pool, bytes, &block);
        if (status == LEO_ERR_NO_DEVICE_MEMORY && trim(pool, 0) == LEO_OK) {
            status = make_block(pool, bytes, &block);
        }
    }
    if (status != LEO_OK) {
        return status;
    }
    if (api_ranges_put(&api_process()->pool_blocks, &block->range) != API_RANGE_PUT) {
        push(&pool->free, block);
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    push(&pool->taken, block);
    count(pool, API_POOL_USED, (int64_t)block->range.bytes);
    *ptr = (void *)block->range.base;
    return LEO_OK;
}

leo_status api_pool_alloc(const void *handle, size_t bytes, const void *stream_handle, void **ptr)
{
    API_PINNED struct api_stream *stream = NULL;
    API_PINNED struct api_pool *pool = NULL;
    leo_status status = find(handle, &pool);
    if (status == LEO_OK) {
        status = api_stream_get(stream_handle, &stream);
    }
    if (status == LEO_OK && stream->context->rt != pool->device) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG, "stream and pool are of two devices");
    }
    if (status == LEO_OK && leo_rt_stream_graph(stream->rt)) {
        status = leo_rt_fail(LEO_ERR_UNSUPPORTED, "memory of pools cannot be captured in a graph");
    }
    if (status != LEO_OK) {
        return status;
    }
    bytes = (bytes + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
    pthread_mutex_lock(&pool->lock);
    status = take_block(pool, bytes, stream, ptr);
    pthread_mutex_unlock(&pool->lock);
    return status;
}

leo_status api_pool_free(void *ptr, const void *stream_handle)
{
    API_PINNED struct api_stream *stream = NULL;
    struct api_ranges *blocks = &api_process()->pool_blocks;
    leo_status status = api_stream_get(stream_handle, &stream);
    if (status != LEO_OK) {
        return status;
    }
    struct block *block = (struct block *)(void *)api_ranges_take(blocks, (uintptr_t)ptr);
    if (!block) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%p is no block of a pool, or was already freed",
                           ptr);
    }
    struct api_pool *pool = block->pool;
    pthread_mutex_lock(&pool->lock);
    status = leo_rt_event_record(block->given, stream->rt);
    if (status != LEO_OK) {
        (void)api_ranges_put(blocks, &block->range);
    } else {
        block->stream = stream;
        block->stream_serial = stream->handle.serial;
        take_out(&pool->taken, block);
        push(&pool->free, block);
        count(pool, API_POOL_USED, -(int64_t)block->range.bytes);
        status = trim(pool, pool->number[API_POOL_THRESHOLD]);
    }
    pthread_mutex_unlock(&pool->lock);
    return status;
}

leo_status api_pool_trim(const void *handle, uint64_t keep_bytes)
{
    API_PINNED struct api_pool *pool = NULL;
    leo_status status = find(handle, &pool);
    if (status == LEO_OK) {
        pthread_mutex_lock(&pool->lock);
        status = trim(pool, keep_bytes);
        pthread_mutex_unlock(&pool->lock);
    }
    return status;
}

leo_status api_pool_get(const void *handle, enum api_pool_number number, uint64_t *value)
{
    API_PINNED struct api_pool *pool = NULL;
    leo_status status = find(handle, &pool);
    if (status == LEO_OK) {
        pthread_mutex_lock(&pool->lock);
        *value = pool->number[number];
        pthread_mutex_unlock(&pool->lock);
    }
    return status;
}

leo_status api_pool_set(const void *handle, enum api_pool_number number, uint64_t value)
{
    API_PINNED struct api_pool *pool = NULL;
    const bool high = number == API_POOL_RESERVED_HIGH || number == API_POOL_USED_HIGH;
    leo_status status = find(handle, &pool);
    if (status == LEO_OK && number != API_POOL_THRESHOLD && (!high || value)) {
        status = leo_rt_fail(LEO_ERR_INVALID_ARG,
                             "of a pool's numbers the threshold can be set, and high marks to 0");
    }
    if (status == LEO_OK) {
        pthread_mutex_lock(&pool->lock);
        pool->number[number] = high ? pool->number[number - 1] : value;
        pthread_mutex_unlock(&pool->lock);
    }
    return status;
}
