# SPDX-License-Identifier: Apache-2.0
"""What the device header makes of a program. argv: folder of the tables, build folder of isa, compiler."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TABLES, BUILD, COMPILER = (sys.argv.pop(1) for _ in range(3))
FLAGS = ["--target=riscv64-unknown-elf", "-march=rv64imafd_zfh_zfbfmin", "-mabi=lp64", "-mcmodel=medany", "-fPIE",
         "-ffreestanding", "-fno-delete-null-pointer-checks", "-fsigned-char", "-Wall", "-Wextra", "-Werror",
         f"-I{TABLES}/device/include", f"-I{BUILD}/device/include"]
HEAD = "#include <leo/device.h>\n"

# One call of each shape that both chips have.
COMMON = HEAD + """
__ubuf_array__ half table[128];
__ubuf_array__ float sums[64];
__global__ __aicore__ void all(__gm__ half *x, __gm__ float *y, uint32_t n)
{
    __ubuf__ half *h = (__ubuf__ half *)0;
    __ubuf__ float *f = (__ubuf__ float *)1024;
    __ubuf__ uint8_t *bits = (__ubuf__ uint8_t *)2048;
    copy_gm_to_ubuf(h, x, 0, 1, 8, 0, 0);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);
    for (uint32_t i = 0; i < n; i++) {
        event_t event = (event_t)(i & 1);
        set_flag(PIPE_V, PIPE_MTE2, event);
        vadd(h, h, table, 1, 1, 1, 1, 8, 8, 8);
        vadds(f, sums, 2.0f, 1, 1, 1, 8, 8);
        wait_flag(PIPE_V, PIPE_MTE2, event);
    }
    vaxpy(f, h, (half)3, 1, 1, 1, 8, 4);
    vconv_f162f32(f, h, 1, 1, 1, 8, 4);
    vconv_f322f16r(h, f, 1, 1, 1, 4, 8);
    vconv_f322s32z((__ubuf__ int32_t *)f, f, 1, 1, 1, 8, 8);
    set_vector_mask(0, ~0ull);
    set_mask_count();
    set_mask_norm();
    set_cmpmask(bits);
    vcmp_gt(f, f, 1, 1, 1, 1, 8, 8, 8);
    vcmpv_eq(bits, h, h, 1, 1, 1, 1, 8, 8, 8);
    vcmpvs_le(bits, f, 1.0f, 1, 1, 1, 8, 8);
    vsel(h, h, h, 1, 1, 1, 1, 8, 8, 8);
    vsel(h, h, h, 1, 1, 1, 1, 8, 8, 8, 2);
    vcadd(f, f, 1, 1, 1, 8, 0);
    vcmax(h, h, 1, 1, 1, 8, ONLY_VALUE);
    vcgadd(h, h, 1, 1, 1, 8);
    vector_dup(h, (half)1, 1, 1, 1, 8, 0);
    vcopy((__ubuf__ int16_t *)h, (__ubuf__ int16_t *)h, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    load_cbuf_to_ca((__ca__ half *)0, (__cbuf__ half *)0, 0, 4, 1, 0, 0, false, inc);
    load_cbuf_to_cb((__cb__ half *)0, (__cbuf__ half *)0, 0, 4, 1, 0, 0, true, inc);
    mad((__cc__ float *)0, (__ca__ half *)0, (__cb__ half *)0, 16, 16, 16, 1);
    set_atomic_add();
    copy_ubuf_to_gm(y, f, 0, 1, 8, 0, 0);
    set_atomic_none();
    y[get_block_idx()] = (float)(get_block_num() + get_sys_cnt() + get_coreid());
    dsb(DSB_ALL);
    if (n == 77) {
        trap();
    }
}
"""
SPLIT = """
__global__ __vector__ __aicore__ void split_vector(__gm__ half *x)
{
    copy_gm_to_ubuf_align_b16((__ubuf__ half *)0, x, 0, 1, 30, 0, 0, 0, 0);
    copy_ubuf_to_gm_align_b32(x, (__ubuf__ float *)0, 0, 1, 30, 0, 0, 0, 0);
    vadd((__ubuf__ int16_t *)0, (__ubuf__ int16_t *)0, (__ubuf__ int16_t *)0, 1, 1, 1, 1, 8, 8, 8);
}
__global__ __cube__ __aicore__ void split_cube(__gm__ half *x)
{
    __cc__ float *c = (__cc__ float *)0;
    copy_gm_to_cbuf_multi_nd2nz_b16((__cbuf__ half *)0, x, 0, 1, 16, 16, 0, 16, 16, 1, 0);
    copy_cbuf_to_bt(0, (__cbuf__ float *)0, 0, 1, 1, 0, 0);
    mad(c, (__ca__ half *)0, (__cb__ half *)0, 16, 16, 16, 0, 0, 0, 1);
    mad(c, (__ca__ half *)0, (__cb__ half *)0, 64ull, 16, 16, 16, 0, 0, 1, 0);
    copy_matrix_cc_to_gm(x, c, 0, 16, 16, 16, 16, 0, F322F16, 0, false, true);
}
"""
COUPLED = """
__global__ __aicore__ void coupled(__cbuf__ half *l1)
{
    copy_cbuf_to_ubuf((__ubuf__ half *)0, l1, 0, 1, 1, 0, 0);
    copy_matrix_cc_to_ubuf((__ubuf__ half *)0, (__cc__ float *)0, 0, 1, 1, 0, 0, CRMODE_F32toF16_NONE);
}
"""


def compile_text(text, arch, *flags, language="c"):
    standard = "c11" if language == "c" else "c++17"
    with tempfile.TemporaryDirectory(prefix="leo_isa_") as folder:
        source, target = Path(folder) / "k", Path(folder) / "k.out"
        source.write_text(text)
        result = subprocess.run([COMPILER, f"-x{language}", f"-std={standard}", *FLAGS, f"-D__NPU_ARCH__={arch}", *flags,
                                 str(source), "-o", str(target)], capture_output=True, text=True)
        return result, target.read_text(errors="replace") if target.exists() else ""


class DeviceHeader(unittest.TestCase):
    def accept(self, text, arch, *flags, language="c"):
        result, out = compile_text(text, arch, *flags, language=language)
        self.assertEqual(result.returncode, 0, result.stderr[:2000])
        return out

    def refuse(self, text, arch, message, *flags):
        result, _ = compile_text(HEAD + text, arch, "-fsyntax-only", *flags)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(message, result.stderr)

    def test_compiles_at_every_level(self):
        for arch, own in ((1001, COUPLED), (2201, SPLIT)):
            for level in ("-O0", "-Og", "-O2"):
                for language in ("c", "c++"):
                    with self.subTest(arch=arch, level=level, language=language):
                        self.accept(COMMON + own, arch, level, "-c", language=language)

    def test_single_source_parses(self):
        """As a device pass of CUDA mode with the qualifiers redefined, and as a pass for the host."""
        cuda = ["-xcuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "-std=c++17",
                "-Xclang", "-fcuda-is-device", "-DLEO_ONE_FILE", "-D__device__=__attribute__((device))", "-D__host__=__attribute__((host))",
                '-D__global__=__attribute__((global, visibility("protected")))']
        includes = [flag for flag in FLAGS if flag.startswith("-I")]
        for flags in ([*FLAGS, *cuda], [*includes, "-xc"], [*includes, "-xc++"]):
            with self.subTest(flags=flags):
                result = subprocess.run([COMPILER, *flags, "-fsyntax-only", "-"], input=COMMON, capture_output=True, text=True)
                self.assertEqual(result.returncode, 0, result.stderr[:2000])

    def test_compiles_with_real_spaces(self):
        self.accept(COMMON + COUPLED, 1001, "-DLEO_CHECK_SPACES", "-fsyntax-only")
        self.accept(COMMON + SPLIT, 2201, "-DLEO_CHECK_SPACES", "-fsyntax-only")

    def test_spaces_are_told_apart(self):
        self.refuse("void k(__gm__ half *x) { copy_gm_to_ubuf(x, x, 0, 1, 1, 0, 0); }", 1001, "copy_gm_to_ubuf",
                    "-DLEO_CHECK_SPACES")

    def test_other_chips_instruction_is_refused(self):
        call = "void k(void *p) { copy_gm_to_ubuf_align_b16(p, p, 0, 1, 30, 0, 0, 0, 0); }"
        self.refuse(call, 1001, "not an instruction of chip 1001")
        call = "void k(void *p) { copy_cbuf_to_ubuf(p, p, 0, 1, 1, 0, 0); }"
        self.refuse(call, 2201, "not an instruction of chip 2201")

    def test_other_chips_type_is_refused(self):
        call = "void k(int16_t *p) { vadd(p, p, p, 1, 1, 1, 1, 8, 8, 8); }"
        self.refuse(call, 1001, "not an instruction of chip 1001")

    def test_unknown_chip_is_refused(self):
        self.refuse("", 9999, "neither 1001 nor 2201")

    def test_constant_configuration_is_one_constant(self):
        code = self.accept(HEAD + "void k(half *p) { vadd(p, p, p, 1, 1, 1, 1, 8, 8, 8); }", 2201, "-O2", "-S", "-emit-llvm")
        # repeat 1, block strides 1, repeat strides 8, type f16, mod 0
        self.assertRegex(code, rf"asm sideeffect .*insn r4 0x2b, 0, 0.*i64 {0x00080808_01010101}\)")

    def test_constant_event_is_in_the_word(self):
        text = HEAD + "void k(void) { set_flag(PIPE_MTE2, PIPE_V, EVENT_ID3); }"
        for level in ("-O0", "-O2"):
            code = self.accept(text, 2201, level, "-S")
            self.assertRegex(code, rf"\.insn i\s+0x7b, 0, x0, zero, {0x314}\b|\.insn i\s+123, 0, zero, zero, {0x314}\b")

    def test_variable_event_is_in_a_register(self):
        text = HEAD + "void k(event_t e) { set_flag(PIPE_MTE2, PIPE_V, e); }"
        for level in ("-O0", "-O2"):
            code = self.accept(text, 2201, level, "-S")
            self.assertRegex(code, rf"\.insn i\s+(0x7b|123), 0, (x0|zero), a\d, {0x14}\b")

    def test_block_index_is_read_once(self):
        text = HEAD + "int64_t k(int64_t *p) { p[0] = get_block_idx(); p[1] = get_block_idx(); return get_block_idx(); }"
        self.assertEqual(len(re.findall(r"csrr", self.accept(text, 2201, "-O2", "-S"))), 1)

    def test_counter_is_read_each_time(self):
        text = HEAD + "int64_t k(void) { int64_t t = get_sys_cnt(); return get_sys_cnt() - t; }"
        self.assertEqual(len(re.findall(r"csrr", self.accept(text, 2201, "-O2", "-S"))), 2)

    def test_kernels_and_arrays_are_in_their_sections(self):
        code = self.accept(COMMON + SPLIT, 2201, "-O2", "-S")
        for section in (".text.npu.aiv", ".text.npu.aic", ".npu.ub"):
            self.assertIn(f"{section},", code)
        self.assertRegex(code, r"\.protected\s+split_cube")


if __name__ == "__main__":
    unittest.main()
