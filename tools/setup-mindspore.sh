#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# setup-mindspore.sh [VENV]: makes a Python environment with the MindSpore that make test-mindspore and the demo use (default
# build/venv-mindspore). Says and does nothing when it is there. Exit code 77: it cannot be made here, and why.
set -eu
venv=${1:-build/venv-mindspore}
# One wheel holds the CPU's and the chip's part. It does not name a numpy that is too new for it.
mindspore=2.10.0

is_complete() {
    "$venv/bin/python" -c "import sys; from importlib.metadata import version
sys.exit(version('mindspore') != '$mindspore' or int(version('numpy').split('.')[0]) >= 2)" 2>/dev/null
}
is_complete && exit 0

. "$(dirname "$0")/venv.sh"
make_venv "MindSpore $mindspore: 0.8 GB to fetch, 2.6 GB unpacked"
pip "mindspore==$mindspore" "numpy<2" || pip_failed "mindspore $mindspore"
end_venv
