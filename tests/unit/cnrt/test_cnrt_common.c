/* SPDX-License-Identifier: Apache-2.0 */
#include "test_cnrt_common.h"

#include "harness.h"

extern const unsigned char cnrt_kernels_elf[];
extern const size_t cnrt_kernels_elf_bytes;

void cnrt_expect(int got, int expected, const char *call, int line)
{
    if (got != expected) {
        fprintf(stderr, "line %d: %s is %d, not %d\n", line, call, got, expected);
    }
    CU_ASSERT_EQUAL(got, expected);
}

// Each has a body of its own, so that no two share an address.
static volatile int last_stub;
void add_stub(void)
{
    last_stub = 1;
}
void line_gradient_stub(void)
{
    last_stub = 2;
}
void unscale_stub(void)
{
    last_stub = 3;
}
void step_stub(void)
{
    last_stub = 4;
}
void trapped_stub(void)
{
    last_stub = 5;
}
void outside_stub(void)
{
    last_stub = 6;
}

static void register_one(void **handle, void (*stub)(void), const char *name)
{
    __bangRegisterFunction(handle, kernel_of(stub), NULL, name, -1, NULL, NULL, NULL, NULL, NULL);
}

const void *cnrt_test_elf(void)
{
    return cnrt_kernels_elf;
}

size_t cnrt_test_elf_bytes(void)
{
    return cnrt_kernels_elf_bytes;
}

void cnrt_register(void)
{
    void **handle = __bangRegisterFatBinary((void *)(uintptr_t)cnrt_kernels_elf);
    if (!handle) {
        abort();
    }
    register_one(handle, add_stub, "add");
    register_one(handle, line_gradient_stub, "line_gradient");
    register_one(handle, unscale_stub, "unscale");
    register_one(handle, step_stub, "step");
    register_one(handle, trapped_stub, "trapped");
    register_one(handle, outside_stub, "outside");
}
