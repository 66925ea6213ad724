# SPDX-License-Identifier: Apache-2.0
"""The toolkit's version, which programs compare."""

from pathlib import Path

_lines = (Path(__file__).resolve().parents[3] / "compiler" / "version.info").read_text(encoding="utf-8").splitlines()
version = next(line.partition("=")[2] for line in _lines if line.startswith("Version="))
