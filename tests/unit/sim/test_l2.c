/* SPDX-License-Identifier: Apache-2.0 */
/* HW-CHIP-54: what the L2 holds decides what HBM must move. */
#include "harness.h"
#include "memory/hbm.h"
#include "memory/l2.h"

enum { LINE = SIM_L2_LINE_BYTES };

static void second_use_is_free(void)
{
    struct sim_l2 l2;
    CU_ASSERT_EQUAL(sim_l2_create(&l2, LEO_MAP_GM, 1 << 20, 16 * LINE, 1), LEO_OK);
    sim_l2_use(&l2, 100, 8 * LINE, false); // nine lines are touched
    CU_ASSERT_EQUAL(l2.used_bytes, 8 * LINE);
    CU_ASSERT_EQUAL(l2.read_bytes, 9 * LINE);
    sim_l2_use(&l2, 0, 9 * LINE, false);
    CU_ASSERT_EQUAL(l2.read_bytes, 9 * LINE);
    CU_ASSERT_EQUAL(l2.written_bytes, 0);
    sim_l2_clear(&l2);
    sim_l2_use(&l2, 0, 1, false);
    CU_ASSERT_EQUAL(l2.read_bytes, LINE);
    sim_l2_destroy(&l2);
}

static void written_lines_go_out_when_they_are_replaced(void)
{
    struct sim_l2 l2;
    CU_ASSERT_EQUAL(sim_l2_create(&l2, LEO_MAP_GM, 1 << 20, 4 * LINE, 1), LEO_OK);
    sim_l2_use(&l2, 0, 2 * LINE, true);
    CU_ASSERT_EQUAL(l2.read_bytes + l2.written_bytes, 0);
    sim_l2_use(&l2, 2 * LINE, 4 * LINE, false);
    CU_ASSERT_EQUAL(l2.written_bytes, 2 * LINE);
    CU_ASSERT_EQUAL(l2.read_bytes, 4 * LINE);
    sim_l2_destroy(&l2);
}

/* No more than half may be written: the oldest goes back, and stays. */
static void written_lines_go_back_before_they_are_all(void)
{
    struct sim_l2 l2;
    CU_ASSERT_EQUAL(sim_l2_create(&l2, LEO_MAP_GM, 1 << 20, 8 * LINE, 0.5), LEO_OK);
    sim_l2_use(&l2, 0, 4 * LINE, true);
    CU_ASSERT_EQUAL(l2.written_bytes, 0);
    sim_l2_use(&l2, 4 * LINE, 2 * LINE, true);
    CU_ASSERT_EQUAL(l2.written_bytes, 2 * LINE);
    sim_l2_use(&l2, 0, 6 * LINE, false);
    CU_ASSERT_EQUAL(l2.read_bytes, 0);
    // Written again: again too many.
    sim_l2_use(&l2, 0, 2 * LINE, true);
    CU_ASSERT_EQUAL(l2.written_bytes, 4 * LINE);
    CU_ASSERT_TRUE(sim_l2_settle(&l2) == false); // places are known already
    sim_l2_clear(&l2);
    sim_l2_use(&l2, 0, 8 * LINE, true);
    CU_ASSERT_EQUAL(l2.written_bytes, 4 * LINE);
    sim_l2_destroy(&l2);
}

static void used_lines_stay_longer(void)
{
    struct sim_l2 l2;
    CU_ASSERT_EQUAL(sim_l2_create(&l2, LEO_MAP_GM, 1 << 20, 4 * LINE, 1), LEO_OK);
    sim_l2_use(&l2, 0, 4 * LINE, false);
    sim_l2_use(&l2, 0, 1, false);
    sim_l2_use(&l2, 10 * LINE, 1, false); // takes the place of line 1, not of line 0
    uint64_t before = l2.read_bytes;
    sim_l2_use(&l2, 0, 1, false);
    CU_ASSERT_EQUAL(l2.read_bytes, before);
    sim_l2_use(&l2, LINE, 1, false);
    CU_ASSERT_EQUAL(l2.read_bytes, before + LINE);
    // All in use: the hand goes round once and takes the first.
    sim_l2_use(&l2, 0, 1 << 20, false);
    sim_l2_destroy(&l2);
}

static void larger_than_it_is_no_use(void)
{
    struct sim_l2 l2;
    CU_ASSERT_EQUAL(sim_l2_create(&l2, LEO_MAP_GM, 1 << 20, 8 * LINE, 1), LEO_OK);
    for (unsigned pass = 0; pass < 3; pass++) {
        sim_l2_use(&l2, 0, 16 * LINE, false);
    }
    CU_ASSERT_EQUAL(l2.read_bytes, 48 * LINE);
    sim_l2_destroy(&l2);
}

static void chip_without_l2_and_wild_ranges(void)
{
    struct sim_l2 l2;
    CU_ASSERT_EQUAL(sim_l2_create(&l2, LEO_MAP_GM, 1 << 20, 0, 1), LEO_OK);
    sim_l2_use(&l2, 5, 100, true);
    CU_ASSERT_EQUAL(l2.written_bytes, 100);
    sim_l2_use(&l2, (1 << 20) - 1, 2, true);
    sim_l2_use(&l2, UINT64_MAX, 2, true);
    sim_l2_use(&l2, 0, UINT64_MAX, true);
    CU_ASSERT_EQUAL(l2.used_bytes, 100);
    sim_l2_clear(&l2);
    sim_l2_destroy(&l2);
}

/* HW-CHIP-55 */
static void past_it_lines_are_used_and_none_comes(void)
{
    struct sim_l2 l2;
    CU_ASSERT_EQUAL(sim_l2_create(&l2, LEO_MAP_GM, 1 << 20, 4 * LINE, 1), LEO_OK);
    sim_l2_use(&l2, 0, 4 * LINE, false);
    sim_l2_pass(&l2, 2 * LINE, 4 * LINE + 7, false); // holds two of them
    CU_ASSERT_EQUAL(l2.used_bytes, 8 * LINE + 7);
    CU_ASSERT_EQUAL(l2.read_bytes, 6 * LINE + 7);
    sim_l2_pass(&l2, 2 * LINE, 4 * LINE, false); // nothing came, nothing went
    CU_ASSERT_EQUAL(l2.read_bytes, 8 * LINE + 7);
    sim_l2_pass(&l2, LINE, 4 * LINE, true); // three are written where they are, one in HBM
    CU_ASSERT_EQUAL(l2.written_bytes, LINE);
    sim_l2_use(&l2, 8 * LINE, 4 * LINE, false);
    CU_ASSERT_EQUAL(l2.written_bytes, 4 * LINE);
    sim_l2_pass(&l2, (1 << 20) - 1, 2, true);
    sim_l2_pass(&l2, UINT64_MAX, 2, true);
    CU_ASSERT_EQUAL(l2.written_bytes, 4 * LINE);
    sim_l2_destroy(&l2);
}

static const struct leo_test tests[] = {
    {"second_use_is_free", second_use_is_free},
    {"written_lines_go_out_when_they_are_replaced", written_lines_go_out_when_they_are_replaced},
    {"written_lines_go_back_before_they_are_all", written_lines_go_back_before_they_are_all},
    {"used_lines_stay_longer", used_lines_stay_longer},
    {"larger_than_it_is_no_use", larger_than_it_is_no_use},
    {"past_it_lines_are_used_and_none_comes", past_it_lines_are_used_and_none_comes},
    {"chip_without_l2_and_wild_ranges", chip_without_l2_and_wild_ranges},
};

int main(int argc, char **argv)
{
    return leo_test_main("l2", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
