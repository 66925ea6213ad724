/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launch arguments of normalisations. They work on rows of `length` elements in a row: planes of an
 * image for batch and group norm. What holds for a row is an entry of a table.
 */
#pragma once

#include <stdint.h>

enum { OP_NORM_SHORT = 2048 }; /**< rows of up to so many elements are for norm_short.c */

/** Moments of a row: its mean and its sum of squared distances from it. */
struct op_norm_moments {
    float mean, squares;
};

/** Sums of a row: of the gradient, and of gradient * (in - mean). */
struct op_norm_sums {
    float gradient, product;
};

/** out = (in - mean) * scale + shift; gradient: gradient * scale + (in - mean) * slope + shift. */
struct op_norm_entry {
    float mean, scale, slope, shift;
};

/**
 * Rows in, entry (row / entry_rows) % entries. Block b works on elements (moments and sums: rows;
 * columns: weights) [b * per_block, (b + 1) * per_block). Weights, if there are any, belong to
 * elements: (element / weight_span) % weights. The gradient is multiplied by them before all else,
 * the result of the forward pass after it.
 */
struct op_norm_rows_args {
    uint64_t out, in, gradient;
    uint64_t entry;        /**< table of struct op_norm_entry; sums: means, f32; columns: means */
    uint64_t weight, bias; /**< f32, 0 = none; columns: 1 / deviation of each row, and unused */
    uint64_t rows, length, per_block;
    uint64_t entry_rows, entries;
    uint64_t weight_span, weights;
    uint8_t out_type, in_type, gradient_type;
    uint8_t no_mean; /**< moments: squares of the elements themselves, mean 0 */
};

enum op_batch_norm_source {
    OP_BATCH_NORM_ROWS,     /**< `moments` of each row: image * channels + channel */
    OP_BATCH_NORM_VARIANCE, /**< mean, second = variance, of each channel */
    OP_BATCH_NORM_INVERSE,  /**< mean, second = 1 / sqrt(variance + eps) */
    OP_BATCH_NORM_REPLICAS, /**< as INVERSE for each of `images` replicas, of counts[replica] */
};

/** From statistics to what batch norm gives and needs. All arrays f32, dense, of `channels`; those
 * that are 0 are absent. */
struct op_batch_norm_args {
    uint64_t moments, mean, second, counts, weight, bias; /**< in */
    uint64_t running_mean, running_variance;              /**< updated */
    uint64_t mean_out, second_out, table;                 /**< out */
    uint64_t images, channels, length, per_block;
    double eps, momentum;
    uint8_t source, inverse; /**< inverse: second_out is 1 / sqrt(variance + eps), else variance */
};

/** From sums to gradients of weight and bias and the table of the input's gradient. */
struct op_batch_norm_gradient_args {
    uint64_t sums;                          /**< of each row, or: */
    uint64_t gradient_sum, product_sum;     /**< of each channel */
    uint64_t mean, second, weight, counter; /**< counter: i32, elements of each replica */
    uint64_t gradient_sum_out, product_sum_out, weight_gradient, bias_gradient, table;
    uint64_t images, channels, length, per_block, replicas;
    double eps;
    uint8_t source;
    uint8_t training; /**< 0: statistics do not depend on the input */
    uint8_t no_mean;  /**< the mean is 0, not that of the input */
    /* Of planes alone: */
    uint8_t weighed_sums; /**< the sums given are of gradients times weights already */
    uint64_t count;       /**< elements the sums are of; 0: images * length */
};
