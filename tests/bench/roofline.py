#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""roofline.py BUILD [--soc NAME] [--only OPERATOR..] [--page FILE]: operators over sizes, each time beside its bound.

The bound of a call is a launch and the bytes of all its tensors once, at the L2's rate if they fit into it, else at the memory's.
Rule: at most 3 times the bound, and at most twice the time for a size that is nearly the same. Operators whose work is not their
bytes are in roofline_exceptions.csv, each with a reason. Ends with 1 if another one breaks the rule.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
BASE = (256, 1024)
# Rows and columns: whole blocks, one less than that, a little more; in the L2, and more than it holds.
SIZES = [(256, 1024), (256, 1023), (2048, 2048), (2048, 2047), (2048, 2064), (8192, 4096)]
NEAR = [((256, 1024), (256, 1023)), ((2048, 2048), (2048, 2047)), ((2048, 2048), (2048, 2064))]
MOST, JUMP = 3.0, 2.0
SMALL_BYTES = 1 << 18  # below, a call is its launch and its latencies
HOST_LIMIT_US = 4e6  # a call that takes the host longer is left out
WIDEST = 8  # bytes of an element


def chip(soc):
    """Bytes a microsecond of the L2 and of the memory, bytes of the L2."""
    values = {}
    for line in (ROOT / f"isa/soc/{soc}.ini").read_text(encoding="ascii").splitlines():
        key, _, value = line.partition("=")
        values[key.strip()] = value.partition(";")[0].strip()
    memory = (float(values["hbm_read_gb_per_s"]) + float(values["hbm_write_gb_per_s"])) / 2
    return float(values["l2_gb_per_s"]) * 1e3, memory * 1e3, int(values["l2_bytes"])


def at_size(call, size):
    """A call of op_calls.txt with other rows and columns; None if it has none of its own."""
    if call is None:
        return f"@{size[0]}x{size[1]}"
    if "256x1024" not in call:
        return None
    swap = {str(old): str(new) for old, new in zip(BASE, size)}
    return re.sub(r"\d+", lambda number: swap.get(number.group(), number.group()), call)


def points(soc, only):
    """(operator, rows x columns, line for op_sweep)"""
    calls = {}
    for line in (HERE / "op_calls.txt").read_text(encoding="ascii").splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            calls[name] = rest
    with open(ROOT / "docs/api/aclnn_times.csv", encoding="ascii") as table:
        rows = list(csv.DictReader(table))
    for row in rows:
        if (only and row["operator"] not in only) or not row[f"{soc}_us"]:
            continue
        call = calls.get(row["operator"])
        if call is None and row["shape"] != "256x1024" or at_size(call, BASE) is None:
            yield row["operator"], row["shape"], f"{4 << 20} {row['operator']} {call or '@' + row['shape']}"
            continue
        for size in SIZES:
            elements = size[0] * size[1]
            if float(row["host_us"] or 0) * elements / (BASE[0] * BASE[1]) <= HOST_LIMIT_US:
                slot = max(4 << 20, elements * WIDEST)
                yield row["operator"], f"{size[0]}x{size[1]}", f"{slot} {row['operator']} {at_size(call, size)}"


def sweep(build, soc, lines):
    """Of each line bytes, simulated us and the host's; missing ones were not taken."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        run = subprocess.run([build / "tests/bench/op_sweep", file.name], env={**os.environ, "LEO_SOC": soc}, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, check=True)
    table = (line.split(",") for line in run.stdout.splitlines())
    return {int(number): (int(moved), float(simulated), float(host)) for number, moved, simulated, host in table}


def exceptions():
    with open(HERE / "roofline_exceptions.csv", encoding="ascii") as file:
        return [(re.compile(row["operators"]), row["reason"]) for row in csv.DictReader(file)]


def judge(measured, launch, rates):
    """(operator, size, bytes, us, bound, times the bound, text of a jump) of each point."""
    l2, memory, room = rates
    times = {(name, size): us for name, size, _, us in measured}
    for name, size, moved, us in measured:
        bound = launch + moved / (l2 if moved <= room else memory)
        jump = ""
        for a, b in NEAR:
            first, second = times.get((name, f"{a[0]}x{a[1]}")), times.get((name, f"{b[0]}x{b[1]}"))
            if size == f"{b[0]}x{b[1]}" and first and second and max(first, second) > JUMP * min(first, second):
                jump = f"{first:.1f} us at {a[0]}x{a[1]}"
        yield name, size, moved, us, bound, us / bound, jump


def page(path, soc, judged, allowed, launch, skipped):
    broken = [row for row in judged if (row[5] > MOST or row[6])]
    mine = [row for row in broken if not reason_of(allowed, row[0])]
    lines = [f"# Operators beside their bounds: {soc}", "",
             "Written by `make roofline` (tests/bench/roofline.py): simulated times of the second of two calls, tensors of zeros. The bound is a",
             f"launch ({launch:.2f} us) and the bytes of all tensors once, at the L2's rate if they fit into it, else at the memory's.", "",
             f"{len(judged)} calls of {len({row[0] for row in judged})} operators; at most {MOST:.0f} times the bound and no jump of more than "
             f"{JUMP:.0f} between sizes that are nearly the same: {len(judged) - len(broken)}. Beyond it with a reason: "
             f"{len(broken) - len(mine)}; beyond it: {len(mine)} calls of {len({row[0] for row in mine})} operators. "
             f"{skipped} calls were not made (types or shapes that the operator does not take).", "",
             "## Beyond the rule", "", "The worst call of each operator.", "",
             "| operator | call | us | bound | times | jump from |", "|---|---|---|---|---|---|"]
    worst = {}
    for row in mine:
        if row[0] not in worst or row[5] > worst[row[0]][5]:
            worst[row[0]] = row
    for name, size, _, us, bound, times, jump in sorted(worst.values(), key=lambda row: -row[5]):
        lines.append(f"| {name} | {size} | {us:.1f} | {bound:.1f} | {times:.1f} | {jump} |")
    lines += ["", "## With a reason", "", "| operators | reason | worst |", "|---|---|---|"]
    for pattern, reason in allowed:
        rows = [row for row in broken if pattern.fullmatch(row[0])]
        if rows:
            most = max(rows, key=lambda row: row[5])
            lines.append(f"| {', '.join(sorted({row[0] for row in rows}))} | {reason} | {most[5]:.1f} times, {most[0]} {most[1]} |")
    Path(path).write_text("\n".join(lines) + "\n", encoding="ascii")
    return mine


def reason_of(allowed, name):
    return next((reason for pattern, reason in allowed if pattern.fullmatch(name)), None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--soc", default="ascend910b1")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--page", default=os.devnull)
    args = parser.parse_args()
    wanted = list(points(args.soc, args.only))
    got = sweep(args.build, args.soc, ["4096 Abs @1x1"] + [line for _, _, line in wanted])
    launch = got[0][1]
    measured = [(name, size, *got[i + 1][:2]) for i, (name, size, _) in enumerate(wanted) if i + 1 in got and got[i + 1][0] >= SMALL_BYTES]
    judged = list(judge(measured, launch, chip(args.soc)))
    mine = page(args.page, args.soc, judged, exceptions(), launch, sum(i + 1 not in got for i in range(len(wanted))))
    for name, size, _, us, bound, times, jump in mine:
        print(f"{name:36} {size:14} {us:10.1f} us, bound {bound:8.1f}, {times:6.1f} times {'jump from ' + jump if jump else ''}")
    print(f"{args.soc}: {len(judged)} calls, {len(mine)} beyond the rule without a reason")
    return 1 if mine else 0


if __name__ == "__main__":
    sys.exit(main())
