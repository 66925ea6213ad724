#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_pictures_opencv.py TOOLKIT: what the picture calls make, through pyACL, beside what OpenCV makes of the same pictures
(opencv.json). With --record, in an environment with opencv-python-headless, writes that file (5.0 did).
"""

import json
import sys
from pathlib import Path

EXPECTED = Path(__file__).with_name("opencv.json")
WIDTH, HEIGHT = 16, 12
GRAY, NV12, YUYV, BGR = 0, 1, 7, 13
UNITS = {GRAY: 1, NV12: 1, YUYV: 2, BGR: 3}
# Left, right, top, bottom; all four kinds.
BORDER = (6, 2, 4, 8)
SIZES = {"up": (40, 22), "down": (10, 6)}


def noise(count, seed, smooth=0):
    """Bytes, the same everywhere; `smooth`: a row, whose neighbours they resemble."""
    out = []
    for i in range(count):
        seed = (seed * 1103515245 + 12345) & 0x7fffffff
        out.append((seed >> 16) % 256 if not smooth else (i % smooth * 3 + i // smooth * 5 + (seed >> 16) % 8) % 200 + 20)
    return bytes(out)


PICTURES = {
    "gray": (GRAY, noise(WIDTH * HEIGHT, 1)),
    "bgr": (BGR, noise(WIDTH * HEIGHT * 3, 2)),
    "nv12": (NV12, noise(WIDTH * HEIGHT * 3 // 2, 3, WIDTH)),
    "yuyv": (YUYV, noise(WIDTH * HEIGHT * 2, 4, 2 * WIDTH)),
}
TABLE = noise(256, 5)


# ---- OpenCV ----

def record():
    import cv2
    import numpy

    def array(name):
        kind, data = PICTURES[name]
        rows = HEIGHT * 3 // 2 if kind == NV12 else HEIGHT
        shape = (rows, WIDTH) if UNITS[kind] == 1 else (rows, WIDTH, UNITS[kind])
        return numpy.frombuffer(data, numpy.uint8).reshape(shape)

    left, right, top, bottom = BORDER
    out = {}
    for name in ("gray", "bgr"):
        for number, kind in enumerate((cv2.BORDER_CONSTANT, cv2.BORDER_REPLICATE, cv2.BORDER_REFLECT, cv2.BORDER_REFLECT_101)):
            out[f"border_{name}_{number}"] = cv2.copyMakeBorder(array(name), top, bottom, left, right, kind, value=(9, 77, 200))
        for size, (width, height) in SIZES.items():
            out[f"nearest_{name}_{size}"] = cv2.resize(array(name), (width, height), interpolation=cv2.INTER_NEAREST)
            out[f"bilinear_{name}_{size}"] = cv2.resize(array(name), (width, height), interpolation=cv2.INTER_LINEAR)
        out[f"table_{name}"] = cv2.LUT(array(name), numpy.frombuffer(TABLE, numpy.uint8))
        out[f"half_{name}"] = cv2.pyrDown(array(name))
    out["counts_gray"] = cv2.calcHist([array("gray")], [0], None, [256], [0, 256]).astype(int)
    out["colours_nv12"] = cv2.cvtColor(array("nv12"), cv2.COLOR_YUV2BGR_NV12)
    out["colours_yuyv"] = cv2.cvtColor(array("yuyv"), cv2.COLOR_YUV2BGR_YUYV)
    EXPECTED.write_text("{\n" + ",\n".join(f'"{k}": "{v.astype(numpy.uint16 if k.startswith("counts") else numpy.uint8).tobytes().hex()}"'
                                            for k, v in out.items()) + "\n}\n")


# ---- ours ----

def check(code):
    if code:
        raise SystemExit(f"{code}: {acl.get_recent_err_msg()}")


class Picture:
    def __init__(self, kind, width, height, data=None):
        unit = UNITS[kind]
        self.row, self.rows = (width * unit + 15) // 16 * 16, (height + 1) // 2 * 2
        self.used, self.high = width * unit, height * 3 // 2 if kind == NV12 else height
        self.size = self.row * (self.rows * 3 // 2 if kind == NV12 else self.rows)
        self.data, code = acl.media.dvpp_malloc(self.size)
        check(code)
        self.desc = acl.media.dvpp_create_pic_desc()
        for name, value in (("data", self.data), ("size", self.size), ("format", kind), ("width", width), ("height", height),
                            ("width_stride", self.row), ("height_stride", self.rows)):
            check(getattr(acl.media, "dvpp_set_pic_desc_" + name)(self.desc, value))
        if data is not None:
            lines = [data[i * self.used:(i + 1) * self.used].ljust(self.row, b"\0") for i in range(self.high)]
            host = b"".join(lines).ljust(self.size, b"\0")
            check(acl.rt.memcpy(self.data, self.size, acl.util.bytes_to_ptr(host), self.size, 1))

    def fetch(self):
        host = bytes(self.size)
        check(acl.rt.memcpy(acl.util.bytes_to_ptr(host), self.size, self.data, self.size, 2))
        return b"".join(host[i * self.row:i * self.row + self.used] for i in range(self.high))


class Calls:
    def __init__(self):
        self.media = acl.media
        self.stream, code = acl.rt.create_stream()
        check(code)
        self.channel = self.media.dvpp_create_channel_desc()
        check(self.media.dvpp_create_channel(self.channel))

    def picture(self, name):
        return Picture(PICTURES[name][0], WIDTH, HEIGHT, PICTURES[name][1])

    def wait(self, code):
        check(code)
        check(acl.rt.synchronize_stream(self.stream))

    def border(self, name, kind):
        left, right, top, bottom = BORDER
        config = self.media.dvpp_create_border_config()
        for key, value in (("left", left), ("right", right), ("top", top), ("bottom", bottom), ("border_type", int(kind))):
            check(getattr(self.media, "dvpp_set_border_config_" + key)(config, value))
        # Components of BGR are B, G, R in memory, of ours R, G, B.
        for i, value in enumerate((9,) if name == "gray" else (200, 77, 9)):
            check(self.media.dvpp_set_border_config_value(config, i, value))
        out = Picture(PICTURES[name][0], WIDTH + left + right, HEIGHT + top + bottom)
        self.wait(self.media.dvpp_vpc_make_border_async(self.channel, self.picture(name).desc, out.desc, config, self.stream))
        check(self.media.dvpp_destroy_border_config(config))
        return out.fetch()

    def resize(self, name, size, interpolation):
        config = self.media.dvpp_create_resize_config()
        check(self.media.dvpp_set_resize_config_interpolation(config, interpolation))
        out = Picture(PICTURES[name][0], *SIZES[size])
        self.wait(self.media.dvpp_vpc_resize_async(self.channel, self.picture(name).desc, out.desc, config, self.stream))
        return out.fetch()

    def nearest(self, name, size):
        return self.resize(name, size, 2)

    def bilinear(self, name, size):
        return self.resize(name, size, 0)

    def table(self, name):
        tables = self.media.dvpp_create_lut_map()
        for i in range(3):
            address, count, code = self.media.dvpp_get_lut_map_data(tables, i)
            check(code)
            ctypes.memmove(address, TABLE, count)
        out = Picture(PICTURES[name][0], WIDTH, HEIGHT)
        self.wait(self.media.dvpp_vpc_equalize_hist_async(self.channel, self.picture(name).desc, out.desc, tables, self.stream))
        return out.fetch()

    def half(self, name):
        out = Picture(PICTURES[name][0], WIDTH // 2, HEIGHT // 2)
        self.wait(self.media.dvpp_vpc_pyr_down_async(self.channel, self.picture(name).desc, out.desc, 0, self.stream))
        return out.fetch()

    def counts(self, name):
        counts = self.media.dvpp_create_hist()
        self.wait(self.media.dvpp_vpc_calc_hist_async(self.channel, self.picture(name).desc, counts, 0, self.stream))
        address, count, code = self.media.dvpp_get_hist_data(counts, 0)
        check(code)
        return struct.pack("<256H", *struct.unpack("<256I", ctypes.string_at(address, 4 * count)))

    def colours(self, name):
        """OpenCV's colours are those of BT.601, narrow."""
        out = Picture(BGR, WIDTH, HEIGHT)
        matrix = struct.pack("<I", 1)
        check(self.media.dvpp_set_channel_desc_param(self.channel, 0, 4, acl.util.bytes_to_ptr(matrix)))
        self.wait(self.media.dvpp_vpc_convert_color_async(self.channel, self.picture(name).desc, out.desc, self.stream))
        return out.fetch()


# How far from OpenCV: it rounds weights to 11 bits, and colours to 20.
BOUNDS = {"bilinear": 1, "colours": 1}


def main():
    check(acl.init())
    check(acl.rt.set_device(0))
    calls, bad = Calls(), 0
    for key, text in json.loads(EXPECTED.read_text()).items():
        kind, *args = key.split("_")
        want, got = bytes.fromhex(text), getattr(calls, kind)(*args)
        worst = max(abs(a - b) for a, b in zip(want, got)) if len(want) == len(got) else 999
        print(f"{key}: {worst}")
        bad += worst > BOUNDS.get(kind, 0)
    check(acl.rt.reset_device(0))
    check(acl.finalize())
    sys.exit(f"{bad} differ" if bad else 0)


if __name__ == "__main__":
    if "--record" in sys.argv:
        record()
    else:
        import ctypes
        import os
        import struct

        os.environ["ASCEND_HOME_PATH"] = sys.argv[1]
        sys.path.insert(0, str(Path(sys.argv[1]) / "python" / "site-packages"))
        import acl

        main()
