# SPDX-License-Identifier: Apache-2.0
"""msprof op, msprof op simulator: one launch of a kernel in the tables of the vendor's profiler of operators (docs/kernel_profile.md).

Both run the program on the simulated card. `op` writes a row a block and core: OpBasicInfo, PipeUtilization, ArithmeticUtilization, Memory, L2Cache,
ResourceConflictRatio. `op simulator` writes what each line and instruction did, by core, and timelines."""

import argparse
import csv
import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hot_spots
from raw import STALLS, Error, Profile

CORES = 1000  # process of core 0 in a timeline
UNITS = {0: "scalar", 1: "vec", 2: "cube", 3: "mte1", 4: "mte2", 5: "mte3", 6: "fixpipe"}  # threads of a timeline
AIC, AIV = ("cube", "scalar", "mte1", "mte2", "mte3", "fixpipe"), ("vec", "scalar", "mte2", "mte3")
WAITS = {"flag": "flag", "barrier": "barrier", "queue": "queue", "bank": "bank", "memory": "memory"}


class Core:
    """What one core did in the launch, from its bars in the timeline."""

    def __init__(self, number, device):
        cubes, vectors = device.info["cube_cores"], device.info["vector_cores"]
        self.number = number
        self.is_vector = vectors > 0 and number >= cubes
        self.is_coupled = vectors == 0
        ratio = vectors // cubes if vectors else 1
        self.group = (number - cubes) // ratio if self.is_vector else number
        self.sub = f"vector{(number - cubes) % ratio}" if self.is_vector else "cube0" if vectors else "core0"
        self.name = f"core{self.group}.{'veccore' if self.is_vector else 'cubecore'}{(number - cubes) % ratio if self.is_vector else 0}"
        self.busy, self.waits, self.first, self.last = dict.fromkeys(UNITS.values(), 0.0), {}, None, 0.0
        self.read = self.written = self.missed = self.elements = self.products = 0

    def add(self, event):
        unit, args = UNITS.get(event["tid"]), event["args"]
        if unit is None:
            return
        self.busy[unit] += event["dur"]
        self.first = event["ts"] if self.first is None else min(self.first, event["ts"])
        self.last = max(self.last, event["ts"] + event["dur"])
        self.missed += args.get("missed_bytes", 0)
        self.elements += args.get("elements", 0)
        self.products += args.get("multiply_adds", 0)
        if event["name"].startswith("copy_gm"):
            self.read += args.get("bytes", 0)
        elif event["name"].endswith("_gm"):
            self.written += args.get("bytes", 0)
        if "waited_us" in args:
            self.waits[unit, args["for"]] = self.waits.get((unit, args["for"]), 0.0) + args["waited_us"]

    @property
    def us(self):
        return self.last - (self.first or 0)


def plain(name):
    """A C++ function's own name."""
    length = re.match(r"_Z(\d+)", name)
    return name[length.end():length.end() + int(length[1])] if length else name


def launch_of(device, wanted):
    """The first launch of the kernel of that name, or of any."""
    names = []
    for task in device.tasks:
        if task.kind == "kernel":
            names.append(task.name)
            if wanted is None or any(re.fullmatch(re.escape(part).replace(r"\*", ".*"), name)
                                 for part in wanted.split("|") for name in (task.name, plain(task.name))):
                return task
    told = ", ".join(sorted(set(names))) or "none"
    raise Error(f"no kernel {wanted} was launched; there were: {told}" if wanted else "the program launched no kernel")


def cores_of(device, task, wanted):
    """Cores of the launch by number, and the timeline's events of it."""
    path = device.folder / "data" / "trace.json"
    timeline = json.loads(path.read_text(encoding="utf-8"))
    begin, end = task.sim_start / 1000, task.sim_end / 1000
    cores, events = {}, []
    for event in timeline["traceEvents"]:
        if event["ph"] == "M":
            events.append(event)
            continue
        number = event["pid"] - CORES
        if number < 0 or not begin <= event["ts"] <= end or (wanted and number not in wanted):
            continue
        events.append(event)
        if event["ph"] == "X":
            cores.setdefault(number, Core(number, device)).add(event)
    return dict(sorted(cores.items())), events


def write(path, head, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)


def block_rows(cores, mhz, columns):
    """A table with a row a block and core: `columns` gives (name, value) of a core and its side, or nothing for the other side."""
    head, rows = [], []
    for side, prefix in ((False, "aic"), (True, "aiv")):
        members = [core for core in cores if core.is_vector == side and not core.is_coupled] + \
            [core for core in cores if core.is_coupled]
        if members:
            head += [f"{prefix}_time(us)", f"{prefix}_total_cycles"] + [f"{prefix}_{name}" for name, _ in columns(members[0], prefix)]
    for block, core in enumerate(cores):
        row = [core.group if not core.is_coupled else block, core.sub]
        sides = [prefix for side, prefix in ((False, "aic"), (True, "aiv")) if core.is_coupled or core.is_vector == side]
        for prefix in dict.fromkeys(name.split("_")[0] for name in head):
            mine = prefix in sides
            values = [f"{core.us:.3f}", round(core.us * mhz)] + [value for _, value in columns(core, prefix)] if mine else \
                ["NA"] * sum(name.startswith(f"{prefix}_") for name in head)
            row += values
        rows.append(row)
    return ["block_id", "sub_block_id", *head], rows


def ratio(part, whole):
    return f"{part / whole:.4f}" if whole > 0 else "0.0000"


def write_op(folder, device, task, cores):
    cores, mhz = list(cores.values()), device.mhz

    def pipes(core, prefix):
        for unit in AIC if prefix == "aic" else AIV:
            yield f"{unit}_time(us)", f"{core.busy[unit]:.3f}"
            yield f"{unit}_ratio", ratio(core.busy[unit], core.us)

    def arithmetic(core, prefix):
        unit, work = ("cube", core.products) if prefix == "aic" else ("vec", core.elements)
        yield f"{unit}_ratio", ratio(core.busy[unit], core.us)
        yield ("cube_multiply_adds" if prefix == "aic" else "vec_elements"), work

    def memory(core, prefix):
        for name, moved in (("read_main_memory_datas(KB)", core.read), ("write_main_memory_datas(KB)", core.written)):
            yield name, f"{moved / 1024:.3f}"
        for name, moved in (("read_main_memory_bw(GB/s)", core.read), ("write_main_memory_bw(GB/s)", core.written)):
            yield name, f"{moved / core.us / 1000:.3f}" if core.us else "0.000"

    def l2(core, prefix):
        yield "read_hit_rate(%)", f"{100 * (1 - min(core.missed / core.read, 1)):.2f}" if core.read else "NA"

    def conflicts(core, prefix):
        for unit in AIC if prefix == "aic" else AIV:
            for why in WAITS:
                yield f"{unit}_wait_{why}_ratio", ratio(core.waits.get((unit, why), 0.0), core.us)

    write(folder / "OpBasicInfo.csv", ["Op Name", "Op Type", "Task Duration(us)", "Block Dim", "Device Id", "Pid", "Current Freq", "Rated Freq"],
          [[task.name, task.core_kind, f"{task.duration / 1000:.3f}", task.blocks, device.number, "NA", round(mhz), round(mhz)]])
    for name, columns in (("PipeUtilization", pipes), ("ArithmeticUtilization", arithmetic), ("Memory", memory), ("L2Cache", l2),
                          ("ResourceConflictRatio", conflicts)):
        write(folder / f"{name}.csv", *block_rows(cores, mhz, columns))


def write_simulator(folder, device, cores, events):
    """A folder a core, and a timeline of all."""
    rows, place = hot_spots.read(device), folder / "simulator"
    place.mkdir()
    if not rows:
        print("msprof op: no lines and instructions: another kernel file was loaded where this one had been", file=sys.stderr)
    names = [event for event in events if event["ph"] == "M"]
    (place / "trace.json").write_text(json.dumps({"traceEvents": events}), encoding="utf-8")

    def cycles(spot):
        return spot.cycles + spot.busy * device.mhz / 1e6

    for number, core in cores.items():
        own, home = [row for row in rows if row["core"] == number], place / core.name
        home.mkdir()
        lines = sorted(hot_spots.by_line(own).items(), key=lambda item: -cycles(item[1]))
        lost = [f"lost_{why}(us)" for why in STALLS]
        write(home / f"{core.name}_code_exe.csv",
              ["code", "call_count", "cycles", "running_time(us)", "scalar_cycles", "unit_cycles", *lost, "gm_bytes"],
              [[f"{file}:{line}", spot.count, round(cycles(spot)), f"{cycles(spot) / device.mhz:.3f}", round(spot.cycles),
                round(spot.busy * device.mhz / 1e6), *(f"{spot.lost[why] / 1e6:.3f}" for why in STALLS), spot.bytes]
               for (file, line), spot in lines])
        write(home / f"{core.name}_instr_exe.csv",
              ["instr", "addr", "pipe", "call_count", "cycles", "running_time(us)", "code", "gm_bytes"],
              [[row["insn"] or f"scalar {row['word']}", f"0x{row['pc']:x}", row["pipe"].upper(), row["count"],
                round(row["cycles"] + row["busy"] * device.mhz / 1e6), f"{row['cycles'] / device.mhz + row['busy'] / 1e6:.3f}",
                f"{row['file']}:{row['line']}", row["bytes"]] for row in own])
        mine = names + [event for event in events if event["ph"] != "M" and event["pid"] == CORES + number]
        (home / "trace.json").write_text(json.dumps({"traceEvents": mine}), encoding="utf-8")


def arguments(words, prog):
    parser = argparse.ArgumentParser(prog=prog, description=__doc__.split("\n\n", 1)[1], allow_abbrev=False)
    parser.add_argument("--application", metavar="COMMAND", help="the program with its arguments, as one word")
    parser.add_argument("--kernel-name", metavar="NAME", help="the kernel; * stands for anything, | between several (default: the first)")
    parser.add_argument("--output", metavar="DIR", default=".", help="where the OPPROF_* folder is made (default: here)")
    parser.add_argument("--aic-metrics", metavar="LIST", help="accepted: all tables are written")
    parser.add_argument("--core-id", metavar="N,N", help="these cores alone")
    parser.add_argument("--soc-version", metavar="NAME", help="the chip: Ascend910B1 .. (default: LEO_SOC, else ascend910a)")
    parser.add_argument("program", nargs=argparse.REMAINDER, help="the program and its arguments")
    args = parser.parse_args(words)
    program = args.program[1:] if args.program[:1] == ["--"] else args.program
    program = program or shlex.split(args.application or "")
    if not program:
        parser.error("no program: msprof op ./app")
    try:
        args.cores = {int(word) for word in args.core_id.split(",")} if args.core_id else None
    except ValueError:
        parser.error(f"--core-id takes numbers with commas between them, not {args.core_id}")
    return args, program


def run_program(program, soc, place):
    environment = {**os.environ, "LEO_PROFILE": place, "LEO_PROFILE_CODE": "1"}
    if soc:
        environment["LEO_SOC"] = soc if soc.endswith(".ini") else soc.lower().replace("_", "")
    try:
        return subprocess.run(program, env=environment, check=False).returncode
    except OSError as error:
        raise Error(f"cannot run {program[0]}: {error.strerror}") from error


def main(words):
    is_simulator = words[:1] == ["simulator"]
    args, program = arguments(words[is_simulator:], "msprof op simulator" if is_simulator else "msprof op")
    with tempfile.TemporaryDirectory() as place:
        code = run_program(program, args.soc_version, place)
        found = sorted(Path(place).glob("PROF_*"))
        if not found:
            raise Error(f"{program[0]} used no device (it ended with {code})")
        profile = Profile(found[0])
        if not profile.devices:
            raise Error(f"{program[0]} used no device (it ended with {code})")
        device = profile.devices[0]
        task = launch_of(device, args.kernel_name)
        cores, events = cores_of(device, task, args.cores)
        if not cores:
            raise Error("the launch left no record of these cores")
        folder = Path(args.output) / f"OPPROF_{time.strftime('%Y%m%d%H%M%S')}_{''.join(secrets.choice('ABCDEFGHIJKLMNOPQRSTUVWXYZ') for _ in range(16))}"
        folder.mkdir(parents=True)
        try:
            if is_simulator:
                write_simulator(folder, device, cores, events)
            else:
                write_op(folder, device, task, cores)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    print(f"msprof op: {task.name}, {task.duration / 1000:.3f} us on {len(cores)} cores, written to {folder}")
    if code:
        print(f"msprof op: the program ended with {code}", file=sys.stderr)
    return code if 0 <= code < 256 else 1
