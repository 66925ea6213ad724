/* SPDX-License-Identifier: Apache-2.0 */
/* HW-CHIP-20, HW-CHIP-21: mappings are exact to the byte and never overlap. */
#include "function/dma.h"
#include "harness.h"
#include "memory/hbm.h"
#include "memory/space.h"

#include <leo/alloc.h>
#include <stdlib.h>

static void bounds_are_exact_to_the_byte(void)
{
    struct sim_space space = {0};
    CU_ASSERT_EQUAL(sim_space_map(&space, 1000, 7, false), LEO_OK);
    CU_ASSERT_PTR_NOT_NULL(sim_space_find(&space, 1000, 7));
    CU_ASSERT_PTR_NOT_NULL(sim_space_find(&space, 1006, 1));
    CU_ASSERT_PTR_NULL(sim_space_find(&space, 1006, 2));
    CU_ASSERT_PTR_NULL(sim_space_find(&space, 999, 1));
    CU_ASSERT_PTR_NULL(sim_space_find(&space, 999, 2));
    CU_ASSERT_PTR_NULL(sim_space_find(&space, 1007, 1));
    CU_ASSERT_PTR_NULL(sim_space_find(&space, 1001, UINT64_MAX));
    sim_space_finish(&space);
}

static void overlaps_are_refused(void)
{
    struct sim_space space = {0};
    CU_ASSERT_EQUAL(sim_space_map(&space, 1000, 100, false), LEO_OK);
    CU_ASSERT_EQUAL(sim_space_map(&space, 1099, 1, false), LEO_ERR_EXISTS);
    CU_ASSERT_EQUAL(sim_space_map(&space, 900, 101, false), LEO_ERR_EXISTS);
    CU_ASSERT_EQUAL(sim_space_map(&space, 900, 1000, false), LEO_ERR_EXISTS);
    CU_ASSERT_EQUAL(sim_space_map(&space, 1010, 1, false), LEO_ERR_EXISTS);
    CU_ASSERT_EQUAL(sim_space_map(&space, UINT64_MAX, 2, false), LEO_ERR_INVALID_ARG);
    CU_ASSERT_EQUAL(sim_space_map(&space, 1100, 1, false), LEO_OK);
    CU_ASSERT_EQUAL(sim_space_map(&space, 999, 1, true), LEO_OK);
    CU_ASSERT_TRUE(sim_space_find(&space, 999, 1)->read_only);
    CU_ASSERT_EQUAL(space.count, 3);
    sim_space_finish(&space);
}

static void unmap_takes_exactly_one(void)
{
    struct sim_space space = {0};
    for (uint64_t i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(sim_space_map(&space, (i * 37 % 100) * 10, 10, false), LEO_OK);
    }
    struct sim_extent extent;
    CU_ASSERT_EQUAL(sim_space_unmap(&space, 505, &extent), LEO_ERR_NOT_FOUND);
    CU_ASSERT_EQUAL(sim_space_unmap(&space, 500, &extent), LEO_OK);
    CU_ASSERT_EQUAL(extent.base, 500);
    CU_ASSERT_EQUAL(sim_space_unmap(&space, 500, &extent), LEO_ERR_NOT_FOUND);
    for (uint64_t addr = 0; addr < 1000; addr++) {
        CU_ASSERT_EQUAL(sim_space_find(&space, addr, 1) != NULL, addr < 500 || addr >= 510);
    }
    sim_space_finish(&space);
}

static void failing_allocation_changes_nothing(void)
{
    struct sim_space space = {0};
    leo_alloc_fail_after(1);
    CU_ASSERT_EQUAL(sim_space_map(&space, 0, 1, false), LEO_ERR_NO_MEMORY);
    leo_alloc_fail_after(0);
    CU_ASSERT_EQUAL(space.count, 0);
    CU_ASSERT_EQUAL(sim_space_map(&space, 0, 1, false), LEO_OK);
    sim_space_finish(&space);
}

static void hbm_zero_is_exact(void)
{
    struct sim_hbm hbm;
    CU_ASSERT_EQUAL(sim_hbm_create(&hbm, LEO_MAP_GM, 1 << 20), LEO_OK);
    for (uint64_t i = 0; i < 1 << 20; i++) {
        hbm.data[i] = 1;
    }
    sim_hbm_zero(&hbm, LEO_MAP_GM + 5001, 200000);
    for (uint64_t i = 0; i < 1 << 20; i++) {
        if (hbm.data[i] != !(i >= 5001 && i < 205001)) {
            CU_FAIL("wrong byte");
        }
    }
    sim_hbm_destroy(&hbm);
}

static void host_memory_that_was_unmapped_is_gone(void)
{
    struct sim_dma dma;
    uint8_t host[3][64], data[8];
    CU_ASSERT_EQUAL_FATAL(sim_dma_init(&dma), LEO_OK);
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(sim_dma_map(&dma, 4096 * (i + 1), host[i], 64), LEO_OK);
    }
    CU_ASSERT_TRUE(sim_dma_is_mapped(&dma, 4096 + 8, 8));
    sim_dma_unmap(&dma, 4096); // the others lie behind it
    CU_ASSERT_FALSE(sim_dma_is_mapped(&dma, 4096 + 8, 8));
    CU_ASSERT_FALSE(sim_dma_read(&dma, 4096 + 8, data, 8));
    CU_ASSERT_FALSE(sim_dma_write(&dma, 4096 + 8, data, 8));
    CU_ASSERT_EQUAL(sim_dma_map(&dma, 4096 + 32, host[0], 64), LEO_OK); // where it was
    CU_ASSERT_TRUE(sim_dma_read(&dma, 4096 + 32, data, 8));
    CU_ASSERT_TRUE(sim_dma_read(&dma, 3 * 4096, data, 8));
    sim_dma_finish(&dma);
}

static const struct leo_test tests[] = {
    {"host_memory_that_was_unmapped_is_gone", host_memory_that_was_unmapped_is_gone},
    {"bounds_are_exact_to_the_byte", bounds_are_exact_to_the_byte},
    {"overlaps_are_refused", overlaps_are_refused},
    {"unmap_takes_exactly_one", unmap_takes_exactly_one},
    {"failing_allocation_changes_nothing", failing_allocation_changes_nothing},
    {"hbm_zero_is_exact", hbm_zero_is_exact},
};

int main(int argc, char **argv)
{
    return leo_test_main("space", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
