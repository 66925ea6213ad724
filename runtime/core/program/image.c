/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"
#include "symbol.h"

#include <leo/alloc.h>
#include <string.h>

typedef unsigned long long ull; // for printf

static leo_status bad_elf(const struct rt_image *image, const char *why)
{
    return rt_fail(LEO_ERR_BAD_ELF, "%s: %s", image->name, why);
}

static leo_status check_header(const struct rt_image *image)
{
    Elf64_Ehdr header;
    if (image->file_bytes < sizeof(header) || memcmp(image->file, ELFMAG, SELFMAG) != 0) {
        return bad_elf(image, "not an ELF file");
    }
    memcpy(&header, image->file, sizeof(header));
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
        return bad_elf(image, "not a 64-bit little-endian ELF file");
    }
    if (header.e_machine != EM_RISCV) {
        return rt_fail(LEO_ERR_WRONG_ARCH,
                       "%s: ELF machine %u is not RISC-V (%u): compile it with leo-cc", image->name,
                       header.e_machine, EM_RISCV);
    }
    if (header.e_type != ET_DYN) {
        return bad_elf(image, "not a position-independent (ET_DYN) file: link it with leo-cc");
    }
    return LEO_OK;
}

// Extents found while walking the segments.
struct layout {
    uint64_t ro_end, rw_start, file_end, end, text_start, text_end, stack;
};

static leo_status add_segment(const struct rt_image *image, const GElf_Phdr *seg,
                              struct layout *layout)
{
    if (seg->p_filesz > seg->p_memsz || seg->p_offset > image->file_bytes ||
        seg->p_filesz > image->file_bytes - seg->p_offset) {
        return bad_elf(image, "a segment lies outside the file: it is cut off or damaged");
    }
    if (seg->p_memsz > RT_IMAGE_MAX || seg->p_vaddr > RT_IMAGE_MAX - seg->p_memsz) {
        return rt_fail(LEO_ERR_BAD_ELF,
                       "%s: a segment of %llu bytes at 0x%llx makes the image larger than %d bytes",
                       image->name, (ull)seg->p_memsz, (ull)seg->p_vaddr, RT_IMAGE_MAX);
    }
    uint64_t file_end = seg->p_vaddr + seg->p_filesz, end = seg->p_vaddr + seg->p_memsz;
    if (seg->p_flags & PF_W) {
        layout->rw_start = seg->p_vaddr < layout->rw_start ? seg->p_vaddr : layout->rw_start;
        layout->file_end = file_end > layout->file_end ? file_end : layout->file_end;
        layout->end = end > layout->end ? end : layout->end;
    } else {
        layout->ro_end = end > layout->ro_end ? end : layout->ro_end;
    }
    if (seg->p_flags & PF_X) {
        layout->text_start = seg->p_vaddr < layout->text_start ? seg->p_vaddr : layout->text_start;
        layout->text_end = end > layout->text_end ? end : layout->text_end;
    }
    return LEO_OK;
}

static leo_status find_layout(const struct rt_image *image, struct layout *layout)
{
    *layout = (struct layout){
        .rw_start = UINT64_MAX, .text_start = UINT64_MAX, .stack = RT_IMAGE_STACK_DEFAULT};
    size_t count;
    if (elf_getphdrnum(image->elf, &count)) {
        return bad_elf(image, "the program headers cannot be read");
    }
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr seg;
        if (!gelf_getphdr(image->elf, (int)i, &seg)) {
            return bad_elf(image, "the program headers cannot be read");
        }
        if (seg.p_type == PT_LOAD && seg.p_vaddr < LEO_MAP_IMAGE && seg.p_memsz) {
            leo_status status = add_segment(image, &seg, layout);
            if (status) {
                return status;
            }
        } else if (seg.p_type == PT_GNU_STACK && seg.p_memsz) {
            if (seg.p_memsz > RT_IMAGE_STACK_MAX) {
                return bad_elf(image, "it asks for a stack of more than 8 MiB");
            }
            layout->stack = (seg.p_memsz + 15) / 16 * 16;
        }
    }
    if (layout->text_start >= layout->text_end) {
        return bad_elf(image, "there is no code in it");
    }
    if (layout->rw_start != UINT64_MAX && layout->rw_start < layout->ro_end) {
        return bad_elf(image, "read-only parts stand behind writable ones: link it with leo-cc");
    }
    return LEO_OK;
}

static void fill_desc(const struct layout *layout, const struct leo_caps *caps,
                      struct leo_image_desc *desc)
{
    bool writable = layout->rw_start != UINT64_MAX;
    // A writable part without file bytes still starts where it is linked.
    uint64_t bytes = !writable                             ? layout->ro_end
                     : layout->file_end > layout->rw_start ? layout->file_end
                                                           : layout->rw_start;
    *desc = (struct leo_image_desc){
        .magic = LEO_IMAGE_MAGIC,
        .arch = caps->arch,
        .bytes = bytes,
        .rw_offset = writable ? layout->rw_start : bytes,
        .rw_bytes = writable ? bytes - layout->rw_start : 0,
        .bss_bytes = writable && layout->end > bytes ? layout->end - bytes : 0,
        .stack_bytes = layout->stack,
        .text_offset = layout->text_start,
        .text_bytes = layout->text_end - layout->text_start,
    };
}

enum { ARRAYS_MAX = 4096 };

/* The on-chip arrays among the symbols: objects in the windows of the buffers. `out` NULL only
 * counts. */
static size_t list_arrays(const struct rt_image *image, struct leo_image_array *out)
{
    Elf_Scn *section = NULL;
    size_t count = 0;
    while ((section = elf_nextscn(image->elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB) {
            continue;
        }
        Elf_Data *data = elf_getdata(section, NULL);
        GElf_Sym symbol;
        for (int i = 0; data && count < ARRAYS_MAX && gelf_getsym(data, i, &symbol); i++) {
            const uint64_t addr = symbol.st_value + LEO_MAP_IMAGE;
            if (GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size != 0 &&
                addr >= LEO_MAP_WINDOWS && addr < LEO_MAP_WINDOWS_END) {
                if (out) {
                    out[count] = (struct leo_image_array){addr, symbol.st_size};
                }
                count++;
            }
        }
    }
    return count;
}

static leo_status copy_segments(struct rt_image *image)
{
    const size_t arrays = list_arrays(image, NULL);
    const uint64_t arrays_at = (image->desc.bytes + 7) & ~UINT64_C(7);
    if (arrays) {
        image->desc.bytes = arrays_at + arrays * sizeof(struct leo_image_array);
    }
    image->flat = leo_calloc(1, sizeof(image->desc) + image->desc.bytes);
    if (!image->flat) {
        return rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", image->name);
    }
    memcpy(image->flat, &image->desc, sizeof(image->desc));
    size_t count;
    elf_getphdrnum(image->elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr seg;
        if (gelf_getphdr(image->elf, (int)i, &seg) && seg.p_type == PT_LOAD &&
            seg.p_vaddr < LEO_MAP_IMAGE && seg.p_memsz) {
            memcpy(image->flat + sizeof(image->desc) + seg.p_vaddr, image->file + seg.p_offset,
                   seg.p_filesz);
        }
    }
    if (arrays) {
        list_arrays(image, (void *)(image->flat + sizeof(image->desc) + arrays_at));
    }
    return LEO_OK;
}

static leo_status apply_relocations(struct rt_image *image, uint64_t table, uint64_t bytes)
{
    uint8_t *base = image->flat + sizeof(image->desc);
    uint64_t size = image->desc.bytes;
    if (bytes % sizeof(Elf64_Rela) || bytes > size || table > size - bytes) {
        return bad_elf(image, "the relocation table lies outside the image");
    }
    for (uint64_t at = table; at < table + bytes; at += sizeof(Elf64_Rela)) {
        Elf64_Rela rela;
        memcpy(&rela, base + at, sizeof(rela));
        if (ELF64_R_TYPE(rela.r_info) == R_RISCV_NONE) {
            continue;
        }
        if (ELF64_R_TYPE(rela.r_info) != R_RISCV_RELATIVE) {
            return rt_fail(
                LEO_ERR_BAD_ELF,
                "%s: relocation of type %u at 0x%llx: only R_RISCV_RELATIVE can be loaded, "
                "an undefined symbol may be the reason",
                image->name, (unsigned)ELF64_R_TYPE(rela.r_info), (ull)rela.r_offset);
        }
        if (size < 8 || rela.r_offset > size - 8) {
            return bad_elf(image, "a relocation points outside the image");
        }
        uint64_t value = (uint64_t)rela.r_addend + LEO_MAP_IMAGE;
        memcpy(base + rela.r_offset, &value, sizeof(value));
    }
    return LEO_OK;
}

static leo_status relocate(struct rt_image *image)
{
    GElf_Phdr seg = {0};
    size_t count;
    elf_getphdrnum(image->elf, &count);
    for (size_t i = 0; i < count && seg.p_type != PT_DYNAMIC; i++) {
        gelf_getphdr(image->elf, (int)i, &seg);
    }
    if (seg.p_type != PT_DYNAMIC) {
        return LEO_OK;
    }
    if (seg.p_filesz > image->file_bytes || seg.p_offset > image->file_bytes - seg.p_filesz) {
        return bad_elf(image, "the dynamic segment lies outside the file");
    }
    uint64_t table = 0, bytes = 0;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= seg.p_filesz; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn dyn;
        memcpy(&dyn, image->file + seg.p_offset + at, sizeof(dyn));
        if (dyn.d_tag == DT_NULL) {
            break;
        }
        if (dyn.d_tag == DT_RELA) {
            table = dyn.d_un.d_ptr;
        } else if (dyn.d_tag == DT_RELASZ) {
            bytes = dyn.d_un.d_val;
        } else if (dyn.d_tag == DT_JMPREL || dyn.d_tag == DT_REL || dyn.d_tag == DT_NEEDED) {
            return bad_elf(image, "it needs a dynamic linker: link it with leo-cc");
        }
    }
    return apply_relocations(image, table, bytes);
}

// On-chip arrays are allocated by their link addresses; what does not fit this chip must not be
// loaded.
static leo_status check_on_chip(const struct rt_image *image, const struct leo_caps *caps)
{
    const struct {
        const char *name;
        uint32_t bytes;
    } buffers[] = {
        {"UB", caps->ub_bytes},   {"L1", caps->l1_bytes},   {"L0A", caps->l0a_bytes},
        {"L0B", caps->l0b_bytes}, {"L0C", caps->l0c_bytes},
    };
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(image->elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header)) {
            return bad_elf(image, "the section headers cannot be read");
        }
        if (!(header.sh_flags & SHF_ALLOC) || header.sh_addr < LEO_MAP_IMAGE || !header.sh_size) {
            continue;
        }
        uint64_t index = (header.sh_addr - LEO_MAP_IMAGE) >> 24, offset = header.sh_addr & 0xffffff;
        if (index >= 7 || header.sh_size > 1 << 24) {
            return rt_fail(LEO_ERR_BAD_ELF,
                           "%s: a section at link address 0x%llx is in no on-chip buffer",
                           image->name, (ull)header.sh_addr);
        }
        if (index < sizeof(buffers) / sizeof(buffers[0]) &&
            offset + header.sh_size > buffers[index].bytes) {
            return rt_fail(LEO_ERR_BAD_ELF,
                           "%s: its arrays take %llu bytes of %s, this chip (%s) has %u",
                           image->name, (ull)(offset + header.sh_size), buffers[index].name,
                           caps->soc_name, buffers[index].bytes);
        }
    }
    return LEO_OK;
}

static bool is_called(const char *symbol, const GElf_Sym *entry, const char *name, bool plain)
{
    return plain ? GELF_ST_TYPE(entry->st_info) == STT_OBJECT && rt_symbol_is(symbol, name)
                 : strcmp(symbol, name) == 0;
}

// Looks a symbol up in .symtab, or in .dynsym if the file is stripped.
static bool find_symbol(const struct rt_image *image, const char *name, bool plain, GElf_Sym *found)
{
    for (int pass = 0; pass < 2; pass++) {
        Elf_Scn *section = NULL;
        while ((section = elf_nextscn(image->elf, section))) {
            GElf_Shdr header;
            if (!gelf_getshdr(section, &header) ||
                header.sh_type != (pass ? SHT_DYNSYM : SHT_SYMTAB)) {
                continue;
            }
            Elf_Data *data = elf_getdata(section, NULL);
            GElf_Sym symbol;
            for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
                const char *text = elf_strptr(image->elf, header.sh_link, symbol.st_name);
                if (text && symbol.st_shndx != SHN_UNDEF && is_called(text, &symbol, name, plain)) {
                    *found = symbol;
                    return true;
                }
            }
        }
    }
    return false;
}

bool rt_image_find(const struct rt_image *image, const char *name, GElf_Sym *found)
{
    return find_symbol(image, name, false, found) || find_symbol(image, name, true, found);
}

bool rt_image_symbol(const struct rt_image *image, const char *name, uint64_t *value)
{
    GElf_Sym symbol;
    bool found = rt_image_find(image, name, &symbol);
    *value = found ? symbol.st_value : 0;
    return found;
}

static leo_status add_kernel(struct rt_image *image, const char *note, size_t bytes,
                             const struct leo_caps *caps)
{
    struct leo_rt_kernel *kernels =
        leo_realloc(image->kernels, (image->kernel_count + 1) * sizeof(*kernels));
    if (!kernels) {
        return rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", image->name);
    }
    image->kernels = kernels;
    struct leo_rt_kernel *kernel = &kernels[image->kernel_count];
    leo_status status = rt_kernel_parse(image, note, bytes, kernel);
    if (status) {
        return status;
    }
    image->kernel_count++;
    status = rt_kernel_check_chip(image, kernel, caps);
    if (status) {
        return status;
    }
    uint64_t entry;
    if (!rt_image_symbol(image, kernel->name, &entry)) {
        return rt_fail(LEO_ERR_BAD_ELF, "%s: a note names kernel %s, but there is no such symbol",
                       image->name, kernel->name);
    }
    const struct leo_image_desc *desc = &image->desc;
    if (entry % 4 || entry < desc->text_offset || entry - desc->text_offset >= desc->text_bytes) {
        return rt_fail(LEO_ERR_BAD_ELF, "%s: kernel %s starts at 0x%llx, outside the code",
                       image->name, kernel->name, (ull)entry);
    }
    kernel->entry = (uint32_t)entry;
    return LEO_OK;
}

static leo_status read_notes(struct rt_image *image, Elf_Data *data, const struct leo_caps *caps)
{
    GElf_Nhdr note;
    size_t at = 0, name, desc;
    while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
        const char *bytes = data->d_buf;
        if (note.n_type == 1 && note.n_namesz == 4 && memcmp(bytes + name, "LEO", 4) == 0) {
            leo_status status = add_kernel(image, bytes + desc, note.n_descsz, caps);
            if (status) {
                return status;
            }
        }
    }
    return LEO_OK;
}

static leo_status find_kernels(struct rt_image *image, const struct leo_caps *caps)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(image->elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE) {
            leo_status status = read_notes(image, elf_getdata(section, NULL), caps);
            if (status) {
                return status;
            }
        }
    }
    return image->kernel_count
               ? LEO_OK
               : bad_elf(image, "no kernel in it (no LEO note): was it compiled with leo-cc?");
}

static leo_status parse_image(struct rt_image *image, const struct leo_caps *caps)
{
    leo_status status = check_header(image);
    if (status) {
        return status;
    }
    elf_version(EV_CURRENT);
    image->elf = elf_memory(image->file, image->file_bytes);
    if (!image->elf || elf_kind(image->elf) != ELF_K_ELF) {
        return bad_elf(image, "libelf cannot read it: it is cut off or damaged");
    }
    struct layout layout;
    status = find_layout(image, &layout);
    if (status) {
        return status;
    }
    fill_desc(&layout, caps, &image->desc);
    status = copy_segments(image);
    if (!status) {
        status = relocate(image);
    }
    if (!status) {
        status = check_on_chip(image, caps);
    }
    return status ? status : find_kernels(image, caps);
}

leo_status rt_image_create(const void *elf, size_t bytes, const char *name,
                           const struct leo_caps *caps, struct rt_image **out)
{
    *out = NULL;
    struct rt_image *image = leo_calloc(1, sizeof(*image));
    if (!image) {
        return rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", name);
    }
    image->name = name;
    image->file_bytes = bytes;
    image->file = leo_alloc(bytes);
    leo_status status = LEO_OK;
    if (!image->file) {
        status = rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", name);
    } else {
        memcpy(image->file, elf, bytes);
        status = parse_image(image, caps);
    }
    if (status) {
        rt_image_destroy(image);
        return status;
    }
    *out = image;
    return LEO_OK;
}

void rt_image_destroy(struct rt_image *image)
{
    if (!image) {
        return;
    }
    for (unsigned i = 0; i < image->kernel_count; i++) {
        rt_kernel_finish(&image->kernels[i]);
    }
    leo_free(image->kernels);
    if (image->dwarf) {
        dwarf_end(image->dwarf);
    }
    elf_end(image->elf);
    leo_free(image->flat);
    leo_free(image->file);
    leo_free(image);
}

bool rt_image_word(const struct rt_image *image, uint64_t link, uint32_t *word)
{
    size_t count = 0;
    GElf_Phdr header;
    elf_getphdrnum(image->elf, &count);
    for (size_t i = 0; i < count && gelf_getphdr(image->elf, (int)i, &header); i++) {
        uint64_t offset = link - header.p_vaddr;
        if (header.p_type == PT_LOAD && offset < header.p_filesz &&
            header.p_filesz - offset >= sizeof(*word)) {
            memcpy(word, image->file + header.p_offset + offset, sizeof(*word));
            return true;
        }
    }
    return false;
}
