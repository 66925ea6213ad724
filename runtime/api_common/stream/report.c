/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <leo/alloc.h>
#include <time.h>

/** A callback on its way: standing in the stream, then due, then over. */
struct call {
    struct call *next;
    struct api_reports *reports;
    struct api_report *report; /**< NULL: given up */
    api_callback_fn run;
    void *user;
    bool blocks, over;
};

struct api_report {
    struct api_report *next;
    uint64_t thread;
    unsigned bindings;
    struct call *standing, *due, **due_end;
};

static struct api_report *find(const struct api_reports *reports, uint64_t thread)
{
    struct api_report *report = reports->first;
    while (report && report->thread != thread) {
        report = report->next;
    }
    return report;
}

struct api_report *api_report_bind(struct api_reports *reports, uint64_t thread)
{
    pthread_mutex_lock(&reports->lock);
    struct api_report *report = find(reports, thread);
    if (!report && (report = leo_calloc(1, sizeof(*report))) != NULL) {
        report->thread = thread;
        report->due_end = &report->due;
        report->next = reports->first;
        reports->first = report;
    }
    if (report) {
        report->bindings++;
    }
    pthread_mutex_unlock(&reports->lock);
    return report;
}

bool api_report_is_of(const struct api_report *report, uint64_t thread)
{
    return report->thread == thread;
}

// Takes a call that blocks off its thread, or frees one that does not. Caller holds the lock.
static void end_call(struct call *call)
{
    if (call->blocks) {
        call->over = true;
        pthread_cond_broadcast(&call->reports->changed);
    } else {
        leo_free(call);
    }
}

void api_report_unbind(struct api_reports *reports, struct api_report *report)
{
    pthread_mutex_lock(&reports->lock);
    if (--report->bindings == 0) {
        struct api_report **at = &reports->first;
        while (*at != report) {
            at = &(*at)->next;
        }
        *at = report->next;
        for (struct call *call = report->standing; call; call = call->next) {
            call->report = NULL;
        }
        for (struct call *call = report->due, *next; call; call = next) {
            next = call->next;
            end_call(call);
        }
        leo_free(report);
        pthread_cond_broadcast(&reports->changed);
    }
    pthread_mutex_unlock(&reports->lock);
}

// On the worker's thread, when the stream has come to the call.
static void come_due(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct call *call = user;
    struct api_reports *reports = call->reports;
    (void)start_ns;
    (void)result;
    pthread_mutex_lock(&reports->lock);
    struct api_report *report = call->report;
    bool blocks = call->blocks;
    if (!report) {
        call->over = true;
    } else {
        struct call **at = &report->standing;
        while (*at != call) {
            at = &(*at)->next;
        }
        *at = call->next;
        call->next = NULL;
        *report->due_end = call;
        report->due_end = &call->next;
        pthread_cond_broadcast(&reports->changed);
    }
    while (blocks && !call->over) {
        pthread_cond_wait(&reports->changed, &reports->lock);
    }
    if (blocks || !report) {
        leo_free(call);
    }
    pthread_mutex_unlock(&reports->lock);
}

leo_status api_report_launch(struct api_reports *reports, struct api_report *report,
                             struct leo_rt_host_worker *worker, struct leo_rt_stream *stream,
                             api_callback_fn run, void *user, bool blocks)
{
    struct call *call = leo_calloc(1, sizeof(*call));
    if (!call) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a callback");
    }
    *call = (struct call){
        .reports = reports, .report = report, .run = run, .user = user, .blocks = blocks};
    pthread_mutex_lock(&reports->lock);
    call->next = report->standing;
    report->standing = call;
    pthread_mutex_unlock(&reports->lock);
    leo_status status = leo_rt_host_task(worker, stream, come_due, call);
    if (status != LEO_OK) {
        pthread_mutex_lock(&reports->lock);
        struct call **at = &report->standing;
        while (*at != call) {
            at = &(*at)->next;
        }
        *at = call->next;
        pthread_mutex_unlock(&reports->lock);
        leo_free(call);
    }
    return status;
}

static void add_ms(struct timespec *when, int ms)
{
    when->tv_sec += ms / 1000;
    when->tv_nsec += ms % 1000 * 1000000L;
    if (when->tv_nsec >= 1000000000L) {
        when->tv_sec++;
        when->tv_nsec -= 1000000000L;
    }
}

enum api_reported api_report_run(struct api_reports *reports, uint64_t thread, int timeout_ms)
{
    enum api_reported result = API_REPORT_NONE;
    struct timespec until;
    struct api_report *report;
    clock_gettime(CLOCK_REALTIME, &until);
    add_ms(&until, timeout_ms > 0 ? timeout_ms : 0);
    pthread_mutex_lock(&reports->lock);
    bool late = false;
    while ((report = find(reports, thread)) != NULL && !report->due && !late) {
        late = timeout_ms < 0
                   ? pthread_cond_wait(&reports->changed, &reports->lock) != 0
                   : pthread_cond_timedwait(&reports->changed, &reports->lock, &until) != 0;
        result = API_REPORT_TIMEOUT;
    }
    while (report && report->due) {
        struct call *call = report->due;
        report->due = call->next;
        report->due_end = report->due ? report->due_end : &report->due;
        // The program's function may bind and unbind.
        pthread_mutex_unlock(&reports->lock);
        call->run(call->user);
        pthread_mutex_lock(&reports->lock);
        end_call(call);
        result = API_REPORTED;
        report = find(reports, thread);
    }
    pthread_mutex_unlock(&reports->lock);
    return result;
}

/** A function of the host in a stream. */
struct host_call {
    api_callback_fn run;
    void *user;
};

static void run_host_call(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct host_call *call = user;
    (void)start_ns;
    (void)result;
    call->run(call->user);
    leo_free(call);
}

leo_status api_host_launch(struct leo_rt_host_worker *worker, struct leo_rt_stream *stream,
                           api_callback_fn run, void *user)
{
    struct host_call *call = leo_calloc(1, sizeof(*call));
    if (!call) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a host function");
    }
    *call = (struct host_call){run, user};
    leo_status status = leo_rt_host_task(worker, stream, run_host_call, call);
    if (status != LEO_OK) {
        leo_free(call);
    }
    return status;
}
