# SPDX-License-Identifier: Apache-2.0
"""Frozen graphs of TensorFlow: compiled by atc and run on both chips.

The graphs are written here; tensorflow/expected.json is what TensorFlow (2.16) computes for them.
`test_tensorflow.py --record` writes it anew where TensorFlow is installed.
"""

import json
import math
import struct
import sys
from pathlib import Path

from models_case import ModelsCase, field, main
from test_caffe import numbers

EXPECTED = Path(__file__).parent / "tensorflow" / "expected.json"
FLOAT, INT32, INT64 = 1, 3, 9


# --- a graph of the format --------------------------------------------------------------------------

def shape_of(dims):
    return b"".join(field(2, field(1, d)) for d in dims)


def tensor(dims, values, kind=FLOAT):
    raw = struct.pack(f"<{len(values)}{'f' if kind == FLOAT else 'i'}", *values)
    return field(1, kind) + field(2, shape_of(dims)) + field(4, raw)


def attr(value):
    """An attribute by the kind of its value; types and tensors are pairs."""
    if isinstance(value, tuple):
        return field({"type": 6, "shape": 7, "tensor": 8}[value[0]], value[1])
    if isinstance(value, bool):
        return field(5, int(value))
    if isinstance(value, int):
        return field(3, value)
    if isinstance(value, float):
        return field(4, value)
    if isinstance(value, str):
        return field(2, value)
    return field(1, b"".join(field(3, v) for v in value))


class Graph:
    """Nodes of a graph, in the order in which they are added."""

    def __init__(self):
        self.data, self.seed = b"", 0

    def add(self, name, op, *inputs, **attrs):
        attrs.setdefault("T", ("type", FLOAT))
        entries = b"".join(field(5, field(1, key) + field(2, attr(value))) for key, value in attrs.items() if value is not None)
        self.data += field(1, field(1, name) + field(2, op) + b"".join(field(3, i) for i in inputs) + entries)
        return name

    def placeholder(self, name, dims, kind=FLOAT):
        return self.add(name, "Placeholder", T=None, dtype=("type", kind), shape=("shape", shape_of(dims)))

    def const(self, name, dims, values=None, low=-0.5, high=0.5, kind=FLOAT):
        self.seed += 1
        values = numbers(math.prod(dims), low, high, self.seed) if values is None else values
        return self.add(name, "Const", T=None, dtype=("type", kind), value=("tensor", tensor(dims, values, kind)))

    def ints(self, name, *values):
        return self.const(name, (len(values),), list(values), kind=INT32)

    def number(self, name, value):
        return self.const(name, (), [value], kind=INT32 if isinstance(value, int) else FLOAT)


def residual():
    g = Graph()
    x = g.placeholder("x", (1, 11, 14, 3))
    g.add("conv", "Conv2D", x, g.const("k", (3, 3, 3, 8)), strides=[1, 2, 2, 1], padding="SAME", data_format="NHWC")
    g.add("bias", "BiasAdd", "conv", g.const("b", (8,)))
    g.add("norm", "FusedBatchNormV3", "bias", g.const("gamma", (8,), low=0.5, high=1.5), g.const("beta", (8,)),
          g.const("mean", (8,)), g.const("variance", (8,), low=0.5, high=2), epsilon=0.001, is_training=False, U=("type", FLOAT))
    g.add("relu", "Relu6", "norm")
    g.add("depth", "DepthwiseConv2dNative", "relu", g.const("dk", (3, 3, 8, 2)), strides=[1, 1, 1, 1], padding="SAME")
    # A norm as several operators, as newer versions freeze it.
    g.add("rsqrt", "Rsqrt", g.const("var2", (16,), low=0.5, high=2))
    g.add("factor", "Mul", "rsqrt", g.const("gamma2", (16,), low=0.5, high=1.5))
    g.add("scaled", "Mul", "depth", "factor")
    g.add("off", "Mul", g.const("mean2", (16,)), "factor")
    g.add("summand", "Sub", g.const("beta2", (16,)), "off")
    g.add("normed", "AddV2", "scaled", "summand")
    g.add("swish", "Sigmoid", "normed")
    g.add("pooled", "AvgPool", "swish", ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME")
    g.add("padded", "Pad", "swish", g.const("pads", (4, 2), [0, 0, 0, 1, 1, 0, 0, 0], kind=INT32), Tpaddings=("type", INT32))
    g.add("most", "MaxPool", "padded", ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    g.add("join", "ConcatV2", "pooled", "most", g.number("axis", 3), N=2, Tidx=("type", INT32))
    g.add("mean_of", "Mean", "join", g.ints("hw", 1, 2), keep_dims=True, Tidx=("type", INT32))
    g.add("gated", "Mul", "join", "mean_of")
    g.add("flat", "Reshape", "gated", g.ints("rows", 1, -1), Tshape=("type", INT32))
    g.add("product", "MatMul", "flat", g.const("w", (384, 10), low=-0.1, high=0.1), transpose_a=False, transpose_b=False)
    g.add("product_bias", "BiasAdd", "product", g.const("wb", (10,)))
    g.add("prob", "Softmax", "product_bias")
    return g.data, {"x": (1, 11, 14, 3)}, ["prob"]


def pictures():
    g = Graph()
    x = g.placeholder("x", (1, 6, 5, 4))
    g.add("up", "Conv2DBackpropInput", g.ints("size", 1, 11, 10, 3), g.const("k", (3, 4, 3, 4)), x, strides=[1, 2, 2, 1],
          padding="SAME")
    g.add("resized", "ResizeBilinear", "up", g.ints("to", 8, 12), align_corners=False, half_pixel_centers=True)
    g.add("old", "ResizeBilinear", "up", g.ints("to2", 8, 12), align_corners=True)
    g.add("near", "ResizeNearestNeighbor", "up", g.ints("to3", 8, 12), align_corners=False)
    g.add("sum", "AddN", "resized", "old", "near", N=3)
    g.add("blocks", "SpaceToBatchND", "sum", g.ints("block", 2, 2), g.const("bp", (2, 2), [0, 2, 1, 1], kind=INT32),
          Tblock_shape=("type", INT32), Tpaddings=("type", INT32))
    g.add("atrous", "Conv2D", "blocks", g.const("ak", (2, 3, 3, 3)), strides=[1, 1, 1, 1], padding="VALID")
    g.add("back", "BatchToSpaceND", "atrous", g.ints("block2", 2, 2), g.const("crops", (2, 2), [0, 0, 1, 0], kind=INT32),
          Tblock_shape=("type", INT32), Tcrops=("type", INT32))
    g.add("lrn", "LRN", "back", depth_radius=1, bias=1.5, alpha=0.3, beta=0.6)
    g.add("deep", "SpaceToDepth", "resized", block_size=2)
    g.add("wide", "DepthToSpace", "deep", block_size=2)
    g.add("mirror", "MirrorPad", "wide", g.const("mp", (4, 2), [0, 0, 1, 1, 2, 0, 0, 0], kind=INT32), Tpaddings=("type", INT32),
          mode="REFLECT")
    g.add("cut", "StridedSlice", "mirror", g.ints("from", 0, 1, 0, -1), g.ints("till", 0, -1, 9, 0), g.ints("step", 1, 1, 2, 1),
          begin_mask=1, end_mask=1, shrink_axis_mask=8, ellipsis_mask=0, new_axis_mask=0, Index=("type", INT32))
    return g.data, {"x": (1, 6, 5, 4)}, ["lrn", "cut"]


def shapes():
    g = Graph()
    x = g.placeholder("x", (2, 3, 8))
    g.add("shape", "Shape", x, out_type=("type", INT32))
    g.add("batch", "StridedSlice", "shape", g.ints("i0", 0), g.ints("i1", 1), g.ints("i2", 1), T=("type", INT32), begin_mask=0,
          end_mask=0, shrink_axis_mask=1, ellipsis_mask=0, new_axis_mask=0, Index=("type", INT32))
    g.add("heads", "Pack", "batch", g.number("three", 3), g.number("two", 2), g.number("four", 4), N=4, T=("type", INT32), axis=0)
    g.add("split_heads", "Reshape", x, "heads", Tshape=("type", INT32))
    g.add("q", "Transpose", "split_heads", g.ints("perm", 0, 2, 1, 3), Tperm=("type", INT32))
    g.add("scores", "BatchMatMulV2", "q", "q", adj_x=False, adj_y=True)
    g.add("scaled", "RealDiv", "scores", g.number("root", 2.0))
    g.add("weights", "Softmax", "scaled")
    g.add("mixed", "BatchMatMulV2", "weights", "q", adj_x=False, adj_y=False)
    g.add("left_right", "Split", g.number("axis3", 3), "mixed", num_split=2)
    g.add("apart", "SquaredDifference", "left_right", "left_right:1")
    g.add("parts", "Unpack", "apart", num=2, axis=1)
    g.add("high", "Maximum", "parts:0", "parts:1")
    g.add("where", "Greater", "parts:0", "parts:1")
    g.add("chosen", "SelectV2", "where", "high", "parts:1")
    g.add("new", "ExpandDims", "chosen", g.number("one", 1), Tdim=("type", INT32))
    g.add("again", "Tile", "new", g.ints("times", 1, 2, 1, 1), Tmultiples=("type", INT32))
    g.add("dense", "Squeeze", "new", squeeze_dims=[1])
    g.add("filled", "Fill", g.ints("fs", 2, 1, 3, 2), g.number("half", 0.5), index_type=("type", INT32))
    g.add("all", "ConcatV2", "again", "filled", g.number("axis1", 1), N=2, Tidx=("type", INT32))
    g.add("largest", "ArgMax", "dense", g.number("last", -1), Tidx=("type", INT32), output_type=("type", INT32))
    g.add("picked", "GatherV2", "dense", g.ints("rows", 2, 0), g.number("axis_1", 1), Tparams=("type", FLOAT),
          Tindices=("type", INT32), Taxis=("type", INT32), T=None)
    g.add("places", "Cast", "largest", SrcT=("type", INT32), DstT=("type", FLOAT), T=None)
    return g.data, {"x": (2, 3, 8)}, ["all", "picked", "places"]


GRAPHS = {"residual": residual, "pictures": pictures, "shapes": shapes}


class TensorFlow(ModelsCase):
    def atc_graph(self, data, *options):
        (self.path / "net.pb").write_bytes(data)
        return self.run_atc("--framework=3", f"--model={self.path / 'net.pb'}", f"--output={self.path / 'net'}",
                            "--soc_version=Ascend910A", *options)

    def compare(self, name, tolerance, *options):
        data, inputs, outputs = GRAPHS[name]()
        done = self.atc_graph(data, "--out_nodes=" + ";".join(o + ":0" for o in outputs), *options)
        self.assertEqual(done.returncode, 0, done.stdout)
        want = json.loads(EXPECTED.read_text())[name]
        self.run_and_compare([numbers(math.prod(dims), -1, 1, 7) for dims in inputs.values()], want, tolerance)

    def told(self):
        return self.run_atc("--mode=6", f"--om={self.path / 'net.om'}").stdout

    def test_graphs_in_single_precision(self):
        for name in GRAPHS:
            with self.subTest(name=name):
                self.compare(name, 2e-5, "--precision_mode=must_keep_origin_dtype")

    def test_a_graph_in_half_precision(self):
        self.compare("residual", 4e-3, "--input_format=NHWC")

    def test_norms_and_biases_are_folded(self):
        self.compare("residual", 4e-3)
        self.assertRegex(self.told(), r"Convolution: 2\n")
        self.assertRegex(self.told(), r"Mul: 2\n")  # the gate and the pool's pads
        self.assertNotRegex(self.told(), r"\bAdd: |Sub|Sqrt")

    def test_names_and_integers(self):
        data = GRAPHS["shapes"]()[0]
        done = self.atc_graph(data, "--out_nodes=largest:0;left_right:1", "--input_shape=x:2,3,8")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(self.told(), r'output 0: "largest:0", s32, \[2, 3\]')
        self.assertRegex(self.told(), r'output 1: "left_right:1", f32, \[2, 2, 3, 2\]')

    def test_a_picture_of_bytes(self):
        g = Graph()
        g.placeholder("x", (1, 6, 4, 3))
        g.add("conv", "Conv2D", "x", g.const("k", (1, 1, 3, 2), [1, 0, 0, 1, 0.5, 0]), strides=[1, 1, 1, 1], padding="VALID")
        aipp = self.path / "aipp.cfg"
        aipp.write_text("aipp_op { aipp_mode: static input_format: RGB888_U8 src_image_size_w: 4 src_image_size_h: 6 "
                        "mean_chn_0: 10 mean_chn_1: 20 mean_chn_2: 30 }")
        done = self.atc_graph(g.data, f"--insert_op_conf={aipp}", "--precision_mode=must_keep_origin_dtype")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(self.told(), r'input 0: "x", u8, \[1, 6, 4, 3\]')
        pixels = [i * 7 % 256 for i in range(72)]
        want = [v for i in range(0, 72, 3)
                for v in (pixels[i] - 10 + (pixels[i + 2] - 30) / 2, pixels[i + 1] - 20)]
        self.run_and_compare([bytes(pixels)], want, 1e-5)

    def refused(self, graph, want, *options):
        done = self.atc_graph(graph if isinstance(graph, bytes) else graph.data, *options)
        self.assertEqual(done.returncode, 255, done.stdout)
        self.assertRegex(done.stdout, want)

    def test_what_is_refused(self):
        self.refused(b"\x08\x01", "E12001: the file is no frozen graph")
        g = Graph()
        g.add("loop", "NextIteration", g.placeholder("x", (1, 2)))
        self.refused(g, r"E10501: node loop \(NextIteration\): operators of this type are not served")
        self.refused(g, "E10001.*has no node none", "--out_nodes=none:0")
        g = Graph()
        g.add("open", "Placeholder", T=None, dtype=("type", FLOAT))
        g.add("y", "Relu", "open")
        self.refused(g, "E10501: node open.*give --input_shape")
        g = Graph()
        g.add("a", "Relu", "b")
        g.add("b", "Relu", "a")
        self.refused(g, "E10501.*loops are not served", "--out_nodes=a:0")
        g = Graph()
        g.add("c", "Conv2D", g.placeholder("x", (1, 4, 4, 2)), g.placeholder("k", (1, 1, 2, 2)), strides=[1, 1, 1, 1],
              padding="SAME")
        self.refused(g, r"E10501: node c \(Conv2D\): an input of it must be a constant")


def record():
    import os
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import numpy
    import tensorflow as tf

    out = {}
    for name, build in GRAPHS.items():
        data, inputs, outputs = build()
        graph = tf.compat.v1.GraphDef.FromString(data)
        with tf.Graph().as_default() as whole:
            tf.import_graph_def(graph, name="")
            with tf.compat.v1.Session(graph=whole) as session:
                feed = {f"{k}:0": numpy.array(numbers(math.prod(d), -1, 1, 7), numpy.float32).reshape(d) for k, d in inputs.items()}
                results = session.run([f"{o}:0" for o in outputs], feed)
        out[name] = [float(f"{x:.8g}") for r in results for x in r.flatten()]
    EXPECTED.write_text(json.dumps(out) + "\n")


if __name__ == "__main__":
    if "--record" in sys.argv:
        record()
    else:
        main()
