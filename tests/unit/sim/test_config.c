/* SPDX-License-Identifier: Apache-2.0 */
/* HW-CHIP-01: a SoC file is taken whole or refused with the line and the key. */
#include "config.h"
#include "harness.h"

#include <leo/soc.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The built-in file with the first `from` replaced by `to`. */
static char *edited(const char *from, const char *to)
{
    const char *text = leo_isa_soc_text("ascend910a");
    const char *at = strstr(text, from);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    size_t bytes = strlen(text) + strlen(to) + 1;
    char *copy = malloc(bytes);
    snprintf(copy, bytes, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return copy;
}

static void expect_error(const char *from, const char *to, const char *message)
{
    struct sim_config config;
    char error[200];
    char *text = edited(from, to);
    CU_ASSERT_EQUAL(sim_config_parse(text, "x.ini", &config, error, sizeof(error)), LEO_ERR_PARSE);
    if (!strstr(error, message)) {
        printf("\n  got '%s', expected '%s'\n", error, message);
        CU_FAIL("wrong message");
    }
    CU_ASSERT_EQUAL(strncmp(error, "x.ini:", 6), 0);
    free(text);
}

static void built_in_files_are_good(void)
{
    const char *name;
    for (size_t i = 0; (name = leo_isa_soc_name(i)) != NULL; i++) {
        struct sim_config config;
        char error[200];
        leo_status status =
            sim_config_parse(leo_isa_soc_text(name), name, &config, error, sizeof(error));
        if (status) {
            printf("\n  %s\n", error);
        }
        CU_ASSERT_EQUAL(status, LEO_OK);
        CU_ASSERT_STRING_EQUAL(config.name, name);
        for (unsigned insn = 1; insn < LEO_INSN_COUNT; insn++) {
            const struct leo_insn_info *info = leo_insn_info((enum leo_insn)insn);
            if (leo_insn_has_arch((enum leo_insn)insn, config.arch) && info->pipe == LEO_PIPE_V &&
                config.insn[insn].head == 0) {
                printf("\n  %s: %s has no time\n", name, info->name);
                CU_FAIL("no time");
            }
        }
    }
}

static void values_arrive(void)
{
    struct sim_config config;
    char *text = edited("gm_small_interval = 20.6", "gm_small_interval = 7.25");
    CU_ASSERT_EQUAL(sim_config_parse(text, NULL, &config, NULL, 0), LEO_OK);
    CU_ASSERT_EQUAL(config.arch, 1001);
    CU_ASSERT_EQUAL(config.cube_cores, 32);
    CU_ASSERT_EQUAL(config.hbm_bytes, UINT64_C(32) << 30);
    CU_ASSERT_EQUAL(config.gm_small_interval, 7.25);
    CU_ASSERT_EQUAL(config.queue_depth_pipe[LEO_PIPE_MTE1], 32);
    free(text);
}

static void errors_name_line_and_key(void)
{
    expect_error("arch = 1001", "arcz = 1001", "x.ini:5: unknown key 'arcz' in section [soc]");
    expect_error("arch = 1001", "arch = many", "x.ini:5: arch must be a number");
    expect_error("arch = 1001", "arch = 1001.5", "arch must be a whole number");
    expect_error("arch = 1001", "arch = 1500", "arch must be 1001 or 2201");
    expect_error("arch = 1001", "arch = -1", "arch must be a number");
    expect_error("arch = 1001", "arch = 1e999", "arch must be a number");
    expect_error("arch = 1001", "arch = 1001\narch = 1001", "x.ini:6: arch is given twice");
    expect_error("arch = 1001", "", "key 'arch' is missing from section [soc]");
    expect_error("arch = 1001", "arch 1001", "x.ini:5: expected");
    expect_error("cube_cores = 32", "cube_cores = 129", "cube_cores must be between 1 and 128");
    expect_error("vector_cores = 0", "vector_cores = 2",
                 "vector_cores must be 0 on a coupled chip");
    expect_error("name = ascend910a", "name = a-name-that-is-much-too-long-for-the-register",
                 "name must have");
    expect_error("queue_depth = 4096", "queue_depth = 4095", "queue_depth must be a power of two");
    expect_error("ub_bytes = 262144", "ub_bytes = 17", "on-chip buffers must be multiples of 32");
    expect_error("l0a_bytes = 65536", "l0a_bytes = 0", "l0a_bytes must be between 512 and");
    expect_error("l0c_bytes = 262144", "l0c_bytes = 0", "l0c_bytes must be between 512 and");
    expect_error("dcache_bytes = 32768", "dcache_bytes = 0", "dcache_bytes must be between 64 and");
    expect_error("cube_pj_per_op = 1.2", "cube_pj_per_op = -1", "cube_pj_per_op must be a number");
    expect_error("idle_w = 70", "idle_w = 1e30", "idle_w must be a number from 0 to 1000000");
    expect_error("[memory]", "[memories]", "unknown key 'l1_bytes' in section [memories]");
    expect_error("vadd =", "vaddd =", "there is no instruction 'vaddd'");
    expect_error("vadd =", "vadd = fast ;", "vadd must be 'head rate16 [rate32]'");
    expect_error("vadd = 23 128 64", "vadd = 23 128 64 1", "vadd must be 'head rate16 [rate32]'");
    expect_error("[soc]", "[soc", "x.ini:3: expected");
}

/* The same, and the error names the line that was edited. */
static void expect_error_there(const char *from, const char *to, const char *message)
{
    const char *text = leo_isa_soc_text("ascend910a");
    const char *at = strstr(text, from);
    unsigned line = 1;
    for (const char *c = text; at && c < at; c++) {
        line += *c == '\n';
    }
    char whole[200];
    snprintf(whole, sizeof(whole), "x.ini:%u: %s", line, message);
    expect_error(from, to, whole);
}

/* Nothing an architecture executes may be free, on any built-in chip. */
static void every_instruction_has_its_time(void)
{
    expect_error("vadd = 23 128 64", "", "instruction 'vadd' is missing");
    expect_error("mmad = 0 1", "", "instruction 'mmad' is missing");
    // One that is timed as another (time= of its line in isa/insn) has that one's numbers, or its
    // own.
    struct sim_config as, own;
    char why[200], *changed = edited("vadd = 23 128 64", "vadd = 29 64 32");
    CU_ASSERT_EQUAL(sim_config_parse(changed, "x.ini", &as, why, sizeof(why)), LEO_OK);
    CU_ASSERT_EQUAL(as.insn[LEO_INSN_VCMPV].head, 29);
    CU_ASSERT_EQUAL(as.insn[LEO_INSN_VCMPV].rate16, 64);
    free(changed);
    changed = edited("vadd = 23 128 64", "vadd = 29 64 32\nvcmpv = 31 16 8");
    CU_ASSERT_EQUAL(sim_config_parse(changed, "x.ini", &own, why, sizeof(why)), LEO_OK);
    CU_ASSERT_EQUAL(own.insn[LEO_INSN_VCMPV].head, 31);
    CU_ASSERT_EQUAL(own.insn[LEO_INSN_VCMP].head, 29);
    free(changed);
    expect_error_there("vadd = 23 128 64", "vadd = 23", "vadd must be 'head rate16 [rate32]'");
    expect_error_there("vadd = 23 128 64", "vadd = 23 0 64", "vadd: head must be at most");
    expect_error("vadd = 23 128 64", "vadd = 23 128 0", "rates between 0.01 and 1000000");
    expect_error("copy_gm_to_ubuf = 0 128", "copy_gm_to_ubuf = 0 0", "copy_gm_to_ubuf: head must");
    // Each architecture is asked for its own instructions.
    struct sim_config config;
    char error[200], *text = edited("arch = 1001", "arch = 2201");
    char *cores = strstr(text, "vector_cores = 0");
    CU_ASSERT_PTR_NOT_NULL_FATAL(cores);
    memcpy(cores, "vector_cores = 32", 17);
    CU_ASSERT_EQUAL(sim_config_parse(text, "x.ini", &config, error, sizeof(error)), LEO_ERR_PARSE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "instruction 'copy_"));
    free(text);
}

static void long_line_is_refused(void)
{
    char line[400];
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    expect_error("[soc]", line, "x.ini:3: the line is longer");
}

/* A program may have a locale with a decimal comma. The test makes one: few hosts have it. */
static void numbers_do_not_follow_the_locale(void)
{
    char dir[] = "/tmp/leo-locale-XXXXXX", command[200];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    snprintf(command, sizeof(command), "localedef -c -i de_DE -f ISO-8859-1 %s/de_DE >%s/log 2>&1",
             dir, dir);
    int made = system(command);
    setenv("LOCPATH", dir, 1);
    if (made == 0 && setlocale(LC_ALL, "de_DE")) {
        CU_ASSERT_EQUAL(strtod("1,5", NULL), 1.5);
        values_arrive();
        setlocale(LC_ALL, "C");
    } else {
        printf("\n  skipped: this host cannot make a locale\n");
    }
    unsetenv("LOCPATH");
    snprintf(command, sizeof(command), "rm -r %s", dir);
    CU_ASSERT_EQUAL(system(command), 0);
}

static const struct leo_test tests[] = {
    {"built_in_files_are_good", built_in_files_are_good},
    {"values_arrive", values_arrive},
    {"errors_name_line_and_key", errors_name_line_and_key},
    {"every_instruction_has_its_time", every_instruction_has_its_time},
    {"long_line_is_refused", long_line_is_refused},
    {"numbers_do_not_follow_the_locale", numbers_do_not_follow_the_locale},
};

int main(int argc, char **argv)
{
    return leo_test_main("config", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
