/* SPDX-License-Identifier: Apache-2.0 */
/* What a linker's message means for a kernel. */
#pragma once

#include "text.h"
#include <stdbool.h>

/** A sentence for a line of the linker that names an undefined symbol, else NULL. */
const char *cc_hint_of(const char *line);
/** A line that was printed; zero at first. */
struct cc_last_line {
    char text[512];
};
/** Prints a line of the linker, and a sentence below it where there is one; a line that comes twice
 * in a row once. `user` is a struct cc_last_line. */
void cc_hint_print(void *user, const char *line);

/** The compiler's lines of one run, kept until it is known whether they are reported. */
struct cc_kept {
    struct cc_text text;
    bool wants_parts; /**< the source asks which kind of core it is compiled for */
};
/** `user` is a struct cc_kept, zero at first. */
void cc_kept_take(void *user, const char *line);
/** Prints the lines, with hints as cc_hint_print. */
void cc_kept_print(const struct cc_kept *kept);

/** The lines of one message of the compiler: its error, excerpts of the source, notes. */
struct cc_message {
    char *text;
    unsigned long bytes;
    bool swapped;   /**< it is about a pointer to one memory that is used for another */
    unsigned count; /**< of such messages so far */
};

/** Takes the compiler's lines; prints the messages about swapped memories and drops the others.
 * `user` is a struct cc_message, zero at first; a line NULL ends the last message. */
void cc_message_take(void *user, const char *line);
