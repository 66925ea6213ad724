/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct report_operator *find(struct report *report, const char *name)
{
    for (unsigned i = 0; i < report->count; i++) {
        if (strcmp(report->operators[i].name, name) == 0) {
            return &report->operators[i];
        }
    }
    // More names than places: the last place takes the rest.
    const unsigned place =
        report->count < REPORT_OPERATORS ? report->count++ : REPORT_OPERATORS - 1;
    struct report_operator *fresh = &report->operators[place];
    if (fresh->count == 0) {
        snprintf(fresh->name, sizeof(fresh->name), "%s", name);
    }
    return fresh;
}

leo_status report_add(struct report *report, struct leo_rt_device *device, size_t capacity)
{
    struct leo_rt_profile_task *tasks = calloc(capacity, sizeof(*tasks));
    size_t count = 0;
    uint64_t lost = 0;
    if (!tasks) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "report: out of host memory");
    }
    leo_status status = leo_rt_profile_tasks(device, tasks, capacity, &count, &lost);
    for (size_t i = 0; status == LEO_OK && i < count && i < capacity; i++) {
        const struct leo_task_record *record = &tasks[i].record;
        struct report_operator *op = find(report, tasks[i].tag ? tasks[i].tag : "?");
        op->count++;
        op->ns += record->end_ns - record->start_ns;
        op->core_cycles += record->core_cycles;
        op->gm_bytes += record->gm_read + record->gm_write;
        op->hbm_bytes += record->hbm_read + record->hbm_write;
        for (int pipe = 0; pipe < 8; pipe++) {
            op->busy[pipe] += record->busy[pipe];
        }
    }
    report->lost += lost;
    free(tasks);
    return status;
}

static int by_time(const void *a, const void *b)
{
    const struct report_operator *left = a, *right = b;
    return left->ns < right->ns ? 1 : left->ns > right->ns ? -1 : strcmp(left->name, right->name);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

leo_status report_roofs_of(struct leo_rt_device *device, struct report_roofs *roofs)
{
    struct leo_caps caps;
    leo_rt_device_get_caps(device, &caps);
    roofs->clock_khz = caps.clock_khz;
    roofs->cubes = caps.cube_cores;
    // A coupled core has both units.
    roofs->vectors = caps.vector_cores ? caps.vector_cores : caps.cube_cores;
    return leo_rt_hbm_gb_per_s(device, &roofs->hbm_gb_per_s);
}

/* How near each operator comes to what the whole chip can do, and to which of its limits. */
static void print_roofline(const struct report *sorted, const struct report_roofs *roofs, FILE *out)
{
    static const char *const names[] = {"cube", "vector", "memory"};
    enum { ROOFS = sizeof(names) / sizeof(names[0]) };
    fprintf(out,
            "\nRoofline: share of what all units, or HBM, of the chip can do in its time\n"
            "%-32s",
            "operator");
    for (int i = 0; i < ROOFS; i++) {
        fprintf(out, " %8s", names[i]);
    }
    fprintf(out, "   nearest roof\n");
    for (unsigned i = 0; i < sorted->count; i++) {
        const struct report_operator *op = &sorted->operators[i];
        if (op->core_cycles == 0) {
            continue;
        }
        const double cycles = (double)op->ns * roofs->clock_khz * 1e-6;
        const double part[ROOFS] = {
            (double)op->busy[LEO_PIPE_M] / (cycles * roofs->cubes),
            (double)op->busy[LEO_PIPE_V] / (cycles * roofs->vectors),
            (double)op->hbm_bytes / ((double)op->ns * roofs->hbm_gb_per_s),
        };
        int nearest = 0;
        fprintf(out, "%-32s", op->name);
        for (int roof = 0; roof < ROOFS; roof++) {
            nearest = part[roof] > part[nearest] ? roof : nearest;
            fprintf(out, " %7.1f%%", 100 * part[roof]);
        }
        // Below what is printed, scalar code is all there is.
        fprintf(out, "   %s\n", part[nearest] < 0.0005 ? "none" : names[nearest]);
    }
}

void report_print(const struct report *report, const struct report_roofs *roofs, FILE *out)
{
    const uint32_t clock_khz = roofs->clock_khz;
    static const enum leo_pipe units[] = {LEO_PIPE_M,    LEO_PIPE_V, LEO_PIPE_MTE1, LEO_PIPE_MTE2,
                                          LEO_PIPE_MTE3, LEO_PIPE_S, LEO_PIPE_FIX};
    static const char *const names[] = {"cube", "vector", "mte1",   "mte2",
                                        "mte3", "scalar", "fixpipe"};
    enum { UNITS = sizeof(units) / sizeof(units[0]) };
    struct report sorted = *report;
    struct report_operator sum = {0};
    qsort(sorted.operators, sorted.count, sizeof(sorted.operators[0]), by_time);
    for (unsigned i = 0; i < sorted.count; i++) {
        const struct report_operator *op = &sorted.operators[i];
        sum.count += op->count;
        sum.ns += op->ns;
        sum.core_cycles += op->core_cycles;
        for (int pipe = 0; pipe < 8; pipe++) {
            sum.busy[pipe] += op->busy[pipe];
        }
    }
    fprintf(
        out,
        "\nSimulated time by operator, its traffic with global memory, and each unit's busy share "
        "of its core time\n");
    fprintf(out, "%-32s %8s %12s %7s %9s %8s", "operator", "count", "total us", "%", "mean us",
            "GB/s");
    for (int i = 0; i < UNITS; i++) {
        fprintf(out, " %8s", names[i]);
    }
    fprintf(out, "\n");
    for (unsigned i = 0; i < sorted.count; i++) {
        const struct report_operator *op = &sorted.operators[i];
        fprintf(out, "%-32s %8" PRIu64 " %12.1f %6.1f%% %9.2f %8.1f", op->name, op->count,
                (double)op->ns * 1e-3, share(op->ns, sum.ns),
                (double)op->ns * 1e-3 / (double)op->count,
                op->ns ? (double)op->gm_bytes / (double)op->ns : 0);
        for (int unit = 0; unit < UNITS; unit++) {
            if (op->core_cycles) {
                fprintf(out, " %7.1f%%", share(op->busy[units[unit]], op->core_cycles));
            } else {
                fprintf(out, " %8s", "-");
            }
        }
        fprintf(out, "\n");
    }
    fprintf(out, "%-32s %8" PRIu64 " %12.1f\n", "all", sum.count, (double)sum.ns * 1e-3);
    fprintf(out, "\nBusy time of the units, summed over cores\n%-32s %12s %7s\n", "unit", "us",
            "%");
    for (int i = 0; i < UNITS; i++) {
        fprintf(out, "%-32s %12.1f %6.1f%%\n", names[i],
                (double)sum.busy[units[i]] * 1e3 / clock_khz,
                share(sum.busy[units[i]], sum.core_cycles));
    }
    fprintf(out, "%-32s %12.1f\n", "core time", (double)sum.core_cycles * 1e3 / clock_khz);
    print_roofline(&sorted, roofs, out);
    if (report->lost) {
        fprintf(out, "(%" PRIu64 " tasks are missing: the profile was full)\n", report->lost);
    }
}
