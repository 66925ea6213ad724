# SPDX-License-Identifier: Apache-2.0
"""torch_mlu: PyTorch's device 'mlu' over libcnnl, libcnrt and libcncl. NEUWARE_HOME names the folder that has them."""
import os
from glob import glob
from pathlib import Path

from setuptools import find_packages, setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

here = Path(__file__).parent.resolve()
neuware = Path(os.environ.get("NEUWARE_HOME", here.parent.parent / "build/toolkit/neuware")).resolve()
if not (neuware / "include/cnnl.h").exists():
    raise SystemExit(f"torch_mlu: {neuware}/include/cnnl.h is not there; set NEUWARE_HOME (docs/torch_mlu.md)")

setup(
    name="torch_mlu",
    version="2.13.0",
    packages=find_packages(str(here)),
    ext_modules=[
        CppExtension(
            "torch_mlu._C",
            sorted(glob("torch_mlu/csrc/*.cpp", root_dir=here)),
            include_dirs=[str(neuware / "include")],
            library_dirs=[str(neuware / "lib64")],
            libraries=["cnnl", "cnrt", "cncl"],
            extra_compile_args=["-std=c++20", "-O2", "-g0", "-Wall", "-Wextra", "-fvisibility=hidden"],
            extra_link_args=[f"-Wl,-rpath,{neuware}/lib64"],
        )
    ],
    cmdclass={"build_ext": BuildExtension},
    entry_points={"torch.backends": ["torch_mlu = torch_mlu:_autoload"]},
    zip_safe=False,
)
