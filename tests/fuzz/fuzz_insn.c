/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders and disassembler: any word, any length of text. */
#include "fuzz.h"

#include "scalar/decode.h"
#include <leo/insn.h>
#include <stdlib.h>
#include <string.h>

static void check_word(uint32_t word, size_t room)
{
    struct leo_insn_word decoded;
    bool ours = leo_insn_decode(word, &decoded);
    char *text = malloc(room + 1);
    fuzz_check(text != NULL, "out of memory");
    text[room] = 'x';
    fuzz_check(leo_insn_disassemble(word, text, room) == (ours && room),
               "disassembler and decoder differ");
    fuzz_check(text[room] == 'x' && (room == 0 || memchr(text, 0, room)),
               "text does not end in its buffer");
    free(text);
    const struct leo_insn_info *info = leo_insn_info(decoded.insn);
    fuzz_check(ours == (info != NULL), "a decoded word has no description");
    fuzz_check(!ours || (word & info->mask) == info->match,
               "a word decodes to what it does not match");
    struct sim_scalar_op op = sim_scalar_decode(word);
    fuzz_check(!ours || op.code == SIM_CODE_CUSTOM || op.code == SIM_CODE_FITS || info->planned,
               "scalar unit does not hand it on");
    fuzz_check(op.rd < 32 && op.rs1 < 32 && op.rs2 < 32, "register number");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fuzz_reader reader = {data, bytes};
    while (reader.left) {
        uint32_t word = fuzz_take32(&reader);
        check_word(word, 96);
        check_word(word, word >> 7 & 31);
        // The same as one of ours.
        const struct leo_insn_info *info = leo_insn_info((enum leo_insn)(word % LEO_INSN_COUNT));
        if (info) {
            check_word((word & ~info->mask) | info->match, 96);
        }
    }
    leo_insn_info((enum leo_insn)(bytes * 7));
    return 0;
}

size_t fuzz_seed(unsigned index, uint8_t *data)
{
    const struct leo_insn_info *info = leo_insn_info((enum leo_insn)(index + 1));
    if (!info) {
        return 0;
    }
    uint32_t words[4] = {info->match, info->match | ~info->mask,
                         info->match | (0x28c58500 & ~info->mask), 0x00c58533};
    memcpy(data, words, sizeof(words));
    return sizeof(words);
}
