#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""leo doctor: what programs of PyTorch and others need on this machine: the Python on PATH with its packages, paths, toolkits
beside this one, memory, a device. One line each; a line that begins with MEND says what to do. Exit code 0 if nothing is to be mended,
else 1."""

import argparse
import os
import resource
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

HOME = Path(__file__).resolve().parents[3]  # of share/leo/report
SETTINGS = f". {HOME}/set_env.sh, or start with: {HOME}/bin/leo exec -- python ..."
PYTHONS = (3, 10)  # the oldest that torch 2.13 is made for (its Requires-Python)
# Measured: Python with torch_npu and one operator has 0.35 GiB, two steps of two convolutions 0.53; networks and data come on top.
LEAST_MEMORY, LEAST_DISK = 1 << 30, 1 << 30
LIBRARY = "libascendcl.so"


class Findings:
    """What was found; `mend` is what to do about it, None where nothing is wrong."""

    def __init__(self):
        self.wrong = 0

    def tell(self, what, mend=None):
        self.wrong += mend is not None
        print(f"ok    {what}" if mend is None else f"MEND  {what}: {mend}", flush=True)


def requirement_of(text):
    """A package's requirement that holds on this machine, with packaging of its own or pip's; None: it does not hold, or neither is
    there."""
    try:
        from packaging.requirements import Requirement
    except ImportError:
        try:
            from pip._vendor.packaging.requirements import Requirement
        except ImportError:
            return None
    wanted = Requirement(text)
    return wanted if wanted.marker is None or wanted.marker.evaluate({"extra": ""}) else None


def installed(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def check_python(found):
    version = ".".join(map(str, sys.version_info[:3]))
    old = sys.version_info < PYTHONS
    found.tell(f"python {version} ({sys.executable})",
               f"torch_npu needs {PYTHONS[0]}.{PYTHONS[1]} or later: put another python3 first on PATH" if old else None)


def check_packages(found):
    from versions import INSTALL, pair_complaint

    torch_npu = installed("torch_npu")
    if not torch_npu and not installed("torch"):
        found.tell(f"no torch and no torch_npu in this python (for PyTorch: {INSTALL})")
        return False
    wrong = pair_complaint()
    found.tell(f"torch {installed('torch')}, torch_npu {torch_npu}", wrong)
    for text in metadata.requires("torch_npu") or [] if torch_npu else []:
        wanted = requirement_of(text)
        if wanted is None or wanted.name == "torch":
            continue
        has = installed(wanted.name)
        fits = has and wanted.specifier.contains(has, prereleases=True)
        found.tell(f"{wanted.name} {has or 'is missing'}",
                   None if fits else f"torch_npu asks for {text}: {sys.executable} -m pip install '{text}'")
    return wrong is None


def same_file(one, other):
    try:
        return os.path.samefile(one, other) or Path(one).read_bytes() == Path(other).read_bytes()
    except OSError:
        return False


def inner_library():
    """torch_npu looks into a folder of its own first; None: it has no library of ours."""
    try:
        inner = Path(metadata.distribution("torch_npu").locate_file("torch_npu.libs")) / LIBRARY
    except metadata.PackageNotFoundError:
        return None
    return inner if inner.exists() else None


def check_paths(found):
    own, inner = HOME / "lib64" / LIBRARY, inner_library()
    found.tell(f"toolkit {HOME}", None if own.exists() else f"it has no lib64/{LIBRARY}: make toolkit")
    if inner:
        found.tell(f"torch_npu's own folder has {inner}", None if same_file(inner, own) else
                   f"it comes before {HOME} and is of another build: pip install ./python again, or pip uninstall leonardo")
    needed = None if inner else SETTINGS  # with a library inside it Python needs no settings
    check_home(found, needed)
    check_libraries(found, own, needed)


def check_home(found, needed):
    named = os.environ.get("ASCEND_HOME_PATH")
    if not named:
        found.tell("ASCEND_HOME_PATH is not set", needed)
    elif not Path(named).is_dir():
        found.tell(f"ASCEND_HOME_PATH is {named}", f"there is no such folder: {SETTINGS}")
    else:
        found.tell(f"ASCEND_HOME_PATH is {named}",
                   None if os.path.realpath(named) == str(HOME) else f"another toolkit than that of this command: {SETTINGS}")
    opp = os.environ.get("ASCEND_OPP_PATH")
    if named and not (opp and Path(opp).is_dir()):
        found.tell(f"ASCEND_OPP_PATH is {opp}", f"torch_npu wants the folder opp of the toolkit: {SETTINGS}")


def check_libraries(found, own, needed):
    folders = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    first = next((folder for folder in folders if (Path(folder) / LIBRARY).exists()), None)
    if first is None:
        found.tell(f"no folder of LD_LIBRARY_PATH has {LIBRARY}", needed)
    else:
        found.tell(f"{LIBRARY} is found in {first}",
                   None if same_file(Path(first) / LIBRARY, own) else f"it is of another build than {HOME}: {SETTINGS}")
    for folder in folders:
        if folder != first and (Path(folder) / LIBRARY).exists() and not same_file(Path(folder) / LIBRARY, own):
            found.tell(f"{folder} has a second {LIBRARY}", "take the folder out of LD_LIBRARY_PATH: two toolkits in one process do not work")


def available_memory():
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def check_memory(found):
    there = available_memory()
    if there is not None:
        found.tell(f"{there / 2**30:.1f} GiB of memory are free", None if there >= LEAST_MEMORY else
                   "a training under torch_npu may need more: end other programs")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        found.tell(f"the address space of a process is limited to {limit / 2**30:.1f} GiB",
                   "a device's memory is a map as large as that of the card: ulimit -v unlimited")
    place = os.environ.get("TMPDIR") or "/tmp"
    try:
        free = shutil.disk_usage(place).free
        found.tell(f"{free / 2**30:.1f} GiB are free in {place}", None if free >= LEAST_DISK else
                   "profiles and dumps do not fit: set TMPDIR to another folder")
    except OSError as problem:
        found.tell(f"{place} cannot be used", f"{problem.strerror}: set TMPDIR to a folder that can be written")


def run(found, what, command, mend):
    """A command that must end well; tells what it says at the end if it does not."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120, check=False)
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or [""]
        found.tell(what, None if done.returncode == 0 else f"{said[0] or f'exit code {done.returncode}'} ({mend})")
    except (OSError, subprocess.TimeoutExpired) as problem:
        found.tell(what, f"{problem} ({mend})")


def main():
    parser = argparse.ArgumentParser(prog="leo doctor", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without opening a device and without starting torch_npu")
    args = parser.parse_args()
    found = Findings()
    check_python(found)
    fits = check_packages(found)
    check_paths(found)
    check_memory(found)
    if not args.quick:
        run(found, "a device opens (leo smi)", [str(HOME / "bin" / "leo"), "smi"], "LEO_SOC, LEO_DEVICES: docs/env.md")
        if fits and found.wrong == 0:
            run(found, "torch_npu adds two tensors on the device",
                [sys.executable, "-c", "import torch, torch_npu; assert (torch.ones(4).npu() + 1).sum().item() == 8"], "docs/pytorch.md")
    print(f"{found.wrong} to mend" if found.wrong else "nothing to mend")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
