/* SPDX-License-Identifier: Apache-2.0 */
/* The profile as a timeline file: one process row of streams, one of each core with a thread row a
 * unit. */
#include "profile.h"

#include <errno.h>
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

// What the record's amount of work counts.
static const char *work_unit(const struct leo_trace_record *record, const char *name)
{
    if (record->insn == LEO_INSN_MMAD) {
        return "multiply_adds";
    }
    return name[0] == 'v' || record->insn == LEO_INSN_COPY_MATRIX_CC_TO_GM ? "elements" : "bytes";
}

// Starts are whole nanoseconds, so durations are too: bars of one row must not overlap.
static void write_trace(FILE *file, const struct leo_trace_record *record)
{
    const struct leo_insn_info *info =
        record->insn < LEO_INSN_COUNT ? leo_insn_info((enum leo_insn)record->insn) : NULL;
    const char *name = info ? info->name : "?";
    fprintf(file, ",\n{\"ph\":\"X\",\"name\":");
    write_text(file, name);
    fprintf(file,
            ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"pc\":\"0x%x\","
            "\"%s\":%llu}}",
            PID_CORES + record->core, record->pipe, (double)record->start_ns / 1e3,
            (double)(record->dur_ps / 1000) / 1e3, record->pc, work_unit(record, name),
            (unsigned long long)record->bytes);
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

// Removes a file; leaves alone what is none (a pipe, /dev/full).
static void remove_partial(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
        unlink(path);
    }
}

leo_status leo_rt_profile_write(struct leo_rt_device *device, const char *path)
{
    struct rt_profile_records records;
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_profile_read(device, &records);
    FILE *file = NULL;
    if (!status && !(file = fopen(path, "w"))) {
        status = rt_fail(LEO_ERR_IO, "cannot write the timeline %s: %s", path, strerror(errno));
    }
    if (!status) {
        fprintf(file,
                "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_"
                "name\",\"pid\":%d,"
                "\"tid\":0,\"args\":{\"name\":\"streams\"}}",
                PID_STREAMS);
        write_row_names(file, &records);
        for (size_t i = 0; i < records.task_count; i++) {
            write_task(file, &records.tasks[i], rt_profile_tag_text(device, &records.tasks[i]));
        }
        for (size_t i = 0; i < records.trace_count; i++) {
            write_trace(file, &records.traces[i]);
        }
        // Viewers ignore keys they do not know; people who find the end missing do not.
        fprintf(file, "\n],\"tasksDropped\":%llu,\"instructionsDropped\":%llu}\n",
                (unsigned long long)records.tasks_lost, (unsigned long long)records.traces_lost);
        bool bad = ferror(file);
        if (fclose(file) || bad) {
            status = rt_fail(LEO_ERR_IO, "cannot write the timeline %s: %s", path, strerror(errno));
            remove_partial(path); // half of one looks like a whole one in which little happened
        }
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}
