#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_models_runtime.py TOOLKIT: what a program asks of a model beside running it: loads with settings, what its inputs are,
dumps and profiles by node."""

import csv
import json
import struct
import subprocess

from models_case import LOAD, ModelsCase, main, network, node, tensor

NET = network([node("Mul", ["x", "w"], ["m"]), node("Neg", ["m"], ["n"]), node("Relu", ["n"], ["y"])], [("x", [2, 8])], ["y"],
              [tensor("w", [1], [2.0])])
STATIC = "aipp_op { aipp_mode: static input_format: RGB888_U8 src_image_size_w: 6 src_image_size_h: 5 crop: true " \
    "load_start_pos_w: 1 load_start_pos_h: 2 crop_size_w: 4 crop_size_h: 3 csc_switch: true mean_chn_1: 9 min_chn_2: 0.5 " \
    "var_reci_chn_3: 0.25 }"
DYNAMIC = "aipp_op { aipp_mode: dynamic max_src_image_size: 1000 }"
PICTURE = network([node("Relu", ["p"], ["y"]), node("Neg", ["x"], ["z"])], [("p", [1, 3, 3, 4]), ("x", [2])], ["y", "z"])
RUN_ONCE = LOAD + """
assert acl.mdl.execute(model, inputs, outputs) == 0, acl.get_recent_err_msg()
assert acl.mdl.execute(model, inputs, outputs) == 0
"""


def read_dump(path):
    """The texts of a dump's header that are names, and its bytes behind it."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    return raw[8:8 + length], raw[8 + length:]


class Runtime(ModelsCase):
    def compile(self, data, *options):
        done = self.atc(data, *options)
        self.assertEqual(done.returncode, 0, done.stdout)

    def aipp(self, text):
        (self.path / "aipp.cfg").write_text(text)
        return f"--insert_op_conf={self.path / 'aipp.cfg'}"

    def test_loads_with_settings(self):
        self.compile(NET)
        self.run_python("ascend910b1", """
import sys
path = sys.argv[1]
work, weights, ret = acl.mdl.query_size(path)
handle = acl.mdl.create_config_handle()
model, ret = acl.mdl.load_with_config(handle)
assert ret == 100000 and "LOAD_TYPE" in acl.get_recent_err_msg()
assert acl.mdl.set_config_opt(handle, 1, 2) == 0
model, ret = acl.mdl.load_with_config(handle)
assert ret == 100000 and "ACL_MDL_PATH_PTR" in acl.get_recent_err_msg()
assert acl.mdl.set_config_opt(handle, 2, path) == 0
assert acl.mdl.set_config_opt(handle, 0, 3) == 0
for address, size, bytes in ((7, 8, work), (5, 6, weights)):
    place, ret = acl.rt.malloc(bytes + 32, 0)
    assert acl.mdl.set_config_opt(handle, address, place) == 0 and acl.mdl.set_config_opt(handle, size, bytes) == 0
model, ret = acl.mdl.load_with_config(handle)
assert ret == 0, acl.get_recent_err_msg()
assert acl.mdl.set_config_opt(handle, 8, work - 1) == 0
_, ret = acl.mdl.load_with_config(handle)
assert ret == 100000 and "work memory" in acl.get_recent_err_msg()
assert acl.mdl.set_config_opt(handle, 9, 1) == 207000 and "INPUTQ" in acl.get_recent_err_msg()
assert acl.mdl.set_config_opt(handle, 15, 1) == 207000
assert acl.mdl.set_config_opt(handle, 1, 5) == 0
_, ret = acl.mdl.load_with_config(handle)
assert ret == 207000 and "queues" in acl.get_recent_err_msg()
raw = open(path, "rb").read()
assert acl.mdl.set_config_opt(handle, 1, 3) == 0 and acl.mdl.set_config_opt(handle, 3, acl.util.bytes_to_ptr(raw)) == 0
assert acl.mdl.set_config_opt(handle, 4, len(raw)) == 0
other, ret = acl.mdl.load_with_config(handle)
assert ret == 0 and other != model
assert acl.mdl.destroy_config_handle(handle) == 0
for one in (model, other):
    assert acl.mdl.unload(one) == 0
# Descriptions of what is not loaded.
desc = acl.mdl.create_desc()
for told in (acl.mdl.get_desc_from_file(desc, path), acl.mdl.get_desc_from_mem(desc, acl.util.bytes_to_ptr(raw), len(raw))):
    assert told == 0 and acl.mdl.get_num_inputs(desc) == 1
    dims, ret = acl.mdl.get_input_dims_v2(desc, 0)
    assert ret == 0 and dims["dims"] == [2, 8] and dims["name"] == "x"
assert acl.mdl.get_tensor_real_name(desc, "y") == "y" and acl.mdl.get_tensor_real_name(desc, "none") is None
assert acl.mdl.get_desc_from_file(desc, "/no/such.om") == 145002
""", self.path / "net.om")

    def test_what_is_done_with_pictures(self):
        script = LOAD.split("inputs, _")[0] + "kinds = [acl.mdl.get_aipp_type(model, i) for i in range(acl.mdl.get_num_inputs(desc))]\n"
        self.compile(PICTURE, self.aipp(STATIC))
        self.run_python("ascend910a", script + """
none = 0xFFFFFFFF
assert kinds == [(1, none, 0), (0, none, 0)], kinds
assert acl.mdl.get_aipp_type(model, 2)[2] == 100000
assert acl.mdl.get_input_format(desc, 0) == 1  # NHWC
info, ret = acl.mdl.get_first_aipp_info(model, 0)
want = dict(inputFormat=3, srcImageSizeW=6, srcImageSizeH=5, cropSwitch=1, loadStartPosW=1, loadStartPosH=2, cropSizeW=4, cropSizeH=3,
            paddingSwitch=0, cscSwitch=1, matrixR0C0=298, matrixR1C2=-208, inputBias0=16, outputBias2=128, meanChn1=9, minChn2=0.5,
            varReciChn0=1.0, varReciChn3=0.25, srcDimNum=4, shapeCount=1)
assert ret == 0 and {k: info[k] for k in want} == want, info
shape = info["outDims"][0]
assert (shape["srcDims"]["dims"], shape["srcSize"], shape["aippOutdims"]["dims"]) == ([1, 5, 6, 3], 90, [1, 3, 3, 4]), shape
assert acl.mdl.get_first_aipp_info(model, 1)[1] == 100038
""", self.path / "net.om")
        self.compile(PICTURE, self.aipp(DYNAMIC))
        self.run_python("ascend910a", script + """
none = 0xFFFFFFFF
assert kinds == [(2, 2, 0), (0, none, 0), (3, none, 0)], kinds
assert acl.mdl.get_first_aipp_info(model, 0)[1] == 100038
""", self.path / "net.om")

    def dumped(self, models, mode="all"):
        """Files of a dump by their names' first two parts, of two runs."""
        folder = self.path / f"dump{len(list(self.path.iterdir()))}"
        folder.mkdir()
        config = {"dump": {"dump_path": str(folder), "dump_mode": mode, "dump_list": models}}
        (self.path / "acl.json").write_text(json.dumps(config))
        (self.path / "in").write_bytes(struct.pack("<16f", *range(-8, 8)))
        self.run_python("ascend910a", "assert acl.mdl.init_dump() == 0\n"
                        f"assert acl.mdl.set_dump('{self.path}/acl.json') == 0, acl.get_recent_err_msg()\n" + RUN_ONCE +
                        "assert acl.mdl.finalize_dump() == 0\n", self.path / "net.om", "-", self.path / "in")
        return {(path.parent.relative_to(folder).parts[1:], *path.name.split(".")[:2]): path for path in folder.rglob("*") if path.is_file()}

    def test_dumps_by_node(self):
        self.compile(NET, "--precision_mode=must_keep_origin_dtype")
        files = self.dumped([{"model_name": "net", "layer": ["neg_node"]}])
        self.assertEqual(set(files), {(("0", "net", "1", str(run)), "Neg", "neg_node") for run in range(2)})
        header, values = read_dump(files[("0", "net", "1", "1"), "Neg", "neg_node"])
        self.assertIn(b"neg_node", header)
        doubled = [2.0 * x for x in range(-8, 8)]
        self.assertEqual(struct.unpack("<32f", values), (*doubled, *(-x for x in doubled)))
        nodes = {key[2] for key in self.dumped([{"model_name": "net"}], "output")}
        self.assertLessEqual({"mul_node", "neg_node", "relu_node"}, nodes)
        self.assertEqual(self.dumped([{"model_name": "other"}]), {})

    def test_profiles_by_node(self):
        self.compile(NET)
        (self.path / "in").write_bytes(struct.pack("<16f", *range(16)))
        (self.path / "run.py").write_text("import acl\nassert acl.init() == 0\nassert acl.rt.set_device(0) == 0\n" + RUN_ONCE + """
assert acl.mdl.execute(model, inputs, outputs) == 0
""")
        done = subprocess.run([self.toolkit / "bin/leo", "exec", "--soc", "ascend910b1", "--profile", self.path, "--", "python3", "-B",
                               self.path / "run.py", self.path / "net.om", "-", self.path / "in"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        folder = next(self.path.glob("PROF_*"))
        done = subprocess.run([self.toolkit / "bin/msprof", "--export=on", f"--output={folder}"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = [row for path in folder.rglob("op_summary*.csv") for row in csv.DictReader(path.read_text().splitlines())]
        counts = {}
        for row in rows:
            counts[row["Op Name"], row["OP Type"]] = counts.get((row["Op Name"], row["OP Type"]), 0) + 1
        # The first run, the captured one, and one that launches what was captured.
        for name, kind in (("mul_node", "Mul"), ("neg_node", "Neg"), ("relu_node", "Relu")):
            self.assertEqual(counts.get((name, kind)), 3, counts)


if __name__ == "__main__":
    main()
