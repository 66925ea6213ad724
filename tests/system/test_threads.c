/* SPDX-License-Identifier: Apache-2.0 */
/* Several host threads at one device, through the runtime and through AscendCL, while the chip
 * itself runs on several. */
#include "fixture.h"
#include <acl/acl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 6, LAUNCHES = 1500, BLOCKS = 24, TILE = 64, ITEMS = BLOCKS * TILE };

struct worker {
    struct fixture *f;
    void *module; /**< ACL: the binary */
    int number;
    int step; /**< that failed, 0 = none */
};

static void *ptr_of(uint64_t addr)
{
    return (void *)(uintptr_t)addr;
}

static void fill(float *values, int number)
{
    for (int i = 0; i < ITEMS; i++) {
        values[i] = (float)(i * (number + 1) % 1000);
    }
}

/* c = a + b, then a + c, and so on: a wrong order or another thread's memory shows in the sum. */
static bool is_right(const float *values, int number)
{
    for (int i = 0; i < ITEMS; i++) {
        if (values[i] != (float)(i * (number + 1) % 1000 * (ROUNDS + 1))) {
            return false;
        }
    }
    return true;
}

/* Starts THREADS threads and checks that none had a failing step. */
static void run_threads(struct fixture *f, void *module, void *(*work)(void *))
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){f, module, i, 0};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CU_ASSERT_EQUAL(workers[i].step, 0);
    }
}

static leo_status add_rounds(struct worker *worker, struct leo_rt_stream *const streams[2],
                             float *host)
{
    struct leo_rt_device *device = worker->f->device;
    struct leo_rt_kernel *kernel;
    struct leo_rt_event *event;
    uint64_t a, c;
    leo_status status = leo_rt_module_find(worker->f->module, "add", &kernel);
    if (status == LEO_OK) {
        status = leo_rt_event_create(device, &event);
    }
    if (status == LEO_OK) {
        status = leo_rt_memory_alloc(device, ITEMS * sizeof(float), &a);
    }
    if (status == LEO_OK) {
        status = leo_rt_memory_alloc(device, ITEMS * sizeof(float), &c);
    }
    if (status == LEO_OK) {
        status = leo_rt_memcpy_async(streams[0], ptr_of(a), host, ITEMS * sizeof(float));
    }
    if (status == LEO_OK) {
        status = leo_rt_memcpy_async(streams[0], ptr_of(c), ptr_of(a), ITEMS * sizeof(float));
    }
    const void *args[] = {&a, &c, &c};
    for (int i = 0; !status && i < ROUNDS; i++) {
        // From stream to stream and back, in order by the event.
        status = leo_rt_launch(kernel, BLOCKS, streams[i % 2], args, 3, NULL);
        if (status == LEO_OK) {
            status = leo_rt_event_record(event, streams[i % 2]);
        }
        if (status == LEO_OK) {
            status = leo_rt_event_wait(event, streams[1 - i % 2]);
        }
    }
    if (status == LEO_OK) {
        status = leo_rt_event_synchronize(event, -1);
    }
    if (status == LEO_OK) {
        status = leo_rt_memcpy(device, host, ptr_of(c), ITEMS * sizeof(float));
    }
    if (status == LEO_OK) {
        status = leo_rt_memory_free(device, a);
    }
    if (status == LEO_OK) {
        status = leo_rt_memory_free(device, c);
    }
    leo_rt_event_destroy(event);
    return status;
}

static void *work_runtime(void *arg)
{
    struct worker *worker = arg;
    struct leo_rt_stream *streams[2];
    float host[ITEMS];
    fill(host, worker->number);
    if (leo_rt_stream_create(worker->f->device, &streams[0]) ||
        leo_rt_stream_create(worker->f->device, &streams[1])) {
        worker->step = 1;
        return NULL;
    }
    if (add_rounds(worker, streams, host)) {
        worker->step = 2;
    } else if (!is_right(host, worker->number)) {
        worker->step = 3;
    }
    leo_rt_stream_destroy(streams[0]);
    leo_rt_stream_destroy(streams[1]);
    return NULL;
}

static void streams_of_several_threads_do_not_mix(void)
{
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        fixture_open(&f, fixture_socs[i]);
        run_threads(&f, NULL, work_runtime);
        fixture_close(&f);
    }
}

/* One launch after the other into the stream all threads share, each with data and a result of its
 * own. */
static void *work_shared(void *arg)
{
    struct worker *worker = arg;
    struct leo_rt_kernel *kernel;
    int32_t data[32], count = 32;
    if (leo_rt_module_find(worker->f->module, "sum_data", &kernel)) {
        worker->step = 1;
        return NULL;
    }
    for (int i = 0; i < LAUNCHES && !worker->step; i++) {
        int number = worker->number * LAUNCHES + i;
        uint64_t out = worker->f->out + (uint64_t)number * 8;
        const void *args[] = {&out, NULL, &count};
        const struct leo_rt_arg_data sent = {1, data, sizeof(data)};
        for (int k = 0; k < count; k++) {
            data[k] = number;
        }
        if (leo_rt_launch_with_data(kernel, 1, worker->f->stream, args, 3, &sent, 1, NULL)) {
            worker->step = 2;
        }
    }
    return NULL;
}

static void arguments_of_threads_in_one_stream_do_not_mix(void)
{
    struct fixture f;
    int64_t *sums = malloc(THREADS * LAUNCHES * sizeof(*sums));
    fixture_open(&f, fixture_socs[0]);
    OK(leo_rt_memory_free(f.device, f.out));
    OK(leo_rt_memory_alloc(f.device, THREADS * LAUNCHES * sizeof(*sums), &f.out));
    run_threads(&f, NULL, work_shared);
    OK(leo_rt_stream_synchronize(f.stream, -1));
    fixture_read(&f, sums, THREADS * LAUNCHES);
    int wrong = 0;
    for (int i = 0; i < THREADS * LAUNCHES; i++) {
        wrong += sums[i] != 32 * (int64_t)i;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    fixture_close(&f);
    free(sums);
}

static void *work_modules(void *arg)
{
    struct worker *worker = arg;
    size_t bytes;
    const unsigned char *elf = fixture_elf(fixture_socs[0], &bytes);
    for (int i = 0; i < ROUNDS && !worker->step; i++) {
        struct leo_rt_module *module;
        struct leo_rt_device *again;
        void *pinned;
        if (leo_rt_module_load(worker->f->device, elf, bytes, "mine", &module) ||
            leo_rt_device_open(worker->f->rt, 0, &again) ||
            leo_rt_host_alloc(again, 4096, &pinned)) {
            worker->step = 1;
            return NULL;
        }
        struct fixture mine = *worker->f;
        mine.module = module;
        struct leo_rt_kernel *kernel;
        worker->step = leo_rt_module_find(module, "empty", &kernel) ||
                               leo_rt_stream_create(again, &mine.stream)
                           ? 2
                           : 0;
        if (!worker->step && leo_rt_launch(kernel, 3, mine.stream, NULL, 0, NULL)) {
            worker->step = 3;
        }
        // A wrong call of this thread: its text must be this thread's.
        if (leo_rt_memory_free(again, (uint64_t)(worker->number + 1)) == LEO_OK ||
            !leo_rt_last_error()[0]) {
            worker->step = 4;
        }
        leo_rt_stream_destroy(mine.stream);
        leo_rt_module_unload(module);
        worker->step = leo_rt_host_free(again, pinned) ? 5 : worker->step;
        leo_rt_device_close(again);
    }
    return NULL;
}

static void modules_come_and_go_in_several_threads(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    run_threads(&f, NULL, work_modules);
    fixture_check_alive(&f);
    fixture_close(&f);
}

static void *work_faults(void *arg)
{
    struct worker *worker = arg;
    struct leo_rt_stream *stream;
    struct leo_rt_kernel *kernel;
    const char *name = worker->number % 2 ? "trapping" : "empty";
    if (leo_rt_stream_create(worker->f->device, &stream) ||
        leo_rt_module_find(worker->f->module, name, &kernel)) {
        worker->step = 1;
        return NULL;
    }
    for (int i = 0; i < ROUNDS && !worker->step; i++) {
        leo_status status = leo_rt_launch(kernel, 2, stream, NULL, 0, NULL);
        if (status == LEO_OK) {
            status = leo_rt_stream_synchronize(stream, -1);
        }
        worker->step = status != (worker->number % 2 ? LEO_ERR_FAULT : LEO_OK) ? 2 : 0;
    }
    leo_rt_stream_destroy(stream);
    return NULL;
}

static void fault_of_one_thread_is_not_seen_by_another(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    run_threads(&f, NULL, work_faults);
    fixture_check_alive(&f);
    fixture_close(&f);
}

static aclError add_rounds_acl(aclrtFuncHandle func, aclrtStream stream, float *host)
{
    void *a, *c;
    size_t bytes = ITEMS * sizeof(float);
    aclError error = aclrtMalloc(&a, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    if (error == ACL_SUCCESS) {
        error = aclrtMalloc(&c, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    }
    if (error == ACL_SUCCESS) {
        error = aclrtMemcpyAsync(a, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream);
    }
    if (error == ACL_SUCCESS) {
        error = aclrtMemcpyAsync(c, bytes, a, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
    }
    void *args[] = {&a, &c, &c};
    for (int i = 0; !error && i < ROUNDS; i++) {
        error = aclrtLaunchKernelWithArgsArray(func, BLOCKS, stream, NULL, args);
    }
    if (error == ACL_SUCCESS) {
        error = aclrtSynchronizeStream(stream);
    }
    if (error == ACL_SUCCESS) {
        error = aclrtMemcpy(host, bytes, c, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    }
    if (error == ACL_SUCCESS) {
        error = aclrtFree(a);
    }
    return error ? error : aclrtFree(c);
}

static void *work_acl(void *arg)
{
    struct worker *worker = arg;
    aclrtFuncHandle func;
    aclrtStream stream;
    float host[ITEMS];
    fill(host, worker->number);
    if (aclrtSetDevice(0) || aclrtCreateStream(&stream) ||
        aclrtBinaryGetFunction(worker->module, "add", &func)) {
        worker->step = 1;
        return NULL;
    }
    if (add_rounds_acl(func, stream, host)) {
        worker->step = 2;
    } else if (!is_right(host, worker->number)) {
        worker->step = 3;
    }
    if (aclrtDestroyStream(stream) || aclrtResetDevice(0)) {
        worker->step = 4;
    }
    return NULL;
}

static void acl_streams_of_several_threads_do_not_mix(void)
{
    size_t bytes;
    const unsigned char *elf = fixture_elf(fixture_socs[0], &bytes);
    aclrtBinHandle binary;
    setenv("LEO_SOC", fixture_socs[0], 1);
    setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    CU_ASSERT_EQUAL_FATAL(aclInit(NULL), ACL_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(aclrtSetDevice(0), ACL_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(aclrtBinaryLoadFromData(elf, bytes, NULL, &binary), ACL_SUCCESS);
    run_threads(NULL, binary, work_acl);
    CU_ASSERT_EQUAL(aclrtBinaryUnLoad(binary), ACL_SUCCESS);
    CU_ASSERT_EQUAL(aclrtResetDevice(0), ACL_SUCCESS);
    CU_ASSERT_EQUAL(aclFinalize(), ACL_SUCCESS);
}

static void *work_synchronize(void *arg)
{
    struct worker *worker = arg;
    void *data;
    aclrtStream stream;
    if (aclrtSetDevice(0) || aclrtMalloc(&data, ITEMS, ACL_MEM_MALLOC_HUGE_FIRST)) {
        worker->step = 1;
        return NULL;
    }
    for (int i = 0; i < 10 * ROUNDS && !worker->step; i++) {
        if (aclrtCreateStream(&stream)) {
            worker->step = 2;
        } else if (aclrtMemsetAsync(data, ITEMS, i, ITEMS, stream)) {
            worker->step = 3;
        } else if (aclrtSynchronizeDevice() || aclrtDestroyStream(stream)) {
            worker->step = 4;
        }
    }
    if (aclrtFree(data) || aclrtResetDevice(0)) {
        worker->step = 5;
    }
    return NULL;
}

/* A thread that waits for the device waits for streams of others, which they destroy meanwhile. */
static void acl_streams_end_while_others_wait_for_the_device(void)
{
    CU_ASSERT_EQUAL_FATAL(aclInit(NULL), ACL_SUCCESS);
    run_threads(NULL, NULL, work_synchronize);
    CU_ASSERT_EQUAL(aclFinalize(), ACL_SUCCESS);
}

static void *work_set_reset(void *arg)
{
    struct worker *worker = arg;
    for (int i = 0; i < ROUNDS && !worker->step; i++) {
        void *data;
        if (aclrtSetDevice(0)) {
            worker->step = 1;
        } else if (aclrtMalloc(&data, 1000, ACL_MEM_MALLOC_HUGE_FIRST) || aclrtFree(data)) {
            worker->step = 2;
        } else if (aclrtResetDevice(0)) {
            worker->step = 3;
        }
    }
    return NULL;
}

static void acl_devices_are_set_and_reset_in_several_threads(void)
{
    CU_ASSERT_EQUAL_FATAL(aclInit(NULL), ACL_SUCCESS);
    run_threads(NULL, NULL, work_set_reset);
    CU_ASSERT_EQUAL(aclFinalize(), ACL_SUCCESS);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"streams_of_several_threads_do_not_mix", streams_of_several_threads_do_not_mix},
        {"arguments_of_threads_in_one_stream_do_not_mix",
         arguments_of_threads_in_one_stream_do_not_mix},
        {"modules_come_and_go_in_several_threads", modules_come_and_go_in_several_threads},
        {"fault_of_one_thread_is_not_seen_by_another", fault_of_one_thread_is_not_seen_by_another},
        {"acl_streams_of_several_threads_do_not_mix", acl_streams_of_several_threads_do_not_mix},
        {"acl_streams_end_while_others_wait_for_the_device",
         acl_streams_end_while_others_wait_for_the_device},
        {"acl_devices_are_set_and_reset_in_several_threads",
         acl_devices_are_set_and_reset_in_several_threads},
    };
    // The chip's own threads, however few the host has.
    setenv("LEO_THREADS", "3", 1);
    return leo_test_main("threads", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
