#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints math_tables.h: the constants of the device math library, computed with mpmath (pip install mpmath).
python3 math_tables.py | clang-format-19 --assume-filename=x.h > math_tables.h"""
import mpmath as mp

mp.mp.prec = 1600


def double(x):
    return float(mp.mpf(x)).hex()


def parts(x, bits, count):
    """x as a sum of doubles, each but the last cut to so many bits."""
    out = []
    for i in range(count):
        with mp.workprec(bits if i + 1 < count else 53):
            part = mp.mpf(x) * 1
        part = mp.mpf(part)
        out.append(float(part).hex())
        x -= part
    return out


def chebyshev(f, low, high, degree):
    """Coefficients in powers of the argument of the polynomial through the Chebyshev points."""
    n = degree + 1
    middle, half = mp.mpf(low + high) / 2, mp.mpf(high - low) / 2
    points = [mp.cos(mp.pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    values = [f(middle + half * p) for p in points]
    matrix = mp.matrix(n, n)
    for i, p in enumerate(points):
        for k in range(n):
            matrix[i, k] = (middle + half * p) ** k
    return list(mp.lu_solve(matrix, mp.matrix(values)))


def table(name, values, comment):
    print(f"/** {comment} */")
    print(f"__attribute__((unused)) static const double {name}[] = {{{', '.join(double(v) for v in values)}}};")


def main():
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by math_tables.py; not edited. */\n#pragma once\n\n#include <stdint.h>\n")
    for name, value, bits, count in (("LN2", mp.log(2), 32, 2), ("HALF_PI", mp.pi / 2, 53, 3),
                                     ("PI", mp.pi, 53, 2), ("LOG2_E", 1 / mp.log(2), 53, 2),
                                     ("LOG10_E", 1 / mp.log(10), 53, 2), ("LN2_FULL", mp.log(2), 53, 2)):
        for i, part in enumerate(parts(value, bits, count)):
            print(f"#define {name}_{i} {part}")
    print(f"#define TWO_OVER_PI {double(2 / mp.pi)}")
    print(f"#define TWO_OVER_SQRT_PI {double(2 / mp.sqrt(mp.pi))}\n")
    atans = [mp.atan(mp.mpf(k) / 16) for k in range(17)]
    table("atan_high", atans, "atan(k / 16)")
    table("atan_low", [a - mp.mpf(float(a)) for a in atans], "what atan_high lacks")
    table("erf_small", chebyshev(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z), 0, 1, 14),
          "erf(x) / x in powers of x * x, 0 < x < 1")

    def scaled(y):  # (1 + 2 x) erfc(x) exp(x * x), y = (x - 4) / (x + 4)
        x = 4 * (1 + y) / (1 - y)
        return (1 + 2 * x) * mp.erfc(x) * mp.exp(x * x)
    # x from 0.5 to 28
    table("erfc_scaled", chebyshev(scaled, mp.mpf(-7) / 9, mp.mpf(3) / 4, 24),
          "(1 + 2 x) erfc(x) exp(x * x) in powers of (x - 4) / (x + 4), 0.5 < x < 28")
    bits = int(mp.floor(2 / mp.pi * mp.mpf(2) ** 1280))
    words = [bits >> (1280 - 64 * (i + 1)) & (2 ** 64 - 1) for i in range(20)]
    print("/** 2 / pi, the fraction's bits from the highest on. */")
    print(f"__attribute__((unused)) static const uint64_t two_over_pi_bits[] = {{{', '.join(f'UINT64_C({w:#x})' for w in words)}}};")


main()
