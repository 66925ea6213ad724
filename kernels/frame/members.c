/* SPDX-License-Identifier: Apache-2.0 */
#include "members.h"

#include "whole.h"

struct op_share op_members_cut(struct op_members *members, uint32_t count, uint32_t size,
                               uint32_t cores)
{
    uint32_t pieces = 0, at = 0;
    for (uint32_t i = 0; i < count; i++) {
        members->member[i].first = pieces;
        pieces += (uint32_t)op_parts(members->member[i].count, size);
    }
    members->member[count].first = pieces;
    const struct op_share share =
        op_share_make(pieces, 1, 1, cores < OP_MEMBER_BLOCKS ? cores : OP_MEMBER_BLOCKS);
    for (uint32_t block = 0; block < share.blocks; block++) {
        while (members->member[at + 1].first <= block * share.per_block) {
            at++;
        }
        members->start[block] = (uint16_t)at;
    }
    return share;
}
