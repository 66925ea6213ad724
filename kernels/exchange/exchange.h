/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges between cards as steps of plans. */
#pragma once

#include "../frame/chain.h"

#include <leo/exchange.h>

/** A group as this device sees it. */
struct op_group {
    const char *name;
    uint32_t rank, ranks;
};

/** The group that parameter `name` of the call says. */
LEO_MUST_CHECK leo_status op_group_of(const struct op_call *call, const char *name,
                                      struct op_group *group);
/** An exchange of `count` elements of this rank's part from `send` to `recv`, dense tensors of f16,
 * bf16 or i8 (i8 is carried alone); they may be the same. */
void op_chain_exchange(struct op_chain *chain, const struct op_group *group,
                       enum leo_rt_exchange_kind kind, const struct op_tensor *send,
                       const struct op_tensor *recv, int64_t count);
