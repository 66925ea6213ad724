#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A training step of a ResNet-50, batch 8 (the third: the first one makes the momenta): resnet50.sh [FOLDER]. Minutes; torchvision as docs/pytorch.md says.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PYTHONPATH=$here/../pytorch/torchvision_on_cpu${PYTHONPATH:+:$PYTHONPATH} leo study "$here/resnet50.py" --chip ascend910b1 \
    --vary "$here/memory.csv" --step 2 --out "${1:-resnet50.study}" -- 8 224
