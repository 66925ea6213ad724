/* SPDX-License-Identifier: Apache-2.0 */
#include "smi_tables.h"

#include <ctype.h>
#include <leo/status.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef unsigned long long ull; // for printf

/* What all processes together do with a device: each has a chip of its own. */
struct sum {
    uint64_t memory, busy_ns, span_ns;
    int processes;
};

/* The chip's name without a vendor's prefix, in capitals: 910B1, MLU370. */
static void short_name(const char *soc, char *name, size_t bytes)
{
    static const char prefix[] = "ascend";
    size_t used = 0;
    if (strncasecmp(soc, prefix, strlen(prefix)) == 0) {
        soc += strlen(prefix);
    }
    for (; *soc && used + 1 < bytes; soc++) {
        name[used++] = (char)toupper((unsigned char)*soc);
    }
    name[used] = '\0';
}

static struct sum sum_up(const struct smi_device *device, int index, const struct smi_use *uses,
                         size_t count)
{
    struct sum sum = {0};
    for (size_t i = 0; i < count; i++) {
        const struct smi_use *use = &uses[i];
        if (use->device == index && strcmp(use->chip, device->caps.soc_name) == 0) {
            sum.memory += use->memory_used;
            sum.busy_ns += use->cube_ns > use->vector_ns ? use->cube_ns : use->vector_ns;
            sum.span_ns += use->time_ns;
            sum.processes++;
        }
    }
    return sum;
}

static int percent(const struct sum *sum)
{
    return sum->span_ns ? (int)(100.0 * (double)sum->busy_ns / (double)sum->span_ns + 0.5) : 0;
}

/* ---- as npu-smi: power, temperature and places on the bus are not modelled ---- */

static const char npu_line[] =
    "+---------------------------+---------------+-------------------------------------------------"
    "---+";
static const char npu_double[] =
    "+===========================+===============+================================================="
    "===+";

static void print_npu_device(const struct smi_device *device, int index, const struct sum *sum)
{
    char name[32], memory[64];
    short_name(device->caps.soc_name, name, sizeof(name));
    snprintf(memory, sizeof(memory), "%llu / %llu", (ull)sum->memory >> 20,
             (ull)device->memory_total >> 20);
    printf("| %-5d %-19s | %-13s | %-11s %-17s %-21s|\n", index, name, "OK", "-", "-", "0    / 0");
    printf("| %-5d %-19s | %-13s | %-11d %-17s %-21s|\n", 0, "", "NA", percent(sum), "0    / 0",
           memory);
    puts(npu_double);
}

static void print_npu(const struct smi_device *devices, int device_count,
                      const struct smi_use *uses, size_t use_count)
{
    printf("+%.96s+\n", "-----------------------------------------------------------------------"
                        "-------------------------");
    printf("| npu-smi %-24s Version: %-52s |\n", "leonardo", "leonardo");
    puts(npu_line);
    printf("| %-5s %-19s | %-13s | %-11s %-17s %-21s|\n", "NPU", "Name", "Health", "Power(W)",
           "Temp(C)", "Hugepages-Usage(page)");
    printf("| %-5s %-19s | %-13s | %-11s %-17s %-21s|\n", "Chip", "", "Bus-Id", "AICore(%)",
           "Memory-Usage(MB)", "HBM-Usage(MB)");
    puts(npu_double);
    for (int i = 0; i < device_count; i++) {
        const struct sum sum = sum_up(&devices[i], i, uses, use_count);
        print_npu_device(&devices[i], i, &sum);
    }
    puts(npu_line);
    printf("| %-7s %-17s | %-13s | %-24s | %-23s |\n", "NPU", "Chip", "Process id", "Process name",
           "Process memory(MB)");
    puts(npu_double);
    for (int i = 0; i < device_count; i++) {
        const struct sum sum = sum_up(&devices[i], i, uses, use_count);
        if (sum.processes == 0) {
            printf("| No running processes found in NPU %-60d |\n", i);
        }
        for (size_t k = 0; k < use_count; k++) {
            if (uses[k].device == i && strcmp(uses[k].chip, devices[i].caps.soc_name) == 0) {
                printf("| %-7d %-17d | %-13d | %-24.24s | %-23llu |\n", i, 0, uses[k].pid,
                       uses[k].command, (ull)uses[k].memory_used >> 20);
            }
        }
        puts(npu_double);
    }
}

/* ---- as cnmon ---- */

static const char mlu_line[] =
    "+-------------------------------+----------------------+-----------------------+";
static const char mlu_wide[] =
    "+------------------------------------------------------------------------------+";

static void print_mlu_device(const struct smi_device *device, int index, const struct sum *sum)
{
    char name[32], share[16];
    short_name(device->caps.soc_name, name, sizeof(name));
    snprintf(share, sizeof(share), "%d%%", percent(sum));
    printf("| %-5d %-3s %-10s %8s | %20s | %-11s %9s |\n", index, "/", name, "N/A", "N/A", share,
           "N/A");
    printf("| %3s   %-4s %18s | %5llu MiB/%6llu MiB | %-11s %9s |\n", "N/A", "N/A", "N/A / N/A",
           (ull)sum->memory >> 20, (ull)device->memory_total >> 20, "FULL", "Default");
    puts(mlu_line);
}

static void print_mlu(const struct smi_device *devices, int device_count,
                      const struct smi_use *uses, size_t use_count)
{
    int shown = 0;
    puts(mlu_wide);
    printf("| CNMON %-22s Driver %-40s |\n", "leonardo", "leonardo");
    puts(mlu_line);
    printf("| %-5s %-3s %-10s %8s | %20s | %-11s %9s |\n", "Card", "VF", "Name", "Firmware",
           "Bus-Id", "Util", "Ecc-Error");
    printf("| %-4s  %-4s %18s | %20s | %-8s %12s |\n", "Fan", "Temp", "Pwr:Usage/Cap",
           "Memory-Usage", "Mode", "Compute-Mode");
    puts("|===============================+======================+=======================|");
    for (int i = 0; i < device_count; i++) {
        const struct sum sum = sum_up(&devices[i], i, uses, use_count);
        print_mlu_device(&devices[i], i, &sum);
    }
    printf("\n%s\n", mlu_wide);
    printf("| %-76s |\n", "Processes:");
    printf("|  %-5s %-3s %-7s %-40s %16s |\n", "Card", "MI", "PID", "Command Line",
           "MLU Memory Usage");
    puts("|==============================================================================|");
    for (size_t k = 0; k < use_count; k++) {
        const struct smi_use *use = &uses[k];
        if (use->device < device_count &&
            strcmp(use->chip, devices[use->device].caps.soc_name) == 0) {
            printf("|  %-5d %-3s %-7d %-40.40s %12llu MiB |\n", use->device, "/", use->pid,
                   use->command, (ull)use->memory_used >> 20);
            shown++;
        }
    }
    if (shown == 0) {
        printf("|  %-75s |\n", "No running processes found");
    }
    puts(mlu_wide);
}

void smi_print_table(enum smi_style style, const struct smi_device *devices, int device_count,
                     const struct smi_use *uses, size_t use_count)
{
    switch (style) {
    case SMI_STYLE_NPU:
        print_npu(devices, device_count, uses, use_count);
        break;
    case SMI_STYLE_MLU:
        print_mlu(devices, device_count, uses, use_count);
        break;
    case SMI_STYLE_NONE:
        break;
    }
}
