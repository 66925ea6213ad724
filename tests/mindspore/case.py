# SPDX-License-Identifier: Apache-2.0
"""case.py DEVICE CASE: trains a small network under MindSpore and prints its losses, one a line behind the word loss."""

import sys

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Model, Tensor, nn

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
        print("loss", float(run_context.original_args().net_outputs.asnumpy()), flush=True)


# Small steps: the chip rounds products of float32 to fewer bits, and the losses shall stay near the CPU's.
OPTIMIZERS = {
    "momentum": lambda parameters: nn.Momentum(parameters, 0.005, 0.9),
    "sgd": lambda parameters: nn.SGD(parameters, 0.005, momentum=0.9),
    "adam": lambda parameters: nn.Adam(parameters, 1e-3),
}


def cell_steps(network, loss, optimizer, pictures, labels):
    step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
    step.set_train()
    for i in range(STEPS):
        part = slice(i * BATCH, (i + 1) * BATCH)
        print("loss", float(step(Tensor(pictures[part]), Tensor(labels[part])).asnumpy()), flush=True)


def model_steps(network, loss, optimizer, pictures, labels, sink, level):
    data = ds.NumpySlicesDataset((pictures, labels), ["x", "y"], shuffle=False).batch(BATCH, drop_remainder=True)
    model = Model(network, loss_fn=loss, optimizer=optimizer, amp_level=level)
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
    pictures = values.standard_normal((STEPS * BATCH, 1, 28, 28)).astype(np.float32)
    labels = values.integers(0, CLASSES, STEPS * BATCH).astype(np.int32)
    network = Network()
    for parameter in network.trainable_params():
        if parameter.ndim > 1:
            parameter.set_data(Tensor((values.standard_normal(parameter.shape) * 0.1).astype(np.float32)))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = next(make for name, make in OPTIMIZERS.items() if name in words)(network.trainable_params())
    if "model" in words or "sink" in words:
        # The CPU has neither a sink nor the chip's levels.
        chip = device == "Ascend"
        model_steps(network, loss, optimizer, pictures, labels, chip and "sink" in words, "O3" if chip and "O3" in words else "O0")
    else:
        cell_steps(network, loss, optimizer, pictures, labels)


main()
