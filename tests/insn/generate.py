# SPDX-License-Identifier: Apache-2.0
"""Assembly programs that run every scalar instruction over tables of operands and write what came out."""

import random
import re
import struct

from operands import BF16, D, H, INTEGERS, MASK64, S, integer, register

RMS = ("rne", "rtz", "rdn", "rup", "rmm")
TEMPS = ("t0", "t1", "t2", "t3", "t4", "t5", "t6", "a3", "a4", "a5", "a6", "s10", "s11")
FORMATS = {"h": H, "s": S, "d": D, "bf16": BF16, "w": S}
WHOLE = {"w", "wu", "l", "lu"}
BUFFER_BYTES = 1 << 21

HEAD = """
    .option norelax
    .bss
    .balign 64
buffer: .space {buffer}
    .balign 64
scratch: .space 4096
    .text
    .globl _start
_start:
"""

TAIL = """
    li a0, 0
    li a7, 93
    ecall
write_buffer:
    la a1, buffer
    sub a2, s0, a1
1:  li a0, 1
    li a7, 64
    ecall
    add a1, a1, a0
    sub a2, a2, a0
    bnez a2, 1b
    ret
"""


class Block:
    """A loop over one table around one instruction."""

    def __init__(self, mnemonics, text, table, record_bytes, count):
        self.mnemonics, self.text, self.table = mnemonics, text, table
        self.record_bytes, self.count = record_bytes, count


class Program:
    def __init__(self, name, tables, seed):
        self.name, self.tables, self.rng = name, tables, random.Random(seed)
        self.blocks, self.lines, self.used = [], [], set()

    def loop(self, mnemonic, text, table, body, results):
        """body runs for each row at 0(s1); `results` are stores from it, one 8-byte word each, "sd reg" or "fsd reg"."""
        rows = self.tables[table]
        self.used.add(table)
        self.blocks.append(Block([mnemonic], text, table, 8 * len(results), len(rows)))
        self.lines += [f"    la s1, table_{table}", f"    la s2, table_{table}_end", "    la s0, buffer", "    la s3, scratch",
                       "10:"]
        self.lines += [f"    {line}" for line in body]
        self.lines += [f"    {store}, {8 * i}(s0)" for i, store in enumerate(results)]
        self.lines += [f"    addi s0, s0, {8 * len(results)}", f"    addi s1, s1, {8 * len(rows[0])}",
                       "    bne s1, s2, 10b", "    jal write_buffer"]

    def source(self, path_of):
        data = []
        for table in sorted(self.used):
            data += [f"    .balign 8", f"table_{table}:", f'    .incbin "{path_of(table)}"', f"table_{table}_end:"]
        return "\n".join([HEAD.format(buffer=BUFFER_BYTES)] + self.lines + [TAIL, "    .section .rodata"] + data) + "\n"


def read_mnemonics(def_path):
    """mnemonic -> form of SCALAR_INSN, or "FLOAT <has rounding mode> <kind>"."""
    text = open(def_path, encoding="ascii").read()
    out = {}
    for name, form in re.findall(r'^SCALAR_INSN\(\w+, "([^"]+)", \w+, \w+, (\w+)\)', text, re.M):
        out[name] = form
    for name, mask, kind in re.findall(r'^SCALAR_FLOAT\("([^"]+)", (\w+), \w+, (\w+), \w+, \w+\)', text, re.M):
        out[name] = f"FLOAT {0 if int(mask, 16) & 0x7000 else 1} {kind}"
    return out


def emit_register(program, name):
    a, b = program.rng.sample(TEMPS, 2)
    for rd in (program.rng.choice(TEMPS), a, b):
        text = f"{name} {rd}, {a}, {b}"
        program.loop(name, text, "i2", [f"ld {a}, 0(s1)", f"ld {b}, 8(s1)", text], [f"sd {rd}"])


def emit_immediate(program, name, values):
    for value in values:
        a, rd = program.rng.choice(TEMPS), program.rng.choice(TEMPS)
        text = f"{name} {rd}, {a}, {value}"
        program.loop(name, text, "i1", [f"ld {a}, 0(s1)", text], [f"sd {rd}"])


def emit_upper(program, name):
    for value in (0, 1, 0x7ffff, 0x80000, 0xfffff, 0x12345):
        rd = program.rng.choice(TEMPS)
        text = f"{name} {rd}, {value}"
        program.loop(name, text, "i1", [text], [f"sd {rd}"])


def emit_branch(program, name):
    a, b = program.rng.sample(TEMPS, 2)
    text = f"{name} {a}, {b}"
    head = [f"ld {a}, 0(s1)", f"ld {b}, 8(s1)", "li s4, 1"]
    program.loop(name, text + ", forward", "i2", head + [f"{text}, 1f", "li s4, 2", "1:"], ["sd s4"])
    program.loop(name, text + ", backward", "i2",
                 head + ["j 2f", "1: addi s4, s4, 16", "j 3f", f"2: {text}, 1b", "addi s4, s4, 4", "3:"], ["sd s4"])
    far = ["1:", ".rept 1000", "addi s4, s4, 3", ".endr", "j 3f", f"2: {text}, 1b", "3:"]
    program.loop(name, text + ", far", "i1", [f"ld {a}, 0(s1)", f"li {b}, 64", "li s4, 1", "j 2f"] + far, ["sd s4"])


def emit_jumps(program):
    program.loop("jal", "jal s4, forward", "i1", ["jal s4, 1f", "li s5, 1", "1: mv s5, s4"], ["sd s4", "sd s5"])
    program.loop("jal", "jal zero, backward", "i1", ["li s5, 0", "j 2f", "1: addi s5, s5, 9", "j 3f", "2: jal zero, 1b",
                                                     "3:"], ["sd s5"])
    program.loop("jalr", "jalr s4, 8(s5)", "i1",
                 ["la s5, 1f", "jalr s4, 8(s5)", "1: li s6, 1", "j 2f", "li s6, 2", "2:"], ["sd s4", "sd s6"])
    program.loop("jalr", "jalr s5, -7(s5): bit 0 dropped, rd = rs1", "i1",
                 ["la s5, 1f", "addi s5, s5, 8", "jalr s5, -7(s5)", "li s6, 5", "1: li s6, 7", "mv s4, s5"],
                 ["sd s4", "sd s6"])


def emit_load(program, name, is_float):
    rd = "ft3" if is_float else program.rng.choice(TEMPS)
    fill = ["la s3, scratch"] + [f"ld s4, 0(s1)", "sd s4, 64(s3)", "not s4, s4", "sd s4, 72(s3)", "xori s4, s4, 1365",
                                 "sd s4, 56(s3)"]
    for offset in (64, 65, 66, 67, 68, 71, 60):  # the odd ones: Linux programs may
        program.loop(name, f"{name} {rd}, {offset}(s3)", "i1", fill + [f"{name} {rd}, {offset}(s3)"],
                     [("fsd " if is_float else "sd ") + rd])
    for base in (64 - 2040, 64 + 2048):
        program.loop(name, f"{name} {rd}, {64 - base}(s4)", "i1",
                     fill + [f"li s4, {base}", "add s4, s4, s3", f"{name} {rd}, {64 - base}(s4)"],
                     [("fsd " if is_float else "sd ") + rd])


def emit_store(program, name, is_float):
    source = "ft3" if is_float else program.rng.choice(TEMPS)
    load = f"fld {source}, 0(s1)" if is_float else f"ld {source}, 0(s1)"
    for offset in (64, 65, 66, 67, 68, 71, 56):
        body = ["li s4, -1", "sd s4, 56(s3)", "sd s4, 64(s3)", "sd zero, 72(s3)", load, f"{name} {source}, {offset}(s3)",
                "ld s4, 56(s3)", "ld s5, 64(s3)", "ld s6, 72(s3)"]
        program.loop(name, f"{name} {source}, {offset}(s3)", "i1", body, ["sd s4", "sd s5", "sd s6"])
    body = [load, "li s4, 2048", "add s4, s4, s3", f"{name} {source}, -2048(s4)", "ld s5, 0(s3)"]
    program.loop(name, f"{name} {source}, -2048(s4)", "i1", body, ["sd s5"])


def emit_atomic(program, name):
    a, b = "t3", "t4"
    word = name.split(".")[1]
    start = ["ld t3, 0(s1)", "ld t4, 8(s1)", "addi s4, s3, 128", "sd t3, 0(s4)"]
    if name.startswith("lr"):
        program.loop(name, f"{name} t5, (s4)", "i2", start + [f"{name} t5, (s4)"], ["sd t5"])
    elif name.startswith("sc"):
        lr, other = "lr." + word, "lr." + word + " t5, (s5)"
        ends = [f"{name} t6, t4, (s4)", "ld t5, 0(s4)"]
        program.loop(name, f"{lr}; {name}", "i2", start + [f"{lr} t5, (s4)"] + ends, ["sd t6", "sd t5"])
        program.loop(name, f"{name} twice", "i2", start + [f"{lr} t5, (s4)"] + ends[:1] + ends, ["sd t6", "sd t5"])
        program.loop(name, f"{name} at another address", "i2", start + ["addi s5, s4, 64", other] + ends,
                     ["sd t6", "sd t5"])
    else:
        for suffix in ("", ".aq", ".rl", ".aqrl"):
            text = f"{name}{suffix} t5, t4, (s4)"
            program.loop(name, text, "i2", start + [text, "ld t6, 0(s4)"], ["sd t5", "sd t6"])
        program.loop(name, f"{name} t4, t4, (s4)", "i2", start + [f"{name} t4, t4, (s4)", "ld t6, 0(s4)"],
                     ["sd t4", "sd t6"])


def emit_csr(program, name):
    for csr in ("fflags", "frm", "fcsr"):
        if name.endswith("i"):
            for value in (0, 1, 5, 16, 31):
                text = f"{name} t4, {csr}, {value}"
                program.loop(name, text, "i1", ["ld t3, 0(s1)", "csrw fcsr, t3", text, "csrr t5, fcsr", "csrr t6, frm"],
                             ["sd t4", "sd t5", "sd t6"])
        else:
            for rd, rs in (("t4", "t3"), ("t3", "t3"), ("zero", "t3"), ("t4", "zero")):
                text = f"{name} {rd}, {csr}, {rs}"
                body = ["ld t3, 8(s1)", "csrw fcsr, t3", "ld t3, 0(s1)", text, "csrr t5, fcsr", "csrr t6, fflags"]
                program.loop(name, text, "i2", body, [f"sd {rd}", "sd t5", "sd t6"])


def float_roundings(program, name, has_rm):
    """(suffix of the instruction, value of frm) pairs to try."""
    exact = {"fcvt.d.s", "fcvt.s.h", "fcvt.d.h", "fcvt.d.w", "fcvt.d.wu", "fcvt.s.bf16"}
    if not has_rm:
        return [("", program.rng.randrange(5))]
    if name in exact:
        return [("", rm) for rm in (0, 3)]
    return ([(f", {rm}", (i + 1) % 5) for i, rm in enumerate(RMS)] + [(", dyn", frm) for frm in range(5)])


def emit_float(program, name, has_rm, kind):
    parts = name.split(".")
    to_x = kind in ("LE", "LT", "EQ", "CLASS", "MV_X_F") or (kind.startswith("CVT_") and kind.endswith("_F") and kind != "CVT_F_F")
    from_x = kind == "MV_F_X" or (kind.startswith("CVT_F_") and kind != "CVT_F_F")
    arity = 3 if kind in ("MADD", "MSUB", "NMSUB", "NMADD") else 1 if to_x and kind not in ("LE", "LT", "EQ") or \
        from_x or kind in ("SQRT", "CVT_F_F") else 2
    source = parts[2] if kind == "CVT_F_F" or (kind.startswith("CVT") and to_x) or kind == "MV_X_F" else parts[1]
    letter = "i" if from_x else "bf16" if source == "bf16" else FORMATS[source].letter
    table = "bf16" if letter == "bf16" else f"{letter}{arity}"
    for suffix, frm in float_roundings(program, name, has_rm):
        operands = program.rng.sample(range(32), arity)
        if from_x:
            registers = [program.rng.choice(TEMPS)]
        else:
            registers = [f"f{n}" for n in operands]
        rd = program.rng.choice(TEMPS) if to_x else f"f{program.rng.randrange(32)}"
        text = f"{name} {rd}, {', '.join(registers)}{suffix}"
        load = "ld" if from_x else "fld"
        body = [f"{load} {reg}, {8 * i}(s1)" for i, reg in enumerate(registers)]
        body += [f"fsrmi s8, {frm}", "fsflagsi s8, 0", text, "frcsr s8"]
        program.loop(name, f"{text}  # frm {frm}", table, body, [("sd " if to_x else "fsd ") + rd, "sd s8"])


def emit_one(program, name, form):
    if form.startswith("FLOAT"):
        _, has_rm, kind = form.split()
        emit_float(program, name, has_rm == "1", kind)
    elif form == "CSR":
        emit_csr(program, name)
    elif name in ("lui", "auipc"):
        emit_upper(program, name)
    elif form == "B":
        emit_branch(program, name)
    elif form == "S":
        emit_store(program, name, name.startswith("f"))
    elif form == "SHIFT":
        emit_immediate(program, name, (0, 1, 7, 15, 31) if name.endswith("w") else (0, 1, 7, 31, 32, 33, 62, 63))
    elif form == "I" and re.match(r"f?l[bhwd]u?$", name):
        emit_load(program, name, name.startswith("f"))
    elif form == "I" and name != "jalr":
        emit_immediate(program, name, (0, 1, -1, 5, 63, 2047, -2048, 0x555, -1366))
    elif re.match(r"lr|sc|amo", name):
        emit_atomic(program, name)
    elif form == "R":
        emit_register(program, name)
    elif name == "fence":
        program.loop(name, "fence", "i1", ["ld t3, 0(s1)", "fence rw, rw", "fence", "addi t3, t3, 1"], ["sd t3"])
    elif name == "ecall":
        # write(1, scratch, 0) returns 0
        body = ["li a0, 1", "mv a1, s3", "li a2, 0", "li a7, 64", "ecall"]
        program.loop(name, "ecall (write)", "i1", body, ["sd a0", "sd a7"])


def table_programs(mnemonics, tables, seed):
    """Programs comparable with QEMU, and the bf16 one, which is not (QEMU 7.2 has no bf16)."""
    main, floats, fused, bf16 = (Program(name, tables, seed + i) for i, name in
                                 enumerate(("integer", "float", "fused", "bf16")))
    emit_jumps(main)
    for name, form in mnemonics.items():
        if "bf16" in name:
            emit_one(bf16, name, form)
        elif form.startswith("FLOAT"):
            emit_one(fused if re.match(r"fn?m(add|sub)", name) else floats, name, form)
        else:
            emit_one(main, name, form)
    return [main, floats, fused], bf16


def pack_table(rows):
    return b"".join(struct.pack(f"<{len(row)}Q", *row) for row in rows)
