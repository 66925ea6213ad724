#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""msprof: turns what the runtime left in PROF_* folders into the tables and the timeline other tools read."""

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

import communication
import database
import op
import tables
import timeline
from raw import Error, Profile

# torch_npu 2.13.0 runs this program beside a thread that looks for the first table every 0.1 s, and takes that thread for
# failed if this program ends before the thread has looked. So the end comes some looks after the tables.
SECONDS_FOR_READERS = 0.5

FILES = {"op_summary": tables.op_summary, "op_statistic": tables.op_statistic, "task_time": tables.task_time,
         "api_statistic": tables.api_statistic, "npu_module_mem": tables.module_memory, "npu_mem": tables.device_memory}


def export(folder):
    profile = Profile(folder)
    output = Path(folder) / "mindstudio_profiler_output"
    # Readers wait for the folder's first file and then want all of them: it appears complete.
    making = output.with_name(f".{output.name}_{os.getpid()}")
    making.mkdir()
    stamp = time.strftime("%Y%m%d%H%M%S")
    try:
        timeline.write(making / f"msprof_{stamp}.json", profile)
        for name, table in FILES.items():
            table(making / f"{name}_{stamp}.csv", profile)
        shutil.rmtree(output, ignore_errors=True)
        making.rename(output)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    tasks = sum(len(device.tasks) for device in profile.devices)
    print(f"msprof: {tasks} tasks of {len(profile.devices)} devices written to {output}")


def export_database(folder):
    profile = Profile(folder)
    path = Path(folder) / f"msprof_{time.strftime('%Y%m%d%H%M%S')}.db"
    database.write(path, profile)
    print(f"msprof: {sum(len(device.tasks) for device in profile.devices)} tasks written to {path}")


def analyze(folder):
    """communication.json: each collective's time and rate, as torch_npu reads it and puts it together by step."""
    profile = Profile(folder)
    if not any(device.links for device in profile.devices):
        print(f"msprof: {folder}: nothing to analyze: there were no collectives")
        return
    place = Path(folder) / "analyze"
    place.mkdir(exist_ok=True)
    with open(place / "communication.json", "w", encoding="utf-8") as file:
        json.dump(communication.operators(profile), file)
    print(f"msprof: collectives written to {place}")


def prof_folders(place):
    place = Path(place)
    found = [place] if (place / "host").is_dir() else sorted(place.glob("PROF_*")) + sorted(place.glob("*/PROF_*"))
    if not found:
        raise Error(f"{place}: no PROF_* folder here: give the folder a profile was written to")
    return found


def main():
    parser = argparse.ArgumentParser(prog="msprof", description="Exports profiles of the simulated chip.")
    parser.add_argument("--export", choices=("on", "off"), default="off", help="write the tables and the timeline")
    parser.add_argument("--analyze", choices=("on", "off"), default="off", help="communication analysis of several devices")
    parser.add_argument("--output", metavar="DIR", help="a PROF_* folder, or one that holds them")
    parser.add_argument("--rule", default="communication", help="what to analyze, words with commas between: communication (others are not there)")
    # torch_npu looks for this word in the help text to know whether it may ask for a data base.
    parser.add_argument("--type", choices=("text", "db"), default="text", help="tables and timeline, or a data base (SQLite)")
    args = parser.parse_args()
    if args.export == args.analyze == "off" or not args.output:
        parser.error("nothing to do: say --export=on --output=DIR")
    for folder in prof_folders(args.output):
        if args.export == "on":
            export(folder) if args.type == "text" else export_database(folder)
        else:
            analyze(folder)
    if args.export == "on":
        time.sleep(SECONDS_FOR_READERS)


try:
    if sys.argv[1:2] == ["op"]:
        sys.exit(op.main(sys.argv[2:]))
    main()
except (Error, OSError) as problem:
    print(f"msprof: {problem}", file=sys.stderr)
    sys.exit(1)
