#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""acl_table.py ROOT [--check]: writes docs/api/acl.md and cnrt_functions.md, the tables of the vendors' functions, from headers, sources and
tests.

A function is `refused` if its definition does nothing but report that the feature is not there; else it is `works` if a test
calls it, and `untested` if none does. Fails if a header declares a function that nothing
defines. With --check the page is not written.
"""

import re
import sys
from pathlib import Path

import absent

ACL_HEADERS = ["acl/acl.h", "acl/acl_base.h", "acl/acl_rt.h", "acl/acl_rt_memory_soma.h", "acl/acl_mdl.h", "acl/acl_op.h", "acl/acl_op_compiler.h", "acl/acl_prof.h", "acl/acl_dump.h", "acl/acl_platform.h",
           "acl/ops/acl_dvpp.h", "hccl/hccl.h", "acl/absent/rt.h", "acl/absent/mdl.h", "acl/absent/op.h", "acl/absent/prof.h",
           "acl/absent/dvpp.h", "acl/acl_tdt.h", "acl/acl_tdt_queue.h", "acl/acl_rt_compile.h", "acl/absent/fv.h"]
ACL_SOURCES = ["runtime/acl", "runtime/dvpp", "runtime/hccl", "runtime/prof"]
ACL_TESTS = ["tests/unit/acl", "tests/unit/dvpp", "tests/unit/hccl", "tests/unit/prof", "tests/unit/aclnn", "tests/unit/tools", "tests/bench"]
ACL_HEAD = """# AscendCL and HCCL: what is there

Written by `make docs` (tools/apidoc/acl_table.py) from the headers, the sources and the tests.

- **works**: does what is documented, and the test named calls it.
- **partly**: some documented values or forms are refused with an error that says so; the test calls the others.
- **refused**: gives the documented error for a feature that is not there (207000), with the reason as text.
- **untested**: no test of ours calls it by name; torch_npu may, in tests/pytorch.

Those of `acl/absent`, `acl_tdt_queue.h`, `acl_rt_compile.h` and `acl_fv.h` (runtime/acl/absent.txt: parts of compiled models, taking captured graphs apart,
queues of data, encoding of videos, retrieval of features, run-time compilation, labels, managed memory, snapshots and others) are there so
that programs link: they give 207000, numbers 0, pointers NULL. `acl/acl_rt_api.h` has the C++ overloads of calls below. pyACL is the same calls in Python: python/acl/functions.txt.
"""
CNRT_HEAD = """# CNRT, CNDrv, CNDev, CNCL: what is there

Written by `make docs` (tools/apidoc/acl_table.py) from the headers, the sources and the tests; [cnrt.md](cnrt.md) tells how to use it, and what
is not declared at all.

- **works**: does what is documented, and the test named calls it.
- **partly**: some documented values or forms are refused with an error that says so; the test calls the others.
- **refused**: gives the documented error for a feature that is not there, with the reason as text.
- **untested**: no test of ours calls it by name.
"""


class Face:
    """One page: `page` in docs/api, whose functions are named `names`."""

    def __init__(self, page, head, names, headers, sources, tests):
        self.page, self.head, self.names, self.headers, self.sources, self.tests = page, head, names, headers, sources, tests


FACES = [
    Face("acl.md", ACL_HEAD, r"(?:acl|Hccl)\w+", ACL_HEADERS, ACL_SOURCES, ACL_TESTS),
    Face("cnrt_functions.md", CNRT_HEAD, r"(?:cnrt|cn[A-Z]|cndev|cncl|__bang)\w+", ["cnrt/cnrt.h", "cnrt/cn_api.h", "cnrt/cndev.h", "cncl/cncl.h"],
         ["runtime/cnrt", "runtime/cncl"], ["tests/unit/cnrt", "tests/unit/cncl"]),
]


def declared(text, names):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.findall(r"(?:[A-Z]+_FUNC_VISIBILITY|MSVP_PROF_API)[^;()]*?\b(" + names + r")\s*\(", text)


def definitions(root, face):
    """Function bodies of a face by name."""
    found = {}
    for folder in face.sources:
        for path in sorted((root / folder).rglob("*.c")):
            text = path.read_text(encoding="utf-8")
            for match in re.finditer(r"^[a-zA-Z][\w \*]*?\b(" + face.names + r")\([^;{]*\)\n\{\n(.*?)^\}", text, flags=re.S | re.M):
                found.setdefault(match.group(1), match.group(2))
            # Alike functions that a macro defines.
            for line in re.findall(r"^(?:MAKER|SETTER|GETTER|SETTING)\((.*)\)$", text, flags=re.M):
                for name in re.findall(r"\bacl\w+", line)[:2]:
                    found.setdefault(name, line)
    for table in (root / folder / "absent.txt" for folder in face.sources):
        if table.exists():
            for name in re.findall(r"^call [^|]*\| (\w+)", table.read_text(encoding="utf-8"), flags=re.M):
                found[name] = "refuse"
    return found


REFUSED = re.compile(r"NOT_SUPPORT|NotSupport|ERR_UNSUPPORTED")


def is_refused(body):
    statements = [s.strip() for s in body.split(";") if s.strip() and not s.strip().startswith("(void)")]
    return len(statements) == 1 and (REFUSED.search(statements[0]) or "refuse" in statements[0]) and "?" not in statements[0]


def uses(root, face):
    """For each name the first test file that calls it."""
    found = {}
    for folder in face.tests:
        for path in sorted((root / folder).rglob("*.c")):
            for name in set(re.findall(r"\b(" + face.names + r")\s*\(", path.read_text(encoding="utf-8"))):
                found.setdefault(name, f"{path.parent.name}/{path.name}")
    return found


def python_uses(root):
    """C functions that the tests of pyACL call through python/acl/functions.txt."""
    test = (root / "tests" / "unit" / "tools" / "test_pyacl.py").read_text(encoding="utf-8")
    called = set(re.findall(r"\bacl\.([a-z_.0-9]+)\(", test))
    lines = (root / "python" / "acl" / "functions.txt").read_text(encoding="utf-8").splitlines()
    return {line.split()[1]: "tools/test_pyacl.py" for line in lines if line and line[0] != "#" and line.split()[0] in called}


def page(root, face):
    bodies, tests = definitions(root, face), {**python_uses(root), **uses(root, face)}
    generated = absent.texts(root)
    lines, counts = [face.head], {}
    for header in face.headers:
        text = generated.get(header) or (root / "runtime" / "include" / header).read_text(encoding="utf-8")
        names = sorted(set(declared(text, face.names)))
        if not names:
            raise SystemExit(f"no functions found in {header}")
        lines += ["", f"## {header}", "", "| function | status | test |", "|---|---|---|"]
        for name in names:
            if name not in bodies:
                raise SystemExit(f"{header} declares {name}, and nothing in {' '.join(face.sources)} defines it")
            body, test = bodies[name], tests.get(name, "")
            status = "refused" if is_refused(body) else "untested" if not test else "partly" if REFUSED.search(body) else "works"
            counts[status] = counts.get(status, 0) + 1
            lines.append(f"| `{name}` | {status} | {test} |")
    total = sum(counts.values())
    lines.insert(1, f"\n{total} functions: " + ", ".join(f"{counts[k]} {k}" for k in sorted(counts, key=counts.get, reverse=True)) + ".")
    return "\n".join(lines) + "\n"


def main():
    root = Path(sys.argv[1])
    for face in FACES:
        text = page(root, face)
        if "--check" not in sys.argv:
            (root / "docs" / "api" / face.page).write_text(text, encoding="utf-8")
    return 0


sys.exit(main())
