# SPDX-License-Identifier: Apache-2.0
"""The words of all vector instructions as a list for vec_op: vec_words.py ISA_FILE OUT_FILE."""
import re
import sys

OPCODES = {"custom0": 0x0b, "custom1": 0x2b, "custom2": 0x5b, "custom3": 0x7b}


def words(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.split(" : ")[0].split()
            if not fields or fields[0] != "insn" or fields[6] != "v":
                continue
            name, opcode, f3, f2, form = fields[1:6]
            options = dict(field.split("=", 1) for field in fields[7:] if "=" in field)
            sub = options.get("sub", "0")
            yield (f"VEC_WORD({name}, {OPCODES[opcode]:#x}, {f3}, {f2}, {1 if form == 'u4' else 0}, "
                   f"{sub if re.fullmatch(r'[0-9]+', sub) else 0}, {options.get('config', 'none')})")


with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write("/* Made by vec_words.py: VEC_WORD(name, opcode, f3, f2, is u4, sub, config) */\n")
    out.write("\n".join(words(sys.argv[1])) + "\n")
