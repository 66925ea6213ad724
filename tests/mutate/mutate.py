#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate.py BUILD [NAME...]: tests must notice every fault of mutations.txt.

Works on a copy of the sources in BUILD/mutate, builds the test programs a mutation names and runs them. A mutation is
killed if one of them fails. Fails itself if fewer than 95 of 100 are killed, or if a mutation no longer fits the source.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAST_PERCENT = 95
SECONDS = 300


def read(path):
    """[(name, file, targets, old, new)] of the list."""
    found = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("== "):
            found.append({"name": line[3:], "old": [], "new": []})
        elif line.startswith(("file ", "targets ")):
            key, value = line.split(" ", 1)
            found[-1][key] = value
        elif line[:1] in "-+" and line:
            found[-1]["old" if line[0] == "-" else "new"].append(line[1:])
    return found


def run(command, folder):
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False).returncode
    except subprocess.TimeoutExpired:
        return -1


def copy_sources(work):
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.split("\n")
    for name in filter(None, files):
        source, target = ROOT / name, work / name
        if source.is_file() and not (target.exists() and target.read_bytes() == source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def build(work, targets):
    return run(["cmake", "--build", "build", "--parallel", "2", "--target", *targets], work)


def find(work, target):
    return next(path for path in (work / "build").rglob(target) if path.is_file())


def is_killed(work, mutation):
    """Applies one, builds, runs; None: it does not fit or does not build."""
    path = work / mutation["file"]
    text = path.read_text(encoding="utf-8")
    old, new = "\n".join(mutation["old"]), "\n".join(mutation["new"])
    if text.count(old) != 1:
        return None
    path.write_text(text.replace(old, new), encoding="utf-8")
    try:
        targets = mutation["targets"].split()
        if build(work, targets) != 0:
            return None
        return any(run([str(find(work, target))], work) != 0 for target in targets)
    finally:
        path.write_text(text, encoding="utf-8")


def main():
    work = Path(sys.argv[1]).resolve() / "mutate"
    mutations = [m for m in read(Path(__file__).with_name("mutations.txt")) if not sys.argv[2:] or m["name"] in sys.argv[2:]]
    work.mkdir(parents=True, exist_ok=True)
    copy_sources(work)
    targets = sorted({target for m in mutations for target in m["targets"].split()})
    if run(["cmake", "-S", ".", "-B", "build"], work) != 0 or build(work, targets) != 0:
        sys.exit("mutate: the sources do not build")
    for target in targets:
        if run([str(find(work, target))], work) != 0:
            sys.exit(f"mutate: {target} fails without a mutation")
    killed, unfit = 0, 0
    for mutation in mutations:
        result = is_killed(work, mutation)
        killed += result is True
        unfit += result is None
        word = {True: "killed", False: "SURVIVED", None: "DOES NOT FIT"}[result]
        print(f"{word:12} {mutation['name']} ({mutation['file']})", flush=True)
    percent = 100 * killed / max(len(mutations), 1)
    print(f"mutate: {killed} of {len(mutations)} killed, {percent:.0f} %")
    sys.exit(0 if percent >= LEAST_PERCENT and not unfit else 1)


main()
