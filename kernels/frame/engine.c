/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include "cache.h"
#include "program.h"

#include <leo/alloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KERNEL_BUCKETS = 256 };

/** A kernel found before. */
struct found_kernel {
    struct found_kernel *next;
    const char *program;
    struct leo_rt_kernel *kernel;
};

struct op_engine {
    struct leo_rt_device *device;
    struct op_chip numbers;
    unsigned chip;
    struct op_cache *cache;
    pthread_mutex_t lock; /**< protects all below */
    struct leo_rt_module **modules;
    struct found_kernel *kernels[KERNEL_BUCKETS];
};

static void destroy_engine(void *object)
{
    struct op_engine *engine = object;
    op_cache_destroy(engine->cache);
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

static leo_status make_engine(struct leo_rt_device *device, void **out)
{
    struct op_engine *engine = leo_calloc(1, sizeof(*engine));
    struct leo_rt_module **modules = leo_calloc(op_program_total, sizeof(*modules));
    struct op_cache *cache = op_cache_create();
    leo_status status = LEO_OK;
    if (!engine || !modules || !cache) {
        status = leo_rt_fail(LEO_ERR_NO_MEMORY, "out of host memory for the operators of a device");
    } else {
        status = op_chip_of_device(device, &engine->numbers);
    }
    if (status != LEO_OK) {
        leo_free(engine);
        leo_free(modules);
        op_cache_destroy(cache);
        return status;
    }
    engine->device = device;
    engine->modules = modules;
    engine->cache = cache;
    engine->chip = engine->numbers.caps.arch == 1001 ? OP_ON_910A : OP_ON_910B;
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
    return &engine->numbers.caps;
}

const struct op_chip *op_engine_numbers(const struct op_engine *engine)
{
    return &engine->numbers;
}

struct leo_rt_device *op_engine_device(const struct op_engine *engine)
{
    return engine->device;
}

unsigned op_engine_chip(const struct op_engine *engine)
{
    return engine->chip;
}

bool op_engine_widens(const struct op_engine *engine)
{
    return engine->numbers.widens_bf16;
}

// What a row takes in bf16 its column of the 910B says.
uint32_t op_engine_types(const struct op_engine *engine, const struct op_param *param)
{
    const uint32_t own = param->types[engine->chip], bf16 = UINT32_C(1) << OP_TYPE_BF16;
    return own && op_engine_widens(engine) ? own | (param->types[OP_ON_910B] & bf16) : own;
}

struct op_cache *op_engine_cache(const struct op_engine *engine)
{
    return engine->cache;
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
        return leo_rt_fail(LEO_ERR_NOT_FOUND, "device program %s is not in this library", name);
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
