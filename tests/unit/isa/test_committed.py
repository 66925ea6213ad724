# SPDX-License-Identifier: Apache-2.0
"""The committed listing and pages are what the tables say. argv: folder of the tables, folder of the pages."""

import difflib
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    tables, pages = Path(sys.argv[1]), Path(sys.argv[2])
    stale = 0
    with tempfile.TemporaryDirectory(prefix="leo_isa_") as folder:
        for group, committed in (("golden", tables / "golden"), ("docs", pages)):
            out = Path(folder) / group
            subprocess.run([sys.executable, "-B", tables / "gen/gen.py", "--tables", tables, "--out", out, group], check=True)
            for path in sorted(out.iterdir()):
                old = committed / path.name
                lines = old.read_text().splitlines() if old.exists() else []
                diff = list(difflib.unified_diff(lines, path.read_text().splitlines(), f"committed {path.name}",
                                                 "from the tables", lineterm="", n=0))
                if diff:
                    stale += 1
                    print("\n".join(diff[:40]))
    if stale:
        print(f"{stale} files are stale: build the target 'docs', look at the difference, commit it with the table")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
