/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated device with its operators, and tensors with guarded surroundings. */
#pragma once

#include "harness.h"

#include <leo/op.h>
#include <leo/runtime.h>
#include <ref.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rig {
    struct leo_rt *rt;
    struct leo_rt_device *device;
    struct leo_rt_stream *stream;
    struct leo_op_context *context;
    uint32_t arch;
};

/** Both generations: tests loop over these. */
extern const char *const rig_socs[2];

/** threads 0 and simd NULL: the runtime's defaults. Asserts. */
void rig_init(struct rig *rig, const char *soc, unsigned threads, const char *simd);
void rig_finish(struct rig *rig);
void rig_synchronize(struct rig *rig);

/** Device memory with RIG_GUARD bytes of a pattern before and behind it. */
enum { RIG_GUARD = 64 };
struct rig_buffer {
    uint64_t base;
    size_t bytes;
    struct leo_op_tensor tensor;
};
/** A tensor of up to 2 dimensions (columns 0: one dimension) holding `data` (NULL: a pattern). */
struct rig_buffer rig_put(struct rig *rig, enum leo_dtype dtype, uint32_t rows, uint32_t columns,
                          const void *data);
/** Reads the tensor back, checks the guards and frees the memory. */
void rig_take(struct rig *rig, struct rig_buffer *buffer, void *data);

/** Deterministic pseudo-random numbers. */
struct rig_random {
    uint64_t state;
};
uint32_t rig_random_next(struct rig_random *random);
/** In -1 .. 1, a multiple of 1/1024, so exact in f16. */
float rig_random_float(struct rig_random *random);
void *rig_alloc(size_t count, size_t size);
uint16_t *rig_random_halves(struct rig_random *random, size_t count);
float *rig_random_floats(struct rig_random *random, size_t count);
/** Index of the first difference, or -1. */
long rig_compare(const void *a, const void *b, size_t count, size_t size);
