/* SPDX-License-Identifier: Apache-2.0 */
/* Names of variables of C++ (Itanium ABI): _Z, of static ones L, a length and the name; between N
 * and E several of them; of variables of a function _Z, Z, the function and E in front. */
#include "symbol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256 };

/* One name with its length; NULL: there is none. */
static const char *take_name(const char *at, char *plain, size_t bytes)
{
    at += *at == 'L';
    char *end = NULL;
    const unsigned long length = *at >= '1' && *at <= '9' ? strtoul(at, &end, 10) : 0;
    if (length == 0 || length > strlen(end)) {
        return NULL;
    }
    const size_t used = strlen(plain);
    snprintf(plain + used, bytes - used, "%s%.*s", used ? "::" : "", (int)length, end);
    return end + length;
}

void rt_symbol_plain(const char *symbol, char *plain, size_t bytes)
{
    const char *at = strncmp(symbol, "_Z", 2) == 0 ? symbol + 2 : NULL;
    if (at && *at == 'Z') {
        at = strrchr(at, 'E');
        at = at ? at + 1 : NULL;
    }
    const bool nested = at && *at == 'N';
    plain[0] = '\0';
    at = at ? take_name(at + nested, plain, bytes) : NULL;
    while (nested && at && *at != 'E') {
        at = take_name(at, plain, bytes);
    }
    if (!at) {
        snprintf(plain, bytes, "%s", symbol);
    }
}

bool rt_symbol_is(const char *symbol, const char *name)
{
    char plain[NAME_BYTES];
    rt_symbol_plain(symbol, plain, sizeof(plain));
    const size_t length = strlen(plain), wanted = strlen(name);
    const char *tail = wanted <= length ? plain + length - wanted : "";
    return strcmp(tail, name) == 0 && (tail == plain || tail[-1] == ':');
}
