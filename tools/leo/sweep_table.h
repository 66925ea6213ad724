/* SPDX-License-Identifier: Apache-2.0 */
/* The table of leo sweep: variants of a chip by the numbers of its file that differ. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SWEEP_KEYS_MAX = 32 };

struct sweep_row {
    const char *name;
    const char *value[SWEEP_KEYS_MAX]; /**< by key; empty = as it is */
};

struct sweep_table {
    char *text; /**< what the others point into */
    const char *section[SWEEP_KEYS_MAX], *key[SWEEP_KEYS_MAX];
    size_t keys, rows;
    struct sweep_row *row;
};

/** Reads a CSV file for a command. Says on stderr what was wrong, and where. */
bool sweep_table_read(struct sweep_table *table, const char *command, const char *path);
void sweep_table_finish(struct sweep_table *table);
/** The base with the numbers of a row; free() it. NULL: out of memory. */
char *sweep_table_apply(const struct sweep_table *table, size_t row, const char *base);
