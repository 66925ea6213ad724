#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""networks.py --toolkit DIR --venv DIR [--only ID,..] [--page FILE]: training steps of networks under torch_npu beside published ones.

A row of networks.csv: `batch` is the published one of a card, `run` what is simulated here. What a step takes but for the optimizer has a
part that grows with the batch and one that does not (launches, weights), so of a smaller one the half is run too and the difference is
counted for the rest; of a network of equal `layers` one and two are run and the difference is counted for the others. mode=graph: launches are free (LEO_HOST_MODEL=off), as where the card has the whole step; eager: the script gives
operator after operator (LEO_HOST_MODEL=torch_npu), and a step is no shorter than it takes for that. Collectives of published steps of
several cards are not in ours: there they run beside the gradients. Results stay in build/networks: a run that was ended goes on.
"""

import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VISION = HERE.parents[1] / "examples" / "pytorch" / "torchvision_on_cpu"
BEGIN, END = "<!-- networks -->\n", "<!-- networks end -->\n"


class Failed(Exception):
    pass


class Runner:
    def __init__(self, args):
        self.leo = args.toolkit.resolve() / "cann" / "bin" / "leo"
        # Not resolved to the end: a link to Python is not the environment's.
        self.python = args.venv.absolute() / "bin" / "python"
        self.kept, self.limit = args.results.absolute(), args.timeout
        self.kept.mkdir(parents=True, exist_ok=True)

    def step(self, row, model, batch, layers):
        """Milliseconds of the passes and of the update."""
        name = f"{row['network']}_{batch}_{layers}_{row['soc']}_{model}.json"
        if not (self.kept / name).exists():
            command = [self.leo, "exec", "--soc", row["soc"], "--", self.python, "-W", "ignore", "-B", HERE / "step.py",
                       row["network"], str(batch), str(layers)]
            environment = {**os.environ, "PYTHONPATH": str(VISION), "LEO_HOST_MODEL": model, "ASCEND_PROCESS_LOG_PATH": str(self.kept)}
            try:
                done = subprocess.run(command, env=environment, cwd=self.kept, capture_output=True, text=True, timeout=self.limit, check=False)
            except subprocess.TimeoutExpired:
                raise Failed(f"no end after {self.limit} s") from None
            lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
            if done.returncode or not lines:
                raise Failed((done.stderr.strip().splitlines() or ["it said nothing"])[-1])
            (self.kept / name).write_text(lines[-1] + "\n")
        found = json.loads((self.kept / name).read_text())
        return found["pass_ms"], found["update_ms"]

    def whole(self, row, model, batch):
        """The same with all layers."""
        layers = int(row["layers"])
        first = self.step(row, model, batch, min(layers, 1))
        if layers < 2:
            return first
        second = self.step(row, model, batch, 2)
        return tuple(one + (layers - 1) * (two - one) for one, two in zip(first, second))

    def device_ms(self, row):
        """Of the published batch, by the batches that are run."""
        run, half = batches(row)
        passes, update = self.whole(row, "off", run)
        if half:
            passes += (int(row["batch"]) - run) * (passes - self.whole(row, "off", half)[0]) / (run - half)
        return passes + update

    def simulated_ms(self, row):
        device = self.device_ms(row)
        return device if row["mode"] == "graph" else max(device, sum(self.whole(row, "torch_npu", int(row["run"]))))


def batches(row):
    """The batch that is run, and half of it if the published one is another; else 0."""
    run = int(row["run"])
    return run, 0 if run == int(row["batch"]) else run // 2


def published_ms(row):
    if not row["value"]:
        return None
    return float(row["value"]) if row["unit"] == "ms" else int(row["batch"]) / float(row["value"]) * 1e3


def line_of(row, simulated, published):
    run = " and ".join(str(batch) for batch in batches(row) if batch)
    if int(row["layers"]) > 1:
        run += f", 1 and 2 of {row['layers']} layers"
    error = f"{100 * (simulated / published - 1):+.0f} %" if published else ""
    return (f"| {row['id']} | {row['network']} | {row['mode']} | {row['batch']} | {run} | {simulated:.1f} | "
            f"{f'{published:.1f}' if published else ''} | {error} | {row['conditions']} |")


def write_page(path, text):
    page = path.read_text(encoding="utf-8")
    path.write_text(re.sub(f"{BEGIN}.*?{END}", lambda _: BEGIN + text + END, page, flags=re.S), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--toolkit", type=Path, required=True)
    parser.add_argument("--venv", type=Path, required=True)
    parser.add_argument("--results", type=Path, default=Path("build/networks"))
    parser.add_argument("--timeout", type=float, default=7200)
    parser.add_argument("--only", default="")
    parser.add_argument("--page", type=Path, help="a page whose table of networks is written anew")
    args = parser.parse_args()
    if not (args.venv / "bin" / "python").exists():
        sys.exit(f"no {args.venv}/bin/python: tools/setup-pytorch.sh {args.venv} makes it")
    runner, errors, failed = Runner(args), [], []
    lines = ["| row | network | mode | batch | run here with | simulated ms | published ms | error | conditions |", "|---|---|---|---|---|---|---|---|---|"]
    with open(HERE / "networks.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    for row in rows:
        if args.only and row["id"] not in args.only.split(","):
            continue
        try:
            simulated, published = runner.simulated_ms(row), published_ms(row)
        except Failed as why:
            failed.append(row["id"])
            print(f"{row['id']} {row['network']}: FAILED: {why}", flush=True)
            continue
        lines.append(line_of(row, simulated, published))
        print(lines[-1], flush=True)
        if published:
            errors.append(abs(simulated / published - 1) * 100)
    if errors:
        lines += ["", f"{len(errors)} networks, median error {statistics.median(errors):.0f} %, worst {max(errors):.0f} %, "
                  f"{sum(error > 30 for error in errors)} beyond 30 %."]
        print(lines[-1])
    if args.page and not args.only and not failed:
        write_page(args.page, "\n".join(lines) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
