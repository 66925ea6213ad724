#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# setup-mlu.sh [VENV]: makes a Python environment with PyTorch and the torch_mlu of python/torch_mlu (default build/venv-mlu), against
# build/toolkit/neuware. Builds torch_mlu again if its sources are newer. Exit code 77: it cannot be made here, and why.
set -eu
venv=${1:-build/venv-mlu}
here=$(cd "$(dirname "$0")" && pwd)

. "$here/venv.sh"
is_complete() {
    has_versions torch=$torch torchvision=$torchvision
}
if ! is_complete; then
    make_venv "PyTorch $torch, about 1.2 GB"
    install_torch
    install_torchvision
    pip numpy setuptools wheel ninja || pip_failed "numpy, setuptools, wheel and ninja"
    end_venv
fi

# torch_mlu is compiled against the headers of CNNL and CNRT: again when either or its Python changed.
sources=$here/../python/torch_mlu
neuware=${NEUWARE_HOME:-$here/../build/toolkit/neuware}
state=$(find "$sources"/pyproject.toml "$sources"/setup.py "$sources"/torch_mlu "$neuware"/include -type f -name '*.[chpt]*' -not -path '*/__pycache__/*' |
    LC_ALL=C sort | xargs cat | sha256sum)
if [ "$(cat "$venv/torch_mlu.state" 2>/dev/null)" != "$state" ]; then
    echo "$(basename "$0" .sh): compiling torch_mlu, about four minutes"
    log=$venv.log
    export NEUWARE_HOME="$neuware" TORCH_DEVICE_BACKEND_AUTOLOAD=0 PATH="$venv/bin:$PATH"
    pip --no-build-isolation --no-deps --force-reinstall "$sources" || pip_failed torch_mlu
    echo "$state" >"$venv/torch_mlu.state"
    rm -f "$log"
fi
