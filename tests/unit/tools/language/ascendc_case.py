# SPDX-License-Identifier: Apache-2.0
"""Kernels in Ascend C compiled by leo cc and run by leo run with the checker: what their tests share."""

import array
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

A, B1 = "ascend910a", "ascend910b1"

INCLUDE = """
#include "kernel_operator.h"
using namespace AscendC;
"""
# One call between loading x and y and storing z, elements of f32.
CALL = """
extern "C" __global__ __aicore__ void %s(GM_ADDR xAddress, GM_ADDR yAddress, GM_ADDR zAddress, uint32_t n)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> work;
    GlobalTensor<float> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float *)xAddress, n);
    yGm.SetGlobalBuffer((__gm__ float *)yAddress, n);
    zGm.SetGlobalBuffer((__gm__ float *)zAddress, n);
    pipe.InitBuffer(in, 2, 4096);
    pipe.InitBuffer(out, 1, 4096);
    pipe.InitBuffer(work, 16384);
    LocalTensor<float> x = in.AllocTensor<float>();
    DataCopy(x, xGm, n);
    in.EnQue(x);
    LocalTensor<float> y = in.AllocTensor<float>();
    DataCopy(y, yGm, n);
    in.EnQue(y);
    x = in.DeQue<float>();
    y = in.DeQue<float>();
    LocalTensor<float> z = out.AllocTensor<float>(), tmp = work.Get<float>();
    (void)tmp;
    %s
    out.EnQue(z);
    z = out.DeQue<float>();
    DataCopy(zGm, z, n);
    out.FreeTensor(z);
    in.FreeTensor(x);
    in.FreeTensor(y);
}
"""

def f32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def half(value):
    return struct.unpack("e", struct.pack("e", value))[0]


class Case(unittest.TestCase):
    leo = None  # the program, from the command line

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        self.prepared = {}  # (chip, body, flags): (file, kernel)

    def source(self, text, name="k.cpp"):
        (self.path / name).write_text(text, encoding="ascii")
        return self.path / name

    def compile(self, source, soc, *flags):
        run = subprocess.run([self.leo, "cc", "--soc", soc, *flags, str(source), "-o", str(self.path / "k.elf")],
                             capture_output=True, text=True, check=False)
        return run

    def built(self, source, soc, *flags):
        run = self.compile(source, soc, *flags)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "")

    def run_kernel(self, soc, blocks, *args, elf="k.elf"):
        return subprocess.run([self.leo, "run", "--soc", soc, "--blocks", str(blocks), str(self.path / elf), *args],
                              capture_output=True, text=True, check=False)

    def good(self, soc, blocks, *args):
        run = self.run_kernel(soc, blocks, *args)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def write(self, name, data):
        (self.path / name).write_bytes(data)
        return str(self.path / name)

    def prepare(self, soc, bodies, flags=()):
        """Compiles calls that call() will make, in one file: most of the compiler's time goes into the header."""
        elf = f"calls{len(self.prepared)}.elf"
        names = {body: f"call{i}" for i, body in enumerate(bodies)}
        self.built(self.source(INCLUDE + "".join(CALL % (name, body) for body, name in names.items()), "call.cpp"), soc, *flags)
        (self.path / "k.elf").rename(self.path / elf)
        self.prepared.update({(soc, body, flags): (elf, name) for body, name in names.items()})

    def call(self, soc, body, x, y, flags=()):
        """z of one call; None if the kernel faulted or the checker found something (self.said tells what)."""
        if (soc, body, flags) not in self.prepared:
            self.prepare(soc, [body], flags)
        elf, kernel = self.prepared[soc, body, flags]
        run = self.run_kernel(soc, 1, "--kernel", kernel, "--arg", "in:" + self.write("x", array.array("f", x).tobytes()), "--arg",
                              "in:" + self.write("y", array.array("f", y).tobytes()), "--arg",
                              f"out:{4 * len(x)}:{self.path / 'z'}", "--arg", str(len(x)), elf=elf)
        self.said = run.stdout + run.stderr
        if run.returncode:
            return None
        return array.array("f", (self.path / "z").read_bytes()).tolist()
