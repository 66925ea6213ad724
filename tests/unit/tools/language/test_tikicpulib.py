#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_tikicpulib.py TOOLKIT: unit tests of kernels with ICPU_RUN_KF, as public projects build and run them."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
CANN = None

PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(add LANGUAGES CXX)
if(NOT DEFINED ENV{CMAKE_PREFIX_PATH})
    set(CMAKE_PREFIX_PATH ${ASCEND_CANN_PACKAGE_PATH}/tools/tikicpulib/lib/cmake)
endif()
find_package(tikicpulib REQUIRED)
add_library(kernels SHARED kernel.cpp other.cpp)
target_link_libraries(kernels PUBLIC tikicpulib::${SOC_VERSION})
target_compile_definitions(kernels PRIVATE MORE=2)
target_compile_options(kernels PRIVATE -g -O0 -std=c++17)
add_executable(main main.cpp)
target_link_libraries(main PRIVATE kernels)
"""
OTHER = """
#include "kernel_operator.h"
#ifndef ASCENDC_CPU_DEBUG
#error "it is the test's"
#endif
extern "C" __global__ __aicore__ void put(GM_ADDR to, uint32_t at, float value)
{
    AscendC::GlobalTensor<float> gm;
    gm.SetGlobalBuffer((__gm__ float *)to);
    gm.SetValue(at, value * MORE);
    AscendC::DataCacheCleanAndInvalid<float, AscendC::CacheLine::ENTIRE_DATA_CACHE, AscendC::DcciDst::CACHELINE_OUT>(gm);
}
"""
PROGRAM = """
#include "tikicpulib.h"
extern "C" __global__ __aicore__ void vector_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t count);
extern "C" __global__ __aicore__ void put(GM_ADDR to, uint32_t at, float value);
int main(int count, char **)
{
    const uint32_t n = 4096;
    half *x = (half *)AscendC::GmAlloc(n * sizeof(half)), *y = (half *)AscendC::GmAlloc(n * sizeof(half));
    half *z = (half *)AscendC::GmAlloc(n * sizeof(half));
    for (uint32_t i = 0; i < n; i++) {
        x[i] = i % 100;
        y[i] = i % 7;
    }
    AscendC::SetKernelMode(KernelMode::AIV_MODE);
    ICPU_RUN_KF(vector_add, 4, (GM_ADDR)x, (GM_ADDR)y, (GM_ADDR)z, n / 4); // of each block
    int wrong = 0;
    for (uint32_t i = 0; i < n; i++) {
        wrong += (float)z[i] != i % 100 + i % 7;
    }
    float *one = (float *)AscendC::GmAlloc(64);
    ICPU_RUN_KF(put, 1, (GM_ADDR)(one + 1), 2, 1.5f);
    printf("%d wrong, %g\\n", wrong, one[3]);
    if (count > 1) {
        ICPU_RUN_KF(put, 1, (GM_ADDR)&wrong, 2u, 1.5f);
    }
    AscendC::GmFree(x);
    return wrong != 0;
}
"""


class TikiCpuLib(unittest.TestCase):
    def test_a_project(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            for name, text in (("CMakeLists.txt", PROJECT), ("other.cpp", OTHER), ("main.cpp", PROGRAM),
                               ("kernel.cpp", (ROOT / "examples/ascendc/vector_add.cpp").read_text(encoding="ascii"))):
                (path / name).write_text(text, encoding="ascii")
            for words in (["-B", path / "build", "-S", path, f"-DASCEND_CANN_PACKAGE_PATH={CANN}", "-DSOC_VERSION=Ascend910B1"],
                          ["--build", path / "build"]):
                done = subprocess.run(["cmake", *words], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            run = lambda *words: subprocess.run([path / "build/main", *words], capture_output=True, text=True, check=False,
                                                env={**os.environ, "LEO_SOC": "ascend910b1", "LEO_CHECK": "all"})
            done = run()
            self.assertEqual(done.stdout, "0 wrong, 3\n", done.stderr)
            done = run("other pointer")
            self.assertEqual((done.returncode, done.stderr), (1, "ICPU_RUN_KF: put: a pointer is not of GmAlloc\n"))


if __name__ == "__main__":
    CANN = Path(sys.argv.pop(1)).resolve()
    unittest.main()
