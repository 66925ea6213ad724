/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_text(const char *part)
{
    bool found = strstr(leo_rt_last_error(), part) != NULL;
    if (!found) {
        printf("\n    wanted \"%s\" in: %s\n", part, leo_rt_last_error());
    }
    CU_ASSERT(found);
}

// One faulting launch on both chips: the code, words of the text, and life afterwards.
static void expect_fault(const char *kernel, const void *const *args, unsigned count,
                         enum leo_fault fault, const char *part)
{
    for (int soc = 0; soc < 2; soc++) {
        struct fixture f;
        fixture_open(&f, fixture_socs[soc]);
        CU_ASSERT_EQUAL(fixture_launch(&f, kernel, 3, args, count), LEO_ERR_FAULT);
        CU_ASSERT_EQUAL(leo_rt_stream_last_fault(f.stream), fault);
        expect_text(kernel);
        expect_text("system_kernels.c:");
        expect_text(leo_fault_text(fault));
        expect_text(part);
        OK(leo_rt_stream_synchronize(f.stream, -1));
        fixture_check_alive(&f);
        fixture_close(&f);
    }
}

static void store_past_an_allocation_names_it(void)
{
    for (int soc = 0; soc < 2; soc++) {
        struct fixture f;
        fixture_open(&f, fixture_socs[soc]);
        int64_t index = 520; // 64 bytes past 4096
        const void *args[] = {&f.out, &index};
        char near[128];
        snprintf(near, sizeof(near), "64 bytes past the end of the 4096-byte allocation at 0x%llx",
                 (unsigned long long)f.out);
        CU_ASSERT_EQUAL(fixture_launch(&f, "store_at", 1, args, 2), LEO_ERR_FAULT);
        CU_ASSERT_EQUAL(leo_rt_stream_last_fault(f.stream), LEO_FAULT_GM_OUT_OF_RANGE);
        CU_ASSERT_EQUAL(leo_rt_stream_last_fault_kind(f.stream),
                        soc ? LEO_CORE_KIND_VECTOR : LEO_CORE_KIND_AICORE);
        expect_text("kernel store_at faulted at ");
        expect_text("system_kernels.c:");
        expect_text("8 bytes at gm address");
        expect_text(near);
        fixture_check_alive(&f);
        fixture_close(&f);
    }
}

static void copy_from_freed_memory_faults(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[0]);
    uint64_t gone;
    OK(leo_rt_memory_alloc(f.device, 1024, &gone));
    OK(leo_rt_memory_free(f.device, gone));
    const void *args[] = {&gone};
    CU_ASSERT_EQUAL(fixture_launch(&f, "load_tile", 1, args, 1), LEO_ERR_FAULT);
    CU_ASSERT_EQUAL(leo_rt_stream_last_fault(f.stream), LEO_FAULT_GM_OUT_OF_RANGE);
    expect_text("256 bytes at gm address");
    expect_text("unit mte2");
    fixture_check_alive(&f);
    fixture_close(&f);
}

static void misaligned_buffer_address_faults(void)
{
    expect_fault("misaligned", NULL, 0, LEO_FAULT_MISALIGNED_LOCAL, "ub address");
}

static void illegal_instruction_faults(void)
{
    expect_fault("illegal", NULL, 0, LEO_FAULT_ILLEGAL_INSTRUCTION, "0xffffffff");
}

static void trap_faults(void)
{
    expect_fault("trapping", NULL, 0, LEO_FAULT_KERNEL_TRAP, "block ");
}

static void endless_loop_meets_the_watchdog(void)
{
    expect_fault("endless", NULL, 0, LEO_FAULT_WATCHDOG, "core ");
}

/* One instruction that names 8 TB: it ends for its simulated time, not the host's. */
static void a_move_beyond_the_limit_meets_the_watchdog(void)
{
    struct fixture f;
    uint64_t x;
    fixture_open(&f, fixture_socs[1]);
    OK(leo_rt_memory_alloc(f.device, 1 << 18, &x));
    const void *args[] = {&x};
    CU_ASSERT_EQUAL(fixture_launch(&f, "rewrite", 2, args, 1), LEO_ERR_FAULT);
    CU_ASSERT_EQUAL(leo_rt_stream_last_fault(f.stream), LEO_FAULT_WATCHDOG);
    expect_text("kernel rewrite");
    expect_text("system_kernels.c:");
    OK(leo_rt_memory_free(f.device, x));
    fixture_check_alive(&f);
    fixture_close(&f);
}

static void call_of_null_faults(void)
{
    for (int soc = 0; soc < 2; soc++) {
        struct fixture f;
        fixture_open(&f, fixture_socs[soc]);
        uint64_t null = 0;
        const void *args[] = {&null};
        CU_ASSERT_EQUAL(fixture_launch(&f, "call", 1, args, 1), LEO_ERR_FAULT);
        CU_ASSERT_EQUAL(leo_rt_stream_last_fault(f.stream), LEO_FAULT_BAD_FETCH);
        expect_text("kernel call");
        fixture_check_alive(&f);
        fixture_close(&f);
    }
}

static void fault_leaves_other_streams_alone(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[1]);
    struct leo_rt_stream *other;
    OK(leo_rt_stream_create(f.device, &other));
    int64_t x = 7, far = 1 << 20, value = 0;
    int32_t spins = 10;
    OK(leo_rt_memcpy(f.device, (void *)(uintptr_t)f.out, &value, 8));
    const void *good[] = {&f.out, &x, &spins}, *bad[] = {&f.out, &far};
    OK(leo_rt_launch(fixture_kernel(&f, "store_at"), 1, f.stream, bad, 2, NULL));
    OK(leo_rt_launch(fixture_kernel(&f, "step"), 1, other, good, 3, NULL));
    // Work behind the fault in the same stream is done too.
    OK(leo_rt_stream_synchronize(other, -1));
    CU_ASSERT_EQUAL(leo_rt_device_synchronize(f.device), LEO_ERR_FAULT);
    OK(leo_rt_device_synchronize(f.device));
    fixture_read(&f, &value, 1);
    CU_ASSERT_EQUAL(value, 7);
    leo_rt_stream_destroy(other);
    fixture_close(&f);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"store_past_an_allocation_names_it", store_past_an_allocation_names_it},
        {"copy_from_freed_memory_faults", copy_from_freed_memory_faults},
        {"misaligned_buffer_address_faults", misaligned_buffer_address_faults},
        {"illegal_instruction_faults", illegal_instruction_faults},
        {"trap_faults", trap_faults},
        {"endless_loop_meets_the_watchdog", endless_loop_meets_the_watchdog},
        {"a_move_beyond_the_limit_meets_the_watchdog", a_move_beyond_the_limit_meets_the_watchdog},
        {"call_of_null_faults", call_of_null_faults},
        {"fault_leaves_other_streams_alone", fault_leaves_other_streams_alone},
    };
    return leo_test_main("faults", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
