# SPDX-License-Identifier: Apache-2.0
"""Cross-validation of the constants that were fitted: halves.py LEO SOC_DIR PUBLISHED.csv [FOLDER].

Every row of ascend910b1 that runs is recorded once (LEO_TAPE) and priced again and again (leo replay). The rows are dealt
into two halves, row by row within a workload. For each half the fitted numbers begin away from where they are, by a factor
that depends on the key alone, and are refitted on that half by least squares of the logarithms of simulated / published; then
the other half is priced with them. Both errors are printed, and the numbers found.
"""
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

SOC = "ascend910b1"
# Numbers fitted to rows, and those they are held together with.
KEYS = [
    ["gm.gm_read_hit_ns"], ["gm.gm_read_miss_ns"], ["gm.gm_write_ns"], ["gm.gm_read_requests"], ["gm.gm_same_line_ns"],
    ["gm.gm_small_interval"], ["gm.nd2nz_row"], ["gm.l2_gb_per_s"], ["gm.hbm_read_gb_per_s", "gm.hbm_write_gb_per_s"],
    ["gm.hbm_turn_bytes"], ["gm.hbm_run_bytes"], ["cube.mmad_head"], ["cube.mmad_gap"], ["vector.ub_bank_wait"],
    ["scheduler.block_spread_ns"],
]
STEP, DAMPING, MAX_STEP, ROUNDS = 1.15, 0.002, 0.5, 4
# Rows whose time is proportional to the first number of their params named here: so much less of a tape, so much longer.
SHORT = {"A10": ("rows", 8), "A18": ("m", 128), "A19": ("m", 64), "A20": ("m", 64), "A21": ("m", 64)}
# Rows of long tapes: judged, not fitted to.
LONG = ("A22", "A23", "A39")
PIPES = {"vec_busy_us": "v", "mac_busy_us": "m", "mte1_busy_us": "mte1", "mte2_busy_us": "mte2", "mte3_busy_us": "mte3",
         "fixpipe_busy_us": "fix", "cycles_per_op": "v", "total_cycles": "m"}


def numbers_of(path):
    """Section.key: number of a chip's file."""
    numbers, section = {}, ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("["):
                section = line[1:line.index("]")]
            match = re.match(r"(\w+) = ([0-9.]+) ", line)
            if match:
                numbers[f"{section}.{match[1]}"] = float(match[2])
    return numbers


class Row:
    def __init__(self, leo, folder, row):
        self.leo, self.id, self.metric, self.published = leo, row["id"], row["metric"], float(row["value"])
        self.workload = row["workload"]
        key, self.scale = SHORT.get(self.id, ("", 1))
        params = row["params"]
        if self.scale > 1:
            params = re.sub(rf"\b{key}=(\d+)", lambda m: f"{key}={int(m[1]) // self.scale}", params, count=1)
        self.count = int((re.search(r"count=(\d+)", params) or [0, "1"])[1])
        self.tape = os.path.join(folder, f"{self.workload}-{zlib.crc32(params.encode()):08x}.tape")
        # What collectives take comes from the table of links: a tape of one card has no task of theirs.
        self.good = self.workload != "collective" and (self.metric in PIPES or self.metric == "task_us")
        if self.good and not os.path.exists(self.tape):
            table = os.path.join(folder, "row.csv")
            with open(table, "w", encoding="utf-8") as file:
                file.write(f"id,soc,workload,params,metric,value,unit,source\nX,{SOC},{self.workload},{params},{self.metric},1,us,x\n")
            done = subprocess.run([leo, "accuracy", table], env={**os.environ, "LEO_TAPE": self.tape}, capture_output=True, text=True)
            self.good = "1 rows ran" in done.stdout

    def error(self, numbers, clock_mhz):
        """Logarithm of simulated / published."""
        command = [self.leo, "replay", self.tape, "--soc", SOC, "--json"]
        for key, value in numbers.items():
            command += ["--set", f"{key}={value:.6g}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"halves: {self.id}: {done.stderr}")
        task = json.loads(done.stdout)["task"][-1]
        if self.metric == "task_us":
            value = task["us"]
        else:
            value = task["busy"][PIPES[self.metric]] / max(task["cores"], 1)
            value = value / self.count if self.metric == "cycles_per_op" else value if self.metric == "total_cycles" else value / clock_mhz
        return math.log(value * self.scale / self.published)


def solve(matrix, right):
    """Gauss elimination with pivots; both are used up."""
    n = len(right)
    for i in range(n):
        pivot = max(range(i, n), key=lambda row: abs(matrix[row][i]))
        matrix[i], matrix[pivot], right[i], right[pivot] = matrix[pivot], matrix[i], right[pivot], right[i]
        for row in range(i + 1, n):
            factor = matrix[row][i] / matrix[i][i]
            matrix[row] = [x - factor * y for x, y in zip(matrix[row], matrix[i])]
            right[row] -= factor * right[i]
    for i in reversed(range(n)):
        right[i] = (right[i] - sum(matrix[i][k] * right[k] for k in range(i + 1, n))) / matrix[i][i]
    return right


class Fit:
    """Least squares by Gauss and Newton: errors and numbers as logarithms, derivatives by a step of each number."""

    def __init__(self, rows, start):
        self.rows, self.clock = [row for row in rows if row.id not in LONG], start["soc.clock_khz"] / 1000
        self.pool = ThreadPoolExecutor(2 * os.cpu_count())
        self.deaf = {}  # by key: rows it did not matter to, which are not priced again for it

    def errors(self, numbers, rows):
        return list(self.pool.map(lambda row: row.error(numbers, self.clock), rows))

    def slopes(self, keys, numbers, was):
        trial = {**numbers, **{key: numbers[key] * STEP for key in keys}}
        deaf = self.deaf.get(keys[0], set())
        rows = [row for row in self.rows if row.id not in deaf]
        found = dict(zip((row.id for row in rows), self.errors(trial, rows)))
        slope = [(found.get(row.id, old) - old) / math.log(STEP) for row, old in zip(self.rows, was)]
        self.deaf.setdefault(keys[0], {row.id for row, x in zip(self.rows, slope) if x == 0})
        return slope

    def step(self, numbers, was):
        """Where the errors, were they straight lines, would be least; numbers that say nothing stay."""
        slopes = [self.slopes(keys, numbers, was) for keys in KEYS]
        matrix = [[sum(x * y for x, y in zip(a, b)) + (DAMPING if a is b else 0) for b in slopes] for a in slopes]
        return solve(matrix, [-sum(x * e for x, e in zip(a, was)) for a in slopes])

    def run(self, numbers):
        was = self.errors(numbers, self.rows)
        loss = sum(e * e for e in was)
        for _ in range(ROUNDS):
            move, part, better = self.step(numbers, was), 1, False
            while part > 0.2 and not better:
                trial = dict(numbers)
                for keys, by in zip(KEYS, move):
                    for key in keys:
                        trial[key] *= math.exp(max(-MAX_STEP, min(MAX_STEP, by * part)))
                now = self.errors(trial, self.rows)
                better = sum(e * e for e in now) < loss
                part /= 2
            if not better:
                break
            print(f"  squares of errors {loss:.4f} -> {sum(e * e for e in now):.4f}", flush=True)
            numbers, was, loss = trial, now, sum(e * e for e in now)
        return numbers


def tell(name, errors, rows):
    percent = sorted((abs(math.exp(error) - 1) * 100, row.id) for error, row in zip(errors, rows))
    worst = ", ".join(f"{row} {error:.1f} %" for error, row in reversed(percent[-4:]))
    print(f"{name}: {len(percent):3} rows, median error {statistics.median(error for error, _ in percent):5.1f} %, worst {worst}", flush=True)


def main():
    leo, socs, published = sys.argv[1:4]
    start = numbers_of(f"{socs}/{SOC}.ini")
    with tempfile.TemporaryDirectory() as own:
        folder = sys.argv[4] if len(sys.argv) > 4 else own
        os.makedirs(folder, exist_ok=True)
        with open(published, encoding="utf-8") as file:
            rows = [Row(leo, folder, row) for row in csv.DictReader(file) if row["soc"] == SOC]
        rows = [row for row in rows if row.good]
        halves = ([], [])
        for workload in dict.fromkeys(row.workload for row in rows):
            for i, row in enumerate(row for row in rows if row.workload == workload):
                halves[i % 2].append(row)
        fitted = {key: start[key] for keys in KEYS for key in keys}
        print(f"{len(rows)} rows with the chip's own numbers")
        tell("all rows       ", Fit(rows, start).errors(fitted, rows), rows)
        for number, half in enumerate(halves):
            # Half as much again or a third less: not where the numbers came from.
            away = {key: start[key] * (1.5 if zlib.crc32(keys[0].encode()) & 1 else 1 / 1.5) for keys in KEYS for key in keys}
            fit = Fit(half, start)
            found = fit.run(away)
            print(f"half {'AB'[number]}: " + " ".join(row.id for row in half))
            tell("  before refit  ", fit.errors(away, half), half)
            tell("  fitted        ", fit.errors(found, half), half)
            tell("  held-out half ", fit.errors(found, halves[1 - number]), halves[1 - number])
            print("  " + ", ".join(f"{keys[0]} {found[keys[0]]:.4g} ({start[keys[0]]:.4g})" for keys in KEYS))


main()
