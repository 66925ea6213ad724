/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Algorithms as data: each is a list of phases on the links of a board and on the net. Within a
 * board every card exchanges with all others at once over its own links, or the cards form a ring;
 * between boards the cards of one position form a ring. Rings of few bytes halve and double.
 */
#include "cost.h"

#include <math.h>
#include <stddef.h>

/* What one link carries in a phase, in parts of the bytes of the operation; B boards, C cards a
 * board, N ranks. */
enum amount {
    AMOUNT_NONE,
    AMOUNT_ALL,     /* bytes */
    AMOUNT_MESSAGE, /* the same, from one card to another */
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

const struct coll_link_key coll_link_keys[COLL_LINK_KEYS] = {
    {"board_cards", offsetof(struct coll_links, board_cards)},
    {"board_gb_per_s", offsetof(struct coll_links, board_gb_per_s)},
    {"board_latency_ns", offsetof(struct coll_links, board_latency_ns)},
    {"board_mesh", offsetof(struct coll_links, board_mesh)},
    {"collective_gb_per_s", offsetof(struct coll_links, collective_gb_per_s)},
    {"net_gb_per_s", offsetof(struct coll_links, net_gb_per_s)},
    {"net_latency_ns", offsetof(struct coll_links, net_latency_ns)},
    {"start_ns", offsetof(struct coll_links, start_ns)},
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
    [COLL_POINT_TO_POINT] = {1, {{false, false, AMOUNT_MESSAGE}}},
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
    case AMOUNT_MESSAGE:
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

// Steps of a ring of so many, or of halving and doubling, which moves the same bytes.
static double ring_steps(double members)
{
    return fmin(members - 1, ceil(log2(members)));
}

static double net_ns(const struct coll_links *links, const struct phase *phase,
                     const struct shape *shape, double bytes)
{
    const double steps = phase->by_ring ? ring_steps(shape->boards) : 1;
    return steps * links->net_latency_ns +
           link_bytes(phase->amount, shape, bytes) / links->net_gb_per_s; // GB/s = bytes per ns
}

// Without a mesh one link carries what others of the card would, step by step; what goes to one
// card has one way.
static double board_ns(const struct coll_links *links, const struct phase *phase,
                       const struct shape *shape, double bytes)
{
    const bool message = phase->amount == AMOUNT_MESSAGE,
               ring = links->board_mesh == 0 && !message && phase->amount != AMOUNT_ALL;
    const double carried = link_bytes(phase->amount, shape, bytes) * (ring ? shape->cards - 1 : 1);
    return (ring ? ring_steps(shape->cards) : 1) * links->board_latency_ns +
           carried / (message ? links->board_gb_per_s : links->collective_gb_per_s);
}

static double phase_ns(const struct coll_links *links, const struct phase *phase,
                       const struct shape *shape, double bytes)
{
    if (phase->on_net) {
        return shape->boards < 2 ? 0 : net_ns(links, phase, shape, bytes);
    }
    return shape->cards < 2 ? 0 : board_ns(links, phase, shape, bytes);
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
