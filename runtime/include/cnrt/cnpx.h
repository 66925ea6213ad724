/* SPDX-License-Identifier: Apache-2.0 */
/* CNPX names: ranges and marks of a program for a tool that listens. None does here: the calls
 * that return a number return -1, as they do without a tool. */
#pragma once

#include <stddef.h>

static inline void cnpxMark(const char *message)
{
    (void)message;
}

static inline int cnpxRangePush(const char *message)
{
    (void)message;
    return -1;
}

static inline int cnpxRangePop(void)
{
    return -1;
}

static inline int cnpxRangeStart(const char *message, void **handle)
{
    (void)message;
    if (handle) {
        *handle = NULL;
    }
    return -1;
}

static inline int cnpxRangeEnd(void *handle)
{
    (void)handle;
    return -1;
}
