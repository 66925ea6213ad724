#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wheel.py --toolkit DIR --venv DIR: the Python package in an empty environment: torch_npu works with nothing set."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "import torch, torch_npu; x = torch.arange(4.).npu(); print((x + 1).cpu().tolist(), torch.npu.get_device_name(0))"
PADDING = "require processing for 32 padding size"  # torch_npu's own, on every chip of these


def link(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        venv = Path(cls.place.name) / "venv"
        subprocess.run([ARGS.venv / "bin" / "python", "-m", "venv", venv], check=True)
        cls.python = venv / "bin" / "python"
        cls.packages = next((venv / "lib").glob("python3*/site-packages"))
        # PyTorch is big: its packages are linked, not installed anew.
        for item in next((ARGS.venv / "lib").glob("python3*/site-packages")).iterdir():
            if item.name == "torch_npu":
                # A folder of its own: the wheel looks for our libraries beside it.
                shutil.copytree(item, cls.packages / item.name, copy_function=link)
            elif not (cls.packages / item.name).exists():
                (cls.packages / item.name).symlink_to(item)
        quiet = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
        subprocess.run([ARGS.venv / "bin" / "python", "-m", "pip", "wheel", *quiet, "--no-build-isolation", "-w",
                        cls.place.name, ROOT / "python"], check=True,
                       env={**os.environ, "LEO_TOOLKIT": str(ARGS.toolkit.resolve() / "cann")})
        wheel = next(Path(cls.place.name).glob("leonardo-*.whl"))
        subprocess.run([cls.python, "-m", "pip", "install", *quiet, wheel], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def run_python(self, *arguments, **variables):
        done = subprocess.run([self.python, *arguments], capture_output=True, text=True, cwd=self.place.name, check=False,
                              env={"PATH": "/usr/bin:/bin", "HOME": self.place.name, **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, [line for line in done.stderr.split("\n") if line and PADDING not in line]

    def test_nothing_needs_to_be_set(self):
        self.assertEqual(self.run_python("-c", SCRIPT), ("[1.0, 2.0, 3.0, 4.0] Ascend910A\n", []))

    def test_one_copy_of_the_library_is_loaded(self):
        script = SCRIPT + "; print({l.split()[-1] for l in open('/proc/self/maps') if 'libascendcl' in l})"
        out, _ = self.run_python("-c", script)
        self.assertEqual(eval(out.split("\n")[1]), {str(self.packages / "torch_npu.libs" / "libascendcl.so")})

    def test_exec_runs_a_script_on_a_chip(self):
        script = Path(self.place.name) / "train.py"
        script.write_text("import sys\n" + SCRIPT + "\nprint(sys.argv[1:])\n")
        out, _ = self.run_python("-m", "leonardo", "exec", "--soc", "ascend910b1", "train.py", "--lr", "1")
        self.assertEqual(out, "[1.0, 2.0, 3.0, 4.0] Ascend910B1\n['--lr', '1']\n")

    def test_wrong_versions_are_told(self):
        script = Path(self.place.name) / "train.py"
        script.write_text("import sys\nprint('ran', len('torch'))\n")
        def told(*packages):
            with tempfile.TemporaryDirectory() as front:
                for name, number, needs in packages:
                    info = Path(front) / f"{name}-{number}.dist-info"
                    info.mkdir()
                    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n{needs}")
                out, errors = self.run_python("-m", "leonardo", "exec", "train.py", PYTHONPATH=front)
            self.assertEqual(out, "ran 5\n")
            return "".join(errors)
        self.assertEqual(told(), "")
        self.assertEqual(told(("torch", "2.13.0+cpu", "")), "")
        wrong = told(("torch", "2.12.1+cpu", ""))
        self.assertRegex(wrong, r"torch_npu 2\.13\.0 needs torch 2\.13\.0, \S+ has torch 2\.12\.1: .*pip install torch==2\.13\.0")
        self.assertIn("needs torch 2.9.0", told(("torch_npu", "2.9.0", "Requires-Dist: torch==2.9.0.*\n")))
        script.write_text("print('ran', 5)\n")
        self.assertEqual(told(("torch", "2.12.1", "")), "")

    def test_commands(self):
        self.assertIn("ascend910a", self.run_python("-m", "leonardo", "smi")[0])
        home = Path(self.run_python("-m", "leonardo", "home")[0].strip())
        self.assertTrue((home / "lib64" / "libascendcl.so").exists())
        self.assertIn("exec", self.run_python("-m", "leonardo")[0])
        found = self.run_python("-c", "import shutil; print(shutil.which('msprof'))")[0].strip()
        self.assertTrue(os.path.realpath(found).startswith(str(home / "tools")))

    def test_our_apex_is_found(self):
        out, _ = self.run_python("-c", "from apex import amp; print(amp.__file__)")
        self.assertIn("leonardo", out)

    def test_pip_knows_every_file(self):
        record = next(self.packages.glob("leonardo-*.dist-info")) / "RECORD"
        self.assertIn("torch_npu.libs/libascendcl.so", record.read_text())


parser = argparse.ArgumentParser()
parser.add_argument("--toolkit", type=Path, required=True)
parser.add_argument("--venv", type=Path, required=True)
ARGS, rest = parser.parse_known_args()
if not (ARGS.venv / "bin" / "python").exists():
    print(f"no {ARGS.venv}/bin/python: tools/setup-pytorch.sh {ARGS.venv} makes it")
    sys.exit(77)
unittest.main(argv=[sys.argv[0], "-v", *rest])
