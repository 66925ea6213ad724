# SPDX-License-Identifier: Apache-2.0
# Sourced by the other setup-*.sh, with $venv, the folder to make, and is_complete, whether it is what they want.

# PyTorch of both adapters; torchvision is the release that belongs to it.
torch=2.13.0
torchvision=0.28.0

# has_versions NAME=VERSION...: whether the environment has exactly these packages.
has_versions() {
    "$venv/bin/python" -c '
import sys
from importlib.metadata import version
want = dict(a.split("=") for a in sys.argv[1:])
sys.exit(any(version(k).split("+")[0] != v for k, v in want.items()))' "$@" 2>/dev/null
}

give_up() {
    echo "$(basename "$0" .sh): $1" >&2
    exit 77
}

pip() {
    "$venv/bin/python" -m pip install --disable-pip-version-check --quiet "$@" >>"$log" 2>&1
}

pip_failed() {
    tail -n 3 "$log" >&2
    give_up "pip could not install $1 (see $log)"
}

# make_venv WHAT: an empty environment of the Python version that is tested.
make_venv() {
    python=""
    for candidate in "${LEO_PYTHON:-}" python3.11 python3; do
        if [ -n "$candidate" ] && "$candidate" -c 'import sys, venv; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
            python=$candidate
            break
        fi
    done
    [ -n "$python" ] || give_up "Python 3.11 with its venv module is needed (LEO_PYTHON names one that is not on PATH)"
    echo "$(basename "$0" .sh): making $venv ($1)"
    log=$venv.log
    mkdir -p "$(dirname "$venv")"
    : >"$log"
    "$python" -m venv --clear "$venv" >>"$log" 2>&1 || { cat "$log" >&2; give_up "python -m venv failed"; }
}

end_venv() {
    is_complete || give_up "$venv is not what was asked for (see $log)"
    rm -f "$log"
}

# The file without CUDA: from where pip looks anyway, else from PyTorch's own index.
install_torch() {
    pip "torch==$torch+cpu" || pip --extra-index-url https://download.pytorch.org/whl/cpu "torch==$torch+cpu" || pip_failed "torch $torch"
}

# Without its own demands: it would pull another PyTorch.
install_torchvision() {
    pip --no-deps "torchvision==$torchvision" && pip pillow || pip_failed "torchvision $torchvision"
}
