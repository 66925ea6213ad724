#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# setup-pytorch.sh [VENV]: makes a Python environment with the PyTorch and torch_npu that the tests and the demo use (default
# build/venv). Says and does nothing when it is there. Exit code 77: it cannot be made here, and why.
set -eu
venv=${1:-build/venv}
# The vendor's wheel asks for exactly this PyTorch; torchvision is the release that belongs to it, without its own demands
# (it would pull another PyTorch).
torch=2.13.0
torch_npu=2.13.0
torchvision=0.28.0

check='
import sys
from importlib.metadata import version
want = dict(a.split("=") for a in sys.argv[1:])
sys.exit(any(version(k).split("+")[0] != v for k, v in want.items()))'
is_complete() {
    "$venv/bin/python" -c "$check" torch=$torch torch_npu=$torch_npu torchvision=$torchvision 2>/dev/null
}
is_complete && exit 0

. "$(dirname "$0")/venv.sh"
make_venv "PyTorch $torch, about 1.2 GB" # torch_npu comes for a few Python versions
# The file without CUDA: from where pip looks anyway, else from PyTorch's own index.
pip "torch==$torch+cpu" || pip --extra-index-url https://download.pytorch.org/whl/cpu "torch==$torch+cpu" || pip_failed "torch $torch"
pip "torch_npu==$torch_npu" setuptools || pip_failed "torch_npu $torch_npu"
pip --no-deps "torchvision==$torchvision" && pip pillow || pip_failed "torchvision $torchvision"
end_venv
