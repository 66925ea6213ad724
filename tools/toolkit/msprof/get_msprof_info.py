#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""get_msprof_info.py -dir PROF_*/host: what the host of a profile is, as JSON; MindSpore's profiler asks for it."""

import argparse
import configparser
import json
import sys
from pathlib import Path

# The first version of a driver whose profiles can be exported at once. Ours can, whatever a real driver's version would be.
EXPORTS_ALL = 467473


def moment(path):
    """(ns, count): a moment on the host's clock and on its counter."""
    text = configparser.ConfigParser()
    if not text.read(path):
        raise ValueError(f"{path}: no such file: the profile was not stopped")
    return int(text["Host"]["clock_monotonic_raw"]), int(text["Host"]["cntvct"])


def info(folder):
    begin, end = moment(folder / "host_start.log"), moment(folder / "host_end.log")
    if end[0] <= begin[0]:
        raise ValueError(f"{folder}: the profile ends before it begins")
    mhz = (end[1] - begin[1]) * 1000 / (end[0] - begin[0])
    return {"host_info": {"cpu_num": 1, "cpu_info": [{"CPU_ID": 0, "Name": "host", "Frequency": f"{mhz:.6f}"}]},
            "version_info": {"drv_version": EXPORTS_ALL}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-dir", dest="folder", type=Path, required=True)
    try:
        print(json.dumps({"status": 0, "info": "", "data": info(parser.parse_args().folder)}))
    except (OSError, ValueError, KeyError, configparser.Error) as problem:
        print(json.dumps({"status": 1, "info": str(problem), "data": {}}))
        sys.exit(1)


main()
