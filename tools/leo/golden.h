/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of a result with expected values. */
#pragma once

#include <leo/isa_enums.h>
#include <stdbool.h>
#include <stddef.h>

/** What is near enough. */
struct golden_tolerance {
    double relative, absolute;
    bool close; /**< |got - expected| <= absolute + relative * |expected|; else
                     |got - expected| / max(1, |expected|) <= relative */
};

struct golden_result {
    size_t count;         /**< Elements compared. */
    size_t mismatches;    /**< Elements whose error is above the tolerance. */
    size_t first;         /**< The first of them. */
    double max_error;     /**< Largest error: see golden_tolerance; of `close`, 1 is the limit. */
    double got, expected; /**< At `first`, or at the largest error if all match. */
};

/** Finds the element type of a name ("f16"); false if elements of it cannot be compared. */
bool golden_type(const char *name, enum leo_dtype *type);

/** Compares `bytes` of both. NaN matches NaN, an infinity only itself. */
struct golden_result golden_compare(const void *got, const void *expected, size_t bytes,
                                    enum leo_dtype type, const struct golden_tolerance *tolerance);

/** One element as a number. */
double golden_element(const void *data, size_t index, enum leo_dtype type);
