# SPDX-License-Identifier: Apache-2.0
"""Operands worth trying: corner cases of integers and of every floating-point format, and seeded random ones."""

import random

MASK64 = (1 << 64) - 1


class Format:
    """A binary floating-point format: letter in mnemonics, exponent bits, mantissa bits."""

    def __init__(self, letter, exp_bits, mantissa_bits):
        self.letter, self.exp_bits, self.mantissa_bits = letter, exp_bits, mantissa_bits
        self.width = 1 + exp_bits + mantissa_bits
        self.bias = (1 << (exp_bits - 1)) - 1
        self.exp_max = (1 << exp_bits) - 1

    def make(self, sign, exp, mantissa):
        return sign << (self.width - 1) | exp << self.mantissa_bits | mantissa

    def box(self, bits):
        return bits | (MASK64 << self.width & MASK64)

    def power(self, sign, exponent, mantissa=0):
        """+-2^exponent * 1.mantissa, or infinity if that is too large, or the least number if too small."""
        exp = min(max(exponent + self.bias, 0), self.exp_max)
        return self.make(sign, exp, 0 if exp == self.exp_max else mantissa)


H, S, D, BF16 = Format("h", 5, 10), Format("s", 8, 23), Format("d", 11, 52), Format("bf16", 8, 7)

INTEGERS = [0, 1, 2, 3, 5, 31, 32, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fffffff, 0x80000000, 0xffffffff,
            1 << 32, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, MASK64, MASK64 - 1, MASK64 - 62, MASK64 - 0x7fffffff,
            MASK64 - 0x80000000, 0x0123456789abcdef, 0xaaaaaaaaaaaaaaaa]


def integer(rng):
    value = rng.getrandbits(64)
    shift = rng.choice((0, 0, 8, 32, 33, 48, 60))
    return value >> shift if rng.getrandbits(1) else (MASK64 ^ value >> shift)


def corners(fmt):
    ones = (1 << fmt.mantissa_bits) - 1
    top = 1 << (fmt.mantissa_bits - 1)
    positive = [fmt.make(0, 0, 0), fmt.make(0, 0, 1), fmt.make(0, 0, top), fmt.make(0, 0, ones), fmt.make(0, 1, 0),
                fmt.power(0, -1), fmt.power(0, -1, ones), fmt.power(0, 0), fmt.power(0, 0, 1), fmt.power(0, 0, top),
                fmt.power(0, 1, top >> 1), fmt.make(0, fmt.exp_max - 1, ones), fmt.make(0, fmt.exp_max, 0),
                fmt.make(0, fmt.exp_max, top), fmt.make(0, fmt.exp_max, 1)]
    return positive + [bits | 1 << (fmt.width - 1) for bits in positive]


def integer_bounds(fmt):
    """Numbers about the limits of the integer types."""
    out = []
    for exponent in (7, 15, 16, 30, 31, 32, 62, 63, 64):
        for sign in (0, 1):
            below = fmt.power(sign, exponent)
            out += [below, below + 1, below - 1]
    return out


def pattern(fmt, rng):
    """A mantissa of a random prefix and a tail just at, below or above half: exact ties after narrowing."""
    bits = fmt.mantissa_bits
    keep = rng.randrange(bits)
    tail = bits - keep
    half = 1 << (tail - 1)
    mantissa = (rng.getrandbits(keep) << tail if keep else 0) | rng.choice((0, half, half - 1, min(half + 1, 2 * half - 1)))
    exponent = rng.choice((rng.randint(-3, 12), rng.randint(-30, 20), rng.randint(-160, 140), rng.randint(-1080, 1030)))
    return fmt.power(rng.getrandbits(1), exponent, mantissa)


def number(fmt, rng):
    kind = rng.randrange(4)
    if kind == 0:
        return rng.getrandbits(fmt.width)
    if kind == 1:
        return fmt.power(rng.getrandbits(1), rng.randint(-4, 4), rng.getrandbits(fmt.mantissa_bits))
    return pattern(fmt, rng)


def register(fmt, rng):
    """A whole f register: now and then not boxed."""
    bits = fmt.box(number(fmt, rng))
    return bits & ~(1 << rng.randrange(fmt.width, 64)) if fmt.width < 64 and rng.random() < 0.03 else bits


def tables(seed):
    """name -> rows, tuples of 64-bit register values."""
    rng = random.Random(seed)
    out = {
        "i1": [(a,) for a in INTEGERS] + [(integer(rng),) for _ in range(100)],
        "i2": [(a, b) for a in INTEGERS for b in INTEGERS] + [(integer(rng), integer(rng)) for _ in range(300)],
    }
    for fmt in (H, S, D):
        boxed = [fmt.box(bits) for bits in corners(fmt)]
        if fmt.width < 64:
            boxed.append(fmt.power(0, 0))  # 1.0, but not boxed
        few = boxed[0:1] + boxed[1:15:2] + boxed[12:15] + boxed[15:16] + boxed[16:30:3] + boxed[27:28]
        bounds = [fmt.box(bits & ((1 << fmt.width) - 1)) for bits in integer_bounds(fmt)]
        out[fmt.letter + "1"] = [(a,) for a in boxed + bounds] + [(register(fmt, rng),) for _ in range(500)]
        out[fmt.letter + "2"] = ([(a, b) for a in boxed for b in boxed] +
                                 [(register(fmt, rng), register(fmt, rng)) for _ in range(700)])
        triples = [(a, b, c) for a in few for b in few for c in few]
        triples += [(register(fmt, rng), register(fmt, rng), register(fmt, rng)) for _ in range(1500)]
        triples += [cancelling(fmt, rng) for _ in range(500)]
        out[fmt.letter + "3"] = triples
    out["bf16"] = [(BF16.box(a),) for a in range(1 << 16)] + [(0x3f80,)]
    return out


def cancelling(fmt, rng):
    """a * b + c where c nearly takes the product away."""
    ea, eb = rng.randint(-5, 5), rng.randint(-5, 5)
    sign = rng.getrandbits(1)
    a = fmt.power(sign, ea, rng.getrandbits(fmt.mantissa_bits))
    b = fmt.power(0, eb, rng.choice((0, 1, rng.getrandbits(fmt.mantissa_bits))))
    c = fmt.power(sign ^ 1, ea + eb + rng.randint(-1, 1), a & ((1 << fmt.mantissa_bits) - 1))
    return fmt.box(a), fmt.box(b), fmt.box(c)
