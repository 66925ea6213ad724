/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines hold what nobody computed. */
#include "harness.h"
#include "memory/unknown.h"
#include <leo/map.h>

enum { LINE = 512, LINES = 1000 };

static void lines_are_known_until_they_are_written(void)
{
    struct sim_unknown *unknown;
    CU_ASSERT_EQUAL_FATAL(sim_unknown_create(LEO_MAP_GM, LINES * LINE, &unknown), LEO_OK);
    CU_ASSERT_FALSE(sim_unknown_has(unknown, LEO_MAP_GM, LINES * LINE));
    sim_unknown_set(unknown, LEO_MAP_GM + 63 * LINE + 1, 66 * LINE, false); // 63 to 129
    CU_ASSERT_FALSE(sim_unknown_has(unknown, LEO_MAP_GM, 63 * LINE));
    CU_ASSERT_TRUE(sim_unknown_has(unknown, LEO_MAP_GM, 63 * LINE + 1));
    CU_ASSERT_TRUE(sim_unknown_has(unknown, LEO_MAP_GM + 129 * LINE, 1));
    CU_ASSERT_FALSE(sim_unknown_has(unknown, LEO_MAP_GM + 130 * LINE, LINES * LINE));
    sim_unknown_set(unknown, LEO_MAP_GM + 64 * LINE, 64 * LINE, true);
    CU_ASSERT_FALSE(sim_unknown_has(unknown, LEO_MAP_GM + 64 * LINE, 64 * LINE));
    CU_ASSERT_TRUE(sim_unknown_has(unknown, LEO_MAP_GM + 63 * LINE, 1));
    CU_ASSERT_TRUE(sim_unknown_has(unknown, LEO_MAP_GM + 128 * LINE, 1));
    sim_unknown_destroy(unknown);
}

static void ranges_outside_are_no_matter(void)
{
    struct sim_unknown *unknown;
    CU_ASSERT_EQUAL_FATAL(sim_unknown_create(LEO_MAP_GM, LINES * LINE, &unknown), LEO_OK);
    sim_unknown_set(unknown, LEO_MAP_GM - LINE, LINE, false);
    sim_unknown_set(unknown, LEO_MAP_GM + LINES * LINE, 8 * LINE, false);
    sim_unknown_set(unknown, LEO_MAP_GM, 0, false);
    CU_ASSERT_FALSE(sim_unknown_has(unknown, LEO_MAP_GM, LINES * LINE));
    sim_unknown_set(unknown, LEO_MAP_GM + (LINES - 1) * LINE, 100 * LINE, false);
    CU_ASSERT_TRUE(sim_unknown_has(unknown, LEO_MAP_GM + (LINES - 1) * LINE, 100 * LINE));
    sim_unknown_destroy(unknown);
}

static const struct leo_test tests[] = {
    {"lines_are_known_until_they_are_written", lines_are_known_until_they_are_written},
    {"ranges_outside_are_no_matter", ranges_outside_are_no_matter},
};

int main(int argc, char **argv)
{
    return leo_test_main("unknown", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
