# SPDX-License-Identifier: Apache-2.0
"""Networks as files of the format, and what compiles and runs them; for the tests of models.

The files are encoded by hand (messages of protocol buffers are simple), so nothing but Python is needed.
"""

import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FLOAT, INT64 = 1, 7


# --- a file of the format ---------------------------------------------------------------------------

def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while True:
        out += bytes([value & 127 | (128 if value > 127 else 0)])
        value >>= 7
        if not value:
            return out


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name, shape, values, kind=FLOAT):
    raw = struct.pack(f"<{len(values)}{'f' if kind == FLOAT else 'q'}", *values)
    return b"".join(field(1, d) for d in shape) + field(2, kind) + field(8, name) + field(9, raw)


def attribute(name, value):
    out = field(1, name)
    if isinstance(value, float):
        return out + field(2, value)
    if isinstance(value, int):
        return out + field(3, value)
    if isinstance(value, str):
        return out + field(4, value)
    if isinstance(value, bytes):
        return out + field(5, value)
    return out + b"".join(field(8, v) for v in value)


def node(kind, inputs, outputs, **attributes):
    return (b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(3, kind.lower() + "_node") +
            field(4, kind) + b"".join(field(5, attribute(n, v)) for n, v in attributes.items()))


def value_info(name, shape, kind=FLOAT):
    dims = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))


def network(nodes, inputs, outputs, weights=(), opset=13):
    graph = (b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, w) for w in weights) +
             b"".join(field(11, value_info(*i)) for i in inputs) + b"".join(field(12, value_info(n, [])) for n in outputs))
    return field(1, 7) + field(7, graph) + field(8, field(1, "") + field(2, opset))


LOAD = """
import sys
import acl
model, ret = acl.mdl.load_from_file(sys.argv[1])
assert ret == 0, (ret, acl.get_recent_err_msg())
desc = acl.mdl.create_desc()
assert acl.mdl.get_desc(desc, model) == 0
def dataset(count, size_of, files):
    data = acl.mdl.create_dataset()
    places = []
    for i in range(count):
        size = size_of(desc, i)
        place, ret = acl.rt.malloc(size, 0)
        assert ret == 0
        if files:
            raw = open(files[i], "rb").read()
            assert len(raw) == size, (len(raw), size)
            assert acl.rt.memcpy(place, size, acl.util.bytes_to_ptr(raw), size, 1) == 0
        buffer = acl.create_data_buffer(place, size)
        acl.mdl.add_dataset_buffer(data, buffer)
        places.append((place, size))
    return data, places
inputs, _ = dataset(acl.mdl.get_num_inputs(desc), acl.mdl.get_input_size_by_index, sys.argv[3:])
outputs, places = dataset(acl.mdl.get_num_outputs(desc), acl.mdl.get_output_size_by_index, None)
"""
RUN = LOAD + """
for _ in range(2):
    assert acl.mdl.execute(model, inputs, outputs) == 0, acl.get_recent_err_msg()
stream, ret = acl.rt.create_stream()
assert acl.mdl.execute_async(model, inputs, outputs, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
assert acl.rt.destroy_stream(stream) == 0
with open(sys.argv[2], "wb") as out:
    for place, size in places:
        host = bytes(size)
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(host), size, place, size, 2) == 0
        out.write(host)
assert acl.mdl.unload(model) == 0
assert acl.mdl.unload(model) == 145003
assert acl.mdl.destroy_desc(desc) == 0
"""


class ModelsCase(unittest.TestCase):
    """Compiles networks and runs them on both chips."""

    toolkit = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def run_atc(self, *options):
        return subprocess.run([self.toolkit / "bin/atc", *options], capture_output=True, text=True, check=False)

    def atc(self, data, *options):
        (self.path / "net.onnx").write_bytes(data)
        return self.run_atc("--framework=5", f"--model={self.path / 'net.onnx'}", f"--output={self.path / 'net'}",
                            "--soc_version=Ascend910A", *options)

    def run_python(self, soc, script, *args):
        env = {**os.environ, "LEO_SOC": soc, "LEO_CHECK": "all", "PYTHONPATH": str(self.toolkit / "python/site-packages"),
               "LD_LIBRARY_PATH": str(self.toolkit / "lib64")}
        start = "import acl\nassert acl.init() == 0\nassert acl.rt.set_device(0) == 0\n"
        done = subprocess.run([sys.executable, "-B", "-c", start + script, *map(str, args)], env=env, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def check(self, data, inputs, want, tolerance, *options):
        done = self.atc(data, *options)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("ATC run success, welcome to the next use.", done.stdout)
        self.run_and_compare(inputs, want, tolerance)

    def run_and_compare(self, inputs, want, tolerance):
        """Runs what was compiled last on both chips."""
        files = []
        for i, values in enumerate(inputs):
            files.append(self.path / f"in{i}")
            if isinstance(values, bytes):
                files[-1].write_bytes(values)
                continue
            kind = "q" if isinstance(values[0], int) else "f"
            files[-1].write_bytes(struct.pack(f"<{len(values)}{kind}", *values))
        for soc in ("ascend910a", "ascend910b1"):
            self.run_python(soc, RUN, self.path / "net.om", self.path / "out", *files)
            got = struct.unpack(f"<{len(want)}f", (self.path / "out").read_bytes())
            for i, (a, b) in enumerate(zip(got, want)):
                self.assertLessEqual(abs(a - b), tolerance, f"{soc}: element {i}: {a} for {b}")


def main():
    """Runs the tests of the program: its first argument is the toolkit's folder."""
    ModelsCase.toolkit = Path(sys.argv.pop(1)).resolve()
    unittest.main()
