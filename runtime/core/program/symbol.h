/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** The name of a variable as its source has it: of C++ `net::buffer` for _ZN3netL6bufferE. What is
 * not such a name stays as it is. */
void rt_symbol_plain(const char *symbol, char *plain, size_t bytes);
/** Whether a variable is called so, with or without the namespaces around it. */
bool rt_symbol_is(const char *symbol, const char *name);
