/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies that change the layout: rows with other pitches, transposed matrices, and every so many
 * elements of rows.
 *
 * Flags, event = slot. MTE3 -> MTE2: both slots of a piece free; MTE2 -> V: loaded; V -> MTE3:
 * ready.
 */
#include "../device/copy.h"
#include "../device/element.h"
#include "move_args.h"

enum {
    OUT_SLOTS = 2 * OP_MOVE_SLOT, /**< after the two slots of inputs */
    HALFWAY = 4 * OP_MOVE_SLOT,   /**< two tiles in between, on the coupled core */
};

/** A piece: where it lies and how large it is. */
struct piece {
    uint64_t in, out;
    uint32_t rows, columns;
};

OP_INLINE struct piece find_piece(const struct op_move_args *t, uint64_t index, bool transposed)
{
    const uint64_t tiles = (uint64_t)t->row_tiles * t->column_tiles;
    uint64_t matrix = index / tiles;
    const uint64_t tile = index - matrix * tiles;
    const uint64_t row = tile / t->column_tiles * t->tile_rows,
                   column = tile % t->column_tiles * t->tile_columns;
    struct piece piece = {t->in, t->out, (uint32_t)op_min64(t->tile_rows, t->rows - row),
                          (uint32_t)op_min64(t->tile_columns, t->columns - column)};
    for (uint32_t d = t->outer; d-- > 0;) {
        const uint64_t dim = (uint64_t)t->dim[d], above = d ? matrix / dim : 0,
                       here = matrix - above * dim;
        piece.in += here * (uint64_t)t->in_stride[d];
        piece.out += here * (uint64_t)t->out_stride[d];
        matrix = above;
    }
    piece.in += row * t->in_pitch + column * t->bytes;
    piece.out += transposed ? column * t->out_pitch + row * t->bytes
                            : row * t->out_pitch + column * t->bytes;
    return piece;
}

OP_INLINE void set_rows(ub_addr8_t reg, uint32_t first, uint32_t pitch)
{
    uint64_t address[8];
    for (uint32_t i = 0; i < 8; i++) {
        address[i] = first + i * pitch;
    }
    set_va_reg_sb(reg, address);
}

/* VA0, VA1 = 16 blocks of the result, VA2, VA3 = 16 blocks of the source, each `pitch` bytes apart.
 */
OP_INLINE void set_blocks(uint32_t to, uint32_t to_pitch, uint32_t from, uint32_t from_pitch)
{
    set_rows(VA0, to, to_pitch);
    set_rows(VA1, to + 8 * to_pitch, to_pitch);
    set_rows(VA2, from, from_pitch);
    set_rows(VA3, from + 8 * from_pitch, from_pitch);
}

/* [rows][columns] of 16 bits at `from` to [columns][rows] at `to`; multiples of 16, pitches in
 * bytes. An instruction repeats along the longer side: registers of addresses are what costs. */
static void transpose16(uint32_t to, uint32_t to_pitch, uint32_t from, uint32_t from_pitch,
                        uint32_t rows, uint32_t columns)
{
    if (rows > columns) {
        for (uint32_t column = 0; column < columns; column += 16) {
            set_blocks(to + column * to_pitch, to_pitch, from + column * 2, from_pitch);
            scatter_vnchwconv_b16(VA0, VA2, (uint8_t)(rows / 16), 1,
                                  (uint16_t)(16 * from_pitch / 32));
        }
        return;
    }
    for (uint32_t row = 0; row < rows; row += 16) {
        set_blocks(to + row * 2, to_pitch, from + row * from_pitch, from_pitch);
        scatter_vnchwconv_b16(VA0, VA2, (uint8_t)(columns / 16), (uint16_t)(16 * to_pitch / 32), 1);
    }
}

#if __NPU_ARCH__ == 1001
/*
 * f32 as pairs of 16 bits. First all 16-bit columns become rows; then those of the lower and of the
 * upper halves become planes [rows][columns]; then a row of the lower plane and one of the upper
 * plane in turn become the columns of the result.
 */
static void transpose32(uint32_t to, uint32_t to_pitch, uint32_t from, uint32_t from_pitch,
                        uint32_t rows, uint32_t columns)
{
    const uint32_t turned = HALFWAY, turned_pitch = rows * 2, plane_pitch = columns * 2;
    const uint32_t plane = HALFWAY + OP_MOVE_SLOT, plane_bytes = OP_MOVE_SLOT / 2;
    transpose16(turned, turned_pitch, from, from_pitch, rows, columns * 2);
    pipe_barrier(PIPE_V);
    for (uint32_t half_of = 0; half_of < 2; half_of++) {
        transpose16(plane + half_of * plane_bytes, plane_pitch, turned + half_of * turned_pitch,
                    2 * turned_pitch, columns, rows);
    }
    pipe_barrier(PIPE_V);
    const bool along_rows = rows > columns;
    for (uint32_t i = 0; i < (along_rows ? columns : rows); i += along_rows ? 16 : 8) {
        const uint32_t row = along_rows ? 0 : i, column = along_rows ? i : 0,
                       at = to + row * 4 + column * to_pitch;
        uint64_t low[8], high[8];
        for (uint32_t k = 0; k < 8; k++) {
            low[k] = plane + (row + k / 2) * plane_pitch + column * 2 + (k % 2) * plane_bytes;
            high[k] = low[k] + 4 * plane_pitch;
        }
        set_rows(VA0, at, to_pitch);
        set_rows(VA1, at + 8 * to_pitch, to_pitch);
        set_va_reg_sb(VA2, low);
        set_va_reg_sb(VA3, high);
        if (along_rows) {
            scatter_vnchwconv_b16(VA0, VA2, (uint8_t)(rows / 8), 1,
                                  (uint16_t)(8 * plane_pitch / 32));
        } else {
            scatter_vnchwconv_b16(VA0, VA2, (uint8_t)(columns / 16), (uint16_t)(16 * to_pitch / 32),
                                  1);
        }
    }
}
#else
/* Result row j of 8 is the blocks 2 j and 2 j + 1. */
static void transpose32(uint32_t to, uint32_t to_pitch, uint32_t from, uint32_t from_pitch,
                        uint32_t rows, uint32_t columns)
{
    const bool along_rows = rows > columns;
    for (uint32_t i = 0; i < (along_rows ? columns : rows); i += along_rows ? 8 : 16) {
        const uint32_t row = along_rows ? 0 : i, column = along_rows ? i : 0,
                       at = from + row * from_pitch + column * 4;
        uint64_t low[8], high[8];
        for (uint32_t k = 0; k < 8; k++) {
            low[k] = to + row * 4 + (column + k / 2) * to_pitch + k % 2 * 32;
            high[k] = low[k] + 4 * to_pitch;
        }
        set_va_reg_sb(VA0, low);
        set_va_reg_sb(VA1, high);
        set_rows(VA2, at, from_pitch);
        set_rows(VA3, at + 8 * from_pitch, from_pitch);
        if (along_rows) {
            scatter_vnchwconv_b32(VA0, VA2, (uint8_t)(rows / 16), 2,
                                  (uint16_t)(16 * from_pitch / 32));
        } else {
            scatter_vnchwconv_b32(VA0, VA2, (uint8_t)(columns / 8), (uint16_t)(8 * to_pitch / 32),
                                  1);
        }
    }
}
#endif

OP_INLINE void begin_flags(void)
{
    set_flag(PIPE_MTE3, PIPE_MTE2, 0);
    set_flag(PIPE_MTE3, PIPE_MTE2, 1);
}

OP_INLINE void end_flags(void)
{
    wait_flag(PIPE_MTE3, PIPE_MTE2, 0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, 1);
    op_flush();
}

/* Transposition takes whole 16 x 16 blocks: what a piece leaves of them must hold something.
 * A single piece uses the first slot alone. */
OP_INLINE void clear_inputs(uint64_t pieces)
{
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    for (uint32_t at = 0; at < (pieces > 1 ? 2 : 1) * OP_MOVE_SLOT; at += OP_MOVE_SLOT) {
        vector_dup(op_ub_f32(at), 0.0f, OP_MOVE_SLOT / 256, 1, 1, 8, 8);
    }
    set_flag(PIPE_V, PIPE_MTE2, 0);
    wait_flag(PIPE_V, PIPE_MTE2, 0);
}

__global__ __vector__ void move_rows(struct op_move_args args)
{
    const struct op_move_args copy = args, *t = &copy;
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(begin + t->per_block, t->pieces);
    uint32_t parity = 0;
    begin_flags();
    for (uint64_t i = begin; i < end; i++, parity ^= 1) {
        const struct piece piece = find_piece(t, i, false);
        const uint32_t ub = parity * 2 * OP_MOVE_SLOT, bytes = piece.columns * t->bytes,
                       pitch = op_units(bytes) * 32;
        wait_flag(PIPE_MTE3, PIPE_MTE2, parity);
        op_load_rows(ub, piece.in, piece.rows, bytes, t->in_pitch, pitch);
        // Over V, because tails of rows wait for it (copy.h).
        set_flag(PIPE_MTE2, PIPE_V, parity);
        wait_flag(PIPE_MTE2, PIPE_V, parity);
        set_flag(PIPE_V, PIPE_MTE3, parity);
        wait_flag(PIPE_V, PIPE_MTE3, parity);
        op_store_rows(piece.out, ub, piece.rows, bytes, t->out_pitch, pitch);
        set_flag(PIPE_MTE3, PIPE_MTE2, parity);
    }
    end_flags();
}

__global__ __vector__ void move_transpose(struct op_move_args args)
{
    const struct op_move_args copy = args, *t = &copy;
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(begin + t->per_block, t->pieces);
    const uint32_t in_pitch = t->tile_columns * t->bytes, out_pitch = t->tile_rows * t->bytes;
    uint32_t parity = 0;
    if (t->rows % 16 || t->columns % 16) {
        clear_inputs(t->per_block);
    }
    begin_flags();
    for (uint64_t i = begin; i < end; i++, parity ^= 1) {
        const struct piece piece = find_piece(t, i, true);
        const uint32_t in = parity * OP_MOVE_SLOT, out = OUT_SLOTS + parity * OP_MOVE_SLOT;
        wait_flag(PIPE_MTE3, PIPE_MTE2, parity);
        op_load_rows(in, piece.in, piece.rows, piece.columns * t->bytes, t->in_pitch, in_pitch);
        set_flag(PIPE_MTE2, PIPE_V, parity);
        wait_flag(PIPE_MTE2, PIPE_V, parity);
        // The whole 16 x 16 blocks that hold the piece; what lies beyond it is not stored.
        if (t->bytes == 2) {
            transpose16(out, out_pitch, in, in_pitch, op_up16(piece.rows), op_up16(piece.columns));
        } else {
            transpose32(out, out_pitch, in, in_pitch, op_up16(piece.rows), op_up16(piece.columns));
        }
        set_flag(PIPE_V, PIPE_MTE3, parity);
        wait_flag(PIPE_V, PIPE_MTE3, parity);
        // Rows that are no piece's stay as they were cleared.
        const uint32_t rows = t->padded ? op_up16(piece.rows) : piece.rows;
        op_store_rows(piece.out, out, piece.columns, rows * t->bytes, t->out_pitch, out_pitch);
        set_flag(PIPE_MTE3, PIPE_MTE2, parity);
    }
    end_flags();
}

/* [rows][columns] to [columns][rows], elements of 2 or 4 bytes; multiples of 16. */
OP_INLINE void transpose(uint32_t bytes, uint32_t to, uint32_t to_pitch, uint32_t from,
                         uint32_t from_pitch, uint32_t rows, uint32_t columns)
{
    if (bytes == 2) {
        transpose16(to, to_pitch, from, from_pitch, rows, columns);
    } else {
        transpose32(to, to_pitch, from, from_pitch, rows, columns);
    }
    pipe_barrier(PIPE_V);
}

/*
 * A tile of groups is [LINES][groups of a line][step]. Transposed it is [groups of a line][step]
 * [LINES], in which a plane is every `step`-th row; those rows transposed are the plane in order.
 */
enum {
    LINE_GROUPS = OP_MOVE_STEP_LINE,
    LINES = OP_MOVE_STEP_TILE / LINE_GROUPS,
    TURNED = HALFWAY + (__NPU_ARCH__ == 1001 ? 2 * OP_MOVE_SLOT : 0), /* behind transpose32's own */
    PUT = TURNED + OP_MOVE_SLOT,                                      /* two tiles of a plane */
};

/** A tile: where it is in the groups and in a plane, how many rows, and groups of each. */
struct step_piece {
    uint64_t groups, plane;
    uint32_t rows, count;
};

OP_INLINE struct step_piece find_step_piece(const struct op_move_step_args *t, uint64_t index)
{
    const uint64_t tiles = (t->count + OP_MOVE_STEP_TILE - 1) / OP_MOVE_STEP_TILE,
                   row_tile = index / tiles, row = row_tile * t->tile_rows,
                   first = (index - row_tile * tiles) * OP_MOVE_STEP_TILE;
    const struct step_piece piece = {t->groups + row * t->group_pitch + first * t->step * t->bytes,
                                     row * t->plane_pitch + first * t->bytes,
                                     (uint32_t)op_min64(t->tile_rows, t->rows - row),
                                     (uint32_t)op_min64(OP_MOVE_STEP_TILE, t->count - first)};
    return piece;
}

OP_INLINE void clear_step_inputs(const struct op_move_step_args *t)
{
    if (t->count % OP_MOVE_STEP_TILE) {
        clear_inputs(t->per_block);
    }
}

OP_INLINE void clear_put_inputs(const struct op_move_step_args *t)
{
    if (t->count % OP_MOVE_STEP_TILE) {
        set_mask_norm();
        set_vector_mask(~0ull, ~0ull);
        vector_dup(op_ub_f32(PUT), 0.0f, (uint8_t)(2 * OP_MOVE_STEP_TILE * t->bytes / 256), 1, 1, 8,
                   8);
        set_flag(PIPE_V, PIPE_MTE2, 0);
        wait_flag(PIPE_V, PIPE_MTE2, 0);
    }
}

/* `whole`: as far as the last group's last element; else as far as the last one that is taken, as
 * the last group may end with it. */
OP_INLINE void load_groups(const struct op_move_step_args *t, const struct step_piece *piece,
                           uint32_t to, bool whole)
{
    const uint32_t last = whole ? t->step : t->first + t->planes;
    op_load_rows(to, piece->groups, piece->rows, ((piece->count - 1) * t->step + last) * t->bytes,
                 t->group_pitch, t->row_room * t->step * t->bytes);
}

OP_INLINE void store_groups(const struct op_move_step_args *t, const struct step_piece *piece,
                            uint32_t from)
{
    op_store_rows(piece->groups, from, piece->rows, piece->count * t->step * t->bytes,
                  t->group_pitch, t->row_room * t->step * t->bytes);
}

OP_INLINE void load_plane(const struct op_move_step_args *t, const struct step_piece *piece,
                          uint32_t to, uint32_t k)
{
    op_load_rows(to, t->plane[k] + piece->plane, piece->rows, piece->count * t->bytes,
                 t->plane_pitch, t->row_room * t->bytes);
}

/* Element k of each group in the tile of groups that lies turned. */
OP_INLINE void turn_plane(const struct op_move_step_args *t, uint32_t from, uint32_t k)
{
    const uint32_t turned_pitch = LINES * t->bytes;
    transpose(t->bytes, TURNED + k * turned_pitch, t->step * turned_pitch, from,
              LINE_GROUPS * t->bytes, LINES, LINE_GROUPS);
}

OP_INLINE void turn_groups(const struct op_move_step_args *t, uint32_t from)
{
    const uint32_t columns = LINE_GROUPS * t->step;
    transpose(t->bytes, TURNED, LINES * t->bytes, from, columns * t->bytes, LINES, columns);
}

OP_INLINE void turn_back(const struct op_move_step_args *t, uint32_t to)
{
    const uint32_t columns = LINE_GROUPS * t->step;
    transpose(t->bytes, to, columns * t->bytes, TURNED, LINES * t->bytes, columns, LINES);
}

__global__ __vector__ void move_split(struct op_move_step_args args)
{
    const struct op_move_step_args copy = args, *t = &copy;
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(begin + t->per_block, t->pieces);
    const uint32_t turned_pitch = LINES * t->bytes, plane_bytes = OP_MOVE_STEP_TILE * t->bytes;
    uint32_t parity = 0;
    clear_step_inputs(t);
    begin_flags();
    for (uint64_t i = begin; i < end; i++, parity ^= 1) {
        const struct step_piece piece = find_step_piece(t, i);
        const uint32_t in = parity * OP_MOVE_SLOT, out = OUT_SLOTS + parity * OP_MOVE_SLOT;
        wait_flag(PIPE_MTE3, PIPE_MTE2, parity);
        load_groups(t, &piece, in, false);
        set_flag(PIPE_MTE2, PIPE_V, parity);
        wait_flag(PIPE_MTE2, PIPE_V, parity);
        turn_groups(t, in);
        for (uint32_t k = 0; k < t->planes; k++) {
            transpose(t->bytes, out + k * plane_bytes, LINE_GROUPS * t->bytes,
                      TURNED + (t->first + k) * turned_pitch, t->step * turned_pitch, LINE_GROUPS,
                      LINES);
        }
        set_flag(PIPE_V, PIPE_MTE3, parity);
        wait_flag(PIPE_V, PIPE_MTE3, parity);
        for (uint32_t k = 0; k < t->planes; k++) {
            op_store_rows(t->plane[k] + piece.plane, out + k * plane_bytes, piece.rows,
                          piece.count * t->bytes, t->plane_pitch, t->row_room * t->bytes);
        }
        set_flag(PIPE_MTE3, PIPE_MTE2, parity);
    }
    end_flags();
}

__global__ __vector__ void move_join(struct op_move_step_args args)
{
    const struct op_move_step_args copy = args, *t = &copy;
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(begin + t->per_block, t->pieces);
    const uint32_t plane_bytes = OP_MOVE_STEP_TILE * t->bytes;
    uint32_t parity = 0;
    clear_step_inputs(t);
    begin_flags();
    for (uint64_t i = begin; i < end; i++, parity ^= 1) {
        const struct step_piece piece = find_step_piece(t, i);
        const uint32_t in = parity * OP_MOVE_SLOT, out = OUT_SLOTS + parity * OP_MOVE_SLOT;
        wait_flag(PIPE_MTE3, PIPE_MTE2, parity);
        for (uint32_t k = 0; k < t->step; k++) {
            load_plane(t, &piece, in + k * plane_bytes, k);
        }
        set_flag(PIPE_MTE2, PIPE_V, parity);
        wait_flag(PIPE_MTE2, PIPE_V, parity);
        for (uint32_t k = 0; k < t->step; k++) {
            turn_plane(t, in + k * plane_bytes, k);
        }
        turn_back(t, out);
        set_flag(PIPE_V, PIPE_MTE3, parity);
        wait_flag(PIPE_V, PIPE_MTE3, parity);
        store_groups(t, &piece, out);
        set_flag(PIPE_MTE3, PIPE_MTE2, parity);
    }
    end_flags();
}

/* The groups are read and written again, with one element of each replaced. */
__global__ __vector__ void move_put(struct op_move_step_args args)
{
    const struct op_move_step_args copy = args, *t = &copy;
    const uint64_t begin = (uint64_t)get_block_idx() * t->per_block,
                   end = op_min64(begin + t->per_block, t->pieces);
    const uint32_t plane_bytes = OP_MOVE_STEP_TILE * t->bytes;
    uint32_t parity = 0;
    clear_step_inputs(t);
    clear_put_inputs(t);
    begin_flags();
    for (uint64_t i = begin; i < end; i++, parity ^= 1) {
        const struct step_piece piece = find_step_piece(t, i);
        const uint32_t in = parity * OP_MOVE_SLOT, plane = PUT + parity * plane_bytes,
                       out = OUT_SLOTS + parity * OP_MOVE_SLOT;
        wait_flag(PIPE_MTE3, PIPE_MTE2, parity);
        load_groups(t, &piece, in, true);
        load_plane(t, &piece, plane, 0);
        set_flag(PIPE_MTE2, PIPE_V, parity);
        wait_flag(PIPE_MTE2, PIPE_V, parity);
        turn_groups(t, in);
        turn_plane(t, plane, t->first);
        turn_back(t, out);
        set_flag(PIPE_V, PIPE_MTE3, parity);
        wait_flag(PIPE_V, PIPE_MTE3, parity);
        store_groups(t, &piece, out);
        set_flag(PIPE_MTE3, PIPE_MTE2, parity);
    }
    end_flags();
}
