# SPDX-License-Identifier: Apache-2.0
"""Runs random programs (random_programs.py) under QEMU and the simulator's scalar unit and compares what they write.

In CI until --least instructions have been compared, the frame's own not counted; as a soak for --seconds. Exit code 77:
QEMU is not installed."""

import argparse
import os
import shutil
import struct
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from random_programs import DUMPED, RECORD, Program, read_table

SKIP = 77


def run(command, path):
    done = subprocess.run([*command, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=120)
    return done.stdout, done.returncode, done.stderr.decode(errors="replace").strip()


def name_of(index):
    names = [f"x{n}" for n in DUMPED] + [f"f{n}" for n in range(32)] + ["fcsr"]
    return names[index]


def report(program, path, expected, actual):
    at = next((i for i, (a, b) in enumerate(zip(expected, actual)) if a != b), min(len(expected), len(actual)))
    dump, place = at // RECORD, at % RECORD // 8
    print(f"{path.name}: outputs differ at byte {at} (lengths {len(expected)}, {len(actual)})")
    print(f"  after block {dump % program.blocks} in round {dump // program.blocks}: {name_of(place)}")
    for who, data in (("QEMU", expected), ("simulator", actual)):
        word = data[at // 8 * 8:at // 8 * 8 + 8]
        print(f"  {who}: {struct.unpack('<Q', word)[0]:016x}" if len(word) == 8 else f"  {who}: ended")
    block = dump % program.blocks
    first, last = program.labels.get(f"b{block}.0"), None
    print(f"  {path} is kept; llvm-objdump -d shows it{f', block at word {first}' if first else ''}")


def compare(args, table, seed, counts):
    """Instructions compared, or None at a difference."""
    program = Program(table, seed)
    path = Path(args.work) / f"random{seed}"
    path.write_bytes(program.elf())
    os.chmod(path, 0o755)
    expected, code, error = run(["qemu-riscv64", "-cpu", "rv64,Zfh=true"], path)
    if code != 0:
        print(f"{path.name}: QEMU ended with {code}: {error}")
        return None
    actual, code, error = run([args.bare, "--count"], path)
    if expected != actual or code != 0:
        report(program, path, expected, actual)
        print(f"  simulator ended with {code}: {error}")
        return None
    path.unlink()
    for name, n in program.counts.items():
        counts[name] += n
    dumps = len(expected) // RECORD
    return int(error.split()[-1]) - dumps * (RECORD // 8 + 8)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bare", required=True, help="the bare_run program")
    parser.add_argument("--insns", required=True, help="sim/scalar/insns.def")
    parser.add_argument("--work", required=True, help="folder for the programs")
    parser.add_argument("--seed", type=int, default=1, help="of the first program; the next ones follow")
    parser.add_argument("--least", type=int, default=40_000_000, help="instructions to compare")
    parser.add_argument("--seconds", type=float, default=0, help="go on so long, whatever was compared")
    args = parser.parse_args()
    if not shutil.which("qemu-riscv64"):
        print("skipped: qemu-riscv64 is not installed")
        return SKIP
    Path(args.work).mkdir(parents=True, exist_ok=True)
    table, counts = read_table(args.insns), Counter()
    compared, seed, end = 0, args.seed, time.monotonic() + args.seconds
    while compared < args.least if not args.seconds else time.monotonic() < end:
        n = compare(args, table, seed, counts)
        if n is None:
            return 1
        compared += n
        seed += 1
    print(f"{compared} instructions compared in {seed - args.seed} programs, the same")
    missing = [m for m in table if counts[m] == 0 and "bf16" not in m and m not in ("ecall", "ebreak", "unimp")]
    if missing:
        print("never generated:", " ".join(missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
