/* SPDX-License-Identifier: Apache-2.0 */
/* Max-min sharing of global memory against answers worked out by hand. */
#include "harness.h"
#include "time/share.h"

#include <math.h>

enum { SLOTS = 100, NONE = 1000 };

/* An L2 of 100 bytes a cycle, HBM of 40. */
static struct sim_share *make(void)
{
    struct sim_share *share = NULL;
    CU_ASSERT_EQUAL_FATAL(sim_share_create(SLOTS, 100, 40, &share), LEO_OK);
    return share;
}

static void begin(struct sim_share *share, unsigned slot, double now, double hit, double miss,
                  double victim, double cap)
{
    struct sim_flow flow = {{hit, miss, victim}, {cap, cap / 2, INFINITY}};
    sim_share_begin(share, slot, now, &flow);
}

/* Time at which the next flow is done, and which. */
static double next_done(struct sim_share *share, unsigned *slot)
{
    double when;
    do {
        when = sim_share_next(share);
        if (when == INFINITY) {
            *slot = NONE;
            return when;
        }
    } while (!sim_share_step(share, slot));
    return when;
}

static void expect(struct sim_share *share, unsigned want_slot, double want)
{
    unsigned slot = NONE;
    double when = next_done(share, &slot);
    CU_ASSERT_EQUAL(slot, want_slot);
    CU_ASSERT_DOUBLE_EQUAL(when, want, 1e-6);
}

static void alone_it_has_its_cap_in_each_part(void)
{
    struct sim_share *share = make();
    begin(share, 3, 10, 100, 50, 80, 20);
    CU_ASSERT_DOUBLE_EQUAL(sim_share_rate(share, 3), 20, 1e-9);
    expect(share, 3, 10 + 100 / 20. + 50 / 10. + 80 / 40.);
    CU_ASSERT_EQUAL(sim_share_next(share), INFINITY);
    CU_ASSERT_EQUAL(sim_share_rate(share, 3), 0);
    begin(share, 3, 100, 0, 0, 0, 20); // nothing to move
    expect(share, 3, 100);
    sim_share_destroy(share);
}

static void many_have_equal_shares_of_the_l2(void)
{
    struct sim_share *share = make();
    for (unsigned i = 0; i < 10; i++) {
        begin(share, i, 0, 100 + i, 0, 0, 30);
    }
    CU_ASSERT_DOUBLE_EQUAL(sim_share_rate(share, 9), 10, 1e-9);
    expect(share, 0, 10);
    // Nine are left with one to nine bytes each.
    expect(share, 1, 10 + 9 / 100.);
    sim_share_destroy(share);
}

static void one_below_its_share_leaves_the_rest(void)
{
    struct sim_share *share = make();
    begin(share, 0, 0, 1000, 0, 0, 4);
    begin(share, 1, 0, 1000, 0, 0, 1000);
    begin(share, 2, 0, 1000, 0, 0, 1000);
    CU_ASSERT_DOUBLE_EQUAL(sim_share_rate(share, 0), 4, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(sim_share_rate(share, 1), 48, 1e-9);
    sim_share_destroy(share);
}

/* Misses stop at what HBM gives; what they leave of the L2 goes to hits. */
static void hits_go_on_where_misses_wait(void)
{
    struct sim_share *share = make();
    for (unsigned i = 0; i < 4; i++) {
        begin(share, i, 0, 0, 100, 0, 1000);
    }
    begin(share, 4, 0, 300, 0, 0, 1000);
    CU_ASSERT_DOUBLE_EQUAL(sim_share_rate(share, 0), 10, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(sim_share_rate(share, 4), 60, 1e-9);
    expect(share, 4, 5);
    expect(share, 0, 10);
    sim_share_destroy(share);
}

/* The L2 is full first: what waits for HBM alone has all of it. */
static void victims_do_not_need_the_l2(void)
{
    struct sim_share *share = make();
    for (unsigned i = 0; i < 20; i++) {
        begin(share, i, 0, 100, 0, 0, 1000);
    }
    begin(share, 20, 0, 0, 0, 400, 1000);
    CU_ASSERT_DOUBLE_EQUAL(sim_share_rate(share, 0), 5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(sim_share_rate(share, 20), 40, 1e-9);
    expect(share, 20, 10);
    expect(share, 0, 20);
    sim_share_destroy(share);
}

static void a_newcomer_changes_the_rates_from_then_on(void)
{
    struct sim_share *share = make();
    begin(share, 0, 0, 0, 400, 0, 1000);
    begin(share, 1, 5, 0, 400, 0, 1000); // the first has moved 200
    expect(share, 0, 15);                // 200 more at 20
    expect(share, 1, 20);                // 200 left at 40
    sim_share_destroy(share);
}

static void cancelled_flows_free_their_share(void)
{
    struct sim_share *share = make();
    begin(share, 0, 0, 0, 400, 0, 1000);
    begin(share, 1, 0, 0, 400, 0, 1000);
    begin(share, 2, 0, 0, 500, 0, 1000);
    sim_share_cancel(share, 1, 6); // each has moved 80
    sim_share_cancel(share, 1, 6);
    expect(share, 0, 6 + 320 / 20.);
    expect(share, 2, 22 + 100 / 40.);
    unsigned slot;
    CU_ASSERT_EQUAL(next_done(share, &slot), INFINITY);
    sim_share_destroy(share);
}

/* More caps than classes: the nearest is taken, no flow is lost, no byte comes twice. */
static void many_different_caps(void)
{
    struct sim_share *share = make();
    bool seen[SLOTS] = {false};
    double last = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        begin(share, i, 0, 100, 100, i, 1 + i * 0.1);
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        unsigned slot = NONE;
        double when = next_done(share, &slot);
        CU_ASSERT_FATAL(slot < SLOTS);
        CU_ASSERT(!seen[slot] && when >= last);
        seen[slot] = true;
        last = when;
    }
    for (unsigned i = 0; i < SLOTS - 2; i++) {
        begin(share, i, 10000, 100, 0, 0, 1 + i * 0.1); // hits alone take all classes
    }
    begin(share, SLOTS - 2, 10000, 0, 100, 0, 1);
    begin(share, SLOTS - 1, 10000, 0, 0, 100, 1);
    for (unsigned i = 0; i < SLOTS; i++) {
        unsigned slot = NONE;
        CU_ASSERT_FATAL(next_done(share, &slot) < 20000);
    }
    // 20 000 bytes through the L2 take 200 cycles at least; the slowest alone needs 300.
    CU_ASSERT(last >= 300 && last < 500);
    sim_share_destroy(share);
}

/* The rates add up to no more than there is and leave nothing unused that somebody could have. */
static void nothing_is_left_or_given_twice(void)
{
    struct sim_share *share = make();
    uint32_t seed = 12345;
    double cap[SLOTS] = {0};
    unsigned slot;
    for (unsigned round = 0; round < 2000; round++) {
        seed = seed * 1664525 + 1013904223;
        unsigned i = (seed >> 8) % SLOTS;
        if (cap[i] == 0) {
            cap[i] = 2 << (seed >> 20) % 5;
            bool miss = seed >> 30 & 1;
            begin(share, i, round * 0.25, miss ? 0 : 100, miss ? 100 : 0, 0, cap[i]);
        }
        double l2 = 0;
        for (unsigned k = 0; k < SLOTS; k++) {
            l2 += sim_share_rate(share, k);
            CU_ASSERT(cap[k] == 0 || sim_share_rate(share, k) <= cap[k] * (1 + 1e-9));
        }
        CU_ASSERT(l2 <= 100 * (1 + 1e-9));
        while (sim_share_next(share) <= (round + 1) * 0.25) {
            if (sim_share_step(share, &slot)) {
                cap[slot] = 0;
            }
        }
    }
    sim_share_destroy(share);
}

static const struct leo_test tests[] = {
    {"alone_it_has_its_cap_in_each_part", alone_it_has_its_cap_in_each_part},
    {"many_have_equal_shares_of_the_l2", many_have_equal_shares_of_the_l2},
    {"one_below_its_share_leaves_the_rest", one_below_its_share_leaves_the_rest},
    {"hits_go_on_where_misses_wait", hits_go_on_where_misses_wait},
    {"victims_do_not_need_the_l2", victims_do_not_need_the_l2},
    {"a_newcomer_changes_the_rates_from_then_on", a_newcomer_changes_the_rates_from_then_on},
    {"cancelled_flows_free_their_share", cancelled_flows_free_their_share},
    {"many_different_caps", many_different_caps},
    {"nothing_is_left_or_given_twice", nothing_is_left_or_given_twice},
};

int main(int argc, char **argv)
{
    return leo_test_main("sim_time_share", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
