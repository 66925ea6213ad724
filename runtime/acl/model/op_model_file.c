/* SPDX-License-Identifier: Apache-2.0 */
#include <leo/op_model.h>
#include <string.h>

static const char magic[8] = {'L', 'E', 'O', 'O', 'P', '0', '0', '1'};

// Finds damage, not attacks.
static uint64_t sum_of(const char *text, size_t length)
{
    uint64_t sum = 14695981039346656037u; // FNV-1a
    for (size_t i = 0; i < length; i++) {
        sum = (sum ^ (uint8_t)text[i]) * 1099511628211u;
    }
    return sum;
}

void leo_op_model_head(const char *text, size_t length, uint8_t head[LEO_OP_MODEL_HEAD])
{
    const uint64_t numbers[] = {length, sum_of(text, length)};
    memcpy(head, magic, sizeof(magic));
    memcpy(head + sizeof(magic), numbers, sizeof(numbers));
}

const char *leo_op_model_text(const void *data, size_t bytes, const char **text, size_t *length)
{
    uint64_t numbers[2];
    if (bytes >= 4 && memcmp(data, "IMOD", 4) == 0) {
        return "a file of the vendor's atc, whose code is a real chip's: compile with this "
               "toolkit's";
    }
    if (bytes < LEO_OP_MODEL_HEAD || memcmp(data, magic, sizeof(magic)) != 0) {
        return "no operator that atc --singleop of this toolkit wrote";
    }
    memcpy(numbers, (const char *)data + sizeof(magic), sizeof(numbers));
    *text = (const char *)data + LEO_OP_MODEL_HEAD;
    *length = bytes - LEO_OP_MODEL_HEAD;
    return numbers[0] == *length && numbers[1] == sum_of(*text, *length)
               ? NULL
               : "the file is damaged: its length or checksum is wrong";
}
