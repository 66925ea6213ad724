/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives: alone, or gathered between two calls. */
#include "communicator_internal.h"

#include <leo/alloc.h>

/* One message and where it goes. */
struct member {
    struct comm *comm;
    struct leo_rt_stream *stream;
    struct comm_message given;
    struct coll_message message; /* not of one to the rank itself */
    bool taken;
};

// The APIs have no handle for what is gathered: it is the calling thread's (decision 8).
static _Thread_local struct {
    unsigned depth;
    leo_status status; /* of the first message that could not be taken */
    struct member *members;
    size_t count, capacity;
} gathered;

static leo_status check_message(const struct comm *comm, const struct comm_message *given)
{
    const unsigned unit = given->type.bytes;
    if (given->peer >= comm->ranks || (given->peer == comm->rank && !given->may_be_own)) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "peer %u, and this is rank %u of %u", given->peer,
                           comm->rank, comm->ranks);
    }
    if (unit == 0) {
        return leo_rt_fail(LEO_ERR_UNSUPPORTED, "data type %d", given->type.number);
    }
    return given->count <= SIZE_MAX / unit
               ? LEO_OK
               : leo_rt_fail(LEO_ERR_INVALID_ARG, "count %llu", (unsigned long long)given->count);
}

static leo_status make_member(struct comm *comm, const struct comm_message *given,
                              const void *stream, struct member *member)
{
    leo_status status = check_message(comm, given);
    *member = (struct member){.comm = comm, .given = *given};
    if (status == LEO_OK) {
        status = comm_stream(stream, &member->stream);
    }
    if (status != LEO_OK || given->peer == comm->rank) {
        return status;
    }
    // Types that are only carried go as bytes.
    const enum coll_type type = given->type.computes ? given->type.type : COLL_U8;
    const uint64_t bytes = given->count * given->type.bytes;
    member->message = (struct coll_message){given->is_send, given->peer, type,
                                            bytes / coll_type_bytes(type), NULL};
    return comm_buffer(comm, "buf", given->buf, bytes, &member->message.data);
}

// One job of messages; takes them.
static leo_status submit(const char *func, struct comm *comm, struct coll_message *messages,
                         unsigned count, struct leo_rt_stream *stream)
{
    struct comm_job *job = comm_job_make(func, comm);
    if (!job) {
        leo_free(messages);
        return LEO_ERR_NO_MEMORY;
    }
    job->messages = messages;
    job->op =
        (struct coll_op){.kind = COLL_POINT_TO_POINT, .messages = messages, .message_count = count};
    for (unsigned i = 0; i < count; i++) {
        const uint64_t bytes = messages[i].count * coll_type_bytes(messages[i].type);
        job->bytes = bytes > job->bytes ? bytes : job->bytes;
    }
    return comm_job_submit(job, stream);
}

static leo_status gather(const struct comm_message *given, struct comm *comm, const void *stream)
{
    if (gathered.count == gathered.capacity) {
        size_t capacity = gathered.capacity ? 2 * gathered.capacity : 16;
        struct member *members = leo_realloc(gathered.members, capacity * sizeof(*members));
        if (!members) {
            return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
        }
        gathered.members = members;
        gathered.capacity = capacity;
    }
    struct member *member = &gathered.members[gathered.count];
    leo_status status = make_member(comm, given, stream, member);
    gathered.count += status == LEO_OK;
    return status;
}

static bool is_alike(const struct member *one, const struct member *other)
{
    return one->comm == other->comm && one->stream == other->stream;
}

// The next message of a rank with itself, from `*at` on; NULL: no more.
static const struct comm_message *next_own(const struct member *like, bool is_send, size_t *at)
{
    while (*at < gathered.count) {
        const struct member *member = &gathered.members[(*at)++];
        if (is_alike(member, like) && member->given.peer == like->comm->rank &&
            member->given.is_send == is_send) {
            return &member->given;
        }
    }
    return NULL;
}

// Copies what a rank sends to itself to where it receives it, pair by pair.
static leo_status copy_own(const struct member *like, size_t first)
{
    size_t sends = first, receives = first;
    for (;;) {
        const struct comm_message *send = next_own(like, true, &sends);
        const struct comm_message *recv = next_own(like, false, &receives);
        if (!send && !recv) {
            return LEO_OK;
        }
        if (!send || !recv || send->count != recv->count ||
            send->type.number != recv->type.number) {
            return leo_rt_fail(LEO_ERR_INVALID_ARG,
                               "rank %u: what it sends to itself is not what it receives",
                               like->comm->rank);
        }
        leo_status status =
            comm_copy(recv->buf, send->buf, send->count * send->type.bytes, like->stream);
        if (status != LEO_OK) {
            return status;
        }
    }
}

// All that is gathered of one communicator and stream, from `first` on, as one job.
static leo_status submit_alike(const char *func, size_t first)
{
    struct member *like = &gathered.members[first];
    unsigned count = 0;
    // A communicator that ended meanwhile is not touched.
    leo_status status = comm_check(like->comm);
    if (status == LEO_OK) {
        status = copy_own(like, first);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct coll_message *messages = leo_alloc((gathered.count - first) * sizeof(*messages));
    if (!messages) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    for (size_t i = first; i < gathered.count; i++) {
        struct member *member = &gathered.members[i];
        if (!member->taken && is_alike(member, like)) {
            member->taken = true;
            if (member->given.peer != like->comm->rank) {
                messages[count++] = member->message;
            }
        }
    }
    if (count == 0) {
        leo_free(messages);
        return LEO_OK;
    }
    return submit(func, like->comm, messages, count, like->stream);
}

void comm_gather_begin(void)
{
    gathered.depth++;
}

leo_status comm_message(const char *func, const struct comm_message *message, const void *handle,
                        const void *stream)
{
    comm_gather_begin();
    struct comm *comm = comm_find(handle);
    leo_status status = comm ? gather(message, comm, stream) : COMM_BAD_POINTER;
    gathered.status = gathered.status == LEO_OK ? status : gathered.status;
    leo_status ended = comm_gather_end(func);
    return status != LEO_OK ? status : ended;
}

leo_status comm_gather_end(const char *func)
{
    if (gathered.depth == 0) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "nothing was begun");
    }
    if (--gathered.depth > 0) {
        return LEO_OK;
    }
    leo_status status = gathered.status;
    for (size_t i = 0; i < gathered.count && status == LEO_OK; i++) {
        status = gathered.members[i].taken ? LEO_OK : submit_alike(func, i);
    }
    leo_free(gathered.members);
    gathered.members = NULL;
    gathered.count = gathered.capacity = 0;
    gathered.status = LEO_OK;
    return status;
}
