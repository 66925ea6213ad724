/* SPDX-License-Identifier: Apache-2.0 */
/* References of operators that go along lines: reductions, scans, order, softmax. */
#pragma once

enum { LINE_LENGTH = 37, LINE_BYTES_MAX = 3 }; /**< LINE_BYTES_MAX: k of Topk and Kthvalue */

/** A line and what an operator makes of it: values, and the places they come from. */
struct line {
    const double *x;
    int count;
    double value[LINE_LENGTH], second[LINE_LENGTH];
    int place[LINE_LENGTH];
};

/** SUMS: where finite numbers overflow depends on the order of sums, so the largest are left out.
 * WHOLE: all elements are one line. */
enum { LINE_EXACT = 0, LINE_SUMS = 1, LINE_FLOATS = 2, LINE_WHOLE = 4 };

struct line_reference {
    const char *row;
    void (*make)(struct line *line);
    int made; /**< elements a line gives; 0: as many as it has */
    unsigned how;
};

/** The reference of a row, or NULL. */
const struct line_reference *line_reference_find(const char *row);
/** Like strcmp: NaN is the largest, as in PyTorch. */
int line_compare(double a, double b);
