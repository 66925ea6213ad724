/* SPDX-License-Identifier: Apache-2.0 */
/* One scalar unit without a chip: a static program in flat memory with two Linux calls. The
 * comparison with QEMU. */
#include "bare.h"

#include <leo/alloc.h>
#include <leo/faults.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CALL_WRITE = 64, CALL_EXIT = 93, ECALL = 0x73 };

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

static bool refuse_custom(struct sim_scalar *scalar, struct sim_op *op)
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
        bare->result->exit_code = (int)(a0 & 0xff);
        return false;
    }
    if (number != CALL_WRITE) {
        return fail(scalar, LEO_FAULT_ILLEGAL_INSTRUCTION, number, 0);
    }
    if (a2 > 0) {
        struct sim_region region;
        if (a2 > BARE_IMAGE_BYTES_MAX) {
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

/** "0x40", and where that is. */
static void describe_address(const struct bare *bare, uint64_t addr, char *text, size_t bytes)
{
    for (size_t i = 0; i < bare->segment_count; i++) {
        const struct segment *segment = &bare->segments[i];
        if (addr >= segment->addr && addr - segment->addr < segment->bytes) {
            snprintf(text, bytes, "0x%" PRIx64 ", in %s", addr,
                     i + 1 == bare->segment_count            ? "the stack"
                     : segment->access & SIM_ACCESS_EXEC     ? "the code"
                     : !(segment->access & SIM_ACCESS_WRITE) ? "read-only data"
                                                             : "the data");
            return;
        }
    }
    const struct segment *stack = &bare->segments[bare->segment_count - 1];
    bool below = addr < stack->addr && stack->addr - addr <= BARE_STACK_GAP;
    snprintf(text, bytes, "0x%" PRIx64 ", %s", addr,
             below ? "below the stack of 1 MiB" : "in no segment of the program");
}

static void explain_illegal(const struct sim_scalar *scalar, struct leo_sim_bare_result *result)
{
    uint32_t word = scalar->fault.word, opcode = word & 0x7f;
    const char *why = "no instruction of the scalar unit";
    if (word == ECALL) {
        (void)sim_bare_refuse(result, LEO_OK,
                              "call %" PRIu64
                              " of Linux is not there: only write (%d) and exit (%d) "
                              "are",
                              scalar->x[17], CALL_WRITE, CALL_EXIT);
        return;
    }
    if ((word & 3) != 3) {
        why = "a compressed instruction, or no code; the scalar unit has no compressed ones";
    } else if (opcode == 0x0b || opcode == 0x2b || opcode == 0x5b || opcode == 0x7b) {
        why = "an instruction of the chip's other units, which are not there without a kernel";
    } else if (opcode == 0x53 || (opcode & 0x73) == 0x43) {
        why = "a floating-point instruction that the scalar unit does not have, or its rounding "
              "mode (the one in frm, if it says dyn) is reserved";
    }
    (void)sim_bare_refuse(result, LEO_OK, "word 0x%08" PRIx32 ": %s", word, why);
}

/** What happened, with the names and values that the code of the fault has. */
static void explain(const struct bare *bare, struct leo_sim_bare_result *result, uint64_t limit)
{
    const struct sim_scalar *scalar = &bare->scalar;
    const struct sim_fault *fault = &scalar->fault;
    char where[96];
    describe_address(bare, fault->addr, where, sizeof(where));
    switch ((int)fault->code) {
    case LEO_FAULT_NONE:
        break;
    case LEO_FAULT_ILLEGAL_INSTRUCTION:
        explain_illegal(scalar, result);
        break;
    case LEO_FAULT_GM_OUT_OF_RANGE:
        (void)sim_bare_refuse(result, LEO_OK, "an access to %" PRIu64 " bytes at %s", fault->bytes,
                              where);
        break;
    case LEO_FAULT_GM_READ_ONLY:
        (void)sim_bare_refuse(result, LEO_OK,
                              "an access that is not allowed there: %" PRIu64 " bytes at %s",
                              fault->bytes, where);
        break;
    case LEO_FAULT_BAD_FETCH:
        (void)sim_bare_refuse(result, LEO_OK, "the program went to %s, which is no code%s", where,
                              fault->addr % 4 ? " and no multiple of 4" : "");
        break;
    case LEO_FAULT_BAD_CSR:
        (void)sim_bare_refuse(result, LEO_OK,
                              "control register 0x%" PRIx64 " does not exist or is read-only",
                              fault->addr);
        break;
    case LEO_FAULT_WATCHDOG:
        (void)sim_bare_refuse(result, LEO_OK,
                              "it was stopped after %" PRIu64 " instructions (--limit)", limit);
        break;
    default:
        (void)sim_bare_refuse(result, LEO_OK, "%s", leo_fault_text(fault->code));
        break;
    }
}

static void run_program(struct bare *bare, uint64_t max_instructions)
{
    struct sim_scalar *scalar = &bare->scalar;
    struct leo_sim_bare_result *result = bare->result;
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
    if (stop != SIM_SCALAR_EXITED) {
        result->exit_code = -1;
    }
    result->instructions = scalar->instructions;
    result->fault = (uint16_t)scalar->fault.code;
    result->fault_pc = scalar->fault.pc;
    result->fault_addr = scalar->fault.addr;
    result->fault_word = scalar->fault.word;
    explain(bare, result, max_instructions);
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
    bare->result = result;
    leo_status status = sim_bare_load(bare, elf, elf_bytes);
    if (status == LEO_OK) {
        run_program(bare, max_instructions);
    }
    sim_decoded_destroy(bare->text);
    leo_free(bare->image);
    leo_free(bare->stack);
    leo_free(bare);
    return status;
}
