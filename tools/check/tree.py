# SPDX-License-Identifier: Apache-2.0
"""The files a check looks at, and how it reports."""

import os
import re
import subprocess
import sys
from pathlib import Path

LAYERS = ("isa", "sim", "driver", "runtime", "kernels", "models", "training", "examples", "tools", "tests")


def is_device(path):
    """Whether a file is for the chip: in a folder named device, or an operator's *_device, *_device_1001 or *_device_2201."""
    return "device" in path.parts or (path.parts[0] == "kernels" and re.search(r"_device(_\d+)?$", path.stem) is not None)


def files(root, *suffixes):
    """Paths relative to root of the tree's files: git's if it is a checkout, else all outside of build folders."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False)
    is_checkout = listed.returncode == 0 and (Path(root) / ".git").exists()
    names = listed.stdout.split("\n") if is_checkout else walk(root)
    return sorted(Path(n) for n in names if n.endswith(suffixes or ("",)) and (Path(root) / n).is_file())


def walk(root):
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(("build", "."))]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root)


def read(root, path):
    return (Path(root) / path).read_text(encoding="utf-8", errors="replace")


def without_comments(text):
    """C without comments; line numbers stay."""
    def blank(match):
        word = match.group(0)
        return word if word[0] in "\"'" else re.sub(r"[^\n]", " ", word)
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def finish(name, violations):
    """Prints the violations and ends the program: 1 if there are any."""
    for violation in violations:
        print(violation)
    count = len(violations)
    print(f"{name}: " + (f"{count} violation{'s' if count > 1 else ''}" if count else "ok"))
    sys.exit(1 if count else 0)
