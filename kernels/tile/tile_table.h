/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of the same list of tile instructions become one, with a table of their tensors. */
#pragma once

#include "../frame/family.h"

/** Joins launches from step `from` on, whose tensors do not depend on each other. */
LEO_MUST_CHECK leo_status op_tile_table_join(struct op_plan *plan, uint32_t from);
