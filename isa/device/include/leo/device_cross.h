/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <leo/device.h>: flags between cores (docs/cross_core.md). The first generation has
 * none. */
#pragma once

#include <leo/isa_enums.h>

#if LEO_HAS_2201
/*
 * The words as programs for the card have them: ffts_cross_core_sync(pipe, 1 | mode << 4 | flag <<
 * 8) sets a flag of other cores when the pipe has done all it was given; wait_flag_dev(flag) waits
 * for it. Macros, because the pipe is part of the instruction word.
 */
#define ffts_cross_core_sync(pipe, config) LEO_I(0x7b, 4, config, (int)(pipe))
#define wait_flag_dev(flag)                                                                        \
    do {                                                                                           \
        leo_check_cross(LEO_CROSS_ALL, (int)(flag));                                               \
        LEO_I(0x7b, 5, flag, 0);                                                                   \
    } while (0)

/*
 * leo_cross_set(mode, pipe, flag), leo_cross_wait(flag): flags 0 to 15, each a counter that holds
 * 15. Modes: LEO_CROSS_ALL (0), all cores of this kind in the launch wait for all of them;
 * LEO_CROSS_VECTORS (1), the vector cores of a group for each other; LEO_CROSS_GROUP (2), the
 * vector cores for their cube core, and the cube core for all its vector cores.
 */
#define leo_cross_set(mode, pipe, flag)                                                            \
    do {                                                                                           \
        leo_check_cross((int)(mode), (int)(flag));                                                 \
        LEO_FITS((uint64_t)(mode), 2, LEO_FIELD_MODE);                                             \
        LEO_FITS((uint64_t)(flag), 4, LEO_FIELD_FLAG);                                             \
        ffts_cross_core_sync(pipe, 1 | (mode) << 4 | (flag) << 8);                                 \
    } while (0)
#define leo_cross_wait(flag) wait_flag_dev(flag)

LEO_INTRIN void leo_check_cross(int mode, int flag)
    __attribute__((diagnose_if(mode < 0 || mode > 2, "a mode is 0 to 2", "error")))
    __attribute__((diagnose_if(flag < 0 || flag > 15, "a flag of other cores is 0 to 15",
                               "error")));
LEO_INTRIN void leo_check_cross(int mode, int flag)
{
    (void)mode;
    (void)flag;
}

/* Flags that the functions below use, as the vendor's library does. */
enum { LEO_FLAG_TO_CUBE = 11, LEO_FLAG_CUBES, LEO_FLAG_TO_VECTORS, LEO_FLAG_VECTORS };

/* All cores of the launch: what any did before, all see after. All blocks must run at one time: no
 * more of them than the chip has cores (groups). */
LEO_INTRIN void leo_sync_all(void)
{
    LEO_I(0x7b, 2, 0, PIPE_ALL);
    if (leo_is_cube()) {
        if (leo_group_vectors()) {
            leo_cross_wait(LEO_FLAG_TO_CUBE);
        }
        leo_cross_set(LEO_CROSS_ALL, PIPE_FIX, LEO_FLAG_CUBES);
        leo_cross_wait(LEO_FLAG_CUBES);
        if (leo_group_vectors()) {
            leo_cross_set(LEO_CROSS_GROUP, PIPE_FIX, LEO_FLAG_TO_VECTORS);
        }
    } else if (leo_group_vectors()) {
        leo_cross_set(LEO_CROSS_GROUP, PIPE_MTE3, LEO_FLAG_TO_CUBE);
        leo_cross_wait(LEO_FLAG_TO_VECTORS);
    } else {
        leo_cross_set(LEO_CROSS_ALL, PIPE_MTE3, LEO_FLAG_VECTORS);
        leo_cross_wait(LEO_FLAG_VECTORS);
    }
}

/* All vector cores of the launch; cube cores do not call it. */
LEO_INTRIN void leo_sync_vectors(void)
{
    LEO_I(0x7b, 2, 0, PIPE_ALL);
    leo_cross_set(LEO_CROSS_ALL, PIPE_MTE3, LEO_FLAG_VECTORS);
    leo_cross_wait(LEO_FLAG_VECTORS);
}

/* The cube core and the vector cores of one block. */
LEO_INTRIN void leo_sync_group(void)
{
    LEO_I(0x7b, 2, 0, PIPE_ALL);
    if (leo_is_cube()) {
        leo_cross_wait(LEO_FLAG_TO_CUBE);
        leo_cross_set(LEO_CROSS_GROUP, PIPE_FIX, LEO_FLAG_TO_VECTORS);
    } else {
        leo_cross_set(LEO_CROSS_GROUP, PIPE_MTE3, LEO_FLAG_TO_CUBE);
        leo_cross_wait(LEO_FLAG_TO_VECTORS);
    }
}

#ifdef __cplusplus
/* The names of the C++ kernel language. */
template <uint8_t mode, pipe_t pipe> LEO_DEVICE inline void CrossCoreSetFlag(uint16_t flag)
{
    static_assert(mode <= 2, "a mode is 0 to 2");
    ffts_cross_core_sync(pipe, 1 | mode << 4 | flag << 8);
}

template <uint8_t mode = 0, pipe_t pipe = PIPE_S>
LEO_DEVICE inline void CrossCoreWaitFlag(uint16_t flag)
{
    wait_flag_dev(flag);
}

#ifndef LEO_ASCENDC /* <kernel_operator.h> has its own */
template <bool vectors_only = true> LEO_DEVICE inline void SyncAll(void)
{
    if (vectors_only) {
        leo_sync_vectors();
    } else {
        leo_sync_all();
    }
}
#endif
#endif
#endif
