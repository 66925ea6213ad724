/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointwise operators on the vector unit: inputs, the expression (pointwise_floats.c,
 * pointwise_integers.c) and outputs become a list of tile instructions; values get slots in UB by
 * how long they live, and the tile is as large as the slots allow.
 */
#include "../tile/tile_list.h"

#include "../chip/chip.h"
#include "../frame/explain.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

// Integers that take the low bits of a number.
static bool has_low_bits(enum op_type type)
{
    return type == OP_TYPE_I8 || type == OP_TYPE_U8 || type == OP_TYPE_I16;
}

static bool is_narrow(enum op_type type)
{
    return op_type_bytes(type) == 1;
}

// One more than the last place of a kind.
static int64_t places(const struct op_tensor *out, unsigned var)
{
    return var == OP_VAR_INDEX ? op_tensor_count(out)
           : var == OP_VAR_ROW ? (out->rank > 1 ? out->dim[out->rank - 2] : 1)
                               : (out->rank > 0 ? out->dim[out->rank - 1] : 1);
}

// Where the element is: a sum of a ramp, exact in f32 up to 2^24.
static void add_place(struct op_list *list, unsigned var, unsigned value)
{
    struct op_tile_args *args = list->args;
    const unsigned at = args->ins++;
    if (at >= OP_TILE_INS || places(&list->work->out, list->work->op->var[var]) > 1 << 24) {
        list->failed = true;
        return;
    }
    if (args->ramp_slot == OP_TILE_SLOTS) {
        args->ramp_slot = op_list_slot(list, 4, false);
    }
    args->in_kind[at] = (uint8_t)(OP_TILE_PLACE + (list->work->op->var[var] - OP_VAR_INDEX));
    args->in_type[at] = OP_TYPE_F32;
    args->in_bytes[at] = 4;
    args->in_slot[at] = op_list_slot(list, 4, false);
    list->value[value].slot = args->in_slot[at];
}

// Bytes of all tensors.
static uint64_t moved_bytes(const struct op_pointwise_work *work)
{
    uint64_t bytes = op_tensor_extent(&work->out);
    for (unsigned i = 0; i < work->op->var_count; i++) {
        bytes += work->is_tensor[i] ? op_tensor_extent(&work->tensors[i]) : 0;
    }
    return bytes;
}

// Inputs: a slot to load into and, for types that are not f32, the value as f32.
static void add_inputs(struct op_list *list, const struct op_pointwise_space *space)
{
    struct op_tile_args *args = list->args;
    const struct op_pointwise_work *work = list->work;
    for (unsigned i = 0; i < work->op->var_count; i++) {
        const unsigned value = op_list_value(
            list,
            work->is_tensor[i] || op_pointwise_is_place(work, i) ? OP_LIST_TILE : OP_LIST_NUMBER);
        list->of[list->ofs++] = (uint8_t)value;
        list->value[value].number = (float)work->real[i];
        if (op_pointwise_is_place(work, i)) {
            add_place(list, i, value);
            continue;
        }
        if (!work->is_tensor[i]) {
            continue;
        }
        const struct op_tensor *tensor = &work->tensors[i];
        const unsigned at = args->ins++;
        const uint8_t kind = list->kind[i];
        const bool filled = kind == OP_TILE_ROW_NUMBER || kind == OP_TILE_COLUMN;
        if (at >= OP_TILE_INS) {
            list->failed = true;
            return;
        }
        args->in[at] = op_tensor_is_dense(tensor)
                           ? op_chip_read_once(op_plan_numbers(work->call->plan), tensor->addr,
                                               moved_bytes(work))
                           : tensor->addr;
        args->in_type[at] = (uint8_t)tensor->type;
        args->in_bytes[at] = (uint8_t)op_type_bytes(tensor->type);
        args->in_kind[at] = kind;
        args->in_slot[at] = filled ? op_list_slot(list, 4, false)
                                   : op_list_slot(list, args->in_bytes[at], kind == OP_TILE_DENSE);
        list->value[value].slot = args->in_slot[at];
        for (unsigned d = 0; d + 1 < space->rank; d++) {
            args->in_stride[at][d] = space->stride[1 + i][d] * args->in_bytes[at];
        }
    }
}

static void widen_inputs(struct op_list *list)
{
    const struct op_pointwise_work *work = list->work;
    for (unsigned i = 0, at = 0; i < work->op->var_count && !list->failed; i++) {
        at += op_pointwise_is_place(work, i);
        if (!work->is_tensor[i]) {
            continue;
        }
        const enum op_type type = work->tensors[i].type;
        const uint8_t kind = list->args->in_kind[at++];
        if (type != OP_TYPE_F32 && kind != OP_TILE_ROW_NUMBER && kind != OP_TILE_COLUMN) {
            const unsigned wide = op_list_value(list, OP_LIST_TILE);
            op_list_add(list, OP_TILE_WIDEN, wide, i, (unsigned)type,
                        is_narrow(type) ? op_list_halfway(list) : 0);
            list->value[i].same = (int)wide;
        }
    }
}

static unsigned word_fill(struct op_list *list, int32_t word)
{
    float bits;
    memcpy(&bits, &word, sizeof(bits));
    return op_list_fill(list, bits);
}

static unsigned add_tile(struct op_list *list, unsigned code, unsigned a, unsigned b)
{
    const unsigned d = op_list_value(list, OP_LIST_TILE);
    op_list_add(list, code, d, a, b, 0);
    return d;
}

// `number` where result is at the limit or beyond, as `code` says, else `otherwise`.
static unsigned select_number(struct op_list *list, unsigned code, unsigned result, float limit,
                              unsigned otherwise, float number)
{
    const unsigned mask = op_list_value(list, OP_LIST_MASK),
                   constant = op_list_value(list, OP_LIST_NUMBER),
                   d = op_list_value(list, OP_LIST_TILE);
    list->value[constant].number = number;
    op_list_add(list, code, mask, result, op_list_number(list, limit), 0);
    op_list_add(list, OP_TILE_SELECT, d, mask, op_list_tile(list, constant), otherwise);
    return d;
}

// A result for an integer of 8 or 16 bits: the low bits of its whole part in 64 bits, as the scalar
// unit stores it. From 2^31 on they are 0, from 2^63 on all ones.
static unsigned low_bits(struct op_list *list, unsigned result, enum op_type type)
{
    const int32_t all = (int32_t)((1u << 8 * op_type_bytes(type)) - 1),
                  half = type == OP_TYPE_U8 ? 0 : all / 2 + 1;
    unsigned inside = select_number(list, OP_TILE_GES, result, 0x1p31f, result, 0);
    inside = select_number(list, OP_TILE_GES, result, 0x1p63f, inside, -1);
    unsigned word = add_tile(list, OP_TILE_NARROW, inside, OP_TYPE_I32);
    if (half) { // so that both signs are in a row
        word = add_tile(list, OP_TILE_WORD_ADD, word, word_fill(list, half));
    }
    word = add_tile(list, OP_TILE_WORD_AND, word, word_fill(list, all));
    const unsigned low = add_tile(list, OP_TILE_TO_FLOAT, word, 0);
    return half ? add_tile(list, OP_TILE_ADDS, low, op_list_number(list, (float)-half)) : low;
}

// The result in the type of the output.
static void add_output(struct op_list *list, unsigned result)
{
    const enum op_type type = list->work->out.type;
    struct op_tile_args *args = list->args;
    args->out_bytes = (uint8_t)op_type_bytes(type);
    if (list->value[result].kind == OP_LIST_MASK) {
        list->failed = true; // the generator makes numbers of masks
        return;
    }
    result = op_list_tile(list, result);
    if (type == OP_TYPE_BOOL) {
        const unsigned mask = op_list_value(list, OP_LIST_MASK),
                       bit = op_list_value(list, OP_LIST_TILE);
        const unsigned one = op_list_value(list, OP_LIST_NUMBER),
                       zero = op_list_value(list, OP_LIST_NUMBER);
        list->value[one].number = 1;
        op_list_add(list, OP_TILE_NES, mask, result, op_list_number(list, 0), 0);
        op_list_add(list, OP_TILE_SELECT, bit, mask, op_list_tile(list, one),
                    op_list_tile(list, zero));
        result = bit;
    } else if (has_low_bits(type)) {
        result = low_bits(list, result, type);
    }
    args->out_slot = op_list_slot(list, args->out_bytes, true);
    const unsigned out = op_list_value(list, OP_LIST_TILE);
    list->value[out].slot = args->out_slot;
    if (type != OP_TYPE_F32) {
        args->infinite = op_pointwise_keeps_infinities(list->work);
        op_list_add(list, OP_TILE_NARROW, out, result, (unsigned)type,
                    is_narrow(type) ? op_list_halfway(list) : 0);
    } else if (list->insns > 0 && list->insn[list->insns - 1].d == result &&
               list->value[result].slot == OP_LIST_NO_SLOT) {
        list->insn[list->insns - 1].d = (uint8_t)out;
    } else {
        op_list_move(list, out, result);
    }
}

// Types that tiles of f32 are loaded from and stored as.
static bool in_floats(enum op_type type, unsigned chip)
{
    return type == OP_TYPE_F32 || type == OP_TYPE_F16 || type == OP_TYPE_I32 ||
           type == OP_TYPE_BOOL || type == OP_TYPE_I8 || type == OP_TYPE_U8 ||
           ((type == OP_TYPE_BF16 || type == OP_TYPE_I16) && chip == OP_ON_910B);
}

static bool is_integer(enum op_type type, unsigned chip)
{
    return type == OP_TYPE_I8 || type == OP_TYPE_U8 || type == OP_TYPE_I32 ||
           type == OP_TYPE_BOOL || (type == OP_TYPE_I16 && chip == OP_ON_910B);
}

bool op_pointwise_fits_vector(const struct op_pointwise_work *work, bool floats)
{
    const unsigned chip = op_plan_chip(work->call->plan);
    const enum op_type out = work->out.type;
    bool good = work->op->tile && (in_floats(out, chip) || (!floats && is_integer(out, chip))),
         of_floats = false;
    for (unsigned i = 0; i < work->op->var_count; i++) {
        const enum op_type type = work->tensors[i].type;
        good = good &&
               (!work->is_tensor[i] || (floats ? in_floats(type, chip) : is_integer(type, chip)));
        of_floats = of_floats || (work->is_tensor[i] && type <= OP_TYPE_BF16);
    }
    // Low bits of functions of narrow integers differ in what rounding leaves open.
    return good && (!floats || of_floats || !has_low_bits(out));
}

enum {
    SHORTEST_ROW = 64, /**< shorter rows are left to the scalar unit unless there is one only */
};

// Whether every tensor lies in rows without gaps (or repeats one element), and types fit.
static bool fits(const struct op_pointwise_work *work, const struct op_pointwise_space *space,
                 bool floats, bool moves_bits)
{
    const unsigned last = space->rank - 1;
    bool good = space->stride[0][last] == 1 || space->dim[last] == 1;
    good = good && (space->rank == 1 || space->dim[last] >= SHORTEST_ROW) &&
           space->rank - 1 <= OP_TILE_OUTER;
    good = good && (moves_bits || op_pointwise_fits_vector(work, floats));
    for (unsigned i = 0; i < work->op->var_count; i++) {
        if (work->is_tensor[i]) {
            const int64_t stride = space->stride[1 + i][last];
            good = good && (stride == 1 || stride == 0 || space->dim[last] == 1);
            good = good && (!moves_bits || stride == 1);
        }
    }
    return good;
}

static void find_kinds(struct op_list *list, const struct op_pointwise_space *space)
{
    for (unsigned i = 0; i < list->work->op->var_count; i++) {
        const bool one = list->work->is_tensor[i] && space->stride[1 + i][space->rank - 1] == 0;
        list->kind[i] = one ? OP_TILE_ROW_NUMBER : OP_TILE_DENSE;
    }
}

// False: more pieces than the arguments can count.
static bool share_pieces(struct op_tile_args *args, const struct op_pointwise_work *work,
                         const struct op_pointwise_space *space, uint32_t *blocks)
{
    const uint64_t count = (uint64_t)op_tensor_count(&work->out);
    const uint32_t cores = op_plan_vector_cores(work->call->plan);
    uint64_t rows = 1; // or matrices
    for (unsigned d = 0; d < args->outer; d++) {
        rows *= (uint64_t)space->dim[d];
    }
    if (!args->row) {
        args->columns = (uint64_t)space->dim[space->rank - 1];
        // Smaller pieces rather than idle cores.
        const struct op_share piece =
            op_share_make(count, 128, OP_TILE_LEAST_BYTES / args->out_bytes, cores);
        args->tile = piece.per_block < args->tile ? (uint16_t)piece.per_block : args->tile;
    }
    const uint64_t a_row = (args->columns + args->tile - 1) / args->tile;
    const uint64_t pieces = rows * a_row;
    const struct op_share share = op_share_make(pieces, 1, 1, cores);
    args->pieces_a_row = (uint32_t)a_row;
    args->pieces = (uint32_t)pieces;
    args->per_block = (uint32_t)share.per_block;
    *blocks = share.blocks;
    return pieces <= UINT32_MAX;
}

// What is computed, as a list. False: something has no room or no instruction.
static bool make_list(struct op_list *list, const struct op_pointwise_space *space, bool floats,
                      bool moves_bits)
{
    const struct op_pointwise_work *work = list->work;
    struct op_tile_args *args = list->args;
    const uint32_t ub_bytes = op_plan_caps(work->call->plan)->ub_bytes;
    add_inputs(list, space);
    if (moves_bits) {
        args->out_bytes = args->in_bytes[0];
        args->out_slot = op_list_slot(list, args->out_bytes, true);
        const unsigned out = op_list_value(list, OP_LIST_TILE);
        list->value[out].slot = args->out_slot;
        op_list_add(list, OP_TILE_MOVE, out, 0, args->out_bytes, 0);
    } else if (!floats) {
        args->words = 1;
        op_list_integers(list, work->op->tile);
    } else {
        widen_inputs(list);
        op_list_floats(list, work->op->tile);
        if (!list->failed) {
            add_output(list, op_list_real(list, list->of[list->ofs - 1]));
        }
    }
    if (!list->failed) {
        op_list_give_slots(list, ub_bytes);
    }
    if (!list->failed) {
        op_list_lay_out(list, ub_bytes);
        args->most = args->tile;
    }
    return !list->failed;
}

static leo_status launch(struct op_list *list, const struct op_pointwise_space *space)
{
    const struct op_pointwise_work *work = list->work;
    struct op_tile_args *args = list->args;
    uint32_t blocks;
    args->insns = (uint8_t)list->insns;
    args->slots = (uint8_t)list->slots;
    memcpy(args->insn, list->insn, sizeof(args->insn));
    args->out = work->out.addr;
    args->outer = (uint8_t)(space->rank - (args->row ? 2 : 1));
    for (unsigned d = 0; d + 1 < space->rank; d++) {
        args->dim[d] = space->dim[d];
        args->out_stride[d] = space->stride[0][d] * args->out_bytes;
    }
    if (!share_pieces(args, work, space, &blocks)) {
        return OP_DECLINED;
    }
    op_explain_line(work->call->plan, "%u instructions on each of %" PRId64 " elements",
                    list->insns, op_tensor_count(&work->out));
    return op_plan_launch(
        work->call->plan, list->fallbacks ? "tile_fallback" : "tile", "tile_run", blocks, args,
        offsetof(struct op_tile_args, insn) + list->insns * sizeof(*args->insn), 1 + OP_TILE_INS);
}

// Several rows in a tile.
static leo_status plan_columns(const struct op_pointwise_work *work,
                               const struct op_pointwise_space *call_space, bool floats)
{
    struct op_pointwise_space space = *call_space;
    struct op_tile_args args = {.ramp_slot = OP_TILE_SLOTS};
    struct op_list list = {.work = work, .args = &args, .halfway = OP_LIST_NO_SLOT};
    if (!op_list_find_rows(&list, &space) || !make_list(&list, &space, floats, false) ||
        !op_list_cut_into_rows(&list, &space)) {
        return OP_DECLINED;
    }
    return launch(&list, &space);
}

// Columns [from, from + count) of a call.
static leo_status plan_part(const struct op_pointwise_work *work,
                            const struct op_pointwise_space *space, bool floats, int64_t from,
                            int64_t count)
{
    struct op_pointwise_work part = *work;
    struct op_pointwise_space columns = *space;
    const unsigned last = space->rank - 1;
    columns.dim[last] = count;
    part.out.addr += (uint64_t)from * op_type_bytes(work->out.type);
    for (unsigned i = 0; i < work->op->var_count; i++) {
        if (work->is_tensor[i]) {
            part.tensors[i].addr +=
                (uint64_t)(from * space->stride[1 + i][last]) * op_type_bytes(part.tensors[i].type);
        }
    }
    return plan_columns(&part, &columns, floats);
}

// Long rows that no number of equal parts makes are two calls.
static leo_status plan_rows(const struct op_pointwise_work *work,
                            const struct op_pointwise_space *space, bool floats)
{
    const int64_t columns = space->dim[space->rank - 1], even = op_list_even_columns(work, space);
    leo_status status = plan_columns(work, space, floats);
    if (status == OP_DECLINED && even > 0) {
        status = plan_part(work, space, floats, 0, even);
        if (status == LEO_OK) {
            status = plan_part(work, space, floats, even, columns - even);
        }
    }
    return status;
}

leo_status op_pointwise_plan_tiles(const struct op_pointwise_work *work,
                                   const struct op_pointwise_space *space, char class)
{
    const bool floats = class == 'f';
    const struct op_expr *expression = work->op->tile;
    const bool moves_bits = expression && expression->count == 0 && work->is_tensor[0] &&
                            work->tensors[0].type == work->out.type &&
                            work->out.type != OP_TYPE_BOOL;
    leo_status status = OP_DECLINED;
    if (!expression || (class == 'd' && !moves_bits)) {
        return OP_DECLINED;
    }
    if (!op_pointwise_asks_places(work) && !moves_bits && op_pointwise_fits_vector(work, floats)) {
        status = plan_rows(work, space, floats);
    }
    if (status != OP_DECLINED || !fits(work, space, floats, moves_bits)) {
        return status;
    }
    struct op_tile_args args = {.ramp_slot = OP_TILE_SLOTS};
    struct op_list list = {.work = work, .args = &args, .halfway = OP_LIST_NO_SLOT};
    find_kinds(&list, space);
    return make_list(&list, space, floats, moves_bits) ? launch(&list, space) : OP_DECLINED;
}
