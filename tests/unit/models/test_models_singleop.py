#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_models_singleop.py TOOLKIT: atc --singleop, and programs that execute what it compiled."""

import json
import shutil
import subprocess

from models_case import ModelsCase, main


def desc(shape, kind="float", layout="ND", **more):
    return {"format": layout, "shape": shape, "type": kind, **more}


ADD = {"op": "Add", "input_desc": [desc([2, 3]), desc([2, 3])], "output_desc": [desc([2, 3])]}
MATMUL = {"op": "MatMul", "input_desc": [desc([16, -1], "float16", shape_range=[[1, 32]]), desc([-1, 16], "float16", shape_range=[[1, 32]])],
          "output_desc": [desc([16, 16], "float16")],
          "attr": [{"name": "transpose_x1", "type": "bool", "value": False}, {"name": "transpose_x2", "type": "bool", "value": False}]}
SUM = {"op": "ReduceSumD", "input_desc": [desc([2, 3])], "output_desc": [desc([2])],
       "attr": [{"name": "axes", "type": "list_int", "value": [1]}, {"name": "keep_dims", "type": "bool", "value": False}]}

CALLS = """
import struct, sys
import acl
stream, ret = acl.rt.create_stream()
def tensors(*shapes):
    made = []
    for kind, shape in shapes:
        size = {0: 4, 1: 2}[kind]
        for d in shape: size *= d
        place, ret = acl.rt.malloc(size, 0); assert ret == 0
        assert acl.rt.memset(place, size, 0, size) == 0
        made.append((acl.create_tensor_desc(kind, list(shape), 2), acl.create_data_buffer(place, size), place, size))
    return [m[0] for m in made], [m[1] for m in made], made
def put(tensor, values):
    raw = struct.pack(f"<{len(values)}f", *values)
    assert acl.rt.memcpy(tensor[2], tensor[3], acl.util.bytes_to_ptr(raw), len(raw), 1) == 0
def get(tensor):
    raw = bytes(tensor[3])
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(raw), tensor[3], tensor[2], tensor[3], 2) == 0
    return struct.unpack(f"<{tensor[3] // 4}f", raw)
def run(name, inputs, outputs, attr=0):
    ret = acl.op.execute_v2(name, inputs[0], inputs[1], outputs[0], outputs[1], attr, stream)
    assert acl.rt.synchronize_stream(stream) == 0
    return ret
small, other = tensors((0, (2, 3)), (0, (2, 3))), tensors((0, (3, 2)), (0, (3, 2)))
out, out_other, row = tensors((0, (2, 3))), tensors((0, (3, 2))), tensors((0, (2,)))
put(small[2][0], [1, 2, 3, 4, 5, 6]); put(small[2][1], [10] * 6)
"""


class SingleOperators(ModelsCase):
    def singleop(self, operators, *options):
        (self.path / "ops.json").write_text(operators if isinstance(operators, str) else json.dumps(operators))
        return self.run_atc(f"--singleop={self.path / 'ops.json'}", f"--output={self.path / 'ops'}", "--soc_version=Ascend910A", *options)

    def names(self):
        return sorted(p.name for p in (self.path / "ops").glob("*"))

    def test_files_are_called_as_documented(self):
        done = self.singleop([ADD, MATMUL, {**ADD, "name": "mine"}])
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("ATC run success", done.stdout)
        self.assertEqual(self.names(), ["0_Add_0_2_2_3_0_2_2_3_0_2_2_3.om", "1_MatMul_1_2_16_-1_1_2_-1_16_1_2_16_16.om", "mine.om"])

    def test_only_what_was_compiled_is_executed(self):
        self.assertEqual(self.singleop([ADD, SUM]).returncode, 0)
        self.run_python("ascend910a", CALLS + """
assert run("Add", other, out_other) == 0 # without models all are there
assert acl.op.set_model_dir(sys.argv[1]) == 0, acl.get_recent_err_msg()
assert run("Add", small, out) == 0
assert get(out[2][0]) == (11, 12, 13, 14, 15, 16)
assert run("Add", other, out_other) == 100024
assert "atc --singleop" in acl.get_recent_err_msg(), acl.get_recent_err_msg()
assert run("Mul", small, out) == 100024
attr = acl.op.create_attr()
one = (small[0][:1], small[1][:1])
assert run("ReduceSumD", one, row, attr) == 100024 # attributes are missing
assert acl.op.set_attr_list_int(attr, "axes", [1]) == 0 and acl.op.set_attr_bool(attr, "keep_dims", 0) == 0
assert run("ReduceSumD", one, row, attr) == 0, acl.get_recent_err_msg()
assert get(row[2][0]) == (6, 15)
assert acl.op.set_attr_list_int(attr, "axes", [0]) == 0
assert run("ReduceSumD", one, row, attr) == 100024
assert acl.op.compile("Mul", small[0], out[0], 0, 0, 0, None) == 0
assert run("Mul", small, out) == 0 and get(out[2][0]) == (10, 20, 30, 40, 50, 60)
assert acl.op.compile("Mul", small[0], out[0], 0, 0, 0, None) == 0 # is there already
assert run("Mul", other, out_other) == 100024 and "none of the 3 models that are loaded (1 of this type)" in acl.get_recent_err_msg()
assert acl.op.compile("NoSuch", small[0], out[0], 0, 0, 0, None) == 100024
assert acl.op.compile_and_execute("Sub", *small[:2], *out[:2], 0, 0, 0, None, stream) == 0
""", self.path / "ops")

    def test_ranges_take_what_lies_in_them(self):
        self.assertEqual(self.singleop([MATMUL]).returncode, 0)
        self.run_python("ascend910b1", CALLS + """
raw = open(sys.argv[1], "rb").read()
assert acl.op.load(acl.util.bytes_to_ptr(raw), len(raw)) == 0, acl.get_recent_err_msg()
attr = acl.op.create_attr()
assert acl.op.set_attr_bool(attr, "transpose_x1", 0) == 0 and acl.op.set_attr_bool(attr, "transpose_x2", 0) == 0
for k, want in ((1, 0), (8, 0), (32, 0), (33, 100024)):
    ins, product = tensors((1, (16, k)), (1, (k, 16))), tensors((1, (16, 16)))
    assert run("MatMul", ins, product, attr) == want, (k, acl.get_recent_err_msg())
""", next((self.path).glob("ops/*.om"), "none"))

    def test_bad_files_are_refused(self):
        self.assertEqual(self.singleop([ADD]).returncode, 0)
        good = next((self.path / "ops").glob("*.om")).read_bytes()
        for name, data in (("cut", good[:-3]), ("flipped", good[:40] + b"?" + good[41:]), ("foreign", b"IMOD" + bytes(300)), ("empty", b"")):
            (self.path / name).mkdir()
            (self.path / name / "bad.om").write_bytes(data)
            self.run_python("ascend910a", CALLS + """
assert acl.op.set_model_dir(sys.argv[1]) == 100012 and "bad.om" in acl.get_recent_err_msg(), acl.get_recent_err_msg()
assert acl.op.set_model_dir("/no/such/folder") == 100014
""", self.path / name)

    def test_many_tensors_have_names_that_fit(self):
        many = {"op": "ConcatD", "input_desc": [desc([100, 100, 10 + i]) for i in range(20)], "output_desc": [desc([100, 100, 390])],
                "attr": [{"name": "concat_dim", "type": "int", "value": 2}]}
        done = self.singleop([many, many])
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual([n[:9] for n in self.names()], ["0_ConcatD", "1_ConcatD"])

    def test_a_missing_library_is_told(self):
        (self.path / "bin").mkdir()
        atc = shutil.copy(self.toolkit / "bin/atc", self.path / "bin/atc")
        (self.path / "ops.json").write_text(json.dumps([ADD]))
        done = subprocess.run([atc, f"--singleop={self.path / 'ops.json'}", f"--output={self.path / 'ops'}", "--soc_version=Ascend910A"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 255, done.stdout)
        self.assertIn("E19999", done.stdout)
        self.assertIn("libopapi.so", done.stdout)

    def test_wrong_texts_are_told(self):
        for operators, number, words in (
                ("[{", "E10001", "ops.json"),
                ({"op": "Add"}, "E10001", "list of operators"),
                ([{**ADD, "op": "NoSuchType"}], "E10501", "NoSuchType"),
                ([{**ADD, "op": None}], "E10001", '"op" is missing'),
                ([{**ADD, "input_desc": [desc([2], "float17")]}], "E10001", "float17"),
                ([{**ADD, "input_desc": [desc([2], "float", "NCWH")]}], "E10001", "NCWH"),
                ([{**ADD, "input_desc": [desc([-3])]}], "E10001", "-3"),
                ([{**ADD, "input_desc": [desc([-1], shape_range=[[4, 2]])]}], "E10001", "from 4 to 2"),
                ([{**ADD, "attr": [{"name": "a", "type": "int", "value": "x"}]}], "E10001", "not int"),
                ([{**ADD, "attr": [{"name": "a", "type": "number", "value": 1}]}], "E10001", "list_int"),
                ([{**ADD, "attr": [{"name": "a", "type": "list_int", "value": 1}]}], "E10001", "list_int")):
            done = self.singleop(operators)
            self.assertEqual(done.returncode, 255, done.stdout)
            self.assertIn(number, done.stdout)
            self.assertIn(words, done.stdout)
        done = self.run_atc(f"--singleop={self.path / 'ops.json'}", "--soc_version=Ascend910A")
        self.assertIn("[--output] is required", done.stdout)
        done = self.singleop([ADD], "--model=net.onnx")
        self.assertIn("exclude each other", done.stdout)


if __name__ == "__main__":
    main()
