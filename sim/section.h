/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State as data. Each struct that holds state has a list that names all of its members and says
 * what becomes of them; reset, snapshot and dump walk these lists (chip/state.c).
 * tools/check/sections.py fails for a member without an entry.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_section_kind {
    SIM_SECTION_WIRED = 1,  /**< set when the chip is made: stays as it is */
    SIM_SECTION_GIVEN = 2,  /**< set before each use: by the block, the task or the launch */
    SIM_SECTION_BLOCK = 4,  /**< zero at the start of a block; saved */
    SIM_SECTION_STATE = 8,  /**< zero after a reset of the chip; saved */
    SIM_SECTION_CLOCK = 16, /**< goes on over a reset; saved */
    SIM_SECTION_HOST = 32   /**< zero after a reset; not saved: what host and chip agreed on. Other
                               threads may look at it at any time. */
};
enum { SIM_SECTION_SAVED = SIM_SECTION_BLOCK | SIM_SECTION_STATE | SIM_SECTION_CLOCK };

struct sim_sections;

/** A member. */
struct sim_section {
    const char *name;
    uint32_t at, bytes;
    uint8_t unit; /**< bytes of an element */
    uint8_t kind;
    const struct sim_sections *inner; /**< it is a struct with a list; NULL = it is not */
};

/** All members of a struct, in their order. */
struct sim_sections {
    const char *name;
    uint32_t bytes;
    uint32_t count;
    const struct sim_section *list;
};

/* Entries of a list: a member, and one that has a list itself. */
#define SIM_SECTION(type, what, member)                                                            \
    {.name = #member,                                                                              \
     .at = offsetof(type, member),                                                                 \
     .bytes = sizeof(((type *)0)->member),                                                         \
     .unit = _Alignof(__typeof__(((type *)0)->member)),                                            \
     .kind = SIM_SECTION_##what}
#define SIM_SECTION_INNER(type, member, its_list)                                                  \
    {.name = #member,                                                                              \
     .at = offsetof(type, member),                                                                 \
     .bytes = sizeof(((type *)0)->member),                                                         \
     .inner = (its_list)}
#define SIM_SECTIONS(type, its_list)                                                               \
    {.name = #type,                                                                                \
     .bytes = sizeof(type),                                                                        \
     .count = sizeof(its_list) / sizeof((its_list)[0]),                                            \
     .list = (its_list)}

/** A stretch of state where it lies. */
struct sim_stretch {
    const char *owner, *name;
    unsigned index; /**< of the owner among its like */
    void *data;
    uint64_t bytes;
    uint8_t unit, kind;
    bool reserved; /**< whole pages of sim_pages_reserve */
};

/** False ends the walk. */
typedef bool (*sim_stretch_fn)(void *user, const struct sim_stretch *stretch);

/** Calls `fn` for each member of `object`. */
bool sim_sections_walk(const struct sim_sections *sections, unsigned index, void *object,
                       sim_stretch_fn fn, void *user);
/** Zeroes the members of these kinds. */
void sim_sections_zero(const struct sim_sections *sections, void *object, unsigned kinds);
/** Zeroes one stretch. */
void sim_stretch_zero(const struct sim_stretch *stretch);
