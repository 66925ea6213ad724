/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel says: leo_printf, printf and leo_assert through the whole way from compiler to
 * standard output. */
#include "harness.h"
#include "scratch.h"

#include <stdio.h>
#include <string.h>

static const char kernels[] =
    "#include <leo/device.h>\n"
    "#include <stdio.h>\n"
    "__global__ __aicore__ void formats(uint32_t n, float a)\n"
    "{\n"
    "    half h = 1.5f; bfloat16_t b = 2.25f; uint8_t small = 200; bool yes = true;\n"
    "    const char *name = \"ub\", *none = NULL;\n"
    "    leo_printf(\"no values, 100%%\\n\");\n"
    "    leo_printf(\"%d %u %x %lx %f %g %s %p\\n\", -1, n, 255, 1ul << 40, a, b, name, (void "
    "*)16);\n"
    "    printf(\"%g|%hhd|%u|%d|%c|%ld|%lld|%zu\\n\", h, small, small, yes, 'q', -5l, -6ll, "
    "sizeof(h));\n"
    "    printf(\"%5d|%-5d|%05d|%+d|%#x|%*d|%.*f|%8.3f|%e|%X|%o\\n\", -3, 4, 5, 6, 7, 3, 8, 2, "
    "3.14159, 2.5, 1e10, 48879, 8);\n"
    "    printf(\"%s %.2s %s|%u\\n\", \"\", \"abc\", none, ~0u);\n"
    "}\n"
    "__global__ __aicore__ void wide(uint32_t n)\n"
    "{\n"
    "    leo_printf(\"%*d|%.*f|%*d|\\n\", (int)n, 1, (int)n, 0.5, -(int)n, 7);\n"
    "}\n"
    "__global__ __aicore__ void order(uint32_t times)\n"
    "{\n"
    "    for (uint32_t i = 0; i < times; i++) {\n"
    "        leo_printf(\"%ld.%u \", get_block_idx(), i);\n"
    "    }\n"
    "    leo_printf(\"\\n\");\n"
    "}\n"
    "__global__ __aicore__ void check(uint32_t n)\n"
    "{\n"
    "    leo_assert(n < 5);\n"
    "    leo_assert(n < 3 || get_block_idx() != 2, \"n = %u\", n);\n"
    "    leo_assert(n < 2, \"too many\");\n"
    "    leo_printf(\"checked\\n\");\n"
    "}\n";

static const char plus_plus[] = "#include <leo/device.h>\n"
                                "extern \"C\" __global__ __aicore__ void plus(float *x)\n"
                                "{\n"
                                "    half h = -0.5f;\n"
                                "    leo_printf(\"%g %s %p\\n\", h, x ? \"x\" : \"none\", x);\n"
                                "    leo_assert(x == nullptr);\n"
                                "}\n";

static struct scratch scratch;

static void start(void)
{
    char out[8192];
    scratch_init(&scratch);
    scratch_write(&scratch, "k.c", kernels);
    scratch_write(&scratch, "p.cpp", plus_plus);
    int code = scratch_run(&scratch, out, sizeof(out), "%s cc -Werror k.c -o k.elf", LEO_COMMAND);
    CU_ASSERT_STRING_EQUAL(out, "");
    CU_ASSERT_EQUAL_FATAL(code, 0);
}

/* Runs with `environment` before the command; `want` is in the output (stdout and stderr). */
static void expect(const char *environment, const char *arguments, int code, const char *want)
{
    static char out[1 << 20];
    int got = scratch_run(&scratch, out, sizeof(out), "%s %s run %s", environment, LEO_COMMAND,
                          arguments);
    CU_ASSERT_EQUAL(got, code);
    CU_ASSERT_PTR_NOT_NULL(strstr(out, want));
    if (got != code || !strstr(out, want)) {
        fprintf(stderr, "leo run %s\nexit code %d, expected %d and \"%s\":\n%.4000s\n", arguments,
                got, code, want, out);
    }
}

static void formats_are_those_of_printf(void)
{
    char want[1024];
    start();
    snprintf(want, sizeof(want),
             "no values, 100%%\n"
             "-1 7 ff 10000000000 0.250000 2.25 ub 0x10\n"
             "1.5|-56|200|1|q|-5|-6|2\n"
             "%5d|%-5d|%05d|%+d|%#x|%*d|%.*f|%8.3f|%e|%X|%o\n"
             " ab (null)|4294967295\n",
             -3, 4, 5, 6, 7, 3, 8, 2, 3.14159, 2.5, 1e10, 48879u, 8u);
    expect("", "k.elf --kernel formats --arg 7 --arg 0.25", 0, want);
    scratch_finish(&scratch);
}

static void wild_width_is_cut(void)
{
    start();
    expect("", "k.elf --kernel wide --arg 3", 0, "  1|0.500|7  |\n");
    expect("", "k.elf --kernel wide --arg 2000000000", 0, "     1|0.5000");
    expect("", "k.elf --kernel wide --arg 0x80000000", 0, "1");
    scratch_finish(&scratch);
}

static void cores_speak_in_their_order(void)
{
    start();
    for (int threads = 1; threads <= 2; threads++) {
        char environment[64];
        snprintf(environment, sizeof(environment), "LEO_THREADS=%d", threads);
        expect(environment, "k.elf --kernel order --blocks 3 --arg 3", 0,
               "0.0 0.1 0.2 \n1.0 1.1 1.2 \n2.0 2.1 2.2 \norder on");
    }
    expect("LEO_PRINT_PREFIX=1", "k.elf --kernel order --blocks 2 --arg 2", 0,
           "[core 0 block 0] 0.0 0.1 \n[core 1 block 1] 1.0 1.1 \norder on");
    scratch_finish(&scratch);
}

static void lost_output_is_told(void)
{
    start();
    // A record of "%ld.%u " takes 16 + 2 * 8 + 8 bytes; the last "\n" 16 + 8.
    // 101 of them leave 56 bytes, enough for it; after 102 there are 16.
    expect("LEO_PRINT_BYTES=4096", "k.elf --kernel order --arg 101", 0, " 0.100 \norder on");
    expect("LEO_PRINT_BYTES=4096", "k.elf --kernel order --arg 102", 0,
           "leo: 1 outputs of core 0 were lost: its ring of 4096 bytes was full");
    expect("LEO_PRINT_BYTES=5000", "k.elf --kernel order --arg 1", 1,
           "LEO_PRINT_BYTES is 5000: it must be a power");
    expect("LEO_PRINT_BYTES=5", "k.elf --kernel order --arg 1", 1, "must be a number from 4096");
    scratch_finish(&scratch);
}

static void assertion_is_the_text_of_the_fault(void)
{
    start();
    expect("", "k.elf --kernel check --blocks 3 --arg 1", 0, "checked\nchecked\nchecked\n");
    expect("", "k.elf --kernel check --blocks 3 --arg 9", 1, "k.c:26 (core 0");
    expect("", "k.elf --kernel check --blocks 3 --arg 9", 1,
           "trap: assertion 'n < 5' failed at k.c:26\n");
    expect("", "k.elf --kernel check --blocks 3 --arg 3", 1,
           "trap: assertion 'n < 2' failed at k.c:28: too many\n");
    expect("", "k.elf --kernel check --blocks 3 --arg 3", 1,
           "assertion 'n < 3 || get_block_idx() != 2' failed at k.c:27: n = 3\n");
    scratch_finish(&scratch);
}

static void kernels_in_cpp_print_too(void)
{
    char out[8192];
    start();
    CU_ASSERT_EQUAL_FATAL(scratch_run(&scratch, out, sizeof(out),
                                      "%s cc -Werror p.cpp --strip -o p.elf", LEO_COMMAND),
                          0);
    expect("", "p.elf --arg null", 0, "-0.5 none 0x0\n");
    expect("", "p.elf --arg out:4", 1, "assertion 'x == nullptr' failed at p.cpp:6");
    scratch_finish(&scratch);
}

static void wrong_format_is_a_warning_of_the_compiler(void)
{
    char out[8192];
    start();
    scratch_write(&scratch, "w.c",
                  "#include <leo/device.h>\n"
                  "__global__ void w(float a) { leo_printf(\"%d\", a); }\n");
    CU_ASSERT_EQUAL(
        scratch_run(&scratch, out, sizeof(out), "%s cc -Werror w.c -o w.elf", LEO_COMMAND), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(out, "format specifies type 'int'"));
    scratch_finish(&scratch);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"formats_are_those_of_printf", formats_are_those_of_printf},
        {"wild_width_is_cut", wild_width_is_cut},
        {"cores_speak_in_their_order", cores_speak_in_their_order},
        {"lost_output_is_told", lost_output_is_told},
        {"assertion_is_the_text_of_the_fault", assertion_is_the_text_of_the_fault},
        {"kernels_in_cpp_print_too", kernels_in_cpp_print_too},
        {"wrong_format_is_a_warning_of_the_compiler", wrong_format_is_a_warning_of_the_compiler},
    };
    return leo_test_main("tools/print", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
