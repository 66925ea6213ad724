/* SPDX-License-Identifier: Apache-2.0 */
/* The chip through its registers and rings: HW-CHIP-01 .. of docs/hw/chip.md. */
#include "harness.h"
#include "rig.h"

#include <leo/csr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE (RIG_GM + 0x8000)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define IMAGE_OF(rig, words) rig_image(rig, IMAGE, words, COUNT(words))

/* out[block_idx] = value + block_idx */
static const uint32_t store_kernel[] = {
    0, /* csrr, filled in below */
    0, 0, 0, 0, 0,
};

static void make_store_kernel(uint32_t *words)
{
    (void)store_kernel;
    words[0] = rv_csrr(T0, LEO_CSR_BLOCK_IDX);
    words[1] = rv_slli(T1, T0, 3);
    words[2] = rv_add(A0, A0, T1);
    words[3] = rv_add(A1, A1, T0);
    words[4] = rv_sd(A1, A0, 0);
    words[5] = rv_ret();
}

static void kernel_runs_on_all_blocks(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    uint32_t words[6];
    make_store_kernel(words);
    IMAGE_OF(&rig, words);
    uint64_t slots[] = {RIG_GM, 100};
    struct leo_cqe cqe;
    CU_ASSERT_EQUAL(rig_run(&rig, LEO_CORE_KIND_AICORE, IMAGE, 100, slots, 2, &cqe), 0);
    uint64_t out[100];
    rig_read(&rig, RIG_GM, out, sizeof(out));
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(out[i], 100 + i);
    }
    printf(" %llu ns ", (unsigned long long)(cqe.end_ns - cqe.start_ns));
    rig_close(&rig);
}

static const struct leo_test tests[] = {
    {"kernel_runs_on_all_blocks", kernel_runs_on_all_blocks},
};

int main(int argc, char **argv)
{
    return leo_test_main("chip", tests, COUNT(tests), argc, argv);
}
