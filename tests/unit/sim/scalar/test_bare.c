/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <leo/alloc.h>
#include <leo/faults.h>
#include <leo/sim.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { CODE_MAX = 16 };

/** A program: one segment with code, entry at its start, followed by zeros. */
struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint32_t code[CODE_MAX];
};

static const uint32_t hello[] = {
    0x00100513, // li a0, 1
    0x00000597, // auipc a1, 0
    0x01c58593, // addi a1, a1, 28: the two words after the code
    0x00800613, // li a2, 8
    0x04000893, // li a7, 64
    0x00000073, // ecall
    0x05d00893, // li a7, 93
    0x00000073, // ecall: exit code = what write returned
    0x6c6c6568, // "hell"
    0x00000a6f, // "o\n"
};

static struct image make_image(const uint32_t *code, size_t count)
{
    struct image image = {
        .header =
            {
                .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                            EV_CURRENT},
                .e_type = ET_EXEC,
                .e_machine = EM_RISCV,
                .e_version = EV_CURRENT,
                .e_entry = 0x10000 + offsetof(struct image, code),
                .e_phoff = offsetof(struct image, segment),
                .e_ehsize = sizeof(Elf64_Ehdr),
                .e_phentsize = sizeof(Elf64_Phdr),
                .e_phnum = 1,
            },
        .segment = {.p_type = PT_LOAD,
                    .p_flags = PF_R | PF_X,
                    .p_vaddr = 0x10000,
                    .p_filesz = sizeof(struct image),
                    .p_memsz = sizeof(struct image) + 64},
    };
    memcpy(image.code, code, count * 4);
    return image;
}

struct output {
    int fd;
    size_t bytes;
    char data[64];
};

static void collect(void *user, int fd, const void *data, size_t bytes)
{
    struct output *output = user;
    output->fd = fd;
    if (output->bytes + bytes <= sizeof(output->data)) {
        memcpy(output->data + output->bytes, data, bytes);
    }
    output->bytes += bytes;
}

static leo_status run(const struct image *image, size_t bytes, struct leo_sim_bare_result *result)
{
    // A copy of exactly this size, so that a read past its end is caught.
    void *copy = malloc(bytes ? bytes : 1);
    memcpy(copy, image, bytes);
    leo_status status = leo_sim_bare_run(copy, bytes, NULL, NULL, 1000, result);
    free(copy);
    return status;
}

static void program_writes_and_exits(void)
{
    struct image image = make_image(hello, COUNT_OF(hello));
    struct output output = {0};
    struct leo_sim_bare_result result;
    CU_ASSERT_EQUAL(leo_sim_bare_run(&image, sizeof(image), collect, &output, 0, &result), LEO_OK);
    CU_ASSERT_EQUAL(result.fault, LEO_FAULT_NONE);
    CU_ASSERT_EQUAL(result.exit_code, 8);
    CU_ASSERT_EQUAL(result.instructions, 8);
    CU_ASSERT_EQUAL(output.fd, 1);
    CU_ASSERT_EQUAL(output.bytes, 8);
    CU_ASSERT_EQUAL(memcmp(output.data, "hello\n\0\0", 8), 0);
}

static void faults_are_reported(void)
{
    static const struct {
        uint32_t code[2];
        enum leo_fault fault;
        uint64_t pc; // from the first word
        const char *text;
    } cases[] = {
        {{0x03900893, 0x00000073}, LEO_FAULT_ILLEGAL_INSTRUCTION, 4, "call 57 of Linux"},
        {{0x00002083}, LEO_FAULT_GM_OUT_OF_RANGE, 0, "4 bytes at 0x0, in no segment"},
        {{0x00000297, 0x0002a023}, LEO_FAULT_GM_READ_ONLY, 4, "4 bytes at 0x10078, in the code"},
        {{0x00000013, 0x00000067}, LEO_FAULT_BAD_FETCH, 4, "went to 0x0, in no segment"},
        {{0x00200067}, LEO_FAULT_BAD_FETCH, 0, "no multiple of 4"},                 // jr 2
        {{0xc01022f3, 0x00000000}, LEO_FAULT_ILLEGAL_INSTRUCTION, 4, "compressed"}, // zeros
        {{0x0000000b}, LEO_FAULT_ILLEGAL_INSTRUCTION, 0, "word 0x0000000b: an instruction of the"},
        {{0x003150d3}, LEO_FAULT_ILLEGAL_INSTRUCTION, 0, "rounding"},
        {{0x80002573}, LEO_FAULT_BAD_CSR, 0, "control register 0x800"},   // csrr a0
        {{0xc0051073}, LEO_FAULT_BAD_CSR, 0, "control register 0xc00"},   // csrw cycle
        {{0x0000006f}, LEO_FAULT_WATCHDOG, 0, "after 1000 instructions"}, // j .
        {{0xff812083, 0x0000006f}, LEO_FAULT_WATCHDOG, 4, "--limit"},     // lw x1, -8(sp); j .
        {{0x00100073}, LEO_FAULT_KERNEL_TRAP, 0, "trap"},                 // ebreak
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct image image = make_image(cases[i].code, 2);
        struct leo_sim_bare_result result;
        CU_ASSERT_EQUAL(run(&image, sizeof(image), &result), LEO_OK);
        CU_ASSERT_EQUAL(result.fault, cases[i].fault);
        CU_ASSERT_EQUAL(result.fault_pc, image.header.e_entry + cases[i].pc);
        CU_ASSERT_EQUAL(result.exit_code, -1);
        CU_ASSERT_EQUAL(result.fault_word,
                        cases[i].fault == LEO_FAULT_WATCHDOG ? 0 : cases[i].code[cases[i].pc / 4]);
        CU_ASSERT_PTR_NOT_NULL(strstr(result.text, cases[i].text));
    }
}

static void the_limit_is_exact(void)
{
    const uint32_t code[] = {0x00128293, 0xffdff06f}; // addi x5, x5, 1; j -4
    struct image image = make_image(code, COUNT_OF(code));
    struct leo_sim_bare_result result;
    for (uint64_t limit = 1; limit < 100; limit++) {
        CU_ASSERT_EQUAL(leo_sim_bare_run(&image, sizeof(image), NULL, NULL, limit, &result),
                        LEO_OK);
        CU_ASSERT_EQUAL(result.fault, LEO_FAULT_WATCHDOG);
        CU_ASSERT_EQUAL(result.instructions, limit);
    }
}

static void truncated_files_are_refused(void)
{
    struct image image = make_image(hello, COUNT_OF(hello));
    struct leo_sim_bare_result result;
    for (size_t bytes = 0; bytes < sizeof(image); bytes++) {
        CU_ASSERT_EQUAL(run(&image, bytes, &result), LEO_ERR_BAD_ELF);
        CU_ASSERT_EQUAL(result.exit_code, -1);
    }
}

static void expect_refusal(const struct image *image, const char *text)
{
    struct leo_sim_bare_result result;
    CU_ASSERT_EQUAL(run(image, sizeof(*image), &result), LEO_ERR_BAD_ELF);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.text, text));
}

static void foreign_files_are_refused_as_what_they_are(void)
{
    struct leo_sim_bare_result result;
    struct image good = make_image(hello, COUNT_OF(hello)), image = good;
    image.header.e_machine = EM_X86_64;
    expect_refusal(&image, "not for RISC-V");
    image = good;
    image.header.e_ident[EI_CLASS] = ELFCLASS32;
    expect_refusal(&image, "RV32");
    image = good;
    image.header.e_type = ET_DYN;
    expect_refusal(&image, "PIE");
    image = good;
    image.header.e_type = ET_REL;
    expect_refusal(&image, "not linked");
    image = good;
    image.header.e_flags = EF_RISCV_RVC;
    expect_refusal(&image, "compressed");
    image = good;
    image.header.e_flags = EF_RISCV_RVE;
    expect_refusal(&image, "RV64E");
    image = good;
    image.segment.p_type = PT_NOTE;
    expect_refusal(&image, "nothing to load");
    image = good;
    image.segment.p_type = PT_INTERP;
    expect_refusal(&image, "-static");
    image = good;
    image.segment.p_memsz = UINT64_MAX;
    expect_refusal(&image, "is the most");
    image = good;
    image.segment.p_vaddr = UINT64_MAX - 16;
    expect_refusal(&image, "is the most");
    image = good;
    image.segment.p_filesz = image.segment.p_memsz;
    expect_refusal(&image, "past the end");
    image = good;
    image.segment.p_flags = PF_R;
    expect_refusal(&image, "no executable segment");
    image = good;
    image.segment.p_flags = PF_R | PF_W | PF_X;
    expect_refusal(&image, "RWX");
    image = good;
    image.header.e_ident[EI_MAG0] = 0;
    expect_refusal(&image, "no ELF");
    CU_ASSERT_EQUAL(leo_sim_bare_run(NULL, 0, NULL, NULL, 0, &result), LEO_ERR_INVALID_ARG);
    CU_ASSERT_EQUAL(leo_sim_bare_run(&good, sizeof(good), NULL, NULL, 0, NULL),
                    LEO_ERR_INVALID_ARG);
}

static void damaged_files_never_crash(void)
{
    const struct image good = make_image(hello, COUNT_OF(hello));
    struct leo_sim_bare_result result;
    for (size_t bit = 0; bit < 8 * sizeof(good); bit++) {
        if (bit / 8 >= offsetof(struct image, segment.p_memsz) + 3 &&
            bit / 8 < offsetof(struct image, segment.p_align)) {
            continue; // reserves up to 1 GiB of zeros, which is allowed but slow under a sanitizer
        }
        struct image image = good;
        ((uint8_t *)&image)[bit / 8] ^= (uint8_t)(1 << bit % 8);
        leo_status status = run(&image, sizeof(image), &result);
        CU_ASSERT(status == LEO_OK || status == LEO_ERR_BAD_ELF);
    }
}

static void run_survives_each_failed_allocation(void)
{
    struct image image = make_image(hello, COUNT_OF(hello));
    struct leo_sim_bare_result result;
    int n = 0;
    leo_status status;
    do {
        leo_alloc_fail_after(++n);
        status = leo_sim_bare_run(&image, sizeof(image), NULL, NULL, 0, &result);
        CU_ASSERT(status == LEO_ERR_NO_MEMORY || leo_alloc_fail_pending() > 0);
    } while (status == LEO_ERR_NO_MEMORY && n < 50);
    leo_alloc_fail_after(0);
    CU_ASSERT_EQUAL(status, LEO_OK);
    CU_ASSERT(n > 5);
}

static const struct leo_test tests[] = {
    {"program_writes_and_exits", program_writes_and_exits},
    {"faults_are_reported", faults_are_reported},
    {"truncated_files_are_refused", truncated_files_are_refused},
    {"the_limit_is_exact", the_limit_is_exact},
    {"foreign_files_are_refused_as_what_they_are", foreign_files_are_refused_as_what_they_are},
    {"damaged_files_never_crash", damaged_files_never_crash},
    {"run_survives_each_failed_allocation", run_survives_each_failed_allocation},
};

int main(int argc, char **argv)
{
    return leo_test_main("scalar bare", tests, COUNT_OF(tests), argc, argv);
}
