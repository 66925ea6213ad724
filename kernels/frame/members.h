/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../device/members_args.h"
#include "family.h"

/** Cuts the members, whose counts are set, into pieces of `size` elements and shares these out. The
 * one after the last member then says how many there are. */
struct op_share op_members_cut(struct op_members *members, uint32_t count, uint32_t size,
                               uint32_t cores);
