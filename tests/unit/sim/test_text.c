/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that write code: what is launched afterwards runs the new words. */
#include "harness.h"
#include "rig.h"

#define AICORE       LEO_CORE_KIND_AICORE
#define WRITER       (RIG_GM + 0x8000)
#define TARGET       (RIG_GM + 0x9000)
#define OUT          (RIG_GM + 0x200000) /* a mapping without code */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void launch(struct rig *rig, unsigned queue, const struct leo_sqe_kernel *body)
{
    (void)rig_push(rig, queue, LEO_SQE_OP_KERNEL, AICORE, body, sizeof(*body));
    rig_ring(rig, queue);
}

static void late_store_is_seen_too(void)
{
    const uint32_t target[] = {rv_addi(A1, ZERO, 1), rv_sd(A1, A0, 0), rv_ret()};
    // Stores beside the code at once, and into it when the target has long been decoded again: some
    // stretches (cores.c) later.
    const uint32_t writer[] = {
        rv_sd(ZERO, A1, 1024), rv_lui(T0, 512),  rv_addi(T0, T0, -1),
        rv_bne(T0, ZERO, -4),  rv_sd(A2, A1, 0), rv_ret(),
    };
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    CU_ASSERT_EQUAL(rig_map(&rig, OUT, 4096, false), 0);
    rig_image(&rig, WRITER, writer, COUNT(writer));
    rig_image(&rig, TARGET, target, COUNT(target));
    const uint64_t patched = rv_addi(A1, ZERO, 2) | (uint64_t)target[1] << 32;
    const uint64_t slots[] = {OUT, TARGET + sizeof(struct leo_image_desc), patched};
    const struct leo_sqe_kernel write = rig_kernel(&rig, WRITER, 1, slots, COUNT(slots));
    const struct leo_sqe_kernel run = rig_kernel(&rig, TARGET, 1, slots, COUNT(slots));
    struct leo_cqe old = {0}, written = {0};
    launch(&rig, 1, &write);
    launch(&rig, 2, &run);
    launch(&rig, 2, &run);
    CU_ASSERT_TRUE(rig_wait(&rig, 2, NULL));
    CU_ASSERT_TRUE(rig_wait(&rig, 2, &old));
    CU_ASSERT_TRUE(rig_wait(&rig, 1, &written));
    CU_ASSERT_TRUE(old.end_ns < written.end_ns);
    uint64_t out = 0;
    rig_read(&rig, OUT, &out, sizeof(out));
    CU_ASSERT_EQUAL(out, 1);
    CU_ASSERT_EQUAL(rig_run(&rig, AICORE, TARGET, 1, slots, COUNT(slots), NULL), 0);
    rig_read(&rig, OUT, &out, sizeof(out));
    CU_ASSERT_EQUAL(out, 2);
    rig_close(&rig);
}

static const struct leo_test tests[] = {
    {"late_store_is_seen_too", late_store_is_seen_too},
};

int main(int argc, char **argv)
{
    return leo_test_main("text", tests, COUNT(tests), argc, argv);
}
