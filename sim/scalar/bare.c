/* SPDX-License-Identifier: Apache-2.0 */
/* One scalar unit without a chip: a static program in flat memory with two Linux calls. The
 * comparison with QEMU. */
#include "scalar.h"

#include <leo/alloc.h>
#include <leo/sim.h>

#include <gelf.h>
#include <math.h>
#include <string.h>

enum {
    SEGMENT_MAX = 16,
    STACK_BYTES = 1 << 20,
    STACK_GAP = 1 << 16,
    CALL_WRITE = 64,
    CALL_EXIT = 93
};

/** No program of a test needs more; a broken file must not make us reserve the host's memory. */
#define IMAGE_BYTES_MAX (UINT64_C(1) << 30)
/** Decoding takes three times the text. */
#define TEXT_BYTES_MAX (UINT64_C(16) << 20)

struct segment {
    uint64_t addr, bytes, file_offset, file_bytes;
    unsigned access;
};

struct bare {
    struct segment segments[SEGMENT_MAX + 1]; /**< the last is the stack */
    size_t segment_count;
    uint64_t low, high; /**< addresses of the image */
    uint8_t *image, *stack;
    uint64_t entry;
    struct sim_decoded *text;
    void (*write_fn)(void *user, int fd, const void *data, size_t bytes);
    void *user;
    int exit_code;
    struct sim_scalar scalar;
};

static bool fail(struct sim_scalar *scalar, enum leo_fault code, uint64_t addr, uint64_t bytes)
{
    scalar->fault = (struct sim_fault){.code = code, .addr = addr, .bytes = bytes};
    return false;
}

static bool find_region(struct sim_scalar *scalar, uint64_t addr, unsigned bytes,
                        enum sim_access access, struct sim_region *region)
{
    const struct bare *bare = scalar->owner;
    for (size_t i = 0; i < bare->segment_count; i++) {
        const struct segment *segment = &bare->segments[i];
        uint64_t offset = addr - segment->addr;
        if (offset >= segment->bytes || segment->bytes - offset < bytes) {
            continue;
        }
        if ((segment->access & access) != access) {
            return fail(scalar, LEO_FAULT_GM_READ_ONLY, addr, bytes);
        }
        *region = (struct sim_region){
            .base = segment->addr,
            .bytes = segment->bytes,
            .host = i + 1 == bare->segment_count ? bare->stack
                                                 : bare->image + (segment->addr - bare->low),
            .access = segment->access | SIM_ACCESS_MISALIGNED, // as Linux lets a program
            .load_cycles = 1,
            .store_cycles = 1,
        };
        return true;
    }
    return fail(scalar, LEO_FAULT_GM_OUT_OF_RANGE, addr, bytes);
}

static bool refuse_custom(struct sim_scalar *scalar, const struct sim_op *op)
{
    (void)op;
    return fail(scalar, LEO_FAULT_ILLEGAL_INSTRUCTION, 0, 0);
}

static bool read_counter(struct sim_scalar *scalar, unsigned csr, uint64_t *value)
{
    enum { CSR_CYCLE = 0xc00, CSR_TIME = 0xc01, CSR_INSTRET = 0xc02 };
    if (csr < CSR_CYCLE || csr > CSR_INSTRET) {
        return fail(scalar, LEO_FAULT_BAD_CSR, csr, 0);
    }
    *value = scalar->instructions;
    return true;
}

static bool refuse_csr_write(struct sim_scalar *scalar, unsigned csr, uint64_t value)
{
    (void)value;
    return fail(scalar, LEO_FAULT_BAD_CSR, csr, 0);
}

static bool call_linux(struct sim_scalar *scalar)
{
    struct bare *bare = scalar->owner;
    uint64_t number = scalar->x[17], a0 = scalar->x[10], a1 = scalar->x[11], a2 = scalar->x[12];
    if (number == CALL_EXIT) {
        bare->exit_code = (int)(a0 & 0xff);
        return false;
    }
    if (number != CALL_WRITE) {
        return fail(scalar, LEO_FAULT_ILLEGAL_INSTRUCTION, number, 0);
    }
    if (a2 > 0) {
        struct sim_region region;
        if (a2 > IMAGE_BYTES_MAX) {
            return fail(scalar, LEO_FAULT_GM_OUT_OF_RANGE, a1, a2);
        }
        if (!find_region(scalar, a1, (unsigned)a2, SIM_ACCESS_READ, &region)) {
            return false;
        }
        if (bare->write_fn) {
            bare->write_fn(bare->user, (int)a0, region.host + (a1 - region.base), (size_t)a2);
        }
    }
    scalar->x[10] = a2;
    return true;
}

static const struct sim_scalar_env bare_env = {
    .find = find_region,
    .custom = refuse_custom,
    .csr_read = read_counter,
    .csr_write = refuse_csr_write,
    .ecall = call_linux,
};

static bool has_valid_header(Elf *elf, GElf_Ehdr *header)
{
    return elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, header) &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_machine == EM_RISCV && header->e_type == ET_EXEC;
}

/** Collects the PT_LOADs. */
static leo_status read_segments(struct bare *bare, Elf *elf, size_t file_bytes)
{
    size_t count;
    bare->low = UINT64_MAX;
    if (elf_getphdrnum(elf, &count) != 0) {
        return LEO_ERR_BAD_ELF;
    }
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr p;
        if (i > INT32_MAX || !gelf_getphdr(elf, (int)i, &p)) {
            return LEO_ERR_BAD_ELF;
        }
        if (p.p_type == PT_INTERP) {
            return LEO_ERR_BAD_ELF; // not static
        }
        if (p.p_type != PT_LOAD || p.p_memsz == 0) {
            continue;
        }
        if (bare->segment_count == SEGMENT_MAX || p.p_filesz > p.p_memsz ||
            p.p_offset > file_bytes || p.p_filesz > file_bytes - p.p_offset ||
            p.p_memsz > IMAGE_BYTES_MAX || p.p_vaddr > UINT64_MAX - 2 * IMAGE_BYTES_MAX) {
            return LEO_ERR_BAD_ELF;
        }
        unsigned access = p.p_flags & PF_R ? SIM_ACCESS_READ : 0;
        access |= p.p_flags & PF_X ? SIM_ACCESS_EXEC : p.p_flags & PF_W ? SIM_ACCESS_WRITE : 0;
        bare->segments[bare->segment_count++] =
            (struct segment){p.p_vaddr, p.p_memsz, p.p_offset, p.p_filesz, access};
        bare->low = p.p_vaddr < bare->low ? p.p_vaddr : bare->low;
        bare->high = p.p_vaddr + p.p_memsz > bare->high ? p.p_vaddr + p.p_memsz : bare->high;
    }
    return bare->segment_count && bare->high - bare->low <= IMAGE_BYTES_MAX ? LEO_OK
                                                                            : LEO_ERR_BAD_ELF;
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
    if (low >= high || high - low > TEXT_BYTES_MAX) {
        return LEO_ERR_BAD_ELF;
    }
    return sim_decoded_create(bare->image + (low - bare->low), (size_t)(high - low), low,
                              &bare->text);
}

static leo_status load_image(struct bare *bare, const uint8_t *file, size_t file_bytes)
{
    // libelf asks for a writable buffer; the caller's is not.
    char *copy = leo_alloc(file_bytes ? file_bytes : 1);
    if (!copy) {
        return LEO_ERR_NO_MEMORY;
    }
    memcpy(copy, file, file_bytes);
    leo_status status = LEO_ERR_BAD_ELF;
    GElf_Ehdr header;
    Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_memory(copy, file_bytes);
    if (elf && has_valid_header(elf, &header)) {
        bare->entry = header.e_entry;
        status = read_segments(bare, elf, file_bytes);
    }
    elf_end(elf);
    leo_free(copy);
    if (status != LEO_OK) {
        return status;
    }
    bare->image = leo_calloc(1, (size_t)(bare->high - bare->low));
    bare->stack = leo_calloc(1, STACK_BYTES);
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
    uint64_t stack = (bare->high + 2 * STACK_GAP) & ~(uint64_t)(STACK_GAP - 1);
    bare->segments[bare->segment_count++] =
        (struct segment){stack, STACK_BYTES, 0, 0, SIM_ACCESS_READ | SIM_ACCESS_WRITE};
    return status;
}

static void run_program(struct bare *bare, uint64_t max_instructions,
                        struct leo_sim_bare_result *result)
{
    struct sim_scalar *scalar = &bare->scalar;
    const struct segment *stack = &bare->segments[bare->segment_count - 1];
    sim_scalar_reset(scalar);
    scalar->owner = bare;
    scalar->env = &bare_env;
    scalar->text = bare->text;
    scalar->time = (struct sim_scalar_time){1, 1, 1, 1, 1, 1};
    scalar->pc = bare->entry;
    scalar->x[2] = stack->addr + stack->bytes - 64; // argc, argv and envp are read as 0
    // One cycle an instruction, so a limit of time is a limit of instructions.
    enum sim_scalar_stop stop =
        sim_scalar_run(scalar, max_instructions ? (double)max_instructions : HUGE_VAL);
    if (stop == SIM_SCALAR_TIME) {
        scalar->fault = (struct sim_fault){.code = LEO_FAULT_WATCHDOG, .pc = scalar->pc};
    }
    result->exit_code = stop == SIM_SCALAR_EXITED ? bare->exit_code : -1;
    result->instructions = scalar->instructions;
    result->fault = (uint16_t)scalar->fault.code;
    result->fault_pc = scalar->fault.pc;
    result->fault_addr = scalar->fault.addr;
}

leo_status leo_sim_bare_run(const void *elf, size_t elf_bytes,
                            void (*write_fn)(void *user, int fd, const void *data, size_t bytes),
                            void *user, uint64_t max_instructions,
                            struct leo_sim_bare_result *result)
{
    if (!elf || !result) {
        return LEO_ERR_INVALID_ARG;
    }
    *result = (struct leo_sim_bare_result){.exit_code = -1};
    struct bare *bare = leo_calloc(1, sizeof(*bare));
    if (!bare) {
        return LEO_ERR_NO_MEMORY;
    }
    bare->write_fn = write_fn;
    bare->user = user;
    leo_status status = load_image(bare, elf, elf_bytes);
    if (status == LEO_OK) {
        run_program(bare, max_instructions, result);
    }
    sim_decoded_destroy(bare->text);
    leo_free(bare->image);
    leo_free(bare->stack);
    leo_free(bare);
    return status;
}
