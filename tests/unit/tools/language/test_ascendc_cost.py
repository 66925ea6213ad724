#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_ascendc_cost.py LEO: what queues cost: a sum of 8 x 2 small tiles a block through three queues, and the same by hand with flags.

Simulated times are exact: the bound is a gate, not a measurement."""

import re
import sys
import unittest

from ascendc_case import B1, INCLUDE, Case

BLOCKS, LENGTH = 8, 2048
BOUND = 1.3  # it is 1.19 (docs/ascend_c.md)

SIZES = f"constexpr uint32_t LENGTH = {LENGTH}, TILE = 128;"
QUEUES = INCLUDE + SIZES + """
class Tiles
{
  public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z)
    {
        xGm.SetGlobalBuffer((__gm__ half *)x + LENGTH * GetBlockIdx(), LENGTH);
        yGm.SetGlobalBuffer((__gm__ half *)y + LENGTH * GetBlockIdx(), LENGTH);
        zGm.SetGlobalBuffer((__gm__ half *)z + LENGTH * GetBlockIdx(), LENGTH);
        pipe.InitBuffer(inX, 2, TILE * sizeof(half));
        pipe.InitBuffer(inY, 2, TILE * sizeof(half));
        pipe.InitBuffer(outZ, 2, TILE * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < LENGTH / TILE; i++) {
            LocalTensor<half> x = inX.AllocTensor<half>(), y = inY.AllocTensor<half>();
            DataCopy(x, xGm[i * TILE], TILE);
            DataCopy(y, yGm[i * TILE], TILE);
            inX.EnQue(x);
            inY.EnQue(y);
            x = inX.DeQue<half>();
            y = inY.DeQue<half>();
            LocalTensor<half> z = outZ.AllocTensor<half>();
            Add(z, x, y, TILE);
            outZ.EnQue(z);
            inX.FreeTensor(x);
            inY.FreeTensor(y);
            z = outZ.DeQue<half>();
            DataCopy(zGm[i * TILE], z, TILE);
            outZ.FreeTensor(z);
        }
    }

  private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inX, inY;
    TQue<QuePosition::VECOUT, 2> outZ;
    GlobalTensor<half> xGm, yGm, zGm;
};
extern "C" __global__ __aicore__ void sum(GM_ADDR x, GM_ADDR y, GM_ADDR z)
{
    Tiles op;
    op.Init(x, y, z);
    op.Process();
}
"""
BY_HAND = INCLUDE + SIZES + """
extern "C" __global__ __aicore__ void sum(GM_ADDR x, GM_ADDR y, GM_ADDR z)
{
    constexpr uint32_t BYTES = TILE * sizeof(half);
    __gm__ half *xs = (__gm__ half *)x + LENGTH * get_block_idx(), *ys = (__gm__ half *)y + LENGTH * get_block_idx(),
                *zs = (__gm__ half *)z + LENGTH * get_block_idx();
    set_mask_norm();
    set_vector_mask(~0ull, ~0ull);
    for (uint64_t e = 0; e < 2; e++) {
        set_flag(PIPE_V, PIPE_MTE2, e);
        set_flag(PIPE_MTE3, PIPE_V, e);
    }
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < LENGTH / TILE; i++) {
        const uint64_t e = i & 1;
        __ubuf__ half *a = (__ubuf__ half *)(e * BYTES), *b = (__ubuf__ half *)(2 * BYTES + e * BYTES), *c = (__ubuf__ half *)(4 * BYTES + e * BYTES);
        wait_flag(PIPE_V, PIPE_MTE2, e);
        copy_gm_to_ubuf(a, xs + i * TILE, 0, 1, BYTES / 32, 0, 0);
        copy_gm_to_ubuf(b, ys + i * TILE, 0, 1, BYTES / 32, 0, 0);
        set_flag(PIPE_MTE2, PIPE_V, e);
        wait_flag(PIPE_MTE2, PIPE_V, e);
        wait_flag(PIPE_MTE3, PIPE_V, e);
        vadd(c, a, b, 1, 1, 1, 1, 8, 8, 8);
        set_flag(PIPE_V, PIPE_MTE2, e);
        set_flag(PIPE_V, PIPE_MTE3, e);
        wait_flag(PIPE_V, PIPE_MTE3, e);
        copy_ubuf_to_gm(zs + i * TILE, c, 0, 1, BYTES / 32, 0, 0);
        set_flag(PIPE_MTE3, PIPE_V, e);
    }
    for (uint64_t e = 0; e < 2; e++) {
        wait_flag(PIPE_V, PIPE_MTE2, e);
        wait_flag(PIPE_MTE3, PIPE_V, e);
    }
}
"""


class Cost(Case):
    def microseconds(self, text):
        self.built(self.source(text), B1)
        count = BLOCKS * LENGTH
        ones, twos = self.write("ones", b"\0\x3c" * count), self.write("twos", b"\0\x40" * count)
        run = self.run_kernel(B1, BLOCKS, "--arg", f"in:{ones}", "--arg", f"in:{ones}", "--arg", f"out:{2 * count}", "--golden", f"2:{twos}:f16:0")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return float(re.search(r"([\d.]+) us simulated", run.stdout)[1])

    def test_queues(self):
        queues, by_hand = self.microseconds(QUEUES), self.microseconds(BY_HAND)
        self.assertLess(queues / by_hand, BOUND, f"{queues} us with queues, {by_hand} us by hand")


if __name__ == "__main__":
    Case.leo = sys.argv.pop(1)
    unittest.main()
