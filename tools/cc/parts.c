/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include "process.h"
#include "target.h"
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <leo/csr.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = CC_PATH_BYTES + 32 };

const struct cc_part cc_parts[CC_PART_COUNT] = {
    {"aic", {"-D__DAV_C220_CUBE__", "-D__DAV_CUBE__"}},
    {"aiv", {"-D__DAV_C220_VEC__", "-D__DAV_VEC__"}},
};

/* Kernels of an object, a line each: protected functions. */
static leo_status read_kernels(const char *path, struct cc_text *names, const struct cc_fail *fail)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return cc_fail(fail, LEO_ERR_IO, "cannot open %s: %s", path, strerror(errno));
    }
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    cc_text_add(names, "\n");
    while (elf && (section = elf_nextscn(elf, section))) {
        Elf_Data *data = gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB
                             ? elf_getdata(section, NULL)
                             : NULL;
        GElf_Sym symbol;
        for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
            if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
                GELF_ST_VISIBILITY(symbol.st_other) == STV_PROTECTED) {
                cc_text_add(names, "%s\n", elf_strptr(elf, header.sh_link, symbol.st_name));
            }
        }
    }
    elf_end(elf);
    close(fd);
    return names->failed ? cc_fail(fail, LEO_ERR_NO_MEMORY, "out of memory") : LEO_OK;
}

/* Names of kernels get the part's suffix; all else becomes local, for the parts' functions of one
 * name are different ones. */
static leo_status separate(const char *prefix, const struct cc_part *part,
                           const struct cc_text *names, bool verbose, const struct cc_fail *fail)
{
    struct cc_args args = {0};
    cc_args_push(&args, "%s", cc_tool_command(CC_TOOL_OBJCOPY));
    cc_args_push(&args, "--remove-section=.group");
    cc_args_push(&args, "--localize-hidden");
    for (const char *line = names->data + 1, *end; (end = strchr(line, '\n')); line = end + 1) {
        int bytes = (int)(end - line);
        cc_args_push(&args, "--redefine-sym=%.*s=%.*s.%s", bytes, line, bytes, line, part->suffix);
    }
    cc_args_push(&args, "%s.%s.o", prefix, part->suffix);
    leo_status status = cc_process_run(CC_TOOL_OBJCOPY, &args, verbose, fail);
    cc_args_finish(&args);
    return status;
}

static bool has_line(const struct cc_text *text, const char *line, int bytes)
{
    for (const char *at = text->data; (at = strchr(at, '\n')); at++) {
        if (strncmp(at + 1, line, (size_t)bytes) == 0 && at[1 + bytes] == '\n') {
            return true;
        }
    }
    return false;
}

/* The kernel by its own name. A part that does not have it leaves it to the other one. */
static void write_switch(FILE *file, const char *name, int bytes, const bool *has)
{
    fprintf(file,
            "    .section .text._parts,\"ax\",@progbits\n    .p2align 2\n"
            "    .globl \"%.*s\"\n    .protected \"%.*s\"\n    .type \"%.*s\",@function\n"
            "\"%.*s\":\n    csrr t1, 0x%x\n    andi t1, t1, 1\n    beqz t1, 1f\n"
            "    tail %.*s.%s\n1:\n    tail %.*s.%s\n    .size \"%.*s\", .-\"%.*s\"\n",
            bytes, name, bytes, name, bytes, name, bytes, name, LEO_CSR_CORE_UNITS, bytes, name,
            has[0] ? "aic" : "aiv", bytes, name, has[1] ? "aiv" : "aic", bytes, name, bytes, name);
}

static leo_status write_switches(const char *prefix, const struct cc_text *names,
                                 const struct cc_fail *fail)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%s.parts.s", prefix);
    FILE *file = fopen(path, "w");
    if (!file) {
        return cc_fail(fail, LEO_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    }
    for (unsigned part = 0; part < CC_PART_COUNT; part++) {
        for (const char *line = names[part].data + 1, *end; (end = strchr(line, '\n'));
             line = end + 1) {
            int bytes = (int)(end - line);
            const bool has[] = {has_line(&names[0], line, bytes), has_line(&names[1], line, bytes)};
            if (part == 0 || !has[0]) {
                write_switch(file, line, bytes, has);
            }
        }
    }
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    return failed ? cc_fail(fail, LEO_ERR_IO, "cannot write %s", path) : LEO_OK;
}

static leo_status assemble(const char *prefix, const char *const *machine, size_t machine_count,
                           bool verbose, const struct cc_fail *fail)
{
    struct cc_args args = {0};
    cc_args_push(&args, "%s", cc_tool_command(CC_TOOL_CLANG));
    for (size_t i = 0; i < machine_count; i++) {
        cc_args_push(&args, "%s", machine[i]);
    }
    cc_args_push(&args, "-c");
    cc_args_push(&args, "%s.parts.s", prefix);
    cc_args_push(&args, "-o%s.parts.o", prefix);
    leo_status status = cc_process_run(CC_TOOL_CLANG, &args, verbose, fail);
    cc_args_finish(&args);
    return status;
}

static leo_status link_parts(const char *prefix, bool verbose, const struct cc_fail *fail)
{
    struct cc_args args = {0};
    cc_args_push(&args, "%s", cc_tool_command(CC_TOOL_LLD));
    cc_args_push(&args, "-r");
    cc_args_push(&args, "%s.aic.o", prefix);
    cc_args_push(&args, "%s.aiv.o", prefix);
    cc_args_push(&args, "%s.parts.o", prefix);
    cc_args_push(&args, "-o%s.o", prefix);
    leo_status status = cc_process_run(CC_TOOL_LLD, &args, verbose, fail);
    cc_args_finish(&args);
    return status;
}

leo_status cc_parts_join(const char *prefix, const char *const *machine, size_t machine_count,
                         bool verbose, const struct cc_fail *fail)
{
    struct cc_text names[CC_PART_COUNT] = {0};
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < CC_PART_COUNT && status == LEO_OK; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof(path), "%s.%s.o", prefix, cc_parts[i].suffix);
        status = read_kernels(path, &names[i], fail);
        if (status == LEO_OK) {
            status = separate(prefix, &cc_parts[i], &names[i], verbose, fail);
        }
    }
    if (status == LEO_OK) {
        status = write_switches(prefix, names, fail);
    }
    if (status == LEO_OK) {
        status = assemble(prefix, machine, machine_count, verbose, fail);
    }
    if (status == LEO_OK) {
        status = link_parts(prefix, verbose, fail);
    }
    for (unsigned i = 0; i < CC_PART_COUNT; i++) {
        cc_text_finish(&names[i]);
    }
    return status;
}

void cc_parts_remove(const char *prefix)
{
    static const char *const ends[] = {".aic.o", ".aiv.o", ".parts.s", ".parts.o"};
    char path[PATH_BYTES];
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", prefix, ends[i]);
        unlink(path);
    }
}
