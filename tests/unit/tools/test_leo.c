/* SPDX-License-Identifier: Apache-2.0 */
/* The leo command as its users call it: results, exit codes and what the obvious mistakes are
 * answered. */
#include "harness.h"
#include "scratch.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char kernels[] =
    "#include <leo/device.h>\n"
    "struct shape { uint32_t width; int16_t bias; };\n"
    "__global__ __aicore__ void shift(__gm__ int32_t *x, __gm__ int32_t *y, uint32_t n, int16_t by,"
    " struct shape shape)\n"
    "{\n"
    "    for (uint32_t i = get_block_idx(); i < n; i += get_block_num()) {\n"
    "        y[i] = x[i] + by + (int32_t)shape.width + shape.bias;\n"
    "    }\n"
    "}\n"
    "__global__ __aicore__ void floats(__gm__ half *y, float a, half b, bfloat16_t c)\n"
    "{\n"
    "    y[0] = (half)a;\n"
    "    y[1] = b;\n"
    "    y[2] = (half)(float)c;\n"
    "    y[3] = 0;\n"
    "}\n"
    "__global__ __aicore__ void wild(__gm__ half *y)\n"
    "{\n"
    "    *(volatile half *)0x600000 = y[0];\n"
    "}\n";

static const char program[] =
    "static long call(long n, long a, long b, long c)\n"
    "{\n"
    "    register long a0 __asm__(\"a0\") = a, a1 __asm__(\"a1\") = b, a2 __asm__(\"a2\") = c;\n"
    "    register long a7 __asm__(\"a7\") = n;\n"
    "    __asm__ volatile(\"ecall\" : \"+r\"(a0) : \"r\"(a1), \"r\"(a2), \"r\"(a7) : \"memory\");\n"
    "    return a0;\n"
    "}\n"
    "void _start(void)\n"
    "{\n"
    "    call(64, 1, (long)\"hello\\n\", 6);\n"
    "    call(93, 7, 0, 0);\n"
    "}\n";

static struct scratch scratch;

static int leo(char *text, size_t bytes, const char *arguments)
{
    return scratch_run(&scratch, text, bytes, "%s %s", LEO_COMMAND, arguments);
}

/* Runs `leo arguments` and expects an exit code and a text in what it says. */
static void expect(const char *arguments, int code, const char *text)
{
    char out[8192];
    int got = leo(out, sizeof(out), arguments);
    CU_ASSERT_EQUAL(got, code);
    CU_ASSERT_PTR_NOT_NULL(strstr(out, text));
    if (got != code || !strstr(out, text)) {
        fprintf(stderr, "leo %s\nexit code %d, expected %d and \"%s\":\n%s\n", arguments, got, code,
                text, out);
    }
}

static void write_words(const char *name, const int32_t *words, size_t count)
{
    FILE *file = fopen(scratch_path(&scratch, name), "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fwrite(words, sizeof(words[0]), count, file);
    fclose(file);
}

static void make_files(void)
{
    static const int32_t x[] = {1, 2, 3, 4, 5};
    static const int32_t y[] = {9, 10, 11, 12, 13};
    static const int32_t shape[] = {10, 0xffff};
    char out[4096];
    scratch_init(&scratch);
    scratch_write(&scratch, "k.c", kernels);
    write_words("x", x, 5);
    write_words("y", y, 5);
    write_words("short", y, 4);
    write_words("shape", shape, 2);
    CU_ASSERT_EQUAL_FATAL(leo(out, sizeof(out), "cc k.c -o k.elf"), 0);
}

#define SHIFT "run k.elf --kernel shift --arg in:x --arg out:20:z --arg u32:5 "

static void run_compares_with_golden_values(void)
{
    make_files();
    expect(SHIFT "--arg s16:-1 --arg bytes:shape --golden 1:y:s32:0", 0, "largest error 0: good");
    expect(SHIFT "--blocks 3 --arg -1 --arg bytes:shape --golden 1:z:s32:0", 0,
           "3 blocks on 3 cores");
    expect(SHIFT "--arg s16:0 --arg bytes:shape --golden 1:y:s32:0", 1,
           "5 above 0, first at element 0 (got 10, expected 9)");
    expect(SHIFT "--arg s16:0 --arg bytes:shape --golden 1:y:s32:0.2", 0, "good");
    expect(SHIFT "--arg 0 --arg bytes:shape --golden 1:short:s32:0", 1, "short has 16");
    scratch_finish(&scratch);
}

static void run_takes_two_tolerances(void)
{
    make_files();
    // 10 + n against 9 + n: 1 <= ATOL + RTOL * (9 + n)
    expect(SHIFT "--arg 0 --arg bytes:shape --golden 1:y:s32:0:1", 0,
           "5 elements, largest error 1 of what is allowed: good");
    expect(SHIFT "--arg 0 --arg bytes:shape --golden 1:y:s32:0.1:0", 1,
           "1 above 1, first at element 0 (got 10, expected 9)");
    expect(SHIFT "--arg 0 --arg bytes:shape --golden 1:y:s32:0.05:0.55", 0, "good");
    expect(SHIFT "--arg 0 --arg bytes:shape --golden 1:y:s32:-1:1", 2, "no such DTYPE: -1");
    expect(SHIFT "--arg 0 --arg bytes:shape --golden 1:y:s32:1:x", 2, "RTOL:ATOL; bad tolerance");
    scratch_finish(&scratch);
}

/* Each kernel has one mistake, and the text tells it. */
static void run_tells_what_the_checker_finds(void)
{
    static const struct {
        const char *kernel, *text;
    } bad[] = {
        {"no_flag", "missing between them: set_flag(PIPE_MTE2, PIPE_V, ..) and wait_flag"},
        {"no_barrier", "missing between them: pipe_barrier(PIPE_V)"},
        {"half_load", "32 bytes of ub at 0x20000fe0 (array y + 2016 of 2048 bytes), which vadd"},
        {"too_long", "touches 2080 bytes of ub at 0x20000000 (array x + 0 of 2048 bytes)"},
        {"left",
         "flag_left: block 0 (core 0): set_flag (PIPE_S) at c.c:14: flag (PIPE_MTE2, PIPE_V, 1)"},
        {"event",
         "a flag or event number the chip does not have (the hardware cuts it off): 5, and "
         "there are 0 to 3"},
        {"no_lane", "a vector instruction without an active lane"},
        {"walk", "at 0x20001014 (0 bytes past the end of array w), which leave the array"},
        {"count --blocks 8", "race: block 1 (core 1): the scalar unit (PIPE_S) at c.c:17"},
    };
    make_files();
    scratch_write(
        &scratch, "c.c",
        "#include <leo/device.h>\n"
        "__ubuf_array__ half x[1024];\n"
        "__ubuf_array__ half y[1024];\n"
        "#define LOAD(blocks) copy_gm_to_ubuf(x, in, 0, 1, blocks, 0, 0)\n"
        "#define ADD vadd(y, x, x, 8, 1, 1, 1, 8, 8, 8)\n"
        "#define STORE copy_ubuf_to_gm(out, y, 0, 1, 64, 0, 0)\n"
        "#define PASS(from, to) set_flag(from, to, EVENT_ID0); wait_flag(from, to, EVENT_ID0)\n"
        "#define KERNEL(name) __global__ __aicore__ void name(__gm__ half *in, __gm__ half *out)\n"
        "KERNEL(good) { LOAD(64); PASS(PIPE_MTE2, PIPE_V); ADD; PASS(PIPE_V, PIPE_MTE3); STORE; }\n"
        "KERNEL(no_flag) { LOAD(64); ADD; PASS(PIPE_V, PIPE_MTE3); STORE; }\n"
        "KERNEL(no_barrier) { LOAD(64); PASS(PIPE_MTE2, PIPE_V); ADD; ADD; PASS(PIPE_V, "
        "PIPE_MTE3); STORE; }\n"
        "KERNEL(half_load) { LOAD(63); PASS(PIPE_MTE2, PIPE_V); ADD; PASS(PIPE_V, PIPE_MTE3); "
        "STORE; }\n"
        "KERNEL(too_long) { LOAD(65); pipe_barrier(PIPE_ALL); }\n"
        "KERNEL(left) { set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1); }\n"
        "KERNEL(event) { uint64_t e = get_block_num() + 4; set_flag(PIPE_MTE2, PIPE_V, e); "
        "wait_flag(PIPE_MTE2, PIPE_V, e); }\n"
        "KERNEL(no_lane) { LOAD(64); PASS(PIPE_MTE2, PIPE_V); set_vector_mask(0, 0); ADD; }\n"
        "KERNEL(count) { out[0] = out[0] + 1; }\n"
        "__ubuf_array__ int32_t w[5];\n"
        "KERNEL(walk) { for (int i = 0; i <= 4 + (int)get_block_num(); i++) { w[i] = in[i]; } }\n");
    char out[4096], line[256];
    CU_ASSERT_EQUAL_FATAL(leo(out, sizeof(out), "cc --soc ascend910a c.c -o c.elf"), 0);
    CU_ASSERT_EQUAL_FATAL(scratch_run(&scratch, out, sizeof(out), "head -c 4096 /dev/zero > zero"),
                          0);
    expect("run c.elf --kernel good --arg in:zero --arg out:4096", 0, "good on");
    expect("run c.elf --kernel no_flag --check none --arg in:zero --arg out:4096", 0, "no_flag on");
    expect("run c.elf --kernel no_flag --check race,init --arg in:zero --arg out:4096", 0,
           "no_flag on");
    expect("run c.elf --kernel good --check x --arg in:zero --arg out:4096", 1,
           "option check is \"x\": it must be none, all, or some of");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(line, sizeof(line), "run c.elf --arg in:zero --arg inout:zero:z --kernel %s",
                 bad[i].kernel);
        expect(line, 1, bad[i].text);
    }
    expect("run c.elf --kernel count --arg in:zero --arg out:4096", 1,
           "reads 2 bytes of global memory");
    scratch_finish(&scratch);
}

static void run_repeats_with_the_same_buffers(void)
{
    make_files();
    scratch_write(&scratch, "r.c",
                  "#include <leo/device.h>\n"
                  "__ubuf_array__ int32_t ub[65536 / 4];\n"
                  "__global__ __aicore__ void twice(__gm__ int32_t *x)\n"
                  "{\n"
                  "    x[0] += 1;\n"
                  "    pipe_barrier(PIPE_ALL);\n"
                  "    for (int i = 0; i <= get_block_idx(); i++) {\n"
                  "        copy_gm_to_ubuf(ub, x, 0, 1, 2048, 0, 0);\n"
                  "    }\n"
                  "    pipe_barrier(PIPE_ALL);\n"
                  "}\n");
    char out[4096];
    CU_ASSERT_EQUAL_FATAL(leo(out, sizeof(out), "cc r.c -o r.elf"), 0);
    CU_ASSERT_EQUAL_FATAL(scratch_run(&scratch, out, sizeof(out), "head -c 65536 /dev/zero > zero"),
                          0);
    expect("run r.elf --arg inout:zero:one --repeat 3", 0, "  3 launches: first ");
    scratch_read(&scratch, "one", out, 2);
    CU_ASSERT_EQUAL(out[0], 1);
    // From the L2 the same bytes come faster.
    double first = 0, last = 0;
    CU_ASSERT_EQUAL(leo(out, sizeof(out), "run r.elf --arg in:zero --repeat 3"), 0);
    const char *line = strstr(out, "  3 launches:");
    CU_ASSERT_PTR_NOT_NULL_FATAL(line);
    CU_ASSERT_EQUAL(sscanf(line, "  3 launches: first %lf us, last %lf us", &first, &last), 2);
    CU_ASSERT(last > 0 && last <= first);
    expect("run r.elf --arg in:zero --repeat 0", 2, "--repeat takes 1 to 1000, not 0");
    // Core 2 copies three times as much as core 0.
    expect("run r.elf --arg in:zero --check none --blocks 3 --cores", 0, "\n     2             3 ");
    expect("run r.elf --arg in:zero --check none --blocks 3 --cores", 0,
           " times the mean work of 3 cores");
    expect("run r.elf --arg in:zero --check none --blocks 3 --cores --trace-records 4", 0,
           "14 instruction records were dropped: the trace and the table by core hold the first 4 "
           "of 18");
    scratch_finish(&scratch);
}

/* The folder of leo report. */
static void run_writes_a_profile(void)
{
    char out[4096];
    make_files();
    CU_ASSERT_EQUAL(leo(out, sizeof(out), SHIFT "--arg 0 --arg bytes:shape --profile prof"), 0);
    CU_ASSERT_EQUAL(
        scratch_run(&scratch, out, sizeof(out), "cat prof/PROF_*/device_0/data/task.csv"), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(out, "shift"));
    CU_ASSERT_EQUAL(scratch_run(&scratch, out, sizeof(out), "LEO_PROFILE=other %s %s", LEO_COMMAND,
                                SHIFT "--arg 0 --arg bytes:shape && ls other"),
                    0);
    CU_ASSERT_PTR_NOT_NULL(strstr(out, "PROF_000001_"));
    expect(SHIFT "--arg 0 --arg bytes:shape --profile x/below", 1, "--profile: ");
    scratch_finish(&scratch);
}

static void run_dumps_buffers_of_each_core(void)
{
    char out[4096];
    make_files();
    scratch_write(&scratch, "d.c",
                  "#include <leo/device.h>\n"
                  "__ubuf_array__ half ub_first[16];\n"
                  "__ubuf_array__ float ub_y[64];\n"
                  "__global__ __vector__ void fill(__gm__ half *x, float a)\n"
                  "{\n"
                  "    set_mask_norm();\n"
                  "    set_vector_mask(~0ull, ~0ull);\n"
                  "    copy_gm_to_ubuf(ub_first, x, 0, 1, 1, 0, 0);\n"
                  "    vector_dup(ub_y, a + get_block_idx(), 1, 1, 1, 8, 8);\n"
                  "    leo_assert(a < 3);\n"
                  "}\n");
    CU_ASSERT_EQUAL_FATAL(
        scratch_run(&scratch, out, sizeof(out), "printf '\\000\\074%%30s' '' > half"), 0);
    for (int soc = 0; soc < 2; soc++) {
        const char *name = soc ? "ascend910b1" : "ascend910a";
        unsigned core = soc ? 24 : 0; // the first vector core, the first core
        char command[256], want[256];
        snprintf(command, sizeof(command), "cc --soc %s d.c -o d.elf", name);
        CU_ASSERT_EQUAL_FATAL(leo(out, sizeof(out), command), 0);
        snprintf(command, sizeof(command),
                 "run --soc %s d.elf --blocks 2 --arg in:half --arg 0.5 --dump ub:ub_y:f32", name);
        snprintf(want, sizeof(want),
                 "      56: 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5\ncore %u ub:ub_y:f32: 256 ", core + 1);
        expect(command, 0, want);
        expect(command, 0, "      56: 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5\n");
        snprintf(command, sizeof(command),
                 "run --soc %s d.elf --arg in:half --arg 5 --dump UB:ub_first", name);
        expect(command, 1, "       0: 20203c00 20202020 ");
        expect(command, 1, "assertion 'a < 3' failed");
        snprintf(command, sizeof(command),
                 "run --soc %s d.elf --arg in:half --arg 1 --dump ub:999936:128", name);
        expect(command, 1, "ub of these cores has no 128 bytes from offset 999936 on");
    }
    static const char *const wrong[][2] = {
        {"ub", "2 to 4 parts"},          {"l7:x", "no such buffer"},
        {"ub:none", "no array of that"}, {"l1:ub_y", "no array of that"},
        {"ub:0", "bytes is missing"},    {"ub:0:64:f9", "no such DTYPE"},
        {"ub:0:2", "multiple"},          {"ub:ub_y:f32:4", "too many parts"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char command[256];
        snprintf(command, sizeof(command),
                 "run --soc ascend910b1 d.elf --arg in:half --arg 1 --dump %s", wrong[i][0]);
        expect(command, 2, wrong[i][1]);
    }
    expect("run --soc ascend910b1 d.elf --arg in:half --arg 1 --dump l1:0:64", 1,
           "l1 of these cores has no 64 bytes");
    scratch_finish(&scratch);
}

/* Data comes to a bare offset and is read through the array that lies there: nothing in the source
 * stores to the array. */
static void arrays_see_what_bare_offsets_hold(void)
{
    static const char *const levels[] = {"-O0", "-O2", "-O3"};
    char out[4096], command[256];
    make_files();
    scratch_write(&scratch, "fold.c",
                  "#include <leo/device.h>\n"
                  "__ubuf_array__ int32_t ub[8];\n"
                  "__global__ __aicore__ void fold(__gm__ const int32_t *x, __gm__ int32_t *y)\n"
                  "{\n"
                  "    copy_gm_to_ubuf((__ubuf__ int32_t *)0, x, 0, 1, 1, 0, 0);\n"
                  "    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);\n"
                  "    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);\n"
                  "    y[0] = ub[4];\n"
                  "}\n");
    write_words("eight", (const int32_t[]){1, 2, 3, 4, 5, 6, 7, 8}, 8);
    write_words("five", (const int32_t[]){5}, 1);
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        snprintf(command, sizeof(command), "cc %s fold.c -o fold.elf", levels[i]);
        CU_ASSERT_EQUAL_FATAL(leo(out, sizeof(out), command), 0);
        expect("run fold.elf --arg in:eight --arg out:4 --golden 1:five:s32:0", 0, ": good");
    }
    scratch_finish(&scratch);
}

/* Of five words the kernel writes those that `n` names. */
static void run_tells_what_was_never_written(void)
{
    make_files();
#define PART                                                                                       \
    "run k.elf --kernel shift --arg in:x --arg out:24:z --arg u32:3 --arg s16:1 --arg bytes:shape"
    expect(PART, 0,
           "argument 1 (out:24:z): 12 of 24 bytes were never written, the first at byte 12\n");
    expect(PART " --repeat 3", 0, "12 of 24 bytes were never written, the first at byte 12\n");
    char out[8192];
    CU_ASSERT_EQUAL(leo(out, sizeof(out), PART " --check hazard"), 0);
    CU_ASSERT_PTR_NULL(strstr(out, "never written")); // nobody looked
    CU_ASSERT_EQUAL(leo(out, sizeof(out), SHIFT "--arg 0 --arg bytes:shape"), 0);
    CU_ASSERT_PTR_NULL(strstr(out, "never written"));
#undef PART
    scratch_finish(&scratch);
}

static void run_passes_floats(void)
{
    char bytes[9];
    static const char want[] = {0x00, 0x3e, 0x00, (char)0xbc, 0x00, 0x40, 0, 0};
    make_files();
    expect("run k.elf --kernel floats --arg out:8:f --arg f32:1.5 --arg -1 --arg bf16:2", 0,
           "us simulated");
    scratch_read(&scratch, "f", bytes, sizeof(bytes));
    CU_ASSERT_EQUAL(memcmp(bytes, want, 8), 0);
    scratch_finish(&scratch);
}

static void run_tells_what_is_wrong(void)
{
    static const struct {
        const char *arguments;
        int code;
        const char *text;
    } cases[] = {
        {"run", 2, "no kernel file"},
        {"run none.elf", 1, "cannot read none.elf: No such file"},
        {"run k.c", 1, "not an ELF"},
        {"run k.elf", 2, "has 3 kernels, choose with --kernel: "},
        {"run k.elf --kernel shft", 2, "no kernel 'shft'; it has: "},
        {"run k.elf --soc ascend91 --kernel wild", 1, "ascend910a"},
        {"run k.elf --soc ascend910b1 --kernel wild", 1, "architecture"},
        {"run k.elf --kernel wild", 2, "kernel wild takes 1 argument, 0 given"},
        {"run k.elf --kernel wild --arg u32:4", 2, "is a pointer (in:FILE"},
        {"run k.elf --kernel wild --arg in:none", 1, "cannot read none"},
        {"run k.elf --kernel wild --arg out:x", 2, "BYTES must be a size"},
        {"run k.elf --kernel wild --arg in:x", 1, "k.c:18 (core 0, block 0, unit s)"},
        {"run k.elf --kernel wild --blocks 0", 2, "--blocks takes 1 to 65535"},
        {"run k.elf --wrong 3", 2, "unknown option --wrong"},
        {"run k.elf --wrong", 2, "unknown option --wrong"},
        {"run k.elf --kernel", 2, "a value is missing after --kernel"},
        {SHIFT "--arg u16:3 --arg bytes:shape", 2,
         "argument 3 (by) is a number of 16 bits (s16:N)"},
        {SHIFT "--arg s16:40000 --arg bytes:shape", 2, "'s16:40000' does not fit"},
        {SHIFT "--arg s16:1 --arg bytes:x", 2,
         "a structure of 8 bytes (bytes:FILE); the file has 20"},
        {SHIFT "--arg 1 --arg bytes:shape --golden 2:y:s32:0", 2, "must be that of a buffer"},
        {SHIFT "--arg 1 --arg bytes:shape --golden 1:y:s32", 2, "INDEX:FILE:DTYPE:TOL"},
        {SHIFT "--arg 1 --arg bytes:shape --golden 1:y:int:0", 2, "no such DTYPE: int"},
        {SHIFT "--arg 1 --arg bytes:shape --golden 1:none:s32:0", 1, "cannot read none"},
    };
    make_files();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect(cases[i].arguments, cases[i].code, cases[i].text);
    }
    scratch_finish(&scratch);
}

static void bare_program_does_as_under_qemu(void)
{
    char ours[4096];
    char theirs[4096];
    scratch_init(&scratch);
    scratch_write(&scratch, "p.c", program);
    CU_ASSERT_EQUAL_FATAL(
        scratch_run(&scratch, ours, sizeof(ours),
                    "clang-19 --target=riscv64-unknown-elf -march=rv64imafd -mabi=lp64 -O2 "
                    "-mcmodel=medany -ffreestanding -c p.c -o p.o && ld.lld-19 -static p.o -o p"),
        0);
    CU_ASSERT_EQUAL(leo(ours, sizeof(ours), "run --bare p"), 7);
    CU_ASSERT_EQUAL(scratch_run(&scratch, theirs, sizeof(theirs), "qemu-riscv64 p"), 7);
    CU_ASSERT_STRING_EQUAL(ours, "hello\n");
    CU_ASSERT_STRING_EQUAL(ours, theirs);
    expect("run --bare p.c", 1, "it is no ELF file");
    expect("run --bare --limit 2 p", 1, "it was stopped after 2 instructions (--limit)");
    expect("run --bare --limit many p", 2, "usage");
    expect("run --bare", 2, "usage");
    scratch_finish(&scratch);
}

static void every_command_answers_help_and_nonsense(void)
{
    scratch_init(&scratch);
    expect("", 2, "usage: leo COMMAND");
    expect("--help", 0, "usage: leo COMMAND");
    expect("fly", 2, "there is no command 'fly'");
    expect("run --help", 0, "usage: leo run");
    expect("smi --help", 0, "usage: leo smi");
    expect("cc --help", 0, "usage: leo cc");
    expect("objdump --help", 0, "usage: leo objdump");
    expect("smi now", 2, "unexpected argument now");
    expect("cc", 2, "no source file");
    expect("cc x.c", 2, "no output file");
    expect("cc x.c -o", 2, "a value is missing after -o");
    expect("cc x.c -o x.elf --fast", 2, "unknown option --fast");
    expect("cc x.c -o x.elf", 1, "cannot read x.c");
    expect("cc x.txt -o x.elf", 1, "is not a .c, .cpp, .cc, .cxx or .mlu file");
    expect("objdump", 2, "usage: leo objdump");
    expect("objdump none.elf", 1, "cannot read none.elf");
    expect("objdump /dev/null", 1, "is not a RISC-V ELF file");
    scratch_finish(&scratch);
}

// What was not written was not said.
static void output_that_is_lost_is_a_failure(void)
{
    static const char *const commands[] = {
        "--help", "smi", "objdump k.elf", SHIFT "--arg s16:1 --arg bytes:shape --golden 1:y:s32:9"};
    char arguments[256];
    make_files();
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        snprintf(arguments, sizeof(arguments), "%s >/dev/full", commands[i]);
        expect(arguments, 1, "cannot write standard output: No space left on device");
    }
    expect("run none.elf >/dev/full", 1, "cannot read none.elf");
    scratch_finish(&scratch);
}

// A compiler that is told to end while it works leaves nothing behind.
static void an_interrupted_compiler_cleans_up(void)
{
    char out[4096];
    scratch_init(&scratch);
    scratch_write(&scratch, "k.c", kernels);
    scratch_write(&scratch, "clang.sh", "#!/bin/sh\nkill -TERM $PPID\nexec \"$REAL\" \"$@\"\n");
    int code = scratch_run(&scratch, out, sizeof(out),
                           "mkdir -p temps && chmod +x clang.sh && "
                           "REAL=\"${LEO_DEVICE_CC:-clang-19}\" TMPDIR=$PWD/temps "
                           "LEO_DEVICE_CC=$PWD/clang.sh sh -c '\"$0\" cc k.c -o cut.elf; echo "
                           "code $?; ls temps | wc -l; ls cut.elf' %s",
                           LEO_COMMAND);
    CU_ASSERT_NOT_EQUAL(code, 0);                         // of ls: there is no result
    CU_ASSERT_PTR_NOT_NULL(strstr(out, "code 143\n0\n")); // ended by the signal, no temporaries
    if (!strstr(out, "code 143\n0\n")) {
        fprintf(stderr, "%s\n", out);
    }
    scratch_finish(&scratch);
}

static void smi_lists_the_devices(void)
{
    scratch_init(&scratch);
    expect("smi --soc ascend910b1", 0, "ascend910b1   2201     24      48     1850 MHz");
    expect("smi --soc ascend91", 1, "ascend910b1");
    scratch_finish(&scratch);
}

/* Variants of a chip beside each other; what is wrong in a table is reported. */
static void sweep_compares_variants(void)
{
    char out[8192];
    make_files();
    const char *const table =
        "name,soc.clock_khz,scalar.scalar_store_gm\nas it is,,\nslow,500000,\n";
    const char *const more = "far,,10000\n";
    char text[256];
    snprintf(text, sizeof(text), "%s%s", table, more);
    scratch_write(&scratch, "t.csv", text);
    scratch_write(&scratch, "bad.csv", "name,soc.colour\nx,1\n");
    scratch_write(&scratch, "long.csv", "name,soc.clock_khz\nx,1,2\n");
#define SWEEP "sweep t.csv --base ascend910a --jobs 2 -- " LEO_COMMAND " run k.elf --kernel floats "
    const int code = leo(out, sizeof(out),
                         SWEEP "--check none --arg out:64 --arg f32:1 --arg f16:1 --arg bf16:1");
    CU_ASSERT_EQUAL(code, 0);
    double us[3] = {0}, change = 0;
    const char *as = strstr(out, "as it is"), *slow = strstr(out, "slow"),
               *far = strstr(out, "\nfar ");
    CU_ASSERT_FATAL(as && slow && far);
    CU_ASSERT_EQUAL(sscanf(as + 8, "%lf", &us[0]), 1);
    CU_ASSERT_EQUAL(sscanf(slow + 4, "%lf %lf%%", &us[1], &change), 2);
    CU_ASSERT_EQUAL(sscanf(far + 5, "%lf", &us[2]), 1);
    CU_ASSERT(us[1] > us[0] && us[2] > us[0] + 30);
    CU_ASSERT_DOUBLE_EQUAL(change, 100 * (us[1] / us[0] - 1), 0.2);
    // Programs choose by the clock; what stores cost is in what the scalar unit did.
    CU_ASSERT(strstr(as, "exact\nslow") && strstr(slow, "re-planned\nfar") &&
              strstr(far, "re-planned\n"));
    CU_ASSERT_EQUAL(leo(out, sizeof(out),
                        "sweep t.csv --base ascend910a --estimate -- " LEO_COMMAND
                        " run k.elf --kernel floats --check none --arg out:64 --arg f32:1 --arg "
                        "f16:1 --arg bf16:1"),
                    0);
    CU_ASSERT(strstr(out, "exact\nslow") && strstr(out, "estimate\nfar") &&
              strstr(out, "re-planned\n"));
    char matched[8192];
    CU_ASSERT_EQUAL(leo(matched, sizeof(matched),
                        "sweep t.csv --base ascend910a --match core, -- " LEO_COMMAND
                        " run k.elf --kernel floats --check none --arg out:64 --arg f32:1 --arg "
                        "f16:1 --arg bf16:1"),
                    0);
    expect("sweep bad.csv -- " LEO_COMMAND " smi", 1, "colour");
    expect("sweep long.csv -- true", 1, "long.csv:2: 1 numbers are wanted");
    expect("sweep t.csv -- true", 1, "ran no task on the chip that LEO_SOC names");
    // A command that goes its own way would have the time of another chip.
    expect("sweep t.csv --base ascend910b1 -- " LEO_COMMAND
           " run k.elf --kernel floats --soc ascend910a --check none --arg out:64 --arg f32:1 "
           "--arg f16:1 --arg bf16:1",
           1, "ran no task on the chip that LEO_SOC names");
    expect("sweep t.csv --match x -- true", 1, "printed no time");
    expect("sweep t.csv -- false", 1, "the command failed");
    expect("sweep t.csv", 2, "a command are needed");
    expect("sweep t.csv --jobs 0 -- true", 2, "--jobs 0: a number from 1 to");
    scratch_finish(&scratch);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"run_compares_with_golden_values", run_compares_with_golden_values},
        {"run_takes_two_tolerances", run_takes_two_tolerances},
        {"run_tells_what_the_checker_finds", run_tells_what_the_checker_finds},
        {"run_repeats_with_the_same_buffers", run_repeats_with_the_same_buffers},
        {"run_writes_a_profile", run_writes_a_profile},
        {"run_dumps_buffers_of_each_core", run_dumps_buffers_of_each_core},
        {"arrays_see_what_bare_offsets_hold", arrays_see_what_bare_offsets_hold},
        {"run_tells_what_was_never_written", run_tells_what_was_never_written},
        {"run_passes_floats", run_passes_floats},
        {"run_tells_what_is_wrong", run_tells_what_is_wrong},
        {"bare_program_does_as_under_qemu", bare_program_does_as_under_qemu},
        {"every_command_answers_help_and_nonsense", every_command_answers_help_and_nonsense},
        {"output_that_is_lost_is_a_failure", output_that_is_lost_is_a_failure},
        {"an_interrupted_compiler_cleans_up", an_interrupted_compiler_cleans_up},
        {"smi_lists_the_devices", smi_lists_the_devices},
        {"sweep_compares_variants", sweep_compares_variants},
    };
    return leo_test_main("tools/leo", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
