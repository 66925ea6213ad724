/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Algorithms as data: each is a list of phases on the links of a board and on the net. Within a
 * board every card exchanges with all others at once over its own links; between boards the cards
 * of one position form a ring (large) or halve and double (small).
 */
#include "cost.h"

#include <math.h>

/* What one link carries in a phase, in parts of the bytes of the operation; B boards, C cards a
 * board, N ranks. */
enum amount {
    AMOUNT_NONE,
    AMOUNT_ALL,     /* bytes */
    AMOUNT_SHARE,   /* bytes / C */
    AMOUNT_BOARDS,  /* bytes * B: the parts of all boards for one card */
    AMOUNT_RING,    /* bytes / C * (B - 1) / B */
    AMOUNT_OTHERS,  /* bytes * (B - 1) */
    AMOUNT_OUTSIDE, /* bytes * (N - C): what goes to other boards through the one port */
};

struct phase {
    bool on_net;
    bool by_ring; /* B - 1 steps, or log2 B if that is faster; else one step */
    enum amount amount;
};

enum { PHASES = 4 };

struct algorithm {
    unsigned count;
    struct phase phase[PHASES];
};

static const struct algorithm algorithms[] = {
    [COLL_ALL_REDUCE] = {4,
                         {{false, false, AMOUNT_SHARE},
                          {true, true, AMOUNT_RING},
                          {true, true, AMOUNT_RING},
                          {false, false, AMOUNT_SHARE}}},
    [COLL_REDUCE] = {3,
                     {{false, false, AMOUNT_SHARE},
                      {true, true, AMOUNT_RING},
                      {false, false, AMOUNT_SHARE}}},
    [COLL_BROADCAST] = {3,
                        {{false, false, AMOUNT_SHARE},
                         {true, true, AMOUNT_SHARE},
                         {false, false, AMOUNT_SHARE}}},
    [COLL_ALL_GATHER] = {2, {{true, true, AMOUNT_OTHERS}, {false, false, AMOUNT_BOARDS}}},
    [COLL_REDUCE_SCATTER] = {2, {{false, false, AMOUNT_BOARDS}, {true, true, AMOUNT_OTHERS}}},
    [COLL_SCATTER] = {2, {{true, true, AMOUNT_OTHERS}, {false, false, AMOUNT_ALL}}},
    [COLL_ALL_TO_ALL] = {2, {{false, false, AMOUNT_ALL}, {true, false, AMOUNT_OUTSIDE}}},
    [COLL_BARRIER] = {2, {{false, false, AMOUNT_NONE}, {true, true, AMOUNT_NONE}}},
    [COLL_POINT_TO_POINT] = {1, {{false, false, AMOUNT_ALL}}},
};

struct shape {
    double boards, cards, ranks;
};

static double link_bytes(enum amount amount, const struct shape *shape, double bytes)
{
    switch (amount) {
    case AMOUNT_NONE:
        return 0;
    case AMOUNT_ALL:
        return bytes;
    case AMOUNT_SHARE:
        return bytes / shape->cards;
    case AMOUNT_BOARDS:
        return bytes * shape->boards;
    case AMOUNT_RING:
        return bytes / shape->cards * (shape->boards - 1) / shape->boards;
    case AMOUNT_OTHERS:
        return bytes * (shape->boards - 1);
    case AMOUNT_OUTSIDE:
        return bytes * (shape->ranks - shape->cards);
    }
    return 0;
}

static double phase_ns(const struct coll_links *links, const struct phase *phase,
                       const struct shape *shape, double bytes)
{
    if (phase->on_net ? shape->boards < 2 : shape->cards < 2) {
        return 0;
    }
    const double steps = !phase->by_ring ? 1 : fmin(shape->boards - 1, ceil(log2(shape->boards)));
    const double latency = phase->on_net ? links->net_latency_ns : links->board_latency_ns;
    const double rate = phase->on_net ? links->net_gb_per_s : links->board_gb_per_s;
    return steps * latency + link_bytes(phase->amount, shape, bytes) / rate; // GB/s = bytes per ns
}

uint64_t coll_cost_ns(const struct coll_links *links, enum coll_kind kind, uint32_t ranks,
                      uint64_t bytes)
{
    if (ranks < 2) {
        return 0;
    }
    const double cards = ranks < links->board_cards ? ranks : links->board_cards;
    const struct shape shape = {.boards = ceil(ranks / cards), .cards = cards, .ranks = ranks};
    double total = links->start_ns;
    for (unsigned i = 0; i < algorithms[kind].count; i++) {
        total += phase_ns(links, &algorithms[kind].phase[i], &shape, (double)bytes);
    }
    return (uint64_t)(total + 0.5);
}
