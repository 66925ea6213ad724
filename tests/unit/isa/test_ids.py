# SPDX-License-Identifier: Apache-2.0
"""Sentence ids: code, tests and the tables of instructions cite what docs/hw says, and no id is said twice. argv: root of the sources."""

import re
import sys
from pathlib import Path

ID = re.compile(r"\bHW-[A-Z]+-[0-9]{2}\b")
DEFINED = re.compile(r"^(?:- |\| )\*{0,2}(HW-[A-Z]+-[0-9]{2})\b", re.M)
FOLDERS = ("isa", "sim", "driver", "runtime", "kernels", "tools", "tests")


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
            if path.suffix in (".c", ".h", ".inc", ".isa", ".py") and path.is_file():
                for name in ID.findall(path.read_text(errors="replace")):
                    cited.setdefault(name, path.relative_to(root))
    for page in (root / "docs/hw").glob("*.md"):
        for name in ID.findall(page.read_text()):
            cited.setdefault(name, page.relative_to(root))
    wrong += [f"{path}: {name} is not in docs/hw" for name, path in cited.items() if name not in defined]
    print("\n".join(sorted(wrong)))
    print(f"{len(defined)} ids, not cited: {' '.join(sorted(set(defined) - set(cited))) or 'none'}")
    return 1 if wrong or not defined else 0


if __name__ == "__main__":
    sys.exit(main())
