/* SPDX-License-Identifier: Apache-2.0 */
/* leo-train as a user runs it: it learns, every host computes the same, mistakes are reported. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 65536 };

/* Runs leo-train with options (and NAME=value before them); wall times are cut from the output.
 * Returns the exit code. */
static int run(const char *environment, const char *options, char *output)
{
    char command[1024], line[1024];
    size_t used = 0;
    snprintf(command, sizeof(command), "env %s %s --timeline '' %s 2>&1", environment, LEO_TRAIN,
             options);
    FILE *pipe = popen(command, "r");
    if (!pipe) {
        CU_FAIL_FATAL("cannot run leo-train");
    }
    output[0] = '\0';
    while (fgets(line, sizeof(line), pipe)) {
        char *wall = strstr(line, "  wall ");
        if (wall) {
            strcpy(wall, "\n");
        }
        if (used + strlen(line) < OUTPUT_BYTES) {
            strcpy(output + used, line);
            used += strlen(line);
        }
    }
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static double accuracy_of(const char *output)
{
    double accuracy = 0;
    const char *at = strstr(output, "held-out accuracy ");
    return at && sscanf(at, "held-out accuracy %lf", &accuracy) == 1 ? accuracy : 0;
}

static void train_reaches_95_percent(void)
{
    static char output[OUTPUT_BYTES];
    CU_ASSERT_EQUAL(run("LEO_SOC=ascend910a", "", output), 0);
    CU_ASSERT_TRUE(accuracy_of(output) >= 95.0);
    CU_ASSERT_PTR_NOT_NULL(strstr(output, " 0 steps skipped"));
    CU_ASSERT_PTR_NOT_NULL(strstr(output, "LogSoftmax"));
    CU_ASSERT_EQUAL(run("LEO_SOC=ascend910b1", "", output), 0);
    CU_ASSERT_TRUE(accuracy_of(output) >= 95.0);
}

static void train_prints_the_same_on_every_host(void)
{
    static const char *const ways[] = {"LEO_THREADS=2 LEO_SIMD=generic",
                                       "LEO_THREADS=1 LEO_SIMD=avx2", "LEO_THREADS=2 LEO_SIMD=avx2",
                                       "LEO_THREADS=1 LEO_SIMD=avx512",
                                       "LEO_THREADS=2 LEO_SIMD=avx512"};
    static char first[OUTPUT_BYTES], other[OUTPUT_BYTES];
    unsigned compared = 0;
    CU_ASSERT_EQUAL(run("LEO_THREADS=1 LEO_SIMD=generic", "--epochs 2", first), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(first, "epoch   2"));
    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (run(ways[i], "--epochs 2", other) != 0) {
            CU_ASSERT_PTR_NOT_NULL(
                strstr(other, "LEO_ERR_UNSUPPORTED")); // this host has no such vectors
            continue;
        }
        CU_ASSERT_STRING_EQUAL(first, other);
        compared++;
    }
    CU_ASSERT_TRUE(compared >= 1);
}

static void train_skips_steps_that_overflow(void)
{
    static char output[OUTPUT_BYTES];
    CU_ASSERT_EQUAL(run("LEO_SOC=ascend910a", "--epochs 1 --loss-scale 1e9", output), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(output, " 22 steps skipped"));
}

static void write_digit(FILE *file)
{
    for (int pixel = 0; pixel < 64; pixel++) {
        fputs("0,", file);
    }
    fputs("1\n", file);
}

/* With a file of `count` digits: one line that names it and says `message`; one digit more is
 * enough. */
static void expect_too_few(int count, const char *message)
{
    static char output[OUTPUT_BYTES];
    char path[] = "/tmp/leo-train-XXXXXX", options[64], expected[128];
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        CU_FAIL_FATAL("no temporary file");
    }
    for (int i = 0; i < count; i++) {
        write_digit(file);
    }
    fclose(file);
    snprintf(options, sizeof(options), "--data %s", path);
    snprintf(expected, sizeof(expected), "leo-train: %s: %s", path, message);
    CU_ASSERT_EQUAL(run("A=b", options, output), 1);
    CU_ASSERT_STRING_EQUAL(output, expected);
    snprintf(options, sizeof(options), "--epochs 1 --data %s", path);
    file = fopen(path, "a");
    if (!file) {
        CU_FAIL_FATAL("no temporary file");
    }
    write_digit(file);
    fclose(file);
    CU_ASSERT_EQUAL(run("A=b", options, output), 0);
    unlink(path);
}

// Figures that could not be written are a failure.
static void train_tells_lost_output(void)
{
    int code =
        system("env LEO_THREADS=1 " LEO_TRAIN " --timeline '' --epochs 1 >/dev/full 2>/dev/null");
    CU_ASSERT_EQUAL(WEXITSTATUS(code), 1);
}

static void train_tells_mistakes(void)
{
    static char output[OUTPUT_BYTES];
    CU_ASSERT_EQUAL(run("A=b", "--help", output), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(output, "usage: leo-train"));
    CU_ASSERT_EQUAL(run("A=b", "--epochs none", output), 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(output, "--epochs: 'none'"));
    CU_ASSERT_EQUAL(run("A=b", "more", output), 2);
    CU_ASSERT_EQUAL(run("A=b", "--data /nowhere.csv", output), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(output, "cannot open /nowhere.csv"));
    expect_too_few(78, "78 digits are too few, training takes at least 79\n");
    CU_ASSERT_EQUAL(run("A=b", "--soc nonesuch", output), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(output, "nonesuch"));
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"train_tells_lost_output", train_tells_lost_output},
        {"train_tells_mistakes", train_tells_mistakes},
        {"train_skips_steps_that_overflow", train_skips_steps_that_overflow},
        {"train_prints_the_same_on_every_host", train_prints_the_same_on_every_host},
        {"train_reaches_95_percent", train_reaches_95_percent},
    };
    return leo_test_main("train", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
