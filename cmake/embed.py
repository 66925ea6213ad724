#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py NAME FILE OUT.c: a file as a C array NAME_elf and its size NAME_elf_bytes."""

import sys


def main():
    name, source, out = sys.argv[1:]
    with open(source, "rb") as file:
        data = file.read()
    with open(out, "w", encoding="ascii") as file:
        file.write(f"/* Generated from {name}.elf */\n#include <stddef.h>\n\n")
        file.write(f"extern const unsigned char {name}_elf[];\nextern const size_t {name}_elf_bytes;\n\n")
        file.write(f"const unsigned char {name}_elf[] __attribute__((aligned(16))) = {{\n")
        for at in range(0, len(data), 24):
            file.write(",".join(str(byte) for byte in data[at : at + 24]) + ",\n")
        file.write(f"}};\nconst size_t {name}_elf_bytes = {len(data)};\n")


main()
