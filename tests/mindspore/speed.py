# SPDX-License-Identifier: Apache-2.0
"""speed.py DEVICE: processor time (user and system, all threads) of training steps of ResNet-50, batch 8, 224 x 224: the first one, and
the mean of those after it. On the chip in graph mode, all float16 (O3); on MindSpore's CPU part in float32."""

import argparse
import os
import sys
import time
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "mindspore"))
from resnet import ResNet  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("device", choices=["Ascend", "CPU"])
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--steps", type=int, default=3, help="behind the first")
    options = parser.parse_args()
    ms.set_seed(1)
    ms.set_device(options.device)
    ms.set_context(mode=ms.GRAPH_MODE)
    if options.device == "Ascend":
        ms.set_context(jit_config={"jit_level": "O0"})
    network = ResNet()
    optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = ms.amp.build_train_network(network, optimizer, loss, level="O3" if options.device == "Ascend" else "O0")
    step.set_train()
    values = np.random.default_rng(0)
    pictures = Tensor(values.standard_normal((options.batch, 3, options.size, options.size)).astype(np.float32))
    labels = Tensor(values.integers(0, 10, options.batch).astype(np.int32))
    spent = []
    for _ in range(1 + options.steps):
        before, wall = os.times(), time.monotonic()
        value = float(step(pictures, labels).asnumpy())
        after = os.times()
        spent.append(after.user + after.system - before.user - before.system)
        print(f"loss {value:.5f}, processor {spent[-1]:.2f} s, wall {time.monotonic() - wall:.2f} s", flush=True)
    print(f"{options.device}: first step {spent[0]:.2f} s, then {sum(spent[1:]) / options.steps:.2f} s of processor time")


main()
