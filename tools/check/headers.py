#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""headers.py BUILD [ROOT]: every header compiles alone, the public ones as C++ too, device headers for the device.

A header that is a part of another file says so ("Included by ...") before its #pragma once, and is left out; one for C++ says "C++ only".
"""

import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path

import tree

DEVICE = ["clang-19", "--target=riscv64-unknown-elf", "-march=rv64imafd_zfh_zfbfmin", "-mabi=lp64", "-ffreestanding", "-fsigned-char"]
C = ["-x", "c", "-std=gnu11"]
CXX = ["-x", "c++", "-std=c++17"]


def include_flags(root, build, path):
    """What a file of this folder may have on its path: all public headers, its own folder and room."""
    folders = {p.parent for p in Path(root).glob("*/include")} | {p.parent for p in Path(root).glob("*/*/include")}
    public = [folder / "include" for folder in sorted(folders) if "device" not in folder.parts]
    public.append(Path(root) / "runtime" / "include" / "cnrt")  # its programs include <cnrt.h>
    public += [Path(root) / "kernels" / "include" / "cnnl", Path(build) / "kernels" / "gen" / "cnnl"]  # and <cnnl.h>
    own = [Path(root) / path.parent, Path(root) / path.parts[0]]
    # Structures that host and kernels share lie with the device's headers, last, behind the host's own.
    shared = [f"-idirafter{Path(root) / 'isa' / 'device' / 'include'}"]
    if path.parts[0] == "tests":
        own += [Path(root) / layer for layer in tree.LAYERS]
        own += sorted({Path(root) / p.parent for p in tree.files(root, ".h") if "include" not in p.parts})
    return [f"-I{p}" for p in [*public, Path(build) / "runtime" / "include", Path(build) / "isa" / "include", Path(build) / "sim" / "include", Path(build) / "kernels" / "gen",
                                 Path(build) / "kernels" / "gen" / "include", Path(build) / "models" / "onnx", *own]] + shared


ARCHES = (1001, 2201)


def jobs(root, build):
    for path in tree.files(root, ".h"):
        if path.parts[0] not in tree.LAYERS or "Included by" in tree.read(root, path).split("#pragma once")[0]:
            continue
        name = str(Path(root).resolve() / path)
        if tree.is_device(path):
            flags = [f"-I{root}/isa/device/include", f"-I{build}/isa/device/include", f"-I{root}/{path.parent}"]
            # A name that ends with an architecture is for that one.
            named = [arch for arch in ARCHES if path.stem.endswith(f"_{arch}")]
            for arch in () if "C++ only" in tree.read(root, path) else named or ARCHES:
                yield path, "device", name, DEVICE + C + flags + [f"-D__NPU_ARCH__={arch}"]
            if "include" in path.parts:
                # A header for one card says how it is compiled.
                card = ["-D__NPU_ARCH__=1001"] if "leo cc --soc mlu370" in tree.read(root, path).split("#pragma once")[0] else []
                yield path, "device C++", name, DEVICE + CXX + [f"-I{root}/isa/device/include/cxx"] + flags + card
            continue
        flags = include_flags(root, build, path)
        if "C++ only" not in tree.read(root, path):
            yield path, "C", name, ["gcc"] + C + flags
        if "include" in path.parts:
            yield path, "C++", name, ["g++"] + CXX + flags


def compile_one(job):
    path, language, name, command = job
    done = subprocess.run(command + ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-"],
                          input=f'#include "{name}"\n', capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.split("\n") if "error" in line]
    return f"{path}:1: does not compile alone as {language}: {(errors or [done.stderr])[0].strip()}"


def main():
    build = sys.argv[1]
    root = sys.argv[2] if len(sys.argv) > 2 else "."
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        violations = [line for line in pool.map(compile_one, jobs(root, build)) if line]
    tree.finish("headers", violations)


main()
