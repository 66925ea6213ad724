/* SPDX-License-Identifier: Apache-2.0 */
#include "leo_cmd.h"
#include "smi_processes.h"
#include "smi_tables.h"

#include <errno.h>
#include <jansson.h>
#include <leo/alloc.h>
#include <leo/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "usage: leo smi [--soc NAME|FILE] [--json] [--style npu|mlu] [--watch [SECONDS]] [--count N]\n"
    "Lists the devices that a program started now would see (LEO_SOC, LEO_DEVICES): chip, cores, "
    "clock,\n"
    "on-chip buffers, memory; then the processes of this user that have devices open.\n"
    "\n"
    "  --json     the same as JSON, one document a look\n"
    "  --style    in the table of npu-smi info, or of cnmon; of processes those with such chips\n"
    "  --watch    look again every SECONDS (1), until interrupted; shares are then of the "
    "simulated "
    "time\n"
    "             since the look before, else of all of it\n"
    "  --count    with --watch: so many looks\n";

struct options {
    struct leo_rt_opts rt;
    bool json, watch;
    enum smi_style style;
    double seconds;
    long count; /* 0 = for ever */
};

/* ---- a look ---- */

struct look {
    struct leo_rt *rt;
    struct smi_uses now, before;
};

/* Of simulated time, in percent. */
static double share(uint64_t busy_ns, uint64_t span_ns)
{
    return span_ns ? 100.0 * (double)busy_ns / (double)span_ns : 0;
}

/* What happened between two looks, or since the process opened the device. */
static struct smi_use difference(const struct look *look, const struct smi_use *use)
{
    struct smi_use gone = *use;
    const struct smi_use *before = smi_find(&look->before, use);
    if (before && before->tasks <= use->tasks) {
        gone.time_ns -= before->time_ns;
        gone.cube_ns -= before->cube_ns;
        gone.vector_ns -= before->vector_ns;
        gone.tasks -= before->tasks;
        gone.kernels -= before->kernels;
        gone.link_bytes -= before->link_bytes;
    }
    return gone;
}

static leo_status get_caps(struct leo_rt *rt, int index, struct leo_caps *caps, uint64_t *used,
                           uint64_t *total)
{
    struct leo_rt_device *device = NULL;
    uint64_t left = 0;
    leo_status status = leo_rt_device_open(rt, index, &device);
    if (status == LEO_OK) {
        leo_rt_device_get_caps(device, caps);
        status = leo_rt_memory_info(device, &left, total);
        *used = *total - left;
        leo_rt_device_close(device);
    }
    return status;
}

/* ---- as text ---- */

static leo_status print_devices(struct leo_rt *rt)
{
    leo_status status = LEO_OK;
    printf("device  chip          arch   cube  vector       clock       UB       L1"
           "  memory used / total\n");
    for (int i = 0; status == LEO_OK && i < leo_rt_device_count(rt); i++) {
        struct leo_caps caps;
        uint64_t used = 0, total = 0;
        status = get_caps(rt, i, &caps, &used, &total);
        if (status == LEO_OK) {
            printf("%6d  %-12s %5u %6u %7u %8u MHz %6u K %6u K %8llu / %llu MiB\n", i,
                   caps.soc_name, caps.arch, caps.cube_cores, caps.vector_cores,
                   caps.clock_khz / 1000, caps.ub_bytes / 1024, caps.l1_bytes / 1024,
                   (unsigned long long)used >> 20, (unsigned long long)total >> 20);
        }
    }
    return status;
}

static void print_processes(const struct look *look)
{
    printf("\n    pid device  command          chip         memory MiB  simulated ms   cube %% "
           "vector %%     tasks  link MiB\n");
    for (size_t i = 0; i < look->now.count; i++) {
        const struct smi_use *use = &look->now.all[i];
        const struct smi_use span = difference(look, use);
        printf("%7d %6d  %-16s %-12s %10llu %13.3f %8.1f %8.1f %9llu %9.1f\n", use->pid,
               use->device, use->command, use->chip, (unsigned long long)use->memory_used >> 20,
               (double)use->time_ns / 1e6, share(span.cube_ns, span.time_ns),
               share(span.vector_ns, span.time_ns), (unsigned long long)use->tasks,
               (double)use->link_bytes / (1 << 20));
    }
    if (look->now.count == 0) {
        printf("no process has a device open\n");
    }
}

/* ---- as the vendors' commands ---- */

static leo_status print_table(const struct look *look, enum smi_style style)
{
    struct smi_device devices[8];
    const int most = (int)(sizeof(devices) / sizeof(devices[0]));
    const int count = leo_rt_device_count(look->rt) < most ? leo_rt_device_count(look->rt) : most;
    struct smi_use *spans = leo_calloc(look->now.count + 1, sizeof(*spans));
    leo_status status = spans ? LEO_OK : LEO_ERR_NO_MEMORY;
    for (int i = 0; status == LEO_OK && i < count; i++) {
        uint64_t used;
        status = get_caps(look->rt, i, &devices[i].caps, &used, &devices[i].memory_total);
    }
    for (size_t i = 0; status == LEO_OK && i < look->now.count; i++) {
        spans[i] = difference(look, &look->now.all[i]);
    }
    if (status == LEO_OK) {
        smi_print_table(style, devices, count, spans, look->now.count);
    }
    leo_free(spans);
    return status;
}

/* ---- as JSON ---- */

static json_t *json_devices(struct leo_rt *rt, leo_status *status)
{
    json_t *list = json_array();
    for (int i = 0; *status == LEO_OK && i < leo_rt_device_count(rt); i++) {
        struct leo_caps caps;
        uint64_t used = 0, total = 0;
        *status = get_caps(rt, i, &caps, &used, &total);
        if (*status == LEO_OK) {
            json_array_append_new(
                list,
                json_pack("{s:i, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:I}", "device", i, "chip",
                          caps.soc_name, "arch", (int)caps.arch, "cube_cores", (int)caps.cube_cores,
                          "vector_cores", (int)caps.vector_cores, "clock_mhz",
                          (int)caps.clock_khz / 1000, "ub_bytes", (int)caps.ub_bytes, "l1_bytes",
                          (int)caps.l1_bytes, "memory_bytes", (json_int_t)total));
        }
    }
    return list;
}

static json_t *json_processes(const struct look *look)
{
    json_t *list = json_array();
    for (size_t i = 0; i < look->now.count; i++) {
        const struct smi_use *use = &look->now.all[i];
        const struct smi_use span = difference(look, use);
        json_array_append_new(
            list,
            json_pack("{s:i, s:i, s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:I}", "pid",
                      use->pid, "device", use->device, "command", use->command, "chip", use->chip,
                      "memory_used_bytes", (json_int_t)use->memory_used, "memory_bytes",
                      (json_int_t)use->memory_total, "simulated_ns", (json_int_t)use->time_ns,
                      "cube_percent", share(span.cube_ns, span.time_ns), "vector_percent",
                      share(span.vector_ns, span.time_ns), "tasks", (json_int_t)use->tasks,
                      "kernels", (json_int_t)use->kernels, "link_bytes",
                      (json_int_t)use->link_bytes));
    }
    return list;
}

static leo_status print_json(const struct look *look)
{
    leo_status status = LEO_OK;
    json_t *root = json_object();
    json_object_set_new(root, "devices", json_devices(look->rt, &status));
    json_object_set_new(root, "processes", json_processes(look));
    if (status == LEO_OK && json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6))) {
        status = LEO_ERR_NO_MEMORY;
    }
    putchar('\n');
    json_decref(root);
    return status;
}

/* ---- looks ---- */

static leo_status look_once(struct look *look, const struct options *options, bool first)
{
    leo_status status = LEO_OK;
    if (!smi_processes(&look->now)) {
        fprintf(stderr, "leo smi: /proc cannot be read\n");
        return LEO_ERR_IO;
    }
    if (options->json) {
        return print_json(look);
    }
    if (options->style != SMI_STYLE_NONE) {
        return print_table(look, options->style);
    }
    if (first) {
        status = print_devices(look->rt);
    }
    if (status == LEO_OK) {
        print_processes(look);
    }
    return status;
}

static leo_status look_on(struct look *look, const struct options *options)
{
    const struct timespec pause = {(time_t)options->seconds,
                                   (long)((options->seconds - (time_t)options->seconds) * 1e9)};
    leo_status status = LEO_OK;
    for (long i = 0; status == LEO_OK && (options->count == 0 || i < options->count); i++) {
        if (i) {
            nanosleep(&pause, NULL);
        }
        status = look_once(look, options, i == 0);
        // Nobody reads any more: the end of a watch, and the caller's to notice.
        if (!options->watch || fflush(stdout) || ferror(stdout)) {
            break;
        }
        leo_free(look->before.all);
        look->before = look->now;
        look->now = (struct smi_uses){0};
    }
    leo_free(look->now.all);
    leo_free(look->before.all);
    return status;
}

static bool number(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = text ? strtod(text, &end) : 0;
    return text && !errno && end != text && *end == '\0' && *value > 0 && *value <= 1e6;
}

/* 0: go on; else the exit code + 1. */
static int read_options(int argc, char **argv, struct options *options)
{
    double value;
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return 1;
        }
        if (strcmp(argv[i], "--json") == 0) {
            options->json = true;
        } else if (strcmp(argv[i], "--style") == 0 && next &&
                   (strcmp(next, "npu") == 0 || strcmp(next, "mlu") == 0)) {
            options->style = strcmp(next, "npu") == 0 ? SMI_STYLE_NPU : SMI_STYLE_MLU;
            i++;
        } else if (strcmp(argv[i], "--watch") == 0) {
            options->watch = true;
            i += number(next, &options->seconds);
            options->seconds = options->seconds > 0 ? options->seconds : 1;
        } else if (strcmp(argv[i], "--count") == 0 && number(next, &value) && value >= 1) {
            options->count = (long)value;
            i++;
        } else if (strcmp(argv[i], "--soc") == 0 && next) {
            options->rt.soc = argv[++i];
        } else {
            fprintf(stderr, "leo smi: unexpected argument %s\n%s", argv[i], help);
            return 3;
        }
    }
    return 0;
}

int leo_cmd_smi(int argc, char **argv)
{
    struct options options = {.rt = {.size = sizeof(options.rt)}};
    struct look look = {0};
    int code = read_options(argc, argv, &options);
    if (code) {
        return code - 1;
    }
    leo_status status = leo_rt_create(&options.rt, &look.rt);
    if (status == LEO_OK) {
        status = look_on(&look, &options);
    }
    if (status != LEO_OK) {
        fprintf(stderr, "leo smi: %s\n", leo_rt_last_error());
    }
    leo_rt_destroy(look.rt);
    return status != LEO_OK;
}
