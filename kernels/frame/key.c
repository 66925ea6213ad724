/* SPDX-License-Identifier: Apache-2.0 */
#include "key.h"

#include "layout.h"

#include <leo/alloc.h>
#include <string.h>

static bool add_words(struct op_key *key, const void *words, size_t count)
{
    if (key->count + count > key->capacity) {
        const uint32_t capacity = (uint32_t)(key->count + count) * 2;
        uint64_t *grown = leo_alloc(capacity * sizeof(*grown));
        if (!grown) {
            return false;
        }
        memcpy(grown, key->words, key->count * sizeof(*grown));
        if (key->words != key->first) {
            leo_free(key->words);
        }
        key->words = grown;
        key->capacity = capacity;
    }
    if (count > 0) {
        memcpy(key->words + key->count, words, count * sizeof(uint64_t));
    }
    key->count += (uint32_t)count;
    return true;
}

static bool add_word(struct op_key *key, uint64_t word)
{
    return add_words(key, &word, 1);
}

static bool add_bytes(struct op_key *key, const void *bytes, size_t count)
{
    bool good = add_word(key, count);
    for (size_t at = 0; good && at < count; at += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + at, count - at < 8 ? count - at : 8);
        good = add_word(key, word);
    }
    return good;
}

/* The tensors seen so far and the bytes they touch, to tell shared memory. */
struct seen {
    uint64_t begin[OP_KEY_SEEN_MAX], end[OP_KEY_SEEN_MAX];
    unsigned count;
};

// The first tensor before it whose memory it shares, and how far apart they begin.
static bool add_shared(struct op_key *key, struct seen *seen, const struct op_tensor *tensor)
{
    const uint64_t begin = tensor->addr, end = begin + op_tensor_extent(tensor);
    uint64_t first = 0, distance = 0;
    for (unsigned i = 0; i < seen->count; i++) {
        if (begin < seen->end[i] && seen->begin[i] < end) {
            first = (uint64_t)i << 48 | 1;
            distance = begin - seen->begin[i];
            break;
        }
    }
    if (seen->count < OP_KEY_SEEN_MAX) {
        seen->begin[seen->count] = begin;
        seen->end[seen->count++] = end;
    }
    return add_word(key, first) && add_word(key, distance);
}

static bool add_tensor(struct op_key *key, struct seen *seen, const struct op_tensor *tensor)
{
    static const struct op_tensor none = {.rank = 1}; // touches nothing
    if (!tensor) {
        return add_word(key, UINT64_MAX) && add_shared(key, seen, &none);
    }
    const uint64_t head = (uint64_t)tensor->type | tensor->rank << 8 |
                          (uint64_t)(tensor->format & 0xffff) << 16 |
                          (uint64_t)(tensor->addr == 0) << 32 | (uint64_t)tensor->unread << 33 |
                          (tensor->addr & 31) << 40 | (uint64_t)(tensor->c0 & 0xff) << 48;
    return add_word(key, head) && add_words(key, tensor->dim, tensor->rank) &&
           add_words(key, tensor->stride, tensor->rank) && add_shared(key, seen, tensor);
}

static bool add_scalar(struct op_key *key, const struct op_scalar *scalar)
{
    if (!scalar) {
        return add_word(key, UINT64_MAX);
    }
    return add_word(key, scalar->type) && add_words(key, &scalar->real, 1) &&
           add_words(key, &scalar->imag, 1) && add_words(key, &scalar->integer, 1);
}

static bool add_value(struct op_key *key, struct seen *seen, const struct op_value *value)
{
    bool good = true;
    if (value->kind < OP_KIND_DTYPE && !value->pointer) {
        return add_word(key, UINT64_MAX);
    }
    switch (value->kind) {
    case OP_KIND_TENSOR:
        return add_tensor(key, seen, value->tensor);
    case OP_KIND_TENSOR_LIST:
        good = add_word(key, value->tensors->count);
        for (uint64_t i = 0; good && i < value->tensors->count; i++) {
            good = add_tensor(key, seen, value->tensors->items[i]);
        }
        return good;
    case OP_KIND_SCALAR:
        return add_scalar(key, value->scalar);
    case OP_KIND_SCALAR_LIST:
        good = add_word(key, value->scalars->count);
        for (uint64_t i = 0; good && i < value->scalars->count; i++) {
            good = add_scalar(key, value->scalars->items[i]);
        }
        return good;
    case OP_KIND_INTS:
        return add_bytes(key, value->ints->items, value->ints->count * sizeof(int64_t));
    case OP_KIND_FLOATS:
        return add_bytes(key, value->floats->items, value->floats->count * sizeof(float));
    case OP_KIND_BOOLS:
        return add_bytes(key, value->bools->items, value->bools->count * sizeof(bool));
    case OP_KIND_TEXT:
        return add_bytes(key, value->text, strlen(value->text));
    case OP_KIND_DTYPE:
        return add_word(key, value->type);
    case OP_KIND_INT:
    case OP_KIND_REAL:
        return add_words(key, &value->integer, 1);
    }
    return good;
}

bool op_key_make(struct op_key *key, const struct op_row *row, const struct op_value *args)
{
    struct seen seen;
    seen.count = 0;
    key->words = key->first;
    key->count = 0;
    key->capacity = sizeof(key->first) / sizeof(key->first[0]);
    bool good = add_word(key, (uintptr_t)row);
    for (unsigned i = 0; good && i < row->param_count; i++) {
        good = add_value(key, &seen, &args[i]);
    }
    return good;
}

void op_key_finish(struct op_key *key)
{
    if (key->words != key->first) {
        leo_free(key->words);
    }
}

uint64_t op_key_hash(const struct op_key *key)
{
    uint64_t hash = key->count;
    for (uint32_t i = 0; i < key->count; i++) {
        hash = (hash ^ key->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}
