/* SPDX-License-Identifier: Apache-2.0 */
/* What calls of AscendCL cost the host: medians, with few and with 10^5 handles alive, and large
 * copies against the host's own. */
#include <acl/acl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const unsigned char bench_launch_elf[];
extern const size_t bench_launch_elf_bytes;

enum {
    ROUNDS = 301,
    BATCH = 500, /* launches submitted between two waits: fewer than a queue holds */
    EVENTS = 60000,
    ARGS = 40000,
    COPY_BYTES = 256 << 20,
    COPIES = 5
};

static aclrtStream stream;
static aclrtBinHandle binary;
static aclrtFuncHandle empty;

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void check(aclError error, const char *call)
{
    if (error) {
        const char *text = aclGetRecentErrMsg();
        fprintf(stderr, "%s: %s\n", call, text ? text : "failed");
        exit(1);
    }
}
#define OK(call) check((call), #call)

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), compare);
    return values[count / 2];
}

static void launch(void)
{
    OK(aclrtLaunchKernelWithArgsArray(empty, 1, stream, NULL, NULL));
}

static void synchronize(void)
{
    OK(aclrtSynchronizeStream(stream));
}

static void launch_and_run(void)
{
    launch();
    synchronize();
}

static void make_event(void)
{
    aclrtEvent event;
    OK(aclrtCreateEvent(&event));
    OK(aclrtDestroyEvent(event));
}

static void make_memory(void)
{
    void *memory;
    OK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(memory));
}

static void make_host_memory(void)
{
    void *memory;
    OK(aclrtMallocHost(&memory, 4096));
    OK(aclrtFreeHost(memory));
}

static void get_device(void)
{
    int32_t device;
    OK(aclrtGetDevice(&device));
}

/* Median cost of a call; `after` runs between batches, outside the measurement. */
static double cost_us(void (*call)(void), int batch, void (*after)(void))
{
    static double took[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double start = now_us();
        for (int j = 0; j < batch; j++) {
            call();
        }
        took[i] = (now_us() - start) / batch;
        if (after) {
            after();
        }
    }
    return median(took, ROUNDS);
}

static void measure_calls(const char *title)
{
    printf("%s\n", title);
    printf("  launch, submitted         %8.3f us\n", cost_us(launch, BATCH, synchronize));
    printf("  launch and run, empty     %8.3f us\n", cost_us(launch_and_run, 10, NULL));
    printf("  synchronize, idle         %8.3f us\n", cost_us(synchronize, 1000, NULL));
    printf("  get device                %8.3f us\n", cost_us(get_device, 1000, NULL));
    printf("  event made and destroyed  %8.3f us\n", cost_us(make_event, 100, NULL));
    printf("  device memory and back    %8.3f us\n", cost_us(make_memory, 100, NULL));
    printf("  host memory and back      %8.3f us\n", cost_us(make_host_memory, 100, NULL));
}

static void make_handles(void)
{
    for (int i = 0; i < EVENTS; i++) {
        aclrtEvent event;
        OK(aclrtCreateEvent(&event));
    }
    for (int i = 0; i < ARGS; i++) {
        aclrtArgsHandle args;
        OK(aclrtKernelArgsInit(empty, &args));
    }
}

static double copy_us(void *dst, const void *src, aclrtMemcpyKind kind, int on_host)
{
    double took[COPIES];
    for (int i = 0; i < COPIES; i++) {
        double start = now_us();
        if (on_host) {
            memcpy(dst, src, COPY_BYTES);
        } else {
            OK(aclrtMemcpy(dst, COPY_BYTES, src, COPY_BYTES, kind));
        }
        took[i] = now_us() - start;
    }
    return median(took, COPIES);
}

static void measure_copies(void)
{
    char *one = malloc(COPY_BYTES), *two = malloc(COPY_BYTES);
    void *device;
    if (!one || !two) {
        exit(1);
    }
    memset(one, 1, COPY_BYTES);
    memset(two, 2, COPY_BYTES);
    OK(aclrtMalloc(&device, COPY_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(device, COPY_BYTES, 0, COPY_BYTES));
    double host = copy_us(two, one, ACL_MEMCPY_HOST_TO_HOST, 1);
    double in = copy_us(device, one, ACL_MEMCPY_HOST_TO_DEVICE, 0);
    double out = copy_us(two, device, ACL_MEMCPY_DEVICE_TO_HOST, 0);
    printf("copies of 256 MiB: host %.2f GB/s, to the device %.2f of it, from it %.2f\n",
           COPY_BYTES / host / 1e3, host / in, host / out);
    OK(aclrtFree(device));
    free(one);
    free(two);
}

int main(void)
{
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    OK(aclrtBinaryLoadFromData(bench_launch_elf, bench_launch_elf_bytes, NULL, &binary));
    OK(aclrtBinaryGetFunction(binary, "empty", &empty));
    measure_calls("few handles");
    make_handles();
    measure_calls("100000 handles");
    measure_copies();
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
