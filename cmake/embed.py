#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py NAME FILE OUT.c: a file as a C array NAME_elf and its size NAME_elf_bytes."""

import os
import sys


def main():
    name, source, out = sys.argv[1:]
    size = os.path.getsize(source)
    # Under another name first: a build that is killed must not leave half a file that make takes for done.
    with open(out + ".new", "w", encoding="ascii") as file:
        # The assembler takes the bytes as they are: a list of numbers would take the compiler a second for each file.
        file.write(f"""/* Generated from {name}.elf */
#include <stddef.h>

extern const unsigned char {name}_elf[];
extern const size_t {name}_elf_bytes;

__asm__(".section .rodata\\n.balign 16\\n.globl {name}_elf\\n.hidden {name}_elf\\n"
        "{name}_elf:\\n.incbin \\"{os.path.abspath(source)}\\"\\n.previous\\n");
const size_t {name}_elf_bytes = {size};
""")
    os.replace(out + ".new", out)


main()
