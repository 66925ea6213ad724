# SPDX-License-Identifier: Apache-2.0
"""The page of leo study: one self-contained file from a study's folder: speed-ups, what holds the kernels up, counterfactuals,
sensitivities, area and energy, many cards, chips beside each other."""

import html
import json
import sys
from pathlib import Path

import chip_notes
from study_script import SCRIPT

# Units in the order of the bars; colours that differ in grey too.
UNITS = {"s": "#777777", "v": "#e0a030", "m": "#305090", "mte1": "#70a8d8", "mte2": "#2f8f5f", "mte3": "#90d0a0", "fix": "#b05070"}
MARKS = {"exact": "what a run on that chip takes", "re-planned": "the command was run on that chip",
         "estimate": "priced; a run there may do something else"}
STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 1320px; padding: 1em; color: #222; background: #fff; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; width: 100%; } th { text-align: right; border-bottom: 1px solid #999; }
td, th { padding: 2px 6px; text-align: right; } th:first-child, td:first-child, .text { text-align: left; overflow-wrap: anywhere; }
th:first-child, td:first-child { min-width: 9em; } td:last-child { max-width: 22em; overflow-wrap: anywhere; }
td .text { display: block; text-align: left; min-width: 20em; }
tr:nth-child(even) td { background: #f6f8fa; } .note { color: #666; font-size: 0.9em; } .estimate { color: #a00; }
svg { width: 100%; } svg.half { width: 50%; } svg text { font-size: 12px; fill: #333; } .key { display: inline-block; margin-right: 1.2em; }
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
    return "<br>".join(text(f"{c['key']}: {c['from'] or '-'} → {c['to'] or '-'}") for c in one["changes"][:4]) + \
        (f"<br>and {len(one['changes']) - 4} more" if len(one["changes"]) > 4 else "")


def changed_numbers(study, one):
    """The numbers of a variant's chip: section.key: text."""
    values = {f"{section}.{key}": value for section, key, value, _, _ in chip_notes.numbers(study["soc_text"])}
    for change in one["changes"]:
        values[change["key"]] = change["to"]
    return values


def operations(values):
    """Operations of a cycle of the Cube unit and of the vector unit, on 16 bits."""
    cube = 2.0
    for side in ("m", "n", "k"):
        cube *= float(values.get(f"cube.cube_{side}") or 16)
    return cube, 128 * float(values.get("vector.ub_repeats") or 1)


def joules(values, one):
    """Energy of the part that is known, an estimate; None: the chip's file has no [energy]."""
    def of(key):
        return float(values.get(f"energy.{key}") or 0)

    if not any(key.startswith("energy.") for key in values):
        return None
    cube, vector = operations(values)
    work = one["busy_cycles"]["m"] * cube * of("cube_pj_per_op") + one["busy_cycles"]["v"] * vector * of("vector_pj_per_op") + \
        (one["gm_read"] + one["gm_write"]) * of("l2_pj_per_byte") + (one["hbm_read"] + one["hbm_write"]) * of("hbm_pj_per_byte")
    return work * 1e-12 + one["ps"] * 1e-12 * of("idle_w")


def measured(study, one):
    """What a variant costs beside time: mm2 and joule, None where its chip's file does not say."""
    values = changed_numbers(study, one)
    # What nobody can build has no area.
    parts = chip_notes.area(values) if one["kind"] != "counterfactual" else None
    return {"mm2": sum(parts.values()) if parts else None, "parts": parts, "joule": joules(values, one)}


def between_kernels(one):
    """Time with no kernel; kernels that overlap leave none."""
    return max(one["ps"] - one["kernels_ps"], 0)


def bottleneck(one):
    """The unit that was busiest in the kernels that took the longest together, or what is between kernels."""
    parts = dict(one["bound_ps"], **{"between kernels": between_kernels(one)})
    return max(parts, key=parts.get)


def shift(base, one):
    """The unit that holds the run up, and from which one that moved."""
    here, there = bottleneck(base), bottleneck(one)
    return text(there) if here == there else f"<b>{text(here)} → {text(there)}</b>"


def number(value, digits=1):
    return "-" if value is None else f"{value:,.{digits}f}"


def speed_rows(base, variants, costs):
    return [[text(one["name"]), f'{one["ps"] / 1e6:,.3f}', f'{base["ps"] / one["ps"]:.3f}', f'{one["kernels_ps"] / 1e6:,.3f}',
             shift(base, one), f'{(one["hbm_read"] + one["hbm_write"]) / 1e6:,.2f}',
             number(cost["joule"] and cost["joule"] * 1e3, 3), number(cost["mm2"]),
             f'<span class="text">{changes(one)}</span>', marked(one)] for one, cost in zip(variants, costs)]


def front(points):
    """Those that no other one beats in both."""
    return [point for point in points if not any(o[0] <= point[0] and o[1] <= point[1] and o[:2] != point[:2] for o in points)]


def pareto(variants, costs, key, unit, scale):
    """Time against a cost, both relative to the base; what nothing beats is joined. Chips that nobody can build are left out."""
    points = [(one["ps"] / variants[0]["ps"], cost[key] / costs[0][key], one["name"]) for one, cost in zip(variants, costs)
              if one["kind"] in ("base", "baseline", "variant") and cost[key]]
    if len(points) < 2:
        return ""
    low_x, high_x = min(p[0] for p in points), max(p[0] for p in points)
    low_y, high_y = min(p[1] for p in points), max(p[1] for p in points)

    def x(value):
        return 70 + 560 * (value - low_x) / ((high_x - low_x) or 1)

    def y(value):
        return 300 - 240 * (value - low_y) / ((high_y - low_y) or 1)

    best = sorted(front(points))
    line = " ".join(f"{x(px):.1f},{y(py):.1f}" for px, py, _ in best)
    names = {name for _, _, name in best}
    dots, taken = [], []
    for px, py, name in points:
        label, at, left = "", y(py) - 5, x(px) + 6
        if len(points) <= 24 or name in names:
            while any(abs(at - other) < 11 and start < left + 7 * len(name) and left < end for other, start, end in taken):
                at += 11 if y(py) < 180 else -11  # towards the middle of the picture
            taken.append((at, left, left + 7 * len(name)))
            label = f'<text x="{left:.1f}" y="{at:.1f}">{text(name[:22])}</text>'
        dots.append(f'<circle cx="{x(px):.1f}" cy="{y(py):.1f}" r="4" fill="{"#b05050" if name in names else "#9ab"}"><title>{text(name)}: '
                    f'{px:.3f} of the time, {py:.3f} of the {unit}</title></circle>{label}')
    return (f'<svg class="half" viewBox="0 0 800 340"><polyline points="{line}" fill="none" stroke="#b05050"/>' + "".join(dots) +
            f'<line x1="70" x2="640" y1="305" y2="305" stroke="#999"/><line x1="65" x2="65" y1="30" y2="305" stroke="#999"/>'
            f'<text x="350" y="328" text-anchor="middle">time, of the base\'s: {low_x:.3f} to {high_x:.3f}</text>'
            f'<text x="8" y="14">{unit}, of the base\'s {costs[0][key] * scale:,.4g}: {low_y:.3f} to {high_y:.3f}</text></svg>')


def card_rows(variants):
    """Against the fewest cards: each does as much, so the time stays where nothing is waited for."""
    first = variants[0]
    return [[text(one["cards"]), f'{one["ps"] / 1e6:,.3f}', f'{100 * first["ps"] / one["ps"]:.1f} %', one["links"], f'{one["links_ps"] / 1e6:,.3f}',
             f'{(one["ps"] - one["kernels_ps"]) / 1e6:,.3f}', text(one["topology"]), marked(one)] for one in variants]


def script_data(study, variants, costs):
    """What the roofline and the table of energy draw of each variant."""
    told = []
    for one, cost in zip(variants, costs):
        values = changed_numbers(study, one)
        cube, vector = operations(values)
        ghz = float(values.get("soc.clock_khz") or 0) / 1e6
        refresh = float(values.get("gm.hbm_refresh_ns") or 0) / float(values.get("gm.hbm_refresh_every_ns") or 1)
        dots = sorted(one["operators"].items(), key=lambda item: -item[1]["ps"])[:60]
        told.append({"name": one["name"], "joule": cost["joule"], "parts": cost["parts"], "us": one["ps"] / 1e6,
                     "peak": float(values.get("soc.cube_cores") or 0) * ghz * cube, "hbm": float(values.get("gm.hbm_read_gb_per_s") or 0) * (1 - refresh),
                     "l2": float(values.get("gm.l2_gb_per_s") or 0),
                     "dots": [[name, op["ps"] / 1e6, (op["cube"] * cube + op["vector"] * vector) / op["gm"],
                               (op["cube"] * cube + op["vector"] * vector) / op["ps"] * 1e3] for name, op in dots
                              if op["gm"] and op["ps"] and op["cube"] + op["vector"]]})
    return json.dumps(told, separators=(",", ":")).replace("</", "<\\/")


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
    costs = [measured(study, one) for one in variants]
    kinds = {kind: [one for one in variants if one["kind"] == kind] for kind in ("baseline", "counterfactual", "variant", "cards")}
    shown = [(one, cost) for one, cost in zip(variants, costs) if one["kind"] != "cards"]
    alone = [one for one, _ in shown]
    asked = "the whole run" if not study["step"] else \
        f"step {study['step']} of {study['steps']} that do the same, {study['step_kernels']} kernels each"
    processes = f"; {study['processes']} processes, the slowest told" if study["processes"] > 1 else ""
    told = [f"<h1>A study of {text(study['soc'])}</h1>", f"<p>{text(asked + processes)}. Simulated times; marks: " +
            "; ".join(f'<b class="{mark}">{mark}</b>: {text(what)}' for mark, what in MARKS.items()) + ".</p>",
            "<h2>Times</h2>",
            '<p class="note">Energy and area are estimates by [energy] and [area] of the chip\'s file, whose lines say where each figure is from.</p>',
            table(["name", "us", "speed-up", "kernels us", "bottleneck", "HBM MB", "mJ", "mm²", "what differs", "mark"],
                  speed_rows(base, alone, [cost for _, cost in shown]))]
    if kinds["cards"]:
        told += ["<h2>Many cards</h2>", '<p class="note">Each copy of the recorded ranks does the same; collectives take what the topology gives.</p>',
                 table(["cards", "us", "efficiency", "collectives", "their us", "no kernel us", "topology", "mark"], card_rows(kinds["cards"]))]
    told += ["<h2>What holds the kernels up</h2>",
             '<p class="note">Time of the kernels by the unit with the most busy cycles in each, and the time in which none runs.</p>',
             unit_bars(alone), "<h2>Sensitivities</h2>",
             '<p class="note">Change of the time against the base, the largest first; to the left is shorter.</p>',
             tornado(base, kinds["variant"] + kinds["counterfactual"])]
    curves = pareto(variants, costs, "mm2", "mm²", 1) + pareto(variants, costs, "joule", "mJ", 1e3)
    if curves:
        told += ["<h2>Time against area and energy</h2>", '<p class="note">Red: no other one is better in both.</p>', curves]
    told += ['<h2>Roofline, area and energy of <select id="variant"></select></h2>',
             '<p class="note">A circle an operator, its area its time; operations from busy cycles of Cube and vector unit, bytes moved by cores.</p>',
             '<svg id="roofline" viewBox="0 0 1180 400"></svg><div id="parts"></div>',
             "<h2>Operators, and what would not be possible</h2>",
             '<p class="note">Change of each operator\'s own time; what lies between kernels is in the first table.</p>',
             table(["operator", "count", "busiest unit", "us", "share", *(text(one["name"]) for one in kinds["counterfactual"])],
                   operator_rows(base, kinds["counterfactual"]))]
    if kinds["baseline"]:
        told += ["<h2>Other chips</h2>", table(["operator", "count", "busiest unit", "us", "share",
                                                *(text(one["name"]) for one in kinds["baseline"])],
                                               operator_rows(base, kinds["baseline"]))]
    script = SCRIPT.replace("/*DATA*/", script_data(study, alone, [cost for _, cost in shown]))
    return ('<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Leonardo: a study</title>'
            f"<style>{STYLE}</style></head>\n<body>\n" + "\n".join(told) + f"\n<script>{script}</script>\n</body></html>\n")


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
