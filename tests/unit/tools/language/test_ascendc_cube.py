#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_ascendc_cube.py LEO: products by hand in Ascend C, against whole numbers in Python: windows of a feature map, a bias from the bias
table, results by one scale word and by one a column.
"""

import random
import struct
import sys
import unittest

from ascendc_case import B1, INCLUDE, Case

HEIGHT, WIDTH, CHANNELS, COLUMNS = 6, 7, 16, 16
PIXELS, TAPS = HEIGHT * WIDTH, 9

# A convolution of 3 x 3 with padding 1, from [1, H, W, 16] and fractals of the filter.
CONVOLUTION = INCLUDE + f"constexpr uint32_t H = {HEIGHT}, W = {WIDTH}, C = {CHANNELS}, N = {COLUMNS}, PIXELS = H * W, K = {TAPS} * C;" + """
extern "C" __global__ __aicore__ void convolution(GM_ADDR map, GM_ADDR filter, GM_ADDR bias, GM_ADDR scales, GM_ADDR plain, GM_ADDR one,
                                                  GM_ADDR each)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TBuf<TPosition::A1> l1;
    TBuf<TPosition::A2> l0a;
    TBuf<TPosition::B2> l0b;
    TBuf<TPosition::CO1> l0c;
    TBuf<TPosition::C2> table;
    pipe.InitBuffer(l1, 65536);
    pipe.InitBuffer(l0a, 32768);
    pipe.InitBuffer(l0b, 32768);
    pipe.InitBuffer(l0c, 32768);
    pipe.InitBuffer(table, 64);
    GlobalTensor<half> mapGm, filterGm;
    GlobalTensor<float> biasGm, plainGm;
    GlobalTensor<uint64_t> scalesGm;
    GlobalTensor<int8_t> oneGm, eachGm;
    mapGm.SetGlobalBuffer((__gm__ half *)map);
    filterGm.SetGlobalBuffer((__gm__ half *)filter);
    biasGm.SetGlobalBuffer((__gm__ float *)bias);
    scalesGm.SetGlobalBuffer((__gm__ uint64_t *)scales);
    plainGm.SetGlobalBuffer((__gm__ float *)plain);
    oneGm.SetGlobalBuffer((__gm__ int8_t *)one);
    eachGm.SetGlobalBuffer((__gm__ int8_t *)each);
    LocalTensor<half> a1 = l1.Get<half>(), b1 = l1.GetWithOffset<half>(K * N, 16384);
    LocalTensor<float> bias1 = l1.GetWithOffset<float>(N, 32768), bias2 = table.Get<float>(), c = l0c.Get<float>();
    LocalTensor<uint64_t> scales1 = l1.GetWithOffset<uint64_t>(N, 40960);
    LocalTensor<half> a = l0a.Get<half>(), b = l0b.Get<half>();
    DataCopy(a1, mapGm, PIXELS * C);
    DataCopy(b1, filterGm, K * N);
    DataCopy(bias1, biasGm, N);
    DataCopy(scales1, scalesGm, N);
    PipeBarrier<PIPE_ALL>();
    const uint8_t pads[4] = {1, 1, 1, 1};
    LoadData(a, a1, LoadData3DParamsV2<half>(pads, H, W, C, K, PIXELS, 0, 0, 1, 1, 3, 3, 1, 1, false, false, (half)0));
    LoadData2dParams whole;
    whole.repeatTimes = K / 16;
    whole.srcStride = 1;
    LoadData(b, b1, whole);
    DataCopy(bias2, bias1, N);
    PipeBarrier<PIPE_ALL>();
    MmadParams p;
    p.m = PIXELS;
    p.n = N;
    p.k = K;
    Mmad(c, a, b, bias2, p);
    PipeBarrier<PIPE_ALL>();
    FixpipeParamsV220 out;
    out.nSize = N;
    out.mSize = PIXELS;
    out.srcStride = 48;
    out.dstStride = N;
    Fixpipe<float, float, CFG_ROW_MAJOR>(plainGm, c, out);
    out.quantPre = QF322B8_PRE;
    out.deqScalar = 0x3e800000ull | 1ull << 46; // 0.25, signed
    Fixpipe<int8_t, float, CFG_ROW_MAJOR>(oneGm, c, out);
    out.quantPre = VQF322B8_PRE;
    Fixpipe<int8_t, float, CFG_ROW_MAJOR>(eachGm, c, scales1, out);
}
"""


def rounded(value):
    """To an integer of 8 bits, half to even."""
    return max(-128, min(127, round(value)))


class Cube(Case):
    def test_windows_bias_scales(self):
        self.built(self.source(CONVOLUTION), B1)
        numbers = random.Random(3)
        image = [[[numbers.randint(-3, 3) for _ in range(CHANNELS)] for _ in range(WIDTH)] for _ in range(HEIGHT)]
        taps = [[[numbers.randint(-2, 2) for _ in range(CHANNELS)] for _ in range(TAPS)] for _ in range(COLUMNS)]
        bias = [numbers.randint(-90, 90) for _ in range(COLUMNS)]
        factors = [2.0 ** -(j % 5) for j in range(COLUMNS)]

        def at(y, x, c):
            return image[y][x][c] if 0 <= y < HEIGHT and 0 <= x < WIDTH else 0

        plain = [bias[j] + sum(at(y + t // 3 - 1, x + t % 3 - 1, c) * taps[j][t][c] for t in range(TAPS) for c in range(CHANNELS))
                 for y in range(HEIGHT) for x in range(WIDTH) for j in range(COLUMNS)]
        pack = lambda name, form, values: self.write(name, struct.pack(f"{len(values)}{form}", *values))
        words = [struct.unpack("I", struct.pack("f", factor))[0] | 1 << 46 for factor in factors]
        count = PIXELS * COLUMNS
        self.good(B1, 1, "--arg", "in:" + pack("map", "e", [v for row in image for pixel in row for v in pixel]),
                  "--arg", "in:" + pack("filter", "e", [v for t in range(TAPS) for column in taps for v in column[t]]),
                  "--arg", "in:" + pack("bias", "f", bias), "--arg", "in:" + pack("scales", "Q", words), "--arg", f"out:{4 * count}",
                  "--arg", f"out:{count}", "--arg", f"out:{count}", "--golden", "4:" + pack("g4", "f", plain) + ":f32:0",
                  "--golden", "5:" + pack("g5", "b", [rounded(v * 0.25) for v in plain]) + ":s8:0",
                  "--golden", "6:" + pack("g6", "b", [rounded(v * factors[i % COLUMNS]) for i, v in enumerate(plain)]) + ":s8:0")

    def test_scales_without_tensor(self):
        self.built(self.source(CONVOLUTION.replace("c, scales1, out", "c, out")), B1)
        files = [self.write(f"f{i}", bytes(8192)) for i in range(4)]
        run = self.run_kernel(B1, 1, *(word for file in files for word in ("--arg", f"in:{file}")), "--arg", "out:4096", "--arg", "out:1024",
                              "--arg", "out:1024")
        self.assertEqual(run.returncode, 1)
        self.assertIn("quantPre 6 takes a tensor of scale words", run.stdout + run.stderr)

    def test_windows_say_what_to_do(self):
        for line, text in (("hccl.GetWindowsInAddr(0);", "a kernel does not reach another card's memory: use the collectives of Hccl"),
                           ("Hccl<HCCL_SERVER_TYPE_CCU> other;", "collectives in kernels are served by HCCL_SERVER_TYPE_AICPU alone")):
            run = self.compile(self.source('#include "kernel_operator.h"\nusing namespace AscendC;\nextern "C" __global__ __aicore__ void k(GM_ADDR x)\n'
                                           "{\n    Hccl<HCCL_SERVER_TYPE_AICPU> hccl;\n    %s\n}\n" % line), B1)
            self.assertEqual(run.returncode, 1)
            self.assertIn(text, run.stderr)


if __name__ == "__main__":
    Case.leo = sys.argv.pop(1)
    unittest.main()
