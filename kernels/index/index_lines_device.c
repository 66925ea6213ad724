/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements by index along one dimension: the lines of the table, the indices and the values stand
 * in UB, so that only whole lines move in memory. The scalar units work on them; what is only read
 * is gathered by the vector units of the split core.
 *
 * Flags, event 0: MTE2 -> S or V: loaded; S or V -> MTE3: results are there; MTE3 -> S or V and S
 * or V -> MTE2: stored, slots free. V -> S: values cleared.
 */
#include "../device/copy.h"
#include "../device/element.h"
#include "index_lines_args.h"

enum { TABLE = 0, INDEX = OP_LINES_TABLE, VALUES = INDEX + OP_LINES_SLOT };

/* Steps through UB, bytes: two loops, and how far an index reaches. */
struct walk {
    uint32_t slow, fast; /* how often */
    uint32_t table_slow, table_fast, reach;
    uint32_t index_slow, value_slow; /* the fast ones are their elements */
};

OP_INLINE uint32_t whole_blocks(uint32_t bytes)
{
    return op_units(bytes) * 32;
}

OP_INLINE int64_t index_at(uint64_t at, uint32_t bytes)
{
    return bytes == 8 ? *(const __ubuf__ volatile int64_t *)(uintptr_t)at
                      : *(const __ubuf__ volatile int32_t *)(uintptr_t)at;
}

OP_INLINE void move(uint64_t to, uint64_t from, uint32_t unit)
{
    if (unit == 8) {
        *(__ubuf__ volatile uint64_t *)(uintptr_t)to =
            *(__ubuf__ volatile uint64_t *)(uintptr_t)from;
    } else if (unit == 4) {
        *(__ubuf__ volatile uint32_t *)(uintptr_t)to =
            *(__ubuf__ volatile uint32_t *)(uintptr_t)from;
    } else if (unit == 2) {
        *(__ubuf__ volatile uint16_t *)(uintptr_t)to =
            *(__ubuf__ volatile uint16_t *)(uintptr_t)from;
    } else {
        *(__ubuf__ volatile uint8_t *)(uintptr_t)to = *(__ubuf__ volatile uint8_t *)(uintptr_t)from;
    }
}

OP_INLINE float joined(uint32_t mode, float a, float b)
{
    return mode == OP_INDEX_ADD ? a + b : a * b;
}

OP_INLINE int64_t joined_integers(uint32_t mode, int64_t a, int64_t b)
{
    return mode == OP_INDEX_ADD ? a + b : a * b;
}

/* The element at `to` joined with the one at `from`, rounded to the type each time. */
OP_INLINE void join(uint64_t to, uint64_t from, uint32_t type, uint32_t mode)
{
    if (type == OP_TYPE_F32) {
        __ubuf__ volatile float *a = (__ubuf__ volatile float *)(uintptr_t)to;
        *a = joined(mode, *a, *(__ubuf__ volatile float *)(uintptr_t)from);
    } else if (type == OP_TYPE_F16) {
        __ubuf__ volatile half *a = (__ubuf__ volatile half *)(uintptr_t)to;
        *a = (half)op_fit_half(
            type, joined(mode, (float)*a, (float)*(__ubuf__ volatile half *)(uintptr_t)from));
    } else if (type == OP_TYPE_BF16) {
        __ubuf__ volatile bfloat16_t *a = (__ubuf__ volatile bfloat16_t *)(uintptr_t)to;
        *a = (bfloat16_t)op_fit_half(
            type, joined(mode, (float)*a, (float)*(__ubuf__ volatile bfloat16_t *)(uintptr_t)from));
    } else if (type == OP_TYPE_I32) {
        __ubuf__ volatile int32_t *a = (__ubuf__ volatile int32_t *)(uintptr_t)to;
        *a = (int32_t)joined_integers(mode, *a, *(__ubuf__ volatile int32_t *)(uintptr_t)from);
    } else {
        __ubuf__ volatile int64_t *a = (__ubuf__ volatile int64_t *)(uintptr_t)to;
        *a = joined_integers(mode, *a, *(__ubuf__ volatile int64_t *)(uintptr_t)from);
    }
}

/* One place: negative ones count from the end. */
OP_INLINE uint32_t place_of(int64_t given, int64_t limit)
{
    uint64_t place = (uint64_t)given;
    if (__builtin_expect(place >= (uint64_t)limit, 0)) {
        place += (uint64_t)limit;
        leo_assert(place < (uint64_t)limit, "index %lld of a dimension of %lld", (long long)given,
                   (long long)limit);
    }
    return (uint32_t)place;
}

/* `unit`, `type`, `mode` and `index_bytes` are constants where this is called. */
OP_INLINE void walk_as(const struct walk *w, int64_t limit, uint32_t index_bytes, uint32_t unit,
                       uint32_t type, uint32_t mode)
{
    const uint64_t fast = w->fast, table_fast = w->table_fast, reach = w->reach;
    for (uint32_t i = 0; i < w->slow; i++) {
        uint64_t index = INDEX + i * w->index_slow, value = VALUES + i * w->value_slow,
                 table = TABLE + i * w->table_slow;
        for (const uint64_t end = value + fast * unit; value != end; value += unit) {
            const uint64_t at = table + place_of(index_at(index, index_bytes), limit) * reach;
            if (mode == OP_INDEX_GET) {
                move(value, at, unit);
            } else if (mode == OP_INDEX_PUT) {
                move(at, value, unit);
            } else {
                join(at, value, type, mode);
            }
            index += index_bytes;
            table += table_fast;
        }
    }
}

OP_INLINE void walk_unit(const struct walk *w, const struct op_index_lines_args *t, uint32_t unit,
                         uint32_t mode)
{
    if (t->index_bytes == 8) {
        walk_as(w, (int64_t)t->length, 8, unit, 0, mode);
    } else {
        walk_as(w, (int64_t)t->length, 4, unit, 0, mode);
    }
}

OP_INLINE void walk_type(const struct walk *w, const struct op_index_lines_args *t, uint32_t unit,
                         uint32_t type)
{
    if (t->mode == OP_INDEX_ADD) {
        walk_as(w, (int64_t)t->length, 8, unit, type, OP_INDEX_ADD);
    } else {
        walk_as(w, (int64_t)t->length, 8, unit, type, OP_INDEX_MUL);
    }
}

OP_INLINE void walk_units(const struct walk *w, const struct op_index_lines_args *t, uint32_t mode)
{
    if (t->unit == 8) {
        walk_unit(w, t, 8, mode);
    } else if (t->unit == 4) {
        walk_unit(w, t, 4, mode);
    } else if (t->unit == 2) {
        walk_unit(w, t, 2, mode);
    } else {
        walk_unit(w, t, 1, mode);
    }
}

static void get_elements(const struct walk *w, const struct op_index_lines_args *t)
{
    walk_units(w, t, OP_INDEX_GET);
}

static void put_elements(const struct walk *w, const struct op_index_lines_args *t)
{
    walk_units(w, t, OP_INDEX_PUT);
}

static void join_elements(const struct walk *w, const struct op_index_lines_args *t)
{
    if (t->type == OP_TYPE_F32) {
        walk_type(w, t, 4, OP_TYPE_F32);
    } else if (t->type == OP_TYPE_F16) {
        walk_type(w, t, 2, OP_TYPE_F16);
    } else if (t->type == OP_TYPE_BF16) {
        walk_type(w, t, 2, OP_TYPE_BF16);
    } else if (t->type == OP_TYPE_I32) {
        walk_type(w, t, 4, OP_TYPE_I32);
    } else {
        walk_type(w, t, 8, OP_TYPE_I64);
    }
}

/* Rows of `bytes` from or to memory, one behind the other in UB, at whole blocks. */
OP_INLINE void load(uint32_t ub, uint64_t gm, uint32_t rows, uint32_t bytes, uint64_t pitch)
{
    op_load_rows(ub, gm, rows, bytes, pitch, whole_blocks(bytes));
}

OP_INLINE void store(uint64_t gm, uint32_t ub, uint32_t rows, uint32_t bytes, uint64_t pitch)
{
    op_store_rows(gm, ub, rows, bytes, pitch, whole_blocks(bytes));
}

/* What PATTERN of the gathering is for. */
struct gather_state {
    uint32_t width, lines;
};

#if __NPU_ARCH__ == 1001
OP_INLINE bool can_gather(const struct op_index_lines_args *t, const struct walk *w)
{
    (void)t, (void)w; // no instruction for it
    return false;
}

OP_INLINE void gather_begin(const struct op_index_lines_args *t)
{
    (void)t;
}

OP_INLINE void gather_chunk(const struct op_index_lines_args *t, const struct walk *w,
                            struct gather_state *state)
{
    (void)t, (void)w, (void)state;
}

OP_INLINE void gather_end(const struct op_index_lines_args *t)
{
    (void)t;
}
#else
#include "index_lines_gather_2201.h"
#endif

/* A piece: `lines` of UB are rows of the table (inner 1) or its whole length; of `width` elements.
 */
struct piece {
    uint64_t table, first;  /* element of the table and of the indices */
    uint32_t lines, width;  /* of the table in UB */
    uint32_t rows, columns; /* of outer, of inner */
};

OP_INLINE struct piece take_piece(const struct op_index_lines_args *t, uint64_t number)
{
    if (t->inner == 1) {
        const uint64_t row = number * t->rows;
        const uint32_t rows = (uint32_t)op_min64(t->rows, t->outer - row);
        return (struct piece){row * t->length, row * t->count, rows, (uint32_t)t->length, rows, 1};
    }
    const uint64_t tiles = (t->inner + t->columns - 1) / t->columns, outer = number / tiles,
                   column = (number - outer * tiles) * t->columns;
    const uint32_t columns = (uint32_t)op_min64(t->columns, t->inner - column);
    return (struct piece){outer * t->length * t->inner + column,
                          outer * t->count * t->inner + column,
                          (uint32_t)t->length,
                          columns,
                          1,
                          columns};
}

/* `now` of count from `begin` on. */
static void run_chunk(const struct op_index_lines_args *t, const struct piece *p, uint64_t begin,
                      uint32_t now, struct gather_state *state)
{
    const bool in_rows = t->inner == 1;
    const uint32_t lines = in_rows ? p->rows : now, width = in_rows ? now : p->columns,
                   unit = t->unit;
    const uint64_t first = p->first + begin * t->inner, pitch = in_rows ? t->count : t->inner;
    const struct walk walk = {
        .slow = lines,
        .fast = width,
        .table_slow = in_rows ? whole_blocks((uint32_t)t->length * unit) : 0,
        .table_fast = in_rows ? 0 : unit,
        .reach = in_rows ? unit : whole_blocks(p->columns * unit),
        .index_slow = whole_blocks(width * t->index_bytes),
        .value_slow = whole_blocks(width * unit),
    };
    load(INDEX, t->index + first * t->index_bytes, lines, width * t->index_bytes,
         pitch * t->index_bytes);
    if (t->mode != OP_INDEX_GET) {
        load(VALUES, t->value + first * unit, lines, width * unit, pitch * unit);
    }
    if (t->mode == OP_INDEX_GET && can_gather(t, &walk)) {
        set_flag(PIPE_MTE2, PIPE_V, 0);
        wait_flag(PIPE_MTE2, PIPE_V, 0);
        gather_chunk(t, &walk, state);
        set_flag(PIPE_V, PIPE_MTE2, 0);
        set_flag(PIPE_V, PIPE_MTE3, 0);
        wait_flag(PIPE_V, PIPE_MTE3, 0);
        store(t->value + first * unit, VALUES, lines, width * unit, pitch * unit);
        set_flag(PIPE_MTE3, PIPE_V, 0);
        wait_flag(PIPE_MTE3, PIPE_V, 0);
        wait_flag(PIPE_V, PIPE_MTE2, 0);
        return;
    }
    set_flag(PIPE_MTE2, PIPE_S, 0);
    wait_flag(PIPE_MTE2, PIPE_S, 0);
    if (t->mode == OP_INDEX_GET) {
        get_elements(&walk, t);
        set_flag(PIPE_S, PIPE_MTE3, 0);
        wait_flag(PIPE_S, PIPE_MTE3, 0);
        store(t->value + first * unit, VALUES, lines, width * unit, pitch * unit);
        set_flag(PIPE_MTE3, PIPE_S, 0);
        wait_flag(PIPE_MTE3, PIPE_S, 0);
    } else if (t->mode == OP_INDEX_PUT) {
        put_elements(&walk, t);
    } else {
        join_elements(&walk, t);
    }
    set_flag(PIPE_S, PIPE_MTE2, 0);
    wait_flag(PIPE_S, PIPE_MTE2, 0);
}

/* Whole blocks are stored, and of the last one of a row not all is a value. */
OP_INLINE void clear_values(void)
{
    set_mask_norm();
    set_vector_mask(~UINT64_C(0), ~UINT64_C(0));
    vector_dup(op_ub_f32(VALUES), 0.0f, OP_LINES_SLOT / 256, 1, 1, 8, 8);
    set_flag(PIPE_V, PIPE_S, 0);
    wait_flag(PIPE_V, PIPE_S, 0);
}

__global__ __vector__ void index_lines(struct op_index_lines_args args)
{
    const struct op_index_lines_args t = args;
    const uint64_t begin = (uint64_t)get_block_idx() * t.per_block;
    const uint64_t end = op_min64(begin + t.per_block, t.pieces * t.parts);
    struct gather_state state = {0, 0};
    if (t.mode == OP_INDEX_GET && t.count * t.unit % 32) {
        clear_values();
    }
    if (t.mode == OP_INDEX_GET) {
        gather_begin(&t);
    }
    for (uint64_t number = begin; number < end; number++) {
        const uint64_t in_piece = number % t.parts,
                       last = op_min64((in_piece + 1) * t.share, t.count);
        const struct piece p = take_piece(&t, number / t.parts);
        const uint64_t pitch = (t.inner == 1 ? t.length : t.inner) * t.unit;
        if (number == begin || in_piece == 0) {
            load(TABLE, t.table + p.table * t.unit, p.lines, p.width * t.unit, pitch);
        }
        for (uint64_t k = in_piece * t.share; k < last; k += t.chunk) {
            run_chunk(&t, &p, k, (uint32_t)op_min64(t.chunk, last - k), &state);
        }
        if (t.mode != OP_INDEX_GET) {
            set_flag(PIPE_S, PIPE_MTE3, 0);
            wait_flag(PIPE_S, PIPE_MTE3, 0);
            store(t.out + p.table * t.unit, TABLE, p.lines, p.width * t.unit, pitch);
            set_flag(PIPE_MTE3, PIPE_MTE2, 0);
            wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
        }
    }
    if (t.mode == OP_INDEX_GET) {
        gather_end(&t);
    }
    op_flush();
}
