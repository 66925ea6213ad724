#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_bang.py LEO: kernels in BANG C.

Compiled by leo cc and run by leo run with the checker, against plain Python.
"""

import array
import math
import operator
import random
import struct
import sys
import unittest

from ascendc_case import Case, f32, half

MLU = "mlu370"
COUNT = 200  # no multiple of a vector's length

# A kernel of one call on three buffers of `count` elements, whose places in NRAM begin `shift` elements behind a block.
KERNEL = """
extern "C" __mlu_entry__ void k_%s(%s *out, %s *left, %s *right, int count, int shift)
{
    __nram__ %s d[512];
    __nram__ %s x[512];
    __nram__ %s y[512];
    %s *dst = d + shift;
    %s *a = x + shift, *b = y + shift;
    __memcpy(a, left, count * sizeof(*a), GDRAM2NRAM);
    __memcpy(b, right, count * sizeof(*a), GDRAM2NRAM);
    __bang_write_value(dst, count, 0);
    %s;
    __memcpy(out, dst, count * sizeof(*dst), NRAM2GDRAM);
}
"""
CODES = {"float": "f", "half": "e", "int32_t": "i", "int16_t": "h", "int8_t": "b", "uint8_t": "B"}


def wrap(value, code):
    """What the type holds of a value."""
    if code in "fe":
        return struct.unpack(code, struct.pack(code, value))[0]
    bits = 8 * struct.calcsize(code)
    value &= (1 << bits) - 1
    return value - (1 << bits) if code.islower() and value >> (bits - 1) else value


def truth(test):
    return lambda a, b: 1 if test(a, b) else 0


def away(value):
    return math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)


def outwards(value):
    return math.ceil(value) if value >= 0 else math.floor(value)


BINARY = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "maxequal": max, "minequal": min, "eq": truth(operator.eq),
          "ne": truth(operator.ne), "lt": truth(operator.lt), "le": truth(operator.le), "gt": truth(operator.gt),
          "ge": truth(operator.ge), "and": truth(lambda a, b: a and b), "or": truth(lambda a, b: a or b),
          "xor": truth(lambda a, b: bool(a) != bool(b))}
SCALAR = {"add_scalar": "add", "sub_scalar": "sub", "mul_scalar": "mul", "maxeq_scalar": "maxequal", "mineq_scalar": "minequal",
          "eq_scalar": "eq", "ne_scalar": "ne", "lt_scalar": "lt", "le_scalar": "le", "gt_scalar": "gt", "ge_scalar": "ge",
          "add_const": "add", "mul_const": "mul"}
UNARY = {"abs": abs, "square": lambda a: a * a, "not": lambda a: 1 if a == 0 else 0, "active_relu": lambda a: max(a, 0),
         "sign": lambda a: (a > 0) - (a < 0), "active_abs": abs}
# Of floats, with the error of float that is allowed.
FUNCTIONS = {"sqrt": (math.sqrt, 0), "recip": (lambda a: 1 / a, 0), "active_exp": (math.exp, 3e-7), "log": (math.log, 3e-7),
             "log2": (math.log2, 3e-7), "pow2": (lambda a: 2**a, 3e-7), "sin": (math.sin, 3e-7), "cos": (math.cos, 3e-7),
             "active_sigmoid": (lambda a: 1 / (1 + math.exp(-a)), 3e-7), "tanh": (math.tanh, 3e-7), "floor": (math.floor, 0),
             "active_gelu": (lambda a: 0.5 * a * (1 + math.erf(a / math.sqrt(2))), 4e-7)}
ROUND = {"": round, "_rn": round, "_rd": away, "_tz": math.trunc, "_oz": outwards, "_dn": math.floor, "_up": math.ceil}


class Bang(Case):
    def kernels(self, rows):
        """rows: name, type of the result, type of sources, call."""
        text = "#include <bang.h>\n" + "".join(KERNEL % (name, out, src, src, out, src, src, out, src, call)
                                              for name, out, src, call in rows)
        source = self.path / "k.mlu"
        source.write_text(text, encoding="ascii")
        self.built(source, MLU)

    def result(self, name, out, left, right, code, shift=0):
        """Elements of type `out` of one call on elements of type `code`."""
        args = ["in:" + self.write("a", struct.pack(f"{len(left)}{code}", *left)),
                "in:" + self.write("b", struct.pack(f"{len(right)}{code}", *right)), str(len(left)), str(shift)]
        size = struct.calcsize(out) * len(left)
        words = [word for arg in [f"out:{size}:{self.path / 'z'}", *args] for word in ("--arg", arg)]
        self.good(MLU, 1, "--kernel", "k_" + name, *words)
        return list(struct.unpack(f"{len(left)}{out}", (self.path / "z").read_bytes()))

    @staticmethod
    def numbers(code, seed):
        rng = random.Random(seed)
        if code in "fe":
            return [wrap(rng.choice((0.0, rng.uniform(-20, 20))), code) for _ in range(COUNT)]
        return [rng.randint(0 if code.isupper() else -100, 100) for _ in range(COUNT)]

    def test_arithmetic_of_each_type_wherever_it_stands(self):
        rows, checks = [], []
        for kind, code in CODES.items():
            for name, want in BINARY.items():
                rows.append((f"{name}_{kind}", kind, kind, f"__bang_{name}(dst, a, b, count)"))
                checks.append((code, want))
        self.kernels(rows)
        for number, ((name, *_), (code, want)) in enumerate(zip(rows, checks)):
            left, right = self.numbers(code, number), self.numbers(code, number + 1000)
            right[::3] = left[::3]
            for shift in (0, 1):
                got = self.result(name, code, left, right, code, shift)
                self.assertEqual(got, [wrap(want(a, b), code) for a, b in zip(left, right)], name)

    def test_numbers_with_elements(self):
        rows = [(f"{name}_{kind}", kind, kind, f"__bang_{name}(dst, a, 3, count)") for name in SCALAR for kind in ("float", "half", "int32_t")]
        rows += [(f"{name}_{kind}", kind, kind, f"__bang_{name}(dst, a, count)") for name in UNARY for kind in ("float", "half", "int32_t")]
        self.kernels(rows)
        for name, kind, *_ in rows:
            call, code = name[:-len(kind) - 1], CODES[kind]
            left = self.numbers(code, 7)
            left[::5] = [3] * len(left[::5])
            want = UNARY.get(call) or (lambda a, plain=BINARY[SCALAR.get(call, "add")]: plain(a, 3))
            self.assertEqual(self.result(name, code, left, left, code, 1), [wrap(want(a), code) for a in left], name)

    def test_functions_of_floats(self):
        self.kernels([(name, "float", "float", f"__bang_{name}(dst, a, count)") for name in FUNCTIONS])
        left = [f32(random.Random(5).uniform(0.01, 9) + i / 40) for i in range(COUNT)]
        for name, (want, error) in FUNCTIONS.items():
            for a, got in zip(left, self.result(name, "f", left, left, "f")):
                exact = want(a)
                self.assertLessEqual(abs(got - f32(exact)), error * max(1, abs(exact)), (name, a))

    def test_conversions_round_as_they_say(self):
        rows = [(f"float2int32{mode}", "int32_t", "float", f"__bang_float2int32{mode}(dst, a, count, 0)") for mode in ROUND]
        rows += [(f"half2int16{mode}", "int16_t", "half", f"__bang_half2int16{mode}(dst, a, count, 1)") for mode in ROUND]
        rows += [(f"half2int8{mode}", "int8_t", "half", f"__bang_half2int8{mode}(dst, a, count, 0)") for mode in ROUND]
        self.kernels(rows)
        left = [i / 4 - 20 for i in range(COUNT)]
        for name, kind, src, call in rows:
            scale = 2 if call.endswith("1)") else 1
            mode = name[name.index("_"):] if "_" in name else ""
            for shift in (0, 1):
                got = self.result(name, CODES[kind], left, left, CODES[src], shift)
                self.assertEqual(got, [ROUND[mode](a / scale) for a in left], name)

    def test_floats_of_other_widths(self):
        modes = ("", "_rn", "_rd", "_tz", "_dn", "_up")
        self.kernels([(f"float2half{mode}", "half", "float", f"__bang_float2half{mode}(dst, a, count)") for mode in modes] +
                     [("half2float", "float", "half", "__bang_half2float(dst, a, count)"),
                      ("int322float", "float", "int32_t", "__bang_int322float(dst, a, count, 0)"),
                      ("uchar2half", "half", "uint8_t", "__bang_uchar2half(dst, a, count)")])
        left = [2048 + i / 2 for i in range(COUNT)]  # halves are 2 apart there
        for mode in modes:
            want = [2 * ROUND[mode](a / 2) for a in left]
            self.assertEqual(self.result("float2half" + mode, "e", left, left, "f"), want, mode)
        halves = self.numbers("e", 3)
        self.assertEqual(self.result("half2float", "f", halves, halves, "e", 1), halves)
        whole = self.numbers("i", 4)
        self.assertEqual(self.result("int322float", "f", whole, whole, "i"), whole)
        small = self.numbers("B", 4)
        self.assertEqual(self.result("uchar2half", "e", small, small, "B"), small)

    def test_reductions_and_orders(self):
        self.kernels([
            ("sum", "float", "float", "dst[0] = __bang_sum(a, count)"),
            ("argmax", "float", "float", "__bang_argmax(dst, a, count)"),
            ("count", "float", "float", "dst[0] = __bang_count(a, count)"),
            ("filter", "float", "float", "__bang_filter(dst, a, b, count)"),
            ("transpose", "float", "float", "__bang_transpose(dst, a, 10, 20)"),
            ("maxpool", "float", "float", "__bang_maxpool(dst, a, 4, 10, 5, 2, 3, 2, 1)"),
            ("sumpool", "float", "float", "__bang_sumpool(dst, a, 4, 10, 5, 2, 3, 2, 1)"),
            ("cycle", "float", "float", "__bang_cycle_mul(dst, a, b, count, 20)"),
            ("fusion", "float", "float", "__bang_fusion(FUSION_FMA, dst, a, 2.0f, b, count)"),
            ("reduce_sum", "float", "float", "__bang_reduce_sum(dst, a, 32)"),
            ("band", "float", "float", "__bang_band(dst, a, b, count)"),
            ("pad", "float", "float", "__bang_pad(dst, a, 2, 3, 4, 1, 1, 1, 2)"),
            ("lut", "float", "float", "__nram__ int32_t at[512]; for (int i = 0; i < count; i++) { at[i] = count - 1 - i; } "
                                      "__bang_lut(dst, at, a, count, count)"),
        ])
        left = [float(i % 37 - 9) for i in range(COUNT)]
        right = [float(i % 3) for i in range(COUNT)]

        def run(name, shift=1):
            return self.result(name, "f", left, right, "f", shift)

        self.assertEqual(run("sum")[0], sum(left))
        got = run("argmax")
        self.assertEqual((got[0], struct.unpack("I", struct.pack("f", got[1]))[0]), (max(left), left.index(max(left))))
        self.assertEqual(run("count")[0], sum(a != 0 for a in left))
        kept = [a for a, b in zip(left, right) if b]
        self.assertEqual(run("filter")[:len(kept)], kept)
        self.assertEqual(run("transpose"), [left[y * 20 + x] for x in range(20) for y in range(10)])
        windows = [[left[((2 * y + r) * 5 + x + s) * 4 + c] for r in range(2) for s in range(3)]
                   for y in range(5) for x in range(3) for c in range(4)]
        for shift in (0, 1):
            self.assertEqual(run("maxpool", shift)[:60], [max(window) for window in windows])
            self.assertEqual(run("sumpool", shift)[:60], [sum(window) for window in windows])
            self.assertEqual(run("cycle", shift), [a * right[i % 20] for i, a in enumerate(left)])
            self.assertEqual(run("fusion", shift), [2 * a + b for a, b in zip(left, right)])
        self.assertEqual(run("reduce_sum")[0], sum(left[:32]))
        bits = [x & y for x, y in zip(array.array("f", left).tobytes(), array.array("f", right).tobytes())]
        self.assertEqual(array.array("f", run("band")).tobytes(), bytes(bits))
        padded = [0.0] * (5 * 7 * 2)
        for y in range(3):
            for x in range(8):
                padded[(y + 1) * 14 + 2 + x] = left[y * 8 + x]
        self.assertEqual(run("pad")[:70], padded)
        self.assertEqual(run("lut"), left[::-1])


PRODUCT = """
#include <bang.h>
template <typename T> __mlu_func__ void product(float *out, T *left, T *right, int m, int k, int n)
{
    __nram__ T a[4096];
    __nram__ T raw[4096];
    __nram__ T b[4096];
    __nram__ float d[4096];
    __wram__ T w[4096];
    __memcpy(a, left, m * k * sizeof(T), GDRAM2NRAM);
    __memcpy(raw, right, k * n * sizeof(T), GDRAM2NRAM);
    __bang_reshape_filter(b, raw, n, 1, 1, k);
    __memcpy(w, b, k * n * sizeof(T), NRAM2WRAM);
    __bang_matmul(d, a, w, m, k, n);
    __memcpy(out, d, m * n * sizeof(float), NRAM2GDRAM);
}

extern "C" __mlu_entry__ void of_float(float *out, float *left, float *right, int m, int k, int n)
{
    product(out, left, right, m, k, n);
}

extern "C" __mlu_entry__ void of_half(float *out, half *left, half *right, int m, int k, int n)
{
    product(out, left, right, m, k, n);
}

extern "C" __mlu_entry__ void conv(half *out, half *src, half *filter, int h, int w, int ci, int co)
{
    __nram__ half in[1024];
    __nram__ half d[4096];
    __wram__ half f[4096];
    __memcpy(in, src, h * w * ci * sizeof(half), GDRAM2NRAM);
    __memcpy(f, filter, 3 * 2 * ci * co * sizeof(half), GDRAM2WRAM);
    __bang_conv(d, in, f, ci, h, w, 3, 2, 2, 1, co);
    __memcpy(out, d, ((h - 3) / 2 + 1) * (w - 1) * co * sizeof(half), NRAM2GDRAM);
}
"""

# Rows of a matrix with a step on both sides, runs of bytes that begin anywhere, and where tasks are.
PLACES = """
#include <bang.h>
extern "C" __mlu_entry__ void rows(float *out, float *in, int n)
{
    __nram__ float x[1024];
    __memcpy(x + 16, in, 5 * sizeof(float), GDRAM2NRAM, 8 * sizeof(float), 7 * sizeof(float), 3);
    __memcpy(out, x + 16, 5 * sizeof(float), NRAM2GDRAM, 6 * sizeof(float), 8 * sizeof(float), 3);
}

extern "C" __mlu_entry__ void bytes(char *out, char *in, int n)
{
    __nram__ char x[4096];
    __nram__ char y[4096];
    __memcpy_async(x + 3, in + 1, n, GDRAM2NRAM);
    __sync_io();
    __memcpy(y + 1, x + 3, n, NRAM2NRAM);
    __memcpy(out, y + 1, n, NRAM2GDRAM);
    __memcpy(out + n, in, n, GDRAM2GDRAM);
}

extern "C" __mlu_entry__ void where(int *out)
{
    __nram__ int x[16];
    const int values[] = {(int)taskId, (int)taskIdX, (int)taskIdY, (int)taskIdZ, (int)taskDim, (int)taskDimX, (int)taskDimY,
                          (int)coreId, (int)clusterId};
    __bang_write_value(x, 16, 0);
    for (int i = 0; i < 9; i++) {
        x[i] = values[i];
    }
    __memcpy(out + taskId * 16, x, sizeof(x), NRAM2GDRAM);
}

extern "C" __mlu_entry__ void too_early(float *out, float *in, int n)
{
    __nram__ float x[1024];
    __memcpy_async(x, in, n * sizeof(float), GDRAM2NRAM);
    __bang_add(x, x, x, n);
    __memcpy(out, x, n * sizeof(float), NRAM2GDRAM);
}

extern "C" __mlu_entry__ void sums(float *total, float *in, int n)
{
    __nram__ float x[1024];
    __memcpy(x, in, n * sizeof(float), GDRAM2NRAM);
    __bang_atomic_reduce_add(total, x, n);
}

extern "C" __mlu_entry__ void hand_on(int *out, int n)
{
    __mlu_shared__ int all[32];
    __nram__ int own[8];
    __bang_write_value(own, 8, (int)taskId);
    __memcpy(all + coreId * 8, own, sizeof(own), NRAM2SRAM);
    if (n) {
        __sync_cluster();
    }
    __memcpy(own, all + (coreId + 1) % 4 * 8, sizeof(own), SRAM2NRAM);
    __memcpy(out + taskId * 8, own, sizeof(own), NRAM2GDRAM);
}

extern "C" __mlu_entry__ void places(int *out, int n)
{
    __nram__ int x[64];
    __wram__ int w[64];
    int local[5] = {1, 2, 3, 4, 5};
    __gdramset(out, n, 7);
    __memcpy(x, local, sizeof(local), LDRAM2NRAM);
    __memcpy(out + 1, x, sizeof(local), NRAM2GDRAM);
    __memset_nram(x, 64, 9);
    __memcpy(w, x, sizeof(x), NRAM2WRAM);
    __memcpy(out + 8, w, 32, WRAM2GDRAM);
    __memcpy(local, out + 7, 12, GDRAM2LDRAM);
    __memcpy(out + 24, local, 12, LDRAM2GDRAM);
}

extern "C" __mlu_entry__ void refused(float *out, int n)
{
    __nram__ float x[64];
    __bang_write_value(x, 64, 1.0f);
    __bang_reduce_sum(x, x, n);
    __memcpy(out, x, sizeof(x), NRAM2GDRAM);
}
"""


class Programs(Case):
    def given(self, text):
        (self.path / "k.mlu").write_text(text, encoding="ascii")
        self.built(self.path / "k.mlu", MLU)

    def output(self, kernel, blocks, out, code, *args):
        words = [word for arg in [f"out:{struct.calcsize(code) * out}:{self.path / 'z'}", *args] for word in ("--arg", arg)]
        self.good(MLU, blocks, "--kernel", kernel, *words)
        return list(struct.unpack(f"{out}{code}", (self.path / "z").read_bytes()))

    def data(self, name, code, values):
        return "in:" + self.write(name, struct.pack(f"{len(values)}{code}", *values))

    def test_products(self):
        self.given(PRODUCT)
        m, k, n = 7, 50, 48
        left = [float(i % 11 - 5) for i in range(m * k)]
        right = [float(i % 7 - 3) / 4 for i in range(n * k)]
        want = [sum(left[y * k + i] * right[x * k + i] for i in range(k)) for y in range(m) for x in range(n)]
        for kernel, code in (("of_float", "f"), ("of_half", "e")):
            got = self.output(kernel, 1, m * n, "f", self.data("a", code, left), self.data("b", code, right), str(m), str(k), str(n))
            self.assertEqual(got, want, kernel)

    def test_convolution(self):
        self.given(PRODUCT)
        h, w, ci, co = 7, 5, 3, 32
        src = [float(i % 5 - 2) for i in range(h * w * ci)]
        taps = [float(i % 9 - 4) / 2 for i in range(6 * ci * co)]
        want = [sum(src[((2 * y + r) * w + x + s) * ci + c] * taps[((r * 2 + s) * ci + c) * co + o]
                    for r in range(3) for s in range(2) for c in range(ci)) for y in range(3) for x in range(4) for o in range(co)]
        got = self.output("conv", 1, len(want), "e", self.data("a", "e", src), self.data("b", "e", taps), str(h), str(w), str(ci), str(co))
        self.assertEqual(got, want)

    def test_copies(self):
        self.given(PLACES)
        values = [float(i) for i in range(28)]
        got = self.output("rows", 1, 24, "f", self.data("a", "f", values), "28")
        self.assertEqual([got[6 * r + c] for r in range(4) for c in range(5)], [values[7 * r + c] for r in range(4) for c in range(5)])
        values = [i % 128 for i in range(1500)]
        got = self.output("bytes", 1, 2400, "b", self.data("a", "b", values), "1200")
        self.assertEqual(got, values[1:1201] + values[:1200])

    def test_tasks_know_where_they_are(self):
        self.given(PLACES)
        got = self.output("where", 6, 6 * 16, "i")
        self.assertEqual([got[16 * i:16 * i + 9] for i in range(6)], [[i, i, 0, 0, 6, 6, 1, i % 4, 0] for i in range(6)])

    def test_sums_of_all_tasks(self):
        self.given(PLACES)
        (self.path / "z").write_bytes(bytes(40))
        run = self.run_kernel(MLU, 8, "--kernel", "sums", "--arg", f"inout:{self.path / 'z'}:{self.path / 'y'}", "--arg",
                              self.data("a", "f", [float(i) for i in range(10)]), "--arg", "10")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(list(struct.unpack("10f", (self.path / "y").read_bytes())), [8.0 * i for i in range(10)])

    def test_tasks_of_a_cluster_meet(self):
        self.given(PLACES)
        args = ("--kernel", "hand_on", "--union", "4", "--arg", f"out:{8 * 32}:{self.path / 'z'}")
        self.good(MLU, 8, *args, "--arg", "1")
        self.assertEqual(struct.unpack("64i", (self.path / "z").read_bytes())[::8], (1, 2, 3, 0, 5, 6, 7, 4))
        run = self.run_kernel(MLU, 8, *args, "--arg", "0")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stdout + run.stderr, "race|which nothing wrote")
        for blocks, together in ((6, "4"), (8, "3")):
            run = self.run_kernel(MLU, blocks, *args[:2], "--union", together, *args[4:], "--arg", "1")
            self.assertIn("whole clusters", run.stdout + run.stderr)

    def test_every_memory_is_reached(self):
        self.given(PLACES)
        count = 5000
        got = self.output("places", 1, count, "i", str(count))
        self.assertEqual(got[:28], [7, 1, 2, 3, 4, 5, 7, 7] + [9] * 8 + [7] * 8 + [7, 9, 9, 7])
        self.assertEqual(set(got[28:]), {7})

    def test_a_missing_sync_is_found(self):
        self.given(PLACES)
        run = self.run_kernel(MLU, 1, "--kernel", "too_early", "--arg", "out:4096", "--arg",
                              self.data("a", "f", [1.0] * 1024), "--arg", "1024")
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("missing between them: set_flag(PIPE_MTE2, PIPE_V", run.stdout + run.stderr)

    def test_what_is_not_there(self):
        for text, said in (("__bang_rotate90(x, x, 8, 8)", "__bang_rotate90"), ("__bang_findfirst1(x, 8)", "__bang_findfirst1"),
                           ("__mlu_shared__ float y[600000]; __memcpy(x, y, 4, SRAM2NRAM)", "this chip's SRAM has 2097280"),
                           ("float *p = x; __nram__ float *q = p", "constant initializer")):
            (self.path / "k.mlu").write_text("#include <bang.h>\n__mlu_entry__ void k(float *o) { __nram__ float x[64]; %s; }" % text,
                                             encoding="ascii")
            run = self.compile(self.path / "k.mlu", MLU)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(said, run.stderr)
        run = self.compile(self.path / "k.mlu", "ascend910b1")
        self.assertIn("leo cc --soc mlu370", run.stderr)

    def test_a_call_that_cannot_be_done_stops_the_kernel(self):
        self.given(PLACES)
        run = self.run_kernel(MLU, 1, "--kernel", "refused", "--arg", "out:256", "--arg", "64")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("__bang_reduce_sum takes 128 bytes", run.stdout + run.stderr)


if __name__ == "__main__":
    Case.leo = sys.argv.pop(1)
    unittest.main()
