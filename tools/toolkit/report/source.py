# SPDX-License-Identifier: Apache-2.0
"""Kernels' sources with what each line did, of a profile that has counted instructions (LEO_PROFILE_CODE)."""

from pathlib import Path

import hot_spots
from raw import STALLS

# Of longer files the lines around those that did something.
WHOLE, AROUND = 1500, 3


def text_of(path):
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def shown(lines, did):
    """Numbers of the lines to show."""
    if len(lines) <= WHOLE:
        return range(1, max(len(lines), max(did)) + 1)
    return sorted({near for line in did for near in range(line - AROUND, line + AROUND + 1) if 1 <= near <= len(lines)})


def files(device):
    """A dict a file, the one that took longest first; times are cycles of a core, summed over cores and launches."""
    rows, told = hot_spots.read(device), []
    spots, mhz = hot_spots.by_line(rows), device.mhz
    for file in dict.fromkeys(name for name, _ in spots):
        did = {line: spot for (name, line), spot in spots.items() if name == file}
        lines = text_of(file)
        told.append({
            "file": file, "found": bool(lines),
            "scalar": sum(spot.cycles for spot in did.values()), "units": sum(spot.busy for spot in did.values()) * mhz / 1e6,
            "lines": [[number, lines[number - 1] if number <= len(lines) else "", *numbers(did.get(number), mhz)] for number in shown(lines, did)]})
    return sorted(told, key=lambda one: -one["scalar"] - one["units"])


def numbers(spot, mhz):
    """Count, scalar cycles, cycles by unit, cycles lost by reason, bytes of global memory."""
    if not spot:
        return [0, 0, {}, {}, 0]
    lost = {why: round(spot.lost[why] * mhz / 1e6) for why in STALLS if spot.lost[why]}
    return [spot.count, round(spot.cycles), {pipe: round(busy * mhz / 1e6) for pipe, busy in spot.units.items()}, lost, spot.bytes]


def words(amounts):
    return " ".join(f"{name} {amount}" for name, amount in amounts.items())


def tell(device, out):
    """The same as text."""
    for one in files(device):
        print(f"{one['file']}: cycles of all cores: scalar {one['scalar']:.0f}, units {one['units']:.0f}", file=out)
        print(f"{'line':>5} {'count':>9} {'scalar':>9}  {'units':<24} {'lost':<32} {'GM bytes':>10}  source", file=out)
        for number, text, count, scalar, units, lost, moved in one["lines"]:
            row = f"{number:5} " + (f"{count:9} {scalar:9}  {words(units):<24} {words(lost):<32} {moved or '':>10}" if count else " " * 90)
            print(f"{row}  {text}".rstrip(), file=out)
