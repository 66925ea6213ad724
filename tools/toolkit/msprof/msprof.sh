#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# msprof: export of profiles (tools/profiler/profiler_tool/analysis/msprof/msprof.py).
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
exec python3 -B "$here/../profiler_tool/analysis/msprof/msprof.py" "$@"
