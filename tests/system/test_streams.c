/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, copies and the simulated clock. */
#include "fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *ptr_of(uint64_t addr)
{
    return (void *)(uintptr_t)addr;
}

static void launch_step(struct fixture *f, struct leo_rt_stream *stream, int64_t x, int32_t spins)
{
    const void *args[] = {&f->out, &x, &spins};
    OK(leo_rt_launch(fixture_kernel(f, "step"), 1, stream, args, 3, NULL));
}

static void event_orders_two_streams(void)
{
    for (int soc = 0; soc < 2; soc++) {
        struct fixture f;
        fixture_open(&f, fixture_socs[soc]);
        struct leo_rt_stream *second;
        struct leo_rt_event *event;
        OK(leo_rt_stream_create(f.device, &second));
        OK(leo_rt_event_create(f.device, &event));
        OK(leo_rt_memset_async(f.stream, f.out, 0, 8));
        // Without the event the short kernel of the second stream would be first.
        launch_step(&f, f.stream, 1, 3000);
        OK(leo_rt_event_record(event, f.stream));
        OK(leo_rt_event_wait(event, second));
        launch_step(&f, second, 2, 0);
        CU_ASSERT_EQUAL(leo_rt_stream_query(second), LEO_ERR_NOT_READY);
        OK(leo_rt_device_synchronize(f.device));
        OK(leo_rt_stream_query(second));
        int64_t value;
        fixture_read(&f, &value, 1);
        CU_ASSERT_EQUAL(value, 5);
        leo_rt_event_destroy(event);
        leo_rt_stream_destroy(second);
        fixture_close(&f);
    }
}

static void event_times_tell_how_long_a_kernel_took(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    struct leo_rt_event *begin, *end;
    uint64_t begin_ns, end_ns, short_ns;
    OK(leo_rt_event_create(f.device, &begin));
    OK(leo_rt_event_create(f.device, &end));
    CU_ASSERT_EQUAL(leo_rt_event_time_ns(begin, &begin_ns), LEO_ERR_STATE);
    OK(leo_rt_event_query(begin));
    for (int round = 0; round < 2; round++) {
        OK(leo_rt_event_record(begin, f.stream));
        launch_step(&f, f.stream, 1, round ? 4000 : 10);
        OK(leo_rt_event_record(end, f.stream));
        CU_ASSERT_EQUAL(leo_rt_event_time_ns(end, &end_ns) == LEO_ERR_NOT_READY || end_ns > 0,
                        true);
        OK(leo_rt_event_synchronize(end, 10000));
        OK(leo_rt_event_time_ns(begin, &begin_ns));
        OK(leo_rt_event_time_ns(end, &end_ns));
        CU_ASSERT(leo_rt_device_host_time_ns(f.device) >= end_ns);
        if (!round) {
            short_ns = end_ns - begin_ns;
        }
    }
    CU_ASSERT(end_ns - begin_ns > short_ns + 4000);
    leo_rt_event_destroy(begin);
    leo_rt_event_destroy(end);
    fixture_close(&f);
}

static void open_on_threads(struct fixture *f, const char *soc, unsigned threads)
{
    const struct leo_rt_opts opts = {.size = sizeof(opts), .soc = soc, .host_threads = threads};
    size_t bytes;
    const unsigned char *elf = fixture_elf(soc, &bytes);
    OK(leo_rt_create(&opts, &f->rt));
    OK(leo_rt_device_open(f->rt, 0, &f->device));
    OK(leo_rt_stream_create(f->device, &f->stream));
    OK(leo_rt_module_load(f->device, elf, bytes, "system", &f->module));
    OK(leo_rt_memory_alloc(f->device, 4096, &f->out));
}

static uint64_t run_script(const char *soc, unsigned threads)
{
    struct fixture f;
    open_on_threads(&f, soc, threads);
    for (int i = 0; i < 20; i++) {
        launch_step(&f, f.stream, i, i * 10);
        launch_step(&f, f.stream, i, 5);
        OK(leo_rt_stream_synchronize(f.stream, -1));
        fixture_check_alive(&f);
    }
    uint64_t ns = leo_rt_device_host_time_ns(f.device);
    fixture_close(&f);
    return ns;
}

static void simulated_time_is_the_same_every_time(void)
{
    uint64_t first = run_script(fixture_socs[1], 1);
    CU_ASSERT(first > 0);
    CU_ASSERT_EQUAL(run_script(fixture_socs[1], 1), first);
    CU_ASSERT_EQUAL(run_script(fixture_socs[1], 2), first);
}

/* How often a program has to ask until a kernel is done. */
static unsigned count_queries(unsigned threads)
{
    struct fixture f;
    setenv("LEO_AHEAD", "0", 1); // else what it did before the first question counts too
    open_on_threads(&f, fixture_socs[0], threads);
    unsetenv("LEO_AHEAD");
    launch_step(&f, f.stream, 1, 20000);
    unsigned count = 1;
    while (leo_rt_stream_query(f.stream) == LEO_ERR_NOT_READY) {
        count++;
    }
    fixture_close(&f);
    return count;
}

static void asking_gets_the_device_equally_far_every_time(void)
{
    unsigned first = count_queries(1);
    CU_ASSERT(first > 1);
    for (unsigned threads = 1; threads <= 3; threads++) {
        CU_ASSERT_EQUAL(count_queries(threads), first);
    }
}

static void more_launches_than_the_queue_holds_all_run(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    OK(leo_rt_memset_async(f.stream, f.out, 0, 8));
    for (int i = 0; i < 3000; i++) {
        launch_step(&f, f.stream, i == 2999, 0);
    }
    OK(leo_rt_stream_synchronize(f.stream, -1));
    int64_t value;
    fixture_read(&f, &value, 1);
    CU_ASSERT_EQUAL(value, 1);
    fixture_close(&f);
}

static void copies_of_every_size_and_kind_arrive(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    const size_t sizes[] = {1, 31, 4096, 128 * 1024, 128 * 1024 + 1, 3 << 20};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        size_t bytes = sizes[s];
        unsigned char *from = malloc(bytes), *to = malloc(bytes);
        void *pinned;
        uint64_t a, b;
        for (size_t i = 0; i < bytes; i++) {
            from[i] = (unsigned char)(i * 7 + s);
        }
        OK(leo_rt_memory_alloc(f.device, bytes, &a));
        OK(leo_rt_memory_alloc(f.device, bytes, &b));
        OK(leo_rt_host_alloc(f.device, bytes, &pinned));
        for (int async = 0; async < 2; async++) {
            memset(to, 0, bytes);
            if (async) {
                OK(leo_rt_memcpy_async(f.stream, ptr_of(a), from, bytes));
                OK(leo_rt_memcpy_async(f.stream, ptr_of(b), ptr_of(a), bytes));
                OK(leo_rt_memcpy_async(f.stream, pinned, ptr_of(b), bytes));
                OK(leo_rt_memcpy_async(f.stream, ptr_of(a), pinned, bytes));
                OK(leo_rt_memcpy_async(f.stream, to, ptr_of(a), bytes));
                OK(leo_rt_stream_synchronize(f.stream, -1));
            } else {
                OK(leo_rt_memcpy(f.device, ptr_of(a), from, bytes));
                OK(leo_rt_memcpy(f.device, ptr_of(b), ptr_of(a), bytes));
                OK(leo_rt_memcpy(f.device, pinned, ptr_of(b), bytes));
                OK(leo_rt_memcpy(f.device, ptr_of(a), pinned, bytes));
                OK(leo_rt_memcpy(f.device, to, ptr_of(a), bytes));
            }
            CU_ASSERT_EQUAL(memcmp(from, to, bytes), 0);
        }
        OK(leo_rt_host_free(f.device, pinned));
        OK(leo_rt_memory_free(f.device, a));
        OK(leo_rt_memory_free(f.device, b));
        free(from);
        free(to);
    }
    fixture_close(&f);
}

static void asynchronous_copy_takes_the_data_before_it_returns(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    int64_t value = 11, got;
    OK(leo_rt_memcpy_async(f.stream, ptr_of(f.out), &value, 8));
    value = 99;
    OK(leo_rt_stream_synchronize(f.stream, -1));
    fixture_read(&f, &got, 1);
    CU_ASSERT_EQUAL(got, 11);
    fixture_close(&f);
}

static void rows_are_copied_with_their_pitches(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[1]);
    unsigned char from[5 * 100], to[5 * 50];
    for (size_t i = 0; i < sizeof(from); i++) {
        from[i] = (unsigned char)i;
    }
    memset(to, 0xee, sizeof(to));
    OK(leo_rt_memcpy2d_async(f.stream, ptr_of(f.out), 64, from, 100, 33, 5));
    OK(leo_rt_memcpy2d_async(f.stream, ptr_of(f.out + 2048), 40, ptr_of(f.out), 64, 33, 5));
    OK(leo_rt_memcpy2d_async(f.stream, to, 50, ptr_of(f.out + 2048), 40, 33, 5));
    OK(leo_rt_stream_synchronize(f.stream, -1));
    for (int row = 0; row < 5; row++) {
        CU_ASSERT_EQUAL(memcmp(to + row * 50, from + row * 100, 33), 0);
        CU_ASSERT(row == 4 || to[row * 50 + 33] == 0xee);
    }
    CU_ASSERT_EQUAL(leo_rt_memcpy2d_async(f.stream, to, 32, ptr_of(f.out), 64, 33, 5),
                    LEO_ERR_INVALID_ARG);
    CU_ASSERT_EQUAL(leo_rt_memcpy2d_async(f.stream, to, 50, ptr_of(f.out), 2048, 33, 3),
                    LEO_ERR_RANGE);
    fixture_close(&f);
}

static void wrong_copies_are_refused_by_name(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    char host[8192];
    CU_ASSERT_EQUAL(leo_rt_memcpy(f.device, ptr_of(f.out), host, 4160), LEO_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(leo_rt_last_error(), "go 64 bytes past the end of the 4096-byte allocation"));
    CU_ASSERT_EQUAL(leo_rt_memcpy(f.device, host, ptr_of(f.out + 4096), 1), LEO_ERR_BAD_POINTER);
    CU_ASSERT_EQUAL(leo_rt_memcpy(f.device, host, NULL, 1), LEO_ERR_INVALID_ARG);
    CU_ASSERT_EQUAL(leo_rt_memset_async(f.stream, f.out + 4000, 1, 97), LEO_ERR_RANGE);
    CU_ASSERT_EQUAL(leo_rt_memset_async(f.stream, (uintptr_t)host, 1, 8), LEO_ERR_BAD_POINTER);
    CU_ASSERT_EQUAL(leo_rt_memory_free(f.device, f.out + 512), LEO_ERR_BAD_POINTER);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), "512 bytes inside the allocation"));
    CU_ASSERT_EQUAL(leo_rt_memory_free(f.device, (uintptr_t)host), LEO_ERR_BAD_POINTER);
    CU_ASSERT_EQUAL(leo_rt_memory_free(f.device, leo_rt_module_addr(f.module)),
                    LEO_ERR_BAD_POINTER);
    CU_ASSERT_EQUAL(leo_rt_host_free(f.device, host), LEO_ERR_BAD_POINTER);
    uint64_t twice;
    OK(leo_rt_memory_alloc(f.device, 100, &twice));
    OK(leo_rt_memory_free(f.device, twice));
    CU_ASSERT_EQUAL(leo_rt_memory_free(f.device, twice), LEO_ERR_BAD_POINTER);
    OK(leo_rt_memcpy(f.device, ptr_of(f.out), host, 0));
    fixture_check_alive(&f);
    fixture_close(&f);
}

static void fill_writes_exactly_its_bytes(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    unsigned char got[64];
    OK(leo_rt_memset_async(f.stream, f.out, 0x11, 64));
    OK(leo_rt_memset_async(f.stream, f.out + 3, 0xab, 31));
    OK(leo_rt_stream_synchronize(f.stream, -1));
    OK(leo_rt_memcpy(f.device, got, ptr_of(f.out), 64));
    for (int i = 0; i < 64; i++) {
        CU_ASSERT_EQUAL(got[i], i >= 3 && i < 34 ? 0xab : 0x11);
    }
    fixture_close(&f);
}

struct worker {
    struct fixture *f;
    int64_t result;
};

static void *work(void *arg)
{
    struct worker *worker = arg;
    struct leo_rt_device *device = worker->f->device;
    struct leo_rt_stream *stream;
    uint64_t mine;
    int64_t x = 1, value = 0;
    int32_t spins = 20;
    worker->result = -1;
    if (leo_rt_stream_create(device, &stream) || leo_rt_memory_alloc(device, 8, &mine)) {
        return NULL;
    }
    const void *args[] = {&mine, &x, &spins};
    struct leo_rt_kernel *kernel;
    leo_status status = leo_rt_memcpy(device, ptr_of(mine), &value, 8);
    if (status == LEO_OK) {
        status = leo_rt_module_find(worker->f->module, "step", &kernel);
    }
    for (int i = 0; !status && i < 30; i++) {
        status = leo_rt_launch(kernel, 1, stream, args, 3, NULL);
        if (!status && i % 3 == 0) {
            status = leo_rt_stream_synchronize(stream, -1);
        }
    }
    if (status == LEO_OK) {
        status = leo_rt_stream_synchronize(stream, -1);
    }
    if (status == LEO_OK) {
        status = leo_rt_memcpy(device, &value, ptr_of(mine), 8);
    }
    if (status == LEO_OK) {
        status = leo_rt_memory_free(device, mine);
    }
    leo_rt_stream_destroy(stream);
    worker->result = status ? -2 : value;
    return NULL;
}

static void threads_share_a_device(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    struct worker workers[4];
    pthread_t threads[4];
    int64_t want = 0;
    for (int i = 0; i < 30; i++) {
        want = want * 3 + 1;
    }
    for (int i = 0; i < 4; i++) {
        workers[i].f = &f;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CU_ASSERT_EQUAL(workers[i].result, want);
    }
    fixture_close(&f);
}

static void devices_of_a_process_are_apart(void)
{
    const struct leo_rt_opts opts = {.size = sizeof(opts), .soc = fixture_socs[0], .devices = 2};
    struct leo_rt *rt;
    struct fixture f[2] = {{0}};
    struct leo_rt_event *event;
    size_t bytes;
    const unsigned char *elf = fixture_elf(fixture_socs[0], &bytes);
    OK(leo_rt_create(&opts, &rt));
    for (int i = 0; i < 2; i++) {
        OK(leo_rt_device_open(rt, i, &f[i].device));
        OK(leo_rt_stream_create(f[i].device, &f[i].stream));
        OK(leo_rt_module_load(f[i].device, elf, bytes, "system", &f[i].module));
        OK(leo_rt_memory_alloc(f[i].device, 4096, &f[i].out));
        OK(leo_rt_memset_async(f[i].stream, f[i].out, 0, 8));
        launch_step(&f[i], f[i].stream, 10 + i, 10);
    }
    OK(leo_rt_event_create(f[0].device, &event));
    CU_ASSERT_EQUAL(leo_rt_event_record(event, f[1].stream), LEO_ERR_INVALID_ARG);
    CU_ASSERT_EQUAL(leo_rt_launch(fixture_kernel(&f[0], "empty"), 1, f[1].stream, NULL, 0, NULL),
                    LEO_ERR_INVALID_ARG);
    for (int i = 0; i < 2; i++) {
        int64_t value;
        OK(leo_rt_stream_synchronize(f[i].stream, -1));
        fixture_read(&f[i], &value, 1);
        CU_ASSERT_EQUAL(value, 10 + i);
    }
    // Destroys both with all that is left on them.
    leo_rt_destroy(rt);
}

static void pinned_memory_ends_as_a_whole(void)
{
    struct fixture f;
    fixture_open(&f, "ascend910a");
    char *pinned, own[64];
    OK(leo_rt_host_alloc(f.device, 4096, (void **)&pinned));
    CU_ASSERT_EQUAL(leo_rt_host_free(f.device, pinned + 64), LEO_ERR_BAD_POINTER);
    CU_ASSERT_EQUAL(leo_rt_host_unregister(f.device, pinned), LEO_ERR_NOT_FOUND);
    OK(leo_rt_host_free(f.device, pinned));
    OK(leo_rt_host_register(f.device, own, sizeof(own)));
    CU_ASSERT_EQUAL(leo_rt_host_free(f.device, own), LEO_ERR_BAD_POINTER);
    OK(leo_rt_host_unregister(f.device, own));
    fixture_close(&f);
}

// Also one that only the host takes part in.
static void copies_stay_in_the_order_of_their_stream(void)
{
    struct fixture f;
    fixture_open(&f, "ascend910a");
    int64_t first = -1, second = -1;
    OK(leo_rt_memset_async(f.stream, f.out, 0, 8));
    launch_step(&f, f.stream, 1, 3000);
    OK(leo_rt_memcpy_async(f.stream, &first, ptr_of(f.out), 8));
    OK(leo_rt_memcpy_async(f.stream, &second, &first, 8));
    OK(leo_rt_stream_synchronize(f.stream, -1));
    CU_ASSERT_EQUAL(first, 1);
    CU_ASSERT_EQUAL(second, 1);
    fixture_close(&f);
}

static void kernels_and_streams_are_of_one_device(void)
{
    struct fixture f;
    struct leo_rt_device *other;
    struct leo_rt_stream *stream;
    setenv("LEO_DEVICES", "2", 1);
    fixture_open(&f, "ascend910a");
    OK(leo_rt_device_open(f.rt, 1, &other));
    OK(leo_rt_stream_create(other, &stream));
    int64_t x = 1;
    int32_t spins = 0;
    const void *args[] = {&f.out, &x, &spins};
    CU_ASSERT_EQUAL(leo_rt_launch(fixture_kernel(&f, "step"), 1, stream, args, 3, NULL),
                    LEO_ERR_INVALID_ARG);
    leo_rt_device_close(other);
    fixture_close(&f);
    unsetenv("LEO_DEVICES");
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"event_orders_two_streams", event_orders_two_streams},
        {"event_times_tell_how_long_a_kernel_took", event_times_tell_how_long_a_kernel_took},
        {"simulated_time_is_the_same_every_time", simulated_time_is_the_same_every_time},
        {"asking_gets_the_device_equally_far_every_time",
         asking_gets_the_device_equally_far_every_time},
        {"more_launches_than_the_queue_holds_all_run", more_launches_than_the_queue_holds_all_run},
        {"copies_of_every_size_and_kind_arrive", copies_of_every_size_and_kind_arrive},
        {"asynchronous_copy_takes_the_data_before_it_returns",
         asynchronous_copy_takes_the_data_before_it_returns},
        {"rows_are_copied_with_their_pitches", rows_are_copied_with_their_pitches},
        {"wrong_copies_are_refused_by_name", wrong_copies_are_refused_by_name},
        {"fill_writes_exactly_its_bytes", fill_writes_exactly_its_bytes},
        {"pinned_memory_ends_as_a_whole", pinned_memory_ends_as_a_whole},
        {"copies_stay_in_the_order_of_their_stream", copies_stay_in_the_order_of_their_stream},
        {"kernels_and_streams_are_of_one_device", kernels_and_streams_are_of_one_device},
        {"threads_share_a_device", threads_share_a_device},
        {"devices_of_a_process_are_apart", devices_of_a_process_are_apart},
    };
    return leo_test_main("streams", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
