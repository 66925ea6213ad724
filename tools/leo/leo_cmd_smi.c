/* SPDX-License-Identifier: Apache-2.0 */
#include "leo_cmd.h"

#include <leo/runtime.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: leo smi [--soc NAME|FILE]\n"
    "Lists the devices: chip, cores, clock, on-chip buffers, memory. With the embedded simulator "
    "these\n"
    "are the devices a program started now would see (LEO_SOC, LEO_DEVICES).\n";

static leo_status print_device(struct leo_rt *rt, int index)
{
    struct leo_rt_device *device = NULL;
    struct leo_drv_caps caps;
    uint64_t free_bytes = 0;
    uint64_t total_bytes = 0;
    leo_status status = leo_rt_device_open(rt, index, &device);
    if (status != LEO_OK) {
        return status;
    }
    leo_rt_device_get_caps(device, &caps);
    status = leo_rt_memory_info(device, &free_bytes, &total_bytes);
    printf("%6d  %-12s %5u %6u %7u %8u MHz %6u K %6u K %8llu / %llu MiB\n", index, caps.soc_name,
           caps.arch, caps.cube_cores, caps.vector_cores, caps.clock_khz / 1000,
           caps.ub_bytes / 1024, caps.l1_bytes / 1024,
           (unsigned long long)(total_bytes - free_bytes) >> 20,
           (unsigned long long)total_bytes >> 20);
    leo_rt_device_close(device);
    return status;
}

int leo_cmd_smi(int argc, char **argv)
{
    struct leo_rt_opts opts = {.size = sizeof(opts)};
    struct leo_rt *rt = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--soc") != 0 || i + 1 >= argc) {
            fprintf(stderr, "leo smi: unexpected argument %s\n%s", argv[i], help);
            return 2;
        }
        opts.soc = argv[++i];
    }
    leo_status status = leo_rt_create(&opts, &rt);
    if (status == LEO_OK) {
        printf("device  chip          arch   cube  vector       clock       UB       L1"
               "  memory used / total\n");
    }
    for (int i = 0; status == LEO_OK && i < leo_rt_device_count(rt); i++) {
        status = print_device(rt, i);
    }
    if (status != LEO_OK) {
        fprintf(stderr, "leo smi: %s\n", leo_rt_last_error());
    }
    leo_rt_destroy(rt);
    return status != LEO_OK;
}
