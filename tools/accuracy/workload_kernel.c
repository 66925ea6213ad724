/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads that are device programs of their own (device/), for the split chip the published
 * examples ran on. */
#include "accuracy.h"

extern const unsigned char accuracy_vector_elf[];
extern const size_t accuracy_vector_elf_bytes;
extern const unsigned char accuracy_cube_elf[];
extern const size_t accuracy_cube_elf_bytes;

static const char *const f16_only[] = {"f16", NULL};
static const char *const f32_only[] = {"f32", NULL};
static const char *const orders[] = {"whole", NULL};

/** Mirrors struct matmul_shape of device/cube_workloads.c. */
struct matmul_shape {
    uint32_t m, n, k, base_m, base_n, base_k, depth, l1_buffers, l0_buffers, split_m, split_n;
};

static leo_status launch(struct accuracy_chip *chip, bool cube, const char *kernel_name,
                         uint32_t blocks, const void *const *args, unsigned count,
                         struct leo_task_record *record)
{
    struct leo_rt_module *module = NULL;
    struct leo_rt_kernel *kernel;
    struct leo_rt_profile_task task;
    size_t tasks = 0;
    uint64_t lost;
    leo_status status = leo_rt_module_load(
        chip->device, cube ? accuracy_cube_elf : accuracy_vector_elf,
        cube ? accuracy_cube_elf_bytes : accuracy_vector_elf_bytes, "accuracy", &module);
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
        status = leo_rt_stream_synchronize(chip->stream, -1);
    }
    if (status == LEO_OK) {
        status = leo_rt_profile_start(chip->device, 16, 0);
    }
    if (status == LEO_OK) {
        status = leo_rt_launch(kernel, blocks, chip->stream, args, count, kernel_name);
        leo_status end = leo_rt_stream_synchronize(chip->stream, -1);
        status = status == LEO_OK ? end : status;
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
    (void)accuracy_params_word(params, "dtype", f16_only);
    uint64_t rows = accuracy_params_number(params, "rows", 1, 1, 1u << 20);
    uint64_t cols = accuracy_params_number(params, "cols", 1, 1, 1u << 20);
    uint32_t tile_elems = (uint32_t)accuracy_params_number(params, "tile_elems", 4096, 16, 98304);
    uint32_t buffers = (uint32_t)accuracy_params_number(params, "buffers", 1, 1, 4);
    uint32_t cores =
        (uint32_t)accuracy_params_number(params, "cores", 1, 1, chip->caps.vector_cores);
    if (params->error[0] == '\0' &&
        (rows * cols % tile_elems || tile_elems % 16 ||
         (uint64_t)tile_elems * 2 * 3 * buffers > chip->caps.ub_bytes)) {
        snprintf(params->error, sizeof(params->error),
                 "tile_elems must divide rows x cols, be a multiple of 16, and three tiles a "
                 "buffer must fit UB");
    }
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    uint64_t bytes = rows * cols * 2;
    uint32_t tiles = (uint32_t)(rows * cols / tile_elems);
    leo_status status = make_buffers(chip, (uint64_t[]){bytes, bytes, bytes}, 3, addr);
    if (status == LEO_OK) {
        const void *args[] = {&addr[0], &addr[1], &addr[2], &tiles, &tile_elems, &buffers};
        status = launch(chip, false, "stream_add", cores, args, 6, &result->record);
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
    return launch(chip, false, "ub_vadd", 1, args, 5, &result->record);
}

leo_status accuracy_run_gm_to_ub(struct accuracy_chip *chip, struct accuracy_params *params,
                                 struct accuracy_result *result)
{
    uint64_t addr[1] = {0};
    (void)accuracy_params_word(params, "dtype", f16_only);
    uint32_t rows = (uint32_t)accuracy_params_number(params, "rows", 1, 1, 1u << 16);
    uint32_t cols = (uint32_t)accuracy_params_number(params, "cols", 1, 1, 1u << 16);
    uint32_t tile_rows = (uint32_t)accuracy_params_number(params, "tile_rows", 1, 1, 4095);
    uint32_t tile_cols = (uint32_t)accuracy_params_number(params, "tile_cols", 16, 16, 65535);
    uint32_t cores =
        (uint32_t)accuracy_params_number(params, "cores", 1, 1, chip->caps.vector_cores);
    uint32_t passes = (uint32_t)accuracy_params_number(params, "passes", 1, 1, 64);
    if (passes > 1) {
        (void)accuracy_params_word(params, "order", orders);
    }
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    leo_status status = make_buffers(chip, (uint64_t[]){(uint64_t)rows * cols * 2}, 1, addr);
    if (status == LEO_OK) {
        const void *args[] = {&addr[0], &rows, &cols, &tile_rows, &tile_cols, &passes};
        status = launch(chip, false, "gm_to_ub", cores, args, 6, &result->record);
    }
    free_buffers(chip, addr, 1);
    return status;
}

static bool shape_fits(const struct matmul_shape *s, const struct leo_drv_caps *caps)
{
    uint64_t chunk = (uint64_t)s->base_k * s->depth;
    return s->base_m % 16 == 0 && s->base_n % 16 == 0 && s->base_k % 16 == 0 && s->k % chunk == 0 &&
           s->m % s->base_m == 0 && s->n % s->base_n == 0 &&
           (uint64_t)(s->base_m + s->base_n) * chunk * 2 * s->l1_buffers <= caps->l1_bytes &&
           (uint64_t)s->base_m * s->base_k * 2 <= 32768 * (3 - s->l0_buffers) &&
           (uint64_t)s->base_n * s->base_k * 2 <= 32768 * (3 - s->l0_buffers) &&
           (uint64_t)s->base_m * s->base_n * 4 <= caps->l0c_bytes;
}

leo_status accuracy_run_matmul_tiled(struct accuracy_chip *chip, struct accuracy_params *params,
                                     struct accuracy_result *result)
{
    uint64_t addr[3] = {0};
    uint32_t base[3], split[2] = {1, 1};
    struct matmul_shape s = {0};
    if (!accuracy_params_has(params, "base")) {
        snprintf(params->error, sizeof(params->error), "the row does not say its tiles (base=..)");
        return LEO_ERR_UNSUPPORTED;
    }
    (void)accuracy_params_word(params, "dtype", f16_only);
    s.m = (uint32_t)accuracy_params_number(params, "m", 16, 16, 65520);
    s.n = (uint32_t)accuracy_params_number(params, "n", 16, 16, 65520);
    s.k = (uint32_t)accuracy_params_number(params, "k", 16, 16, 65520);
    accuracy_params_shape(params, "base", base, 3);
    s.base_m = base[0];
    s.base_n = base[1];
    s.base_k = base[2];
    s.depth = (uint32_t)accuracy_params_number(params, "l1_depth", 1, 1, 64);
    // Some rows give the depth of A alone; B is held as deep.
    s.depth = (uint32_t)accuracy_params_number(params, "l1_depth_a", s.depth, 1, 64);
    s.l1_buffers = 1 + (uint32_t)accuracy_params_number(params, "l1_double", 0, 0, 1);
    s.l0_buffers = (uint32_t)accuracy_params_number(params, "l0_buffers", 1, 1, 2);
    uint32_t cores = (uint32_t)accuracy_params_number(params, "cores", 1, 1, chip->caps.cube_cores);
    if (cores > 1) {
        accuracy_params_shape(params, "split", split, 2);
    }
    s.split_m = split[0];
    s.split_n = split[1];
    bool fits = base[0] && split[0] && split[0] * split[1] == cores;
    if (!params->error[0] && fits) {
        fits = shape_fits(&s, &chip->caps);
    }
    if (!params->error[0] && !fits) {
        snprintf(params->error, sizeof(params->error),
                 "tiles must divide the matrix, be multiples of 16 and fit L1, L0A, L0B and L0C");
    }
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    uint64_t bytes[] = {(uint64_t)s.m * s.k * 2, (uint64_t)s.k * s.n * 2, (uint64_t)s.m * s.n * 2};
    leo_status status = make_buffers(chip, bytes, 3, addr);
    if (status == LEO_OK) {
        const void *args[] = {&addr[0], &addr[1], &addr[2], &s};
        status = launch(chip, true, "matmul_tiled", cores, args, 4, &result->record);
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
    (void)accuracy_params_number(params, "unit_flag", 0, 0, 0);
    if (!accuracy_params_end(params)) {
        return LEO_ERR_INVALID_ARG;
    }
    const void *args[] = {&m, &n, &k, &count};
    return launch(chip, true, "mmad_chain", 1, args, 4, &result->record);
}
