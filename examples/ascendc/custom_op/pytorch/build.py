#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build.py VENDOR OUT: compiles the binding to OUT/scale_add.so.

VENDOR is the installed operators' folder (opp/vendors/customize), ASCEND_HOME_PATH the toolkit (set_env.sh)."""

import os
import subprocess
import sys
from pathlib import Path

import torch
import torch_npu
from torch.utils.cpp_extension import include_paths, library_paths

API, OUT = Path(sys.argv[1]).resolve() / "op_api", Path(sys.argv[2])
CANN, NPU = Path(os.environ["ASCEND_HOME_PATH"]), Path(torch_npu.__file__).parent
includes = [*include_paths(), NPU / "include", API / "include", CANN / "include"]
libraries = [*library_paths(), NPU / "lib", API / "lib", CANN / "lib64"]
subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", "-shared", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
                *(f"-I{path}" for path in includes), Path(__file__).resolve().parent / "binding.cpp", *(f"-L{path}" for path in libraries),
                *(f"-Wl,-rpath,{path}" for path in libraries), "-lcust_opapi", "-lopapi", "-lascendcl", "-ltorch_npu", "-ltorch", "-ltorch_cpu", "-lc10",
                "-o", OUT / "scale_add.so"], check=True)
