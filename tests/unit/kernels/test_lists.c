/* SPDX-License-Identifier: Apache-2.0 */
/* Operators over lists of tensors, which share launches: members of every size and of two types, in
 * place, and members that read what others write. */
#include "rig.h"

#include <math.h>
#include <stdlib.h>

enum { MEMBERS = 90, LISTS = 3, SIZES = 9 }; /* a call has 96 tensors */

static const uint32_t sizes[SIZES] = {64, 1, 512, 17, 20000, 8, 1009, 4096, 100000};

struct list {
    struct rig_buffer buffer[MEMBERS];
    struct leo_op_tensor tensor[MEMBERS];
    float *value[MEMBERS]; /* what the member holds, or a NULL */
};

static uint32_t size_of(unsigned member)
{
    return sizes[member < 20 ? member % SIZES : member % 4]; // large ones at the beginning alone
}

static bool is_half(unsigned member)
{
    return member % 5 == 3;
}

static void put(struct rig *rig, struct list *list, unsigned count, uint64_t seed)
{
    struct rig_random random = {seed};
    for (unsigned i = 0; i < count; i++) {
        const uint32_t size = size_of(i);
        list->value[i] = rig_random_floats(&random, size);
        if (is_half(i)) {
            uint16_t *halves = rig_alloc(size, 2);
            for (uint32_t k = 0; k < size; k++) {
                halves[k] = op_ref_to_half(list->value[i][k]);
                list->value[i][k] = op_ref_from_half(halves[k]);
            }
            list->buffer[i] = rig_put(rig, LEO_DTYPE_F16, size, 0, halves);
            free(halves);
        } else {
            list->buffer[i] = rig_put(rig, LEO_DTYPE_F32, size, 0, list->value[i]);
        }
        list->tensor[i] = list->buffer[i].tensor;
    }
}

/* Frees the members; those whose `want` is given must hold it. */
static void take(struct rig *rig, struct list *list, unsigned count, float *const *want)
{
    for (unsigned i = 0; i < count; i++) {
        const uint32_t size = size_of(i);
        float *got = rig_alloc(size, 4);
        rig_take(rig, &list->buffer[i], got);
        for (uint32_t k = 0; want && k < size; k++) {
            const float is = is_half(i) ? op_ref_from_half(((uint16_t *)got)[k]) : got[k],
                        wanted =
                            is_half(i) ? op_ref_from_half(op_ref_to_half(want[i][k])) : want[i][k];
            if (is != wanted) {
                fprintf(stderr, "member %u, element %u: %g, expected %g\n", i, k, (double)is,
                        (double)wanted);
                CU_FAIL("a member is wrong");
                break;
            }
        }
        free(got);
        free(list->value[i]);
    }
}

static void members_share_launches(void)
{
    static const unsigned counts[] = {1, 2, MEMBERS / LISTS};
    static struct list x, y, out;
    for (int soc = 0; soc < 2; soc++) {
        for (unsigned c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            struct rig rig;
            const unsigned count = counts[c];
            rig_init(&rig, rig_socs[soc], 0, NULL);
            put(&rig, &x, count, 1);
            put(&rig, &y, count, 2);
            put(&rig, &out, count, 3);
            float *want[MEMBERS];
            for (unsigned i = 0; i < count; i++) {
                want[i] = rig_alloc(size_of(i), 4);
                for (uint32_t k = 0; k < size_of(i); k++) {
                    want[i][k] = x.value[i][k] + y.value[i][k] * 0.5f;
                }
            }
            CU_ASSERT_EQUAL(LEO_OP(rig.context, "ForeachAddListV2",
                                   leo_op_arg_tensors(x.tensor, count),
                                   leo_op_arg_tensors(y.tensor, count), leo_op_arg_number(0.5),
                                   leo_op_arg_tensors(out.tensor, count)),
                            LEO_OK);
            // In place: the same again.
            CU_ASSERT_EQUAL(LEO_OP(rig.context, "ForeachAddListV2",
                                   leo_op_arg_tensors(x.tensor, count),
                                   leo_op_arg_tensors(y.tensor, count), leo_op_arg_number(0.5),
                                   leo_op_arg_tensors(x.tensor, count)),
                            LEO_OK);
            rig_synchronize(&rig);
            take(&rig, &out, count, want);
            take(&rig, &x, count, want);
            take(&rig, &y, count, NULL);
            for (unsigned i = 0; i < count; i++) {
                free(want[i]);
            }
            rig_finish(&rig);
        }
    }
}

/* out[i] is x[i + 1]: each member is read before the one after it is written, and after it. */
static void members_that_depend_keep_their_order(void)
{
    enum { COUNT = 6, SIZE = 1024 };
    for (int soc = 0; soc < 2; soc++) {
        struct rig rig;
        struct rig_buffer buffer[COUNT + 1];
        struct leo_op_tensor tensor[COUNT + 1];
        rig_init(&rig, rig_socs[soc], 0, NULL);
        struct rig_random random = {5};
        float *first = rig_random_floats(&random, SIZE), got[SIZE];
        for (unsigned i = 0; i <= COUNT; i++) {
            buffer[i] = rig_put(&rig, LEO_DTYPE_F32, SIZE, 0, first);
            tensor[i] = buffer[i].tensor;
        }
        CU_ASSERT_EQUAL(LEO_OP(rig.context, "ForeachMulScalarV2", leo_op_arg_tensors(tensor, COUNT),
                               leo_op_arg_number(2), leo_op_arg_tensors(tensor + 1, COUNT)),
                        LEO_OK);
        rig_synchronize(&rig);
        for (unsigned i = 0; i <= COUNT; i++) {
            rig_take(&rig, &buffer[i], got);
            for (uint32_t k = 0; k < SIZE; k++) {
                CU_ASSERT_EQUAL_FATAL(got[k], ldexpf(first[k], (int)i));
            }
        }
        free(first);
        rig_finish(&rig);
    }
}

/* One bad value in any gradient is found; all are scaled. */
static void gradients_share_launches(void)
{
    static const unsigned bad_members[] = {MEMBERS, 0, 3, 27, MEMBERS - 1};
    static struct list x;
    for (int soc = 0; soc < 2; soc++) {
        for (unsigned b = 0; b < sizeof(bad_members) / sizeof(bad_members[0]); b++) {
            struct rig rig;
            rig_init(&rig, rig_socs[soc], 0, NULL);
            put(&rig, &x, MEMBERS, 4);
            const unsigned bad = bad_members[b];
            const float scale = 0.25f;
            float found = 0, *want[MEMBERS];
            for (unsigned i = 0; i < MEMBERS; i++) {
                want[i] = rig_alloc(size_of(i), 4);
                for (uint32_t k = 0; k < size_of(i); k++) {
                    want[i][k] = x.value[i][k] * scale;
                }
            }
            struct rig_buffer flag = rig_put(&rig, LEO_DTYPE_F32, 1, 0, &found),
                              by = rig_put(&rig, LEO_DTYPE_F32, 1, 0, &scale);
            if (bad < MEMBERS) { // the last element of one
                const uint32_t last = size_of(bad) - 1;
                const float infinite = INFINITY;
                const uint16_t half = op_ref_to_half(infinite);
                CU_ASSERT_EQUAL(
                    leo_rt_memcpy(
                        rig.device,
                        (void *)(uintptr_t)(x.tensor[bad].addr + last * (is_half(bad) ? 2u : 4u)),
                        is_half(bad) ? (const void *)&half : (const void *)&infinite,
                        is_half(bad) ? 2 : 4),
                    LEO_OK);
                want[bad][last] = infinite;
            }
            CU_ASSERT_EQUAL(LEO_OP(rig.context, "ForeachNonFiniteCheckAndUnscale",
                                   leo_op_arg_tensors(x.tensor, MEMBERS),
                                   leo_op_arg_tensor(&flag.tensor), leo_op_arg_tensor(&by.tensor)),
                            LEO_OK);
            rig_synchronize(&rig);
            take(&rig, &x, MEMBERS, want);
            rig_take(&rig, &flag, &found);
            rig_take(&rig, &by, NULL);
            CU_ASSERT_EQUAL(found, bad < MEMBERS ? 1 : 0);
            for (unsigned i = 0; i < MEMBERS; i++) {
                free(want[i]);
            }
            rig_finish(&rig);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"members_share_launches", members_share_launches},
        {"members_that_depend_keep_their_order", members_that_depend_keep_their_order},
        {"gradients_share_launches", gradients_share_launches},
    };
    (void)setenv("LEO_CHECK", "all", 1);
    return leo_test_main("lists", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
