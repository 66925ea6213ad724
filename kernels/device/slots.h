/* SPDX-License-Identifier: Apache-2.0 */
/* Two slots of UB by turns: a tile is loaded into one while the other's is computed and stored. */
#pragma once

#include "inline.h"

/** Events 0 and 1, of either slot. V -> MTE2: inputs free; MTE3 -> V: outputs free. */
OP_INLINE void op_begin_slots(void)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        set_flag(PIPE_V, PIPE_MTE2, slot);
        set_flag(PIPE_MTE3, PIPE_V, slot);
    }
}

/** All that was begun is over. */
OP_INLINE void op_end_slots(void)
{
    for (uint32_t slot = 0; slot < 2; slot++) {
        wait_flag(PIPE_V, PIPE_MTE2, slot);
        wait_flag(PIPE_MTE3, PIPE_V, slot);
    }
}
