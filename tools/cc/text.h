/* SPDX-License-Identifier: Apache-2.0 */
/* Growing text and argument lists. Running out of memory is remembered and asked for once, at the
 * end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cc_text {
    char *data; /**< NUL-terminated, or NULL while empty. */
    size_t bytes, capacity;
    bool failed;
};

void cc_text_add(struct cc_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cc_text_finish(struct cc_text *text);

struct cc_args {
    char **items; /**< NULL-terminated once something was pushed. */
    size_t count, capacity;
    bool failed;
};

void cc_args_push(struct cc_args *args, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cc_args_finish(struct cc_args *args);
