# SPDX-License-Identifier: Apache-2.0
"""What a report says of its chip's numbers: where each came from, what error to expect, and energy by what was done."""

import csv
import re
from pathlib import Path

MARKS = {"P": "published", "M": "measured by others", "W": "third parties", "F": "fitted", "A": "assumed"}
# Numbers a time seldom depends on are left out of the table.
SECTIONS = ("soc", "memory", "scheduler", "copy", "scalar", "sync", "queue", "gm", "cube", "vector", "energy", "area")


def numbers(text):
    """(section, key, value, marks, remark) of each line that sets a number; "same" takes the marks of the line before."""
    out, section, marks = [], "", ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line[1:line.index("]")]
        match = re.match(r"(\w+)\s*=\s*([^;]*?)\s*(?:;\s*(.*))?$", line)
        if match and section:
            key, value, remark = match[1], match[2], match[3] or ""
            marks = "".join(re.findall(r"\[([A-Z])\]", remark)) or marks
            out.append((section, key, value, marks, remark))
    return out


def differences(old, new):
    """(key, value in one, in the other) of each number in which two chips' files differ; "-": the file leaves it out."""
    left, right = ({f"{section}.{key}": value for section, key, value, _, _ in numbers(text)} for text in (old, new))
    return [(key, left.get(key, "-"), right.get(key, "-")) for key in {**left, **right}
            if key != "soc.base" and left.get(key) != right.get(key)]


def provenance(text):
    """Numbers by origin, and those of the sections a time depends on most."""
    rows = [row for row in numbers(text) if row[1] not in ("name", "arch")]
    counts = {word: sum(mark in row[3] for row in rows) for mark, word in MARKS.items()}
    listed = [{"key": f"{section}.{key}", "value": value, "origin": " and ".join(MARKS[m] for m in dict.fromkeys(marks) if m in MARKS),
               "remark": re.sub(r"\[[A-Z]\]\s*", "", remark)}
              for section, key, value, marks, remark in rows if section in SECTIONS]
    return {"counts": counts, "numbers": listed}


def rows_of(name):
    with open(Path(__file__).with_name(name), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def expected_rows():
    """What leo accuracy found of each class of operators (make accuracy-operators)."""
    return rows_of("expected.csv")


def class_of(kind, classes=None):
    """The class of an operator, by the longest start of its name in classes.csv; "other": of no class there."""
    name = kind.lower().replace("_", "")
    starts = [(row["start"], row["class"]) for row in classes or rows_of("classes.csv")]
    return max((start for start in starts if name.startswith(start[0])), key=lambda start: len(start[0]), default=("", "other"))[1]


def energy(tasks, idle_ns, text, operations):
    """Joules by unit; None: the chip's file has no such numbers. `operations`: of a cycle of Cube and vector unit."""
    per = {key: float(value) for section, key, value, _, _ in numbers(text) if section == "energy"}
    if not per:
        return None
    work = {
        "cube": ("cube_pj_per_op", sum(task.busy["mac"] for task in tasks) * operations[0], "operations"),
        "vector": ("vector_pj_per_op", sum(task.busy["vec"] for task in tasks) * operations[1], "operations"),
        "L2": ("l2_pj_per_byte", sum(task.read + task.written for task in tasks), "bytes"),
        "HBM": ("hbm_pj_per_byte", sum(task.hbm for task in tasks), "bytes"),
    }
    rows = [{"unit": unit, "work": amount, "of": of, "pj": per[key], "joule": amount * per[key] * 1e-12}
            for unit, (key, amount, of) in work.items() if key in per]
    if "idle_w" in per:
        rows.append({"unit": "all the time", "work": idle_ns, "of": "ns", "pj": per["idle_w"] * 1e3, "joule": idle_ns * 1e-9 * per["idle_w"]})
    return rows


def area(values):
    """mm2 by part, from the numbers of a chip (section.key: text); None: the chip's file has no [area]."""
    if not any(key.startswith("area.") for key in values):
        return None

    def of(key, default=0.0):
        return float(values.get(key, default) or default)

    cubes, vectors = of("soc.cube_cores"), of("soc.vector_cores")
    cores, lanes = cubes + vectors, 128 * of("vector.ub_repeats", 1)
    mb = 1 << 20
    of_cube = sum(of(f"memory.{name}_bytes") for name in ("l1", "l0a", "l0b", "l0c", "bt", "fb")) * cubes / mb
    of_vector = of("memory.ub_bytes") * (vectors or cubes) / mb
    macs = of("cube.cube_m", 16) * of("cube.cube_n", 16) * of("cube.cube_k", 16)
    sram = of("area.sram_mm2_per_mb")
    return {"Cube units": cubes * macs * of("area.cube_um2_per_mac") * 1e-6,
            "vector units": (vectors or cubes) * lanes * of("area.vector_um2_per_lane") * 1e-6,
            "buffers of cores": (of_cube + of_vector) * sram, "rest of cores": cores * of("area.core_mm2"),
            "L2": of("memory.l2_bytes") / mb * sram, "HBM interface": of("gm.hbm_read_gb_per_s") * of("area.hbm_mm2_per_gb_per_s"),
            "other": of("area.other_mm2")}


def rates(tasks, first, last, bins=160):
    """Over simulated time: GB/s of all cores, GB/s of HBM, and the share of reads the L2 had (None: nothing was read)."""
    width = max((last - first) / bins, 1)
    moved, hbm, hits, read = ([0.0] * bins for _ in range(4))
    for task in tasks:
        begin, end = (task.sim_start - first) / width, max((task.sim_end - first) / width, (task.sim_start - first) / width + 1e-9)
        for at in range(int(begin), min(int(end), bins - 1) + 1):
            share = (min(end, at + 1) - max(begin, at)) / (end - begin)
            if share > 0:
                moved[at] += share * (task.read + task.written)
                hbm[at] += share * task.hbm
                hits[at] += share * task.hits
                read[at] += share * task.read
    return {"width": width / 1000, "gbs": [round(x / width, 2) for x in moved], "hbm": [round(x / width, 2) for x in hbm],
            "hits": [round(100 * h / r, 1) if r else None for h, r in zip(hits, read)]}
