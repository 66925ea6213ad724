#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""leo report: one self-contained page for a profiled run: timeline, time by operator and unit, kernels' sources, roofline, memory, what-if."""

import configparser
import json
import os
import sys
from pathlib import Path

HERE = Path(os.path.realpath(__file__)).parent
# Beside it in the source tree, or where the toolkit has it.
sys.path[:0] = [str(HERE / ".." / "msprof"),
                str(HERE / ".." / ".." / ".." / "tools" / "profiler" / "profiler_tool" / "analysis" / "msprof")]
from raw import PIPES, STALLS, Error, Profile, merge  # noqa: E402
import chip_notes  # noqa: E402
import command  # noqa: E402
import model_plan  # noqa: E402
import source  # noqa: E402
import what_if  # noqa: E402

# A vector instruction works on 256 bytes.
VECTOR_OPERATIONS = 128
QUICK_SECONDS = 2
# Tasks drawn at most; of more, the longest.
DRAWN = 20000


def chip_file(device):
    """Text and numbers of the chip that ran, kept with the profile. A file with a base has sections twice."""
    ini = configparser.ConfigParser(inline_comment_prefixes=(";",), strict=False)
    path = device.folder / "data" / "soc.ini"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    ini.read_string(text)
    return text, ini


def hbm_rate(ini):
    """What HBM reads a second, its refresh taken off; None: the profile has no chip's file."""
    rate = ini.getfloat("gm", "hbm_read_gb_per_s", fallback=None)
    return rate and rate * (1 - ini.getfloat("gm", "hbm_refresh_ns", fallback=0) / ini.getfloat("gm", "hbm_refresh_every_ns", fallback=1))


def cube_operations(ini):
    """Multiplications and additions of one step, a cycle, of 16-bit operands."""
    size = 2
    for key in ("cube_m", "cube_n", "cube_k"):
        size *= ini.getint("cube", key, fallback=16)
    return size


def operators(device, operations):
    groups, tasks = {}, device.operators
    for task in tasks:
        groups.setdefault((task.type, device.core_of(task)), []).append(task)
    total = sum(task.duration for task in tasks) or 1
    rows = []
    for (kind, core), members in groups.items():
        time = sum(task.duration for task in members)
        cycles = sum(task.cycles for task in members) or 1
        moved = sum(task.read + task.written for task in members)
        work = sum(task.busy["mac"] * operations[0] + task.busy["vec"] * operations[1] for task in members)
        rows.append({
            "type": kind, "core": core, "count": len(members), "us": time / 1000, "share": 100 * time / total,
            "longest": max(task.duration for task in members) / 1000,
            "units": {pipe: 100 * sum(task.busy[pipe] for task in members) / cycles for pipe in PIPES},
            "intensity": work / moved if moved else None, "gops": work / time if time else 0,
            "gbs": moved / time if time else 0,
            "l2": 100 * sum(task.hits for task in members) / (sum(task.read for task in members) or 1)})
        rows[-1]["kind"] = chip_notes.class_of(kind)
    return sorted(rows, key=lambda row: -row["us"])


def nodes(device):
    """Tasks of models by node, in the order they ran first."""
    groups = {}
    for task in sorted(device.operators, key=lambda task: task.sim_start):
        if task.node:
            groups.setdefault(task.node, []).append(task)
    total = sum(task.duration for members in groups.values() for task in members) or 1
    rows = []
    for name, members in groups.items():
        time, cycles = sum(task.duration for task in members), sum(task.cycles for task in members) or 1
        rows.append({"node": name, "types": sorted({task.type for task in members}), "tasks": len(members), "us": time / 1000,
                     "share": 100 * time / total, "units": {pipe: 100 * sum(task.busy[pipe] for task in members) / cycles for pipe in PIPES}})
    return rows


def what_if_classes(tasks):
    """Time in us by what bounds a task's cores, for the first-order estimate of the page."""
    bound = {"core": 0.0, "memory": 0.0, "other": 0.0}
    for task in tasks:
        core = max(task.busy[pipe] for pipe in ("scalar", "vec", "mac", "mte1", "fixpipe"))
        memory = max(task.busy["mte2"], task.busy["mte3"])
        if task.cycles and max(core, memory):
            part = min(max(core, memory) / task.cycles, 1.0) * task.duration / 1000
            bound["core" if core >= memory else "memory"] += part
            bound["other"] += task.duration / 1000 - part
        else:
            bound["other"] += task.duration / 1000
    return bound


def profiles_in(place):
    """Folders PROF_* in a folder, and one below. Others may be removed meanwhile: the folder may be /tmp."""
    found = []
    for folder in [place, *place.iterdir()]:
        try:
            found += folder.glob("PROF_*")
        except OSError:
            continue
    return found


def relatives(profile):
    """The profiles of all ranks of the run: those beside this one whose collectives were in one of its groups."""
    groups = {row["group"] for row in profile.links}
    found = [profile]
    for folder in {*profile.folder.parent.glob("PROF_*"), *profiles_in(profile.folder.parent.parent)} if groups else ():
        if folder.resolve() != profile.folder.resolve() and (folder / "host" / "data" / "link.csv").exists():
            try:
                other = Profile(folder)
            except Error:
                continue  # of a rank that did not stop its profile
            if groups & {row["group"] for row in other.links}:
                found.append(other)
    return found


def overlap(span, others):
    """How much of a span the (sorted, disjoint) others cover."""
    return sum(max(0, min(span[1], end) - max(span[0], start)) for start, end in others)


def rank_data(profile, device):
    """One device of one rank: when kernels ran, and its collectives; simulated time is one for all ranks."""
    kernels = merge((task.sim_start, task.sim_end) for task in device.tasks if task.is_compute)
    links = []
    for row in profile.links:
        if int(row["device"]) == device.number:
            begin, ready, end = (int(row[name]) for name in ("begin", "ready", "end"))
            links.append({"name": row["name"], "rank": int(row["rank"]), "ranks": int(row["ranks"]), "bytes": int(row["bytes"]),
                          "begin": begin / 1000, "ready": ready / 1000, "end": end / 1000,
                          "hidden": overlap((begin, end), kernels) / 1000})
    longest = sorted(kernels, key=lambda span: span[0] - span[1])[:DRAWN // 10]
    return {"process": profile.process, "device": device.number, "links": links,
            "rank": max(((link["ranks"], link["rank"]) for link in links), default=(0, 0))[1],
            "kernels": [[start / 1000, (end - start) / 1000] for start, end in sorted(longest)],
            "busy": sum(end - start for start, end in kernels) / 1000}


def all_ranks(profile):
    ranks = [rank_data(one, device) for one in relatives(profile) for device in one.devices]
    return sorted((rank for rank in ranks if rank["links"]), key=lambda rank: (rank["rank"], rank["process"]))


def what_if_points(profile, device, ini, seconds):
    tape = what_if.find_tape(profile.folder.resolve(), profile.process, device.number) if seconds != 0 else None
    soc = str(device.folder / "data" / "soc.ini") if ini.sections() else None
    quick = seconds is None  # a page comes at once; who wants more says for how long
    return what_if.points(what_if.find_leo(HERE), tape, soc, ini, QUICK_SECONDS if quick else seconds, not quick) if tape else None


def page_data(profile, seconds):
    devices = []
    for device in profile.devices:
        kernels = [task for task in device.tasks if task.is_compute]
        first = min((task.sim_start for task in device.tasks), default=0)
        last = max((task.sim_end for task in device.tasks), default=0)
        names = sorted({task.type for task in device.tasks})
        drawn = sorted(device.tasks, key=lambda task: -task.duration)[:DRAWN]
        memory = [row for row in profile.memory if int(row["device"]) == device.number]
        start = int(memory[0]["ns"]) if memory else 0
        text, ini = chip_file(device)
        work = (cube_operations(ini), VECTOR_OPERATIONS * ini.getfloat("vector", "ub_repeats", fallback=1))
        cores = max(device.info["cube_cores"], device.info["vector_cores"])
        devices.append({
            "number": device.number, "soc": device.info["soc"], "mhz": device.mhz, "cores": cores,
            "host": device.info.get("host_model", "not noted in this profile"), "lost": device.info.get("lost", 0), "tasks": len(device.tasks), "span": (last - first) / 1000,
            "busy": sum(task.duration for task in kernels) / 1000, "operators": operators(device, work), "nodes": nodes(device),
            "pipes": {pipe: sum(task.busy[pipe] for task in kernels) for pipe in PIPES},
            "stalls": {pipe: [sum(task.stalls[pipe][why] for task in kernels) for why in STALLS] for pipe in PIPES},
            "rates": chip_notes.rates(kernels, first, last), "l2rate": ini.getfloat("gm", "l2_gb_per_s", fallback=None),
            "energy": chip_notes.energy(kernels, last - first, text, work), "provenance": chip_notes.provenance(text),
            "cycles": sum(task.cycles for task in kernels), "names": names,
            "drawn": [[task.stream, (task.sim_start - first) / 1000, task.duration / 1000, names.index(task.type)]
                      for task in sorted(drawn, key=lambda task: task.sim_start)],
            "memory": [[(int(row["ns"]) - start) / 1e9, int(row["bytes"]) / 2**20] for row in memory],
            "peak": device.info["cube_cores"] * device.mhz * 1e6 * work[0] / 1e9,
            "vecpeak": (device.info["vector_cores"] or device.info["cube_cores"]) * device.mhz * 1e6 * work[1] / 1e9,
            "hbm": hbm_rate(ini), "bound": what_if_classes(kernels),
            "sweep": what_if_points(profile, device, ini, seconds), "code": source.files(device)})
    return {"folder": profile.folder.name, "process": profile.process, "devices": devices, "ranks": all_ranks(profile),
            "stallNames": STALLS, "expected": chip_notes.expected_rows()}


def find(place):
    place = Path(place)
    if (place / "host").is_dir():
        return place
    found = sorted(profiles_in(place) if place.is_dir() else [], key=lambda path: path.stat().st_mtime)
    if not found:
        raise Error(f"{place}: no profile here: run with leo exec --profile {place}, or use torch_npu.profiler")
    return found[-1]


def main():
    parser = command.Parser(prog="leo report", description=__doc__)
    parser.add_argument("run", metavar="RUN", help="folder of a profile (PROF_*), or one that holds some: the newest is taken")
    parser.add_argument("-o", "--output", help="the page (default: report.html in the folder)")
    parser.add_argument("--what-if-seconds", type=float, metavar="S",
                        help="time for pricing the run on other chips (needs leo exec --what-if; default: what 2 seconds allow); 0: estimate")
    parser.add_argument("--source", action="store_true",
                        help="print kernels' sources with what each line did (leo run --profile, leo exec --profile DIR --code)")
    parser.add_argument("--model", metavar="OM", help="the model that ran: its memory plan, and which nodes became one")
    args = parser.parse_args()
    profile = Profile(find(args.run))
    if args.source:
        if not any(source.files(device) for device in profile.devices):
            raise Error(f"{profile.folder}: instructions were not counted: use leo run --profile, or leo exec --profile DIR --code")
        for device in profile.devices:
            source.tell(device, sys.stdout)
        return
    shown = {**page_data(profile, args.what_if_seconds), "model": model_plan.take(args.model, HERE) if args.model else None}
    data = json.dumps(shown, separators=(",", ":")).replace("</", "<\\/")
    page = (HERE / "page.html").read_text(encoding="utf-8").replace("/*DATA*/", data)
    output = Path(args.output or Path(args.run) / "report.html")
    output.write_text(page, encoding="utf-8")
    print(output)


if __name__ == "__main__":
    command.run("leo report", main)
