/* SPDX-License-Identifier: Apache-2.0 */
/* LEO_OP_EXPLAIN: what is said of a plan, and that nothing is said without it. */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What goes to stderr while a call is planned and run.
static const char *said_of_call(const char *row, const union op_test_arg *args, bool good)
{
    static char text[8192];
    FILE *file = tmpfile();
    const int kept = dup(STDERR_FILENO);
    const struct op_test_row *found = rig_row(row);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    const aclnnStatus status = rig_run(found, args, false);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    CU_ASSERT_EQUAL(status == 0, good);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    return text;
}

// The same of an operator of one tensor with `count` elements.
static const char *said_of(const char *row, int64_t count, bool good)
{
    struct rig_tensor self = rig_tensor_make(OP_TYPE_F32, 1, &count, RIG_DENSE, 1),
                      out = rig_tensor_make(OP_TYPE_F32, 1, &count, RIG_DENSE, 2);
    const union op_test_arg args[] = {{.tensor = self.acl}, {.tensor = out.acl}};
    const char *text = said_of_call(row, args, good);
    rig_tensor_free(&self);
    rig_tensor_free(&out);
    return text;
}

static void a_plan_says_which_way_it_goes(void)
{
    setenv("LEO_OP_EXPLAIN", "1", 1);
    const char *few = said_of("Neg", 3, true);
    const char *want = "Neg(self f32[3]; out f32[3])\n  by the scalar unit\n";
    CU_ASSERT_EQUAL(strncmp(few, want, strlen(want)), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(few, "\n  kernel pw_Neg_f of "));
    const char *many = said_of("Neg", 5000, true);
    CU_ASSERT_PTR_NOT_NULL(strstr(many, "  not by moves: needs a copy without conversion"));
    CU_ASSERT_PTR_NOT_NULL(strstr(
        many,
        "\n  by tiles of the vector unit\n  1 instructions on each of 5000 elements\n  kernel "));
    CU_ASSERT_PTR_NULL(strstr(many, "scalar unit"));
    // A plan is made once.
    CU_ASSERT_EQUAL(*said_of("Neg", 5000, true), 0);
    unsetenv("LEO_OP_EXPLAIN");
}

// Families with a table of ways.
static void products_say_their_way(void)
{
    const int64_t dim[] = {32, 32};
    struct rig_tensor a = rig_tensor_make(OP_TYPE_F16, 2, dim, RIG_DENSE, 1),
                      b = rig_tensor_make(OP_TYPE_F16, 2, dim, RIG_DENSE, 2),
                      out = rig_tensor_make(OP_TYPE_F16, 2, dim, RIG_DENSE, 3);
    const union op_test_arg args[] = {
        {.tensor = a.acl}, {.tensor = b.acl}, {.tensor = out.acl}, {.integer = 0}};
    setenv("LEO_OP_EXPLAIN", "1", 1);
    const char *said = said_of_call("Mm", args, true);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "\n  not by parts of k: needs two dimensions"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "\n  by the cube\n"));
    unsetenv("LEO_OP_EXPLAIN");
    rig_tensor_free(&a);
    rig_tensor_free(&b);
    rig_tensor_free(&out);
}

// Rows of `width` numbers, the first eight of sixteen; `says` must be in what is said.
static void expect_of_rows(int64_t width, const char *says)
{
    const int64_t dim[] = {16, width}, places = 8, picked[] = {8, width};
    struct rig_tensor self = rig_tensor_make(OP_TYPE_F32, 2, dim, RIG_DENSE, 1),
                      index = rig_tensor_make(OP_TYPE_I64, 1, &places, RIG_DENSE, 2),
                      out = rig_tensor_make(OP_TYPE_F32, 2, picked, RIG_DENSE, 3);
    for (int64_t i = 0; i < places; i++) {
        *(int64_t *)rig_tensor_at(&index, i) = i;
    }
    rig_tensor_put(&index);
    const union op_test_arg args[] = {
        {.tensor = self.acl}, {.integer = 0}, {.tensor = index.acl}, {.tensor = out.acl}};
    setenv("LEO_OP_EXPLAIN", "1", 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(said_of_call("IndexSelect", args, true), says));
    unsetenv("LEO_OP_EXPLAIN");
    rig_tensor_free(&self);
    rig_tensor_free(&index);
    rig_tensor_free(&out);
}

static void indexing_says_its_way(void)
{
    expect_of_rows(64, "\n  by rows\n");
    expect_of_rows(4, "\n  not by rows: needs a list of whole rows of at least 32 bytes");
}

static void a_refused_call_says_why(void)
{
    setenv("LEO_OP_EXPLAIN", "1", 1);
    const char *said = said_of("Inverse", 7, false);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "  refused: "));
    unsetenv("LEO_OP_EXPLAIN");
}

static void nothing_is_said_without_it(void)
{
    CU_ASSERT_EQUAL(*said_of("Abs", 5000, true), 0);
    setenv("LEO_OP_EXPLAIN", "yes", 1);
    CU_ASSERT_EQUAL(*said_of("Abs", 5001, true), 0);
    unsetenv("LEO_OP_EXPLAIN");
}

int main(int argc, char **argv)
{
    const struct leo_test tests[] = {
        {"a_plan_says_which_way_it_goes", a_plan_says_which_way_it_goes},
        {"products_say_their_way", products_say_their_way},
        {"indexing_says_its_way", indexing_says_its_way},
        {"a_refused_call_says_why", a_refused_call_says_why},
        {"nothing_is_said_without_it", nothing_is_said_without_it},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_explain", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
