/* SPDX-License-Identifier: Apache-2.0 */
/* From an ELF file to flat memory and decoded text. */
#include "bare.h"

#include <leo/alloc.h>

#include <gelf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/** A decoded instruction takes five times its word. */
#define TEXT_BYTES_MAX (UINT64_C(16) << 20)

leo_status sim_bare_refuse(struct leo_sim_bare_result *result, leo_status status,
                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(result->text, sizeof(result->text), format, args);
    va_end(args);
    return status;
}

/** What cannot be a program for this scalar unit, reported as what it is; NULL if nothing speaks
 * against it. */
static const char *find_mismatch(const GElf_Ehdr *header)
{
    if (header->e_machine != EM_RISCV) {
        return "it is not for RISC-V";
    }
    if (header->e_ident[EI_CLASS] != ELFCLASS64) {
        return "it is for RV32, and the scalar unit is RV64 (--target=riscv64-unknown-elf)";
    }
    if (header->e_ident[EI_DATA] != ELFDATA2LSB) {
        return "it is big-endian";
    }
    if (header->e_type == ET_DYN) {
        return "it is position-independent (PIE) or a shared object: link it with -static -no-pie";
    }
    if (header->e_type == ET_REL) {
        return "it is an object file that is not linked";
    }
    if (header->e_type != ET_EXEC) {
        return "it is no executable file";
    }
    if (header->e_flags & EF_RISCV_RVC) {
        return "it has compressed instructions (RVC), which the scalar unit does not have: compile "
               "all of it with -march=rv64imafd_zfh or less";
    }
    if (header->e_flags & EF_RISCV_RVE) {
        return "it is for RV64E, with half of the registers";
    }
    return NULL;
}

static leo_status read_segment(struct bare *bare, const GElf_Phdr *p, size_t file_bytes)
{
    struct leo_sim_bare_result *result = bare->result;
    if (p->p_type == PT_INTERP) {
        return sim_bare_refuse(result, LEO_ERR_BAD_ELF,
                               "it needs a dynamic linker: link it with -static");
    }
    if (p->p_type != PT_LOAD || p->p_memsz == 0) {
        return LEO_OK;
    }
    if (bare->segment_count == BARE_SEGMENT_MAX) {
        return sim_bare_refuse(result, LEO_ERR_BAD_ELF, "it has more than %d segments",
                               BARE_SEGMENT_MAX);
    }
    if (p->p_filesz > p->p_memsz || p->p_offset > file_bytes ||
        p->p_filesz > file_bytes - p->p_offset) {
        return sim_bare_refuse(result, LEO_ERR_BAD_ELF,
                               "its segment at 0x%" PRIx64 " lies past the end of the file",
                               p->p_vaddr);
    }
    if (p->p_memsz > BARE_IMAGE_BYTES_MAX || p->p_vaddr > UINT64_MAX - 2 * BARE_IMAGE_BYTES_MAX) {
        return sim_bare_refuse(result, LEO_ERR_BAD_ELF,
                               "its segment at 0x%" PRIx64 " has %" PRIu64 " bytes; %" PRIu64
                               " is the most",
                               p->p_vaddr, p->p_memsz, BARE_IMAGE_BYTES_MAX);
    }
    if ((p->p_flags & PF_W) && (p->p_flags & PF_X)) {
        return sim_bare_refuse(result, LEO_ERR_BAD_ELF,
                               "its segment at 0x%" PRIx64 " is writable and executable (RWX); "
                               "instructions are decoded once: link code and data apart",
                               p->p_vaddr);
    }
    unsigned access = p->p_flags & PF_R ? SIM_ACCESS_READ : 0;
    access |= p->p_flags & PF_X ? SIM_ACCESS_EXEC : p->p_flags & PF_W ? SIM_ACCESS_WRITE : 0;
    bare->segments[bare->segment_count++] =
        (struct segment){p->p_vaddr, p->p_memsz, p->p_offset, p->p_filesz, access};
    bare->low = p->p_vaddr < bare->low ? p->p_vaddr : bare->low;
    bare->high = p->p_vaddr + p->p_memsz > bare->high ? p->p_vaddr + p->p_memsz : bare->high;
    return LEO_OK;
}

/** Collects the PT_LOADs. */
static leo_status read_segments(struct bare *bare, Elf *elf, size_t file_bytes)
{
    size_t count = 0;
    bare->low = UINT64_MAX;
    if (elf_getphdrnum(elf, &count) != 0) {
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr p;
        if (i > INT32_MAX || !gelf_getphdr(elf, (int)i, &p)) {
            return sim_bare_refuse(bare->result, LEO_ERR_BAD_ELF,
                                   "its program headers cannot be read");
        }
        leo_status status = read_segment(bare, &p, file_bytes);
        if (status != LEO_OK) {
            return status;
        }
    }
    if (bare->segment_count == 0) {
        return sim_bare_refuse(bare->result, LEO_ERR_BAD_ELF, "it has nothing to load");
    }
    if (bare->high - bare->low > BARE_IMAGE_BYTES_MAX) {
        return sim_bare_refuse(bare->result, LEO_ERR_BAD_ELF,
                               "its segments lie more than %" PRIu64 " bytes apart",
                               BARE_IMAGE_BYTES_MAX);
    }
    return LEO_OK;
}

/** Decodes the executable segments as one text. */
static leo_status decode_text(struct bare *bare)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < bare->segment_count; i++) {
        const struct segment *segment = &bare->segments[i];
        if (segment->access & SIM_ACCESS_EXEC) {
            low = segment->addr < low ? segment->addr : low;
            high = segment->addr + segment->bytes > high ? segment->addr + segment->bytes : high;
        }
    }
    low = (low + 3) & ~UINT64_C(3);
    if (low >= high) {
        return sim_bare_refuse(bare->result, LEO_ERR_BAD_ELF, "it has no executable segment");
    }
    if (high - low > TEXT_BYTES_MAX) {
        return sim_bare_refuse(bare->result, LEO_ERR_BAD_ELF,
                               "its code spans %" PRIu64 " bytes; %" PRIu64 " is the most",
                               high - low, TEXT_BYTES_MAX);
    }
    return sim_decoded_create(bare->image + (low - bare->low), (size_t)(high - low), low,
                              &bare->text);
}

static leo_status read_elf(struct bare *bare, Elf *elf, size_t file_bytes)
{
    GElf_Ehdr header;
    if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
        return sim_bare_refuse(bare->result, LEO_ERR_BAD_ELF, "it is no ELF file");
    }
    const char *mismatch = find_mismatch(&header);
    if (mismatch) {
        return sim_bare_refuse(bare->result, LEO_ERR_BAD_ELF, "%s", mismatch);
    }
    bare->entry = header.e_entry;
    return read_segments(bare, elf, file_bytes);
}

leo_status sim_bare_load(struct bare *bare, const uint8_t *file, size_t file_bytes)
{
    // libelf asks for a writable buffer; the caller's is not.
    char *copy = leo_alloc(file_bytes ? file_bytes : 1);
    if (!copy) {
        return LEO_ERR_NO_MEMORY;
    }
    memcpy(copy, file, file_bytes);
    Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_memory(copy, file_bytes);
    leo_status status = read_elf(bare, elf, file_bytes);
    elf_end(elf);
    leo_free(copy);
    if (status != LEO_OK) {
        return status;
    }
    bare->image = leo_calloc(1, (size_t)(bare->high - bare->low));
    bare->stack = leo_calloc(1, BARE_STACK_BYTES);
    if (!bare->image || !bare->stack) {
        return LEO_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < bare->segment_count; i++) {
        const struct segment *segment = &bare->segments[i];
        if (segment->file_bytes) {
            memcpy(bare->image + (segment->addr - bare->low), file + segment->file_offset,
                   (size_t)segment->file_bytes);
        }
    }
    status = decode_text(bare);
    uint64_t stack = (bare->high + 2 * BARE_STACK_GAP) & ~(uint64_t)(BARE_STACK_GAP - 1);
    bare->segments[bare->segment_count++] =
        (struct segment){stack, BARE_STACK_BYTES, 0, 0, SIM_ACCESS_READ | SIM_ACCESS_WRITE};
    return status;
}
