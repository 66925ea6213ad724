#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_models_pictures.py TOOLKIT: pictures of bytes as inputs (--insert_op_conf), against the formulas in plain Python."""

import random
import struct

from models_case import RUN, ModelsCase, main, network, node

BT601_NARROW = [298, 0, 409, 298, -100, -208, 298, 516, 0]
RGB_TO_YUV = [77, 150, 29, -43, -85, 128, 128, -107, -21]


def half(value):
    return struct.unpack("e", struct.pack("e", value))[0]


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def pixel(data, kind, width, height, x, y):
    """Channels of one pixel as the picture has them."""
    if kind == "YUV420SP_U8":
        at = width * height + y // 2 * width + x // 2 * 2
        return [data[y * width + x], data[at], data[at + 1]]
    size = {"RGB888_U8": 3, "XRGB8888_U8": 4, "YUV400_U8": 1}[kind]
    return list(data[(y * width + x) * size:(y * width + x + 1) * size])


def exchanged(channels, kind, swaps_rb, swaps_ax):
    c = list(channels)
    if swaps_rb:
        one, other = {"YUV420SP_U8": (1, 2), "RGB888_U8": (0, 2), "XRGB8888_U8": (1, 3)}[kind]
        c[one], c[other] = c[other], c[one]
    return c[1:] + c[:1] if swaps_ax else c


def converted(c, kind, matrix, input_bias, output_bias):
    c = c[-3:] if kind == "XRGB8888_U8" and len(c) == 4 else c
    yuv = kind == "YUV420SP_U8"
    out = []
    for row in range(3):
        total = sum(matrix[3 * row + k] * (c[k] - (input_bias[k] if yuv else 0)) for k in range(3))
        out.append(min(255, max(0, (total >> 8) + (0 if yuv else output_bias[row]))))
    return out


class Case:
    """Settings with the vendor's defaults, their text, and what they make of a picture."""

    def __init__(self, kind, width, height, **changes):
        self.kind, self.width, self.height = kind, width, height
        self.set = {"rbuv_swap_switch": 0, "ax_swap_switch": 0, "csc_switch": 0, "load_start_pos_w": 0, "load_start_pos_h": 0,
                    "crop_size_w": width, "crop_size_h": height, "left_padding_size": 0, "right_padding_size": 0,
                    "top_padding_size": 0, "bottom_padding_size": 0, "padding_value": 0, "matrix": [298, 516, 0, 298, -100, -208, 298, 0, 409],
                    "output_bias": [16, 128, 128], "input_bias": [16, 128, 128], "mean_chn": [0] * 4, "min_chn": [0] * 4,
                    "var_reci_chn": [1] * 4, **changes}
        self.changes = changes

    def text(self):
        lines = ["aipp_mode: static", f"input_format : {self.kind}", f"src_image_size_w: {self.width}",
                 f"src_image_size_h: {self.height}", "related_input_rank: 0"]
        lines += ["crop: true"] if any(k.startswith(("crop", "load")) for k in self.changes) else []
        lines += ["padding: true"] if any("padding" in k for k in self.changes) else []
        for key, value in self.changes.items():
            if key == "matrix":
                lines += [f"matrix_r{i // 3}c{i % 3}: {v}" for i, v in enumerate(value)]
            elif isinstance(value, list):
                lines += [f"{key}_{i}: {v}" for i, v in enumerate(value)]
            else:
                lines.append(f"{key}: {value}" if "switch" not in key else f"{key}: {'true' if value else 'false'}")
        return "# made by a test\naipp_op {\n" + "\n".join(lines) + "\n}\n"

    def picture_bytes(self):
        return self.width * self.height * {"YUV420SP_U8": 3, "RGB888_U8": 6, "XRGB8888_U8": 8, "YUV400_U8": 2}[self.kind] // 2

    def want(self, data, channels, w, h):
        s = self.set
        out = [[[float(s["padding_value"])] * w for _ in range(h)] for _ in range(channels)]
        for y in range(s["crop_size_h"]):
            for x in range(s["crop_size_w"]):
                c = pixel(data, self.kind, self.width, self.height, x + s["load_start_pos_w"], y + s["load_start_pos_h"])
                c = exchanged(c, self.kind, s["rbuv_swap_switch"], s["ax_swap_switch"])
                if s["csc_switch"]:
                    # With the switch off X is in front, with it on behind: colours are never X.
                    c = c[:3] if s["ax_swap_switch"] else c
                    c = converted(c, self.kind, s["matrix"], s["input_bias"], s["output_bias"])
                for k in range(channels):
                    low = single(c[k] - s["mean_chn"][k] - half(s["min_chn"][k]))
                    out[k][y + s["top_padding_size"]][x + s["left_padding_size"]] = single(low * half(s["var_reci_chn"][k]))
        return [v for plane in out for row in plane for v in row]


CASES = [
    # (settings, the model's shape)
    (Case("RGB888_U8", 8, 6), [2, 3, 6, 8]),
    (Case("RGB888_U8", 9, 7, rbuv_swap_switch=1, load_start_pos_w=2, load_start_pos_h=1, crop_size_w=5, crop_size_h=4,
          mean_chn=[104, 117, 123, 0], min_chn=[0.5, 0.1, 0], var_reci_chn=[0.003921, 0.01712475, 0.017429194]), [1, 3, 4, 5]),
    (Case("YUV420SP_U8", 8, 8, csc_switch=1, matrix=BT601_NARROW), [2, 3, 8, 8]),
    (Case("YUV420SP_U8", 12, 8, csc_switch=1, rbuv_swap_switch=1, matrix=BT601_NARROW, load_start_pos_w=2, load_start_pos_h=2,
          crop_size_w=6, crop_size_h=4, left_padding_size=1, right_padding_size=2, top_padding_size=3, bottom_padding_size=0,
          padding_value=-7, var_reci_chn=[0.25, 0.5, 2]), [1, 3, 7, 9]),
    (Case("YUV420SP_U8", 4, 4, csc_switch=1, matrix=[256] + [0] * 8, input_bias=[0] * 3), [1, 1, 4, 4]),
    (Case("XRGB8888_U8", 6, 4, csc_switch=1, ax_swap_switch=1, matrix=RGB_TO_YUV, output_bias=[0, 128, 128]), [1, 3, 4, 6]),
    (Case("XRGB8888_U8", 6, 4, csc_switch=1, rbuv_swap_switch=1, matrix=RGB_TO_YUV), [1, 3, 4, 6]),
    (Case("XRGB8888_U8", 6, 4, rbuv_swap_switch=1, ax_swap_switch=1), [1, 4, 4, 6]),
    (Case("YUV400_U8", 5, 3, mean_chn=[128], var_reci_chn=[0.0078125]), [1, 1, 3, 5]),
]


class Pictures(ModelsCase):
    def compile(self, text, shape, *options):
        (self.path / "aipp.cfg").write_text(text)
        data = network([node("Neg", ["x"], ["y"])], [("x", shape)], ["y"])
        return self.atc(data, f"--insert_op_conf={self.path / 'aipp.cfg'}", "--precision_mode=force_fp32", *options)

    def test_pictures_become_what_the_formulas_say(self):
        rng = random.Random(5)
        for number, (case, shape) in enumerate(CASES):
            done = self.compile(case.text(), shape)
            self.assertEqual(done.returncode, 0, f"{number}: {done.stdout}")
            pictures = [bytes(rng.randrange(256) for _ in range(case.picture_bytes())) for _ in range(shape[0])]
            want = [-v for data in pictures for v in case.want(data, shape[1], shape[3], shape[2])]
            (self.path / "in").write_bytes(b"".join(pictures))
            for soc in ("ascend910a", "ascend910b1"):
                self.run_python(soc, RUN, self.path / "net.om", self.path / "out", self.path / "in")
                got = struct.unpack(f"<{len(want)}f", (self.path / "out").read_bytes())
                self.assertEqual(list(got), want, f"case {number} on {soc}")

    def test_settings_that_do_not_fit_are_told(self):
        rgb = "aipp_mode: static input_format: RGB888_U8 "
        for text, reason in ((f"aipp_op {{ {rgb} speed: 1 }}", "the setting speed is not served"),
                             (f"aipp_op {{ {rgb} src_image_size_w: 5000 }}", "src_image_size_w is 5000; it must be from 0 to 4096"),
                             (f"aipp_op {{ {rgb} src_image_size_w: 16 src_image_size_h: 4 }}", "0 + 16 + 0 pixels along w do not make the model's 4"),
                             (f"aipp_op {{ {rgb} related_input_rank: 3 }}", "the model has no input"),
                             (f"aipp_op {{ {rgb} related_input_name: \"q\" }}", "the model has no input q"),
                             (f"aipp_op {{ {rgb}", "it has no end"),
                             ("aipp_op { input_format: RGB888_U8 }", "aipp_mode and input_format are required"),
                             ("aipp_op { aipp_mode: dynamic }", "aipp_mode is dynamic; it must be"),
                             ("aipp_op { aipp_mode: static input_format: YUV400_U8 }", "cannot give the model's 3"),
                             ("aipp_op { aipp_mode: static input_format: RGB888_U8 csc_switch: true matrix_r1c0: 32767 matrix_r1c1: 32767}",
                              "matrix_r1 are too large"),
                             ("resize { }", "'resize' is not the begin"), ("#", "there is no aipp_op")):
            done = self.compile(text, [1, 3, 4, 4])
            self.assertEqual(done.returncode, 255, text)
            self.assertIn("E10001: --insert_op_conf:", done.stdout)
            self.assertIn(reason, done.stdout)
        done = self.compile(f"aipp_op {{ {rgb} }}", [1, 3, 4, 4], "--input_fp16_nodes=x")
        self.assertIn("is in --input_fp16_nodes", done.stdout)


if __name__ == "__main__":
    main()
