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
    "KERNEL(stranger) { LEO_R4(0x0b, 1, 0, 0, x, 0, 0); }\n";

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
        {"past", ", argument 1 (x); instruction copy_gm_to_ubuf\n"},
        {"ub_as_gm",
         "which is an address in ub (array ub_y + 32 of 256 bytes), not in global memory"},
        {"bare", "which is a bare offset in UB (array ub_y + 0 of 256 bytes), not an address in "
                 "global memory"},
        {"null", "at gm address 0x0, a null pointer; instruction copy_gm_to_ubuf"},
        {"gm_as_ub", "which is an address in global memory, argument 1 (x); instruction vadd"},
        {"odd",
         "at ub address 0x20000004 (array ub_x + 4 of 8192 bytes); it must be a multiple of 32"},
        {"big", "; ub has "},
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

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"mistakes_are_told_with_names", mistakes_are_told_with_names},
    };
    return leo_test_main("tools/fault_text", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
