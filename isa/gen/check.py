# SPDX-License-Identifier: Apache-2.0
"""Refuses tables that contradict themselves. Every message starts with file:line."""

import re

from model import ARCHS, OPERANDS, SUFFIXES, TRAITS, TableError

SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}
RULE = re.compile(r"HW-[A-Z]+-[0-9]{2}(\.\.[0-9]{2})?$")
FORMS = {"r4": "abcd", "u4": "abd", "i": "b"}


def require(condition, where, text):
    if not condition:
        raise TableError(where, text)


def check_unique(rows, what):
    names, values = {}, {}
    for row in rows:
        require(row.name not in names, row.where, f"{what} '{row.name}' is defined twice")
        require(row.value not in values, row.where,
                f"{what} '{row.name}' has the value of '{values.get(row.value)}'")
        require(row.doc, row.where, f"{what} '{row.name}' has no text")
        names[row.name] = row
        values[row.value] = row.name


def check_enums(isa):
    for enum in isa.enums.values():
        seen = {}
        for name, value in enum.values.items():
            require(0 <= value < 256, enum.where, f"value {name}={value} is too wide")
            require(value not in seen, enum.where, f"'{name}' has the value of '{seen.get(value)}'")
            seen[value] = name


def check_config(isa, config):
    used = 0
    for item in config.fields:
        require(63 >= item.hi >= item.lo >= 0, config.where, f"field '{item.name}' has impossible bits")
        require(item.bits <= 32, config.where, f"field '{item.name}' is wider than 32 bits")
        require(not used & item.mask, config.where, f"field '{item.name}' overlaps another field")
        used |= item.mask
        if item.enum:
            require(item.enum in isa.enums, config.where, f"unknown enum '{item.enum}'")
            widest = max(isa.enums[item.enum].values.values())
            require(widest < 1 << item.bits, config.where,
                    f"field '{item.name}' is too narrow for enum {item.enum} (value {widest})")
        _, doc = isa.field_docs.get(f"{config.name}.{item.name}", isa.field_docs.get(item.name, ("", "")))
        require(doc, config.where, f"field '{item.name}' of config {config.name} has no text")
        config.docs[item.name] = doc


def check_field_docs(isa):
    known = {item.name for config in isa.configs.values() for item in config.fields}
    known |= {f"{config.name}.{item.name}" for config in isa.configs.values() for item in config.fields}
    for name, (where, doc) in isa.field_docs.items():
        require(name in known, where, f"text for '{name}', which no config has")
        require(doc, where, f"field '{name}' has no text")


def slots_of(isa, insn):
    """The (opcode, f3, f2, sub) places an instruction takes; None stands for any sub."""
    if insn.form == "i":
        return [(insn.opcode, insn.f3, f2, None) for f2 in range(4)]
    if insn.sub is None:
        return [(insn.opcode, insn.f3, insn.f2, None)]
    subs = [insn.sub] if isinstance(insn.sub, int) else isa.enums[insn.sub].values.values()
    return [(insn.opcode, insn.f3, insn.f2, sub) for sub in subs]


def check_insn_operands(isa, insn):
    letters = FORMS[insn.form]
    configs = 0
    for letter, kind in insn.operands.items():
        require(letter in letters, insn.where, f"form {insn.form} has no operand {letter}")
        require(kind in OPERANDS, insn.where, f"unknown operand kind '{kind}'")
        configs += kind == "cfg"
    require(configs == len(insn.configs), insn.where,
            f"{configs} cfg operands but {len(insn.configs)} config words")


def check_insn_exec(isa, insn):
    require(insn.planned == (not insn.exec), insn.where, "an instruction is either planned or has exec=")
    require(not insn.exec or re.match(r"[a-z0-9_]+(:[a-z0-9_]+(\+[a-z0-9_]+)?)?$", insn.exec), insn.where,
            "exec= is FUNCTION, FUNCTION:MEMBER or FUNCTION:MEMBER+SECOND_MEMBER")
    require(isinstance(insn.mode, int) or insn.mode in isa.enums, insn.where, f"unknown enum '{insn.mode}'")
    for trait in insn.traits:
        require(trait in TRAITS, insn.where, f"unknown trait '{trait}'")
    for rule in insn.rules:
        require(RULE.match(rule), insn.where, f"rule= has '{rule}', which is no id of a sentence such as HW-VEC-18 or HW-VEC-30..34")
    require(insn.planned or insn.pipe == "s" or insn.rules, insn.where,
            f"'{insn.name}' has no rule=: the sentences of docs/hw that give its bits")
    if insn.time:
        other = [item for item in isa.insns if item.name == insn.time]
        require(other, insn.where, f"time= names '{insn.time}', which is no instruction")
        require(other[0].pipe == insn.pipe and set(insn.archs) <= set(other[0].archs) and not other[0].time, insn.where,
                f"time={insn.time}: it must be of the same pipe, on the same architectures, and have no time= itself")


def check_insn(isa, insn):
    require(insn.opcode in isa.opcodes, insn.where, f"unknown opcode '{insn.opcode}'")
    require(insn.form in FORMS, insn.where, f"unknown form '{insn.form}'")
    require(0 <= insn.f3 < 8, insn.where, "f3 is too wide")
    require((insn.form == "i") == (insn.f2 < 0), insn.where, "f2 is '-' in form i and only there")
    require(insn.f2 < 4, insn.where, "f2 is too wide")
    require(insn.pipe in isa.enums["pipe"].values, insn.where, f"unknown pipe '{insn.pipe}'")
    require((insn.form == "u4") == (insn.sub is not None), insn.where, "form u4 needs sub=, others have none")
    if isinstance(insn.sub, int):
        require(insn.sub < 32, insn.where, "sub is too wide")
    elif insn.sub is not None:
        require(insn.sub in isa.enums, insn.where, f"unknown enum '{insn.sub}'")
        require(max(isa.enums[insn.sub].values.values()) < 32, insn.where, "sub is too wide")
    for name in insn.configs + [insn.imm] * bool(insn.imm):
        require(name in isa.configs, insn.where, f"unknown config '{name}'")
    if insn.imm:
        require(insn.form == "i", insn.where, "imm= needs form i")
        require(all(item.hi < 12 for item in isa.configs[insn.imm].fields), insn.where, "imm is too wide")
    check_insn_operands(isa, insn)
    enum = isa.enums[isa.type_enum(insn)]
    for arch in insn.archs:
        require(arch in ARCHS, insn.where, f"unknown architecture {arch}")
        for name in insn.types.get(arch, []):
            require(name in enum.values, insn.where, f"unknown type '{name}' (enum {enum.name})")
    require(insn.doc, insn.where, f"instruction '{insn.name}' has no text")


def check_insns(isa):
    names, slots = set(), {}
    for insn in isa.insns:
        require(insn.name not in names, insn.where, f"instruction '{insn.name}' is defined twice")
        names.add(insn.name)
        check_insn(isa, insn)
        for slot in slots_of(isa, insn):
            for clash in (slot, slot[:3] + (None,)):
                require(clash not in slots, insn.where,
                        f"encoding of '{insn.name}' overlaps '{slots.get(clash)}'")
            if slot[3] is None:
                taken = [name for other, name in slots.items() if other[:3] == slot[:3]]
                require(not taken, insn.where, f"encoding of '{insn.name}' overlaps '{''.join(taken[:1])}'")
        slots.update({slot: insn.name for slot in slots_of(isa, insn)})


def check_converts(isa):
    pairs = set()
    vconv = [insn for insn in isa.insns if insn.name == "vconv"]
    for item in isa.converts:
        require((item.source, item.target) not in pairs, item.where, "conversion is defined twice")
        pairs.add((item.source, item.target))
        for suffix in item.suffixes:
            require(suffix in SUFFIXES, item.where, f"unknown rounding suffix '{suffix}'")
        for arch in item.archs:
            types = vconv[0].types.get(arch, []) if vconv else []
            for name in (item.source, item.target):
                require(item.planned or name in types, item.where, f"vconv has no type '{name}' on {arch}")


def check_struct(struct):
    at = 0
    require(struct.doc, struct.where, f"struct '{struct.name}' has no text")
    for member in struct.members:
        size = SIZES[member.type]
        require(member.offset == at, member.where, f"'{member.name}' is at {member.offset}, expected {at}")
        require(at % size == 0, member.where, f"'{member.name}' is not aligned")
        require(member.doc, member.where, f"'{member.name}' has no text")
        at += size * member.count
    require(at == struct.size, struct.where, f"members of '{struct.name}' fill {at} bytes of {struct.size}")


def check_regs(isa):
    check_unique(isa.regs, "register")
    ends = []
    for reg in isa.regs:
        require(reg.access in ("ro", "rw", "w1c"), reg.where, f"unknown access '{reg.access}'")
        require(reg.width in (32, 64) or reg.width % 32 == 0, reg.where, "width is not a multiple of 32")
        require(reg.value % min(reg.width // 8, 8) == 0, reg.where, f"'{reg.name}' is not aligned")
        require(reg.reset is None or reg.reset < 1 << reg.width, reg.where, "reset value is too wide")
        ends.append((reg.value, reg.value + reg.width // 8, reg.where, reg.name))
    for array in isa.arrays:
        require(array.doc, array.where, f"array '{array.name}' has no text")
        ends.append((array.base, array.base + array.stride * array.count, array.where, array.name))
        for name, offset in array.members.items():
            require(offset + 4 <= array.stride, array.where, f"member '{name}' is outside the stride")
    ends.sort()
    for (_, end, _, name), (begin, _, where, other) in zip(ends, ends[1:]):
        require(end <= begin, where, f"'{other}' overlaps '{name}'")


def check_bits(isa):
    widths = {("", reg.name): reg.width for reg in isa.regs}
    widths |= {(struct.name, member.name): 8 * SIZES[member.type] for struct in isa.structs for member in struct.members}
    used, names = {}, set()
    for item in isa.bits:
        word = (item.of, item.word)
        require(word in widths, item.where, f"no register or field '{item.word}'")
        require(widths[word] > item.hi >= item.lo >= 0, item.where, f"'{item.name}' has impossible bits")
        require(not used.get(word, 0) & item.mask, item.where, f"'{item.name}' overlaps another field")
        require((item.of or item.word, item.name) not in names, item.where, f"'{item.name}' is defined twice")
        require(item.doc, item.where, f"'{item.name}' has no text")
        used[word] = used.get(word, 0) | item.mask
        names.add((item.of or item.word, item.name))


def check_maps(isa):
    end = 0
    for item in isa.maps:
        require(end <= item.base < item.end < 1 << 64, item.where, f"'{item.name}' overlaps the one before, or is empty")
        require(item.doc, item.where, f"'{item.name}' has no text")
        end = item.end
    windows = [item for item in isa.maps if item.section]
    for one, other in zip(windows, windows[1:]):
        require(one.end == other.base and one.end - one.base == other.end - other.base, other.where,
                f"'{other.name}' is not as large as the window before, or not right behind it")
    order = [name for name in isa.enums["mem_space"].values if name in [item.name for item in windows]]
    require([item.name for item in windows] == order, windows[0].where if windows else "", "windows are not in the order of enum mem_space")
    check_unique(isa.marks, "mark")


def check_tables(isa):
    check_enums(isa)
    check_field_docs(isa)
    for config in isa.configs.values():
        check_config(isa, config)
    check_insns(isa)
    for insn in isa.insns:
        check_insn_exec(isa, insn)
    check_converts(isa)
    check_unique(isa.status, "status")
    check_unique(isa.faults, "fault")
    check_unique(isa.csrs, "CSR")
    for row in isa.csrs:
        require(row.access in ("ro", "rw", "planned"), row.where, f"unknown access '{row.access}'")
        require(row.value < 0x1000, row.where, "CSR number is too wide")
        require(row.access != "rw" or row.reset is not None, row.where, "a writable CSR needs a reset value")
        require(row.access == "planned" or (row.access == "ro") == (row.value >> 10 == 3), row.where,
                "RISC-V: numbers 0xc00 and up are read-only, others are not")
    check_regs(isa)
    check_bits(isa)
    check_maps(isa)
    for row in isa.limits:
        require(row.doc, row.where, f"limit '{row.name}' has no text")
        require([other.name for other in isa.limits].count(row.name) == 1, row.where, f"limit '{row.name}' is defined twice")
    for struct in isa.structs:
        check_struct(struct)
    names = [struct.name for struct in isa.structs]
    for struct in isa.structs:
        require(names.count(struct.name) == 1, struct.where, f"struct '{struct.name}' is defined twice")
