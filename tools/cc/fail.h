/* SPDX-License-Identifier: Apache-2.0 */
/* Where a failure is reported: the caller's buffer. */
#pragma once

#include <leo/status.h>
#include <stddef.h>

struct cc_fail {
    char *text; /**< May be NULL. */
    size_t bytes;
};

/** Writes the text and returns `status`, so that a failing function ends in one line. */
leo_status cc_fail(const struct cc_fail *fail, leo_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
