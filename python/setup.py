# SPDX-License-Identifier: Apache-2.0
"""Packs the toolkit folder (make toolkit) as a wheel: leonardo/cann, and the libraries once more where torch_npu's wheel
looks first, so that nothing has to be set.

The toolkit is built if it is not there. LEO_TOOLKIT names another one.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# What every Linux with this C library has; all else our libraries need travels with them.
SYSTEM = re.compile(r"^(ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so)")


def toolkit():
    named = os.environ.get("LEO_TOOLKIT")
    home = Path(named) if named else ROOT / "build" / "toolkit" / "cann"
    if not named:
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", "build", "--parallel", str(os.cpu_count()), "--target", "toolkit"], cwd=ROOT,
                       check=True)
    if not (home / "lib64" / "libascendcl.so").exists():
        raise SystemExit(f"no toolkit in {home}: say make toolkit, or set LEO_TOOLKIT to the folder cann")
    return home


def needed(files):
    """Libraries outside of the toolkit that the files load, with those they load in turn."""
    found = {}
    for file in files:
        listing = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=True).stdout
        for name, path in re.findall(r"^\s*(\S+) => (\S+)", listing, flags=re.M):
            if path == "not":
                raise SystemExit(f"{file} needs {name}, which is not installed here")
            if not SYSTEM.match(name):
                found[name] = Path(path)
    return found


class Build(build_py):
    """The package's Python files, then the toolkit beside them."""

    def run(self):
        super().run()
        home = toolkit()
        package = Path(self.build_lib) / "leonardo" / "cann"
        shutil.rmtree(package, ignore_errors=True)
        # Wheels hold no links: other names of folders would be copies.
        doubles = {home / "acllib", home / "lib64" / "stub", *(home / place / name for place in ("runtime", "compiler") for name in ("include", "lib64"))}
        shutil.copytree(home, package, symlinks=False,
                        ignore=lambda folder, names: [name for name in names if Path(folder) / name in doubles])
        own = sorted((package / "lib64").glob("*.so"))
        programs = [p for p in (package / "bin").iterdir() if p.open("rb").read(4) == b"\x7fELF"]
        for name, path in needed([*sorted((home / "lib64").glob("*.so")), *(home / "bin" / p.name for p in programs)]).items():
            if not (package / "lib64" / name).exists():
                shutil.copy(path, package / "lib64" / name)
        strip = shutil.which("strip")
        if strip:
            subprocess.run([strip, "--strip-debug", *map(str, own), *map(str, programs)], check=True)
        beside = Path(self.build_lib) / "torch_npu.libs"
        shutil.rmtree(beside, ignore_errors=True)
        shutil.copytree(package / "lib64", beside)
        shutil.copy(HERE / "leonardo.pth", Path(self.build_lib) / "leonardo.pth")


class Wheel(bdist_wheel):
    def get_tag(self):
        # C libraries, but none that knows Python.
        return "py3", "none", super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return True


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(leonardo VERSION (\S+)", text).group(1)


setup(version=version(), packages=["leonardo"], distclass=Binary, cmdclass={"build_py": Build, "bdist_wheel": Wheel})
