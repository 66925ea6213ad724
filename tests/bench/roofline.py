#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""roofline.py BUILD [--soc NAME] [--only NAME..] [--kernel TEXT..] [--raw FILE] [--quick] [--page FILE]: operators over sizes, each beside its bound.

The bound of a call is a launch and the longest of: all bytes it moves, at the L2's rate; all bytes of its tensors at the memory's rate if the
L2 does not hold them, else what it writes beyond the part of the L2 that may hold what memory has not; and the instructions of
an operator that is one expression (LEO_OP_EXPLAIN), at 256 bytes of f32 a cycle of every core.
Rule: at most 3 times the bound, and at most twice the time for a size that is nearly the same. Operators whose work is neither
are in roofline_exceptions.csv, each with a reason. Ends with 1 if another one breaks the rule. Of roofline_work.csv are the instructions an element
of operators that compute much and are no expressions.

--raw FILE keeps what was measured. With --only, or --kernel (operators that launched such a kernel), these are swept again and the rest is
taken from FILE.
"""

import argparse
import csv
import math
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple
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
REPEAT_BYTES = 256  # a vector instruction works on so much a cycle

Chip = namedtuple("Chip", "l2 memory write room written vector")  # bytes a microsecond; bytes; bytes a microsecond
# kernels: "2 tile_run of tile, index_put of index" as they are launched; work: bytes of f32 that instructions of tiles work on
Measure = namedtuple("Measure", "operator size bytes written moved us host_us work kernels")
Verdict = namedtuple("Verdict", "measure bound times jump")


def read_chip(soc):
    values = {}
    for line in (ROOT / f"isa/soc/{soc}.ini").read_text(encoding="ascii").splitlines():
        key, _, value = line.partition("=")
        values[key.strip()] = value.partition(";")[0].strip()
    rate = {name: float(values[f"{name}_gb_per_s"]) * 1e3 for name in ("l2", "hbm_read", "hbm_write")}
    room = int(values["l2_bytes"])
    cores = int(values["vector_cores"]) or int(values["cube_cores"])
    return Chip(rate["l2"], (rate["hbm_read"] + rate["hbm_write"]) / 2, rate["hbm_write"], room, room * float(values["l2_written_part"]),
                cores * REPEAT_BYTES * int(values["clock_khz"]) / 1e3)


def at_size(call, size):
    """A call of op_calls.txt with other rows and columns; None if it has none of its own."""
    if call is None:
        return f"@{size[0]}x{size[1]}"
    if "256x1024" not in call:
        return None
    swap = {str(old): str(new) for old, new in zip(BASE, size)}
    return re.sub(r"\d+", lambda number: swap.get(number.group(), number.group()), call)


def points(soc, sizes):
    """(operator, rows x columns, line for op_sweep)"""
    calls = {}
    for line in (HERE / "op_calls.txt").read_text(encoding="ascii").splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            calls[name] = rest
    with open(ROOT / "docs/api/aclnn_times.csv", encoding="ascii") as table:
        rows = [row for row in csv.DictReader(table) if row[f"{soc}_us"]]
    for row in rows:
        call = calls.get(row["operator"])
        if call is None and row["shape"] != "256x1024" or at_size(call, BASE) is None:
            yield row["operator"], row["shape"], f"{4 << 20} {row['operator']} {call or '@' + row['shape']}"
            continue
        for size in sizes:
            elements = size[0] * size[1]
            if float(row["host_us"] or 0) * elements / (BASE[0] * BASE[1]) <= HOST_LIMIT_US:
                slot = max(4 << 20, elements * WIDEST)
                yield row["operator"], f"{size[0]}x{size[1]}", f"{slot} {row['operator']} {at_size(call, size)}"


def read_plans(text):
    """Of what LEO_OP_EXPLAIN said: of each call bytes of tile instructions, and kernels."""
    plans, number, work, kernels = {}, None, 0, []
    for line in [*text.splitlines(), "call -1"]:
        words = line.split()
        if len(words) == 2 and words[0] == "call":
            plans[number] = work if len(kernels) == 1 else 0, ", ".join(f"{count} {name}" for name, count in Counter(kernels).items())
            number, work, kernels = int(words[1]), 0, []
        elif words[1:4] == ["instructions", "on", "each"]:
            work += int(words[0]) * int(words[5]) * 4
        elif words[:1] == ["kernel"]:
            kernels.append(words[1])
        elif words[:2] in (["on", "the"], ["fill", "of"]):
            kernels.append("host" if words[0] == "on" else "fill")
    return plans


def sweep(build, soc, wanted):
    """Measures of points; those the operator does not take are left out."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file, tempfile.TemporaryFile("w+", errors="replace") as said:
        file.write("\n".join(line for _, _, line in wanted) + "\n")
        file.flush()
        run = subprocess.run([build / "tests/bench/op_sweep", file.name], env={**os.environ, "LEO_SOC": soc, "LEO_OP_EXPLAIN": "1"},
                             stdout=subprocess.PIPE, stderr=said, text=True, check=True)
        said.seek(0)
        plans = read_plans(said.read())
    for line in run.stdout.splitlines():
        number, *bytes_of, us, host_us = line.split(",")
        name, size, _ = wanted[int(number)]
        yield Measure(name, size, *map(int, bytes_of), float(us), float(host_us), *plans[int(number)])


def read_raw(path):
    with open(path, encoding="ascii") as file:
        for row in csv.DictReader(file):
            ints = {name: int(row[name]) for name in ("bytes", "written", "moved", "work")}
            yield Measure(**{**row, **ints, "us": float(row["us"]), "host_us": float(row["host_us"])})


def write_raw(path, measures):
    with open(path, "w", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Measure._fields)
        writer.writerows(measures)


def exceptions():
    with open(HERE / "roofline_exceptions.csv", encoding="ascii") as file:
        return [(re.compile(row["operators"]), row["reason"]) for row in csv.DictReader(file)]


def own_work():
    """Bytes of f32 instructions of a measure, by roofline_work.csv."""
    with open(HERE / "roofline_work.csv", encoding="ascii") as file:
        rows = [(re.compile(row["operators"]), float(row["instructions"])) for row in csv.DictReader(file)]

    def work(measure):
        instructions = next((count for pattern, count in rows if pattern.fullmatch(measure.operator)), 0)
        return instructions * 4 * math.prod(map(int, measure.size.split("x")))
    return work


def bound_of(measure, launch, chip, work):
    if measure.bytes > chip.room:
        memory = measure.bytes / chip.memory
    else:
        memory = max(0, measure.written - chip.written) / chip.write
    return launch + max(measure.moved / chip.l2, memory, max(measure.work, work(measure)) / chip.vector)


def judge(measures, launch, chip):
    times = {(m.operator, m.size): m.us for m in measures}
    work = own_work()
    for m in measures:
        bound = bound_of(m, launch, chip, work)
        jump = ""
        for a, b in NEAR:
            first, second = times.get((m.operator, f"{a[0]}x{a[1]}")), times.get((m.operator, f"{b[0]}x{b[1]}"))
            if m.size == f"{b[0]}x{b[1]}" and first and second and max(first, second) > JUMP * min(first, second):
                jump = f"{first:.1f} us at {a[0]}x{a[1]}"
        yield Verdict(m, bound, m.us / bound, jump)


def kernel_table(rows):
    """Kernels of calls beyond the rule: how many calls of how many operators launch them."""
    calls, operators = Counter(), {}
    for row in rows:
        for kernel in {part.split(" ", 1)[1] for part in row.measure.kernels.split(", ") if part}:
            calls[kernel] += 1
            operators.setdefault(kernel, set()).add(row.measure.operator)
    lines = ["| kernel | calls | operators |", "|---|---|---|"]
    for kernel, count in calls.most_common():
        names = sorted(operators[kernel])
        lines.append(f"| {kernel} | {count} | {len(names)}: {', '.join(names[:6])}{' ...' if len(names) > 6 else ''} |")
    return lines


def page(path, soc, sizes, judged, allowed, launch, skipped):
    broken = [row for row in judged if row.times > MOST or row.jump]
    mine = [row for row in broken if not reason_of(allowed, row.measure.operator)]
    names = {row.measure.operator for row in judged}
    lines = [f"# Operators beside their bounds: {soc}", "",
             "Written by `make roofline` (tests/bench/roofline.py): simulated times of the second of two calls, tensors of zeros. The bound is a",
             f"launch ({launch:.2f} us) and the longest of: the bytes it moves (twice those of a tensor that is read and written) at the L2's rate; all bytes at",
             "the memory's if the L2 does not hold them, else what is written beyond the part of the L2 that may differ from memory; the instructions of",
             "an operator that is one expression (roofline_work.csv: of some others) on the vector unit, at 256 bytes of f32 a cycle of every core.", "",
             f"Sizes: {', '.join(f'{rows}x{columns}' for rows, columns in sizes)}, or one of an operator's own. "
             f"{len(judged)} calls of {len(names)} operators; at most {MOST:.0f} times the bound and no jump of more than "
             f"{JUMP:.0f} between sizes that are nearly the same: {len(judged) - len(broken)}. Beyond it with a reason: "
             f"{len(broken) - len(mine)}; beyond it: {len(mine)} calls of {len({row.measure.operator for row in mine})} operators. "
             f"{skipped} calls were not made (types or shapes that the operator does not take).", "",
             "## Beyond the rule", "", "The worst call of each operator, with the kernels it launches.", "",
             "| operator | call | us | bound | times | jump from | kernels |", "|---|---|---|---|---|---|---|"]
    worst = {}
    for row in mine:
        if row.measure.operator not in worst or row.times > worst[row.measure.operator].times:
            worst[row.measure.operator] = row
    for (m, bound, times, jump) in sorted(worst.values(), key=lambda row: -row.times):
        lines.append(f"| {m.operator} | {m.size} | {m.us:.1f} | {bound:.1f} | {times:.1f} | {jump} | {m.kernels} |")
    lines += ["", "## By kernel", "", "What calls beyond the rule launch; a call counts at each of its kernels.", "", *kernel_table(mine)]
    lines += ["", "## With a reason", "", "| operators | reason | worst |", "|---|---|---|"]
    for pattern, reason in allowed:
        rows = [row for row in broken if pattern.fullmatch(row.measure.operator)]
        if rows:
            most = max(rows, key=lambda row: row.times)
            listed = ", ".join(sorted({row.measure.operator for row in rows}))
            lines.append(f"| {listed} | {reason} | {most.times:.1f} times, {most.measure.operator} {most.measure.size} |")
    Path(path).write_text("\n".join(lines) + "\n", encoding="ascii")
    return mine


def reason_of(allowed, name):
    return next((reason for pattern, reason in allowed if pattern.fullmatch(name)), None)


def chosen(args, kept):
    """Whether a point is to be swept, by its operator's name."""
    of_kernels = {m.operator for m in kept if any(word in m.kernels for word in args.kernel or [])}
    every = not args.only and not args.kernel
    return lambda name: every or name in of_kernels or any(re.fullmatch(only, name) for only in args.only or [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--soc", default="ascend910b1")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="operators, as regular expressions")
    parser.add_argument("--kernel", nargs="*", metavar="TEXT", help="operators that launched such kernels, as --raw has it")
    parser.add_argument("--raw", metavar="FILE", help="what was measured; what is not swept is taken from it")
    parser.add_argument("--quick", action="store_true", help="without the largest size, which takes most of the time")
    parser.add_argument("--page", default=os.devnull)
    args = parser.parse_args()
    kept = list(read_raw(args.raw)) if args.raw and os.path.exists(args.raw) else []
    take = chosen(args, kept)
    sizes = SIZES[:-1] if args.quick else SIZES
    every = list(points(args.soc, sizes))
    wanted = [("Abs", "1x1", "4096 Abs @1x1")] + [point for point in every if take(point[0])]
    got = list(sweep(args.build, args.soc, wanted))
    launch = got[0].us
    merged = {(m.operator, m.size): m for m in [*kept, *got[1:]]}
    now = {(m.operator, m.size) for m in got}
    measured = [m for key, m in merged.items() if key in now or not take(m.operator)]
    if args.raw:
        write_raw(args.raw, sorted(measured))
    judged = list(judge([m for m in measured if m.bytes >= SMALL_BYTES], launch, read_chip(args.soc)))
    there = {(m.operator, m.size) for m in measured}
    mine = page(args.page, args.soc, sizes, judged, exceptions(), launch, sum(point[:2] not in there for point in every))
    for m, bound, times, jump in mine:
        if take(m.operator):
            print(f"{m.operator:36} {m.size:14} {m.us:10.1f} us, bound {bound:8.1f}, {times:6.1f} times {'jump from ' + jump if jump else ''}")
    print(f"{args.soc}: {len(judged)} calls, {len(mine)} beyond the rule without a reason")
    return 1 if mine else 0


if __name__ == "__main__":
    sys.exit(main())
