/* SPDX-License-Identifier: Apache-2.0 */
#include "deferred_mmad.h"

#include "../simd/cube_element.h"
#include "../simd/simd.h"
#include "core.h"
#include "saturate.h"

enum { FRACTAL_BYTES = 512, STRETCH_BYTES = 4096, OPERANDS = 2 };

static const enum leo_mem_space space_of[OPERANDS] = {LEO_MEM_SPACE_L0A, LEO_MEM_SPACE_L0B};

void sim_deferred_begin(struct sim_core *core)
{
    // Behind what instructions use of it; empty between two runs.
    core->deferred = core->simd->cube->has_views && core->local[LEO_MEM_SPACE_L1].bytes
                         ? (struct sim_deferred *)(void *)(core->scratch + SIM_CUBE_SCRATCH_BYTES)
                         : NULL;
}

/* Offset of a span's lowest byte in its buffer. */
static uint64_t low_of(const struct sim_core *core, const struct sim_span *span)
{
    return (uint64_t)(span->host - core->local[span->space].data) - (span->addr - span->low);
}

static uint32_t offset_of(uint32_t view)
{
    return view & ~(uint32_t)SIM_VIEW_BITS;
}

static uint16_t *stretch_of(struct sim_deferred *deferred, uint64_t at)
{
    return &deferred->watched[at / STRETCH_BYTES % SIM_DEFERRED_WATCHED];
}

static bool is_watched(struct sim_deferred *deferred, uint64_t low, uint64_t bytes)
{
    for (uint64_t at = low / STRETCH_BYTES * STRETCH_BYTES; at < low + bytes; at += STRETCH_BYTES) {
        if (*stretch_of(deferred, at)) {
            return true;
        }
    }
    return false;
}

/* A fractal becomes another view, or none (0). */
static void set_view(struct sim_deferred *deferred, uint32_t *view, uint32_t to)
{
    if (*view) {
        (*stretch_of(deferred, offset_of(*view)))--;
        (*stretch_of(deferred, offset_of(*view) + FRACTAL_BYTES - 1))--;
    }
    if (to) {
        (*stretch_of(deferred, offset_of(to)))++;
        (*stretch_of(deferred, offset_of(to) + FRACTAL_BYTES - 1))++;
    }
    *view = to;
}

/* Moves a fractal that is a view to its place. */
static void fetch(struct sim_core *core, unsigned operand, uint32_t fractal)
{
    uint32_t *view = &core->deferred->view[operand][fractal];
    if (*view == 0) {
        return;
    }
    const struct sim_simd_cube *cube = core->simd->cube;
    (*view & SIM_VIEW_TURNED ? cube->transpose_b16 : cube->copy_fractals)(
        core->local[space_of[operand]].data + (size_t)fractal * FRACTAL_BYTES, 0,
        core->local[LEO_MEM_SPACE_L1].data + offset_of(*view), 0, 1);
    set_view(core->deferred, view, 0);
}

static void fetch_range(struct sim_core *core, unsigned operand, uint64_t low, uint64_t bytes)
{
    const uint64_t end = (low + bytes + FRACTAL_BYTES - 1) / FRACTAL_BYTES;
    for (uint64_t i = low / FRACTAL_BYTES; i < end && i < SIM_DEFERRED_FRACTALS; i++) {
        fetch(core, operand, (uint32_t)i);
    }
}

/* Bytes of L1 are about to change: fractals that are seen there move. */
static void leave(struct sim_core *core, uint64_t low, uint64_t bytes)
{
    const struct sim_deferred *deferred = core->deferred;
    if (!is_watched(core->deferred, low, bytes)) {
        return;
    }
    for (unsigned operand = 0; operand < OPERANDS; operand++) {
        for (uint32_t i = 0; i < SIM_DEFERRED_FRACTALS; i++) {
            const uint64_t at = offset_of(deferred->view[operand][i]);
            if (at < low + bytes && low < at + FRACTAL_BYTES) {
                fetch(core, operand, i); // if it is a view
            }
        }
    }
}

void sim_deferred_end(struct sim_core *core)
{
    if (!core->deferred) {
        return;
    }
    sim_deferred_products(core);
    for (unsigned operand = 0; core->deferred->views && operand < OPERANDS; operand++) {
        fetch_range(core, operand, 0, (uint64_t)SIM_DEFERRED_FRACTALS * FRACTAL_BYTES);
    }
    core->deferred->views = 0;
    core->deferred = NULL;
}

static void meet_l1_write(struct sim_core *core, uint64_t low, uint64_t bytes)
{
    const struct sim_deferred *deferred = core->deferred;
    if (deferred->parts && low < deferred->high && deferred->low < low + bytes) {
        sim_deferred_products(core);
    }
    leave(core, low, bytes);
}

void sim_deferred_meet(struct sim_core *core, const struct sim_footprint *foot)
{
    const struct sim_deferred *deferred = core->deferred;
    if (!deferred || foot->empty || !(deferred->views | deferred->parts)) {
        return;
    }
    for (unsigned i = 0; i < foot->count; i++) {
        const struct sim_span *span = &foot->span[i];
        if (span->touch == 0 || !span->host || span->space == LEO_MEM_SPACE_UB) {
            continue;
        }
        if (span->space == LEO_MEM_SPACE_L0A || span->space == LEO_MEM_SPACE_L0B) {
            fetch_range(core, span->space == LEO_MEM_SPACE_L0B, low_of(core, span), span->extent);
        } else if (span->space != LEO_MEM_SPACE_L1) { // L0C, and BT as the bias of a product
            sim_deferred_products(core);
        } else if (span->touch & SIM_TOUCH_WRITE) {
            meet_l1_write(core, low_of(core, span), span->extent);
        }
    }
}

bool sim_deferred_load(struct sim_core *core, const struct sim_footprint *foot, bool turned)
{
    struct sim_deferred *deferred = core->deferred;
    const struct sim_span *to = &foot->span[SIM_OPERAND_A], *from = &foot->span[SIM_OPERAND_B];
    const uint64_t end = deferred ? (low_of(core, to) + to->extent) / FRACTAL_BYTES : 0;
    if (!deferred || end > SIM_DEFERRED_FRACTALS) {
        sim_deferred_meet(core, foot);
        return false;
    }
    uint32_t *view = deferred->view[to->space == LEO_MEM_SPACE_L0B] +
                     (to->host - core->local[to->space].data) / FRACTAL_BYTES;
    uint64_t at = (uint64_t)(from->host - core->local[LEO_MEM_SPACE_L1].data);
    for (uint32_t i = 0; i < from->level[0].count; i++) {
        set_view(deferred, view, (uint32_t)at | SIM_VIEW | (turned ? SIM_VIEW_TURNED : 0u));
        view += to->level[0].step / FRACTAL_BYTES;
        at += (uint64_t)from->level[0].step;
    }
    deferred->views = 1;
    return true;
}

static void clamp_f32(void *user, void *results, size_t count)
{
    sim_core_saturate(user, sim_infinity_of(LEO_DTYPE_F32), results, count, NULL);
}

static void clamp_f16(void *user, void *results, size_t count)
{
    sim_core_saturate(user, sim_infinity_of(LEO_DTYPE_F16), results, count, NULL);
}

/* Whole fractals: rows past m keep what they held, so they must not count (HW-NUM-15). */
static void clamp_results(const struct sim_mmad *mmad)
{
    const size_t row_bytes = mmad->type == LEO_MAD_F16F16 ? 32 : 64, m1 = (mmad->m + 15) / 16;
    for (uint32_t j = 0; j < mmad->n; j += 16) {
        const uint32_t columns = mmad->n - j < 16 ? mmad->n - j : 16;
        uint8_t *rows = (uint8_t *)mmad->c + j / 16 * m1 * 16 * row_bytes;
        if (columns == 16) {
            mmad->clamp(mmad->user, rows, (size_t)mmad->m * 16);
            continue;
        }
        for (uint32_t i = 0; i < mmad->m; i++) {
            mmad->clamp(mmad->user, rows + i * row_bytes, columns);
        }
    }
}

/* A product, or a chain of them. */
static void multiply(struct sim_core *core, struct sim_mmad *mmad)
{
    mmad->scratch = core->scratch;
    const bool finite = core->simd->cube->mmad(mmad);
    if (!finite && mmad->clamp) {
        clamp_results(mmad);
    }
}

void sim_deferred_products(struct sim_core *core)
{
    struct sim_deferred *deferred = core->deferred;
    if (!deferred || deferred->parts == 0) {
        return;
    }
    for (unsigned i = 0; i + 1 < deferred->parts; i++) {
        deferred->part[i].next = &deferred->part[i + 1];
    }
    deferred->part[deferred->parts - 1].next = NULL;
    multiply(core, &deferred->part[0]);
    deferred->parts = 0;
    deferred->depth = 0;
    deferred->sources[0] = deferred->sources[1] = 0;
}

/* Whether it goes on where the products put off will have ended. */
static bool continues(const struct sim_deferred *deferred, const struct sim_mmad *mmad)
{
    const struct sim_mmad *first = &deferred->part[0];
    return mmad->type == first->type && mmad->c == first->c && mmad->m == first->m &&
           mmad->n == first->n && !mmad->zero && !mmad->bias && mmad->clamp == first->clamp &&
           deferred->part[deferred->parts - 1].k % 16 == 0;
}

/* Notes where an operand's fractals lie; false: some are in L0. */
static bool note_sources(struct sim_deferred *deferred, unsigned operand, const uint32_t *view,
                         uint32_t count)
{
    uint32_t *to = deferred->source[operand] + deferred->sources[operand], all = SIM_VIEW;
    for (uint32_t i = 0; i < count; i++) {
        to[i] = view[i];
        all &= view[i];
    }
    if (!all) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t at = offset_of(view[i]);
        deferred->low = at < deferred->low ? at : deferred->low;
        deferred->high = at + FRACTAL_BYTES > deferred->high ? at + FRACTAL_BYTES : deferred->high;
    }
    return true;
}

/* Fractals of a product's A and B. */
static void count_fractals(const struct sim_mmad *mmad, uint32_t count[OPERANDS])
{
    count[0] = (mmad->m + 15) / 16 * mmad->k1;
    count[1] = (mmad->k + 15) / 16 * ((mmad->n + 15) / 16);
}

static bool put_off(struct sim_deferred *deferred, const struct sim_mmad *mmad)
{
    uint32_t count[OPERANDS];
    count_fractals(mmad, count);
    if (deferred->parts == 0) {
        deferred->low = UINT64_MAX;
        deferred->high = 0;
    }
    const uint32_t *at[OPERANDS] = {deferred->source[0] + deferred->sources[0],
                                    deferred->source[1] + deferred->sources[1]};
    if (!note_sources(deferred, 0, mmad->a_view, count[0]) ||
        !note_sources(deferred, 1, mmad->b_view, count[1])) {
        return false;
    }
    struct sim_mmad *part = &deferred->part[deferred->parts++];
    *part = *mmad;
    part->a_view = at[0];
    part->b_view = at[1];
    deferred->sources[0] += count[0];
    deferred->sources[1] += count[1];
    deferred->depth += mmad->k;
    return true;
}

static bool has_room(const struct sim_deferred *deferred, const struct sim_mmad *mmad)
{
    uint32_t count[OPERANDS];
    count_fractals(mmad, count);
    return deferred->parts < SIM_DEFERRED_PARTS &&
           deferred->sources[0] + count[0] <= SIM_DEFERRED_SOURCES &&
           deferred->sources[1] + count[1] <= SIM_DEFERRED_SOURCES;
}

/* The views of an operand; NULL: they are not noted so far into L0. */
static const uint32_t *views_of(const struct sim_core *core, const struct sim_span *span,
                                unsigned operand)
{
    const uint64_t low = low_of(core, span);
    return low + span->extent > (uint64_t)SIM_DEFERRED_FRACTALS * FRACTAL_BYTES
               ? NULL
               : core->deferred->view[operand] + low / FRACTAL_BYTES;
}

/* A product whose operands may be views. */
static void multiply_views(struct sim_core *core, struct sim_mmad *mmad)
{
    struct sim_deferred *deferred = core->deferred;
    if (deferred->parts && !(continues(deferred, mmad) && has_room(deferred, mmad))) {
        sim_deferred_products(core);
    }
    if (!has_room(deferred, mmad) || !put_off(deferred, mmad)) {
        sim_deferred_products(core);
        multiply(core, mmad);
    } else if (deferred->depth >= SIM_DEFERRED_DEPTH) {
        sim_deferred_products(core);
    }
}

void sim_deferred_multiply(struct sim_core *core, const struct sim_footprint *foot,
                           struct sim_mmad *mmad)
{
    if (leo_cfg_ctrl_unpack(core->ctrl).saturate && !sim_cube_types_of(mmad->type).is_integer) {
        mmad->clamp = mmad->type == LEO_MAD_F16F16 ? clamp_f16 : clamp_f32;
        mmad->user = core;
    }
    const bool wide = mmad->type == LEO_MAD_F16F32 || mmad->type == LEO_MAD_BF16F32;
    if (core->deferred && wide && !mmad->vector) {
        mmad->l1 = core->local[LEO_MEM_SPACE_L1].data;
        mmad->a_view = views_of(core, &foot->span[SIM_OPERAND_B], 0);
        mmad->b_view = views_of(core, &foot->span[SIM_OPERAND_C], 1);
        if (mmad->a_view && mmad->b_view) {
            multiply_views(core, mmad);
            return;
        }
        mmad->a_view = mmad->b_view = NULL;
    }
    sim_deferred_meet(core, foot);
    multiply(core, mmad);
}
