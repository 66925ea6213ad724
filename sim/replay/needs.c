/* SPDX-License-Identifier: Apache-2.0 */
#include "needs.h"

#include "../time/log.h"
#include <string.h>

enum { ALWAYS_OUT = 1 << 30 }; /* what no launch depends on that is alone on the chip */

/* A number that is left out unless all of these groups are asked for. What has no row counts for
 * everything. */
static const struct row {
    size_t offset, bytes;
    uint32_t groups;
} rows[] = {
#define ROW(member, groups)                                                                        \
    {offsetof(struct sim_config, member), sizeof(((struct sim_config *)0)->member), groups}
    // Between tasks, or not of the chip.
    ROW(name, ALWAYS_OUT),
    ROW(hbm_bytes, ALWAYS_OUT),
    ROW(queues, ALWAYS_OUT),
    ROW(queue_depth, ALWAYS_OUT),
    ROW(dispatch_ns, ALWAYS_OUT),
    ROW(complete_ns, ALWAYS_OUT),
    ROW(stream_gap_ns, ALWAYS_OUT),
    ROW(host_latency_ns, ALWAYS_OUT),
    ROW(host_gb_per_s, ALWAYS_OUT),
    ROW(device_latency_ns, ALWAYS_OUT),
    ROW(device_gb_per_s, ALWAYS_OUT),
    ROW(link_board_cards, ALWAYS_OUT),
    ROW(link_board_mesh, ALWAYS_OUT),
    ROW(link_collective_gb_per_s, ALWAYS_OUT),
    ROW(link_board_gb_per_s, ALWAYS_OUT),
    ROW(link_board_latency_ns, ALWAYS_OUT),
    ROW(link_net_gb_per_s, ALWAYS_OUT),
    ROW(link_net_latency_ns, ALWAYS_OUT),
    ROW(link_start_ns, ALWAYS_OUT),
    ROW(dvpp_start_ns, ALWAYS_OUT),
    ROW(dvpp_vpc_mpixel_per_s, ALWAYS_OUT),
    ROW(dvpp_jpegd_mpixel_per_s, ALWAYS_OUT),
    ROW(dvpp_jpege_mpixel_per_s, ALWAYS_OUT),
    ROW(dvpp_vdec_mpixel_per_s, ALWAYS_OUT),
    // The L2 is asked, or known to be as it was.
    ROW(l2_bytes, ALWAYS_OUT),
    ROW(l2_written_part, ALWAYS_OUT),
    // Of some launches.
    ROW(barrier, SIM_NEED_BARRIER),
    ROW(icache_line_bytes, SIM_NEED_TIME | SIM_NEED_FETCH),
    ROW(dcache_line_bytes, SIM_NEED_TIME | SIM_NEED_FETCH),
    ROW(cross_core_ns, SIM_NEED_TIME | SIM_NEED_CROSS),
    ROW(mmad_head, SIM_NEED_CUBE),
    ROW(mmad_gap, SIM_NEED_CUBE),
    ROW(cube_m, SIM_NEED_CUBE),
    ROW(cube_n, SIM_NEED_CUBE),
    ROW(cube_k, SIM_NEED_CUBE),
    ROW(ub_repeats, SIM_NEED_VECTOR),
    ROW(ub_bank_wait, SIM_NEED_VECTOR),
    ROW(nd2nz_row, SIM_NEED_LAYOUT),
    ROW(gm_read_miss_ns, SIM_NEED_TIME | SIM_NEED_HBM),
    ROW(hbm_read_gb_per_s, SIM_NEED_TIME | SIM_NEED_HBM),
    ROW(hbm_write_gb_per_s, SIM_NEED_TIME | SIM_NEED_HBM),
    ROW(hbm_refresh_ns, SIM_NEED_TIME | SIM_NEED_HBM),
    ROW(hbm_refresh_every_ns, SIM_NEED_TIME | SIM_NEED_HBM),
    ROW(hbm_turn_bytes, SIM_NEED_TIME | SIM_NEED_HBM),
    ROW(hbm_run_bytes, SIM_NEED_TIME | SIM_NEED_HBM),
    // Of when things happen.
    ROW(clock_khz, SIM_NEED_TIME),
    ROW(default_limit_us, SIM_NEED_TIME),
    ROW(block_spread_ns, SIM_NEED_TIME),
    ROW(start_cycles, SIM_NEED_TIME),
    ROW(flag_set, SIM_NEED_TIME),
    ROW(flag_wait, SIM_NEED_TIME),
    ROW(queue_depth_pipe, SIM_NEED_TIME),
    ROW(gm_read_hit_ns, SIM_NEED_TIME),
    ROW(gm_write_ns, SIM_NEED_TIME),
    ROW(gm_read_requests, SIM_NEED_TIME),
    ROW(gm_same_line_ns, SIM_NEED_TIME),
    ROW(gm_small_interval, SIM_NEED_TIME),
    ROW(l2_gb_per_s, SIM_NEED_TIME),
#undef ROW
};

static uint32_t groups_of_insn(unsigned insn)
{
    const struct leo_insn_info *info = leo_insn_info((enum leo_insn)insn);
    if (!info) {
        return 0;
    }
    return (info->pipe == LEO_PIPE_M ? SIM_NEED_CUBE : 0u) |
           (info->pipe == LEO_PIPE_V ? SIM_NEED_VECTOR : 0u) |
           (insn == LEO_INSN_COPY_GM_TO_CBUF_ND2NZ ? SIM_NEED_LAYOUT : 0u);
}

static uint32_t groups_of_kind(unsigned kind)
{
    switch (kind) {
    case SIM_TIME_BARRIER:
        return SIM_NEED_BARRIER;
    case SIM_TIME_FETCH:
        return SIM_NEED_FETCH;
    case SIM_TIME_POST:
    case SIM_TIME_PEND:
        return SIM_NEED_CROSS;
    default:
        return 0;
    }
}

void sim_needs_add_part(struct sim_needs *needs, const struct sim_tape_part *part)
{
    const uint8_t *const end = part->item + part->bytes;
    for (const uint8_t *item = part->item; item < end; item += sim_tape_item_bytes(item, end)) {
        const unsigned insn = ((const struct sim_tape_op *)item)->insn;
        if (*item == SIM_TIME_OP && insn < LEO_INSN_COUNT) {
            needs->insn[insn / 64] |= UINT64_C(1) << insn % 64;
        } else {
            needs->groups |= groups_of_kind(*item);
        }
    }
    for (unsigned insn = 0; insn < LEO_INSN_COUNT; insn++) {
        if (needs->insn[insn / 64] >> insn % 64 & 1) {
            needs->groups |= groups_of_insn(insn);
        }
    }
}

void sim_needs_add(struct sim_needs *needs, const struct sim_needs *more)
{
    for (unsigned word = 0; word < SIM_NEED_WORDS; word++) {
        needs->insn[word] |= more->insn[word];
    }
    needs->groups |= more->groups;
}

size_t sim_needs_take_groups(uint32_t groups, const struct sim_config *config,
                             uint8_t bytes[SIM_NEEDS_BYTES])
{
    const size_t all = offsetof(struct sim_config, insn);
    memcpy(bytes, config, all);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if ((rows[i].groups & groups) != rows[i].groups) {
            memset(bytes + rows[i].offset, 0, rows[i].bytes);
        }
    }
    return all;
}

size_t sim_needs_take_insns(const struct sim_needs *needs, const struct sim_config *config,
                            uint8_t bytes[SIM_NEEDS_BYTES])
{
    size_t at = 0;
    for (unsigned insn = 0; insn < LEO_INSN_COUNT; insn++) {
        if (needs->insn[insn / 64] >> insn % 64 & 1) {
            memcpy(bytes + at, &config->insn[insn], sizeof(config->insn[insn]));
            at += sizeof(config->insn[insn]);
        }
    }
    return at;
}
