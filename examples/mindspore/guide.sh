#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# guide.sh [CHIP [FOLDER]]: MindSpore's migration guide from start to end on a simulated chip (default ascend910b1), from an empty machine:
# what is missing is installed and built, pictures in CIFAR-10's format are made, weights come from PyTorch's ResNet-50, the outputs of
# both are compared, three epochs are trained (all float16, data sink, checkpoints), the accuracy must rise, a short training is
# profiled, and leo report writes its page. Results: build/guide/CHIP or FOLDER.
set -eu
cd "$(dirname "$0")/../.."
chip=${1:-ascend910b1}
place=${2:-build/guide/$chip}
here=examples/mindspore

say() {
    echo "guide: $*"
}

say "1. the simulator, MindSpore, PyTorch"
make toolkit
tools/setup-mindspore.sh build/venv-mindspore
tools/setup-pytorch.sh build/venv
leo=build/toolkit/cann/bin/leo
python=build/venv-mindspore/bin/python
mkdir -p "$place"
# The pool of device memory in large blocks, and no warnings about parts of MindSpore that are not used.
export MS_ALLOC_CONF=enable_vmm:False GLOG_v=3

on_chip() {
    "$leo" exec --soc "$chip" -- "$python" -B -W ignore "$@"
}

say "2. pictures"
"$python" -B $here/pictures.py "$place/pictures" --train 160

say "3. weights and outputs of PyTorch's ResNet-50; the same outputs on the chip"
TORCH_DEVICE_BACKEND_AUTOLOAD=0 PYTHONPATH=examples/pytorch/torchvision_on_cpu build/venv/bin/python -B $here/reference.py "$place/resnet50.npz"
on_chip $here/convert.py "$place/resnet50.npz" "$place/resnet50.ckpt"

say "4. training and evaluation"
train="$here/train.py $place/pictures --optimizer adam --rate 0.001 --sink --checkpoint $place/resnet50.ckpt"
rm -rf "$place/saved" "$place/profile"
on_chip $train --epochs 3 --save "$place/saved" --least 30
ls "$place"/saved/*.ckpt

say "5. a profile of two steps"
on_chip $train --epochs 1 --shards 5 --profile "$place/profile"
"$python" -B $here/steps.py "$place/profile" --steps 2

say "6. the page"
"$leo" report "$place/profile" -o "$place/report.html"
[ -z "${DISPLAY:-}" ] || xdg-open "$place/report.html" || true
say "done: $place/report.html"
