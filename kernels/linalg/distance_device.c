/* SPDX-License-Identifier: Apache-2.0 */
/* Distances of rows, and their gradient, in f64 on the scalar unit. */
#include "../device/element.h"
#include "distance_args.h"

#include <math.h>

/* Row numbers of the pair that stands at `index` of those with i < j of n rows. */
static void find_pair(uint64_t index, uint64_t n, uint64_t *i, uint64_t *j)
{
    uint64_t row = 0, left = n - 1;
    while (index >= left) {
        index -= left--;
        row++;
    }
    *i = row;
    *j = row + 1 + index;
}

__global__ __vector__ void distance_rows(struct op_distance_args args)
{
    const struct op_distance_args t = args;
    const uint32_t unit = op_bytes_of(t.type);
    const uint64_t count = t.pairs ? t.a_rows * (t.a_rows - 1) / 2 : t.batch * t.a_rows * t.b_rows;
    const struct op_span span = op_block_span(t.out, t.type, count, t.per_block);
    for (uint64_t i = span.begin; i < span.end; i++) {
        uint64_t row = i / t.b_rows, other = row / t.a_rows * t.b_rows + i % t.b_rows;
        if (t.pairs) {
            find_pair(i, t.a_rows, &row, &other);
        }
        double sum = 0;
        for (uint64_t k = 0; k < t.columns; k++) {
            const double d = fabs(op_get_d(t.a + (row * t.columns + k) * unit, t.type) -
                                  op_get_d(t.b + (other * t.columns + k) * unit, t.type));
            if (t.p == 2) {
                sum += d * d;
            } else if (t.p == 1) {
                sum += d;
            } else if (t.p == 0) {
                sum += d != 0;
            } else if (t.p == INFINITY) {
                sum = d > sum || d != d ? d : sum;
            } else {
                sum += pow(d, t.p);
            }
        }
        const double out = t.p == 2                                  ? sqrt(sum)
                           : t.p == 1 || t.p == 0 || t.p == INFINITY ? sum
                                                                     : pow(sum, 1 / t.p);
        op_put_d(t.out + i * unit, t.type, out);
    }
    op_flush();
}

/* d |a - b|_p by a, times grad; the distance is given. */
static double distance_slope(double difference, double distance, double p)
{
    const double size = fabs(difference), sign = (difference > 0) - (difference < 0);
    if (p == 1) {
        return sign;
    }
    if (p == INFINITY) {
        return size == distance ? sign : 0;
    }
    if (distance == 0 || p == 0 || (p < 1 && difference == 0)) {
        return 0;
    }
    return p == 2 ? difference / distance : sign * pow(size, p - 1) / pow(distance, p - 1);
}

__global__ __vector__ void distance_gradient(struct op_distance_gradient_args args)
{
    const struct op_distance_gradient_args t = args;
    const uint32_t unit = op_bytes_of(t.type);
    const struct op_span span =
        op_block_span(t.out, t.type, t.batch * t.a_rows * t.columns, t.per_block);
    for (uint64_t at = span.begin; at < span.end; at++) {
        const uint64_t row = at / t.columns, c = at % t.columns, batch = row / t.a_rows;
        const double x = op_get_d(t.a + at * unit, t.type);
        double sum = 0;
        for (uint64_t j = 0; j < t.b_rows; j++) {
            const uint64_t other = batch * t.b_rows + j, pair = row * t.b_rows + j;
            const double y = op_get_d(t.b + (other * t.columns + c) * unit, t.type);
            sum += op_get_d(t.grad + pair * unit, t.type) *
                   distance_slope(x - y, op_get_d(t.distance + pair * unit, t.type), t.p);
        }
        op_put_d(t.out + at * unit, t.type, sum);
    }
    op_flush();
}
