/* SPDX-License-Identifier: Apache-2.0 */
#include "../rt.h"

#include <leo/alloc.h>
#include <string.h>

static uint32_t hash_text(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    }
    return hash;
}

// Doubles the table; false if there is no memory.
static bool grow(struct rt_tags *tags)
{
    uint32_t size = tags->table_size ? tags->table_size * 2 : 256;
    char **text = leo_realloc(tags->text, size / 2 * sizeof(*text));
    if (!text) {
        return false;
    }
    tags->text = text;
    uint32_t *table = leo_calloc(size, sizeof(*table));
    if (!table) {
        return false;
    }
    for (uint32_t i = 0; i < tags->count; i++) {
        uint32_t at = hash_text(text[i]) & (size - 1);
        while (table[at]) {
            at = (at + 1) & (size - 1);
        }
        table[at] = i + 1;
    }
    leo_free(tags->table);
    tags->table = table;
    tags->table_size = size;
    return true;
}

uint32_t rt_tag(struct leo_rt_device *device, const char *text)
{
    struct rt_tags *tags = &device->tags;
    if (tags->count >= tags->table_size / 2 && !grow(tags)) {
        return 0; // a task without a name is better than a failed launch
    }
    uint32_t at = hash_text(text) & (tags->table_size - 1);
    for (; tags->table[at]; at = (at + 1) & (tags->table_size - 1)) {
        if (strcmp(tags->text[tags->table[at] - 1], text) == 0) {
            return tags->table[at];
        }
    }
    char *copy = leo_alloc(strlen(text) + 1);
    if (!copy) {
        return 0;
    }
    strcpy(copy, text);
    tags->text[tags->count++] = copy;
    tags->table[at] = tags->count;
    leo_drv_name_tag(device->drv, tags->count, copy);
    return tags->count;
}

const char *rt_tag_text(const struct rt_tags *tags, uint32_t number)
{
    return number > 0 && number <= tags->count ? tags->text[number - 1] : NULL;
}

void rt_tags_finish(struct rt_tags *tags)
{
    for (uint32_t i = 0; i < tags->count; i++) {
        leo_free(tags->text[i]);
    }
    leo_free(tags->text);
    leo_free(tags->table);
    *tags = (struct rt_tags){0};
}
