# SPDX-License-Identifier: Apache-2.0
"""Whether this Python's torch and torch_npu belong together: a wrong pair ends in an undefined symbol, which says nothing."""

import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

TESTED = "2.13.0"
INSTALL = f"{sys.executable} -m pip install torch=={TESTED} torch_npu=={TESTED}"


def installed(name):
    try:
        return version(name).split("+")[0]
    except PackageNotFoundError:
        return None


def wanted_torch():
    """The version torch_npu asks for, as 2.13.0."""
    for line in requires("torch_npu") or []:
        found = re.match(r"torch *\(?== *([0-9.]+?)(\.\*)?\)?$", line)
        if found:
            return found[1]
    return None


def complaint(script):
    """What is wrong for a script that uses PyTorch, and what to do; None: nothing."""
    try:
        return pair_complaint() if b"torch" in Path(script).read_bytes() else None
    except OSError:
        return None


def pair_complaint():
    """What is wrong with this Python's pair, and what to do; None: nothing."""
    torch, torch_npu = installed("torch"), installed("torch_npu")
    if not torch or not torch_npu:
        missing = " and ".join(name for name, there in (("torch", torch), ("torch_npu", torch_npu)) if not there)
        return f"{sys.executable} has no {missing}: {INSTALL}, or start with the Python of the environment that has"
    want = wanted_torch()
    if want and torch != want:
        return f"torch_npu {torch_npu} needs torch {want}, {sys.executable} has torch {torch}: {INSTALL}"
    return None
