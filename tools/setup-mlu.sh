#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# setup-mlu.sh [VENV]: makes a Python environment with PyTorch and the torch_mlu of python/torch_mlu (default build/venv-mlu), against
# build/toolkit/neuware. Builds torch_mlu again if its sources are newer. Exit code 77: it cannot be made here, and why.
set -eu
venv=${1:-build/venv-mlu}
here=$(cd "$(dirname "$0")" && pwd)
torch=2.13.0
torchvision=0.28.0

check='
import sys
from importlib.metadata import version
want = dict(a.split("=") for a in sys.argv[1:])
sys.exit(any(version(k).split("+")[0] != v for k, v in want.items()))'
is_complete() {
    "$venv/bin/python" -c "$check" torch=$torch torchvision=$torchvision 2>/dev/null
}

. "$here/venv.sh"
if ! is_complete; then
    make_venv "PyTorch $torch, about 1.2 GB"
    # The file without CUDA: from where pip looks anyway, else from PyTorch's own index.
    pip "torch==$torch+cpu" || pip --extra-index-url https://download.pytorch.org/whl/cpu "torch==$torch+cpu" || pip_failed "torch $torch"
    pip --no-deps "torchvision==$torchvision" && pip pillow numpy setuptools wheel ninja || pip_failed "torchvision $torchvision"
    end_venv
fi

# torch_mlu is compiled against the headers of CNNL and CNRT: again when either changed.
sources=$here/../python/torch_mlu
neuware=${NEUWARE_HOME:-$here/../build/toolkit/neuware}
state=$(cat "$sources"/setup.py "$sources"/torch_mlu/csrc/* "$neuware"/include/*.h | sha256sum)
if [ "$(cat "$venv/torch_mlu.state" 2>/dev/null)" != "$state" ]; then
    echo "$(basename "$0" .sh): compiling torch_mlu, about four minutes"
    log=$venv.log
    export NEUWARE_HOME="$neuware" TORCH_DEVICE_BACKEND_AUTOLOAD=0 PATH="$venv/bin:$PATH"
    pip --no-build-isolation --no-deps --force-reinstall "$sources" || pip_failed torch_mlu
    echo "$state" >"$venv/torch_mlu.state"
    rm -f "$log"
fi
