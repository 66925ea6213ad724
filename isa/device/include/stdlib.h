/* SPDX-License-Identifier: Apache-2.0 */
/* <stdlib.h> for kernels: what makes sense on a core; the rest says why not when it is used. A pass
 * for the host gets the host's own header. */
#ifdef __riscv
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline __attribute__((always_inline, unused)) int abs(int x)
{
    return x < 0 ? -x : x;
}
static inline __attribute__((always_inline, unused)) long labs(long x)
{
    return x < 0 ? -x : x;
}
static inline __attribute__((always_inline, unused)) long long llabs(long long x)
{
    return x < 0 ? -x : x;
}

#define LEO_NO_HEAP                                                                                \
    __attribute__((                                                                                \
        error("a core has no heap: use an array (__ubuf_array__, a local one) or memory "          \
              "that the host allocates and passes as an argument")))
#define LEO_NO_PROCESS                                                                             \
    __attribute__((error("a kernel is no process: return from it, or use leo_assert or trap()")))
void *malloc(size_t bytes) LEO_NO_HEAP;
void *calloc(size_t count, size_t bytes) LEO_NO_HEAP;
void *realloc(void *memory, size_t bytes) LEO_NO_HEAP;
void free(void *memory) LEO_NO_HEAP;
void exit(int code) LEO_NO_PROCESS;
void abort(void) LEO_NO_PROCESS;

#ifdef __cplusplus
}
#endif
#else
#include_next <stdlib.h>
#endif
