#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py --toolkit DIR --venv DIR --soc NAME CASE...: trains each case on the CPU and on the simulated chip with the unchanged wheel;
the losses must be near each other. Exit code 77, a skipped test: there is no such environment.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Relative. Products of float32 are rounded to the Cube unit's narrower inputs; float16 (O2, O3) to 11 bits.
NEAR, NEAR_HALF = 0.001, 0.005
STEPS = 4


def losses(python, device, case, around, timeout):
    """The losses, or None: it failed, and its output was printed."""
    with tempfile.TemporaryDirectory() as place:
        environment = {**os.environ, "ASCEND_PROCESS_LOG_PATH": place, "MS_ALLOC_CONF": os.environ.get("MS_ALLOC_CONF", "enable_vmm:False")}
        done = subprocess.run([*around, python, "-B", HERE / "case.py", device, case], cwd=place, env=environment, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    values = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("loss ")]
    if done.returncode == 0 and len(values) == STEPS and all(map(math.isfinite, values)):
        return values
    print(f"{case} on {device}: exit code {done.returncode}, {len(values)} losses\n{done.stdout}")
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--toolkit", type=Path, required=True)
    parser.add_argument("--venv", type=Path, required=True)
    parser.add_argument("--soc", default="ascend910b1")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("cases", nargs="+")
    args = parser.parse_args()
    python = args.venv.resolve() / "bin" / "python"
    if not python.exists():
        print(f"no {python}: tools/setup-mindspore.sh {args.venv} makes it")
        return 77
    chip = [args.toolkit.resolve() / "cann" / "bin" / "leo", "exec", "--soc", args.soc, "--"]
    failed = 0
    for case in args.cases:
        started = time.monotonic()
        want, got = losses(python, "CPU", case, [], args.timeout), losses(python, "Ascend", case, chip, args.timeout)
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
