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

give_up() {
    echo "setup-pytorch: $1" >&2
    exit 77
}
python=""
for candidate in "${LEO_PYTHON:-}" python3.11 python3; do
    # torch_npu comes for a few Python versions; 3.11 is the one that is tested.
    if [ -n "$candidate" ] && "$candidate" -c 'import sys, venv; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || give_up "Python 3.11 with its venv module is needed (LEO_PYTHON names one that is not on PATH)"

echo "setup-pytorch: making $venv (PyTorch $torch, about 1.2 GB)"
log=$venv.log
mkdir -p "$(dirname "$venv")"
pip() {
    "$venv/bin/python" -m pip install --disable-pip-version-check --quiet "$@" >>"$log" 2>&1
}
: >"$log"
"$python" -m venv --clear "$venv" >>"$log" 2>&1 || { cat "$log" >&2; give_up "python -m venv failed"; }
# The file without CUDA: from where pip looks anyway, else from PyTorch's own index.
pip "torch==$torch+cpu" || pip --extra-index-url https://download.pytorch.org/whl/cpu "torch==$torch+cpu" ||
    { tail -n 3 "$log" >&2; give_up "pip could not install torch $torch (see $log)"; }
pip "torch_npu==$torch_npu" setuptools ||
    { tail -n 3 "$log" >&2; give_up "pip could not install torch_npu $torch_npu (see $log)"; }
pip --no-deps "torchvision==$torchvision" && pip pillow ||
    { tail -n 3 "$log" >&2; give_up "pip could not install torchvision $torchvision (see $log)"; }
is_complete || give_up "$venv is not what was asked for (see $log)"
rm -f "$log"
