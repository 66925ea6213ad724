/* SPDX-License-Identifier: Apache-2.0 */
/* What sorting and merging touch. */
#include "sort.h"

#define FIELDS 8u /* of a region proposal */

bool sim_foot_sort(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_rep cfg = leo_cfg_rep_unpack(op->d);
    if (!sim_vec_foot_check(core, op, cfg.dtype, 0)) {
        return false;
    }
    if (op->d & LEO_CFG_REP_RESERVED) {
        return sim_vec_bad_config(core);
    }
    const struct vec_record record = vec_record_of(core, cfg.dtype);
    const bool pairs = core->config->arch != 1001;
    const uint64_t records = (uint64_t)cfg.repeat * record.group;
    sim_vec_foot_unmasked(foot, cfg.repeat, record.group);
    sim_vec_foot_bytes(foot, SIM_OPERAND_B, SIM_TOUCH_READ, op->b,
                       records * (!pairs        ? record.bytes
                                  : record.wide ? 4u
                                                : 2u),
                       SIM_VEC_BLOCK_BYTES);
    if (pairs) {
        sim_vec_foot_bytes(foot, SIM_OPERAND_C, SIM_TOUCH_READ, op->c, records * sizeof(uint32_t),
                           SIM_VEC_BLOCK_BYTES);
    }
    sim_vec_foot_bytes(foot, SIM_OPERAND_A, SIM_TOUCH_WRITE, op->a, records * record.bytes,
                       SIM_VEC_BLOCK_BYTES);
    return true;
}

bool sim_foot_merge(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    struct vec_merge merge;
    uint32_t repeats;
    if (!vec_merge_unpack(core, op, &merge, &repeats)) {
        return sim_vec_bad_config(core);
    }
    uint64_t records = 0;
    for (unsigned i = 0; i < VEC_LISTS; i++) {
        records += merge.length[i];
    }
    sim_vec_foot_unmasked(foot, repeats, (uint32_t)records);
    foot->empty |= records == 0;
    if (foot->empty) {
        return true;
    }
    const uint32_t bytes = merge.record.bytes;
    for (unsigned i = 0; i < VEC_LISTS; i++) {
        if (merge.length[i] == 0) {
            continue;
        }
        struct sim_span *list =
            sim_vec_foot_bytes(foot, SIM_OPERAND_EXTRA, SIM_TOUCH_READ, vec_merge_list(op, i),
                               (uint64_t)merge.length[i] * bytes, SIM_VEC_BLOCK_BYTES);
        list->level[0] = (struct sim_level){repeats, (int64_t)(records * bytes)};
        sim_span_close(list);
        if (merge.exhaust) {
            merge.list[i] = sim_vec_foot_peek(core, list->addr, list->bytes);
            if (!merge.list[i]) {
                return false;
            }
        }
    }
    const uint64_t written = merge.exhaust ? vec_merge_run(&merge, NULL) : records * repeats;
    sim_vec_foot_bytes(foot, SIM_OPERAND_A, SIM_TOUCH_WRITE, op->a, written * bytes,
                       SIM_VEC_BLOCK_BYTES);
    return true;
}

bool sim_foot_prop(struct sim_core *core, const struct sim_op *op, struct sim_footprint *foot)
{
    const struct leo_cfg_prop cfg = leo_cfg_prop_unpack(op->d);
    if (!sim_vec_foot_check(core, op, cfg.dtype, 0)) {
        return false;
    }
    if (op->d & LEO_CFG_PROP_RESERVED || cfg.field >= FIELDS) {
        return sim_vec_bad_config(core);
    }
    const struct vec_record record = vec_record_of(core, cfg.dtype);
    const uint32_t records = cfg.repeat * record.group;
    const bool inserts = op->insn == LEO_INSN_VCONCAT;
    sim_vec_foot_unmasked(foot, cfg.repeat, record.group);
    const enum sim_operand proposals = inserts ? SIM_OPERAND_A : SIM_OPERAND_B;
    const enum sim_operand values = inserts ? SIM_OPERAND_B : SIM_OPERAND_A;
    const uint64_t addr = (inserts ? op->a : op->b) + cfg.field * 2u;
    if (!foot->empty && (addr - cfg.field * 2u) % SIM_VEC_BLOCK_BYTES != 0) {
        return sim_core_fault(core, LEO_FAULT_MISALIGNED_LOCAL, LEO_MEM_SPACE_UB,
                              addr - cfg.field * 2u, SIM_VEC_BLOCK_BYTES);
    }
    struct sim_span *fields =
        sim_vec_foot_bytes(foot, proposals, inserts ? SIM_TOUCH_WRITE : SIM_TOUCH_READ, addr, 2, 2);
    fields->level[0] = (struct sim_level){records, record.bytes};
    sim_span_close(fields);
    sim_vec_foot_bytes(foot, values, inserts ? SIM_TOUCH_READ : SIM_TOUCH_WRITE,
                       inserts ? op->b : op->a, (uint64_t)records * 2, SIM_VEC_BLOCK_BYTES);
    return true;
}
