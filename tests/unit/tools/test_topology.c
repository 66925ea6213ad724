/* SPDX-License-Identifier: Apache-2.0 */
/* What operations take on a topology: the runtime's own prices on a chip's links, and by hand. */
#include "harness.h"

#include <collective/cost.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "study/topology.h"

static struct study_topology read_text(const char *text, bool good)
{
    char path[] = "/tmp/leo_topology_XXXXXX";
    struct study_topology topology;
    const int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    FILE *out = fdopen(file, "w");
    fputs(text, out);
    fclose(out);
    CU_ASSERT_EQUAL(study_topology_read(path, &topology), good);
    remove(path);
    return topology;
}

static uint64_t ns_of(const struct study_topology *topology, enum leo_link_kind kind, double ranks,
                      double stride, double bytes)
{
    const struct study_group_shape shape = {ranks, stride};
    return study_topology_ns(topology, kind, &shape, bytes, NULL);
}

static void links_of_a_chip_cost_what_a_run_has(void)
{
    for (int mesh = 0; mesh < 2; mesh++) {
        const struct coll_links links = {.board_cards = 8,
                                         .board_gb_per_s = 28,
                                         .board_latency_ns = 1500,
                                         .board_mesh = mesh,
                                         .collective_gb_per_s = 19.3,
                                         .net_gb_per_s = 25,
                                         .net_latency_ns = 6000,
                                         .start_ns = 58500};
        char text[512];
        struct study_topology topology;
        snprintf(text, sizeof(text),
                 "[link]\nboard_cards = 8\nboard_gb_per_s = 28 ; [W]\nboard_latency_ns = 1500\n"
                 "board_mesh = %d\ncollective_gb_per_s = 19.3\nnet_gb_per_s = 25\n"
                 "net_latency_ns = 6000\nstart_ns = 58500\n",
                 mesh);
        CU_ASSERT_FATAL(study_topology_of_chip(text, &topology));
        for (uint32_t ranks = 2; ranks <= 1024; ranks = ranks < 40 ? ranks + 1 : ranks * 2) {
            for (int kind = 0; kind < LEO_LINK_KINDS; kind++) {
                for (uint64_t bytes = 0; bytes < 1 << 26; bytes = bytes * 37 + 1000) {
                    const uint64_t run = coll_cost_ns(&links, (enum coll_kind)kind, ranks, bytes),
                                   here = ns_of(&topology, (enum leo_link_kind)kind, ranks, 1,
                                                (double)bytes);
                    if (run != here) {
                        printf("kind %d, %u ranks, %llu bytes, mesh %d: %llu, here %llu\n", kind,
                               ranks, (unsigned long long)bytes, mesh, (unsigned long long)run,
                               (unsigned long long)here);
                    }
                    CU_ASSERT(run <= here + 1 && here <= run + 1); // order of additions
                }
            }
        }
    }
}

static void topologies_by_hand(void)
{
    enum { MB = 1000000 };
    // 16 x 16 cards, two directions: two rings of 15 steps down and up.
    const struct study_topology torus = read_text(
        "[topology]\nstart_ns = 100\n[level.t]\nlinks = torus\nsize = 16 x 16\ngb_per_s = 50\n"
        "latency_ns = 1000\n",
        true);
    const double first = 15 * 1000 + 256e6 / 16 * 15 / 50 / 2,
                 second = 15 * 1000 + 16e6 / 16 * 15 / 50 / 2;
    CU_ASSERT_EQUAL(ns_of(&torus, LEO_LINK_ALL_REDUCE, 256, 1, 256 * MB),
                    (uint64_t)(100 + 2 * (first + second) + 0.5));
    CU_ASSERT(!study_topology_holds(&torus, 257));
    CU_ASSERT(study_topology_holds(&torus, 256));
    // Boards of 8 behind 4 ports, a tree of leaves of 16 boards at half the rate beyond.
    const char *const lines =
        "[level.board]\nlinks = mesh\nunits = 8\ngb_per_s = 20\nlatency_ns = 1000\n"
        "[level.net]\nlinks = switch\ngb_per_s = 25\nlatency_ns = 5000\nports = 4\n"
        "algorithm = tree\nleaf = 16\noversubscription = 2\n";
    const struct study_topology tree = read_text(lines, true);
    const double board = 1000 + 64e6 / 8 / 20;
    CU_ASSERT_EQUAL(ns_of(&tree, LEO_LINK_ALL_REDUCE, 128, 1, 64 * MB),
                    (uint64_t)(2 * (board + 4 * 5000 + 8e6 * 15 / 16 / 12.5) + 0.5));
    CU_ASSERT_EQUAL(ns_of(&tree, LEO_LINK_ALL_REDUCE, 1024, 1, 64 * MB),
                    (uint64_t)(2 * (board + 7 * 5000 + 8e6 * 127 / 128 / 6.25) + 0.5));
    // A group with a rank a board has all bytes on the net; one inside none.
    CU_ASSERT_EQUAL(ns_of(&tree, LEO_LINK_ALL_REDUCE, 16, 8, 64 * MB),
                    (uint64_t)(2 * (4 * 5000 + 64e6 * 15 / 16 / 12.5) + 0.5));
    CU_ASSERT_EQUAL(ns_of(&tree, LEO_LINK_ALL_REDUCE, 8, 1, 64 * MB), (uint64_t)(2 * board + 0.5));
    // Rings of all ranks are as slow as their slowest link.
    char text[512];
    snprintf(text, sizeof(text), "[topology]\nalgorithm = ring\n%s", lines);
    const struct study_topology flat = read_text(text, true);
    CU_ASSERT_EQUAL(ns_of(&flat, LEO_LINK_ALL_REDUCE, 128, 1, 64 * MB),
                    (uint64_t)(2 * (127 * 5000 + 64e6 * 127 / 128 / 12.5) + 0.5));
}

static void what_is_wrong_is_told(void)
{
    (void)read_text("", false);
    (void)read_text("[level.a]\nlinks = star\ngb_per_s = 1\n", false);
    (void)read_text("[level.a]\nlinks = mesh\n", false);
    (void)read_text("[level.a]\nlinks = torus\ngb_per_s = 1\n", false);
    (void)read_text("[level.a]\ngb_per_s = fast\n", false);
    (void)read_text("[level.a]\ngb_per_s = 1\n[level.b]\ngb_per_s = 1\n", false);
    (void)read_text("[links]\ngb_per_s = 1\n", false);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"links_of_a_chip_cost_what_a_run_has", links_of_a_chip_cost_what_a_run_has},
        {"topologies_by_hand", topologies_by_hand},
        {"what_is_wrong_is_told", what_is_wrong_is_told},
    };
    return leo_test_main("topology", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
