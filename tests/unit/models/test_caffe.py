# SPDX-License-Identifier: Apache-2.0
"""Networks of Caffe, text and weights: compiled by atc and run on both chips.

caffe/*.prototxt are the networks, caffe/expected.json what OpenCV's reader of them (4.12) computes from the weights and inputs
that are made here; `test_caffe.py --record` writes it anew where OpenCV for Python is installed.
"""

import json
import math
import struct
import sys
from pathlib import Path

from models_case import ModelsCase, field, main

FOLDER = Path(__file__).parent / "caffe"
# Shapes of the weights by layer, each with the least and the largest number.
WEIGHTS = {
    "residual": {
        "conv1": [((8, 3, 7, 7), -0.1, 0.1), ((8,), -0.5, 0.5)],
        "bn_conv1": [((8,), -2, 2), ((8,), 1, 4), ((1,), 1.5, 2)],
        "scale_conv1": [((8,), 0.5, 1.5), ((8,), -0.5, 0.5)],
        "res2a": [((8, 8, 3, 3), -0.1, 0.1)],
        "bn2a": [((8,), -0.2, 0.2), ((8,), 0.5, 2), ((1,), 1, 1)],
        "scale2a": [((8,), 0.5, 1.5), ((8,), -0.5, 0.5)],
        "se_fc": [((8, 8), -0.5, 0.5), ((8,), -0.5, 0.5)],
        "fc": [((10, 160), -0.1, 0.1), ((10,), -0.5, 0.5)],
    },
    "inception_v1": {
        "conv1": [((6, 3, 3, 5), -0.3, 0.3), ((1, 1, 1, 6), -0.5, 0.5)],
        "left": [((4, 6, 1, 1), -0.5, 0.5), ((1, 1, 1, 4), -0.5, 0.5)],
        "right": [((6, 2, 3, 3), -0.3, 0.3), ((1, 1, 1, 6), -0.5, 0.5)],
        "fc_a": [((1, 1, 5, 96), -0.2, 0.2), ((1, 1, 1, 5), -0.5, 0.5)],
        "fc_b": [((1, 1, 5, 224), -0.2, 0.2)],
    },
    "boxes": {
        "conv": [((6, 3, 3, 3), -0.5, 0.5), ((6,), 0.1, 0.9)],
        "norm": [((6,), 1, 3)],
        "loc": [((24, 6, 3, 3), -0.2, 0.2), ((24,), -0.5, 0.5)],
        "conf": [((18, 6, 1, 1), -0.5, 0.5), ((18,), -0.5, 0.5)],
    },
    "elements": {
        "prelu": [((6,), -0.5, 0.5)],
        "bias": [((6,), 0.5, 1.5), ((6,), -0.5, 0.5)],
        "up": [((6, 3, 4, 4), -0.2, 0.2), ((6,), -0.5, 0.5)],
    },
}
INPUTS = {"residual": (1, 3, 17, 19), "inception_v1": (1, 3, 14, 13), "boxes": (1, 3, 24, 20), "elements": (1, 6, 5, 7)}


def numbers(count, low, high, seed):
    """Numbers of single precision between two, always the same ones."""
    out = []
    for _ in range(count):
        seed = (seed * 6364136223846793005 + 1442695040888963407) & (1 << 64) - 1
        out.append(low + (high - low) * (seed >> 40) / (1 << 24))
    return list(struct.unpack(f"<{count}f", struct.pack(f"<{count}f", *out)))


def blob(shape, values, old):
    data = field(5, struct.pack(f"<{len(values)}f", *values))
    if old:
        return b"".join(field(1 + i, d) for i, d in enumerate(shape)) + data
    return field(7, field(1, b"".join(bytes([d & 127 | 128, d >> 7]) if d > 127 else bytes([d]) for d in shape))) + data


def weights_file(net):
    """The file of weights; old networks have their layers under another number."""
    old = net.endswith("_v1")
    out = b""
    for at, (layer, shapes) in enumerate(WEIGHTS[net].items()):
        blobs = [blob(s, numbers(math.prod(s), low, high, 100 * at + i), old) for i, (s, low, high) in enumerate(shapes)]
        out += field(2 if old else 100, field(4 if old else 1, layer) + b"".join(field(6 if old else 7, b) for b in blobs))
    return out


def picture(net):
    return numbers(math.prod(INPUTS[net]), -1, 1, 7)


class Caffe(ModelsCase):
    def atc_caffe(self, net, *options):
        (self.path / "net.caffemodel").write_bytes(weights_file(net))
        return self.run_atc("--framework=0", f"--model={FOLDER / net}.prototxt", f"--weight={self.path / 'net.caffemodel'}",
                            f"--output={self.path / 'net'}", "--soc_version=Ascend910A", *options)

    def compare(self, net, tolerance, *options):
        done = self.atc_caffe(net, *options)
        self.assertEqual(done.returncode, 0, done.stdout)
        want = json.loads((FOLDER / "expected.json").read_text())[net]
        self.run_and_compare([picture(net)], want, tolerance)

    def test_networks_in_single_precision(self):
        for net in INPUTS:
            with self.subTest(net=net):
                self.compare(net, 2e-5, "--precision_mode=must_keep_origin_dtype")

    def test_networks_in_half_precision(self):
        for net in ("residual", "inception_v1"):
            with self.subTest(net=net):
                self.compare(net, 4e-3)

    def test_what_the_model_is_called(self):
        self.atc_caffe("residual", "--out_nodes=sum_relu:0;prob:0")
        told = self.run_atc("--mode=6", f"--om={self.path / 'net.om'}").stdout
        self.assertRegex(told, r"data.*1, 3, 17, 19")
        self.assertRegex(told, r"sum.*1, 8, 4, 5")
        self.assertRegex(told, r"prob.*1, 10")

    def test_a_batch_from_the_command_line(self):
        done = self.atc_caffe("residual", "--input_shape=data:2,3,17,19")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(self.run_atc("--mode=6", f"--om={self.path / 'net.om'}").stdout, r"prob.*2, 10")

    def check_refused(self, text, want, weights=b"", *options):
        (self.path / "bad.prototxt").write_text(text)
        (self.path / "bad.caffemodel").write_bytes(weights)
        done = self.run_atc("--framework=0", f"--model={self.path / 'bad.prototxt'}",
                            f"--weight={self.path / 'bad.caffemodel'}", f"--output={self.path / 'bad'}",
                            "--soc_version=Ascend910A", *options)
        self.assertEqual(done.returncode, 255, done.stdout)
        self.assertRegex(done.stdout, want)
        self.assertFalse((self.path / "bad.om").exists())

    def test_what_is_refused(self):
        other = field(100, field(1, "other"))
        start = 'input: "x" input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }\n'
        self.check_refused("name: 'none'", "E11001.*has no layers", other)
        self.check_refused(start + 'layer { name: "a" type: "Proposal" bottom: "x" top: "y" }',
                           r"E10501: layer a \(Proposal\): layers of this type are not served", other)
        self.check_refused(start + 'layer { name: "a" type: "ReLU" bottom: "z" top: "y" }', "E11001.*reads z", other)
        self.check_refused(start + 'layer { name: "a" type: "ReLU" bottom: "x" top: "y" relu_param { slope: 1 } }',
                           'E11001: the network\'s text, line 2.*no field named "slope"', other)
        self.check_refused(start + "layer { name: ", "E11001: the network's text, line 2", other)
        conv = 'layer { name: "a" type: "Convolution" bottom: "x" top: "y" convolution_param { num_output: 2 kernel_size: 3 } }'
        self.check_refused(start + conv, "E10501.*has not all of its weights", other)
        self.check_refused(start + conv, "E11001: the file of --weight is no Caffe model", b"IMOD not a message")
        few = field(100, field(1, "a") + field(7, blob((5, 7), numbers(35, 0, 1, 1), False)))
        self.check_refused(start + conv, "E10501.*weights are not of the size", few)

    def test_a_place_without_length_stays_zero(self):
        (self.path / "zero.prototxt").write_text(
            'input: "x" input_shape { dim: 1 dim: 2 dim: 1 dim: 3 }\n'
            'layer { name: "n" type: "Normalize" bottom: "x" top: "y" norm_param { across_spatial: false } }')
        (self.path / "zero.caffemodel").write_bytes(field(100, field(1, "n") + field(7, blob((2,), [10.0, 20.0], False))))
        for options in ((), ("--precision_mode=must_keep_origin_dtype",)):
            done = self.run_atc("--framework=0", f"--model={self.path / 'zero.prototxt'}", f"--weight={self.path / 'zero.caffemodel'}",
                                f"--output={self.path / 'net'}", "--soc_version=Ascend910A", *options)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.run_and_compare([[3.0, 0.0, 0.0, 4.0, 0.0, -2.0]], [6.0, 0.0, 0.0, 16.0, 0.0, -20.0], 2e-2)

    def test_a_file_of_weights_is_needed(self):
        done = self.run_atc("--framework=0", f"--model={FOLDER / 'residual'}.prototxt", f"--output={self.path / 'net'}",
                            "--soc_version=Ascend910A")
        self.assertEqual((done.returncode, "E10008" in done.stdout), (255, True), done.stdout)


def record():
    import cv2
    import numpy

    out = {}
    for net, shape in INPUTS.items():
        lines = (FOLDER / f"{net}.prototxt").read_text().splitlines()
        text = "\n".join(line for line in lines if "TRAIN" not in line) # OpenCV does not look at phases
        model = cv2.dnn.readNetFromCaffe(*(numpy.frombuffer(b, numpy.uint8) for b in (text.encode(), weights_file(net))))
        model.setInput(numpy.array(picture(net), dtype=numpy.float32).reshape(shape))
        out[net] = [float(f"{x:.8g}") for x in model.forward().flatten()]
    (FOLDER / "expected.json").write_text(json.dumps(out) + "\n")


if __name__ == "__main__":
    if "--record" in sys.argv:
        record()
    else:
        main()
