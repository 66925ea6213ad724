/* SPDX-License-Identifier: Apache-2.0 */
#include "chip.h"

#include <stddef.h>
#include <string.h>

enum { L2_LINE = 128 }; // [A] bytes of a request that goes line by line

static const struct op_chip_limits limits[] = {
    {
        .arch = 1001,
        // Twice as deep gains half a percent of simulated time at 2048 cubed and loses more on the
        // host.
        .matmul_k_chunk = 128,
        .matmul_k_max = 1024, // columns of a piece the program can load
        .matmul_band = 8,     // of 32 cores, 4 columns then: the best of 1, 4, 8
        .matmul_share = 16,
        .matmul_read_rate = 32,
        .ub_bytes = 262144,
    },
    {
        .arch = 2201,
        .matmul_k_chunk = 256, // two halves of (128 + 256) x 256 elements leave room for the bias
                               // in the 512 KiB of L1
        .matmul_k_max = 256,
        .matmul_band = 1,    // 4 is 1 % slower
        .matmul_share = 256, // [A] rows of 352 bytes load slower than those of 512
        .matmul_read_rate = 64,
        .ub_bytes = 196608,
    },
};

/** A number of the SoC file. */
struct number {
    const char *section, *key;
    size_t at; /**< of struct numbers */
};

struct numbers {
    double block_spread_ns, requests, request_bytes, hit_ns, miss_ns, line_ns, read_rate, l2_gb;
};

static const struct number numbers_read[] = {
    {"scheduler", "block_spread_ns", offsetof(struct numbers, block_spread_ns)},
    {"gm", "gm_read_requests", offsetof(struct numbers, requests)},
    {"gm", "gm_request_bytes", offsetof(struct numbers, request_bytes)},
    {"gm", "gm_read_hit_ns", offsetof(struct numbers, hit_ns)},
    {"gm", "gm_read_miss_ns", offsetof(struct numbers, miss_ns)},
    {"gm", "gm_same_line_ns", offsetof(struct numbers, line_ns)},
    {"gm", "gm_read_rate", offsetof(struct numbers, read_rate)},
    {"gm", "l2_gb_per_s", offsetof(struct numbers, l2_gb)},
};

static leo_status read_numbers(struct leo_rt_device *device, struct numbers *numbers)
{
    leo_status status = LEO_OK;
    for (size_t i = 0; i < sizeof(numbers_read) / sizeof(numbers_read[0]) && status == LEO_OK;
         i++) {
        const struct number *one = &numbers_read[i];
        status = leo_rt_soc_number(device, one->section, one->key,
                                   (double *)(void *)((char *)numbers + one->at));
    }
    return status;
}

static leo_status find_limits(const struct leo_caps *caps, struct op_chip_limits *out)
{
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i].arch == caps->arch) {
            *out = limits[i];
            return LEO_OK;
        }
    }
    return leo_rt_fail(LEO_ERR_UNSUPPORTED,
                       "%s: no device programs are built for architecture %u; there are some for "
                       "1001 and 2201",
                       caps->soc_name, caps->arch);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

// What tiles of products need at least; they shrink to what is there.
enum { L1_LEAST = 131072, L0_LEAST = 16384, L0C_LEAST = 16384 };

static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

// Whole bytes a cycle, at least one: plans divide by it.
static uint32_t rate(double bytes_per_cycle)
{
    return bytes_per_cycle < 1 ? 1 : (uint32_t)least(bytes_per_cycle, UINT32_MAX);
}

// Bytes a cycle of `bytes` under way for `ns`; a latency of 0 holds nothing up.
static double in_flight(double bytes, double ns, double ghz)
{
    return ns > 0 ? bytes / (ns * ghz) : UINT32_MAX;
}

static void set_rates(struct op_chip *chip, const struct numbers *n)
{
    const double ghz = chip->caps.clock_khz / 1e6, under_way = n->requests * n->request_bytes,
                 one = least(in_flight(under_way, n->hit_ns, ghz), n->read_rate),
                 share = n->l2_gb / ghz / chip->caps.cube_cores;
    chip->block_spread = (uint32_t)(n->block_spread_ns * ghz);
    chip->request_bytes = (uint32_t)n->request_bytes;
    chip->core_read_rate = rate(one);
    chip->core_miss_rate = rate(least(in_flight(under_way, n->miss_ns, ghz), n->read_rate));
    chip->l2_read_rate = rate(least(one, share));
    chip->line_rate = rate(least(share, one * least(1, L2_LINE / n->request_bytes)));
    chip->line_total = rate(in_flight(under_way, n->line_ns, ghz));
}

// Half of L0A and of L0B: the other half is being loaded. Fields of img2col count no further than
// 127 fractals.
static void set_cube(struct leo_rt_device *device, struct op_chip *chip)
{
    enum { FRACTAL_BYTES = 512, FRACTALS_MAX = 127, SIDE = 16, BLOCKS_MAX = 64 };
    const uint32_t l0 =
        chip->caps.l0a_bytes < chip->caps.l0b_bytes ? chip->caps.l0a_bytes : chip->caps.l0b_bytes;
    const uint32_t fractals = most(l0, L0_LEAST) / 2 / FRACTAL_BYTES;
    chip->l1_bytes = most(chip->caps.l1_bytes, L1_LEAST);
    chip->l0_half = (fractals < FRACTALS_MAX ? fractals : FRACTALS_MAX) * FRACTAL_BYTES;
    const uint32_t blocks = chip->caps.l0c_bytes / (256 * SIDE * sizeof(float));
    chip->l0c_blocks = blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX;
    const struct {
        const char *key;
        uint32_t *to;
    } sides[] = {{"cube_m", &chip->cube_m}, {"cube_n", &chip->cube_n}, {"cube_k", &chip->cube_k}};
    for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
        double size = SIDE; // what a file may leave out
        *sides[i].to = leo_rt_soc_number(device, "cube", sides[i].key, &size) == LEO_OK
                           ? (uint32_t)size
                           : SIDE;
    }
}

// Sums are f32. Wide tiles: a row of the result is stored in longer pieces.
static void set_tile(struct op_chip *chip)
{
    enum { SIDE_MAX = 256, FRACTAL = 16, SUM_BYTES = 4 };
    const uint32_t sums = most(chip->caps.l0c_bytes, L0C_LEAST) / SUM_BYTES;
    chip->tile_n = SIDE_MAX;
    while (chip->tile_n > FRACTAL && chip->tile_n * FRACTAL > sums) {
        chip->tile_n /= 2;
    }
    const uint32_t rows = sums / chip->tile_n / FRACTAL * FRACTAL;
    chip->tile_m = rows < SIDE_MAX ? rows : SIDE_MAX;
}

// [W] Cards of instruction set 372 on, MLU370 the first, have bf16; an Ascend chip has no such
// number, and its rows say what it has.
static bool widens_bf16(struct leo_rt_device *device, const struct leo_caps *caps)
{
    enum { FIRST_WITH_BF16 = 372, COUPLED = 1001 };
    double isa_version;
    return caps->arch == COUPLED &&
           leo_rt_soc_number(device, "card", "isa_version", &isa_version) == LEO_OK &&
           isa_version >= FIRST_WITH_BF16;
}

leo_status op_chip_of_device(struct leo_rt_device *device, struct op_chip *chip)
{
    struct numbers numbers = {0};
    leo_rt_device_get_caps(device, &chip->caps);
    leo_status status = find_limits(&chip->caps, &chip->limits);
    if (status == LEO_OK) {
        status = read_numbers(device, &numbers);
    }
    if (status == LEO_OK) {
        set_rates(chip, &numbers);
        chip->widens_bf16 = widens_bf16(device, &chip->caps);
        set_tile(chip);
        set_cube(device, chip);
    }
    return status;
}

static leo_status too_small(const struct op_chip *chip, const char *program, const char *buffer,
                            uint32_t is, uint32_t wanted)
{
    return leo_rt_fail(LEO_ERR_UNSUPPORTED, "%s: %s has %u bytes; the program %s needs %u",
                       chip->caps.soc_name, buffer, is, program, wanted);
}

static leo_status check_cube(const struct op_chip *chip, const char *program, bool is_fixed)
{
    enum { FIXED_L1 = 524288, FIXED_L0 = 65536, FIXED_L0C = 131072 };
    const struct {
        const char *name;
        uint32_t is, least, fixed;
    } rows[] = {{"L1", chip->caps.l1_bytes, L1_LEAST, FIXED_L1},
                {"L0A", chip->caps.l0a_bytes, L0_LEAST, FIXED_L0},
                {"L0B", chip->caps.l0b_bytes, L0_LEAST, FIXED_L0},
                {"L0C", chip->caps.l0c_bytes, L0C_LEAST, FIXED_L0C}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint32_t wanted = is_fixed ? rows[i].fixed : rows[i].least;
        if (rows[i].is < wanted) {
            return too_small(chip, program, rows[i].name, rows[i].is, wanted);
        }
    }
    return LEO_OK;
}

leo_status op_chip_check_program(const struct op_chip *chip, const char *program)
{
    // How a program uses the buffers of a chip; one that is not here: UB as its architecture has
    // it.
    enum { FOLLOWS_UB = 1, CUBE = 2, FIXED_CUBE = 4 };
    static const struct {
        const char *name;
        unsigned uses;
    } rows[] = {{"tile", FOLLOWS_UB},
                {"tile_fallback", FOLLOWS_UB},
                {"lanes", FOLLOWS_UB},
                {"pooling_native", FOLLOWS_UB},
                {"resample_rows", FOLLOWS_UB},
                {"matmul", CUBE},
                {"matmul_f32", CUBE},
                {"matmul_grouped", CUBE},
                {"matmul_grouped_f32", CUBE},
                {"convolution_cube", CUBE},
                {"convolution_f32", CUBE},
                {"attention", FIXED_CUBE},
                {"attention_gradient", FIXED_CUBE}};
    unsigned uses = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uses = strcmp(rows[i].name, program) == 0 ? rows[i].uses : uses;
    }
    // The Cube's programs of the split chip have no UB.
    const bool has_own_ub = !(uses & FOLLOWS_UB) && !((uses & CUBE) && chip->caps.vector_cores);
    if (has_own_ub && chip->caps.ub_bytes < chip->limits.ub_bytes) {
        return too_small(chip, program, "UB", chip->caps.ub_bytes, chip->limits.ub_bytes);
    }
    return uses & (CUBE | FIXED_CUBE) ? check_cube(chip, program, uses & FIXED_CUBE) : LEO_OK;
}

uint32_t op_chip_line_sharers(const struct op_chip *chip)
{
    const uint32_t sharers = chip->line_total / chip->l2_read_rate;
    return sharers ? sharers : 1;
}

uint64_t op_chip_read_once(const struct op_chip *chip, uint64_t addr, uint64_t bytes)
{
    const uint64_t past = UINT64_C(1) << LEO_GM_BIT_NO_L2; // no bit of a plan's addresses either
    return bytes >= chip->caps.l2_bytes ? addr | past : addr;
}
