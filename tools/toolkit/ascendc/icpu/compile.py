#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compile.py COMPILER...: the compiler's own command, but for files with kernels, whose object holds the image that leo cc makes of them.

tikicpulib-config.cmake makes it the launcher of the C++ compiler; the chip is -DLEO_TEST_SOC=<name> in the command.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CANN = Path(os.path.realpath(__file__)).parents[3]
KERNEL = re.compile(r"(?:__global__\s+__aicore__|__aicore__\s+__global__)[^;{]*\)\s*\{")
STUB = """#include <tikicpulib.h>
extern const unsigned char leo_image[], leo_image_end[];
static const AscendC::LeoTestImage leo_added(leo_image, (size_t)(leo_image_end - leo_image));
__asm__(".section .rodata\\n.balign 64\\nleo_image:\\n.incbin \\"{image}\\"\\nleo_image_end:\\n.previous");
"""


def comes_after(words, option):
    return words[words.index(option) + 1] if option in words[:-1] else None


def kernel_options(words):
    """-I, -D, -include and -isystem of a host's command line."""
    result, i = [], 0
    while i < len(words):
        if words[i] in ("-I", "-D", "-isystem", "-include"):
            result += words[i:i + 2]
            i += 1
        elif re.match(r"-[ID].", words[i]) and not words[i].startswith("-DLEO_TEST_SOC="):
            result.append(words[i])
        i += 1
    host = [f"-I{CANN}/include", f"{CANN}/include", f"-I{CANN}/tools/tikicpulib/include", f"{CANN}/tools/tikicpulib/include"]
    pairs = [i for i, word in enumerate(result) if word == "-isystem" and result[i + 1] in host]
    drop = {j for i in pairs for j in (i, i + 1)}
    return [word for i, word in enumerate(result) if i not in drop and word not in host]


def main(words):
    source = next((word for word in words if word.endswith((".cpp", ".cc", ".cxx")) and Path(word).is_file()), None)
    output, soc = comes_after(words, "-o"), next((w.partition("=")[2] for w in words if w.startswith("-DLEO_TEST_SOC=")), None)
    if "-c" not in words or not source or not output or not soc or not KERNEL.search(Path(source).read_text(encoding="utf-8", errors="replace")):
        os.execvp(words[0], words)
    depfile = comes_after(words, "-MF")
    with tempfile.TemporaryDirectory() as folder:
        image, stub = Path(folder) / "image.elf", Path(folder) / "stub.cpp"
        command = [CANN / "bin/leo", "cc", "--soc", soc, *(["--depfile", depfile] if depfile else []), *kernel_options(words), source, "-o", image]
        done = subprocess.run(command, check=False)
        if done.returncode:
            return done.returncode
        if depfile: # it names the image: the object is what the build waits for
            text = Path(depfile).read_text(encoding="utf-8")
            Path(depfile).write_text(text.replace(str(image), output), encoding="utf-8")
        stub.write_text(STUB.format(image=image), encoding="utf-8")
        return subprocess.run([words[0], "-std=c++17", "-fPIC", f"-I{CANN}/include", f"-I{CANN}/tools/tikicpulib/include", "-c", stub, "-o", output],
                              check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
