/* SPDX-License-Identifier: Apache-2.0 */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>

leo_status cc_fail(const struct cc_fail *fail, leo_status status, const char *format, ...)
{
    if (fail->text && fail->bytes > 0) {
        va_list list;
        va_start(list, format);
        vsnprintf(fail->text, fail->bytes, format, list);
        va_end(list);
    }
    return status;
}
