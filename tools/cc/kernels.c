/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <leo/insn.h>
#include <leo/isa_enums.h>
#include <string.h>
#include <unistd.h>

/* One image opened for reading. */
struct image {
    Elf *elf;
    Dwarf *dwarf;
    Elf_Data *symbols;
    size_t symbol_count;
    size_t names; /* section index of the symbols' names */
};

static const char no_kernel[] =
    "no kernel in the source. A kernel is a void function declared like this:\n"
    "    #include <leo/device.h>\n"
    "    __global__ __aicore__ void add(__gm__ half *x, __gm__ half *y, uint32_t count)\n"
    "    {\n"
    "        ...\n"
    "    }\n"
    "(C++: put extern \"C\" before it to keep the name; on ascend910b1 add __vector__, __cube__ or "
    "__mix__(1, 2))";

static leo_status open_image(int fd, const char *path, struct image *image,
                             const struct cc_fail *fail)
{
    elf_version(EV_CURRENT);
    image->elf = elf_begin(fd, ELF_C_READ, NULL);
    image->dwarf = image->elf ? dwarf_begin_elf(image->elf, DWARF_C_READ, NULL) : NULL;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while (image->elf && (section = elf_nextscn(image->elf, section))) {
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM &&
            header.sh_entsize > 0) {
            image->symbols = elf_getdata(section, NULL);
            image->symbol_count = header.sh_size / header.sh_entsize;
            image->names = header.sh_link;
        }
    }
    if (!image->symbols) {
        return cc_fail(fail, LEO_ERR_BAD_ELF, "%s: %s", path,
                       image->elf ? "no dynamic symbols" : elf_errmsg(-1));
    }
    if (!image->dwarf) {
        return cc_fail(fail, LEO_ERR_UNSUPPORTED,
                       "%s: no debug information: leo-cc derives the parameters of kernels from it",
                       path);
    }
    return LEO_OK;
}

static void close_image(struct image *image)
{
    dwarf_end(image->dwarf);
    elf_end(image->elf);
}

enum {
    CUBE_PIPES = 1 << LEO_PIPE_M | 1 << LEO_PIPE_MTE1 | 1 << LEO_PIPE_FIX,
    VECTOR_PIPES = 1 << LEO_PIPE_V,
};

/* DataCopy of Ascend C holds these where a tensor's place is known only when it runs: they tell
 * nothing about the core. */
static bool tells_nothing(enum leo_insn insn)
{
    return insn == LEO_INSN_COPY_CBUF_TO_BT || insn == LEO_INSN_COPY_CBUF_TO_FBUF;
}

/* True if the code of the symbol holds an instruction of one of the pipes. */
static bool uses_pipes(const struct image *image, const GElf_Sym *symbol, unsigned pipes)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(image->elf, symbol->st_shndx);
    Elf_Data *data = section && gelf_getshdr(section, &header) ? elf_getdata(section, NULL) : NULL;
    uint64_t first = data ? symbol->st_value - header.sh_addr : 0;
    for (uint64_t at = first;
         data && data->d_buf && at + 4 <= first + symbol->st_size && at + 4 <= data->d_size;
         at += 4) {
        uint32_t word;
        struct leo_insn_word insn;
        memcpy(&word, (const char *)data->d_buf + at, sizeof(word));
        if (leo_insn_decode(word, &insn)) {
            if (pipes >> leo_insn_info(insn.insn)->pipe & 1 && !tells_nothing(insn.insn)) {
                return true;
            }
        }
    }
    return false;
}

/* What a kernel in Ascend C says about its kind (isa/device/include/ascendc/kind.h): entries of the
 * section .leo.kind. */
struct said_kind {
    uint64_t place; /* in the kernel */
    uint64_t kind;  /* index of said_kinds */
};

static const char *const said_kinds[] = {"vector", "cube", "vector", "cube", "mix_one", "mix"};
enum { MIX_UNLESS_SAID = 7 };

static Elf_Data *section_named(const struct image *image, const char *name)
{
    size_t names = 0;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    if (elf_getshdrstrndx(image->elf, &names) != 0) {
        return NULL;
    }
    while ((section = elf_nextscn(image->elf, section))) {
        const char *own =
            gelf_getshdr(section, &header) ? elf_strptr(image->elf, names, header.sh_name) : NULL;
        if (own && strcmp(own, name) == 0) {
            return elf_getdata(section, NULL);
        }
    }
    return NULL;
}

/* NULL: the kernel says nothing, or that any core will do. */
static const char *said_kind_of(const struct image *image, const GElf_Sym *symbol)
{
    const Elf_Data *said = section_named(image, ".leo.kind");
    struct said_kind entry;
    const char *unless = NULL;
    for (size_t at = 0; said && said->d_buf && at + sizeof(entry) <= said->d_size;
         at += sizeof(entry)) {
        memcpy(&entry, (const char *)said->d_buf + at, sizeof(entry));
        if (entry.place < symbol->st_value || entry.place >= symbol->st_value + symbol->st_size) {
            continue;
        }
        if (entry.kind < sizeof(said_kinds) / sizeof(said_kinds[0])) {
            return said_kinds[entry.kind];
        }
        unless = entry.kind == MIX_UNLESS_SAID ? "mix" : unless;
    }
    return unless;
}

/* The kind is what the kernel says, or the section's if the kernel is marked; on a split chip an
 * unmarked one is what its code needs. */
static const char *kind_of(const struct image *image, const struct cc_target *target,
                           const GElf_Sym *symbol)
{
    size_t names = 0;
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(image->elf, symbol->st_shndx);
    if (target->arch == 1001) {
        return "aicore";
    }
    const char *said = said_kind_of(image, symbol);
    if (said) {
        return said;
    }
    if (!section || !gelf_getshdr(section, &header) || elf_getshdrstrndx(image->elf, &names) != 0) {
        return "vector";
    }
    const char *name = elf_strptr(image->elf, names, header.sh_name);
    if (name && strcmp(name, ".text.npu.aic") == 0) {
        return "cube";
    }
    if (name && strcmp(name, ".text.npu.aiv") == 0) {
        return "vector";
    }
    if (name && strcmp(name, ".text.npu.mix") == 0) {
        return "mix";
    }
    if (name && strcmp(name, ".text.npu.mix_one") == 0) {
        return "mix_one";
    }
    return uses_pipes(image, symbol, CUBE_PIPES) ? "cube" : "vector";
}

static bool find_symbol(const struct image *image, const char *name, const char *suffix,
                        GElf_Sym *symbol)
{
    const size_t bytes = strlen(name);
    for (size_t i = 1; i < image->symbol_count; i++) {
        const char *own = gelf_getsym(image->symbols, (int)i, symbol)
                              ? elf_strptr(image->elf, image->names, symbol->st_name)
                              : NULL;
        if (own && strncmp(own, name, bytes) == 0 && strcmp(own + bytes, suffix) == 0) {
            return true;
        }
    }
    return false;
}

/* A kernel in parts (parts.h) is of both kinds of cores if one part computes on the cube side and
 * the other on the vector side, unless it says its kind. */
static const char *kind_of_parts(const struct image *image, const GElf_Sym *cube,
                                 const GElf_Sym *vector)
{
    const char *said = cube ? said_kind_of(image, cube) : NULL;
    said = !said && vector ? said_kind_of(image, vector) : said;
    if (said) {
        return said;
    }
    const bool has_cube = cube && uses_pipes(image, cube, CUBE_PIPES);
    const bool has_vector = vector && uses_pipes(image, vector, VECTOR_PIPES);
    return has_cube ? has_vector ? "mix" : "cube" : "vector";
}

static leo_status check_arrays(const struct image *image, const struct cc_target *target,
                               const struct cc_fail *fail)
{
    size_t names = 0;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    leo_status status = elf_getshdrstrndx(image->elf, &names) == 0 ? LEO_OK : LEO_ERR_BAD_ELF;
    while (status == LEO_OK && (section = elf_nextscn(image->elf, section))) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(image->elf, names, header.sh_name) : NULL;
        if (name) {
            status = cc_target_check_section(target, name, header.sh_size, fail);
        }
    }
    return status;
}

static bool is_part(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot && (strcmp(dot, ".aic") == 0 || strcmp(dot, ".aiv") == 0);
}

static leo_status note_kernel(const struct image *image, const struct cc_target *target,
                              const GElf_Sym *symbol, struct cc_kernels *kernels,
                              const struct cc_fail *fail)
{
    const char *name = elf_strptr(image->elf, image->names, symbol->st_name);
    if (!name || !*name) {
        return cc_fail(fail, LEO_ERR_BAD_ELF, "a kernel has no name");
    }
    GElf_Sym cube, vector;
    const bool has_cube = find_symbol(image, name, ".aic", &cube);
    const bool has_vector = find_symbol(image, name, ".aiv", &vector);
    const bool has_parts = has_cube || has_vector;
    const GElf_Sym *described = has_vector ? &vector : has_cube ? &cube : symbol;
    cc_text_add(&kernels->notes, "%s %u %s", name, target->arch,
                has_parts
                    ? kind_of_parts(image, has_cube ? &cube : NULL, has_vector ? &vector : NULL)
                    : kind_of(image, target, symbol));
    leo_status status =
        cc_params_describe(image->dwarf, described->st_value, name, &kernels->notes, fail);
    if (target->tells_tasks) {
        const Elf_Data *shared = section_named(image, ".npu.bt");
        cc_text_add(&kernels->notes, " task%zu", shared ? shared->d_size : 0);
    }
    cc_text_add(&kernels->notes, "\n");
    kernels->count++;
    return status;
}

static leo_status read_kernels(const struct image *image, const struct cc_target *target,
                               struct cc_kernels *kernels, const struct cc_fail *fail)
{
    for (size_t i = 1; i < image->symbol_count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(image->symbols, (int)i, &symbol) ||
            GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
            GELF_ST_VISIBILITY(symbol.st_other) != STV_PROTECTED || symbol.st_shndx == SHN_UNDEF ||
            is_part(elf_strptr(image->elf, image->names, symbol.st_name))) {
            continue;
        }
        leo_status status = note_kernel(image, target, &symbol, kernels, fail);
        if (status != LEO_OK) {
            return status;
        }
    }
    if (kernels->notes.failed) {
        return cc_fail(fail, LEO_ERR_NO_MEMORY, "out of memory");
    }
    return kernels->count > 0 ? LEO_OK : cc_fail(fail, LEO_ERR_NOT_FOUND, "%s", no_kernel);
}

leo_status cc_kernels_read(const char *path, const struct cc_target *target,
                           struct cc_kernels *kernels, const struct cc_fail *fail)
{
    struct image image = {0};
    *kernels = (struct cc_kernels){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return cc_fail(fail, LEO_ERR_IO, "cannot open %s: %s", path, strerror(errno));
    }
    leo_status status = open_image(fd, path, &image, fail);
    if (status == LEO_OK) {
        status = check_arrays(&image, target, fail);
    }
    if (status == LEO_OK) {
        status = read_kernels(&image, target, kernels, fail);
    }
    close_image(&image);
    close(fd);
    if (status != LEO_OK) {
        cc_kernels_finish(kernels);
    }
    return status;
}

void cc_kernels_finish(struct cc_kernels *kernels)
{
    cc_text_finish(&kernels->notes);
    kernels->count = 0;
}
