#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prefill and decode of a Llama of 7 B parameters, recorded without values, on variants of the memory: llama.sh [FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
LEO_TAPE_VALUES=0 leo study "$here/llama.py" --chip ascend910b1 --vary "$here/memory.csv" --out "${1:-llama.study}"
