#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build.py OUT: compiles the extension to OUT/add_extension<suffix>; ASCEND_HOME_PATH is the toolkit (set_env.sh)."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import torch
import torch_npu
from torch.utils.cpp_extension import include_paths, library_paths

HERE, CANN = Path(__file__).resolve().parent, Path(os.environ["ASCEND_HOME_PATH"])
OUT = Path(sys.argv[1])
NPU = Path(torch_npu.__file__).parent

kernel, binding = OUT / "kernel.o", OUT / "binding.o"
subprocess.run([CANN / "bin/bisheng", "-c", "-fPIC", "-O2", HERE / "kernel.asc", "-o", kernel], check=True)
includes = [*include_paths(), NPU / "include", sysconfig.get_paths()["include"], CANN / "include"]
subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
                "-DTORCH_EXTENSION_NAME=add_extension", *(f"-I{path}" for path in includes), "-c", HERE / "binding.cpp", "-o", binding], check=True)
libraries = [*library_paths(), NPU / "lib", CANN / "lib64"]
subprocess.run(["g++", "-shared", kernel, binding, *(f"-L{path}" for path in libraries), *(f"-Wl,-rpath,{path}" for path in libraries), "-ltorch_npu",
                "-ltorch_python", "-ltorch", "-ltorch_cpu", "-lc10", "-lascendcl", "-o", OUT / f"add_extension{sysconfig.get_config_var('EXT_SUFFIX')}"],
               check=True)
