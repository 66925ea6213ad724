# SPDX-License-Identifier: Apache-2.0
"""pictures.py FOLDER: makes an ImageNet-shaped folder, train/<class>/*.jpg and val/<class>/*.jpg, whose classes can be
learned in a few epochs: each has its own stripes and colour, at any place and with noise."""

import argparse
import colorsys
from pathlib import Path

import numpy
from PIL import Image


def picture(kind, kinds, size, random):
    angle = numpy.pi * kind / kinds + random.normal(0, 0.05)
    row, column = numpy.mgrid[0:size, 0:size] / size
    wave = numpy.sin(2 * numpy.pi * (6 * (numpy.cos(angle) * column + numpy.sin(angle) * row) + random.random()))
    colour = numpy.array(colorsys.hsv_to_rgb((kind / kinds + random.normal(0, 0.02)) % 1, 0.7, 1.0))
    pixels = (0.5 + 0.4 * wave[..., None]) * colour + random.normal(0, 0.08, (size, size, 3))
    return Image.fromarray((pixels.clip(0, 1) * 255).astype(numpy.uint8))


def make(folder, kinds=4, train=32, val=8, size=96, seed=0):
    random = numpy.random.default_rng(seed)
    for part, count in (("train", train), ("val", val)):
        for kind in range(kinds):
            place = Path(folder) / part / f"class{kind}"
            place.mkdir(parents=True, exist_ok=True)
            for number in range(count):
                picture(kind, kinds, size, random).save(place / f"{number:04}.jpg", quality=90)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--classes", type=int, default=4)
    parser.add_argument("--train", type=int, default=32, help="pictures of each class")
    parser.add_argument("--val", type=int, default=8)
    parser.add_argument("--size", type=int, default=96)
    options = parser.parse_args()
    make(options.folder, options.classes, options.train, options.val, options.size)
