# SPDX-License-Identifier: Apache-2.0
"""Sentence ids: code and tests cite what docs/hw says, and no id is said twice; numbers.md names every instruction of the
units. argv: root of the sources."""

import re
import sys
from pathlib import Path

ID = re.compile(r"\bHW-[A-Z]+-[0-9]{2}\b")
DEFINED = re.compile(r"^(?:- |\| )\*{0,2}(HW-[A-Z]+-[0-9]{2})\b", re.M)
INSN = re.compile(r"^insn (\w+) +\w+ +\S+ +\S+ +\S+ +(\w+)(.*)", re.M)
FOLDERS = ("isa", "sim", "driver", "runtime", "kernels", "tools", "tests")


def unspecified(root):
    """Instructions of the units that the last table of numbers.md does not have, and names there that are none."""
    units = set()
    for path in (root / "isa/insn").glob("*.isa"):
        for name, pipe, rest in INSN.findall(path.read_text()):
            if pipe != "s" and "status=planned" not in rest:
                units.add(name)
    table = (root / "docs/hw/numbers.md").read_text().partition("## Each instruction")[2]
    listed = {name for cell in re.findall(r"^\| `([a-z0-9_ ]+)` \|", table, re.M) for name in cell.split()}
    scalar = {"set_va_reg_sb", "set_cmpmask", "get_cmpmask"}  # done by the scalar unit, on what vectors hold
    return [f"numbers.md has not {name}" for name in units - listed] + \
        [f"numbers.md has {name}, which is no instruction of a unit" for name in listed - units - scalar]


def main():
    root = Path(sys.argv[1])
    defined, cited, wrong = {}, {}, []
    for page in sorted((root / "docs/hw").glob("*.md")):
        for name in DEFINED.findall(page.read_text()):
            if name in defined:
                wrong.append(f"{page.name}: {name} is already in {defined[name]}")
            defined[name] = page.name
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".inc", ".py") and path.is_file():
                for name in ID.findall(path.read_text(errors="replace")):
                    cited.setdefault(name, path.relative_to(root))
    for page in (root / "docs/hw").glob("*.md"):
        for name in ID.findall(page.read_text()):
            cited.setdefault(name, page.relative_to(root))
    wrong += unspecified(root)
    wrong += [f"{path}: {name} is not in docs/hw" for name, path in cited.items() if name not in defined]
    print("\n".join(sorted(wrong)))
    print(f"{len(defined)} ids, not cited: {' '.join(sorted(set(defined) - set(cited))) or 'none'}")
    return 1 if wrong or not defined else 0


if __name__ == "__main__":
    sys.exit(main())
