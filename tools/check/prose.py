#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prose.py [ROOT] [--count]: plain English in README, CONTRIBUTING and docs: no paragraph above 120 words, no sentence above 40, no
private word. Pages in prose.csv may have as many of each as stand there, no more; who rewrites one lowers its numbers there.
--count prints what the pages have, as prose.csv wants it."""

import csv
import re
import sys
from pathlib import Path

import tree

PARAGRAPH, SENTENCE = 120, 40
# Private words, and those of the field that stand for them.
WORDS = {
    r"\bnobody\b": "no thread, no caller, ...",
    r"\btold\b": "reported, given",
    r"\btells\b": "reports, gives",
    r"\bwould mean no good\b|\bmean no good\b": "malformed",
    r"\ba day before\b": "the change and its gain",
    r"\brescue\b": "fallback",
    r"\blitter\b": "left-over shared memory",
    r"\brun ahead of time\b": "run ahead",
}
# Pages that a program writes.
MADE = re.compile(r"<!-- Generated|[Ww]ritten by `make|by `make (?:docs|roofline)`")
KINDS = ("paragraphs", "sentences", "words")


def pages(root):
    for path in tree.files(root, ".md"):
        if path.parts[0] == "docs" or len(path.parts) == 1:
            text = tree.read(root, path)
            if not MADE.search(text) and path.name != "CHANGELOG.md" and str(path) not in ("docs/api/aclnn.md", "docs/api/cnnl.md"):
                yield path, text


def paragraphs(text):
    """(line, words of the paragraph or cell as text); code and links' addresses are left out."""
    block, start, fenced = [], 0, False
    for number, line in enumerate(text.split("\n") + [""], 1):
        if line.startswith("```"):
            fenced = not fenced
            line = ""
        elif fenced:
            line = ""
        row = line.lstrip().startswith("|")
        item = re.match(r"\s*(?:[-*]|\d+\.)\s|#", line)
        if block and (not line.strip() or row or item):
            yield start, " ".join(block)
            block = []
        if row:
            for cell in line.split("|"):
                yield number, cell.strip()
        elif line.strip():
            if not block:
                start = number
            block.append(line.strip())


def plain(text):
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"`[^`]*`", "code", text)


def findings(text):
    for line, block in paragraphs(text):
        block = plain(block)
        if len(block.split()) > PARAGRAPH:
            yield "paragraphs", line, f"a paragraph of {len(block.split())} words: at most {PARAGRAPH}"
        for sentence in re.split(r"(?<=[.!?:;])\s+", block):
            if len(sentence.split()) > SENTENCE:
                yield "sentences", line, f"a sentence of {len(sentence.split())} words: at most {SENTENCE}"
        for word, better in WORDS.items():
            for match in re.finditer(word, block):
                yield "words", line, f"'{match[0]}': {better}"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--count"]
    root = arguments[0] if arguments else "."
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8") as file:
        allowed = {row[0]: dict(zip(KINDS, map(int, row[1:]))) for row in csv.reader(line for line in file if line[0] != "#")}
    violations, counts = [], {}
    for path, text in pages(root):
        found = list(findings(text))
        count = {kind: sum(item[0] == kind for item in found) for kind in KINDS}
        counts[str(path)] = count
        limits = allowed.get(str(path), dict.fromkeys(KINDS, 0))
        for kind in KINDS:
            if count[kind] > limits[kind]:
                violations += [f"{path}:{line}: {text}" for what, line, text in found if what == kind]
    if "--count" in sys.argv:
        print("".join(f"{path},{','.join(str(count[kind]) for kind in KINDS)}\n" for path, count in sorted(counts.items()) if any(count.values())), end="")
        return
    tree.finish("prose", violations)


main()
