/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of tile instructions being made. Operands are values until slots are given out: a value
 * gets a slot in UB by how long it lives, and the tile is as large as the slots allow.
 */
#pragma once

#include "../pointwise/pointwise.h"

#include "../pointwise/pointwise_args.h"
#include "tile_args.h"

enum {
    OP_LIST_VALUES = 255,
    OP_LIST_EXPRS = 512, /**< values of an expression, whether they are used or not */
    OP_LIST_NO_SLOT = 0xff,
    OP_TILE_LEAST_BYTES = 4096, /**< of the output a core gets at least, as long as there is more
                                     than one piece */
};

enum op_list_kind { OP_LIST_TILE, OP_LIST_NUMBER, OP_LIST_MASK };

/** A value of the expression, and later of the list. */
struct op_list_value {
    enum op_list_kind kind;
    float number;
    int same;     /**< the value it is another name of */
    int last_use; /**< position in the list, -1 = none */
    uint8_t slot;
    /* Of integers (pointwise_integers.c). */
    bool word;      /**< 32-bit integers; else f32 that holds them */
    bool wrapped;   /**< the low 32 bits of what it is */
    int64_t lo, hi; /**< what it may be; of a number what it is */
};

struct op_list {
    const struct op_pointwise_work *work;
    uint8_t kind[OP_POINTWISE_MAX]; /**< of each tensor, enum op_tile_input */
    struct op_list_value value[OP_LIST_VALUES];
    unsigned values;
    uint8_t of[OP_LIST_EXPRS]; /**< values of the expression -> values here */
    unsigned ofs;
    struct op_tile_insn insn[OP_TILE_INSNS];
    unsigned insns;
    struct op_tile_args *args;
    unsigned
        slot_bytes[OP_TILE_SLOTS]; /**< an element, both halves of a double slot; 0: a number */
    bool slot_double[OP_TILE_SLOTS];
    unsigned slots;
    uint8_t halfway; /**< slot of f16 between f32 and 8-bit types, OP_LIST_NO_SLOT if none */
    bool fallbacks;  /**< the list has OP_TILE_FALLBACK */
    bool failed;     /**< something had no room or no instruction */
};

unsigned op_list_value(struct op_list *list, enum op_list_kind kind);
uint8_t op_list_slot(struct op_list *list, unsigned bytes, bool twice);
uint8_t op_list_number(struct op_list *list, float number);
unsigned op_list_real(const struct op_list *list, unsigned value);
void op_list_add(struct op_list *list, unsigned code, unsigned d, unsigned a, unsigned b,
                 unsigned c);
/** A function of value x, and of y if it has two operands, where mask `good` does not hold; else
 * `result`. */
void op_list_fallback(struct op_list *list, enum op_fallback function, unsigned d, unsigned good,
                      unsigned result, unsigned x, unsigned y);
/** These bits of 32, filled once: one repeat that counts as a whole tile. */
unsigned op_list_fill(struct op_list *list, float bits);
/** d = a, words of 32 bits. */
void op_list_move(struct op_list *list, unsigned d, unsigned a);
uint8_t op_list_halfway(struct op_list *list);
/** Whether the call goes with several rows in a tile, and how each tensor does (list->kind). Long
 * rows become short ones: `space` changes then. */
bool op_list_find_rows(struct op_list *list, struct op_pointwise_space *space);
/** The columns of rows that repeat and are long, which op_list_find_rows can cut into equal parts;
 * as many are left as it takes uncut. 0: none. */
int64_t op_list_even_columns(const struct op_pointwise_work *work,
                             const struct op_pointwise_space *space);
/** Sets how many rows a tile has; `space` is op_list_find_rows's. False: none fits. */
bool op_list_cut_into_rows(struct op_list *list, const struct op_pointwise_space *space);
void op_list_give_slots(struct op_list *list, uint32_t ub_bytes);
void op_list_lay_out(struct op_list *list, uint32_t ub_bytes);
/** The value, a number as a whole tile. */
unsigned op_list_tile(struct op_list *list, unsigned value);
/** The expression over f32; inputs have slots, list->of says what became of each value. */
void op_list_floats(struct op_list *list, const struct op_expr *expression);
/** The expression over integers that are exact (`wrapped` ones but for what left 32 bits); inputs
 * have slots, the result goes to the output. */
void op_list_integers(struct op_list *list, const struct op_expr *expression);
