#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_cncc.py CNCC LEO_CC DEVICE_ROOT LIBCNRT: programs in BANG C, kernels and code for the host in one file or in several."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CNCC = LEO_CC = DEVICE = LIBCNRT = None

# What tasks know of themselves, for any shape of a launch.
PLACES = """
#include <bang.h>
#include <cmath>
#include <iostream>
template <typename T> __mlu_func__ void put(T *to, T value)
{
    *to = value;
}
__mlu_global__ void places(int *out, half small, float *root)
{
    int *own = out + taskId * 8;
    put(own, (int)taskIdX);
    put(own + 1, (int)taskIdY);
    put(own + 2, (int)taskIdZ);
    put(own + 3, (int)(taskDimX * 10000 + taskDimY * 100 + taskDimZ));
    put(own + 4, (int)coreId);
    put(own + 5, (int)clusterDim);
    put(own + 6, (int)((float)small * 2));
    if (taskId == 0) {
        *root = std::max(sqrtf(*root), 1.0f);
        printf("task %d of %d\\n", (int)taskId, (int)taskDim);
    }
}
int main()
{
    const unsigned x = 8, y = 3, z = 2, tasks = x * y * z;
    int host[tasks * 8], *out;
    float nine = 9, *root;
    CNRT_CHECK(cnrtMalloc((void **)&out, sizeof(host)));
    CNRT_CHECK(cnrtMalloc((void **)&root, sizeof(nine)));
    CNRT_CHECK(cnrtMemcpy(root, &nine, sizeof(nine), cnrtMemcpyHostToDev));
    cnrtDim3_t dim = {x, y, z};
    places<<<dim, CNRT_FUNC_TYPE_UNION2, NULL>>>(out, (half)1.5, root);
    CNRT_CHECK(cnrtQueueSync(NULL));
    CNRT_CHECK(cnrtMemcpy(host, out, sizeof(host), cnrtMemcpyDevToHost));
    CNRT_CHECK(cnrtMemcpy(&nine, root, sizeof(nine), cnrtMemcpyDevToHost));
    int wrong = nine != 3;
    for (unsigned i = 0; i < tasks; i++) {
        const int want[] = {(int)(i % x), (int)(i / x % y), (int)(i / x / y), 80302, (int)(i % 4), 2, 3};
        for (int k = 0; k < 7; k++) {
            wrong += host[i * 8 + k] != want[k];
        }
    }
    std::cout << wrong << " wrong" << std::endl;
    return wrong;
}
"""

KERNEL = """
#include <bang.h>
__mlu_entry__ void twice(float *x, int n)
{
    __nram__ float a[64];
    __memcpy(a, x, n * sizeof(float), GDRAM2NRAM);
    __bang_mul_scalar(a, a, 2, n);
    __memcpy(x, a, n * sizeof(float), NRAM2GDRAM);
}
"""

# Another file that knows the kernel as a function and launches it by its address.
HOST = """
#include <cnrt.h>
#include <stdio.h>
void twice(float *x, int n);
int main()
{
    float host[5] = {1, 2, 3, 4, 5};
    void *x;
    int n = 5;
    CNRT_CHECK(cnrtMalloc(&x, sizeof(host)));
    CNRT_CHECK(cnrtMemcpy(x, host, sizeof(host), cnrtMemcpyHostToDev));
    cnrtDim3_t dim = {1, 1, 1};
    void *args[] = {&x, &n};
    CNRT_CHECK(cnrtInvokeKernel((const void *)&twice, dim, cnrtFuncTypeBlock, args, 0, NULL));
    CNRT_CHECK(cnrtQueueSync(NULL));
    CNRT_CHECK(cnrtMemcpy(host, x, sizeof(host), cnrtMemcpyDevToHost));
    printf("%g %g\\n", host[0], host[4]);
}
"""

# Tasks of a cluster hand each other what one of them has read, and meet those of another cluster.
CLUSTERS = """
#include <bang.h>
__mlu_global__ void hand_on(float *out, const float *in, int n)
{
    __mlu_shared__ float all[4 * 256];
    __nram__ float own[256];
    if (coreId == 0) {
        __memcpy(all, in + taskId * n, 4 * n * sizeof(float), GDRAM2SRAM);
    }
    __sync_cluster();
    __memcpy(own, all + (coreId + 1) % 4 * n, n * sizeof(float), SRAM2NRAM);
    __bang_add_scalar(own, own, 1, n);
    __sync_cluster();
    __memcpy(all + coreId * n, own, n * sizeof(float), NRAM2SRAM);
    __sync_all();
    if (coreId == 3) {
        __memcpy(out + (taskId - 3) * n, all, 4 * n * sizeof(float), SRAM2GDRAM);
    }
}
int main(int argc, char **argv)
{
    const int n = 256, tasks = 32;
    static float host[tasks * n];
    float *in, *out;
    for (int i = 0; i < tasks * n; i++) {
        host[i] = i;
    }
    cnrtQueue_t queue;
    CNRT_CHECK(cnrtQueueCreate(&queue));
    CNRT_CHECK(cnrtMalloc((void **)&in, sizeof(host)));
    CNRT_CHECK(cnrtMalloc((void **)&out, sizeof(host)));
    CNRT_CHECK(cnrtMemcpy(in, host, sizeof(host), cnrtMemcpyHostToDev));
    cnrtDim3_t few = {8, 1, 1}, dim = {8, 4, 1};
    if (argc > 2) {
        CNRT_CHECK(cnrtQueueBeginCapture(queue, cnrtQueueCaptureModeGlobal));
    }
    hand_on<<<few, argc == 2 ? cnrtFuncTypeBlock : cnrtFuncTypeUnion2, queue>>>(out, in, n);
    hand_on<<<dim, cnrtFuncTypeUnion2, queue>>>(out, in, n);
    CNRT_CHECK(cnrtQueueSync(queue));
    CNRT_CHECK(cnrtMemcpy(host, out, sizeof(host), cnrtMemcpyDevToHost));
    int wrong = 0;
    for (int i = 0; i < tasks * n; i++) {
        const int task = i / n, from = task / 4 * 4 + (task + 1) % 4;
        wrong += host[i] != from * n + i % n + 1;
    }
    CNRT_CHECK(cnrtQueueDestroy(queue));
    printf("%d wrong\\n", wrong);
    return wrong != 0;
}
"""


class Cncc(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        neuware = self.path / "neuware"
        (neuware / "lib64").mkdir(parents=True)
        (neuware / "include").symlink_to(ROOT / "runtime/include/cnrt")
        for name in ("cnrt", "cndrv", "cndev"):
            (neuware / f"lib64/lib{name}.so").symlink_to(LIBCNRT)
        self.environment = dict(os.environ, NEUWARE_HOME=str(neuware), LEO_CC=LEO_CC, LEO_DEVICE_ROOT=DEVICE)

    def cncc(self, *words):
        return subprocess.run([CNCC, *map(str, words)], cwd=self.path, env=self.environment, capture_output=True, text=True, check=False)

    def output(self, *words):
        run = self.cncc(*words, "-o", "program")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        run = subprocess.run(["./program"], cwd=self.path, env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def write(self, name, text):
        (self.path / name).write_text(text, encoding="ascii")
        return name

    def test_the_example(self):
        self.assertRegex(self.output("--bang-mlu-arch=mtp_372", "-O3", ROOT / "examples/mlu/vector_add.mlu"),
                         r"^1000000 sums, 0 wrong, [0-9.]+ us simulated\n$")

    def test_tasks_of_any_shape(self):
        self.assertEqual(self.output(self.write("places.mlu", PLACES)), "task 0 of 48\n0 wrong\n")

    def test_memory_of_a_cluster(self):
        for check in ("none", "all"):
            self.environment["LEO_CHECK"] = check
            self.assertEqual(self.output(self.write("clusters.mlu", CLUSTERS)), "0 wrong\n")
        run = subprocess.run(["./program", "block"], cwd=self.path, env=self.environment, capture_output=True, text=True, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("in a launch of type Union", run.stdout + run.stderr)
        run = subprocess.run(["./program", "", "capture"], cwd=self.path, env=self.environment, capture_output=True, text=True, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("it cannot be captured", run.stdout + run.stderr)

    def test_kernels_and_host_in_two_files(self):
        kernel, host = self.write("k.mlu", KERNEL), self.write("h.cpp", HOST)
        self.assertEqual(self.output(kernel, host), "2 10\n")
        self.assertEqual(self.cncc("-c", kernel).returncode, 0)
        self.assertEqual(self.output("k.o", host), "2 10\n")

    def test_the_kernel_file_alone(self):
        self.assertEqual(self.cncc("--bang-device-only", self.write("k.mlu", KERNEL), "-o", "k.elf").returncode, 0)
        self.assertEqual((self.path / "k.elf").read_bytes()[:4], b"\x7fELF")

    def test_what_cannot_be_done_is_told(self):
        kernel = self.write("k.mlu", KERNEL)
        for words, said in (((kernel, "--bang-mlu-arch=mtp_592"), "mtp_372"), ((kernel, "--bang-wizard"), "unknown option --bang-wizard"),
                            ((), "no file to compile"), ((self.write("e.mlu", KERNEL.replace("mul_scalar", "wizard")),), "__bang_wizard")):
            run = self.cncc(*words)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(said, run.stderr)


if __name__ == "__main__":
    CNCC, LEO_CC, DEVICE, LIBCNRT = sys.argv[1:5]
    del sys.argv[1:5]
    unittest.main()
