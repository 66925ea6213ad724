/* SPDX-License-Identifier: Apache-2.0 */
#include "hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *symbol; /* or its beginning */
    const char *hint;
} hints[] = {
    {"operator new", "a core has no heap: use an array, or memory that the host passes"},
    {"operator delete", "a core has no heap; a virtual destructor asks for it too: leave it out"},
    {"malloc", "a core has no heap: use an array, or memory that the host passes"},
    {"free", "a core has no heap"},
    {"__cxa_atexit", "destructors of static objects do not run on a core"},
    {"__dso_handle", "destructors of static objects do not run on a core"},
    {"__cxa_guard", "static objects of a function cannot be constructed on a core"},
    {"__ubsan_", "of the sanitizers a core has -fsanitize=array-bounds"},
    {"__cxa_", "a core has no exceptions"},
    {"_Unwind_", "a core has no exceptions"},
    {"__addtf3", "long double (128 bits) is not there: use double"},
    {"__subtf3", "long double (128 bits) is not there: use double"},
    {"__multf3", "long double (128 bits) is not there: use double"},
    {"__divtf3", "long double (128 bits) is not there: use double"},
    {"__extend", "long double (128 bits) is not there: use double"},
    {"__trunctfdf2", "long double (128 bits) is not there: use double"},
    {"__trunctfsf2", "long double (128 bits) is not there: use double"},
};

const char *cc_hint_of(const char *line)
{
    static const char undefined[] = "undefined symbol: ";
    const char *symbol = strstr(line, undefined);
    if (strstr(line, "poisoned identifier")) {
        return "both parts of a kernel are one compilation: write if (ASCEND_IS_AIC) and if "
               "(ASCEND_IS_AIV), or say with -D__DAV_CUBE__ or -D__DAV_VEC__ which part the file "
               "is (docs/cross_core.md)";
    }
    if (strstr(line, "relocation R_RISCV_TPREL")) {
        return "a core has one thread and no thread-local storage: drop thread_local";
    }
    if (!symbol) {
        return NULL;
    }
    symbol += sizeof(undefined) - 1;
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        if (strncmp(symbol, hints[i].symbol, strlen(hints[i].symbol)) == 0) {
            return hints[i].hint;
        }
    }
    return "the library of a kernel has no such function (docs/kernel_library.md), and no source "
           "file defines it";
}

void cc_hint_print(void *user, const char *line)
{
    const char *hint = cc_hint_of(line);
    struct cc_last_line *last = user;
    if (strcmp(last->text, line) == 0) {
        return; // lld looks at the assertions of its script more than once
    }
    snprintf(last->text, sizeof(last->text), "%s", line);
    fputs(line, stderr);
    if (hint) {
        fprintf(stderr, ">>> %s\n", hint);
    }
}

void cc_kept_take(void *user, const char *line)
{
    struct cc_kept *kept = user;
    // device.h poisons the words where a file is compiled for both.
    kept->wants_parts |= strstr(line, "use of a poisoned identifier") != NULL ||
                         strstr(line, "use a poisoned identifier") != NULL;
    cc_text_add(&kept->text, "%s", line);
}

void cc_kept_print(const struct cc_kept *kept)
{
    struct cc_last_line last = {0};
    for (const char *line = kept->text.data, *end; line && *line; line = end) {
        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        char *copy = strndup(line, (size_t)(end - line));
        if (copy) {
            cc_hint_print(&last, copy);
        }
        free(copy);
    }
}

/** How many different memories a line names, by qualifier or number (device.h). */
static unsigned count_memories(const char *line)
{
    static const char *const names[] = {"__gm__", "__ubuf__", "__cbuf__",
                                        "__ca__", "__cb__",   "__cc__"};
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char number[32];
        snprintf(number, sizeof(number), "address_space(%u)", i + 1);
        count += strstr(line, names[i]) || strstr(line, number);
    }
    return count;
}

static bool tells_swap(const char *line)
{
    // Pointers without a qualifier may point anywhere: what they are used for is not known.
    return (strstr(line, "changes address space") && count_memories(line) > 1) ||
           strstr(line, "cannot pass pointer to address space '");
}

void cc_message_take(void *user, const char *line)
{
    struct cc_message *message = user;
    if (!line || strstr(line, ": error: ") || strstr(line, ": fatal error: ")) {
        if (message->text && message->swapped) {
            fputs(message->text, stderr);
            message->count++;
        }
        free(message->text);
        message->text = NULL;
        message->bytes = 0;
        message->swapped = false;
    }
    if (!line || strstr(line, " generated.\n")) { // the compiler's count
        return;
    }
    message->swapped |= tells_swap(line);
    size_t more = strlen(line);
    char *text = realloc(message->text, message->bytes + more + 1);
    if (text) {
        memcpy(text + message->bytes, line, more + 1);
        message->text = text;
        message->bytes += more;
    }
}
