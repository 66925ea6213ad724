# SPDX-License-Identifier: Apache-2.0
"""case.py DEVICE CASE: trains a small network under MindSpore and prints its losses, one a line behind the word loss. A case is words
with - between: the mode, the optimizer, what is special; or zoo, a network of zoo.py, the mode and the optimizer, then halves: the
CPU rounds what goes into convolutions as the 910A does."""

import os
import sys

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
import zoo
from mindspore import Model, Tensor, communication, nn, ops

BATCH, STEPS, CLASSES = 16, 4, 10


class Network(nn.Cell):
    """Convolutions, batch norm, pooling and dense layers: the operators of a network for pictures."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.norm = nn.BatchNorm2d(6)
        self.second = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        self.hidden, self.head = nn.Dense(256, 64), nn.Dense(64, CLASSES)

    def construct(self, x):
        x = self.pool(self.relu(self.norm(self.first(x))))
        x = self.pool(self.relu(self.second(x)))
        return self.head(self.relu(self.hidden(self.flatten(x))))


class Losses(ms.train.Callback):
    def step_end(self, run_context):
        outputs = run_context.original_args().net_outputs
        # With a scale of the loss: the loss, whether there was an overflow, the scale.
        print("loss", float((outputs[0] if isinstance(outputs, tuple) else outputs).asnumpy()), flush=True)


# Small steps: the chip rounds products of float32 to fewer bits, and the losses shall stay near the CPU's.
OPTIMIZERS = {
    "momentum": lambda parameters, scale: nn.Momentum(parameters, 0.005, 0.9, loss_scale=scale),
    "sgd": lambda parameters, scale: nn.SGD(parameters, 0.005, momentum=0.9, loss_scale=scale),
    "adam": lambda parameters, scale: nn.Adam(parameters, 1e-3, loss_scale=scale),
    "adamw": lambda parameters, _: nn.AdamWeightDecay(parameters, 1e-3, weight_decay=0.01),
}


def cell_steps(network, loss, optimizer, pictures, labels):
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
    step.set_train()
    for i in range(STEPS):
        part = slice(i * BATCH, (i + 1) * BATCH)
        print("loss", float(step(Tensor(pictures[part]), Tensor(labels[part])).asnumpy()), flush=True)


def scaled_steps(network, loss, optimizer, pictures, labels):
    """With a scale of the loss that changes. At first a scale far too high: that step must report the overflow and leave the weights."""
    cell = nn.WithLossCell(network, loss)
    step = nn.TrainOneStepWithLossScaleCell(cell, optimizer, Tensor(2.0**127, ms.float32))
    step.set_train()
    before = network.head.weight.asnumpy()
    _, overflow, _ = step(Tensor(pictures[:BATCH] * 1000), Tensor(labels[:BATCH]))
    if not overflow.asnumpy().all() or not np.array_equal(before, network.head.weight.asnumpy()):
        sys.exit("an overflow was not noticed, or the weights changed with it")
    step = nn.TrainOneStepWithLossScaleCell(cell, optimizer, nn.DynamicLossScaleUpdateCell(2.0**10, scale_factor=2, scale_window=2))
    step.set_train()
    for i in range(STEPS):
        part = slice(i * BATCH, (i + 1) * BATCH)
        value, overflow, _ = step(Tensor(pictures[part]), Tensor(labels[part]))
        print("loss", float(value.asnumpy()), flush=True)
        if overflow.asnumpy().any():
            sys.exit("an overflow where there is none")
    if float(step.scale_sense.asnumpy()) != 2.0 ** (10 + STEPS // 2):
        sys.exit(f"the scale is {float(step.scale_sense.asnumpy())} after {STEPS} steps without an overflow, doubled each second one")


class MeanOfRanks(nn.Cell):
    def __init__(self):
        super().__init__()
        self.sum, self.ranks = ops.AllReduce(), communication.get_group_size()

    def construct(self, x):
        return self.sum(x) / self.ranks


def zoo_steps(name, make_optimizer, values, ranks):
    """ranks: of msrun; each takes its part of every batch."""
    rank, mean = 0, lambda x: x
    if ranks > 1:
        communication.init()
        ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
        rank, mean = communication.get_rank(), MeanOfRanks()
    make, batch = zoo.NETWORKS[name]
    network = make()
    for parameter in network.trainable_params():
        if parameter.ndim > 1:
            wide = np.prod(parameter.shape[1:])
            parameter.set_data(Tensor((values.standard_normal(parameter.shape) / wide**0.5).astype(np.float32)))
    step = nn.TrainOneStepCell(network, make_optimizer(network.trainable_params(), 1.0))
    step.set_train()
    for _ in range(STEPS):
        loss = step(*(Tensor(numbers[rank::ranks]) for numbers in batch(values)))
        print("loss", float(mean(loss).asnumpy()), flush=True)


def model_steps(network, loss, optimizer, pictures, labels, sink, **levels):
    data = ds.NumpySlicesDataset((pictures, labels), ["x", "y"], shuffle=False).batch(BATCH, drop_remainder=True)
    model = Model(network, loss_fn=loss, optimizer=optimizer, **levels)
    model.train(STEPS if sink else 1, data, callbacks=[Losses()], dataset_sink_mode=sink, sink_size=1 if sink else -1)


def main():
    device, case = sys.argv[1:]
    words = case.split("-")
    ms.set_seed(1)
    ms.set_device(device)
    ms.set_context(mode=ms.PYNATIVE_MODE if "pynative" in words else ms.GRAPH_MODE)
    if device == "Ascend":
        ms.set_context(jit_config={"jit_level": "O0"})  # kernel by kernel
    values = np.random.default_rng(0)
    make_optimizer = next(make for name, make in OPTIMIZERS.items() if name in words)
    if words[0] == "zoo":
        if "halves" in words and device == "CPU":
            zoo.halve_convolutions()
        zoo_steps(words[1], make_optimizer, values, int(os.environ.get("RANK_SIZE", "1")))
        return
    pictures = values.standard_normal((STEPS * BATCH, 1, 28, 28)).astype(np.float32)
    labels = values.integers(0, CLASSES, STEPS * BATCH).astype(np.int32)
    network = Network()
    for parameter in network.trainable_params():
        if parameter.ndim > 1:
            parameter.set_data(Tensor((values.standard_normal(parameter.shape) * 0.1).astype(np.float32)))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    chip = device == "Ascend"  # the CPU has neither a sink nor the chip's levels
    level = next((word for word in words if word in ("O2", "O3")), "O0") if chip else "O0"
    levels, scale = {"amp_level": level}, 1.0
    if level == "O2":
        # In PyNative a step with an overflow is left out; in graph mode that branch cannot be, and the optimizer divides by the scale.
        drop = "pynative" in words
        levels["loss_scale_manager"], scale = ms.FixedLossScaleManager(1024, drop_overflow_update=drop), 1.0 if drop else 1024.0
    optimizer = make_optimizer(network.trainable_params(), scale)
    if "model" in words or "sink" in words:
        model_steps(network, loss, optimizer, pictures, labels, chip and "sink" in words, **levels)
    elif "scale" in words and chip:  # MindSpore has no such step for the CPU
        scaled_steps(network, loss, optimizer, pictures, labels)
    else:
        cell_steps(network, loss, optimizer, pictures, labels)


main()
