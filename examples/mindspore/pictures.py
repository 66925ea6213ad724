# SPDX-License-Identifier: Apache-2.0
"""pictures.py FOLDER: makes a data set in the format of CIFAR-10's binary version (a byte of label, 3072 of pixels a picture) that can
be learned in a few epochs: each kind has its own stripes and colour, at any place and with noise."""

import argparse
import colorsys
from pathlib import Path

import numpy

KINDS, SIZE, FILES = 10, 32, 5


def picture(kind, random):
    angle = numpy.pi * kind / KINDS + random.normal(0, 0.05)
    row, column = numpy.mgrid[0:SIZE, 0:SIZE] / SIZE
    wave = numpy.sin(2 * numpy.pi * (4 * (numpy.cos(angle) * column + numpy.sin(angle) * row) + random.random()))
    colour = numpy.array(colorsys.hsv_to_rgb((kind / KINDS + random.normal(0, 0.02)) % 1, 0.7, 1.0))
    pixels = (0.5 + 0.4 * wave) * colour[:, None, None] + random.normal(0, 0.08, (3, SIZE, SIZE))
    return (pixels.clip(0, 1) * 255).astype(numpy.uint8)


def write(path, count, random):
    kinds = random.permutation(numpy.arange(count) % KINDS).astype(numpy.uint8)
    path.write_bytes(b"".join(bytes([kind]) + picture(kind, random).tobytes() for kind in kinds))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--train", type=int, default=320, help="pictures to learn from")
    parser.add_argument("--test", type=int, default=80)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(0)
    for i in range(1, FILES + 1):
        write(options.folder / f"data_batch_{i}.bin", options.train // FILES, random)
    write(options.folder / "test_batch.bin", options.test, random)
    (options.folder / "batches.meta.txt").write_text("".join(f"kind{i}\n" for i in range(KINDS)), encoding="utf-8")


main()
