#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""second.py LEO DOCS: a second simulator of some instructions, written from docs/hw alone, against the chip, bit by bit.

Values are fractions; the constants of exp and ln are read from docs/hw/numbers.md. Random numbers and edge values of f32 and
f16 go through a kernel of each type on both chips, one instruction after the other on the same inputs."""

import random
import re
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction
from math import isqrt
from pathlib import Path

COUNT = 256  # elements of each operand and result
# A value is a Fraction, or a pair (kind, negative) for what fractions do not have.
NAN = ("nan", False)


def zero(negative):
    return ("zero", negative)


def infinity(negative):
    return ("inf", negative)


class Format:
    """HW-NUM-01: sign, exponent, fraction; denormals are numbers."""

    def __init__(self, width, exponent_bits, nan):
        self.width, self.exponent_bits, self.nan = width, exponent_bits, nan
        self.fraction = width - 1 - exponent_bits
        self.bias = (1 << (exponent_bits - 1)) - 1
        self.most = ((1 << exponent_bits) - 1 << self.fraction) - 1  # bits of the largest number

    def load(self, bits):
        negative = bool(bits >> (self.width - 1))
        exponent = bits >> self.fraction & (1 << self.exponent_bits) - 1
        fraction = bits & (1 << self.fraction) - 1
        if exponent == (1 << self.exponent_bits) - 1:
            return NAN if fraction else infinity(negative)
        if not exponent and not fraction:
            return zero(negative)
        size = Fraction(fraction + (1 << self.fraction if exponent else 0)) * power(max(exponent, 1) - self.bias - self.fraction)
        return -size if negative else size

    def store(self, value, mode="rint"):
        """HW-NUM-02, HW-NUM-10, HW-NUM-11, HW-VEC-21."""
        if isinstance(value, tuple):
            kind, negative = value
            if kind == "nan":
                return self.nan
            return (negative << (self.width - 1)) | (self.most + 1 if kind == "inf" else 0)
        negative, size = value < 0, abs(value)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < power(exponent)
        exponent = max(exponent, 1 - self.bias)
        steps = whole(size / power(exponent - self.fraction), mode, negative)
        # A carry out of the fraction counts the exponent up.
        bits = (exponent + self.bias - 1 << self.fraction) + steps
        if bits > self.most:
            away = mode in ("none", "rint", "round") or mode == ("floor" if negative else "ceil")
            bits = self.most + 1 if away else self.most
        return negative << (self.width - 1) | bits

    def round(self, value, mode="rint"):
        return self.load(self.store(value, mode))


def power(exponent):
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def whole(size, mode, negative):
    """A size to an integer, HW-VEC-21."""
    low = size.numerator // size.denominator
    rest = size - low
    if mode in ("none", "rint"):
        return low + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2))
    if mode == "round":
        return low + (rest >= Fraction(1, 2))
    if mode == "odd":
        return low + (rest > 0 and low % 2 == 0)
    return low + (rest > 0 and mode == ("floor" if negative else "ceil"))


F32, F16 = Format(32, 8, 0x7FC00000), Format(16, 5, 0x7E00)


def sign_of(x):
    return x[1] if isinstance(x, tuple) else x < 0


def is_zero(x):
    return isinstance(x, tuple) and x[0] == "zero"


def is_inf(x):
    return isinstance(x, tuple) and x[0] == "inf"


def number(x):
    return Fraction(0) if is_zero(x) else x


# Operations without their rounding. NaN in, NaN out.
def product(a, b):
    if NAN in (a, b):
        return NAN
    negative = sign_of(a) != sign_of(b)
    if is_inf(a) or is_inf(b):
        return NAN if is_zero(a) or is_zero(b) else infinity(negative)
    return zero(negative) if is_zero(a) or is_zero(b) else a * b


def total(a, b):
    if NAN in (a, b):
        return NAN
    if is_inf(a) or is_inf(b):
        return NAN if is_inf(a) and is_inf(b) and a != b else a if is_inf(a) else b
    result = number(a) + number(b)
    if result == 0:
        return zero(is_zero(a) and is_zero(b) and sign_of(a) and sign_of(b))
    return result


def quotient(a, b):
    if NAN in (a, b) or (is_inf(a) and is_inf(b)) or (is_zero(a) and is_zero(b)):
        return NAN
    negative = sign_of(a) != sign_of(b)
    if is_inf(a) or is_zero(b):
        return infinity(negative)
    return zero(negative) if is_zero(a) or is_inf(b) else a / b


def root(x):
    """Enough bits of the square root, the last one set if any were lost."""
    if x == NAN or is_zero(x):
        return x
    if sign_of(x):
        return NAN
    if is_inf(x):
        return x
    scaled = x * power(400)
    low = isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(low * low) == scaled
    return Fraction(2 * low + (not exact)) * power(-201)


def negated(x):
    return (x[0], not x[1]) if isinstance(x, tuple) and x != NAN else x if x == NAN else -x


def less(a, b):
    """Of two that are not NaN."""
    ranks = [(-1 if sign_of(x) else 1, Fraction(0)) if is_inf(x) else (0, number(x)) for x in (a, b)]
    return ranks[0] < ranks[1]


def equal(a, b):
    return not less(a, b) and not less(b, a)


def largest(a, b):
    """HW-VEC-12."""
    if NAN in (a, b):
        return NAN
    if equal(a, b):
        return a if not sign_of(a) else b
    return b if less(a, b) else a


def smallest(a, b):
    return NAN if NAN in (a, b) else negated(largest(negated(a), negated(b)))


# One f32 operation each.
def add(a, b):
    return F32.round(total(a, b))


def sub(a, b):
    return add(a, negated(b))


def mul(a, b):
    return F32.round(product(a, b))


def fma(a, b, c):
    return F32.round(total(product(a, b), c))


def constants(docs):
    """The table of HW-NUM-20."""
    text = (docs / "numbers.md").read_text()
    found = re.findall(r"^\| (EXP_\w+|LN_\w+|LN2_\w+|LOG2E|ROUND_MAGIC) \| (0x[0-9a-f]{8}) \|", text, re.M)
    return {name: F32.load(int(bits, 16)) for name, bits in found}


def exponential(x, k):
    if x == NAN:
        return NAN
    x = k["EXP_MAX"] if less(k["EXP_MAX"], x) else x
    x = k["EXP_MIN"] if less(x, k["EXP_MIN"]) else x
    n = sub(add(mul(x, k["LOG2E"]), k["ROUND_MAGIC"]), k["ROUND_MAGIC"])
    r = fma(n, negated(k["LN2_HIGH"]), x)
    r = fma(n, negated(k["LN2_LOW"]), r)
    p = k["EXP_C7"]
    for name in ("EXP_C6", "EXP_C5", "EXP_C4", "EXP_C3", "EXP_C2"):
        p = fma(p, r, k[name])
    p = add(fma(p, mul(r, r), r), Fraction(1))
    n = int(number(n))
    return mul(mul(p, power(n // 2)), power(n - n // 2))


def logarithm(x, k):
    if x == NAN or (sign_of(x) and not is_zero(x)):
        return NAN
    if is_zero(x):
        return infinity(True)
    if is_inf(x):
        return x
    s = 23 if x < power(-126) else 0
    u = (F32.store(x * power(s)) - 0x3F3504F3) % (1 << 32)
    e = Fraction((u - (1 << 32) if u >> 31 else u) // (1 << 23) - s)
    e = e if e else zero(False)
    f = sub(F32.load(u % (1 << 23) + 0x3F3504F3), Fraction(1))
    p = k["LN_C8"]
    for i in range(7, -1, -1):
        p = fma(p, f, k[f"LN_C{i}"])
    z = mul(f, f)
    y = mul(mul(p, f), z)
    y = fma(e, k["LN2_LOW"], y)
    y = fma(z, Fraction(-1, 2), y)
    return fma(e, k["LN2_HIGH"], add(f, y))


def to_integer(x, bits, mode):
    """HW-VEC-22."""
    most = (1 << (bits - 1)) - 1
    if x == NAN:
        return 0
    if is_inf(x):
        value = -most - 1 if sign_of(x) else most
    else:
        value = whole(abs(number(x)), mode, sign_of(x)) * (-1 if sign_of(x) else 1)
    return min(max(value, -most - 1), most) & (1 << bits) - 1


def tree(values, step):
    """HW-VEC-30: adjacent ones, each sum rounded by `step`."""
    while len(values) > 1:
        values = [step(a, b) for a, b in zip(values[::2], values[1::2])]
    return values[0]


class Second:
    """The instructions of the kernel below, for one type on one chip."""

    def __init__(self, kind, saturates, k):
        self.type, self.saturates, self.k = kind, saturates, k
        self.lanes = 2048 // kind.width

    def result(self, value, target=None, mode="rint"):
        """HW-NUM-15: rounded to f32 first where the type is f16 (HW-VEC-10)."""
        target = target or self.type
        bits = target.store(value, mode)
        if self.saturates:
            stored = target.load(bits)
            if stored == NAN:
                return 0
            if is_inf(stored):
                return bits - 1
        return bits

    def two(self, name, a, b, c):
        """vadd and the like; c is what the destination holds."""
        if name in ("vadd", "vsub", "vmul", "vdiv"):
            step = {"vadd": total, "vsub": lambda x, y: total(x, negated(y)), "vmul": product, "vdiv": quotient}[name]
            return self.result(F32.round(step(a, b)))
        if name in ("vmax", "vmin"):
            return self.type.store(largest(a, b) if name == "vmax" else smallest(a, b))
        if name == "vmadd":
            return self.result(fma(c, a, b))
        return self.result(fma(a, b, c))  # vmla

    def one(self, name, x):
        if name == "vabs":
            return self.type.store(NAN if x == NAN else negated(x) if sign_of(x) else x)
        if name == "vrelu":
            return self.type.store(largest(x, zero(False)))
        if name == "vexp":
            return self.result(exponential(x, self.k))
        if name == "vln":
            return self.result(logarithm(x, self.k))
        if name == "vsqrt":
            return self.result(F32.round(root(x)))
        if name == "vrsqrt":
            return self.result(F32.round(quotient(Fraction(1), F32.round(root(x)))))
        return self.result(F32.round(quotient(Fraction(1), x)))  # vrec

    def sums(self, values, each):
        """vcadd, vcpadd: saturated once, behind the last addition."""
        step = lambda x, y: self.type.round(F32.round(total(x, y)))
        return [self.result(tree(values[i:i + each], step)) for i in range(0, len(values), each)]

    def extreme(self, values, pick):
        """vcmax, vcmin: value and index of its first lane, HW-VEC-31."""
        results = []
        for first in range(0, COUNT, self.lanes):
            lanes = values[first:first + self.lanes]
            best = lanes[0]
            for value in lanes[1:]:
                best = pick(best, value)
            same = (lambda x: x == NAN) if best == NAN else (lambda x: x != NAN and equal(x, best))
            results += [self.type.store(best), next(i for i, x in enumerate(lanes) if same(x))]
        return results


TWO = ("vadd", "vsub", "vmul", "vdiv", "vmax", "vmin", "vmadd", "vmla")
ONE = ("vabs", "vrelu", "vexp", "vln", "vsqrt", "vrsqrt", "vrec")
CONDITIONS = {"lt": lambda a, b: less(a, b), "le": lambda a, b: not less(b, a), "eq": equal,
              "ne": lambda a, b: not equal(a, b)}


def has(name, kind, chip):
    """The first generation has these for f16 only."""
    return kind is F16 or chip == "ascend910b1" or name not in ("vrelu", "vcpadd", "vcmax", "vcmin")


def expected(second, chip, inputs):
    """Bits of every output, in the order of the kernel: (name, width, values)."""
    kind = second.type
    a, b, c = ([kind.load(bits) for bits in operand] for operand in inputs)
    for name in TWO:
        yield name, kind.width, [second.two(name, x, y, z) for x, y, z in zip(a, b, c)]
    for name in ONE:
        yield name, kind.width, [second.one(name, x) for x in a] if has(name, kind, chip) else []
    yield "vcadd", kind.width, second.sums(a, second.lanes)
    yield "vcpadd", kind.width, second.sums(a, 2) if has("vcpadd", kind, chip) else []
    for name, pick in (("vcmax", largest), ("vcmin", smallest)):
        yield name, kind.width, second.extreme(a, pick) if has(name, kind, chip) else []
    for name, condition in CONDITIONS.items():
        bits = [x != NAN and y != NAN and condition(x, y) if name != "ne" else NAN in (x, y) or condition(x, y)
                for x, y in zip(a, b)]
        yield f"vcmpv_{name}", 8, [sum(bit << i for i, bit in enumerate(bits[at:at + 8])) for at in range(0, COUNT, 8)]
    for suffix, mode in (("r", "rint"), ("f", "floor"), ("c", "ceil"), ("a", "round"), ("z", "trunc")):
        yield f"to s32 {mode}", 32, [to_integer(x, 32, mode) for x in a]
    if kind is F32:
        for suffix, mode in (("", "none"), ("o", "odd")):
            yield f"to f16 {mode}", 16, [second.result(x, F16, mode) for x in a]
    else:
        yield "to f32", 32, [F32.store(x) for x in a]


def kernel(kind, chip):
    """The same in C, outputs 1 KiB apart."""
    name, repeats = ("float", 4) if kind is F32 else ("half", 2)
    lines, at = [], 0

    def issue(call):
        nonlocal at
        lines.append(f"    {call.replace('OUT', f'(out + {at})')}; pipe_barrier(PIPE_V);")
        at += 1024

    for insn in TWO:
        lines.append(f"    copy_ubuf_to_ubuf(out + {at}, c, 0, 1, {COUNT * kind.width // 256}, 0, 0); pipe_barrier(PIPE_V);")
        issue(f"{insn}(({name} *)OUT, a, b, {repeats}, 1, 1, 1, 8, 8, 8)")
    for insn in ONE:
        if has(insn, kind, chip):
            issue(f"{insn}(({name} *)OUT, a, {repeats}, 1, 1, 8, 8)")
        else:
            at += 1024
    issue(f"vcadd(({name} *)OUT, a, {repeats}, 1, 1, 8)")
    if has("vcpadd", kind, chip):
        issue(f"vcpadd(({name} *)OUT, a, {repeats}, 1, 1, 8)")
        issue(f"vcmax(({name} *)OUT, a, {repeats}, 1, 1, 8, VALUE_INDEX)")
        issue(f"vcmin(({name} *)OUT, a, {repeats}, 1, 1, 8, VALUE_INDEX)")
    else:
        at += 3 * 1024
    for condition in CONDITIONS:
        issue(f"vcmpv_{condition}(OUT, a, b, {repeats}, 1, 1, 1, 8, 8, 8)")
    short = "f32" if kind is F32 else "f16"
    for suffix in "rfcaz":
        issue(f"vconv_{short}2s32{suffix}((int32_t *)OUT, a, 4, 1, 1, 8, {8 if kind is F32 else 4})")
    if kind is F32:
        issue("vconv_f322f16((half *)OUT, a, 4, 1, 1, 4, 8)")
        issue("vconv_f322f16o((half *)OUT, a, 4, 1, 1, 4, 8)")
    else:
        issue("vconv_f162f32((float *)OUT, a, 4, 1, 1, 8, 4)")
    body = "\n".join(lines)
    return at, f"""#include <leo/device.h>
__ubuf_array__ {name} a[{COUNT}], b[{COUNT}], c[{COUNT}];
__ubuf_array__ uint8_t out[{at}];
__global__ __vector__ void k(__gm__ {name} *x, __gm__ uint8_t *y)
{{
    copy_gm_to_ubuf(a, x, 0, 1, sizeof(a) / 32, 0, 0);
    copy_gm_to_ubuf(b, x + {COUNT}, 0, 1, sizeof(b) / 32, 0, 0);
    copy_gm_to_ubuf(c, x + {2 * COUNT}, 0, 1, sizeof(c) / 32, 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    vector_dup((float *)out, 0.0f, {at // 256}, 1, 1, 8, 0);
    pipe_barrier(PIPE_V);
{body}
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(y, out, 0, 1, {at // 32}, 0, 0);
}}
"""


def numbers(kind, seed):
    """Edge values, any bits, numbers of usual size."""
    rng = random.Random(seed)
    top, one = (1 << kind.exponent_bits) - 1 << kind.fraction, kind.bias << kind.fraction
    edges = [0, 1, top - 1, top, top + 1, top | 1 << (kind.fraction - 1), 1 << kind.fraction, (1 << kind.fraction) - 1, one,
             one + 1, one - 1, one + (3 << kind.fraction)]
    edges += [bits | 1 << (kind.width - 1) for bits in edges]
    usual = [one + rng.randrange(-6 << kind.fraction, 7 << kind.fraction) | rng.getrandbits(1) << (kind.width - 1)
             for _ in range(COUNT // 2)]
    values = edges + usual
    values += [rng.getrandbits(kind.width) for _ in range(COUNT - len(values))]
    rng.shuffle(values)
    return values


def compare(leo, docs, chip, kind, seed):
    code = "f" if kind is F32 else "h"
    inputs = [numbers(kind, seed + i) for i in range(3)]
    bytes_out, text = kernel(kind, chip)
    layout = "<%dI" if kind is F32 else "<%dH"
    with tempfile.TemporaryDirectory(prefix="leo_second_") as folder:
        (Path(folder) / "k.c").write_text(text)
        (Path(folder) / "x").write_bytes(b"".join(struct.pack(layout % COUNT, *operand) for operand in inputs))
        for command in ([leo, "cc", "--soc", chip, "k.c", "-o", "k.elf"],
                        [leo, "run", "--soc", chip, "k.elf", "--arg", "in:x", "--arg", f"out:{bytes_out}:y"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                print(done.stdout, done.stderr)
                return 1
        out = (Path(folder) / "y").read_bytes()
    second = Second(kind, chip == "ascend910a", constants(docs))
    wrong = compared = at = 0
    for name, width, values in expected(second, chip, inputs):
        letter = {8: "B", 16: "H", 32: "I"}[width]
        got = struct.unpack_from(f"<{len(values)}{letter}", out, at)
        at += 1024
        compared += len(values)
        for i, (ours, theirs) in enumerate(zip(got, values)):
            if ours != theirs:
                wrong += 1
                if wrong < 20:
                    print(f"{chip} {code} {name} [{i}]: chip {ours:#x}, second {theirs:#x}, inputs "
                          + " ".join(f"{operand[i % COUNT]:#x}" for operand in inputs))
    print(f"{chip} {'f32' if kind is F32 else 'f16'}: {compared} results, {wrong} differ")
    return wrong


def main():
    leo, docs = sys.argv[1], Path(sys.argv[2])
    wrong = sum(compare(leo, docs, chip, kind, seed) for chip in ("ascend910a", "ascend910b1") for kind in (F32, F16)
                for seed in (1, 100))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
