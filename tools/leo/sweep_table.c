/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sweep_table.h"

#include "file.h"
#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of a chip file. */
struct line {
    const char *text;
    size_t length;
    char section[64];
};

/* Goes to the next line; false at the end. `at` is where it begins. */
static bool next_line(const char **at, struct line *line)
{
    if (!**at) {
        return false;
    }
    line->text = *at;
    line->length = strcspn(*at, "\n");
    *at += line->length + ((*at)[line->length] == '\n');
    const char *end = memchr(line->text, ']', line->length);
    if (line->text[0] == '[' && end) {
        snprintf(line->section, sizeof(line->section), "%.*s", (int)(end - line->text - 1),
                 line->text + 1);
    }
    return true;
}

/* The key of the table that the line sets; -1 = none. */
static int key_of(const struct sweep_table *table, const struct line *line)
{
    const char *equals = memchr(line->text, '=', line->length);
    size_t length = equals ? (size_t)(equals - line->text) : 0;
    while (length > 0 && line->text[length - 1] == ' ') {
        length--;
    }
    for (size_t i = 0; i < table->keys && length; i++) {
        if (strcmp(table->section[i], line->section) == 0 && strlen(table->key[i]) == length &&
            memcmp(table->key[i], line->text, length) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Cuts the next cell off. */
static char *next_cell(char **at)
{
    char *cell = strsep(at, ",");
    if (cell) {
        cell += strspn(cell, " \t");
        size_t length = strlen(cell);
        while (length > 0 && strchr(" \t\r", cell[length - 1])) {
            cell[--length] = '\0';
        }
    }
    return cell;
}

static bool read_head(struct sweep_table *table, const char *command, const char *path, char *line)
{
    (void)next_cell(&line); // the names' own
    for (char *cell; (cell = next_cell(&line));) {
        char *dot = strrchr(cell, '.');
        if (!dot || table->keys == SWEEP_KEYS_MAX) {
            fprintf(stderr, "leo %s: %s:1: '%s': section.key is wanted, at most %d of them\n",
                    command, path, cell, SWEEP_KEYS_MAX);
            return false;
        }
        *dot = '\0';
        table->section[table->keys] = cell;
        table->key[table->keys++] = dot + 1;
    }
    if (table->keys == 0) {
        fprintf(stderr, "leo %s: %s:1: no numbers to vary\n", command, path);
    }
    return table->keys != 0;
}

static bool read_row(struct sweep_table *table, const char *command, const char *path,
                     size_t number, char *line)
{
    struct sweep_row *rows = leo_realloc(table->row, (table->rows + 1) * sizeof(*rows));
    if (!rows) {
        return false;
    }
    table->row = rows;
    struct sweep_row *row = &rows[table->rows++];
    row->name = next_cell(&line);
    size_t count = 0;
    for (char *cell; count < table->keys && (cell = next_cell(&line));) {
        row->value[count++] = cell;
    }
    if (count != table->keys || line) {
        fprintf(stderr, "leo %s: %s:%zu: %zu numbers are wanted behind the name\n", command, path,
                number, table->keys);
        return false;
    }
    return true;
}

bool sweep_table_read(struct sweep_table *table, const char *command, const char *path)
{
    struct file_bytes file;
    memset(table, 0, sizeof(*table));
    if (!file_read(command, path, &file)) {
        return false;
    }
    table->text = leo_alloc(file.bytes + 1);
    if (table->text) {
        memcpy(table->text, file.data, file.bytes);
        table->text[file.bytes] = '\0';
    }
    file_finish(&file);
    char *rest = table->text;
    bool good = rest && read_head(table, command, path, strsep(&rest, "\n"));
    for (size_t number = 2; good && rest; number++) {
        char *line = strsep(&rest, "\n");
        good = line[strspn(line, " \t\r")] == '\0' || read_row(table, command, path, number, line);
    }
    if (good && table->rows == 0) {
        fprintf(stderr, "leo %s: %s: no rows\n", command, path);
        good = false;
    }
    return good;
}

void sweep_table_finish(struct sweep_table *table)
{
    leo_free(table->row);
    leo_free(table->text);
    memset(table, 0, sizeof(*table));
}

char *sweep_table_apply(const struct sweep_table *table, size_t row, const char *base)
{
    const char *const *value = table->row[row].value;
    bool written[SWEEP_KEYS_MAX] = {false};
    size_t bytes = 0;
    char *text = NULL;
    struct line line = {0};
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
        return NULL;
    }
    for (const char *at = base; next_line(&at, &line);) {
        int key = key_of(table, &line);
        if (key >= 0 && *value[key]) {
            fprintf(out, "%s = %s\n", table->key[key], value[key]);
            written[key] = true;
        } else {
            fprintf(out, "%.*s\n", (int)line.length, line.text);
        }
    }
    for (size_t i = 0; i < table->keys; i++) {
        if (*value[i] &&
            !written[i]) { // one that may be left out, or a wrong one: reported when used
            fprintf(out, "[%s]\n%s = %s\n", table->section[i], table->key[i], value[i]);
        }
    }
    bool bad = ferror(out);
    if (fclose(out) || bad) {
        free(text);
        return NULL;
    }
    return text;
}
