/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps of a program: marks, and ranges within a thread or across threads, in the timeline. */
#include "prof.h"

#include "acl/acl_internal.h"

#include <acl/rt_api.h>
#include <leo/alloc.h>
#include <string.h>

enum { MESSAGE_BYTES = 128, NESTED = 64, RANGES = 256 };

struct stamp {
    char message[MESSAGE_BYTES];
};

/** A range that has begun. */
struct range {
    char message[MESSAGE_BYTES];
    uint64_t begin_ns;
    uint32_t id; /**< 0: free */
};

static _Thread_local struct {
    struct range range[NESTED];
    unsigned depth;
} pushed;

static struct {
    pthread_mutex_t lock; /**< protects the rest */
    struct range range[RANGES];
    uint32_t next_id;
} the_ranges = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void begin(struct range *range, const struct stamp *stamp)
{
    memcpy(range->message, stamp->message, sizeof(range->message));
    range->begin_ns = leo_rt_profile_clock_ns();
}

void *aclprofCreateStamp(void)
{
    return leo_calloc(1, sizeof(struct stamp));
}

void aclprofDestroyStamp(void *stamp)
{
    leo_free(stamp);
}

aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen)
{
    struct stamp *set = stamp;
    if (!stamp || !msg || msgLen == 0 || msgLen >= MESSAGE_BYTES) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__,
                        "stamp or msg is NULL, or the length %u is not 1 to %d", msgLen,
                        MESSAGE_BYTES - 1);
    }
    memcpy(set->message, msg, msgLen);
    set->message[msgLen] = '\0';
    return ACL_SUCCESS;
}

aclError aclprofMark(void *stamp)
{
    return stamp ? aclprofMarkEx(((struct stamp *)stamp)->message,
                                 strlen(((struct stamp *)stamp)->message), NULL)
                 : acl_null(__func__, "stamp");
}

aclError aclprofPush(void *stamp)
{
    if (!stamp) {
        return acl_null(__func__, "stamp");
    }
    if (pushed.depth == NESTED) {
        return acl_fail(ACL_ERROR_FAILURE, __func__, "more than %d ranges are nested", NESTED);
    }
    begin(&pushed.range[pushed.depth++], stamp);
    return ACL_SUCCESS;
}

aclError aclprofPop(void)
{
    if (pushed.depth == 0) {
        return acl_fail(ACL_ERROR_FAILURE, __func__, "no range of this thread has begun");
    }
    const struct range *range = &pushed.range[--pushed.depth];
    prof_note(range->message, range->begin_ns);
    return ACL_SUCCESS;
}

static struct range *find_range(uint32_t id)
{
    for (int i = 0; i < RANGES; i++) {
        if (the_ranges.range[i].id == id) {
            return &the_ranges.range[i];
        }
    }
    return NULL;
}

aclError aclprofRangeStart(void *stamp, uint32_t *rangeId)
{
    if (!stamp || !rangeId) {
        return acl_null(__func__, stamp ? "rangeId" : "stamp");
    }
    pthread_mutex_lock(&the_ranges.lock);
    struct range *range = find_range(0);
    if (range) {
        begin(range, stamp);
        the_ranges.next_id += the_ranges.next_id == UINT32_MAX ? 2 : 1; // 0 is none
        *rangeId = range->id = the_ranges.next_id;
    }
    pthread_mutex_unlock(&the_ranges.lock);
    return range ? ACL_SUCCESS
                 : acl_fail(ACL_ERROR_FAILURE, __func__, "more than %d ranges are open", RANGES);
}

aclError aclprofRangeStop(uint32_t rangeId)
{
    struct range stopped;
    pthread_mutex_lock(&the_ranges.lock);
    struct range *range = rangeId ? find_range(rangeId) : NULL;
    if (range) {
        stopped = *range;
        range->id = 0;
    }
    pthread_mutex_unlock(&the_ranges.lock);
    if (!range) {
        return acl_fail(ACL_ERROR_INVALID_PARAM, __func__, "no range %u has begun", rangeId);
    }
    prof_note(stopped.message, stopped.begin_ns);
    return ACL_SUCCESS;
}

uint64_t aclprofStr2Id(const char *message)
{
    return message ? MsprofGetHashId(message, strlen(message)) : 0;
}
