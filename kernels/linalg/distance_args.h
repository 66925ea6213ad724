/* SPDX-License-Identifier: Apache-2.0 */
/* Launch arguments of distances of rows. */
#pragma once

#include <stdint.h>

/**
 * out[i, j] = distance of row i of a and row j of b, by batch: dense [batch, rows, other rows] of
 * `type`.
 */
struct op_distance_args {
    uint64_t out, a, b;
    uint64_t batch, a_rows, b_rows, columns, per_block;
    double p;
    uint8_t type;
    uint8_t pairs; /**< out: rows i < j of a, one after the other; b is a */
};

/**
 * out[i, c] = sum over j of grad[i, j] times the derivative of the distance of row i of a and row j
 * of b by a[i, c]; distance[i, j] is that distance. Dense, all of `type`.
 */
struct op_distance_gradient_args {
    uint64_t out, a, b, grad, distance;
    uint64_t batch, a_rows, b_rows, columns, per_block;
    double p;
    uint8_t type;
};
