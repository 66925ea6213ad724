/* SPDX-License-Identifier: Apache-2.0 */
/* HW-CHIP-67: several host threads use one chip. Build with -DLEO_SANITIZE=thread as well. */
#include "harness.h"
#include "rig.h"

#include <leo/csr.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#define IMAGE        (RIG_GM + 0x8000)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { LAUNCHES = 100 };

struct caller {
    struct rig *rig;
    pthread_mutex_t *lock; /* protects the rig, as a driver protects its rings */
    unsigned queue;
    unsigned completed, faulted;
};

static bool take(struct caller *caller)
{
    struct leo_cqe cqe;
    pthread_mutex_lock(caller->lock);
    bool taken = rig_pop(caller->rig, caller->queue, &cqe);
    pthread_mutex_unlock(caller->lock);
    caller->completed += taken;
    caller->faulted += taken && cqe.status;
    return taken;
}

static void *launch_and_wait(void *arg)
{
    struct caller *caller = arg;
    for (unsigned i = 0; i < LAUNCHES; i++) {
        struct leo_sqe_kernel body = {.image_addr = IMAGE, .block_num = 1 + i % 40};
        pthread_mutex_lock(caller->lock);
        rig_push(caller->rig, caller->queue, LEO_SQE_OP_KERNEL, LEO_CORE_KIND_AICORE, &body,
                 sizeof(body));
        rig_ring(caller->rig, caller->queue);
        pthread_mutex_unlock(caller->lock);
        while (!take(caller)) {
            // Another thread may have taken the interrupt for its own completion: look again.
            if (leo_sim_chip_run(caller->rig->chip, 1000000) == LEO_OK) {
                leo_sim_reg_write(caller->rig->chip, LEO_REG_IRQ_STATUS, 4, 3);
            }
            (void)leo_sim_reg_read(caller->rig->chip, LEO_REG_SIM_TIME_NS, 8);
            sched_yield();
        }
    }
    return NULL;
}

static void callers_take_turns(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 2);
    const uint32_t words[] = {rv_addi(A0, ZERO, 100), rv_addi(A0, A0, -1), rv_bne(A0, ZERO, -4),
                              rv_ret()};
    rig_image(&rig, IMAGE, words, COUNT(words));
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct caller caller[3];
    pthread_t thread[3];
    for (unsigned i = 0; i < 3; i++) {
        caller[i] = (struct caller){.rig = &rig, .lock = &lock, .queue = i + 1};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, launch_and_wait, &caller[i]), 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
        CU_ASSERT_EQUAL(caller[i].completed, LAUNCHES);
        CU_ASSERT_EQUAL(caller[i].faulted, 0);
    }
    rig_close(&rig);
}

struct resetter {
    struct leo_sim_chip *chip;
    leo_status status;
};

static void *run_chip(void *arg)
{
    struct resetter *resetter = arg;
    resetter->status = leo_sim_chip_run(resetter->chip, UINT64_MAX);
    return NULL;
}

/* HW-CHIP-07: a reset reaches a chip that another thread lets run. */
static void reset_reaches_a_running_chip(void)
{
    struct rig rig;
    rig_open(&rig, "ascend910a", NULL, 1);
    const uint32_t words[] = {rv_hang()};
    rig_image(&rig, IMAGE, words, COUNT(words));
    struct leo_sqe_kernel body = {.image_addr = IMAGE, .block_num = 1, .limit_us = 1000000000};
    rig_push(&rig, 1, LEO_SQE_OP_KERNEL, LEO_CORE_KIND_AICORE, &body, sizeof(body));
    rig_ring(&rig, 1);
    struct resetter resetter = {.chip = rig.chip};
    pthread_t thread;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, run_chip, &resetter), 0);
    uint64_t before = leo_sim_reg_read(rig.chip, LEO_REG_SIM_TIME_NS, 8);
    while (leo_sim_reg_read(rig.chip, LEO_REG_SIM_TIME_NS, 8) < before + 10000) {
        sched_yield();
    }
    leo_sim_reg_write(rig.chip, LEO_REG_CONTROL, 4, 2);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(resetter.status, LEO_ERR_NOT_READY);
    CU_ASSERT_EQUAL(leo_sim_reg_read(rig.chip, LEO_REG_CONTROL, 4), 0);
    rig_close(&rig);
}

static const struct leo_test tests[] = {
    {"callers_take_turns", callers_take_turns},
    {"reset_reaches_a_running_chip", reset_reaches_a_running_chip},
};

int main(int argc, char **argv)
{
    return leo_test_main("callers", tests, COUNT(tests), argc, argv);
}
