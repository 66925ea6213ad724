/* SPDX-License-Identifier: Apache-2.0 */
/* LEO_HOST_MODEL: simulated time between two events around many short tasks, by what the host's
 * launches cost. */
#include "null_runtime.h"

#include <dlfcn.h>
#include <leo/host_model.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 50, SLACK_NS = 2000 };

/** A chip whose host has the model, and memory to fill. */
struct modelled {
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_rt_event *begin, *end;
    uint64_t addr;
};

static void modelled_open(struct modelled *it, const char *model, const char *queue)
{
    const struct leo_rt_opts opts = {.size = sizeof(opts), .soc = "ascend910a"};
    setenv("LEO_HOST_MODEL", model, 1);
    setenv("TASK_QUEUE_ENABLE", queue, 1);
    OK(leo_rt_create(&opts, &it->rt));
    OK(leo_rt_device_open(it->rt, 0, &it->device));
    OK(leo_rt_stream_create(it->device, &it->stream));
    OK(leo_rt_event_create(it->device, &it->begin));
    OK(leo_rt_event_create(it->device, &it->end));
    OK(leo_rt_memory_alloc(it->device, 1 << 20, &it->addr));
    unsetenv("LEO_HOST_MODEL");
    unsetenv("TASK_QUEUE_ENABLE");
}

static void modelled_close(struct modelled *it)
{
    leo_rt_device_close(it->device);
    leo_rt_destroy(it->rt);
}

static void fill(const struct modelled *it, uint64_t bytes)
{
    OK(leo_rt_memset_async(it->stream, it->addr, 0, bytes));
}

/* Between the two events, waited for. */
static uint64_t span_of(const struct modelled *it)
{
    uint64_t from_ns = 0, to_ns = 0;
    OK(leo_rt_stream_synchronize(it->stream, -1));
    OK(leo_rt_event_time_ns(it->begin, &from_ns));
    OK(leo_rt_event_time_ns(it->end, &to_ns));
    return to_ns - from_ns;
}

static uint64_t time_around(const char *model, const char *queue, bool graph)
{
    struct modelled it;
    struct leo_rt_graph *captured = NULL;
    modelled_open(&it, model, queue);
    if (graph) {
        OK(leo_rt_capture_begin(it.stream, &captured));
    } else {
        OK(leo_rt_event_record(it.begin, it.stream));
    }
    for (int i = 0; i < TASKS; i++) {
        fill(&it, 64);
    }
    if (graph) {
        OK(leo_rt_capture_end(it.stream));
        OK(leo_rt_event_record(it.begin, it.stream));
        OK(leo_rt_graph_execute(captured, it.stream));
    }
    OK(leo_rt_event_record(it.end, it.stream));
    const uint64_t ns = span_of(&it);
    if (graph) {
        OK(leo_rt_graph_destroy(captured));
    }
    modelled_close(&it);
    return ns;
}

static void expect_each(const char *model, const char *queue, uint64_t each_ns)
{
    CU_ASSERT_DOUBLE_EQUAL(time_around(model, queue, false), TASKS * each_ns, 2.0 * each_ns);
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
    CU_ASSERT_DOUBLE_EQUAL(time_around("200000,0,0", "0", true), 200000.0 + tasks_ns,
                           3.0 * SLACK_NS);
    CU_ASSERT(tasks_ns < 200000);
}

// A script that waits goes on when the device is done.
static void waiting_takes_the_script_to_the_end_of_the_work(void)
{
    struct modelled it;
    modelled_open(&it, "1000,0,50000", "");
    fill(&it, 64);
    CU_ASSERT_EQUAL(leo_rt_device_host_time_ns(it.device), 1000);
    OK(leo_rt_stream_synchronize(it.stream, -1));
    CU_ASSERT(leo_rt_device_host_time_ns(it.device) > 51000);
    modelled_close(&it);
}

// An operator of several tasks costs the script once; the launching thread has each of them.
static void an_operator_is_charged_once(void)
{
    struct modelled it;
    modelled_open(&it, "100000,0,1000", "");
    OK(leo_rt_event_record(it.begin, it.stream));
    for (int i = 0; i < TASKS; i++) {
        leo_rt_operator_begin(it.stream);
        fill(&it, 64);
        leo_rt_operator_begin(it.stream);
        fill(&it, 64);
        leo_rt_operator_end(it.stream);
        fill(&it, 64);
        leo_rt_operator_end(it.stream);
    }
    OK(leo_rt_event_record(it.end, it.stream));
    CU_ASSERT_DOUBLE_EQUAL(span_of(&it), TASKS * 100000.0, 10.0 * SLACK_NS);
    modelled_close(&it);
}

/* More tasks than a stream holds, by a script that is faster than the chip, with pauses in which
 * the chip may work ahead: it waits for room, and the times are the same with any pauses. */
static uint64_t crowded(unsigned pause_us)
{
    enum { MANY = 3000 };
    struct modelled it;
    modelled_open(&it, "100,0,0", "0");
    OK(leo_rt_event_record(it.begin, it.stream));
    for (int i = 0; i < MANY; i++) {
        fill(&it, 1 << 20);
        if (pause_us && i % 500 == 0) {
            (void)leo_rt_stream_query(it.stream);
            usleep(pause_us);
        }
    }
    const uint64_t script_ns = leo_rt_device_host_time_ns(it.device);
    OK(leo_rt_event_record(it.end, it.stream));
    const uint64_t ns = span_of(&it);
    CU_ASSERT(script_ns > 100 * MANY * 2); // held up by the chip
    modelled_close(&it);
    return ns + script_ns;
}

static void how_far_the_chip_is_cannot_be_told(void)
{
    const uint64_t ns = crowded(0);
    CU_ASSERT_EQUAL(crowded(5000), ns);
    CU_ASSERT_EQUAL(crowded(20000), ns);
}

/* The chip may have done it already; the script learns so when its own clock is there, or when it
 * does nothing but ask. */
static void a_query_does_not_move_the_script(void)
{
    struct modelled it;
    modelled_open(&it, "100,0,0", "0");
    fill(&it, 1 << 20);
    OK(leo_rt_event_record(it.end, it.stream));
    usleep(20000);
    CU_ASSERT_EQUAL(leo_rt_event_query(it.end), LEO_ERR_NOT_READY);
    CU_ASSERT_EQUAL(leo_rt_stream_query(it.stream), LEO_ERR_NOT_READY);
    CU_ASSERT_EQUAL(leo_rt_device_host_time_ns(it.device), 100);
    int asked = 1;
    while (leo_rt_event_query(it.end) == LEO_ERR_NOT_READY && asked < 1000) {
        asked++;
    }
    CU_ASSERT(asked < 1000);
    CU_ASSERT(leo_rt_device_host_time_ns(it.device) > 200);
    modelled_close(&it);
}

static const char *model_of(const char *text)
{
    static char kept[160];
    struct modelled it;
    modelled_open(&it, text, "");
    strncpy(kept, leo_rt_device_host_model(it.device), sizeof(kept) - 1);
    modelled_close(&it);
    return kept;
}

// A process that has loaded a framework has its model, unless it says otherwise.
static void frameworks_have_a_model(void)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(model_of(""), "launches cost the host nothing"));
    CU_ASSERT_PTR_NOT_NULL(strstr(model_of("torch_npu"), "torch_npu: an operator costs"));
    CU_ASSERT_PTR_NOT_NULL(strstr(model_of("10,0,0"), "as given"));
    void *adapter = dlopen(LEO_FAKE_ADAPTER, RTLD_NOW);
    CU_ASSERT_PTR_NOT_NULL_FATAL(adapter);
    CU_ASSERT_PTR_NOT_NULL(strstr(model_of(""), "torch_npu: an operator costs the script 17.0 us"));
    CU_ASSERT_PTR_NOT_NULL(strstr(model_of("off"), "launches cost the host nothing"));
    expect_each("", "", 17000);
    CU_ASSERT(time_around("off", "", false) < TASKS * 5000);
    dlclose(adapter);
}

static void bad_models_are_refused(void)
{
    static const char *const bad[] = {
        "1",      "1,2",       "1,2,3,",   "1,2,3,0",         "a,2,3",       "off,",
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
        {"an operator is charged once", an_operator_is_charged_once},
        {"how far the chip is cannot be told", how_far_the_chip_is_cannot_be_told},
        {"a query does not move the script", a_query_does_not_move_the_script},
        {"frameworks have a model", frameworks_have_a_model},
        {"bad models are refused", bad_models_are_refused},
    };
    return leo_test_main("runtime_host_model", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
