/* SPDX-License-Identifier: Apache-2.0 */
/* Plans made so far, found again by their keys. From any thread. */
#pragma once

#include "key.h"

struct op_cache;
struct op_plan;

/** NULL without host memory. */
struct op_cache *op_cache_create(void);
/** Gives back the plans it holds. NULL is allowed. */
void op_cache_destroy(struct op_cache *cache);
/** The plan of this key with one more reference, or NULL. */
struct op_plan *op_cache_find(struct op_cache *cache, const struct op_key *key);
/** Keeps the plan in place of the least recently used one. Without memory for the key it is just
 * not kept. */
void op_cache_keep(struct op_cache *cache, const struct op_key *key, struct op_plan *plan);
