/* SPDX-License-Identifier: Apache-2.0 */
/* The profile as a timeline file: one process row of streams, one of each core with a thread row a
 * unit. */
#include "../program/image.h"
#include "profile.h"

#include <errno.h>
#include <leo/alloc.h>
#include <leo/insn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PID_STREAMS = 1, PID_CORES = 1000, CORES_MAX = 256 };

static void write_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            fprintf(file, "\\%c", c);
        } else if (c < 0x20 || c >= 0x7f) {
            // Latin-1 at worst: what matters is that the file stays valid.
            fprintf(file, "\\u%04x", c);
        } else {
            fputc(c, file);
        }
    }
    fputc('"', file);
}

static void write_row_name(FILE *file, const char *what, unsigned pid, unsigned tid,
                           const char *name)
{
    fprintf(file,
            ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what, pid,
            tid);
    write_text(file, name);
    fprintf(file, "}}");
}

static void write_task(FILE *file, const struct leo_task_record *record, const char *tag)
{
    fprintf(file, ",\n{\"ph\":\"X\",\"name\":");
    write_text(file, tag);
    fprintf(file,
            ",\"pid\":%d,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"blocks\":%u,\"cores\":%u,"
            "\"core_cycles\":%llu,"
            "\"gm_read_bytes\":%llu,\"gm_write_bytes\":%llu}}",
            PID_STREAMS, record->queue, (double)record->start_ns / 1e3,
            (double)(record->end_ns - record->start_ns) / 1e3, record->block_num, record->cores,
            (unsigned long long)record->core_cycles, (unsigned long long)record->gm_read,
            (unsigned long long)record->gm_write);
}

// Where in the source: what waits behind a bar of the scalar unit, else the instruction itself.
static void write_line(FILE *file, const struct leo_rt_kernel *kernel, uint32_t pc)
{
    char path[1024], text[1100];
    int line;
    if (kernel && rt_image_line(kernel->module->image, pc, path, sizeof(path), &line)) {
        snprintf(text, sizeof(text), "%s:%d", path, line);
        fprintf(file, ",\"line\":");
        write_text(file, text);
    }
}

// What the record's amount of work counts.
static const char *work_unit(const struct leo_trace_record *record, const char *name)
{
    if (record->insn == LEO_INSN_MMAD) {
        return "multiply_adds";
    }
    if (record->pipe == LEO_PIPE_S) {
        return "cycles";
    }
    return name[0] == 'v' || record->insn == LEO_INSN_COPY_MATRIX_CC_TO_GM ? "elements" : "bytes";
}

/* The last instructions written of each unit: one of them set the flag another waited for. */
enum { RECENT = 8 };
struct recent {
    struct {
        uint64_t start, end;
    } bar[CORES_MAX][LEO_PIPE_COUNT][RECENT];
    uint8_t next[CORES_MAX][LEO_PIPE_COUNT];
};

static uint64_t end_of(const struct leo_trace_record *record)
{
    return record->start_ns + record->dur_ps / 1000;
}

static void remember(struct recent *recent, const struct leo_trace_record *record)
{
    if (record->pipe < LEO_PIPE_COUNT) {
        uint8_t *next = &recent->next[record->core][record->pipe];
        recent->bar[record->core][record->pipe][*next].start = record->start_ns;
        recent->bar[record->core][record->pipe][*next].end = end_of(record);
        *next = (uint8_t)((*next + 1) % RECENT);
    }
}

// An arrow from the instruction behind which the flag was set, the last that had ended, to the one
// that waited for it.
static void write_arrow(FILE *file, const struct recent *recent,
                        const struct leo_trace_record *record, size_t number)
{
    uint64_t start = 0, end = 0;
    for (unsigned i = 0; i < RECENT && record->from < LEO_PIPE_COUNT; i++) {
        const uint64_t at = recent->bar[record->core][record->from][i].end;
        if (at <= record->start_ns && at > end) {
            end = at;
            start = recent->bar[record->core][record->from][i].start;
        }
    }
    if (end == 0) {
        return; // too long ago
    }
    const unsigned pid = PID_CORES + record->core;
    fprintf(file,
            ",\n{\"ph\":\"s\",\"id\":%zu,\"name\":\"flag\",\"cat\":\"flag\",\"pid\":%u,"
            "\"tid\":%u,\"ts\":%.3f},\n{\"ph\":\"f\",\"bp\":\"e\",\"id\":%zu,\"name\":"
            "\"flag\",\"cat\":\"flag\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f}",
            number, pid, record->from, (double)(end > start ? end - 1 : start) / 1e3, number, pid,
            record->pipe, (double)record->start_ns / 1e3);
}

// Starts are whole nanoseconds, so durations are too: bars of one row must not overlap.
static void write_trace(FILE *file, struct recent *recent, const struct leo_trace_record *record,
                        const struct rt_profile *profile, size_t number)
{
    static const char *const why[] = {"scalar unit", "flag", "barrier", "queue", "bank", "memory"};
    const struct leo_insn_info *info =
        record->insn < LEO_INSN_COUNT ? leo_insn_info((enum leo_insn)record->insn) : NULL;
    const char *name = info ? info->name : record->pipe == LEO_PIPE_S ? "scalar" : "?";
    fprintf(file, ",\n{\"ph\":\"X\",\"name\":");
    write_text(file, name);
    fprintf(file,
            ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"pc\":\"0x%x\","
            "\"%s\":%llu",
            PID_CORES + record->core, record->pipe, (double)record->start_ns / 1e3,
            (double)(record->dur_ps / 1000) / 1e3, record->pc, work_unit(record, name),
            (unsigned long long)record->bytes);
    write_line(file, rt_profile_kernel(profile, record->cmd_id), record->pc);
    if (record->wait_ps && record->why < sizeof(why) / sizeof(why[0])) {
        fprintf(file, ",\"waited_us\":%.3f,\"for\":\"%s\"", record->wait_ps * 1e-6,
                why[record->why]);
    }
    if (record->missed) {
        fprintf(file, ",\"missed_bytes\":%llu", (unsigned long long)record->missed);
    }
    fprintf(file, "}}");
    if (record->wait_ps && record->why == LEO_STALL_FLAG) {
        write_arrow(file, recent, record, number);
    }
    remember(recent, record);
}

/* Global memory in GB/s, and how much of what was read the L2 had, in BINS intervals. */
static void write_counters(FILE *file, const struct rt_profile_records *records)
{
    enum { BINS = 200 };
    double read[BINS] = {0}, missed[BINS] = {0}, written[BINS] = {0};
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < records->trace_count; i++) {
        const struct leo_trace_record *record = &records->traces[i];
        const uint64_t end = end_of(record);
        first = record->start_ns < first ? record->start_ns : first;
        last = end > last ? end : last;
    }
    if (last <= first) {
        return;
    }
    const double step = (double)(last - first) / BINS;
    for (size_t i = 0; i < records->trace_count; i++) {
        const struct leo_trace_record *record = &records->traces[i];
        if (record->gm == 0) {
            continue;
        }
        const unsigned bin = (unsigned)((double)(record->start_ns - first) / step);
        double *sum = record->gm == LEO_GM_WRITE ? written : read;
        sum[bin < BINS ? bin : BINS - 1] += (double)record->bytes;
        missed[bin < BINS ? bin : BINS - 1] += (double)record->missed;
    }
    for (int i = 0; i < BINS; i++) {
        const bool same = i > 0 && read[i] == read[i - 1] && written[i] == written[i - 1] &&
                          missed[i] == missed[i - 1];
        if (same) {
            continue; // a counter keeps its value
        }
        const double at = ((double)first + i * step) / 1e3;
        fprintf(file,
                ",\n{\"ph\":\"C\",\"name\":\"global memory GB/s\",\"pid\":%d,\"ts\":%.3f,"
                "\"args\":{\"read\":%.1f,\"written\":%.1f}}"
                ",\n{\"ph\":\"C\",\"name\":\"L2 hits %%\",\"pid\":%d,\"ts\":%.3f,"
                "\"args\":{\"of what was read\":%.1f}}",
                PID_STREAMS, at, read[i] / step, written[i] / step, PID_STREAMS, at,
                read[i] > 0 ? 100 * (1 - (missed[i] < read[i] ? missed[i] / read[i] : 1)) : 0);
    }
}

// Names the rows that are used.
static void write_row_names(FILE *file, const struct rt_profile_records *records)
{
    bool core[CORES_MAX][LEO_PIPE_COUNT] = {{false}};
    char name[32];
    for (size_t i = 0; i < records->trace_count; i++) {
        const struct leo_trace_record *record = &records->traces[i];
        if (record->pipe < LEO_PIPE_COUNT) {
            core[record->core][record->pipe] = true;
        }
    }
    for (unsigned i = 0; i < CORES_MAX; i++) {
        bool used = false;
        for (unsigned pipe = 0; pipe < LEO_PIPE_COUNT; pipe++) {
            if (core[i][pipe]) {
                write_row_name(file, "thread_name", PID_CORES + i, pipe,
                               leo_pipe_name((enum leo_pipe)pipe));
                used = true;
            }
        }
        if (used) {
            snprintf(name, sizeof(name), "core %u", i);
            write_row_name(file, "process_name", PID_CORES + i, 0, name);
        }
    }
    uint16_t last = UINT16_MAX;
    for (size_t i = 0; i < records->task_count; i++) {
        // Naming a row twice is harmless.
        if (records->tasks[i].queue != last) {
            last = records->tasks[i].queue;
            snprintf(name, sizeof(name), "stream %u", last);
            write_row_name(file, "thread_name", PID_STREAMS, last, name);
        }
    }
}

/* A file gets its name once it is whole: half of one looks like a whole one in which little
 * happened. What is no file (a pipe, /dev/full) is written as it is. */
struct part {
    FILE *file;
    const char *path;
    char name[4096]; /**< until then; empty: `path` is no file */
};

static leo_status begin_part(struct part *part, const char *path)
{
    struct stat info;
    const bool is_file = stat(path, &info) != 0 || S_ISREG(info.st_mode);
    *part = (struct part){.path = path};
    if (is_file &&
        snprintf(part->name, sizeof(part->name), "%s.part", path) >= (int)sizeof(part->name)) {
        return rt_fail(LEO_ERR_INVALID_ARG, "the timeline's path is too long");
    }
    part->file = fopen(is_file ? part->name : path, "w");
    return part->file
               ? LEO_OK
               : rt_fail(LEO_ERR_IO, "cannot write the timeline %s: %s", path, strerror(errno));
}

static leo_status end_part(struct part *part)
{
    bool bad = ferror(part->file);
    bad = fclose(part->file) != 0 || bad;
    bad = bad || (part->name[0] && rename(part->name, part->path) != 0);
    if (!bad) {
        return LEO_OK;
    }
    leo_status status =
        rt_fail(LEO_ERR_IO, "cannot write the timeline %s: %s", part->path, strerror(errno));
    if (part->name[0]) {
        unlink(part->name);
    }
    return status;
}

static void write_traces(FILE *file, const struct rt_profile_records *records,
                         const struct rt_profile *profile, struct recent *recent)
{
    for (size_t i = 0; i < records->trace_count; i++) {
        write_trace(file, recent, &records->traces[i], profile, i);
    }
}

static void write_events(struct leo_rt_device *device, const struct rt_profile_records *records,
                         FILE *file, struct recent *recent)
{
    fprintf(file,
            "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_"
            "name\",\"pid\":%d,"
            "\"tid\":0,\"args\":{\"name\":\"streams\"}}",
            PID_STREAMS);
    write_row_names(file, records);
    for (size_t i = 0; i < records->task_count; i++) {
        write_task(file, &records->tasks[i], rt_profile_tag_text(device, &records->tasks[i]));
    }
    write_traces(file, records, device->profile, recent);
    write_counters(file, records);
    // Viewers ignore keys they do not know; people who find the end missing do not.
    fprintf(file, "\n],\"tasksDropped\":%llu,\"instructionsDropped\":%llu}\n",
            (unsigned long long)records->tasks_lost, (unsigned long long)records->traces_lost);
}

leo_status leo_rt_profile_write(struct leo_rt_device *device, const char *path)
{
    struct rt_profile_records records;
    struct recent *recent = leo_calloc(1, sizeof(*recent));
    if (!recent) {
        return rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for the timeline %s", path);
    }
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_profile_read(device, &records);
    struct part part;
    if (status == LEO_OK) {
        status = begin_part(&part, path);
    }
    if (status == LEO_OK) {
        write_events(device, &records, part.file, recent);
        status = end_part(&part);
    }
    pthread_mutex_unlock(&device->lock);
    leo_free(recent);
    return status;
}
