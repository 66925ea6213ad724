# SPDX-License-Identifier: Apache-2.0
"""outputs.py: what a graph on the chip prints (ops.Print), dumps (ops.TensorDump) and summarizes reaches the program. Exit code 1: not so."""

import os
import sys
import tempfile
import time
from pathlib import Path

import mindspore as ms
import numpy
from mindspore import nn, ops
from mindspore.train.summary import SummaryRecord

WAIT_S = 60


class Network(nn.Cell):
    def __init__(self, dumped):
        super().__init__()
        self.dumped = dumped
        self.print, self.dump = ops.Print(), ops.TensorDump()
        self.scalar, self.tensor = ops.ScalarSummary(), ops.TensorSummary()

    def construct(self, x):
        y = x * 2
        self.print("twice:", y)
        self.dump(self.dumped, y)
        self.scalar("sum", y.sum())
        self.tensor("twice", y)
        return y + 1


def wait_for(what, found):
    until = time.monotonic() + WAIT_S
    while not found():
        if time.monotonic() > until:
            sys.exit(f"{what} did not come in {WAIT_S} s")
        time.sleep(0.1)


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
        events = b"".join(path.read_bytes() for path in (place / "summaries").iterdir())
    if not (numpy.array_equal(out, 2 * x + 1) and numpy.array_equal(dumped, 2 * x)):
        sys.exit(f"wrong values: result {out}, dumped {dumped}")
    # A scalar of 30 and the tensor's values as float32 stand in the events.
    for tag, values in (("sum", numpy.float32(30)), ("twice", 2 * x[1])):
        if tag.encode() not in events or values.tobytes() not in events:
            sys.exit(f"no summary {tag} with its values in {len(events)} bytes of events")
    print("printed, dumped and summarized")


main()
