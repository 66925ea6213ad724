#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_ascendc_matmul.py LEO: the Matmul object of Ascend C, run by leo run with the checker, against products of whole numbers.

Types, layouts, sizes that are no whole fractals, ways to ask, two objects at a time, groups of one and two vector cores.
"""

import random
import struct
import sys
import unittest
from pathlib import Path

from ascendc_case import A, B1, INCLUDE, Case

ROOT = Path(__file__).resolve().parents[4]
WORKSPACE = 16 << 20

# Each vector core has `rows` rows of c. HOW asks for them.
KERNEL = """
#include "kernel_operator.h"
#include "lib/matmul_intf.h"
using namespace AscendC;
template <typename T, bool turned = false> using Rows = matmul::MatmulType<TPosition::GM, CubeFormat::ND, T, turned>;
using Product = matmul::Matmul<Rows<IN, TURN_A>, Rows<IN, TURN_B>, Rows<OUT>, Rows<BIAS>>;
extern "C" __global__ __aicore__ void product(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, uint32_t m,
                                              uint32_t n, uint32_t k, uint32_t rows)
{
    KIND;
    TPipe pipe;
    Product mm, other;
    TCubeTiling t{};
    t.M = m;
    t.N = t.singleCoreN = n;
    t.Ka = t.Kb = t.singleCoreK = k;
    t.singleCoreM = rows;
    t.baseM = 32;
    t.baseN = 48;
    t.baseK = 32;
    t.stepKa = 2;
    (void)GetUserWorkspace(workspace);
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &t, other, &t);
    GlobalTensor<IN> aGm, bGm;
    GlobalTensor<OUT> cGm;
    GlobalTensor<BIAS> biasGm;
    const uint32_t first = GetBlockIdx() * rows;
    aGm.SetGlobalBuffer((__gm__ IN *)a + (uint64_t)first * (TURN_A ? 1 : k));
    bGm.SetGlobalBuffer((__gm__ IN *)b);
    cGm.SetGlobalBuffer((__gm__ OUT *)c + (uint64_t)first * n);
    biasGm.SetGlobalBuffer((__gm__ BIAS *)bias);
    if (first >= m) {
        return;
    }
    if (m - first < rows) {
        rows = m - first;
        mm.SetTail(rows);
        other.SetTail(rows);
    }
    mm.SetTensorA(aGm);
    mm.SetTensorB(bGm);
    HOW
}
"""
ALL = "mm.SetBias(biasGm); mm.IterateAll(cGm); mm.End();"


# By hand: 2 [32, 64] times 3 [64, 48], then the result in half [32, 48] from L1 times 3 [48, 48].
BY_HAND = INCLUDE + """
constexpr uint32_t M = 32, N = 48, K = 64;
extern "C" __global__ __aicore__ __cube__ void by_hand(GM_ADDR first, GM_ADDR second)
{
    TPipe pipe;
    TBuf<TPosition::A1> l1;
    TBuf<TPosition::A2> l0a;
    TBuf<TPosition::B2> l0b;
    TBuf<TPosition::CO1> l0c;
    pipe.InitBuffer(l1, 16384);
    pipe.InitBuffer(l0a, 16384);
    pipe.InitBuffer(l0b, 16384);
    pipe.InitBuffer(l0c, 16384);
    LocalTensor<half> a1 = l1.Get<half>(), a = l0a.Get<half>(), b = l0b.Get<half>();
    LocalTensor<float> c = l0c.Get<float>();
    GlobalTensor<float> gm[2];
    gm[0].SetGlobalBuffer((__gm__ float *)first);
    gm[1].SetGlobalBuffer((__gm__ float *)second);
    InitConstValue(a1, {1, M * K * 2 / 32, 0, (half)2});
    InitConstValue(b, {1, K * N * 2 / 512, 0, (half)3});
    for (uint32_t pass = 0; pass < 2; pass++) {
        const uint16_t k = pass ? N : K;
        PipeBarrier<PIPE_ALL>();
        for (uint32_t i = 0; i < M / 16; i++) {
            LoadData2dParams p;
            p.startIndex = (uint16_t)i;
            p.repeatTimes = (uint8_t)(k / 16);
            p.srcStride = M / 16;
            LoadData(a[i * k * 16], a1, p);
        }
        PipeBarrier<PIPE_ALL>();
        MmadParams p;
        p.m = M;
        p.n = N;
        p.k = k;
        Mmad(c, a, b, p);
        PipeBarrier<PIPE_ALL>();
        FixpipeParams<float> rows;
        rows.cburstNum = N / 16;
        rows.burstLen = M * 16 * 4 / 32;
        rows.dstStride = N;
        rows.nz2ndParams.nz2ndEn = true;
        rows.nz2ndParams.originalNSize = N;
        Fixpipe(gm[pass], c, rows);
        FixpipeParamsV220 back;
        back.nSize = N;
        back.mSize = M;
        back.srcStride = M;
        back.dstStride = M;
        back.quantPre = F322F16;
        Fixpipe<half, float, CFG_NZ>(a1, c, back);
        PipeBarrier<PIPE_ALL>();
    }
}
"""


class Matmul(Case):
    def test_by_hand(self):
        self.built(self.source(BY_HAND), B1)
        count = 32 * 48
        want = lambda value: self.write(f"g{value}", struct.pack(f"{count}f", *[float(value)] * count)) + ":f32:0"
        self.good(B1, 1, "--arg", f"out:{4 * count}", "--arg", f"out:{4 * count}", "--golden", "0:" + want(2 * 3 * 64), "--golden",
                  "1:" + want(384 * 3 * 48))

    def product(self, m, n, k, how=ALL, blocks=1, kind="KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2)", types=("half", "float", "float"),
                turned=(False, False), want=None, more=()):
        letter = {"half": "e", "float": "f"}
        source = self.source(KERNEL.replace("HOW", how).replace("KIND", kind))
        names = [f"-D{name}={value}" for name, value in zip(("IN", "OUT", "BIAS"), types)]
        names += [f"-D{name}={str(value).lower()}" for name, value in zip(("TURN_A", "TURN_B"), turned)]
        self.built(source, B1, *names, *more)
        numbers = random.Random(m * n + k)
        a = [[numbers.randint(-3, 3) for _ in range(k)] for _ in range(m)]
        b = [[numbers.randint(-3, 3) for _ in range(n)] for _ in range(k)]
        bias = [numbers.randint(-9, 9) for _ in range(n)]
        columns = list(zip(*b))
        plain = [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]
        expected = want(plain, [sum(column) for column in columns]) if want else [[v + bias[j] for j, v in enumerate(row)] for row in plain]
        flat = lambda rows, turn: [v for row in (zip(*rows) if turn else rows) for v in row]
        pack = lambda name, values, of: "in:" + self.write(name, struct.pack(f"{len(values)}{letter[of]}", *values))
        result = [v for row in expected for v in row]
        vectors = blocks * (1 if "1_1" in kind or "AIC_ONLY" in kind else 2)
        run = self.run_kernel(B1, blocks, "--arg", pack("a", flat(a, turned[0]), types[0]), "--arg", pack("b", flat(b, turned[1]), types[0]),
                              "--arg", pack("bias", bias, types[2]), "--arg", "inout:" + self.write("c", bytes(len(result) * struct.calcsize(letter[types[1]]))),
                              "--arg", f"out:{WORKSPACE + 65536}", "--arg", str(m), "--arg", str(n), "--arg", str(k), "--arg",
                              str(-(-m // vectors)), "--golden",
                              "3:" + self.write("want", struct.pack(f"{len(result)}{letter[types[1]]}", *result)) +
                              (":f32:0" if types[1] == "float" else ":f16:0"))
        self.said = run.stdout + run.stderr
        return run.returncode == 0

    def test_layouts_and_types(self):
        for types in (("half", "float", "float"), ("half", "half", "half"), ("float", "float", "float")):
            for turned in ((False, False), (False, True), (True, False), (True, True)):
                for m, n, k in ((64, 96, 64), (67, 53, 75), (2, 17, 40)):
                    with self.subTest(types=types, turned=turned, m=m, n=n, k=k):
                        self.assertTrue(self.product(m, n, k, types=types, turned=turned), self.said)

    def test_groups(self):
        for blocks in (1, 3):
            for kind in ("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1)", ""):
                self.assertTrue(self.product(50, 40, 33, blocks=blocks, kind=kind), self.said)

    def test_cube_cores_alone(self):
        self.product(100, 96, 96, kind="KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY)", blocks=3, more=("-DASCENDC_CUBE_ONLY",))

    def test_block_by_block(self):
        self.assertTrue(self.product(70, 100, 33, "mm.SetBias(biasGm); while (mm.Iterate()) { mm.GetTensorC(cGm); } mm.End();"), self.said)

    def test_asked_without_waiting(self):
        """More requests than the ring holds; an object anew after End, without bias."""
        how = "mm.DisableBias(); for (int i = 0; i < 9; i++) { mm.IterateAll<false>(cGm, 1); } mm.WaitIterateAll(); mm.End();"
        self.assertTrue(self.product(40, 48, 32, how, want=lambda c, _: [[9 * v for v in row] for row in c]), self.said)

    def test_two_objects(self):
        how = ("other.SetTensorA(aGm); other.SetTensorB(bGm); mm.IterateAll<false>(cGm, 1); other.IterateAll<false>(cGm, 1);"
               "mm.WaitIterateAll(); other.WaitIterateAll();")
        self.assertTrue(self.product(40, 48, 32, how, want=lambda c, _: [[2 * v for v in row] for row in c]), self.said)

    def test_operand_and_result_in_ub(self):
        how = """
    TBuf<TPosition::VECCALC> in, out;
    pipe.InitBuffer(in, rows * k * sizeof(IN));
    pipe.InitBuffer(out, rows * n * sizeof(OUT));
    LocalTensor<IN> x = in.Get<IN>();
    LocalTensor<OUT> y = out.Get<OUT>();
    DataCopy(x, aGm, rows * k);
    SetFlag<HardEvent::MTE2_V>(0);
    WaitFlag<HardEvent::MTE2_V>(0);
    Adds(x, x, (IN)1, rows * k);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    mm.SetTensorA(x);
    mm.IterateAll(y);
    Muls(y, y, (OUT)2, rows * n);
    SetFlag<HardEvent::V_MTE3>(0);
    WaitFlag<HardEvent::V_MTE3>(0);
    DataCopy(cGm, y, rows * n);
"""
        # a + 1 in all elements adds to each result the sum of its column of b.
        twice = lambda c, sums: [[2 * (v + more) for v, more in zip(row, sums)] for row in c]
        self.assertTrue(self.product(24, 40, 32, how, want=twice), self.said)

    def test_the_sample(self):
        m, k, n = 64, 96, 150
        self.built(ROOT / "examples/ascendc/matmul_leakyrelu.cpp", B1)
        numbers = random.Random(7)
        a = [numbers.randint(-3, 3) for _ in range(m * k)]
        b = [numbers.randint(-3, 3) for _ in range(k * n)]
        bias = [numbers.randint(-9, 9) for _ in range(n)]
        want = []
        for i in range(m):
            for j in range(n):
                v = bias[j] + sum(a[i * k + l] * b[l * n + j] for l in range(k))
                want.append(v if v > 0 else v / 8)
        self.good(B1, 1, "--arg", "in:" + self.write("a", struct.pack(f"{m * k}e", *a)), "--arg", "in:" + self.write("b", struct.pack(f"{k * n}e", *b)),
                  "--arg", "in:" + self.write("bias", struct.pack(f"{n}f", *bias)), "--arg", f"out:{4 * m * n}", "--arg", f"out:{WORKSPACE}",
                  "--arg", str(m), "--arg", str(k), "--arg", str(n), "--golden", "3:" + self.write("g", struct.pack(f"{m * n}f", *want)) + ":f32:0")

    def test_not_on_the_first_generation(self):
        source = self.source(KERNEL.replace("HOW", ALL).replace("KIND", ""))
        run = self.compile(source, A, "-DIN=half", "-DOUT=float", "-DBIAS=float", "-DTURN_A=false", "-DTURN_B=false")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("not on this chip: the Matmul object", run.stderr)


if __name__ == "__main__":
    Case.leo = sys.argv.pop(1)
    unittest.main()
