#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# setup-pytorch.sh [VENV]: makes a Python environment with the PyTorch and torch_npu that the tests and the demo use (default
# build/venv). Says and does nothing when it is there. Exit code 77: it cannot be made here, and why.
set -eu
venv=${1:-build/venv}
torch_npu=2.13.0 # asks for exactly the PyTorch of venv.sh

. "$(dirname "$0")/venv.sh"
is_complete() {
    has_versions torch=$torch torch_npu=$torch_npu torchvision=$torchvision
}
# torch.onnx writes its files with it.
onnx=1.20.1
if is_complete; then
    # Environments that were made before it was needed get it; without it all but the export works.
    log=$venv.log
    has_versions onnx=$onnx || pip "onnx==$onnx" || echo "setup-pytorch: pip could not install onnx $onnx (see $log)" >&2
    exit 0
fi

make_venv "PyTorch $torch, about 1.2 GB" # torch_npu comes for a few Python versions
install_torch
pip "torch_npu==$torch_npu" setuptools || pip_failed "torch_npu $torch_npu"
install_torchvision
pip "onnx==$onnx" || pip_failed "onnx $onnx"
end_venv
