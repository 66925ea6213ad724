/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "heap.h"

#include <leo/alloc.h>
#include <stdlib.h>

#define BASE 0x100000000ull
#define SIZE 0x10000000ull

// Spans cover the heap, neighbours know each other, no two free ones touch, and the counts are
// right.
static void check_heap(const struct drv_heap *heap)
{
    uint64_t at = heap->base, used = 0;
    size_t count = 0;
    const struct drv_span *below = NULL;
    for (const struct drv_span *span = heap->first; span; below = span, span = span->above) {
        CU_ASSERT_EQUAL_FATAL(span->base, at);
        CU_ASSERT_PTR_EQUAL_FATAL(span->below, below);
        CU_ASSERT_EQUAL_FATAL(span->base % DRV_HEAP_ALIGN, 0);
        CU_ASSERT_FATAL(span->size > 0 && span->bytes <= span->size);
        CU_ASSERT_FATAL(!below || below->bytes || span->bytes);
        if (span->bytes) {
            CU_ASSERT_PTR_EQUAL_FATAL(heap->used[count], span);
            count++;
            used += span->size;
        }
        at += span->size;
    }
    CU_ASSERT_EQUAL(at, heap->base + heap->bytes);
    CU_ASSERT_EQUAL(count, heap->used_count);
    CU_ASSERT_EQUAL(used, heap->used_bytes);
}

static void allocations_have_gaps_between_them(void)
{
    struct drv_heap heap;
    struct drv_span *a, *b;
    CU_ASSERT_EQUAL_FATAL(drv_heap_init(&heap, BASE, SIZE), LEO_OK);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 512, false, &a), LEO_OK);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 1, false, &b), LEO_OK);
    CU_ASSERT(b->base >= a->base + 1024);
    CU_ASSERT_EQUAL(a->bytes, 512);
    CU_ASSERT_EQUAL(b->bytes, 1);
    check_heap(&heap);
    drv_heap_finish(&heap);
}

static void whole_heap_can_be_one_allocation(void)
{
    struct drv_heap heap;
    struct drv_span *a, *b;
    CU_ASSERT_EQUAL_FATAL(drv_heap_init(&heap, BASE, SIZE), LEO_OK);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, SIZE, false, &a), LEO_OK);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 1, false, &b), LEO_ERR_NO_DEVICE_MEMORY);
    drv_heap_free(&heap, a);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, SIZE + 1, false, &a), LEO_ERR_NO_DEVICE_MEMORY);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, UINT64_MAX, false, &a), LEO_ERR_NO_DEVICE_MEMORY);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 0, false, &a), LEO_ERR_INVALID_ARG);
    check_heap(&heap);
    drv_heap_finish(&heap);
}

static void large_allocations_begin_at_a_page(void)
{
    struct drv_heap heap;
    struct drv_span *small, *large[3];
    CU_ASSERT_EQUAL_FATAL(drv_heap_init(&heap, BASE, SIZE), LEO_OK);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 1, false, &small), LEO_OK);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL_FATAL(drv_heap_alloc(&heap, DRV_HEAP_PAGE + 32u, false, &large[i]), LEO_OK);
        CU_ASSERT_EQUAL(large[i]->base % DRV_HEAP_PAGE, 0);
        check_heap(&heap);
    }
    drv_heap_free(&heap, large[1]);
    drv_heap_free(&heap, small);
    check_heap(&heap);
    drv_heap_free(&heap, large[0]);
    drv_heap_free(&heap, large[2]);
    check_heap(&heap);
    CU_ASSERT_PTR_NULL(heap.first->above);
    drv_heap_finish(&heap);
}

static void freed_neighbours_join(void)
{
    struct drv_heap heap;
    struct drv_span *s[3];
    CU_ASSERT_EQUAL_FATAL(drv_heap_init(&heap, BASE, SIZE), LEO_OK);
    // Every order of freeing three neighbours ends with one span.
    const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int order = 0; order < 6; order++) {
        for (int i = 0; i < 3; i++) {
            CU_ASSERT_EQUAL_FATAL(drv_heap_alloc(&heap, 5000, false, &s[i]), LEO_OK);
        }
        for (int i = 0; i < 3; i++) {
            drv_heap_free(&heap, s[orders[order][i]]);
            check_heap(&heap);
        }
        CU_ASSERT_PTR_NULL(heap.first->above);
    }
    drv_heap_finish(&heap);
}

static void best_fit_takes_the_hole_that_fits(void)
{
    struct drv_heap heap;
    struct drv_span *large, *small, *keep, *again;
    CU_ASSERT_EQUAL_FATAL(drv_heap_init(&heap, BASE, SIZE), LEO_OK);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 100000, false, &large), LEO_OK);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 1, false, &keep), LEO_OK);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 50000, false, &small), LEO_OK);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 4000, false, &keep), LEO_OK);
    uint64_t hole = small->base;
    drv_heap_free(&heap, large);
    drv_heap_free(&heap, small);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 50000, false, &again), LEO_OK);
    CU_ASSERT_EQUAL(again->base, hole);
    drv_heap_finish(&heap);
}

static void lookup_finds_the_span_at_or_below(void)
{
    struct drv_heap heap;
    struct drv_span *a, *b;
    CU_ASSERT_EQUAL_FATAL(drv_heap_init(&heap, BASE, SIZE), LEO_OK);
    CU_ASSERT_PTR_NULL(drv_heap_at(&heap, BASE));
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 600, false, &a), LEO_OK);
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 600, false, &b), LEO_OK);
    CU_ASSERT_PTR_NULL(drv_heap_at(&heap, BASE - 1));
    CU_ASSERT_PTR_EQUAL(drv_heap_at(&heap, a->base), a);
    CU_ASSERT_PTR_EQUAL(drv_heap_at(&heap, b->base - 1), a);
    CU_ASSERT_PTR_EQUAL(drv_heap_at(&heap, UINT64_MAX), b);
    drv_heap_finish(&heap);
}

static void random_use_keeps_the_heap_whole(void)
{
    enum { SLOTS = 200 };
    struct drv_heap heap;
    struct drv_span *slots[SLOTS] = {NULL};
    unsigned seed = 7;
    CU_ASSERT_EQUAL_FATAL(drv_heap_init(&heap, BASE, SIZE), LEO_OK);
    for (int i = 0; i < 5000; i++) {
        int at = rand_r(&seed) % SLOTS;
        if (slots[at]) {
            drv_heap_free(&heap, slots[at]);
            slots[at] = NULL;
        } else if (drv_heap_alloc(&heap, 1 + (uint64_t)rand_r(&seed) % (1u << rand_r(&seed) % 23),
                                  false, &slots[at])) {
            slots[at] = NULL;
        }
        if (i % 50 == 0) {
            check_heap(&heap);
        }
    }
    for (int at = 0; at < SLOTS; at++) {
        if (slots[at]) {
            drv_heap_free(&heap, slots[at]);
        }
    }
    check_heap(&heap);
    CU_ASSERT_PTR_NULL(heap.first->above);
    drv_heap_finish(&heap);
}

static void failed_allocation_changes_nothing(void)
{
    struct drv_heap heap;
    struct drv_span *span;
    CU_ASSERT_EQUAL_FATAL(drv_heap_init(&heap, BASE, SIZE), LEO_OK);
    for (int n = 1; n <= 2; n++) {
        leo_alloc_fail_after(n);
        CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 512, false, &span), LEO_ERR_NO_MEMORY);
        leo_alloc_fail_after(0);
        check_heap(&heap);
        CU_ASSERT_EQUAL(heap.used_count, 0);
    }
    CU_ASSERT_EQUAL(drv_heap_alloc(&heap, 512, false, &span), LEO_OK);
    drv_heap_finish(&heap);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"allocations_have_gaps_between_them", allocations_have_gaps_between_them},
        {"whole_heap_can_be_one_allocation", whole_heap_can_be_one_allocation},
        {"large_allocations_begin_at_a_page", large_allocations_begin_at_a_page},
        {"freed_neighbours_join", freed_neighbours_join},
        {"best_fit_takes_the_hole_that_fits", best_fit_takes_the_hole_that_fits},
        {"lookup_finds_the_span_at_or_below", lookup_finds_the_span_at_or_below},
        {"random_use_keeps_the_heap_whole", random_use_keeps_the_heap_whole},
        {"failed_allocation_changes_nothing", failed_allocation_changes_nothing},
    };
    return leo_test_main("heap", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
