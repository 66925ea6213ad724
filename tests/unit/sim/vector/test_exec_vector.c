/* SPDX-License-Identifier: Apache-2.0 */
/* Every vector instruction, type and way to walk the buffer against reference.c, on every path of
 * the host. */
#include "fake_core.h"
#include "harness.h"
#include "reference.h"
#include "simd/simd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A way to walk: base, block and repeat stride of destination and sources; strides 0xff mean
 * "contiguous". */
struct walk {
    const char *name;
    uint64_t ctrl, vmask[2];
    unsigned repeat;
    uint32_t base[3];
    unsigned blk[3], rep[3];
};

#define ALL  UINT64_MAX
#define PACK 0xff

static const struct walk walks[] = {
    {"contiguous", 0, {ALL, ALL}, 9, {0x0, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"one", 0, {ALL, ALL}, 1, {0x40, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"none", 0, {ALL, ALL}, 0, {0x40, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"longest", 0, {ALL, ALL}, 255, {0x0, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"strided blocks", 0, {ALL, ALL}, 5, {0x0, 0x11000, 0x22000}, {3, 2, 5}, {30, 20, 41}},
    {"strided repeats", 0, {ALL, ALL}, 6, {0x0, 0x11000, 0x22000}, {1, 1, 1}, {16, 9, 11}},
    {"reused sources", 0, {ALL, ALL}, 6, {0x0, 0x11000, 0x22000}, {1, 0, 1}, {PACK, 8, 0}},
    {"overlapping repeats", 0, {ALL, ALL}, 6, {0x0, 0x11000, 0x22000}, {1, 1, 1}, {3, 1, 2}},
    {"one lane", 0, {1, 0}, 7, {0x0, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"prefix mask", 0, {0x1fffffff, 0}, 7, {0x0, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"prefix mask, one",
     0,
     {ALL, 0x3fffff},
     1,
     {0x0, 0x11000, 0x22000},
     {1, 1, 1},
     {PACK, PACK, PACK}},
    {"holes",
     0,
     {0x8421f0f0aa55c33cu, 0x00ff00000000f001u},
     7,
     {0x0, 0x11000, 0x22000},
     {1, 1, 1},
     {8, 8, 8}},
    {"holes strided",
     0,
     {0xf0f0aa55c33c8420u, 0x10000000f0010000u},
     5,
     {0x0, 0x11000, 0x22000},
     {2, 3, 1},
     {17, 24, 9}},
    {"upper lanes", 0, {0, ALL}, 3, {0x0, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"empty mask", 0, {0, 0}, 3, {0x0, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"counter", 1, {1000, 77}, 0, {0x0, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"counter of one", 1, {1, 0}, 9, {0x0, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"counter of none", 1, {0, 0}, 9, {0x0, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"counter strided", 1, {531, 0}, 9, {0x0, 0x11000, 0x22000}, {2, 1, 1}, {16, 9, 0}},
    {"counter long", 1, {16384, 0}, 1, {0x0, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"in place of a", 0, {ALL, ALL}, 9, {0x11000, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"in place of b", 0, {ALL, ALL}, 9, {0x22000, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"in place of both",
     0,
     {ALL, ALL},
     9,
     {0x22000, 0x22000, 0x22000},
     {1, 1, 1},
     {PACK, PACK, PACK}},
    {"in place, counter",
     1,
     {777, 0},
     9,
     {0x11000, 0x11000, 0x22000},
     {1, 1, 1},
     {PACK, PACK, PACK}},
    {"shifted down", 0, {ALL, ALL}, 9, {0x10fe0, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"shifted up", 0, {ALL, ALL}, 9, {0x11020, 0x11000, 0x22000}, {1, 1, 1}, {PACK, PACK, PACK}},
    {"one accumulator", 0, {ALL, ALL}, 9, {0x11000, 0x11000, 0x22000}, {1, 1, 1}, {0, 0, 8}},
};

struct subject {
    struct fake_core *fake;
    uint8_t *before, *expected;
    uint64_t seed;
    unsigned runs;
};

static const char *const paths[] = {"generic", "avx2", "avx512"};

/** Half of the words are any bits, half are numbers of everyday size, some are the awkward ones. */
static uint32_t random_word(uint64_t *seed)
{
    static const uint32_t awkward[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0xffc12345, 0x7f800001, 0x00000001, 0x7c00fc00, 0x80000000,
                                       0x7e00fe01, 0x00018001, 0x7bfffbff, 0x3f800000, 0x3c00bc00,
                                       0xffffffff, 0x80007fff, 0x7fffffff};
    const uint64_t random = fake_random(seed);
    if (random % 8 == 0) {
        return awkward[(random >> 8) % (sizeof(awkward) / sizeof(awkward[0]))];
    }
    if (random % 8 < 4) {
        return (uint32_t)(random >> 32);
    }
    // f16 near 1 in both halves, which is an everyday f32 as well
    return 0x38003800u + ((uint32_t)(random >> 32) & 0x87ff87ffu);
}

static bool begin_subject(struct subject *subject, uint32_t arch, const char *path)
{
    *subject = (struct subject){.fake = fake_core_create(arch, path), .seed = 1};
    if (subject->fake == NULL) {
        return false;
    }
    subject->before = malloc(FAKE_UB_BYTES);
    subject->expected = malloc(FAKE_UB_BYTES);
    for (size_t i = 0; i < FAKE_UB_BYTES; i += 4) {
        const uint32_t word = random_word(&subject->seed);
        memcpy(subject->before + i, &word, 4);
    }
    return true;
}

static void finish_subject(struct subject *subject)
{
    CU_ASSERT(subject->runs > 0);
    fake_core_destroy(subject->fake);
    free(subject->before);
    free(subject->expected);
}

static void report(const struct subject *subject, const struct sim_op *op, const struct walk *walk)
{
    const uint8_t *got = subject->fake->core.local[LEO_MEM_SPACE_UB].data;
    size_t at = 0;
    while (at < FAKE_UB_BYTES && got[at] == subject->expected[at]) {
        at++;
    }
    printf("\n%s %s %s d=%016llx sub=%u: fault %d, byte 0x%zx", subject->fake->core.simd->name,
           leo_insn_name(op->insn), walk->name, (unsigned long long)op->d, op->sub,
           (int)subject->fake->core.scalar.fault.code, at);
    if (at < FAKE_UB_BYTES) {
        at &= ~(size_t)3;
        for (size_t i = at; i < at + 8 && i < FAKE_UB_BYTES; i++) {
            printf("%s%02x/%02x", i == at ? " got/want " : " ", got[i], subject->expected[i]);
        }
    }
}

/** Runs the instruction on both and compares the whole buffer and the compare mask. */
static void check(struct subject *subject, const struct sim_op *op, const struct walk *walk)
{
    struct sim_core *core = &subject->fake->core;
    uint8_t *ub = core->local[LEO_MEM_SPACE_UB].data;
    fake_core_reset(subject->fake);
    core->ctrl = walk->ctrl;
    memcpy(core->vmask, walk->vmask, sizeof(core->vmask));
    core->cmpmask[0] = 0x123456789abcdef0u;
    core->cmpmask[1] = 0xfedcba9876543210u;
    core->selmask_addr = 0x3c000;
    memset(&core->csr, 0, sizeof(core->csr));
    struct reference ref = {
        .ub = subject->expected, .ctrl = core->ctrl, .selmask_addr = core->selmask_addr};
    memcpy(ref.vmask, core->vmask, sizeof(ref.vmask));
    memcpy(ref.cmpmask, core->cmpmask, sizeof(ref.cmpmask));
    memcpy(ub, subject->before, FAKE_UB_BYTES);
    memcpy(subject->expected, subject->before, FAKE_UB_BYTES);
    reference_exec(&ref, op);
    subject->runs++;
    struct sim_op ready = *op;
    const bool good = sim_core_execute(core, &ready) &&
                      memcmp(ub, subject->expected, FAKE_UB_BYTES) == 0 &&
                      memcmp(ref.cmpmask, core->cmpmask, sizeof(ref.cmpmask)) == 0 &&
                      ref.acc_val == core->csr.acc_val && ref.max_min_cnt == core->csr.max_min_cnt;
    if (!good) {
        report(subject, op, walk);
    }
    CU_ASSERT(good);
}

/** A repeat stride of the walk, in blocks. */
static unsigned rep_of(const struct walk *walk, unsigned operand, unsigned bytes, unsigned wide)
{
    return walk->rep[operand] == PACK ? 8 * bytes / wide : walk->rep[operand];
}

enum { RANDOM_WALKS = 24 };

/** Strides, masks, counts and places that are legal, some of them overlapping. */
static struct walk random_walk(uint64_t *seed)
{
    struct walk walk = {.name = "random"};
    const uint64_t random = fake_random(seed);
    walk.ctrl = random % 4 == 0;
    walk.repeat = (unsigned)(random >> 4) % 9;
    walk.vmask[0] = walk.ctrl ? (random >> 8) % 600 : fake_random(seed);
    walk.vmask[1] = random >> 20 & 1 ? fake_random(seed) & fake_random(seed) : ALL;
    if (random >> 21 & 1 && !walk.ctrl) {
        walk.vmask[0] = ALL;
    }
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t next = fake_random(seed);
        // near another operand half of the time
        walk.base[i] = i && next & 1 ? walk.base[i - 1] + (uint32_t)(next >> 8) % 40 * 32
                                     : (uint32_t)(next >> 8) % 0x1400 * 32;
        walk.blk[i] = next >> 40 & 1 ? 1 : (unsigned)(next >> 44) % 12;
        walk.rep[i] = next >> 41 & 1 ? 8 : (unsigned)(next >> 50) % 40;
    }
    return walk;
}

static struct sim_op vec3_op(enum leo_insn insn, unsigned type, unsigned mod,
                             const struct walk *walk)
{
    const struct leo_cfg_vec3 cfg = {
        .repeat = (uint8_t)walk->repeat,
        .dst_blk = (uint8_t)walk->blk[0],
        .src0_blk = (uint8_t)walk->blk[1],
        .src1_blk = (uint8_t)walk->blk[2],
        .dst_rep = (uint8_t)rep_of(walk, 0, 4, 4),
        .src0_rep = (uint8_t)rep_of(walk, 1, 4, 4),
        .src1_rep = (uint8_t)rep_of(walk, 2, 4, 4),
        .dtype = (uint8_t)type,
        .mod = (uint8_t)mod,
    };
    return (struct sim_op){.insn = insn,
                           .a = walk->base[0],
                           .b = walk->base[1],
                           .c = walk->base[2],
                           .d = leo_cfg_vec3_pack(&cfg)};
}

static struct sim_op vec2_op(enum leo_insn insn, unsigned type, unsigned mod, uint64_t scalar,
                             const struct walk *walk)
{
    const bool mixed = insn == LEO_INSN_VAXPY && mod == 1;
    const struct leo_cfg_vec2 cfg = {
        .repeat = (uint8_t)walk->repeat,
        .dst_blk = (uint16_t)walk->blk[0],
        .src_blk = (uint16_t)walk->blk[1],
        .dst_rep = (uint8_t)rep_of(walk, 0, 4, 4),
        .src_rep = (uint8_t)rep_of(walk, 1, mixed ? 2 : 4, 4),
        .dtype = (uint8_t)type,
        .mod = (uint8_t)mod,
    };
    return (struct sim_op){.insn = insn,
                           .a = walk->base[0],
                           .b = walk->base[1],
                           .c = scalar,
                           .d = leo_cfg_vec2_pack(&cfg)};
}

static void check_binary(struct subject *subject, uint32_t arch)
{
    for (unsigned i = 1; i < LEO_INSN_COUNT; i++) {
        const enum leo_insn insn = (enum leo_insn)i;
        if (reference_walk_of(insn) != REFERENCE_VEC3 &&
            reference_walk_of(insn) != REFERENCE_NARROW) {
            continue;
        }
        const unsigned mods = sim_insns[insn].mode + 1u;
        for (unsigned type = 0; type < LEO_DTYPE_COUNT; type++) {
            if (!leo_insn_has_type(insn, arch, type)) {
                continue;
            }
            for (size_t walk = 0; walk < sizeof(walks) / sizeof(walks[0]); walk++) {
                const unsigned mod = mods == 1 ? 0 : (unsigned)(walk + i) % mods;
                const struct sim_op op = vec3_op(insn, type, mod, &walks[walk]);
                check(subject, &op, &walks[walk]);
            }
            for (unsigned round = 0; round < RANDOM_WALKS; round++) {
                const struct walk walk = random_walk(&subject->seed);
                const struct sim_op op = vec3_op(insn, type, round % mods, &walk);
                check(subject, &op, &walk);
            }
            for (unsigned mod = 1; mod < mods; mod++) {
                struct sim_op op = vec3_op(insn, type, mod, &walks[0]);
                op.c = insn == LEO_INSN_VSEL && mod == 1 ? 0x40490fdb : op.c;
                check(subject, &op, &walks[0]);
            }
        }
    }
}

static void check_vec2(struct subject *subject, uint32_t arch)
{
    static const uint64_t scalars[] = {0x3f9d70a43cf5u, 0xffffffffbfc0bc00u, 0x7fc07e00u,
                                       0x80008000u};
    for (unsigned i = 1; i < LEO_INSN_COUNT; i++) {
        const enum leo_insn insn = (enum leo_insn)i;
        if (reference_walk_of(insn) != REFERENCE_VEC2) {
            continue;
        }
        const unsigned mods = sim_insns[insn].mode + 1u;
        for (unsigned type = 0; type < LEO_DTYPE_COUNT; type++) {
            if (!leo_insn_has_type(insn, arch, type)) {
                continue;
            }
            for (size_t walk = 0; walk < sizeof(walks) / sizeof(walks[0]); walk++) {
                for (unsigned mod = 0; mod < mods; mod++) {
                    const bool shifts = insn == LEO_INSN_VSHL || insn == LEO_INSN_VSHR;
                    const uint64_t scalar =
                        shifts && walk != 3 ? walk * 3 + mod : scalars[(walk + mod) % 4];
                    const struct sim_op op = vec2_op(insn, type, mod, scalar, &walks[walk]);
                    check(subject, &op, &walks[walk]);
                }
            }
            for (unsigned round = 0; round < RANDOM_WALKS; round++) {
                const struct walk walk = random_walk(&subject->seed);
                const uint64_t scalar = round % 2 ? round : random_word(&subject->seed);
                const struct sim_op op = vec2_op(insn, type, round % mods, scalar, &walk);
                check(subject, &op, &walk);
            }
        }
    }
}

static unsigned check_convert(struct subject *subject)
{
    static const struct {
        unsigned dst, src;
    } pairs[] = {
        {LEO_DTYPE_F32, LEO_DTYPE_F16},  {LEO_DTYPE_S32, LEO_DTYPE_F16},
        {LEO_DTYPE_S16, LEO_DTYPE_F16},  {LEO_DTYPE_S8, LEO_DTYPE_F16},
        {LEO_DTYPE_U8, LEO_DTYPE_F16},   {LEO_DTYPE_F32, LEO_DTYPE_BF16},
        {LEO_DTYPE_S32, LEO_DTYPE_BF16}, {LEO_DTYPE_F32, LEO_DTYPE_F32},
        {LEO_DTYPE_F16, LEO_DTYPE_F32},  {LEO_DTYPE_BF16, LEO_DTYPE_F32},
        {LEO_DTYPE_S64, LEO_DTYPE_F32},  {LEO_DTYPE_S32, LEO_DTYPE_F32},
        {LEO_DTYPE_S16, LEO_DTYPE_F32},  {LEO_DTYPE_F16, LEO_DTYPE_S8},
        {LEO_DTYPE_F16, LEO_DTYPE_U8},   {LEO_DTYPE_F16, LEO_DTYPE_S16},
        {LEO_DTYPE_F32, LEO_DTYPE_S16},  {LEO_DTYPE_F32, LEO_DTYPE_S32},
        {LEO_DTYPE_S64, LEO_DTYPE_S32},  {LEO_DTYPE_S16, LEO_DTYPE_S32},
        {LEO_DTYPE_F32, LEO_DTYPE_S64},  {LEO_DTYPE_S32, LEO_DTYPE_S64},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const unsigned dst = reference_bytes(pairs[i].dst);
        const unsigned src = reference_bytes(pairs[i].src);
        const unsigned wide = dst > src ? dst : src;
        for (size_t n = 0; n < sizeof(walks) / sizeof(walks[0]) + RANDOM_WALKS; n++) {
            const bool fixed = n < sizeof(walks) / sizeof(walks[0]);
            const struct walk walk = fixed ? walks[n] : random_walk(&subject->seed);
            struct leo_cfg_vcvt cfg = {
                .repeat = (uint8_t)walk.repeat,
                .dst_blk = (uint16_t)walk.blk[0],
                .src_blk = (uint16_t)walk.blk[1],
                .dst_rep = (uint8_t)rep_of(&walk, 0, dst, wide),
                .src_rep = (uint8_t)rep_of(&walk, 1, src, wide),
                .dst_type = (uint8_t)pairs[i].dst,
                .src_type = (uint8_t)pairs[i].src,
            };
            for (unsigned round = 0; round < LEO_ROUND_COUNT; round++) {
                if ((walk.repeat > 100 || !fixed) && round != (i + n) % LEO_ROUND_COUNT) {
                    continue;
                }
                const struct sim_op op = {.insn = LEO_INSN_VCONV,
                                          .sub = (uint8_t)round,
                                          .a = walk.base[0],
                                          .b = walk.base[1],
                                          .d = leo_cfg_vcvt_pack(&cfg)};
                check(subject, &op, &walk);
            }
        }
    }
    return sizeof(pairs) / sizeof(pairs[0]);
}

static void check_reduce(struct subject *subject, uint32_t arch)
{
    for (unsigned i = 1; i < LEO_INSN_COUNT; i++) {
        const enum leo_insn insn = (enum leo_insn)i;
        if (reference_walk_of(insn) != REFERENCE_SUM) {
            continue;
        }
        const bool with_index = insn == LEO_INSN_VCMAX || insn == LEO_INSN_VCMIN;
        for (unsigned type = 0; type < LEO_DTYPE_COUNT; type++) {
            if (!leo_insn_has_type(insn, arch, type)) {
                continue;
            }
            for (size_t n = 0; n < sizeof(walks) / sizeof(walks[0]) + RANDOM_WALKS; n++) {
                const bool fixed = n < sizeof(walks) / sizeof(walks[0]);
                struct walk walk = fixed ? walks[n] : random_walk(&subject->seed);
                for (unsigned order = 0; order < (with_index ? LEO_ORDER_COUNT : 1u); order++) {
                    const struct leo_cfg_vred cfg = {
                        .repeat = (uint8_t)walk.repeat,
                        .dst_rep = (uint16_t)(n % 3 == 2 ? 2 : 1),
                        .src_blk = (uint16_t)walk.blk[1],
                        .src_rep = (uint16_t)rep_of(&walk, 1, 4, 4),
                        .dtype = (uint8_t)type,
                        .order = (uint8_t)order,
                    };
                    const struct sim_op op = {.insn = insn,
                                              .a = walk.base[0],
                                              .b = walk.base[1],
                                              .d = leo_cfg_vred_pack(&cfg)};
                    check(subject, &op, &walk);
                }
            }
        }
    }
}

/** Zeros of both signs among negative numbers, NaN among numbers, or the infinities alone, which
 * are also what a lane counts for that the mask leaves out. */
static void fill_extremes(struct subject *subject)
{
    static const uint32_t words[][4] = {{0, 0x80008000, 0xbf80bc00, 0xbf80bc00},
                                        {0x7fc07fc0, 0xffc1fe01, 0x3f803c00, 0xbf80bc00},
                                        {0xff800000, 0xff800000, 0xff800000, 0xff800000},
                                        {0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000},
                                        {0xfc00fc00, 0xfc00fc00, 0xfc00fc00, 0xfc00fc00},
                                        {0x7c007c00, 0x7c007c00, 0x7c007c00, 0x7c007c00}};
    enum { SEGMENT = 1024, KINDS = sizeof(words) / sizeof(words[0]) };
    for (size_t i = 0; i < FAKE_UB_BYTES; i += 4) {
        const uint64_t random = fake_random(&subject->seed);
        memcpy(subject->before + i, &words[i / SEGMENT % KINDS][random >> 8 & 3], 4);
    }
}

/**
 * HW-VEC-01 HW-VEC-02 HW-VEC-03 HW-VEC-04 HW-VEC-09, HW-VEC-10 HW-VEC-11 HW-VEC-12 HW-VEC-15
 * HW-VEC-16, HW-VEC-25 HW-VEC-26 HW-VEC-27, HW-VEC-30 HW-VEC-31 HW-VEC-32 HW-VEC-33 on the split
 * chip.
 */
static void split_chip_matches_reference(void)
{
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct subject subject;
        if (!begin_subject(&subject, 2201, paths[i])) {
            printf("\n%s: not on this host", paths[i]);
            continue;
        }
        check_binary(&subject, 2201);
        check_vec2(&subject, 2201);
        check_reduce(&subject, 2201);
        fill_extremes(&subject);
        check_reduce(&subject, 2201);
        finish_subject(&subject);
    }
}

/** HW-VEC-20 HW-VEC-21 HW-VEC-22. */
static void conversions_match_reference(void)
{
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct subject subject;
        if (begin_subject(&subject, 2201, paths[i])) {
            CU_ASSERT(check_convert(&subject) == 22);
            finish_subject(&subject);
        }
    }
}

static void coupled_chip_matches_reference(void)
{
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct subject subject;
        if (begin_subject(&subject, 1001, paths[i])) {
            check_binary(&subject, 1001);
            check_vec2(&subject, 1001);
            check_reduce(&subject, 1001);
            fill_extremes(&subject);
            check_reduce(&subject, 1001);
            finish_subject(&subject);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"split_chip_matches_reference", split_chip_matches_reference},
        {"conversions_match_reference", conversions_match_reference},
        {"coupled_chip_matches_reference", coupled_chip_matches_reference},
    };
    return leo_test_main("exec_vector", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
