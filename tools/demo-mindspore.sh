#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo-mindspore.sh BUILD VENV: pictures, and a training of a small ResNet with MindSpore on a simulated 910B1.
set -eu
cd "$(dirname "$0")/.."
build=$1
python=$2/bin/python
place=$build/demo-mindspore
mkdir -p "$place"
[ -e "$place/pictures/batches.meta.txt" ] || "$python" -B examples/mindspore/pictures.py "$place/pictures"
# MindSpore's own pool of device memory in large blocks; its warnings about parts that are not used are left out.
MS_ALLOC_CONF=enable_vmm:False GLOG_v=3 "$build/toolkit/cann/bin/leo" exec --soc ascend910b1 -- \
    "$python" -B -W ignore examples/mindspore/train.py "$place/pictures" --blocks 1 1 1 1 --width 16
