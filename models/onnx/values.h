/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators made of several of the library's: each function appends a call on values of the model
 * and returns the new value that it writes. After a failure they do nothing and return 0.
 */
#pragma once

#include "import.h"

/** A copy of what is known of a value; empty after a failure. */
struct leo_model_value onnx_seen(const struct onnx_import *import, uint32_t value);
/** op(x, out), out like x. */
uint32_t onnx_made(struct onnx_import *import, const char *op, uint32_t x);
/** op(x, number, out), out like x: Muls, PowTensorScalar, Celu ...; Adds and Subs too. */
uint32_t onnx_made_with(struct onnx_import *import, const char *op, uint32_t x, double number);
/** The shape of two tensors broadcast, as `dim`; returns its rank. Fails if they do not fit. */
uint32_t onnx_broadcast(struct onnx_import *import, uint32_t a_rank, const int64_t *a,
                        uint32_t b_rank, const int64_t *b, int64_t *dim);
/** op(x, y, out) of what two values broadcast to; Add and Sub too. */
uint32_t onnx_made_of(struct onnx_import *import, const char *op, uint32_t x, uint32_t y,
                      enum leo_dtype dtype);
/** Over dimensions that are kept with one element: Mean, ReduceSum, Amax, Amin, LogSumExp. */
uint32_t onnx_made_over(struct onnx_import *import, const char *op, uint32_t x, const int64_t *axes,
                        uint32_t count);
/** The same elements as another type. */
uint32_t onnx_made_as(struct onnx_import *import, uint32_t x, enum leo_dtype dtype);
/** Dense, of another shape. */
uint32_t onnx_made_flat(struct onnx_import *import, uint32_t x, uint32_t rank, const int64_t *dim);
/** A view whose dimension d is x's dimension order[d]. */
uint32_t onnx_made_turned(struct onnx_import *import, uint32_t x, const uint32_t *order);
/** The elements of one dimension in the opposite order. */
uint32_t onnx_made_flipped(struct onnx_import *import, uint32_t x, int64_t axis);
/** Rows of a dimension by place: `places` has one dimension. */
uint32_t onnx_made_rows(struct onnx_import *import, uint32_t x, uint32_t axis, uint32_t places);
/** A value filled with a number. */
uint32_t onnx_made_full(struct onnx_import *import, enum leo_dtype dtype, uint32_t rank,
                        const int64_t *dim, double number);
/** Output `index` of the node, if it is asked for, is this value; `dtype` as of tensors: F32 for
 * floats. */
void onnx_give(struct onnx_import *import, size_t index, enum leo_dtype dtype, uint32_t value);
/** Whether output `index` has a name. */
bool onnx_asked(const struct onnx_import *import, size_t index);
/** One dimension longer at both ends (negative: shorter), as the node's mode says: reflect, wrap or
 * edge. */
uint32_t onnx_continued(struct onnx_import *import, uint32_t x, uint32_t axis, int64_t before,
                        int64_t after);

/** A known element, whatever its type. */
void onnx_copy_known(struct onnx_tensor *to, int64_t at, const struct onnx_tensor *from,
                     int64_t from_at);
/** Output `output` of the node is a tensor's elements with another shape and strides. */
void onnx_add_view(struct onnx_import *import, size_t output, struct onnx_tensor *in, uint32_t rank,
                   const int64_t *dim, const int64_t *stride, int64_t offset);
/** Of a tensor's value; nothing is written after a failure. */
void onnx_strides_of(struct onnx_import *import, struct onnx_tensor *in, int64_t *stride);
