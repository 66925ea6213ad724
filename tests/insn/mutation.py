# SPDX-License-Identifier: Apache-2.0
"""Plants bugs in the scalar unit, one at a time, and asks whether the random programs find them.

Each mutant is a copy of sim/scalar with one text replaced, compiled as the build does (its compile_commands.json) and linked
in front of the library. Exit code 77: QEMU is not installed."""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import random_compare
from random_programs import read_table

SKIP = 77

# file, text (it must be there once), replacement
MUTATIONS = [
    ("alu.def", "ALU(SRAIW, (uint64_t)(int64_t)((int32_t)(uint32_t)a >> imm))", "ALU(SRAIW, (uint32_t)a >> imm)"),
    ("alu.def", "BRANCH(BLTU, a < b)", "BRANCH(BLTU, (int64_t)a < (int64_t)b)"),
    ("alu.def", "LOAD(LWU, 4, value)", "LOAD(LWU, 4, sext(value, 32))"),
    ("alu.def", "(i128)(int64_t)a * (i128)(u128)b) >> 64", "(i128)(int64_t)a * (int64_t)b) >> 64"),
    ("alu.def", "DIVIDE(REMU, b ? a % b : a)", "DIVIDE(REMU, b ? a % b : 0)"),
    ("link.c", "op->rd = SIM_X_NOWHERE;", ";"),
    ("link.c", "op->imm = (int64_t)(decoded->base + offset + (uint64_t)op->imm);", ";"),
    ("run.c", "(X[op->rs1] + IMM) & ~UINT64_C(1)", "(X[op->rs1] + IMM)"),
    ("run.c", "scalar->f[op->rd] = value | UINT64_MAX << 16", "scalar->f[op->rd] = value"),
    ("csr.c", "old & ~source", "old ^ source"),
    ("exec_atomic.c", "get_min(memory, source, false, true)", "get_min(memory, source, true, true)"),
    ("softfloat.c", "up = rest >= half;", "up = rest > half;"),
    ("softfloat.c", "biased < 0 || whole", "biased < 1 || whole"),
    ("float_host.h", "#define BOXED_S(bits) ((bits) >> 32 == UINT32_MAX)", "#define BOXED_S(bits) ((bits) >> 33 == UINT32_MAX >> 1)"),
    ("float_host.h", "return (double)r * (double)y != (double)x;", "return 0;"),
    ("float_host.h", "back != x);", "false);"),
    ("float_host_half.h", "(UINT64_C(1) << 41) - 1 + (bits >> 42 & 1)", "(UINT64_C(1) << 41)"),
    ("float_host_all.h", "|| x == y) {", ") {"),
]


def compile_commands(build):
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = Path(entry["file"])
        if path.parent.name == "scalar" and path.parent.parent.name == "sim":
            words = shlex.split(entry["command"])
            words = words[1:] if words[0].endswith("ccache") else words
            cut = words.index("-o")
            # -O1: the mutants are compiled, not raced.
            commands[path.name] = [w for w in words[:cut] + words[cut + 2:] if w not in ("-c", entry["file"])] + ["-O1"]
    return commands


class Mutant:
    def __init__(self, args, commands):
        self.args, self.commands, self.sim = args, commands, Path(args.work) / "sim"

    def copy_sources(self):
        shutil.rmtree(self.sim, ignore_errors=True)
        shutil.copytree(Path(self.args.sim) / "scalar", self.sim / "scalar")
        for header in Path(self.args.sim).glob("*.h"):
            shutil.copy(header, self.sim)

    def build(self, name, old, new):
        self.copy_sources()
        path = self.sim / "scalar" / name
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise SystemExit(f"mutation.py: {name} does not hold once: {old}")
        path.write_text(text.replace(old, new), encoding="utf-8")
        sources = [name] if name.endswith(".c") else ["run.c"]
        objects = []
        for source in sources:
            objects.append(str(self.sim / source.replace(".c", ".o")))
            subprocess.run([*self.commands[source], "-Wno-error", "-c", str(self.sim / "scalar" / source), "-o", objects[-1]],
                           check=True, stderr=subprocess.DEVNULL)
        program = self.sim / "bare_run"
        subprocess.run([self.commands["run.c"][0], *self.args.main, *objects, *self.args.libraries, "-lpthread", "-lm",
                        "-o", str(program)], check=True)
        return program


def is_found(args, bare, table):
    """The number of the program that found it, or 0."""
    args.bare = str(bare)
    for seed in range(1, args.programs + 1):
        if random_compare.compare(args, table, seed, Counter()) is None:
            return seed
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sim", required=True, help="the folder sim/")
    parser.add_argument("--build", required=True, help="the build, with compile_commands.json")
    parser.add_argument("--main", required=True, nargs="+", help="objects of bare_run")
    parser.add_argument("--libraries", required=True, nargs="+")
    parser.add_argument("--work", required=True)
    parser.add_argument("--programs", type=int, default=40, help="programs to try on a mutant")
    args = parser.parse_args()
    if not shutil.which("qemu-riscv64"):
        print("skipped: qemu-riscv64 is not installed")
        return SKIP
    Path(args.work).mkdir(parents=True, exist_ok=True)
    table = read_table(Path(args.sim) / "scalar" / "insns.def")
    mutant, alive = Mutant(args, compile_commands(Path(args.build))), 0
    for name, old, new in MUTATIONS:
        seed = is_found(args, mutant.build(name, old, new), table)
        print(f"{'found by program ' + str(seed) if seed else 'NOT FOUND'}: {name}: {old} -> {new}", flush=True)
        alive += not seed
    print(f"{len(MUTATIONS) - alive} of {len(MUTATIONS)} bugs found")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
