#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# all.sh [BUILD]: every check of the sources; BUILD (default build) is a complete Release build.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${1:-build}
failed=0
tools/check/format.sh . || failed=1
for check in layers rooms sections idioms spdx paths times prose; do
    python3 -B tools/check/$check.py . || failed=1
done
# A fault whose text was changed must be changed with it, or taken out.
python3 -B tests/mutate/mutate.py --fit || failed=1
for check in headers symbols arrows faces; do
    python3 -B tools/check/$check.py "$build" . || failed=1
done
exit $failed
