/* SPDX-License-Identifier: Apache-2.0 */
/* Life of the checker of one core, and what is wrong with flags themselves. */
#include "check.h"

#include <leo/alloc.h>

void sim_check_init(struct sim_check *check, unsigned which, uint32_t arch, unsigned core,
                    unsigned cores)
{
    memset(check, 0, sizeof(*check));
    check->which = which;
    check->arch = arch;
    check->core = (uint16_t)core;
    check->cross.cores = cores;
}

void sim_check_finish(struct sim_check *check)
{
    for (unsigned i = 0; i < SIM_ACTORS; i++) {
        leo_free(check->past[i].pc);
    }
    for (unsigned i = 0; i < LEO_MEM_SPACE_COUNT; i++) {
        sim_shadow_finish(&check->local[i]);
    }
    leo_free(check->note);
    sim_check_cross_finish(&check->cross);
    memset(check, 0, sizeof(*check));
}

void sim_check_begin(struct sim_check *check, uint32_t block, uint64_t gm_base)
{
    check->block = block;
    check->ended = false;
    check->gm_base = gm_base;
    check->notes = 0;
    check->findings = (struct sim_findings){0};
    sim_order_begin(&check->order);
    sim_check_cross_finish(&check->cross);
    memset(check->flag_pc, 0, sizeof(check->flag_pc));
    for (unsigned i = 0; i < LEO_MEM_SPACE_COUNT; i++) {
        sim_shadow_clear(&check->local[i]);
    }
}

static void find_flag(struct sim_check *check, enum leo_fault code, enum leo_pipe src,
                      enum leo_pipe dst, uint64_t event, uint64_t pc)
{
    const struct sim_finding finding = {
        .code = code,
        .unit = (uint8_t)src,
        .other_unit = (uint8_t)dst,
        .space = LEO_MEM_SPACE_PRIVATE,
        .event = event > UINT8_MAX ? UINT8_MAX : (uint8_t)event,
        .core = check->core,
        .pc = (uint32_t)pc,
        .block = check->block,
        .addr = event,
    };
    sim_findings_add(&check->findings, &finding);
}

void sim_check_flag_set(struct sim_check *check, enum leo_pipe src, enum leo_pipe dst,
                        unsigned event, uint64_t pc)
{
    check->syncs++;
    sim_order_set(&check->order, src, dst, event);
    check->flag_pc[src][dst][event] = (uint32_t)pc + 1;
}

void sim_check_flag_wait(struct sim_check *check, enum leo_pipe src, enum leo_pipe dst,
                         unsigned event)
{
    check->syncs++;
    sim_order_wait(&check->order, src, dst, event);
    check->flag_pc[src][dst][event] = 0;
}

void sim_check_barrier(struct sim_check *check, enum leo_pipe pipe)
{
    check->syncs++;
    sim_order_barrier(&check->order, pipe);
}

void sim_check_dsb(struct sim_check *check)
{
    check->syncs++;
    check->order.known[LEO_PIPE_S].done[LEO_PIPE_S] = check->order.issued[LEO_PIPE_S];
}

void sim_check_end(struct sim_check *check)
{
    check->ended = true;
    for (unsigned src = 0; src < SIM_ACTORS && check->which & SIM_CHECK_HAZARD; src++) {
        for (unsigned dst = 0; dst < SIM_ACTORS; dst++) {
            for (unsigned id = 0; id < 8; id++) {
                if (check->flag_pc[src][dst][id]) {
                    find_flag(check, LEO_FAULT_FLAG_LEFT, (enum leo_pipe)src, (enum leo_pipe)dst,
                              id, check->flag_pc[src][dst][id] - 1);
                }
            }
        }
    }
}
