/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include "key.h"
#include "plan_internal.h"
#include "program.h"

#include <leo/alloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_SETS = 1024, CACHE_WAYS = 4, KERNEL_BUCKETS = 256 };

/** A kernel found before. */
struct found_kernel {
    struct found_kernel *next;
    const char *program;
    struct leo_rt_kernel *kernel;
};

struct op_engine {
    struct leo_rt_device *device;
    struct leo_caps caps;
    uint32_t block_spread;
    unsigned chip;
    pthread_mutex_t lock; /**< protects all below */
    struct leo_rt_module **modules;
    struct found_kernel *kernels[KERNEL_BUCKETS];
    struct op_plan *plans[CACHE_SETS][CACHE_WAYS]; /**< the most recently used one first */
};

static void destroy_engine(void *object)
{
    struct op_engine *engine = object;
    for (unsigned set = 0; set < CACHE_SETS; set++) {
        for (unsigned way = 0; way < CACHE_WAYS; way++) {
            op_plan_put(engine->plans[set][way]);
        }
    }
    for (unsigned i = 0; i < KERNEL_BUCKETS; i++) {
        while (engine->kernels[i]) {
            struct found_kernel *found = engine->kernels[i];
            engine->kernels[i] = found->next;
            leo_free(found);
        }
    }
    // Modules belong to the device, which frees them.
    leo_free(engine->modules);
    pthread_mutex_destroy(&engine->lock);
    leo_free(engine);
}

// Cycles from the start of a block to that of the next one, by the SoC file.
static leo_status find_spread(struct leo_rt_device *device, const struct leo_caps *caps,
                              uint32_t *cycles)
{
    double ns;
    leo_status status = leo_rt_soc_number(device, "scheduler", "block_spread_ns", &ns);
    *cycles = (uint32_t)(ns * caps->clock_khz / 1e6);
    return status;
}

static leo_status make_engine(struct leo_rt_device *device, void **out)
{
    struct op_engine *engine = leo_calloc(1, sizeof(*engine));
    struct leo_rt_module **modules = leo_calloc(op_program_total, sizeof(*modules));
    leo_status status = LEO_OK;
    if (!engine || !modules) {
        status = leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for the operators of a device");
    } else {
        leo_rt_device_get_caps(device, &engine->caps);
        status = find_spread(device, &engine->caps, &engine->block_spread);
    }
    if (status != LEO_OK) {
        leo_free(engine);
        leo_free(modules);
        return status;
    }
    engine->device = device;
    engine->modules = modules;
    engine->chip = engine->caps.arch == 1001 ? OP_ON_910A : OP_ON_910B;
    pthread_mutex_init(&engine->lock, NULL);
    *out = engine;
    return LEO_OK;
}

leo_status op_engine_get(struct leo_rt_device *device, struct op_engine **engine)
{
    void *object;
    leo_status status = leo_rt_device_attach(device, make_engine, destroy_engine, &object);
    *engine = status == LEO_OK ? object : NULL;
    return status;
}

const struct leo_caps *op_engine_caps(const struct op_engine *engine)
{
    return &engine->caps;
}

uint32_t op_engine_block_spread(const struct op_engine *engine)
{
    return engine->block_spread;
}

struct leo_rt_device *op_engine_device(const struct op_engine *engine)
{
    return engine->device;
}

unsigned op_engine_chip(const struct op_engine *engine)
{
    return engine->chip;
}

static int compare_program(const void *name, const void *program)
{
    return strcmp(name, ((const struct op_program *)program)->name);
}

static leo_status load_program(struct op_engine *engine, const char *name,
                               struct leo_rt_module **out)
{
    const struct op_program *program =
        bsearch(name, op_programs, op_program_total, sizeof(*op_programs), compare_program);
    if (!program) {
        return leo_rt_fail(LEO_ERR_NOT_FOUND, "there is no device program %s", name);
    }
    struct leo_rt_module **module = &engine->modules[program - op_programs];
    if (!*module) {
        const bool coupled = engine->chip == OP_ON_910A;
        const unsigned char *image = coupled ? program->coupled : program->split;
        if (!image) {
            return leo_rt_fail(LEO_ERR_NOT_FOUND, "device program %s is not one of this chip",
                               name);
        }
        leo_status status = leo_rt_module_load(
            engine->device, image, coupled ? *program->coupled_bytes : *program->split_bytes, name,
            module);
        if (status != LEO_OK) {
            return status;
        }
    }
    *out = *module;
    return LEO_OK;
}

static unsigned kernel_bucket(const char *name)
{
    unsigned hash = 0;
    while (*name) {
        hash = hash * 31 + (unsigned char)*name++;
    }
    return hash % KERNEL_BUCKETS;
}

static leo_status find_kernel(struct op_engine *engine, const char *program, const char *name,
                              struct leo_rt_kernel **out)
{
    struct found_kernel **bucket = &engine->kernels[kernel_bucket(name)];
    for (const struct found_kernel *found = *bucket; found; found = found->next) {
        if (strcmp(leo_rt_kernel_name(found->kernel), name) == 0 &&
            strcmp(found->program, program) == 0) {
            *out = found->kernel;
            return LEO_OK;
        }
    }
    struct leo_rt_module *module;
    leo_status status = load_program(engine, program, &module);
    if (status == LEO_OK) {
        status = leo_rt_module_find(module, name, out);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct found_kernel *found = leo_calloc(1, sizeof(*found));
    if (!found) {
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for kernel %s", name);
    }
    *found = (struct found_kernel){*bucket, leo_rt_module_name(module), *out};
    *bucket = found;
    return LEO_OK;
}

leo_status op_engine_kernel(struct op_engine *engine, const char *program, const char *kernel,
                            struct leo_rt_kernel **out)
{
    pthread_mutex_lock(&engine->lock);
    leo_status status = find_kernel(engine, program, kernel, out);
    pthread_mutex_unlock(&engine->lock);
    return status;
}

// The plan of this key with one more reference, or NULL.
static struct op_plan *find_plan(struct op_engine *engine, const struct op_key *key, uint64_t hash)
{
    struct op_plan **set = engine->plans[hash % CACHE_SETS];
    struct op_plan *plan = NULL;
    pthread_mutex_lock(&engine->lock);
    for (unsigned way = 0; way < CACHE_WAYS && set[way] && !plan; way++) {
        if (set[way]->hash == hash && set[way]->key_words == key->count &&
            memcmp(set[way]->key, key->words, key->count * sizeof(*key->words)) == 0) {
            plan = set[way];
            memmove(set + 1, set, way * sizeof(struct op_plan *));
            set[0] = plan;
            atomic_fetch_add(&plan->references, 1);
        }
    }
    pthread_mutex_unlock(&engine->lock);
    return plan;
}

// Keeps the plan in place of the least recently used one. Without memory for the key it is just not
// kept.
static void keep_plan(struct op_engine *engine, const struct op_key *key, uint64_t hash,
                      struct op_plan *plan)
{
    struct op_plan **set = engine->plans[hash % CACHE_SETS];
    plan->key = leo_alloc(key->count * sizeof(*key->words));
    if (!plan->key) {
        return;
    }
    memcpy(plan->key, key->words, key->count * sizeof(*key->words));
    plan->key_words = key->count;
    plan->hash = hash;
    atomic_fetch_add(&plan->references, 1);
    pthread_mutex_lock(&engine->lock);
    struct op_plan *oldest = set[CACHE_WAYS - 1];
    memmove(set + 1, set, (CACHE_WAYS - 1) * sizeof(struct op_plan *));
    set[0] = plan;
    pthread_mutex_unlock(&engine->lock);
    op_plan_put(oldest);
}

leo_status op_engine_plan(struct op_engine *engine, const struct op_row *row,
                          const struct op_value *args, struct op_plan **out)
{
    struct op_key key;
    leo_status status = op_check_args(engine, row, args);
    if (status != LEO_OK) {
        return status;
    }
    if (!op_key_make(&key, row, args)) {
        op_key_finish(&key);
        return leo_rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", row->name);
    }
    const uint64_t hash = op_key_hash(&key);
    struct op_plan *plan = find_plan(engine, &key, hash);
    if (!plan) {
        status = op_plan_make(engine, row, args, &plan);
        if (status == LEO_OK) {
            keep_plan(engine, &key, hash, plan);
        }
    }
    op_key_finish(&key);
    *out = plan;
    return status;
}

static int compare_row(const void *name, const void *row)
{
    return strcmp(name, ((const struct op_row *)row)->name);
}

const struct op_row *op_row_find(const char *name)
{
    return bsearch(name, op_rows, op_row_count, sizeof(*op_rows), compare_row);
}

const char *op_row_attr(const struct op_row *row, const char *key)
{
    for (const struct op_attr *attr = row->attrs; attr->key; attr++) {
        if (strcmp(attr->key, key) == 0) {
            return attr->value;
        }
    }
    return NULL;
}
