/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a row's attribute. */
#pragma once

#include <stdbool.h>
#include <string.h>

enum { OP_WORD_BYTES = 64 };

/** Takes the next word of `*text` into word[OP_WORD_BYTES]; false at the end. */
static inline bool op_next_word(const char **text, char *word)
{
    *text += strspn(*text, " ");
    const size_t length = strcspn(*text, " ");
    if (length == 0 || length >= OP_WORD_BYTES) {
        return false;
    }
    memcpy(word, *text, length);
    word[length] = '\0';
    *text += length;
    return true;
}
