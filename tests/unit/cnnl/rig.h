/* SPDX-License-Identifier: Apache-2.0 */
/* A handle on a queue of the simulated card, and tensors on it from numbers of the host. */
#pragma once

#include <cnnl.h>

#include "harness.h"

enum { RIG_TENSORS = 64 };

/** A tensor on the card. */
struct rig_tensor {
    cnnlTensorDescriptor_t desc;
    void *ptr;
    size_t count;
    cnnlDataType_t type;
};

struct rig {
    cnnlHandle_t handle;
    cnrtQueue_t queue;
    struct rig_tensor tensors[RIG_TENSORS];
    unsigned tensor_count;
};

struct rig rig_begin(void);
void rig_end(struct rig *rig);
/** A dense tensor; `data` (doubles, rounded to the type) or NULL for memory of ones in every bit.
 */
struct rig_tensor rig_make(struct rig *rig, cnnlTensorLayout_t layout, cnnlDataType_t type,
                           int rank, const int64_t *dim, const double *data);
/** In C: RIG(&rig, CNNL_DTYPE_FLOAT, data, 2, 3): layout ARRAY. */
#define RIG(rig, type, data, ...)                                                                  \
    rig_make(rig, CNNL_LAYOUT_ARRAY, type,                                                         \
             (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__},  \
             data)
#define RIG_NHWC(rig, type, data, ...)                                                             \
    rig_make(rig, CNNL_LAYOUT_NHWC, type, 4, (int64_t[]){__VA_ARGS__}, data)
/** Waits for the queue and gives the elements. */
void rig_read(struct rig *rig, const struct rig_tensor *tensor, double *out);
/** Asserts that each element is within `bound` of (1 + |expected|); NaN is NaN. */
void rig_expect(struct rig *rig, const struct rig_tensor *tensor, const double *expected,
                double bound, int line);
#define NEAR(rig, tensor, expected, bound) rig_expect(rig, &(tensor), expected, bound, __LINE__)
/** The number as the type holds it. */
double rig_round(cnnlDataType_t type, double number);
/** Pseudo-random numbers in (-scale, scale), multiples of scale / 64: exact in every float type. */
void rig_fill(double *out, size_t count, double scale, unsigned seed);

void rig_status(int got, int expected, const char *call, int line);
#define OK(call)           rig_status((int)(call), CNNL_STATUS_SUCCESS, #call, __LINE__)
#define EXPECT(call, code) rig_status((int)(call), (int)(code), #call, __LINE__)
/** Whether the text of the last failure has `part` in it. */
void rig_text(const char *part, int line);
#define TEXT(part) rig_text(part, __LINE__)

/** A descriptor and its memory, as arguments. */
#define T(tensor) (tensor).desc, (tensor).ptr
