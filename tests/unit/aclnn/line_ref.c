/* SPDX-License-Identifier: Apache-2.0 */
/* What operators on lines must make of special values, in plain C in double. */
#include "line_ref.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

int line_compare(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    return (a > b) - (a < b);
}

static void order(struct line *l, bool descending)
{
    for (int i = 0; i < l->count; i++) {
        int at = i;
        for (; at > 0; at--) {
            const int sign = line_compare(l->x[i], l->value[at - 1]);
            if (descending ? sign <= 0 : sign >= 0) {
                break;
            }
            l->value[at] = l->value[at - 1];
            l->place[at] = l->place[at - 1];
        }
        l->value[at] = l->x[i];
        l->place[at] = i;
    }
}

static void sort(struct line *l)
{
    order(l, false);
}

static void top(struct line *l)
{
    order(l, true);
}

static void kth(struct line *l)
{
    order(l, false);
    l->value[0] = l->value[LINE_BYTES_MAX - 1];
    l->place[0] = l->place[LINE_BYTES_MAX - 1];
}

/* The middle of those that are numbers; NaN first if it wins. */
static void middle(struct line *l, bool skip)
{
    int numbers = 0;
    order(l, false);
    for (int i = 0; i < l->count; i++) {
        numbers += !isnan(l->value[i]);
    }
    const int at = numbers == l->count ? (l->count - 1) / 2
                   : !skip             ? numbers
                   : numbers           ? (numbers - 1) / 2
                                       : 0;
    l->value[0] = l->value[at];
    l->place[0] = l->place[at];
}

static void median(struct line *l)
{
    middle(l, false);
}

static void nan_median(struct line *l)
{
    middle(l, true);
}

static bool wins(double now, double best, bool largest)
{
    return !isnan(best) && (isnan(now) || (largest ? now > best : now < best));
}

static void scan_extreme(struct line *l, bool largest)
{
    int best = 0;
    for (int i = 0; i < l->count; i++) {
        // The last of equal ones.
        best = wins(l->x[i], l->x[best], largest) || l->x[i] == l->x[best] ||
                       (isnan(l->x[i]) && isnan(l->x[best]))
                   ? i
                   : best;
        l->value[i] = l->x[best];
        l->place[i] = best;
    }
}

static void cummax(struct line *l)
{
    scan_extreme(l, true);
}

static void cummin(struct line *l)
{
    scan_extreme(l, false);
}

static void extreme(struct line *l, bool largest)
{
    int best = 0;
    for (int i = 1; i < l->count; i++) {
        best = wins(l->x[i], l->x[best], largest) ? i : best;
    }
    l->value[0] = l->x[best];
    l->place[0] = best;
}

static void largest(struct line *l)
{
    extreme(l, true);
}

static void smallest(struct line *l)
{
    extreme(l, false);
}

static void cumsum(struct line *l)
{
    double sum = 0;
    for (int i = 0; i < l->count; i++) {
        l->value[i] = sum += l->x[i];
    }
    l->second[0] = sum / l->count;
}

static void cumprod(struct line *l)
{
    double product = 1;
    for (int i = 0; i < l->count; i++) {
        l->value[i] = product *= l->x[i];
    }
}

static void sum(struct line *l)
{
    cumsum(l);
    l->value[0] = l->value[l->count - 1];
}

static void mean(struct line *l)
{
    cumsum(l);
    l->value[0] = l->second[0];
}

static void prod(struct line *l)
{
    cumprod(l);
    l->value[0] = l->value[l->count - 1];
}

static void nansum(struct line *l)
{
    double total = 0;
    for (int i = 0; i < l->count; i++) {
        total += isnan(l->x[i]) ? 0 : l->x[i];
    }
    l->value[0] = total;
}

static void truth(struct line *l)
{
    bool all = true, any = false;
    for (int i = 0; i < l->count; i++) {
        all = all && l->x[i] != 0;
        any = any || l->x[i] != 0;
    }
    l->value[0] = all;
    l->second[0] = any;
}

static void any(struct line *l)
{
    truth(l);
    l->value[0] = l->second[0];
}

static void norm(struct line *l)
{
    double squares = 0;
    for (int i = 0; i < l->count; i++) {
        squares += l->x[i] * l->x[i];
    }
    l->value[0] = sqrt(squares);
}

static void var(struct line *l)
{
    cumsum(l);
    const double middle_of = l->second[0];
    double squares = 0;
    for (int i = 0; i < l->count; i++) {
        squares += (l->x[i] - middle_of) * (l->x[i] - middle_of);
    }
    l->value[0] = squares / (l->count - 1);
    l->second[0] = middle_of;
}

static void deviation(struct line *l)
{
    var(l);
    l->value[0] = sqrt(l->value[0]);
}

static double log_sum_exp(const struct line *l)
{
    double most = -INFINITY, total = 0;
    for (int i = 0; i < l->count; i++) {
        most = isnan(l->x[i]) || l->x[i] > most ? l->x[i] : most;
    }
    const double shift = isfinite(most) ? most : 0;
    for (int i = 0; i < l->count; i++) {
        total += exp(l->x[i] - shift);
    }
    return log(total) + shift;
}

static void logsumexp(struct line *l)
{
    l->value[0] = log_sum_exp(l);
}

/* x - max - log(sum(e^(x - max))), so that an infinite maximum is none. */
static void log_softmax(struct line *l)
{
    double most = -INFINITY, total = 0;
    for (int i = 0; i < l->count; i++) {
        most = isnan(l->x[i]) || l->x[i] > most ? l->x[i] : most;
    }
    for (int i = 0; i < l->count; i++) {
        total += exp(l->x[i] - most);
    }
    for (int i = 0; i < l->count; i++) {
        l->value[i] = l->x[i] - most - log(total);
    }
}

static void softmax(struct line *l)
{
    log_softmax(l);
    for (int i = 0; i < l->count; i++) {
        l->value[i] = exp(l->value[i]);
    }
}

/* Of gradOutput and output, which are the same here: y (g - sum(g y)). */
static void softmax_gradient(struct line *l)
{
    double total = 0;
    for (int i = 0; i < l->count; i++) {
        total += l->x[i] * l->x[i];
    }
    for (int i = 0; i < l->count; i++) {
        l->value[i] = l->x[i] * (l->x[i] - total);
    }
}

/* g - e^y sum(g). */
static void log_softmax_gradient(struct line *l)
{
    cumsum(l);
    const double total = l->value[l->count - 1];
    for (int i = 0; i < l->count; i++) {
        l->value[i] = l->x[i] - exp(l->x[i]) * total;
    }
}

static const struct line_reference references[] = {
    {"All", truth, 1, LINE_EXACT},
    {"Amax", largest, 1, LINE_EXACT},
    {"Amin", smallest, 1, LINE_EXACT},
    {"Any", any, 1, LINE_EXACT},
    {"ArgMax", largest, 1, LINE_EXACT},
    {"ArgMin", smallest, 1, LINE_EXACT},
    {"Cummax", cummax, 0, LINE_EXACT},
    {"Cummin", cummin, 0, LINE_EXACT},
    {"Cumprod", cumprod, 0, LINE_SUMS | LINE_FLOATS},
    {"Cumsum", cumsum, 0, LINE_SUMS | LINE_FLOATS},
    {"Kthvalue", kth, 1, LINE_EXACT},
    {"LinalgVectorNorm", norm, 1, LINE_SUMS | LINE_FLOATS},
    {"LogSoftmax", log_softmax, 0, LINE_SUMS | LINE_FLOATS},
    {"LogSoftmaxBackward", log_softmax_gradient, 0, LINE_SUMS | LINE_FLOATS},
    {"LogSumExp", logsumexp, 1, LINE_SUMS | LINE_FLOATS},
    {"Max", largest, 1, LINE_WHOLE},
    {"MaxDim", largest, 1, LINE_EXACT},
    {"Mean", mean, 1, LINE_SUMS | LINE_FLOATS},
    {"Median", median, 1, LINE_WHOLE},
    {"MedianDim", median, 1, LINE_EXACT},
    {"Min", smallest, 1, LINE_WHOLE},
    {"MinDim", smallest, 1, LINE_EXACT},
    {"NanMedian", nan_median, 1, LINE_WHOLE},
    {"NanMedianDim", nan_median, 1, LINE_EXACT},
    {"Norm", norm, 1, LINE_SUMS | LINE_FLOATS},
    {"Prod", prod, 1, LINE_SUMS | LINE_FLOATS | LINE_WHOLE},
    {"ProdDim", prod, 1, LINE_SUMS | LINE_FLOATS},
    {"ReduceNansum", nansum, 1, LINE_SUMS},
    {"ReduceSum", sum, 1, LINE_SUMS},
    {"Softmax", softmax, 0, LINE_SUMS | LINE_FLOATS},
    {"SoftmaxBackward", softmax_gradient, 0, LINE_SUMS | LINE_FLOATS},
    {"Sort", sort, 0, LINE_EXACT},
    {"Std", deviation, 1, LINE_SUMS | LINE_FLOATS},
    {"StdMeanCorrection", deviation, 1, LINE_SUMS | LINE_FLOATS},
    {"Topk", top, LINE_BYTES_MAX, LINE_EXACT},
    {"TopkV2", top, LINE_BYTES_MAX, LINE_EXACT},
    {"Var", var, 1, LINE_SUMS | LINE_FLOATS},
    {"VarCorrection", var, 1, LINE_SUMS | LINE_FLOATS},
    {"VarMean", var, 1, LINE_SUMS | LINE_FLOATS},
};
const struct line_reference *line_reference_find(const char *row)
{
    for (unsigned i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
        if (strcmp(references[i].row, row) == 0) {
            return &references[i];
        }
    }
    return NULL;
}
