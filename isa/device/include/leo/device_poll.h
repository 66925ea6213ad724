/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <leo/device.h>: cores that meet through words of global memory, on all chips
 * (docs/cross_core.md). Memory of a flag holds 0 before the launch. */
#pragma once

/* Each word that one core writes and others poll has a cache line of its own. */
enum { LEO_POLL_LINE_BYTES = 64, LEO_POLL_LINE_WORDS = LEO_POLL_LINE_BYTES / 4 };

/* Everything this core was given before is done; then *flag = value, seen by all. */
LEO_INTRIN void leo_poll_set(__gm__ uint32_t *flag, uint32_t value)
{
    LEO_I(0x7b, 2, 0, PIPE_ALL);
    *(volatile __gm__ uint32_t *)flag = value;
    dcci(flag, SINGLE_CACHE_LINE);
    dsb(DSB_DDR);
}

/* *flag as it is now. */
LEO_INTRIN uint32_t leo_poll_get(__gm__ uint32_t *flag)
{
    dcci(flag, SINGLE_CACHE_LINE);
    return *(volatile __gm__ uint32_t *)flag;
}

/* Issues nothing until *flag is `value` or up to 2^31 - 1 more. */
LEO_INTRIN void leo_poll_wait(__gm__ uint32_t *flag, uint32_t value)
{
    while ((int32_t)(leo_poll_get(flag) - value) < 0) {
    }
}

/* Cores that run the launch, and which of them this is. */
LEO_INTRIN uint32_t leo_poll_cores(void)
{
    return (uint32_t)get_block_num() * (1 + (uint32_t)leo_group_vectors());
}

LEO_INTRIN uint32_t leo_poll_index(void)
{
    uint32_t in_group = leo_group_vectors() && !leo_is_cube() ? 1 + (uint32_t)get_subblockid() : 0;
    return (uint32_t)get_block_idx() * (1 + (uint32_t)leo_group_vectors()) + in_group;
}

/*
 * All cores of the launch: what any did before, all see after. `lines`: leo_poll_cores() + 1 cache
 * lines, all 0 at first; `round`: 1 in the first call with these lines, then 2, and so on. All
 * blocks must run at one time: no more of them than the chip has cores (groups).
 */
LEO_INTRIN void leo_poll_sync(__gm__ uint32_t *lines, uint32_t round)
{
    uint32_t cores = leo_poll_cores(), own = leo_poll_index();
    leo_poll_set(lines + own * LEO_POLL_LINE_WORDS, round);
    if (own == 0) {
        for (uint32_t i = 1; i < cores; i++) {
            leo_poll_wait(lines + i * LEO_POLL_LINE_WORDS, round);
        }
        leo_poll_set(lines + cores * LEO_POLL_LINE_WORDS, round);
    } else {
        leo_poll_wait(lines + cores * LEO_POLL_LINE_WORDS, round);
    }
}
