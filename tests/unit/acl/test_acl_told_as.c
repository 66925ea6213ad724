/* SPDX-License-Identifier: Apache-2.0 */
/* A chip with a name of its own, which programs are told as another. */
#include "test_acl_common.h"

#include "harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sets LEO_SOC to a new chip file with these lines in [soc]. */
static void use_chip(char *path, const char *lines)
{
    FILE *file = fdopen(mkstemp(path), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fprintf(file, "[soc]\nbase = ascend910b1\n%s", lines);
    CU_ASSERT_EQUAL(fclose(file), 0);
    setenv("LEO_SOC", path, 1);
}

static void expect_name(const char *lines, const char *name)
{
    char path[] = "/tmp/leo-told-XXXXXX";
    const char *told;
    use_chip(path, lines);
    OK(aclInit(NULL));
    told = aclrtGetSocName();
    CU_ASSERT_PTR_NOT_NULL_FATAL(told);
    CU_ASSERT_STRING_EQUAL(told, name);
    OK(aclFinalize());
    unlink(path);
}

static void programs_are_told_the_other_name(void)
{
    expect_name("name = mine\n", "Mine");
    expect_name("name = mine\ntold_as = ascend910b1\n", "Ascend910B1");
    expect_name("told_as = ascend910b3\nname = mine\n", "Ascend910B3");
}

static void programs_for_the_other_name_run(void)
{
    char path[] = "/tmp/leo-told-XXXXXX";
    int32_t runs = 0;
    use_chip(path, "name = mine\ntold_as = ascend910b2\n");
    OK(aclInit(NULL));
    OK(aclrtCheckArchCompatibility("Ascend910B1", &runs));
    CU_ASSERT_EQUAL(runs, 1);
    OK(aclrtCheckArchCompatibility("Mine", &runs));
    CU_ASSERT_EQUAL(runs, 0);
    OK(aclFinalize());
    unlink(path);
}

static void a_name_that_is_none_is_refused(void)
{
    const char *const bad[] = {
        "name = mine\ntold_as =\n",
        "name = mine\ntold_as = a_name_of_more_than_thirty_one_characters\n",
        "name = mine\ntold_as = ascend910b1\ntold_as = ascend910b2\n",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char path[] = "/tmp/leo-told-XXXXXX";
        use_chip(path, bad[i]);
        OK(aclInit(NULL));
        CU_ASSERT_NOT_EQUAL(aclrtSetDevice(0), ACL_SUCCESS);
        const char *why = aclGetRecentErrMsg();
        CU_ASSERT(why && strstr(why, "told_as"));
        OK(aclFinalize());
        unlink(path);
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"programs_are_told_the_other_name", programs_are_told_the_other_name},
        {"programs_for_the_other_name_run", programs_for_the_other_name_run},
        {"a_name_that_is_none_is_refused", a_name_that_is_none_is_refused},
    };
    return leo_test_main("acl/told_as", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
