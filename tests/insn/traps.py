# SPDX-License-Identifier: Apache-2.0
"""Programs that do what is forbidden: QEMU ends with a signal where the scalar unit reports the matching fault."""

import signal

HEAD = ".option norelax\n.text\n.globl _start\n_start:\n"
ILL, SEGV, TRAP = signal.SIGILL, signal.SIGSEGV, signal.SIGTRAP

# name: (body, signal under QEMU, words in the fault's text)
CASES = {
    "ebreak": ("ebreak", TRAP, "trap"),
    "unimp": ("unimp", ILL, "trap"),
    "ones": (".word 0xffffffff", ILL, "does not know"),
    "reserved_rounding": (".word 0x0031d0d3 | 5 << 12", ILL, "does not know"),
    "dynamic_rounding": ("csrwi frm, 5\nfadd.s f1, f2, f3", ILL, "does not know"),
    "load_nowhere": ("li a0, 64\nlw a1, 0(a0)", SEGV, "outside"),
    "store_nowhere": ("li a0, -64\nsd a1, 0(a0)", SEGV, "outside"),
    "store_to_text": ("la a0, _start\nsw a1, 0(a0)", SEGV, "read-only"),
    "jump_nowhere": ("li a0, 64\njr a0", SEGV, "left the kernel"),
    "write_to_read_only_csr": ("csrw cycle, a0", ILL, "control register"),
    "unknown_csr": ("csrr a0, 0x5c0", ILL, "control register"),
    "custom": (".word 0x0000000b", ILL, "does not know"),
}


def compare_traps(args, work, build, run):
    good = True
    for name, (body, number, text) in CASES.items():
        source = work / f"trap_{name}.S"
        source.write_text(f"{HEAD}{body}\nli a0, 0\nli a7, 93\necall\n", encoding="ascii")
        build(args, work / f"trap_{name}", [source])
        _, qemu_code, _ = run(args.qemu, work / f"trap_{name}")
        _, code, error = run([args.bare], work / f"trap_{name}")
        same = qemu_code in (-number, 128 + number) and code == 125 and text in error
        print(f"{name}: QEMU {qemu_code}, simulator {error or code}{'' if same else '  DIFFERENT'}")
        good &= same
    return good
