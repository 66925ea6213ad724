#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_models_gears.py TOOLKIT: models compiled for several batches, sizes of pictures and dims; against the same in plain Python."""

import json
import random
import struct

from models_case import INT64, LOAD, ModelsCase, main, network, node, tensor

# Gives each gear's input numbers, and asserts what comes out: sys.argv[4] is a list of [setter's arguments, numbers, wanted, dims].
GEARS = LOAD + """
import json
import struct
index, ret = acl.mdl.get_input_index_by_name(desc, "ascend_mbatch_shape_data")
assert ret == 0 and index == acl.mdl.get_num_inputs(desc) - 1
source = acl.get_data_buffer_addr(acl.mdl.get_dataset_buffer(inputs, 0))
target = acl.get_data_buffer_addr(acl.mdl.get_dataset_buffer(outputs, 0))
assert acl.mdl.execute(model, inputs, outputs) == 100000, "no gear was set"
assert "no gear" in acl.get_recent_err_msg()
cases = json.loads(sys.argv[4])
dims, ret = acl.mdl.get_input_dims(desc, 0)
assert ret == 0 and dims["dims"] == json.loads(sys.argv[5]), dims
for _ in range(3):  # again and again: also what was captured
    for setter, gear, numbers, wanted, shape in cases:
        if setter == "set_input_dynamic_dims":
            gear = [{"dimCount": len(gear), "dims": gear}]
        ret = getattr(acl.mdl, setter)(model, inputs, index, *gear)
        assert ret == 0, (gear, acl.get_recent_err_msg())
        for _ in range(2):
            raw, host = struct.pack(f"<{len(numbers)}f", *numbers), bytes(4 * len(wanted))
            assert acl.rt.memcpy(source, len(raw), acl.util.bytes_to_ptr(raw), len(raw), 1) == 0
            assert acl.mdl.execute(model, inputs, outputs) == 0, acl.get_recent_err_msg()
            assert acl.rt.memcpy(acl.util.bytes_to_ptr(host), len(host), target, len(host), 2) == 0
            assert list(struct.unpack(f"<{len(wanted)}f", host)) == wanted, (gear, host)
            numbers, wanted = [-n for n in numbers], [-n for n in wanted]
        dims, ret = acl.mdl.get_cur_output_dims(desc, 0)
        assert ret == 0 and dims["dims"] == shape, (gear, dims)
assert acl.mdl.set_dynamic_batch_size(model, inputs, index, 77) == 100000
assert acl.mdl.set_dynamic_hw_size(model, inputs, 0, 1, 1) == 100000
assert acl.mdl.set_input_dynamic_dims(model, inputs, index, {"dimCount": 2, "dims": [7, 7]}) == 100000
batch, ret = acl.mdl.get_dynamic_batch(desc)
hw, _ = acl.mdl.get_dynamic_hw(desc, -1 & 0xffffffff)
count, _ = acl.mdl.get_input_dynamic_gear_count(desc, 0)
print(json.dumps([batch["batch"], hw["hw"], [d["dims"] for d in acl.mdl.get_input_dynamic_dims(desc, 0, count)[0]]]))

"""


def mended(data):
    """The checksum of a damaged file made right (models/model_file.c), so that what is behind it is read."""
    total, mask, body = 0xcbf29ce484222325, (1 << 64) - 1, data[32:]
    for at in range(0, len(body) // 8 * 8, 8):
        total = ((total ^ int.from_bytes(body[at:at + 8], "little")) * 0x100000001b3) & mask
        total ^= total >> 29
    for byte in body[len(body) // 8 * 8:]:
        total = ((total ^ byte) * 0x100000001b3) & mask
    return data[:24] + total.to_bytes(8, "little") + body


class Gears(ModelsCase):
    def run_gears(self, cases, shape, options, nodes, output, gears, weights=()):
        data = network(nodes, [("x", ["a", "b", "c", "d"][:len(shape)])], ["y"], weights)
        done = self.atc(data, f"--input_shape=x:{','.join(map(str, shape))}", "--precision_mode=force_fp32", *options)
        self.assertEqual(done.returncode, 0, done.stdout)
        largest = max(len(case[2]) for case in cases)
        (self.path / "x").write_bytes(bytes(4 * largest))
        for soc in ("ascend910a", "ascend910b1"):
            (self.path / "gear").write_bytes(bytes(8 * output))
            text = self.run_python(soc, GEARS.replace("sys.argv[3:])", "sys.argv[2:4])"), self.path / "net.om", self.path / "x",
                                   self.path / "gear", json.dumps(cases), json.dumps(shape))
            self.assertEqual(json.loads(text), gears)

    def test_batches(self):
        weights = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
        cases = []
        for batch in (1, 2, 8):
            x = [float(i % 5 - 2) for i in range(3 * batch)]
            want = [sum(x[3 * i + k] * weights[2 * k + j] for k in range(3)) for i in range(batch) for j in range(2)]
            cases.append(["set_dynamic_batch_size", [batch], x, want, [batch, 2]])
        self.run_gears(cases, [-1, 3], ["--dynamic_batch_size=8,1,2"], [node("MatMul", ["x", "w"], ["y"])], 1,
                       [[8, 1, 2], [], []], [tensor("w", [3, 2], weights)])

    def test_sizes_of_pictures(self):
        cases = []
        for h, w in ((2, 4), (6, 3)):
            x = [float(i * 7 % 11) for i in range(2 * h * w)]
            want = [sum(x[c * h * w:(c + 1) * h * w]) for c in range(2)]
            cases.append(["set_dynamic_hw_size", [h, w], x, want, [1, 2, 1, 1]])
        self.run_gears(cases, [1, 2, -1, -1], ["--dynamic_image_size=2,4;6,3"],
                       [node("ReduceSum", ["x", "axes"], ["y"])], 2, [[], [[2, 4], [6, 3]], []],
                       [tensor("axes", [2], [2, 3], INT64)])

    def test_dims(self):
        cases = []
        for a, b in ((2, 3), (5, 2), (1, 9)):
            x = [float(i) for i in range(a * b)]
            cases.append(["set_input_dynamic_dims", [a, b], x, [x[i * b + j] for j in range(b) for i in range(a)], [b, a]])
        self.run_gears(cases, [-1, -1], ["--dynamic_dims=2,3;5,2;1,9"], [node("Transpose", ["x"], ["y"], perm=[1, 0])], 2,
                       [[], [], [[2, 3], [5, 2], [1, 9]]])

    def test_damaged_gears_are_refused_or_harmless(self):
        done = self.atc(network([node("Relu", ["x"], ["y"])], [("x", ["n", 4])], ["y"]), "--input_shape=x:-1,4",
                        "--dynamic_batch_size=1,2")
        self.assertEqual(done.returncode, 0, done.stdout)
        good = (self.path / "net.om").read_bytes()
        self.assertEqual(mended(good), good)
        at, rng = good.index(struct.pack("<IIIqq", 1, 2, 1, 1, 2)), random.Random(6)
        places = [*range(at, at + 28), *(rng.randrange(32, len(good)) for _ in range(300))]
        bad = [mended(good[:p] + bytes([good[p] ^ 1 << rng.randrange(8)]) + good[p + 1:]) for p in places]
        (self.path / "bad").write_bytes(b"".join(bad))
        text = self.run_python("ascend910b1", """
import sys
data, size = open(sys.argv[1], "rb").read(), int(sys.argv[2])
refused = 0
for at in range(0, len(data), size):
    part = data[at:at + size]
    model, ret = acl.mdl.load_from_mem(acl.util.bytes_to_ptr(part), size)
    refused += ret != 0
    assert ret == 0 or acl.get_recent_err_msg()
    if ret == 0:
        assert acl.mdl.unload(model) == 0
print(refused)
""", self.path / "bad", len(good))
        self.assertGreater(int(text), 20)  # most of the 28 bytes that say how many gears there are

    def test_what_is_told(self):
        data = network([node("Relu", ["x"], ["y"])], [("x", ["n", 4])], ["y"])
        for options, text in ((["--input_shape=x:-1,4"], "-1 needs the sizes it stands for. Networks are not compiled for ranges of sizes: give"),
                              (["--input_shape=x:1~8,4"], "Networks are not compiled for ranges of sizes: give -1 in --input_shape"),
                              (["--input_shape_range=x:[1~8,4]"], "Networks are not compiled for ranges of sizes: give -1 in --input_shape"),
                              (["--input_shape=x:-1,4", "--dynamic_batch_size=2"], "E10001: Value [2] for parameter [dynamic_batch_size]"),
                              (["--input_shape=x:-1,4", "--dynamic_batch_size=2,2"], "it must be 2 to 100 different gears"),
                              (["--input_shape=x:-1,4", "--dynamic_image_size=2;3"], "it must be 2 to 100 different gears"),
                              (["--input_shape=x:1,-1", "--dynamic_batch_size=2,3"], "of batches only the first sizes may be -1"),
                              (["--input_shape=x:1,4", "--dynamic_batch_size=2,3"], "of batches only the first sizes may be -1"),
                              (["--input_shape=x:-1,-1", "--dynamic_dims=2;3"], "of dims as many as a gear has numbers"),
                              (["--input_shape=x:-1,4", "--dynamic_batch_size=1,2", "--dynamic_dims=2;3"], "gears of another kind")):
            done = self.atc(data, *options)
            self.assertEqual(done.returncode, 255, options)
            self.assertIn(text, done.stdout)
        done = self.atc(data, "--input_shape=x:-1,4", "--dynamic_batch_size=1,2")
        self.assertEqual(done.returncode, 0, done.stdout)
        om, out = self.path / "net.om", self.path / "net.json"
        self.assertIn("gear 1: [2], calls: 3", self.run_atc("--mode=6", f"--om={om}").stdout)
        self.assertEqual(self.run_atc("--mode=1", f"--om={om}", f"--json={out}").returncode, 0)
        self.assertEqual([gear["sizes"] for gear in json.loads(out.read_text())["gears"]], [[1], [2]])


if __name__ == "__main__":
    main()
