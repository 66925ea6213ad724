/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include "core.h"

#define SECTION(what, member) SIM_SECTION(struct sim_csrs, what, member)
static const struct sim_section csrs[] = {
    SECTION(BLOCK, fmatrix),       SECTION(BLOCK, fmatrix_b),   SECTION(BLOCK, padding),
    SECTION(BLOCK, l1_3d_size),    SECTION(BLOCK, l3d_rpt),     SECTION(BLOCK, nd_para),
    SECTION(BLOCK, quant_pre),     SECTION(BLOCK, fpc),         SECTION(BLOCK, lrelu_alpha),
    SECTION(BLOCK, deqscale),      SECTION(BLOCK, mov_pad_val), SECTION(BLOCK, ffts_base_addr),
    SECTION(BLOCK, st_atomic_cfg), SECTION(BLOCK, overflow),    SECTION(BLOCK, data_exp),
    SECTION(BLOCK, aipp_spr),      SECTION(BLOCK, acc_val),     SECTION(BLOCK, max_min_cnt),
    SECTION(BLOCK, rsvd_cnt),      SECTION(BLOCK, vms4_sr),
};
#undef SECTION

static const struct sim_sections csr_sections = SIM_SECTIONS(struct sim_csrs, csrs);

#define SECTION(what, member) SIM_SECTION(struct sim_core, what, member)
static const struct sim_section list[] = {
    SIM_SECTION_INNER(struct sim_core, scalar, &sim_scalar_sections),
    SECTION(WIRED, config),
    SECTION(WIRED, simd),
    SECTION(WIRED, insns),
    SECTION(WIRED, id),
    SECTION(WIRED, kind),
    SECTION(GIVEN, block_idx),
    SECTION(GIVEN, block_num),
    SECTION(WIRED, sub_block_idx),
    SECTION(GIVEN, sub_block_num),
    SECTION(GIVEN, group_vectors),
    SECTION(BLOCK, vmask),
    SECTION(BLOCK, ctrl),
    SECTION(BLOCK, cmpmask),
    SECTION(BLOCK, selmask_addr),
    SIM_SECTION_INNER(struct sim_core, csr, &csr_sections),
    SECTION(BLOCK, va),
    SECTION(WIRED, local),
    SECTION(WIRED, sparse),
    SECTION(GIVEN, space),
    SECTION(GIVEN, foot),
    SECTION(GIVEN, deferred), // NULL unless the core is running
    SECTION(WIRED, scratch),
    // The log of a block that has ended is empty.
    SECTION(WIRED, log),
    SECTION(GIVEN, log_end),
    SECTION(BLOCK, logged),
    SECTION(BLOCK, clock),
    SECTION(GIVEN, clock_ps),
    SECTION(GIVEN, limit),
    SECTION(BLOCK, spent),
    SECTION(GIVEN, gm_base),
    SECTION(GIVEN, gm),
    SECTION(GIVEN, last_extent),
    SECTION(GIVEN, image),
    SECTION(GIVEN, image_read_only),
    SECTION(GIVEN, image_bytes),
    SECTION(WIRED, image_private),
    SECTION(WIRED, private_window),
    SECTION(GIVEN, stack_end),
    SECTION(GIVEN, private_end),
    SECTION(GIVEN, stack_clear),
    SECTION(GIVEN, entry),
    SECTION(BLOCK, wrote_text),
    SECTION(BLOCK, flag_set),
    SECTION(BLOCK, cross),
    SECTION(BLOCK, unit_flags),
    SECTION(GIVEN, caches),
    SECTION(BLOCK, park),
    SECTION(GIVEN, park_flag),
    SECTION(GIVEN, park_pc),
    SECTION(BLOCK, poll),
    SECTION(GIVEN, stores),
    SECTION(CLOCK, stored),
    SECTION(WIRED, check),
    SECTION(WIRED, track),
    SECTION(WIRED, unknown),
    SECTION(BLOCK, holds_unknown),
    SECTION(BLOCK, looked),
    SECTION(WIRED, debug),
    SECTION(WIRED, runs_ahead),
    SECTION(BLOCK, run_ahead_stop),
    SECTION(WIRED, pool),
    SECTION(GIVEN, first_turn),
    SECTION(GIVEN, turn),
};
#undef SECTION

const struct sim_sections sim_core_sections = SIM_SECTIONS(struct sim_core, list);

static bool walk_memory(const struct sim_core *core, const char *name, uint8_t *data,
                        uint64_t bytes, sim_stretch_fn fn, void *user)
{
    const struct sim_stretch stretch = {
        .owner = "memory",
        .name = name,
        .index = core->id,
        .data = data,
        .bytes = bytes,
        .unit = 1,
        .kind = SIM_SECTION_STATE,
        .reserved = true,
    };
    return bytes == 0 || fn(user, &stretch);
}

bool sim_core_walk(struct sim_core *core, sim_stretch_fn fn, void *user)
{
    if (!sim_sections_walk(&sim_core_sections, core->id, core, fn, user)) {
        return false;
    }
    for (int space = 0; space < LEO_MEM_SPACE_COUNT; space++) {
        const struct sim_local *local = &core->local[space];
        if (!walk_memory(core, leo_mem_space_name((enum leo_mem_space)space), local->data,
                         local->bytes, fn, user)) {
            return false;
        }
    }
    return walk_memory(core, "sparse", core->sparse, sim_core_sparse_bytes(core->config), fn, user);
}
