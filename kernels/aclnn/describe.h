/* SPDX-License-Identifier: Apache-2.0 */
/* Names of launches in profiles. */
#pragma once

#include "dump.h"

enum { DESCRIBE_BYTES = 1024 };

/**
 * Writes "<name>|<in>;<in>|<out>" with each tensor as TYPE[dims]/FORMAT: the tag of the launches of
 * one call (tools/toolkit/msprof takes it apart). What does not fit is left out.
 */
void opapi_describe(const char *name, const struct opapi_call *call, char text[DESCRIBE_BYTES]);
