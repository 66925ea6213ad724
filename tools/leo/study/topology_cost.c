/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of several cards as phases over levels of links. Of a level with n members, reducing
 * and scattering S bytes lets each pair of members exchange S / n; gathering parts of p bytes, p.
 * The runtime's own prices (runtime/collective/cost.c) are those of two levels. */
#include "topology.h"

#include <math.h>
#include <stddef.h>

/* Members of a group in one level. */
struct part {
    const struct study_level *level;
    double members;
    double sharers; /* groups that use a port of the level at a time */
};

struct parts {
    struct part of[STUDY_LEVELS_MAX];
    unsigned count, bits;
    double ranks;
};

/* How a group lies in the levels; those with one member are left out. */
static struct parts parts_of(const struct study_topology *topology,
                             const struct study_group_shape *shape)
{
    struct parts parts = {.ranks = shape->ranks};
    double cards = 1, inside = 1; // of a unit; members of the group among them
    for (unsigned i = 0; i < topology->levels; i++) {
        const struct study_level *level = &topology->level[i];
        const double unit = cards;
        cards = level->units > 0 ? cards * level->units : INFINITY;
        const double reach = fmin(shape->ranks, fmax(1, floor(cards / shape->stride)));
        const double members = ceil(reach / inside);
        if (members > 1) {
            // All cards of a unit are in groups of this kind, and each of them sends.
            const double sharers = level->ports > 0 ? fmax(1, unit / level->ports) : 1;
            parts.of[parts.count++] = (struct part){level, members, sharers};
            parts.bits |= 1u << i;
        }
        inside = fmax(reach, 1);
    }
    return parts;
}

static double steps_of(enum study_algorithm algorithm, double members)
{
    switch (algorithm) {
    case STUDY_ALGORITHM_RING:
        return members - 1;
    case STUDY_ALGORITHM_TREE:
        return ceil(log2(members));
    case STUDY_ALGORITHM_MESH:
        return 1;
    case STUDY_ALGORITHM_AUTO:
        break;
    }
    return fmin(members - 1, ceil(log2(members)));
}

/* GB/s = bytes a ns. What leaves a leaf of a switch is slower, but in a ring, which crosses from
 * leaf to leaf on one link each. */
static double rate_of(const struct part *part, bool is_message)
{
    const struct study_level *level = part->level;
    const double rate = (is_message ? level->message_gb_per_s : level->gb_per_s) / part->sharers;
    const bool leaves = level->links == STUDY_LINKS_SWITCH && level->leaf > 0 &&
                        part->members > level->leaf && level->algorithm != STUDY_ALGORITHM_RING;
    return leaves ? rate / level->oversubscription : rate;
}

/* Every pair of members exchanges `share` bytes. */
static double exchange_ns(const struct part *part, double share)
{
    const struct study_level *level = part->level;
    if (level->links == STUDY_LINKS_MESH) {
        return level->latency_ns + share / rate_of(part, false);
    }
    return steps_of(level->algorithm, part->members) * level->latency_ns +
           share * (part->members - 1) / rate_of(part, false) / level->at_once;
}

/* `bytes` go once from one to all, in pieces that follow each other. */
static double spread_ns(const struct part *part, double bytes)
{
    const struct study_level *level = part->level;
    if (level->links == STUDY_LINKS_MESH) {
        return level->latency_ns + bytes / part->members / rate_of(part, false);
    }
    return steps_of(level->algorithm, part->members) * level->latency_ns +
           bytes / rate_of(part, false) / level->at_once;
}

/* Down to the last level, reducing: what is left of `bytes` is returned. */
static double scatter_in(const struct parts *parts, unsigned levels, double bytes, double *ns)
{
    for (unsigned i = 0; i < levels; i++) {
        const struct part *part = &parts->of[i];
        *ns += exchange_ns(part, bytes / part->members);
        bytes /= part->members;
    }
    return bytes;
}

/* From level `from` back to the cards: parts of `bytes`. */
static double gather_out(const struct parts *parts, unsigned from, double bytes)
{
    double ns = 0;
    for (unsigned i = from; i-- > 0;) {
        ns += exchange_ns(&parts->of[i], bytes);
        bytes *= parts->of[i].members;
    }
    return ns;
}

/* Levels inside share the work: they scatter, and gather in the end. So does a mesh and what is the
 * only level; an outermost ring or switch does it in one go. */
static double rooted_ns(const struct parts *parts, double bytes, bool is_reduce)
{
    double ns = 0;
    const unsigned last = parts->count - 1;
    const struct part *outer = &parts->of[last];
    if (last == 0 || outer->level->links == STUDY_LINKS_MESH) {
        const double left = scatter_in(parts, parts->count, bytes, &ns);
        return ns + gather_out(parts, parts->count, left);
    }
    const double left = scatter_in(parts, last, bytes, &ns);
    ns += is_reduce ? exchange_ns(outer, left / outer->members) : spread_ns(outer, left);
    return ns + gather_out(parts, last, left);
}

static double to_all_ns(const struct parts *parts, double bytes)
{
    double ns = 0, inside = 1;
    for (unsigned i = 0; i < parts->count; i++) {
        const struct part *part = &parts->of[i];
        // Inside each pair has its link or its turn; what goes further leaves through one port.
        const bool has_links = part->level->links == STUDY_LINKS_MESH || i == 0;
        const double outside = bytes * (fmin(inside * part->members, parts->ranks) - inside);
        ns +=
            part->level->latency_ns +
            (has_links ? bytes * (part->level->links == STUDY_LINKS_SWITCH ? part->members - 1 : 1)
                       : outside) /
                rate_of(part, false);
        inside *= part->members;
    }
    return ns;
}

static double barrier_ns(const struct parts *parts)
{
    double ns = 0;
    for (unsigned i = 0; i < parts->count; i++) {
        ns += exchange_ns(&parts->of[i], 0);
    }
    return ns;
}

static double phases_ns(const struct parts *parts, enum leo_link_kind kind, double bytes)
{
    double ns = 0;
    switch (kind) {
    case LEO_LINK_ALL_REDUCE:
        bytes = scatter_in(parts, parts->count, bytes, &ns);
        return ns + gather_out(parts, parts->count, bytes);
    case LEO_LINK_REDUCE:
        return rooted_ns(parts, bytes, true);
    case LEO_LINK_BROADCAST:
        return rooted_ns(parts, bytes, false);
    case LEO_LINK_ALL_GATHER:
        return gather_out(parts, parts->count, bytes);
    case LEO_LINK_REDUCE_SCATTER:
        for (unsigned i = 0; i < parts->count; i++) {
            bytes *= parts->of[i].members;
        }
        (void)scatter_in(parts, parts->count, bytes, &ns);
        return ns;
    case LEO_LINK_SCATTER: // from one card: what is for others leaves unit by unit
        for (unsigned i = 0; i < parts->count; i++) {
            const struct part *part = &parts->of[i];
            ns += i == 0 && part->level->links == STUDY_LINKS_RING
                      ? part->level->latency_ns + bytes / rate_of(part, false)
                      : exchange_ns(part, bytes);
        }
        return ns;
    case LEO_LINK_ALL_TO_ALL:
        return to_all_ns(parts, bytes);
    case LEO_LINK_BARRIER:
        return barrier_ns(parts);
    case LEO_LINK_POINT_TO_POINT:
        return parts->of[0].level->latency_ns + bytes / rate_of(&parts->of[0], true);
    case LEO_LINK_KINDS:
        break;
    }
    return ns;
}

/* One ring or tree over all ranks: as slow as its slowest level. */
static void flatten(const struct study_topology *topology, struct parts *parts,
                    struct study_level *flat)
{
    *flat = *parts->of[0].level;
    flat->links = STUDY_LINKS_SWITCH;
    flat->algorithm = topology->flat;
    flat->at_once = 1;
    flat->leaf = 0;
    double rate = INFINITY;
    for (unsigned i = 0; i < parts->count; i++) {
        rate = fmin(rate, rate_of(&parts->of[i], false));
        flat->latency_ns = fmax(flat->latency_ns, parts->of[i].level->latency_ns);
    }
    flat->gb_per_s = rate;
    parts->of[0] = (struct part){flat, parts->ranks, 1};
    parts->count = 1;
}

uint64_t study_topology_ns(const struct study_topology *topology, enum leo_link_kind kind,
                           const struct study_group_shape *shape, double bytes, unsigned *levels)
{
    struct parts parts = parts_of(topology, shape);
    struct study_level flat;
    if (levels) {
        *levels = parts.bits;
    }
    if (parts.count == 0) {
        return 0;
    }
    if (topology->is_flat && kind != LEO_LINK_POINT_TO_POINT && kind != LEO_LINK_ALL_TO_ALL) {
        flatten(topology, &parts, &flat);
    }
    const double ns = topology->start_ns + phases_ns(&parts, kind, bytes) + 0.5;
    return ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}
