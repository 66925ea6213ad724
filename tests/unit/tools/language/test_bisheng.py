#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_bisheng.py TOOLKIT: programs in Ascend C, kernels and code for the host in one file or in several."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
CANN = None

# A kernel that is a template, one in another file, all forms of the words in <<< >>>.
FIRST = """
#include <cstdio>
#include <string>
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;
template <typename T> __global__ __aicore__ void fill(GM_ADDR to, T value, uint32_t count)
{
    AscendC::GlobalTensor<T> gm;
    gm.SetGlobalBuffer((__gm__ T *)to, count);
    for (uint32_t i = 0; i < count; i++) {
        gm.SetValue(i, value);
    }
    AscendC::DataCacheCleanAndInvalid<T, AscendC::CacheLine::ENTIRE_DATA_CACHE, AscendC::DcciDst::CACHELINE_OUT>(gm);
}
void other(aclrtStream stream, void *to);
int main()
{
    void *to, *host;
    aclrtStream stream;
    aclInit(nullptr);
    for (int round = 0; round < 2; round++) { // the kernel file is loaded again after a reset
        aclrtSetDevice(0);
        aclrtCreateStream(&stream);
        aclrtMalloc(&to, 256, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMallocHost(&host, 256);
        fill<float><<<1, 0, stream>>>((uint8_t *)to, 2.5f + round, 4);
        fill<int32_t><<<1, nullptr, stream>>>((uint8_t *)to + 64, 7, 4);
        other(stream, (uint8_t *)to + 128);
        const aclError error = aclrtSynchronizeStream(stream);
        aclrtMemcpy(host, 256, to, 256, ACL_MEMCPY_DEVICE_TO_HOST);
        const std::string words = "said " + std::to_string(((float *)host)[3]) + " " + std::to_string(((int32_t *)host)[19]) + " " +
                                  std::to_string(((int32_t *)host)[32]) + " " + std::to_string(error);
        printf("%s\\n", words.c_str()); // C's
        aclrtFree(to);
        aclrtFreeHost(host);
        aclrtDestroyStream(stream);
        aclrtResetDevice(0);
    }
    aclFinalize();
}
"""
SECOND = """
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;
__aicore__ __global__ void one(GM_ADDR to)
{
    printf("one %d\\n", 3); // the kernel's
    AscendC::GlobalTensor<int32_t> gm;
    gm.SetGlobalBuffer((__gm__ int32_t *)to, 1);
    gm.SetValue(0, 11);
    AscendC::DataCacheCleanAndInvalid<int32_t, AscendC::CacheLine::ENTIRE_DATA_CACHE, AscendC::DcciDst::CACHELINE_OUT>(gm);
}
void other(aclrtStream stream, void *to)
{
    one<<<1, nullptr, stream>>>((uint8_t *)to);
}
"""


# What its first argument names goes wrong: nothing, an order (race), a place (far) or a value nobody wrote (init).
WRONG = """
#include <cstring>
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;
__global__ __aicore__ void add_one(GM_ADDR x, uint32_t mode)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 4096);
    LocalTensor<float> t = buffer.Get<float>();
    GlobalTensor<float> gm;
    gm.SetGlobalBuffer((__gm__ float *)(mode == 2 ? x + (1ull << 40) : x), 1024);
    if (mode != 3) {
        DataCopy(t, gm, 1024);
    }
    if (mode != 1) {
        PipeBarrier<PIPE_ALL>();
    }
    Adds(t, t, 1.0f, 1024);
    PipeBarrier<PIPE_ALL>();
    DataCopy(gm, t, 1024);
}
int main(int, char **words)
{
    void *x;
    aclrtStream stream;
    const char *modes[] = {"fine", "race", "far", "init"};
    uint32_t mode = 0;
    while (strcmp(words[1], modes[mode])) {
        mode++;
    }
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtCreateStream(&stream);
    aclrtMalloc(&x, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemset(x, 4096, 0, 4096);
    add_one<<<1, nullptr, stream>>>((uint8_t *)x, mode);
    aclrtSynchronizeStream(stream);
    return aclFinalize();
}
"""

SAID = "one 3\nsaid 2.500000 7 11 0\none 3\nsaid 3.500000 7 11 0\n"


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def bisheng(self, *words):
        return subprocess.run([CANN / "bin/bisheng", *map(str, words)], cwd=self.path, capture_output=True, text=True, check=False)

    def built(self, *words):
        done = self.bisheng(*words, "-O2", "-o", "program")
        self.assertEqual(done.returncode, 0, done.stderr)

    def ran(self, soc):
        return subprocess.run([self.path / "program"], env={**os.environ, "LEO_SOC": soc, "LEO_CHECK": "all"}, capture_output=True,
                              text=True, check=False)

    def test_the_example(self):
        for arch, soc in (("dav-2201", "ascend910b1"), ("dav-1001", "ascend910a")):
            self.built(f"--npu-arch={arch}", ROOT / "examples/ascendc/add_in_one_file.asc")
            run = self.ran(soc)
            self.assertEqual(run.stdout, "16384 sums, 0 wrong, error 0\n", run.stderr)

    def test_the_tools_of_a_program(self):
        """leo gdb stops in the kernel that a program has in itself, and msprof op tells what its lines did."""
        self.built(ROOT / "examples/ascendc/add_in_one_file.asc")
        environment = {**os.environ, "LEO_SOC": "ascend910b1"}
        if shutil.which("gdb-multiarch"):
            run = subprocess.run([CANN / "bin/leo", "gdb", "-batch", "-ex", "backtrace", "-ex", "info threads", "-ex", "continue", "--", "./program"],
                                 cwd=self.path, env=environment, capture_output=True, text=True, check=False, timeout=120)
            self.assertRegex(run.stdout, r"#0  add\(.*\) .* at .*add_in_one_file.asc:\d+", run.stderr)
            self.assertEqual(len(re.findall(r"\(block \d+, core \d+\)", run.stdout)), 8)
            self.assertIn("exited normally", run.stdout)
        run = subprocess.run([CANN / "bin/msprof", "op", "simulator", "--soc-version=Ascend910B1", "--kernel-name=add", "--output=out", "./program"], cwd=self.path,
                             env=environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        place = next((self.path / "out").glob("OPPROF_*/simulator/core0.veccore0"))
        self.assertIn("vadd", (place / "trace.json").read_text())
        # The program has given its kernels back before its end.
        text = (ROOT / "examples/ascendc/add_in_one_file.asc").read_text(encoding="utf-8").splitlines()
        line = next(i for i, words in enumerate(text, 1) if "Add(" in words)
        self.assertIn(f"add_in_one_file.asc:{line},", (place / "core0.veccore0_code_exe.csv").read_text())

    def test_templates_and_several_files(self):
        (self.path / "first.asc").write_text(FIRST, encoding="ascii")
        (self.path / "second.cpp").write_text(SECOND, encoding="ascii")
        self.built("-x", "asc", "first.asc", "second.cpp")
        run = self.ran("ascend910b1")
        self.assertEqual(run.stdout, SAID, run.stderr)

    def test_a_cmake_project(self):
        """Kernels as a language of CMake: in a program, in a shared library, in a .cpp file, beside plain C++."""
        (self.path / "second.cpp").write_text(SECOND, encoding="ascii")
        (self.path / "main.cpp").write_text("int run();\nint main() { return run(); }\n", encoding="ascii")
        (self.path / "CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.16)
find_package(ASC REQUIRED)
project(both LANGUAGES ASC CXX)
set_source_files_properties(second.cpp PROPERTIES LANGUAGE ASC)
add_library(second SHARED second.cpp)
add_executable(program main.cpp first.asc)
target_link_libraries(program PRIVATE second)
target_compile_options(program PRIVATE $<$<COMPILE_LANGUAGE:ASC>:--npu-arch=dav-2201>)
set_target_properties(program PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
""", encoding="ascii")
        source = FIRST.replace("int main()", "int run()").replace("aclFinalize();\n}", "return aclFinalize();\n}")
        (self.path / "first.asc").write_text(source, encoding="ascii")
        for words in (["-B", "b"], ["--build", "b"]):
            done = subprocess.run(["cmake", *words], cwd=self.path, capture_output=True, text=True, check=False,
                                  env={**os.environ, "CMAKE_PREFIX_PATH": str(CANN)})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        run = self.ran("ascend910b1")
        self.assertEqual(run.stdout, SAID, run.stderr)

    def test_a_kernel_of_another_chip_is_refused(self):
        self.built(ROOT / "examples/ascendc/add_in_one_file.asc")
        run = self.ran("ascend910a")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("launch of a kernel: error ", run.stderr)

    def test_the_sanitizer_tells_what_each_tool_is_for(self):
        (self.path / "wrong.asc").write_text(WRONG, encoding="ascii")
        self.built("-g", "wrong.asc")
        line = {name: WRONG.splitlines().index(f"    {text}") + 1 for name, text in
                (("add", "Adds(t, t, 1.0f, 1024);"), ("store", "DataCopy(gm, t, 1024);"))}
        for tool, mode, said in (("racecheck", "race", ["WAW hazard detected at UB in", "PIPE_V Write of 4096 bytes", f"wrong.asc:{line['add']}",
                                                        "racecheck: 1 found"]),
                                 ("memcheck", "far", ["outside the process's allocations", "memcheck: 1 found"]),
                                 ("initcheck", "init", ["not_written", f"wrong.asc:{line['add']}"]),
                                 ("racecheck", "fine", ["racecheck: 0 found"]), ("initcheck", "race", ["initcheck: 0 found"])):
            with self.subTest(tool=tool, mode=mode):
                run = subprocess.run([CANN / "bin/mssanitizer", f"--tool={tool}", "--", "./program", mode], cwd=self.path, capture_output=True,
                                     text=True, check=False, env={**os.environ, "LEO_SOC": "ascend910b1"})
                for words in said:
                    self.assertIn(words, run.stdout)
                self.assertEqual(run.returncode, " 0 found" not in run.stdout, run.stdout + run.stderr)
        run = subprocess.run([CANN / "bin/mssanitizer", "./program", "fine"], cwd=self.path, capture_output=True, text=True, check=False,
                             env={**os.environ, "LEO_SOC": "ascend910a"})  # a kernel of another chip does not run
        self.assertIn("WARNING: the program got an error", run.stdout)
        self.assertEqual(run.returncode, 1)
        for words, said in ((["./none"], "No such file"), ([], "no program"), (["--tool=x", "y"], "invalid choice")):
            run = subprocess.run([CANN / "bin/mssanitizer", *words], cwd=self.path, capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 2)
            self.assertIn(said, run.stderr)

    def test_mistakes_are_told(self):
        (self.path / "k.asc").write_text('#include "kernel_operator.h"\n\nint x = unknown;\n', encoding="ascii")
        for words, said in ((["k.asc"], "k.asc:3:9: error"), (["none.asc"], "none.asc: no such file"), ([], "no file to compile"),
                            (["--npu-arch=dav-3510", "k.asc"], "the simulated chips are"), (["-frob", "--what"], "unknown option")):
            done = self.bisheng(*words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    CANN = Path(sys.argv.pop(1)).resolve()
    unittest.main()
