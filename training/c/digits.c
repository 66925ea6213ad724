/* SPDX-License-Identifier: Apache-2.0 */
#include "digits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PIXEL = 16, LINE_BYTES = 1024, COUNT_MAX = 1 << 20 };

/* Where the reader is, for messages. */
struct place {
    const char *path;
    unsigned line;
    char *error;
    size_t error_bytes;
};

static leo_status fail_at(const struct place *place, int column, const char *found,
                          const char *expected)
{
    // The file may be anything: only printable characters reach the terminal.
    char shown[21];
    snprintf(shown, sizeof(shown), "%.*s", (int)sizeof(shown) - 1, found);
    for (char *c = shown; *c; c++) {
        *c = (char)(*c >= ' ' && *c <= '~' ? *c : '.');
    }
    snprintf(place->error, place->error_bytes, "%s:%u: column %d: found '%s', expected %s",
             place->path, place->line, column, shown, expected);
    return LEO_ERR_PARSE;
}

/* One number of 0..most, and the comma or line end behind it. */
static leo_status parse_number(const struct place *place, int column, char **at, long most,
                               char behind, long *value)
{
    char expected[64], *end;
    snprintf(expected, sizeof(expected), "a number of 0..%ld and %s", most,
             behind == ',' ? "a comma" : "the line's end");
    errno = 0;
    *value = strtol(*at, &end, 10);
    if (end == *at || errno || *value < 0 || *value > most || *end != behind) {
        (*at)[strcspn(*at, ",")] = '\0';
        return fail_at(place, column, *at, expected);
    }
    *at = end + (behind != '\0');
    return LEO_OK;
}

static leo_status parse_line(const struct place *place, char *line, float *pixels, int32_t *label)
{
    long value = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (int i = 0; i < DIGITS_PIXELS; i++) {
        leo_status status = parse_number(place, i + 1, &line, MAX_PIXEL, ',', &value);
        if (status != LEO_OK) {
            return status;
        }
        pixels[i] = (float)value / MAX_PIXEL;
    }
    leo_status status =
        parse_number(place, DIGITS_PIXELS + 1, &line, DIGITS_CLASSES - 1, '\0', &value);
    *label = (int32_t)value;
    return status;
}

static leo_status grow(struct digits *digits, uint32_t *room)
{
    if (digits->count < *room) {
        return LEO_OK;
    }
    const uint32_t more = *room ? *room * 2 : 1024;
    float *pixels = more > COUNT_MAX
                        ? NULL
                        : realloc(digits->pixels, (size_t)more * DIGITS_PIXELS * sizeof(float));
    digits->pixels = pixels ? pixels : digits->pixels;
    int32_t *labels = pixels ? realloc(digits->labels, more * sizeof(int32_t)) : NULL;
    digits->labels = labels ? labels : digits->labels;
    *room = labels ? more : *room;
    return labels ? LEO_OK : LEO_ERR_NO_MEMORY;
}

static leo_status read_lines(FILE *file, struct place *place, struct digits *digits)
{
    char line[LINE_BYTES];
    uint32_t room = 0;
    while (fgets(line, sizeof(line), file)) {
        place->line++;
        leo_status status = grow(digits, &room);
        if (status != LEO_OK) {
            snprintf(place->error, place->error_bytes, "%s: out of memory after %u images",
                     place->path, digits->count);
            return status;
        }
        status = parse_line(place, line, digits->pixels + (size_t)digits->count * DIGITS_PIXELS,
                            &digits->labels[digits->count]);
        if (status != LEO_OK) {
            return status;
        }
        digits->count++;
    }
    if (ferror(file) || digits->count == 0) {
        snprintf(place->error, place->error_bytes, "%s: %s", place->path,
                 ferror(file) ? strerror(errno) : "the file is empty, expected one image a line");
        return ferror(file) ? LEO_ERR_IO : LEO_ERR_PARSE;
    }
    return LEO_OK;
}

leo_status digits_read(const char *path, struct digits *digits, char *error, size_t error_bytes)
{
    struct place place = {path, 0, error, error_bytes};
    *digits = (struct digits){0};
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(error, error_bytes, "cannot open %s: %s", path, strerror(errno));
        return LEO_ERR_NOT_FOUND;
    }
    leo_status status = read_lines(file, &place, digits);
    fclose(file);
    if (status != LEO_OK) {
        digits_finish(digits);
    }
    return status;
}

void digits_finish(struct digits *digits)
{
    free(digits->pixels);
    free(digits->labels);
    *digits = (struct digits){0};
}
