/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "scratch.h"

#include <leo/cc.h>
#include <stdlib.h>
#include <string.h>

static const char kernel[] = "#include <leo/device.h>\n"
                             "__global__ __aicore__ void add(__gm__ half *x, uint64_t n)\n"
                             "{\n"
                             "    __asm__ volatile(\".insn r4 0x2b, 0, 0, a0, a1, a2, a3\");\n"
                             "    x[n] = 0;\n"
                             "}\n";

static void custom_words_have_names_and_source_lines(void)
{
    struct scratch scratch;
    char text[16384];
    char error[256];
    scratch_init(&scratch);
    scratch_write(&scratch, "k.c", kernel);
    const char *const sources[] = {scratch_path(&scratch, "k.c")};
    struct leo_cc_opts opts = {.size = sizeof(opts),
                               .sources = sources,
                               .source_count = 1,
                               .output = scratch_path(&scratch, "k.elf")};
    CU_ASSERT_EQUAL_FATAL(leo_cc_compile(&opts, error, sizeof(error)), LEO_OK);
    FILE *out = fopen(scratch_path(&scratch, "text"), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL(leo_cc_objdump(opts.output, true, out, error, sizeof(error)), LEO_OK);
    fclose(out);
    scratch_read(&scratch, "text", text, sizeof(text));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "vadd\t(a0), (a1), (a2), cfg=a3"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "x[n] = 0;"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "ret"));
    CU_ASSERT_PTR_NULL(strstr(text, "<unknown>"));
    scratch_finish(&scratch);
}

static void missing_disassembler_names_its_package(void)
{
    char error[256];
    setenv("LEO_DEVICE_OBJDUMP", "no-such-objdump", 1);
    CU_ASSERT_EQUAL(leo_cc_objdump("x.elf", true, stdout, error, sizeof(error)), LEO_ERR_NOT_FOUND);
    unsetenv("LEO_DEVICE_OBJDUMP");
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "apt-get install llvm-19"));
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"custom_words_have_names_and_source_lines", custom_words_have_names_and_source_lines},
        {"missing_disassembler_names_its_package", missing_disassembler_names_its_package},
    };
    return leo_test_main("tools/objdump", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
