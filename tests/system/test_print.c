/* SPDX-License-Identifier: Apache-2.0 */
/* Output of kernels in a program that launches many times: nothing twice, nothing lost, rings used
 * again and again. */
#include "harness.h"

#include <leo/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) CU_ASSERT_EQUAL_FATAL(call, LEO_OK)

enum { LAUNCHES = 400, BLOCKS = 3, RING = 4096 };

extern const unsigned char print_elf[];
extern const size_t print_elf_bytes;

struct world {
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_rt_module *module;
    FILE *file;
    int saved;
};

static void world_open(struct world *w)
{
    const struct leo_rt_opts opts = {
        .size = sizeof(opts), .soc = "ascend910b1", .print_bytes = RING};
    OK(leo_rt_create(&opts, &w->rt));
    OK(leo_rt_device_open(w->rt, 0, &w->device));
    OK(leo_rt_stream_create(w->device, &w->stream));
    OK(leo_rt_module_load(w->device, print_elf, print_elf_bytes, "print", &w->module));
    fflush(stdout);
    w->file = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(w->file);
    w->saved = dup(1);
    dup2(fileno(w->file), 1);
}

// Ends the redirection and reads what was written.
static char *world_text(struct world *w)
{
    fflush(stdout);
    dup2(w->saved, 1);
    close(w->saved);
    long bytes = lseek(fileno(w->file), 0, SEEK_END);
    char *text = calloc(1, (size_t)bytes + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_EQUAL(pread(fileno(w->file), text, (size_t)bytes, 0), bytes);
    fclose(w->file);
    return text;
}

static void world_close(struct world *w)
{
    leo_rt_module_unload(w->module);
    leo_rt_stream_destroy(w->stream);
    leo_rt_device_close(w->device);
    leo_rt_destroy(w->rt);
}

static leo_status launch(struct world *w, const char *name, uint32_t value)
{
    struct leo_rt_kernel *kernel;
    const void *args[] = {&value};
    OK(leo_rt_module_find(w->module, name, &kernel));
    return leo_rt_launch(kernel, BLOCKS, w->stream, args, 1, NULL);
}

static void rings_are_used_again_and_again(void)
{
    struct world w;
    world_open(&w);
    static char want[LAUNCHES * BLOCKS * 16];
    size_t used = 0;
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        OK(launch(&w, "say", i));
        OK(leo_rt_stream_synchronize(w.stream, -1));
        OK(leo_rt_stream_synchronize(w.stream, -1)); // nothing twice
        for (int block = 0; block < BLOCKS; block++) {
            used += (size_t)snprintf(want + used, sizeof(want) - used, "%u/%d\n", i, block);
        }
    }
    char *text = world_text(&w);
    CU_ASSERT_STRING_EQUAL(text, want);
    free(text);
    world_close(&w);
}

static void event_and_unload_write_what_is_left(void)
{
    struct world w;
    world_open(&w);
    struct leo_rt_event *event;
    OK(leo_rt_event_create(w.device, &event));
    OK(launch(&w, "say", 1));
    OK(leo_rt_event_record(event, w.stream));
    OK(leo_rt_event_synchronize(event, -1));
    fflush(stdout);
    CU_ASSERT_EQUAL(lseek(w.saved >= 0 ? fileno(w.file) : -1, 0, SEEK_END), 3 * 4);
    leo_rt_event_destroy(event);
    OK(launch(&w, "say", 2));
    OK(leo_rt_device_synchronize(w.device));
    OK(launch(&w, "say", 3));
    world_close(&w);
    char *text = world_text(&w);
    CU_ASSERT_STRING_EQUAL(text, "1/0\n1/1\n1/2\n2/0\n2/1\n2/2\n3/0\n3/1\n3/2\n");
    free(text);
}

static void assertion_reaches_the_error_text(void)
{
    struct world w;
    world_open(&w);
    OK(launch(&w, "refuse", 5));
    leo_status status = leo_rt_stream_synchronize(w.stream, -1);
    char *text = world_text(&w);
    CU_ASSERT_EQUAL(status, LEO_ERR_FAULT);
    CU_ASSERT_EQUAL(leo_rt_stream_last_fault(w.stream), LEO_FAULT_KERNEL_TRAP);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), "assertion 'launch == 0' failed at"));
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), ": launch 5"));
    free(text);
    OK(launch(&w, "refuse", 0));
    OK(leo_rt_stream_synchronize(w.stream, -1));
    world_close(&w);
}

static void expect_overrun(uint32_t count, const char *told)
{
    struct world w;
    world_open(&w);
    OK(launch(&w, "overrun", count));
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(w.stream, -1), LEO_ERR_FAULT);
    free(world_text(&w));
    CU_ASSERT_EQUAL(leo_rt_stream_last_fault(w.stream), LEO_FAULT_KERNEL_TRAP);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), told));
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), "called at print_kernel.c:"));
    world_close(&w);
}

/* Arrays lie back to back: only the compiler knows which one was meant. */
static void index_out_of_its_array_is_told(void)
{
    struct world w;
    world_open(&w);
    OK(launch(&w, "overrun", 7));
    OK(leo_rt_stream_synchronize(w.stream, -1));
    char *text = world_text(&w);
    CU_ASSERT_STRING_EQUAL(text, "0\n0\n0\n");
    free(text);
    world_close(&w);
    expect_overrun(8, "index 8 is outside of 'int32_t[8]'");
    expect_overrun(UINT32_MAX, "index -1 is outside of 'int32_t[8]'");
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"rings_are_used_again_and_again", rings_are_used_again_and_again},
        {"event_and_unload_write_what_is_left", event_and_unload_write_what_is_left},
        {"assertion_reaches_the_error_text", assertion_reaches_the_error_text},
        {"index_out_of_its_array_is_told", index_out_of_its_array_is_told},
    };
    return leo_test_main("print", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
