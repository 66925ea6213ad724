/* SPDX-License-Identifier: Apache-2.0 */
/* What a launch costs the host: median of empty launch + synchronise, time and memory of a chip. */
#include <leo/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const unsigned char bench_launch_elf[];
extern const size_t bench_launch_elf_bytes;

enum { LAUNCHES = 2000 };

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double rss_mib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0;
    while (file && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "VmRSS:", 6) == 0) {
            kib = strtod(line + 6, NULL);
        }
    }
    if (file) {
        fclose(file);
    }
    return kib / 1024;
}

// Median over LAUNCHES; `batch` launches a synchronise.
static leo_status measure(struct leo_rt_kernel *kernel, struct leo_rt_stream *stream, int batch,
                          double *median)
{
    static double took[LAUNCHES];
    leo_status status = LEO_OK;
    for (int i = 0; !status && i < LAUNCHES; i++) {
        double start = now_us();
        for (int j = 0; !status && j < batch; j++) {
            status = leo_rt_launch(kernel, 1, stream, NULL, 0, NULL);
        }
        if (status == LEO_OK) {
            status = leo_rt_stream_synchronize(stream, -1);
        }
        took[i] = (now_us() - start) / batch;
    }
    qsort(took, LAUNCHES, sizeof(took[0]), compare);
    *median = took[LAUNCHES / 2];
    return status;
}

enum { COPY_BYTES = 64 << 20, SMALL_BYTES = 4096 };

// Median of an allocation with its free, a small synchronous copy there and back, and a large one.
static leo_status measure_memory(struct leo_rt_device *device)
{
    static double alloc[LAUNCHES], small[LAUNCHES];
    char *host = calloc(1, COPY_BYTES);
    uint64_t addr = 0;
    leo_status status = host ? LEO_OK : LEO_ERR_NO_MEMORY;
    for (int i = 0; !status && i < LAUNCHES; i++) {
        double start = now_us();
        status = leo_rt_memory_alloc(device, 1 << 20, &addr);
        if (status == LEO_OK) {
            status = leo_rt_memory_free(device, addr);
        }
        alloc[i] = now_us() - start;
    }
    if (status == LEO_OK) {
        status = leo_rt_memory_alloc(device, COPY_BYTES, &addr);
    }
    void *dev = (void *)(uintptr_t)addr;
    for (int i = 0; !status && i < LAUNCHES; i++) {
        double start = now_us();
        status = leo_rt_memcpy(device, dev, host, SMALL_BYTES);
        if (status == LEO_OK) {
            status = leo_rt_memcpy(device, host, dev, SMALL_BYTES);
        }
        small[i] = (now_us() - start) / 2;
    }
    double best[2] = {1e30, 1e30};
    for (int i = 0; !status && i < 6; i++) {
        double start = now_us();
        status = i % 2 ? leo_rt_memcpy(device, host, dev, COPY_BYTES)
                       : leo_rt_memcpy(device, dev, host, COPY_BYTES);
        double took = now_us() - start;
        best[i % 2] = took < best[i % 2] ? took : best[i % 2];
    }
    if (!status) {
        qsort(alloc, LAUNCHES, sizeof(alloc[0]), compare);
        qsort(small, LAUNCHES, sizeof(small[0]), compare);
        printf("allocate + free 1 MiB       %8.2f us\n", alloc[LAUNCHES / 2]);
        printf("copy of 4 KiB               %8.2f us\n", small[LAUNCHES / 2]);
        printf("copy of 64 MiB in, out      %8.2f, %.2f GB/s\n", COPY_BYTES / best[0] / 1e3,
               COPY_BYTES / best[1] / 1e3);
    }
    free(host);
    return status;
}

int main(void)
{
    struct leo_rt *rt;
    struct leo_rt_device *device = NULL;
    struct leo_rt_stream *stream;
    struct leo_rt_module *module;
    struct leo_rt_kernel *kernel;
    double before = rss_mib(), start = now_us(), one, many;
    leo_status status = leo_rt_create(NULL, &rt);
    if (status) {
        printf("%s\n", leo_rt_last_error());
        return 1;
    }
    status = leo_rt_device_open(rt, 0, &device);
    double created = now_us() - start, after = rss_mib();
    if (status == LEO_OK) {
        status = leo_rt_stream_create(device, &stream);
    }
    if (status == LEO_OK) {
        status =
            leo_rt_module_load(device, bench_launch_elf, bench_launch_elf_bytes, "launch", &module);
    }
    if (status == LEO_OK) {
        status = leo_rt_module_find(module, "empty", &kernel);
    }
    if (status == LEO_OK) {
        status = measure(kernel, stream, 1, &one);
    }
    if (status == LEO_OK) {
        status = measure(kernel, stream, 16, &many);
    }
    if (status) {
        printf("%s\n", leo_rt_last_error());
    } else {
        printf("empty launch + synchronise  %8.2f us (median of %d)\n", one, LAUNCHES);
        printf("launch in batches of 16     %8.2f us each\n", many);
        printf("chip created in             %8.2f ms\n", created / 1e3);
        printf("memory of a chip            %8.2f MiB (process %.1f MiB)\n", after - before,
               rss_mib());
        status = measure_memory(device);
    }
    leo_rt_destroy(rt);
    return status != LEO_OK;
}
