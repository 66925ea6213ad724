/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the raw files of a profile; tools/toolkit/msprof reads them and says what is in them. */
#include "prof.h"

#include <errno.h>
#include <inttypes.h>
#include <leo/alloc.h>
#include <leo/code_profile.h>
#include <leo/host_model.h>
#include <leo/insn.h>
#include <leo/layout.h>
#include <leo/soc.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct writer {
    const char *folder;
    char *error;
    size_t error_bytes;
};

static bool fail(const struct writer *writer, const char *what, const char *path)
{
    snprintf(writer->error, writer->error_bytes, "cannot %s %s: %s", what, path, strerror(errno));
    return false;
}

void prof_name_folder(char *folder, size_t bytes, const char *path, unsigned number)
{
    char when[32], letters[9];
    time_t now = time(NULL);
    struct tm parts;
    localtime_r(&now, &parts);
    strftime(when, sizeof(when), "%Y%m%d%H%M%S", &parts);
    unsigned process = (unsigned)getpid();
    for (size_t i = 0; i + 1 < sizeof(letters); i++) {
        letters[i] = (char)('A' + (process >> (i * 4) & 15));
    }
    letters[sizeof(letters) - 1] = '\0';
    snprintf(folder, bytes, "%.*s/PROF_%06u_%s000_%s", (int)bytes - 64, path, number, when,
             letters);
}

bool prof_make_folder(const char *path, char *error, size_t error_bytes)
{
    char part[PROF_PATH_BYTES];
    const struct writer writer = {path, error, error_bytes};
    snprintf(part, sizeof(part), "%s", path);
    for (char *at = part + 1; *at; at++) {
        if (*at == '/') {
            *at = '\0';
            if (mkdir(part, 0750) != 0 && errno != EEXIST) {
                return fail(&writer, "make the folder", part);
            }
            *at = '/';
        }
    }
    return (mkdir(part, 0750) == 0 || errno == EEXIST) || fail(&writer, "make the folder", part);
}

static FILE *open_file(const struct writer *writer, const char *name, char path[PROF_PATH_BYTES])
{
    snprintf(path, PROF_PATH_BYTES, "%.*s/%s", PROF_PATH_BYTES - 64, writer->folder, name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    bool good = prof_make_folder(path, writer->error, writer->error_bytes);
    *slash = '/';
    FILE *file = good ? fopen(path, "w") : NULL;
    if (good && !file) {
        fail(writer, "write", path);
    }
    return file;
}

// A full disk shows at the latest here.
static bool close_file(const struct writer *writer, FILE *file, const char *path)
{
    bool good = fflush(file) == 0 && !ferror(file);
    int error = errno;
    good = fclose(file) == 0 && good;
    if (!good) {
        errno = error;
        fail(writer, "write", path);
    }
    return good;
}

static void write_quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"') {
            fputc('"', file);
        }
        fputc(*text, file);
    }
    fputc('"', file);
}

/** One moment on the clocks of the host. */
struct moment {
    struct timespec real;
    uint64_t raw_ns, count; /**< CLOCK_MONOTONIC_RAW, and what rdtsc counts */
};

#if defined(__x86_64__)
static uint64_t read_counter(void)
{
    return __builtin_ia32_rdtsc();
}
#else
// The same rate as the other clock: programs then read both alike.
static uint64_t read_counter(void)
{
    return leo_rt_profile_clock_ns();
}
#endif

static struct moment take_moment(void)
{
    struct moment now;
    clock_gettime(CLOCK_REALTIME, &now.real);
    now.raw_ns = leo_rt_profile_clock_ns();
    now.count = read_counter();
    return now;
}

static bool write_text(const struct writer *writer, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool write_text(const struct writer *writer, const char *name, const char *format, ...)
{
    char path[PROF_PATH_BYTES];
    FILE *file = open_file(writer, name, path);
    if (!file) {
        return false;
    }
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    return close_file(writer, file, path);
}

bool prof_write_start(const char *folder, char *error, size_t error_bytes)
{
    const struct writer writer = {folder, error, error_bytes};
    const struct moment now = take_moment();
    return write_text(&writer, "host/start_info",
                      "{\"collectionTimeBegin\": \"%" PRIu64 "\", \"clockMonotonicRaw\": \"%" PRIu64
                      "\", \"pid\": %ld}\n",
                      (uint64_t)now.real.tv_sec * 1000000u + (uint64_t)now.real.tv_nsec / 1000u,
                      now.raw_ns, (long)getpid()) &&
           // MindSpore stamps what it does with the counter.
           write_text(&writer, "host/host_start.log",
                      "[Host]\nclock_monotonic_raw = %" PRIu64 "\ncntvct = %" PRIu64 "\n",
                      now.raw_ns, now.count);
}

// The same at the end: the counter's rate.
static bool write_end(const struct writer *writer)
{
    const struct moment now = take_moment();
    return write_text(writer, "host/host_end.log",
                      "[Host]\nclock_monotonic_raw = %" PRIu64 "\ncntvct = %" PRIu64 "\n",
                      now.raw_ns, now.count);
}

/** The three logs of the host, open together: marks are in one list. */
enum { LAUNCHES, CALLS, MEMORY, LOGS };
static const char *const log_name[LOGS] = {"host/data/launch.csv", "host/data/api.csv",
                                           "host/data/memory.csv"};
static const char *const log_header[LOGS] = {"device,task,thread,ns", "level,name,thread,begin,end",
                                             "device,ns,bytes"};

static void write_mark(FILE *const file[LOGS], uint32_t device,
                       const struct leo_rt_profile_mark *mark)
{
    switch (mark->kind) {
    case LEO_RT_PROFILE_LAUNCH:
        fprintf(file[LAUNCHES], "%u,%" PRIu64 ",%u,%" PRIu64 "\n", device, mark->value,
                mark->thread, mark->begin_ns);
        break;
    case LEO_RT_PROFILE_CALL:
    case LEO_RT_PROFILE_OPERATOR:
        fputs(mark->kind == LEO_RT_PROFILE_CALL ? "acl," : "operator,", file[CALLS]);
        write_quoted(file[CALLS], mark->name);
        fprintf(file[CALLS], ",%u,%" PRIu64 ",%" PRIu64 "\n", mark->thread, mark->begin_ns,
                mark->end_ns);
        break;
    case LEO_RT_PROFILE_MEMORY:
        fprintf(file[MEMORY], "%u,%" PRIu64 ",%" PRIu64 "\n", device, mark->begin_ns, mark->value);
        break;
    }
}

/* Collectives: a file only if there were some. */
static bool write_links(const struct writer *writer, const struct prof_device *devices,
                        uint32_t count)
{
    FILE *file = NULL;
    char path[PROF_PATH_BYTES];
    for (uint32_t d = 0; d < count; d++) {
        const struct leo_rt_profile_link *links = NULL;
        size_t link_count = 0;
        if (leo_rt_profile_links(devices[d].rt, &links, &link_count) != LEO_OK) {
            continue; // said already of its marks
        }
        if (link_count && !file) {
            file = open_file(writer, "host/data/link.csv", path);
            if (!file) {
                return false;
            }
            fprintf(file, "device,name,group,rank,ranks,bytes,begin,ready,end\n");
        }
        for (size_t i = 0; i < link_count; i++) {
            const struct leo_rt_profile_link *link = &links[i];
            fprintf(file, "%u,", devices[d].number);
            write_quoted(file, link->name);
            fputc(',', file);
            write_quoted(file, link->group);
            fprintf(file, ",%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", link->rank,
                    link->ranks, link->bytes, link->begin_ns, link->ready_ns, link->end_ns);
        }
    }
    return !file || close_file(writer, file, path);
}

static bool write_host(const struct writer *writer, const struct prof_device *devices,
                       uint32_t count)
{
    FILE *file[LOGS] = {NULL};
    char path[LOGS][PROF_PATH_BYTES];
    bool good = true;
    for (int i = 0; good && i < LOGS; i++) {
        file[i] = open_file(writer, log_name[i], path[i]);
        good = file[i] != NULL;
        if (good) {
            fprintf(file[i], "%s\n", log_header[i]);
        }
    }
    for (uint32_t d = 0; good && d < count; d++) {
        const struct leo_rt_profile_mark *marks;
        size_t mark_count;
        if (leo_rt_profile_marks(devices[d].rt, &marks, &mark_count) != LEO_OK) {
            snprintf(writer->error, writer->error_bytes, "%s", leo_rt_last_error());
            good = false;
            break;
        }
        for (size_t i = 0; i < mark_count; i++) {
            write_mark(file, devices[d].number, &marks[i]);
        }
    }
    for (int i = 0; i < LOGS; i++) {
        good = (!file[i] || close_file(writer, file[i], path[i])) && good;
    }
    return good && write_links(writer, devices, count);
}

enum { STALLS = LEO_STALL_MEMORY + 1 };

static void write_task_head(FILE *file)
{
    static const char *const pipe[] = {"scalar", "vec", "mac", "mte1", "mte2", "mte3", "fixpipe"};
    static const char *const stall[STALLS] = {"scalar", "flag", "barrier",
                                              "queue",  "bank", "memory"};
    fprintf(file, "task,stream,kind,core_kind,tag,blocks,cores,start_ns,end_ns,core_cycles,gm_read,"
                  "gm_write");
    for (int i = 0; i < LEO_PIPE_ALL; i++) {
        fprintf(file, ",%s", pipe[i]);
    }
    fprintf(file, ",l2_hits,hbm_read,hbm_write");
    for (int i = 0; i < LEO_PIPE_ALL * STALLS; i++) {
        fprintf(file, ",%s_%s", pipe[i / STALLS], stall[i % STALLS]);
    }
    fputc('\n', file);
}

static void write_task(FILE *file, const struct leo_rt_profile_task *task)
{
    static const char *const opcode[] = {
        [LEO_SQE_OP_KERNEL] = "kernel",
        [LEO_SQE_OP_COPY] = "copy",
        [LEO_SQE_OP_FILL] = "fill",
        [LEO_SQE_OP_EVENT_RECORD] = "event record",
        [LEO_SQE_OP_EVENT_WAIT] = "event wait",
        [LEO_SQE_OP_OVERFLOW] = "overflow status",
    };
    const struct leo_task_record *r = &task->record;
    const char *what = r->opcode < sizeof(opcode) / sizeof(opcode[0]) ? opcode[r->opcode] : NULL;
    fprintf(file, "%u,%u,%s,%s,", r->cmd_id, r->queue, what ? what : "task",
            leo_core_kind_name(r->core_kind < LEO_CORE_KIND_COUNT ? (enum leo_core_kind)r->core_kind
                                                                  : LEO_CORE_KIND_ANY));
    write_quoted(file, task->tag);
    fprintf(file, ",%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, r->block_num,
            r->cores, r->start_ns, r->end_ns, r->core_cycles, r->gm_read, r->gm_write);
    for (int pipe = 0; pipe < LEO_PIPE_ALL; pipe++) {
        fprintf(file, ",%" PRIu64, r->busy[pipe]);
    }
    fprintf(file, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, r->l2_hits, r->hbm_read, r->hbm_write);
    for (int i = 0; i < LEO_PIPE_ALL * STALLS; i++) {
        fprintf(file, ",%" PRIu64, r->stall[i]);
    }
    fputc('\n', file);
}

static bool write_tasks(const struct writer *writer, const struct prof_device *device,
                        uint64_t *lost)
{
    char name[64], path[PROF_PATH_BYTES];
    size_t count = 0;
    leo_status status = leo_rt_profile_tasks(device->rt, NULL, 0, &count, lost);
    struct leo_rt_profile_task *tasks =
        status == LEO_OK ? leo_calloc(count + 1, sizeof(*tasks)) : NULL;
    if (tasks) {
        status = leo_rt_profile_tasks(device->rt, tasks, count, &count, lost);
    }
    if (!tasks || status != LEO_OK) {
        snprintf(writer->error, writer->error_bytes, "%s",
                 status == LEO_OK ? "out of host memory" : leo_rt_last_error());
        leo_free(tasks);
        return false;
    }
    snprintf(name, sizeof(name), "device_%u/data/task.csv", device->number);
    FILE *file = open_file(writer, name, path);
    if (file) {
        write_task_head(file);
        for (size_t i = 0; i < count; i++) {
            write_task(file, &tasks[i]);
        }
    }
    leo_free(tasks);
    return file && close_file(writer, file, path);
}

// The chip's numbers, for rooflines.
static bool write_soc(const struct writer *writer, uint32_t number, const char *text)
{
    char file_name[64], path[PROF_PATH_BYTES];
    snprintf(file_name, sizeof(file_name), "device_%u/data/soc.ini", number);
    FILE *file = text ? open_file(writer, file_name, path) : NULL;
    if (file) {
        fputs(text, file);
    }
    return !text || (file && close_file(writer, file, path));
}

static void write_place(void *user, const struct leo_rt_code_place *place)
{
    FILE *file = user;
    struct leo_insn_word insn;
    const bool known = leo_insn_decode(place->word, &insn);
    fprintf(file, "%u,0x%x,%s,%s,", place->core, place->pc, known ? leo_insn_name(insn.insn) : "",
            place->pipe < LEO_PIPE_ALL ? leo_pipe_name(place->pipe) : "s");
    write_quoted(file, place->file);
    fprintf(file, ",%d,", place->line);
    write_quoted(file, place->function);
    fprintf(file, ",0x%08x,%" PRIu64 ",%.2f,%" PRIu64, place->word, place->count,
            place->scalar_cycles, place->busy_ps);
    for (int i = 0; i < STALLS; i++) {
        fprintf(file, ",%" PRIu64, place->wait_ps[i]);
    }
    fprintf(file, ",%" PRIu64 "\n", place->bytes);
}

// Hot spots: a row an instruction and core; and the timeline they are taken from.
static bool write_code(const struct writer *writer, const struct prof_device *device)
{
    char name[64], path[PROF_PATH_BYTES];
    if (!leo_rt_counts_code(device->rt)) {
        return true;
    }
    snprintf(name, sizeof(name), "device_%u/data/code.csv", device->number);
    FILE *file = open_file(writer, name, path);
    if (!file) {
        return false;
    }
    fprintf(file, "core,pc,insn,pipe,file,line,function,word,count,scalar_cycles,busy_ps,"
                  "scalar_ps,flag_ps,barrier_ps,queue_ps,bank_ps,memory_ps,bytes\n");
    leo_status status = leo_rt_profile_code(device->rt, write_place, file);
    bool good = close_file(writer, file, path) && status == LEO_OK;
    if (good) {
        snprintf(path, sizeof(path), "%s/device_%u/data/trace.json", writer->folder,
                 device->number);
        status = leo_rt_profile_write(device->rt, path);
        good = status == LEO_OK;
    }
    if (status != LEO_OK) {
        snprintf(writer->error, writer->error_bytes, "%s", leo_rt_last_error());
    }
    return good;
}

static bool write_device(const struct writer *writer, const struct prof_device *device,
                         const struct aclprofConfig *config)
{
    char name[64], path[PROF_PATH_BYTES];
    uint64_t lost = 0;
    struct leo_caps caps;
    if (!write_tasks(writer, device, &lost)) {
        return false;
    }
    leo_rt_device_get_caps(device->rt, &caps);
    if (!write_soc(writer, device->number, leo_rt_soc_text(device->rt)) ||
        !write_code(writer, device)) {
        return false;
    }
    snprintf(name, sizeof(name), "device_%u/data/device.json", device->number);
    FILE *file = open_file(writer, name, path);
    if (!file) {
        return false;
    }
    fprintf(file,
            "{\"soc\": \"%s\", \"arch\": %u, \"clock_khz\": %u, \"cube_cores\": %u, "
            "\"vector_cores\": %u, \"hbm_bytes\": %" PRIu64 ", \"metrics\": %d, \"lost\": %" PRIu64
            ", \"host_model\": \"%s\"}\n",
            caps.soc_name, caps.arch, caps.clock_khz, caps.cube_cores, caps.vector_cores,
            caps.hbm_bytes, (int)config->metrics, lost, leo_rt_device_host_model(device->rt));
    return close_file(writer, file, path);
}

bool prof_write_result(const char *folder, const struct prof_device *devices, uint32_t count,
                       const struct aclprofConfig *config, char *error, size_t error_bytes)
{
    const struct writer writer = {folder, error, error_bytes};
    bool good = write_end(&writer) && write_host(&writer, devices, count);
    for (uint32_t i = 0; good && i < count; i++) {
        good = write_device(&writer, &devices[i], config);
    }
    return good;
}
