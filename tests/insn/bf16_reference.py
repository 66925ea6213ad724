# SPDX-License-Identifier: Apache-2.0
"""What the two bfloat16 conversions must give, by exact fractions and not by bit tricks: QEMU 7.2 does not have them."""

from fractions import Fraction

from operands import BF16, MASK64, S

NX, UF, OF, NV = 1, 2, 4, 16
MODES = ("rne", "rtz", "rdn", "rup", "rmm")


def value_of(fmt, bits):
    exp = bits >> fmt.mantissa_bits & fmt.exp_max
    mantissa = bits & ((1 << fmt.mantissa_bits) - 1)
    if exp:
        mantissa |= 1 << fmt.mantissa_bits
    return Fraction(mantissa) * Fraction(2) ** (max(exp, 1) - fmt.bias - fmt.mantissa_bits)


def is_nan(fmt, bits):
    return bits & ((1 << (fmt.width - 1)) - 1) > fmt.exp_max << fmt.mantissa_bits


def unbox(fmt, register):
    low = register & ((1 << fmt.width) - 1)
    return low if fmt.box(low) == register else fmt.exp_max << fmt.mantissa_bits | 1 << (fmt.mantissa_bits - 1)


def round_fraction(x, mode, sign):
    """A non-negative fraction to an integer."""
    low = x.numerator // x.denominator
    rest = x - low
    up = {"rne": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low & 1), "rtz": False,
          "rdn": sign and rest > 0, "rup": not sign and rest > 0, "rmm": rest >= Fraction(1, 2)}[mode]
    return low + bool(up)


def narrow(magnitude, sign, mode):
    """(bf16 bits without sign, flags) of a finite magnitude."""
    if magnitude == 0:
        return 0, 0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    least = 1 - BF16.bias
    unit = Fraction(2) ** (max(exponent, least) - BF16.mantissa_bits)
    rounded = round_fraction(magnitude / unit, mode, sign) * unit
    flags = NX if rounded != magnitude else 0
    free_unit = Fraction(2) ** (exponent - BF16.mantissa_bits)
    if flags and round_fraction(magnitude / free_unit, mode, sign) * free_unit < Fraction(2) ** least:
        flags |= UF
    if rounded >= Fraction(2) ** (BF16.bias + 1):
        to_inf = mode in ("rne", "rmm") or mode == ("rdn" if sign else "rup")
        return (BF16.exp_max << 7) - (not to_inf), OF | NX
    if rounded < Fraction(2) ** least:
        return int(rounded / Fraction(2) ** (least - 7)), flags
    exponent = rounded.numerator.bit_length() - rounded.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > rounded
    return (exponent + BF16.bias) * 128 + int(rounded / Fraction(2) ** (exponent - 7)) - 128, flags


def expect(text, register):
    """(f register, fcsr) after the instruction of a block whose text ends in "# frm N"."""
    instruction, frm = text.split("  # frm ")
    frm = int(frm)
    mode = instruction.split(", ")[-1]
    mode = MODES[frm] if mode not in MODES else mode
    source, target = (BF16, S) if instruction.startswith("fcvt.s.bf16") else (S, BF16)
    bits = unbox(source, register)
    sign = bits >> (source.width - 1)
    magnitude = bits & ((1 << (source.width - 1)) - 1)
    flags = 0
    if is_nan(source, bits):
        flags = 0 if bits >> (source.mantissa_bits - 1) & 1 else NV
        result = target.exp_max << target.mantissa_bits | 1 << (target.mantissa_bits - 1)
    elif magnitude == source.exp_max << source.mantissa_bits:
        result = target.make(sign, target.exp_max, 0)
    elif target is S:
        result = find_single(value_of(BF16, magnitude), sign)
    else:
        low, flags = narrow(value_of(S, magnitude), sign, mode)
        result = sign << 15 | low
    return target.box(result) & MASK64, frm << 5 | flags


def find_single(magnitude, sign):
    """The binary32 number of exactly this value; every bf16 number has one."""
    if magnitude == 0:
        return S.make(sign, 0, 0)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > magnitude
    exponent = max(exponent, 1 - S.bias)
    mantissa = magnitude / Fraction(2) ** (exponent - 23)
    assert mantissa.denominator == 1
    hidden = int(mantissa) >> 23
    return S.make(sign, exponent + S.bias if hidden else 0, int(mantissa) & ((1 << 23) - 1))
