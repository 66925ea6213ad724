/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel files: good, damaged, for another chip; what a profile says of their launches. */
#include "fixture.h"

#include <elf.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MUTATIONS = 2000 };

static leo_status load(struct fixture *f, const void *elf, size_t bytes)
{
    struct leo_rt_module *module;
    leo_status status = leo_rt_module_load(f->device, elf, bytes, "test", &module);
    CU_ASSERT_EQUAL(status == LEO_OK, module != NULL);
    leo_rt_module_unload(module);
    return status;
}

// A copy of the 910A file, to be damaged.
static unsigned char *copy_elf(size_t *bytes)
{
    const unsigned char *elf = fixture_elf(fixture_socs[0], bytes);
    unsigned char *copy = malloc(*bytes);
    memcpy(copy, elf, *bytes);
    return copy;
}

static void module_lists_its_kernels(void)
{
    struct fixture f;
    struct leo_rt_kernel *kernel;
    fixture_open(&f, fixture_socs[0]);
    CU_ASSERT_EQUAL(leo_rt_module_kernel_count(f.module), 15);
    CU_ASSERT_PTR_NULL(leo_rt_module_kernel(f.module, 15));
    OK(leo_rt_module_find(f.module, "structs", &kernel));
    CU_ASSERT_EQUAL(leo_rt_kernel_arg_count(kernel), 5);
    struct leo_rt_arg_info info = leo_rt_kernel_arg(kernel, 3);
    CU_ASSERT_EQUAL(info.kind, 'b');
    CU_ASSERT_EQUAL(info.bytes, 48);
    CU_ASSERT_EQUAL(info.align, 8);
    CU_ASSERT_STRING_EQUAL(info.name, "q");
    CU_ASSERT_EQUAL(leo_rt_module_find(f.module, "nothing", &kernel), LEO_ERR_NOT_FOUND);
    CU_ASSERT_PTR_NULL(kernel);
    fixture_close(&f);
}

static void file_for_another_chip_is_refused(void)
{
    struct fixture f;
    size_t bytes;
    fixture_open(&f, fixture_socs[0]);
    const unsigned char *other = fixture_elf(fixture_socs[1], &bytes);
    CU_ASSERT_EQUAL(load(&f, other, bytes), LEO_ERR_WRONG_ARCH);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), "2201"));
    fixture_close(&f);
}

static void file_of_another_machine_is_refused(void)
{
    struct fixture f;
    size_t bytes;
    unsigned char *elf = copy_elf(&bytes);
    Elf64_Ehdr *header = (void *)elf;
    fixture_open(&f, fixture_socs[0]);
    header->e_machine = EM_X86_64;
    CU_ASSERT_EQUAL(load(&f, elf, bytes), LEO_ERR_WRONG_ARCH);
    header->e_machine = EM_RISCV;
    header->e_type = ET_REL;
    CU_ASSERT_EQUAL(load(&f, elf, bytes), LEO_ERR_BAD_ELF);
    header->e_type = ET_DYN;
    header->e_ident[EI_CLASS] = ELFCLASS32;
    CU_ASSERT_EQUAL(load(&f, elf, bytes), LEO_ERR_BAD_ELF);
    header->e_ident[EI_CLASS] = ELFCLASS64;
    OK(load(&f, elf, bytes));
    CU_ASSERT_EQUAL(load(&f, "MZ", 2), LEO_ERR_BAD_ELF);
    CU_ASSERT_EQUAL(load(&f, "", 0), LEO_ERR_BAD_ELF);
    struct leo_rt_module *module;
    CU_ASSERT_EQUAL(leo_rt_module_load_file(f.device, "no/such/file.elf", &module), LEO_ERR_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), "no/such/file.elf"));
    free(elf);
    fixture_close(&f);
}

static void truncated_files_are_refused(void)
{
    struct fixture f;
    size_t bytes;
    unsigned char *elf = copy_elf(&bytes);
    fixture_open(&f, fixture_socs[0]);
    for (size_t keep = 0; keep < bytes; keep += keep < 1024 ? 16 : 509) {
        // In memory of its own, so that a read past the end is seen.
        unsigned char *part = malloc(keep ? keep : 1);
        memcpy(part, elf, keep);
        leo_status status = load(&f, part, keep);
        CU_ASSERT(status != LEO_OK);
        free(part);
    }
    free(elf);
    fixture_close(&f);
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void damaged_files_never_crash_the_host(void)
{
    struct fixture f;
    size_t bytes;
    unsigned char *elf = copy_elf(&bytes);
    uint32_t state = 12345;
    int accepted = 0, refused = 0;
    fixture_open(&f, fixture_socs[0]);
    for (int i = 0; i < MUTATIONS; i++) {
        // Every other time in the headers, where it hurts; of the rest half in the section headers
        // at the end.
        uint32_t at = next_random(&state) % (i % 2 ? 512 : (uint32_t)bytes);
        if (i % 4 == 0) {
            at = (uint32_t)bytes - 1 - at % 4096;
        }
        unsigned char old = elf[at];
        elf[at] ^= (unsigned char)(1u << next_random(&state) % 8);
        struct leo_rt_module *module;
        leo_status status = leo_rt_module_load(f.device, elf, bytes, "damaged", &module);
        if (status) {
            refused++;
            CU_ASSERT(leo_rt_last_error()[0] != '\0');
        } else {
            char file[64];
            int line;
            accepted++;
            for (uint64_t pc = 0; pc < 4096; pc += 256) {
                (void)leo_rt_module_line(module, pc, file, sizeof(file), &line);
            }
            leo_rt_module_unload(module);
        }
        elf[at] = old;
    }
    CU_ASSERT(accepted > 0);
    CU_ASSERT(refused > 0);
    OK(load(&f, elf, bytes));
    fixture_check_alive(&f);
    free(elf);
    fixture_close(&f);
}

static void too_large_on_chip_array_is_named(void)
{
    struct fixture f;
    size_t bytes;
    unsigned char *elf = copy_elf(&bytes);
    const Elf64_Ehdr *header = (void *)elf;
    Elf64_Shdr *sections = (void *)(elf + header->e_shoff);
    fixture_open(&f, fixture_socs[0]);
    for (int i = 0; i < header->e_shnum; i++) {
        if ((sections[i].sh_flags & SHF_ALLOC) && sections[i].sh_addr == 0x10000000 &&
            sections[i].sh_size) {
            sections[i].sh_size = 262144 + 32;
        }
    }
    CU_ASSERT_EQUAL(load(&f, elf, bytes), LEO_ERR_BAD_ELF);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(leo_rt_last_error(), "262176 bytes of UB, this chip (ascend910a) has 262144"));
    free(elf);
    fixture_close(&f);
}

static void unload_while_kernels_run_waits(void)
{
    struct fixture f;
    size_t bytes;
    const unsigned char *elf = fixture_elf(fixture_socs[0], &bytes);
    struct leo_rt_module *module;
    struct leo_rt_kernel *kernel;
    int64_t far = 1 << 20;
    fixture_open(&f, fixture_socs[0]);
    OK(leo_rt_module_load(f.device, elf, bytes, "second", &module));
    OK(leo_rt_module_find(module, "store_at", &kernel));
    const void *args[] = {&f.out, &far};
    OK(leo_rt_launch(kernel, 1, f.stream, args, 2, NULL));
    leo_rt_module_unload(module);
    CU_ASSERT_EQUAL(leo_rt_stream_synchronize(f.stream, -1), LEO_ERR_FAULT);
    CU_ASSERT_PTR_NOT_NULL(strstr(leo_rt_last_error(), "system_kernels.c:"));
    fixture_close(&f);
}

static void profile_names_tasks_and_writes_a_timeline(void)
{
    struct fixture f;
    fixture_open(&f, fixture_socs[1]);
    struct leo_rt_profile_task tasks[16];
    size_t count;
    uint64_t lost;
    CU_ASSERT_EQUAL(leo_rt_profile_tasks(f.device, tasks, 16, &count, &lost), LEO_ERR_STATE);
    OK(leo_rt_profile_start(f.device, 16, 1000));
    CU_ASSERT_EQUAL(leo_rt_profile_start(f.device, 16, 1000), LEO_ERR_STATE);
    uint64_t a;
    OK(leo_rt_memory_alloc(f.device, 65536, &a));
    const void *args[] = {&a, &a, &a};
    OK(leo_rt_memset_async(f.stream, a, 0, 65536));
    OK(leo_rt_launch(fixture_kernel(&f, "add"), 4, f.stream, args, 3, "my \"add\"\n"));
    OK(leo_rt_launch(fixture_kernel(&f, "empty"), 1, f.stream, NULL, 0, NULL));
    OK(leo_rt_stream_synchronize(f.stream, -1));
    OK(leo_rt_profile_tasks(f.device, tasks, 16, &count, &lost));
    CU_ASSERT_EQUAL(count, 3);
    CU_ASSERT_EQUAL(lost, 0);
    CU_ASSERT_STRING_EQUAL(tasks[0].tag, "fill");
    CU_ASSERT_STRING_EQUAL(tasks[1].tag, "my \"add\"\n");
    CU_ASSERT_STRING_EQUAL(tasks[2].tag, "empty");
    CU_ASSERT_EQUAL(tasks[1].record.block_num, 4);
    CU_ASSERT_EQUAL(tasks[1].record.gm_read, 4 * 2 * 256);
    CU_ASSERT_EQUAL(tasks[1].record.gm_write, 4 * 256);
    CU_ASSERT(tasks[1].record.end_ns > tasks[1].record.start_ns);

    char path[] = "/tmp/leo_timeline_XXXXXX";
    int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    OK(leo_rt_profile_write(f.device, path));
    json_t *root = json_load_file(path, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    const json_t *events = json_object_get(root, "traceEvents");
    size_t slices = 0, named = 0, scalar = 0, lines = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *kind = json_string_value(json_object_get(event, "ph"));
        const char *name = json_string_value(json_object_get(event, "name"));
        slices += strcmp(kind, "X") == 0;
        named += strcmp(name, "my \"add\"\n") == 0;
        scalar += strcmp(name, "scalar") == 0;
        const json_t *line = json_object_get(json_object_get(event, "args"), "line");
        lines += line && strstr(json_string_value(line), "system_kernels.c:") != NULL;
        CU_ASSERT(strcmp(kind, "X") != 0 || json_is_number(json_object_get(event, "ts")));
    }
    // Three tasks, and at least two loads, an add and a store in each of four blocks.
    CU_ASSERT(slices >= 3 + 16);
    CU_ASSERT_EQUAL(named, 1);
    CU_ASSERT(scalar >= 4);
    CU_ASSERT(lines >= 16);
    json_decref(root);
    remove(path);
    CU_ASSERT_EQUAL(leo_rt_profile_write(f.device, "/no/such/folder/file"), LEO_ERR_IO);
    OK(leo_rt_profile_stop(f.device));
    OK(leo_rt_memory_free(f.device, a));
    fixture_close(&f);
}

// A child that is ended by its limit of file sizes in the middle of a timeline leaves no file of
// that name.
static void a_timeline_that_was_cut_off_is_not_there(void)
{
    struct fixture f;
    char folder[] = "/tmp/leo_timeline_XXXXXX", path[64];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/timeline.json", folder);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {4096, 4096};
        const void *none = NULL;
        fixture_open(&f, fixture_socs[1]);
        bool good = leo_rt_profile_start(f.device, 400, 1000) == LEO_OK;
        for (int i = 0; i < 300; i++) {
            good = good && leo_rt_launch(fixture_kernel(&f, "empty"), 1, f.stream, none, 0,
                                         "a task") == LEO_OK;
        }
        good = good && leo_rt_stream_synchronize(f.stream, -1) == LEO_OK;
        good = good && setrlimit(RLIMIT_FSIZE, &limit) == 0 && signal(SIGXFSZ, SIG_DFL) != SIG_ERR;
        _exit(good && leo_rt_profile_write(f.device, path) == LEO_OK ? 0 : 1);
    }
    int ended = 0;
    CU_ASSERT_EQUAL(waitpid(child, &ended, 0), child);
    CU_ASSERT_TRUE(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGXFSZ);
    CU_ASSERT_EQUAL(access(path, F_OK), -1);
    strcat(path, ".part");
    CU_ASSERT_EQUAL(remove(path), 0);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"module_lists_its_kernels", module_lists_its_kernels},
        {"file_for_another_chip_is_refused", file_for_another_chip_is_refused},
        {"file_of_another_machine_is_refused", file_of_another_machine_is_refused},
        {"truncated_files_are_refused", truncated_files_are_refused},
        {"damaged_files_never_crash_the_host", damaged_files_never_crash_the_host},
        {"too_large_on_chip_array_is_named", too_large_on_chip_array_is_named},
        {"unload_while_kernels_run_waits", unload_while_kernels_run_waits},
        {"profile_names_tasks_and_writes_a_timeline", profile_names_tasks_and_writes_a_timeline},
        {"a_timeline_that_was_cut_off_is_not_there", a_timeline_that_was_cut_off_is_not_there},
    };
    return leo_test_main("modules", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
