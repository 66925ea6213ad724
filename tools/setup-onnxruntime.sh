#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# setup-onnxruntime.sh [VENV]: makes a Python environment with onnxruntime-cann and the onnx package, whose cases the tests run
# (default build/venv-onnxruntime). Says and does nothing when it is there. Exit code 77: it cannot be made here, and why.
set -eu
venv=${1:-build/venv-onnxruntime}
# The wheel is built for numpy 1, which it does not say. The onnx package is the one of this onnxruntime's operator sets: a newer
# one writes models that it does not read.
onnxruntime=1.24.4
onnx=1.20.1

is_complete() {
    "$venv/bin/python" -c "import sys; from importlib.metadata import version
sys.exit(version('onnxruntime-cann') != '$onnxruntime' or version('onnx') != '$onnx' or int(version('numpy').split('.')[0]) >= 2)" 2>/dev/null
}
is_complete && exit 0

. "$(dirname "$0")/venv.sh"
make_venv "onnxruntime-cann $onnxruntime: 60 MB to fetch"
pip "onnxruntime-cann==$onnxruntime" "onnx==$onnx" "numpy<2" || pip_failed "onnxruntime-cann $onnxruntime"
end_venv
