/* SPDX-License-Identifier: Apache-2.0 */
/* A runtime on one simulated chip with the system kernels loaded. */
#pragma once

#include "harness.h"
#include <leo/runtime.h>

#define OK(call) CU_ASSERT_EQUAL_FATAL(call, LEO_OK)

struct fixture {
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_rt_module *module;
    uint64_t out; /**< 4096 bytes of device memory */
};

/** Both chips, to run a test on each. */
extern const char *const fixture_socs[2];

void fixture_open(struct fixture *f, const char *soc);
void fixture_close(struct fixture *f);
struct leo_rt_kernel *fixture_kernel(struct fixture *f, const char *name);
/** Launches with arguments given as pointers to their values. */
leo_status fixture_launch(struct fixture *f, const char *kernel, uint32_t blocks,
                          const void *const *args, unsigned count);
/** Reads words of `out`. */
void fixture_read(struct fixture *f, int64_t *values, size_t count);
/** A launch that must work: `out[0]` becomes 1 * 3 + 5. */
void fixture_check_alive(struct fixture *f);
/** The ELF of a chip. */
const unsigned char *fixture_elf(const char *soc, size_t *bytes);
