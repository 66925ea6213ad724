/* SPDX-License-Identifier: Apache-2.0 */
/* What the host did in a stream together with other cards, for a record of the device's (a tape):
 * between two records of events, of which it waited for the first and made the second. */
#pragma once

#include <stdint.h>

enum { LEO_LINK_NAME_BYTES = 32, LEO_LINK_GROUP_BYTES = 128, LEO_LINK_PEERS_MAX = 16 };

/** The kinds of runtime/collective, in its order. */
enum leo_link_kind {
    LEO_LINK_ALL_REDUCE,
    LEO_LINK_REDUCE,
    LEO_LINK_BROADCAST,
    LEO_LINK_ALL_GATHER,
    LEO_LINK_REDUCE_SCATTER,
    LEO_LINK_SCATTER,
    LEO_LINK_ALL_TO_ALL,
    LEO_LINK_BARRIER,
    LEO_LINK_POINT_TO_POINT,
    LEO_LINK_KINDS
};

/** Another rank of a point-to-point operation. */
struct leo_link_peer {
    uint32_t rank;
    uint32_t is_send;
};

/** One operation of several cards as one of them saw it. Times are of this run. */
struct leo_link_note {
    char name[LEO_LINK_NAME_BYTES];   /**< the call, ended by a zero */
    char group[LEO_LINK_GROUP_BYTES]; /**< the same text at all ranks of the group */
    uint32_t kind;                    /**< enum leo_link_kind */
    uint32_t rank, ranks;             /**< of the group */
    uint32_t peers;    /**< messages of POINT_TO_POINT; of more than there is room for, the first */
    uint64_t bytes;    /**< of the operation at one rank */
    uint64_t begin_ns; /**< this rank was there */
    uint64_t ready_ns; /**< so was the last one */
    uint64_t end_ns;
    uint32_t reached_event, done_event; /**< slots of the events */
    uint64_t reached_sequence, done_sequence;
    struct leo_link_peer peer[LEO_LINK_PEERS_MAX];
};
