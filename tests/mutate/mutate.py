#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests must notice every fault of mutations.txt.

mutate.py BUILD [--shard I/N] [--again] [NAME...]   plants the faults one by one in a copy of the sources (BUILD/mutate),
    builds the test programs a fault names and runs them; it is killed if one of them fails. What was killed stays in
    BUILD/mutate/results.json until the fault, its file or its tests change; --again forgets it. Fails if fewer than 95 of
    100 are killed or one no longer fits. Shards (I from 0) may share a BUILD but not run at once: each is a part of the list.
mutate.py --fit   only asks whether every fault still fits the sources.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("mutations.txt")
LEAST_PERCENT = 95
SECONDS = 1800  # a whole build
PATIENCE = 10  # a test that takes so many times its usual time hangs
WORDS = ("killed", "SURVIVED", "DOES NOT FIT", "DOES NOT BUILD")


def read(path):
    """The faults of the list: name, file, targets, and the lines that go and come."""
    found = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("== "):
            found.append({"name": line[3:], "old": [], "new": []})
        elif line.startswith(("file ", "targets ", "tests ")):
            key, value = line.split(" ", 1)
            found[-1][key] = value
        elif line[:1] in "-+" and line:
            found[-1]["old" if line[0] == "-" else "new"].append(line[1:])
    return found


def tests_of(mutation):
    return mutation.get("tests", mutation["targets"]).split()


def planted(mutation, root):
    """The file's text with the fault in it; None if the text it replaces is not there once."""
    path = root / mutation["file"]
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    old, new = "\n".join(mutation["old"]), "\n".join(mutation["new"])
    return text.replace(old, new) if text.count(old) == 1 else None


def run(command, folder, seconds=SECONDS):
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # ctest's children too
            return -1


def copy_sources(work):
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.split("\n")
    for name in filter(None, files):
        source, target = ROOT / name, work / name
        if source.is_file() and not (target.exists() and target.read_bytes() == source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            shutil.copymode(source, target)


class Workshop:
    """The copy of the sources, its build, and how long each test takes without a fault."""

    def __init__(self, folder):
        self.folder = folder
        self.seconds = {}
        folder.mkdir(parents=True, exist_ok=True)
        copy_sources(folder)

    def build(self, targets):
        return run(["cmake", "--build", "build", "--parallel", "2", "--target", *targets], self.folder) == 0

    def passes(self, test):
        seconds = max(60, PATIENCE * self.seconds[test]) if test in self.seconds else SECONDS
        command = ["ctest", "--test-dir", "build", "--no-tests=error", "-R", f"^{test}$"]
        return run(command, self.folder, seconds) == 0

    def prepare(self, mutations):
        targets = sorted({target for m in mutations for target in m["targets"].split()})
        configure = ["cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1"]
        if run(configure, self.folder) != 0 or not self.build(targets):
            sys.exit("mutate: the sources do not build")
        for test in sorted({test for m in mutations for test in tests_of(m)}):
            start = time.monotonic()
            if not self.passes(test):
                sys.exit(f"mutate: {test} fails without a fault")
            self.seconds[test] = time.monotonic() - start

    def word(self, mutation):
        text = planted(mutation, self.folder)
        if text is None:
            return "DOES NOT FIT"
        path = self.folder / mutation["file"]
        before = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            if not self.build(mutation["targets"].split()):
                return "DOES NOT BUILD"
            return "SURVIVED" if all(self.passes(test) for test in tests_of(mutation)) else "killed"
        finally:
            path.write_text(before, encoding="utf-8")


def digest(mutation):
    """Of everything a result is kept for: the fault, its file, the sources of its tests."""
    value = hashlib.sha256(repr(sorted(mutation.items())).encode())
    tests = [path for test in tests_of(mutation) for path in sorted((ROOT / "tests").rglob(f"{test}.*"))]
    for path in [ROOT / mutation["file"], *tests]:
        value.update(path.read_bytes() if path.exists() else b"")
    return value.hexdigest()


def part(mutations, shard):
    index, count = (int(word) for word in shard.split("/"))
    return mutations[index::count]


def check_fit(mutations):
    unfit = [m for m in mutations if planted(m, ROOT) is None]
    for mutation in unfit:
        print(f"mutations.txt: {mutation['name']}: its text is not in {mutation['file']} once")
    sys.exit(1 if unfit else 0)


def judge(mutations, kept):
    found = {m["name"]: kept[m["name"]][1] for m in mutations}
    counts = {word: sum(1 for value in found.values() if value == word) for word in WORDS}
    for name, word in found.items():
        if word != "killed":
            print(f"{word:14} {name}")
    percent = 100 * counts["killed"] / max(len(found), 1)
    print(f"mutate: {len(found)} faults: " + ", ".join(f"{n} {word.lower()}" for word, n in counts.items()) + f"; {percent:.0f} %")
    sys.exit(0 if percent >= LEAST_PERCENT and counts["DOES NOT FIT"] + counts["DOES NOT BUILD"] == 0 else 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    mutations = read(LIST)
    if options.fit:
        check_fit(mutations)
    if options.names:
        mutations = [m for m in mutations if m["name"] in options.names]
    mutations = part(mutations, options.shard)
    folder = Path(options.build).resolve() / "mutate"
    results = folder / "results.json"
    kept = json.loads(results.read_text(encoding="utf-8")) if results.exists() and not options.again else {}
    digests = {m["name"]: digest(m) for m in mutations}
    # What survived is tried again: its test may have come to a file that is not named like it.
    todo = [m for m in mutations if kept.get(m["name"]) != [digests[m["name"]], "killed"]]
    if todo:
        shop = Workshop(folder)
        shop.prepare(todo)
        # Those of one file together: the least is built anew between them.
        for mutation in sorted(todo, key=lambda m: m["file"]):
            word = shop.word(mutation)
            kept[mutation["name"]] = [digests[mutation["name"]], word]
            results.write_text(json.dumps(kept, indent=1), encoding="utf-8")
            print(f"{word:14} {mutation['name']} ({mutation['file']})", flush=True)
    judge(mutations, kept)


main()
