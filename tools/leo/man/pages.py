#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages.py LEO REPORT VERSION FOLDER: manual pages leo.1, leo-run.1, ... from what each command says with --help, so that there is one
text to keep right. REPORT is the script behind leo report: LEO finds it in the toolkit folder only, which is made after the pages."""

import re
import subprocess
import sys
from pathlib import Path

ENVIRONMENT = "The variables of the runtime, of logs, collectives and the kernel compiler are described in docs/env.md."


def escape(line):
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + line if line[:1] in (".", "'") else line


def help_of(*command):
    return subprocess.run([*command, "--help"], capture_output=True, text=True, check=True, timeout=30).stdout.rstrip("\n")


def page(name, purpose, version, text):
    """The first paragraph is the synopsis; the rest stays as it stands."""
    head, _, body = text.partition("\n\n")
    usage = [re.sub(r"^(usage:|      )\s*", "", line) for line in head.splitlines() if re.match(r"usage:|       ", line)]
    prose = [line for line in head.splitlines() if not re.match(r"usage:|       ", line)]
    lines = [f'.TH {name.upper()} 1 "" "leonardo {version}" "leonardo"', ".SH NAME", f"{escape(name)} \\- {escape(purpose)}",
             ".SH SYNOPSIS", ".nf", *map(escape, usage), ".fi", ".SH DESCRIPTION"]
    if prose:
        lines += [*map(escape, prose), ".PP"]
    if body:
        lines += [".nf", *map(escape, body.splitlines()), ".fi"]
    lines += [".SH ENVIRONMENT", escape(ENVIRONMENT)]
    if name != "leo":
        lines += [".SH SEE ALSO", ".BR leo (1)"]
    return "\n".join(lines) + "\n"


def main():
    leo, report, version, folder = sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    own = help_of(leo)
    commands = re.findall(r"^  (\w+)  +(\S.*)$", own, flags=re.M)
    if not commands:
        raise SystemExit("leo --help lists no commands")
    (folder / "leo.1").write_text(page("leo", "programs for a DaVinci-class NPU in software", version, own), encoding="utf-8")
    for command, purpose in commands:
        # Commands in Python lie in the toolkit folder, which is not there yet: from the sources.
        script = Path(report).with_name(f"{command}.py")
        said = help_of(sys.executable, "-B", script) if script.exists() else help_of(leo, command)
        text = page(f"leo-{command}", purpose, version, said)
        (folder / f"leo-{command}.1").write_text(text, encoding="utf-8")


main()
