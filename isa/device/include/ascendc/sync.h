/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: order between the units of a core, and between cores.
 */
#pragma once

namespace AscendC
{

/** Every pair of pipes, as SetFlag and WaitFlag name it: from, to. */
enum class HardEvent : uint8_t {
    MTE2_MTE1,
    MTE1_MTE2,
    MTE1_M,
    M_MTE1,
    MTE2_V,
    V_MTE2,
    MTE3_V,
    V_MTE3,
    M_V,
    V_M,
    V_V,
    MTE3_MTE1,
    MTE1_MTE3,
    MTE1_V,
    MTE2_M,
    M_MTE2,
    V_MTE1,
    M_FIX,
    FIX_M,
    MTE3_MTE2,
    MTE2_MTE3,
    S_V,
    V_S,
    S_MTE2,
    MTE2_S,
    S_MTE3,
    MTE3_S,
    MTE2_FIX,
    FIX_MTE2,
    FIX_S,
    M_S,
    FIX_MTE3,
    MTE1_FIX,
    FIX_MTE1,
    FIX_FIX,
    MAX,
};

struct leo_pipes {
    pipe_t from, to;
};

/* By HardEvent. */
constexpr leo_pipes leo_event_pipes[] = {
    {PIPE_MTE2, PIPE_MTE1}, {PIPE_MTE1, PIPE_MTE2}, {PIPE_MTE1, PIPE_M},  {PIPE_M, PIPE_MTE1},
    {PIPE_MTE2, PIPE_V},    {PIPE_V, PIPE_MTE2},    {PIPE_MTE3, PIPE_V},  {PIPE_V, PIPE_MTE3},
    {PIPE_M, PIPE_V},       {PIPE_V, PIPE_M},       {PIPE_V, PIPE_V},     {PIPE_MTE3, PIPE_MTE1},
    {PIPE_MTE1, PIPE_MTE3}, {PIPE_MTE1, PIPE_V},    {PIPE_MTE2, PIPE_M},  {PIPE_M, PIPE_MTE2},
    {PIPE_V, PIPE_MTE1},    {PIPE_M, PIPE_FIX},     {PIPE_FIX, PIPE_M},   {PIPE_MTE3, PIPE_MTE2},
    {PIPE_MTE2, PIPE_MTE3}, {PIPE_S, PIPE_V},       {PIPE_V, PIPE_S},     {PIPE_S, PIPE_MTE2},
    {PIPE_MTE2, PIPE_S},    {PIPE_S, PIPE_MTE3},    {PIPE_MTE3, PIPE_S},  {PIPE_MTE2, PIPE_FIX},
    {PIPE_FIX, PIPE_MTE2},  {PIPE_FIX, PIPE_S},     {PIPE_M, PIPE_S},     {PIPE_FIX, PIPE_MTE3},
    {PIPE_MTE1, PIPE_FIX},  {PIPE_FIX, PIPE_MTE1},  {PIPE_FIX, PIPE_FIX},
};

constexpr int LEO_EVENTS = LEO_HAS_2201 ? 8 : 4;

/** A pair of one pipe is a barrier, which SetFlag sets and WaitFlag has nothing to add to. */
template <HardEvent event> LEO_AC_INLINE void SetFlag(int32_t id)
{
    constexpr leo_pipes pipes = leo_event_pipes[(int)event];
    if constexpr (pipes.from == pipes.to) {
        pipe_barrier(pipes.from);
    } else {
        set_flag(pipes.from, pipes.to, id);
    }
}

template <HardEvent event> LEO_AC_INLINE void WaitFlag(int32_t id)
{
    constexpr leo_pipes pipes = leo_event_pipes[(int)event];
    if constexpr (pipes.from != pipes.to) {
        wait_flag(pipes.from, pipes.to, id);
    }
}

template <pipe_t pipe> LEO_AC_INLINE void PipeBarrier()
{
    pipe_barrier(pipe);
}

enum class MemDsbT : uint8_t { ALL, DDR, UB, SEQ };

/** What the scalar unit was given before is in memory. */
template <MemDsbT what> LEO_AC_INLINE void DataSyncBarrier()
{
    constexpr mem_dsb_t kinds[] = {DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ};
    dsb(kinds[(int)what]);
}

/*
 * What the compiler of the vendor adds on vector cores: a barrier between vector instructions, and
 * flags between the scalar unit's access to a buffer and the units that share it, where one depends
 * on the other. Here each vector call begins with a barrier, and bytes say which units were given
 * work since the scalar unit last waited for them, and which it has stored for since. They are of
 * this block: programs have their writable data for themselves. A kernel of one file without
 * GetValue and SetValue needs none of them.
 */
/* 1: the unit has been given work. */
LEO_AC_STATE uint8_t leo_used_v, leo_used_mte2, leo_used_mte3;
/* 1: something was stored that the unit may see. */
LEO_AC_STATE uint8_t leo_stored_v, leo_stored_mte2, leo_stored_mte3;

constexpr int LEO_SYNC_EVENT = LEO_EVENTS - 1;

template <HardEvent event> LEO_AC_INLINE void leo_sync_pair()
{
    SetFlag<event>(LEO_SYNC_EVENT);
    WaitFlag<event>(LEO_SYNC_EVENT);
}

/* Not inlined: seldom, and some words long. */
template <HardEvent event> static __attribute__((noinline, cold, unused)) void leo_sync_stored()
{
    leo_sync_pair<event>();
}

/** Before an instruction of a unit. */
template <HardEvent event> LEO_AC_INLINE void leo_sync_issue(uint8_t &stored, uint8_t &used)
{
#ifndef LEO_NO_AUTO_SYNC
    if (__builtin_expect(stored, 0)) {
        stored = 0;
        leo_sync_stored<event>();
    }
    used = 1;
#endif
}

LEO_AC_INLINE void leo_before_vector()
{
#ifndef LEO_NO_AUTO_SYNC
    leo_sync_issue<HardEvent::S_V>(leo_stored_v, leo_used_v);
    pipe_barrier(PIPE_V);
#endif
}

LEO_AC_INLINE void leo_before_load()
{
    leo_sync_issue<HardEvent::S_MTE2>(leo_stored_mte2, leo_used_mte2);
}

LEO_AC_INLINE void leo_before_store()
{
    leo_sync_issue<HardEvent::S_MTE3>(leo_stored_mte3, leo_used_mte3);
}

/* Not inlined: as above. */
static __attribute__((noinline, unused)) void leo_sync_wait(bool stores)
{
    if (leo_used_v) {
        leo_sync_pair<HardEvent::V_S>();
        leo_used_v = 0;
    }
    if (leo_used_mte2) {
        leo_sync_pair<HardEvent::MTE2_S>();
        leo_used_mte2 = 0;
    }
    if (stores && leo_used_mte3) {
        leo_sync_pair<HardEvent::MTE3_S>();
        leo_used_mte3 = 0;
    }
}

/** Before the scalar unit reads a buffer. */
LEO_AC_INLINE void leo_before_get()
{
#ifndef LEO_NO_AUTO_SYNC
    if (leo_used_v | leo_used_mte2) {
        leo_sync_wait(false);
    }
#endif
}

/** Before it writes one. */
LEO_AC_INLINE void leo_before_set()
{
#ifndef LEO_NO_AUTO_SYNC
    if (leo_used_v | leo_used_mte2 | leo_used_mte3) {
        leo_sync_wait(true);
    }
    leo_stored_v = leo_stored_mte2 = leo_stored_mte3 = 1;
#endif
}

LEO_AC_INLINE int64_t GetBlockNum()
{
    return get_block_num();
}

/** Of vector cores in kernels with a cube part, all of them are counted: 0 to 2 * blocks - 1. */
LEO_AC_INLINE int64_t GetBlockIdx()
{
#if LEO_HAS_2201
    if (leo_is_vector() && leo_group_vectors()) {
        return get_block_idx() * leo_group_vectors() + get_subblockid();
    }
#endif
    return get_block_idx();
}

LEO_AC_INLINE int64_t GetSubBlockIdx()
{
    return get_subblockid();
}

LEO_AC_INLINE int64_t GetSubBlockNum()
{
    return get_subblockdim();
}

LEO_AC_INLINE int64_t GetTaskRatio()
{
    return leo_is_vector() && leo_group_vectors() ? leo_group_vectors() : 1;
}

/** The older spelling. */
LEO_AC_INLINE int64_t GetTaskRation()
{
    return GetTaskRatio();
}

LEO_AC_INLINE int64_t GetSystemCycle()
{
    return get_sys_cnt();
}

#if LEO_HAS_2201
/** All vector cores of the launch; with isAIVOnly false its cube cores too. */
template <bool isAIVOnly = true> LEO_AC_INLINE void SyncAll()
{
    if constexpr (isAIVOnly) {
        leo_sync_vectors();
    } else {
        leo_sync_all();
    }
}

template <uint8_t mode, pipe_t pipe> LEO_AC_INLINE void CrossCoreSetFlag(uint16_t id)
{
    ffts_cross_core_sync(pipe, 1 | mode << 4 | id << 8);
}

template <uint8_t mode = 0, pipe_t pipe = PIPE_S> LEO_AC_INLINE void CrossCoreWaitFlag(uint16_t id)
{
    wait_flag_dev(id);
}
#endif

} // namespace AscendC
