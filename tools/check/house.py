#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""house.py [ROOT]: the state of the source as numbers, for comparing two commits. No check: it always ends well."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import tree

FUNCTION = re.compile(r"^[a-z][^\n;={}]*\([^;{}]*\)\n\{\n(.*?)^\}\n", re.M | re.S)


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))] if values else 0


def count(texts, pattern):
    return sum(len(re.findall(pattern, text)) for text in texts)


def exempted(root):
    """Files that arrows.csv lets call each other round."""
    table = (Path(root) / "tools/check/arrows.csv").read_text(encoding="utf-8").partition("circle,")[2].splitlines()[1:]
    return [line.partition(",")[2].split() for line in table if line and line[0] != "#"]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    code = [path for path in tree.files(root, ".c", ".h", ".inc", ".cpp", ".hpp")]
    texts = {path: tree.read(root, path) for path in code}
    product = {path: text for path, text in texts.items() if path.parts[0] != "tests"}
    kernels = [text for path, text in product.items() if path.parts[0] == "kernels"]
    folders = Counter(str(path.parent) for path in tree.files(root))
    rows = [("fullest folders (files)", ", ".join(f"{name} {number}" for name, number in folders.most_common(4)))]
    circles = exempted(root)
    rows.append(("circles of files that are exempted", f"{len(circles)} of {sum(map(len, circles))} files"))
    lines = [text.count("\n") for path, text in product.items()]
    rows.append(("product: files; lines; median, 95 %, longest file", f"{len(product)}; {sum(lines)}; {percentile(lines, .5)}, {percentile(lines, .95)}, {max(lines)}"))
    bodies = [match.count("\n") + 2 for path, text in product.items() if path.suffix == ".c" for match in FUNCTION.findall(text)]
    rows.append(("functions: median, 95 %, longest", f"{percentile(bodies, .5)}, {percentile(bodies, .95)}, {max(bodies)}"))
    layers = Counter()
    for path, text in product.items():
        layers[path.parts[0]] += text.count("\n")
    rows.append(("lines a layer", ", ".join(f"{layer} {number}" for layer, number in layers.most_common(6))))
    rows.append(("operators' arguments by string", count(kernels, r"\bop_call_\w+\(call, \"")))
    rows.append(("`bool *done`, `*taken` in kernels", count(kernels, r"\bbool \*(?:done|taken)\b")))
    rows.append(("tables of variants", count(kernels, r"\bop_choose\(")))
    rows.append(("`graph` of a stream asked outside graph.c", sum(count([text], r"stream->graph\b") for path, text in product.items()
                                                                  if path.parts[:2] == ("runtime", "core") and path.name != "graph.c")))
    generated = [path for path in tree.files(root) if path.suffix in (".h", ".c") and re.search(r"made by tools/|Generated from", tree.read(root, path)[:400])]
    rows.append(("generated C that is committed (lines)", sum(tree.read(root, path).count("\n") for path in generated)))
    prose = subprocess.run([sys.executable, "-B", str(Path(__file__).with_name("prose.py")), root, "--count"], capture_output=True, text=True, check=False)
    counts = [list(map(int, line.split(",")[1:])) for line in prose.stdout.splitlines()]
    rows.append(("prose: long paragraphs, long sentences, private words", ", ".join(str(sum(column)) for column in zip(*counts)) if counts else "0"))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:{width}}  {value}")


main()
