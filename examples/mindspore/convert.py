# SPDX-License-Identifier: Apache-2.0
"""convert.py FILE CHECKPOINT: PyTorch's ResNet-50 (reference.py) as a checkpoint of MindSpore's, then the outputs of both beside
each other, as the migration guide does it. Exit code 1: they differ."""

import argparse
import re
import sys

import mindspore as ms
import numpy
from resnet import ResNet

# PyTorch's names of a batch norm's values -> MindSpore's.
NORM = {"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance"}
# What begins a name there -> what begins it here, and whether the rest is a batch norm's value.
STARTS = {"conv1": ("start.0", False), "bn1": ("start.1", True), "fc": ("head", False)}
PARTS = {"conv1": ("first.0", False), "bn1": ("first.1", True), "conv2": ("second.0", False), "bn2": ("second.1", True),
         "conv3": ("third.0", False), "bn3": ("third.1", True),
         "downsample.0": ("shortcut.0", False), "downsample.1": ("shortcut.1", True)}


def converted(name, blocks=(3, 4, 6, 3)):
    """PyTorch's name -> MindSpore's; None: MindSpore has no such value."""
    start, last = name.rsplit(".", 1)
    if last == "num_batches_tracked":
        return None
    block = re.fullmatch(r"layer(\d)\.(\d+)\.(.+)", start)
    place, norm = PARTS[block[3]] if block else STARTS[start]
    before = f"stages.{sum(blocks[:int(block[1]) - 1]) + int(block[2])}." if block else ""
    return f"{before}{place}.{NORM[last] if norm else last}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("checkpoint")
    parser.add_argument("--device", default="Ascend", choices=["Ascend", "CPU"])
    # The 910A's Cube unit rounds inputs to 11 bits; 53 such roundings, one behind the other and independent.
    parser.add_argument("--near", type=float, default=2**-11 * 53**0.5, help="greatest difference that is no error, by the outputs' norm")
    options = parser.parse_args()
    ms.set_device(options.device)
    if options.device == "Ascend":
        ms.set_context(jit_config={"jit_level": "O0"})
    with numpy.load(options.file) as file:
        arrays = {name: file[name] for name in file.files}
    weights = {converted(name.removeprefix("weights/")): value for name, value in arrays.items() if name.startswith("weights/")}
    weights.pop(None)
    ms.save_checkpoint([{"name": name, "data": ms.Tensor(value)} for name, value in weights.items()], options.checkpoint)
    network = ResNet()
    missing, surplus = ms.load_param_into_net(network, ms.load_checkpoint(options.checkpoint))
    if missing or surplus:
        sys.exit(f"names that do not match: of the network {missing}, of the file {surplus}")
    network.set_train(False)
    want, got = arrays["outputs"], network(ms.Tensor(arrays["pictures"])).asnumpy()
    far = numpy.linalg.norm(got - want) / numpy.linalg.norm(want)
    print(f"{len(weights)} parameters; outputs differ from PyTorch's by {far:.1e} of their norm, at most {abs(got - want).max():.1e}")
    if not far <= options.near:
        sys.exit(1)


main()
