/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks as processes of a test. */
#pragma once

#include <collective/collective.h>

/** What a rank does; its result is the process's exit code (0 = good, up to 100). */
typedef int (*rank_fn)(struct coll_wire *wire, void *arg);

enum { RANK_KILLED = 137, RANK_NO_WIRE = 101, RANKS_MAX = 8 };

/** Starts `ranks` processes that meet and call `fn`; exit codes by rank. `wait_ms`: for all to
 * come.
 */
void ranks_run(uint32_t ranks, rank_fn fn, void *arg, int *codes);
/** The same with rank `absent` never coming and `wait_ms` to wait for it. */
void ranks_run_without(uint32_t ranks, uint32_t absent, unsigned wait_ms, rank_fn fn, void *arg,
                       int *codes);
