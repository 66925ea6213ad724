#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The second step of a small GPT on variants of the memory and the launches, beside two other chips: gpt.sh [FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
leo study "$here/gpt.py" --chip ascend910b1 --vary "$here/launches.csv" --baseline ascend910b2 --baseline ascend910b4 --estimate \
    --step 2 --out "${1:-gpt.study}"
