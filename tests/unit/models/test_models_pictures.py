#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_models_pictures.py TOOLKIT: pictures of bytes as inputs (--insert_op_conf), against the formulas in plain Python."""

import json
import random
import struct

from models_case import LOAD, RUN, ModelsCase, main, network, node

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


# Runs with settings of their own: sys.argv[5] is a list of [calls of acl.mdl, picture's file, wanted].
DYNAMIC = LOAD.replace("sys.argv[3:])", "sys.argv[3:5])") + """
import json
import struct
index, ret = acl.mdl.get_input_index_by_name(desc, "ascend_dynamic_aipp_data")
assert ret == 0 and index == 1
assert acl.mdl.execute(model, inputs, outputs) == 100000 and "no settings" in acl.get_recent_err_msg()
source, room = (f(acl.mdl.get_dataset_buffer(inputs, 0)) for f in (acl.get_data_buffer_addr, acl.get_data_buffer_size_v2))
target = acl.get_data_buffer_addr(acl.mdl.get_dataset_buffer(outputs, 0))
for batch, calls, path, wanted in json.loads(sys.argv[5]) * 2:
    aipp = acl.mdl.create_aipp(batch)
    for name, *args in calls:
        ret = getattr(acl.mdl, "set_aipp_" + name)(aipp, *args)
        assert ret == 0, (name, args, acl.get_recent_err_msg())
    assert acl.mdl.set_input_aipp(model, inputs, 0, aipp) == 100000
    assert acl.mdl.set_input_aipp(model, inputs, index, aipp) == 0
    assert acl.mdl.set_aipp_by_input_index(model, inputs, 0, aipp) == 0
    assert acl.mdl.destroy_aipp(aipp) == 0
    raw = open(path, "rb").read()
    assert acl.rt.memcpy(source, room, acl.util.bytes_to_ptr(raw), len(raw), 1) == 0
    assert acl.mdl.execute(model, inputs, outputs) == 0, acl.get_recent_err_msg()
    host = bytes(4 * len(wanted))
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(host), len(host), target, len(host), 2) == 0
    assert list(struct.unpack(f"<{len(wanted)}f", host)) == wanted, (calls, host)
def refused(text, batch, *calls):
    aipp = acl.mdl.create_aipp(batch)
    rets = [getattr(acl.mdl, "set_aipp_" + name)(aipp, *args) for name, *args in calls]
    assert acl.mdl.set_input_aipp(model, inputs, index, aipp) == 0
    ret = acl.mdl.execute(model, inputs, outputs)
    assert 100000 in [*rets, ret] or 207000 in rets, (rets, ret)
    assert text in acl.get_recent_err_msg(), acl.get_recent_err_msg()
    assert acl.mdl.destroy_aipp(aipp) == 0
size = ["src_image_size", 6, 4]
refused("format was not set", 2, size)
refused("settings for 1 pictures, the model takes 2", 1, ["input_format", 3], size)
refused("have more bytes than max_src_image_size", 2, ["input_format", 3], ["src_image_size", 4000, 4000],
        *[["crop_params", 1, 0, 0, 6, 4, i] for i in range(2)])
refused("do not make the model's 6", 2, ["input_format", 3], ["src_image_size", 8, 4])
for call, text in ((["input_format", 7], "only YUV420SP"), (["crop_params", 1, 0, 0, 6, 4, 2], "batchIndex 2, and there are 2"),
                   (["scf_params", 1, 6, 4, 6, 4, 0], "not resized"), (["padding_params", 1, 33, 0, 0, 0, 0], "a border of 33")):
    aipp = acl.mdl.create_aipp(2)
    assert getattr(acl.mdl, "set_aipp_" + call[0])(aipp, *call[1:]) != 0 and text in acl.get_recent_err_msg(), call
    assert acl.mdl.destroy_aipp(aipp) == 0
assert acl.mdl.create_aipp(0) == 0
"""


def setter_calls(case, batch):
    """What a program calls for a case's settings."""
    s, kinds = case.set, ["", "YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8"]
    calls = [["input_format", kinds.index(case.kind)], ["src_image_size", case.width, case.height],
             ["rbuv_swap_switch", s["rbuv_swap_switch"]], ["ax_swap_switch", s["ax_swap_switch"]],
             ["csc_params", s["csc_switch"], *s["matrix"], *s["output_bias"], *s["input_bias"]]]
    for i in range(batch):
        calls += [["scf_params", 0, 0, 0, 0, 0, i],
                  ["crop_params", 1, s["load_start_pos_w"], s["load_start_pos_h"], s["crop_size_w"], s["crop_size_h"], i],
                  ["padding_params", 1, s["top_padding_size"], s["bottom_padding_size"], s["left_padding_size"],
                   s["right_padding_size"], i]]
        calls += [[name, *(s[key] + [s[key][0] * 0] * 4)[:4], i] for name, key in
                  (("dtc_pixel_mean", "mean_chn"), ("dtc_pixel_min", "min_chn"), ("pixel_var_reci", "var_reci_chn"))]
    return calls


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

    def test_runs_tell_their_settings(self):
        rng = random.Random(6)
        done = self.compile("aipp_op { aipp_mode: dynamic max_src_image_size: 1024 }", [2, 3, 4, 6])
        self.assertEqual(done.returncode, 0, done.stdout)
        runs = []
        for case in (Case("RGB888_U8", 6, 4),
                     Case("YUV420SP_U8", 12, 8, csc_switch=1, rbuv_swap_switch=1, matrix=BT601_NARROW, load_start_pos_w=2,
                          load_start_pos_h=2, crop_size_w=4, crop_size_h=2, left_padding_size=2, top_padding_size=1,
                          bottom_padding_size=1, var_reci_chn=[0.25, 0.5, 2]),
                     Case("XRGB8888_U8", 9, 5, ax_swap_switch=1, load_start_pos_w=3, load_start_pos_h=1, crop_size_w=6, crop_size_h=4,
                          mean_chn=[104, 117, 123, 0], min_chn=[0.5, 0.1, 0], var_reci_chn=[0.003921, 0.01712475, 0.017429194])):
            pictures = [bytes(rng.randrange(256) for _ in range(case.picture_bytes())) for _ in range(2)]
            path = self.path / f"in{len(runs)}"
            path.write_bytes(b"".join(pictures))
            runs.append([2, setter_calls(case, 2), str(path), [-v for data in pictures for v in case.want(data, 3, 6, 4)]])
        (self.path / "x").write_bytes(bytes(1024))
        (self.path / "settings").write_bytes(bytes(2 * 392))
        for soc in ("ascend910a", "ascend910b1"):
            self.run_python(soc, DYNAMIC, self.path / "net.om", "-", self.path / "x", self.path / "settings", json.dumps(runs))

    def test_settings_that_do_not_fit_are_told(self):
        rgb = "aipp_mode: static input_format: RGB888_U8 "
        for text, reason in ((f"aipp_op {{ {rgb} speed: 1 }}", "the setting speed is not served"),
                             (f"aipp_op {{ {rgb} src_image_size_w: 5000 }}", "src_image_size_w is 5000; it must be from 0 to 4096"),
                             (f"aipp_op {{ {rgb} src_image_size_w: 16 src_image_size_h: 4 }}", "0 + 16 + 0 pixels along w do not make the model's 4"),
                             (f"aipp_op {{ {rgb} related_input_rank: 3 }}", "the model has no input"),
                             (f"aipp_op {{ {rgb} related_input_name: \"q\" }}", "the model has no input q"),
                             (f"aipp_op {{ {rgb}", "it has no end"),
                             ("aipp_op { input_format: RGB888_U8 }", "aipp_mode is required"),
                             ("aipp_op { aipp_mode: dynamic }", "max_src_image_size is required"),
                             ("aipp_op { aipp_mode: static }", "input_format is required"),
                             ("aipp_op { aipp_mode: fast }", "aipp_mode is fast; it must be"),
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
