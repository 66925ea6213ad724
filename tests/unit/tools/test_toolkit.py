#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_toolkit.py TOOLKIT: the folder programs for the chip look into is complete and works from another place."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLKIT = Path(sys.argv.pop(1)).resolve()
HOME = TOOLKIT / "cann"
CLEAN = {"PATH": "/usr/bin:/bin"}
# What PyTorch's adapter links or opens by name, and one function it finds there.
LIBRARIES = {
    "libascendcl.so": "aclInit", "libhccl.so": "HcclAllReduce", "libacl_op_compiler.so": "aclrtMalloc",
    "libge_runner.so": "aclrtMalloc", "libgraph.so": "aclrtMalloc", "libacl_tdt_channel.so": "aclrtMalloc",
    "libruntime.so": "aclrtMalloc", "libprofapi.so": "MsprofSysCycleTime", "libmsprofiler.so": "aclrtMalloc", "libascend_hal.so": "drvGetDevNum",
}


def run(*command, env=None, cwd="/", check=True, **options):
    done = subprocess.run(command, env={**CLEAN, **(env or {})}, cwd=cwd, capture_output=True, text=True, check=False, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}: {done.stdout}{done.stderr}")
    return done


def variables(text):
    return dict(line.split("=", 1) for line in text.split("\n") if "=" in line)


ABSENT = """
from te import tik, version
from te.platform.fusion_manager import fusion_manager
import te.lang.cce
from tbe.tvm.topi.cce import util
from impl.matmul_vector import matmul_vector_cce
from hccl import sys_version

@fusion_manager.register("kernel")
@util.check_input_type(dict, (str, int))
def kernel(size):
    return tik.Tik(tik.Dprofile("v100", "cloud")).Tensor("float16", (size,))

assert kernel.__name__ == "kernel" and sys_version.__sys_version__ == version.version
print(version.version)
kernel(16)
"""


class Toolkit(unittest.TestCase):
    def test_names_of_the_kernel_compiler_decorate_and_then_refuse(self):
        done = run(sys.executable, "-B", "-c", ABSENT, env={"PYTHONPATH": str(HOME / "python" / "site-packages")}, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"Version={done.stdout.strip()}", (HOME / "compiler" / "version.info").read_text().splitlines())
        self.assertIn("KernelCompilerAbsent: te.tik.Tik is not here", done.stderr)

    def test_each_library_gives_its_functions_and_has_an_unwind_table(self):
        for name, function in LIBRARIES.items():
            path = HOME / "lib64" / name
            done = run(sys.executable, "-c", "import ctypes, sys; getattr(ctypes.CDLL(sys.argv[1]), sys.argv[2])",
                       str(path), function)
            self.assertEqual(done.returncode, 0)
            self.assertIn("GNU_EH_FRAME", run("readelf", "-lW", str(path)).stdout, name)

    def test_names_share_one_library(self):
        script = ("import ctypes, sys\n"
                  "for name in sys.argv[2:]: ctypes.CDLL(sys.argv[1] + '/' + name)\n"
                  "print(open('/proc/self/maps').read())")
        maps = run(sys.executable, "-c", script, str(HOME / "lib64"), *LIBRARIES).stdout
        copies = {line.split()[-1] for line in maps.split("\n") if "libascendcl" in line}
        self.assertEqual(copies, {str(HOME / "lib64" / "libascendcl.so")})

    def test_version_files_say_one_version(self):
        info = (HOME / "ascend_toolkit_install.info").read_text()
        first = next(line for line in info.split("\n") if "version" in line).split("=")[-1]
        self.assertRegex(first, r"^\d+\.\d+\.\d+$")
        self.assertEqual((HOME / "compiler" / "version.info").read_text(), f"Version={first}\n")

    def test_set_env_makes_the_environment_once(self):
        for script in (TOOLKIT / "set_env.sh", HOME / "set_env.sh"):
            got = variables(run("bash", "-c", f". {script}; . {script}; env").stdout)
            self.assertEqual(got["ASCEND_HOME_PATH"], str(HOME))
            self.assertTrue(Path(got["ASCEND_OPP_PATH"]).is_dir())
            for name in ("runtime", "compiler"):
                self.assertTrue((Path(got["ASCEND_HOME_PATH"]) / name).is_dir())
            self.assertEqual(got["LD_LIBRARY_PATH"], str(HOME / "lib64"))
            self.assertEqual(got["PATH"].split(":").count(str(HOME / "bin")), 1)

    def test_exec_makes_the_same_environment_as_set_env(self):
        def ours(text):
            return {k: v for k, v in variables(text).items() if k not in ("_", "SHLVL", "PWD", "OLDPWD")}
        sourced = ours(run("bash", "-c", f". {TOOLKIT}/set_env.sh; env").stdout)
        executed = ours(run(str(HOME / "bin" / "leo"), "exec", "--", "bash", "-c", "env").stdout)
        self.assertEqual(sourced, executed)

    def test_exec_tells_what_is_wrong(self):
        leo = str(HOME / "bin" / "leo")
        for arguments, text in ((["--soc", "nosuch", "true"], "nosuch"), (["nosuchcommand"], "nosuchcommand"),
                                ([], "no command"), (["--soc"], "--soc"), (["--wrong"], "--wrong")):
            done = run(leo, "exec", *arguments, check=False)
            self.assertIn(done.returncode, (1, 2))
            self.assertIn(text, done.stderr)
        done = run(leo, "exec", "true", env={"LEO_SOC": "nosuch"}, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no chip is called 'nosuch'", done.stderr)
        self.assertEqual(run(leo, "exec", "--", "sh", "-c", "exit 7", check=False).returncode, 7)

    def test_exec_explains_operators(self):
        leo = str(HOME / "bin" / "leo")
        self.assertEqual(run(leo, "exec", "--explain", "--", "sh", "-c", "echo $LEO_OP_EXPLAIN").stdout, "1\n")
        self.assertEqual(run(leo, "exec", "--", "sh", "-c", "echo $LEO_OP_EXPLAIN").stdout, "\n")

    def test_exec_chooses_the_chip(self):
        leo = str(HOME / "bin" / "leo")
        out = run(leo, "exec", "--soc", "ascend910b1", "--devices", "3", "npu-smi", "info").stdout
        self.assertEqual(out.count(" 910B1 "), 3)
        self.assertIn("MLU370", run(leo, "exec", "--soc", "mlu370", "cnmon").stdout)
        self.assertEqual(run(leo, "exec", "cnmon", "--wrong", check=False).returncode, 2)
        self.assertIn("MLU370", run(str(HOME.parent / "neuware" / "bin" / "cnmon")).stdout)

    def test_driver_counts_devices_before_init_and_after_fork(self):
        script = ("import ctypes, os, sys\n"
                  "hal = ctypes.CDLL(sys.argv[1]); n = ctypes.c_int(-1); v = ctypes.c_int(0)\n"
                  "ok = hal.drvGetDevNum(ctypes.byref(n)) == 0 and n.value == 5\n"
                  "ok = ok and hal.halGetAPIVersion(ctypes.byref(v)) == 0 and 0 < v.value < 0x071905\n"
                  "child = os.fork(); n.value = -1\n"
                  "ok = ok and hal.drvGetDevNum(ctypes.byref(n)) == 0 and n.value == 5\n"
                  "if child == 0: os._exit(not ok)\n"
                  "sys.exit(not (ok and os.waitpid(child, 0)[1] == 0))")
        library = str(HOME / "lib64" / "libascend_hal.so")
        run(sys.executable, "-c", script, library, env={"LEO_DEVICES": "5", "ASCEND_RT_VISIBLE_DEVICES": "1"})
        self.assertNotEqual(ctypes.CDLL(library).drvGetDevNum(None), 0)

    def test_older_places_lead_to_headers_and_libraries(self):
        for place in ("runtime", "acllib", "compiler"):
            self.assertTrue((HOME / place / "include" / "acl" / "acl.h").is_file(), place)
            self.assertTrue((HOME / place / "lib64" / "stub" / "libacl_dvpp.so").samefile(HOME / "lib64" / "libacl_dvpp.so"), place)

    def test_headers_are_found_from_inside_of_acl(self):
        headers = '#include "acl.h"\n#include "acl_prof.h"\n#include "ops/acl_dvpp.h"\n'
        run("g++", "-fsyntax-only", "-x", "c++", "-", f"-I{HOME}/include/acl", input=headers)

    def test_the_folder_works_in_another_place(self):
        with tempfile.TemporaryDirectory() as place:
            moved = Path(place) / "a b" / "cann"
            shutil.copytree(HOME, moved, symlinks=True)
            out = run(str(moved / "bin" / "leo"), "exec", "sh", "-c", "echo $ASCEND_HOME_PATH; npu-smi").stdout
            self.assertTrue(out.startswith(f"{moved}\n"))
            self.assertIn(" 910A ", out)
            script = moved / "set_env.sh"
            got = variables(run("bash", "-c", f". '{script}'; env").stdout)
            self.assertEqual(got["ASCEND_HOME_PATH"], str(moved))
            os.remove(moved / "lib64" / "libascendcl.so")
            self.assertNotEqual(run("bash", "-c", f". '{script}'", check=False).returncode, 0)


unittest.main()
