/* SPDX-License-Identifier: Apache-2.0 */
#include "price.h"

#include "../core/core.h"
#include "../memory/hbm.h"
#include "known.h"
#include "play.h"
#include <leo/alloc.h>
#include <leo/replay.h>
#include <string.h>

/* What pricing changes in a core: a part that is refused in the end is done item by item, from the
 * same beginning. */
struct before {
    struct sim_tape_state state;
    struct sim_unit_flags unit_flags;
    double cycle, logged;
    uint64_t instructions;
};

static void take_before(struct before *before, const struct sim_replay *replay,
                        const struct sim_core *core)
{
    sim_tape_state_take(&before->state, core);
    before->unit_flags = core->unit_flags;
    before->cycle = core->scalar.cycle;
    before->logged = core->logged;
    before->instructions = replay->result->instructions;
}

static void give_before(const struct before *before, struct sim_replay *replay,
                        struct sim_core *core)
{
    sim_tape_state_give(&before->state, core);
    core->unit_flags = before->unit_flags;
    core->scalar.cycle = before->cycle;
    core->logged = before->logged;
    core->scalar.fault.code = LEO_FAULT_NONE;
    replay->result->instructions = before->instructions;
}

/* Prices all items into a log of its own; false: one of them is not possible. */
static bool fill_log(struct sim_replay *replay, struct sim_core *core,
                     const struct sim_tape_part *part, struct sim_time_log *log)
{
    struct sim_replay_cursor cursor = {.item = part->item, .end = part->item + part->bytes};
    const struct sim_time_log own = core->log;
    bool over = false, good = true;
    core->log = *log;
    while (good && !over) {
        good = sim_time_log_reserve(&core->log) && cursor.item < cursor.end &&
               sim_replay_play(replay, core, &cursor, &over);
    }
    sim_time_log_publish(&core->log);
    *log = core->log;
    core->log = own;
    return good && cursor.item == cursor.end;
}

/* Whether the operation that an item was has a transfer stands in the log. */
static void take_places(struct sim_price *price, struct sim_time_log *log)
{
    const struct sim_time_gm *gm;
    const struct sim_time_record *record;
    while ((record = sim_time_log_peek(log, &gm)) != NULL) {
        price->place[price->places++].record = *record;
        if (gm) {
            price->place[price->places++].gm = *gm;
            price->moves++;
        }
        sim_time_log_pop(log);
    }
}

/* Joins transfers and the operands that are their addresses; false: they do not go together. */
static bool join_addresses(struct sim_price *price, const struct sim_tape_part *part)
{
    const uint8_t *const end = part->item + part->bytes;
    uint32_t address = 0, at = 0, moves = 0;
    for (const uint8_t *item = part->item; item < end; item += sim_tape_item_bytes(item, end)) {
        if (*item == SIM_TAPE_STATE) {
            continue;
        }
        const struct sim_time_record *record = &price->place[at++].record;
        const bool has_address =
            *item == SIM_TIME_OP && sim_tape_address((const struct sim_tape_op *)item);
        if (record->kind == SIM_TIME_OP_GM) {
            if (!has_address) {
                return false;
            }
            price->address[moves++] = address;
            at++;
        }
        address += has_address;
    }
    return at == price->places && moves == price->moves;
}

static void make_relative(struct sim_price *price, const uint64_t *address, uint64_t gm_base)
{
    uint32_t move = 0;
    for (uint32_t at = 0; at < price->places; at++) {
        if (price->place[at].record.kind == SIM_TIME_OP_GM) {
            price->place[++at].gm.addr -=
                (address[price->address[move++]] & ~SIM_GM_NO_L2) - gm_base;
        }
    }
}

/* Lists the transfers of a price in the order in which they begin. */
static bool list_moves(const struct sim_price *price, struct sim_moves *moves)
{
    uint32_t count[LEO_PIPE_COUNT] = {0}, number = 0;
    moves->move = leo_alloc((price->moves + 1) * sizeof(*moves->move));
    for (uint32_t at = 0; at < price->places; at++) {
        if (price->place[at].record.kind == SIM_TIME_OP_GM) {
            count[price->place[at++].record.pipe]++;
        }
    }
    for (unsigned pipe = 1; pipe < LEO_PIPE_COUNT; pipe++) {
        moves->first[pipe] = moves->first[pipe - 1] + count[pipe - 1];
    }
    memset(count, 0, sizeof(count));
    for (uint32_t at = 0; at < price->places && moves->move; at++) {
        const struct sim_time_record *record = &price->place[at].record;
        if (record->kind == SIM_TIME_OP_GM) {
            moves->move[moves->first[record->pipe] + count[record->pipe]++] =
                (struct sim_price_move){price->place[++at].gm, price->address[number++],
                                        record->access};
        }
    }
    return moves->move != NULL;
}

static bool make(struct sim_replay *replay, struct sim_core *core, const struct sim_tape_part *part,
                 struct sim_price *price)
{
    struct sim_time_log log;
    sim_time_log_init(&log, core->log.pool);
    bool good = fill_log(replay, core, part, &log);
    if (good) {
        price->place = leo_alloc((log.written + 1) * sizeof(*price->place));
        good = price->place != NULL;
    }
    if (good) {
        take_places(price, &log);
        price->address = leo_alloc((price->moves + 1) * sizeof(*price->address));
        good = price->address && join_addresses(price, part);
    }
    sim_time_log_finish(&log);
    if (good) {
        make_relative(price, replay->file->address + part->first_address, core->gm_base);
        struct sim_moves *moves = sim_known_moves(replay->known, part->class);
        good = moves->move || list_moves(price, moves);
    }
    return good;
}

const struct sim_price *sim_price_of(struct sim_replay *replay, struct sim_core *core,
                                     const struct sim_tape_part *part)
{
    if (part->class == SIM_TAPE_NO_CLASS || !replay->prices_addresses) {
        return NULL;
    }
    struct sim_price *price = sim_known_price(replay->known, part->class);
    if (price->is_refused || (!price->place && !sim_known_is_priced(replay->known, part->class))) {
        return NULL;
    }
    if (!price->place) {
        struct before before;
        take_before(&before, replay, core);
        if (make(replay, core, part, price)) {
            sim_known_add_price(replay->known, price);
        } else {
            sim_price_finish(price);
            price->is_refused = true;
        }
        give_before(&before, replay, core);
    }
    return price->is_refused ? NULL : price;
}
