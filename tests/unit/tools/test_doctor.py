# SPDX-License-Identifier: Apache-2.0
"""test_doctor.py HOME: leo doctor of the toolkit HOME/cann on machines that are faked by their environment."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CANN = Path(sys.argv.pop(1)).resolve()


class Doctor(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        (self.place / "bin").mkdir()
        (self.place / "bin" / "python3").symlink_to(sys.executable)
        # As set_env.sh has it, with no packages but those that a test makes.
        self.environment = {"PATH": f"{self.place}/bin:/usr/bin:/bin", "PYTHONPATH": str(self.place / "packages"), "PYTHONNOUSERSITE": "1",
                            "ASCEND_HOME_PATH": str(CANN), "ASCEND_OPP_PATH": str(CANN / "opp"), "LD_LIBRARY_PATH": str(CANN / "lib64"),
                            "TMPDIR": str(self.place)}

    def package(self, name, version, *needs):
        folder = self.place / "packages" / f"{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {need}" for need in needs)]
        (folder / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def doctor(self, *words, **changes):
        """Exit code, the lines about what is to be mended, all lines."""
        environment = {key: value for key, value in {**self.environment, **changes}.items() if value is not None}
        done = subprocess.run([CANN / "bin" / "leo", "doctor", *words], env=environment, capture_output=True, text=True, check=False,
                              timeout=120)
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()
        return done.returncode, [line for line in lines if line.startswith("MEND")], lines

    def expect_mend(self, text, **changes):
        code, mend, lines = self.doctor("--quick", **changes)
        self.assertEqual((code, len(mend)), (1, 1), lines)
        self.assertIn(text, mend[0])

    def test_nothing_to_mend(self):
        code, mend, lines = self.doctor()
        self.assertEqual((code, mend), (0, []))
        self.assertIn("nothing to mend", lines)

    def test_pair_that_fits(self):
        self.package("torch", "2.13.0")
        self.package("torch_npu", "2.13.0", "torch==2.13.0", "some_package>=1", "other_package; python_version < '3'")
        self.package("some_package", "1.5")
        self.assertEqual(self.doctor("--quick")[:2], (0, []))

    def test_pair_that_does_not_fit(self):
        self.package("torch", "2.12.0")
        self.package("torch_npu", "2.13.0", "torch==2.13.0")
        self.expect_mend("torch_npu 2.13.0 needs torch 2.13.0")

    def test_package_of_another_version(self):
        self.package("torch", "2.13.0")
        self.package("torch_npu", "2.13.0", "torch==2.13.0", "some_package<2")
        self.expect_mend("pip install 'some_package<2'")
        self.package("some_package", "2.1")
        self.expect_mend("torch_npu asks for some_package<2")

    def test_no_settings(self):
        code, mend, _ = self.doctor("--quick", ASCEND_HOME_PATH=None, LD_LIBRARY_PATH=None)
        self.assertEqual((code, len(mend)), (1, 2))
        self.assertIn(f"{CANN}/set_env.sh", mend[0])

    def test_two_toolkits(self):
        other = self.place / "other" / "lib64"
        other.mkdir(parents=True)
        shutil.copy(CANN / "lib64" / "libascendcl.so", other)
        both = f"{other}:{CANN}/lib64"
        self.assertEqual(self.doctor("--quick", LD_LIBRARY_PATH=both)[0], 0)  # the same build
        (other / "libascendcl.so").write_bytes(b"another")
        self.expect_mend("of another build", LD_LIBRARY_PATH=both)
        self.expect_mend("has a second libascendcl.so", LD_LIBRARY_PATH=f"{CANN}/lib64:{other}")
        self.expect_mend("another toolkit than that of this command", ASCEND_HOME_PATH=str(other.parent))

    def test_folder_that_is_not_there(self):
        self.expect_mend("there is no such folder", ASCEND_HOME_PATH="/no/such/folder")
        self.expect_mend("folder opp", ASCEND_OPP_PATH=None)
        self.expect_mend("set TMPDIR", TMPDIR="/no/such/folder")

    def test_chip_that_is_not_there(self):
        code, mend, _ = self.doctor(LEO_SOC="ascend999")
        self.assertEqual((code, len(mend)), (1, 1))
        self.assertIn("ascend999", mend[0])

    def test_library_in_the_adapter(self):
        self.package("torch", "2.13.0")
        self.package("torch_npu", "2.13.0", "torch==2.13.0")
        inner = self.place / "packages" / "torch_npu.libs"
        inner.mkdir()
        shutil.copy(CANN / "lib64" / "libascendcl.so", inner)
        self.assertEqual(self.doctor("--quick", ASCEND_HOME_PATH=None, LD_LIBRARY_PATH=None)[:2], (0, []))
        (inner / "libascendcl.so").write_bytes(b"another")
        self.expect_mend("pip install ./python again")


if __name__ == "__main__":
    unittest.main()
