# SPDX-License-Identifier: Apache-2.0
"""What instructions of kernels did, by line: of device_N/data/code.csv, which a profile with LEO_PROFILE_CODE=1 has.

core, pc, insn, pipe, file, line, function, word, count, scalar_cycles (the scalar unit goes through all instructions), busy_ps and what the unit of
the instruction lost before or in it (scalar, flag, barrier, queue, bank, memory, in ps), bytes of global memory."""

from raw import STALLS, Error, read_csv


class Spot:
    """Sums over instructions: of a line, or of one address."""

    def __init__(self):
        self.count, self.cycles, self.busy, self.bytes, self.units = 0, 0.0, 0, 0, {}
        self.lost = dict.fromkeys(STALLS, 0)

    def add(self, row):
        self.count += row["count"]
        self.cycles += row["cycles"]
        self.busy += row["busy"]
        self.bytes += row["bytes"]
        for why in STALLS:
            self.lost[why] += row["lost"][why]
        if row["pipe"] != "s":
            self.units[row["pipe"]] = self.units.get(row["pipe"], 0) + row["busy"]


def number(cell):
    try:
        return float(cell)
    except ValueError:
        raise Error(f"{cell.where} is damaged: '{cell[:40]}' is no number: profile again") from None


def read(device):
    """Rows of a device; [] if its profile has none."""
    rows = []
    for row in read_csv(device.folder / "data" / "code.csv"):
        rows.append({"core": int(row["core"]), "pc": int(row["pc"], 16), "insn": str(row["insn"]), "pipe": str(row["pipe"]), "file": str(row["file"]),
                     "line": int(row["line"]), "function": str(row["function"]), "word": str(row["word"]), "count": int(row["count"]),
                     "cycles": number(row["scalar_cycles"]), "busy": int(row["busy_ps"]), "bytes": int(row["bytes"]),
                     "lost": {why: int(row[f"{why}_ps"]) for why in STALLS}})
    return rows


def group(rows, *keys):
    """Spots by the values of these columns, in the order they come."""
    spots = {}
    for row in rows:
        spots.setdefault(tuple(row[key] for key in keys), Spot()).add(row)
    return spots


def by_line(rows):
    return group((row for row in rows if row["file"]), "file", "line")
