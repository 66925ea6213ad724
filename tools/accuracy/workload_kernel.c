/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads that are device programs of their own (device/), each for either generation. */
#include "accuracy.h"

#include "device/vec_op.h"
#include <string.h>

#define PROGRAM(name)                                                                              \
    extern const unsigned char name##_elf[];                                                       \
    extern const size_t name##_elf_bytes
PROGRAM(accuracy_vector);
PROGRAM(accuracy_vector_1001);
PROGRAM(accuracy_vec_op);
PROGRAM(accuracy_vec_op_1001);
PROGRAM(accuracy_cube);
PROGRAM(accuracy_cube_1001);
#undef PROGRAM

static const char *const f16_only[] = {"f16", NULL};
static const char *const f32_only[] = {"f32", NULL};
static const char *const float_types[] = {"f16", "f32", NULL};
static const char *const orders[] = {"whole", "quarter", NULL};
static const char *const shared_orders[] = {"same", "staggered", NULL};
static const char *const l2_uses[] = {"use", "bypass", NULL};
static const char *const units[] = {"vector", "scalar", NULL};
static const char *const layouts[] = {"normal", "transposed", NULL};
static const char *const loads[] = {"2d", "3d", NULL};

/** Mirrors of the structs of device/. */
struct stream_shape {
    uint32_t elems, tile_elems, buffers, adds, scalar, no_l2, is_f32;
};

struct tile_walk {
    uint32_t rows, cols, tile_rows, tile_cols;
};

struct matmul_shape {
    uint32_t m, n, k, base_m, base_n, base_k, depth_a, depth_b, l1_buffers, l0_buffers, split_m,
        split_n, b_transposed, out_f32, l2_m, l2_n, k_stagger, load3d, unit_flag;
};

static bool is_word(struct accuracy_params *params, const char *key, const char *const *words,
                    const char *missing, const char *wanted)
{
    const char *word =
        accuracy_params_has(params, key) ? accuracy_params_word(params, key, words) : missing;
    return word && strcmp(word, wanted) == 0;
}

enum program { PROGRAM_VECTOR, PROGRAM_VEC_OP, PROGRAM_CUBE };

static leo_status load(struct accuracy_chip *chip, enum program program,
                       struct leo_rt_module **module)
{
    const struct {
        const unsigned char *elf;
        size_t bytes;
    } programs[2][3] = {{{accuracy_vector_1001_elf, accuracy_vector_1001_elf_bytes},
                         {accuracy_vec_op_1001_elf, accuracy_vec_op_1001_elf_bytes},
                         {accuracy_cube_1001_elf, accuracy_cube_1001_elf_bytes}},
                        {{accuracy_vector_elf, accuracy_vector_elf_bytes},
                         {accuracy_vec_op_elf, accuracy_vec_op_elf_bytes},
                         {accuracy_cube_elf, accuracy_cube_elf_bytes}}};
    const bool split = chip->caps.vector_cores > 0;
    return leo_rt_module_load(chip->device, programs[split][program].elf,
                              programs[split][program].bytes, "accuracy", module);
}

// Cores that run vector programs.
static uint32_t vector_cores(const struct accuracy_chip *chip)
{
    return chip->caps.vector_cores ? chip->caps.vector_cores : chip->caps.cube_cores;
}

// Units of two bytes that an element counts as.
static uint32_t halves_of(const char *dtype)
{
    return dtype && strcmp(dtype, "f32") == 0 ? 2 : 1;
}

static leo_status launch(struct accuracy_chip *chip, enum program program, const char *kernel_name,
                         uint32_t blocks, const void *const *args, unsigned count,
                         struct leo_task_record *record)
{
    struct leo_rt_module *module = NULL;
    struct leo_rt_kernel *kernel;
    struct leo_rt_profile_task task;
    size_t tasks = 0;
    uint64_t lost;
    leo_status status = load(chip, program, &module);
    if (status == LEO_OK) {
        status = leo_rt_module_find(module, kernel_name, &kernel);
    }
    if (status == LEO_OK) {
        status = leo_rt_stream_synchronize(chip->stream, -1);
    }
    for (unsigned i = 0; status == LEO_OK && i < chip->warm; i++) {
        status = leo_rt_launch(kernel, blocks, chip->stream, args, count, kernel_name);
    }
    if (status == LEO_OK) {
        status = accuracy_chip_settle(chip);
    }
    if (status == LEO_OK) {
        status = leo_rt_profile_start(chip->device, 16, 0);
    }
    if (status == LEO_OK) {
        status = leo_rt_launch(kernel, blocks, chip->stream, args, count, kernel_name);
        leo_status end = leo_rt_stream_synchronize(chip->stream, -1);
        status = leo_status_first(status, end);
        if (status == LEO_OK) {
            status = leo_rt_profile_tasks(chip->device, &task, 1, &tasks, &lost);
        }
        (void)leo_rt_profile_stop(chip->device);
    }
    if (status == LEO_OK && tasks == 1) {
        *record = task.record;
    }
    leo_rt_module_unload(module);
    return status;
}

// Up to three tensors of `bytes` each. A new chip's memory is zero.
static leo_status make_buffers(struct accuracy_chip *chip, const uint64_t *bytes, unsigned count,
                               uint64_t *addr)
{
    for (unsigned i = 0; i < count; i++) {
        leo_status status = leo_rt_memory_alloc(chip->device, bytes[i] + 32, &addr[i]);
        if (status != LEO_OK) {
            return status;
        }
    }
    return LEO_OK;
}

static void free_buffers(struct accuracy_chip *chip, const uint64_t *addr, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (addr[i]) {
            (void)leo_rt_memory_free(chip->device, addr[i]);
        }
    }
}

leo_status accuracy_run_stream_add(struct accuracy_chip *chip, struct accuracy_params *params,
                                   struct accuracy_result *result)
{
    uint64_t addr[3] = {0};
    struct stream_shape s = {0};
    const uint32_t halves = halves_of(accuracy_params_word(params, "dtype", float_types));
    uint64_t rows = accuracy_params_number(params, "rows", 1, 1, 1u << 20);
    uint64_t cols = accuracy_params_number(params, "cols", 1, 1, 1u << 20);
    s.tile_elems = halves * (uint32_t)accuracy_params_number(params, "tile_elems", 4096, 8, 98304);
    s.buffers = (uint32_t)accuracy_params_number(params, "buffers", 1, 1, 4);
    s.adds = (uint32_t)accuracy_params_number(params, "adds", 1, 1, 1000);
    s.scalar = is_word(params, "unit", units, "vector", "scalar");
    s.no_l2 = is_word(params, "l2", l2_uses, "use", "bypass");
    uint32_t cores = (uint32_t)accuracy_params_number(params, "cores", 1, 1, vector_cores(chip));
    if (params->error[0] == '\0' &&
        (rows * cols * halves > UINT32_MAX || s.tile_elems % 16 ||
         (uint64_t)s.tile_elems * 2 * 3 * s.buffers > chip->caps.ub_bytes)) {
        snprintf(params->error, sizeof(params->error),
                 "tile_elems must be whole blocks of 32 bytes, and three tiles of each of the "
                 "%u buffers must fit UB (%u bytes)",
                 s.buffers, chip->caps.ub_bytes);
    }
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    uint64_t bytes = rows * cols * halves * 2;
    s.elems = (uint32_t)(rows * cols * halves);
    s.is_f32 = halves == 2;
    leo_status status = make_buffers(chip, (uint64_t[]){bytes, bytes, bytes}, 3, addr);
    if (status == LEO_OK) {
        const void *args[] = {&addr[0], &addr[1], &addr[2], &s};
        status = launch(chip, PROGRAM_VECTOR, "stream_add", cores, args, 4, &result->record);
    }
    free_buffers(chip, addr, 3);
    return status;
}

leo_status accuracy_run_ub_vadd(struct accuracy_chip *chip, struct accuracy_params *params,
                                struct accuracy_result *result)
{
    (void)accuracy_params_word(params, "dtype", f32_only);
    uint32_t elems = (uint32_t)accuracy_params_number(params, "elems", 64, 64, 64 * 255);
    uint32_t count = (uint32_t)accuracy_params_number(params, "count", 1, 1, 1u << 20);
    uint32_t src0 =
        (uint32_t)accuracy_params_number(params, "src0", 0, 0, chip->caps.ub_bytes - 32);
    uint32_t src1 =
        (uint32_t)accuracy_params_number(params, "src1", 0, 0, chip->caps.ub_bytes - 32);
    uint32_t dst = (uint32_t)accuracy_params_number(params, "dst", 0, 0, chip->caps.ub_bytes - 32);
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    const void *args[] = {&elems, &count, &src0, &src1, &dst};
    result->operations = count;
    return launch(chip, PROGRAM_VECTOR, "ub_vadd", 1, args, 5, &result->record);
}

// `types`: what the program takes.
static struct tile_walk read_walk(struct accuracy_params *params, const char *const *types)
{
    struct tile_walk walk = {0};
    const uint32_t halves = halves_of(accuracy_params_word(params, "dtype", types));
    walk.rows = (uint32_t)accuracy_params_number(params, "rows", 1, 1, 1u << 16);
    walk.cols = halves * (uint32_t)accuracy_params_number(params, "cols", 1, 1, 1u << 16);
    walk.tile_rows = (uint32_t)accuracy_params_number(params, "tile_rows", 1, 1, 4095);
    walk.tile_cols = halves * (uint32_t)accuracy_params_number(params, "tile_cols", 16, 1, 65520);
    return walk;
}

// Whether a tile lies in UB, its rows in whole blocks; only the split generation cuts blocks.
static bool tile_fits(const struct accuracy_chip *chip, const struct tile_walk *walk)
{
    const bool whole = walk->tile_cols % 16 == 0 && walk->cols % 16 == 0;
    const uint64_t row_bytes = ((uint64_t)walk->tile_cols + 15) / 16 * 32;
    return (whole || chip->caps.vector_cores) && walk->tile_cols <= walk->cols &&
           walk->tile_rows * row_bytes <= chip->caps.ub_bytes;
}

static const char tile_rule[] = "a tile must fit the matrix and UB, and on a coupled chip rows "
                                "must be whole blocks of 32 bytes";

static void expect(struct accuracy_params *params, bool good, const char *what)
{
    if (params->error[0] == '\0' && !good) {
        snprintf(params->error, sizeof(params->error), "%s", what);
    }
}

leo_status accuracy_run_gm_to_ub(struct accuracy_chip *chip, struct accuracy_params *params,
                                 struct accuracy_result *result)
{
    uint64_t addr[1] = {0};
    struct tile_walk walk = read_walk(params, float_types);
    uint32_t cores = (uint32_t)accuracy_params_number(params, "cores", 1, 1, vector_cores(chip));
    uint32_t passes = (uint32_t)accuracy_params_number(params, "passes", 1, 1, 64);
    uint32_t parts = is_word(params, "order", orders, "whole", "quarter") ? 4 : 1;
    expect(params, tile_fits(chip, &walk), tile_rule);
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status =
        make_buffers(chip, (uint64_t[]){(uint64_t)walk.rows * walk.cols * 2}, 1, addr);
    if (status == LEO_OK) {
        const void *args[] = {&addr[0], &walk, &passes, &parts};
        status = launch(chip, PROGRAM_VECTOR, "gm_to_ub", cores, args, 4, &result->record);
    }
    free_buffers(chip, addr, 1);
    return status;
}

leo_status accuracy_run_gm_to_ub_shared(struct accuracy_chip *chip, struct accuracy_params *params,
                                        struct accuracy_result *result)
{
    uint64_t addr[1] = {0};
    struct tile_walk walk = read_walk(params, float_types);
    uint32_t cores = (uint32_t)accuracy_params_number(params, "cores", 1, 1, vector_cores(chip));
    uint32_t staggered = is_word(params, "order", shared_orders, "same", "staggered");
    expect(params, tile_fits(chip, &walk), tile_rule);
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status =
        make_buffers(chip, (uint64_t[]){(uint64_t)walk.rows * walk.cols * 2}, 1, addr);
    if (status == LEO_OK) {
        const void *args[] = {&addr[0], &walk, &staggered};
        status = launch(chip, PROGRAM_VECTOR, "gm_to_ub_shared", cores, args, 3, &result->record);
    }
    free_buffers(chip, addr, 1);
    return status;
}

leo_status accuracy_run_ub_nd2nz(struct accuracy_chip *chip, struct accuracy_params *params,
                                 struct accuracy_result *result)
{
    uint64_t addr[2] = {0};
    struct tile_walk walk = read_walk(params, float_types);
    uint32_t c0_stride =
        (uint32_t)accuracy_params_number(params, "c0_stride", walk.tile_rows, 1, 255);
    uint32_t cores = (uint32_t)accuracy_params_number(params, "cores", 1, 1, vector_cores(chip));
    expect(params,
           walk.tile_rows <= 255 && c0_stride >= walk.tile_rows && walk.tile_cols % 16 == 0 &&
               walk.cols % walk.tile_cols == 0 &&
               ((uint64_t)walk.tile_rows + c0_stride) * walk.tile_cols * 4 <= chip->caps.ub_bytes,
           "tile_rows must be at most 255 and c0_stride, tile_cols a multiple of 16 (f32: 8) that "
           "divides cols, and two tiles each way must fit UB");
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    uint64_t bytes = (uint64_t)walk.rows * walk.cols * 2;
    leo_status status = make_buffers(chip, (uint64_t[]){bytes, bytes}, 2, addr);
    if (status == LEO_OK) {
        const void *args[] = {&addr[0], &addr[1], &walk, &c0_stride};
        status = launch(chip, PROGRAM_VECTOR, "ub_nd2nz", cores, args, 4, &result->record);
    }
    free_buffers(chip, addr, 2);
    return status;
}

leo_status accuracy_run_gm_to_l1_nd2nz(struct accuracy_chip *chip, struct accuracy_params *params,
                                       struct accuracy_result *result)
{
    uint64_t addr[1] = {0};
    struct tile_walk walk = read_walk(params, float_types);
    const uint32_t is_f32 = is_word(params, "dtype", float_types, "f16", "f32");
    uint32_t cores = (uint32_t)accuracy_params_number(params, "cores", 1, 1, chip->caps.cube_cores);
    expect(params,
           (uint64_t)walk.tile_rows * ((walk.tile_cols + 15) / 16 * 32) <= chip->caps.l1_bytes &&
               walk.cols >> is_f32 <= UINT16_MAX,
           "a tile must fit L1, and a row must have at most 65535 columns");
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status =
        make_buffers(chip, (uint64_t[]){(uint64_t)walk.rows * walk.cols * 2}, 1, addr);
    if (status == LEO_OK) {
        const void *args[] = {&addr[0],        &walk.rows,      &walk.cols,
                              &walk.tile_rows, &walk.tile_cols, &is_f32};
        status = launch(chip, PROGRAM_CUBE, "gm_to_l1_nd2nz", cores, args, 6, &result->record);
    }
    free_buffers(chip, addr, 1);
    return status;
}

leo_status accuracy_run_vec_op(struct accuracy_chip *chip, struct accuracy_params *params,
                               struct accuracy_result *result)
{
    struct vec_shape shape;
    if (!accuracy_read_vec_op(params, chip->caps.ub_bytes, &shape)) {
        return LEO_ERR_INVALID_ARG;
    }
    const void *args[] = {&shape};
    result->operations = shape.count;
    return launch(chip, PROGRAM_VEC_OP, "vec_op", 1, args, 1, &result->record);
}

/* Blocks along m and n so that the one with most tiles has few, as near to a square as that
 * allows. */
static void choose_split(const struct matmul_shape *s, uint32_t cores, uint32_t *split)
{
    const uint32_t part_m = s->base_m * s->l2_m, part_n = s->base_n * s->l2_n;
    const uint32_t down = (s->m + part_m - 1) / part_m, across = (s->n + part_n - 1) / part_n;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 1; i <= cores; i++) {
        const uint32_t j = cores / i;
        const uint64_t tiles = (uint64_t)((down + i - 1) / i) * ((across + j - 1) / j);
        const uint64_t edge = tiles << 16 | (i > j ? i - j : j - i);
        if (i * j == cores && edge < least) {
            least = edge;
            split[0] = i;
            split[1] = j;
        }
    }
}

static bool shape_fits(const struct matmul_shape *s, const struct leo_caps *caps)
{
    uint64_t l1 = ((uint64_t)s->base_m * s->depth_a + (uint64_t)s->base_n * s->depth_b) *
                  s->base_k * 2 * s->l1_buffers;
    uint64_t most_l0 = 32768 * (3 - s->l0_buffers);
    return s->base_m % 16 == 0 && s->base_n % 16 == 0 && s->base_k % 16 == 0 && s->base_k &&
           l1 <= caps->l1_bytes && (uint64_t)s->base_m * s->base_k * 2 <= most_l0 &&
           (uint64_t)s->base_n * s->base_k * 2 <= most_l0 &&
           (uint64_t)s->base_m * s->base_n * 4 <= caps->l0c_bytes;
}

/* What the first generation has not: its sizes are whole blocks, and the unit flag and the second
 * version of img2col came with the second. */
static void expect_coupled(const struct accuracy_chip *chip, struct accuracy_params *params,
                           const struct matmul_shape *s)
{
    if (chip->caps.vector_cores == 0) {
        expect(params, !s->unit_flag, "a coupled chip (Ascend 910A) has no unit flag");
        expect(params, !s->load3d,
               "a coupled chip (Ascend 910A) loads L0 by load=2d: its img2col makes a fractal of a "
               "map at a time");
        expect(
            params, s->n % 16 == 0 && s->k % 16 == 0,
            "on a coupled chip (Ascend 910A) n and k must be multiples of 16: its DMA moves whole "
            "blocks of 32 bytes");
    }
}

static void read_matmul(struct accuracy_params *params, struct matmul_shape *s)
{
    uint32_t base[3] = {128, 256, 64}, parts[2] = {1, 1};
    (void)accuracy_params_word(params, "dtype", f16_only);
    s->m = (uint32_t)accuracy_params_number(params, "m", 16, 16, 65520);
    s->n = (uint32_t)accuracy_params_number(params, "n", 16, 16, 65520);
    s->k = (uint32_t)accuracy_params_number(params, "k", 16, 16, 65520);
    // Rows that do not say run as the published example begins: one tile at a time.
    if (accuracy_params_has(params, "base")) {
        accuracy_params_shape(params, "base", base, 3);
    }
    s->base_m = base[0];
    s->base_n = base[1];
    s->base_k = base[2];
    uint32_t depth = (uint32_t)accuracy_params_number(params, "l1_depth", 1, 1, 64);
    // Some rows give the depth of A alone; B is held as deep.
    s->depth_a = (uint32_t)accuracy_params_number(params, "l1_depth_a", depth, 1, 64);
    s->depth_b = (uint32_t)accuracy_params_number(params, "l1_depth_b", s->depth_a, 1, 64);
    s->l1_buffers = 1 + (uint32_t)accuracy_params_number(params, "l1_double", 0, 0, 1);
    s->l0_buffers = (uint32_t)accuracy_params_number(params, "l0_buffers", 1, 1, 2);
    // The published example holds B transposed.
    s->b_transposed = is_word(params, "b", layouts, "transposed", "transposed");
    s->out_f32 = is_word(params, "out", float_types, "f16", "f32");
    s->k_stagger = (uint32_t)accuracy_params_number(params, "k_stagger", 0, 0, 1);
    s->load3d = is_word(params, "load", loads, "2d", "3d");
    s->unit_flag = (uint32_t)accuracy_params_number(params, "unit_flag", 0, 0, 1);
    if (accuracy_params_has(params, "l2_split")) {
        accuracy_params_shape(params, "l2_split", parts, 2);
    }
    s->l2_m = parts[0] ? parts[0] : 1;
    s->l2_n = parts[1] ? parts[1] : 1;
}

leo_status accuracy_run_matmul_tiled(struct accuracy_chip *chip, struct accuracy_params *params,
                                     struct accuracy_result *result)
{
    uint64_t addr[3] = {0};
    uint32_t split[2] = {1, 1};
    struct matmul_shape s = {0};
    read_matmul(params, &s);
    uint32_t cores = (uint32_t)accuracy_params_number(params, "cores", 1, 1, chip->caps.cube_cores);
    if (accuracy_params_has(params, "split")) {
        accuracy_params_shape(params, "split", split, 2);
    } else if (s.base_m && s.base_n) {
        choose_split(&s, cores, split);
    }
    s.split_m = split[0];
    s.split_n = split[1];
    bool fits = s.base_m && split[0] && split[0] * split[1] == cores;
    expect(params, fits && shape_fits(&s, &chip->caps),
           "base must be multiples of 16 that fit L1, L0A, L0B and L0C; split must be two numbers "
           "with the product cores");
    expect_coupled(chip, params, &s);
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    uint64_t bytes[] = {(uint64_t)s.m * s.k * 2, (uint64_t)s.k * s.n * 2,
                        (uint64_t)s.m * s.n * (s.out_f32 ? 4 : 2)};
    leo_status status = make_buffers(chip, bytes, 3, addr);
    if (status == LEO_OK) {
        const void *args[] = {&addr[0], &addr[1], &addr[2], &s};
        status = launch(chip, PROGRAM_CUBE, "matmul_tiled", cores, args, 4, &result->record);
    }
    result->operations = 2.0 * s.m * s.n * s.k;
    free_buffers(chip, addr, 3);
    return status;
}

leo_status accuracy_run_mmad_chain(struct accuracy_chip *chip, struct accuracy_params *params,
                                   struct accuracy_result *result)
{
    (void)accuracy_params_word(params, "dtype", f16_only);
    uint32_t m = (uint32_t)accuracy_params_number(params, "m", 16, 1, 4095);
    uint32_t n = (uint32_t)accuracy_params_number(params, "n", 16, 1, 4095);
    uint32_t k = (uint32_t)accuracy_params_number(params, "k", 16, 1, 4095);
    uint32_t count = (uint32_t)accuracy_params_number(params, "count", 1, 1, 4095);
    uint32_t unit_flag = (uint32_t)accuracy_params_number(params, "unit_flag", 0, 0, 1);
    const uint64_t m1 = (m + 15) / 16, n1 = (n + 15) / 16, k1 = (k / count + 15) / 16;
    expect(params, k >= count, "each of the count products needs a k of its own: k >= count");
    expect(params,
           m1 * k1 * 512 <= chip->caps.l0a_bytes && n1 * k1 * 512 <= chip->caps.l0b_bytes &&
               m1 * n1 * 1024 <= chip->caps.l0c_bytes,
           "m and n times k / count must fit L0A and L0B, m times n L0C: a larger count makes each "
           "product smaller");
    expect(params, !unit_flag || chip->caps.vector_cores,
           "a coupled chip (Ascend 910A) has no unit flag");
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    const void *args[] = {&m, &n, &k, &count, &unit_flag};
    return launch(chip, PROGRAM_CUBE, "mmad_chain", 1, args, 5, &result->record);
}
