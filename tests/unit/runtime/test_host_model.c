/* SPDX-License-Identifier: Apache-2.0 */
/* LEO_HOST_MODEL: simulated time between two events around many short tasks, by what the host's
 * launches cost. */
#include "null_runtime.h"

#include <stdlib.h>
#include <string.h>

enum { TASKS = 50, SLACK_NS = 2000 };

static uint64_t time_around(const char *model, const char *queue, bool graph)
{
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_rt_event *begin, *end;
    struct leo_rt_graph *captured = NULL;
    uint64_t addr, from_ns = 0, to_ns = 0;
    setenv("LEO_HOST_MODEL", model, 1);
    setenv("TASK_QUEUE_ENABLE", queue, 1);
    const struct leo_rt_opts opts = {.size = sizeof(opts), .soc = "ascend910a"};
    OK(leo_rt_create(&opts, &rt));
    OK(leo_rt_device_open(rt, 0, &device));
    OK(leo_rt_stream_create(device, &stream));
    OK(leo_rt_event_create(device, &begin));
    OK(leo_rt_event_create(device, &end));
    OK(leo_rt_memory_alloc(device, 64, &addr));
    if (graph) {
        OK(leo_rt_capture_begin(stream, &captured));
    } else {
        OK(leo_rt_event_record(begin, stream));
    }
    for (int i = 0; i < TASKS; i++) {
        OK(leo_rt_memset_async(stream, addr, 0, 64));
    }
    if (graph) {
        OK(leo_rt_capture_end(stream));
        OK(leo_rt_event_record(begin, stream));
        OK(leo_rt_graph_execute(captured, stream));
    }
    OK(leo_rt_event_record(end, stream));
    OK(leo_rt_stream_synchronize(stream, -1));
    OK(leo_rt_event_time_ns(begin, &from_ns));
    OK(leo_rt_event_time_ns(end, &to_ns));
    if (graph) {
        OK(leo_rt_graph_destroy(captured));
    }
    leo_rt_device_close(device);
    leo_rt_destroy(rt);
    unsetenv("LEO_HOST_MODEL");
    unsetenv("TASK_QUEUE_ENABLE");
    return to_ns - from_ns;
}

static void expect_each(const char *model, const char *queue, uint64_t each_ns)
{
    CU_ASSERT_DOUBLE_EQUAL(time_around(model, queue, false), (TASKS + 1) * each_ns, SLACK_NS);
}

static void no_model_no_cost(void)
{
    const uint64_t ns = time_around("", "", false);
    CU_ASSERT(ns < TASKS * 5000);
    CU_ASSERT_EQUAL(time_around("0,0,0", "", false), ns);
}

// The script prepares and another thread launches; or all in one; or the thread prepares too.
static void the_slower_thread_sets_the_pace(void)
{
    expect_each("10000,5000,2000", "", 15000);
    expect_each("10000,5000,2000", "1", 15000);
    expect_each("10000,5000,2000", "0", 17000);
    expect_each("10000,5000,2000", "2", 10000);
    expect_each("10000,5000,40000,1", "1", 40000);
    expect_each("10000,5000,40000,4096", "1", 40000);
}

static void a_graph_is_one_launch(void)
{
    const uint64_t tasks_ns = time_around("", "", true);
    CU_ASSERT_DOUBLE_EQUAL(time_around("200000,0,0", "0", true), 2 * 200000.0, 3.0 * SLACK_NS);
    CU_ASSERT(tasks_ns < 2 * 200000);
}

// A script that waits goes on when the device is done.
static void waiting_takes_the_script_to_the_end_of_the_work(void)
{
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    uint64_t addr;
    setenv("LEO_HOST_MODEL", "1000,0,50000", 1);
    const struct leo_rt_opts opts = {.size = sizeof(opts), .soc = "ascend910a"};
    OK(leo_rt_create(&opts, &rt));
    OK(leo_rt_device_open(rt, 0, &device));
    OK(leo_rt_stream_create(device, &stream));
    OK(leo_rt_memory_alloc(device, 64, &addr));
    OK(leo_rt_memset_async(stream, addr, 0, 64));
    CU_ASSERT_EQUAL(leo_rt_device_host_time_ns(device), 1000);
    OK(leo_rt_stream_synchronize(stream, -1));
    CU_ASSERT(leo_rt_device_host_time_ns(device) > 51000);
    leo_rt_device_close(device);
    leo_rt_destroy(rt);
    unsetenv("LEO_HOST_MODEL");
}

static void bad_models_are_refused(void)
{
    static const char *const bad[] = {
        "1",      "1,2",       "1,2,3,",   "1,2,3,0",         "a,2,3",
        "1,2,-3", "1,2,3,4,5", "1,2,3,4,", "1,2,99999999999", "1,2,3,999999"};
    struct leo_rt *rt;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        setenv("LEO_HOST_MODEL", bad[i], 1);
        CU_ASSERT_EQUAL(leo_rt_create(NULL, &rt), LEO_ERR_RANGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), "LEO_HOST_MODEL"));
    }
    setenv("LEO_HOST_MODEL", "1,2,3", 1);
    setenv("TASK_QUEUE_ENABLE", "3", 1);
    CU_ASSERT_EQUAL(leo_rt_create(NULL, &rt), LEO_ERR_RANGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), "TASK_QUEUE_ENABLE"));
    unsetenv("LEO_HOST_MODEL");
    unsetenv("TASK_QUEUE_ENABLE");
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"no model, no cost", no_model_no_cost},
        {"the slower thread sets the pace", the_slower_thread_sets_the_pace},
        {"a graph is one launch", a_graph_is_one_launch},
        {"waiting takes the script to the end of the work",
         waiting_takes_the_script_to_the_end_of_the_work},
        {"bad models are refused", bad_models_are_refused},
    };
    return leo_test_main("runtime_host_model", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
