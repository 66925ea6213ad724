#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/setup.sh on machines that lack nothing, something, or root; commands and packages are faked."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SETUP = Path(__file__).resolve().parents[3] / "tools" / "setup.sh"
COMMANDS = ("gcc", "g++", "make", "cmake", "ninja", "python3", "pkg-config", "clang-19", "ld.lld-19", "llvm-objdump-19",
            "clang-format-19", "qemu-riscv64", "protoc-c", "protoc", "gdb-multiarch")
APT = """#!/bin/sh
echo "$@" >>"$APT_LOG"
[ -e "$APT_LOG.updated" ] || [ -z "$APT_STALE" ] || { [ "$1" = update ] && touch "$APT_LOG.updated"; } || exit 100
[ -z "$APT_BROKEN" ] || { echo "E: no network"; exit 100; }
"""


class Setup(unittest.TestCase):
    def run_setup(self, lacks=(), packages_lack=(), uid=0, **env):
        """Returns exit code, what it said, and the calls of apt-get."""
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "apt.log"
            for name in ("sh", "mktemp", "rm", "cat", "touch"):
                os.symlink(shutil.which(name), Path(folder) / name)
            missing = "|".join(packages_lack) or "-"
            fakes = {"id": f"#!/bin/sh\necho {uid}\n", "apt-get": APT,
                     "dpkg-query": f'#!/bin/sh\ncase "$4" in {missing}) exit 1;; *) printf installed;; esac\n',
                     **{name: "#!/bin/sh\n" for name in COMMANDS if name not in lacks}}
            for name, text in fakes.items():
                path = Path(folder) / name
                path.write_text(text, encoding="utf-8")
                path.chmod(0o755)
            done = subprocess.run(["sh", str(SETUP)], capture_output=True, text=True, check=False,
                                  env={"PATH": folder, "APT_LOG": str(log), **env})
            calls = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        return done.returncode, done.stdout + done.stderr, calls

    def test_says_and_does_nothing_when_all_is_there(self):
        self.assertEqual(self.run_setup(uid=1000), (0, "", []))

    def test_installs_only_what_is_missing(self):
        code, _, calls = self.run_setup(lacks=("cmake", "ld.lld-19"), packages_lack=("libdw-dev",))
        self.assertEqual(code, 0)
        self.assertEqual(calls, ["install -y -qq --no-install-recommends cmake lld-19 libdw-dev"])

    def test_updates_the_lists_only_if_needed(self):
        code, _, calls = self.run_setup(lacks=("cmake",), APT_STALE="1")
        self.assertEqual(code, 0)
        self.assertEqual([call.split()[0] for call in calls], ["install", "update", "install"])

    def test_asks_for_what_is_optional_and_goes_on_without_it(self):
        code, _, calls = self.run_setup(lacks=("cmake",), packages_lack=("libavcodec-dev",))
        self.assertEqual(code, 0)
        self.assertEqual([call.split()[-1] for call in calls], ["cmake", "libavcodec-dev"])

    def test_without_root_names_the_packages(self):
        code, out, calls = self.run_setup(packages_lack=("libelf-dev",), uid=1000)
        self.assertEqual((code, calls), (1, []))
        self.assertIn("only root", out)
        self.assertIn("apt-get install libelf-dev", out)

    def test_failure_of_apt_is_shown(self):
        code, out, _ = self.run_setup(lacks=("cmake",), APT_BROKEN="1")
        self.assertEqual(code, 1)
        self.assertIn("E: no network", out)
        self.assertIn("could not install: cmake", out)


if __name__ == "__main__":
    unittest.main()
