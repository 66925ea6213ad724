# SPDX-License-Identifier: Apache-2.0
"""train.py FOLDER: trains ResNet-50 on pictures in CIFAR-10's binary format, as MindSpore's migration guide does it: Model.train with
loss and time monitors, then the accuracy. make demo-mindspore and guide.sh run it; --device CPU is the same on MindSpore's own CPU
part."""

import argparse
import sys
from pathlib import Path

import mindspore as ms
import mindspore.dataset as ds
import numpy
from mindspore import Model, communication, nn
from mindspore.dataset import transforms, vision
from mindspore.profiler import ProfilerLevel
from mindspore.train import CheckpointConfig, LossMonitor, ModelCheckpoint, TimeMonitor
from resnet import ResNet

OPTIMIZERS = {
    "momentum": lambda weights, rates: nn.Momentum(weights, rates, 0.9, weight_decay=1e-4),
    "adam": lambda weights, rates: nn.Adam(weights, rates, weight_decay=1e-5),
}


def pictures(folder, usage, batch, size, shards, shard=0):
    files = sorted(Path(folder).glob("data_batch_*.bin" if usage == "train" else "test_batch.bin"))
    if not files:
        sys.exit(f"no pictures in {folder}: pictures.py makes some, or unpack the binary version of CIFAR-10 there")
    # MindSpore's Cifar10Dataset takes only files of 10000 pictures, the real ones.
    rows = numpy.concatenate([numpy.fromfile(path, numpy.uint8).reshape(-1, 1 + 3 * 32 * 32) for path in files])
    images = rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1).copy()
    data = ds.NumpySlicesDataset((images, rows[:, 0].copy()), ["image", "label"], shuffle=usage == "train", num_shards=shards, shard_id=shard)
    if usage == "train":
        data = data.map([vision.RandomCrop((32, 32), (4, 4, 4, 4)), vision.RandomHorizontalFlip(0.5)], "image")
    if size != 32:
        data = data.map(vision.Resize((size, size)), "image")
    data = data.map([vision.Rescale(1 / 255, 0), vision.Normalize([0.5] * 3, [0.25] * 3), vision.HWC2CHW()], "image")
    return data.map(transforms.TypeCast(ms.int32), "label").batch(batch, drop_remainder=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--device", default="Ascend", choices=["Ascend", "CPU"])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=32, help="rows and columns the pictures are enlarged to")
    parser.add_argument("--optimizer", default="momentum", choices=OPTIMIZERS)
    parser.add_argument("--rate", type=float, default=0.02, help="learning rate of the first epoch")
    parser.add_argument("--level", default="O3", choices=["O0", "O2", "O3"],
                        help="O2: float16 but for batch norm, the loss scaled by a factor that changes (PyNative); O3: all float16")
    parser.add_argument("--pynative", action="store_true", help="operator by operator from Python instead of graph mode")
    parser.add_argument("--checkpoint", help="weights to begin with, such as convert.py's")
    parser.add_argument("--save", help="folder: a checkpoint after each epoch")
    parser.add_argument("--sink", action="store_true", help="the chip takes its pictures from a channel")
    parser.add_argument("--profile", help="folder: a profile of the training")
    parser.add_argument("--shards", type=int, default=1, help="train on one of so many parts of the data: few steps for a profile")
    parser.add_argument("--ranks", action="store_true", help="one of the ranks that msrun started: train on its part of the data")
    parser.add_argument("--least", type=float, default=0, help="exit code 1: the accuracy in percent is below this")
    parser.add_argument("--blocks", type=int, nargs=4, default=[3, 4, 6, 3], help="of the four stages; these: ResNet-50")
    parser.add_argument("--width", type=int, default=64)
    options = parser.parse_args()
    if options.level == "O2" and not options.pynative:
        parser.error("--level O2 leaves out steps with an overflow, which graph mode cannot: add --pynative")
    ms.set_seed(1)
    numpy.random.seed(1)
    ms.set_device(options.device)
    ms.set_context(mode=ms.PYNATIVE_MODE if options.pynative else ms.GRAPH_MODE)
    if options.device == "Ascend":
        ms.set_context(jit_config={"jit_level": "O0"})  # kernel by kernel; there is no graph engine
    shard = 0
    if options.ranks:
        communication.init()
        ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
        options.shards, shard = communication.get_group_size(), communication.get_rank()
    # Before the data: its queues are watched from the start.
    profiler = options.profile and ms.profiler.Profiler(output_path=options.profile, profiler_level=ProfilerLevel.Level1, data_process=True)
    train = pictures(options.folder, "train", options.batch, options.size, options.shards, shard)
    test = pictures(options.folder, "test", options.batch, options.size, 1)
    network = ResNet(blocks=options.blocks, width=options.width)
    if options.checkpoint:
        ms.load_checkpoint(options.checkpoint, network, strict_load=True)
    rates = nn.cosine_decay_lr(0.0, options.rate, options.epochs * train.get_dataset_size(), train.get_dataset_size(), options.epochs)
    optimizer = OPTIMIZERS[options.optimizer](network.trainable_params(), rates)
    level = options.level if options.device == "Ascend" else "O0"
    model = Model(network, loss_fn=nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), optimizer=optimizer,
                  metrics={"accuracy"}, amp_level=level)
    callbacks = [LossMonitor(), TimeMonitor()]
    if options.save:
        config = CheckpointConfig(save_checkpoint_steps=train.get_dataset_size(), keep_checkpoint_max=1)
        callbacks.append(ModelCheckpoint("resnet", options.save, config))
    accuracy = lambda: 100 * model.eval(test, dataset_sink_mode=options.sink)["accuracy"]
    if options.checkpoint and not profiler:
        print(f"accuracy before training {accuracy():.1f} %")
    model.train(options.epochs, train, callbacks=callbacks, dataset_sink_mode=options.sink)
    if profiler:
        profiler.stop()
        profiler.analyse()
        return
    reached = accuracy()
    print(f"accuracy {reached:.1f} %")
    if reached < options.least:
        sys.exit(1)


main()
