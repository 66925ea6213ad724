#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# format.sh [ROOT]: C sources are as .clang-format says (make format puts them so).
set -eu
cd "${1:-.}"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    list=$(git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cpp' | xargs -r ls -d 2>/dev/null || true)
else
    list=$(find . -path './build*' -prune -o \( -name '*.c' -o -name '*.h' -o -name '*.cpp' \) -print)
fi
# shellcheck disable=SC2086 # a list of files
bad=$(clang-format-19 --dry-run $list 2>&1 | sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: .*clang-format.*/\1/p' | sort -u)
if [ -n "$bad" ]; then
    echo "$bad" | sed 's/$/:1: not formatted (make format)/'
    echo "format: $(echo "$bad" | wc -l) violations"
    exit 1
fi
echo "format: ok"
