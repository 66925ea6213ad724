# SPDX-License-Identifier: Apache-2.0
"""Random straight-line code over all registers, with all of them written out every few instructions."""

import random

from generate import BUFFER_BYTES, HEAD, RMS, TAIL, Block, Program
from operands import D, H, S, integer, register

# gp points into the buffer, tp is the link of the dump, sp points to scratch memory.
RESERVED = {2, 3, 4}
STEP = 4
DUMP_BYTES = 8 * (29 + 32 + 1)
SCRATCH_HALF = 1024


def operand_letters(name, kind):
    """Which registers a floating-point instruction takes: (rd, sources) of "x" and "f"."""
    if kind in ("MADD", "MSUB", "NMSUB", "NMADD"):
        return "f", "fff"
    if kind in ("LE", "LT", "EQ"):
        return "x", "ff"
    if kind in ("CLASS", "MV_X_F"):
        return "x", "f"
    if kind == "MV_F_X":
        return "f", "x"
    if kind == "SQRT" or kind == "CVT_F_F":
        return "f", "f"
    if kind.startswith("CVT_F_"):
        return "f", "x"
    if kind.startswith("CVT_"):
        return "x", "f"
    return "f", "ff"


class Sequences:
    def __init__(self, mnemonics, seed):
        self.rng = random.Random(seed)
        self.forms = {name: form for name, form in mnemonics.items() if self.is_usable(name, form)}
        self.names = list(self.forms)

    @staticmethod
    def is_usable(name, form):
        if "bf16" in name or name in ("jal", "jalr", "ecall", "ebreak", "unimp", "auipc"):
            return False
        return form not in ("B", "NONE")

    def x(self, source=False):
        while True:
            n = self.rng.randrange(32)
            if n not in RESERVED or (source and n == 2):
                return f"x{n}"

    def f(self):
        return f"f{self.rng.randrange(32)}"

    def instruction(self, name):
        form, rng = self.forms[name], self.rng
        if form.startswith("FLOAT"):
            _, has_rm, kind = form.split()
            rd, sources = operand_letters(name, kind)
            pick = {"x": self.x, "f": self.f}
            text = f"{name} {pick[rd]()}, " + ", ".join(pick[letter]() for letter in sources)
            exact = name in ("fcvt.d.s", "fcvt.s.h", "fcvt.d.h", "fcvt.d.w", "fcvt.d.wu")
            return text + (f", {rng.choice(RMS + ('dyn',) * 3)}" if has_rm == "1" and not exact else "")
        if form == "U":
            return f"{name} {self.x()}, {rng.getrandbits(20)}"
        if form == "SHIFT":
            return f"{name} {self.x()}, {self.x(True)}, {rng.randrange(32 if name.endswith('w') else 64)}"
        if form == "CSR":
            value = rng.randrange(32) if name.endswith("i") else self.x()
            return f"{name} {self.x()}, fflags, {value}"
        if name.startswith("lr"):
            return f"{name} {self.x()}, (sp)"
        if name.startswith("sc"):
            # QEMU 7.2 stores and still reports failure if lr and sc differ in width: keep them paired.
            return f"lr{name[2:]} {self.x()}, (sp); {name} {self.x()}, {self.x()}, (sp)"
        if name.startswith("amo"):
            return f"{name} {self.x()}, {self.x()}, (sp)"
        memory = f"{rng.randrange(-SCRATCH_HALF, SCRATCH_HALF - 8)}(sp)"
        if form == "S":
            return f"{name} {self.f() if name.startswith('f') else self.x()}, {memory}"
        if form == "I" and name in ("flh", "flw", "fld"):
            return f"{name} {self.f()}, {memory}"
        if form == "I" and name.startswith("l"):
            return f"{name} {self.x()}, {memory}"
        if form == "I":
            return f"{name} {self.x()}, {self.x(True)}, {rng.randint(-2048, 2047)}"
        return f"{name} {self.x()}, {self.x(True)}, {self.x(True)}"


def write_dump(lines):
    lines.append("dump:")
    registers = [n for n in range(1, 32) if n not in RESERVED]
    lines += [f"    sd x{n}, {8 * i}(gp)" for i, n in enumerate(registers)]
    lines += [f"    fsd f{n}, {8 * (len(registers) + 1 + n)}(gp)" for n in range(32)]
    # fcsr through a register that is put back
    lines += [f"    csrr x5, fcsr", f"    sd x5, {8 * len(registers)}(gp)", f"    ld x5, {8 * registers.index(5)}(gp)",
              f"    addi gp, gp, {8 * (len(registers) + 33)}", "    jr tp"]
    return 8 * (len(registers) + 33)


def sequence_program(mnemonics, seed, count, length):
    """`count` runs of `length` random instructions, each from fresh random registers."""
    generator = Sequences(mnemonics, seed)
    rng = generator.rng
    program = Program(f"sequence{seed}", {}, seed)
    names = []
    lines = program.lines
    seeds = []
    record = DUMP_BYTES - 0
    for i in range(count):
        lines += ["    la gp, buffer", f"    la x31, seeds + {i * 512}", "    la sp, scratch + 2048"]
        lines += [f"    fld f{n}, {8 * n}(x31)" for n in range(32)]
        lines += [f"    csrwi frm, {rng.randrange(5)}", "    csrwi fflags, 0"]
        lines += [f"    ld x{n}, {256 + 8 * n}(x31)" for n in range(1, 32) if n not in RESERVED]
        values = [register(rng.choice((H, S, D)), rng) for _ in range(32)] + [integer(rng) for _ in range(32)]
        seeds += values
        for _ in range(length // STEP):
            if not names:
                names = generator.names[:]
                rng.shuffle(names)
            picked = [names.pop() for _ in range(min(STEP, len(names)))]
            texts = [generator.instruction(name) for name in picked]
            lines += [f"    {text}" for text in texts] + ["    jal tp, dump"]
            program.blocks.append(Block(picked, "; ".join(texts), None, record, 1))
        lines += ["    mv s0, gp", "    jal ra, write_buffer"]
    dump = []
    size = write_dump(dump)
    for block in program.blocks:
        block.record_bytes = size
    words = "\n".join("    .quad " + ", ".join(f"0x{v:x}" for v in seeds[i:i + 8]) for i in range(0, len(seeds), 8))
    text = "\n".join([HEAD.format(buffer=BUFFER_BYTES)] + lines + [TAIL] + dump +
                     ["    .section .rodata", "    .balign 8", "seeds:", words]) + "\n"
    return program, text
