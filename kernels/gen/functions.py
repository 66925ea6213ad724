# SPDX-License-Identifier: Apache-2.0
"""Functions of <math.h> and kernels/pointwise/pointwise_functions.h as arithmetic on whole tiles of f32 (expression.py).

(parameters, steps "name = text"..., result). Polynomials are least squares over the interval named, weighted towards the least
largest error; constants in parts are the number cut into floats. What leaves an interval a formula holds in goes to the scalar
unit, element by element: fallback_f(good, result, x...) is f(x...) where good does not hold. Where digits() < 12 the result has 16
bits, and a formula needs no more than some 2^-14 of its value.
"""

# fallback_<name>: enum op_fallback (tile/tile_args.h) in this order.
FALLBACKS = ("sin", "cos", "tan", "fmod", "pow")

LOG2E, LN2, HALF_PI = "1.4426950408889634", "0.6931471805599453", "1.5707963267948966"


def polynomial(variable, coefficients):
    """Horner's scheme as text."""
    *others, low, high = coefficients
    text = f"({high!r} * {variable} + {low!r})"
    for coefficient in reversed(others):
        text = f"fma({text}, {variable}, {coefficient!r})"
    return text


def few(variable, f16, bf16):
    """The same for few digits, with the coefficients that the range of the type asks for."""
    pairs = [f"(digits() == 11 ? {a!r} : {b!r})" for a, b in zip(f16, bf16)]
    text = f"({pairs[-1]} * {variable} + {pairs[-2]})"
    for pair in reversed(pairs[:-2]):
        text = f"fma({text}, {variable}, {pair})"
    return text


# sin(r) / r and cos(r) for r * r = s up to (pi / 4)^2.
SIN = f"fma({polynomial('s', (-0.1666666664, 0.008333329267, -0.0001983929612, 2.717939826e-06))}, r * s, r)"
COS = f"fma({polynomial('s', (0.04166664627, -0.001388733706, 2.443484418e-05))}, s * s, 1 - 0.5 * s)"
# Rounding by adding 1.5 2^23 leaves a whole number in the low bits: `odd` is 1 if it is odd, else 0. tan: x = k pi / 2 + r.
# The product with each part of pi is rounded once; the second one is enough for arguments of f16.
ODD = "odd = to_float(bits(m, 1.401298464324817e-45))"
QUADRANT = (
    "m = x * 0.6366197723675814 + 12582912",
    "minus = 12582912 - m",
    "r1 = fma(minus, -4.371138828673793e-08, fma(minus, 1.5707963705062866, x))",
    "r = digits() == 11 ? r1 : fma(minus, -1.7151245100058819e-15, r1)",
    "s = r * r",
    "sine = " + SIN,
    "cosine = " + COS,
    ODD,
)
# x = k pi + r, k a whole number, minus = -k. For cos k is odd by a half. sin(r) / r for r up to pi / 2.
TURN = (
    "r1 = fma(minus, -8.742277657347586e-08, fma(minus, 3.1415927410125732, x))",
    "r = digits() == 11 ? r1 : fma(minus, -3.4302490200117637e-15, r1)",
    "s = r * r",
    "rough = " + polynomial("s", (-0.166658471, 0.00831417988, -0.000185390358)),
    "fine = " + polynomial("s", (-0.1666666663, 0.008333331099, -0.0001984086697, 2.752531945e-06, -2.388773896e-08)),
    ODD,
    "v = fma(digits() < 12 ? rough : fine, r * s, r) * fma(odd, -2, 1)",
)
# 2^k of a whole number k in -252 .. 254, in two factors: results below the normal numbers are rounded once.
SCALE = (
    "k1 = rint(k * 0.5)",
    "scale1 = to_word((k1 + 127) * 8388608)",
    "scale2 = to_word((k - k1 + 127) * 8388608)",
)
# x = m 2^e, m between sqrt(1/2) and sqrt(2). denormal: x is below the normal numbers.
PARTS = (
    "denormal = abs(x) < 1.1754943508222875e-38 ? 1 : 0",
    "normal = denormal ? x * 16777216 : x",
    "e1 = to_float(bits(normal, inf())) * 1.1920928955078125e-07 - 127",
    "m1 = join(bits(normal, 1.1754942106924411e-38), 1)",
    "large = m1 > 1.4142135 ? 1 : 0",
    "m = large ? m1 * 0.5 : m1",
    "e = e1 + large - denormal * 24",
)

EXPANDED = {
    "isnan": ("x", "x != x"),
    "isinf": ("x", "abs(x) == inf()"),
    "isfinite": ("x", "abs(x) < inf()"),
    "signbit": ("x", "signed(1, x) < 0"),
    "rint": ("x", "digits() == 11 ? signed(abs(x) + 8388608 - 8388608, x) : abs(x) < 8388608 ? signed(abs(x) + 8388608 - 8388608, x) : x"),
    "floor": ("x", "near = rint(x)", "near > x ? near - 1 : near"),
    "ceil": ("x", "-floor(-x)"),
    "trunc": ("x", "a = abs(x)", "near = a + 8388608 - 8388608",
              "digits() == 11 ? signed(near > a ? near - 1 : near, x) : signed(abs(floor(a)), x)"),
    # What rounding took from the sum (from e^x) is made up for by the quotient of what came of it.
    "log1p": ("x", "digits() < 12 ? (abs(x) < 0.00390625 ? x * (1 - 0.5 * x) : log(1 + x)) : "
                   "1 + x == 1 ? x : abs(x) < 100000000 ? log(1 + x) * (x / (1 + x - 1)) : log(x)"),
    "expm1": ("x", "digits() < 12 ? (abs(x) < 0.0078125 ? x * (1 + 0.5 * x) : exp(x) - 1) : exp(x) == 1 ? x : exp(x) - 1 == -1 ? -1 : abs(x) < 80 ? (exp(x) - 1) * (x / log(exp(x))) : exp(x) - 1"),
    "tanh": ("x", "digits() < 12 ? (abs(x) < 0.00390625 ? x : fma(1 / (exp(2 * x) + 1), -2, 1)) : abs(x) < 0.25 ? x * (1 + x * x * (-0.33333333333 + x * x * (0.13333333333 + x * x * (-0.05396825397 + "
                  "x * x * 0.02186948854)))) : 1 - 2 / (exp(2 * x) + 1)"),
    "exp2": ("x", "y = min(max(x, -252), 254)", "k = rint(y)", *SCALE,
             f"digits() == 11 ? exp(x * {LN2}) : exp((y - k) * {LN2}) * scale1 * scale2"),
    "log2": ("x", *PARTS, f"digits() == 11 ? log(x) * {LOG2E} : x > 0 && x < inf() ? e + log(m) * {LOG2E} : log(x)"),
    "log10": ("x", *PARTS, "digits() == 11 ? log(x) * 0.4342944819032518 : x > 0 && x < inf() ? e * 0.30102539 + (e * 4.6056642e-06 + log(m) * 0.4342944819032518) : log(x)"),
    "sin": ("x", "m = x * 0.3183098861837907 + 12582912", "minus = 12582912 - m", *TURN,
            "fallback_sin(digits() == 11 ? 1 : abs(x) < 65536 || x - x != 0, digits() < 12 ? v : abs(x) < 0.000244140625 ? x : v, x)"),
    "cos": ("x", "m = x * 0.3183098861837907 + 0.5 + 12582912", "minus = 12582912 - m + 0.5", *TURN,
            "fallback_cos(digits() == 11 ? 1 : abs(x) < 65536 || x - x != 0, digits() < 12 ? v : abs(x) < 0.000244140625 ? 1 : v, x)"),
    "tan": ("x", *QUADRANT, "v = over(odd ? cosine : sine, odd ? -sine : cosine)",
            "fallback_tan(digits() == 11 ? 1 : abs(x) < 65536 || x - x != 0, digits() < 12 ? v : abs(x) < 0.000244140625 ? x : v, x)"),
    "sinh": ("x", "a = abs(x)", "s = x * x", "h = exp(a * 0.5)", "e = exp(x)",
             "small = a < 0.125 ? x + x * s * 0.16666666666666666 : 0.5 * (e - 1 / e)",
             f"digits() == 11 ? small : a < 1 ? x + x * s * {polynomial('s', (0.1666666649, 0.008333350598, 0.0001983606625, 2.81743965e-06))} : "
             "signed(abs(h * 0.5 * h - 0.5 / h / h), x)"),
    "cosh": ("x", "h = exp(abs(x) * 0.5)", "e = exp(x)", "digits() == 11 ? 0.5 * (e + 1 / e) : h * 0.5 * h + 0.5 / h / h"),
    # Of s = x^2 up to 1/4.
    "asin_part": ("s", polynomial("s", (0.1666675393, 0.07495241777, 0.04547709712, 0.02414761185, 0.04221854616))),
    "asin": ("x", "a = abs(x)", "big = a > 0.5 ? 1 : 0", "s = big ? (1 - a) * 0.5 : x * x", "y = big ? sqrt(s) : a",
             "v = y + y * s * asin_part(s)", f"signed(abs(big ? {HALF_PI} - 2 * v : v), x)"),
    "acos": ("x", "a = abs(x)", "big = a > 0.5 ? 1 : 0", "s = big ? (1 - a) * 0.5 : x * x", "y = big ? sqrt(s) : x",
             "v = y + y * s * asin_part(s)",
             f"big ? (x < 0 ? 3.141592653589793 - 2 * v : 2 * v) : {HALF_PI} - v"),
    # Of a quotient between 0 and 1.
    "atan_part": ("y", "s = y * y", "y + y * s * " + polynomial(
        "s", (-0.3333330186, 0.1999863855, -0.142652446, 0.1095757186, -0.08419445985, 0.0582343204, -0.03145546943,
              0.0110643152, -0.001827184688))),
    "atan": ("x", "a = abs(x)", "v = atan_part(a > 1 ? 1 / a : a)", f"signed(a > 1 ? {HALF_PI} - v : v, x)"),
    "asinh": ("x", "a = abs(x)", f"signed(abs(a > 1.0e18 ? log(a) + {LN2} : log1p(a + a * a / (1 + sqrt(a * a + 1)))), x)"),
    "acosh": ("x", "t = x - 1", f"x < 1 ? log(t) : x > 1.0e18 ? log(x) + {LN2} : log1p(t + sqrt(2 * t + t * t))"),
    "atanh": ("x", "a = abs(x)", "signed(abs(0.5 * log1p(2 * a / (1 - a))), x)"),
    # Of |x| up to 0.94 in x^2, beyond as 1 - e^-(t Q(t)). With few digits x^2 up to 2.8^2 is enough.
    "erf": ("x", "c = min(max(x, -2.8), 2.8)", "z = c * c",
            "rough = c * " + polynomial("z", (1.12831947, -0.375237967, 0.110507263, -0.0244012518, 0.00385995117, -0.00040586851,
                                              2.4980018e-05, -6.72924376e-07)), "s = x * x", "t = min(abs(x), 4)",
            "small = x + x * " + polynomial("s", (0.1283791666, -0.3761263303, 0.1128368371, -0.02685870667, 0.005199247238,
                                                  -0.0008121883884, 8.280388291e-05)),
            "power = t * " + polynomial("t", (1.128565707, 0.6355609712, 0.1053869177, -0.0228044959, 0.003010368691,
                                              -7.851140367e-05, -3.992320781e-05, 4.475178212e-06)),
            "digits() < 12 ? rough : abs(x) < 0.94 ? small : signed(abs(1 - exp(-power)), x)"),
    # With few digits e^p(|x|). Else e^-(x^2) with x^2 in two parts, the first exact; times (1 + 2 x) erfcx(x) in u, over 1 + 2 x.
    "erfc": ("x", "z = abs(x)", "rough = exp(" + few("z",
             (3.22966438e-06, -1.12852244, -0.635570445, -0.105782383, 0.0235825511, -0.00364582365, 0.000340973635, -1.43390021e-05),
             (-0.000571863053, -1.11997586, -0.656441704, -0.086466416, 0.014920817, -0.00160463085, 9.56896962e-05, -2.40144117e-06)) + ")",
             "a = min(abs(x), 11)", "head = a + 32768 - 32768", "u = (a - 2.5) / (a + 2.5)",
             "tail = exp(-head * head) * exp((head - a) * (head + a)) * (" +
             polynomial("u", (1.264838183, -0.1223567696, -0.09902436411, 0.1576302239, -0.1029707012, 0.03275629645,
                              0.0009585069974, -0.004351406546, 0.0004114623398, 0.0005381589925)) + " / (1 + 2 * a))",
             "digits() < 12 ? (x < 0 ? 2 - rough : rough) : abs(x) < 0.46875 ? 1 - erf(x) : x < 0 ? 2 - tail : tail"),
    # The share of the normal distribution below x, with few digits; e^p(|x|) is the share beyond |x|.
    "share_below": ("x", "t = abs(x)", "beyond = exp(" + few("t",
                    (-0.693143943, -0.79798606, -0.317784499, -0.0374007117, 0.00589626359, -0.000644693964, 4.26518628e-05, -1.26917779e-06),
                    (-0.693725959, -0.791880727, -0.328308619, -0.0305248099, 0.00371908549, -0.000282292305, 1.18786049e-05, -2.10320107e-07))
                    + ")", "x < 0 ? beyond : 1 - beyond"),
    "gelu": ("x", "few = fma(x * x, -0.07135481627260024, -1.5957691216057307)", "all = -0.07135481627260024 * x * x - 1.5957691216057307",
             "over(x, 1 + exp((digits() < 12 ? few : all) * x))"),
    # Beyond 100 p is 0 or 1: p - p p is 0 then, and must not meet an infinity, which no f16 makes.
    "gelu_gradient": ("g x", "s = digits() == 11 ? x * x : min(x * x, 10000)",
                      "p = 1 / (1 + exp((-0.07135481627260024 * s - 1.5957691216057307) * x))",
                      "g * fma(fma(s, 0.21406444881780072, 1.5957691216057307) * x, p - p * p, p)"),
    "gelu_erf": ("x", "digits() < 12 ? x * share_below(x) : 0.5 * x * erfc(x * -0.70710678118654752440)"),
    "gelu_erf_gradient": ("g x", "below = digits() < 12 ? share_below(x) : 0.5 * erfc(x * -0.70710678118654752440)",
                          "g * (below + x * 0.3989422804014326779 * exp(-0.5 * x * x))"),
    "atan2": ("y x", "ay = abs(y)", "ax = abs(x)", "high = max(ax, ay)", "low = min(ax, ay)",
              "v = atan_part(high == 0 ? 0 : low == high ? 1 : low / high)",
              f"w = ay > ax ? {HALF_PI} - v : v", "x != x || y != y ? x + y : signed(abs(signbit(x) ? 3.141592653589793 - w : w), y)"),
    # Exact: the rounded quotient is off by one at most, and its product is taken from x before rounding.
    "fmod": ("x y", "a = abs(x)", "b = abs(y)", "quotient = a / b", "n = rint(quotient)", "r = fma(-n, b, a)",
             "fallback_fmod(quotient < 4194304 || quotient != quotient || a == inf() || b == 0, "
             "b == inf() && a < inf() ? x : signed(abs(r < 0 ? r + b : r), x), x, y)"),
    "remainder": ("x y", "r = fmod(x, y)", "negative = y < 0 ? 1 : 0", "r != 0 && negative != (r < 0) ? r + y : r"),
    "trunc_divide": ("x y", "trunc(x / y)"),
    "floor_divide": ("x y", "r = fmod(x, y)", "negative = y < 0 ? 1 : 0", "below = r != 0 && negative != (r < 0) ? 1 : 0",
                     "quotient = (x - r) / y - below", "down = floor(quotient)", "whole = x / y",
                     "y == 0 ? whole : quotient == 0 ? signed(0, whole) : quotient - down > 0.5 ? down + 1 : down"),
    # log2(x) = head + tail in two floats: m by atanh of (m - 1) / (m + 1), whose own rest is kept.
    "pow_part": ("x y", *PARTS, "f = m - 1", "d = m + 1", "d_rest = m - (d - 1)", "g = f / d",
                 "g_rest = (fma(-g, d, f) - g * d_rest) / d", "z = g * g",
                 "p = z * " + polynomial("z", (0.333333328, 0.2000017401, 0.1426821891, 0.1179981497)),
                 "ln = 2 * g", "ln_rest = 2 * (g_rest + g * p)",
                 "l = ln * 1.4426950216293335", "l_rest = fma(ln, 1.4426950216293335, -l) + (ln * 1.925963033500011e-08 + "
                 f"ln_rest * {LOG2E})",
                 "head = e + l", "rest = e == 0 ? l_rest : (l - (head - e)) + l_rest",
                 "t = y * head", "t_rest = fma(y, head, -t) + y * rest",
                 "c = min(max(t, -252), 254)", "k = rint(c)", *SCALE,
                 f"exp((t == c ? c - k + t_rest : c - k) * {LN2}) * scale1 * scale2"),
    "pow": ("x y", "whole = rint(y)", "half = y * 0.5", "odd = whole == y && rint(half) != half", "a = abs(x)",
            "zero = y > 0 ? 0 : inf()", "size = a == 0 ? zero : a == inf() ? 1 / zero : pow_part(a, y)",
            "v = whole == y ? (odd && signbit(x) ? -size : size) : x < 0 && a < inf() ? log(x) : size",
            "p = fallback_pow(abs(y) < inf(), y == 0 ? 1 : x != x ? x : v, x, y)",
            "y == 1 ? x : y == 2 ? x * x : y == 0.5 ? (x == -inf() ? inf() : sqrt(x + 0)) : y == -1 ? 1 / x : p"),
    # Between -1 and 1, in -log(1 - x^2).
    "erfinv": ("x", "w = -log((1 - x) * (1 + x))", "u = w - 2.5", "s = sqrt(w) - 3",
               "v = x * (w < 5 ? " + polynomial("u", (1.501409359, 0.2466402862, -0.004177386781, -0.001252741878, 0.0002183444395,
                                                      -4.963348042e-06, -3.462704778e-06, 4.661707047e-07, 2.323264585e-08,
                                                      -8.791059421e-09)) + " : " +
               polynomial("s", (2.832977082, 1.001674618, 0.009432024198, -0.007632650596, 0.005784032163, -0.003633730651,
                                0.001253331465, 6.080706801e-05, -0.0001318599482)) + ")",
               "abs(x) == 1 ? x * inf() : v"),
    # Without overflow.
    "logaddexp": ("a b", "most = max(a, b)", "isinf(most) && a == b ? a : most + log1p(exp(-abs(a - b)))"),
    "logaddexp2": ("a b", "most = max(a, b)", "isinf(most) && a == b ? a : most + log1p(exp2(-abs(a - b))) * 1.4426950408889634"),
    # Results of 16 bits: the product with the reciprocal, a third of a division's time.
    "over": ("a b", "digits() < 12 ? a * (1 / b) : a / b"),
    # tanh(ln(1 + e)) = n / (n + 2) with n = e (e + 2), e = e^x; 1 beyond 20.
    "mish": ("x", "e = exp(min(x, 20))", "n = e * (e + 2)", "x * over(n, n + 2)"),
    # 1 - tanh^2 = 4 (e + 1)^2 / (n + 2)^2; the logistic function is e / (e + 1). Beyond 40 nothing is left.
    "mish_gradient": ("g x", "e = exp(min(x, 40))", "n = e * (e + 2)", "w = 1 / (n + 2)",
                      "g * (n * w + w * w * x * (4 * e * (e + 1)))"),
}
