/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE // open_memstream
#include <leo/soc.h>

#include <errno.h>
#include <leo/alloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20, MAX_BASES = 8, NAME_BYTES = 512 };

struct reader {
    char *error;
    size_t error_bytes;
    char chain[MAX_BASES + 1][NAME_BYTES]; /**< the files so far: none may come again */
    unsigned depth;
};

__attribute__((format(printf, 3, 4))) static leo_status
fail(struct reader *reader, leo_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reader->error, reader->error_bytes, format, args);
    va_end(args);
    return status;
}

/* ---- lines ---- */

/** Begin and length of a part of a text. */
struct piece {
    const char *at;
    size_t length;
};

static struct piece trim(const char *at, const char *end)
{
    while (at < end && strchr(" \t\r", *at)) {
        at++;
    }
    while (end > at && strchr(" \t\r", end[-1])) {
        end--;
    }
    return (struct piece){at, (size_t)(end - at)};
}

static bool is_text(struct piece piece, const char *text)
{
    return piece.length == strlen(text) && memcmp(piece.at, text, piece.length) == 0;
}

static bool same(struct piece left, struct piece right)
{
    return left.length == right.length && memcmp(left.at, right.at, left.length) == 0;
}

/** A line of a SoC file. */
struct line {
    struct piece whole, section, key, value; /**< key of length 0: sets nothing */
};

/* Goes to the next line, whose section is that of the line before unless it begins one. */
static bool next_line(const char **at, struct line *line)
{
    if (!**at) {
        return false;
    }
    const char *end = *at + strcspn(*at, "\n");
    line->whole = (struct piece){*at, (size_t)(end - *at)};
    *at = end + (*end == '\n');
    const struct piece text = trim(line->whole.at, end);
    const char *equals = memchr(text.at, '=', text.length);
    const char *comment = memchr(text.at, ';', text.length);
    line->key = line->value = (struct piece){text.at, 0};
    if (text.length && text.at[0] == '[') {
        const char *close = memchr(text.at, ']', text.length);
        if (close) {
            line->section = (struct piece){text.at + 1, (size_t)(close - text.at - 1)};
        }
    } else if (equals && text.at[0] != '#' && (!comment || equals < comment)) {
        line->key = trim(text.at, equals);
        line->value = trim(equals + 1, comment ? comment : text.at + text.length);
    }
    return true;
}

/* The sections of instructions are one. */
static bool same_section(struct piece left, struct piece right)
{
    const bool insn = left.length >= 4 && right.length >= 4 && memcmp(left.at, "insn", 4) == 0 &&
                      memcmp(right.at, "insn", 4) == 0;
    return insn || same(left, right);
}

static bool sets(const char *text, const struct line *wanted)
{
    struct line line = {0};
    while (next_line(&text, &line)) {
        if (line.key.length && same(line.key, wanted->key) &&
            same_section(line.section, wanted->section)) {
            return true;
        }
    }
    return false;
}

static bool is_base(const struct line *line)
{
    return is_text(line->section, "soc") && is_text(line->key, "base");
}

/* ---- files ---- */

static leo_status read_whole(struct reader *reader, const char *path, char **text)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        const int error = errno;
        char names[NAME_BYTES] = "";
        for (size_t i = 0, used = 0; leo_isa_soc_name(i) && used < sizeof(names); i++) {
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
                                     leo_isa_soc_name(i));
        }
        return fail(reader, LEO_ERR_NOT_FOUND,
                    "no built-in chip has this name (there are %s) and as a file it cannot be "
                    "read: %s",
                    names, strerror(error));
    }
    leo_status status = LEO_OK;
    char *read = leo_alloc(FILE_MAX);
    if (!read) {
        status = fail(reader, LEO_ERR_NO_MEMORY, "out of host memory reading %s", path);
    } else {
        size_t bytes = fread(read, 1, FILE_MAX - 1, file);
        read[bytes] = '\0';
        if (ferror(file) || bytes == FILE_MAX - 1 || strlen(read) != bytes) {
            status = fail(reader, LEO_ERR_PARSE,
                          "%s is not a SoC file: it must be text of less than 1 MiB", path);
        }
    }
    fclose(file);
    if (status != LEO_OK) {
        leo_free(read);
        return status;
    }
    *text = read;
    return LEO_OK;
}

/* Files are named from the folder of the file that names them. */
static void name_base(char *out, const char *from, struct piece base)
{
    const char *slash = strrchr(from, '/');
    char name[NAME_BYTES / 2];
    snprintf(name, sizeof(name), "%.*s", (int)base.length, base.at);
    const bool as_is = name[0] == '/' || !slash || leo_isa_soc_text(name);
    const size_t folder = as_is ? 0 : (size_t)(slash + 1 - from);
    snprintf(out, NAME_BYTES, "%.*s%s", (int)(folder < sizeof(name) ? folder : 0), from, name);
}

/* The file's own lines first, so that their numbers stay; then those of the base that it leaves as
 * they are. The parser goes by the comment between them (sim/config.c). */
static char *join(const char *own, const char *base_name, const char *base)
{
    struct line line = {0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
        return NULL;
    }
    for (const char *at = own; next_line(&at, &line);) {
        fprintf(out, "%s%.*s\n", is_base(&line) ? "; " : "", (int)line.whole.length, line.whole.at);
    }
    fprintf(out, LEO_SOC_BASE_COMMENT "%s\n", base_name);
    line = (struct line){0};
    for (const char *at = base; next_line(&at, &line);) {
        const bool out_of_use = line.key.length && sets(own, &line);
        fprintf(out, "%s%.*s\n", out_of_use ? "; " : "", (int)line.whole.length, line.whole.at);
    }
    const bool bad = ferror(out);
    if (fclose(out) || bad) {
        free(text);
        return NULL;
    }
    char *copy = leo_alloc(bytes + 1);
    if (copy) {
        memcpy(copy, text, bytes + 1);
    }
    free(text);
    return copy;
}

static leo_status read_chain(struct reader *reader, const char *name, char **text);

/* Replaces the text of a file that has a base by one that needs none. */
static leo_status resolve(struct reader *reader, const char *name, char **text)
{
    struct line line = {0};
    unsigned number = 1;
    const char *at = *text;
    while (next_line(&at, &line) && !is_base(&line)) {
        number++;
    }
    if (!is_base(&line)) {
        return LEO_OK;
    }
    char base_name[NAME_BYTES], *base = NULL;
    name_base(base_name, name, line.value);
    for (unsigned i = 0; i < reader->depth; i++) {
        if (strcmp(reader->chain[i], base_name) == 0) {
            return fail(reader, LEO_ERR_PARSE,
                        "%s:%u: base = %s: that file has this one as its "
                        "base",
                        name, number, base_name);
        }
    }
    leo_status status = read_chain(reader, base_name, &base);
    if (status != LEO_OK) {
        char why[NAME_BYTES];
        snprintf(why, sizeof(why), "%s", reader->error);
        return strstr(why, ": base = ")
                   ? status
                   : fail(reader, status, "%s:%u: base = %s: %s", name, number, base_name, why);
    }
    char *whole = join(*text, base_name, base);
    leo_free(base);
    if (!whole) {
        return fail(reader, LEO_ERR_NO_MEMORY, "out of host memory reading %s", name);
    }
    leo_free(*text);
    *text = whole;
    return LEO_OK;
}

static leo_status read_chain(struct reader *reader, const char *name, char **text)
{
    const char *built_in = leo_isa_soc_text(name);
    if (built_in) { // has no base: the generator resolved it
        *text = leo_alloc(strlen(built_in) + 1);
        return *text ? (strcpy(*text, built_in), LEO_OK)
                     : fail(reader, LEO_ERR_NO_MEMORY, "out of host memory reading %s", name);
    }
    if (reader->depth > MAX_BASES || strlen(name) >= NAME_BYTES) {
        return fail(reader, LEO_ERR_PARSE, "more than %d bases, or a name that is too long",
                    MAX_BASES);
    }
    snprintf(reader->chain[reader->depth++], NAME_BYTES, "%s", name);
    leo_status status = read_whole(reader, name, text);
    if (status != LEO_OK) {
        return status;
    }
    status = resolve(reader, name, text);
    if (status != LEO_OK) {
        leo_free(*text);
        *text = NULL;
    }
    return status;
}

leo_status leo_isa_soc_read(const char *name, char **text, char *error, size_t error_bytes)
{
    struct reader reader = {.error = error, .error_bytes = error_bytes};
    *text = NULL;
    if (error_bytes) {
        error[0] = '\0';
    }
    return read_chain(&reader, name, text);
}
