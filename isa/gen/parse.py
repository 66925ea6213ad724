# SPDX-License-Identifier: Apache-2.0
"""Reads the tables. Only the form of a line is judged here; check.py judges what it says."""

import csv
import re
from pathlib import Path

from model import (ARCHS, Array, Bits, Config, Convert, Enum, Field, Insn, Isa, Map, Member, Row, Struct, TableError)

NAME = re.compile(r"[a-z][a-z0-9_]*$")


def lines_of(path):
    """Yields (where, text) for each line that is not empty or a comment."""
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if text.strip() and not text.lstrip().startswith("#"):
            yield f"{path.name}:{number}", text.rstrip()


def to_int(where, text, what):
    try:
        return int(text, 0)
    except ValueError:
        raise TableError(where, f"{what} is not a number: '{text}'") from None


def split_doc(text):
    head, _, doc = text.partition(" | ")
    return head.strip(), doc.strip()


def check_name(where, name):
    if not NAME.match(name):
        raise TableError(where, f"'{name}' is not a name (lower case, digits, underscore)")
    return name


def add_unique(where, table, name, value, what):
    if name in table:
        raise TableError(where, f"{what} '{name}' is defined twice")
    table[name] = value


def parse_enum(isa, where, text):
    words = text.split()
    if len(words) < 3:
        raise TableError(where, "an enum has a name and at least one value")
    values = {}
    for item in words[2:]:
        name, _, number = item.partition("=")
        check_name(where, name)
        add_unique(where, values, name, to_int(where, number, f"value of {name}"), "value")
    name = check_name(where, words[1])
    add_unique(where, isa.enums, name, Enum(where, name, values), "enum")


def parse_config(isa, where, text):
    words = text.split()
    fields = []
    for item in words[2:]:
        name, _, rest = item.partition("=")
        parts = rest.split(":")
        if len(parts) not in (2, 3):
            raise TableError(where, f"field '{item}' is not name=hi:lo[:enum or signed]")
        kind = parts[2] if len(parts) == 3 else ""
        fields.append(Field(check_name(where, name), to_int(where, parts[0], "high bit"),
                            to_int(where, parts[1], "low bit"), "" if kind == "signed" else kind, kind == "signed"))
    name = check_name(where, words[1])
    add_unique(where, isa.configs, name, Config(where, name, fields), "config")


def parse_types(where, text):
    types = {}
    for part in text.split(";"):
        arch, _, names = part.partition(":")
        number = to_int(where, arch, "architecture in types")
        types[number] = names.split(",") if names else []
    return types


def parse_operands(where, text):
    operands = {}
    for item in text.split():
        name, _, kind = item.partition("=")
        if name not in ("a", "b", "c", "d") or not kind:
            raise TableError(where, f"operand '{item}' is not a=.., b=.., c=.. or d=..")
        add_unique(where, operands, name, kind, "operand")
    return operands


def number_or_name(text):
    return int(text) if text and text.isdigit() else text


def parse_insn(isa, where, text):
    head, colon, tail = text.partition(" : ")
    words = head.split()
    if not colon or len(words) < 7:
        raise TableError(where, "expected: insn NAME opcode f3 f2 form pipe [key=value..] : operands | meaning")
    options = {}
    for item in words[7:]:
        key, _, value = item.partition("=")
        if key not in ("sub", "config", "types", "soc", "status", "imm", "exec", "foot", "mode", "traits", "rule", "time"):
            raise TableError(where, f"unknown option '{item}'")
        add_unique(where, options, key, value, "option")
    operand_text, doc = split_doc(tail)
    sub = options.get("sub")
    types = parse_types(where, options["types"]) if "types" in options else {}
    archs = [to_int(where, x, "soc") for x in options["soc"].split(",")] if "soc" in options else []
    if types and archs and sorted(types) != sorted(archs):
        raise TableError(where, "soc= and types= name different architectures")
    if options.get("status", "planned") != "planned":
        raise TableError(where, f"unknown status '{options['status']}'")
    isa.insns.append(Insn(
        where, check_name(where, words[1]), words[2], to_int(where, words[3], "f3"),
        -1 if words[4] == "-" else to_int(where, words[4], "f2"), words[5], words[6],
        number_or_name(sub),
        [x for x in options.get("config", "").split(",") if x], options.get("imm", ""), types,
        archs or sorted(types) or list(ARCHS), "status" in options, parse_operands(where, operand_text), doc,
        options.get("exec", ""), options.get("foot", ""), number_or_name(options.get("mode", "0")),
        [x for x in options.get("traits", "").split(",") if x], [x for x in options.get("rule", "").split(",") if x],
        options.get("time", "")))


def parse_convert(isa, where, text):
    words = text.split()
    if len(words) not in (5, 6) or not words[4].startswith("soc=") or words[5:] not in ([], ["status=planned"]):
        raise TableError(where, "expected: convert FROM TO suffixes soc=.. [status=planned]")
    suffixes = ["" if item == "-" else item for item in words[3].split(",")]
    archs = [to_int(where, item, "soc") for item in words[4][4:].split(",")]
    isa.converts.append(Convert(where, words[1], words[2], suffixes, archs, len(words) == 6))


def parse_isa_file(isa, path):
    for where, text in lines_of(path):
        kind = text.split()[0]
        if kind == "opcode":
            body, _, doc = text.partition("#")
            words = body.split()
            if len(words) != 3:
                raise TableError(where, "expected: opcode NAME value # meaning")
            add_unique(where, isa.opcodes, words[1], (to_int(where, words[2], "opcode"), doc.strip()), "opcode")
        elif kind == "enum":
            parse_enum(isa, where, text)
        elif kind == "config":
            parse_config(isa, where, text)
        elif kind == "field":
            head, doc = split_doc(text)
            words = head.split()
            if len(words) != 2:
                raise TableError(where, "expected: field [CONFIG.]NAME | meaning")
            add_unique(where, isa.field_docs, words[1], (where, doc), "field text")
        elif kind == "insn":
            parse_insn(isa, where, text)
        elif kind == "convert":
            parse_convert(isa, where, text)
        else:
            raise TableError(where, f"unknown kind of line '{kind}'")


def parse_csv(path, columns):
    """Rows of name, value, [access, reset,] meaning; the last column may hold commas."""
    rows = []
    for where, text in lines_of(path):
        cells = next(csv.reader([text]))
        if len(cells) < columns:
            raise TableError(where, f"expected {columns} columns")
        doc = ",".join(cells[columns - 1:]).strip()
        row = Row(where, check_name(where, cells[0]), to_int(where, cells[1], "value"), doc)
        if columns == 5:
            row.access = cells[2]
            row.reset = None if cells[3] == "-" else to_int(where, cells[3], "reset value")
        rows.append(row)
    return rows


def parse_bits(isa, where, of, text):
    """WORD.NAME hi[:lo] | meaning"""
    head, doc = split_doc(text)
    match = re.match(r"(\w+)\.(\w+)\s+(\d+)(?::(\d+))?$", head)
    if not match:
        raise TableError(where, "expected: WORD.NAME hi[:lo] | meaning")
    isa.bits.append(Bits(where, of, match[1], check_name(where, match[2]), int(match[3]), int(match[4] or match[3]), doc))


def parse_map_file(isa, path):
    for where, text in lines_of(path):
        head, doc = split_doc(text)
        words = head.split()
        if words[0] == "map" and len(words) in (4, 5):
            isa.maps.append(Map(where, check_name(where, words[1]), to_int(where, words[2], "address"),
                                to_int(where, words[3], "end"), words[4] if len(words) == 5 else "", doc))
        elif words[0] == "mark" and len(words) == 3:
            isa.marks.append(Row(where, check_name(where, words[1]), to_int(where, words[2], "address"), doc))
        else:
            raise TableError(where, "expected: map NAME first end [section] | meaning, or mark NAME address | meaning")


def parse_regs_file(isa, path):
    for where, text in lines_of(path):
        words = text.split()
        if words[0] == "reg":
            head, doc = split_doc(text)
            words = head.split()
            if len(words) != 6:
                raise TableError(where, "expected: reg NAME offset width access reset | meaning")
            row = Row(where, check_name(where, words[1]), to_int(where, words[2], "offset"), doc, words[4])
            row.width = to_int(where, words[3], "width")
            row.reset = None if words[5] == "-" else to_int(where, words[5], "reset value")
            isa.regs.append(row)
        elif words[0] == "field":
            parse_bits(isa, where, "", text.split(None, 1)[1])
        elif words[0] == "array":
            match = re.match(r"array\s+(\w+)\s+(\S+)\s+stride\s+(\S+)\s+count\s+(\S+)\s*:\s*([^|]*)(?:\|(.*))?$", text)
            if not match:
                raise TableError(where, "expected: array NAME offset stride N count N : member offset, ..")
            members = {}
            for item in match[5].split(","):
                name, offset = item.split()
                add_unique(where, members, check_name(where, name), to_int(where, offset, "offset"), "member")
            isa.arrays.append(Array(where, match[1], to_int(where, match[2], "offset"),
                                    to_int(where, match[3], "stride"), to_int(where, match[4], "count"),
                                    members, (match[6] or "").strip()))
        else:
            raise TableError(where, f"unknown kind of line '{words[0]}'")


def parse_layout_file(isa, path):
    struct = None
    for where, text in lines_of(path):
        head, doc = split_doc(text)
        words = head.split()
        if words[0] == "enum":
            parse_enum(isa, where, head)
        elif words[0] == "limit" and len(words) == 3:
            isa.limits.append(Row(where, check_name(where, words[1]), to_int(where, words[2], "limit"), doc))
        elif words[0] == "struct":
            if len(words) != 3:
                raise TableError(where, "expected: struct NAME size | meaning")
            struct = Struct(where, check_name(where, words[1]), to_int(where, words[2], "size"), doc, [])
            isa.structs.append(struct)
        elif text[0] == " " and struct and "." in words[0]:
            parse_bits(isa, where, struct.name, text.strip())
        elif text[0] == " " and struct:
            match = re.match(r"(\w+)\s+(\d+)\s+(u8|u16|u32|u64)(?:\[(\d+)\])?$", head)
            if not match:
                raise TableError(where, "expected: NAME offset u8|u16|u32|u64[count] | meaning")
            struct.members.append(Member(where, check_name(where, match[1]), int(match[2]), match[3],
                                         int(match[4] or 1), doc))
        else:
            raise TableError(where, f"unknown kind of line '{words[0]}'")


def soc_lines(text):
    """(line, section, key, value) of each line of a SoC file; those that set nothing have no key."""
    section = ""
    for line in text.splitlines():
        plain = line.split(";")[0].strip()
        if plain.startswith("["):
            section = plain[1:plain.index("]")]
        key, equals, value = plain.partition("=")
        yield line, "insn" if section.startswith("insn") else section, key.strip() if equals else None, value.strip()


def read_soc(path, above=()):
    """A SoC file's text with the lines of its base that it leaves as they are (isa/base/soc_file.c does so for others)."""
    text, own, base = "", set(), None
    for line, section, key, value in soc_lines(path.read_text()):
        is_base = (section, key) == ("soc", "base")
        base = value if is_base else base
        text += f"; {line}\n" if is_base else f"{line}\n"
        own.add((section, key))
    if base is None:
        return text
    below = path.with_name(f"{base}.ini")
    if below == path or below in above or not below.exists():
        raise TableError(path.name, f"base = {base}: " + ("there is no such file" if not below.exists() else "that file has this one as its base"))
    text += f";base {base}\n"
    for line, section, key, _ in soc_lines(read_soc(below, (*above, path))):
        text += f"; {line}\n" if key and (section, key) in own else f"{line}\n"
    return text


def parse_tables(root):
    """Reads every table below `root` (the isa folder)."""
    root = Path(root)
    isa = Isa()
    # formats.isa first: it defines what the other files use.
    for path in sorted(root.glob("insn/*.isa"), key=lambda p: (p.name != "formats.isa", p.name)):
        if path.name != "scalar.isa":
            parse_isa_file(isa, path)
    names = dict.fromkeys(item.name for config in isa.configs.values() for item in config.fields)
    if names:
        isa.enums["field"] = Enum("formats.isa", "field", {name: number for number, name in enumerate(names)})
    isa.status = parse_csv(root / "status.csv", 3)
    isa.faults = parse_csv(root / "faults.csv", 3)
    isa.csrs = parse_csv(root / "csr.csv", 5)
    for path in sorted(root.glob("regs/*.regs")):
        parse_regs_file(isa, path)
    for path in sorted(root.glob("layout/*.layout")):
        parse_layout_file(isa, path)
    for path in sorted(root.glob("layout/*.map")):
        parse_map_file(isa, path)
    linker = root / "device" / "leo.ld.in"
    isa.linker = linker.read_text() if linker.exists() else ""
    isa.socs = [(path.stem, read_soc(path)) for path in sorted(root.glob("soc/*.ini"))]
    return isa
