/* SPDX-License-Identifier: Apache-2.0 */
/* HW-CHIP-54: what the L2 holds decides what HBM must move. */
#include "harness.h"
#include "memory/hbm.h"
#include "memory/l2.h"
#include <leo/alloc.h>
#include <string.h>

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

/* What was done since it was watched is taken back: it answers as another that never did it. */
static void changes_are_taken_back(void)
{
    struct sim_l2 l2, other;
    struct sim_l2_journal journal = {0};
    uint32_t seed = 1;
    CU_ASSERT_EQUAL(sim_l2_create(&l2, LEO_MAP_GM, 1 << 20, 64 * LINE, 0.5), LEO_OK);
    CU_ASSERT_EQUAL(sim_l2_create(&other, LEO_MAP_GM, 1 << 20, 64 * LINE, 0.5), LEO_OK);
    for (unsigned i = 0; i < 4000; i++) {
        seed = seed * 1664525u + 1013904223u;
        const uint64_t offset = (seed >> 8) % (200 * LINE), bytes = (seed >> 20) % (9 * LINE) + 1;
        const bool is_back = i / 10 % 3 == 1, write = seed >> 7 & 1;
        if (i % 10 == 0 && is_back) {
            sim_l2_watch(&l2, &journal);
        }
        (i % 7 ? sim_l2_use : sim_l2_pass)(&l2, offset, bytes, write);
        if (!is_back) {
            (i % 7 ? sim_l2_use : sim_l2_pass)(&other, offset, bytes, write);
        } else if (i % 10 == 9) {
            sim_l2_take_back(&l2);
            l2.used_bytes = l2.read_bytes = l2.written_bytes = l2.read_runs = l2.last_read = 0;
            other.used_bytes = other.read_bytes = other.written_bytes = other.read_runs = 0;
            other.last_read = 0;
        }
        CU_ASSERT(is_back || (l2.read_bytes == other.read_bytes &&
                              l2.written_bytes == other.written_bytes && l2.dirty == other.dirty));
    }
    for (uint64_t line = 0; line < l2.lines; line++) {
        CU_ASSERT_EQUAL(l2.place[line], other.place[line]);
    }
    CU_ASSERT_EQUAL(memcmp(l2.mark, other.mark, l2.places), 0);
    leo_free(journal.change);
    sim_l2_destroy(&l2);
    sim_l2_destroy(&other);
}

static const struct leo_test tests[] = {
    {"second_use_is_free", second_use_is_free},
    {"written_lines_go_out_when_they_are_replaced", written_lines_go_out_when_they_are_replaced},
    {"written_lines_go_back_before_they_are_all", written_lines_go_back_before_they_are_all},
    {"used_lines_stay_longer", used_lines_stay_longer},
    {"larger_than_it_is_no_use", larger_than_it_is_no_use},
    {"past_it_lines_are_used_and_none_comes", past_it_lines_are_used_and_none_comes},
    {"chip_without_l2_and_wild_ranges", chip_without_l2_and_wild_ranges},
    {"changes_are_taken_back", changes_are_taken_back},
};

int main(int argc, char **argv)
{
    return leo_test_main("l2", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
