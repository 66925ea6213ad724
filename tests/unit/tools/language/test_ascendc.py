#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_ascendc.py LEO TOOLKIT: kernels in Ascend C, compiled by leo cc and run by leo run with the checker, against plain Python.

The examples, calls one by one on both chips, what the automatic order between units hides, and what a chip does not have.
"""

import array
import math
import operator
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from ascendc_case import A, B1, Case, f32, half

ROOT = Path(__file__).resolve().parents[4]
EXAMPLES = ROOT / "examples/ascendc"
LEO = None
COUNT = 256  # elements of a call
TOOLKIT = None  # the folder of set_env.sh, for projects with ascendc.cmake

# y = own number, meet, z = y of the next block, meet, w = 2 * (z of the next block) + 2.
MEET = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void meet(GM_ADDR flags, GM_ADDR yAddress, GM_ADDR zAddress, GM_ADDR wAddress)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> work;
    GlobalTensor<int32_t> flagGm, gm[3];
    flagGm.SetGlobalBuffer((__gm__ int32_t *)flags);
    gm[0].SetGlobalBuffer((__gm__ int32_t *)yAddress);
    gm[1].SetGlobalBuffer((__gm__ int32_t *)zAddress);
    gm[2].SetGlobalBuffer((__gm__ int32_t *)wAddress);
    pipe.InitBuffer(in, 1, 32);
    pipe.InitBuffer(out, 1, 32);
    pipe.InitBuffer(work, 32 * 8);
    const uint32_t blocks = GetBlockNum(), own = GetBlockIdx(), next = (own + 1) % blocks;
    LocalTensor<int32_t> t = out.AllocTensor<int32_t>();
    Duplicate(t, (int32_t)own, 8);
    out.EnQue(t);
    t = out.DeQue<int32_t>();
    DataCopy(gm[0][own * 8], t, 8);
    out.FreeTensor(t);
    for (int i = 0; i < 2; i++) {
        SyncAll(flagGm, work.Get<int32_t>());
        LocalTensor<int32_t> x = in.AllocTensor<int32_t>();
        DataCopy(x, gm[i][next * 8], 8);
        in.EnQue(x);
        x = in.DeQue<int32_t>();
        t = out.AllocTensor<int32_t>();
        if (i == 0) {
            DataCopy(t, x, 8);
        } else {
            Add(t, x, x, 8);
            Duplicate(x, (int32_t)2, 8);
            Add(t, t, x, 8);
        }
        in.FreeTensor(x);
        out.EnQue(t);
        t = out.DeQue<int32_t>();
        DataCopy(gm[i + 1][own * 8], t, 8);
        out.FreeTensor(t);
    }
}
"""


# A project as public ones are: finds ascendc.cmake, makes a library of kernels, links a program with it.
PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(add LANGUAGES %s)
include(${ASCEND_CANN_PACKAGE_PATH}/%s/ascendc.cmake)
ascendc_library(kernels %s ${EXAMPLES}/vector_add.cpp scale.cpp)
ascendc_include_directories(kernels PRIVATE one two)
ascendc_compile_definitions(kernels PRIVATE -DHAVE=2 MORE)
ascendc_compile_options(kernels PRIVATE -O2 -DOPTION=1 -forward-options-to-host-compiler -Wall -Werror)
ascendc_fatbin_library(images scale.cpp)
ascendc_include_directories(images one two)
ascendc_compile_definitions(images HAVE=2 MORE)
ascendc_compile_options(images PRIVATE -DOPTION=1)
add_executable(main main.%s)
target_link_libraries(main PRIVATE kernels)
"""

# p[0] = factor * p[0] + ONE + TWO, so that wrong arguments and lost flags show.
SCALE = """
#include "kernel_operator.h"
#include "one.h"
#include "two.h"
#if HAVE != 2 || !defined(MORE) || OPTION != 1
#error a definition is lost
#endif
extern "C" __global__ __aicore__ void scale(GM_ADDR p, float factor, int32_t more)
{
    AscendC::GlobalTensor<float> x;
    x.SetGlobalBuffer((__gm__ float *)p, 1);
    x.SetValue(0, factor * x.GetValue(0) + (float)(ONE + TWO + more));
    AscendC::DataCacheCleanAndInvalid<float, AscendC::CacheLine::SINGLE_CACHE_LINE>(x);
}
"""

# What the page says of main.cpp: the header of the kernel, and its launch. 1.5 + 2.25 in half precision.
PAGE_MAIN = """
#include <acl/acl.h>
#include "aclrtlaunch_vector_add.h"
#include <cstdint>
#include <cstdio>
#include <vector>
int main()
{
    std::vector<uint16_t> x(16384, 0x3e00), y(16384, 0x4080), z(16384);
    void *a, *b, *c;
    aclrtStream stream;
    int wrong = 0;
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtCreateStream(&stream);
    for (void **p : {&a, &b, &c}) {
        aclrtMalloc(p, 32768, ACL_MEM_MALLOC_HUGE_FIRST);
    }
    aclrtMemcpy(a, 32768, x.data(), 32768, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(b, 32768, y.data(), 32768, ACL_MEMCPY_HOST_TO_DEVICE);
    uint32_t error = ACLRT_LAUNCH_KERNEL(vector_add)(4, stream, a, b, c, 4096);
    error = error ? error : aclrtSynchronizeStream(stream);
    aclrtMemcpy(z.data(), 32768, c, 32768, ACL_MEMCPY_DEVICE_TO_HOST);
    for (uint16_t value : z) {
        wrong += value != 0x4380;
    }
    printf("error %u wrong %d\\n", error, wrong);
    return aclFinalize();
}
"""

MAIN = """
#include <stdio.h>
#include "acl/acl.h"
#include "aclrtlaunch_scale.h"
#include "aclrtlaunch_vector_add.h"
enum { COUNT = 16384, BYTES = 2 * COUNT };
static uint16_t x[COUNT], y[COUNT], z[COUNT];
int main(void)
{
    void *a, *b, *c;
    float f = 3;
    int wrong = 0;
    aclrtStream s;
    aclInit(NULL);
    aclrtSetDevice(0);
    aclrtCreateStream(&s);
    aclrtMalloc(&a, BYTES, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&b, BYTES, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&c, BYTES, ACL_MEM_MALLOC_HUGE_FIRST);
    for (int i = 0; i < COUNT; i++) {
        x[i] = aclFloatToFloat16((float)(i % 1000));
        y[i] = aclFloatToFloat16(0.5f);
    }
    aclrtMemcpy(a, BYTES, x, BYTES, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(b, BYTES, y, BYTES, ACL_MEMCPY_HOST_TO_DEVICE);
    uint32_t error = ACLRT_LAUNCH_KERNEL(vector_add)(4, s, a, b, c, COUNT / 4);
    error |= (uint32_t)aclrtSynchronizeStream(s);
    aclrtMemcpy(z, BYTES, c, BYTES, ACL_MEMCPY_DEVICE_TO_HOST);
    for (int i = 0; i < COUNT; i++) {
        wrong += aclFloat16ToFloat(z[i]) != (float)(i % 1000) + 0.5f;
    }
    for (int i = 0; i < 2; i++) {
        aclrtMemcpy(a, 4, &f, 4, ACL_MEMCPY_HOST_TO_DEVICE);
        error |= ACLRT_LAUNCH_KERNEL(scale)(1, s, a, 2.5f, -1);
        error |= (uint32_t)aclrtSynchronizeStream(s);
        aclrtMemcpy(&f, 4, a, 4, ACL_MEMCPY_DEVICE_TO_HOST);
        aclrtResetDevice(0); // the image is loaded anew
        aclrtSetDevice(0);
        aclrtCreateStream(&s);
        aclrtMalloc(&a, BYTES, ACL_MEM_MALLOC_HUGE_FIRST);
    }
    printf("error %u wrong %d f %g\\n", error, wrong, f);
    return 0;
}
"""


class Projects(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def project(self, soc, place, kind, language):
        ending = {"C": "c", "CXX": "cpp"}[language]
        (self.path / "CMakeLists.txt").write_text(PROJECT % (language, place, kind, ending), encoding="ascii")
        (self.path / f"main.{ending}").write_text(MAIN, encoding="ascii")
        (self.path / "scale.cpp").write_text(SCALE, encoding="ascii")
        for name, value in (("one", 100), ("two", 20)):
            (self.path / name).mkdir()
            (self.path / name / f"{name}.h").write_text(f"#define {name.upper()} {value}\n", encoding="ascii")
        return self.cmake("-S", ".", "-B", "build", f"-DSOC_VERSION={soc}", f"-DASCEND_CANN_PACKAGE_PATH={TOOLKIT}",
                          f"-DEXAMPLES={EXAMPLES}")

    def cmake(self, *args):
        return subprocess.run(["cmake", *args], cwd=self.path, capture_output=True, text=True, check=False)

    def runs(self, soc, *project):
        for step in (self.project(soc, *project), self.cmake("--build", "build", "-j2")):
            self.assertEqual(step.returncode, 0, step.stdout + step.stderr)
        run = subprocess.run([self.path / "build/main"], env={**os.environ, "LEO_SOC": soc.lower()}, capture_output=True, text=True,
                             check=False)
        # 2.5 * 3 + 119 = 126.5, then 2.5 * 126.5 + 119
        self.assertEqual(run.stdout, "error 0 wrong 0 f 435.25\n", run.stderr)
        self.assertTrue((self.path / "build/fatbin/images/images.o").read_bytes().startswith(b"\x7fELF"))

    def test_static_library_on_the_split_chip(self):
        self.runs("Ascend910B1", "tools/tikcpp/ascendc_kernel_cmake", "STATIC", "CXX")

    def test_shared_library_on_the_other_chip(self):
        self.runs("Ascend910A", "compiler/tikcpp/ascendc_kernel_cmake", "SHARED", "C")

    def test_objects_and_a_header_that_changes(self):
        self.runs("Ascend910B1", "ascendc_devkit/tikcpp/samples/cmake", "OBJECT", "CXX")
        (self.path / "one/one.h").write_text("#error changed\n", encoding="ascii")
        run = self.cmake("--build", "build", "--target", "kernels")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("changed", run.stdout + run.stderr)

    def test_what_the_page_says(self):
        """The project of docs/ascend_c.md as it stands there, beside the repository's build folder."""
        page = (ROOT / "docs/ascend_c.md").read_text(encoding="utf-8").partition("## Kernels in a CMake project")[2]
        command = re.search(r"`(cmake -B build [^`]*)`", page)[1].replace("$PWD/../build/toolkit/cann", str(TOOLKIT))
        self.assertIn("../build/toolkit/cann", page)
        (self.path / "CMakeLists.txt").write_text(page.split("```")[1].strip(), encoding="ascii")
        (self.path / "main.cpp").write_text(PAGE_MAIN, encoding="ascii")
        shutil.copy(EXAMPLES / "vector_add.cpp", self.path)
        for step in (command.split(), ["cmake", "--build", "build"]):
            done = subprocess.run(step, cwd=self.path, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        run = subprocess.run([self.path / "build/main"], env={**os.environ, "LEO_SOC": "ascend910b1"}, capture_output=True, text=True, check=False)
        self.assertEqual(run.stdout, "error 0 wrong 0\n", run.stderr)

    def test_a_wrong_kind_says_so(self):
        run = self.project("Ascend910B1", "tools/tikcpp/ascendc_kernel_cmake", "MODULE", "CXX")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("none of STATIC, SHARED, OBJECT", run.stderr)


class Kernels(Case):
    def test_vector_add_on_both_chips(self):
        rng = random.Random(1)
        x, y = ([half(rng.gauss(0, 1)) for _ in range(16384)] for _ in range(2))
        pack = struct.Struct("16384e").pack
        args = ["--arg", "in:" + self.write("x", pack(*x)), "--arg", "in:" + self.write("y", pack(*y)), "--arg", "out:32768",
                "--arg", "4096", "--golden", "2:" + self.write("g", pack(*(half(a + b) for a, b in zip(x, y)))) + ":f16:0"]
        for soc in (A, B1):
            self.built(EXAMPLES / "vector_add.cpp", soc)
            self.good(soc, 4, *args)

    def softmax_args(self):
        rng = random.Random(2)
        rows, columns = 19, 1000
        x = [[f32(rng.gauss(0, 2)) for _ in range(columns)] for _ in range(rows)]
        want = array.array("f")
        for row in x:
            parts = [math.exp(v - max(row)) for v in row]
            want.extend(p / sum(parts) for p in parts)
        return ["--arg", "in:" + self.write("x", array.array("f", sum(x, [])).tobytes()), "--arg", f"out:{4 * rows * columns}",
                "--arg", str(rows), "--arg", str(columns), "--golden", "1:" + self.write("g", want.tobytes()) + ":f32:1e-6"]

    def test_softmax(self):
        self.built(EXAMPLES / "softmax.cpp", B1)
        self.good(B1, 8, *self.softmax_args())

    def test_topk(self):
        rows, columns, k = 5, 256, 10
        rng = random.Random(3)
        x = [[f32(rng.uniform(-9, 9)) for _ in range(columns)] for _ in range(rows)]
        order = [sorted(range(columns), key=lambda i, row=row: -row[i])[:k] for row in x]
        flat = lambda kind, lists: struct.pack(f"{sum(map(len, lists))}{kind}", *[v for row in lists for v in row])
        self.built(EXAMPLES / "topk.cpp", B1)
        self.good(B1, 2, "--arg", "in:" + self.write("x", flat("f", x)), "--arg", f"out:{4 * rows * k}", "--arg", f"out:{4 * rows * k}", "--arg", str(rows),
                  "--arg", str(columns), "--arg", str(k), "--golden",
                  "1:" + self.write("values", flat("f", [[row[i] for i in picked] for row, picked in zip(x, order)])) + ":f32:0",
                  "--golden", "2:" + self.write("indices", flat("i", order)) + ":s32:0")

    def test_flash_attention(self):
        queries, keys, head = 80, 256, 64  # the last vector core has less
        rng = random.Random(4)
        q, k, v = ([[half(rng.gauss(0, 1)) for _ in range(head)] for _ in range(count)] for count in (queries, keys, keys))
        y = []
        for row in q:
            weights = [math.exp(sum(map(operator.mul, row, other)) / 8) for other in k]
            y.append([sum(map(operator.mul, weights, column)) / sum(weights) for column in zip(*v)])
        flat = lambda rows: struct.pack(f"{len(rows) * head}e", *[value for row in rows for value in row])
        self.built(EXAMPLES / "flash_attention.cpp", B1)
        self.good(B1, 2, "--arg", "in:" + self.write("q", flat(q)), "--arg", "in:" + self.write("k", flat(k)), "--arg", "in:" + self.write("v", flat(v)),
                  "--arg", f"out:{2 * queries * head}", "--arg", f"out:{16 << 20}", "--arg", str(queries), "--arg", str(keys), "--golden",
                  "3:" + self.write("y", flat(y)) + ":f16:2e-3")

    def test_without_automatic_order_the_checker_tells_what_is_missing(self):
        self.built(EXAMPLES / "softmax.cpp", B1, "-DLEO_NO_AUTO_SYNC")
        run = self.run_kernel(B1, 8, *self.softmax_args())
        self.assertEqual(run.returncode, 1)
        self.assertIn("hazard", run.stdout + run.stderr)
        self.assertIn("softmax.cpp:", run.stdout + run.stderr)

    def test_matmul(self):
        rng = random.Random(3)
        m, k, n = 64, 128, 192
        a = [[half(rng.gauss(0, 1)) for _ in range(k)] for _ in range(m)]
        b = [[half(rng.gauss(0, 1)) for _ in range(n)] for _ in range(k)]
        across = list(zip(*b))
        want = array.array("f", (sum(p * q for p, q in zip(row, column)) for row in a for column in across))
        self.built(EXAMPLES / "matmul.cpp", B1)
        self.good(B1, 3, "--arg", "in:" + self.write("a", struct.pack(f"{m * k}e", *sum(a, []))), "--arg",
                  "in:" + self.write("b", struct.pack(f"{k * n}e", *sum(b, []))), "--arg", f"out:{4 * m * n}", "--arg", str(m),
                  "--arg", str(k), "--arg", str(n), "--golden", "2:" + self.write("g", want.tobytes()) + ":f32:1e-4")

    def test_calls_on_both_chips(self):
        rng = random.Random(4)
        x = [f32(rng.uniform(0.5, 4)) for _ in range(COUNT)]
        y = [f32(rng.uniform(0.5, 4)) for _ in range(COUNT)]
        pairs = list(zip(x, y))
        calls = [
            ("Add(z, x, y, n);", [f32(a + b) for a, b in pairs], (A, B1)),
            ("Sub(z, x, y, n);", [f32(a - b) for a, b in pairs], (A, B1)),
            ("Mul(z, x, y, n);", [f32(a * b) for a, b in pairs], (A, B1)),
            ("Max(z, x, y, n);", [max(a, b) for a, b in pairs], (A, B1)),
            ("Min(z, x, y, n);", [min(a, b) for a, b in pairs], (A, B1)),
            ("Div(z, x, y, n);", [a / b for a, b in pairs], (A, B1)),
            ("Adds(z, x, 2.5f, n);", [f32(a + 2.5) for a in x], (A, B1)),
            ("Muls(z, x, 3, n);", [f32(a * 3) for a in x], (A, B1)),
            ("Maxs(z, x, 2.0f, n);", [max(a, 2.0) for a in x], (B1,)),
            ("Sqrt(z, x, n);", [math.sqrt(a) for a in x], (A, B1)),
            ("Exp(z, x, n);", [math.exp(a) for a in x], (A, B1)),
            ("Ln(z, x, n);", [math.log(a) for a in x], (A, B1)),
            ("Duplicate(z, 7.0f, n);", [7.0] * COUNT, (A, B1)),
            ("DataCopy(z, y, n);", y, (A, B1)),
            ("Adds(z, x, 0.0f, n); Axpy(z, y, 2.0f, n);", [f32(a + 2 * b) for a, b in pairs], (A, B1)),
            # Sliced: three repeats of 64, the rest as loaded.
            ("DataCopy(z, y, n); Add(z, x, y, 64, 3, {1, 1, 1, 8, 8, 8});",
             [f32(a + b) if i < 192 else b for i, (a, b) in enumerate(pairs)], (A, B1)),
            ("DataCopy(z, y, n); uint64_t mask[2] = {5, 0}; Abs(z, x, mask, 2, {1, 1, 8, 8});",
             [a if i % 64 in (0, 2) and i < 128 else b for i, (a, b) in enumerate(pairs)], (A, B1)),
            # The scalar unit beside the vector unit, in both directions.
            ("Add(z, x, y, n); z.SetValue(3, z.GetValue(0) + 1.0f); Adds(z, z, 1.0f, n);",
             [f32(f32(f32(x[0] + y[0]) + 1) + 1) if i == 3 else f32(f32(a + b) + 1) for i, (a, b) in enumerate(pairs)], (A, B1)),
            ("LocalTensor<int32_t> w = tmp.ReinterpretCast<int32_t>(); Cast(w, x, RoundMode::CAST_FLOOR, n);"
             "Cast(z, w, RoundMode::CAST_NONE, n);", [math.floor(a) for a in x], (B1,)),
            ("LocalTensor<half> h = tmp.ReinterpretCast<half>(); Cast(h, x, RoundMode::CAST_NONE, n);"
             "Cast(z, h, RoundMode::CAST_NONE, n);", [half(a) for a in x], (A, B1)),
            ("LocalTensor<uint8_t> m = tmp.ReinterpretCast<uint8_t>(); Compare(m, x, y, CMPMODE::GT, 256);"
             "Select(z, m, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, n);", [max(a, b) for a, b in pairs], (A, B1)),
            ("LocalTensor<uint8_t> m = tmp.ReinterpretCast<uint8_t>(); CompareScalar(m, x, 2.0f, CMPMODE::LE, 256);"
             "Select(z, m, x, 9.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, n);", [a if a <= 2 else 9.0 for a in x], (B1,)),
            ("DataCopy(z, y, n); ReduceMax(tmp, x, tmp[64], n, true); z.SetValue(0, tmp.GetValue(0));"
             "z.SetValue(1, (float)tmp.ReinterpretCast<uint32_t>().GetValue(1));",
             [max(x), float(x.index(max(x)))] + y[2:], (B1,)),
            ("DataCopy(z, y, n); ReduceMin(tmp, x, tmp[64], n); z.SetValue(0, tmp.GetValue(0));", [min(x)] + y[1:], (B1,)),
            ("LocalTensor<int32_t> w = tmp.ReinterpretCast<int32_t>(); CreateVecIndex(w, 5, n); Cast(z, w, RoundMode::CAST_NONE, n);",
             [float(5 + i) for i in range(COUNT)], (B1,)),
            ("LocalTensor<int32_t> w = tmp.ReinterpretCast<int32_t>(); ArithProgression(w, 1020, -4, n);"
             "Gather(z, x, w.ReinterpretCast<uint32_t>(), 0, n);", x[::-1], (B1,)),
            ("DataCopy(z, y, n); uint64_t count = 0; GatherMask(z, x, 1, true, n, {1, 1, 8, 8}, count);"
             "z.SetValue(255, (float)count);", x[::2] + y[128:255] + [128.0], (B1,)),
        ]
        for soc in (A, B1):
            self.prepare(soc, [body for body, _, chips in calls if soc in chips])
        for body, want, chips in calls:
            for soc in chips:
                with self.subTest(call=body, soc=soc):
                    got = self.call(soc, body, x, y)
                    self.assertIsNotNone(got, getattr(self, "said", ""))
                    self.assertEqual(len(got), len(want))
                    for i, (a, b) in enumerate(zip(got, want)):
                        self.assertLessEqual(abs(a - b), 1e-5 * max(1, abs(b)), f"element {i}: {a} for {b}")

    def test_sum_of_any_length(self):
        for count in (1, 63, 64, 65, 1000):
            x = [float(i % 17) for i in range(1000)]
            got = self.call(B1, f"DataCopy(z, x, n); ReduceSum(tmp, x, tmp, {count}); z.SetValue(0, tmp.GetValue(0));", x, x)
            self.assertIsNotNone(got, self.said)
            self.assertEqual(got[0], sum(x[:count]))

    def test_rows_that_are_no_whole_blocks(self):
        source = self.source("""
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void pad(GM_ADDR xAddress, GM_ADDR zAddress)
{
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    GlobalTensor<half> x, z;
    x.SetGlobalBuffer((__gm__ half *)xAddress);
    z.SetGlobalBuffer((__gm__ half *)zAddress);
    pipe.InitBuffer(queue, 1, 1024);
    LocalTensor<half> t = queue.AllocTensor<half>();
    DataCopyPad(t, x, DataCopyExtParams(5, 14, 6, 0, 0), DataCopyPadExtParams<half>(true, 0, 9, 3));
    queue.EnQue(t);
    t = queue.DeQue<half>();
    DataCopy(z, t, 80);
    queue.FreeTensor(t);
}
""")
        self.built(source, B1)
        x = [float(i) for i in range(50)]
        want = [v for row in range(5) for v in x[10 * row:10 * row + 7] + [3.0] * 9]
        self.good(B1, 1, "--arg", "in:" + self.write("x", struct.pack("50e", *x)), "--arg", "out:160", "--golden",
                  "1:" + self.write("g", struct.pack("80e", *want)) + ":f16:0")
        run = self.compile(source, A)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("not on this chip", run.stderr)

    def test_a_queue_that_is_not_filled_says_so(self):
        self.assertIsNone(self.call(B1, "x = in.DeQue<float>();", [1.0] * 8, [1.0] * 8))
        self.assertIn("EnQue is missing", self.said)

    def test_a_tensor_used_before_its_deque_is_a_hazard(self):
        again = "in.FreeTensor(x); x = in.AllocTensor<float>(); DataCopy(x, yGm, n); in.EnQue(x);"
        x, y = [1.0] * COUNT, [2.0] * COUNT
        self.assertEqual(self.call(B1, again + "x = in.DeQue<float>(); Add(z, x, y, n);", x, y), [4.0] * COUNT)
        self.assertIsNone(self.call(B1, again + "Add(z, x, y, n);", x, y))
        self.assertIn("hazard", self.said)
        self.assertIn("call.cpp:", self.said)

    def test_tiling_key_chooses_a_part(self):
        body = "if (TILING_KEY_IS(11)) { Adds(z, x, 1.0f, n); } else if (TILING_KEY_IS(12UL)) { Adds(z, x, 2.0f, n); }"
        for key, want in ((11, 2.0), (12, 3.0)):
            self.assertEqual(self.call(B1, body, [1.0] * 8, [1.0] * 8, (f"-DLEO_TILING_KEY={key}",)), [want] * 8)
        run = self.compile(self.path / "call.cpp", B1)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("-DLEO_TILING_KEY=KEY", run.stderr)

    def test_blocks_meet_through_memory(self):
        """Each block writes 8 words, all meet, each copies those of the next block; then once more."""
        source = self.source(MEET)
        blocks = 8
        want = [i for b in range(blocks) for i in [2 * ((b + 2) % blocks) + 2] * 8]
        for soc in (A, B1):
            self.built(source, soc)
            self.good(soc, blocks, "--arg", "inout:" + self.write("zero", bytes(32 * blocks)), "--arg", f"out:{32 * blocks}", "--arg",
                      f"out:{32 * blocks}", "--arg", f"out:{32 * blocks}", "--golden",
                      "3:" + self.write("g", struct.pack(f"{8 * blocks}i", *want)) + ":s32:0")
        self.built(self.source(MEET.replace("SyncAll(flagGm, work.Get<int32_t>());", "")), B1)
        run = self.run_kernel(B1, blocks, "--arg", "null", *["--arg", f"out:{32 * blocks}"] * 3)
        self.assertEqual(run.returncode, 1)
        self.assertIn("race", run.stdout + run.stderr)

    def test_a_buffer_too_large_says_so(self):
        self.assertIsNone(self.call(B1, "TBuf<> more; pipe.InitBuffer(more, 200000);", [1.0] * 8, [1.0] * 8))
        self.assertIn("has 196608 bytes", self.said)

    def test_text_of_kernels_and_headers_of_cxx(self):
        source = self.source("""
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include "kernel_operator.h"
static_assert(std::is_same<std::conditional<true, int, long>::type, int>::value, "");
static_assert(std::numeric_limits<int16_t>::max() == SHRT_MAX, "");
extern "C" __global__ __aicore__ void text(GM_ADDR)
{
    AscendC::printf("block %d of %d: %f\\n", (int)AscendC::GetBlockIdx(), (int)AscendC::GetBlockNum(), std::sqrt(2.25f));
}
""")
        for soc in (A, B1):
            self.built(source, soc)
            run = self.run_kernel(soc, 1, "--arg", "null")
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn("block 0 of 1: 1.500000", run.stdout + run.stderr)


if __name__ == "__main__":
    LEO = Case.leo = sys.argv.pop(1)
    TOOLKIT = Path(sys.argv.pop(1))
    unittest.main()
