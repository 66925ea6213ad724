/* SPDX-License-Identifier: Apache-2.0 */
#include "allocator.h"

#include "../context/context.h"
#include "../process/code.h"

#include <string.h>

struct described {
    struct api_handle handle;
    struct api_allocator allocator; /**< under worker_lock */
};

static leo_status get(const void *handle, struct described **out)
{
    *out = api_find(handle, API_KIND_ALLOCATOR);
    return *out ? LEO_OK
                : leo_rt_fail(API_BAD_HANDLE, "%p is no live description of an allocator", handle);
}

leo_status api_allocator_create(void **handle)
{
    struct described *made = api_make(sizeof(*made));
    if (!made) {
        return LEO_ERR_NO_MEMORY;
    }
    *handle = made;
    api_publish(made, API_KIND_ALLOCATOR, &api_process()->allocators, api_free);
    return LEO_OK;
}

leo_status api_allocator_destroy(const void *handle)
{
    struct described *found;
    leo_status status = get(handle, &found);
    if (status == LEO_OK && api_claim(found)) {
        api_free(found);
    }
    return status;
}

leo_status api_allocator_set(const void *handle, size_t member, const void *value)
{
    API_PINNED struct described *found;
    leo_status status = get(handle, &found);
    if (status == LEO_OK) {
        pthread_mutex_lock(&api_process()->worker_lock);
        memcpy((char *)&found->allocator + member, value, sizeof(void *));
        pthread_mutex_unlock(&api_process()->worker_lock);
    }
    return status;
}

leo_status api_allocator_offer(const void *stream, const void *handle)
{
    API_PINNED struct api_stream *to = NULL;
    API_PINNED struct described *found = NULL;
    leo_status status = api_stream_get(stream, &to);
    if (status == LEO_OK) {
        status = get(handle, &found);
    }
    if (status == LEO_OK) {
        pthread_mutex_lock(&api_process()->worker_lock);
        to->allocator = found->allocator;
        to->allocator_handle = found;
        pthread_mutex_unlock(&api_process()->worker_lock);
    }
    return status;
}

leo_status api_allocator_of(const void *stream, void **handle, struct api_allocator *allocator)
{
    API_PINNED struct api_stream *from = NULL;
    leo_status status = api_stream_get(stream, &from);
    if (status != LEO_OK) {
        return status;
    }
    pthread_mutex_lock(&api_process()->worker_lock);
    *handle = from->allocator_handle;
    *allocator = from->allocator;
    pthread_mutex_unlock(&api_process()->worker_lock);
    return *handle ? LEO_OK : leo_rt_fail(API_BAD_HANDLE, "the stream was offered no allocator");
}

leo_status api_allocator_withdraw(const void *stream)
{
    API_PINNED struct api_stream *from = NULL;
    leo_status status = api_stream_get(stream, &from);
    if (status != LEO_OK) {
        return status;
    }
    pthread_mutex_lock(&api_process()->worker_lock);
    const bool had = from->allocator_handle != NULL;
    from->allocator_handle = NULL;
    from->allocator = (struct api_allocator){0};
    pthread_mutex_unlock(&api_process()->worker_lock);
    return had ? LEO_OK : leo_rt_fail(API_BAD_HANDLE, "the stream was offered no allocator");
}
