#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD: runs every fuzzer of a build with LEO_FUZZ for FUZZ_SECONDS (default 10). FUZZ_ONLY="ring kernel" runs those.
# Corpora stay in BUILD/fuzz; what crashes is left there as crash-*, timeout-* or oom-* (fuzz_x_replay FILE runs it again).
set -u
build=${1:?usage: run.sh BUILD}
seconds=${FUZZ_SECONDS:-10}
failed=""
for program in "$build"/tests/fuzz/fuzz_*_replay; do
    [ -x "$program" ] || { echo "fuzz: $build has no fuzzers" >&2; exit 1; }
    name=${program##*/fuzz_}
    name=${name%_replay}
    case " ${FUZZ_ONLY:-$name} " in *" $name "*) ;; *) continue ;; esac
    folder=$build/fuzz/$name
    mkdir -p "$folder/corpus" "$folder/seeds"
    "$program" --seeds "$folder/seeds"
    if "${program%_replay}" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
        -artifact_prefix="$folder/" "$folder/corpus" "$folder/seeds" >"$folder/log" 2>&1; then
        echo "fuzz_$name: good, $(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log") inputs"
    else
        echo "fuzz_$name: FAILED, see $folder" >&2
        tail -n 40 "$folder/log" >&2
        failed="$failed $name"
    fi
done
[ -z "$failed" ]
