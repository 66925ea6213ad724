# SPDX-License-Identifier: Apache-2.0
"""Every header of isa compiles alone, in C and C++. argv: folder of the tables, build folder of isa, C and C++ compiler."""

import subprocess
import sys
from pathlib import Path

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Wcast-qual", "-Wwrite-strings", "-Werror"]


def main():
    folders = [Path(sys.argv[1]) / "include", Path(sys.argv[2]) / "include"]
    headers = sorted(f"leo/{path.name}" for folder in folders for path in (folder / "leo").glob("*.h"))
    failed = []
    for header in headers:
        # C++ has -Wshadow object to a function with the name of a struct, a habit of C.
        for compiler, flags in ((sys.argv[3], ["-xc", "-std=c11", "-Wshadow"]), (sys.argv[4], ["-xc++", "-std=c++17"])):
            command = [compiler, *flags, *WARNINGS, *[f"-I{folder}" for folder in folders], "-fsyntax-only", "-"]
            # Twice: a header may be included again.
            text = f"#include <{header}>\n#include <{header}>\n"
            result = subprocess.run(command, input=text, capture_output=True, text=True)
            if result.returncode:
                failed.append(f"{header} {flags[0]}\n{result.stderr}")
    print("\n".join(failed) or f"{len(headers)} headers compile alone")
    return 1 if failed or len(headers) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
