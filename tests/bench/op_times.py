#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""op_times.py BUILD OPERATOR..: measures operators on both chips and puts their lines into docs/api/aclnn_times.csv.

Ends with 1 if op_times can make no call of one of them. Of the host's times the least of the chips and of --runs counts.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "docs/api/aclnn_times.csv"
CHIPS = ["ascend910a", "ascend910b1"]


def measure(program, chip, names):
    """{name: [shape, simulated us, host us]}"""
    run = subprocess.run([program, *names], env={**os.environ, "LEO_SOC": chip}, stdout=subprocess.PIPE, text=True, check=True)
    return {name: rest for name, *rest in (line.split(",") for line in run.stdout.splitlines())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("operators", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    program = args.build / "tests/bench/op_times"
    runs = [[measure(program, chip, args.operators) for chip in CHIPS] for _ in range(args.runs)]
    head, *lines = TABLE.read_text(encoding="ascii").splitlines()
    table = {line.split(",")[0]: line for line in lines}
    missing = 0
    for name in args.operators:
        calls = [chips.get(name) for chips in runs[0]]
        if not any(calls):
            print(f"{name}: not measured", file=sys.stderr)
            missing = 1
            continue
        shape = next(call[0] for call in calls if call)
        host = min(float(chip[name][2]) for run in runs for chip in run if name in chip)
        table[name] = ",".join([name, shape, *(call[1] if call else "" for call in calls), f"{host:.0f}"])
        print(table[name])
    TABLE.write_text("\n".join([head, *(table[name] for name in sorted(table))]) + "\n", encoding="ascii")
    return missing


if __name__ == "__main__":
    sys.exit(main())
