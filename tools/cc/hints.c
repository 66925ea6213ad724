/* SPDX-License-Identifier: Apache-2.0 */
#include "hints.h"

#include <string.h>

static const struct {
    const char *symbol; /* or its beginning */
    const char *hint;
} hints[] = {
    {"operator new", "a core has no heap: use an array, or memory that the host passes"},
    {"operator delete", "a core has no heap"},
    {"malloc", "a core has no heap: use an array, or memory that the host passes"},
    {"free", "a core has no heap"},
    {"__cxa_atexit", "destructors of static objects do not run on a core"},
    {"__dso_handle", "destructors of static objects do not run on a core"},
    {"__cxa_guard", "static objects of a function cannot be constructed on a core"},
    {"__cxa_pure_virtual", "a core has no run-time support for abstract classes"},
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
