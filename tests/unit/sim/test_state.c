/* SPDX-License-Identifier: Apache-2.0 */
/* Reset, snapshot and dump of a chip: they walk the same list. */
#include "harness.h"
#include "rig.h"

#include <leo/csr.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE        (RIG_GM + 0x8000)
#define OUT          (RIG_GM + 0x10000)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct bytes {
    uint8_t *data;
    size_t count, capacity;
};

static void append(void *user, const void *data, size_t count)
{
    struct bytes *bytes = user;
    if (bytes->count + count > bytes->capacity) {
        bytes->capacity = 2 * (bytes->count + count);
        bytes->data = realloc(bytes->data, bytes->capacity);
    }
    memcpy(bytes->data + bytes->count, data, count);
    bytes->count += count;
}

static void append_line(void *user, const char *text)
{
    append(user, text, strlen(text));
    append(user, "\n", 1);
}

static bool is_clock(const char *text)
{
    return strstr(text, "struct sim_scheduler") || strstr(text, " stored:") ||
           strstr(text, "events ");
}

/* The dump without what goes on over a reset. */
static void append_state(void *user, const char *text)
{
    if (!is_clock(text)) {
        append_line(user, text);
    }
}

static struct bytes dump(struct rig *rig, void (*line_fn)(void *user, const char *text))
{
    struct bytes text = {0};
    leo_sim_chip_dump(rig->chip, line_fn, &text);
    append(&text, "", 1);
    return text;
}

static void expect_same(struct bytes one, struct bytes other)
{
    CU_ASSERT_STRING_EQUAL((char *)one.data, (char *)other.data);
    free(one.data);
    free(other.data);
}

/* Sets a register, moves 512 bytes, and out[block] += block + 1, by 64-bit words 4 KiB apart. */
static void write_kernel(struct rig *rig)
{
    const uint32_t words[] = {
        rv_csrr(T0, LEO_CSR_BLOCK_IDX),
        rv_csrw(LEO_CSR_DEQSCALE, T0),
        rv_slli(T1, T0, 12),
        rv_add(A0, A0, T1),
        rv_ld(T2, A0, 0),
        rv_add(T2, T2, T0),
        rv_addi(T2, T2, 1),
        rv_sd(T2, A0, 0),
        rv_r4(LEO_INSN_COPY_GM_TO_UBUF, ZERO, A0, ZERO, A1),
        rv_ret(),
    };
    rig_image(rig, IMAGE, words, COUNT(words));
}

enum { BLOCKS = 4 };

/* One launch: its time. */
static uint64_t run(struct rig *rig)
{
    const struct leo_cfg_burst cfg = {.n_burst = 1, .len_burst = 16};
    const uint64_t slots[] = {OUT, leo_cfg_burst_pack(&cfg)};
    struct leo_cqe cqe = {0};
    CU_ASSERT_EQUAL(rig_run(rig, LEO_CORE_KIND_AICORE, IMAGE, BLOCKS, slots, 2, &cqe), 0);
    return cqe.end_ns - cqe.start_ns;
}

static void record_event(struct rig *rig, uint32_t event)
{
    const struct leo_sqe_event body = {.event = event, .sequence = 7};
    CU_ASSERT_EQUAL(rig_do(rig, 1, LEO_SQE_OP_EVENT_RECORD, 0, &body, sizeof(body), NULL), 0);
}

static void reset_is_power_up(void)
{
    struct rig used, fresh;
    rig_open(&used, "ascend910a", NULL, 1);
    rig_open(&fresh, "ascend910a", NULL, 1);
    write_kernel(&used);
    run(&used);
    record_event(&used, 3);
    struct bytes before = dump(&used, append_state);
    CU_ASSERT_PTR_NOT_NULL(
        strstr((char *)before.data, "struct sim_csrs 3 deqscale: 0000000000000003"));
    CU_ASSERT_PTR_NOT_NULL(strstr((char *)before.data, "global memory 0 mapping"));
    free(before.data);
    leo_sim_reg_write(used.chip, LEO_REG_CONTROL, 4, 2);
    leo_sim_reg_write(fresh.chip, LEO_REG_CONTROL, 4, 2);
    expect_same(dump(&used, append_state), dump(&fresh, append_state));
    struct bytes after = dump(&used, append_state);
    CU_ASSERT_STRING_EQUAL((char *)after.data, "");
    free(after.data);
    rig_close(&used);
    rig_close(&fresh);
}

static struct bytes save(struct rig *rig)
{
    struct bytes bytes = {0};
    CU_ASSERT_EQUAL_FATAL(leo_sim_chip_save(rig->chip, append, &bytes), LEO_OK);
    return bytes;
}

static void expect_words(struct rig *rig, uint64_t times)
{
    for (unsigned block = 0; block < BLOCKS; block++) {
        uint64_t word = 0;
        rig_read(rig, OUT + ((uint64_t)block << 12), &word, sizeof(word));
        CU_ASSERT_EQUAL(word, times * (block + 1));
    }
}

/* What a chip did after a snapshot it does again: the same bits, and by the L2 the same times. */
static void restored_chip_goes_on_as_it_did(void)
{
    struct rig rig, other;
    rig_open(&rig, "ascend910a", NULL, 1);
    rig_open(&other, "ascend910a", NULL, 2);
    write_kernel(&rig);
    const uint64_t cold = run(&rig);
    record_event(&rig, 100);
    struct bytes snapshot = save(&rig);
    const uint64_t warm = run(&rig);
    CU_ASSERT_TRUE(warm < cold);
    expect_words(&rig, 2);
    run(&rig);
    CU_ASSERT_EQUAL(leo_sim_chip_restore(rig.chip, snapshot.data, snapshot.count), LEO_OK);
    struct bytes again = save(&rig);
    CU_ASSERT_EQUAL(snapshot.count, again.count);
    CU_ASSERT_EQUAL(memcmp(snapshot.data, again.data, again.count), 0);
    free(again.data);
    CU_ASSERT_EQUAL(run(&rig), warm);
    expect_words(&rig, 2);
    // Another chip, whose rings are elsewhere.
    CU_ASSERT_EQUAL(leo_sim_chip_restore(other.chip, snapshot.data, snapshot.count), LEO_OK);
    CU_ASSERT_EQUAL(run(&other), warm);
    expect_words(&other, 2);
    free(snapshot.data);
    rig_close(&rig);
    rig_close(&other);
}

static void bad_snapshots_change_nothing(void)
{
    struct rig rig, split;
    rig_open(&rig, "ascend910a", NULL, 1);
    rig_open(&split, "ascend910b1", NULL, 1);
    write_kernel(&rig);
    run(&rig);
    struct bytes snapshot = save(&rig);
    run(&rig);
    const size_t at[] = {0, 60, snapshot.count / 2, snapshot.count - 1};
    for (size_t i = 0; i < COUNT(at); i++) {
        snapshot.data[at[i]] ^= 1;
        CU_ASSERT_EQUAL(leo_sim_chip_restore(rig.chip, snapshot.data, snapshot.count),
                        LEO_ERR_INVALID_ARG);
        snapshot.data[at[i]] ^= 1;
    }
    CU_ASSERT_EQUAL(leo_sim_chip_restore(rig.chip, snapshot.data, snapshot.count - 1),
                    LEO_ERR_INVALID_ARG);
    CU_ASSERT_EQUAL(leo_sim_chip_restore(rig.chip, snapshot.data, 10), LEO_ERR_INVALID_ARG);
    CU_ASSERT_EQUAL(leo_sim_chip_restore(split.chip, snapshot.data, snapshot.count),
                    LEO_ERR_INVALID_ARG);
    expect_words(&rig, 2);
    // A queue waits for an event nobody has recorded.
    const struct leo_sqe_event body = {.event = 1, .sequence = 1};
    rig_push(&rig, 2, LEO_SQE_OP_EVENT_WAIT, 0, &body, sizeof(body));
    rig_ring(&rig, 2);
    (void)leo_sim_chip_run(rig.chip, 1000);
    struct bytes nothing = {0};
    CU_ASSERT_EQUAL(leo_sim_chip_save(rig.chip, append, &nothing), LEO_ERR_BUSY);
    CU_ASSERT_EQUAL(nothing.count, 0);
    CU_ASSERT_EQUAL(leo_sim_chip_restore(rig.chip, snapshot.data, snapshot.count), LEO_ERR_BUSY);
    expect_words(&rig, 2);
    free(snapshot.data);
    rig_close(&rig);
    rig_close(&split);
}

static const struct leo_test tests[] = {
    {"reset_is_power_up", reset_is_power_up},
    {"restored_chip_goes_on_as_it_did", restored_chip_goes_on_as_it_did},
    {"bad_snapshots_change_nothing", bad_snapshots_change_nothing},
};

int main(int argc, char **argv)
{
    return leo_test_main("state", tests, COUNT(tests), argc, argv);
}
