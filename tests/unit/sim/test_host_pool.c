/* SPDX-License-Identifier: Apache-2.0 */
/* HW-CHIP-50: every item runs once, turns come in order. Build with -DLEO_SANITIZE=thread as well.
 */
#include "harness.h"
#include "host/host_pool.h"

#include <stdatomic.h>
#include <string.h>

struct load {
    struct sim_host_pool *pool;
    unsigned ran[64];
    unsigned order[64], count;
    bool turns;
    _Atomic bool bad_thread;
};

static void work(void *user, unsigned index, unsigned thread)
{
    struct load *load = user;
    load->bad_thread |= thread >= sim_host_pool_threads(load->pool);
    for (volatile unsigned i = 0; i < (index * 7 % 5) * 200; i++) {
    }
    load->ran[index]++;
    if (load->turns) {
        sim_host_pool_wait_turn(load->pool, 0, index);
        load->order[load->count++] = index;
    }
}

static void run_rounds(unsigned threads, unsigned rounds)
{
    struct load load = {0};
    CU_ASSERT_EQUAL_FATAL(sim_host_pool_create(threads, &load.pool), LEO_OK);
    CU_ASSERT_EQUAL(sim_host_pool_threads(load.pool), threads);
    for (unsigned round = 0; round < rounds; round++) {
        unsigned items = round % 33;
        memset(load.ran, 0, sizeof(load.ran));
        load.count = 0;
        load.turns = round % 2;
        sim_host_pool_run(load.pool, work, &load, items);
        unsigned good = 0;
        for (unsigned i = 0; i < 64; i++) {
            good += load.ran[i] == (i < items);
        }
        for (unsigned i = 0; i < load.count; i++) {
            good -= load.order[i] != i;
        }
        CU_ASSERT_EQUAL(good, 64);
        CU_ASSERT_FALSE(load.bad_thread);
        CU_ASSERT_EQUAL(load.count, load.turns ? items : 0);
    }
    sim_host_pool_destroy(load.pool);
}

static void one_thread(void)
{
    run_rounds(1, 100);
}

static void two_threads(void)
{
    run_rounds(2, 2000);
}

static void four_threads(void)
{
    run_rounds(4, 1000);
}

static void destroy_without_work(void)
{
    struct sim_host_pool *pool;
    for (unsigned i = 0; i < 50; i++) {
        CU_ASSERT_EQUAL_FATAL(sim_host_pool_create(3, &pool), LEO_OK);
        sim_host_pool_destroy(pool);
    }
    sim_host_pool_destroy(NULL);
}

static const struct leo_test tests[] = {
    {"one_thread", one_thread},
    {"two_threads", two_threads},
    {"four_threads", four_threads},
    {"destroy_without_work", destroy_without_work},
};

int main(int argc, char **argv)
{
    return leo_test_main("host_pool", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
