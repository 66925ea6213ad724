#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo-mlu.sh BUILD VENV: pictures, and a training on a simulated MLU370 in mixed precision. ResNet-18: ResNet-50 learns nothing from so
# few pictures of 32 x 32, on a CPU neither.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)
python=$(cd "$2" && pwd)/bin/python
place=$1/demo-mlu
mkdir -p "$place"
[ -d "$place/pictures/val" ] || "$python" examples/pytorch/pictures.py "$place/pictures" --size 32 --train 32 --val 12
cd "$place"
PYTHONPATH=$here/examples/pytorch/torchvision_on_cpu "$python" -B "$here/examples/mlu/resnet50_imagenet.py" \
    --gpu 0 --arch resnet18 --epoch 4 --size 32 --pyamp pictures
