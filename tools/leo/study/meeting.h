/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that meet: what the tapes of one run say of operations with other cards is joined, so that
 * a replay of all of them, a thread each, waits as the ranks do. Tapes may stand for more cards
 * than were recorded: each copy of the recorded ranks does the same.
 */
#pragma once

#include "topology.h"
#include <stddef.h>

struct study_tapes;
struct study_links;

/** What is priced: NULL fields as recorded. */
struct study_cards {
    double cards;                          /**< 0: as many as there were */
    const struct study_topology *topology; /**< NULL: operations take as long as they did */
    bool is_placed; /**< the topology knows where ranks are; the runtime's own does not */
};

/** Joins the operations of the tapes. NULL: out of memory. */
struct study_links *study_links_create(const struct study_tapes *tapes);
void study_links_destroy(struct study_links *links);
/** Operations on all tapes; 0: the ranks have nothing to do with each other. */
size_t study_links_count(const struct study_links *links);
/** Ranks of the largest group. */
uint32_t study_links_ranks(const struct study_links *links);
/** Whether every rank of every group has its tape, so that all waits are known. */
bool study_links_whole(const struct study_links *links);

struct study_meeting;
/** One pricing; `cards` lives as long. NULL: out of memory. */
struct study_meeting *study_meeting_create(const struct study_links *links, size_t tapes,
                                           const struct study_cards *cards);
void study_meeting_destroy(struct study_meeting *meeting);
/** When an operation of a tape ends that begins at `arrival_ns`: as leo_sim_meet_fn. */
uint64_t study_meeting_end(struct study_meeting *meeting, size_t tape,
                           const struct leo_link_note *note, uint64_t arrival_ns);
/** The tape has come to its end, or failed: no rank may wait for it. */
void study_meeting_leave(struct study_meeting *meeting, size_t tape);
