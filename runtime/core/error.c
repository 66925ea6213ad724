/* SPDX-License-Identifier: Apache-2.0 */
#include "rt.h"

#include <stdarg.h>
#include <stdio.h>

// A thread's last error has nowhere else to live: the calls that fail may have no object.
static _Thread_local char last_error[RT_FAULT_TEXT];

static void set_text(const char *format, va_list args)
{
    // Through a copy: the arguments may contain the last error.
    char text[sizeof(last_error)];
    vsnprintf(text, sizeof(text), format, args);
    snprintf(last_error, sizeof(last_error), "%s", text);
}

leo_status rt_fail(leo_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_text(format, args);
    va_end(args);
    return status;
}

leo_status leo_rt_fail(leo_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_text(format, args);
    va_end(args);
    return status;
}

const char *leo_rt_last_error(void)
{
    return last_error;
}
