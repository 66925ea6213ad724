/* SPDX-License-Identifier: Apache-2.0 */
/* How cards are connected, as data, and what operations of several cards take there. */
#pragma once

#include <leo/link_note.h>
#include <stdbool.h>
#include <stdint.h>

enum { STUDY_LEVELS_MAX = 8, STUDY_LEVEL_NAME_BYTES = 32 };

/** Who is connected with whom in a level. */
enum study_wiring {
    STUDY_LINKS_MESH,  /**< each with each by a link of its own */
    STUDY_LINKS_RING,  /**< neighbours, round */
    STUDY_LINKS_SWITCH /**< each by one port, anybody with anybody */
};

/** In how many steps a level exchanges what its links carry. */
enum study_algorithm {
    STUDY_ALGORITHM_AUTO, /**< those of a ring, or log2 if that is fewer: what the runtime prices */
    STUDY_ALGORITHM_RING, /**< members - 1 */
    STUDY_ALGORITHM_TREE, /**< log2 of the members: halving and doubling */
    STUDY_ALGORITHM_MESH  /**< one */
};

/** Units that are connected: cards, or the units of the level before. */
struct study_level {
    char name[STUDY_LEVEL_NAME_BYTES];
    enum study_wiring links;
    enum study_algorithm algorithm;
    double units;    /**< 0: as many as there are */
    double gb_per_s; /**< of a link in one direction, in a collective */
    double message_gb_per_s;
    double latency_ns;
    double at_once; /**< links of a unit that a ring uses at a time */
    double ports;   /**< of a unit of the level before, all its cards'; 0: each card has one */
    double leaf;    /**< SWITCH: cards below one switch of the first stage; 0: there is one */
    double oversubscription; /**< SWITCH: of what leaves a leaf; 1: none */
};

struct study_topology {
    char name[64];
    double start_ns; /**< of each operation */
    bool is_flat;    /**< one ring or tree over all ranks, not level by level */
    bool is_shared;  /**< operations of a card that use the same level go one behind the other */
    enum study_algorithm flat;
    unsigned levels;
    struct study_level level[STUDY_LEVELS_MAX]; /**< from the cards outwards */
};

/** A group as it lies among the cards. */
struct study_group_shape {
    double ranks;
    double stride; /**< cards from one rank to the next */
};

/** The [link] of a chip's text, as the runtime prices it (runtime/collective/cost.c). */
bool study_topology_of_chip(const char *soc_text, struct study_topology *topology);
/** A file, or the name of one that is built in; says what is wrong. */
bool study_topology_read(const char *name, struct study_topology *topology);
/** Whether that many cards fit; says so if not. */
bool study_topology_holds(const struct study_topology *topology, double cards);
/** Nanoseconds from the last rank's arrival to the end. `bytes` as in leo_link_note. `levels`, if
 * not NULL: bits of those that are used. */
uint64_t study_topology_ns(const struct study_topology *topology, enum leo_link_kind kind,
                           const struct study_group_shape *shape, double bytes, unsigned *levels);
