/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated time of collectives. */
#pragma once

#include "collective.h"

/** Links between cards, from [link] of the SoC file. Cards 0..board_cards-1 are on the first board,
 * and so on; on a board each card has a link to each other, between boards each has one port. */
struct coll_links {
    double board_cards;
    double board_gb_per_s, board_latency_ns;
    double board_mesh;          /**< 1: all links of a card at once; 0: a ring over the board */
    double collective_gb_per_s; /**< of a link, but for messages from point to point */
    double net_gb_per_s, net_latency_ns;
    double start_ns; /**< overhead of a collective */
};

/** Their keys in [link], and where the numbers stand in the structure. */
struct coll_link_key {
    const char *key;
    size_t offset;
};
enum { COLL_LINK_KEYS = 8 };
extern const struct coll_link_key coll_link_keys[COLL_LINK_KEYS];
static inline double *coll_link_number(struct coll_links *links, size_t key)
{
    return (double *)(void *)((char *)links + coll_link_keys[key].offset);
}

/**
 * Nanoseconds from the last rank's arrival to the end. `bytes` is what the operation is about at
 * one rank: the whole for all_reduce, reduce and broadcast, the part of one rank for all_gather,
 * reduce_scatter, scatter and all_to_all; the largest message for point to point.
 */
uint64_t coll_cost_ns(const struct coll_links *links, enum coll_kind kind, uint32_t ranks,
                      uint64_t bytes);
