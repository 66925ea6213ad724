/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of pointwise operators on the vector unit. */
#pragma once

#include "../device/members_args.h"

#include <stdint.h>

enum {
    OP_TILE_INS = 6,    /**< tensors read */
    OP_TILE_SLOTS = 64, /**< places in UB */
    OP_TILE_INSNS = 192,
    OP_TILE_NUMBERS = 64,
    OP_TILE_OUTER = 7,         /**< dimensions beside the last */
    OP_TILE_ELEMS_MAX = 16256, /**< elements of a tile: 254 repeats of f32 */
};

/** Arithmetic on whole tiles of f32; d, a, b, c are slots, n is a number. */
enum op_tile_code {
    OP_TILE_ADD, /**< d = a + b */
    OP_TILE_SUB,
    OP_TILE_MUL,
    OP_TILE_DIV,
    OP_TILE_MAX,
    OP_TILE_MIN,
    OP_TILE_ADDS, /**< d = a + number b */
    OP_TILE_MULS,
    OP_TILE_MAXS,
    OP_TILE_MINS,
    OP_TILE_ABS, /**< d = |a| */
    OP_TILE_EXP,
    OP_TILE_LN,
    OP_TILE_SQRT,
    OP_TILE_RECIPROCAL, /**< d = 1 / a */
    OP_TILE_EQ,         /**< mask d = a == b; b a slot */
    OP_TILE_NE,
    OP_TILE_LT,
    OP_TILE_LE,
    OP_TILE_GT,
    OP_TILE_GE,
    OP_TILE_EQS, /**< mask d = a == number b */
    OP_TILE_NES,
    OP_TILE_LTS,
    OP_TILE_LES,
    OP_TILE_GTS,
    OP_TILE_GES,
    OP_TILE_SELECT,   /**< d = mask a ? b : c */
    OP_TILE_WIDEN,    /**< d = slot a of type b as f32; c: slot for half way */
    OP_TILE_NARROW,   /**< d of type b = slot a; c: slot for half way */
    OP_TILE_MOVE,     /**< d = a, b bytes an element */
    OP_TILE_WORD_ADD, /**< words of 32 bits, which wrap around: d = a + b */
    OP_TILE_WORD_SUB,
    OP_TILE_WORD_MUL,
    OP_TILE_WORD_MAX,
    OP_TILE_WORD_MIN,
    OP_TILE_WORD_AND,
    OP_TILE_WORD_OR,
    OP_TILE_WORD_NOT, /**< d = ~a */
    OP_TILE_TO_WORD,  /**< d = integral f32 a as a word */
    OP_TILE_TO_FLOAT, /**< d = word a as f32 */
    OP_TILE_FMA,      /**< d = a * b + c, rounded once; quicker where d is a */
    OP_TILE_FALLBACK, /**< d = mask a ? b : function of c and e; program tile_fallback alone */
    OP_TILE_CODES,
};

/** Functions of f32 whose vector form holds within limits. gen/functions.py has them in this
 * order. */
enum op_fallback {
    OP_FALLBACK_SIN,
    OP_FALLBACK_COS,
    OP_FALLBACK_TAN,
    OP_FALLBACK_FMOD,
    OP_FALLBACK_POW,
};

struct op_tile_insn {
    uint8_t code, d, a, b, c, e;
    uint8_t function; /**< enum op_fallback */
    uint8_t flags;    /**< enum op_tile_flag */
};

/** OP_TILE_WHOLE << k: operand k is a whole tile, else one repeat that is read again and again. */
enum op_tile_flag {
    OP_TILE_WAITS = 1, /**< behind a barrier: it touches what one before it does */
    OP_TILE_WHOLE = 8,
};

/** How an input is there. */
enum op_tile_input {
    OP_TILE_DENSE,      /**< as the output: loaded for each piece */
    OP_TILE_ROW_NUMBER, /**< one number a row (or for all): fills its slot */
    /* Of several rows in a tile: */
    OP_TILE_ROW,    /**< the same row for all: loaded once, as often as rows fit in a tile */
    OP_TILE_COLUMN, /**< one number a row */
    /* Not in memory: where the element is, as f32. Needs a ramp. */
    OP_TILE_PLACE,        /**< in the whole output */
    OP_TILE_PLACE_ROW,    /**< along the last dimension but one */
    OP_TILE_PLACE_COLUMN, /**< along the last */
};

/** A place in UB. step: distance of the second one where loads or stores run beside arithmetic,
 * else 0. */
struct op_tile_slot {
    uint32_t base, step;
};

/**
 * Rows of `columns` elements, cut into pieces of `tile`; block b works on pieces [b * per_block, (b
 * + 1) * per_block). Inputs whose last stride is 0 are one number a row.
 *
 * With `row` set, such a row is a matrix: `rows` rows of `row_columns` elements, which lie in a
 * tile `row` elements apart, so that each begins at a block of 32 bytes; its pitches are those of
 * dimension `outer`.
 */
struct op_tile_args {
    uint64_t out, in[OP_TILE_INS];
    uint64_t columns;
    uint32_t pieces, pieces_a_row, per_block;
    uint16_t tile, most;                  /**< most: what the slots have room for */
    uint16_t row, row_columns, tile_rows; /**< several rows in a tile; else 0 */
    uint32_t rows;
    uint8_t outer, ins, insns, numbers, slots, fills; /**< how much of the lists below is used */
    uint8_t out_bytes, out_slot;
    uint8_t in_type[OP_TILE_INS], in_slot[OP_TILE_INS], in_kind[OP_TILE_INS];
    uint8_t in_bytes[OP_TILE_INS];
    uint8_t ramp_slot; /**< 0, 1, 2, ... as f32; OP_TILE_SLOTS: none */
    uint8_t words;     /**< 1: numbers of i32 inputs fill as words, not as f32 */
    uint8_t infinite;  /**< 1: infinities of the result are meant, in the saturating mode too */

    /* Lists. A program loads the used part alone: a load from global memory is slow. */
    struct op_tile_slot slot[OP_TILE_SLOTS];
    float number[OP_TILE_NUMBERS];
    uint8_t fill_slot[OP_TILE_NUMBERS],
        fill_number[OP_TILE_NUMBERS]; /**< slots that hold a number throughout */
    int64_t dim[OP_TILE_OUTER], out_stride[OP_TILE_OUTER],
        in_stride[OP_TILE_INS][OP_TILE_OUTER]; /**< bytes */
    struct op_tile_insn insn[OP_TILE_INSNS];   /**< a launch ends with the last one used */
};

enum { OP_TABLE_ADDRESSES = 512 };

/** The same list for many tensors of one row each in one launch. */
struct op_tile_table_args {
    uint64_t addr[OP_TABLE_ADDRESSES]; /**< out and inputs of each member, without gaps */
    struct op_members members;
    struct op_tile_args tile; /**< its addresses, columns and pieces_a_row are unused */
};
