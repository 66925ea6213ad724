#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds build_out/custom_opp_<system>_<machine>.run. ASCEND_HOME_PATH, if set, is the toolkit instead of that in CMakePresets.json.
cd "$(dirname "$0")" || exit 1
cmake --preset default ${ASCEND_HOME_PATH:+-DASCEND_CANN_PACKAGE_PATH="$ASCEND_HOME_PATH"} >build_out.log 2>&1 || { cat build_out.log; exit 1; }
cmake --build build_out --target package
