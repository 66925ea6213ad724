/* SPDX-License-Identifier: Apache-2.0 */
#include "known.h"

#include <leo/alloc.h>
#include <string.h>

enum {
    TRIED = 4, /* ways of one launch and one chip that are tried */
    FIRST_HEADS = 1 << 12,
    FIRST_TURNS = 1 << 12,
    ROOT = 0, /* the node before all others: an empty L2 of some size leads on */
    ALL = 1   /* id of numbers where only one chip is looked at */
};

/* Numbers of some chip. */
struct blob {
    struct blob *next;
    uint32_t id, bytes;
    uint8_t data[];
};

/* Of blocks or launches that depend on the same numbers. */
struct kind {
    struct sim_needs needs;
    uint32_t price, numbers[2]; /* ids of this chip's: of prices; of times, without HBM and with */
};

struct class
{
    struct sim_price price;
    struct sim_moves moves;
    uint32_t priced; /* id of the numbers of the price */
};

struct sim_known {
    const struct sim_tape_file *file;
    bool stays;         /* for more than one replay */
    uint64_t max_bytes; /* of prices, and as many of all else */
    struct class *class;
    struct kind *kind;
    uint32_t *class_kind, *launch_kind, kinds;
    struct blob **blob; /* a table of chains */
    uint32_t blobs;
    uint64_t price_bytes, way_bytes;
    struct sim_way **way, *newest; /* by launch and id, a table of chains */
    uint32_t ways_were, ways;
    struct sim_known_turn *turn;
    uint32_t *head, heads; /* by node and task, a table of chains */
    uint32_t turns, turns_were, capacity, nodes, root;
};

/* ---- what depends on what ---- */

static uint32_t kind_of(struct sim_known *known, const struct sim_needs *needs)
{
    for (uint32_t i = 0; i < known->kinds; i++) {
        if (memcmp(&known->kind[i].needs, needs, sizeof(*needs)) == 0) {
            return i;
        }
    }
    known->kind[known->kinds].needs = *needs;
    return known->kinds++;
}

static uint32_t kind_of_launch(struct sim_known *known, const struct sim_tape_entry *entry)
{
    struct sim_needs needs = {0};
    const uint64_t parts = sim_tape_parts(entry);
    for (uint64_t i = 0; i < parts; i++) {
        const uint32_t class = known->file->part[entry->first_part + i].class;
        sim_needs_add(&needs, &known->kind[known->class_kind[class]].needs);
    }
    return kind_of(known, &needs);
}

static void find_kinds(struct sim_known *known)
{
    const struct sim_tape_file *file = known->file;
    for (uint32_t i = 0; i < file->classes; i++) {
        struct sim_needs needs = {0};
        sim_needs_add_part(&needs, &file->part[file->class[i].part]);
        known->class_kind[i] = kind_of(known, &needs);
    }
    uint32_t launches = 0; // numbered in the order of the file
    for (uint64_t i = 0; i < file->entries; i++) {
        if (file->entry[i].launch == launches) {
            known->launch_kind[launches++] = kind_of_launch(known, &file->entry[i]);
        }
    }
}

/* The number of these bytes: others have others. 0 = no memory. */
static uint32_t id_of(struct sim_known *known, const void *data, size_t bytes)
{
    uint64_t hash = bytes;
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    }
    struct blob **head = &known->blob[(hash ^ hash >> 32) & (FIRST_HEADS - 1)];
    for (const struct blob *blob = *head; blob; blob = blob->next) {
        if (blob->bytes == bytes && memcmp(blob->data, data, bytes) == 0) {
            return blob->id;
        }
    }
    struct blob *blob = leo_alloc(sizeof(*blob) + bytes);
    if (!blob) {
        return 0;
    }
    blob->next = *head;
    blob->id = ++known->blobs;
    blob->bytes = (uint32_t)bytes;
    memcpy(blob->data, data, bytes);
    *head = blob;
    return blob->id;
}

/* The number of what `groups` and the instructions of a kind need of a chip. */
static uint32_t numbers_of(struct sim_known *known, uint32_t groups, uint32_t insns,
                           const struct sim_config *config)
{
    uint8_t bytes[SIM_NEEDS_BYTES];
    const size_t count = sim_needs_take_groups(groups, config, bytes);
    const uint32_t both[] = {id_of(known, bytes, count), insns};
    return both[0] && both[1] ? id_of(known, both, sizeof(both)) : 0;
}

static bool find_numbers(struct sim_known *known, struct kind *kind,
                         const struct sim_config *config)
{
    uint8_t bytes[SIM_NEEDS_BYTES];
    const uint32_t insns = id_of(known, bytes, sim_needs_take_insns(&kind->needs, config, bytes));
    const uint32_t groups = kind->needs.groups, time = groups | SIM_NEED_TIME;
    kind->price = numbers_of(known, groups, insns, config);
    kind->numbers[0] = numbers_of(known, time, insns, config);
    kind->numbers[1] = numbers_of(known, time | SIM_NEED_HBM, insns, config);
    return kind->price && kind->numbers[0] && kind->numbers[1];
}

bool sim_known_begin(struct sim_known *known, const struct sim_config *config)
{
    known->turns_were = known->turns;
    known->ways_were = known->ways;
    if (!known->stays) {
        return true;
    }
    const double l2[] = {config->l2_bytes, config->l2_written_part};
    const uint32_t number = id_of(known, l2, sizeof(l2));
    const struct sim_known_turn *turn = sim_known_turn(known, ROOT, number);
    known->root = turn ? turn->child : sim_known_go(known, ROOT, number, NULL);
    bool good = number != 0;
    for (uint32_t i = 0; i < known->kinds && good; i++) {
        good = find_numbers(known, &known->kind[i], config);
    }
    return good;
}

/* ---- prices ---- */

struct sim_price *sim_known_price(struct sim_known *known, uint32_t number)
{
    struct class *class = &known->class[number];
    const uint32_t id = known->kind[known->class_kind[number]].price;
    if (class->priced != id) {
        known->price_bytes -= class->price.places * sizeof(*class->price.place);
        sim_price_finish(&class->price);
        class->priced = id;
    }
    return &class->price;
}

bool sim_known_is_priced(const struct sim_known *known, uint32_t class)
{
    return known->file->class[class].uses > 1 ||
           (known->stays && known->price_bytes < known->max_bytes);
}

void sim_known_add_price(struct sim_known *known, const struct sim_price *price)
{
    known->price_bytes += price->places * sizeof(*price->place);
}

struct sim_moves *sim_known_moves(struct sim_known *known, uint32_t class)
{
    return &known->class[class].moves;
}

/* ---- ways ---- */

static struct sim_way **ways_at(const struct sim_known *known, uint32_t launch, uint32_t numbers)
{
    const uint64_t hash = (launch + UINT64_C(0x10001) * numbers) * UINT64_C(0x9e3779b97f4a7c15);
    return &known->way[hash >> 32 & (FIRST_HEADS - 1)];
}

struct sim_way *sim_known_ways(struct sim_known *known, uint32_t launch, bool hbm)
{
    const uint32_t numbers = known->kind[known->launch_kind[launch]].numbers[hbm];
    struct sim_way *way = *ways_at(known, launch, numbers);
    while (way && (way->launch != launch || way->numbers != numbers)) {
        way = way->next;
    }
    return way;
}

struct sim_way *sim_known_next(const struct sim_way *way)
{
    struct sim_way *next = way->next;
    while (next && (next->launch != way->launch || next->numbers != way->numbers)) {
        next = next->next;
    }
    return next;
}

bool sim_known_wants(const struct sim_known *known, const struct sim_tape_entry *entry)
{
    return known->stays || entry->is_again;
}

static bool has_copies(const struct sim_step *step, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        if (step[i].kind == SIM_STEP_COPY) {
            return true;
        }
    }
    return false;
}

static bool had_hbm(const struct sim_step *step, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        if (step[i].kind == SIM_STEP_MOVE && (step[i].read || step[i].written || step[i].runs)) {
            return true;
        }
    }
    return false;
}

struct sim_way *sim_known_add_way(struct sim_known *known, uint32_t launch,
                                  const struct sim_memo_launch *result, const struct sim_step *step,
                                  uint32_t steps)
{
    const size_t bytes = steps * sizeof(*step);
    struct sim_way *way = leo_alloc(sizeof(*way) + bytes);
    if (!way) {
        return NULL;
    }
    *way = (struct sim_way){.launch = launch, .result = *result, .steps = steps};
    memcpy(way->step, step, bytes);
    way->numbers = known->kind[known->launch_kind[launch]].numbers[had_hbm(step, steps)];
    struct sim_way **head = ways_at(known, launch, way->numbers);
    way->next = *head;
    way->before = known->newest;
    *head = known->newest = way;
    known->way_bytes += sizeof(*way) + bytes;
    known->ways++;
    way->is_mixed = way->is_out = has_copies(step, steps);
    // Of many ways those are tried that came last.
    unsigned same = 0;
    for (struct sim_way *at = way; at; at = sim_known_next(at)) {
        same += !at->is_out;
        at->is_out |= same > TRIED;
    }
    return way;
}

static void forget_way(struct sim_known *known)
{
    struct sim_way *way = known->newest;
    struct sim_way **at = ways_at(known, way->launch, way->numbers);
    while (*at != way) {
        at = &(*at)->next;
    }
    *at = way->next;
    known->newest = way->before;
    known->way_bytes -= sizeof(*way) + way->steps * sizeof(way->step[0]);
    known->ways--;
    leo_free(way);
}

/* ---- histories ---- */

static uint32_t *turns_at(const struct sim_known *known, uint32_t node, uint32_t task)
{
    const uint64_t hash = (node + UINT64_C(0x100000001) * task) * UINT64_C(0x9e3779b97f4a7c15);
    return &known->head[hash >> 32 & (known->heads - 1)];
}

uint32_t sim_known_root(const struct sim_known *known)
{
    return known->root;
}

/* Whether the way is one of launches with the numbers of this chip. */
static bool is_of_chip(const struct sim_known *known, const struct sim_way *way)
{
    const uint32_t *numbers = known->kind[known->launch_kind[way->launch]].numbers;
    return !way->is_mixed && (way->numbers == numbers[0] || way->numbers == numbers[1]);
}

const struct sim_known_turn *sim_known_turn(const struct sim_known *known, uint32_t node,
                                            uint32_t task)
{
    if (node == SIM_KNOWN_NOWHERE || known->turns == 0) {
        return NULL;
    }
    for (uint32_t at = *turns_at(known, node, task); at; at = known->turn[at - 1].next) {
        const struct sim_known_turn *turn = &known->turn[at - 1];
        if (turn->node == node && turn->task == task &&
            (!turn->way || is_of_chip(known, turn->way))) {
            return turn;
        }
    }
    return NULL;
}

/* Whether two launches asked the L2 for the same in the same order. */
static bool same_moves(const struct sim_way *one, const struct sim_way *other)
{
    if (!one || !other || one == other) {
        return one == other;
    }
    uint32_t i = 0, j = 0;
    for (;; i++, j++) {
        while (i < one->steps && one->step[i].kind == SIM_STEP_END) {
            i++;
        }
        while (j < other->steps && other->step[j].kind == SIM_STEP_END) {
            j++;
        }
        if (i == one->steps || j == other->steps) {
            return i == one->steps && j == other->steps;
        }
        const struct sim_step *left = &one->step[i], *right = &other->step[j];
        if (left->kind != right->kind || left->core != right->core || left->part != right->part ||
            left->pipe != right->pipe || left->move != right->move) {
            return false;
        }
    }
}

static bool grow(struct sim_known *known)
{
    const uint32_t capacity = known->capacity ? 2 * known->capacity : FIRST_TURNS;
    struct sim_known_turn *turn = leo_realloc(known->turn, capacity * sizeof(*turn));
    uint32_t *head = turn ? leo_calloc(capacity, sizeof(*head)) : NULL;
    known->turn = turn ? turn : known->turn;
    if (!head) {
        return false;
    }
    leo_free(known->head);
    known->head = head;
    known->heads = known->capacity = capacity;
    for (uint32_t i = 0; i < known->turns; i++) {
        uint32_t *at = turns_at(known, turn[i].node, turn[i].task);
        turn[i].next = *at;
        *at = i + 1;
    }
    return true;
}

uint32_t sim_known_go(struct sim_known *known, uint32_t node, uint32_t task, struct sim_way *way)
{
    if (node == SIM_KNOWN_NOWHERE || !known->stays ||
        (known->turns == known->capacity && !grow(known))) {
        return SIM_KNOWN_NOWHERE;
    }
    uint32_t child = 0;
    uint32_t *head = turns_at(known, node, task);
    for (uint32_t at = *head; at && !child; at = known->turn[at - 1].next) {
        const struct sim_known_turn *turn = &known->turn[at - 1];
        if (turn->node == node && turn->task == task && same_moves(turn->way, way)) {
            child = turn->child;
        }
    }
    child = child ? child : ++known->nodes;
    known->turn[known->turns] = (struct sim_known_turn){
        .way = way, .node = node, .task = task, .child = child, .next = *head};
    *head = ++known->turns;
    return child;
}

/* ---- all of it ---- */

void sim_known_end(struct sim_known *known)
{
    if (known->way_bytes + known->turns * sizeof(*known->turn) < known->max_bytes) {
        return;
    }
    while (known->turns > known->turns_were) {
        const struct sim_known_turn *turn = &known->turn[--known->turns];
        *turns_at(known, turn->node, turn->task) = turn->next;
    }
    while (known->ways > known->ways_were) {
        forget_way(known);
    }
}

leo_status sim_known_create(const struct sim_tape_file *file, uint64_t bytes,
                            struct sim_known **known_out)
{
    struct sim_known *known = leo_calloc(1, sizeof(*known));
    *known_out = known;
    if (!known) {
        return LEO_ERR_NO_MEMORY;
    }
    known->file = file;
    const bool stays = known->stays = bytes != 0;
    known->max_bytes = bytes / 2;
    known->class = leo_calloc(file->classes + 1, sizeof(*known->class));
    known->class_kind = leo_calloc(file->classes + 1, sizeof(*known->class_kind));
    known->launch_kind = leo_calloc(file->launches + 1, sizeof(*known->launch_kind));
    known->kind = leo_calloc(stays ? file->classes + file->launches + 1 : 1, sizeof(*known->kind));
    known->way = leo_calloc(FIRST_HEADS, sizeof(*known->way));
    known->blob = leo_calloc(FIRST_HEADS, sizeof(*known->blob));
    if (!known->blob || !known->class || !known->class_kind || !known->launch_kind ||
        !known->kind || !known->way) {
        return LEO_ERR_NO_MEMORY;
    }
    if (stays) {
        find_kinds(known);
    } else {
        known->kind[0] = (struct kind){.price = ALL, .numbers = {ALL, ALL}};
    }
    return LEO_OK;
}

void sim_known_destroy(struct sim_known *known)
{
    if (!known) {
        return;
    }
    while (known->newest) {
        forget_way(known);
    }
    for (unsigned i = 0; known->blob && i < FIRST_HEADS; i++) {
        while (known->blob[i]) {
            struct blob *next = known->blob[i]->next;
            leo_free(known->blob[i]);
            known->blob[i] = next;
        }
    }
    leo_free(known->blob);
    for (uint64_t i = 0; known->class && i < known->file->classes; i++) {
        sim_price_finish(&known->class[i].price);
        leo_free(known->class[i].moves.move);
    }
    leo_free(known->class);
    leo_free(known->class_kind);
    leo_free(known->launch_kind);
    leo_free(known->kind);
    leo_free(known->way);
    leo_free(known->turn);
    leo_free(known->head);
    leo_free(known);
}
