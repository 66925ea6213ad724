#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""absent.py ROOT OUT: from runtime/acl/absent.txt the headers that declare functions with nothing behind them, OUT/include, and the
C file that defines them, OUT/acl/absent.c. Files that are so already stay as they are.
"""

import re
import sys
from pathlib import Path

TABLE = Path("runtime") / "acl" / "absent.txt"
LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */\n"
MADE = "generated from runtime/acl/absent.txt"


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


def texts(root):
    """{name of a header: its text}"""
    return {header.name: header_text(header) for header in read(root)}


def main():
    root, out = map(Path, sys.argv[1:3])
    files = {out / "include" / name: text for name, text in texts(root).items()}
    files[out / "acl" / "absent.c"] = source_text(read(root))
    for path, text in files.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
