# SPDX-License-Identifier: Apache-2.0
"""Pieces of C that every emitter needs."""

HEAD = "/* SPDX-License-Identifier: Apache-2.0 */\n/* Generated from {source}; do not edit. */\n"


def header(source, includes, body):
    """A C and C++ header."""
    lines = "".join(f"#include <{name}>\n" for name in includes)
    return (HEAD.format(source=source) + "#pragma once\n\n" + lines + '\n#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
            + body.strip("\n") + "\n\n#ifdef __cplusplus\n}\n#endif\n")


def source(origin, includes, body):
    lines = "".join(f"#include <{name}>\n" for name in includes)
    return HEAD.format(source=origin) + lines + "\n" + body.strip("\n") + "\n"


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def comment(text):
    """Text that may stand inside a block comment."""
    return text.replace("*/", "* /")


def name_function(name, table, argument, count, missing='"?"'):
    """Body of a function that looks a text up in a table."""
    return (f"const char *{name}({argument})\n{{\n"
            f"    if ((unsigned)value >= {count} || {table}[value] == NULL) {{\n        return {missing};\n    }}\n"
            f"    return {table}[value];\n}}\n")


def bits_c(item, width):
    """Mask and accessors of a field of bits: of its register or of its struct's member."""
    ctype, suffix = ("uint64_t", "ull") if width > 32 else ("uint32_t", "u")
    owner = item.of or f"reg_{item.word}"
    name = f"LEO_{item.of or 'BIT_' + item.word}_{item.name}".upper()
    low = f" >> {item.lo}" if item.lo else ""
    at = f" << {item.lo}" if item.lo else ""
    return f"""/** {comment(item.doc)} */
#define {name} 0x{item.mask:x}{suffix}
static inline {ctype} leo_{owner}_get_{item.name}({ctype} word)
{{
    return (word & {name}){low};
}}
static inline {ctype} leo_{owner}_set_{item.name}({ctype} word, {ctype} value)
{{
    return (word & ~{name}) | (value{at} & {name});
}}
"""
