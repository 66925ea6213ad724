/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include <leo/alloc.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static void memory_is_usable(void)
{
    unsigned char *a = leo_alloc(100);
    unsigned char *b = leo_calloc(10, 10);

    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    memset(a, 7, 100);
    for (int i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(b[i], 0);
    }
    unsigned char *c = leo_realloc(a, 100000);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    CU_ASSERT_EQUAL(c[99], 7);
    leo_free(b);
    leo_free(c);
    leo_free(NULL);
}

static void zero_bytes_is_not_a_failure(void)
{
    void *a = leo_alloc(0), *b = leo_calloc(0, 8), *c = leo_aligned_alloc(64, 0);
    void *d = leo_realloc(leo_alloc(8), 0);

    CU_ASSERT_PTR_NOT_NULL(a);
    CU_ASSERT_PTR_NOT_NULL(b);
    CU_ASSERT_PTR_NOT_NULL(c);
    CU_ASSERT_PTR_NOT_NULL(d);
    leo_free(a);
    leo_free(b);
    leo_free(c);
    leo_free(d);
}

static void aligned_memory_is_aligned(void)
{
    for (size_t align = sizeof(void *); align <= 4096; align *= 2) {
        void *ptr = leo_aligned_alloc(align, 33);
        CU_ASSERT_PTR_NOT_NULL(ptr);
        CU_ASSERT_EQUAL((uintptr_t)ptr % align, 0);
        leo_free(ptr);
    }
}

static void nth_allocation_fails_once(void)
{
    for (int n = 1; n <= 4; n++) {
        leo_alloc_fail_after(n);
        for (int i = 1; i <= 6; i++) {
            void *ptr = i % 2 ? leo_alloc(8) : leo_calloc(1, 8);
            CU_ASSERT_EQUAL(ptr == NULL, i == n);
            CU_ASSERT_EQUAL(leo_alloc_fail_pending(), i < n ? n - i : 0);
            leo_free(ptr);
        }
    }
}

static void every_kind_can_fail(void)
{
    void *kept = leo_alloc(8);

    leo_alloc_fail_after(1);
    CU_ASSERT_PTR_NULL(leo_aligned_alloc(64, 8));
    leo_alloc_fail_after(1);
    CU_ASSERT_PTR_NULL(leo_realloc(kept, 16));
    memset(kept, 1, 8);
    leo_free(kept);
}

static void zero_switches_failing_off(void)
{
    leo_alloc_fail_after(1);
    leo_alloc_fail_after(0);
    void *ptr = leo_alloc(8);
    CU_ASSERT_PTR_NOT_NULL(ptr);
    leo_free(ptr);
}

static void *count_failures(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        void *ptr = leo_alloc(8);
        *(int *)arg += ptr == NULL;
        leo_free(ptr);
    }
    return NULL;
}

static void one_failure_among_threads(void)
{
    pthread_t thread;
    int here = 0, there = 0;

    leo_alloc_fail_after(1500);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, count_failures, &there), 0);
    count_failures(&here);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(here + there, 1);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"memory_is_usable", memory_is_usable},
        {"zero_bytes_is_not_a_failure", zero_bytes_is_not_a_failure},
        {"aligned_memory_is_aligned", aligned_memory_is_aligned},
        {"nth_allocation_fails_once", nth_allocation_fails_once},
        {"every_kind_can_fail", every_kind_can_fail},
        {"zero_switches_failing_off", zero_switches_failing_off},
        {"one_failure_among_threads", one_failure_among_threads},
    };

    return leo_test_main("isa_alloc", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
