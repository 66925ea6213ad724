/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged programs for leo_sim_bare_run. */
#include "fuzz.h"

#include <elf.h>
#include <leo/sim.h>
#include <string.h>

enum { LIMIT = 3000, DATA_OFFSET = 512 };

static void take_output(void *user, int fd, const void *data, size_t bytes)
{
    uint64_t *sum = user;
    const uint8_t *byte = data;
    for (size_t i = 0; i < bytes && i < 4096; i++) {
        *sum += byte[i];
    }
    *sum += bytes ? byte[bytes - 1] : 0;
    *sum += (unsigned)fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct leo_sim_bare_result result;
    uint64_t sum = 0;
    leo_status status = leo_sim_bare_run(data, bytes, take_output, &sum, LIMIT, &result);
    fuzz_check(result.instructions <= LIMIT + 1, "ran on after its limit");
    fuzz_check(status == LEO_OK || result.instructions == 0, "ran what it refused");
    fuzz_check(result.exit_code == -1 || result.fault == 0, "both an end and a fault");
    return 0;
}

size_t fuzz_seed(unsigned index, uint8_t *data)
{
    static const uint32_t programs[2][24] = {
        // a loop over .data, write(1, data, 16), exit(0)
        {0x00011537, 0x20050513, 0x00400593, 0x00052603, 0x00160613, 0x00c52023, 0x00450513,
         0xfff58593, 0xfe0596e3, 0x00100513, 0x000115b7, 0x20058593, 0x01000613, 0x04000893,
         0x00000073, 0x00000513, 0x05d00893, 0x00000073},
        // recursion until the stack ends
        {0xff010113, 0x00113423, 0xff9ff0ef, 0x00813083, 0x01010113, 0x00008067},
    };
    if (index >= 2) {
        return 0;
    }
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_RISCV,
        .e_version = EV_CURRENT,
        .e_entry = 0x10100,
        .e_phoff = sizeof(header),
        .e_ehsize = sizeof(header),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 2};
    Elf64_Phdr segments[2] = {
        {PT_LOAD, PF_R | PF_X, 0, 0x10000, 0x10000, DATA_OFFSET, DATA_OFFSET, 4096},
        {PT_LOAD, PF_R | PF_W, DATA_OFFSET, 0x11200, 0x11200, 64, 4096, 4096},
    };
    memset(data, 0, DATA_OFFSET + 64);
    memcpy(data, &header, sizeof(header));
    memcpy(data + sizeof(header), segments, sizeof(segments));
    memcpy(data + 0x100, programs[index], sizeof(programs[index]));
    memcpy(data + DATA_OFFSET, "0123456789abcdef", 16);
    return DATA_OFFSET + 64;
}
