#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""absent.py ROOT [--source FILE]: from runtime/acl/absent.txt the headers that declare functions with nothing behind them; with --source
the C file that defines them, and a failure if the headers are not those of the table.
"""

import re
import sys
from pathlib import Path

TABLE = Path("runtime") / "acl" / "absent.txt"
LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */\n"
MADE = "made by tools/apidoc/absent.py from runtime/acl/absent.txt"


class Header:
    def __init__(self, name):
        self.name, self.needs, self.why, self.types, self.calls = name, [], "", [], []


def read(root):
    headers = []
    for line in (root / TABLE).read_text(encoding="utf-8").splitlines():
        word, _, rest = line.partition(" ")
        if word == "header":
            headers.append(Header(rest))
        elif word == "needs":
            headers[-1].needs.append(rest)
        elif word == "why":
            headers[-1].why = rest
        elif word == "call":
            headers[-1].calls.append([part.strip() for part in rest.split("|")])
        elif line and word != "#":
            headers[-1].types.append((word, *rest.split(" ", 1)))
    return headers


def type_text(kind, name, rest=""):
    if kind == "opaque":
        return f"typedef struct {name} {name};"
    if kind == "handle":
        return f"typedef void *{name};"
    if kind == "callback":
        return f"typedef {rest};"
    items = "".join(f"    {item.replace('=', ' = ')},\n" for item in rest.split())
    return f"typedef enum {{\n{items}}} {name};"


def header_text(header):
    lines = [LICENCE + f"// clang-format off\n/* Names without anything behind them ({MADE}): calls give 207000, numbers 0, pointers NULL. */",
             "#pragma once", ""]
    lines += [f"#include <{name}>" for name in header.needs] + ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    lines += [type_text(*row) for row in header.types] + [""]
    lines += [f"ACL_FUNC_VISIBILITY {result} {name}({parameters or 'void'});" for result, name, parameters in header.calls]
    return "\n".join(lines + ["", "#ifdef __cplusplus", "}", "#endif"]) + "\n"


def names_of(parameters):
    return [re.search(r"(\w+)\s*(?:\[\w*\]\s*)*$", part).group(1) for part in parameters.split(",")] if parameters else []


def call_text(result, name, parameters):
    body = "".join(f"    (void){parameter};\n" for parameter in names_of(parameters))
    value = "" if result == "aclError" else "    return 0;\n" if "*" not in result and not result.endswith("Callback") else "    return NULL;\n"
    head = "return " if result == "aclError" else "(void)"
    end = "" if result == "void" else value
    return f"{result} {name}({parameters or 'void'})\n{{\n{body}    {head}acl_absent(__func__, why);\n{end}}}\n"


def source_text(headers):
    text = [LICENCE + f"/* {MADE[0].upper()}{MADE[1:]}. */", '#include "acl_internal.h"', ""]
    for header in headers:
        text += [f"#include <{header.name}>"]
    text += [""]
    for header in headers:
        calls = "\n".join(call_text(*call) for call in header.calls)
        why = header.why.replace('"', '\\"')
        text += [f'#define why "{why}"', "", calls, "#undef why", ""]
    return "\n".join(text)


def main():
    root, headers = Path(sys.argv[1]), read(Path(sys.argv[1]))
    stale = []
    for header in headers:
        path, text = root / "runtime" / "include" / header.name, header_text(header)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(header.name)
            if "--source" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    if "--source" in sys.argv:
        if stale:
            sys.exit(f"absent.py: {', '.join(stale)} is not what {TABLE} says: make docs")
        Path(sys.argv[sys.argv.index("--source") + 1]).write_text(source_text(headers), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
