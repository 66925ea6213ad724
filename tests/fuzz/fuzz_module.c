/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged kernel files: loading, looking things up, and launching what got through. */
#include "fuzz.h"

#include <leo/driver.h>
#include <leo/runtime.h>
#include <string.h>

extern const unsigned char fuzz_kernels_elf[];
extern const size_t fuzz_kernels_elf_bytes;

static leo_status open_null(void *user, int index, struct leo_transport **transport)
{
    const struct leo_drv_null_opts opts = {.size = sizeof(opts), .complete = true};
    (void)user;
    (void)index;
    return leo_drv_transport_null_open(&opts, transport);
}

static void use_module(struct leo_rt_module *module, struct leo_rt_stream *stream)
{
    uint64_t words[64] = {0};
    const void *args[64];
    char file[64];
    int line;
    for (unsigned i = 0; i < 64; i++) {
        args[i] = words; // larger arguments reach further: see below
    }
    for (uint64_t pc = 0; pc < 256; pc += 36) {
        (void)leo_rt_module_line(module, pc, file, sizeof(file), &line);
    }
    for (unsigned i = 0; i < leo_rt_module_kernel_count(module); i++) {
        struct leo_rt_kernel *kernel = leo_rt_module_kernel(module, i);
        struct leo_rt_kernel *found;
        unsigned count = leo_rt_kernel_arg_count(kernel);
        bool small = count <= 64;
        fuzz_check(leo_rt_module_find(module, leo_rt_kernel_name(kernel), &found) == LEO_OK,
                   "a kernel is not found");
        for (unsigned arg = 0; arg < count; arg++) {
            struct leo_rt_arg_info info = leo_rt_kernel_arg(kernel, arg);
            fuzz_check(info.name && strchr("psufb", info.kind) && info.kind,
                       "argument without name or kind");
            small = small && info.bytes <= sizeof(words);
        }
        if (small) {
            (void)leo_rt_launch(kernel, 1, stream, args, count, NULL);
        }
    }
    (void)leo_rt_stream_synchronize(stream, 1000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct leo_rt_opts opts = {.size = sizeof(opts), .devices = 1, .open = open_null};
    struct leo_rt *rt = NULL;
    struct leo_rt_device *device = NULL;
    struct leo_rt_stream *stream = NULL;
    struct leo_rt_module *module = NULL;
    fuzz_check(leo_rt_create(&opts, &rt) == LEO_OK &&
                   leo_rt_device_open(rt, 0, &device) == LEO_OK &&
                   leo_rt_stream_create(device, &stream) == LEO_OK,
               "no device");
    leo_status status = leo_rt_module_load(device, data, bytes, "fuzz", &module);
    fuzz_check((status == LEO_OK) == (module != NULL), "module and status differ");
    if (module) {
        use_module(module, stream);
    } else {
        fuzz_check(leo_rt_last_error()[0] != '\0', "no reason given");
    }
    leo_rt_module_unload(module);
    leo_rt_stream_destroy(stream);
    leo_rt_device_close(device);
    leo_rt_destroy(rt);
    return 0;
}

size_t fuzz_seed(unsigned index, uint8_t *data)
{
    if (index || fuzz_kernels_elf_bytes > FUZZ_MAX_BYTES) {
        return 0;
    }
    memcpy(data, fuzz_kernels_elf, fuzz_kernels_elf_bytes);
    return fuzz_kernels_elf_bytes;
}
