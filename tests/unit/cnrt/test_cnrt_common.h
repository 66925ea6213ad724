/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cnrt/cn_api.h>
#include <cnrt/cnrt.h>

/** Asserts that a call answers `expected`. */
void cnrt_expect(int got, int expected, const char *call, int line);
#define EXPECT(call, code) cnrt_expect((int)(call), (int)(code), #call, __LINE__)
#define OK(call)           cnrt_expect((int)(call), 0, #call, __LINE__)

/* Functions of the host that stand for kernels, as a compiler makes them; never run. */
void add_stub(void);
void line_gradient_stub(void);
void unscale_stub(void);
void step_stub(void);
void trapped_stub(void);
void outside_stub(void);

/** The address that stands for a kernel. */
static inline const void *kernel_of(void (*stub)(void))
{
    return (const void *)(uintptr_t)stub;
}
/** Registers them, as a program's constructors do. */
void cnrt_register(void);
const void *cnrt_test_elf(void);
size_t cnrt_test_elf_bytes(void);
