#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""launch.py IMAGE STUB HEADERS: the functions that launch the kernels of an image.

STUB (C and C++) holds the image and one aclrtlaunch_<kernel> for each kernel, HEADERS/aclrtlaunch_<kernel>.h declares it.
Kernels and arguments are those of the notes in the image (isa/layout/kernel_note.layout).
"""

import struct
import sys
from pathlib import Path

SECTION = struct.Struct("<IIQQQQIIQQ")  # of a 64-bit ELF
SHT_NOTE = 7
TYPES = {"u1": "uint8_t", "u2": "uint16_t", "u4": "uint32_t", "u8": "uint64_t", "i1": "int8_t", "i2": "int16_t", "i4": "int32_t",
         "i8": "int64_t", "s1": "int8_t", "s2": "int16_t", "s4": "int32_t", "s8": "int64_t", "f4": "float", "f8": "double",
         "p8": "void *"}

HEADER = """/* Made by launch.py from the note of kernel {kernel}. */
#ifndef ACLRTLAUNCH_{kernel}_H
#define ACLRTLAUNCH_{kernel}_H
#include <acl/acl.h>
#include <stdint.h>
#ifndef ACLRT_LAUNCH_KERNEL
#define ACLRT_LAUNCH_KERNEL(kernel) aclrtlaunch_##kernel
#endif
#ifdef __cplusplus
extern "C" {{
#endif
/** Launches the kernel on the stream; 0, or the error of AscendCL. */
uint32_t aclrtlaunch_{kernel}({declared});
#ifdef __cplusplus
}}
#endif
#endif
"""

COMMON = """
static aclrtBinHandle loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* `gone`: a handle that aclrtResetDevice took away, else NULL. */
static uint32_t load(aclrtBinHandle gone, aclrtBinHandle *binary)
{{
    aclError error = ACL_SUCCESS;
    pthread_mutex_lock(&lock);
    if (loaded == gone) {{
        loaded = NULL;
        error = aclrtBinaryLoadFromData(image, sizeof(image), NULL, &loaded);
    }}
    *binary = loaded;
    pthread_mutex_unlock(&lock);
    return (uint32_t)error;
}}
"""

LAUNCH = """
uint32_t aclrtlaunch_{kernel}({declared})
{{
    aclrtBinHandle binary;
    aclrtFuncHandle function;
    void *args[] = {{{addresses}NULL}};
    uint32_t error = load(NULL, &binary);
    if (!error && aclrtBinaryGetFunction(binary, "{kernel}", &function) != ACL_SUCCESS) {{
        error = load(binary, &binary);
        if (!error) {{
            error = (uint32_t)aclrtBinaryGetFunction(binary, "{kernel}", &function);
        }}
    }}
    if (!error) {{
        error = (uint32_t)aclrtLaunchKernelWithArgsArray(function, numBlocks, stream, NULL, args);
    }}
    return error;
}}
"""


def notes(elf):
    """Texts of the notes that leo cc wrote."""
    offset, = struct.unpack_from("<Q", elf, 0x28)
    count, = struct.unpack_from("<H", elf, 0x3C)
    for i in range(count):
        section = SECTION.unpack_from(elf, offset + i * SECTION.size)
        at, end = section[4], section[4] + section[5]
        while section[1] == SHT_NOTE and at < end:
            name, size, _ = struct.unpack_from("<3I", elf, at)
            text = at + 12 + (name + 3) // 4 * 4
            if elf[at + 12:at + 12 + name].rstrip(b"\0") == b"LEO":
                yield elf[text:text + size].rstrip(b"\0").decode("ascii")
            at = text + (size + 3) // 4 * 4


def argument(kernel, word, index):
    """(type, name) of an argument NAME:TYPEaALIGN."""
    kind = word.rpartition(":")[2].partition("a")[0]
    if kind not in TYPES:
        sys.exit(f"launch.py: kernel {kernel}: argument {word} has no type on the host; pass a pointer, an integer or a float")
    return TYPES[kind], f"arg{index}"


def main(image, stub, headers):
    elf = Path(image).read_bytes()
    kernels = [note.split() for note in notes(elf)]
    if not kernels:
        sys.exit(f"launch.py: {image} has no kernel; is there an extern \"C\" __global__ __aicore__ function?")
    lines = [", ".join(str(byte) for byte in elf[i:i + 24]) for i in range(0, len(elf), 24)]
    parts = ["".join(f'#include "aclrtlaunch_{words[0]}.h"\n' for words in kernels), "#include <pthread.h>\n#include <stddef.h>\n\n",
             "static const unsigned char image[] = {\n", ",\n".join(lines), "};\n", COMMON.format()]
    for kernel, _, _, *words in kernels:
        args = [argument(kernel, word, i) for i, word in enumerate(words)]
        declared = ", ".join(["uint32_t numBlocks", "aclrtStream stream", *(f"{kind} {name}" for kind, name in args)])
        (Path(headers) / f"aclrtlaunch_{kernel}.h").write_text(HEADER.format(kernel=kernel, declared=declared), encoding="ascii")
        parts.append(LAUNCH.format(kernel=kernel, declared=declared, addresses="".join(f"&{name}, " for _, name in args)))
    Path(stub).write_text("".join(parts), encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
