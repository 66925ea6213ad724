/* SPDX-License-Identifier: Apache-2.0 */
/* SoC files built into the library. Their text is the only description of a chip. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Text of a built-in SoC file ("ascend910a"), NUL-terminated; NULL if there is none of that name.
 */
const char *leo_isa_soc_text(const char *name);
/** Name of the index-th built-in SoC file; NULL past the end. */
const char *leo_isa_soc_name(size_t index);

#ifdef __cplusplus
}
#endif
