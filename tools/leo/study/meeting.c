/* SPDX-License-Identifier: Apache-2.0 */
#include "meeting.h"

#include "study.h"
#include <leo/alloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- what belongs together ---- */

struct group {
    const char *name;
    uint32_t ranks, tapes;
    double stride;
    bool scales; /* has a member in each copy of the recorded ranks */
};

/* An operation of one tape. */
struct op {
    const struct leo_link_note *note;
    size_t tape, group;
    size_t first_seat, seats; /* where it sits, in `seat` */
};

/* An operation at a table: those of equal keys meet. A collective sits at one, an operation with
 * messages at one for each. */
struct seat {
    size_t group;
    uint32_t is_message, from, to; /* ranks of a message */
    size_t tape, op, ordinal, table;
};

struct study_links {
    struct op *op;
    size_t ops;
    struct group *group;
    size_t groups;
    struct seat *by_table, *by_op; /* the same seats, in two orders */
    size_t seats;
    uint32_t ranks;
};

struct gathering {
    struct study_links *links;
    size_t tape, ops_room, groups_room;
    bool failed;
};

static bool grow(void **array, size_t count, size_t *room, size_t each)
{
    if (count < *room) {
        return true;
    }
    const size_t more = *room ? 2 * *room : 64;
    void *moved = leo_realloc(*array, more * each);
    if (moved) {
        *array = moved;
        *room = more;
    }
    return moved != NULL;
}

static size_t find_group(struct gathering *gathering, const struct leo_link_note *note)
{
    struct study_links *links = gathering->links;
    for (size_t i = 0; i < links->groups; i++) {
        if (strcmp(links->group[i].name, note->group) == 0) {
            return i;
        }
    }
    if (!grow((void **)&links->group, links->groups, &gathering->groups_room,
              sizeof(*links->group))) {
        gathering->failed = true;
        return 0;
    }
    links->group[links->groups] =
        (struct group){.name = note->group, .ranks = note->ranks, .stride = 1};
    return links->groups++;
}

static void take_note(void *user, const struct leo_link_note *note)
{
    struct gathering *gathering = user;
    struct study_links *links = gathering->links;
    const size_t group = find_group(gathering, note);
    if (gathering->failed ||
        !grow((void **)&links->op, links->ops, &gathering->ops_room, sizeof(*links->op))) {
        gathering->failed = true;
        return;
    }
    links->op[links->ops++] = (struct op){.note = note, .tape = gathering->tape, .group = group};
    links->ranks = note->ranks > links->ranks ? note->ranks : links->ranks;
}

static uint32_t messages_of(const struct leo_link_note *note)
{
    return note->peers < LEO_LINK_PEERS_MAX ? note->peers : LEO_LINK_PEERS_MAX;
}

static void add_seats(struct study_links *links, size_t index)
{
    struct op *op = &links->op[index];
    const struct leo_link_note *note = op->note;
    const bool is_message = note->kind == LEO_LINK_POINT_TO_POINT;
    op->first_seat = links->seats;
    op->seats = is_message ? messages_of(note) : 1;
    for (size_t i = 0; i < op->seats; i++) {
        struct seat *seat = &links->by_op[links->seats++];
        *seat = (struct seat){
            .group = op->group, .is_message = is_message, .tape = op->tape, .op = index};
        if (is_message) {
            seat->from = note->peer[i].is_send ? note->rank : note->peer[i].rank;
            seat->to = note->peer[i].is_send ? note->peer[i].rank : note->rank;
        }
    }
}

static int compare(uint64_t one, uint64_t other)
{
    return (one > other) - (one < other);
}

static int compare_way(const struct seat *one, const struct seat *other)
{
    int order = compare(one->group, other->group);
    order = order ? order : compare(one->is_message, other->is_message);
    order = order ? order : compare(one->from, other->from);
    return order ? order : compare(one->to, other->to);
}

static int by_tape(const void *left, const void *right)
{
    const struct seat *one = left, *other = right;
    int order = compare_way(one, other);
    order = order ? order : compare(one->tape, other->tape);
    return order ? order : compare(one->op, other->op);
}

static int by_table(const void *left, const void *right)
{
    const struct seat *one = left, *other = right;
    int order = compare_way(one, other);
    order = order ? order : compare(one->ordinal, other->ordinal);
    return order ? order : compare(one->tape, other->tape);
}

static int by_op(const void *left, const void *right)
{
    return compare(((const struct seat *)left)->op, ((const struct seat *)right)->op);
}

/* The n-th of a group on one tape meets the n-th on another. */
static void set_tables(struct study_links *links)
{
    struct seat *seat = links->by_table;
    memcpy(seat, links->by_op, links->seats * sizeof(*seat));
    qsort(seat, links->seats, sizeof(*seat), by_tape);
    for (size_t i = 1; i < links->seats; i++) {
        const bool goes_on =
            compare_way(&seat[i], &seat[i - 1]) == 0 && seat[i].tape == seat[i - 1].tape;
        seat[i].ordinal = goes_on ? seat[i - 1].ordinal + 1 : 0;
    }
    qsort(seat, links->seats, sizeof(*seat), by_table);
    size_t table = 0;
    for (size_t i = 0; i < links->seats; i++) {
        const bool goes_on = i > 0 && compare_way(&seat[i], &seat[i - 1]) == 0 &&
                             seat[i].ordinal == seat[i - 1].ordinal;
        table = goes_on ? table : i; // the number of its first seat
        seat[i].table = table;
    }
    memcpy(links->by_op, seat, links->seats * sizeof(*seat));
    qsort(links->by_op, links->seats, sizeof(*seat), by_op);
}

/* Where the ranks of a group lie among all: from those whose tapes are there. */
static void place_group(struct study_links *links, size_t index, const uint32_t *rank_of,
                        size_t tapes)
{
    struct group *group = &links->group[index];
    uint32_t last = UINT32_MAX;
    for (uint32_t rank = 0; rank < links->ranks; rank++) {
        bool is_there = false;
        for (size_t tape = 0; tape < tapes && !is_there; tape++) {
            for (size_t i = 0; i < links->ops && rank_of[tape] == rank && !is_there; i++) {
                is_there = links->op[i].tape == tape && links->op[i].group == index;
            }
        }
        group->tapes += is_there;
        if (is_there && last != UINT32_MAX && (group->tapes == 2 || rank - last < group->stride)) {
            group->stride = rank - last;
        }
        last = is_there ? rank : last;
    }
    group->stride = group->ranks == links->ranks ? 1 : group->stride;
    group->scales = group->ranks == links->ranks || group->stride > 1;
}

static bool place_groups(struct study_links *links, size_t tapes)
{
    uint32_t *rank_of = leo_calloc(tapes + 1, sizeof(*rank_of));
    for (size_t i = 0; i < links->ops && rank_of; i++) {
        if (links->op[i].note->ranks == links->ranks) {
            rank_of[links->op[i].tape] = links->op[i].note->rank;
        }
    }
    for (size_t i = 0; i < links->groups && rank_of; i++) {
        place_group(links, i, rank_of, tapes);
    }
    leo_free(rank_of);
    return rank_of != NULL;
}

struct study_links *study_links_create(const struct study_tapes *tapes)
{
    struct study_links *links = leo_calloc(1, sizeof(*links));
    struct gathering gathering = {.links = links, .failed = !links};
    size_t seats = 0;
    for (size_t i = 0; i < tapes->count && !gathering.failed; i++) {
        const struct replay_tape *tape = &tapes->of[i].tape;
        gathering.tape = i;
        replay_tape_links(tape, take_note, &gathering);
    }
    for (size_t i = 0; !gathering.failed && i < links->ops; i++) {
        seats +=
            links->op[i].note->kind == LEO_LINK_POINT_TO_POINT ? messages_of(links->op[i].note) : 1;
    }
    if (!gathering.failed) {
        links->by_op = leo_calloc(seats + 1, sizeof(*links->by_op));
        links->by_table = leo_calloc(seats + 1, sizeof(*links->by_table));
    }
    if (gathering.failed || !links->by_op || !links->by_table) {
        study_links_destroy(links);
        return NULL;
    }
    for (size_t i = 0; i < links->ops; i++) {
        add_seats(links, i);
    }
    set_tables(links);
    if (!place_groups(links, tapes->count)) {
        study_links_destroy(links);
        return NULL;
    }
    return links;
}

void study_links_destroy(struct study_links *links)
{
    if (links) {
        leo_free(links->op);
        leo_free(links->group);
        leo_free(links->by_op);
        leo_free(links->by_table);
        leo_free(links);
    }
}

size_t study_links_count(const struct study_links *links)
{
    return links ? links->ops : 0;
}

uint32_t study_links_ranks(const struct study_links *links)
{
    return links ? links->ranks : 0;
}

bool study_links_whole(const struct study_links *links)
{
    for (size_t i = 0; links && i < links->groups; i++) {
        if (links->group[i].tapes != links->group[i].ranks) {
            return false;
        }
    }
    for (size_t i = 0; links && i < links->ops; i++) {
        if (links->op[i].note->peers > LEO_LINK_PEERS_MAX) {
            return false;
        }
    }
    return links != NULL;
}

/* ---- one pricing ---- */

struct rank {
    uint64_t free_ns[STUDY_LEVELS_MAX]; /* when its links of a level are free again */
    size_t waits_for;                   /* an op that it waits to end; SIZE_MAX: none */
    bool has_left;
};

struct study_meeting {
    const struct study_links *links;
    const struct study_cards *cards;
    size_t tapes;
    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    uint64_t *arrival_ns; /* by op; UINT64_MAX: not there yet */
    struct rank *rank;
    bool failed;
};

struct study_meeting *study_meeting_create(const struct study_links *links, size_t tapes,
                                           const struct study_cards *cards)
{
    struct study_meeting *meeting = leo_calloc(1, sizeof(*meeting));
    if (!meeting) {
        return NULL;
    }
    *meeting = (struct study_meeting){.links = links, .cards = cards, .tapes = tapes};
    meeting->arrival_ns = leo_calloc(links->ops + 1, sizeof(*meeting->arrival_ns));
    meeting->rank = leo_calloc(tapes + 1, sizeof(*meeting->rank));
    pthread_mutex_init(&meeting->lock, NULL);
    pthread_cond_init(&meeting->changed, NULL);
    if (!meeting->arrival_ns || !meeting->rank) {
        study_meeting_destroy(meeting);
        return NULL;
    }
    memset(meeting->arrival_ns, 0xff, links->ops * sizeof(*meeting->arrival_ns));
    for (size_t i = 0; i < tapes; i++) {
        meeting->rank[i].waits_for = SIZE_MAX;
    }
    return meeting;
}

void study_meeting_destroy(struct study_meeting *meeting)
{
    if (meeting) {
        pthread_cond_destroy(&meeting->changed);
        pthread_mutex_destroy(&meeting->lock);
        leo_free(meeting->arrival_ns);
        leo_free(meeting->rank);
        leo_free(meeting);
    }
}

/* Operations are in the order of the tapes, and so are their notes in memory. */
static size_t find_op(const struct study_links *links, size_t tape,
                      const struct leo_link_note *note)
{
    size_t low = 0, high = links->ops;
    while (low < high) {
        const size_t at = low + (high - low) / 2;
        const struct op *op = &links->op[at];
        const bool before = op->tape != tape ? op->tape < tape : op->note < note;
        low = before ? at + 1 : low;
        high = before ? high : at;
    }
    return low < links->ops && links->op[low].note == note ? low : SIZE_MAX;
}

/* Whether all that it meets are there, and when the last one was. */
static bool is_ready(const struct study_meeting *meeting, size_t index, uint64_t *ready_ns)
{
    const struct study_links *links = meeting->links;
    const struct op *op = &links->op[index];
    *ready_ns = meeting->arrival_ns[index];
    for (size_t i = 0; i < op->seats; i++) {
        const size_t table = links->by_op[op->first_seat + i].table;
        for (size_t at = table; at < links->seats && links->by_table[at].table == table; at++) {
            const uint64_t there_ns = meeting->arrival_ns[links->by_table[at].op];
            if (there_ns == UINT64_MAX) {
                return false;
            }
            *ready_ns = there_ns > *ready_ns ? there_ns : *ready_ns;
        }
    }
    return true;
}

/* Nobody can go on: each has left, or waits for what does not come. */
static bool is_stuck(const struct study_meeting *meeting)
{
    uint64_t ready_ns;
    for (size_t i = 0; i < meeting->tapes; i++) {
        const struct rank *rank = &meeting->rank[i];
        if (!rank->has_left &&
            (rank->waits_for == SIZE_MAX || is_ready(meeting, rank->waits_for, &ready_ns))) {
            return false;
        }
    }
    return true;
}

static bool is_split(enum leo_link_kind kind)
{
    return kind == LEO_LINK_ALL_GATHER || kind == LEO_LINK_REDUCE_SCATTER ||
           kind == LEO_LINK_SCATTER || kind == LEO_LINK_ALL_TO_ALL;
}

/* Nanoseconds behind the last arrival. With more cards a message of point to point goes where it
 * went, and what is split over all ranks of a group has smaller parts. */
static uint64_t duration(const struct study_meeting *meeting, const struct op *op, unsigned *levels)
{
    const struct study_cards *cards = meeting->cards;
    const struct leo_link_note *note = op->note;
    const struct group *group = &meeting->links->group[op->group];
    *levels = 0;
    if (!cards || !cards->topology) {
        return note->end_ns - note->ready_ns;
    }
    const double factor = cards->cards > 0 && group->scales && note->kind != LEO_LINK_POINT_TO_POINT
                              ? cards->cards / meeting->links->ranks
                              : 1;
    const struct study_group_shape shape = {group->ranks * factor,
                                            cards->is_placed ? group->stride : 1};
    const double bytes = (double)note->bytes / (is_split(note->kind) ? factor : 1);
    return study_topology_ns(cards->topology, note->kind, &shape, bytes, levels);
}

/* Its links may still be busy with the operation before. */
static uint64_t links_free(const struct study_meeting *meeting, size_t tape, unsigned levels)
{
    uint64_t free_ns = 0;
    for (unsigned i = 0; i < STUDY_LEVELS_MAX; i++) {
        const uint64_t at = meeting->rank[tape].free_ns[i];
        free_ns = (levels >> i & 1) && at > free_ns ? at : free_ns;
    }
    return free_ns;
}

static bool wait_for(struct study_meeting *meeting, size_t tape, size_t index, uint64_t *ready_ns)
{
    struct rank *rank = &meeting->rank[tape];
    rank->waits_for = index;
    while (!meeting->failed && !is_ready(meeting, index, ready_ns)) {
        if (is_stuck(meeting)) {
            meeting->failed = true;
            pthread_cond_broadcast(&meeting->changed);
            break;
        }
        pthread_cond_wait(&meeting->changed, &meeting->lock);
    }
    rank->waits_for = SIZE_MAX;
    return !meeting->failed;
}

uint64_t study_meeting_end(struct study_meeting *meeting, size_t tape,
                           const struct leo_link_note *note, uint64_t arrival_ns)
{
    const size_t index = find_op(meeting->links, tape, note);
    if (index == SIZE_MAX) {
        return UINT64_MAX;
    }
    unsigned levels;
    uint64_t ready_ns = 0;
    const uint64_t takes_ns = duration(meeting, &meeting->links->op[index], &levels);
    const bool shares =
        meeting->cards && meeting->cards->topology && meeting->cards->topology->is_shared;
    pthread_mutex_lock(&meeting->lock);
    const uint64_t free_ns = shares ? links_free(meeting, tape, levels) : 0;
    meeting->arrival_ns[index] = arrival_ns > free_ns ? arrival_ns : free_ns;
    pthread_cond_broadcast(&meeting->changed);
    const bool good = wait_for(meeting, tape, index, &ready_ns);
    for (unsigned i = 0; i < STUDY_LEVELS_MAX && shares; i++) {
        if (levels >> i & 1) {
            meeting->rank[tape].free_ns[i] = ready_ns + takes_ns;
        }
    }
    pthread_mutex_unlock(&meeting->lock);
    return good ? ready_ns + takes_ns : UINT64_MAX;
}

void study_meeting_leave(struct study_meeting *meeting, size_t tape)
{
    pthread_mutex_lock(&meeting->lock);
    meeting->rank[tape].has_left = true;
    if (is_stuck(meeting)) {
        bool waits = false;
        for (size_t i = 0; i < meeting->tapes; i++) {
            waits = waits || meeting->rank[i].waits_for != SIZE_MAX;
        }
        meeting->failed = meeting->failed || waits;
    }
    pthread_cond_broadcast(&meeting->changed);
    pthread_mutex_unlock(&meeting->lock);
}
