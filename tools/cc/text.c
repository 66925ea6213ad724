/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <leo/alloc.h>
#include <stdarg.h>
#include <stdio.h>

static void add_list(struct cc_text *text, const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    int need = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (need < 0 || text->failed) {
        text->failed = true;
        return;
    }
    size_t bytes = text->bytes + (size_t)need + 1;
    if (bytes > text->capacity) {
        char *data = leo_realloc(text->data, bytes * 2);
        if (!data) {
            text->failed = true;
            return;
        }
        text->data = data;
        text->capacity = bytes * 2;
    }
    vsnprintf(text->data + text->bytes, text->capacity - text->bytes, format, list);
    text->bytes += (size_t)need;
}

void cc_text_add(struct cc_text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add_list(text, format, list);
    va_end(list);
}

void cc_text_finish(struct cc_text *text)
{
    leo_free(text->data);
    *text = (struct cc_text){0};
}

void cc_args_push(struct cc_args *args, const char *format, ...)
{
    if (args->count + 2 > args->capacity) {
        size_t capacity = args->capacity ? args->capacity * 2 : 32;
        char **items = leo_realloc(args->items, capacity * sizeof(*items));
        if (!items) {
            args->failed = true;
            return;
        }
        args->items = items;
        args->capacity = capacity;
    }
    struct cc_text text = {0};
    va_list list;
    va_start(list, format);
    add_list(&text, format, list);
    va_end(list);
    if (text.failed) {
        args->failed = true;
        return;
    }
    args->items[args->count++] = text.data;
    args->items[args->count] = NULL;
}

void cc_args_finish(struct cc_args *args)
{
    for (size_t i = 0; i < args->count; i++) {
        leo_free(args->items[i]);
    }
    leo_free(args->items);
    *args = (struct cc_args){0};
}
