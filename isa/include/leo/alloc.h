/* SPDX-License-Identifier: Apache-2.0 */
/* The one way to host memory, so that tests can make any allocation fail. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As malloc; NULL if there is no memory. Free with leo_free(). */
void *leo_alloc(size_t bytes) __attribute__((malloc, warn_unused_result));
/** As calloc: zeroed, NULL also if count * bytes does not fit in size_t. */
void *leo_calloc(size_t count, size_t bytes) __attribute__((malloc, warn_unused_result));
/** As realloc; on failure the old block stays valid. */
void *leo_realloc(void *ptr, size_t bytes) __attribute__((warn_unused_result));
/** As aligned_alloc, but any size; `align` is a power of two, at least sizeof(void *). Free with
 * leo_free(). */
void *leo_aligned_alloc(size_t align, size_t bytes) __attribute__((malloc, warn_unused_result));
/** Accepts NULL. */
void leo_free(void *ptr);

/**
 * Test hook: the n-th allocation from now on fails, once, whichever thread makes it (1 = the next).
 * 0 = none. The setting is shared by the whole process.
 */
void leo_alloc_fail_after(int n);
/** Test hook: allocations still to be made before the failing one; 0 = it has happened or none was
 * asked for. */
int leo_alloc_fail_pending(void);

#ifdef __cplusplus
}
#endif
