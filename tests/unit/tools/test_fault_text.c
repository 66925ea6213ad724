/* SPDX-License-Identifier: Apache-2.0 */
/* The usual mistakes in a kernel, and the words that tell where they are. */
#include "harness.h"
#include "scratch.h"

#include <stdio.h>
#include <string.h>

static const char kernels[] =
    "#include <leo/device.h>\n"
    "__ubuf_array__ float ub_x[2048];\n"
    "__ubuf_array__ float ub_y[64];\n"
    "static void window(__gm__ const float *x, unsigned blocks)\n"
    "{\n"
    "    copy_gm_to_ubuf(ub_x, x, 0, 1, blocks, 0, 0);\n"
    "}\n"
    "#define KERNEL(name) __global__ __vector__ void name(__gm__ float *w, __gm__ float *x)\n"
    "KERNEL(past) { window(x, 9); }\n"
    "KERNEL(ub_as_gm) { copy_gm_to_ubuf(ub_x, (__gm__ float *)(ub_y + 8), 0, 1, 1, 0, 0); }\n"
    "KERNEL(bare) { copy_gm_to_ubuf(ub_x, (__gm__ float *)(uint64_t)8192, 0, 1, 1, 0, 0); }\n"
    "KERNEL(null) { copy_gm_to_ubuf(ub_x, (__gm__ float *)0, 0, 1, 1, 0, 0); }\n"
    "KERNEL(gm_as_ub) { vadd((__ubuf__ float *)(uint64_t)x, ub_x, ub_y, 1, 1, 1, 1, 8, 8, 8); }\n"
    "KERNEL(odd) { vadd((float *)((char *)ub_x + 4), ub_x, ub_y, 1, 1, 1, 1, 8, 8, 8); }\n"
    "KERNEL(big) { vadd(ub_y, ub_x, ub_x, 255, 1, 1, 1, 64, 255, 64); }\n"
    "KERNEL(mode) { LEO_R4(0x2b, 0, 0, ub_x, ub_x, ub_x, 0xf100000000000001ull); }\n"
    "KERNEL(type) { LEO_R4(0x2b, 0, 0, ub_x, ub_x, ub_x, 0x900000000000001ull); }\n"
    "KERNEL(nothing) { __asm__ volatile(\".word 0xffffffff\"); }\n"
    "KERNEL(no_csr) { __asm__ volatile(\"csrw 0x912, zero\"); }\n"
    "KERNEL(ro_csr) { __asm__ volatile(\"csrw 0xcc0, zero\"); }\n"
    "static __attribute__((noinline)) void far(__gm__ float *x)\n"
    "{ x[1 << 20] = 1; }\n"
    "static __attribute__((noinline)) float near(__gm__ float *x)\n"
    "{\n"
    "    x[0] = 2;\n"
    "    far(x - (1 << 20));\n"
    "    x[2 << 20] = 3; return x[0]; }\n"
    "\n"
    "KERNEL(leaf) { far(x); x[0] = 1; }\n"
    "KERNEL(after_a_call) { x[1] = near(x) + 1; }\n"
    "KERNEL(in_the_kernel) { far(x - (1 << 20)); x[3 << 20] = 4; }\n"
    "KERNEL(twice) { set_flag(PIPE_V, PIPE_MTE3, 1); set_flag(PIPE_V, PIPE_MTE3, 1); }\n"
    "KERNEL(stranger) { LEO_R4(0x0b, 1, 0, 0, x, 0, 0); }\n";

/* Operands known only when they run. Each takes a number that fits its field and one that does not.
 */
static const char field_kernels[] =
    "#include <leo/device.h>\n"
    "__ubuf_array__ float ub[8192];\n"
    "#define KERNEL(name) __global__ __vector__ void name(__gm__ float *x, int64_t n)\n"
    "KERNEL(repeat) { vadd(ub, ub, ub, n, 1, 1, 1, 0, 0, 0); }\n"
    "KERNEL(burst) { copy_gm_to_ubuf(ub, x, 0, n, 0, 0, 0); }\n"
    "KERNEL(stride) { vadds(ub, ub, 1.0f, 1, 1, 1, n, 8); }\n"
    "KERNEL(fill) { vector_dup(ub, 1.0f, 1, 1, 1, n, 8); }\n"
    "KERNEL(cut) { uint8_t m = (uint8_t)n; vadd(ub, ub, ub, m, 1, 1, 1, 0, 0, 0); }\n"
    "KERNEL(flag) { set_flag(PIPE_V, PIPE_MTE3, n); wait_flag(PIPE_V, PIPE_MTE3, n); }\n"
    "#if LEO_HAS_2201\n"
    "KERNEL(bytes) { copy_gm_to_ubuf_align_b8(ub, x, 0, 1, n, 0, 0, 0, 0); }\n"
    "KERNEL(core) { leo_cross_set(LEO_CROSS_ALL, PIPE_V, n); leo_cross_wait(n); }\n"
    "KERNEL(wait) { if (n < 16) { leo_cross_set(LEO_CROSS_ALL, PIPE_V, n); } wait_flag_dev(n); }\n"
    "KERNEL(memory) { hset_flag(PIPE_V, PIPE_MTE3, n, MEM_UB, false);\n"
    "    hwait_flag(PIPE_V, PIPE_MTE3, n, MEM_UB, false); }\n"
    "#else\n"
    "KERNEL(left) { x[0] = (float)(leo_pack_i2c0(0, 0, 0, n, 0) & 1); }\n"
    "#endif\n";

static const char cube_kernels[] = "#include <leo/device.h>\n"
                                   "__global__ __cube__ void add(__gm__ float *x)\n"
                                   "{\n"
                                   "    LEO_R4(0x2b, 0, 0, 0, 0, 0, 0x100000000000001ull);\n"
                                   "}\n"
                                   "__global__ __vector__ void multiply(__gm__ float *x)\n"
                                   "{\n"
                                   "    LEO_R4(0x5b, 0, 0, 0, 0, 0, 0);\n"
                                   "}\n";

static struct scratch scratch;

static void expect(const char *soc, const char *file, const char *kernel, const char *args,
                   const char *part)
{
    char out[8192];
    int code = scratch_run(&scratch, out, sizeof(out), "%s run --soc %s %s --kernel %s %s",
                           LEO_COMMAND, soc, file, kernel, args);
    CU_ASSERT_EQUAL(code, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(out, part));
    if (code != 1 || !strstr(out, part)) {
        fprintf(stderr, "%s on %s: exit code %d, expected 1 and \"%s\":\n%s\n", kernel, soc, code,
                part, out);
    }
}

static void build(const char *soc, const char *name, const char *text)
{
    char out[8192], source[32];
    snprintf(source, sizeof(source), "%s.c", name);
    scratch_write(&scratch, source, text);
    int code =
        scratch_run(&scratch, out, sizeof(out), "%s cc --soc %s -Wno-everything %s.c -o %s.elf",
                    LEO_COMMAND, soc, name, name);
    if (code != 0) {
        fprintf(stderr, "%s\n", out);
    }
    CU_ASSERT_EQUAL_FATAL(code, 0);
}

static void mistakes_are_told_with_names(void)
{
    static const struct {
        const char *kernel, *part;
    } cases[] = {
        {"past", "f.c:6 in window, called at f.c:9 ("},
        {"past", "32 bytes past the end of the 256-byte allocation at 0x"},
        {"past", ", argument 1 (x); instruction copy_gm_to_ubuf, operand b (src)\n"},
        {"ub_as_gm",
         "which is an address in ub (array ub_y + 32 of 256 bytes), not in global memory"},
        {"bare", "which is a bare offset in UB (array ub_y + 0 of 256 bytes), not an address in "
                 "global memory"},
        {"null", "at gm address 0x0, a null pointer or a bare offset of an on-chip buffer; "
                 "instruction copy_gm_to_ubuf, operand b (src)"},
        {"gm_as_ub",
         "which is an address in global memory, argument 1 (x); instruction vadd, operand a (dst)"},
        {"odd",
         "at ub address 0x20000004 (array ub_x + 4 of 8192 bytes); it must be a multiple of 32"},
        {"twice", "; instruction set_flag"},
        {"twice", "before anyone waited for it: flag (PIPE_V, PIPE_MTE3, 1)"},
        {"big", "; ub has "},
        {"big", "; instruction vadd, operand b (src0)\n"},
        {"leaf", "f.c:22 in far, called at f.c:"},
        {"leaf", "f.c:29 (core"},
        {"after_a_call", "f.c:27 in near, called at f.c:"},
        {"after_a_call", "f.c:30 (core"},
        {"in_the_kernel", "f.c:31 (core"},
        {"mode", "instruction vadd; vec3 = 0xf100000000000001: repeat=1 "},
        {"mode", " dtype=f32 mod=15"},
        {"type", ", vadd, which does not take these types on this chip; vec3 = "},
        {"type", " dtype=s64 "},
        {"nothing", "word 0xffffffff: no instruction of the scalar unit"},
        {"no_csr", "that does not exist or is read-only: CSR 0x912"},
        {"ro_csr", "that does not exist or is read-only: CSR 0xcc0 (block_idx)"},
    };
    static const char *const socs[] = {"ascend910a", "ascend910b1"};
    scratch_init(&scratch);
    scratch_write(&scratch, "x", "");
    char out[256];
    CU_ASSERT_EQUAL_FATAL(scratch_run(&scratch, out, sizeof(out), "head -c 256 /dev/zero > x"), 0);
    for (int soc = 0; soc < 2; soc++) {
        build(socs[soc], "f", kernels);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            expect(socs[soc], "f.elf", cases[i].kernel, "--arg out:4K --arg in:x", cases[i].part);
        }
    }
    expect("ascend910b1", "f.elf", "stranger", "--arg null --arg null",
           "copy_ubuf_to_cbuf, which chips of architecture 2201 do not have");
    build("ascend910b1", "c", cube_kernels);
    expect("ascend910b1", "c.elf", "add", "--arg null", ", vadd, which a cube core does not have");
    expect("ascend910b1", "c.elf", "multiply", "--arg null", "a vector core does not have");
    scratch_finish(&scratch);
}

/* Arrays of C++ are static: their symbols are not their names. */
static void arrays_of_cpp_have_their_names(void)
{
    char out[8192];
    scratch_init(&scratch);
    scratch_write(
        &scratch, "a.cpp",
        "#include <leo/device.h>\n"
        "namespace net { __ubuf_array__ float inner[64]; }\n"
        "__ubuf_array__ float outer[64];\n"
        "extern \"C\" __global__ __vector__ void k(__gm__ float *x)\n"
        "{ set_vector_mask(0, ~0ull);\n"
        "  vector_dup(outer, 1.0f, 1, 1, 1, 8, 8); vector_dup(net::inner, 2.0f, 1, 1, 1, 8, 8);\n"
        "  copy_ubuf_to_gm(x, outer, 0, 1, 8, 0, 0); }\n");
    CU_ASSERT_EQUAL(scratch_run(&scratch, out, sizeof(out),
                                "%s cc --soc ascend910b1 -Wno-unknown-attributes a.cpp -o a.elf",
                                LEO_COMMAND),
                    0);
    expect("ascend910b1", "a.elf", "k", "--arg out:256", "(array outer + 0 of 256 bytes)");
    CU_ASSERT_EQUAL(scratch_run(&scratch, out, sizeof(out),
                                "%s run --soc ascend910b1 --check none a.elf --arg out:256 "
                                "--dump ub:outer:f32 --dump ub:inner:f32",
                                LEO_COMMAND),
                    0);
    CU_ASSERT_PTR_NOT_NULL(strstr(out, "ub:inner:f32: 256 bytes"));
    scratch_finish(&scratch);
}

/* The same in C and C++, where it fits and where it does not. */
static void operands_that_do_not_fit_are_faults(void)
{
    static const struct {
        const char *soc, *kernel;
        long long good, bad;
        const char *part;
    } cases[] = {
        {NULL, "repeat", 255, 300, ": field repeat is 300, it holds at most 255; instruction vadd"},
        {NULL, "repeat", 0, -1, ": field repeat is -1, less than it can hold"},
        {NULL, "burst", 4095, 4096,
         ": field n_burst is 4096, it holds at most 4095; instruction copy_"},
        {NULL, "stride", 255, 256, ": field dst_rep is 256, it holds at most 255; instruction "},
        {NULL, "fill", 255, 256, ": field dst_rep is 256, it holds at most 255; instruction "},
        {"ascend910a", "flag", 3, 4, ": 4, and there are 0 to 3; instruction set_flag"},
        {"ascend910a", "left", -32768, -32769, ": field left_top_w is -32769, less than"},
        {"ascend910a", "left", 32767, 32768, ": field left_top_w is 32768, it holds at most 32767"},
        {"ascend910b1", "flag", 7, 9, ": 9, and there are 0 to 7; instruction set_flag"},
        {"ascend910b1", "flag", 0, -1, ": -1, and there are 0 to 7; instruction set_flag"},
        {"ascend910b1", "memory", 7, 8, ": 8, and there are 0 to 7; instruction hset_flag"},
        {"ascend910b1", "bytes", 64, 4294967296,
         ": field len_bytes is 4294967296, it holds at most"},
        {"ascend910b1", "core", 15, 16, ": field flag is 16, it holds at most 15; instruction "},
        {"ascend910b1", "wait", 15, 16, ": 16, and there are 0 to 15; instruction wait_flag_dev"},
    };
    static const char *const socs[] = {"ascend910a", "ascend910b1"};
    static const char *const files[] = {"field.c", "field.cpp"};
    char out[8192], args[64];
    scratch_init(&scratch);
    CU_ASSERT_EQUAL_FATAL(scratch_run(&scratch, out, sizeof(out), "head -c 256 /dev/zero > x"), 0);
    for (int i = 0; i < 4; i++) {
        const char *soc = socs[i / 2];
        scratch_write(&scratch, files[i % 2], field_kernels);
        CU_ASSERT_EQUAL_FATAL(scratch_run(&scratch, out, sizeof(out),
                                          "%s cc --soc %s %s -o field.elf", LEO_COMMAND, soc,
                                          files[i % 2]),
                              0);
        for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
            if (cases[n].soc && strcmp(cases[n].soc, soc) != 0) {
                continue;
            }
            snprintf(args, sizeof(args), "--arg in:x --arg s64:%lld", cases[n].bad);
            expect(soc, "field.elf", cases[n].kernel, args, cases[n].part);
            CU_ASSERT_EQUAL(scratch_run(&scratch, out, sizeof(out),
                                        "%s run --check none --soc %s field.elf --kernel %s "
                                        "--arg in:x --arg s64:%lld",
                                        LEO_COMMAND, soc, cases[n].kernel, cases[n].good),
                            0);
        }
    }
    scratch_finish(&scratch);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"mistakes_are_told_with_names", mistakes_are_told_with_names},
        {"operands_that_do_not_fit_are_faults", operands_that_do_not_fit_are_faults},
        {"arrays_of_cpp_have_their_names", arrays_of_cpp_have_their_names},
    };
    return leo_test_main("tools/fault_text", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
