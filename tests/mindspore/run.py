#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py --toolkit DIR --venv DIR --soc NAME CASE...: trains each case on the CPU and on the simulated chip with the unchanged wheel;
the losses must be near each other. With --devices N msrun starts N ranks, each with its part of the CPU's batch, and all must print
the same losses. Exit code 77, a skipped test: there is no such environment.
"""

import argparse
import math
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Relative. Products of float32 are rounded to the Cube unit's narrower inputs; float16 (O2, O3) to 11 bits.
NEAR, NEAR_HALF = 0.001, 0.005
STEPS = 4


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ranks(python, count):
    """The command that starts a script in so many ranks, each with its output in a file of its own."""
    return [python, "-B", python.parent / "msrun", f"--worker_num={count}", f"--local_worker_num={count}", "--join=True",
            f"--master_port={free_port()}", "--log_dir=ranks"]


def losses(python, device, case, around, timeout, count=1):
    """The losses, or None: it failed, and its output was printed."""
    with tempfile.TemporaryDirectory() as place:
        environment = {**os.environ, "ASCEND_PROCESS_LOG_PATH": place, "MS_ALLOC_CONF": os.environ.get("MS_ALLOC_CONF", "enable_vmm:False"),
                       "PATH": f"{python.parent}:{os.environ['PATH']}"}  # msrun starts python
        done = subprocess.run([*around, HERE / "case.py", device, case], cwd=place, env=environment, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        outputs = [path.read_text(errors="replace") for path in sorted(Path(place).glob("ranks/worker_*.log"))] or [done.stdout]
    values = [[float(line.split()[1]) for line in output.splitlines() if line.startswith("loss ")] for output in outputs]
    if done.returncode == 0 and len(values) == count and len(values[0]) == STEPS and all(map(math.isfinite, values[0])) and all(v == values[0] for v in values):
        return values[0]
    print(f"{case} on {device}: exit code {done.returncode}, losses {values}", *outputs, sep="\n")
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--toolkit", type=Path, required=True)
    parser.add_argument("--venv", type=Path, required=True)
    parser.add_argument("--soc", default="ascend910b1")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("cases", nargs="+")
    args = parser.parse_args()
    python = args.venv.resolve() / "bin" / "python"
    if not python.exists():
        print(f"no {python}: tools/setup-mindspore.sh {args.venv} makes it")
        return 77
    alone = [python, "-B"]
    leo = [args.toolkit.resolve() / "cann" / "bin" / "leo", "exec", "--soc", args.soc, "--devices", str(args.devices), "--"]
    failed = 0
    for case in args.cases:
        started = time.monotonic()
        want = losses(python, "CPU", case, alone, args.timeout)
        got = losses(python, "Ascend", case, [*leo, *(ranks(python, args.devices) if args.devices > 1 else alone)], args.timeout,
                     args.devices)
        if not want or not got:
            failed += 1
            continue
        far = max(abs(a - b) / abs(a) for a, b in zip(want, got))
        good = far <= (NEAR_HALF if "O2" in case or "O3" in case else NEAR)
        failed += not good
        print(f"{case} {args.soc}: {'good' if good else 'FAILED'}, losses {' '.join(f'{x:.5f}' for x in got)}, "
              f"{far:.1e} from the CPU's, {time.monotonic() - started:.1f} s", flush=True)
    return 1 if failed else 0


sys.exit(main())
