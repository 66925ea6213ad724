/* SPDX-License-Identifier: Apache-2.0 */
/* A notify is a word of device memory that streams write and wait for. */
#include "notify.h"

#include "code.h"
#include "context.h"
#include "memory.h"

enum { WORD_BYTES = 8 };

leo_status front_notify_create(void **handle)
{
    FRONT_PINNED struct front_context *context = NULL;
    leo_status status = front_context_current(&context);
    if (status != LEO_OK) {
        return status;
    }
    struct front_notify *made = front_make(sizeof(*made));
    if (!made) {
        return LEO_ERR_NO_MEMORY;
    }
    status = front_memory_alloc(WORD_BYTES, 0, &made->word);
    if (status != LEO_OK) {
        front_handle_drop(&front_process()->handles, &made->handle);
        return status;
    }
    status = front_notify_reset(made);
    if (status != LEO_OK) {
        (void)front_memory_free(made->word);
        front_handle_drop(&front_process()->handles, &made->handle);
        return status;
    }
    made->id = atomic_fetch_add(&front_process()->next_notify_id, 1);
    front_publish(made, FRONT_KIND_NOTIFY, &context->slot->notifies);
    *handle = made;
    return LEO_OK;
}

void front_notify_end(struct front_notify *notify)
{
    front_free(notify);
}

leo_status front_notify_get(const void *handle, struct front_notify **notify)
{
    *notify = front_find(handle, FRONT_KIND_NOTIFY);
    return *notify  ? LEO_OK
           : handle ? leo_rt_fail(FRONT_BAD_HANDLE, "%p is no live notify", handle)
                    : leo_rt_fail(FRONT_BAD_ARGUMENT, "the notify is NULL");
}

leo_status front_notify_destroy(const void *handle)
{
    struct front_notify *found;
    leo_status status = front_notify_get(handle, &found);
    if (status != LEO_OK) {
        return status;
    }
    if (!front_claim(found)) {
        return leo_rt_fail(FRONT_BAD_HANDLE, "%p is no live notify", handle);
    }
    status = front_memory_free(found->word);
    front_notify_end(found);
    return status;
}

leo_status front_notify_record(const struct front_notify *notify, const void *stream)
{
    return front_value_write(notify->word, 1, stream);
}

leo_status front_notify_wait(const struct front_notify *notify, const void *stream)
{
    leo_status status = front_value_wait(notify->word, 1, LEO_VALUE_COMPARE_EQUAL, stream);
    return status != LEO_OK ? status : front_value_write(notify->word, 0, stream);
}

leo_status front_notify_reset(const struct front_notify *notify)
{
    const uint64_t nothing = 0;
    const struct front_copy copy = {.dst = notify->word,
                                    .src = &nothing,
                                    .bytes = WORD_BYTES,
                                    .room = WORD_BYTES,
                                    .to = FRONT_SIDE_DEVICE,
                                    .from = FRONT_SIDE_ANY};
    return front_copy(&copy);
}
