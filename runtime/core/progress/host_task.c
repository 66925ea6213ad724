/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work of the host in a stream. In the stream stand a record of one event and a wait for another. A
 * thread of the worker waits for the first, does the work, and has the second recorded in a queue
 * of the worker's own, no earlier than the work's end in simulated time.
 */
#include "../rt.h"

#include <leo/alloc.h>
#include <string.h>

struct job {
    struct job *next;
    struct leo_rt_stream *stream;
    struct rt_host_work work;
    uint64_t *graph_tasks; /* of the graph that owns the work; NULL: the job does */
    struct leo_rt_event *reached, *finished;
};

struct leo_rt_host_worker {
    struct leo_rt_device *device;
    struct leo_rt_stream *signals; /**< carries the records of `finished` */
    pthread_t thread;
    /** Protects the rest. Never taken while the device's lock is held. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *first, *last;
    bool stop, busy;
};

static void free_job(struct job *job)
{
    leo_rt_event_destroy(job->reached);
    leo_rt_event_destroy(job->finished);
    leo_free(job);
}

/* The stream's later tasks go on, whatever became of the work. */
static void finish_job(struct leo_rt_host_worker *worker, struct job *job,
                       const struct leo_rt_host_result *result)
{
    struct leo_rt_device *device = worker->device;
    pthread_mutex_lock(&device->lock);
    if (result->status != LEO_OK) {
        rt_stream_fail_host(job->stream, result->status, result->text);
    }
    if (result->has_link) {
        struct leo_link_note note = result->link;
        note.reached_event = job->reached->slot;
        note.reached_sequence = job->reached->sequence;
        note.done_event = job->finished->slot;
        note.done_sequence = device->slots[job->finished->slot].sequence + 1; // of the next line
        leo_drv_note_link(device->drv, &note);
    }
    leo_status status = rt_event_record_at(job->finished, worker->signals, result->end_ns);
    if (status != LEO_OK) {
        rt_log(device->rt, 3, "a stream is stuck behind work of the host: %s", leo_rt_last_error());
    }
    if (job->graph_tasks) {
        --*job->graph_tasks;
    }
    device->progress.host_jobs--;
    device->progress.host_ends++;
    pthread_cond_broadcast(&device->progress.host_changed);
    pthread_mutex_unlock(&device->lock);
}

static void run_job(struct leo_rt_host_worker *worker, struct job *job)
{
    struct leo_rt_host_result result = {0};
    uint64_t start_ns = 0;
    pthread_mutex_lock(&worker->device->lock);
    leo_status status = rt_event_await(job->reached, &start_ns);
    pthread_mutex_unlock(&worker->device->lock);
    result.end_ns = start_ns;
    if (status != LEO_OK) {
        // The device is dead: there is no stream left to hold up, but the work must know.
        result.status = status;
        strncpy(result.text, leo_rt_last_error(), sizeof(result.text) - 1);
    }
    job->work.run(job->work.user, start_ns, &result);
    if (!job->graph_tasks && job->work.release) {
        job->work.release(job->work.user);
    }
    finish_job(worker, job, &result);
}

static void *work(void *arg)
{
    struct leo_rt_host_worker *worker = arg;
    pthread_mutex_lock(&worker->lock);
    for (;;) {
        while (!worker->first && !worker->stop) {
            pthread_cond_wait(&worker->changed, &worker->lock);
        }
        struct job *job = worker->first;
        if (!job) {
            break;
        }
        worker->first = job->next;
        worker->last = worker->first ? worker->last : NULL;
        worker->busy = true;
        pthread_mutex_unlock(&worker->lock);
        run_job(worker, job);
        free_job(job);
        pthread_mutex_lock(&worker->lock);
        worker->busy = false;
        pthread_cond_broadcast(&worker->changed);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

leo_status leo_rt_host_worker_create(struct leo_rt_device *device, struct leo_rt_host_worker **out)
{
    *out = NULL;
    struct leo_rt_host_worker *worker = leo_calloc(1, sizeof(*worker));
    if (!worker) {
        return rt_fail(LEO_ERR_NO_MEMORY, "device %d: out of host memory for a host worker",
                       device->index);
    }
    worker->device = device;
    pthread_mutex_lock(&device->lock);
    rt_run_ahead_stop(device); // its thread submits when it likes
    pthread_mutex_unlock(&device->lock);
    leo_status status = leo_rt_stream_create(device, &worker->signals);
    if (status != LEO_OK) {
        leo_free(worker);
        return status;
    }
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->changed, NULL);
    if (pthread_create(&worker->thread, NULL, work, worker)) {
        leo_rt_stream_destroy(worker->signals);
        pthread_cond_destroy(&worker->changed);
        pthread_mutex_destroy(&worker->lock);
        leo_free(worker);
        return rt_fail(LEO_ERR_NO_MEMORY, "device %d: the system gives no thread for a host worker",
                       device->index);
    }
    *out = worker;
    return LEO_OK;
}

void leo_rt_host_worker_destroy(struct leo_rt_host_worker *worker)
{
    if (!worker) {
        return;
    }
    pthread_mutex_lock(&worker->lock);
    worker->stop = true;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    pthread_mutex_lock(&worker->device->lock);
    rt_graph_lose_worker(worker->device, worker);
    pthread_mutex_unlock(&worker->device->lock);
    leo_rt_stream_destroy(worker->signals);
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->lock);
    leo_free(worker);
}

static leo_status make_job(struct leo_rt_device *device, struct job **out)
{
    struct job *job = leo_calloc(1, sizeof(*job));
    *out = job;
    if (!job) {
        return rt_fail(LEO_ERR_NO_MEMORY, "device %d: out of host memory for a host task",
                       device->index);
    }
    leo_status status = leo_rt_event_create(device, &job->reached);
    if (status == LEO_OK) {
        status = leo_rt_event_create(device, &job->finished);
    }
    return status;
}

static void append(struct leo_rt_host_worker *worker, struct job *job)
{
    pthread_mutex_lock(&worker->lock);
    if (worker->last) {
        worker->last->next = job;
    } else {
        worker->first = job;
    }
    worker->last = job;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

/* Into the stream, then to the worker. */
static leo_status start(const struct rt_host_work *work, struct leo_rt_stream *stream,
                        uint64_t *graph_tasks)
{
    struct leo_rt_device *device = work->worker->device;
    struct job *job;
    leo_status status = make_job(device, &job);
    if (status == LEO_OK && stream->device != device) {
        status = rt_fail(LEO_ERR_INVALID_ARG, "the stream is of device %d, the host worker of %d",
                         stream->device->index, device->index);
    }
    if (status == LEO_OK) {
        status = leo_rt_event_record(job->reached, stream);
    }
    if (status == LEO_OK) {
        pthread_mutex_lock(&device->lock);
        status = rt_event_wait_next(job->finished, stream);
        device->progress.host_jobs += status == LEO_OK;
        pthread_mutex_unlock(&device->lock);
    }
    if (status != LEO_OK) {
        if (job) {
            free_job(job);
        }
        return status;
    }
    job->stream = stream;
    job->work = *work;
    job->graph_tasks = graph_tasks;
    append(work->worker, job);
    return LEO_OK;
}

leo_status leo_rt_host_task(struct leo_rt_host_worker *worker, struct leo_rt_stream *stream,
                            leo_rt_host_fn run, void (*release)(void *user), void *user)
{
    const struct rt_host_work work = {worker, start, run, release, user};
    struct leo_rt_device *device = worker->device;
    if (!leo_rt_stream_graph(stream)) {
        pthread_mutex_lock(&device->lock);
        (void)rt_host_model_launch(device, true);
        pthread_mutex_unlock(&device->lock);
        return start(&work, stream, NULL);
    }
    if (stream->device != device) {
        return rt_fail(LEO_ERR_INVALID_ARG, "the stream is of device %d, the host worker of %d",
                       stream->device->index, device->index);
    }
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_graph_keep_host(stream, &work);
    pthread_mutex_unlock(&device->lock);
    return status;
}

void leo_rt_host_worker_drain(struct leo_rt_host_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    while (worker->first || worker->busy) {
        pthread_cond_wait(&worker->changed, &worker->lock);
    }
    pthread_mutex_unlock(&worker->lock);
}
