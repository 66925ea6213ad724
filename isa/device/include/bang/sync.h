/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by <bang.h>: order between the units of a core. A call that is not asynchronous is done
 * when it returns. Asynchronous copies run beside the rest of the program until a __sync of their
 * kind; copies from and to global memory follow each other in the order of the program.
 */
#pragma once

enum : int { LEO_BANG_EVENT = 0 }; /**< each pair of pipes uses one flag, set and awaited at once */

struct leo_bang_state {
    bool loads, stores, moves;           /**< 1: a copy of this pipe may be under way */
    uint32_t cluster_round, union_round; /**< how often tasks met */
};

inline LEO_DEVICE leo_bang_state
    leo_bang; /**< of this task: programs have writable data for themselves */

/** What the scalar unit was given before is done before the pipe goes on, or the other way. */
template <pipe_t from, pipe_t to> LEO_BANG void leo_bang_order()
{
    set_flag(from, to, LEO_BANG_EVENT);
    wait_flag(from, to, LEO_BANG_EVENT);
}

template <pipe_t pipe> LEO_BANG void leo_bang_wait(bool &under_way)
{
    if (under_way) {
        leo_bang_order<pipe, PIPE_S>();
        under_way = false;
    }
}

/** The core's copies from and to global memory are done. */
LEO_BANG void __sync_io()
{
    leo_bang_wait<PIPE_MTE2>(leo_bang.loads);
    leo_bang_wait<PIPE_MTE3>(leo_bang.stores);
}

/** Its copies on the chip are done. */
LEO_BANG void __sync_move()
{
    leo_bang_wait<PIPE_MTE1>(leo_bang.moves);
    __sync_io(); // copies from NRAM to WRAM go with stores here
}

/** Arithmetic is done when its call returns. */
LEO_BANG void __sync_compute()
{
}

LEO_BANG void __sync_io_move_compute()
{
    __sync_move();
}

LEO_BANG void __sync()
{
    __sync_move();
}

/** Before and after an instruction of the vector unit. */
LEO_BANG void leo_bang_begin_vector()
{
    leo_bang_order<PIPE_S, PIPE_V>();
}

LEO_BANG void leo_bang_end_vector()
{
    leo_bang_order<PIPE_V, PIPE_S>();
}

/** Before a copy to the core, from global memory. */
LEO_BANG void leo_bang_begin_load()
{
    leo_bang_order<PIPE_S, PIPE_MTE2>();
    if (leo_bang.stores) {
        leo_bang_order<PIPE_MTE3, PIPE_MTE2>();
    }
    leo_bang.loads = true;
}

/** Before a copy from NRAM to global memory or WRAM. */
LEO_BANG void leo_bang_begin_store()
{
    leo_bang_order<PIPE_S, PIPE_MTE3>();
    if (leo_bang.loads) {
        leo_bang_order<PIPE_MTE2, PIPE_MTE3>();
    }
    leo_bang.stores = true;
}
