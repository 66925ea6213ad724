/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit flags: M and FIX hand results in L0C over piece by piece, without flags between the pipes.
 * Which of the results, and whose place is free again, follows from the order of the program; when
 * that is, the event engine knows.
 */
#include "core.h"

enum { KEEP = 2, RELEASE = 3 }; /* values of the field */

/* The place of a result; the one longest out of use if there is none. */
static struct sim_unit_place *place_at(struct sim_unit_flags *flags, uint64_t addr)
{
    struct sim_unit_place *oldest = &flags->place[0];
    for (unsigned i = 0; i < SIM_UNIT_PLACES; i++) {
        struct sim_unit_place *place = &flags->place[i];
        if (place->used && place->addr == addr) {
            return place;
        }
        oldest = place->used < oldest->used ? place : oldest;
    }
    *oldest = (struct sim_unit_place){.addr = addr};
    return oldest;
}

/* The result that a read of L0C begins in; NULL = none that was handed over. */
static struct sim_unit_place *place_of(struct sim_unit_flags *flags, uint64_t addr)
{
    struct sim_unit_place *best = NULL;
    for (unsigned i = 0; i < SIM_UNIT_PLACES; i++) {
        struct sim_unit_place *place = &flags->place[i];
        if (place->is_made && place->addr <= addr && (!best || place->addr > best->addr)) {
            best = place;
        }
    }
    return best;
}

static void mark_product(struct sim_unit_flags *flags, uint64_t addr, unsigned flag,
                         struct sim_time_record *record)
{
    struct sim_unit_place *place = place_at(flags, addr);
    place->used = ++flags->uses;
    if (place->is_released) {
        record->hand |= SIM_TIME_HAND_AFTER;
        record->dst = (uint8_t)place->release;
        place->is_released = false;
    }
    if (flag == RELEASE) {
        record->hand |= SIM_TIME_HAND_MAKE;
        place->make = flags->made++;
        place->is_made = true;
    }
}

static void mark_output(struct sim_unit_flags *flags, uint64_t addr, unsigned flag,
                        struct sim_time_record *record)
{
    struct sim_unit_place *place = place_of(flags, addr);
    if (!place) {
        return;
    }
    record->hand |= SIM_TIME_HAND_TAKE;
    record->id = (uint8_t)place->make;
    if (flag == RELEASE) {
        record->hand |= SIM_TIME_HAND_RELEASE;
        place->release = flags->released++;
        place->is_released = true;
        place->is_made = false;
    }
}

void sim_core_mark_hand(struct sim_core *core, const struct sim_op *op,
                        struct sim_time_record *record)
{
    record->hand = 0;
    if (op->insn == LEO_INSN_MMAD) {
        const unsigned flag = leo_cfg_mad_unpack(op->d).unit_flag;
        if (flag == KEEP || flag == RELEASE) {
            mark_product(&core->unit_flags, op->a, flag, record);
        }
    } else if (op->row->pipe == LEO_PIPE_FIX) {
        const unsigned flag = leo_cfg_fix1_unpack(op->d).unit_flag;
        if (flag == KEEP || flag == RELEASE) {
            mark_output(&core->unit_flags, op->b, flag, record);
        }
    }
}
