#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo-mlu.sh BUILD VENV: pictures, and a training of ResNet-50 on a simulated MLU370 in mixed precision.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)
python=$(cd "$2" && pwd)/bin/python
place=$1/demo-mlu
mkdir -p "$place"
[ -d "$place/pictures/val" ] || "$python" examples/pytorch/pictures.py "$place/pictures" --size 32 --train 32 --val 12
cd "$place"
PYTHONPATH=$here/examples/pytorch/torchvision_on_cpu "$python" -B "$here/examples/mlu/resnet50_imagenet.py" \
    --gpu 0 --arch resnet50 --epoch 3 --size 32 --pyamp pictures
