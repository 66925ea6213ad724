# SPDX-License-Identifier: Apache-2.0
"""What-if points of a report: the run's tape priced for variants of its chip by `leo replay`, all in advance."""

import itertools
import json
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Factors of the sliders, 1 among them, and the numbers of the chip's file that each changes.
AXES = {
    "clock": ([0.5, 0.75, 1, 1.25, 1.5, 2], ["soc.clock_khz"]),
    "hbm": ([0.5, 0.75, 1, 1.5, 2, 4], ["gm.hbm_read_gb_per_s", "gm.hbm_write_gb_per_s"]),
    "cores": ([0.25, 0.5, 1, 2], ["soc.cube_cores", "soc.vector_cores"]),
}
LISTED = 40  # operators with a time of their own


def find_tape(folder, process, device):
    """The tape that leo exec --what-if made of this device beside the profile, or None."""
    name = f"{process}.tape" + (f".{device}" if device else "")
    for place in (folder.parent, folder.parent.parent, folder):
        if (place / "tapes" / name).is_file():
            return place / "tapes" / name
    return None


def settings(ini, factors):
    """Arguments of leo replay for a chip whose numbers are multiplied."""
    out = []
    for (_, keys), factor in zip(AXES.values(), factors):
        for key in keys:
            value = ini.getfloat(*key.split("."), fallback=0)
            if value and factor != 1:
                number = value * factor
                whole = key.startswith("soc.")
                out += ["--set", f"{key}={max(round(number), 1) if whole else round(number, 6)}"]
    return out


def price(leo, tape, soc, ini, factors, seconds=None):
    """Time from the first task to the last, of all kernels, and of each operator, in us, and whether a run there would take it;
    None: this chip is impossible."""
    try:
        done = subprocess.run([leo, "replay", str(tape), "--json", *(["--soc", soc] if soc else []), *settings(ini, factors)],
                              capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        return None
    data = json.loads(done.stdout)
    by_name = {}
    for task in data["task"]:
        if task["blocks"]:
            by_name[task["name"]] = by_name.get(task["name"], 0.0) + task["us"]
    return {"us": data["us"], "kernels": sum(by_name.values()), "by_name": by_name, "mark": data["mark"], "by": data["estimated_by"]}


def points(leo, tape, soc, ini, seconds, must=True):
    """All combinations if they can be priced in `seconds`, else each axis alone; None if the tape cannot be played, or, but for
    `must`, if that would take longer too."""
    began = time.monotonic()
    base = price(leo, tape, soc, ini, [1] * len(AXES), None if must else seconds)
    if not base:
        return None
    one, workers = time.monotonic() - began, os.cpu_count() or 1
    choices = [factors for factors, _ in AXES.values()]
    every = list(itertools.product(*choices))
    full = one * len(every) / workers <= seconds
    wanted = every if full else [point for point in every if sum(factor != 1 for factor in point) <= 1]
    if not must and one * len(wanted) / workers > seconds:
        return None
    names = sorted(base["by_name"], key=base["by_name"].get, reverse=True)[:LISTED]
    with ThreadPoolExecutor(workers) as pool:
        priced = list(pool.map(lambda point: base if all(f == 1 for f in point) else price(leo, tape, soc, ini, point), wanted))
    return {"axes": {name: factors for name, (factors, _) in AXES.items()}, "full": full, "names": names,
            "points": [[list(point), round(p["us"], 3), round(p["kernels"], 3), [round(p["by_name"].get(n, 0), 3) for n in names],
                        f"{p['mark']}: {p['by']}" if p["by"] else p["mark"]]
                       for point, p in zip(wanted, priced) if p]}


def find_leo(here):
    """The program this report belongs to."""
    beside = Path(here) / ".." / ".." / ".." / "bin" / "leo"
    return str(beside) if beside.exists() else os.environ.get("LEO_COMMAND", "leo")
