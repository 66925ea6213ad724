# SPDX-License-Identifier: Apache-2.0
"""A training run prints the same losses bit for bit twice in a row, on one host thread and two, and with every code path of the
host's vector unit."""

import os
import subprocess
import sys
from pathlib import Path

import common
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    """Of every kind a little: convolution, normalisations, attention, a recurrent layer, dropout."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 20, 3, stride=2, padding=1), nn.BatchNorm2d(20), nn.ReLU(), nn.MaxPool2d(2))
        self.mix = nn.TransformerEncoderLayer(20, 4, 40, dropout=0.1, batch_first=True)
        self.read = nn.LSTM(20, 12, batch_first=True)
        self.head = nn.Linear(12, 5)

    def forward(self, x):
        tokens = self.mix(self.body(x).flatten(2).transpose(1, 2))
        return self.head(self.read(tokens)[0][:, -1])


def train():
    model, scaler = Net().to(common.KIND), torch.amp.GradScaler(common.KIND, init_scale=128.0)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    start, end = common.card.Event(enable_timing=True), common.card.Event(enable_timing=True)
    for _ in range(3):
        images, labels = torch.randn(4, 3, 17, 17).to(common.KIND), torch.randint(0, 5, (4,)).to(common.KIND)
        optimizer.zero_grad()
        start.record()
        with torch.autocast(common.KIND, dtype=torch.float16):
            loss = F.cross_entropy(model(images).float(), labels)
        scaler.scale(loss).backward()
        end.record()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        common.card.synchronize()
        print("step", loss.item().hex(), norm.item().hex(), start.elapsed_time(end))


class SameBits(common.Case):
    # Without torch_npu's queue thread: when it frees memory decides which addresses the next tensors get, and with them what L2 holds.
    def run_with(self, **settings):
        done = subprocess.run([sys.executable, "-B", __file__, "--train"], env={**os.environ, "TASK_QUEUE_ENABLE": "0", **settings}, check=False,
                              capture_output=True, text=True)
        sys.stderr.write(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        lines = [line.split() for line in done.stdout.splitlines() if line.startswith("step")]
        return [line[1:3] for line in lines], torch.tensor([float(line[3]) for line in lines])

    def test_losses_and_times_do_not_depend_on_the_host(self):
        want, times = self.run_with(LEO_THREADS="1")
        print(want, times)
        self.assertEqual(len({tuple(step) for step in want}), 3)
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii")
        paths = [path for path, flag in (("avx2", " avx2 "), ("avx512", " avx512vl ")) if flag in flags]
        for settings in ({"LEO_THREADS": "1"}, {"LEO_THREADS": "2", "LEO_SIMD": "generic"}, *({"LEO_SIMD": path} for path in paths)):
            got, other = self.run_with(**settings)
            self.assertEqual(got, want, settings)
            # Events have whole nanoseconds of a clock in picoseconds: an elapsed time may be one more or less.
            self.expect_close(other, times, rtol=0, atol=2e-6, what=f"milliseconds with {settings}")


if "--train" in sys.argv:
    common.seed(7)
    train()
else:
    common.main()
