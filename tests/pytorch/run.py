#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py --toolkit DIR --venv DIR --soc NAME SCRIPT [arguments]: one test script as a user would start it.

The script runs in the venv's Python under `leo exec`. Passes if it ends with 0 and nothing fell back to the CPU (torch_npu
says so on stderr; the count is printed) but what --cpu names: operators that torch_npu computes there whatever the library has.
Exit code 77, a skipped test: the venv cannot be made on this machine.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
VISION = HERE.parents[1] / "examples" / "pytorch" / "torchvision_on_cpu"
# torch_npu's sentences, from its wheel, and torch_mlu's: "... will fall back to run on the CPU", "... will fallback to run on the CPU".
FALLBACK = re.compile(r"operator '?(aten::\S+?)'? .*fall ?back to run on the CPU")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--toolkit", type=Path, required=True)
    parser.add_argument("--venv", type=Path, required=True)
    parser.add_argument("--soc", default="ascend910a")
    parser.add_argument("--devices", default="1")
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--cpu", default="", help="names without aten::, separated by commas")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    python = args.venv.resolve() / "bin" / "python"
    if not python.exists():
        print(f"no {python}: tools/setup-pytorch.sh or tools/setup-mlu.sh {args.venv} makes it")
        return 77
    command = [args.toolkit.resolve() / "cann" / "bin" / "leo", "exec", "--soc", args.soc, "--devices", args.devices, "--",
               python, "-B", HERE / args.script, *args.arguments]
    with tempfile.TemporaryDirectory() as place:
        # A folder of its own: scripts write checkpoints and profiles where they are started.
        environment = {**os.environ, "PYTHONPATH": f"{HERE}:{VISION}", "LEO_TEST_SOC": args.soc, "PYTHONUNBUFFERED": "1",
                       "LEO_TEST_DEVICE": "mlu" if args.soc.startswith("mlu") else "npu", "ASCEND_PROCESS_LOG_PATH": place}
        started = time.monotonic()
        try:
            done = subprocess.run(command, env=environment, cwd=place, stderr=subprocess.PIPE, text=True, errors="replace",
                                  timeout=args.timeout, check=False)
            code, errors = done.returncode, done.stderr
        except subprocess.TimeoutExpired as late:
            code, errors = 1, (late.stderr or b"").decode(errors="replace") + f"\nno end after {args.timeout} s"
    sys.stderr.write(errors)
    known = {f"aten::{name}" for name in args.cpu.split(",")}
    fallbacks = sorted({name.rstrip(",") for name in FALLBACK.findall(errors)} - known)
    print(f"{args.script} {args.soc}: exit code {code}, {time.monotonic() - started:.1f} s, "
          f"{len(fallbacks)} operators fell back to the CPU {' '.join(fallbacks)}")
    return 1 if code or fallbacks else 0


sys.exit(main())
