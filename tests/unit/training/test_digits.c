/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of digits: good files, and messages that lead to the mistake. */
#include <digits.h>

#include "harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IMAGE_BYTES = 512 };

/* A line with all pixels `pixel`, then the label. */
static void make_line(char line[IMAGE_BYTES], const char *pixel, const char *label)
{
    line[0] = '\0';
    for (int i = 0; i < DIGITS_PIXELS; i++) {
        strcat(strcat(line, pixel), ",");
    }
    strcat(line, label);
}

static leo_status read_text(const char *text, struct digits *digits, char error[256])
{
    char path[] = "/tmp/leo-digits-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        CU_FAIL_FATAL("no temporary file");
    }
    fputs(text, file);
    fclose(file);
    leo_status status = digits_read(path, digits, error, 256);
    unlink(path);
    return status;
}

static void expect_error(const char *text, const char *first, const char *second)
{
    struct digits digits;
    char error[256] = "";
    CU_ASSERT_EQUAL(read_text(text, &digits, error), LEO_ERR_PARSE);
    if (!strstr(error, first) || !strstr(error, second)) {
        fprintf(stderr, "got: %s\n", error);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(error, first));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, second));
    CU_ASSERT_PTR_NULL(digits.pixels);
}

static void digits_read_takes_good_lines(void)
{
    char line[IMAGE_BYTES], text[2 * IMAGE_BYTES + 8], error[256];
    struct digits digits;
    make_line(line, "8", "7");
    snprintf(text, sizeof(text), "%s\n%s\r\n", line, line);
    CU_ASSERT_EQUAL_FATAL(read_text(text, &digits, error), LEO_OK);
    CU_ASSERT_EQUAL(digits.count, 2);
    CU_ASSERT_EQUAL(digits.labels[1], 7);
    CU_ASSERT_EQUAL(digits.pixels[127], 0.5f);
    digits_finish(&digits);
}

static void digits_read_names_line_and_column(void)
{
    char good[IMAGE_BYTES], bad[IMAGE_BYTES], text[2 * IMAGE_BYTES + 8];
    make_line(good, "0", "0");
    make_line(bad, "17", "0");
    snprintf(text, sizeof(text), "%s\n%s\n", good, bad);
    expect_error(text, ":2: column 1:", "'17'");
    make_line(bad, "3", "10");
    snprintf(text, sizeof(text), "%s\n", bad);
    expect_error(text, ":1: column 65:", "0..9");
    make_line(bad, "3", "1,2");
    expect_error(bad, ":1: column 65:", "line's end");
    expect_error("1,2,x,4\n", ":1: column 3:", "'x'");
    expect_error("1,2\n", ":1: column 2:", "comma");
    expect_error("1,\x7f\x45LF\x02\x80\xff,3\n", ":1: column 2:", "'.ELF...'");
    expect_error("\x1b[31m,3\n", ":1: column 1:", "'.[31m'");
    expect_error("\n", ":1: column 1:", "a number of 0..16");
    expect_error("", "empty", "one image a line");
}

static void digits_read_names_a_missing_file(void)
{
    struct digits digits;
    char error[256];
    CU_ASSERT_EQUAL(digits_read("/nowhere/digits.csv", &digits, error, sizeof(error)),
                    LEO_ERR_NOT_FOUND);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "/nowhere/digits.csv"));
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"digits_read_takes_good_lines", digits_read_takes_good_lines},
        {"digits_read_names_line_and_column", digits_read_names_line_and_column},
        {"digits_read_names_a_missing_file", digits_read_names_a_missing_file},
    };
    return leo_test_main("digits", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
