/* SPDX-License-Identifier: Apache-2.0 */
/* SoC files built into the library. Their text is the only description of a chip. */
#pragma once

#include <leo/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Text of a built-in SoC file ("ascend910a"), NUL-terminated; NULL if there is none of that name.
 */
const char *leo_isa_soc_text(const char *name);
/** Name of the index-th built-in SoC file; NULL past the end. */
const char *leo_isa_soc_name(size_t index);

/** Begins a comment in a text that was put together: the lines behind it are those of the file it
 * names, from its first. */
#define LEO_SOC_BASE_COMMENT ";base "

/**
 * Text of a built-in chip or of a SoC file. A file whose [soc] section says `base = NAME` has the
 * numbers of that chip (built-in, or a file beside it) but for those it gives itself; the text is
 * then whole. leo_free() it. On failure `error` says why.
 */
LEO_MUST_CHECK leo_status leo_isa_soc_read(const char *name, char **text, char *error,
                                           size_t error_bytes);

#ifdef __cplusplus
}
#endif
