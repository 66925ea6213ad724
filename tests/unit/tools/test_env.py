# SPDX-License-Identifier: Apache-2.0
"""Every variable that the sources read is described in docs/env.md, and every one described is read or set somewhere."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ["runtime", "driver", "sim", "kernels", "tools", "training", "python", "isa"]
# What other programs own and we only pass on or look at as they do.
FOREIGN = {"HOME", "PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "TMPDIR", "MANPATH", "CXX"}
PREFIXES = r"(?:LEO|ASCEND|HCCL|ACL|CNRT|CNCL|MLU|UCX|RANK|NEUWARE)_[A-Z0-9_]+"


def read_by_c(text):
    """Arguments of getenv, and names kept in tables for it."""
    return set(re.findall(r'getenv\(\s*"([A-Z0-9_]+)"', text)) | set(re.findall(rf'"({PREFIXES})"', text))


def read_by_python(text):
    return set(re.findall(r'environ(?:\.get\(|\[)\s*"([A-Z0-9_]+)"', text))


class Environment(unittest.TestCase):
    def setUp(self):
        self.page = (ROOT / "docs" / "env.md").read_text(encoding="utf-8")
        self.described = set(re.findall(r"`([A-Z][A-Z0-9_]+)(?:=[^`]*)?`", self.page))
        self.sources = {path: path.read_text(encoding="utf-8", errors="replace") for folder in FOLDERS
                        for path in (ROOT / folder).rglob("*") if path.suffix in (".c", ".h", ".py", ".sh", ".in") or path.name in ("npu-smi", "cnmon", "cncc", "bisheng")}

    def test_what_is_read_is_described(self):
        missing = {}
        for path, text in self.sources.items():
            if path.suffix not in (".c", ".py"):
                continue
            for name in (read_by_c if path.suffix == ".c" else read_by_python)(text) - FOREIGN - self.described:
                missing.setdefault(name, path.relative_to(ROOT))
        constants = {name for text in self.sources.values() for name in re.findall(r"(?:#define|enum)\s+([A-Z0-9_]+)", text)}
        # Names of errors are texts as well.
        constants |= {name for path, text in self.sources.items() if path.suffix == ".h"
                      for name in re.findall(r"\b([A-Z][A-Z0-9_]+)\s*(?:=[^,{}]*)?(?:,|\n\s*\})", text)}
        missing = {name: str(path) for name, path in missing.items() if name not in constants}
        self.assertEqual(missing, {}, "say in docs/env.md what they do")

    def test_what_is_described_is_there(self):
        everything = "\n".join(self.sources.values())
        gone = sorted(name for name in self.described - FOREIGN if name not in everything and not name.endswith("_"))
        self.assertEqual(gone, [], "docs/env.md describes variables that no source names")


if __name__ == "__main__":
    unittest.main()
