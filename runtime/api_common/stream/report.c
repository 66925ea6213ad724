/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "work.h"

#include <leo/alloc.h>
#include <string.h>
#include <time.h>

/** A callback as it stands in a stream or a graph. */
struct standing {
    struct standing *next;
    struct api_reports *reports;
    struct api_report *report; /**< NULL: given up */
    api_callback_fn run;
    void *user;
    bool blocks;
    bool anywhere; /**< runs on the worker's thread if the report is given up */
};

/** One that a stream has come to: due, then over. */
struct call {
    struct call *next;
    api_callback_fn run;
    void *user;
    bool blocks, over;
};

struct api_report {
    struct api_report *next;
    uint64_t thread;
    unsigned bindings;
    struct standing *standing;
    struct call *due, **due_end;
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
static void end_call(struct api_reports *reports, struct call *call)
{
    if (call->blocks) {
        call->over = true;
        pthread_cond_broadcast(&reports->changed);
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
        for (struct standing *each = report->standing; each; each = each->next) {
            each->report = NULL;
        }
        for (struct call *call = report->due, *next; call; call = next) {
            next = call->next;
            end_call(reports, call);
        }
        leo_free(report);
        pthread_cond_broadcast(&reports->changed);
    }
    pthread_mutex_unlock(&reports->lock);
}

// On the worker's thread, when the stream has come to the callback.
static void come_due(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    const struct standing *standing = user;
    struct api_reports *reports = standing->reports;
    (void)start_ns;
    struct call *call = leo_calloc(1, sizeof(*call));
    if (!call) {
        result->status = leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a callback");
        strncpy(result->text, leo_rt_last_error(), sizeof(result->text) - 1);
        return;
    }
    *call = (struct call){.run = standing->run, .user = standing->user, .blocks = standing->blocks};
    const bool blocks = call->blocks;
    pthread_mutex_lock(&reports->lock);
    struct api_report *report = standing->report;
    if (!report) {
        pthread_mutex_unlock(&reports->lock);
        if (standing->anywhere) {
            call->run(call->user);
        }
        leo_free(call);
        return;
    }
    *report->due_end = call;
    report->due_end = &call->next;
    pthread_cond_broadcast(&reports->changed);
    while (blocks && !call->over) {
        pthread_cond_wait(&reports->changed, &reports->lock);
    }
    pthread_mutex_unlock(&reports->lock);
    if (blocks) {
        leo_free(call);
    }
}

static void stand_down(void *user)
{
    struct standing *standing = user;
    pthread_mutex_lock(&standing->reports->lock);
    if (standing->report) {
        struct standing **at = &standing->report->standing;
        while (*at != standing) {
            at = &(*at)->next;
        }
        *at = standing->next;
    }
    pthread_mutex_unlock(&standing->reports->lock);
    leo_free(standing);
}

// Without a report there is no list to stand in.
static leo_status launch(struct leo_rt_host_worker *worker, struct leo_rt_stream *stream,
                         const struct standing *as)
{
    struct standing *standing = leo_calloc(1, sizeof(*standing));
    if (!standing) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for a callback");
    }
    *standing = *as;
    if (as->report) {
        pthread_mutex_lock(&as->reports->lock);
        standing->next = as->report->standing;
        as->report->standing = standing;
        pthread_mutex_unlock(&as->reports->lock);
    }
    leo_status status = leo_rt_host_task(worker, stream, come_due, stand_down, standing);
    if (status != LEO_OK) {
        stand_down(standing);
    }
    return status;
}

leo_status api_report_launch(struct api_reports *reports, struct api_report *report,
                             struct leo_rt_host_worker *worker, struct leo_rt_stream *stream,
                             api_callback_fn run, void *user, bool blocks)
{
    const struct standing as = {
        .reports = reports, .report = report, .run = run, .user = user, .blocks = blocks};
    return launch(worker, stream, &as);
}

enum api_reported api_report_run(struct api_reports *reports, uint64_t thread, int timeout_ms)
{
    enum api_reported result = API_REPORT_NONE;
    const struct timespec until = api_after_ms(timeout_ms);
    struct api_report *report;
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
        end_call(reports, call);
        result = API_REPORTED;
        report = find(reports, thread);
    }
    pthread_mutex_unlock(&reports->lock);
    return result;
}

leo_status api_host_launch(struct api_reports *reports, struct api_report *report,
                           struct leo_rt_host_worker *worker, struct leo_rt_stream *stream,
                           api_callback_fn run, void *user)
{
    const struct standing as = {.reports = reports,
                                .report = report,
                                .run = run,
                                .user = user,
                                .blocks = true,
                                .anywhere = true};
    return launch(worker, stream, &as);
}
