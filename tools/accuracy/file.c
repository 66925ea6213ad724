/* SPDX-License-Identifier: Apache-2.0 */
#include "accuracy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 8
static const char header[] = "id,soc,workload,params,metric,value,unit,source";

static char *read_all(const char *path, char *error, size_t error_bytes)
{
    FILE *in = fopen(path, "rb");
    char *text = NULL;
    size_t used = 0, room = 0;
    if (!in) {
        snprintf(error, error_bytes, "cannot open '%s': %s", path, strerror(errno));
        return NULL;
    }
    for (;;) {
        if (used + 1 >= room) {
            room = room ? room * 2 : 16384;
            char *more = realloc(text, room);
            if (!more) {
                free(text);
                fclose(in);
                snprintf(error, error_bytes, "out of memory reading '%s'", path);
                return NULL;
            }
            text = more;
        }
        size_t got = fread(text + used, 1, room - used - 1, in);
        if (got == 0) {
            break;
        }
        used += got;
    }
    fclose(in);
    text[used] = '\0';
    return text;
}

// Cuts a line into its columns; the last one may hold commas.
static unsigned split(char *line, char *column[COLUMNS])
{
    unsigned count = 0;
    while (count < COLUMNS) {
        column[count++] = line;
        char *comma = strchr(line, ',');
        if (!comma || count == COLUMNS) {
            break;
        }
        *comma = '\0';
        line = comma + 1;
    }
    return count;
}

static leo_status read_row(char *line, struct accuracy_row *row, const char *path, int number,
                           char *error, size_t error_bytes)
{
    char *column[COLUMNS];
    char *end;
    unsigned count = split(line, column);
    if (count != COLUMNS) {
        snprintf(error, error_bytes, "%s:%d: %u columns, expected %d (%s)", path, number, count,
                 COLUMNS, header);
        return LEO_ERR_PARSE;
    }
    double published = strtod(column[5], &end);
    if (end == column[5] || *end) {
        snprintf(error, error_bytes, "%s:%d: column 6: '%s' is not a number", path, number,
                 column[5]);
        return LEO_ERR_PARSE;
    }
    *row = (struct accuracy_row){.id = column[0],
                                 .soc = column[1],
                                 .workload = column[2],
                                 .params = column[3],
                                 .metric = column[4],
                                 .published = published,
                                 .unit = column[6],
                                 .source = column[7]};
    return LEO_OK;
}

leo_status accuracy_file_read(const char *path, struct accuracy_file *file, char *error,
                              size_t error_bytes)
{
    memset(file, 0, sizeof(*file));
    file->text = read_all(path, error, error_bytes);
    if (!file->text) {
        return LEO_ERR_IO;
    }
    size_t lines = 1;
    for (const char *c = file->text; *c; c++) {
        lines += *c == '\n';
    }
    file->row = calloc(lines, sizeof(*file->row));
    leo_status status = file->row ? LEO_OK : LEO_ERR_NO_MEMORY;
    char *rest = file->text;
    char *line;
    for (int number = 1; status == LEO_OK && (line = strsep(&rest, "\n")) != NULL; number++) {
        line[strcspn(line, "\r")] = '\0';
        if (number == 1 && strcmp(line, header) != 0) {
            snprintf(error, error_bytes, "%s:1: the first line must be '%s'", path, header);
            status = LEO_ERR_PARSE;
        } else if (number > 1 && *line) {
            status = read_row(line, &file->row[file->count], path, number, error, error_bytes);
            file->count += status == LEO_OK;
        }
    }
    if (status != LEO_OK) {
        accuracy_file_finish(file);
    }
    return status;
}

void accuracy_file_finish(struct accuracy_file *file)
{
    free(file->row);
    free(file->text);
    memset(file, 0, sizeof(*file));
}
