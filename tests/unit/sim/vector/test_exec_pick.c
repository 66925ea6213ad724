/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that move elements: picked, spread, transposed, sorted, merged, scaled. Each against
 * a plain account of the documentation, over random legal operands. */
#include "fake_core.h"
#include "harness.h"
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DST  0x00000u
#define SRC0 0x10000u
#define SRC1 0x20000u
#define MORE 0x30000u

struct subject {
    struct fake_core *fake;
    struct sim_core *core;
    uint8_t *ub, *want;
    uint64_t seed;
};

static uint32_t below(struct subject *s, uint32_t limit)
{
    return (uint32_t)(fake_random(&s->seed) % limit);
}

static void refill(struct subject *s)
{
    fake_core_reset(s->fake);
    for (size_t i = 0; i < FAKE_UB_BYTES; i += 8) {
        const uint64_t bits = fake_random(&s->seed);
        memcpy(s->ub + i, &bits, 8);
    }
    memcpy(s->want, s->ub, FAKE_UB_BYTES);
}

static void run(struct subject *s, struct sim_op op)
{
    if (!sim_core_execute(s->core, &op)) {
        printf("\n%s d=%016llx fault %d addr %llx", leo_insn_name(op.insn),
               (unsigned long long)op.d, (int)s->core->scalar.fault.code,
               (unsigned long long)s->core->scalar.fault.addr);
        CU_FAIL("fault");
        return;
    }
    if (memcmp(s->ub, s->want, FAKE_UB_BYTES) != 0) {
        size_t at = 0;
        while (s->ub[at] == s->want[at]) {
            at++;
        }
        printf("\n%s d=%016llx differs at %zx", leo_insn_name(op.insn), (unsigned long long)op.d,
               at);
        CU_FAIL("differs");
    }
}

static void every_path(uint32_t arch, unsigned rounds, void (*test)(struct subject *s))
{
    static const char *const paths[] = {"generic", "avx2", "avx512"};
    for (unsigned path = 0; path < 3; path++) {
        struct subject s = {.fake = fake_core_create(arch, paths[path]), .seed = 5 + path};
        if (!s.fake) {
            continue;
        }
        s.core = &s.fake->core;
        s.ub = s.core->local[LEO_MEM_SPACE_UB].data;
        s.want = malloc(FAKE_UB_BYTES);
        for (unsigned i = 0; i < rounds; i++) {
            refill(&s);
            test(&s);
        }
        free(s.want);
        fake_core_destroy(s.fake);
    }
}

static bool bit(const uint8_t *bits, uint64_t i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

/* HW-VEC-51: patterns as the positions they keep. */
static bool in_pattern(unsigned pattern, unsigned lane)
{
    return pattern <= 2 ? lane % 2 == pattern - 1 : pattern == 7 || lane % 4 == pattern - 3;
}

static void pattern(struct subject *s)
{
    const unsigned bytes = below(s, 2) ? 4 : 2;
    const bool counts = below(s, 2);
    const struct leo_cfg_gmask cfg = {.repeat = (uint16_t)below(s, 7),
                                      .src0_blk = (uint8_t)below(s, 5),
                                      .pattern = (uint8_t)below(s, 8),
                                      .src0_rep = (uint16_t)below(s, 30),
                                      .src1_rep = (uint8_t)below(s, 5),
                                      .dtype = bytes == 2 ? LEO_DTYPE_U16 : LEO_DTYPE_U32};
    const unsigned lanes = counts ? below(s, 300) : 256 / bytes;
    s->core->ctrl = counts;
    s->core->vmask[0] = counts ? lanes : 0x1234;
    unsigned kept = 0;
    for (unsigned r = 0; r < cfg.repeat; r++) {
        for (unsigned i = 0; i < lanes; i++) {
            if (cfg.pattern ? in_pattern(cfg.pattern, i)
                            : bit(s->want + SRC1 + r * cfg.src1_rep * 32u, i)) {
                memcpy(s->want + DST + kept++ * bytes,
                       s->want + SRC0 + r * cfg.src0_rep * 32u +
                           i / (32 / bytes) * cfg.src0_blk * 32u + i % (32 / bytes) * bytes,
                       bytes);
            }
        }
    }
    run(s, (struct sim_op){.insn = LEO_INSN_VREDUCEV2,
                           .a = DST,
                           .b = SRC0,
                           .c = SRC1,
                           .d = leo_cfg_gmask_pack(&cfg)});
    CU_ASSERT_EQUAL(s->core->csr.rsvd_cnt, kept);
}

/* Normal or counter mode with a random mask; whether a lane is active. */
struct lanes {
    bool counts;
    uint64_t mask[2];
    unsigned lanes, repeats;
};

static struct lanes random_lanes(struct subject *s, unsigned bytes, uint8_t *repeat)
{
    struct lanes l = {.counts = below(s, 3) == 0, .lanes = 256 / bytes};
    *repeat = (uint8_t)below(s, 7);
    l.mask[0] = l.counts ? below(s, 400) : fake_random(&s->seed);
    l.mask[1] = fake_random(&s->seed);
    l.repeats = l.counts ? (unsigned)((l.mask[0] + l.lanes - 1) / l.lanes) : *repeat;
    s->core->ctrl = l.counts;
    memcpy(s->core->vmask, l.mask, sizeof(l.mask));
    return l;
}

static bool active(const struct lanes *l, unsigned repeat, unsigned lane)
{
    return l->counts ? repeat * l->lanes + lane < l->mask[0]
                     : l->mask[lane / 64] >> (lane % 64) & 1;
}

static void packed_bits(struct subject *s)
{
    const unsigned bytes = below(s, 2) ? 4 : 2;
    struct leo_cfg_vec3 cfg = {.src0_blk = (uint8_t)below(s, 5),
                               .src0_rep = (uint8_t)below(s, 30),
                               .dtype = bytes == 2 ? LEO_DTYPE_U16 : LEO_DTYPE_U32};
    const struct lanes l = random_lanes(s, bytes, &cfg.repeat);
    unsigned kept = 0;
    for (unsigned r = 0; r < l.repeats; r++) {
        for (unsigned i = 0; i < l.lanes; i++) {
            if (active(&l, r, i) && bit(s->want + SRC1, r * l.lanes + i)) {
                memcpy(s->want + DST + kept++ * bytes,
                       s->want + SRC0 + r * cfg.src0_rep * 32u +
                           i / (32 / bytes) * cfg.src0_blk * 32u + i % (32 / bytes) * bytes,
                       bytes);
            }
        }
    }
    run(s, (struct sim_op){.insn = LEO_INSN_VREDUCE,
                           .a = DST,
                           .b = SRC0,
                           .c = SRC1,
                           .d = leo_cfg_vec3_pack(&cfg)});
    CU_ASSERT_EQUAL(s->core->csr.rsvd_cnt, kept);
}

static void broadcast(struct subject *s)
{
    const unsigned bytes = below(s, 2) ? 4 : 2;
    const struct leo_cfg_spread cfg = {.repeat = (uint8_t)below(s, 9),
                                       .dst_blk = (uint16_t)below(s, 4),
                                       .dst_rep = (uint16_t)below(s, 20),
                                       .dtype = bytes == 2 ? LEO_DTYPE_U16 : LEO_DTYPE_U32};
    for (unsigned i = 0; i < cfg.repeat * 8u; i++) {
        for (unsigned j = 0; j < 32 / bytes; j++) {
            memcpy(s->want + DST + (i / 8 * cfg.dst_rep + i % 8 * cfg.dst_blk) * 32u + j * bytes,
                   s->ub + SRC0 + i * bytes, bytes);
        }
    }
    run(s, (struct sim_op){
               .insn = LEO_INSN_VBRCB, .a = DST, .b = SRC0, .d = leo_cfg_spread_pack(&cfg)});
}

static void gather(struct subject *s)
{
    const unsigned bytes = below(s, 2) ? 4 : 2;
    struct leo_cfg_spread cfg = {.dst_blk = (uint16_t)below(s, 4),
                                 .dst_rep = (uint16_t)below(s, 20),
                                 .dtype = bytes == 2 ? LEO_DTYPE_U16 : LEO_DTYPE_U32};
    const struct lanes l = random_lanes(s, bytes, &cfg.repeat);
    for (unsigned i = 0; i < 0x4000; i++) {
        const uint32_t offset = below(s, 0x8000) * bytes;
        memcpy(s->ub + SRC1 + i * 4, &offset, 4);
        memcpy(s->want + SRC1 + i * 4, &offset, 4);
    }
    for (unsigned r = 0; r < l.repeats; r++) {
        for (unsigned i = 0; i < l.lanes; i++) {
            uint32_t offset;
            memcpy(&offset, s->want + SRC1 + (r * l.lanes + i) * 4, 4);
            if (active(&l, r, i)) {
                memcpy(s->want + DST + r * cfg.dst_rep * 32u +
                           i / (32 / bytes) * cfg.dst_blk * 32u + i % (32 / bytes) * bytes,
                       s->want + SRC0 + 64 + offset, bytes);
            }
        }
    }
    run(s, (struct sim_op){.insn = LEO_INSN_VGATHER,
                           .a = DST,
                           .b = SRC1,
                           .c = SRC0 + 64,
                           .d = leo_cfg_spread_pack(&cfg)});
}

static void gather_blocks(struct subject *s)
{
    const struct leo_cfg_spread cfg = {.repeat = (uint8_t)below(s, 9),
                                       .dst_blk = (uint16_t)below(s, 4),
                                       .dst_rep = (uint16_t)below(s, 20),
                                       .dtype = below(s, 2) ? LEO_DTYPE_U16 : LEO_DTYPE_U32};
    for (unsigned i = 0; i < cfg.repeat * 8u; i++) {
        const uint32_t offset = below(s, 0x700) * 32;
        memcpy(s->ub + SRC1 + i * 4, &offset, 4);
        memcpy(s->want + SRC1 + i * 4, &offset, 4);
        memcpy(s->want + DST + (i / 8 * cfg.dst_rep + i % 8 * cfg.dst_blk) * 32u,
               s->want + SRC0 + offset, 32);
    }
    run(s, (struct sim_op){.insn = LEO_INSN_VGATHERB,
                           .a = DST,
                           .b = SRC1,
                           .c = SRC0,
                           .d = leo_cfg_spread_pack(&cfg)});
}

static void picking_matches(void)
{
    every_path(2201, 60, pattern);
    every_path(2201, 60, packed_bits);
    every_path(2201, 40, broadcast);
    every_path(2201, 20, gather);
    every_path(2201, 40, gather_blocks);
}

static void transpose(struct subject *s)
{
    const uint32_t dst = below(s, 2) ? SRC0 : DST; // in place too
    for (unsigned i = 0; i < 16; i++) {
        for (unsigned j = 0; j < 16; j++) {
            memcpy(s->want + dst + (j * 16 + i) * 2, s->ub + SRC0 + (i * 16 + j) * 2, 2);
        }
    }
    run(s, (struct sim_op){.insn = LEO_INSN_VTRANSPOSE, .a = dst, .b = SRC0});
}

static void set_va(struct subject *s, unsigned reg, const uint16_t *blocks)
{
    struct sim_op op = {.insn = LEO_INSN_SET_VA_REG_SB, .a = reg};
    memcpy(&op.b, blocks, 8);
    memcpy(&op.c, blocks + 4, 8);
    CU_ASSERT_TRUE(sim_core_execute(s->core, &op));
}

static void rows(struct subject *s)
{
    static const unsigned types[] = {LEO_DTYPE_B8, LEO_DTYPE_B16, LEO_DTYPE_B32};
    const unsigned which = below(s, s->fake->config.arch == 1001 ? 2 : 3), bytes = 1u << which;
    struct leo_cfg_nchw cfg = {.repeat = (uint8_t)below(s, 5),
                               .dst_rep = (uint16_t)below(s, 9),
                               .src_rep = (uint16_t)below(s, 9),
                               .dtype = (uint8_t)types[which]};
    uint16_t dst[16], src[16];
    for (unsigned i = 0; i < 16; i++) { // apart from one another over all repeats
        dst[i] = (uint16_t)(DST / 32 + i * 64 + below(s, 16));
        src[i] = (uint16_t)(SRC0 / 32 + i * 64 + below(s, 16));
    }
    if (bytes == 1) {
        cfg.dst_high = (uint8_t)below(s, 2);
        cfg.src_high = (uint8_t)below(s, 2);
    }
    set_va(s, 2, dst);
    memcpy(s->ub + MORE, dst + 8, 16); // the second half comes from memory
    memcpy(s->want + MORE, dst + 8, 16);
    struct sim_op load = {.insn = LEO_INSN_VLD_VA_REG, .a = 2, .b = MORE, .c = 1};
    CU_ASSERT_TRUE(sim_core_execute(s->core, &load));
    set_va(s, 6, src);
    set_va(s, 7, src + 8);
    const unsigned columns = bytes == 4 ? 8 : 16, fill = 16 / columns;
    for (unsigned r = 0; r < cfg.repeat; r++) {
        for (unsigned i = 0; i < 16; i++) {          // row of the source
            for (unsigned j = 0; j < columns; j++) { // becomes column i of row j
                const unsigned row = j * fill + i / columns, at = i % columns;
                memcpy(s->want + (dst[row] + r * cfg.dst_rep) * 32u + cfg.dst_high * 16u +
                           at * bytes,
                       s->ub + (src[i] + r * cfg.src_rep) * 32u + cfg.src_high * 16u + j * bytes,
                       bytes);
            }
        }
    }
    run(s, (struct sim_op){
               .insn = LEO_INSN_SCATTER_VNCHWCONV, .a = 2, .b = 6, .d = leo_cfg_nchw_pack(&cfg)});
}

static void transpositions_match(void)
{
    every_path(2201, 10, transpose);
    every_path(1001, 10, transpose);
    every_path(2201, 40, rows);
    every_path(1001, 40, rows);
}

/* Keys as doubles: NaN above everything. */
static double half_key(const uint8_t *at)
{
    uint16_t bits;
    memcpy(&bits, at, 2);
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31 ? (fraction ? 1e300 : 1e100)
                        : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);
    return bits >> 15 && size < 1e200 ? -size : size;
}

static double float_key(const uint8_t *at)
{
    float value;
    memcpy(&value, at, 4);
    return value != value ? 1e300 : isinf(value) ? copysign(1e100, (double)value) : (double)value;
}

static void few_keys(struct subject *s, uint32_t at, unsigned count, bool wide)
{
    static const float floats[] = {0.0f, -0.0f, 1.5f, -2.0f, 3.0f, INFINITY, -INFINITY, NAN};
    static const uint16_t halves[] = {0, 0x8000, 0x3c00, 0xc000, 0x4200, 0x7c00, 0xfc00, 0x7e00};
    for (unsigned i = 0; i < count; i++) { // many equal ones: the sort is stable
        const unsigned which = below(s, 16);
        if (which < 8) {
            memcpy(s->ub + at + i * (wide ? 4 : 2),
                   wide ? (const void *)&floats[which] : (const void *)&halves[which],
                   wide ? 4 : 2);
        }
    }
    memcpy(s->want, s->ub, FAKE_UB_BYTES);
}

static void sort32(struct subject *s)
{
    const bool wide = below(s, 2);
    const struct leo_cfg_rep cfg = {.repeat = (uint8_t)below(s, 6),
                                    .dtype = wide ? LEO_DTYPE_F32 : LEO_DTYPE_F16};
    few_keys(s, SRC0, 200, wide);
    for (unsigned r = 0; r < cfg.repeat; r++) {
        bool used[32] = {false};
        for (unsigned place = 0; place < 32; place++) {
            int best = -1;
            double key = 0;
            for (int i = 0; i < 32; i++) { // the first of the largest
                const uint8_t *at = s->ub + SRC0 + (r * 32 + (unsigned)i) * (wide ? 4 : 2);
                const double mine = wide ? float_key(at) : half_key(at);
                if (!used[i] && (best < 0 || mine > key)) {
                    best = i;
                    key = mine;
                }
            }
            used[best] = true;
            uint8_t *to = s->want + DST + (r * 32 + place) * 8;
            memset(to, 0, 8);
            memcpy(to, s->ub + SRC0 + (r * 32 + (unsigned)best) * (wide ? 4 : 2), wide ? 4 : 2);
            memcpy(to + 4, s->ub + SRC1 + (r * 32 + (unsigned)best) * 4, 4);
        }
    }
    run(s, (struct sim_op){.insn = LEO_INSN_VBITSORT,
                           .a = DST,
                           .b = SRC0,
                           .c = SRC1,
                           .d = leo_cfg_rep_pack(&cfg)});
}

static void sort_proposals(struct subject *s)
{
    const struct leo_cfg_rep cfg = {.repeat = (uint8_t)below(s, 6), .dtype = LEO_DTYPE_F16};
    few_keys(s, SRC0, 700, false);
    for (unsigned r = 0; r < cfg.repeat; r++) {
        bool used[16] = {false};
        for (unsigned place = 0; place < 16; place++) {
            int best = -1;
            for (int i = 0; i < 16; i++) {
                const uint8_t *base = s->ub + SRC0 + r * 256u;
                if (!used[i] &&
                    (best < 0 || half_key(base + i * 16 + 8) > half_key(base + best * 16 + 8))) {
                    best = i;
                }
            }
            used[best] = true;
            memcpy(s->want + DST + (r * 16 + place) * 16, s->ub + SRC0 + r * 256u + best * 16, 16);
        }
    }
    run(s, (struct sim_op){
               .insn = LEO_INSN_VBITSORT, .a = DST, .b = SRC0, .d = leo_cfg_rep_pack(&cfg)});
}

static void merge(struct subject *s)
{
    static const unsigned valids[] = {3, 7, 15};
    const bool old = s->fake->config.arch == 1001, wide = !old && below(s, 2);
    const unsigned bytes = old ? 16 : 8, key_at = old ? 8 : 0;
    const unsigned length[4] = {below(s, 40), below(s, 40), below(s, 40), below(s, 40)};
    const struct leo_cfg_mrg4 cfg = {.repeat = (uint8_t)below(s, 2),
                                     .len0 = (uint16_t)length[0],
                                     .len1 = (uint16_t)length[1],
                                     .len2 = (uint16_t)length[2],
                                     .len3 = (uint16_t)length[3],
                                     .valid = (uint8_t)valids[below(s, 3)],
                                     .exhaust = (uint8_t)below(s, 2),
                                     .wide = wide};
    few_keys(s, SRC0, 2000, wide);
    uint64_t lists = 0;
    unsigned taken[4] = {0}, written = 0;
    bool stop = cfg.repeat == 0;
    for (unsigned i = 0; i < 4; i++) {
        lists |= (uint64_t)(SRC0 / 32 + i * 64) << (16 * i);
    }
    while (!stop) {
        int best = -1;
        double key = 0;
        for (int i = 0; i < 4; i++) {
            const uint8_t *at = s->ub + SRC0 + (unsigned)i * 2048 + taken[i] * bytes + key_at;
            const double mine = wide ? float_key(at) : half_key(at);
            if (cfg.valid >> i & 1 && taken[i] < length[i] && (best < 0 || mine > key)) {
                best = i;
                key = mine;
            }
        }
        if (best < 0) {
            break;
        }
        memcpy(s->want + DST + written++ * bytes,
               s->ub + SRC0 + (unsigned)best * 2048 + taken[best] * bytes, bytes);
        stop = ++taken[best] == length[best] && cfg.exhaust;
    }
    run(s, (struct sim_op){
               .insn = LEO_INSN_VMRGSORT4, .a = DST, .b = lists, .d = leo_cfg_mrg4_pack(&cfg)});
    if (cfg.repeat && written) {
        CU_ASSERT_EQUAL(s->core->csr.vms4_sr, taken[0] | (uint64_t)taken[1] << 16 |
                                                  (uint64_t)taken[2] << 32 |
                                                  (uint64_t)taken[3] << 48);
    }
}

static void fields(struct subject *s)
{
    const struct leo_cfg_prop cfg = {
        .repeat = (uint8_t)below(s, 6), .field = (uint8_t)below(s, 8), .dtype = LEO_DTYPE_F16};
    const bool inserts = below(s, 2);
    for (unsigned i = 0; i < cfg.repeat * 16u; i++) {
        if (inserts) {
            memcpy(s->want + DST + i * 16 + cfg.field * 2u, s->ub + SRC0 + i * 2, 2);
        } else {
            memcpy(s->want + DST + i * 2, s->ub + SRC0 + i * 16 + cfg.field * 2u, 2);
        }
    }
    run(s, (struct sim_op){.insn = inserts ? LEO_INSN_VCONCAT : LEO_INSN_VEXTRACT,
                           .a = DST,
                           .b = SRC0,
                           .d = leo_cfg_prop_pack(&cfg)});
}

static void sorting_matches(void)
{
    every_path(2201, 30, sort32);
    every_path(1001, 30, sort_proposals);
    every_path(2201, 60, merge);
    every_path(1001, 60, merge);
    every_path(1001, 30, fields);
}

/* A scale word from its parts; factor has 10 bits of fraction. */
static uint64_t random_scale(struct subject *s, float *factor, int *offset, unsigned *shift)
{
    const uint32_t bits = 0x3a000000u + (below(s, 0x400) << 13) + (below(s, 12) << 23);
    memcpy(factor, &bits, 4);
    *offset = (int)below(s, 512) - 256;
    *shift = below(s, 2) ? below(s, 16) + 1 : 0;
    return bits | (uint64_t)(*shift ? *shift - 1 : 0) << 32 | (uint64_t)(*shift != 0) << 36 |
           (uint64_t)((unsigned)*offset & 511) << 37;
}

static void deq_bytes(struct subject *s)
{
    const bool each = below(s, 2), is_signed = below(s, 2);
    struct leo_cfg_vdeq cfg = {.dst_blk = (uint16_t)below(s, 4),
                               .src_blk = (uint16_t)below(s, 4),
                               .dst_rep = (uint8_t)below(s, 20),
                               .src_rep = (uint8_t)below(s, 20),
                               .dtype = is_signed ? LEO_DTYPE_S8 : LEO_DTYPE_U8,
                               .high = (uint8_t)below(s, 2)};
    const struct lanes l = random_lanes(s, 2, &cfg.repeat);
    float factor[16];
    int offset[16];
    unsigned shift[16];
    for (unsigned i = 0; i < 16; i++) {
        const uint64_t word = random_scale(s, &factor[i], &offset[i], &shift[i]);
        memcpy(s->ub + MORE + i * 8, &word, 8);
        s->core->csr.deqscale = each ? MORE : word;
    }
    memcpy(s->want, s->ub, FAKE_UB_BYTES);
    for (unsigned r = 0; r < l.repeats; r++) {
        for (unsigned i = 0; i < l.lanes; i++) {
            const unsigned k = each ? i % 16 : 15;
            int16_t from;
            memcpy(&from,
                   s->ub + SRC0 + (r * cfg.src_rep + i / 16 * cfg.src_blk) * 32u + i % 16 * 2, 2);
            double value = from;
            if (shift[k]) {
                value = floor((value + ldexp(1, (int)shift[k] - 1)) / ldexp(1, (int)shift[k]));
            }
            value = rint((double)((float)value * factor[k]));
            value = fmax(-32768, fmin(32767, value)) + offset[k];
            value = is_signed ? fmax(-128, fmin(127, value)) : fmax(0, fmin(255, value));
            if (active(&l, r, i)) {
                s->want[DST + (r * cfg.dst_rep + i / 16 * cfg.dst_blk) * 32u + cfg.high * 16u +
                        i % 16] = (uint8_t)(int)value;
            }
        }
    }
    run(s, (struct sim_op){.insn = each ? LEO_INSN_VCONV_VDEQS162B8 : LEO_INSN_VCONV_DEQS162B8,
                           .a = DST,
                           .b = SRC0,
                           .d = leo_cfg_vdeq_pack(&cfg)});
}

static void deq_half(struct subject *s)
{
    struct leo_cfg_vdeq cfg = {.dst_blk = (uint16_t)below(s, 4),
                               .src_blk = (uint16_t)below(s, 4),
                               .dst_rep = (uint8_t)below(s, 20),
                               .src_rep = (uint8_t)below(s, 20),
                               .dtype = LEO_DTYPE_S32};
    const struct lanes l = random_lanes(s, 4, &cfg.repeat);
    s->core->csr.deqscale = 0x1400 + below(s, 0x800); // 2^-10 and more
    for (unsigned r = 0; r < l.repeats; r++) {
        uint16_t results[64];
        for (unsigned i = 0; i < 64; i++) {
            int32_t from;
            memcpy(&from,
                   s->want + SRC0 + (r * cfg.src_rep + i / 8 * cfg.src_blk) * 32u + i % 8 * 4, 4);
            const uint16_t scale = (uint16_t)s->core->csr.deqscale;
            const float factor = (float)half_key((const uint8_t *)&scale);
            reference_store(&results[i], LEO_DTYPE_F16, (long double)((float)from * factor),
                            LEO_ROUND_RINT);
        }
        for (unsigned i = 0; i < 64; i++) {
            if (active(&l, r, i)) {
                memcpy(s->want + DST + (r * cfg.dst_rep + i / 16 * cfg.dst_blk) * 32u + i % 16 * 2,
                       &results[i], 2);
            }
        }
    }
    run(s, (struct sim_op){
               .insn = LEO_INSN_VCONV_DEQ, .a = DST, .b = SRC0, .d = leo_cfg_vdeq_pack(&cfg)});
}

static double rounded(double x, unsigned round)
{
    const double cut = trunc(x);
    switch (round) {
    case LEO_ROUND_FLOOR:
        return floor(x);
    case LEO_ROUND_CEIL:
        return ceil(x);
    case LEO_ROUND_ROUND:
        return trunc(x + copysign(0.5, x));
    case LEO_ROUND_TRUNC:
        return cut;
    case LEO_ROUND_ODD:
        return cut == x || fmod(cut, 2) != 0 ? cut : cut + copysign(1, x);
    default:
        return rint(x);
    }
}

static void nibbles(struct subject *s)
{
    const bool to_s4 = below(s, 2);
    const unsigned round = below(s, LEO_ROUND_COUNT);
    struct leo_cfg_vcvt cfg = {.dst_blk = (uint16_t)below(s, 4),
                               .src_blk = (uint16_t)below(s, 4),
                               .dst_rep = (uint8_t)below(s, 20),
                               .src_rep = (uint8_t)below(s, 20),
                               .dst_type = to_s4 ? LEO_DTYPE_S4 : LEO_DTYPE_F16,
                               .src_type = to_s4 ? LEO_DTYPE_F16 : LEO_DTYPE_S4};
    const struct lanes l = random_lanes(s, 2, &cfg.repeat);
    for (unsigned i = 0; i < 0x8000; i += 2) { // halves from 0.25 to 16
        s->ub[SRC0 + i + 1] = (uint8_t)(0x34 + below(s, 24) + below(s, 2) * 0x80);
    }
    few_keys(s, SRC0, 3000, false);
    for (unsigned r = 0; r < l.repeats; r++) {
        for (unsigned i = 0; i < 128; i++) {
            uint8_t *nibble = to_s4
                                  ? s->want + DST + (r * cfg.dst_rep + i / 64 * cfg.dst_blk) * 32u
                                  : s->want + SRC0 + (r * cfg.src_rep + i / 64 * cfg.src_blk) * 32u;
            uint8_t *half = to_s4 ? s->want + SRC0 + (r * cfg.src_rep + i / 16 * cfg.src_blk) * 32u
                                  : s->want + DST + (r * cfg.dst_rep + i / 16 * cfg.dst_blk) * 32u;
            nibble += i % 64 / 2;
            half += i % 16 * 2;
            if (!active(&l, r, i)) {
                continue;
            }
            if (to_s4) {
                double value = half_key(half);
                value = value > 1e200 ? 0 : rounded(value, round);
                const int whole = value < -8 ? -8 : value > 7 ? 7 : (int)value;
                *nibble = (uint8_t)(i % 2 ? (*nibble & 15) | (whole & 15) << 4
                                          : (*nibble & 240) | (whole & 15));
            } else {
                const int value = i % 2 ? *nibble >> 4 : *nibble & 15;
                reference_store(half, LEO_DTYPE_F16, value > 7 ? value - 16 : value,
                                LEO_ROUND_RINT);
            }
        }
    }
    run(s, (struct sim_op){.insn = LEO_INSN_VCONV,
                           .sub = (uint8_t)round,
                           .a = DST,
                           .b = SRC0,
                           .d = leo_cfg_vcvt_pack(&cfg)});
}

static void scaling_matches(void)
{
    every_path(2201, 60, deq_bytes);
    every_path(2201, 40, deq_half);
    every_path(1001, 40, deq_half);
    every_path(2201, 60, nibbles);
}

static enum leo_fault fault_of(struct fake_core *fake, struct sim_op op)
{
    fake->core.scalar.fault.code = LEO_FAULT_NONE;
    (void)sim_core_execute(&fake->core, &op);
    return fake->core.scalar.fault.code;
}

static void bad_operands_fault(void)
{
    struct fake_core *fake = fake_core_create(2201, NULL);
    uint8_t *ub = fake->core.local[LEO_MEM_SPACE_UB].data;
    memset(ub, 0, FAKE_UB_BYTES);
    const struct leo_cfg_gmask pattern8 = {.repeat = 1, .pattern = 8, .dtype = LEO_DTYPE_U16};
    const struct leo_cfg_gmask f16 = {.repeat = 1, .pattern = 1, .dtype = LEO_DTYPE_F16};
    const struct leo_cfg_gmask odd = {
        .repeat = 1, .src0_blk = 1, .pattern = 1, .dtype = LEO_DTYPE_U16};
    const struct leo_cfg_spread spread = {
        .repeat = 1, .dst_blk = 1, .dst_rep = 8, .dtype = LEO_DTYPE_U32};
    const struct leo_cfg_mrg4 one = {.repeat = 1, .len0 = 4, .valid = 1};
    const struct leo_cfg_mrg4 stop = {.repeat = 2, .len0 = 4, .len1 = 4, .valid = 3, .exhaust = 1};
    const struct leo_cfg_nchw high = {.repeat = 1, .dtype = LEO_DTYPE_B16, .dst_high = 1};
    const struct leo_cfg_nchw rows = {.repeat = 1, .dtype = LEO_DTYPE_B16};
    const uint32_t far = FAKE_UB_BYTES, crooked = 2;
    memcpy(ub + 0x1000, &far, 4);
    memcpy(ub + 0x2000, &crooked, 4);
    const struct {
        struct sim_op op;
        enum leo_fault want;
    } cases[] = {
        {{.insn = LEO_INSN_VREDUCEV2, .d = leo_cfg_gmask_pack(&pattern8)},
         LEO_FAULT_ILLEGAL_CONFIG},
        {{.insn = LEO_INSN_VREDUCEV2, .d = leo_cfg_gmask_pack(&f16)},
         LEO_FAULT_ILLEGAL_INSTRUCTION},
        {{.insn = LEO_INSN_VREDUCEV2, .a = 16, .d = leo_cfg_gmask_pack(&odd)},
         LEO_FAULT_MISALIGNED_LOCAL},
        {{.insn = LEO_INSN_VREDUCEV2,
          .a = 0,
          .b = FAKE_UB_BYTES - 224,
          .d = leo_cfg_gmask_pack(&odd)},
         LEO_FAULT_LOCAL_OUT_OF_RANGE},
        {{.insn = LEO_INSN_VGATHER, .b = 0x1000, .d = leo_cfg_spread_pack(&spread)},
         LEO_FAULT_LOCAL_OUT_OF_RANGE},
        {{.insn = LEO_INSN_VGATHER, .b = 0x2000, .d = leo_cfg_spread_pack(&spread)},
         LEO_FAULT_MISALIGNED_LOCAL},
        {{.insn = LEO_INSN_VGATHERB, .b = 0x2000, .d = leo_cfg_spread_pack(&spread)},
         LEO_FAULT_MISALIGNED_LOCAL},
        {{.insn = LEO_INSN_VGATHERB, .b = 0x1000, .d = leo_cfg_spread_pack(&spread)},
         LEO_FAULT_LOCAL_OUT_OF_RANGE},
        {{.insn = LEO_INSN_VMRGSORT4, .d = leo_cfg_mrg4_pack(&one)}, LEO_FAULT_ILLEGAL_CONFIG},
        {{.insn = LEO_INSN_VMRGSORT4, .d = leo_cfg_mrg4_pack(&stop)}, LEO_FAULT_ILLEGAL_CONFIG},
        {{.insn = LEO_INSN_SCATTER_VNCHWCONV, .d = leo_cfg_nchw_pack(&high)},
         LEO_FAULT_ILLEGAL_CONFIG},
        {{.insn = LEO_INSN_SCATTER_VNCHWCONV, .a = 7, .d = leo_cfg_nchw_pack(&rows)},
         LEO_FAULT_ILLEGAL_CONFIG},
        {{.insn = LEO_INSN_SET_VA_REG_SB, .a = 8}, LEO_FAULT_ILLEGAL_CONFIG},
        {{.insn = LEO_INSN_VLD_VA_REG, .a = 7, .c = 1}, LEO_FAULT_ILLEGAL_CONFIG},
        {{.insn = LEO_INSN_VLD_VA_REG, .a = 7, .b = 8}, LEO_FAULT_MISALIGNED_LOCAL},
        {{.insn = LEO_INSN_VTRANSPOSE, .a = 16}, LEO_FAULT_MISALIGNED_LOCAL},
        {{.insn = LEO_INSN_VTRANSPOSE, .a = FAKE_UB_BYTES - 256}, LEO_FAULT_LOCAL_OUT_OF_RANGE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const enum leo_fault got = fault_of(fake, cases[i].op);
        if (got != cases[i].want) {
            printf("\ncase %zu: %d", i, (int)got);
        }
        CU_ASSERT_EQUAL(got, cases[i].want);
    }
    fake_core_destroy(fake);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"picking_matches", picking_matches},       {"transpositions_match", transpositions_match},
        {"sorting_matches", sorting_matches},       {"scaling_matches", scaling_matches},
        {"bad_operands_fault", bad_operands_fault},
    };
    return leo_test_main("exec_pick", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
