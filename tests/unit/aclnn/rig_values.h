/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of small numbers, and results against double on the host. */
#pragma once

#include "rig.h"

/** Multiples of 1/1024 in [-2, 2] (the nearest the type has), on the device: sums and products of
 * two are exact in f32. */
struct rig_tensor rig_values_make(enum op_type type, unsigned rank, const int64_t *dim,
                                  enum rig_layout layout, uint64_t seed);
double rig_values_at(const struct rig_tensor *tensor, int64_t index);
/** A number as a tensor of the type keeps it. */
double rig_values_round(double value, enum op_type type);

/** `count` numbers of 0 for a reference, one at least. */
double *rig_values_zeros(int64_t count);
/** Frees tensors and such references. */
void rig_values_free(struct rig_tensor *tensors, unsigned count, double **arrays, unsigned numbers);

/** How far an element may be from double: for f32 arithmetic before the result is rounded, and for
 * each rounding to the type of the tensor. */
struct rig_bound {
    double of_largest; /**< times the largest element of the result */
    double of_each;    /**< times the element */
    double at_all;
    unsigned roundings; /**< 0: one rounding that must be the nearest, if the rest is 0 too */
};

/** Reads the tensor back and compares each element; says the first that is wrong. */
void rig_values_expect(struct rig_tensor *out, const double *want, struct rig_bound bound,
                       const char *what);
