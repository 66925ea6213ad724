# SPDX-License-Identifier: Apache-2.0
"""outputs.py: what a graph on the chip prints (ops.Print), dumps (ops.TensorDump) and summarizes reaches the program. Exit code 1: not so."""

import io
import os
import sys
import tempfile
import time
from pathlib import Path

import mindspore as ms
import numpy
from mindspore import nn, ops
from mindspore.train.summary import SummaryRecord
from mindspore.train.summary_pb2 import Event
from PIL import Image

WAIT_S = 60


class Network(nn.Cell):
    def __init__(self, dumped):
        super().__init__()
        self.dumped = dumped
        self.print, self.dump = ops.Print(), ops.TensorDump()
        self.scalar, self.tensor = ops.ScalarSummary(), ops.TensorSummary()
        self.image, self.histogram = ops.ImageSummary(), ops.HistogramSummary()

    def construct(self, x):
        y = x * 2
        self.print("twice:", y)
        self.dump(self.dumped, y)
        self.scalar("sum", y.sum())
        self.tensor("twice", y)
        self.image("picture", y.reshape((1, 1, 2, 3)))
        self.histogram("spread", y)
        return y + 1


def wait_for(what, found):
    until = time.monotonic() + WAIT_S
    while not found():
        if time.monotonic() > until:
            sys.exit(f"{what} did not come in {WAIT_S} s")
        time.sleep(0.1)


def summaries(place):
    """The values by tag. An event stands in its file behind its length and a sum, and before another sum."""
    values = {}
    for path in place.iterdir():
        records, at = path.read_bytes(), 0
        while at < len(records):
            length = int.from_bytes(records[at : at + 8], "little")
            values.update((value.tag, value) for value in Event.FromString(records[at + 12 : at + 12 + length]).summary.value)
            at += 16 + length
    return values


def main():
    ms.set_device("Ascend")
    ms.set_context(mode=ms.GRAPH_MODE, jit_config={"jit_level": "O0"})
    x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        printed = place / "printed"
        with printed.open("wb") as file:  # Print writes to the process's standard output
            stdout = os.dup(1)
            os.dup2(file.fileno(), 1)
        network = Network(str(place / "dump"))
        with SummaryRecord(str(place / "summaries"), network=network) as record:
            out = network(ms.Tensor(x)).asnumpy()
            record.record(1)
        wait_for("Print's text", lambda: b"twice:" in printed.read_bytes() and b"1.00000000e+01" in printed.read_bytes())
        os.dup2(stdout, 1)
        wait_for("TensorDump's file", lambda: list(place.glob("dump*.npy")))
        dumped = numpy.load(next(place.glob("dump*.npy")))
        kept = summaries(place / "summaries")
    if not (numpy.array_equal(out, 2 * x + 1) and numpy.array_equal(dumped, 2 * x)):
        sys.exit(f"wrong values: result {out}, dumped {dumped}")
    missing = {"sum", "twice", "picture", "spread"} - kept.keys()
    if missing:
        sys.exit(f"no summary of {', '.join(sorted(missing))}")
    pixels = numpy.array(Image.open(io.BytesIO(kept["picture"].image.encoded_image)))
    spread = kept["spread"].histogram
    # Pixels: SummaryRecord maps the values from the least to the greatest, 0 and 10, onto bytes.
    if not (kept["sum"].scalar_value == 30 and list(kept["twice"].tensor.float_data) == [0, 2, 4, 6, 8, 10]
            and (spread.count, spread.min, spread.max, spread.sum) == (6, 0, 10, 30) and [b.count for b in spread.buckets] == [2, 2, 2]
            and numpy.array_equal(pixels[..., 0], (2 * x * 255 / 11).astype(numpy.uint8))):
        sys.exit(f"wrong summaries: {kept}")
    print("printed, dumped and summarized")


main()
