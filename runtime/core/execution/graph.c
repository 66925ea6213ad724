/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: what is put into captured streams is kept instead of done, and done again and again
 * later. The tasks are kept in the order the host gave them, which keeps every dependency: a wait
 * comes after the record it waits for. A replay runs them one after another in one stream.
 */
#include "../rt.h"

#include <leo/alloc.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 18 };

/** Memory for argument blocks, which the device reads at every replay. */
struct chunk {
    struct chunk *next;
    char *ptr;
    uint64_t addr;
    size_t bytes, used;
};

struct node {
    struct leo_sqe entry;
    const struct leo_rt_kernel *kernel; /**< NULL: not a kernel */
    const char *what;
    struct rt_host_work host; /**< instead of the entry */
};

struct leo_rt_graph {
    struct leo_rt_device *device;
    struct leo_rt_graph *next;
    struct leo_rt_stream *origin; /**< NULL: the capture has ended */
    bool invalid;
    struct node *nodes;
    size_t count, capacity;
    struct chunk *chunks;
    uint64_t tasks; /**< of replays, under way */
    size_t update_at, update_end;
};

static leo_status add_chunk(struct leo_rt_graph *graph, size_t bytes)
{
    struct chunk *chunk = leo_calloc(1, sizeof(*chunk));
    void *memory = NULL;
    leo_status status = LEO_ERR_NO_MEMORY;
    if (chunk) {
        chunk->bytes = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        status = leo_drv_dma_alloc(graph->device->drv, chunk->bytes, &memory, &chunk->addr);
    }
    if (status) {
        leo_free(chunk);
        return rt_fail(status, "no memory for the arguments of a graph: %s",
                       leo_status_text(status));
    }
    chunk->ptr = memory;
    chunk->next = graph->chunks;
    graph->chunks = chunk;
    return LEO_OK;
}

static leo_status keep(struct leo_rt_graph *graph, const struct node *node)
{
    if (graph->count == graph->capacity) {
        size_t capacity = graph->capacity ? graph->capacity * 2 : 64;
        struct node *nodes = leo_realloc(graph->nodes, capacity * sizeof(*nodes));
        if (!nodes) {
            return rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a graph of %zu tasks",
                           graph->count);
        }
        graph->nodes = nodes;
        graph->capacity = capacity;
    }
    graph->nodes[graph->count++] = *node;
    if (node->kernel) {
        node->kernel->module->captured++;
    }
    return LEO_OK;
}

/* What a node holds. */
static void drop(const struct node *node)
{
    if (node->kernel) {
        node->kernel->module->captured--;
    }
    if (node->host.release) {
        node->host.release(node->host.user);
    }
}

static leo_status replace(struct leo_rt_graph *graph, const struct node *node)
{
    if (graph->update_at == graph->update_end) {
        return rt_fail(LEO_ERR_STATE, "the update has more tasks than the group it replaces");
    }
    struct node *old = &graph->nodes[graph->update_at++];
    if (old->entry.opcode != node->entry.opcode || !old->host.worker != !node->host.worker) {
        return rt_fail(LEO_ERR_STATE, "the update replaces a task of another kind (%s, was %s)",
                       node->what, old->what);
    }
    drop(old);
    if (node->kernel) {
        node->kernel->module->captured++;
    }
    *old = *node;
    return LEO_OK;
}

/* A captured stream is given a task. */
static leo_status take(struct leo_rt_stream *stream, const struct node *node)
{
    stream->graph_nodes++;
    leo_status status =
        stream->updates_graph ? replace(stream->graph, node) : keep(stream->graph, node);
    if (status) {
        stream->graph->invalid = true;
    }
    return status;
}

leo_status rt_graph_keep_host(struct leo_rt_stream *stream, const struct rt_host_work *work)
{
    const struct node node = {.what = "work of the host", .host = *work};
    if (!stream->graph) {
        return rt_fail(LEO_ERR_STATE, "the stream's capture ended meanwhile");
    }
    return take(stream, &node);
}

void rt_graph_lose_worker(struct leo_rt_device *device, const struct leo_rt_host_worker *worker)
{
    for (struct leo_rt_graph *graph = device->graphs; graph; graph = graph->next) {
        for (size_t i = 0; i < graph->count; i++) {
            graph->invalid = graph->invalid || graph->nodes[i].host.worker == worker;
        }
    }
}

static const struct rt_sink capture_sink;

static void enter(struct leo_rt_stream *stream, struct leo_rt_graph *graph)
{
    stream->graph = graph;
    stream->graph_nodes = 0;
    stream->sink = &capture_sink;
}

static void leave(struct leo_rt_stream *stream)
{
    stream->graph = NULL;
    stream->sink = &rt_device_sink;
}

static leo_status place(struct leo_rt_stream *stream, uint32_t bytes, struct rt_place *place)
{
    struct leo_rt_graph *graph = stream->graph;
    bytes = (bytes + RT_ARGS_ALIGN - 1) / RT_ARGS_ALIGN * RT_ARGS_ALIGN;
    struct chunk *chunk = graph->chunks;
    if (!chunk || chunk->bytes - chunk->used < bytes) {
        leo_status status = add_chunk(graph, bytes);
        if (status) {
            return status;
        }
        chunk = graph->chunks;
    }
    place->ptr = chunk->ptr + chunk->used;
    place->addr = chunk->addr + chunk->used;
    chunk->used += bytes;
    return LEO_OK;
}

static leo_status submit(struct leo_rt_stream *stream, struct leo_sqe *entry,
                         const struct rt_task *task, uint64_t host_ns)
{
    (void)host_ns; // the order is all that is kept
    const struct node node = {.entry = *entry, .kernel = task->kernel, .what = task->what};
    if (task->staging || task->mapped || task->outcome) {
        stream->graph->invalid = true;
        return rt_fail(LEO_ERR_UNSUPPORTED,
                       "a %s with host memory that is not pinned cannot be captured: the memory "
                       "would be gone at the replay",
                       task->what);
    }
    return take(stream, &node);
}

static leo_status record(struct leo_rt_event *event, struct leo_rt_stream *stream)
{
    event->graph = stream->graph;
    event->sink = stream->sink;
    event->graph_stream = stream;
    event->graph_nodes = stream->graph_nodes;
    return LEO_OK;
}

static leo_status wait(struct leo_rt_event *event, struct leo_rt_stream *stream)
{
    struct leo_rt_graph *graph = event->graph;
    if (!graph) {
        // Recorded before the capture: done already, or the replay would not wait for it.
        struct rt_event_slot *slot = &event->device->slots[event->slot];
        if (!event->sequence || slot->done >= event->sequence) {
            return LEO_OK;
        }
        stream->graph->invalid = true;
        return rt_fail(LEO_ERR_STATE, "a captured stream waits for an event that was recorded "
                                      "before and is not reached yet: synchronize first");
    }
    if (stream->graph && stream->graph != graph) {
        graph->invalid = stream->graph->invalid = true;
        return rt_fail(LEO_ERR_STATE, "the event and the stream belong to two captures");
    }
    if (!stream->graph) {
        enter(stream, graph);
    }
    // Whoever waits for the end of a stream has joined it.
    struct leo_rt_stream *from = event->graph_stream;
    if (from != stream && event->graph_nodes == from->graph_nodes) {
        from->graph_joined_at = from->graph_nodes + 1;
    }
    return LEO_OK;
}

// Streams of the graph go back to doing what they are given. False: one was not joined.
static bool release_streams(struct leo_rt_graph *graph)
{
    bool joined = true;
    for (struct leo_rt_stream *stream = graph->device->streams; stream; stream = stream->next) {
        if (stream->graph == graph) {
            joined = joined && (stream == graph->origin || stream->graph_nodes == 0 ||
                                stream->graph_joined_at == stream->graph_nodes + 1);
            leave(stream);
        }
    }
    for (struct leo_rt_event *event = graph->device->events; event; event = event->next) {
        event->graph = event->graph == graph ? NULL : event->graph;
    }
    return joined;
}

static void lose(struct leo_rt_stream *stream)
{
    struct leo_rt_graph *graph = stream->graph;
    graph->invalid = true;
    if (graph->origin == stream) {
        (void)release_streams(graph);
        graph->origin = NULL;
    }
    for (struct leo_rt_event *event = stream->device->events; event; event = event->next) {
        event->graph = event->graph_stream == stream ? NULL : event->graph;
    }
    leave(stream);
}

static const struct rt_sink capture_sink = {
    .submit = submit,
    .place = place,
    .record = record,
    .wait = wait,
    .lose = lose,
    .is_capture = true,
};

leo_status leo_rt_capture_begin(struct leo_rt_stream *stream, struct leo_rt_graph **out)
{
    struct leo_rt_device *device = stream->device;
    *out = NULL;
    struct leo_rt_graph *graph = leo_calloc(1, sizeof(*graph));
    if (!graph) {
        return rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a graph");
    }
    graph->device = device;
    graph->origin = stream;
    pthread_mutex_lock(&device->lock);
    leo_status status = LEO_OK;
    if (stream->graph) {
        status = rt_fail(LEO_ERR_STATE, "the stream is being captured already");
        leo_free(graph);
    } else {
        enter(stream, graph);
        stream->graph_joined_at = 0;
        graph->next = device->graphs;
        device->graphs = graph;
        *out = graph;
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

struct leo_rt_graph *leo_rt_stream_graph(struct leo_rt_stream *stream)
{
    pthread_mutex_lock(&stream->device->lock);
    struct leo_rt_graph *graph = stream->graph;
    pthread_mutex_unlock(&stream->device->lock);
    return graph;
}

bool leo_rt_graph_is_invalid(struct leo_rt_graph *graph)
{
    pthread_mutex_lock(&graph->device->lock);
    bool invalid = graph->invalid;
    pthread_mutex_unlock(&graph->device->lock);
    return invalid;
}

leo_status leo_rt_capture_end(struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = stream->device;
    leo_status status = LEO_OK;
    pthread_mutex_lock(&device->lock);
    struct leo_rt_graph *graph = stream->graph;
    if (!graph || graph->origin != stream) {
        status = rt_fail(LEO_ERR_STATE, "the capture did not begin on this stream");
    } else {
        bool joined = release_streams(graph);
        graph->origin = NULL;
        if (graph->invalid) {
            status = rt_fail(LEO_ERR_MISMATCH, "the capture was made invalid by a call that waits, "
                                               "or by a task that cannot be captured");
        } else if (!joined) {
            graph->invalid = true;
            status = rt_fail(LEO_ERR_NOT_READY, "a stream that the capture forked into was not "
                                                "joined: wait for an event at its end");
        }
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}

/* One node into the stream. The device's lock is given up for work of the host. */
static leo_status replay(struct leo_rt_graph *graph, const struct node *node,
                         struct leo_rt_stream *stream)
{
    struct leo_sqe entry = node->entry;
    const struct rt_task task = {
        .kernel = node->kernel, .what = node->what, .graph_tasks = &graph->tasks};
    leo_status status;
    graph->tasks++;
    if (node->host.worker) {
        pthread_mutex_unlock(&graph->device->lock);
        status = node->host.replay(&node->host, stream, &graph->tasks);
        pthread_mutex_lock(&graph->device->lock);
    } else {
        status = rt_stream_submit(stream, &entry, &task);
    }
    if (status) {
        graph->tasks--;
        return status;
    }
    if (task.kernel) {
        rt_print_launched(task.kernel->module);
    }
    return LEO_OK;
}

leo_status leo_rt_graph_execute(struct leo_rt_graph *graph, struct leo_rt_stream *stream)
{
    struct leo_rt_device *device = graph->device;
    leo_status status = LEO_OK;
    if (stream->device != device) {
        return rt_fail(LEO_ERR_INVALID_ARG, "the graph is of device %d, the stream of device %d",
                       device->index, stream->device->index);
    }
    pthread_mutex_lock(&device->lock);
    if (graph->origin || graph->invalid) {
        status = rt_fail(LEO_ERR_STATE, "the graph's capture has not ended well, or what it calls "
                                        "is gone");
    } else if (stream->graph) {
        stream->graph->invalid = true;
        status = rt_fail(LEO_ERR_UNSUPPORTED, "a graph in a captured stream is not supported");
    }
    if (!status) {
        (void)rt_host_model_launch(device, true);
    }
    graph->tasks++; // it is not changed or destroyed meanwhile
    for (size_t i = 0; !status && i < graph->count; i++) {
        status = replay(graph, &graph->nodes[i], stream);
    }
    graph->tasks--;
    pthread_mutex_unlock(&device->lock);
    return status;
}

size_t leo_rt_graph_size(struct leo_rt_graph *graph)
{
    pthread_mutex_lock(&graph->device->lock);
    size_t count = graph->count;
    pthread_mutex_unlock(&graph->device->lock);
    return count;
}

leo_status leo_rt_graph_update_begin(struct leo_rt_graph *graph, struct leo_rt_stream *stream,
                                     size_t first, size_t count)
{
    leo_status status = LEO_OK;
    pthread_mutex_lock(&graph->device->lock);
    if (graph->origin || graph->invalid || stream->graph || first > graph->count ||
        count > graph->count - first || stream->device != graph->device) {
        status = rt_fail(LEO_ERR_STATE, "the graph cannot be updated from this stream now");
    } else if (graph->tasks) {
        status = rt_fail(LEO_ERR_NOT_READY, "the graph is running: synchronize before its update");
    } else {
        stream->graph = graph;
        stream->sink = &capture_sink;
        stream->updates_graph = true;
        graph->update_at = first;
        graph->update_end = first + count;
    }
    pthread_mutex_unlock(&graph->device->lock);
    return status;
}

leo_status leo_rt_graph_update_end(struct leo_rt_stream *stream)
{
    leo_status status = LEO_OK;
    pthread_mutex_lock(&stream->device->lock);
    struct leo_rt_graph *graph = stream->graph;
    if (!graph || !stream->updates_graph) {
        status = rt_fail(LEO_ERR_STATE, "no update has begun on this stream");
    } else {
        if (graph->update_at != graph->update_end && !graph->invalid) {
            graph->invalid = true;
            status = rt_fail(LEO_ERR_MISMATCH, "the update has fewer tasks than the group");
        } else if (graph->invalid) {
            status = rt_fail(LEO_ERR_MISMATCH, "the update does not fit the group");
        }
        leave(stream);
        stream->updates_graph = false;
    }
    pthread_mutex_unlock(&stream->device->lock);
    return status;
}

leo_status leo_rt_graph_write(struct leo_rt_graph *graph, const char *path)
{
    FILE *file = path ? fopen(path, "w") : stdout;
    if (!file) {
        return rt_fail(LEO_ERR_IO, "cannot write %s", path);
    }
    pthread_mutex_lock(&graph->device->lock);
    fprintf(file, "[");
    for (size_t i = 0; i < graph->count; i++) {
        // Names are C identifiers and words of ours: nothing to escape.
        fprintf(file,
                "%s\n{\"name\": \"%s\", \"ph\": \"X\", \"pid\": 0, \"tid\": 0, \"ts\": %zu, "
                "\"dur\": 1, \"args\": {\"task\": %zu, \"type\": \"%s\"}}",
                i ? "," : "", graph->nodes[i].what, i, i,
                graph->nodes[i].kernel        ? "kernel"
                : graph->nodes[i].host.worker ? "host"
                                              : "memory");
    }
    fprintf(file, "\n]\n");
    pthread_mutex_unlock(&graph->device->lock);
    bool bad = ferror(file) || fflush(file);
    if ((path && fclose(file)) || bad) {
        return rt_fail(LEO_ERR_IO, "cannot write all of %s", path ? path : "standard output");
    }
    return LEO_OK;
}

static bool is_at_rest(const void *arg)
{
    const struct leo_rt_graph *graph = arg;
    return graph->tasks == 0;
}

void rt_graph_destroy(struct leo_rt_graph *graph)
{
    struct leo_rt_device *device = graph->device;
    (void)release_streams(graph);
    for (struct leo_rt_graph **at = &device->graphs; *at; at = &(*at)->next) {
        if (*at == graph) {
            *at = graph->next;
            break;
        }
    }
    for (size_t i = 0; i < graph->count; i++) {
        drop(&graph->nodes[i]);
    }
    while (graph->chunks) {
        struct chunk *chunk = graph->chunks;
        graph->chunks = chunk->next;
        leo_drv_dma_free(device->drv, chunk->ptr, chunk->addr);
        leo_free(chunk);
    }
    leo_free(graph->nodes);
    leo_free(graph);
}

leo_status leo_rt_graph_destroy(struct leo_rt_graph *graph)
{
    struct leo_rt_device *device = graph->device;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_device_wait(device, is_at_rest, graph, -1, "the graph's tasks");
    if (!status) {
        rt_graph_destroy(graph);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}
