#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py --toolkit DIR --venv DIR --soc NAME --suite NAME --mode NAME: cases.py on the simulated chip, with the unchanged wheel.

A suite is one of cases.py, or "sessions": sessions.py, twice in one folder. Passes if no case is wrong but those of known.csv, none
crashed or stayed, and at least --least are right. --list prints those that are not right, --only runs the named ones. Exit code 77, a
skipped test: there is no such environment.
"""

import argparse
import collections
import csv
import fnmatch
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def wait_for(process, results, timeout):
    """True: it ended. False: it stayed longer than `timeout` seconds in one case, and was ended."""
    size, since = -1, time.monotonic()
    while process.poll() is None:
        now = results.stat().st_size if results.exists() else 0
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > timeout:
            process.kill()
            process.wait()
            return False
        time.sleep(0.05)
    return True


def read_results(path):
    """[(number, name, outcome or "")], and whether the last line was written."""
    out, ended = [], False
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        if line.startswith("begin "):
            _, number, name = line.split(" ", 2)
            out.append((int(number), name, ""))
        elif line == "end":
            ended = True
        elif out:
            out[-1] = (*out[-1][:2], line)
    return out, ended


def run_sessions(args, python, place):
    """0 if both runs are good: the first compiles and saves models, the second loads them."""
    chip = [args.toolkit.resolve() / "cann" / "bin" / "leo", "exec", "--soc", args.soc, "--"]
    for turn in (1, 2):
        done = subprocess.run([*chip, python, "-B", HERE / "sessions.py"], cwd=place, timeout=args.timeout, check=False,
                              env={**os.environ, "ASCEND_PROCESS_LOG_PATH": place})
        if done.returncode:
            print(f"sessions {args.soc}: FAILED, exit code {done.returncode} in run {turn}")
            return 1
    return 0


def run_all(args, python, place):
    """Outcomes by name. The process is started again behind a case that ended it."""
    chip = [args.toolkit.resolve() / "cann" / "bin" / "leo", "exec", "--soc", args.soc, "--"]
    environment = {**os.environ, "ASCEND_PROCESS_LOG_PATH": place}
    outcomes, first, part = {}, 0, 0
    while True:
        results = Path(place) / f"results{part}"
        errors = open(args.errors or os.devnull, "ab")
        with errors, subprocess.Popen([*chip, python, "-B", HERE / "cases.py", args.suite, args.mode, args.precision, str(first), results,
                                       *args.only], cwd=place, env=environment, stdout=errors, stderr=errors) as process:
            in_time = wait_for(process, results, args.timeout)
        seen, ended = read_results(results)
        outcomes.update({name: outcome for _, name, outcome in seen if outcome})
        if ended and process.returncode == 0:
            return outcomes
        if ended or not seen:
            outcomes["(the process)"] = f"crash exit code {process.returncode}"
            return outcomes
        number, name, _ = seen[-1]
        outcomes[name] = f"crash exit code {process.returncode}" if in_time else f"crash no end after {args.timeout} s"
        first, part = number + 1, part + 1


def is_known(args, name):
    with open(HERE / "known.csv", encoding="utf-8") as table:
        rows = csv.DictReader(line for line in table if not line.startswith("#"))
        return any(row["mode"] in ("*", args.mode) and row["precision"] in ("*", args.precision) and row["chip"] in ("*", args.soc) and
                   fnmatch.fnmatch(name, row["case"]) for row in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--toolkit", type=Path, required=True)
    parser.add_argument("--venv", type=Path, required=True)
    parser.add_argument("--soc", default="ascend910b1")
    parser.add_argument("--suite", default="node")
    parser.add_argument("--mode", default="graph")
    parser.add_argument("--precision", default="must_keep_origin_dtype")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--least", type=int, default=1)
    parser.add_argument("--errors", help="file for what the processes print")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    python = args.venv.resolve() / "bin" / "python"
    if not python.exists():
        print(f"no {python}: tools/setup-onnxruntime.sh {args.venv} makes it")
        return 77
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        if args.suite == "sessions":
            return run_sessions(args, python, place)
        outcomes = run_all(args, python, place)
    for name, outcome in outcomes.items():
        if outcome.startswith("wrong") and is_known(args, name):
            outcomes[name] = "known " + outcome
    counts = collections.Counter(outcome.split()[0] for outcome in outcomes.values())
    for name, outcome in sorted(outcomes.items()):
        if outcome.split()[0] in ("wrong", "crash") or (args.list and outcome != "right"):
            print(f"{name}: {outcome}")
    bad = counts["wrong"] + counts["crash"]
    good = not bad and counts["right"] >= args.least
    print(f"{args.suite} {args.mode} {args.precision} {args.soc}: {'good' if good else 'FAILED'}, "
          f"{', '.join(f'{n} {what}' for what, n in counts.most_common())} of {len(outcomes)} "
          f"(at least {args.least} right), {time.monotonic() - started:.1f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
