/* SPDX-License-Identifier: Apache-2.0 */
#include "run_report.h"

#include <leo/alloc.h>
#include <stdio.h>

typedef unsigned long long ull; // for printf

enum { CORES_MAX = 256, STALLS = LEO_STALL_MEMORY + 1 };

/** What the units of a core did in one launch. */
struct core_sums {
    uint64_t first_ns, last_ns, instructions;
    double busy_us[LEO_PIPE_COUNT];
};

static double task_us(const struct leo_task_record *record)
{
    return (double)(record->end_ns - record->start_ns) / 1e3;
}

/* What the units lost time to, in cycles: the first four while they stood, the others while they
 * were busy. */
static void print_stalls(const struct leo_task_record *record)
{
    static const char *const reason[STALLS] = {"scalar", "flag", "barrier",
                                               "queue",  "bank", "memory"};
    printf("  %-6s", "lost");
    for (int i = 0; i < STALLS; i++) {
        printf(" %11s", reason[i]);
    }
    printf("\n");
    for (int pipe = 0; pipe < LEO_PIPE_ALL; pipe++) {
        const uint64_t *stall = &record->stall[pipe * STALLS];
        if (record->busy[pipe] == 0) {
            continue;
        }
        printf("  %-6s", leo_pipe_name((enum leo_pipe)pipe));
        for (int i = 0; i < STALLS; i++) {
            printf(" %11llu", (ull)stall[i]);
        }
        printf("\n");
    }
}

static void print_memory(const struct leo_task_record *record)
{
    const double ns = (double)(record->end_ns - record->start_ns);
    printf("  global memory %llu bytes read, %llu written", (ull)record->gm_read,
           (ull)record->gm_write);
    if (record->gm_read && ns > 0) {
        printf("; %.1f%% of what was read was in the L2\n  HBM %llu bytes read (%.1f GB/s), %llu "
               "written (%.1f GB/s)",
               100 * (double)record->l2_hits / (double)record->gm_read, (ull)record->hbm_read,
               (double)record->hbm_read / ns, (ull)record->hbm_write,
               (double)record->hbm_write / ns);
    }
    printf("\n");
}

static void print_record(const struct run_report *report, const struct leo_task_record *record)
{
    struct leo_caps caps;
    leo_rt_device_get_caps(report->device, &caps);
    double cycles = (double)record->core_cycles;
    printf("%s on %s: %u block%s on %u core%s, %.3f us simulated\n", report->kernel, caps.soc_name,
           record->block_num, record->block_num == 1 ? "" : "s", record->cores,
           record->cores == 1 ? "" : "s", task_us(record));
    printf("  %-6s %14s %8s\n", "unit", "busy cycles", "share");
    for (int pipe = 0; pipe < LEO_PIPE_ALL; pipe++) {
        if (record->busy[pipe] > 0) {
            printf("  %-6s %14llu %7.1f%%\n", leo_pipe_name((enum leo_pipe)pipe),
                   (ull)record->busy[pipe],
                   cycles > 0 ? 100 * (double)record->busy[pipe] / cycles : 0);
        }
    }
    print_stalls(record);
    printf("  core cycles %llu\n", (ull)record->core_cycles);
    print_memory(record);
}

static void print_launches(const double *us, size_t count)
{
    double least = us[0], most = us[0], sum = 0;
    for (size_t i = 0; i < count; i++) {
        least = us[i] < least ? us[i] : least;
        most = us[i] > most ? us[i] : most;
        sum += us[i];
    }
    printf("  %zu launches: first %.3f us, last %.3f us; least %.3f, mean %.3f, most %.3f\n", count,
           us[0], us[count - 1], least, sum / (double)count, most);
}

static void sum_traces(const struct leo_task_record *task, const struct leo_trace_record *traces,
                       size_t count, struct core_sums *cores)
{
    for (size_t i = 0; i < count; i++) {
        const struct leo_trace_record *trace = &traces[i];
        if (trace->cmd_id != task->cmd_id || trace->start_ns < task->start_ns ||
            trace->start_ns > task->end_ns) {
            continue;
        }
        struct core_sums *core = &cores[trace->core];
        uint64_t end_ns = trace->start_ns + trace->dur_ps / 1000;
        core->first_ns =
            !core->last_ns || trace->start_ns < core->first_ns ? trace->start_ns : core->first_ns;
        core->last_ns = end_ns > core->last_ns ? end_ns : core->last_ns;
        core->instructions += trace->pipe != LEO_PIPE_S; // whose bars are stretches
        core->busy_us[trace->pipe] += (double)trace->dur_ps * 1e-6;
    }
}

static void print_balance(const struct core_sums *cores, const bool *used)
{
    unsigned count = 0;
    double most = 0, sum = 0;
    for (unsigned i = 0; i < CORES_MAX; i++) {
        double us = 0;
        for (int pipe = 0; pipe < LEO_PIPE_ALL; pipe++) {
            us += used[pipe] ? cores[i].busy_us[pipe] : 0;
        }
        count += cores[i].instructions > 0;
        sum += us;
        most = us > most ? us : most;
    }
    if (count && sum > 0) {
        printf("  busiest core has %.2f times the mean work of %u cores\n", most * count / sum,
               count);
    }
}

static void print_cores(const struct leo_task_record *task, const struct core_sums *cores)
{
    bool used[LEO_PIPE_COUNT] = {false};
    for (unsigned i = 0; i < CORES_MAX; i++) {
        for (int pipe = 0; pipe < LEO_PIPE_ALL; pipe++) {
            used[pipe] = used[pipe] || cores[i].busy_us[pipe] > 0;
        }
    }
    printf("  core  instructions  first us   last us");
    for (int pipe = 0; pipe < LEO_PIPE_ALL; pipe++) {
        if (used[pipe]) {
            printf(" %9s", leo_pipe_name((enum leo_pipe)pipe));
        }
    }
    printf("  (busy us by unit)\n");
    for (unsigned i = 0; i < CORES_MAX; i++) {
        const struct core_sums *core = &cores[i];
        if (!core->instructions) {
            continue;
        }
        printf("  %4u  %12llu %9.3f %9.3f", i, (ull)core->instructions,
               (double)(core->first_ns - task->start_ns) / 1e3,
               (double)(core->last_ns - task->start_ns) / 1e3);
        for (int pipe = 0; pipe < LEO_PIPE_ALL; pipe++) {
            if (used[pipe]) {
                printf(" %9.3f", core->busy_us[pipe]);
            }
        }
        printf("\n");
    }
    print_balance(cores, used);
}

static void report_cores(const struct run_report *report, const struct leo_task_record *task)
{
    size_t count = 0;
    struct leo_trace_record *traces = leo_alloc(report->traces * sizeof(*traces));
    struct core_sums *cores = leo_calloc(CORES_MAX, sizeof(*cores));
    if (traces && cores &&
        leo_rt_profile_traces(report->device, traces, report->traces, &count, NULL) == LEO_OK) {
        sum_traces(task, traces, count, cores);
        print_cores(task, cores);
    }
    leo_free(cores);
    leo_free(traces);
}

static void tell_dropped(const struct run_report *report, uint64_t tasks_lost)
{
    size_t count = 0;
    uint64_t lost = 0;
    if (tasks_lost) {
        fprintf(
            stderr,
            "leo run: %llu task records were dropped: the times above are of the first %u tasks\n",
            (ull)tasks_lost, report->tasks);
    }
    if (report->traces && leo_rt_profile_traces(report->device, NULL, 0, &count, &lost) == LEO_OK &&
        lost) {
        fprintf(stderr,
                "leo run: %llu instruction records were dropped: the trace and the table by core "
                "hold the "
                "first %zu of %llu (--trace-records sets more)\n",
                (ull)lost, count, (ull)(count + lost));
    }
}

void run_report_print(const struct run_report *report)
{
    size_t count = 0, launches = 0;
    uint64_t lost = 0;
    struct leo_rt_profile_task *tasks = leo_alloc(report->tasks * sizeof(*tasks));
    double *us = leo_alloc(report->tasks * sizeof(*us));
    const struct leo_task_record *last = NULL;
    if (tasks && us &&
        leo_rt_profile_tasks(report->device, tasks, report->tasks, &count, &lost) == LEO_OK) {
        for (size_t i = 0; i < count && i < report->tasks; i++) {
            if (tasks[i].record.opcode == LEO_SQE_OP_KERNEL) {
                last = &tasks[i].record;
                us[launches++] = task_us(last);
            }
        }
        if (last) {
            print_record(report, last);
        }
        if (launches > 1) {
            print_launches(us, launches);
        }
        if (last && report->cores) {
            report_cores(report, last);
        }
        tell_dropped(report, lost);
    }
    leo_free(us);
    leo_free(tasks);
}

/* Of a launch of groups: the cores with UB, or the others. */
static void group_cores(const struct leo_caps *caps, const struct leo_task_record *record,
                        enum leo_mem_space space, unsigned *first, unsigned *count)
{
    unsigned groups = record->block_num < caps->cube_cores ? record->block_num : caps->cube_cores;
    bool vector = space == LEO_MEM_SPACE_UB;
    *first = vector ? caps->cube_cores : 0;
    *count = vector ? groups * (caps->vector_cores / caps->cube_cores) : groups;
}

bool run_report_cores(const struct run_report *report, enum leo_mem_space space, unsigned *first,
                      unsigned *count)
{
    struct leo_caps caps;
    size_t tasks_there = 0;
    bool found = false;
    struct leo_rt_profile_task *tasks = leo_alloc(report->tasks * sizeof(*tasks));
    leo_rt_device_get_caps(report->device, &caps);
    if (tasks &&
        leo_rt_profile_tasks(report->device, tasks, report->tasks, &tasks_there, NULL) == LEO_OK) {
        for (size_t i = 0; i < tasks_there && i < report->tasks; i++) {
            const struct leo_task_record *record = &tasks[i].record;
            if (record->opcode == LEO_SQE_OP_KERNEL) {
                *first = record->core_kind == LEO_CORE_KIND_VECTOR ? caps.cube_cores : 0;
                *count = record->cores;
                if (record->core_kind > LEO_CORE_KIND_VECTOR) {
                    group_cores(&caps, record, space, first, count);
                }
                found = true;
            }
        }
    }
    leo_free(tasks);
    return found;
}
