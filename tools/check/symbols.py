#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""symbols.py BUILD [ROOT]: leo_ names are exactly the public ones.

Every global leo_ symbol of our libraries is declared in a public header, every leo_ function that a public header
declares is defined, and no library has a writable global. A shared library exports what the headers of its facade
(<folder>/include/<facade>/) declare, no more and no less.
"""

import re
import subprocess
import sys
from pathlib import Path

import tree

# Sections of writable data; constants that hold addresses are in .data.rel.ro.
WRITABLE = re.compile(r"^(\.t?data(?!\.rel\.ro)|\.t?bss|\*COM\*)")
# leo_alloc's failing allocation is a test hook of the whole process; last_error is a thread's own text; the rest is the
# front room's process and what each thread has of it (decision 8).
ACCEPTED = {"fail_after", "last_error", "the_process", "once", "current", "current_serial", "thread_mode",
            "thread_captures", "thread_stream", "thread_key", "thread_once", "calls",
            # The room of communicators (decision 8).
            "the_comms", "the_places", "gathered", "the_exchanges"}
# C++ that only the program atc links: tables and messages of protoc are objects that are made when it starts.
OF_A_TOOL = {"libleo_frontend.a", "libleo_frontend_messages.a"}
HOOKS = {"acl_hook.h", "cnrt_hook.h", "op_watch.h"}


def declared(root, build):
    """leo_ names of public headers -> the header; `inline` ones have no symbol."""
    names, inline = {}, set()
    generated = [Path(p) for p in sorted((Path(build) / "isa" / "include").glob("leo/*.h"))]
    # A hook is its shared library's, which is checked by its exports.
    public = [Path(root) / p for p in tree.files(root, ".h")
              if "include" in p.parts and "device" not in p.parts and p.name not in HOOKS]
    for path in [*public, *generated]:
        text = tree.without_comments(path.read_text(encoding="utf-8"))
        text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
        text = re.sub(r'extern\s+"C"\s*\{', "", text)
        text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
        while re.search(r"\{[^{}]*\}", text):
            text = re.sub(r"\{[^{}]*\}", ";", text)
        for statement in text.split(";"):
            found = re.search(r"\b(leo_\w+)\s*\(", statement)
            data = re.search(r"\bextern\b.*\b(leo_\w+)\s*(?:\[|$)", statement.strip(), flags=re.S)
            if not (found or data) or "typedef" in statement:
                continue
            name = (found or data).group(1)
            if re.search(r"\bstatic\b", statement):
                inline.add(name)
            else:
                names[name] = path
    return names, inline


def symbols(build):
    """(library, symbol, is global, section) of our static libraries."""
    for library in sorted(Path(build).rglob("libleo_*.a")):
        if "tests" in library.parts or "device" in library.parts:
            continue
        listing = subprocess.run(["nm", "--defined-only", "--format=sysv", str(library)], capture_output=True,
                                 text=True, check=False)
        for line in listing.stdout.split("\n"):
            fields = [field.strip() for field in line.split("|")]
            if len(fields) == 7 and fields[3] in ("FUNC", "OBJECT", "IFUNC", "TLS"):
                yield library, fields[0], fields[2].isupper(), fields[6]


# The folders of headers a library answers, where they are not its own name.
GENERATED = {"aclnn": "include/aclnnop", "cnnl": "cnnl"}  # folders of their generated headers
# Of C++ the namespace is the promise: its names are mangled, and no macro marks them.
C_PLUS_PLUS = re.compile(r"_Z(N|NK|TV|TI|TS|NSt|NKSt)?\w*2ge\w*$")
NAMESPACES = {"ge": C_PLUS_PLUS, "aclgraph": C_PLUS_PLUS}
FACADES = {"acl": ("acl", "acl/absent", "hal"), "aclnn": ("aclnn", "aclnnop", "acl/ops"), "cnrt": ("cnrt",), "dvpp": ("acl/ops",)}


def check_shared(root, build):
    """Exports of <build>/<folder>/<facade>/lib*.so against what <folder>/include/<facade>/*.h mark as exported.

    The facade of programs also shows the layer below to the libraries on top: <folder>/include/leo/*.h.
    """
    for library in sorted(Path(build).glob("*/*/lib*.so")):
        folder, facade = library.parts[-3:-1]
        include = Path(root) / folder / "include"
        promised, below = set(), set()
        headers = [h for name in FACADES.get(facade, (facade,)) for top in (include, Path(build) / folder / "include")
                   for h in sorted((top / name).glob("*.h"))]
        generated = GENERATED.get(facade)
        headers += sorted((Path(build) / folder / "gen" / generated).glob("*.h")) if generated else []
        for header in headers:
            text = tree.without_comments(header.read_text(encoding="utf-8"))
            text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
            promised |= set(re.findall(r"\b[A-Z]+_FUNC_VISIBILITY\b[^;(]*?\b(\w+)\s*\(", text))
        for header in sorted((include / "leo").glob("*.h")):
            below |= set(re.findall(r"\b(leo_\w+)\s*\(", tree.without_comments(header.read_text(encoding="utf-8"))))
        listing = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=False)
        exported = {line.split()[-1] for line in listing.stdout.split("\n") if line}
        own = NAMESPACES.get(facade)
        exported = {name for name in exported if not (own and own.match(name))}
        for name in sorted(exported - promised - below):
            yield f"{library.name}: {name} is exported but in no header of {facade}"
        for name in sorted(promised - exported):
            yield f"{library.name}: {name} is declared but not exported"


def main():
    build = sys.argv[1]
    root = sys.argv[2] if len(sys.argv) > 2 else "."
    names, inline = declared(root, build)
    violations, defined = [], set()
    for library, symbol, is_global, section in symbols(build):
        if is_global:
            defined.add(symbol)
            if symbol.startswith("leo_") and symbol not in names:
                violations.append(f"{library.name}: {symbol} is global but in no public header")
        if WRITABLE.match(section) and symbol not in ACCEPTED and library.name not in OF_A_TOOL:
            violations.append(f"{library.name}: {symbol} is a writable global ({section})")
    if not defined:
        violations.append(f"{build}: no libraries: build first")
    for name, path in sorted(names.items()):
        if name not in defined and name not in inline:
            violations.append(f"{path}: {name} is declared but no library defines it")
    violations += check_shared(root, build)
    tree.finish("symbols", violations)


main()
