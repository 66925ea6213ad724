/* SPDX-License-Identifier: Apache-2.0 */
#include "rt.h"

#include <stdarg.h>
#include <stdio.h>

void rt_log(const struct leo_rt *rt, int level, const char *format, ...)
{
    if (!rt->opts.log) {
        return;
    }
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    rt->opts.log(rt->opts.log_user, level, text);
}
