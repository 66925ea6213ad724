/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

extern const unsigned char system_1001_elf[], system_2201_elf[];
extern const size_t system_1001_elf_bytes, system_2201_elf_bytes;

const char *const fixture_socs[2] = {"ascend910a", "ascend910b1"};

const unsigned char *fixture_elf(const char *soc, size_t *bytes)
{
    bool first = strcmp(soc, fixture_socs[0]) == 0;
    *bytes = first ? system_1001_elf_bytes : system_2201_elf_bytes;
    return first ? system_1001_elf : system_2201_elf;
}

void fixture_open(struct fixture *f, const char *soc)
{
    const struct leo_rt_opts opts = {.size = sizeof(opts), .soc = soc, .limit_us = 200};
    size_t bytes;
    const unsigned char *elf = fixture_elf(soc, &bytes);
    leo_status status = leo_rt_create(&opts, &f->rt);
    if (status == LEO_OK) {
        status = leo_rt_device_open(f->rt, 0, &f->device);
    }
    if (status == LEO_OK) {
        status = leo_rt_stream_create(f->device, &f->stream);
    }
    if (status == LEO_OK) {
        status = leo_rt_module_load(f->device, elf, bytes, "system", &f->module);
    }
    if (status == LEO_OK) {
        status = leo_rt_memory_alloc(f->device, 4096, &f->out);
    }
    if (status) {
        printf("%s\n", leo_rt_last_error());
    }
    CU_ASSERT_EQUAL_FATAL(status, LEO_OK);
}

void fixture_close(struct fixture *f)
{
    OK(leo_rt_memory_free(f->device, f->out));
    leo_rt_module_unload(f->module);
    leo_rt_stream_destroy(f->stream);
    leo_rt_device_close(f->device);
    leo_rt_destroy(f->rt);
}

struct leo_rt_kernel *fixture_kernel(struct fixture *f, const char *name)
{
    struct leo_rt_kernel *kernel;
    OK(leo_rt_module_find(f->module, name, &kernel));
    return kernel;
}

leo_status fixture_launch(struct fixture *f, const char *kernel, uint32_t blocks,
                          const void *const *args, unsigned count)
{
    leo_status status =
        leo_rt_launch(fixture_kernel(f, kernel), blocks, f->stream, args, count, NULL);
    return status ? status : leo_rt_stream_synchronize(f->stream, -1);
}

void fixture_read(struct fixture *f, int64_t *values, size_t count)
{
    OK(leo_rt_memcpy(f->device, values, (const void *)(uintptr_t)f->out, count * sizeof(*values)));
}

void fixture_check_alive(struct fixture *f)
{
    int64_t value = 1, x = 5;
    int32_t spins = 0;
    OK(leo_rt_memcpy(f->device, (void *)(uintptr_t)f->out, &value, sizeof(value)));
    const void *args[] = {&f->out, &x, &spins};
    OK(fixture_launch(f, "step", 1, args, 3));
    fixture_read(f, &value, 1);
    CU_ASSERT_EQUAL(value, 8);
}
