# SPDX-License-Identifier: Apache-2.0
"""What the tables say, as plain objects. Every object remembers the line it came from."""

from dataclasses import dataclass, field

ARCHS = (1001, 2201)
# Suffix of a conversion's name -> value of enum round.
SUFFIXES = {"": "none", "a": "round", "c": "ceil", "f": "floor", "o": "odd", "r": "rint", "z": "trunc"}
SPACES = ("ub", "l1", "l0a", "l0b", "l0c", "gm", "bt", "fb")
OPERANDS = SPACES + ("val", "cfg", "none")
# What a footprint has besides its form (sim/footprint.h).
TRAITS = ("accumulate", "bits", "half", "mixed", "narrow", "select")


class TableError(Exception):
    """A table is wrong; says where and what."""

    def __init__(self, where, text):
        super().__init__(f"{where}: {text}")


@dataclass
class Enum:
    where: str
    name: str
    values: dict  # name -> number, in table order


@dataclass
class Field:
    name: str
    hi: int
    lo: int
    enum: str = ""
    signed: bool = False

    @property
    def bits(self):
        return self.hi - self.lo + 1

    @property
    def mask(self):
        return ((1 << self.bits) - 1) << self.lo


@dataclass
class Config:
    where: str
    name: str
    fields: list
    docs: dict = field(default_factory=dict)


@dataclass
class Insn:
    where: str
    name: str
    opcode: str
    f3: int
    f2: int  # -1: the i form has none
    form: str
    pipe: str
    sub: object  # None, a number, or the name of an enum whose values are all taken
    configs: list
    imm: str  # config that describes the immediate, or ""
    types: dict  # arch -> names
    archs: list
    planned: bool
    operands: dict  # a b c d -> one of OPERANDS
    doc: str
    exec: str = ""  # FUNCTION[:MEMBER] of the simulator; "" = planned
    foot: str = ""  # form of the footprint; "" = as the first configuration word
    mode: object = 0  # highest value of the mod or order field: a number, or an enum's name
    traits: list = field(default_factory=list)
    rules: list = field(default_factory=list)  # sentences of docs/hw that give its bits
    time: str = ""  # instruction whose time it takes on a chip whose file names none
    operand_names: dict = field(default_factory=dict)  # a b c d -> parameter of its intrinsics (emit_intrin.name_operands)


@dataclass
class Convert:
    """A pair of types vconv converts between, and the rounding suffixes its intrinsics come with."""
    where: str
    source: str
    target: str
    suffixes: list
    archs: list
    planned: bool


@dataclass
class Row:
    """A line of a .csv table or a register."""
    where: str
    name: str
    value: int
    doc: str
    access: str = ""
    reset: object = None
    width: int = 0


@dataclass
class Array:
    where: str
    name: str
    base: int
    stride: int
    count: int
    members: dict
    doc: str = ""


@dataclass
class Member:
    where: str
    name: str
    offset: int
    type: str
    count: int
    doc: str


@dataclass
class Bits:
    """A field of bits in a register (of = "") or in a member of struct `of`."""
    where: str
    of: str
    word: str
    name: str
    hi: int
    lo: int
    doc: str

    @property
    def mask(self):
        return ((1 << (self.hi - self.lo + 1)) - 1) << self.lo


@dataclass
class Map:
    """A stretch of a core's addresses; `section`: of arrays there, or ""."""
    where: str
    name: str
    base: int
    end: int
    section: str
    doc: str


@dataclass
class Struct:
    where: str
    name: str
    size: int
    doc: str
    members: list


@dataclass
class Isa:
    opcodes: dict = field(default_factory=dict)  # name -> (7-bit value, doc)
    enums: dict = field(default_factory=dict)
    configs: dict = field(default_factory=dict)
    field_docs: dict = field(default_factory=dict)
    insns: list = field(default_factory=list)
    converts: list = field(default_factory=list)
    status: list = field(default_factory=list)
    faults: list = field(default_factory=list)
    csrs: list = field(default_factory=list)
    regs: list = field(default_factory=list)
    arrays: list = field(default_factory=list)
    structs: list = field(default_factory=list)
    limits: list = field(default_factory=list)  # Row
    bits: list = field(default_factory=list)  # Bits of registers and of fields of structs
    maps: list = field(default_factory=list)
    marks: list = field(default_factory=list)  # Row
    linker: str = ""  # template of the linker script
    socs: list = field(default_factory=list)  # (name, text)

    def type_enum(self, insn):
        """Name of the enum that the types of an instruction are values of."""
        for name in insn.configs:
            for item in self.configs[name].fields:
                if item.name in ("dtype", "type", "dst_type", "quant"):
                    return item.enum
        return "dtype"
