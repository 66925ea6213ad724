/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <leo/soc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_check(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "fuzz: %s\n", what);
        abort();
    }
}

static const char *const small_values[] = {
    "queues = 8\n",     "queue_depth = 16\n", "hbm_bytes = 16777216\n", "default_limit_us = 20\n",
    "cube_cores = 2\n",
};

/* The text of `line` if its key is one of those that are made small. */
static const char *small_value(const char *line)
{
    for (size_t i = 0; i < sizeof(small_values) / sizeof(small_values[0]); i++) {
        size_t key = strcspn(small_values[i], " ");
        if (strncmp(line, small_values[i], key + 1) == 0) {
            return small_values[i];
        }
    }
    return strncmp(line, "vector_cores = 0", 16) && strncmp(line, "vector_cores", 12) == 0
               ? "vector_cores = 4\n"
               : NULL;
}

void fuzz_soc_text(const char *soc, char text[FUZZ_SOC_BYTES])
{
    const char *line = leo_isa_soc_text(soc);
    size_t used = 0;
    while (line && line[0]) {
        size_t bytes = strcspn(line, "\n");
        const char *small = small_value(line);
        used += (size_t)snprintf(text + used, FUZZ_SOC_BYTES - used, "%.*s",
                                 small ? (int)strlen(small) : (int)bytes + 1, small ? small : line);
        fuzz_check(used < FUZZ_SOC_BYTES, "SoC text too long");
        line += bytes + (line[bytes] == '\n');
    }
}

void fuzz_take(struct fuzz_reader *reader, void *out, size_t bytes)
{
    size_t there = bytes < reader->left ? bytes : reader->left;
    memset(out, 0, bytes);
    if (there) {
        memcpy(out, reader->data, there);
        reader->data += there;
        reader->left -= there;
    }
}

uint8_t fuzz_take8(struct fuzz_reader *reader)
{
    uint8_t value;
    fuzz_take(reader, &value, sizeof(value));
    return value;
}

uint16_t fuzz_take16(struct fuzz_reader *reader)
{
    uint16_t value;
    fuzz_take(reader, &value, sizeof(value));
    return value;
}

uint32_t fuzz_take32(struct fuzz_reader *reader)
{
    uint32_t value;
    fuzz_take(reader, &value, sizeof(value));
    return value;
}

uint64_t fuzz_take64(struct fuzz_reader *reader)
{
    uint64_t value;
    fuzz_take(reader, &value, sizeof(value));
    return value;
}
