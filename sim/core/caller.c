/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who called the function that faulted. Calls say where functions begin; the return address is in
 * ra, or, once the function has made a call itself, where it was saved: the first word of the stack
 * that stands behind a call of this function. Of calls through pointers, and of functions jumped to
 * from the end of others, only ra tells, and only in a function that makes no call.
 */
#include "../check/check.h"
#include "../scalar/decode.h"
#include "core.h"

#include <string.h>

enum { WORD = 4, RA = 1, SP = 2 };
/* jal ra, jalr ra and auipc: opcode and destination. */
enum { JAL_RA = 0x0ef, JALR_RA = 0x0e7, AUIPC = 0x17, OPCODE = 0x7f, OPCODE_RD = 0xfff };
enum { RETURN = 0x00008067 };

/** Executable words, by link address. */
struct text {
    const uint32_t *words;
    uint64_t begin, end;
};

static uint32_t word_at(const struct text *text, uint64_t link)
{
    return link >= text->begin && link < text->end ? text->words[(link - text->begin) / WORD] : 0;
}

static int64_t jal_distance(uint32_t word)
{
    const uint32_t bits = (word >> 21 & 0x3ff) << 1 | (word >> 20 & 1) << 11 |
                          (word >> 12 & 0xff) << 12 | (word >> 31) << 20;
    return (int64_t)(bits ^ 1u << 20) - (1 << 20);
}

/* Where the call in front of a return address goes; false: there is none, or to where a register
 * says. */
static bool find_target(const struct text *text, uint64_t back, uint64_t *target)
{
    const uint32_t call = word_at(text, back - WORD);
    if ((call & OPCODE_RD) == JAL_RA) {
        *target = back - WORD + (uint64_t)jal_distance(call);
        return true;
    }
    const uint32_t upper = word_at(text, back - 2 * WORD);
    if ((call & OPCODE_RD) == JALR_RA && (upper & OPCODE) == AUIPC &&
        (upper >> 7 & 31) == (call >> 15 & 31)) {
        const int64_t low = (int32_t)call >> 20, high = (int32_t)(upper & 0xfffff000);
        *target = back - 2 * WORD + (uint64_t)(high + low);
        return true;
    }
    return false;
}

/* First instruction of the function at `pc`, as far as calls tell. */
static uint64_t find_begin(const struct text *text, uint64_t entry, uint64_t pc)
{
    uint64_t begin = entry <= pc ? entry : text->begin;
    for (uint64_t back = text->begin + WORD; back <= text->end; back += WORD) {
        uint64_t target;
        if (find_target(text, back, &target) && target <= pc && target > begin) {
            begin = target;
        }
    }
    return begin;
}

static bool is_behind_call(const struct text *text, uint64_t value, uint64_t begin)
{
    const uint64_t back = value - LEO_MAP_IMAGE;
    uint64_t target;
    return value >= LEO_MAP_IMAGE && back % WORD == 0 && back > text->begin && back <= text->end &&
           find_target(text, back, &target) && target == begin;
}

static bool is_call(uint32_t word)
{
    return (word & OPCODE_RD) == JAL_RA || (word & OPCODE_RD) == JALR_RA;
}

/* Whether nothing from the function's beginning to its return behind `pc` changes ra: it calls
 * nobody, and ra itself leads elsewhere. */
static bool keeps_ra(const struct text *text, uint64_t begin, uint64_t pc, uint64_t ra)
{
    uint64_t at = begin;
    while (at < text->end && !is_call(word_at(text, at)) &&
           (at < pc || word_at(text, at) != RETURN)) {
        at += WORD;
    }
    const uint64_t back = ra - LEO_MAP_IMAGE;
    return at < text->end && at >= pc && !is_call(word_at(text, at)) && ra >= LEO_MAP_IMAGE &&
           back % WORD == 0 && is_call(word_at(text, back - WORD)) && (back < begin || back > at);
}

uint32_t sim_core_caller(const struct sim_core *core, uint64_t pc)
{
    const struct sim_decoded *decoded = core->scalar.text;
    if (!decoded) {
        return 0;
    }
    const uint64_t first = decoded->base - LEO_MAP_IMAGE;
    const struct text text = {decoded->words, first, first + decoded->bytes};
    const uint64_t begin = find_begin(&text, core->entry, pc);
    if (is_behind_call(&text, core->scalar.x[RA], begin) ||
        keeps_ra(&text, begin, pc, core->scalar.x[RA])) {
        return (uint32_t)(core->scalar.x[RA] - LEO_MAP_IMAGE);
    }
    uint64_t at = (core->scalar.x[SP] + sizeof(uint64_t) - 1) & ~(uint64_t)(sizeof(uint64_t) - 1);
    // What is not cleared yet is zero to the block.
    at = at >= core->stack_end && at < core->stack_clear ? core->stack_clear : at;
    for (; at >= core->stack_end && at < core->private_end; at += sizeof(uint64_t)) {
        uint64_t value;
        memcpy(&value, core->private_window + (at - LEO_MAP_PRIVATE), sizeof(value));
        if (is_behind_call(&text, value, begin)) {
            return (uint32_t)(value - LEO_MAP_IMAGE);
        }
    }
    return 0;
}

void sim_core_name_callers(const struct sim_core *core, unsigned first)
{
    struct sim_findings *findings = &core->check->findings;
    for (unsigned i = first; i < findings->count; i++) {
        findings->list[i].caller = sim_core_caller(core, findings->list[i].pc);
    }
}
