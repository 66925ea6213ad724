/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated time of collectives: what the links give, worked out by hand. */
#include "harness.h"
#include <collective/cost.h>

static const struct coll_links links = {
    .board_cards = 8,
    .board_gb_per_s = 28,
    .board_latency_ns = 1000,
    .board_mesh = 1,
    .collective_gb_per_s = 28,
    .net_gb_per_s = 25,
    .net_latency_ns = 5000,
    .start_ns = 10000,
};

static void one_rank_takes_no_time(void)
{
    CU_ASSERT_EQUAL(coll_cost_ns(&links, COLL_ALL_REDUCE, 1, 1 << 30), 0);
}

static void a_board_uses_all_its_links_at_once(void)
{
    // Two steps, each a share of an eighth over every link: 2 x (1000 + 28 MB / 8 / 28 GB/s).
    CU_ASSERT_EQUAL(coll_cost_ns(&links, COLL_ALL_REDUCE, 8, 28000000),
                    10000 + 2 * (1000 + 125000));
    CU_ASSERT_EQUAL(coll_cost_ns(&links, COLL_ALL_REDUCE, 2, 28000000),
                    10000 + 2 * (1000 + 500000));
    CU_ASSERT_EQUAL(coll_cost_ns(&links, COLL_ALL_GATHER, 8, 28000), 10000 + 1000 + 1000);
    CU_ASSERT_EQUAL(coll_cost_ns(&links, COLL_BARRIER, 8, 0), 10000 + 1000);
    CU_ASSERT_EQUAL(coll_cost_ns(&links, COLL_POINT_TO_POINT, 8, 28000), 10000 + 1000 + 1000);
}

static void a_board_without_a_mesh_is_a_ring(void)
{
    struct coll_links ring = links;
    ring.board_mesh = 0;
    // Seven eighths of 28 MB over one link, twice; few bytes in three steps of halving.
    CU_ASSERT_EQUAL(coll_cost_ns(&ring, COLL_ALL_REDUCE, 8, 28000000),
                    10000 + 2 * (3 * 1000 + 875000));
    CU_ASSERT_EQUAL(coll_cost_ns(&ring, COLL_ALL_GATHER, 4, 28000), 10000 + 2 * 1000 + 3000);
    CU_ASSERT_EQUAL(coll_cost_ns(&ring, COLL_POINT_TO_POINT, 8, 28000), 10000 + 1000 + 1000);
    CU_ASSERT_EQUAL(coll_cost_ns(&ring, COLL_ALL_TO_ALL, 8, 28000), 10000 + 1000 + 1000);
}

static void collectives_do_not_fill_a_link(void)
{
    struct coll_links part = links;
    part.collective_gb_per_s = 14;
    CU_ASSERT_EQUAL(coll_cost_ns(&part, COLL_ALL_REDUCE, 8, 28000000), 10000 + 2 * (1000 + 250000));
    CU_ASSERT_EQUAL(coll_cost_ns(&part, COLL_POINT_TO_POINT, 8, 28000), 10000 + 1000 + 1000);
}

static void boards_add_the_net(void)
{
    // 16 ranks: the shares of an eighth go round a ring of two boards, twice.
    const uint64_t board = 2 * (1000 + 125000);
    const uint64_t net = 2 * (5000 + 28000000 / 8 / 2 / 25);
    CU_ASSERT_EQUAL(coll_cost_ns(&links, COLL_ALL_REDUCE, 16, 28000000), 10000 + board + net);
    CU_ASSERT(coll_cost_ns(&links, COLL_ALL_TO_ALL, 16, 1000) >
              coll_cost_ns(&links, COLL_ALL_TO_ALL, 8, 1000));
}

static void many_boards_halve_and_single_cards_have_only_the_net(void)
{
    // Eight boards: three steps of halving, not seven of a ring.
    const uint64_t board = 2 * (1000 + 125000);
    const uint64_t net = 2 * (3 * 5000 + 28000000ull / 8 * 7 / 8 / 25);
    CU_ASSERT_EQUAL(coll_cost_ns(&links, COLL_ALL_REDUCE, 64, 28000000), 10000 + board + net);
    struct coll_links single = links;
    single.board_cards = 1;
    CU_ASSERT_EQUAL(coll_cost_ns(&single, COLL_BARRIER, 2, 0), 10000 + 5000);
}

static void more_bytes_never_take_less_time(void)
{
    for (int kind = COLL_ALL_REDUCE; kind <= COLL_POINT_TO_POINT; kind++) {
        for (uint32_t ranks = 2; ranks <= 64; ranks *= 2) {
            uint64_t last = 0;
            for (uint64_t bytes = 1; bytes < 1 << 30; bytes *= 4) {
                const uint64_t cost = coll_cost_ns(&links, (enum coll_kind)kind, ranks, bytes);
                CU_ASSERT(cost >= last && cost >= 10000);
                last = cost;
            }
        }
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"one_rank_takes_no_time", one_rank_takes_no_time},
        {"a_board_uses_all_its_links_at_once", a_board_uses_all_its_links_at_once},
        {"a_board_without_a_mesh_is_a_ring", a_board_without_a_mesh_is_a_ring},
        {"collectives_do_not_fill_a_link", collectives_do_not_fill_a_link},
        {"boards_add_the_net", boards_add_the_net},
        {"many_boards_halve_and_single_cards_have_only_the_net",
         many_boards_halve_and_single_cards_have_only_the_net},
        {"more_bytes_never_take_less_time", more_bytes_never_take_less_time},
    };
    return leo_test_main("coll_cost", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
