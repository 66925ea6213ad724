#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
exec "$(dirname "$(readlink -f "$0")")/../tools/profiler/bin/msprof" "$@"
