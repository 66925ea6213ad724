/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a plan: everything of a call that its plan depends on, in words. */
#pragma once

#include "row.h"

/** Of a list longer than this, tensors are not looked at for memory they share with the first ones.
 */
enum { OP_KEY_SEEN_MAX = 256 };

struct op_key {
    uint64_t *words;
    uint32_t count, capacity;
    uint64_t first[256]; /**< enough for all but long lists */
};

/** Fills the key; false if there is no host memory. Finish it either way. */
bool op_key_make(struct op_key *key, const struct op_row *row, const struct op_value *args);
void op_key_finish(struct op_key *key);
uint64_t op_key_hash(const struct op_key *key);
