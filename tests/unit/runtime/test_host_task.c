/* SPDX-License-Identifier: Apache-2.0 */
/* Work of the host in streams: order, simulated time, failure, several threads. */
#include "harness.h"

#include <leo/runtime.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct world {
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream, *other;
    struct leo_rt_host_worker *worker;
    uint64_t addr;
};

static void world_begin(struct world *world)
{
    const struct leo_rt_opts opts = {.size = sizeof(opts), .soc = "ascend910b1"};
    CU_ASSERT_EQUAL_FATAL(leo_rt_create(&opts, &world->rt), LEO_OK);
    CU_ASSERT_EQUAL_FATAL(leo_rt_device_open(world->rt, 0, &world->device), LEO_OK);
    CU_ASSERT_EQUAL_FATAL(leo_rt_stream_create(world->device, &world->stream), LEO_OK);
    CU_ASSERT_EQUAL_FATAL(leo_rt_stream_create(world->device, &world->other), LEO_OK);
    CU_ASSERT_EQUAL_FATAL(leo_rt_host_worker_create(world->device, &world->worker), LEO_OK);
    CU_ASSERT_EQUAL_FATAL(leo_rt_memory_alloc(world->device, 4096, &world->addr), LEO_OK);
}

static void world_end(struct world *world)
{
    leo_rt_host_worker_destroy(world->worker);
    leo_rt_device_close(world->device);
    leo_rt_destroy(world->rt);
}

/* What a task of the host finds and leaves. */
struct note {
    struct world *world;
    uint64_t takes_ns, start_ns;
    unsigned sleep_us;
    uint8_t found, leave;
    bool fail;
};

static void look(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct note *note = user;
    void *window = NULL;
    usleep(note->sleep_us);
    if (leo_rt_memory_window(note->world->device, note->world->addr, 4096, &window) == LEO_OK) {
        note->found = *(uint8_t *)window;
        memset(window, note->leave, 4096);
    }
    note->start_ns = start_ns;
    result->end_ns = start_ns + note->takes_ns;
    if (note->fail) {
        result->status = LEO_ERR_IO;
        strcpy(result->text, "the other side hung up");
    }
}

static void it_stands_in_the_order_of_the_stream(void)
{
    struct world world;
    world_begin(&world);
    struct note first = {.world = &world, .takes_ns = 1000000, .sleep_us = 20000, .leave = 2};
    struct note second = {.world = &world, .takes_ns = 5, .leave = 9};
    uint8_t host[4096];
    CU_ASSERT_EQUAL(leo_rt_memset_async(world.stream, world.addr, 1, 4096), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_host_task(world.worker, world.stream, look, NULL, &first), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_memcpy_async(world.stream, host, (void *)(uintptr_t)world.addr, 4096),
                    LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_memset_async(world.stream, world.addr, 3, 4096), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_host_task(world.worker, world.stream, look, NULL, &second), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(world.stream, -1), LEO_OK);
    CU_ASSERT_EQUAL(first.found, 1);
    CU_ASSERT_EQUAL(host[4095], 2);
    CU_ASSERT_EQUAL(second.found, 3);
    // Simulated time goes by the work's own word, not by the host's clock (20 ms).
    CU_ASSERT(second.start_ns >= first.start_ns + 1000000);
    CU_ASSERT(second.start_ns < first.start_ns + 2000000);
    world_end(&world);
}

static void another_stream_waits_through_an_event(void)
{
    struct world world;
    world_begin(&world);
    struct note note = {.world = &world, .takes_ns = 300000, .sleep_us = 5000, .leave = 7};
    struct leo_rt_event *done;
    uint8_t host[4096] = {0};
    uint64_t ns = 0;
    CU_ASSERT_EQUAL_FATAL(leo_rt_event_create(world.device, &done), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_host_task(world.worker, world.stream, look, NULL, &note), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_event_record(done, world.stream), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_event_wait(done, world.other), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_memcpy_async(world.other, host, (void *)(uintptr_t)world.addr, 4096),
                    LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(world.other, -1), LEO_OK);
    CU_ASSERT_EQUAL(host[0], 7);
    CU_ASSERT_EQUAL(leo_rt_event_time_ns(done, &ns), LEO_OK);
    CU_ASSERT(ns >= note.start_ns + 300000);
    leo_rt_event_destroy(done);
    world_end(&world);
}

static void a_failure_is_told_once_and_the_stream_goes_on(void)
{
    struct world world;
    world_begin(&world);
    struct note note = {.world = &world, .leave = 4, .fail = true};
    uint8_t host[4096] = {0};
    CU_ASSERT_EQUAL(leo_rt_host_task(world.worker, world.stream, look, NULL, &note), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(world.stream, -1), LEO_ERR_IO);
    CU_ASSERT(strstr(leo_rt_last_error(), "hung up") != NULL);
    CU_ASSERT_EQUAL(leo_rt_memcpy_async(world.stream, host, (void *)(uintptr_t)world.addr, 4096),
                    LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(world.stream, -1), LEO_OK);
    CU_ASSERT_EQUAL(host[0], 4);
    world_end(&world);
}

static void a_wait_with_a_limit_ends(void)
{
    struct world world;
    world_begin(&world);
    struct note note = {.world = &world, .sleep_us = 200000};
    CU_ASSERT_EQUAL(leo_rt_host_task(world.worker, world.stream, look, NULL, &note), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(world.stream, 10), LEO_ERR_TIMEOUT);
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(world.stream, -1), LEO_OK);
    world_end(&world);
}

static void nothing_is_lost_at_the_end(void)
{
    struct world world;
    world_begin(&world);
    struct note notes[50];
    for (int i = 0; i < 50; i++) {
        notes[i] = (struct note){.world = &world, .takes_ns = 10, .leave = (uint8_t)(i + 1)};
        CU_ASSERT_EQUAL(leo_rt_host_task(world.worker, world.stream, look, NULL, &notes[i]),
                        LEO_OK);
    }
    leo_rt_host_worker_drain(world.worker);
    for (int i = 1; i < 50; i++) {
        CU_ASSERT_EQUAL(notes[i].found, i);
    }
    world_end(&world);
}

static void bad_windows_are_refused(void)
{
    struct world world;
    world_begin(&world);
    void *window;
    CU_ASSERT_EQUAL(leo_rt_memory_window(world.device, world.addr, 4097, &window), LEO_ERR_RANGE);
    CU_ASSERT_PTR_NULL(window);
    CU_ASSERT_EQUAL(leo_rt_memory_window(world.device, world.addr - 1, 1, &window),
                    LEO_ERR_BAD_POINTER);
    world_end(&world);
}

/* Work that was captured: at each replay, in order; released once. */
struct kept {
    struct note note;
    unsigned runs, releases;
};

static void look_again(void *user, uint64_t start_ns, struct leo_rt_host_result *result)
{
    struct kept *kept = user;
    kept->runs++;
    look(&kept->note, start_ns, result);
}

static void note_release(void *user)
{
    ((struct kept *)user)->releases++;
}

static void captured_work_runs_at_each_replay(void)
{
    struct world world;
    struct leo_rt_graph *graph;
    world_begin(&world);
    struct kept kept = {.note = {.world = &world, .takes_ns = 1000, .leave = 9}};
    CU_ASSERT_EQUAL_FATAL(leo_rt_capture_begin(world.stream, &graph), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_memset_async(world.stream, world.addr, 4, 4096), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_host_task(world.worker, world.stream, look_again, note_release, &kept),
                    LEO_OK);
    CU_ASSERT_EQUAL_FATAL(leo_rt_capture_end(world.stream), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_graph_size(graph), 2);
    CU_ASSERT_EQUAL(kept.runs, 0);
    uint64_t last_ns = 0;
    for (unsigned i = 1; i <= 3; i++) {
        CU_ASSERT_EQUAL(leo_rt_graph_execute(graph, world.stream), LEO_OK);
        CU_ASSERT_EQUAL(leo_rt_stream_synchronize(world.stream, -1), LEO_OK);
        CU_ASSERT_EQUAL(kept.runs, i);
        CU_ASSERT_EQUAL(kept.note.found, 4); // the fill came before
        CU_ASSERT(kept.note.start_ns >= last_ns + (i > 1 ? 1000 : 0));
        last_ns = kept.note.start_ns;
    }
    CU_ASSERT_EQUAL(kept.releases, 0);
    // Destroying waits for a replay under way.
    kept.note.sleep_us = 20000;
    CU_ASSERT_EQUAL(leo_rt_graph_execute(graph, world.stream), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_graph_destroy(graph), LEO_OK);
    CU_ASSERT_EQUAL(kept.runs, 4);
    CU_ASSERT_EQUAL(kept.releases, 1);
    // Outside a capture: once.
    CU_ASSERT_EQUAL(leo_rt_host_task(world.worker, world.stream, look_again, note_release, &kept),
                    LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(world.stream, -1), LEO_OK);
    CU_ASSERT_EQUAL(kept.runs, 5);
    leo_rt_host_worker_drain(world.worker);
    CU_ASSERT_EQUAL(kept.releases, 2);
    world_end(&world);
}

static void a_graph_without_its_worker_is_refused(void)
{
    struct world world;
    struct leo_rt_graph *graph;
    world_begin(&world);
    struct kept kept = {.note = {.world = &world}};
    CU_ASSERT_EQUAL_FATAL(leo_rt_capture_begin(world.stream, &graph), LEO_OK);
    CU_ASSERT_EQUAL(leo_rt_host_task(world.worker, world.stream, look_again, note_release, &kept),
                    LEO_OK);
    CU_ASSERT_EQUAL_FATAL(leo_rt_capture_end(world.stream), LEO_OK);
    leo_rt_host_worker_destroy(world.worker);
    world.worker = NULL;
    CU_ASSERT_EQUAL(leo_rt_graph_execute(graph, world.stream), LEO_ERR_STATE);
    CU_ASSERT_EQUAL(leo_rt_graph_destroy(graph), LEO_OK);
    CU_ASSERT_EQUAL(kept.runs, 0);
    CU_ASSERT_EQUAL(kept.releases, 1);
    world_end(&world);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"it_stands_in_the_order_of_the_stream", it_stands_in_the_order_of_the_stream},
        {"another_stream_waits_through_an_event", another_stream_waits_through_an_event},
        {"a_failure_is_told_once_and_the_stream_goes_on",
         a_failure_is_told_once_and_the_stream_goes_on},
        {"a_wait_with_a_limit_ends", a_wait_with_a_limit_ends},
        {"nothing_is_lost_at_the_end", nothing_is_lost_at_the_end},
        {"bad_windows_are_refused", bad_windows_are_refused},
        {"captured_work_runs_at_each_replay", captured_work_runs_at_each_replay},
        {"a_graph_without_its_worker_is_refused", a_graph_without_its_worker_is_refused},
    };
    return leo_test_main("runtime_host_task", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
