/* SPDX-License-Identifier: Apache-2.0 */
/* What a linker's message means for a kernel. */
#pragma once

/** A sentence for a line of the linker that names an undefined symbol, else NULL. */
const char *cc_hint_of(const char *line);
