/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "scalar/decode.h"

#include <leo/alloc.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct row {
    const char *name;
    uint32_t mask, match;
};

static const struct row rows[] = {
#define SCALAR_INSN(code, mnemonic, mask, match, form)            {mnemonic, mask, match},
#define SCALAR_FLOAT(mnemonic, mask, match, kind, format, source) {mnemonic, mask, match},
#include "scalar/insns.def"
#undef SCALAR_INSN
#undef SCALAR_FLOAT
};

static void table_has_no_two_rows_for_a_word(void)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CU_ASSERT_EQUAL(rows[i].match & ~rows[i].mask, 0);
        CU_ASSERT_EQUAL(rows[i].match & 3, 3);
        for (size_t j = i + 1; j < COUNT_OF(rows); j++) {
            // Only a special case that fixes more bits may lie inside another, and it stands first.
            if (((rows[i].match ^ rows[j].match) & rows[i].mask & rows[j].mask) == 0) {
                CU_ASSERT_EQUAL(rows[i].mask & rows[j].mask, rows[j].mask);
                CU_ASSERT_NOT_EQUAL(rows[i].mask, rows[j].mask);
            }
        }
    }
}

static void every_row_decodes(void)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sim_scalar_op op = sim_scalar_decode(rows[i].match);
        CU_ASSERT_NOT_EQUAL(op.code, SIM_CODE_ILLEGAL);
        CU_ASSERT_NOT_EQUAL(op.code, SIM_CODE_END);
        CU_ASSERT_NOT_EQUAL(op.code, SIM_CODE_CUSTOM);
    }
}

static void unknown_words_are_illegal(void)
{
    const uint32_t words[] = {
        0,          // all zeros
        0xffffffff, // all ones
        0x00000001, // c.nop
        0x00007003, // a load of width 7
        0x00002063, // a branch of kind 2
        0x00004073, // system of kind 4
        0x0000100f, // fence.i
        0x30200073, // mret
        0x10500073, // wfi
        0x0201101b, // slliw by 32
        0x40001013, // slli with a bit of srai
        0x4000c033, // xor with a bit of sub
        0x0000002f, // an atomic of width 0
        0x0620005b, // no unit instruction
        0x003150d3, // fadd.s with rounding mode 5
        0x003160d3, // fadd.s with rounding mode 6
        0x063100d3, // fadd.q
        0x58100053, // fsqrt.s with rs2 1
        0xe0003053, // fclass of kind 3
    };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        CU_ASSERT_EQUAL(sim_scalar_decode(words[i]).code, SIM_CODE_ILLEGAL);
    }
}

static void immediates_are_sign_extended(void)
{
    CU_ASSERT_EQUAL(sim_scalar_decode(0xfff00093).imm, -1);        // addi x1, x0, -1
    CU_ASSERT_EQUAL(sim_scalar_decode(0xfe20ac23).imm, -8);        // sw x2, -8(x1)
    CU_ASSERT_EQUAL(sim_scalar_decode(0x80000063).imm, -4096);     // beq x0, x0, -4096
    CU_ASSERT_EQUAL(sim_scalar_decode(0x7e000fe3).imm, 4094);      // beq x0, x0, 4094
    CU_ASSERT_EQUAL(sim_scalar_decode(0x8000006f).imm, -1048576);  // j -1048576
    CU_ASSERT_EQUAL(sim_scalar_decode(0x7ffff06f).imm, 1048574);   // j 1048574
    CU_ASSERT_EQUAL(sim_scalar_decode(0x800000b7).imm, INT32_MIN); // lui x1, 0x80000
    CU_ASSERT_EQUAL(sim_scalar_decode(0x43f0d093).imm, 63);        // srai x1, x1, 63
    CU_ASSERT_EQUAL(sim_scalar_decode(0xcc0020f3).imm, 0xcc0);     // csrr x1, 0xcc0
}

static void unit_instructions_are_custom_unless_planned(void)
{
    for (unsigned i = 1; i < LEO_INSN_COUNT; i++) {
        const struct leo_insn_info *info = leo_insn_info((enum leo_insn)i);
        uint32_t sub =
            info->form == LEO_INSN_FORM_U4 ? (uint32_t)__builtin_ctz(info->sub_mask) << 20 : 0;
        struct sim_scalar_op op = sim_scalar_decode(info->match | sub);
        const bool checks = i == LEO_INSN_CHECK_FIELD; // custom only where the operand does not fit
        CU_ASSERT_EQUAL(op.code, info->planned ? SIM_CODE_ILLEGAL
                                 : checks      ? SIM_CODE_FITS
                                               : SIM_CODE_CUSTOM);
        CU_ASSERT(info->planned || op.custom.insn == i);
    }
}

static void create_survives_each_failed_allocation(void)
{
    const uint32_t words[2] = {0x13, 0x8067};
    struct sim_decoded *decoded;
    for (int n = 1; n <= 3; n++) {
        leo_alloc_fail_after(n);
        CU_ASSERT_EQUAL(sim_decoded_create(words, sizeof(words), 0, &decoded), LEO_ERR_NO_MEMORY);
        CU_ASSERT_PTR_NULL(decoded);
    }
    leo_alloc_fail_after(0);
    CU_ASSERT_EQUAL(sim_decoded_create(words, sizeof(words), 2, &decoded), LEO_ERR_INVALID_ARG);
    CU_ASSERT_EQUAL(sim_decoded_create(NULL, 0, 0, &decoded), LEO_OK);
    CU_ASSERT_EQUAL(decoded->bytes, 0);
    sim_decoded_destroy(decoded);
    sim_decoded_destroy(NULL);
}

static const struct leo_test tests[] = {
    {"table_has_no_two_rows_for_a_word", table_has_no_two_rows_for_a_word},
    {"every_row_decodes", every_row_decodes},
    {"unknown_words_are_illegal", unknown_words_are_illegal},
    {"immediates_are_sign_extended", immediates_are_sign_extended},
    {"unit_instructions_are_custom_unless_planned", unit_instructions_are_custom_unless_planned},
    {"create_survives_each_failed_allocation", create_survives_each_failed_allocation},
};

int main(int argc, char **argv)
{
    return leo_test_main("scalar decode", tests, COUNT_OF(tests), argc, argv);
}
