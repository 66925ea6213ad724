/* SPDX-License-Identifier: Apache-2.0 */
/* What the data movers touch, by the form of their configuration words. docs/hw/dma.md. */
#include "mte.h"

#define MAX_LEN_BYTES 2097151u
#define MAX_ROWS      16384u

/* Address operand `at` with the access its place has: a is written, the others are read. */
static struct sim_span *add(const struct sim_core *core, const struct sim_op *op,
                            struct sim_footprint *foot, enum sim_operand at, uint64_t bytes)
{
    enum leo_mem_space space = sim_operand_space((enum leo_insn_operand)op->row->operand[at]);
    unsigned touch = at == SIM_OPERAND_A ? SIM_TOUCH_WRITE : SIM_TOUCH_READ;
    if (space == LEO_MEM_SPACE_GM && at == SIM_OPERAND_A && mte_is_atomic(core)) {
        touch |= SIM_TOUCH_ATOMIC;
    }
    struct sim_span *span =
        sim_footprint_add(foot, at, space, touch, at == SIM_OPERAND_A ? op->a : op->b, bytes);
    span->align = space == LEO_MEM_SPACE_GM                                  ? 1
                  : space == LEO_MEM_SPACE_L0A || space == LEO_MEM_SPACE_L0B ? MTE_FRACTAL_BYTES
                  : space == LEO_MEM_SPACE_BT || space == LEO_MEM_SPACE_L0C  ? MTE_BT_BYTES
                  : space == LEO_MEM_SPACE_FB                                ? MTE_FB_BYTES
                                                                             : MTE_BLOCK_BYTES;
    return span;
}

/* Some buffers count in units of their own. */
static uint64_t burst_unit(enum leo_mem_space space)
{
    return space == LEO_MEM_SPACE_BT    ? MTE_BT_BYTES
           : space == LEO_MEM_SPACE_FB  ? MTE_FB_BYTES
           : space == LEO_MEM_SPACE_L0C ? MTE_L0C_BYTES
                                        : MTE_BLOCK_BYTES;
}

bool sim_foot_burst(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_burst cfg = leo_cfg_burst_unpack(op->d);
    if (op->d & LEO_CFG_BURST_RESERVED) {
        return mte_bad_config(core, op->d);
    }
    uint64_t dst_unit =
        burst_unit(sim_operand_space((enum leo_insn_operand)op->row->operand[SIM_OPERAND_A]));
    uint64_t bytes = cfg.len_burst * dst_unit;
    foot->empty = cfg.n_burst == 0 || bytes == 0;
    struct sim_span *src = add(core, op, foot, SIM_OPERAND_B, bytes);
    struct sim_span *dst = add(core, op, foot, SIM_OPERAND_A, bytes);
    src->level[0] =
        (struct sim_level){cfg.n_burst, (int64_t)(bytes + (uint64_t)cfg.src_gap * MTE_BLOCK_BYTES)};
    dst->level[0] =
        (struct sim_level){cfg.n_burst, (int64_t)(bytes + (uint64_t)cfg.dst_gap * dst_unit)};
    sim_span_close(src);
    sim_span_close(dst);
    return true;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + MTE_BLOCK_BYTES - 1) / MTE_BLOCK_BYTES * MTE_BLOCK_BYTES;
}

/* HW-DMA-11, HW-DMA-12: bytes in global memory, blocks of UB. */
bool sim_foot_align(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_align0 cfg = leo_cfg_align0_unpack(op->c);
    const struct leo_cfg_align1 gaps = leo_cfg_align1_unpack(op->d);
    unsigned element = leo_dtype_bytes(cfg.dtype);
    bool load = op->row->operand[SIM_OPERAND_B] == LEO_INSN_OPERAND_GM;
    uint32_t left = cfg.lpad * element, right = cfg.rpad * element;
    if (op->c & LEO_CFG_ALIGN0_RESERVED || element == 0 || cfg.len_bytes > MAX_LEN_BYTES ||
        left > MTE_BLOCK_BYTES || right > MTE_BLOCK_BYTES || (!load && left + right != 0)) {
        return mte_bad_config(core, op->c);
    }
    if (op->d & LEO_CFG_ALIGN1_RESERVED) {
        return mte_bad_config(core, op->d);
    }
    foot->empty = cfg.n_burst == 0 || cfg.len_bytes == 0;
    uint64_t block = round_up(left + cfg.len_bytes + right);
    struct sim_span *src = add(core, op, foot, SIM_OPERAND_B, cfg.len_bytes);
    struct sim_span *dst = add(core, op, foot, SIM_OPERAND_A, load ? block : cfg.len_bytes);
    uint64_t src_step = load ? (uint64_t)cfg.len_bytes + gaps.src_gap
                             : block + (uint64_t)gaps.src_gap * MTE_BLOCK_BYTES;
    uint64_t dst_step = load ? block + (uint64_t)gaps.dst_gap * MTE_BLOCK_BYTES
                             : (uint64_t)cfg.len_bytes + gaps.dst_gap;
    src->level[0] = (struct sim_level){cfg.n_burst, (int64_t)src_step};
    dst->level[0] = (struct sim_level){cfg.n_burst, (int64_t)dst_step};
    sim_span_close(src);
    sim_span_close(dst);
    return true;
}

/* Rows of matrices to columns of blocks. */
bool sim_foot_nd2nz(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_nz0 cfg0 = leo_cfg_nz0_unpack(op->c);
    const struct leo_cfg_nz1 cfg1 = leo_cfg_nz1_unpack(op->d);
    unsigned element = leo_dtype_bytes(cfg0.dtype);
    if (op->c & LEO_CFG_NZ0_RESERVED || (element != 1 && element != 2 && element != 4) ||
        cfg0.n_value > MAX_ROWS) {
        return mte_bad_config(core, op->c);
    }
    if (op->d & LEO_CFG_NZ1_RESERVED || cfg1.src_d == 0) {
        return mte_bad_config(core, op->d);
    }
    uint64_t row_bytes = (uint64_t)cfg0.d_value * element;
    foot->empty = cfg0.nd_num == 0 || cfg0.n_value == 0 || row_bytes == 0;
    struct sim_span *src = add(core, op, foot, SIM_OPERAND_B, row_bytes);
    src->level[0] = (struct sim_level){cfg0.nd_num, (int64_t)cfg0.src_nd_stride * element};
    src->level[1] = (struct sim_level){cfg0.n_value, (int64_t)cfg1.src_d * element};
    sim_span_close(src);
    struct sim_span *dst = add(core, op, foot, SIM_OPERAND_A, MTE_BLOCK_BYTES);
    dst->level[0] = (struct sim_level){cfg0.nd_num, (int64_t)cfg1.dst_nd_stride * element};
    dst->level[1] = (struct sim_level){(uint32_t)(round_up(row_bytes) / MTE_BLOCK_BYTES),
                                       (int64_t)cfg1.dst_c0_stride * MTE_BLOCK_BYTES};
    dst->level[2] = (struct sim_level){cfg0.n_value, (int64_t)cfg1.dst_n_stride * MTE_BLOCK_BYTES};
    sim_span_close(dst);
    if (!foot->empty && cfg0.nd_num > 1 && dst->level[0].step % MTE_BLOCK_BYTES != 0) {
        return sim_core_fault(core, LEO_FAULT_MISALIGNED_LOCAL, LEO_MEM_SPACE_L1,
                              op->a + (uint64_t)dst->level[0].step, dst->extent);
    }
    return true;
}

/* Fractals; decrement counts down in the source. */
bool sim_foot_load2d(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_load2d cfg = leo_cfg_load2d_unpack(op->d);
    const unsigned bits = leo_dtype_bits(cfg.dtype);
    const bool from_l1 = op->row->operand[SIM_OPERAND_B] == LEO_INSN_OPERAND_L1;
    if (op->d & LEO_CFG_LOAD2D_RESERVED || bits == 0 ||
        (cfg.transpose && (bits != 16 || !from_l1))) {
        return mte_bad_config(core, op->d);
    }
    foot->empty = cfg.repeat == 0;
    int64_t step = (int64_t)cfg.src_stride * MTE_FRACTAL_BYTES;
    struct sim_span *src = add(core, op, foot, SIM_OPERAND_B, MTE_FRACTAL_BYTES);
    src->addr += (uint64_t)cfg.base * MTE_FRACTAL_BYTES;
    src->level[0] = (struct sim_level){cfg.repeat, cfg.decrement ? -step : step};
    struct sim_span *dst = add(core, op, foot, SIM_OPERAND_A, MTE_FRACTAL_BYTES);
    dst->level[0] = (struct sim_level){cfg.repeat, (int64_t)(cfg.dst_gap + 1u) * MTE_FRACTAL_BYTES};
    sim_span_close(src);
    sim_span_close(dst);
    return true;
}

/* HW-DMA-24: fractals of s8, and 128 bytes of index for each. */
bool sim_foot_load_sparse(struct sim_core *core, const struct sim_op *op,
                          struct sim_footprint *foot)
{
    const struct leo_cfg_load2d cfg = leo_cfg_load2d_unpack(op->d);
    if (cfg.dtype != LEO_DTYPE_S8 || cfg.transpose || cfg.decrement) {
        return mte_bad_config(core, op->d);
    }
    if (!sim_foot_load2d(core, op, foot)) {
        return false;
    }
    struct sim_span *index = add(core, op, foot, SIM_OPERAND_C, MTE_INDEX_BYTES);
    index->touch = SIM_TOUCH_READ;
    index->addr = op->c + (uint64_t)cfg.base * MTE_INDEX_BYTES;
    index->level[0] = (struct sim_level){cfg.repeat, (int64_t)cfg.src_stride * MTE_INDEX_BYTES};
    sim_span_close(index);
    return true;
}

/* Squares of fractals: 1 of 16 bits, 2 of 8 or 32, 4 of 4. The source counts in squares, the
 * destination in fractals, from the first one of a square to that of the next. */
bool sim_foot_load_transpose(struct sim_core *core, const struct sim_op *op,
                             struct sim_footprint *foot)
{
    const struct leo_cfg_load2d cfg = leo_cfg_load2d_unpack(op->c);
    const struct leo_cfg_frac gaps = leo_cfg_frac_unpack(op->d);
    const unsigned bits = leo_dtype_bits(cfg.dtype);
    const uint32_t fractals = bits == 4 ? 4 : bits == 16 ? 1 : 2;
    if (op->c & LEO_CFG_LOAD2D_RESERVED || cfg.transpose || bits == 0 || bits > 32) {
        return mte_bad_config(core, op->c);
    }
    if (op->d & LEO_CFG_FRAC_RESERVED) {
        return mte_bad_config(core, op->d);
    }
    foot->empty = cfg.repeat == 0;
    const int64_t square = (int64_t)fractals * MTE_FRACTAL_BYTES;
    struct sim_span *src = add(core, op, foot, SIM_OPERAND_B, MTE_FRACTAL_BYTES);
    src->addr += (uint64_t)cfg.base * (uint64_t)square;
    src->level[0] = (struct sim_level){cfg.repeat, cfg.decrement ? -cfg.src_stride * square
                                                                 : cfg.src_stride * square};
    src->level[1] =
        (struct sim_level){fractals, (int64_t)(gaps.src_frac_gap + 1u) * MTE_FRACTAL_BYTES};
    struct sim_span *dst = add(core, op, foot, SIM_OPERAND_A, MTE_FRACTAL_BYTES);
    dst->level[0] = (struct sim_level){cfg.repeat, (int64_t)(cfg.dst_gap + 1u) * MTE_FRACTAL_BYTES};
    dst->level[1] =
        (struct sim_level){fractals, (int64_t)(gaps.dst_frac_gap + 1u) * MTE_FRACTAL_BYTES};
    sim_span_close(src);
    sim_span_close(dst);
    return true;
}

/* Blocks of 32 bytes in L1, of 512 in L0A and L0B. */
bool sim_foot_create(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_create cfg = leo_cfg_create_unpack(op->d);
    const unsigned element = leo_dtype_bytes(cfg.dtype);
    if (op->d & LEO_CFG_CREATE_RESERVED || element == 0) {
        return mte_bad_config(core, op->d);
    }
    const bool l1 = op->row->operand[SIM_OPERAND_A] == LEO_INSN_OPERAND_L1;
    const uint64_t unit = l1 ? MTE_BLOCK_BYTES : MTE_FRACTAL_BYTES;
    foot->empty = cfg.repeat == 0 || cfg.blocks == 0;
    struct sim_span *dst = add(core, op, foot, SIM_OPERAND_A, cfg.blocks * unit);
    dst->level[0] =
        (struct sim_level){cfg.repeat, (int64_t)((cfg.blocks + (uint64_t)cfg.dst_gap) * unit)};
    sim_span_close(dst);
    return true;
}
