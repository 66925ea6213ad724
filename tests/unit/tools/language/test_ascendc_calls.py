#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_ascendc_calls.py LEO: calls of Ascend C that are several instructions, kinds named in the body, tiling data, pairs of blocks.

Compiled by leo cc and run by leo run with the checker, against plain Python.
"""

import math
import operator
import random
import struct
import sys
import unittest

from ascendc_case import B1, INCLUDE, Case, f32

PI_2 = f32(math.pi / 2)

ONE_WORD = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void k(GM_ADDR zAddress)
{
    %s
    if (ASCEND_IS_AIC) {
        return;
    }
    TPipe pipe;
    TBuf<> work;
    GlobalTensor<int32_t> z;
    z.SetGlobalBuffer((__gm__ int32_t *)zAddress);
    pipe.InitBuffer(work, 32);
    LocalTensor<int32_t> t = work.Get<int32_t>();
    t.SetValue(0, 1 + (int32_t)GetBlockIdx());
    for (int i = 1; i < 8; i++) {
        t.SetValue(i, (int32_t)GetTaskRatio());
    }
    DataCopy(z[GetBlockIdx() * 8], t, 8);
}
"""

# Each block waits for the one before it, and adds 1 to what that one stored.
CHAIN = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void chain(GM_ADDR flags, GM_ADDR zAddress)
{
    TPipe pipe;
    TBuf<> work, sync;
    GlobalTensor<int32_t> gm, z;
    gm.SetGlobalBuffer((__gm__ int32_t *)flags);
    z.SetGlobalBuffer((__gm__ int32_t *)zAddress);
    pipe.InitBuffer(work, 32);
    pipe.InitBuffer(sync, 32);
    LocalTensor<int32_t> t = work.Get<int32_t>();
    const int32_t own = (int32_t)GetBlockIdx();
    Duplicate(t, (int32_t)100, 8);
    for (int32_t event = 0; event < 2; event++) {
        if (own > 0) {
            %s
            DataCopy(t, z[(own - 1) * 8], 8);
            PipeBarrier<PIPE_ALL>();
        }
        Adds(t, t, (int32_t)1, 8);
        PipeBarrier<PIPE_ALL>();
        DataCopy(z[own * 8], t, 8);
        if (own + 1 < GetBlockNum()) {
            IBSet(gm, sync.Get<int32_t>(), own, event);
        }
        SyncAll();
    }
}
"""

TILING_HEADER = """
#include "register/op_def_registry.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(PartTiling)
TILING_DATA_FIELD_DEF(uint8_t, small)
TILING_DATA_FIELD_DEF(uint64_t, large);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(PartTilingOp, PartTiling)
BEGIN_TILING_DATA_DEF(WordsTiling)
TILING_DATA_FIELD_DEF(uint32_t, first);
TILING_DATA_FIELD_DEF_STRUCT(PartTiling, part);
TILING_DATA_FIELD_DEF_ARR(int32_t, 3, list);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Words, WordsTiling)
REGISTER_TILING_DATA_CLASS(WordsGrad, WordsTiling)
}
"""

TILING = """
#include "kernel_tiling/kernel_tiling.h"
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void words(GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    const WordsTiling *p = &data;
    GET_TILING_DATA_MEMBER(WordsTiling, list, list, tiling);
    AscendC::printf("%d %d %d %d\\n", (int)p->first, (int)p->part.small, (int)(p->part.large >> 32), (int)(p->list[2] + list[1]));
}
"""


class Together(Case):
    """close() of a call on the 910B1 begins with its body."""

    def all_close(self, cases):
        """close() of each, compiled together."""
        self.prepare(B1, [body for body, *_ in cases])
        for case in cases:
            self.close(*case)


class Calls(Together):
    def close(self, body, x, want, error):
        got = self.call(B1, body, x, [1.0] * len(x))
        self.assertIsNotNone(got, body + "\n" + self.said)
        for value, wanted, of in zip(got, want, x):
            self.assertLessEqual(abs(value - wanted), error, f"{body} of {of}: {value}, not {wanted}")

    def test_functions(self):
        rng = random.Random(7)
        x = [f32(rng.uniform(-40, 40)) for _ in range(248)] + [0.0, math.pi, -math.pi / 2, 1e4, -9999.5, 3.0, -2.5, f32(1e-20)]
        room = "tmp.ReinterpretCast<uint8_t>()"
        functions = [
            ("Sin", math.sin, 3e-7), ("Cos", math.cos, 3e-7), ("Tanh", math.tanh, 3e-7),
            ("Sigmoid", lambda v: 1 / (1 + math.exp(-v)) if v > -80 else 0.0, 3e-7),
            ("Sign", lambda v: (v > 0) - (v < 0), 0), ("Floor", math.floor, 0), ("Ceil", math.ceil, 0), ("Trunc", math.trunc, 0)]
        few = f"LocalTensor<uint8_t> few = {room}; few.SetSize(768); "  # 64 elements at a time
        forms = ["%s(z, x, " + room + ", n);", "%s(z, x);", few + "%s(x, x, few, n); Adds(z, x, 0.0f, n);"]
        cases = [(forms[i % 3] % name, x, [float(function(v)) for v in x], error) for i, (name, function, error) in enumerate(functions)]
        x = [f32(rng.uniform(0.01, 1000)) for _ in range(256)]
        cases += [(f"{name}(z, x);", x, [function(v) for v in x], 2e-6)
                  for name, function in (("Log", math.log), ("Log2", math.log2), ("Log10", math.log10))]
        cases += [(f"ClampMax(z, x, {room}, 500.0f, n);", x, [min(v, 500.0) for v in x], 0),
                  (f"ClampMin(z, x, {room}, 500.0f, n);", x, [max(v, 500.0) for v in x], 0)]
        self.all_close(cases)

    def test_fractions(self):
        x = [i / 8 - 16 for i in range(256)]
        self.all_close([("Round(z, x);", x, [float(round(v)) for v in x], 0),
                        ("Frac(z, x, n);", x, [v - math.trunc(v) for v in x], 0)])

    def test_tangent(self):
        rng = random.Random(12)
        x = [f32(rng.uniform(-1.5, 1.5) + math.pi * rng.randrange(-3000, 3000)) for _ in range(128)]
        x += [f32(rng.uniform(-1.57, 1.57) * 10 ** rng.uniform(-6, 0)) for _ in range(128)]
        self.close("Muls(y, x, 1.0f, n); Tan(z, y, n); Mul(y, z, z, n); Adds(y, y, 1.0f, n); Div(z, z, y, n);", x,
                   [math.tan(v) / (1 + math.tan(v) ** 2) for v in x], 6e-7)

    def test_arc_tangent(self):
        rng = random.Random(11)
        edges = [0.0, 1.0, -1.0, math.inf, -math.inf, f32(3e38), f32(-1e30), f32(1e-30), f32(1 + 2**-23), f32(-1 + 2**-24), PI_2, -PI_2]
        x = edges + [f32(rng.uniform(-1, 1) * 10 ** rng.uniform(-3, 3)) for _ in range(256 - len(edges))]
        self.close("Atan(z, x, n);", x, [math.atan(v) for v in x], 3e-7)
        few = "LocalTensor<uint8_t> few = tmp.ReinterpretCast<uint8_t>(); few.SetSize(768); Atan(z, x, few, n); Muls(z, z, 1 / PI, n);"
        self.close(few, x, [math.atan(v) / math.pi for v in x], 2e-7)
        got = self.call(B1, "Atan(z, x, n);", [0.0, math.nan] * 4, [1.0] * 8)
        self.assertEqual(got[0], 0.0)
        self.assertTrue(all(math.isnan(v) for v in got[1::2]), got)

    def test_operators_that_compare(self):
        rng = random.Random(3)
        x, y = ([float(rng.randrange(4)) for _ in range(256)] for _ in range(2))
        room = "LocalTensor<uint8_t> m = tmp.ReinterpretCast<uint8_t>(); x.SetSize(n); y.SetSize(n); "
        choose = " PipeBarrier<PIPE_V>(); Adds(x, x, 5.0f, n); Select(z, m, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, n);"
        signs = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
        bodies = {sign: f"{room}m = x {sign} y;{choose}" for sign in signs}
        short = f"{room}m.SetSize(31); m = x < y;{choose}"
        self.prepare(B1, [*bodies.values(), short])
        for sign, compare in signs.items():
            got = self.call(B1, bodies[sign], x, y)
            self.assertEqual(got, [a + 5 if compare(a, b) else b for a, b in zip(x, y)], sign + self.said)
        self.assertIsNone(self.call(B1, short, x, y))
        self.assertIn("the mask has room for 248", self.said)

    def test_parameters_in_braces(self):
        x = [float(i) for i in range(64)]
        self.close("""PipeBarrier<PIPE_ALL>(); DataCopy(z, xGm, {2, 1, 3, 3}); DataCopy(z[8], xGm[8], {1, 3, 0, 0});
        DataCopyPadExtParams pad = {true, 0, 1, 9.0f}; DataCopyPad(z[40], xGm[40], {1, 92, 0, 0, 0}, pad);
        PipeBarrier<PIPE_ALL>();""", x, x[:63] + [9.0], 0)

    def test_enhanced_parameters(self):
        x = [float(i) for i in range(64)]
        copies = "PipeBarrier<PIPE_ALL>(); DataCopy(%s, {1, 8, 0, 0}, {%s}); PipeBarrier<PIPE_ALL>();"
        self.close(copies % ("z, xGm", ""), x, x, 0)
        self.close("PipeBarrier<PIPE_V>(); Adds(x, x, 1.0f, n); " + copies % ("yGm, x", "") + copies % ("z, yGm", ""), x, [v + 1 for v in x], 0)
        self.assertIsNone(self.call(B1, copies % ("z, xGm", "BlockMode::BLOCK_MODE_MATRIX"), x, x))
        self.assertIn("no mode, scale or ReLU", self.said)

    def test_unpad(self):
        rows, width, keep = 5, 24, 17
        x = [float(i) for i in range(rows * width)]
        body = ("struct { uint32_t srcHeight = %d, srcWidth = %d; } tiling; UnPadParams params; params.rightPad = %d; Duplicate(z, 0.0f, (int)n);"
                "UnPad(z, x, params, tmp.ReinterpretCast<uint8_t>(), tiling);" % (rows, width, width - keep))
        got = self.call(B1, body, x, x)
        want = [x[r * width + i] for r in range(rows) for i in range(keep)]
        self.assertEqual(got[:len(want)], want, self.said)

    def test_places_known_when_it_runs(self):
        """A copy between buffers that may be anywhere does not make a kernel one of cube cores."""
        x = [float(i) for i in range(64)]
        body = ("LocalTensor<float> t; t.address_.logicPos = (uint8_t)(GetBlockIdx() == 0 ? TPosition::VECIN : TPosition::C2);"
                "t.address_.bufferAddr = (uint64_t)z.GetPhyAddr(); DataCopy(t, x, n);")
        self.assertEqual(self.call(B1, body, x, x), x, self.said)

    def test_a_tensor_set_by_hand_is_of_its_queue(self):
        x = [float(i) for i in range(64)]
        body = ("Adds(z, x, 1.0f, (int)n); LocalTensor<float> to; to.SetAddr(y.address_); in.FreeTensor(x); in.FreeTensor(to);"
                "x = in.AllocTensor<float>(); y = in.AllocTensor<float>();")
        got = self.call(B1, body, x, x)
        self.assertEqual(got, [v + 1 for v in x], self.said)

    def test_names_of_the_vendors_compiler(self):
        x = [float(i) for i in range(64)]
        body = ("LocalTensor<float> t; t.address_.logicPos = (uint8_t)TPosition::VECIN; t.address_.bufferAddr = (uint64_t)x.GetPhyAddr();"
                "TBuffAddr place; place.bufferAddr = (uint64_t)z.GetPhyAddr(); LocalTensor<float> to; to.SetAddr(place);"
                "const __fp16 one = 1; assert(block_num == 1 && __CCE_AICORE__ == 220); Adds(to, t, (float)block_idx + (float)one, (int)n);")
        self.assertEqual(self.call(B1, body, x, x), [v + 1 for v in x])

    def test_log(self):
        body = 'KERNEL_LOG(KERNEL_ERROR, "n is %d", (int)n); KERNEL_LOG(KERNEL_INFO, "not said %d", 1); Adds(z, x, 0.0f, n);'
        self.assertEqual(self.call(B1, body, [1.0] * 8, [1.0] * 8), [1.0] * 8, self.said)
        self.assertIn("n is 8\n", self.said)
        self.assertNotIn("not said", self.said)

    def test_assert(self):
        body = 'ASCENDC_ASSERT(n == %d, { KERNEL_LOG(KERNEL_ERROR, "n is wrong"); }); Adds(z, x, (float)GetTaskRation(), n);'
        debug = ("-DASCENDC_DEBUG",)
        self.assertEqual(self.call(B1, body.replace("%d", "8"), [1.0] * 8, [1.0] * 8, debug), [2.0] * 8, self.said)
        self.assertEqual(self.call(B1, body.replace("%d", "neither_read"), [1.0] * 8, [1.0] * 8), [2.0] * 8, self.said)
        self.assertIsNone(self.call(B1, body.replace("%d", "9"), [1.0] * 8, [1.0] * 8, debug))
        self.assertIn("n is wrong", self.said)

    def test_limits_of_half(self):
        got = self.call(B1, """using limits = std::numeric_limits<half>; static_assert(limits::is_specialized);
        PipeBarrier<PIPE_ALL>(); z.SetValue(0, (float)limits::min()); z.SetValue(1, (float)limits::max());
        z.SetValue(2, (float)limits::lowest()); z.SetValue(3, (float)limits::epsilon());
        for (int i = 4; i < 8; i++) { z.SetValue(i, (float)limits::infinity()); } PipeBarrier<PIPE_ALL>();""", [1.0] * 8, [1.0] * 8)
        self.assertEqual(got, [2.0**-14, 65504.0, -65504.0, 2.0**-10] + [math.inf] * 4, self.said)

    def test_half(self):
        x = [i / 16 - 8 for i in range(256)]
        body = """LocalTensor<half> h = tmp.ReinterpretCast<half>();
        Cast(h, x, RoundMode::CAST_NONE, n); Sin(h, h, n); Cast(z, h, RoundMode::CAST_NONE, n);"""
        self.close(body, x, [math.sin(v) for v in x], 2.0**-11)

    def test_no_room(self):
        self.assertIsNone(self.call(B1, "TBuf<> all; pipe.InitBuffer(all, 196608 - 28672); Sin(z, x, n);", [1.0] * 8, [1.0] * 8))
        self.assertIn("no room for 768 bytes", self.said)

    def test_broadcast(self):
        x = [float(i) for i in range(64)]
        shapes = "const uint32_t d[2] = {%d, %d}, s[2] = {%d, %d}; BroadCast<float, 2, %d>(z, x, d, s);"
        self.all_close([
            (shapes % (4, 16, 1, 16, 0), x, [float(i % 16) for i in range(64)], 0),
            (shapes % (16, 4, 1, 4, 0), x, [float(i % 4) for i in range(64)], 0),
            (shapes % (4, 16, 4, 1, 1), x, [float(i // 16) for i in range(64)], 0),
            (shapes % (16, 4, 16, 1, 1), x, [float(i // 4) for i in range(64)], 0),
            ("const uint32_t d[1] = {64}, s[1] = {1}; BroadCast<float, 1, 0>(z, x[5], d, s);", x, [5.0] * 64, 0)])

    def test_small_calls(self):
        x, y = [float(i + 1) for i in range(64)], [2.0] * 64
        got = self.call(B1, """LocalTensor<float> d = tmp; d.SetSize(64); d = x + y; z = d * y; PipeBarrier<PIPE_V>();
        if (min(3, n) != 3 || max(2.5f, 1.0f) != 2.5f || abs(-3) != 3 || ScalarGetSFFValue<1>(8) != 3 || ScalarGetSFFValue<0>(7) != 3 ||
            ScalarGetSFFValue<1>(0) != -1) { z.SetValue(0, -1.0f); }""", x, y)
        self.assertEqual(got, [(a + 2) * 2 for a in x], self.said)
        body = """LocalTensor<int32_t> at = tmp.ReinterpretCast<int32_t>();
        CreateVecIndex(at, (int32_t)0, 8, 8, 1, 1); Muls(at, at, (int32_t)-4, n); Adds(at, at, (int32_t)252, n);
        Gather(z, x, at.ReinterpretCast<uint32_t>(), 0u, 64, 1, 8);"""
        self.close(body, x, x[::-1], 0)

    def test_global_memory_of_one_value(self):
        self.built(self.source("""
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void k(GM_ADDR z, uint32_t n)
{
    AscendC::TPipe pipe;
    AscendC::TBuf<> most;
    pipe.InitBuffer(most, 196608 - 64);
    AscendC::GlobalTensor<float> gm;
    gm.SetGlobalBuffer((__gm__ float *)z);
    AscendC::InitGlobalMemory(gm, n, 1.5f);
}
"""), B1)
        want = [1.5] * 37 + [0.0] * 3
        self.good(B1, 1, "--arg", "inout:" + self.write("zero", bytes(160)), "--arg", "37", "--golden",
                  "0:" + self.write("g", struct.pack("40f", *want)) + ":f32:0")

    def kind(self, body, blocks, cores, ratio):
        self.built(self.source(ONE_WORD % body), B1, "-DLEO_TILING_KEY=3")
        want = [v for core in range(cores) for v in [core + 1] + [ratio] * 7]
        self.good(B1, blocks, "--arg", f"out:{32 * cores}", "--golden",
                  "0:" + self.write("g", struct.pack(f"{8 * cores}i", *want)) + ":s32:0")

    def test_kinds(self):
        self.kind("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);", 3, 3, 1)
        self.kind("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);", 3, 3, 1)
        self.kind("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);", 3, 3, 1)
        self.kind("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);", 3, 6, 2)
        self.kind("KERNEL_TASK_TYPE(2, KERNEL_TYPE_AIV_ONLY); KERNEL_TASK_TYPE(3, KERNEL_TYPE_MIX_AIC_1_2);", 3, 6, 2)

    def test_a_kernel_of_cube_cores(self):
        self.built(self.source("""
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void k(GM_ADDR)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    AscendC::printf("cube %d\\n", (int)leo_is_cube());
}
"""), B1)
        run = self.run_kernel(B1, 1, "--arg", "null")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("cube 1", run.stdout + run.stderr)

    def test_a_kernel_of_two_files(self):
        """What one file gave the units to do is waited for in the other; there is one TPipe."""
        fill = self.source(INCLUDE + """
__aicore__ void fill(const LocalTensor<float> &t)
{
    Duplicate(t, GetTPipePtr() ? 3.0f : 0.0f, 1024);
}
""", "fill.cpp")
        kernel = self.source(INCLUDE + """
__aicore__ void fill(const LocalTensor<float> &t);
extern "C" __global__ __aicore__ void k(GM_ADDR z)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> work;
    pipe.InitBuffer(work, 4096);
    LocalTensor<float> t = work.Get<float>();
    fill(t);
    t.SetValue(0, t.GetValue(5) + 1);
    GlobalTensor<float> zGm;
    zGm.SetGlobalBuffer((__gm__ float *)z);
    DataCopy(zGm, t, 64);
}
""")
        self.built(kernel, B1, str(fill))
        self.good(B1, 1, "--arg", "out:256", "--golden", "0:" + self.write("g", struct.pack("64f", 4, *[3] * 63)) + ":f32:0")

    def test_a_queue_without_buffers(self):
        self.built(self.source(INCLUDE + """
extern "C" __global__ __aicore__ void k(GM_ADDR z)
{
    TPipe pipe;
    TQue<TPosition::VECOUT, 1> out;
    GlobalTensor<float> zGm;
    zGm.SetGlobalBuffer((__gm__ float *)z);
    LocalTensor<float> t = out.AllocTensor<float>();
    Duplicate(t, 3.0f, 64);
    DataCopy(zGm, t, 64);
    out.FreeTensor(t);
}
"""), B1)
        run = self.run_kernel(B1, 1, "--arg", "out:256")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stdout + run.stderr, r"k\.cpp:11 .*a wait for a flag that no earlier instruction sets")

    def test_pairs_of_blocks(self):
        self.built(self.source(CHAIN % "IBWait(gm, sync.Get<int32_t>(), own - 1, event);"), B1)
        args = ["--arg", "inout:" + self.write("zero", bytes(32 * 2 * 4)), "--arg", f"out:{32 * 4}"]
        # Block 0 adds 1 a round; each other one adds 1 to what the block before it has stored.
        want = [102 + block for block in range(4) for _ in range(8)]
        self.good(B1, 4, *args, "--golden", "1:" + self.write("g", struct.pack("32i", *want)) + ":s32:0")
        self.built(self.source(CHAIN % ""), B1)
        run = self.run_kernel(B1, 4, *args)
        self.assertEqual(run.returncode, 1, run.stdout)

    def test_tiling_of_the_host_part(self):
        header = self.write("words_tiling.h", TILING_HEADER.encode())
        source = self.source(TILING)
        data = struct.pack("<IxxxxBxxxxxxxQiiixxxx", 7, 8, 9 << 32, 1, 20, 300)
        for operator in ("Words", "WordsGrad"):
            self.built(source, B1, "-include", header, f"-DLEO_OP={operator}")
            run = self.run_kernel(B1, 1, "--arg", "in:" + self.write("tiling", data))
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn("7 8 9 320", run.stdout + run.stderr)
        run = self.compile(source, B1, "-include", header, "-DLEO_OP=Other")
        self.assertNotEqual(run.returncode, 0)


class More(Together):
    """Calls of several instructions on floats."""

    def close(self, body, x, y, want, tolerance):
        got = self.call(B1, body, x, y)
        self.assertIsNotNone(got, self.said)
        for i, (a, b) in enumerate(zip(got, want)):
            self.assertLessEqual(abs(a - b), tolerance * max(1, abs(b)), f"{body}: element {i}: {a} for {b}")

    def test_functions(self):
        x = [f32((i - 100) / 16) for i in range(200)]
        y = [f32((i * 37 % 50 - 25.5) / 8) for i in range(200)]
        far, whole = [v or 1.0 for v in x], [float(i % 7 - 3) for i in range(200)]
        self.all_close([
            ("Silu(z, x, n);", x, y, [v / (1 + math.exp(-v)) for v in x], 1e-6),
            ("Fmod(z, x, y, n);", x, y, [math.fmod(a, b) for a, b in zip(x, y)], 4e-6),
            ("Power(z, x, 3.0f, n);", x, y, [v ** 3 for v in x], 1e-6),
            ("Power(z, x, -2.0f, n);", far, y, [v ** -2 for v in far], 1e-6),
            ("Abs(x, x, n); Power(z, x, 1.75f, n);", far, y, [abs(v) ** 1.75 for v in far], 2e-6),
            ("Erf(z, x, n);", x, y, [math.erf(v) for v in x], 5e-7),
            ("Power(z, x, y, n);", far, whole, [a ** b for a, b in zip(far, whole)], 3e-6),
            ("Abs(x, x, n); Power(z, x, y, n);", far, y, [abs(a) ** b for a, b in zip(far, y)], 3e-6)])
        got = self.call(B1, "Power(z, x, y, n);", far, [0.5] * 200)
        self.assertTrue(all(math.isnan(v) if of < 0 else abs(v - of ** 0.5) < 1e-5 for v, of in zip(got, far)))

    def test_sums_along_an_axis(self):
        x = [float(i * 7 % 11 - 5) for i in range(128)]
        along = [sum(x[i // 16 * 16:i + 1]) for i in range(128)]
        down = [sum(x[i % 16:i + 1:16]) for i in range(128)]
        text = "static constexpr CumSumConfig config{%s, false, %s}; CumSum<float, config>(z, tmp, x, {8, 16});%s"
        self.assertEqual(self.call(B1, text % ("true", "false", ""), x, x), along, self.said)
        self.assertEqual(self.call(B1, text % ("false", "true", " Add(z, z, x, 112); DataCopy(z, tmp, 16); Sub(z[16], z[16], x[16], 96);"), x, x),
                         down[-16:] + down[16:], self.said)

    def test_turned_blocks(self):
        x = [float(i) for i in range(128)]
        lists = "uint64_t to[16], from[16]; for (int i = 0; i < 16; i++) { to[i] = (uint64_t)z[i * 8].GetPhyAddr(); " \
                "from[i] = (uint64_t)x[i * 8].GetPhyAddr(); } TransDataTo5HD<float>(to, from, {false, false, 1, 0, 0});"
        self.assertEqual(self.call(B1, lists, x, x), [x[i % 16 * 8 + i // 16] for i in range(128)], self.said)

    def test_bits_of_any_width(self):
        x, y = [1.5, -2.25, 3.0, 1e-3] * 8, [7.0, 0.5, -1.0, 2.0] * 8
        words = lambda values: struct.unpack(f"{len(values)}I", struct.pack(f"{len(values)}f", *values))
        rules = {f"{name}(z.ReinterpretCast<{kind}>(), x.ReinterpretCast<{kind}>(), y.ReinterpretCast<{kind}>(), n * {times});": rule
                 for name, rule in (("And", operator.and_), ("Or", operator.or_), ("Xor", operator.xor))
                 for kind, times in (("uint8_t", 4), ("int32_t", 1))}
        self.prepare(B1, rules)
        for body, rule in rules.items():
            got = self.call(B1, body, x, y)
            self.assertIsNotNone(got, self.said)
            self.assertEqual(words(got), tuple(rule(a, b) for a, b in zip(words(x), words(y))))

    def test_sums_of_halves_in_float(self):
        x = [float(i % 9) for i in range(64)]
        body = "LocalTensor<half> h = tmp.ReinterpretCast<half>(); Cast(h, x, RoundMode::CAST_NONE, n); Duplicate(z, 1.0f, n);"
        slices = "uint64_t(64), 1, "
        self.close(body + f"Axpy<float, half>(z, h, (half)2, {slices}UnaryRepeatParams(1, 1, 8, 4));", x, x, [1 + 2 * v for v in x], 0)
        self.close(body + f"MulAddDst<float, half>(z, h, h, {slices}BinaryRepeatParams(1, 1, 1, 8, 4, 4));", x, x, [1 + v * v for v in x], 0)

    def test_sums_of_rows_and_columns(self):
        x = [float(i % 13) for i in range(96)]
        shape = "uint32_t shape[2] = {4, 24}; "
        rows = [sum(x[24 * i:24 * i + 24]) for i in range(4)]
        self.close(shape + "Duplicate(z, 0.0f, n); ReduceSum<float, Pattern::Reduce::AR>(z, x, shape, true);", x, x, rows + [0.0] * 92, 0)
        columns = [sum(x[j::24]) for j in range(24)]
        self.close(shape + "Duplicate(z, 0.0f, n); ReduceSum<float, Pattern::Reduce::RA>(z, x, shape, true);", x, x, columns + [0.0] * 72, 0)

    def test_sum_that_a_reduction_leaves(self):
        x = [float(i % 5) for i in range(200)]
        got = self.call(B1, "Duplicate(z, 0.0f, n); ReduceSum(tmp, x, tmp, 190); z.SetValue(0, GetAccVal<float>());", x, x)
        self.assertIsNotNone(got, self.said)
        self.assertEqual(got[0], sum(x[:190]))

    def test_choices_of_one_mask_for_all_repeats_are_refused(self):
        body = "LocalTensor<uint8_t> m = tmp.ReinterpretCast<uint8_t>(); Compare(m, x, y, CMPMODE::LT, n); Select(z, m, x, y, SELMODE::%s, n);"
        x, y = [float(i % 7) for i in range(128)], [3.0] * 128
        self.assertEqual(self.call(B1, body % "VSEL_TENSOR_TENSOR_MODE", x, y), [min(a, 3.0) for a in x])
        self.assertIsNone(self.call(B1, body % "VSEL_CMPMASK_SPR", x, y))
        self.assertIn("VSEL_CMPMASK_SPR is not there", self.said)

    def test_sorting(self):
        """Values, and places: those of equal values in their order."""
        body = """
    LocalTensor<float> sorted = tmp, room = tmp[2048], concat;
    LocalTensor<int32_t> numbers = y.ReinterpretCast<int32_t>();
    CreateVecIndex(numbers, (int32_t)0, n);
    Concat(concat, x, room, n / 32);
    Sort<float, true>(sorted, concat, y.ReinterpretCast<uint32_t>(), room, n / 32);
    Extract(%s, %s, sorted, n / 32);
"""
        for count in (32, 96, 256, 1024):
            x = [float((i * 41) % 97) for i in range(count)]
            order = sorted(range(count), key=lambda i: (-x[i], i))
            self.close(body % ("z", "y.ReinterpretCast<uint32_t>()"), x, x, [x[i] for i in order], 0)
            got = self.call(B1, body % ("y", "z.ReinterpretCast<uint32_t>()") + "Cast(z, z.ReinterpretCast<int32_t>(), RoundMode::CAST_NONE, n);", x, x)
            self.assertEqual(got, [float(i) for i in order])

    def test_merging_until_a_list_is_used_up(self):
        """Two lists of 32: 0, 2, ... and 1, 3, ...: all but the smallest are taken."""
        x = [float(2 * i) for i in range(32)] + [float(2 * i + 1) for i in range(32)]
        body = """
    LocalTensor<int32_t> numbers = y.ReinterpretCast<int32_t>();
    CreateVecIndex(numbers, (int32_t)0, n);
    Sort32(tmp, x, y.ReinterpretCast<uint32_t>(), 2);
    const uint16_t lengths[4] = {32, 32, 0, 0};
    MrgSort(tmp[512], {tmp, tmp[64], tmp, tmp}, MrgSort4Info(lengths, true, 0b11, 1));
    uint16_t first, second, third, fourth;
    GetMrgSortResult(first, second, third, fourth);
    Duplicate(z, 0.0f, n);
    z.SetValue(0, (float)first);
    z.SetValue(1, (float)second);
"""
        got = self.call(B1, body, x, x)
        self.assertIsNotNone(got, self.said)
        self.assertEqual(got[:2], [31.0, 32.0])


# What differs between the guards is a function, a type and a variable of the same names.
PARTS = """
#include "kernel_operator.h"
using namespace AscendC;
#ifdef __DAV_C220_CUBE__
struct Own { int32_t number = 100; int32_t unused = 0; };
#else
struct Own { int32_t number = 200; };
#endif
inline LEO_DEVICE Own own;
template <typename T> __attribute__((noinline)) __aicore__ T more(T x) { return x + own.number; }
#ifndef __DAV_C220_CUBE__
extern "C" __global__ __aicore__ void only_vector(GM_ADDR) { Duplicate(LocalTensor<float>(TPosition::VECCALC, 0, 256), 1.0f, 64); }
#endif
extern "C" __global__ __aicore__ void parts(GM_ADDR z, int32_t add)
{
    KIND;
    GlobalTensor<int32_t> out;
    out.SetGlobalBuffer((__gm__ int32_t *)z, 48);
#if defined(__DAV_C220_CUBE__)
    const int at = 0;
#elif defined(__DAV_C220_VEC__)
    const int at = 16 + 16 * GetSubBlockIdx();
#endif
    for (int i = 0; i < 16; i++) {
        out.SetValue(at + i, more(add));
    }
    DataCacheCleanAndInvalid<int32_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(out[at]);
}
"""


class Parts(Case):
    """Guards of the kind of core: the source is compiled for both."""

    def test_one_kernel_of_two_parts(self):
        self.built(self.source(PARTS.replace("KIND", "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2)")), B1)
        self.good(B1, 1, "--kernel", "parts", "--arg", f"out:192:{self.path / 'z'}", "--arg", "7")
        self.assertEqual(list(struct.unpack("48i", (self.path / "z").read_bytes())), [107] * 16 + [207] * 32)
        self.assertIn(b"only_vector 2201 vector ", (self.path / "k.elf").read_bytes())
        self.good(B1, 1, "--kernel", "only_vector", "--arg", "in:" + self.write("x", bytes(32)))

    def test_an_error_in_one_part(self):
        run = self.compile(self.source(PARTS.replace("KIND", "(void)Own().unused")), B1)
        self.assertEqual(run.stderr.count("error: no member named 'unused'"), 1)


if __name__ == "__main__":
    Case.leo = sys.argv.pop(1)
    unittest.main()