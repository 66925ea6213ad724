# SPDX-License-Identifier: Apache-2.0
"""Each intrinsic puts each argument where the chip looks for it. argv: folder of the tables, build folder of isa, compiler.

The expected words are written here by hand, field by field, not taken from the tables."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

TABLES, BUILD, COMPILER = sys.argv[1:4]
F16, F32, BF16, S8, U8, S16, U16, S32, U32, S64 = range(10)
B8, B16, B32 = 12, 13, 14
CUSTOM = {"0": 0x0b, "1": 0x2b, "2": 0x5b, "3": 0x7b}


def at(*fields):
    """A word from (low bit, value) pairs."""
    return sum(value << low for low, value in fields)


def vec3(dtype, mod=0):
    """Word for strides 3, 11..16."""
    return at((0, 3), (8, 11), (16, 12), (24, 13), (32, 14), (40, 15), (48, 16), (56, dtype), (60, mod))


def vec2(dtype, top=0):
    return at((0, 3), (8, 300), (24, 301), (40, 22), (48, 23), (56, dtype), (60, top))


def vred(dtype, order=0):
    return at((0, 3), (8, 300), (24, 301), (40, 302), (56, dtype), (60, order))


S3 = "3, 11, 12, 13, 14, 15, 16"
S2 = "3, 300, 301, 22, 23"
SR = "3, 300, 301, 302"
BURST = at((0, 2), (4, 5), (16, 600), (32, 601), (48, 602))
H, F, I32, I16, BYTES = "(half *)", "(float *)", "(int32_t *)", "(int16_t *)", "(uint8_t *)"
MAD = at((0, 17), (12, 18), (24, 19))


def binary(name, kind, dtype, f3, f2):
    return f"{name}({kind}256, {kind}512, {kind}768, {S3})", "1", f3, f2, [256, 512, 768, vec3(dtype)]


def unary(name, kind, dtype, sub):
    return f"{name}({kind}256, {kind}512, {S2})", "1", 7, 0, [256, 512, ("x", sub), vec2(dtype)]


def reduction(name, dtype, sub, extra="", order=0):
    kind = F if dtype == F32 else H
    return f"{name}({kind}256, {kind}512, {SR}{extra})", "1", 7, 2, [256, 512, ("x", sub), vred(dtype, order)]


def convert(name, target, source, to, origin, rounding):
    return f"vconv_{name}({target}256, {source}512, {S2})", "1", 7, 1, [256, 512, ("x", rounding), vec2(to, origin)]


# call, opcode custom-N, f3, f2, operands: numbers, or ("x", n) where a register number stands in the word
BOTH = [
    binary("vadd", H, F16, 0, 0), binary("vsub", F, F32, 0, 1), binary("vmul", I32, S32, 0, 2), binary("vdiv", H, F16, 0, 3),
    binary("vmax", H, F16, 1, 0), binary("vmin", F, F32, 1, 1), binary("vsel", H, F16, 1, 2),
    (f"vsel({F}256, {F}512, {F}768, {S3}, 2)", "1", 1, 2, [256, 512, 768, vec3(F32, 2)]),
    (f"vsel({F}256, {F}512, 1.0f, {S3}, 1)", "1", 1, 2, [256, 512, 0x3f800000, vec3(F32, 1)]),
    (f"vcmpv_lt({BYTES}256, {H}512, {H}768, {S3})", "1", 1, 3, [256, 512, 768, vec3(F16, 2)]),
    (f"vcmp_ge({F}512, {F}768, {S3})", "1", 2, 0, [0, 512, 768, vec3(F32, 5)]),
    (f"vadds({H}256, {H}512, (half)1, {S2})", "1", 4, 0, [256, 512, 0x3c00, vec2(F16)]),
    (f"vmuls({F}256, {F}512, -2.0f, {S2})", "1", 4, 1, [256, 512, 0xc0000000, vec2(F32)]),
    (f"vmaxs({H}256, {H}512, (half)1, {S2})", "1", 4, 2, [256, 512, 0x3c00, vec2(F16)]),
    (f"vmins({H}256, {H}512, (half)1, {S2})", "1", 4, 3, [256, 512, 0x3c00, vec2(F16)]),
    (f"vaxpy({F}256, {F}512, 1.0f, {S2})", "1", 5, 0, [256, 512, 0x3f800000, vec2(F32)]),
    (f"vaxpy({F}256, {H}512, (half)1, {S2})", "1", 5, 0, [256, 512, 0x3c00, vec2(F32, 1)]),
    (f"vcmpvs_ne({BYTES}256, {F}512, 1.0f, {S2})", "1", 5, 1, [256, 512, 0x3f800000, vec2(F32, 1)]),
    (f"vector_dup({I32}256, -1, 3, 300, 301, 22, 23)", "1", 5, 2,
     [256, 0, -1, at((0, 3), (8, 300), (40, 22), (56, S32))]),
    unary("vcopy", I16, S16, 0), unary("vabs", H, F16, 1), unary("vrelu", H, F16, 2), unary("vexp", F, F32, 3),
    unary("vln", F, F32, 4), unary("vsqrt", F, F32, 5), unary("vrsqrt", F, F32, 6), unary("vrec", F, F32, 7),
    convert("f162f32", F, H, F32, F16, 0), convert("f322f16", H, F, F16, F32, 0), convert("f322f16o", H, F, F16, F32, 6),
    convert("f322s32a", I32, F, S32, F32, 4), convert("f322s32c", I32, F, S32, F32, 3),
    convert("f322s32f", I32, F, S32, F32, 2), convert("f322s32r", I32, F, S32, F32, 1),
    convert("f322s32z", I32, F, S32, F32, 5), convert("s322f32", F, I32, F32, S32, 0),
    reduction("vcadd", F32, 0), reduction("vcadd", F16, 0, ", 0"), reduction("vcmax", F16, 1, ", ONLY_INDEX", 3),
    reduction("vcmin", F16, 2, ", INDEX_VALUE", 1), reduction("vcgadd", F16, 3), reduction("vcgmax", F16, 4),
    reduction("vcgmin", F16, 5), reduction("vcpadd", F16, 6),
    binary("vand", I16, S16, 3, 2), binary("vor", "(uint16_t *)", U16, 3, 3), unary("vnot", I16, S16, 8),
    binary("vmadd", F, F32, 2, 3), binary("vmaddrelu", H, F16, 3, 0), binary("vmla", H, F16, 3, 1),
    (f"vmla({F}256, {H}512, {H}768, {S3})", "1", 3, 1, [256, 512, 768, vec3(F32, 1)]),
    (f"vmulconv_f162u8({BYTES}256, {H}512, {H}768, {S3})", "1", 6, 2, [256, 512, 768, vec3(F16, 1)]),
    ("dcci((void *)512, ENTIRE_DATA_CACHE)", "3", 6, 1, [1, 512, ("x", 0), 0]),
    ("dsb(DSB_UB)", "3", 6, 1, [2, 0, ("x", 3), 0]),
    ("get_cmpmask((void *)512)", "3", 6, 1, [512, 0, ("x", 4), 0]),
    (f"vtranspose({I16}256, {I16}512)", "1", 7, 3, [256, 512, ("x", 1), 0]),
    (f"scatter_vnchwconv_b8(VA2, VA4, 3, 300, 301, true, false)", "2", 6, 3,
     [2, 4, 0, at((0, 3), (8, 300), (24, 301), (56, B8), (60, 1))]),
    (f"vconv_deq({H}256, {I32}512, {S2})", "1", 7, 3, [256, 512, ("x", 4), vec2(S32)]),
    (f"copy_gm_to_ubuf({H}256, {H}512, 2, 5, 600, 601, 602)", "0", 0, 0, [256, 512, 0, BURST]),
    (f"copy_gm_to_cbuf({H}256, {H}512, 2, 5, 600, 601, 602, PAD_NONE)", "0", 0, 1, [256, 512, 0, BURST]),
    (f"copy_ubuf_to_gm({H}256, {H}512, 2, 5, 600, 601, 602)", "0", 0, 2, [256, 512, 0, BURST]),
    (f"copy_ubuf_to_ubuf({H}256, {H}512, 2, 5, 600, 601, 602)", "0", 0, 3, [256, 512, 0, BURST]),
    (f"load_cbuf_to_ca({H}512, {H}1024, 7, 8, 9, 10, 1, dec)", "0", 4, 0,
     [512, 1024, 0, at((0, 7), (16, 8), (24, 9), (40, 10), (56, F16), (61, 1))]),
    (f"load_cbuf_to_cb({F}512, {F}1024, 7, 8, 9, 10, 1, true, inc)", "0", 4, 1,
     [512, 1024, 0, at((0, 7), (16, 8), (24, 9), (40, 10), (56, F32), (60, 1))]),
    (f"mad({F}1024, {H}512, {H}512, 17, 18, 19, 1)", "2", 0, 0, [1024, 512, 512, MAD | 1 << 40]),
    (f"mad({F}1024, {H}512, {H}512, UINT64_C(0x123456789))", "2", 0, 0, [1024, 512, 512, 0x123456789]),
]
SPLIT = [
    binary("vadd", I16, S16, 0, 0), (f"vadds({I16}256, {I16}512, -1, {S2})", "1", 4, 0, [256, 512, -1, vec2(S16)]),
    convert("f322bf16r", "(bfloat16_t *)", F, BF16, F32, 1), convert("s642s32", I32, "(int64_t *)", S32, S64, 0),
    binary("vaddrelu", I16, S16, 2, 1), binary("vsubrelu", F, F32, 2, 2),
    (f"vlrelu({F}256, {F}512, 2.0f, {S2})", "1", 5, 3, [256, 512, 0x40000000, vec2(F32)]),
    (f"vshl({I32}256, {I32}512, 5, {S2})", "1", 6, 0, [256, 512, 5, vec2(S32)]),
    (f"vshr((uint16_t *)256, (uint16_t *)512, 5, {S2}, true)", "1", 6, 1, [256, 512, 5, vec2(U16, 1)]),
    (f"vaddreluconv_f162s8((int8_t *)256, {H}512, {H}768, {S3}, true)", "1", 6, 3, [256, 512, 768, vec3(F16, 1)]),
    (f"vsubreluconv_f322f16({H}256, {F}512, {F}768, {S3}, false)", "2", 7, 0, [256, 512, 768, vec3(F32)]),
    ("hset_flag(PIPE_MTE2, PIPE_V, 3, MEM_UB, true)", "3", 6, 0, [4 | 1 << 4 | 3 << 8, 16, ("x", 0), 0]),
    (f"vreducev2((uint16_t *)256, (uint16_t *)512, (uint16_t *)768, 300, 4, 5, 301, 6)", "2", 7, 2,
     [256, 512, 768, at((0, 300), (16, 4), (24, 5), (32, 301), (48, 6), (56, U16))]),
    (f"vbrcb((uint32_t *)256, (uint32_t *)512, 300, 301, 3)", "1", 7, 3, [256, 512, ("x", 0), at((0, 3), (8, 300), (24, 301), (56, U32))]),
    (f"vgather((uint32_t *)256, (uint32_t *)512, 768, 301, 3)", "2", 6, 1, [256, 512, 768, at((0, 3), (8, 1), (24, 301), (56, U32))]),
    (f"vgatherb((uint16_t *)256, (uint32_t *)512, 768, 301, 2, 3)", "2", 6, 2, [256, 512, 768, at((0, 3), (8, 2), (24, 301), (56, U16))]),
    (f"vbitsort({F}256, {F}512, (uint32_t *)768, 3)", "2", 7, 3, [256, 512, 768, at((0, 3), (56, F32))]),
    (f"vconv_deqs162b8h((int8_t *)256, {I16}512, {S2})", "1", 7, 3, [256, 512, ("x", 5), vec2(S8) | 1 << 60]),
    (f"vconv_f162s4((void *)256, {H}512, {S2})", "1", 7, 1, [256, 512, ("x", 0), vec2(11, F16)]),
    (f"copy_gm_to_ubuf_align_b16({H}256, {H}512, 2, 5, 70000, 3, 4, 80000, 90000)", "0", 2, 0,
     [256, 512, at((0, 5), (12, B16), (16, 70000), (48, 3), (56, 4)), at((0, 80000), (32, 90000))]),
    (f"copy_ubuf_to_gm_align_b8({H}256, {H}512, 2, 5, 70000, 3, 4, 80000, 90000)", "0", 2, 1,
     [256, 512, at((0, 5), (12, B8), (16, 70000), (48, 3), (56, 4)), at((0, 80000), (32, 90000))]),
    (f"copy_gm_to_cbuf_multi_nd2nz_b32s({F}256, {F}512, 2, 3, 1001, 1002, 1003, 1004, 1005, 1006, 1007)", "0", 2, 2,
     [256, 512, at((0, 3), (12, B32), (16, 1001), (32, 1002), (48, 1003)), at((0, 1004), (16, 1005), (32, 1006), (48, 1007))]),
    (f"copy_cbuf_to_gm({H}256, {H}512, 2, 5, 600, 601, 602)", "0", 1, 2, [256, 512, 0, BURST]),
    (f"copy_cbuf_to_bt(64, {F}512, 2, 5, 600, 601, 602)", "0", 6, 0, [64, 512, 0, BURST]),
    (f"mad({F}1024, {H}512, {H}512, 17, 18, 19, 3, 1, 0, 0)", "2", 0, 0, [1024, 512, 512, MAD | 3 << 36 | 1 << 38]),
    (f"mad({F}1024, {H}512, {H}512, UINT64_C(64), 17, 18, 19, 0, 0, 1, 0)", "2", 0, 0,
     [1024 | 64 << 32, 512, 512, MAD | 1 << 39]),
    (f"mad({F}1024, {F}512, {F}512, 17, 18, 19, 1)", "2", 0, 0, [1024, 512, 512, MAD | 1 << 40 | 3 << 56]),
    (f"mad({I32}1024, (int8_t *)512, (int8_t *)512, 17, 18, 19, 1)", "2", 0, 0, [1024, 512, 512, MAD | 1 << 40 | 5 << 56]),
    (f"mad({F}1024, (bfloat16_t *)512, (bfloat16_t *)512, 17, 18, 19, 0, 1, 0, 1)", "2", 0, 0,
     [1024, 512, 512, MAD | 1 << 38 | 1 << 40 | 2 << 56]),
    (f"mad_s4({I32}1024, (void *)512, (void *)512, 17, 18, 19, 0)", "2", 0, 0, [1024, 512, 512, MAD | 8 << 56]),
    (f"img2colv2_cbuf_to_ca({H}512, {H}256, 33, 34, 32, 36, 1, 2, 3, 4, 5, 6, true, false, true, false, 37)", "0", 3, 0,
     [512, 256, at((0, 33), (16, 34), (32, 32), (48, 36)),
      at((0, 1), (6, 2), (12, 3 + 256), (21, 4), (30, 5), (38, 6), (46, 1), (48, 37), (62, 1))]),
    (f"load_gm_to_ca({H}512, {H}1024, 7, 8, 9, 10, 1, dec)", "0", 4, 3,
     [512, 1024, 0, at((0, 7), (16, 8), (24, 9), (40, 10), (56, F16), (61, 1))]),
    (f"load_cbuf_to_cb_transpose((int8_t *)512, (int8_t *)1024, 7, 8, 9, 10, inc, 11)", "0", 5, 2,
     [512, 1024, at((0, 7), (16, 8), (24, 9), (40, 10), (56, S8)), 11]),
    (f"create_ca_matrix((void *)512, UINT64_C(0x200010003), (half)1)", "0", 7, 1, [512, 0x3c00, ("x", 0), 0x200010003]),
    (f"copy_cbuf_to_fbuf(128, {F}512, 5, 600, 601, 602)", "0", 6, 1, [128, 512, 0, BURST & ~15]),
    (f"copy_matrix_cc_to_cbuf({H}256, {F}1024, 1, 48, 33, 70000, 64, 3, REQ8, 1, false, false)", "2", 1, 1,
     [256, 1024, at((0, 48), (16, 33), (32, 70000)), at((0, 64), (16, 3), (18, 7), (24, 1))]),
    (f"copy_matrix_cc_to_gm({H}256, {F}1024, 1, 48, 33, 70000, 64, 3, F322BF16, 1, false, true)", "2", 1, 0,
     [256, 1024, at((0, 48), (16, 33), (32, 70000)), at((0, 64), (16, 3), (18, 2), (24, 1), (28, 1))]),
]
COUPLED = [
    (f"img2col_cbuf_to_ca({H}512, {H}256, 1, 2, -3, -4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 13, CSIZE0)", "0", 3, 2,
     [512, 256, at((0, 5), (12, 1), (20, 2), (28, 0xfffd), (44, 0xfffc)),
      at((0, 6), (6, 7), (12, 8), (20, 9), (28, 10), (36, 11), (44, 12), (51, 1), (52, 13), (61, 1))]),
    (f"broadcast_ub_to_cc({H}512, {H}256, 5, 600, 601, 602)", "2", 3, 1, [512, 256, 0, BURST & ~15 | 1]),
    (f"copy_vector_cc_to_ubuf({H}256, {F}1024, 2, 5, 600, 601, 602, CRMODE_F16)", "2", 2, 1, [256, 1024, 4, BURST]),
    (f"vbitsort({H}256, {H}512, 3)", "2", 7, 3, [256, 512, 0, at((0, 3), (56, F16))]),
    (f"vextract({H}256, {H}512, 3, 4)", "1", 7, 3, [256, 512, ("x", 3), at((0, 3), (8, 4), (56, F16))]),
    (f"copy_ubuf_to_cbuf({H}256, {H}512, 2, 5, 600, 601, 602)", "0", 1, 0, [256, 512, 0, BURST]),
    (f"copy_cbuf_to_ubuf({H}256, {H}512, 2, 5, 600, 601, 602)", "0", 1, 1, [256, 512, 0, BURST]),
    (f"mad({H}1024, {H}512, {H}512, 17, 18, 19, 1)", "2", 0, 0, [1024, 512, 512, MAD | 1 << 40 | 1 << 56]),
    (f"mad({I32}1024, {BYTES}512, (int8_t *)512, 17, 18, 19, 1)", "2", 0, 0, [1024, 512, 512, MAD | 1 << 40 | 7 << 56]),
    (f"copy_matrix_cc_to_ubuf({H}256, {F}1024, 2, 5, 600, 601, 602, CRMODE_F32toF16_RELU)", "2", 2, 0,
     [256, 1024, 2, BURST]),
]


def words_of(calls, arch):
    """For each call, (assembler text, operands) of the one instruction the compiler makes of it."""
    text = "#include <leo/device.h>\n" + "".join(f"void k{i}(void) {{ {call[0]}; }}\n" for i, call in enumerate(calls))
    with tempfile.TemporaryDirectory(prefix="leo_isa_") as folder:
        source, target = Path(folder) / "k.c", Path(folder) / "k.ll"
        source.write_text(text)
        subprocess.run([COMPILER, "--target=riscv64-unknown-elf", "-march=rv64imafd_zfh_zfbfmin", "-mabi=lp64", "-std=c11",
                        "-ffreestanding", "-Wall", "-Werror", "-O2", "-S", "-emit-llvm", f"-D__NPU_ARCH__={arch}",
                        f"-I{TABLES}/device/include", f"-I{BUILD}/device/include", source, "-o", target], check=True)
        bodies = re.findall(r"^define .*?@k(\d+)\(.*?\{(.*?)^\}", target.read_text(), re.M | re.S)
    result = {}
    for number, body in bodies:
        found = re.findall(r'asm sideeffect "([^"]*)", "[^"]*"\(([^)]*)\)', body)
        result[int(number)] = [(line, [int(item.split()[-1]) for item in args.split(",")]) for line, args in found]
    return [result.get(i, []) for i in range(len(calls))]


def expected_of(call):
    """What words_of() has to find: the text, and the operands that are in registers."""
    _, opcode, f3, f2, operands = call
    fields, registers = [], []
    for operand in operands:
        if isinstance(operand, tuple):
            fields.append(f"x{operand[1]}")
        else:
            fields.append(f"${{{len(registers)}:z}}")
            registers.append(operand if operand < 1 << 63 else operand - (1 << 64))
    return f".insn r4 0x{CUSTOM[opcode]:02x}, {f3}, {f2}, " + ", ".join(fields), registers


def main():
    wrong = 0
    for arch, calls in ((1001, BOTH + COUPLED), (2201, BOTH + SPLIT)):
        for call, found in zip(calls, words_of(calls, arch)):
            if found != [expected_of(call)]:
                wrong += 1
                print(f"{arch} {call[0]}\n  expected {expected_of(call)}\n  found    {found}")
    print(f"{wrong} wrong of {len(BOTH) * 2 + len(COUPLED) + len(SPLIT)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
