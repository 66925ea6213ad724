/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the AscendCL interface around operators: one device, one stream, tensors with
 * guarded surroundings. The chip is the one of LEO_SOC. Everything asserts.
 */
#pragma once

#include "harness.h"
#include "op_table.h"

#include <acl/acl.h>
#include <device/types.h>

void rig_open(void);
void rig_close(void);
void rig_reset(void); /**< the device, and a new stream */
aclrtStream rig_stream(void);
/** 0 = 910A, 1 = 910B: index of type masks. */
unsigned rig_chip(void);
const struct op_test_row *rig_row(const char *name);

enum { RIG_GUARD = 128 }; /**< bytes before and behind a storage */

/** A tensor and the host copy of its whole storage. */
struct rig_tensor {
    aclTensor *acl;
    enum op_type type;
    unsigned rank;
    int64_t dim[8], stride[8], offset; /**< elements */
    size_t storage_bytes;
    unsigned char *host; /**< storage_bytes, as they shall be or were read */
    uint64_t base;       /**< device address of the guard before the storage */
};

/** How a tensor lies in its storage. */
enum rig_layout { RIG_DENSE, RIG_PERMUTED, RIG_SLICED, RIG_EXPANDED, RIG_MIXED };
enum { RIG_LAYOUTS = RIG_MIXED }; // MIXED is a choice of tests between the others
/** Storage holds random bits that are good values of the type; RIG_EXPANDED has stride 0 in the
 * first dimension. */
struct rig_tensor rig_tensor_make(enum op_type type, unsigned rank, const int64_t *dim,
                                  enum rig_layout layout, uint64_t seed);
/** The same of multiples of 1/8 in [-1, 1], which every type of numbers holds exactly, on the
 * device. */
struct rig_tensor rig_tensor_eighths(enum op_type type, unsigned rank, const int64_t *dim,
                                     enum rig_layout layout, uint64_t seed);
/** A view of the same storage (in-place calls); not to be freed apart from its acl. */
void rig_tensor_put(struct rig_tensor *tensor);  /**< host to device */
void rig_tensor_take(struct rig_tensor *tensor); /**< device to host; asserts the guards */
void rig_tensor_free(struct rig_tensor *tensor);
int64_t rig_tensor_count(const struct rig_tensor *tensor);
/** Host address of element `index`, row-major. */
void *rig_tensor_at(const struct rig_tensor *tensor, int64_t index);

/* Elements of any type on the host, converted as device/element.h says. */
float rig_get_f(const void *at, enum op_type type);
double rig_get_d(const void *at, enum op_type type);
int64_t rig_get_i(const void *at, enum op_type type);
/** Takes a tensor back: its first `count` elements, integers, must be those wanted; the first that
 * is not is printed with `what`. */
void rig_expect_integers(struct rig_tensor *tensor, const int64_t *want, int64_t count,
                         const char *what);
void rig_put_f(void *at, enum op_type type, float value);
void rig_put_d(void *at, enum op_type type, double value);
void rig_put_i(void *at, enum op_type type, int64_t value);
unsigned rig_type_bytes(enum op_type type);
aclDataType rig_acl_type(enum op_type type);
const char *rig_type_name(enum op_type type);

/** Both phases and a synchronize. Returns the first code that is not 0; the text goes to stderr if
 * `loud`. */
aclnnStatus rig_run(const struct op_test_row *row, const union op_test_arg *args, bool loud);
/** A call that must succeed and, where results saturate, leave no overflow status: what lies behind
 * tensors is no part of it. */
void rig_run_finite(const struct op_test_row *row, const union op_test_arg *args);

uint64_t rig_random(uint64_t *state);
