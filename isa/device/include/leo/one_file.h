/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by bang/host.h and ascendc/host.h, which come first where kernels stand in one file with
 * code for the host (cncc, bisheng). C++ only. What both need of the compiler's own language for
 * such files.
 */
#pragma once

#define LEO_ONE_FILE 1

#include <stdlib.h> // before the compiler's own <new>

#include <algorithm>
#include <limits>
#include <type_traits>

// Functions of the C library that kernels may call too.
#pragma clang force_cuda_host_device begin
#include <cmath>
#include <cstring>
#include <math.h>
#include <string.h>
#pragma clang force_cuda_host_device end

#include <stdint.h>
#include <stdio.h>

#define LEO_HOOK inline __attribute__((used, host))

extern "C" {

/** A kernel file as the compiler embeds it. */
struct leo_embedded {
    int magic, version;
    void *file;
    void *unused;
};

LEO_HOOK void __cudaRegisterFatBinaryEnd(void **)
{
}

/** Variables of kernels cannot be reached from the host. */
LEO_HOOK void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int)
{
}

} // extern "C"

/* What a kernel prints: the device library's. */
extern "C" __attribute__((device)) void leo_print(const char *format, ...);
#ifdef __riscv
#define LEO_PRINT_NAME __asm__("leo_print")
#else
#define LEO_PRINT_NAME
#endif
extern "C" __attribute__((device)) int printf(const char *format, ...) LEO_PRINT_NAME;
