#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two ranks recorded, priced for 2 to 1024 cards on each topology of this folder: ddp.sh [FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-ddp.study}
mkdir -p "$out/tapes"
LEO_TAPE=$out/tapes leo exec --soc ascend910b1 --devices 2 -- python3 -m torch.distributed.run --nproc-per-node 2 "$here/ddp.py"
for topology in "$here"/topologies/*.ini; do
    leo study "$out/tapes" --cards 2,8,64,256,1024 --topology "$topology" --step 2 --out "$out/$(basename "$topology" .ini)"
done
