/* SPDX-License-Identifier: Apache-2.0 */
/* Plans use the numbers of the chip at hand, whatever file they come from. */
#include "rig.h"

#include <chip/chip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct op_chip numbers_of(const char *soc)
{
    struct rig rig;
    struct op_chip chip = {0};
    rig_init(&rig, soc, 1, NULL);
    CU_ASSERT_EQUAL(op_chip_of_device(rig.device, &chip), LEO_OK);
    rig_finish(&rig);
    return chip;
}

// A file of a chip that is `base` but for `lines`; its name goes to `path`, a template.
static void write_chip(char *path, const char *base, const char *lines)
{
    const int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    FILE *out = fdopen(file, "w");
    fprintf(out, "[soc]\nbase = %s\nname = what_if\n%s", base, lines);
    fclose(out);
}

static struct op_chip numbers_with(const char *lines)
{
    char path[] = "/tmp/leo_chip_XXXXXX";
    write_chip(path, "ascend910a", lines);
    const struct op_chip chip = numbers_of(path);
    remove(path);
    return chip;
}

static void rates_follow_from_the_soc_file(void)
{
    const struct op_chip a = numbers_of("ascend910a"), b = numbers_of("ascend910b1");
    // 128 requests of 128 bytes in 180, 235 and 38.5 cycles; 1940 GB/s for 32 cores at 1 GHz
    CU_ASSERT_EQUAL(a.core_read_rate, 91);
    CU_ASSERT_EQUAL(a.core_miss_rate, 69);
    CU_ASSERT_EQUAL(a.line_total, 425);
    CU_ASSERT_EQUAL(a.l2_read_rate, 60);
    CU_ASSERT_EQUAL(a.line_rate, 60);
    // 64 requests of 256 bytes in 185, 573.5 and 71.225 cycles of 1.85 GHz
    CU_ASSERT_EQUAL(b.core_read_rate, 88);
    CU_ASSERT_EQUAL(b.core_miss_rate, 28);
    CU_ASSERT_EQUAL(b.line_total, 230);
    CU_ASSERT_EQUAL(b.l2_read_rate, 88);
    CU_ASSERT_EQUAL(b.line_rate, 44);
    CU_ASSERT_EQUAL(a.tile_m * a.tile_n * 4, a.caps.l0c_bytes);
    CU_ASSERT_EQUAL(b.tile_m * b.tile_n * 4, b.caps.l0c_bytes);
}

static void a_changed_number_changes_what_plans_use(void)
{
    const struct op_chip same = numbers_with("");
    const struct op_chip slow = numbers_with("[gm]\nl2_gb_per_s = 970\n"
                                             "gm_read_miss_ns = 470\n");
    const struct op_chip small = numbers_with("[memory]\nl2_bytes = 1048576\n"
                                              "l0c_bytes = 131072\n");
    CU_ASSERT_EQUAL(same.l2_read_rate, 60);
    CU_ASSERT_EQUAL(slow.l2_read_rate, 30);
    CU_ASSERT_EQUAL(slow.core_miss_rate, 34);
    CU_ASSERT_EQUAL(small.caps.l2_bytes, 1048576);
    CU_ASSERT_EQUAL(small.tile_m, 128);
    CU_ASSERT_EQUAL(small.tile_n, 256);
    const uint64_t past = UINT64_C(1) << LEO_GM_BIT_NO_L2;
    CU_ASSERT_EQUAL(op_chip_read_once(&same, 4096, 2097152), 4096);
    CU_ASSERT_EQUAL(op_chip_read_once(&small, 4096, 2097152), 4096 | past);
}

// A product of two matrices of halves, as f32, is right within what sums of 300 products lose.
static void check_product(const char *path)
{
    enum { N = 300 };
    struct rig rig;
    struct rig_random random = {1};
    rig_init(&rig, path, 1, NULL);
    uint16_t *a = rig_random_halves(&random, (size_t)N * N),
             *b = rig_random_halves(&random, (size_t)N * N);
    float *got = rig_alloc((size_t)N * N, sizeof(*got));
    struct rig_buffer at = rig_put(&rig, LEO_DTYPE_F16, N, N, a),
                      bt = rig_put(&rig, LEO_DTYPE_F16, N, N, b),
                      ct = rig_put(&rig, LEO_DTYPE_F32, N, N, NULL);
    CU_ASSERT_EQUAL(LEO_OP(rig.context, "Mm", leo_op_arg_tensor(&at.tensor),
                           leo_op_arg_tensor(&bt.tensor), leo_op_arg_tensor(&ct.tensor),
                           leo_op_arg_number(0)),
                    LEO_OK);
    rig_synchronize(&rig);
    rig_take(&rig, &ct, got);
    int wrong = 0;
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            float sum = 0;
            for (size_t k = 0; k < N; k++) {
                sum += op_ref_from_half(a[i * N + k]) * op_ref_from_half(b[k * N + j]);
            }
            wrong += !(got[i * N + j] - sum < 1e-2f && sum - got[i * N + j] < 1e-2f);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    rig_take(&rig, &at, NULL);
    rig_take(&rig, &bt, NULL);
    rig_finish(&rig);
    free(a);
    free(b);
    free(got);
}

static void a_product_is_right_with_other_buffers(void)
{
    static const char *const bases[] = {"ascend910a", "ascend910b1"};
    static const char *const lines[] = {
        "l0c_bytes = 65536\n",
        "l0a_bytes = 32768\nl0b_bytes = 32768\n",
        "l0a_bytes = 16384\nl0b_bytes = 16384\n",
        "l0b_bytes = 32768\nl1_bytes = 262144\n",
        "l1_bytes = 131072\n",
        "l0a_bytes = 131072\nl0b_bytes = 131072\nl1_bytes = 2097152\nl0c_bytes = 524288\n",
        "ub_bytes = 524288\n[cube]\ncube_m = 32\ncube_n = 32\ncube_k = 16\n",
    };
    for (size_t i = 0; i < 2 * sizeof(lines) / sizeof(lines[0]); i++) {
        char path[] = "/tmp/leo_chip_XXXXXX", text[256];
        snprintf(text, sizeof(text), "[memory]\n%s", lines[i / 2]);
        write_chip(path, bases[i % 2], text);
        check_product(path);
        remove(path);
    }
}

static void what_is_too_small_is_told(void)
{
    static const struct {
        const char *lines, *program, *text;
    } rows[] = {
        {"[memory]\nl1_bytes = 65536\n", "matmul", "L1 has 65536 bytes"},
        {"[memory]\nl0a_bytes = 8192\n", "convolution_cube", "L0A has 8192 bytes"},
        {"[memory]\nl0b_bytes = 8192\n", "matmul", "L0B has 8192 bytes"},
        {"[memory]\nl0c_bytes = 8192\n", "matmul", "L0C has 8192 bytes"},
        {"[memory]\nub_bytes = 131072\n", "rows_Softmax", "UB has 131072 bytes"},
        {"[memory]\nub_bytes = 131072\n", "matmul", "UB has 131072 bytes"},
        {"[memory]\nub_bytes = 131072\n", "tile", NULL},
        {"[memory]\nl1_bytes = 65536\n", "rows_Softmax", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct op_chip chip = numbers_with(rows[i].lines);
        const leo_status wanted = rows[i].text ? LEO_ERR_UNSUPPORTED : LEO_OK;
        CU_ASSERT_EQUAL(op_chip_check_program(&chip, rows[i].program), wanted);
        CU_ASSERT(!rows[i].text || strstr(leo_rt_last_error(), rows[i].text));
    }
    const struct op_chip same = numbers_with("");
    CU_ASSERT_EQUAL(op_chip_check_program(&same, "rows_Softmax"), LEO_OK);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"rates_follow_from_the_soc_file", rates_follow_from_the_soc_file},
        {"a_changed_number_changes_what_plans_use", a_changed_number_changes_what_plans_use},
        {"a_product_is_right_with_other_buffers", a_product_is_right_with_other_buffers},
        {"what_is_too_small_is_told", what_is_too_small_is_told},
    };
    return leo_test_main("chip", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
