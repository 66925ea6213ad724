# SPDX-License-Identifier: Apache-2.0
"""The page of leo study: one self-contained file from a study's folder: speed-ups, what holds the kernels up, counterfactuals,
sensitivities, chips beside each other."""

import html
import json
import sys
from pathlib import Path

# Units in the order of the bars; colours that differ in grey too.
UNITS = {"s": "#777777", "v": "#e0a030", "m": "#305090", "mte1": "#70a8d8", "mte2": "#2f8f5f", "mte3": "#90d0a0", "fix": "#b05070"}
MARKS = {"exact": "what a run on that chip takes", "re-planned": "the command was run on that chip",
         "estimate": "priced; a run there may do something else"}
STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 1200px; padding: 1em; color: #222; background: #fff; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; width: 100%; } th { text-align: right; border-bottom: 1px solid #999; }
td, th { padding: 2px 6px; text-align: right; } th:first-child, td:first-child, .text { text-align: left; overflow-wrap: anywhere; }
tr:nth-child(even) td { background: #f6f8fa; } .note { color: #666; font-size: 0.9em; } .estimate { color: #a00; }
svg { width: 100%; } svg text { font-size: 12px; fill: #333; } .key { display: inline-block; margin-right: 1.2em; }
.key i { display: inline-block; width: 0.8em; height: 0.8em; margin-right: 0.3em; }
"""


def text(value):
    return html.escape(str(value))


def table(head, rows):
    """Cells are HTML already."""
    lines = ["<tr>" + "".join(f"<th>{cell}</th>" for cell in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def marked(one):
    why = f": {one['estimated_by']}" if one["estimated_by"] else ""
    return f'<span class="{one["mark"]}">{text(one["mark"] + why)}</span>'


def changes(one):
    return "<br>".join(text(f"{c['key']}: {c['from'] or '-'} → {c['to'] or '-'}") for c in one["changes"][:6]) + \
        (f"<br>and {len(one['changes']) - 6} more" if len(one["changes"]) > 6 else "")


def between_kernels(one):
    """Time with no kernel; kernels that overlap leave none."""
    return max(one["ps"] - one["kernels_ps"], 0)


def bottleneck(one):
    """The unit that was busiest in the kernels that took the longest together, or what is between kernels."""
    parts = dict(one["bound_ps"], **{"between kernels": between_kernels(one)})
    return max(parts, key=parts.get)


def speed_rows(base, variants):
    return [[text(one["name"]), f'{one["ps"] / 1e6:,.3f}', f'{base["ps"] / one["ps"]:.3f}', f'{one["kernels_ps"] / 1e6:,.3f}',
             text(bottleneck(one)), f'{one["hbm_read"] / 1e6:,.2f}', f'{one["hbm_write"] / 1e6:,.2f}',
             f'<span class="text">{changes(one)}</span>', marked(one)] for one in variants]


def unit_bars(variants):
    """Kernel time by the unit that was busiest in each kernel, and the time between kernels."""
    longest = max(one["kernels_ps"] + between_kernels(one) for one in variants)
    out, height = [], 22
    for row, one in enumerate(variants):
        x, y = 260.0, row * height
        out.append(f'<text x="252" y="{y + 15}" text-anchor="end">{text(one["name"][:36])}</text>')
        parts = [(unit, one["bound_ps"].get(unit, 0), colour) for unit, colour in UNITS.items()]
        for unit, value, colour in [*parts, ("between kernels", between_kernels(one), "#dddddd")]:
            width = 900 * value / longest
            if width:
                out.append(f'<rect x="{x:.2f}" y="{y + 3}" width="{width:.2f}" height="16" fill="{colour}">'
                           f'<title>{unit}: {value / 1e6:.3f} us</title></rect>')
            x += width
    keys = "".join(f'<span class="key"><i style="background:{colour}"></i>{unit}</span>'
                   for unit, colour in [*UNITS.items(), ("between kernels", "#dddddd")])
    return f'<p>{keys}</p><svg viewBox="0 0 1180 {len(variants) * height}">' + "".join(out) + "</svg>"


def tornado(base, variants):
    """Change of the time by variant, the largest first."""
    moved = sorted(((one["ps"] / base["ps"] - 1, one) for one in variants), key=lambda pair: -abs(pair[0]))
    most = max((abs(change) for change, _ in moved), default=0) or 1
    out, height = [], 22
    for row, (change, one) in enumerate(moved):
        width, y = 380 * abs(change) / most, row * height
        x = 700 if change > 0 else 700 - width
        out.append(f'<text x="290" y="{y + 15}" text-anchor="end">{text(one["name"][:42])}</text>'
                   f'<rect x="{x:.2f}" y="{y + 3}" width="{max(width, 0.5):.2f}" height="16" fill="{"#b05050" if change > 0 else "#3f8f5f"}"/>'
                   f'<text x="1170" y="{y + 15}" text-anchor="end">{100 * change:+.2f} %</text>')
    return f'<svg viewBox="0 0 1180 {max(len(moved), 1) * height}"><line x1="700" x2="700" y1="0" y2="{len(moved) * height}" stroke="#999"/>' + \
        "".join(out) + "</svg>"


def operator_rows(base, others):
    """Each operator: its time, and how much less it would take with each of the others."""
    rows = []
    for name, one in sorted(base["operators"].items(), key=lambda item: -item[1]["ps"])[:40]:
        cells = [text(name), one["count"], text(one["unit"]), f'{one["ps"] / 1e6:,.3f}', f'{100 * one["ps"] / (base["kernels_ps"] or 1):.1f} %']
        for other in others:
            there = other["operators"].get(name)
            cells.append(f'{100 * (there["ps"] / one["ps"] - 1):+.1f} %' if there and one["ps"] else "-")
        rows.append(cells)
    return rows


def page(study):
    variants = study["variants"]
    base = variants[0]
    kinds = {kind: [one for one in variants if one["kind"] == kind] for kind in ("baseline", "counterfactual", "variant")}
    asked = "the whole run" if not study["step"] else \
        f"step {study['step']} of {study['steps']} that do the same, {study['step_kernels']} kernels each"
    processes = f"; {study['processes']} processes, the slowest told" if study["processes"] > 1 else ""
    told = [f"<h1>A study of {text(study['soc'])}</h1>", f"<p>{text(asked + processes)}. Simulated times; marks: " +
            "; ".join(f'<b class="{mark}">{mark}</b>: {text(what)}' for mark, what in MARKS.items()) + ".</p>",
            "<h2>Times</h2>",
            table(["name", "us", "speed-up", "kernels us", "bottleneck", "HBM read MB", "HBM written MB", "what differs", "mark"],
                  speed_rows(base, variants)),
            "<h2>What holds the kernels up</h2>",
            '<p class="note">Time of the kernels by the unit with the most busy cycles in each, and the time in which none runs.</p>',
            unit_bars(variants), "<h2>Sensitivities</h2>",
            '<p class="note">Change of the time against the base, the largest first; to the left is shorter.</p>',
            tornado(base, kinds["variant"] + kinds["counterfactual"]), "<h2>Operators, and what would not be possible</h2>",
            '<p class="note">Change of each operator\'s own time; what lies between kernels is in the first table.</p>',
            table(["operator", "count", "busiest unit", "us", "share", *(text(one["name"]) for one in kinds["counterfactual"])],
                  operator_rows(base, kinds["counterfactual"]))]
    if kinds["baseline"]:
        told += ["<h2>Other chips</h2>", table(["operator", "count", "busiest unit", "us", "share",
                                                *(text(one["name"]) for one in kinds["baseline"])],
                                               operator_rows(base, kinds["baseline"]))]
    return ('<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Leonardo: a study</title>'
            f"<style>{STYLE}</style></head>\n<body>\n" + "\n".join(told) + "\n</body></html>\n")


def main():
    folder = Path(sys.argv[1])
    try:
        study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
        (folder / "index.html").write_text(page(study), encoding="utf-8")
        print(f"page: {folder / 'index.html'}", flush=True)
    except (OSError, ValueError, LookupError) as problem:
        sys.exit(f"leo study: {folder}: no page: {problem!r}")


if __name__ == "__main__":
    main()
