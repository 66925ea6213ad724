/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses of what a kernel reads next: only the host's time depends on them. */
#include "core/ahead.h"
#include "harness.h"

enum { ROWS = 128, PIECE = 256, PITCH = 4096 };

static void note(struct sim_ahead *ahead, uintptr_t at)
{
    sim_ahead_note(ahead, (const uint8_t *)at, PITCH, PIECE, ROWS);
}

/* One piece of A and two of B a chunk, as a matmul loads them. */
static uintptr_t tile(unsigned chunk, unsigned piece)
{
    return piece == 0 ? 0x10000000 + (uintptr_t)chunk * PIECE
                      : 0x20000000 + (uintptr_t)chunk * ROWS * PITCH + (piece - 1) * PIECE;
}

static void matmul_is_followed(void)
{
    struct sim_ahead ahead = {0};
    for (unsigned i = 0; i < 60; i++) {
        note(&ahead, tile(i / 3, i % 3));
        CU_ASSERT_EQUAL(ahead.next[0].pieces, i < 7 ? 0 : ROWS);
        if (i >= 7) {
            CU_ASSERT_EQUAL(ahead.next[0].at, tile((i + 1) / 3, (i + 1) % 3));
            CU_ASSERT_EQUAL(ahead.next[1].at, tile((i + 2) / 3, (i + 2) % 3));
        }
    }
}

static void steady_walk_is_followed(void)
{
    struct sim_ahead ahead = {0};
    for (unsigned i = 0; i < 20; i++) {
        note(&ahead, 0x10000000 + i * (uintptr_t)PIECE);
        CU_ASSERT(i < 3 || (ahead.next[0].at == 0x10000000 + (i + 1) * (uintptr_t)PIECE &&
                            ahead.next[1].at == 0x10000000 + (i + 2) * (uintptr_t)PIECE));
    }
}

static void what_was_asked_for_is_not_asked_for_again(void)
{
    struct sim_ahead ahead = {0};
    for (unsigned i = 0; i < 12; i++) {
        note(&ahead, tile(i / 3, i % 3));
    }
    ahead.next[1].piece = 17;
    ahead.next[1].byte = 64;
    note(&ahead, tile(4, 0));
    CU_ASSERT_EQUAL(ahead.next[0].piece, 17);
    CU_ASSERT_EQUAL(ahead.next[0].byte, 64);
    CU_ASSERT_EQUAL(ahead.next[1].piece, 0);
}

static void no_pattern_no_guess(void)
{
    struct sim_ahead ahead = {0};
    uint32_t random = 1;
    for (unsigned i = 0; i < 40; i++) {
        random = random * 1664525u + 1013904223u;
        note(&ahead, 0x10000000 + random / 64 * 64);
        CU_ASSERT_EQUAL(ahead.next[0].pieces, 0);
    }
    // The host's own prefetcher follows these; those are too small.
    sim_ahead_note(&ahead, (const uint8_t *)0x10000000, PIECE, PIECE, ROWS);
    sim_ahead_note(&ahead, (const uint8_t *)0x10000000, PITCH, 32, 2);
    CU_ASSERT_EQUAL(ahead.count, 40);
}

static const struct leo_test tests[] = {
    {"matmul_is_followed", matmul_is_followed},
    {"steady_walk_is_followed", steady_walk_is_followed},
    {"what_was_asked_for_is_not_asked_for_again", what_was_asked_for_is_not_asked_for_again},
    {"no_pattern_no_guess", no_pattern_no_guess},
};

int main(int argc, char **argv)
{
    return leo_test_main("ahead", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
