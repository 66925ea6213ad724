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

give_up() {
    echo "setup-mindspore: $1" >&2
    exit 77
}
python=""
for candidate in "${LEO_PYTHON:-}" python3.11 python3; do
    # The version that is tested.
    if [ -n "$candidate" ] && "$candidate" -c 'import sys, venv; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || give_up "Python 3.11 with its venv module is needed (LEO_PYTHON names one that is not on PATH)"

echo "setup-mindspore: making $venv (MindSpore $mindspore: 0.8 GB to fetch, 2.6 GB unpacked)"
log=$venv.log
mkdir -p "$(dirname "$venv")"
: >"$log"
"$python" -m venv --clear "$venv" >>"$log" 2>&1 || { cat "$log" >&2; give_up "python -m venv failed"; }
"$venv/bin/python" -m pip install --disable-pip-version-check --quiet "mindspore==$mindspore" "numpy<2" >>"$log" 2>&1 ||
    { tail -n 3 "$log" >&2; give_up "pip could not install mindspore $mindspore (see $log)"; }
is_complete || give_up "$venv is not what was asked for (see $log)"
rm -f "$log"
