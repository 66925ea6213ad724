# SPDX-License-Identifier: Apache-2.0
"""The assembler makes the same words as the generator. argv: vectors.txt, compiler of device programs."""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path


def text_section(elf):
    """Bytes of .text of a little-endian ELF64 file."""
    offset, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3a)
    headers = [struct.unpack_from("<IIQQQQ", elf, offset + size * i) for i in range(count)]
    strings = headers[names][4]
    for header in headers:
        name = elf[strings + header[0]:elf.index(b"\0", strings + header[0])]
        if name == b".text":
            return elf[header[4]:header[4] + header[5]]
    raise ValueError("no .text")


def main():
    vectors = [line.split(" ", 2) for line in Path(sys.argv[1]).read_text().splitlines()]
    with tempfile.TemporaryDirectory(prefix="leo_isa_") as folder:
        source, target = Path(folder) / "v.s", Path(folder) / "v.o"
        source.write_text("".join(f"{line}\n" for _, _, line in vectors))
        subprocess.run([sys.argv[2], "--target=riscv64-unknown-elf", "-march=rv64imafd_zfh_zfbfmin", "-mabi=lp64", "-c",
                        source, "-o", target], check=True)
        code = text_section(target.read_bytes())
    words = struct.unpack(f"<{len(code) // 4}I", code)
    wrong = [f"{name}: table {expected}, assembler 0x{word:08x}" for (expected, name, _), word in zip(vectors, words)
             if int(expected, 16) != word]
    if len(words) != len(vectors):
        wrong.append(f"{len(vectors)} vectors, {len(words)} words")
    print("\n".join(wrong) or f"{len(words)} words agree")
    return 1 if wrong or not words else 0


if __name__ == "__main__":
    sys.exit(main())
