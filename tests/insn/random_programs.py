# SPDX-License-Identifier: Apache-2.0
"""Random programs for the scalar unit: words from insns.def with random fields, in blocks with branches, loops and calls.

A program runs its blocks many times, each time on other operands of a pool, and writes out all registers after each
block. Words are put together here and not by an assembler, so that every field of an instruction is random that may be."""

import random
import re
import struct

from operands import D, H, S, cancelling, corners, integer, register

TEXT, DATA = 0x10000, 0x400000
BUFFER, SCRATCH = DATA, DATA + 0x40000
BUFFER_BYTES, SCRATCH_BYTES = 0x20000, 0x2000
# The pool: records of an operand triple in each format and of an integer; every round begins a record further.
FORMATS, RECORD_WORDS, POOL_RECORDS, VIEW = {"h": H, "s": S, "d": D}, 10, 400, 25
POOL_WORDS = RECORD_WORDS * POOL_RECORDS
# sp: middle of the scratch memory, gp: where the next dump goes, tp: link of the dump; the others: counters, pool.
SP, GP, TP, INNER, OUTER, POOL, LINK = 2, 3, 4, 30, 9, 31, 8
RESERVED = (SP, GP, TP, INNER, OUTER, POOL, LINK)
FREE = [n for n in range(32) if n not in RESERVED]
DUMPED = [n for n in FREE if n]
RECORD = 8 * (len(DUMPED) + 32 + 1)
# End a program, are not in QEMU 7.2, or are put in by hand.
LEFT_OUT = ("ecall", "ebreak", "unimp", "jal", "jalr")


def tiny_edge(fmt, rng):
    """A product just below the least normal number, which may round to it: tiny or not?"""
    one = 1 << fmt.mantissa_bits
    a = one | rng.getrandbits(fmt.mantissa_bits) | 1
    b = (2 * one * one - 1) // a  # a * b is the largest such product below 2
    exponent = rng.randint(-8, 8)
    # Of 1.a * 2^exponent and 1.b * 2^other; b may be a little less than one.
    other = 1 - fmt.bias - 1 - exponent
    if b < one:
        b, other = 2 * b, other - 1
    return (fmt.box(fmt.power(rng.getrandbits(1), exponent, a - one)), fmt.box(fmt.power(0, other, b - one)),
            fmt.box(fmt.make(rng.getrandbits(1), 0, 0)))


class Insn:
    def __init__(self, mnemonic, mask, match, form, kind=None, rounds=False):
        self.mnemonic, self.mask, self.match, self.form, self.kind, self.rounds = mnemonic, mask, match, form, kind, rounds


def read_table(path):
    table = {}
    text = open(path, encoding="ascii").read()
    for m in re.finditer(r'^SCALAR_INSN\(\w+, "([\w.]+)", (0x\w+), (0x\w+), (\w+)\)', text, re.M):
        table[m[1]] = Insn(m[1], int(m[2], 16), int(m[3], 16), m[4])
    for m in re.finditer(r'^SCALAR_FLOAT\("([\w.]+)", (0x\w+), (0x\w+), (\w+), \w, \w\)', text, re.M):
        table[m[1]] = Insn(m[1], int(m[2], 16), int(m[3], 16), "FLOAT", m[4], not int(m[2], 16) & 0x7000)
    return table


def imm_i(value):
    return (value & 0xfff) << 20


def imm_s(value):
    return (value >> 5 & 0x7f) << 25 | (value & 0x1f) << 7


def imm_b(value):
    return (value >> 12 & 1) << 31 | (value >> 5 & 0x3f) << 25 | (value >> 1 & 0xf) << 8 | (value >> 11 & 1) << 7


def imm_j(value):
    return (value >> 20 & 1) << 31 | (value >> 1 & 0x3ff) << 21 | (value >> 11 & 1) << 20 | (value >> 12 & 0xff) << 12


class Program:
    def __init__(self, table, seed, blocks=16, slots=40, rounds=300):
        self.table, self.rng, self.seed = table, random.Random(seed), seed
        self.words, self.fixes, self.labels, self.counts = [], [], {}, {}
        self.blocks, self.slots, self.rounds = blocks, slots, rounds
        usable = [i for i in table.values() if i.mnemonic not in LEFT_OUT and "bf16" not in i.mnemonic]
        self.plain = [i for i in usable if i.form in ("R", "I", "S", "SHIFT", "U", "NONE") and not self.is_atomic(i)]
        self.floats = [i for i in usable if i.form == "FLOAT"]
        self.atomics = [i for i in usable if self.is_atomic(i)]
        self.branches = [i for i in usable if i.form == "B"]
        self.loads = [i for i in usable if re.fullmatch(r"f?l[bhwd]u?", i.mnemonic)]
        self.stores = [i for i in usable if i.form == "S"]
        self.build()

    @staticmethod
    def is_atomic(insn):
        return insn.match & 0x7f == 0x2f

    # ---- words

    def put(self, mnemonic, rd=0, rs1=0, rs2=0, imm=0):
        insn = self.table[mnemonic]
        self.words.append(insn.match | rd << 7 | rs1 << 15 | rs2 << 20 | imm)

    def jump(self, mnemonic, label, rd=0, rs1=0, rs2=0):
        self.fixes.append((len(self.words), label, imm_j if mnemonic == "jal" else imm_b))
        self.put(mnemonic, rd, rs1, rs2)

    def label(self, name):
        self.labels[name] = len(self.words)

    def address(self, rd, value):
        low = (value & 0xfff ^ 0x800) - 0x800
        self.put("lui", rd, imm=(value - low) & 0xfffff000)
        self.put("addiw", rd, rd, imm=imm_i(low))

    def link(self):
        for at, label, encode in self.fixes:
            self.words[at] |= encode((self.labels[label] - at) * 4)

    # ---- random instructions

    def x(self):
        return self.rng.choice(FREE)

    def source(self):
        return self.rng.randrange(32) if self.rng.random() < 0.2 else self.x()

    def f(self):
        # Few registers, so that results meet again before they are lost.
        return self.rng.randrange(8) if self.rng.random() < 0.8 else self.rng.randrange(32)

    def count(self, insn):
        self.counts[insn.mnemonic] = self.counts.get(insn.mnemonic, 0) + 1

    def random_float(self, insn):
        kind, word, rng = insn.kind, insn.match, self.rng
        to_x = kind in ("LE", "LT", "EQ", "CLASS", "MV_X_F") or re.fullmatch(r"CVT_[WL]U?_F", kind)
        from_x = kind == "MV_F_X" or re.fullmatch(r"CVT_F_[WL]U?", kind)
        sources = [self.f() for _ in range(3)]
        fresh = rng.random() < 0.8
        if fresh:
            self.load_operands(insn, sources, from_x)
            self.put("csrrwi", 0, 0, imm=imm_i(1))  # flags are sticky
        word |= (self.x() if to_x else rng.randrange(32)) << 7
        word |= (self.source() if from_x else sources[0]) << 15
        if not insn.mask & 0x01f00000:
            word |= sources[1] << 20
        if kind in ("MADD", "MSUB", "NMSUB", "NMADD"):
            word |= sources[2] << 27
        if insn.rounds:
            word |= rng.choice((0, 1, 2, 3, 4, 7, 7, 7)) << 12
        self.words.append(word)
        if fresh and rng.random() < 0.6:
            self.put("csrrs", self.x(), 0, imm=imm_i(1))

    def load_operands(self, insn, sources, from_x):
        """A triple in the format of the operands, found behind the last dot of the mnemonic or the one before."""
        if from_x:
            return
        letter = insn.mnemonic.split(".")[-1]
        letter = {"x": "d", "w": "s"}.get(letter, letter)
        place = 8 * (RECORD_WORDS * self.rng.randrange(VIEW) + 3 * "hsd".index(letter))
        for i, f in enumerate(sources):
            self.put("fld", f, POOL, imm=imm_i(place + 8 * i))

    def random_memory(self, insn):
        """Through sp, through a register set just before, or (loads) of the program itself."""
        rng, base = self.rng, SP
        offset = rng.randrange(-2048, 2041)
        if rng.random() < 0.3:
            base = self.rng.choice(DUMPED)
            if insn.form == "I" and rng.random() < 0.4:
                self.put("auipc", base)
                offset = -rng.randrange(0, min(2000, 4 * len(self.words) - 8) or 1)
            else:
                self.put("addi", base, SP, imm=imm_i(rng.randrange(-1000, 1000)))
        if rng.random() < 0.7:
            offset &= -8
        is_float = insn.mnemonic[0] == "f"
        if insn.form == "S":
            value = self.f() if is_float else self.source()
            self.words.append(insn.match | base << 15 | value << 20 | imm_s(offset))
        else:
            rd = self.f() if is_float else self.x()
            self.words.append(insn.match | rd << 7 | base << 15 | imm_i(offset))

    def random_plain(self, insn):
        word = insn.match | self.x() << 7 | self.source() << 15
        if insn.form == "U":
            word = insn.match | self.x() << 7 | self.rng.getrandbits(20) << 12
        elif insn.form == "R":
            word |= self.source() << 20
        elif insn.form == "SHIFT":
            word |= self.rng.randrange(32 if insn.mask & 1 << 25 else 64) << 20
        elif insn.form == "NONE":  # fence
            word = insn.match | self.rng.getrandbits(8) << 20
        else:
            word |= imm_i(self.rng.choice((self.rng.randrange(-2048, 2048), self.rng.randrange(-4, 5))))
        self.words.append(word)

    def random_atomic(self, insn):
        """At an aligned place; lr and sc next to each other and of one width (QEMU 7.2 needs both)."""
        place = self.rng.choice(DUMPED)
        self.put("addi", place, SP, imm=imm_i(8 * self.rng.randrange(-8, 8)))
        ordering = self.rng.getrandbits(2) << 25
        if insn.mnemonic.startswith("sc"):
            other = [n for n in FREE if n != place]
            self.put("lr" + insn.mnemonic[2:], self.rng.choice(other), place)
        rs2 = 0 if insn.mnemonic.startswith("lr") else self.source() << 20
        self.words.append(insn.match | self.x() << 7 | place << 15 | rs2 | ordering)

    def random_csr(self):
        rng = self.rng
        mnemonic = rng.choice(("csrrw", "csrrs", "csrrc", "csrrwi", "csrrsi", "csrrci"))
        self.count(self.table[mnemonic])
        if rng.random() < 0.3:  # a rounding mode that exists
            self.count(self.table["csrrwi"])
            self.put("csrrwi", self.x(), rng.randrange(5), imm=imm_i(2))
        elif rng.random() < 0.2:
            self.count(self.table["csrrs"])
            self.put("csrrs", self.x(), 0, imm=imm_i(3))
        else:
            self.put(mnemonic, self.x(), rng.randrange(32) if mnemonic[-1] == "i" else self.source(), imm=imm_i(1))

    def refresh(self):
        """Something from the pool, as a float of some width or as an integer."""
        rng, offset = self.rng, 8 * self.rng.randrange(RECORD_WORDS * VIEW)
        name = rng.choice(("flh", "flw", "fld", "fld", "ld"))
        self.put(name, self.x() if name == "ld" else self.f(), POOL, imm=imm_i(offset))

    def one(self):
        """One slot: an instruction, or a few that belong together."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.12:
            self.refresh()
        elif kind < 0.17:
            self.random_csr()
        elif kind < 0.20:
            self.count(self.table["csrrwi"])
            self.put("csrrwi", 0, 0, imm=imm_i(1))  # flags are sticky: clear them
        elif kind < 0.45:
            insn = rng.choice(self.floats)
            self.count(insn)
            self.random_float(insn)
        elif kind < 0.57:
            insn = rng.choice(self.loads + self.stores)
            self.count(insn)
            self.random_memory(insn)
        elif kind < 0.60:
            insn = rng.choice(self.atomics)
            self.count(insn)
            self.random_atomic(insn)
        else:
            insn = rng.choice(self.plain)
            self.count(insn)
            if insn in self.loads or insn in self.stores:
                self.random_memory(insn)
            else:
                self.random_plain(insn)

    def skip(self, name):
        """A branch over a few instructions, or a jump, by distance or by register."""
        kind = self.rng.random()
        if kind < 0.7:
            insn = self.rng.choice(self.branches)
            self.count(insn)
            self.jump(insn.mnemonic, name, rs1=self.source(), rs2=self.source())
        elif kind < 0.85:
            self.count(self.table["jal"])
            self.jump("jal", name, rd=self.x())
        else:
            self.count(self.table["jalr"])
            base, distance = self.rng.choice(DUMPED), self.rng.randrange(1, 6)
            self.put("auipc", base)
            # Bit 0 of the target is dropped.
            self.put("jalr", self.rng.choice(FREE), base, imm=imm_i(4 * (2 + distance) + self.rng.randrange(2)))
            for _ in range(distance):
                self.random_plain(self.rng.choice([i for i in self.plain if i.form == "R"]))
        for _ in range(self.rng.randrange(1, 5)):
            self.one()
        self.label(name)

    def block(self, number):
        slot = 0
        while slot < self.slots:
            kind, name = self.rng.random(), f"b{number}.{slot}"
            if kind < 0.08:
                self.skip(name)
                slot += 4
            elif kind < 0.10 and slot < self.slots - 12:  # a loop
                self.put("addi", INNER, 0, imm=imm_i(self.rng.randrange(2, 9)))
                self.label(name)
                for _ in range(self.rng.randrange(2, 8)):
                    self.one()
                self.put("addi", INNER, INNER, imm=imm_i(-1))
                self.jump("bne", name, rs1=INNER)
                slot += 12
            elif kind < 0.12:  # a call
                self.jump("jal", f"f{self.rng.randrange(4)}", rd=LINK)
                slot += 4
            else:
                self.one()
                slot += 1

    # ---- the frame

    def dump(self):
        """All registers to gp; the buffer is written when it is full. Only gp is changed."""
        places = {n: 8 * i for i, n in enumerate(DUMPED)}
        self.label("dump")
        for n, place in places.items():
            self.put("sd", rs1=GP, rs2=n, imm=imm_s(place))
        for n in range(32):
            self.put("fsd", rs1=GP, rs2=n, imm=imm_s(8 * (len(DUMPED) + n)))
        self.put("csrrs", 10, 0, imm=imm_i(3))
        self.put("sd", rs1=GP, rs2=10, imm=imm_s(RECORD - 8))
        self.address(10, BUFFER + BUFFER_BYTES - 2 * RECORD)
        self.jump("bltu", "dumped", rs1=GP, rs2=10)
        self.put("addi", 5, GP, imm=imm_i(RECORD))
        self.put("addi", 6, TP)
        self.jump("jal", "write", rd=TP)
        self.put("addi", TP, 6)
        for n in (5, 6, 7, 11, 12, 17):
            self.put("ld", n, GP, imm=imm_i(places[n]))
        self.put("ld", 10, GP, imm=imm_i(places[10]))
        self.address(GP, BUFFER)
        self.put("jalr", 0, TP)
        self.label("dumped")
        self.put("ld", 10, GP, imm=imm_i(places[10]))
        self.put("addi", GP, GP, imm=imm_i(RECORD))
        self.put("jalr", 0, TP)

    def write(self):
        """The buffer up to x5."""
        self.label("write")
        self.address(11, BUFFER)
        self.label("write more")
        self.put("sub", 12, 5, 11)
        self.put("addi", 10, 0, imm=imm_i(1))
        self.put("addi", 17, 0, imm=imm_i(64))
        self.put("ecall")
        self.put("add", 11, 11, 10)
        self.jump("bne", "write more", rs1=11, rs2=5)
        self.put("jalr", 0, TP)

    def build(self):
        # First what is called, so that calls go back and branches go forward.
        self.jump("jal", "start")
        for n in range(4):
            self.label(f"f{n}")
            for _ in range(self.rng.randrange(2, 10)):
                self.one()
            self.put("jalr", 0, LINK)
        self.dump()
        self.write()
        self.label("start")
        self.address(SP, SCRATCH + SCRATCH_BYTES // 2)
        self.address(GP, BUFFER)
        pool = len(self.words)
        self.words += [0, 0]  # address of the pool, known at the end
        self.put("addi", OUTER, 0, imm=imm_i(self.rounds))
        for n in DUMPED:
            self.put("ld", n, POOL, imm=imm_i(8 * n))
        for n in range(32):
            self.put("fld", n, POOL, imm=imm_i(8 * (n + 32)))
        self.put("csrrwi", 0, 0, imm=imm_i(3))
        self.label("round")
        for n in range(self.blocks):
            self.block(n)
            self.jump("jal", "dump", rd=TP)
        self.put("addi", POOL, POOL, imm=imm_i(8 * RECORD_WORDS))
        self.address(LINK, 0x12345678)  # patched below: end of the pool
        end = len(self.words) - 2
        self.jump("bltu", "same pool", rs1=POOL, rs2=LINK)
        restart = len(self.words)
        self.words += [0, 0]
        self.label("same pool")
        self.put("addi", OUTER, OUTER, imm=imm_i(-1))
        self.jump("beq", "end", rs1=OUTER)
        self.jump("jal", "round")
        self.label("end")
        self.put("addi", 5, GP)
        self.jump("jal", "write", rd=TP)
        self.put("addi", 10, 0)
        self.put("addi", 17, 0, imm=imm_i(93))
        self.put("ecall")
        self.link()
        self.words += [0] * (len(self.words) % 2)
        start = TEXT + 4096 + 4 * len(self.words)
        self.patch(pool, POOL, start)
        self.patch(restart, POOL, start)
        self.patch(end, LINK, start + 8 * RECORD_WORDS * (POOL_RECORDS - VIEW))

    def patch(self, at, register_number, value):
        tail, self.words = self.words, []
        self.address(register_number, value)
        tail[at:at + 2] = self.words
        self.words = tail

    def operands(self):
        rng, out = self.rng, []
        for _ in range(POOL_RECORDS):
            for fmt in FORMATS.values():
                kind = rng.random()
                if kind < 0.1:
                    triple = list(tiny_edge(fmt, rng))
                elif kind < 0.4:
                    triple = list(cancelling(fmt, rng))
                    rng.shuffle(triple)
                elif kind < 0.55:
                    triple = [fmt.box(bits) for bits in rng.choices(corners(fmt), k=3)]
                else:
                    triple = [register(fmt, rng) for _ in range(3)]
                    if rng.random() < 0.1:
                        triple[1] = triple[0] ^ rng.getrandbits(1) << (fmt.width - 1)
                out += triple
            out.append(integer(rng))
        return [value & (1 << 64) - 1 for value in out]

    def elf(self):
        text = struct.pack(f"<{len(self.words)}I", *self.words) + struct.pack(f"<{POOL_WORDS}Q", *self.operands())
        header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 243, 1, TEXT + 4096, 64, 0, 0, 64, 56, 2, 0, 0, 0)
        loads = struct.pack("<IIQQQQQQ", 1, 5, 4096, TEXT + 4096, TEXT + 4096, len(text), len(text), 4096)
        loads += struct.pack("<IIQQQQQQ", 1, 6, 0, DATA, DATA, 0, SCRATCH + SCRATCH_BYTES - DATA, 4096)
        return (header + loads).ljust(4096, b"\0") + text
