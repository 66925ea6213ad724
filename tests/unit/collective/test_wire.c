/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that do not come, die, or do not answer. */
#include "harness.h"
#include "ranks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static leo_status all_reduce(struct coll_wire *wire, size_t count, unsigned timeout_ms, char *text,
                             size_t text_bytes)
{
    float *data = calloc(count, sizeof(*data));
    const struct coll_op op = {
        .kind = COLL_ALL_REDUCE, .type = COLL_F32, .count = count, .send = data, .recv = data};
    struct coll_times times = {0};
    leo_status status = coll_run(wire, &op, timeout_ms, &times, text, text_bytes);
    free(data);
    return status;
}

/* Rank 1 is killed after some rounds; the others must notice long before the deadline. */
static int lose_rank_1(struct coll_wire *wire, void *arg)
{
    const int rounds = *(const int *)arg;
    char text[256] = "";
    leo_status status = LEO_OK;
    for (int i = 0; status == LEO_OK && i < 1000; i++) {
        if (coll_wire_rank(wire) == 1 && i == rounds) {
            raise(SIGKILL);
        }
        status = all_reduce(wire, (size_t)1 << (i % 18), 20000, text, sizeof(text));
    }
    if (status != LEO_ERR_IO || !strstr(text, "gone")) {
        fprintf(stderr, "rank %u: status %d, %s\n", coll_wire_rank(wire), status, text);
        return 1;
    }
    // Later operations say so at once.
    return all_reduce(wire, 10, 20000, text, sizeof(text)) != LEO_OK ? 0 : 2;
}

static void a_killed_rank_is_noticed(void)
{
    for (int rounds = 1; rounds < 6; rounds++) { // round 0: all have met
        int codes[RANKS_MAX];
        uint64_t begin = coll_wire_now_ms();
        ranks_run(3, lose_rank_1, &rounds, codes);
        CU_ASSERT_EQUAL(codes[0], 0);
        CU_ASSERT_EQUAL(codes[1], RANK_KILLED);
        CU_ASSERT_EQUAL(codes[2], 0);
        CU_ASSERT(coll_wire_now_ms() - begin < 15000);
    }
}

static int sleep_at_rank_1(struct coll_wire *wire, void *arg)
{
    (void)arg;
    char text[256] = "";
    if (coll_wire_rank(wire) == 1) {
        sleep(2);
        return 0;
    }
    leo_status status = all_reduce(wire, 100, 500, text, sizeof(text));
    return status == LEO_ERR_TIMEOUT && strstr(text, "rank 1") ? 0 : 1;
}

static void a_silent_rank_times_out(void)
{
    int codes[RANKS_MAX];
    ranks_run(2, sleep_at_rank_1, NULL, codes);
    CU_ASSERT_EQUAL(codes[0], 0);
    CU_ASSERT_EQUAL(codes[1], 0);
}

static int never_called(struct coll_wire *wire, void *arg)
{
    (void)wire;
    (void)arg;
    return 0;
}

static void a_rank_that_never_comes_is_named(void)
{
    int codes[RANKS_MAX];
    uint64_t begin = coll_wire_now_ms();
    ranks_run_without(3, 2, 1000, never_called, NULL, codes);
    CU_ASSERT_EQUAL(codes[0], RANK_NO_WIRE);
    CU_ASSERT_EQUAL(codes[1], RANK_NO_WIRE);
    CU_ASSERT(coll_wire_now_ms() - begin < 10000);
}

static void bad_places_are_refused(void)
{
    struct coll_root root;
    struct coll_bootstrap *bootstrap;
    CU_ASSERT_EQUAL(coll_bootstrap_create("no_such_if", NULL, &root, &bootstrap),
                    LEO_ERR_NOT_FOUND);
    CU_ASSERT_EQUAL(coll_bootstrap_create(NULL, "not an address", &root, &bootstrap),
                    LEO_ERR_INVALID_ARG);
    memset(&root, 0, sizeof(root));
    char text[256];
    struct coll_wire *wire;
    const struct coll_wire_opts opts = {.root = root, .rank = 1, .ranks = 2, .timeout_ms = 1000};
    CU_ASSERT_EQUAL(coll_wire_create(&opts, &wire, text, sizeof(text)), LEO_ERR_INVALID_ARG);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"a_killed_rank_is_noticed", a_killed_rank_is_noticed},
        {"a_silent_rank_times_out", a_silent_rank_times_out},
        {"a_rank_that_never_comes_is_named", a_rank_that_never_comes_is_named},
        {"bad_places_are_refused", bad_places_are_refused},
    };
    return leo_test_main("coll_wire", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
