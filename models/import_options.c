/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the import as texts: atc's command line and the graph interface have the same. */
#include <ctype.h>
#include <leo/model_import.h>
#include <leo/soc.h>
#include <stdlib.h>
#include <string.h>

// Sizes up to `stop`; NULL: they are not a list of numbers from 0 on, or -1.
static const char *read_sizes(const char *at, const char *stop, struct leo_import_shape *shape)
{
    while (at < stop) {
        char *next;
        const long long size = strtoll(at, &next, 10);
        if (next == at || size < -1 || shape->rank == LEO_OP_RANK_MAX ||
            (next < stop && *next != ',')) {
            return NULL;
        }
        shape->dim[shape->rank++] = size;
        at = next < stop ? next + 1 : stop;
    }
    return stop;
}

// A name may hold colons: the last one ends it. A scalar has none.
static bool read_shape(const char *at, const char *stop, struct leo_import_shapes *shapes,
                       size_t *used)
{
    const char *colon = stop;
    while (colon > at && *colon != ':') {
        colon--;
    }
    if (colon == at && *colon != ':') {
        colon = stop;
    }
    const size_t length = (size_t)(colon - at);
    if (length == 0 || shapes->count == LEO_IMPORT_SHAPES ||
        *used + length + 1 > sizeof(shapes->names)) {
        return false;
    }
    struct leo_import_shape *shape = &shapes->list[shapes->count];
    memcpy(shapes->names + *used, at, length);
    shape->input = shapes->names + *used;
    *used += length + 1;
    shapes->count++;
    return colon == stop || read_sizes(colon + 1, stop, shape) != NULL;
}

bool leo_import_read_shapes(const char *text, struct leo_import_shapes *shapes)
{
    size_t used = 0;
    memset(shapes, 0, sizeof(*shapes));
    for (const char *at = text; *at;) {
        const char *end = strchr(at, ';'), *stop = end ? end : at + strlen(at);
        if (!read_shape(at, stop, shapes, &used)) {
            return false;
        }
        at = end ? end + 1 : stop;
    }
    return true;
}

bool leo_import_keeps_f32(const char *mode)
{
    return mode && (strcmp(mode, "force_fp32") == 0 || strcmp(mode, "cube_fp16in_fp32out") == 0 ||
                    strcmp(mode, "must_keep_origin_dtype") == 0);
}

// The chips that are built in, and names of the first one's kinds.
bool leo_import_knows_chip(const char *told)
{
    char name[32] = "";
    if (strcmp(told, "Ascend910") == 0 || strcmp(told, "Ascend910ProA") == 0) {
        return true;
    }
    for (size_t i = 0; told[i] && i + 1 < sizeof(name); i++) {
        name[i] = (char)tolower((unsigned char)told[i]);
    }
    return strncmp(told, "Ascend", 6) == 0 && leo_isa_soc_text(name);
}
