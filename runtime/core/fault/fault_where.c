/* SPDX-License-Identifier: Apache-2.0 */
/* Names of what an address belongs to: on-chip array, argument, function. */
#include "../program/symbol.h"
#include "fault.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull; // for printf

// The object of the symbol table that holds `link`, else the last one before it in the same buffer.
static const char *find_object(struct rt_image *image, uint64_t link, GElf_Sym *found)
{
    Elf_Scn *section = NULL;
    const char *name = NULL;
    while ((section = elf_nextscn(image->elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB) {
            continue;
        }
        Elf_Data *data = elf_getdata(section, NULL);
        GElf_Sym symbol;
        for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
            bool candidate = GELF_ST_TYPE(symbol.st_info) == STT_OBJECT &&
                             symbol.st_value <= link && symbol.st_value >> 24 == link >> 24;
            if (candidate && (!name || symbol.st_value > found->st_value)) {
                name = elf_strptr(image->elf, header.sh_link, symbol.st_name);
                *found = symbol;
            }
        }
    }
    return name;
}

void rt_fault_array(struct rt_text *text, const struct rt_fault *fault, enum leo_mem_space space)
{
    uint64_t index = (uint64_t)space - LEO_MEM_SPACE_UB, addr = fault->record->addr;
    uint64_t window = LEO_MAP_WINDOWS + (index << 24);
    uint64_t offset = addr >= window && addr - window < 1u << 24 ? addr - window : addr;
    GElf_Sym symbol;
    if (offset >= 1u << 24) {
        return;
    }
    const char *found =
        find_object(fault->kernel->module->image, window + offset - LEO_MAP_IMAGE, &symbol);
    char name[256];
    if (!found) {
        return;
    }
    rt_symbol_plain(found, name, sizeof(name));
    uint64_t at = window + offset - LEO_MAP_IMAGE - symbol.st_value;
    if (at < symbol.st_size) {
        rt_text_append(text, " (array %s + %llu of %llu bytes)", name, (ull)at,
                       (ull)symbol.st_size);
    } else {
        rt_text_append(text, " (%llu bytes past the end of array %s)", (ull)(at - symbol.st_size),
                       name);
    }
}

void rt_fault_argument(struct rt_text *text, const struct rt_fault *fault)
{
    uint64_t base, size;
    if (!fault->args ||
        leo_drv_memory_nearest(fault->device->drv, fault->record->addr, &base, &size)) {
        return;
    }
    for (unsigned i = 0; i < fault->kernel->arg_count; i++) {
        const struct rt_arg *arg = &fault->kernel->args[i];
        uint64_t value;
        memcpy(&value, fault->args + arg->slot * 8, sizeof(value));
        if (arg->info.kind == 'p' && value - base < size) {
            rt_text_append(text, ", argument %u%s%s%s", i, arg->info.name[0] ? " (" : "",
                           arg->info.name, arg->info.name[0] ? ")" : "");
            return;
        }
    }
}

void rt_fault_limit(struct rt_text *text, const struct rt_fault *fault, enum leo_mem_space space)
{
    const struct leo_caps *caps = &fault->device->caps;
    const uint32_t bytes[LEO_MEM_SPACE_COUNT] = {
        [LEO_MEM_SPACE_UB] = caps->ub_bytes,   [LEO_MEM_SPACE_L1] = caps->l1_bytes,
        [LEO_MEM_SPACE_L0A] = caps->l0a_bytes, [LEO_MEM_SPACE_L0B] = caps->l0b_bytes,
        [LEO_MEM_SPACE_L0C] = caps->l0c_bytes,
    };
    enum leo_core_kind kind = rt_fault_kind(fault);
    bool cube = kind != LEO_CORE_KIND_VECTOR, vector = kind != LEO_CORE_KIND_CUBE;
    if (space == LEO_MEM_SPACE_UB ? !vector : !cube) {
        rt_text_append(text, "; a %s core has no %s", leo_core_kind_name(kind),
                       leo_mem_space_name(space));
    } else if (space < LEO_MEM_SPACE_COUNT && bytes[space]) {
        rt_text_append(text, "; %s has %u bytes", leo_mem_space_name(space), bytes[space]);
    }
}

static int number_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute holder;
    Dwarf_Word value = 0;
    return dwarf_attr(die, attribute, &holder) && !dwarf_formudata(&holder, &value) ? (int)value
                                                                                    : 0;
}

const char *rt_fault_function(struct rt_image *image, uint64_t pc)
{
    Dwarf_Die unit, *scopes = NULL;
    const char *name = NULL;
    int count = rt_image_unit(image, pc, &unit) ? dwarf_getscopes(&unit, pc, &scopes) : 0;
    for (int i = 0; i < count && !name; i++) {
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram) {
            name = dwarf_diename(&scopes[i]);
        }
    }
    free(scopes);
    return name ? name : "?";
}

void rt_fault_inlines(struct rt_text *text, struct rt_image *image, uint64_t pc)
{
    Dwarf_Die unit, *scopes = NULL;
    if (!rt_image_unit(image, pc, &unit)) {
        return;
    }
    int count = dwarf_getscopes(&unit, pc, &scopes);
    Dwarf_Files *files = NULL;
    dwarf_getsrcfiles(&unit, &files, NULL);
    for (int i = 0; i < count; i++) {
        if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine) {
            const char *name = dwarf_diename(&scopes[i]);
            const char *file =
                files ? dwarf_filesrc(files, (size_t)number_of(&scopes[i], DW_AT_call_file), NULL,
                                      NULL)
                      : NULL;
            const char *slash = file ? strrchr(file, '/') : NULL;
            rt_text_append(text, " in %s, called at %s:%d", name ? name : "?",
                           slash  ? slash + 1
                           : file ? file
                                  : "?",
                           number_of(&scopes[i], DW_AT_call_line));
        }
    }
    free(scopes);
}

void rt_fault_caller(struct rt_text *text, struct rt_image *image, uint64_t pc, uint32_t back)
{
    char file[256];
    int line;
    const uint64_t call = back - sizeof(uint32_t);
    if (back && rt_image_line(image, call, file, sizeof(file), &line)) {
        const char *slash = strrchr(file, '/');
        rt_text_append(text, " in %s, called at %s:%d", rt_fault_function(image, pc),
                       slash ? slash + 1 : file, line);
        rt_fault_inlines(text, image, call);
    }
}

bool rt_fault_place(struct rt_text *text, struct rt_image *image, uint64_t pc, uint32_t back)
{
    char file[256];
    int line;
    if (!rt_image_line(image, pc, file, sizeof(file), &line)) {
        return false;
    }
    const char *slash = strrchr(file, '/');
    rt_text_append(text, "%s:%d", slash ? slash + 1 : file, line);
    rt_fault_inlines(text, image, pc);
    rt_fault_caller(text, image, pc, back);
    return true;
}
