/* SPDX-License-Identifier: Apache-2.0 */
/* leo topology: how long operations between cards take on a topology. */
#include "../leo_cmd.h"
#include "study.h"

#include <leo/alloc.h>
#include <leo/soc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: leo topology FILE|CHIP [KIND RANKS BYTES [STRIDE]]\n"
    "Tells how many nanoseconds an operation between cards takes from when its last rank is there, "
    "on\n"
    "a topology (a file, docs/studies.md) or on the [link] of a chip. Without an operation, those "
    "of\n"
    "standard input, one a line.\n"
    "\n"
    "  KIND    all_reduce, reduce, broadcast, all_gather, reduce_scatter, scatter, all_to_all, "
    "barrier,\n"
    "          point_to_point\n"
    "  BYTES   of the operation at one rank\n"
    "  STRIDE  cards from one rank to the next (1)\n"
    "Exit code: 0 good, 1 failed, 2 wrong use.\n";

static bool open_topology(const char *name, struct study_topology *topology)
{
    char *text, why[1024];
    if (leo_isa_soc_read(name, &text, why, sizeof(why)) != LEO_OK) {
        return study_topology_read(name, topology);
    }
    const bool is_chip = study_topology_of_chip(text, topology);
    leo_free(text);
    return is_chip || study_topology_read(name, topology);
}

/* Whole numbers that a double holds exactly. */
#define MAX_BYTES 0x1p53
/* More ranks than a recorded operation can have. */
#define MAX_RANKS 0x1p32

static bool read_number(const char *text, double least, double most, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && !*end && *number >= least && *number <= most && *number == floor(*number);
}

/* Tells one operation; false: it is not one. */
static bool tell(const struct study_topology *topology, char *const *word, int words)
{
    struct study_group_shape shape = {.stride = 1};
    double bytes = 0;
    unsigned kind = 0;
    while (words >= 3 && kind < LEO_LINK_KINDS &&
           strcmp(word[0], replay_link_kind_name((enum leo_link_kind)kind)) != 0) {
        kind++;
    }
    if (words < 3 || words > 4 || kind == LEO_LINK_KINDS ||
        !read_number(word[1], 1, MAX_RANKS, &shape.ranks) ||
        !read_number(word[2], 0, MAX_BYTES, &bytes) ||
        (words == 4 && !read_number(word[3], 1, MAX_RANKS, &shape.stride))) {
        fprintf(stderr, "leo topology: KIND RANKS BYTES [STRIDE] are wanted, in whole numbers; "
                        "--help has the kinds\n");
        return false;
    }
    if (!study_topology_holds(topology, (shape.ranks - 1) * shape.stride + 1)) {
        return false;
    }
    printf("%llu\n", (unsigned long long)study_topology_ns(topology, (enum leo_link_kind)kind,
                                                           &shape, bytes, NULL));
    return true;
}

static bool tell_lines(const struct study_topology *topology)
{
    enum { MAX_WORDS = 5 };
    char line[256];
    bool good = true;
    while (good && fgets(line, sizeof(line), stdin)) {
        char *word[MAX_WORDS], *rest = line;
        int words = 0;
        for (char *at; words < MAX_WORDS && (at = strtok_r(rest, " \t\r\n", &rest));) {
            word[words++] = at;
        }
        good = words == 0 || tell(topology, word, words);
    }
    return good;
}

int leo_cmd_topology(int argc, char **argv)
{
    struct study_topology topology;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return 0;
    }
    if (argc < 2 || argc > 6 || argv[1][0] == '-') {
        fputs(help, stderr);
        return 2;
    }
    if (!open_topology(argv[1], &topology)) {
        return 1;
    }
    if (argc == 2) {
        return tell_lines(&topology) ? 0 : 1;
    }
    return tell(&topology, argv + 2, argc - 2) ? 0 : 2;
}
