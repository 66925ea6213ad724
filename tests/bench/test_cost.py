#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_cost.py BUILD [REGEX] [--write FILE]: processor seconds of each ctest entry of a build, most first. One after the other;
what else the machine does changes wall times, not these. With --write the entries' lines of FILE (name, seconds) are renewed."""

import argparse
import json
import os
import re
import resource
import subprocess
from pathlib import Path


def entries(build, pattern):
    listing = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True, check=True)
    for test in json.loads(listing.stdout)["tests"]:
        properties = {item["name"]: item["value"] for item in test.get("properties", [])}
        if "command" in test and re.search(pattern, test["name"]):
            yield test["name"], test["command"], properties


def cost(command, properties):
    """(processor seconds, exit code)"""
    environment = dict(item.split("=", 1) for item in properties.get("ENVIRONMENT", []))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = subprocess.run(command, cwd=properties.get("WORKING_DIRECTORY"), env={**os.environ, **environment},
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, code


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("regex", nargs="?", default="")
    parser.add_argument("--write", type=Path, help="table of costs to renew (tests/costs.txt)")
    args = parser.parse_args()
    costs = {}
    for name, command, properties in entries(args.build, args.regex):
        seconds, code = cost(command, properties)
        if code == 0:
            costs[name] = seconds
        else:
            print(f"{name}: exit code {code}, not counted")
    for name, seconds in sorted(costs.items(), key=lambda item: -item[1]):
        print(f"{seconds:8.2f} {name}")
    print(f"{sum(costs.values()):8.2f} in all, {len(costs)} entries")
    if args.write:
        old = dict(line.split() for line in args.write.read_text().splitlines() if line[0] != "#") if args.write.exists() else {}
        old.update({name: f"{seconds:.1f}" for name, seconds in costs.items()})
        head = "# Processor seconds of ctest entries (tests/bench/test_cost.py): the first run of a build begins with the longest.\n"
        args.write.write_text(head + "".join(f"{name} {old[name]}\n" for name in sorted(old)))


main()
