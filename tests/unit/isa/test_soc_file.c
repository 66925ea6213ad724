/* SPDX-License-Identifier: Apache-2.0 */
/* SoC files that are the differences from another one. */
#include "harness.h"

#include <leo/alloc.h>
#include <leo/soc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/leo-soc-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[2][128];
    static unsigned turn;
    turn ^= 1;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
    return path[turn];
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

static char *read_good(const char *name)
{
    char *text, error[512];
    CU_ASSERT_EQUAL_FATAL(leo_isa_soc_read(name, &text, error, sizeof(error)), LEO_OK);
    return text;
}

static void expect_error(const char *name, const char *wanted)
{
    char *text, error[512];
    CU_ASSERT_NOT_EQUAL(leo_isa_soc_read(path_of(name), &text, error, sizeof(error)), LEO_OK);
    CU_ASSERT_PTR_NULL(text);
    if (!strstr(error, wanted)) {
        printf("  '%s' is not in '%s'\n", wanted, error);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(error, wanted));
}

/* Lines that set the key, comments aside. */
static unsigned count(const char *text, const char *line)
{
    unsigned found = 0;
    for (const char *at = text; (at = strstr(at, line)); at++) {
        found += at == text || at[-1] == '\n';
    }
    return found;
}

static void what_a_file_gives_itself_goes_first(void)
{
    write_file("mine.ini", "[soc]\nbase = ascend910b1 ; and its numbers\nname = mine\n"
                           "[gm]\nhbm_read_gb_per_s = 7\n[insn.mine]\nvadd = 1 2 3\n");
    char *text = read_good(path_of("mine.ini"));
    CU_ASSERT_EQUAL(count(text, "name = "), 1);
    CU_ASSERT_EQUAL(count(text, "name = mine"), 1);
    CU_ASSERT_EQUAL(count(text, "base = "), 0);
    CU_ASSERT_EQUAL(count(text, "hbm_read_gb_per_s = "), 1);
    CU_ASSERT_EQUAL(count(text, "hbm_read_gb_per_s = 7"), 1);
    CU_ASSERT_EQUAL(count(text, "hbm_write_gb_per_s = "), 1);
    CU_ASSERT_EQUAL(count(text, "vadd = "), 1);
    CU_ASSERT_EQUAL(count(text, "vsub = "), 1);
    CU_ASSERT_EQUAL(count(text, LEO_SOC_BASE_COMMENT "ascend910b1\n"), 1);
    leo_free(text);
}

static void bases_have_bases(void)
{
    write_file("first.ini", "[soc]\nbase = second.ini\n[cube]\nmmad_head = 1\n");
    write_file("second.ini", "[soc]\nbase = ascend910a\n[cube]\nmmad_head = 2\nmmad_gap = 3\n");
    char *text = read_good(path_of("first.ini"));
    CU_ASSERT_EQUAL(count(text, "mmad_head = "), 1);
    CU_ASSERT_EQUAL(count(text, "mmad_head = 1"), 1);
    CU_ASSERT_EQUAL(count(text, "mmad_gap = 3"), 1);
    CU_ASSERT_EQUAL(count(text, "name = ascend910a"), 1);
    leo_free(text);
}

static void wrong_bases_are_told(void)
{
    write_file("a.ini", "[soc]\n; round and round\nbase = b.ini\n");
    write_file("b.ini", "[soc]\nbase = a.ini\n");
    write_file("self.ini", "[soc]\nbase = self.ini\n");
    write_file("none.ini", "[soc]\nbase = nothing.ini\n");
    expect_error("a.ini", "b.ini:2: base = ");
    expect_error("a.ini", "has this one as its base");
    expect_error("self.ini", "has this one as its base");
    expect_error("none.ini", "none.ini:2: base = ");
    expect_error("none.ini", "No such file");
    expect_error("none.ini", "ascend910a, ");
    expect_error("nothing.ini", "No such file");
}

/* The generator puts the built-in ones together by itself. */
static void built_in_files_are_put_together_alike(void)
{
    for (size_t i = 0; leo_isa_soc_name(i); i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s.ini", SOCS, leo_isa_soc_name(i));
        char *text = read_good(path);
        CU_ASSERT_STRING_EQUAL(text, leo_isa_soc_text(leo_isa_soc_name(i)));
        leo_free(text);
        text = read_good(leo_isa_soc_name(i));
        CU_ASSERT_STRING_EQUAL(text, leo_isa_soc_text(leo_isa_soc_name(i)));
        leo_free(text);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"what a file gives itself goes first", what_a_file_gives_itself_goes_first},
        {"bases have bases", bases_have_bases},
        {"wrong bases are told", wrong_bases_are_told},
        {"built-in files are put together alike", built_in_files_are_put_together_alike},
    };
    if (!mkdtemp(folder)) {
        return 1;
    }
    const int result = leo_test_main("isa_soc_file", tests, 4, argc, argv);
    static const char *const files[] = {"mine.ini", "first.ini", "second.ini", "a.ini",
                                        "b.ini",    "self.ini",  "none.ini"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        unlink(path_of(files[i]));
    }
    rmdir(folder);
    return result;
}
