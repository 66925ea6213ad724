/* SPDX-License-Identifier: Apache-2.0 */
/* References of pointwise operators: their expressions, compiled for the host. */
#pragma once

#include <stdint.h>

struct op_pointwise_ref {
    const char *name; /**< of the first operator with the expression */
    /* By class of numbers; NULL where the operator has none. v: the variables. */
    float (*f)(const float *v);
    double (*d)(const double *v);
    int64_t (*i)(const int64_t *v);
};

extern const struct op_pointwise_ref op_pointwise_refs[]; /**< sorted by name */
extern const unsigned op_pointwise_ref_count;
