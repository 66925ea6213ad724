/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that ask for collectives themselves (leo/group_message.h). A thread serves the launches
 * of a communicator one after the other: a stream of its own waits for the word that a kernel
 * writes when it posts or commits, the thread does the exchange with the other ranks, and the
 * kernel's core, which polls, sees the word that says so when the exchange ends in simulated time.
 * A task behind the kernel tells the thread that nothing more will come.
 */
#include "communicator_internal.h"

#include <leo/alloc.h>
#include <leo/exchange.h>
#include <leo/group_message.h>
#include <stdio.h>
#include <string.h>

struct comm_server {
    struct comm *comm;
    struct leo_rt_device *device;
    struct leo_rt_host_worker *closer;
    /** Waits for words and their answers; the end of a wait in vain. */
    struct leo_rt_stream *words, *ends;
    struct leo_rt_event *event; /**< of `words` */
    uint64_t area;
    struct leo_group_area *memory; /**< the same, seen from here */
    uint64_t launch;               /**< the number of the last; under the communicator's lock */
    /* Not a worker of the runtime's: the device stands still for this thread, which must not wait
     * for the device before it has a launch. */
    pthread_t thread;
    bool has_thread, stop;
    pthread_mutex_t lock; /**< protects the list and `stop` */
    pthread_cond_t changed;
    struct launch *first, **last;
};

/** A launch that is served. */
struct launch {
    struct launch *next;
    struct comm_server *server;
    uint64_t number;
    struct leo_rt_event *start; /**< its stream is at the kernel */
    struct leo_rt_promise promise;
    /* Of the server's thread until it is over. */
    unsigned posted;
    bool has_end;      /**< the kernel said that it asks for no more */
    leo_status status; /**< what failed first */
    char text[sizeof(((struct leo_rt_host_result *)NULL)->text)];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    const volatile uint64_t *awaited; /**< the word that `words` waits for */
    bool kernel_is_over, is_stopped, is_over;
};

static void fail(struct launch *launch, leo_status status, const char *text)
{
    if (status != LEO_OK && launch->status == LEO_OK) {
        launch->status = status;
        snprintf(launch->text, sizeof(launch->text), "%s", text);
    }
}

/* ---- a server's life ---- */

static void destroy_server(struct comm_server *server)
{
    if (server->has_thread) {
        pthread_mutex_lock(&server->lock);
        server->stop = true;
        pthread_cond_signal(&server->changed);
        pthread_mutex_unlock(&server->lock);
        pthread_join(server->thread, NULL);
    }
    leo_rt_host_worker_destroy(server->closer);
    leo_rt_event_destroy(server->event);
    leo_rt_stream_destroy(server->words);
    leo_rt_stream_destroy(server->ends);
    if (server->area) {
        (void)!leo_rt_memory_free(server->device, server->area);
    }
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    leo_free(server);
}

static leo_status make_area(struct comm_server *server)
{
    const struct comm *comm = server->comm;
    void *memory;
    leo_status status = leo_rt_memory_alloc(server->device, sizeof(*server->memory), &server->area);
    if (status == LEO_OK) {
        status =
            leo_rt_memory_window(server->device, server->area, sizeof(*server->memory), &memory);
    }
    if (status != LEO_OK) {
        return status;
    }
    server->memory = memory;
    memset(server->memory, 0, sizeof(*server->memory));
    server->memory->messages = server->area;
    server->memory->message_bytes = sizeof(*server->memory);
    server->memory->rank = comm->rank;
    server->memory->ranks = comm->ranks;
    memcpy(server->memory->name, comm->name, sizeof(server->memory->name));
    return LEO_OK;
}

static void *serve_launches(void *arg);

static leo_status make_server(struct comm *comm, struct leo_rt_device *device,
                              struct comm_server **out)
{
    struct comm_server *server = leo_calloc(1, sizeof(*server));
    if (!server) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    server->comm = comm;
    server->device = device;
    server->last = &server->first;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    leo_status status = make_area(server);
    struct leo_rt_stream **const streams[] = {&server->words, &server->ends};
    for (unsigned i = 0; i < 2 && status == LEO_OK; i++) {
        status = leo_rt_stream_create(device, streams[i]);
    }
    if (status == LEO_OK) {
        status = leo_rt_event_create(device, &server->event);
    }
    if (status == LEO_OK) {
        status = leo_rt_host_worker_create(device, &server->closer);
    }
    if (status == LEO_OK) {
        server->has_thread = pthread_create(&server->thread, NULL, serve_launches, server) == 0;
        status =
            server->has_thread ? LEO_OK : leo_rt_fail(COMM_NO_THREAD, "the system gives no thread");
    }
    if (status != LEO_OK) {
        destroy_server(server);
        return status;
    }
    *out = server;
    return LEO_OK;
}

/* ---- words between kernel and server ---- */

static uint64_t device_addr(const struct comm_server *server, const volatile void *word)
{
    return server->area +
           (uint64_t)((const volatile char *)word - (const volatile char *)server->memory);
}

static leo_status watch(const struct launch *launch, const volatile uint64_t *word)
{
    struct comm_server *server = launch->server;
    leo_status status = leo_rt_value_wait(server->words, device_addr(server, word), launch->number,
                                          LEO_VALUE_COMPARE_EQUAL);
    return status == LEO_OK ? leo_rt_event_record(server->event, server->words) : status;
}

/* Until the kernel has written the word: true, and when. False: it never will. */
static bool await_word(struct launch *launch, const volatile uint64_t *word, uint64_t *ns)
{
    pthread_mutex_lock(&launch->lock);
    if (launch->kernel_is_over && *word != launch->number) {
        pthread_mutex_unlock(&launch->lock);
        return false;
    }
    leo_status status = watch(launch, word);
    launch->awaited = status == LEO_OK ? word : NULL;
    pthread_mutex_unlock(&launch->lock);
    if (status == LEO_OK) {
        status = leo_rt_promise_await(&launch->promise, launch->server->event, ns);
    }
    fail(launch, status, leo_rt_last_error());
    pthread_mutex_lock(&launch->lock);
    launch->awaited = NULL;
    const bool written = status == LEO_OK && !launch->is_stopped;
    pthread_mutex_unlock(&launch->lock);
    return written;
}

/* At `ns` the kernel may see how far a message is. */
static void answer(struct launch *launch, unsigned message, uint32_t turns, uint64_t ns)
{
    struct comm_server *server = launch->server;
    const struct leo_rt_word word = {device_addr(server, &server->memory->done[message].word),
                                     launch->number << 32 | turns};
    leo_status status =
        leo_rt_promise_write(&launch->promise, server->event, server->words, ns, &word);
    fail(launch, status, leo_rt_last_error());
}

/* ---- messages ---- */

static const struct {
    const char *name;
    enum coll_kind kind;
    bool reduces;
} kinds[LEO_GROUP_KINDS] = {
    [LEO_GROUP_ALL_REDUCE] = {"AllReduce in a kernel", COLL_ALL_REDUCE, true},
    [LEO_GROUP_ALL_GATHER] = {"AllGather in a kernel", COLL_ALL_GATHER, false},
    [LEO_GROUP_REDUCE_SCATTER] = {"ReduceScatter in a kernel", COLL_REDUCE_SCATTER, true},
    [LEO_GROUP_ALL_TO_ALL] = {"AlltoAll in a kernel", COLL_ALL_TO_ALL, false},
    [LEO_GROUP_ALL_TO_ALL_PARTS] = {"AlltoAllV in a kernel", COLL_ALL_TO_ALL, false},
};

/** Parts of all ranks: sent, then received; counts, then where they are. */
struct parts {
    uint64_t list[4][LEO_GROUP_PARTS];
};

static bool has_parts(const struct leo_group_message *message)
{
    return message->kind == LEO_GROUP_ALL_TO_ALL_PARTS ||
           (message->stride && message->kind != LEO_GROUP_ALL_REDUCE);
}

static leo_status check(const struct comm *comm, const struct leo_group_message *message)
{
    if (message->kind >= LEO_GROUP_KINDS) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "a kernel asks for a collective of kind %u",
                           message->kind);
    }
    if (message->turns > LEO_GROUP_TURNS) {
        return leo_rt_fail(LEO_ERR_INVALID_ARG, "%s: %u turns, at most %d",
                           kinds[message->kind].name, message->turns, LEO_GROUP_TURNS);
    }
    if (has_parts(message) && comm->ranks > LEO_GROUP_PARTS) {
        return leo_rt_fail(LEO_ERR_UNSUPPORTED,
                           "%s with strides or parts of several sizes: %u ranks, at most %d",
                           kinds[message->kind].name, comm->ranks, LEO_GROUP_PARTS);
    }
    return LEO_OK;
}

/* The parts of a message with strides, or of one that brings its own. */
static void fill_parts(const struct comm *comm, const struct leo_group_message *message,
                       const struct parts *given, struct parts *parts)
{
    for (uint32_t i = 0; i < comm->ranks; i++) {
        for (unsigned list = 0; list < 4; list++) {
            parts->list[list][i] = message->kind == LEO_GROUP_ALL_TO_ALL_PARTS
                                       ? given->list[list][i]
                                   : list % 2 == 0 ? message->count
                                                   : i * message->stride;
        }
    }
}

/* A group of one rank copies its part, of a call that was checked. */
static leo_status copy_alone(const struct comm_server *server, const struct comm_call *call)
{
    const uint64_t *count = call->has_parts ? call->send_count : &call->count;
    const uint64_t bytes = *count * call->type.bytes,
                   send = (uintptr_t)call->send +
                          (call->has_parts ? *call->send_offset * call->type.bytes : 0),
                   recv = (uintptr_t)call->recv +
                          (call->has_parts ? *call->recv_offset * call->type.bytes : 0);
    void *to, *from;
    leo_status status = leo_rt_memory_window(server->device, send, bytes, &from);
    if (status == LEO_OK) {
        status = leo_rt_memory_window(server->device, recv, bytes, &to);
    }
    if (status == LEO_OK) {
        memmove(to, from, bytes);
    }
    return status;
}

static void do_turn(struct launch *launch, unsigned number, unsigned turn,
                    const struct leo_group_message *message, struct leo_rt_host_result *result)
{
    struct comm_server *server = launch->server;
    struct comm *comm = server->comm;
    const struct comm_type type = comm_face.type_get(message->type);
    const uint64_t skipped = turn * message->count * type.bytes;
    struct parts parts = {0};
    if (has_parts(message)) {
        fill_parts(comm, message, (const void *)server->memory->parts[number], &parts);
    }
    const struct comm_call call = {
        .func = kinds[message->kind].name,
        .kind = kinds[message->kind].kind,
        .send = (const void *)(uintptr_t)(message->send + skipped),
        .recv = (void *)(uintptr_t)(message->recv + skipped),
        .count = message->count,
        .type = type,
        .reduction = kinds[message->kind].reduces ? (int)message->reduction : COMM_NO_REDUCTION,
        .has_parts = has_parts(message),
        .send_count = parts.list[0],
        .send_offset = parts.list[1],
        .recv_count = parts.list[2],
        .recv_offset = parts.list[3]};
    struct comm_job *job;
    leo_status status = comm_job_of(&call, comm, &job);
    if (status == LEO_OK && job) {
        comm_job_run(job, result->end_ns, result);
        comm_job_free(job);
    } else if (status == LEO_OK) {
        status = copy_alone(server, &call);
    }
    if (status != LEO_OK) {
        result->status = status;
        snprintf(result->text, sizeof(result->text), "%s", leo_rt_last_error());
    }
}

/* All turns of a message; false if the kernel asks for no more. */
static bool serve_message(struct launch *launch, unsigned number)
{
    struct comm_server *server = launch->server;
    struct leo_group_area *memory = server->memory;
    uint64_t ns = 0;
    if (!await_word(launch, &memory->message[number].posted, &ns)) {
        return false;
    }
    launch->posted++;
    if (memory->message[number].kind == LEO_GROUP_END) {
        launch->has_end = true;
        answer(launch, number, launch->status ? LEO_GROUP_FAILED : 1, ns);
        return false;
    }
    // What a kernel wrote may be anything.
    const struct leo_group_message message = memory->message[number];
    fail(launch, check(server->comm, &message), leo_rt_last_error());
    for (unsigned turn = 0; turn < message.turns && turn < LEO_GROUP_TURNS; turn++) {
        struct leo_rt_host_result result = {0};
        if (!await_word(launch, &memory->committed[number][turn], &ns)) {
            return false;
        }
        result.end_ns = ns;
        if (launch->status == LEO_OK) {
            do_turn(launch, number, turn, &message, &result);
        }
        fail(launch, result.status, result.text);
        answer(launch, number, launch->status ? LEO_GROUP_FAILED : turn + 1, result.end_ns);
    }
    return true;
}

/* On the server's thread, when the stream is at the kernel. */
static void serve_all(struct launch *launch)
{
    uint64_t ns;
    leo_status status = leo_rt_promise_await(&launch->promise, launch->start, &ns);
    for (unsigned i = 0; i < LEO_GROUP_MESSAGES && status == LEO_OK; i++) {
        if (!serve_message(launch, i)) {
            break;
        }
    }
    leo_rt_promise_end(&launch->promise);
}

static void *serve_launches(void *arg)
{
    struct comm_server *server = arg;
    pthread_mutex_lock(&server->lock);
    while (server->first || !server->stop) {
        struct launch *launch = server->first;
        if (!launch) {
            pthread_cond_wait(&server->changed, &server->lock);
            continue;
        }
        server->first = launch->next;
        server->last = server->first ? server->last : &server->first;
        pthread_mutex_unlock(&server->lock);
        serve_all(launch);
        pthread_mutex_lock(&launch->lock);
        launch->is_over = true;
        pthread_cond_signal(&launch->changed);
        pthread_mutex_unlock(&launch->lock);
        pthread_mutex_lock(&server->lock);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

/* ---- launches ---- */

static void free_launch(struct launch *launch)
{
    leo_rt_event_destroy(launch->start);
    pthread_cond_destroy(&launch->changed);
    pthread_mutex_destroy(&launch->lock);
    leo_free(launch);
}

/* On the closer's thread, when the kernel is over: waits for the server. */
static void close_launch(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct launch *launch = user;
    (void)start_ns;
    pthread_mutex_lock(&launch->lock);
    launch->kernel_is_over = true;
    if (launch->awaited && *launch->awaited != launch->number) {
        launch->is_stopped = true;
        (void)!leo_rt_value_write(launch->server->ends,
                                  device_addr(launch->server, launch->awaited), launch->number);
    }
    while (!launch->is_over) {
        pthread_cond_wait(&launch->changed, &launch->lock);
    }
    pthread_mutex_unlock(&launch->lock);
    if (result->status == LEO_OK && launch->status != LEO_OK) {
        result->status = launch->status;
        memcpy(result->text, launch->text, sizeof(result->text));
    } else if (result->status == LEO_OK && launch->posted && !launch->has_end) {
        result->status = LEO_ERR_STATE;
        snprintf(result->text, sizeof(result->text),
                 "a kernel asked group %.60s for collectives and ended without Finalize",
                 launch->server->comm->name);
    }
    free_launch(launch);
}

static leo_status get_server(struct comm *comm, struct leo_rt_device *device,
                             struct comm_server **server)
{
    leo_status status = LEO_OK;
    pthread_mutex_lock(&comm->server_lock);
    if (!comm->server) {
        status = make_server(comm, device, &comm->server);
        comm->server_destroy = destroy_server;
    }
    *server = comm->server;
    if (status == LEO_OK && comm->server->device != device) {
        status = leo_rt_fail(LEO_ERR_UNSUPPORTED, "group %.60s serves kernels of another device",
                             comm->name);
    }
    pthread_mutex_unlock(&comm->server_lock);
    return status;
}

/* In the stream: the launch's number, then where the server begins. */
static leo_status begin_launch(struct launch *launch, struct leo_rt_stream *stream)
{
    struct comm_server *server = launch->server;
    leo_status status = leo_rt_event_create(server->device, &launch->start);
    if (status == LEO_OK) {
        status = leo_rt_value_write(stream, device_addr(server, &server->memory->launch),
                                    launch->number);
    }
    if (status == LEO_OK) {
        status = leo_rt_promise_begin(&launch->promise, launch->start, stream);
    }
    if (status == LEO_OK) {
        pthread_mutex_lock(&server->lock);
        *server->last = launch;
        server->last = &launch->next;
        pthread_cond_signal(&server->changed);
        pthread_mutex_unlock(&server->lock);
    }
    return status;
}

leo_status comm_serve(struct leo_rt_device *device, const char *group, struct leo_rt_stream *stream,
                      uint64_t *context, void **out)
{
    struct comm *comm = comm_find_named(device, group);
    struct comm_server *server = NULL;
    if (!comm) {
        return COMM_BAD_POINTER;
    }
    if (!comm_face.type_get || leo_rt_stream_graph(stream)) {
        return leo_rt_fail(LEO_ERR_UNSUPPORTED, "communication in kernels: %s",
                           comm_face.type_get ? "not in a captured stream"
                                              : "not through this library");
    }
    leo_status status = get_server(comm, device, &server);
    struct launch *launch = status == LEO_OK ? leo_calloc(1, sizeof(*launch)) : NULL;
    if (!launch) {
        return status != LEO_OK ? status : leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory");
    }
    launch->server = server;
    pthread_mutex_init(&launch->lock, NULL);
    pthread_cond_init(&launch->changed, NULL);
    pthread_mutex_lock(&comm->server_lock);
    launch->number = ++server->launch;
    status = begin_launch(launch, stream);
    pthread_mutex_unlock(&comm->server_lock);
    if (status != LEO_OK) {
        free_launch(launch);
        return status;
    }
    *context = server->area;
    *out = launch;
    return LEO_OK;
}

leo_status comm_served(void *user, struct leo_rt_stream *stream)
{
    struct launch *launch = user;
    return leo_rt_host_task(launch->server->closer, stream, close_launch, NULL, launch);
}
