/* SPDX-License-Identifier: Apache-2.0 */
#include "code.h"

#include "../fault/fault.h"
#include "profile.h"
#include <leo/alloc.h>
#include <leo/code_profile.h>
#include <string.h>

enum { CORES_MAX = 256 };

/** What a unit did for an instruction. */
struct unit_sums {
    uint64_t busy_ps, wait_ps[LEO_STALL_MEMORY + 1], bytes;
    uint8_t pipe;
};

/** An image that ran. */
struct code_image {
    struct code_image *next;
    uint64_t addr, text;
    size_t instructions;
    struct leo_debug_count *count[CORES_MAX]; /**< NULL: the core ran none of it */
    struct unit_sums *sums[CORES_MAX];        /**< while they are reported */
};

struct rt_code {
    struct leo_debugger debugger;
    pthread_mutex_t lock; /**< Protects the list; the chips of several devices ask at one time. */
    struct code_image *images;
};

static struct code_image *find(struct rt_code *code, uint64_t addr)
{
    struct code_image *image = code->images;
    while (image && image->addr != addr) {
        image = image->next;
    }
    return image;
}

static struct leo_debug_count *counts_of(struct rt_code *code, uint64_t addr, unsigned core,
                                         uint64_t text, size_t instructions)
{
    struct code_image *image = find(code, addr);
    if (!image) {
        image = leo_calloc(1, sizeof(*image));
        if (!image) {
            return NULL;
        }
        *image = (struct code_image){
            .next = code->images, .addr = addr, .text = text, .instructions = instructions};
        code->images = image;
    }
    // Another image where one was: its code is not this one's.
    if (core >= CORES_MAX || image->text != text || image->instructions != instructions) {
        return NULL;
    }
    if (!image->count[core]) {
        image->count[core] = leo_calloc(instructions, sizeof(*image->count[core]));
    }
    return image->count[core];
}

static struct leo_debug_count *take_counts(void *user, uint64_t image_addr, unsigned core,
                                           uint64_t text, size_t instructions)
{
    struct rt_code *code = user;
    pthread_mutex_lock(&code->lock);
    struct leo_debug_count *counts = counts_of(code, image_addr, core, text, instructions);
    pthread_mutex_unlock(&code->lock);
    return counts;
}

leo_status rt_code_create(struct rt_code **out)
{
    struct rt_code *code = leo_calloc(1, sizeof(*code));
    *out = code;
    if (!code) {
        return LEO_ERR_NO_MEMORY;
    }
    pthread_mutex_init(&code->lock, NULL);
    code->debugger = (struct leo_debugger){.user = code, .counts = take_counts};
    return LEO_OK;
}

void rt_code_destroy(struct rt_code *code)
{
    if (!code) {
        return;
    }
    while (code->images) {
        struct code_image *image = code->images;
        code->images = image->next;
        for (unsigned core = 0; core < CORES_MAX; core++) {
            leo_free(image->count[core]);
        }
        leo_free(image);
    }
    pthread_mutex_destroy(&code->lock);
    leo_free(code);
}

const struct leo_debugger *rt_code_counter(const struct rt_code *code)
{
    return &code->debugger;
}

bool leo_rt_counts_code(const struct leo_rt_device *device)
{
    return device->rt->code != NULL;
}

static void add_trace(struct rt_code *code, const struct rt_profile *profile,
                      const struct leo_trace_record *record)
{
    const struct leo_rt_kernel *kernel = rt_profile_kernel(profile, record->cmd_id);
    struct code_image *image = kernel ? find(code, kernel->module->image_addr) : NULL;
    const uint64_t index = image ? (record->pc - image->text) / sizeof(uint32_t) : 0;
    // A bar of the scalar unit is a stretch, not an instruction.
    if (!image || record->pipe == LEO_PIPE_S || record->pc < image->text ||
        index >= image->instructions) {
        return;
    }
    struct unit_sums **sums = &image->sums[record->core];
    if (!*sums) {
        *sums = leo_calloc(image->instructions, sizeof(**sums));
    }
    if (*sums) {
        struct unit_sums *sum = &(*sums)[index];
        sum->pipe = record->pipe;
        sum->busy_ps += record->dur_ps;
        sum->bytes += record->gm == LEO_GM_NONE ? 0 : record->bytes;
        if (record->why <= LEO_STALL_MEMORY) {
            sum->wait_ps[record->why] += record->wait_ps;
        }
    }
}

static void tell_core(const struct leo_rt_module *module, const struct code_image *image,
                      unsigned core, leo_rt_code_fn fn, void *user)
{
    char file[1024];
    for (size_t i = 0; image->count[core] && i < image->instructions; i++) {
        const struct leo_debug_count *count = &image->count[core][i];
        const struct unit_sums none = {.pipe = LEO_PIPE_S};
        const struct unit_sums *sum = image->sums[core] ? &image->sums[core][i] : &none;
        struct leo_rt_code_place place = {
            .module = module->name,
            .file = "",
            .core = core,
            .pc = (uint32_t)(image->text + i * sizeof(uint32_t)),
            .count = count->count,
            .scalar_cycles = count->cycles,
            .pipe = sum->busy_ps || sum->pipe ? (enum leo_pipe)sum->pipe : LEO_PIPE_S,
            .busy_ps = sum->busy_ps,
            .bytes = sum->bytes,
        };
        if (count->count == 0) {
            continue;
        }
        memcpy(place.wait_ps, sum->wait_ps, sizeof(place.wait_ps));
        (void)rt_image_word(module->image, place.pc, &place.word);
        if (rt_image_line(module->image, place.pc, file, sizeof(file), &place.line)) {
            place.file = file;
        }
        place.function = rt_fault_function(module->image, place.pc);
        fn(user, &place);
    }
}

static void tell_modules(struct rt_code *code, const struct leo_rt_module *module,
                         leo_rt_code_fn fn, void *user)
{
    for (; module; module = module->next) {
        struct code_image *image = find(code, module->image_addr);
        for (unsigned core = 0; image && core < CORES_MAX; core++) {
            tell_core(module, image, core, fn, user);
            leo_free(image->sums[core]);
            image->sums[core] = NULL;
        }
    }
}

/* Caller holds the device's lock. */
static void tell_device(struct leo_rt_device *device, const struct rt_profile_records *records,
                        leo_rt_code_fn fn, void *user)
{
    struct rt_code *code = device->rt->code;
    for (size_t i = 0; i < records->trace_count; i++) {
        add_trace(code, device->profile, &records->traces[i]);
    }
    tell_modules(code, device->modules, fn, user);
    tell_modules(code, device->profile->unloaded, fn, user);
}

leo_status leo_rt_profile_code(struct leo_rt_device *device, leo_rt_code_fn fn, void *user)
{
    struct rt_profile_records records;
    if (!device->rt->code) {
        return rt_fail(LEO_ERR_STATE, "instructions are not counted: set LEO_PROFILE_CODE=1 before "
                                      "the program starts");
    }
    pthread_mutex_lock(&device->lock);
    leo_status status = rt_profile_read(device, &records);
    if (!status) {
        pthread_mutex_lock(&device->rt->code->lock);
        tell_device(device, &records, fn, user);
        pthread_mutex_unlock(&device->rt->code->lock);
    }
    pthread_mutex_unlock(&device->lock);
    return status;
}
