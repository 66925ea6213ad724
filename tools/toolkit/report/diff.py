#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""leo diff: two profiled runs beside each other: the numbers of their chips, time by operator, what the units and the memory did."""

from report import PIPES, Profile, chip_file, find

import chip_notes
import command


def rows_of(profile):
    """By operator and kind of core: count, us, cycles, busy cycles of each pipe, bytes."""
    rows = {}
    for device in profile.devices:
        for task in device.tasks:
            if task.is_compute:
                row = rows.setdefault((task.type, device.core_of(task)), {"count": 0, "us": 0.0, "cycles": 0, "bytes": 0,
                                                                           **dict.fromkeys(PIPES, 0)})
                row["count"] += 1
                row["us"] += task.duration / 1000
                row["cycles"] += task.cycles
                row["bytes"] += task.read + task.written
                for pipe in PIPES:
                    row[pipe] += task.busy[pipe]
    return rows


def span_us(profile):
    spans = [(min(t.sim_start for t in device.tasks), max(t.sim_end for t in device.tasks))
             for device in profile.devices if device.tasks]
    return max((last - first for first, last in spans), default=0) / 1000


def change(old, new):
    return f"{100 * (new / old - 1):+.1f} %" if old else "new" if new else ""


def total(rows, key):
    return sum(row[key] for row in rows.values())


def chips_of(profile):
    """Texts of the chips that ran, each once; empty if the profile has none."""
    return list(dict.fromkeys(text for text in (chip_file(device)[0] for device in profile.devices) if text))


def print_chips(old, new):
    left, right = chips_of(old), chips_of(new)
    if len(left) != 1 or len(right) != 1:
        print("  chips: not compared, since " + ("a profile holds no chip's file" if not left or not right else "a run has several"))
        return
    rows = chip_notes.differences(left[0], right[0])
    print("  chips: " + ("the same numbers" if not rows else "these numbers differ"))
    for key, a, b in rows:
        print(f"    {key:22} {a:>14} {b:>14}")


def print_runs(old, new, limit):
    left, right = rows_of(old), rows_of(new)
    print(f"A {old.folder}\nB {new.folder}")
    print_chips(old, new)
    for name, a, b, unit in (("from first task to last", span_us(old), span_us(new), "us"),
                             ("kernels", total(left, "us"), total(right, "us"), "us"),
                             ("launches", total(left, "count"), total(right, "count"), ""),
                             ("global memory moved", total(left, "bytes") / 1e6, total(right, "bytes") / 1e6, "MB")):
        print(f"  {name:24} {a:14.3f} {b:14.3f} {unit:3} {change(a, b)}")
    print("  units, busy of all cycles")
    for pipe in PIPES:
        a, b = (100 * total(rows, pipe) / max(total(rows, "cycles"), 1) for rows in (left, right))
        print(f"    {pipe:22} {a:13.1f}% {b:13.1f}%")
    none = {"count": 0, "us": 0.0}
    pairs = [(key, left.get(key, none), right.get(key, none)) for key in {**left, **right}]
    pairs.sort(key=lambda pair: (-abs(pair[2]["us"] - pair[1]["us"]), pair[0]))
    print(f"\n{'operator':32} {'core':14} {'count A':>8} {'B':>8} {'us A':>14} {'B':>14} {'difference':>14}")
    for (kind, core), a, b in pairs[:limit]:
        print(f"{kind[:32]:32} {core[:14]:14} {a['count']:8} {b['count']:8} {a['us']:14.3f} {b['us']:14.3f} "
              f"{b['us'] - a['us']:+14.3f}  {change(a['us'], b['us'])}")
    if len(pairs) > limit:
        print(f"and {len(pairs) - limit} more with smaller differences (--limit)")


def main():
    parser = command.Parser(prog="leo diff", description=__doc__)
    parser.add_argument("a", metavar="A", help="folder of a profile (PROF_*), or one that holds some: the newest is taken")
    parser.add_argument("b", metavar="B", help="the run it is compared with")
    parser.add_argument("--limit", type=int, default=30, help="operators told at most (30)")
    args = parser.parse_args()
    print_runs(Profile(find(args.a)), Profile(find(args.b)), args.limit)


if __name__ == "__main__":
    command.run("leo diff", main)
