/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: blocks that meet through global memory, on all chips.
 */
#pragma once

namespace AscendC
{

constexpr uint32_t LEO_MEET_WORDS = 8; /**< of a block's 32 bytes in the workspace */

/* Everything this core was given before is done; then the block's 32 bytes hold `round`. Stored by
 * MTE3: the scalar unit's cache would write the words of a neighbour with them. */
LEO_AC_INLINE void leo_meet_set(uint32_t *words, const LocalTensor<int32_t> &ub, uint32_t round)
{
    pipe_barrier(PIPE_ALL);
    for (uint32_t i = 0; i < LEO_MEET_WORDS; i++) {
        *(volatile int32_t *)ub.GetPhyAddr(i) = (int32_t)round;
    }
    SetFlag<HardEvent::S_MTE3>(LEO_SYNC_EVENT);
    WaitFlag<HardEvent::S_MTE3>(LEO_SYNC_EVENT);
    copy_ubuf_to_gm(words, ub.GetPhyAddr(), 0, 1, 1, 0, 0);
    SetFlag<HardEvent::MTE3_S>(LEO_SYNC_EVENT);
    WaitFlag<HardEvent::MTE3_S>(LEO_SYNC_EVENT);
}

/**
 * The first `usedCores` blocks (0: all; vector cores each, in kernels with a cube part): what any
 * did before, all see after. `gm`: 32 bytes a block, 0 at first, for this only; calls count up
 * there. `ub`: 32 bytes that this overwrites. All blocks must run at one time.
 */
template <bool isAIVOnly = true>
LEO_AC_INLINE void SyncAll(const GlobalTensor<int32_t> &gm, const LocalTensor<int32_t> &ub,
                           const int32_t usedCores = 0)
{
    static_assert(isAIVOnly, "SyncAll through global memory: vector cores only");
    uint32_t *const words = (uint32_t *)gm.GetPhyAddr();
    const uint32_t own = (uint32_t)GetBlockIdx() * LEO_MEET_WORDS;
    const uint32_t blocks =
        usedCores ? (uint32_t)usedCores : (uint32_t)(GetBlockNum() * GetTaskRatio());
    const uint32_t round = leo_poll_get(words + own) + 1;
    leo_meet_set(words + own, ub, round);
    for (uint32_t i = 0; i < blocks; i++) {
        leo_poll_wait(words + i * LEO_MEET_WORDS, round);
    }
}

/* Of (event, block) in the workspace of IBSet and IBWait. */
LEO_AC_INLINE uint32_t *leo_meet_place(const GlobalTensor<int32_t> &gm, int32_t block,
                                       int32_t event)
{
    const uint32_t blocks = (uint32_t)(GetBlockNum() * GetTaskRatio());
    return (uint32_t *)gm.GetPhyAddr() +
           ((uint32_t)event * blocks + (uint32_t)block) * LEO_MEET_WORDS;
}

LEO_AC_INLINE void leo_meet_until(uint32_t *place, uint32_t value)
{
    while (leo_poll_get(place) != value) {
    }
}

/**
 * Block `block` (the caller) tells the one that waits for its `event`: what it did before, that one
 * sees. An event set before must have been waited for. `gm`: 32 bytes a block and event, 0 at
 * first; `ub`: 32 bytes that this overwrites.
 */
template <bool isAIVOnly = true>
LEO_AC_INLINE void IBSet(const GlobalTensor<int32_t> &gm, const LocalTensor<int32_t> &ub,
                         int32_t block, int32_t event)
{
    static_assert(isAIVOnly, "IBSet: vector cores only");
    uint32_t *const place = leo_meet_place(gm, block, event);
    leo_meet_until(place, 0);
    leo_meet_set(place, ub, 1);
}

/** Until block `block` has set `event`; one block waits for each. */
template <bool isAIVOnly = true>
LEO_AC_INLINE void IBWait(const GlobalTensor<int32_t> &gm, const LocalTensor<int32_t> &ub,
                          int32_t block, int32_t event)
{
    static_assert(isAIVOnly, "IBWait: vector cores only");
    uint32_t *const place = leo_meet_place(gm, block, event);
    leo_meet_until(place, 1);
    leo_meet_set(place, ub, 0);
}

} // namespace AscendC
