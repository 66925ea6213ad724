/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include <leo/insn.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(uint32_t word)
{
    static char text[96];

    leo_insn_disassemble(word, text, sizeof(text));
    return text;
}

/* Each line of the vectors: word, name, assembler line. */
static void vectors_decode_to_their_names(void)
{
    bool seen[LEO_INSN_COUNT] = {false};
    char line[256], name[64];
    unsigned word;
    FILE *file = fopen(VECTORS, "r");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    while (fgets(line, sizeof(line), file)) {
        struct leo_insn_word decoded;
        CU_ASSERT_EQUAL_FATAL(sscanf(line, "%x %63s", &word, name), 2);
        CU_ASSERT_TRUE_FATAL(leo_insn_decode(word, &decoded));
        seen[decoded.insn] = true;
        const struct leo_insn_info *info = leo_insn_info(decoded.insn);
        CU_ASSERT_PTR_NOT_NULL_FATAL(info);
        CU_ASSERT_EQUAL(strncmp(name, info->name, strlen(info->name)), 0);
        CU_ASSERT_EQUAL(word & info->mask, info->match);
        CU_ASSERT_EQUAL(strncmp(text_of(word), name, strlen(name)), 0);
    }
    fclose(file);
    for (unsigned i = 1; i < LEO_INSN_COUNT; i++) {
        CU_ASSERT_TRUE(seen[i]);
    }
}

static void fields_are_taken_from_their_bits(void)
{
    struct leo_insn_word word;

    CU_ASSERT_TRUE(leo_insn_decode(0x68c5852b, &word));
    CU_ASSERT_EQUAL(word.insn, LEO_INSN_VADD);
    CU_ASSERT_EQUAL(word.rd, 10);
    CU_ASSERT_EQUAL(word.rs1, 11);
    CU_ASSERT_EQUAL(word.rs2, 12);
    CU_ASSERT_EQUAL(word.rs3, 13);
    CU_ASSERT_EQUAL(word.sub, 0);
    // u4: the rs2 field is a number, not a register.
    CU_ASSERT_TRUE(leo_insn_decode(0x6a25f52b, &word));
    CU_ASSERT_EQUAL(word.insn, LEO_INSN_VCONV);
    CU_ASSERT_EQUAL(word.sub, LEO_ROUND_FLOOR);
    CU_ASSERT_EQUAL(word.rs2, 0);
    // i: all twelve bits, no sign.
    CU_ASSERT_TRUE(leo_insn_decode(0xfff5007b, &word));
    CU_ASSERT_EQUAL(word.insn, LEO_INSN_SET_FLAG);
    CU_ASSERT_EQUAL(word.imm, 0xfff);
    CU_ASSERT_EQUAL(word.rs3, 0);
}

static void other_words_are_refused(void)
{
    struct leo_insn_word word = {.insn = LEO_INSN_VADD};
    char text[8] = "x";

    CU_ASSERT_FALSE(leo_insn_decode(0, &word));
    CU_ASSERT_EQUAL(word.insn, LEO_INSN_NONE);
    CU_ASSERT_FALSE(leo_insn_decode(0x00000013, &word)); // addi
    CU_ASSERT_FALSE(leo_insn_decode(0x01f0702b, &word)); // u4 group, no such sub-operation
    CU_ASSERT_FALSE(leo_insn_disassemble(0x00000013, text, sizeof(text)));
    CU_ASSERT_STRING_EQUAL(text, "");
}

/* Every word either is refused or agrees with match, mask and sub_mask of what it decodes to, and
 * only with that. */
static void decoder_agrees_with_the_table(void)
{
    for (uint32_t bits = 0; bits < 1u << 15; bits++) {
        const uint32_t word =
            3 | (bits & 0x1f) << 2 | (bits >> 5 & 7) << 12 | (bits >> 8 & 0x7f) << 20;
        struct leo_insn_word decoded;
        unsigned matching = 0;
        leo_insn_decode(word, &decoded);
        for (unsigned i = 1; i < LEO_INSN_COUNT; i++) {
            const struct leo_insn_info *info = leo_insn_info((enum leo_insn)i);
            const bool sub_fits =
                info->sub_mask == 0 || (info->sub_mask >> (word >> 20 & 31) & 1) != 0;
            if ((word & info->mask) == info->match && sub_fits) {
                matching++;
                CU_ASSERT_EQUAL(decoded.insn, i);
            }
        }
        CU_ASSERT_EQUAL(matching, decoded.insn != LEO_INSN_NONE);
    }
}

static void disassembly_reads_like_assembler(void)
{
    CU_ASSERT_STRING_EQUAL(text_of(0x68c5852b), "vadd (a0), (a1), (a2), cfg=a3");
    CU_ASSERT_STRING_EQUAL(text_of(0x68c5c52b), "vadds (a0), (a1), a2, cfg=a3");
    CU_ASSERT_STRING_EQUAL(text_of(0x6a25f52b), "vconv.floor (a0), (a1), cfg=a3");
    CU_ASSERT_STRING_EQUAL(text_of(0x6805850b), "copy_gm_to_ubuf (a0), (a1), cfg=a3");
    CU_ASSERT_STRING_EQUAL(text_of(0x68c5a50b),
                           "copy_gm_to_ubuf_align (a0), (a1), cfg0=a2, cfg1=a3");
    CU_ASSERT_STRING_EQUAL(text_of(0x3140007b), "set_flag mte2, v, 3");
    CU_ASSERT_STRING_EQUAL(text_of(0x0412907b), "wait_flag v, mte2, 0, t0");
    CU_ASSERT_STRING_EQUAL(text_of(0x0070207b), "pipe_barrier all");
    CU_ASSERT_STRING_EQUAL(text_of(0x0005307b), "set_cmpmask (a0)");
    CU_ASSERT_STRING_EQUAL(text_of(0x0000707b), "trap");
}

static void disassembly_fits_any_buffer(void)
{
    char text[40];

    CU_ASSERT_FALSE(leo_insn_disassemble(0x68c5852b, NULL, 0));
    for (size_t bytes = 1; bytes < sizeof(text); bytes++) {
        memset(text, '#', sizeof(text));
        CU_ASSERT_TRUE(leo_insn_disassemble(0x68c5852b, text, bytes));
        CU_ASSERT_EQUAL(strlen(text), bytes - 1 < 29 ? bytes - 1 : 29);
        CU_ASSERT_EQUAL(text[bytes], '#');
    }
}

static void chips_have_what_the_table_says(void)
{
    CU_ASSERT_EQUAL(leo_arch_index(1001), 0);
    CU_ASSERT_EQUAL(leo_arch_index(2201), 1);
    CU_ASSERT_EQUAL(leo_arch_index(0), -1);
    CU_ASSERT_TRUE(leo_insn_has_arch(LEO_INSN_COPY_MATRIX_CC_TO_UBUF, 1001));
    CU_ASSERT_FALSE(leo_insn_has_arch(LEO_INSN_COPY_MATRIX_CC_TO_UBUF, 2201));
    CU_ASSERT_FALSE(leo_insn_has_arch(LEO_INSN_VADD, 1234));
    CU_ASSERT_FALSE(leo_insn_has_arch(LEO_INSN_NONE, 1001));
    CU_ASSERT_TRUE(leo_insn_has_type(LEO_INSN_VADD, 2201, LEO_DTYPE_S16));
    CU_ASSERT_FALSE(leo_insn_has_type(LEO_INSN_VADD, 1001, LEO_DTYPE_S16));
    CU_ASSERT_FALSE(leo_insn_has_type(LEO_INSN_VADD, 1001, 77));
    CU_ASSERT_TRUE(leo_insn_has_type(LEO_INSN_MMAD, 1001, LEO_MAD_F16F32));
    CU_ASSERT_TRUE(leo_insn_has_convert(2201, LEO_DTYPE_F32, LEO_DTYPE_BF16));
    CU_ASSERT_FALSE(leo_insn_has_convert(1001, LEO_DTYPE_F32, LEO_DTYPE_BF16));
    CU_ASSERT_TRUE(leo_insn_has_convert(2201, LEO_DTYPE_F16, LEO_DTYPE_S4));
    CU_ASSERT_FALSE(leo_insn_has_convert(1001, LEO_DTYPE_F16, LEO_DTYPE_S4));
    CU_ASSERT_PTR_NULL(leo_insn_info((enum leo_insn)LEO_INSN_COUNT));
}

/* An instruction that is only a name and an encoding would be a fault on every chip. */
static void every_instruction_is_of_a_chip(void)
{
    for (unsigned i = 1; i < LEO_INSN_COUNT; i++) {
        const enum leo_insn insn = (enum leo_insn)i;
        CU_ASSERT_FALSE(leo_insn_info(insn)->planned);
        CU_ASSERT_TRUE(leo_insn_has_arch(insn, 1001) || leo_insn_has_arch(insn, 2201));
    }
    for (unsigned type = 0; type < LEO_MAD_COUNT; type++) {
        CU_ASSERT_TRUE(leo_insn_has_type(LEO_INSN_MMAD, 1001, type) ||
                       leo_insn_has_type(LEO_INSN_MMAD, 2201, type));
    }
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"vectors_decode_to_their_names", vectors_decode_to_their_names},
        {"fields_are_taken_from_their_bits", fields_are_taken_from_their_bits},
        {"other_words_are_refused", other_words_are_refused},
        {"decoder_agrees_with_the_table", decoder_agrees_with_the_table},
        {"disassembly_reads_like_assembler", disassembly_reads_like_assembler},
        {"disassembly_fits_any_buffer", disassembly_fits_any_buffer},
        {"chips_have_what_the_table_says", chips_have_what_the_table_says},
        {"every_instruction_is_of_a_chip", every_instruction_is_of_a_chip},
    };

    return leo_test_main("isa_insn", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
