/* SPDX-License-Identifier: Apache-2.0 */
/* Decompositions of small matrices in f64 on the scalar unit. */
#include "../device/element.h"
#include "linalg_args.h"

#include <math.h>
#include <stdbool.h>

typedef __gm__ double *matrix;

/* The matrices of this block, one after the other. */
#define FOR_EACH_MATRIX(t, i)                                                                      \
    for (uint64_t i = get_block_idx() * (t).per_block;                                             \
         i < op_min64((get_block_idx() + 1) * (t).per_block, (t).count); i++)

OP_INLINE matrix at(uint64_t base, int64_t pitch, uint64_t i)
{
    return (matrix)base + (int64_t)i * pitch;
}

/* a = L L' (the lower half of a is read); q = L, or L' if upper. */
__global__ __vector__ void linalg_cholesky(struct op_linalg_args args)
{
    const struct op_linalg_args t = args;
    const int64_t n = t.rows;
    FOR_EACH_MATRIX(t, m)
    {
        const matrix a = at(t.a, t.a_pitch, m), out = at(t.q, t.q_pitch, m);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j <= i; j++) {
                double sum = t.upper ? a[j * n + i] : a[i * n + j];
                for (int64_t k = 0; k < j; k++) {
                    sum -=
                        t.upper ? out[k * n + i] * out[k * n + j] : out[i * n + k] * out[j * n + k];
                }
                if (i == j && !(sum > 0)) {
                    trap(); // the matrix is not positive definite
                }
                const int64_t to = t.upper ? j * n + i : i * n + j, diagonal = j * n + j,
                              mirror = t.upper ? i * n + j : j * n + i;
                out[mirror] = 0;
                out[to] = i == j ? sqrt(sum) : sum / out[diagonal];
            }
        }
    }
    op_flush();
}

static void swap_rows(matrix a, int64_t n, int64_t i, int64_t j)
{
    for (int64_t k = 0; i != j && k < n; k++) {
        const double kept = a[i * n + k];
        a[i * n + k] = a[j * n + k];
        a[j * n + k] = kept;
    }
}

/* q = inverse of a, by Gauss and Jordan with the largest pivot of the column; a becomes 1. */
__global__ __vector__ void linalg_inverse(struct op_linalg_args args)
{
    const struct op_linalg_args t = args;
    const int64_t n = t.rows;
    FOR_EACH_MATRIX(t, m)
    {
        const matrix a = at(t.a, t.a_pitch, m), out = at(t.q, t.q_pitch, m);
        for (int64_t i = 0; i < n * n; i++) {
            out[i] = i % (n + 1) == 0;
        }
        for (int64_t c = 0; c < n; c++) {
            int64_t pivot = c;
            for (int64_t i = c + 1; i < n; i++) {
                pivot = fabs(a[i * n + c]) > fabs(a[pivot * n + c]) ? i : pivot;
            }
            if (!(fabs(a[pivot * n + c]) > 0)) {
                trap(); // the matrix is singular
            }
            swap_rows(a, n, c, pivot);
            swap_rows(out, n, c, pivot);
            const double scale = 1 / a[c * n + c];
            for (int64_t k = 0; k < n; k++) {
                a[c * n + k] *= scale;
                out[c * n + k] *= scale;
            }
            for (int64_t i = 0; i < n; i++) {
                const double factor = a[i * n + c];
                for (int64_t k = 0; i != c && k < n; k++) {
                    a[i * n + k] -= factor * a[c * n + k];
                    out[i * n + k] -= factor * out[c * n + k];
                }
            }
        }
    }
    op_flush();
}

/* Columns [begin, columns) of x [rows, columns] mirrored by v, which lies from `top` down: x -= tau
 * v (v' x). */
static void mirror(matrix x, int64_t rows, int64_t columns, int64_t begin, int64_t top, matrix v,
                   double tau)
{
    for (int64_t c = begin; c < columns; c++) {
        double sum = 0;
        for (int64_t i = top; i < rows; i++) {
            sum += v[i] * x[i * columns + c];
        }
        for (int64_t i = top; i < rows; i++) {
            x[i * columns + c] -= tau * sum * v[i];
        }
    }
}

/* a = q r by Householder's mirrors, signs as LAPACK has them: the diagonal of r has the sign
 * opposite to what it replaces. q [rows, q_columns]; a becomes r. scratch: a vector and a factor
 * for each column. */
__global__ __vector__ void linalg_qr(struct op_linalg_args args)
{
    const struct op_linalg_args t = args;
    const int64_t rows = t.rows, columns = t.columns, least = rows < columns ? rows : columns;
    FOR_EACH_MATRIX(t, m)
    {
        const matrix a = at(t.a, t.a_pitch, m), q = at(t.q, t.q_pitch, m),
                     vectors = at(t.scratch, t.scratch_pitch, m), factors = vectors + least * rows;
        for (int64_t c = 0; c < least; c++) {
            const matrix v = vectors + c * rows;
            double below = 0;
            for (int64_t i = c + 1; i < rows; i++) {
                below += a[i * columns + c] * a[i * columns + c];
                v[i] = a[i * columns + c];
            }
            const double x = a[c * columns + c];
            if (below == 0) {
                factors[c] = 0;
                v[c] = 1;
                continue;
            }
            const double norm = sqrt(x * x + below), beta = x > 0 ? -norm : norm;
            for (int64_t i = c + 1; i < rows; i++) {
                v[i] /= x - beta;
            }
            v[c] = 1;
            factors[c] = (beta - x) / beta;
            mirror(a, rows, columns, c, c, v, factors[c]);
        }
        for (int64_t i = 0; i < rows * t.q_columns; i++) {
            q[i] = i / t.q_columns == i % t.q_columns;
        }
        for (int64_t c = least; c-- > 0;) {
            mirror(q, rows, t.q_columns, 0, c, vectors + c * rows, factors[c]);
        }
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t c = 0; c < i && c < columns; c++) {
                a[i * columns + c] = 0;
            }
        }
    }
    op_flush();
}

/* One turn of columns i and j of a and v, so that those of a are at right angles; false: they were.
 */
static bool turn(matrix a, matrix v, int64_t rows, int64_t n, int64_t i, int64_t j)
{
    double aa = 0, bb = 0, ab = 0;
    for (int64_t k = 0; k < rows; k++) {
        const double x = a[k * n + i], y = a[k * n + j];
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    if (!(fabs(ab) > 1e-15 * sqrt(aa * bb))) {
        return false;
    }
    const double zeta = (bb - aa) / (2 * ab),
                 tangent = (zeta >= 0 ? 1 : -1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    const double c = 1 / sqrt(1 + tangent * tangent), s = c * tangent;
    for (int64_t k = 0; k < rows + n; k++) {
        const matrix x = k < rows ? a + k * n : v + (k - rows) * n;
        const double left = x[i], right = x[j];
        x[i] = c * left - s * right;
        x[j] = s * left + c * right;
    }
    return true;
}

/* Takes from column i of u [rows, columns] what lies along those before it; the square of what is
 * left. */
static double take_away(matrix u, int64_t rows, int64_t columns, int64_t i)
{
    double length = 0;
    for (int64_t j = 0; j < i; j++) {
        double along = 0;
        for (int64_t k = 0; k < rows; k++) {
            along += u[k * columns + i] * u[k * columns + j];
        }
        for (int64_t k = 0; k < rows; k++) {
            u[k * columns + i] -= along * u[k * columns + j];
        }
    }
    for (int64_t k = 0; k < rows; k++) {
        length += u[k * columns + i] * u[k * columns + i];
    }
    return length;
}

/* Column i of u becomes a unit vector at right angles to those before it: what is left of the first
 * axis that keeps enough of its length. One keeps at least 1 / rows of its square; none before
 * `axis` does, since each column takes more away. The next axis to try. */
static int64_t complete(matrix u, int64_t rows, int64_t columns, int64_t i, int64_t axis)
{
    for (; axis < rows; axis++) {
        for (int64_t k = 0; k < rows; k++) {
            u[k * columns + i] = k == axis;
        }
        if (take_away(u, rows, columns, i) * (double)(2 * rows) >= 1) {
            break;
        }
    }
    const double length = sqrt(take_away(u, rows, columns, i)); // what rounding had left goes too
    for (int64_t k = 0; k < rows; k++) {
        u[k * columns + i] /= length;
    }
    return axis + 1;
}

static void put_left(matrix a, matrix u, matrix sigma, const struct op_linalg_args *t)
{
    const double least = 1e-14; // of the largest: below it a column is what rounding left
    int64_t axis = 0;
    for (int64_t i = 0; i < t->q_columns; i++) {
        if (i >= t->columns || !(sigma[i] > least * sigma[0])) {
            axis = complete(u, t->rows, t->q_columns, i, axis);
            continue;
        }
        for (int64_t k = 0; k < t->rows; k++) {
            u[k * t->q_columns + i] = a[k * t->columns + i] / sigma[i];
        }
    }
}

/* Singular values by turns of pairs of columns (one-sided Jacobi), rows >= columns: a = u sigma v'.
 * u is q [rows, q_columns], v is r [columns, columns]; sigma falls. Columns of u without a singular
 * value that counts are any that complete it. */
__global__ __vector__ void linalg_svd(struct op_linalg_args args)
{
    const struct op_linalg_args t = args;
    const int64_t rows = t.rows, n = t.columns;
    FOR_EACH_MATRIX(t, m)
    {
        const matrix a = at(t.a, t.a_pitch, m), v = at(t.r, t.r_pitch, m),
                     sigma = at(t.sigma, t.sigma_pitch, m);
        for (int64_t i = 0; i < n * n; i++) {
            v[i] = i % (n + 1) == 0;
        }
        bool turned = true;
        for (int sweep = 0; turned && sweep < 60; sweep++) {
            turned = false;
            for (int64_t i = 0; i < n; i++) {
                for (int64_t j = i + 1; j < n; j++) {
                    turned = turn(a, v, rows, n, i, j) || turned;
                }
            }
        }
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            for (int64_t k = 0; k < rows; k++) {
                sum += a[k * n + i] * a[k * n + i];
            }
            sigma[i] = sqrt(sum);
        }
        for (int64_t i = 0; i < n; i++) { // the largest of what is left comes next
            int64_t most = i;
            for (int64_t j = i + 1; j < n; j++) {
                most = sigma[j] > sigma[most] ? j : most;
            }
            const double kept = sigma[i];
            sigma[i] = sigma[most];
            sigma[most] = kept;
            for (int64_t k = 0; k < rows + n; k++) {
                const matrix x = k < rows ? a + k * n : v + (k - rows) * n;
                const double old = x[i];
                x[i] = x[most];
                x[most] = old;
            }
        }
        put_left(a, at(t.q, t.q_pitch, m), sigma, &t);
    }
    op_flush();
}

/* sigma = sign and logarithm of |det a|, by elimination with the largest pivot of the column. */
__global__ __vector__ void linalg_slogdet(struct op_linalg_args args)
{
    const struct op_linalg_args t = args;
    const int64_t n = t.rows;
    FOR_EACH_MATRIX(t, m)
    {
        const matrix a = at(t.a, t.a_pitch, m), out = at(t.sigma, t.sigma_pitch, m);
        double sign = 1, sum = 0;
        for (int64_t c = 0; c < n; c++) {
            int64_t pivot = c;
            for (int64_t i = c + 1; i < n; i++) {
                pivot = fabs(a[i * n + c]) > fabs(a[pivot * n + c]) ? i : pivot;
            }
            const double diagonal = a[pivot * n + c];
            sign = diagonal == 0 ? 0 : (diagonal < 0) == (pivot != c) ? sign : -sign;
            sum += log(fabs(diagonal));
            if (diagonal == 0) {
                break;
            }
            swap_rows(a, n, c, pivot);
            for (int64_t i = c + 1; i < n; i++) {
                const double factor = a[i * n + c] / diagonal;
                for (int64_t k = c + 1; k < n; k++) {
                    a[i * n + k] -= factor * a[c * n + k];
                }
            }
        }
        out[0] = sign;
        out[1] = sum;
    }
    op_flush();
}

/* a x = q (a' x = q) with a triangular [rows, rows]; q [rows, q_columns] becomes x. */
__global__ __vector__ void linalg_triangular(struct op_linalg_args args)
{
    const struct op_linalg_args t = args;
    const int64_t n = t.rows, columns = t.q_columns;
    const bool from_top = t.upper == t.transposed;
    FOR_EACH_MATRIX(t, m)
    {
        const matrix a = at(t.a, t.a_pitch, m), x = at(t.q, t.q_pitch, m);
        for (int64_t step = 0; step < n; step++) {
            const int64_t i = from_top ? step : n - 1 - step;
            for (int64_t c = 0; c < columns; c++) {
                double sum = x[i * columns + c];
                for (int64_t k = from_top ? 0 : i + 1; k < (from_top ? i : n); k++) {
                    sum -= (t.transposed ? a[k * n + i] : a[i * n + k]) * x[k * columns + c];
                }
                x[i * columns + c] = t.unit ? sum : sum / a[i * n + i];
            }
        }
    }
    op_flush();
}
