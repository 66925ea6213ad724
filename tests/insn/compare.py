# SPDX-License-Identifier: Apache-2.0
"""Runs generated programs under QEMU and under the simulator's scalar unit and compares what they write, byte by byte.

Fails at the first difference, naming the instruction and its operands, and if an instruction was never compared.
Exit code 77: QEMU or the device compiler is not installed."""

import argparse
import os
import shutil
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

from bf16_reference import expect
from generate import pack_table, read_mnemonics, table_programs
from operands import tables
from sequences import sequence_program

SKIP = 77
SEED = 20240
# They end a program; traps.py runs them.
TRAPPING = {"ebreak", "unimp"}


def build(args, path, sources):
    target = ["--target=riscv64-unknown-elf", "-march=rv64imafd_zfh_zfbfmin", "-mabi=lp64", "-mcmodel=medany",
              "-mno-relax", "-fno-pic", "-ffreestanding", "-O2", "-fno-math-errno", "-ffp-contract=off", "-Wall", "-Werror"]
    objects = []
    for i, source in enumerate(sources):
        objects.append(f"{path}.{i}.o")
        subprocess.run([args.cc, *target, "-c", str(source), "-o", objects[-1]], check=True)
    subprocess.run([args.ld, "-static", "--no-relax", *objects, "-o", str(path)], check=True)


def run(command, path):
    """(output, exit code); a signal counts as its negative number."""
    done = subprocess.run([*command, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=60)
    return done.stdout, done.returncode, done.stderr.decode(errors="replace").strip()


def words(data):
    return " ".join(f"{w:016x}" for w in struct.unpack(f"<{len(data) // 8}Q", data[:len(data) // 8 * 8]))


def describe(program, position):
    """Block and record in which an output position lies."""
    start = 0
    for block in program.blocks:
        size = block.record_bytes * block.count
        if position < start + size:
            index = (position - start) // block.record_bytes
            return block, index, start + index * block.record_bytes
        start += size
    return None, 0, start


def report(program, expected, actual):
    position = next((i for i, (a, b) in enumerate(zip(expected, actual)) if a != b), min(len(expected), len(actual)))
    block, index, start = describe(program, position)
    print(f"{program.name}: outputs differ at byte {position} (lengths {len(expected)}, {len(actual)})")
    if block:
        end = start + block.record_bytes
        print(f"  instruction {'/'.join(block.mnemonics)}: {block.text}, case {index}")
        if block.table:
            print("  operands ", " ".join(f"{v:016x}" for v in program.tables[block.table][index]))
            print("  expected ", words(expected[start:end]))
            print("  simulator", words(actual[start:end]))
        else:
            print("  word", (position - start) // 8, "of the registers: expected",
                  words(expected[position // 8 * 8:][:8]), "simulator", words(actual[position // 8 * 8:][:8]))


def count_blocks(program, counts):
    for block in program.blocks:
        for name in block.mnemonics:
            counts[name] += block.count


def compare_program(args, program, path, counts, expected=None):
    if expected is None:
        expected, code, error = run(args.qemu, path)
        if code != 0:
            print(f"{program.name}: QEMU ended with {code}: {error}")
            return False
    actual, code, error = run([args.bare], path)
    size = sum(block.record_bytes * block.count for block in program.blocks)
    if expected != actual or code != 0 or len(expected) != size:
        report(program, expected, actual)
        print(f"  simulator ended with {code}: {error}; {size} bytes were due")
        return False
    count_blocks(program, counts)
    return True


def bf16_output(program):
    out = []
    for block in program.blocks:
        for row in program.tables[block.table]:
            out += expect(block.text, row[0])
    return struct.pack(f"<{len(out)}Q", *out)


def compare_instructions(args, work):
    mnemonics = read_mnemonics(args.insns)
    all_tables = tables(SEED)
    counts = Counter()
    for name, rows in all_tables.items():
        (work / f"{name}.bin").write_bytes(pack_table(rows))
    programs, bf16 = table_programs(mnemonics, all_tables, SEED)
    good = True
    for program in [*programs, bf16]:
        source = work / f"{program.name}.S"
        source.write_text(program.source(lambda name: work / f"{name}.bin"), encoding="ascii")
        build(args, work / program.name, [source])
        expected = bf16_output(program) if program is bf16 else None
        good &= compare_program(args, program, work / program.name, counts, expected)
    for i in range(args.sequences):
        program, text = sequence_program(mnemonics, SEED + i, 60, 64)
        source = work / f"{program.name}.S"
        source.write_text(text, encoding="ascii")
        build(args, work / program.name, [source])
        good &= compare_program(args, program, work / program.name, counts)
    return report_coverage(mnemonics, counts) and good


def report_coverage(mnemonics, counts):
    names = [name for name in mnemonics if name not in TRAPPING]
    missing = [name for name in names if counts[name] == 0]
    for i in range(0, len(names), 6):
        print("  " + "  ".join(f"{name} {counts[name]}" for name in names[i:i + 6]))
    print(f"{len(names) - len(missing)} of {len(names)} instructions compared, {sum(counts.values())} cases")
    if missing:
        print("never compared:", " ".join(missing))
    return not missing


def compare_c_programs(args, work):
    good = True
    start = Path(__file__).parent / "programs" / "start.c"
    for source in sorted(start.parent.glob("*.c")):
        if source == start:
            continue
        build(args, work / source.stem, [source, start])
        expected, actual = run(args.qemu, work / source.stem), run([args.bare], work / source.stem)
        same = expected[:2] == actual[:2] and expected[1] == 0 and expected[0]
        print(f"{source.stem}: {'same' if same else 'DIFFERENT'}, {len(expected[0])} bytes, exit code {expected[1]}")
        if not same:
            print(f"  simulator: exit code {actual[1]}, {len(actual[0])} bytes {actual[2]}")
        good &= bool(same)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--what", choices=("instructions", "programs", "traps"), required=True)
    parser.add_argument("--bare", required=True, help="the bare_run program")
    parser.add_argument("--insns", required=True, help="sim/scalar/insns.def")
    parser.add_argument("--work", required=True, help="folder for the programs")
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("--ld", default="ld.lld-19")
    parser.add_argument("--sequences", type=int, default=2)
    args = parser.parse_args()
    args.qemu = ["qemu-riscv64", "-cpu", "rv64,Zfh=true"]
    for tool in ("qemu-riscv64", args.cc, args.ld):
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            return SKIP
    work = Path(args.work)
    work.mkdir(parents=True, exist_ok=True)
    if args.what == "traps":
        from traps import compare_traps
        return 0 if compare_traps(args, work, build, run) else 1
    compare = {"instructions": compare_instructions, "programs": compare_c_programs}[args.what]
    return 0 if compare(args, work) else 1


if __name__ == "__main__":
    sys.exit(main())
