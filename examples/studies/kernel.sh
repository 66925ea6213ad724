#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A kernel on variants of launch, writes, queue, vector unit and clock (which it is run anew for): kernel.sh [FOLDER]. Seconds; needs no PyTorch.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-kernel.study}
mkdir -p "$out"
leo cc "$here/../vector_add/vector_add_kernel.c" --soc ascend910b1 -o "$out/add.elf"
head -c 4194304 /dev/zero >"$out/x.bin"
leo study leo --chip ascend910b1 --vary "$here/kernel.csv" --out "$out/study" -- run "$out/add.elf" --blocks 48 --check none \
    --arg "in:$out/x.bin" --arg "in:$out/x.bin" --arg out:4194304 --arg 2097152
