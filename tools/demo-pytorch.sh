#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo-pytorch.sh BUILD VENV: pictures, a training of ResNet-18 on a simulated 910A, and a page about the run.
set -eu
cd "$(dirname "$0")/.."
build=$1
python=$2/bin/python
place=$build/demo-pytorch
leo=$build/toolkit/cann/bin/leo
mkdir -p "$place"
[ -d "$place/pictures/val" ] || "$python" examples/pytorch/pictures.py "$place/pictures" --size 32 --train 32 --val 12
rm -rf "$place"/profile
# torch_npu says the same two lines about its own padding and clipping on every chip of this kind.
TORCH_NPU_WARNING_DISABLE=1 PYTHONPATH=examples/pytorch/torchvision_on_cpu "$leo" exec --soc ascend910a --profile "$place/profile" -- \
    "$python" -B -W ignore examples/pytorch/demo.py "$place/pictures"
printf 'report: '
"$leo" report "$place/profile" -o "$place/report.html"
