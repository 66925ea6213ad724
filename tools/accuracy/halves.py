# SPDX-License-Identifier: Apache-2.0
"""Cross-validation of the constants that were fitted: halves.py LEO SOC_DIR PUBLISHED.csv [FOLDER].

Every row of ascend910b1 that runs is recorded once (LEO_TAPE) and priced again and again (leo replay). The rows are dealt
into two halves, row by row within a workload. For each half the fitted numbers begin away from where they are, by a factor
that depends on the key alone, and are refitted on that half by coordinate descent over the sum of squared logarithms of
simulated / published; then the other half is priced with them. Both errors are printed, and the numbers found.
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
STEPS = (1.35, 1.1)
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
        self.good = self.metric in PIPES or self.metric == "task_us"
        self.heard, self.deaf, self.known = set(), set(), {}  # keys that matter; keys that do not matter to the row; errors by the values of all others
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


class Fit:
    def __init__(self, rows, numbers):
        self.rows, self.clock = [row for row in rows if row.id not in LONG], numbers["soc.clock_khz"] / 1000
        self.pool = ThreadPoolExecutor(os.cpu_count())

    def error(self, row, numbers):
        heard = tuple((key, value) for key, value in numbers.items() if key not in row.deaf)
        if heard not in row.known:
            row.known[heard] = row.error(numbers, self.clock)
        return row.known[heard]

    def errors(self, numbers, rows):
        return list(self.pool.map(lambda row: self.error(row, numbers), rows))

    def listen(self, numbers):
        """Finds out which numbers matter to which rows, so that only those are priced again."""
        was = self.errors(numbers, self.rows)
        for keys in KEYS:
            for factor in (2, 0.5):
                trial = {**numbers, **{key: numbers[key] * factor for key in keys}}
                is_ = list(self.pool.map(lambda row: row.error(trial, self.clock), self.rows))
                for row, old, new in zip(self.rows, was, is_):
                    row.heard |= set(keys) if old != new else set()
        for row in self.rows:
            row.deaf, row.known = {key for keys in KEYS for key in keys} - row.heard, {}

    def loss(self, numbers):
        return sum(error * error for error in self.errors(numbers, self.rows))

    def run(self, numbers):
        self.listen(numbers)
        best = self.loss(numbers)
        for step in STEPS:
            for keys in KEYS:
                moved = True
                for factor in (step, 1 / step):
                    while moved:
                        trial = {**numbers, **{key: numbers[key] * factor for key in keys}}
                        loss = self.loss(trial)
                        moved = loss < best * 0.999
                        if moved:
                            numbers, best = trial, loss
                    moved = True
        return numbers


def tell(name, errors):
    percent = sorted(abs(math.exp(error) - 1) * 100 for error in errors)
    print(f"{name}: {len(percent):3} rows, median error {statistics.median(percent):5.1f} %, worst {percent[-1]:5.1f} %", flush=True)


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
        tell("all rows       ", Fit(rows, start).errors(fitted, rows))
        for number, half in enumerate(halves):
            # Half as much again or a third less: not where the numbers came from.
            away = {key: start[key] * (1.5 if zlib.crc32(keys[0].encode()) & 1 else 1 / 1.5) for keys in KEYS for key in keys}
            fit = Fit(half, start)
            found = fit.run(away)
            print(f"half {'AB'[number]}: " + " ".join(row.id for row in half))
            tell("  before refit  ", fit.errors(away, half))
            tell("  fitted        ", fit.errors(found, half))
            tell("  held-out half ", fit.errors(found, halves[1 - number]))
            print("  " + ", ".join(f"{keys[0]} {found[keys[0]]:.4g} ({start[keys[0]]:.4g})" for keys in KEYS))


main()
