/* SPDX-License-Identifier: Apache-2.0 */
/* Any text on a scalar unit of its own, for a bounded time. */
#include "fuzz.h"

#include "scalar/scalar.h"
#include <stdlib.h>
#include <string.h>

#define TEXT_BASE   UINT64_C(0x10000000)
#define MEMORY_BASE UINT64_C(0x20000)
enum { MEMORY_BYTES = 256, LIMIT_CYCLES = 5000, CSR_OURS = 0x800 };

static bool find(struct sim_scalar *scalar, uint64_t addr, unsigned bytes, enum sim_access access,
                 struct sim_region *region)
{
    uint64_t offset = addr - MEMORY_BASE;
    unsigned misaligned = addr >> 32 & 1 ? 0 : SIM_ACCESS_MISALIGNED;
    if (offset >= MEMORY_BYTES || MEMORY_BYTES - offset < bytes || access == SIM_ACCESS_EXEC) {
        scalar->fault.code = LEO_FAULT_GM_OUT_OF_RANGE;
        scalar->fault.addr = addr;
        return false;
    }
    *region = (struct sim_region){MEMORY_BASE,
                                  MEMORY_BYTES,
                                  scalar->owner,
                                  SIM_ACCESS_READ | SIM_ACCESS_WRITE | misaligned,
                                  3,
                                  2};
    return true;
}

static bool custom(struct sim_scalar *scalar, struct sim_op *op)
{
    scalar->cycle += op->insn % 8;
    return op->insn % 16 != 0; // blocked: stops the run
}

static bool csr_read(struct sim_scalar *scalar, unsigned csr, uint64_t *value)
{
    *value = csr;
    if (csr < CSR_OURS) {
        scalar->fault.code = LEO_FAULT_BAD_CSR;
    }
    return csr >= CSR_OURS;
}

static bool csr_write(struct sim_scalar *scalar, unsigned csr, uint64_t value)
{
    return csr_read(scalar, csr, &value);
}

static bool ecall(struct sim_scalar *scalar)
{
    return scalar->x[17] != 93;
}

static const struct sim_scalar_env env = {
    .find = find,
    .custom = custom,
    .csr_read = csr_read,
    .csr_write = csr_write,
    .ecall = ecall,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct sim_scalar scalar = {0};
    struct sim_decoded *text = NULL;
    uint8_t *memory = calloc(1, MEMORY_BYTES);
    size_t words = (bytes < 4096 ? bytes : 4096) / 4;
    fuzz_check(memory && sim_decoded_create(data, words * 4, TEXT_BASE, &text) == LEO_OK,
               "out of memory");
    // What a table of functions would hold: places of the text.
    uint64_t table[4] = {0};
    for (size_t i = 0; i < 4 && words; i++) {
        table[i] = TEXT_BASE + data[i] % words * 4;
    }
    fuzz_check(sim_decoded_find_poll_loops(text, table, sizeof(table)) == LEO_OK, "out of memory");
    sim_scalar_reset(&scalar);
    scalar.owner = memory;
    scalar.env = &env;
    scalar.text = text;
    scalar.time = (struct sim_scalar_time){1, 2, 20, 1.5, 4, 15};
    scalar.pc = TEXT_BASE;
    scalar.x[1] = LEO_MAP_RETURN;
    for (unsigned i = 2; i < 32; i++) {
        scalar.x[i] = i % 3 == 0   ? MEMORY_BASE + 8 * i
                      : i % 3 == 1 ? TEXT_BASE + 4 * i
                                   : ~UINT64_C(0) << i;
        scalar.f[i] = i % 2 ? ~UINT64_C(0) << i : UINT64_C(0x3ff0000000000000) + i;
    }
    enum sim_scalar_stop stop = sim_scalar_run(&scalar, LIMIT_CYCLES);
    fuzz_check(scalar.x[0] == 0, "x0 is not zero");
    fuzz_check(stop != SIM_SCALAR_TIME || scalar.cycle >= LIMIT_CYCLES, "stopped before its time");
    fuzz_check((stop == SIM_SCALAR_FAULT) == (scalar.fault.code != LEO_FAULT_NONE),
               "fault without code or code without fault");
    fuzz_check(scalar.cycle < 2 * LIMIT_CYCLES, "ran on after its time");
    sim_decoded_destroy(text);
    free(memory);
    return 0;
}

size_t fuzz_seed(unsigned index, uint8_t *data)
{
    static const uint32_t seeds[][12] = {
        // loads, stores, a loop
        {0x0001b283, 0x00128293, 0x0051b023, 0x0001a303, 0x0051a123, 0x00619083, 0x0001c383,
         0xfe5348e3, 0x00008067},
        // multiply, divide, shifts, word forms, jumps
        {0x02628133, 0x0262c133, 0x02d2e1b3, 0x0262f1bb, 0x41f2d293, 0x0062923b, 0x008000ef,
         0x00000013, 0x00008067},
        // floats: add, fma, convert, compare, class, half, bfloat
        {0x02208053, 0x6a10f1c3, 0xc2001153, 0xd2208053, 0xa2209153, 0xe2001153, 0x04208053,
         0x44008053, 0x0ac57053},
        // atomics and CSRs
        {0x1001b2af, 0x1851b32f, 0x0061b2af, 0x80051073, 0x00302573, 0xc0002573, 0x00000073,
         0x0ff0000f, 0x00008067},
        // ours
        {0x68c5852b, 0x0005600b, 0x00a5855b, 0x00008067},
    };
    if (index >= sizeof(seeds) / sizeof(seeds[0])) {
        return 0;
    }
    memcpy(data, seeds[index], sizeof(seeds[0]));
    return sizeof(seeds[0]);
}
