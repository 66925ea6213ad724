/* SPDX-License-Identifier: Apache-2.0 */
#include "mutants.h"

#include <elf.h>
#include <string.h>

size_t mutants_find_code(const uint8_t *elf, const char *name, size_t *bytes)
{
    Elf64_Ehdr head;
    memcpy(&head, elf, sizeof(head));
    for (int i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr section, names;
        memcpy(&section, elf + head.e_shoff + (size_t)i * head.e_shentsize, sizeof(section));
        for (size_t at = 0; section.sh_type == SHT_SYMTAB && at < section.sh_size;
             at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, elf + section.sh_offset + at, sizeof(symbol));
            memcpy(&names, elf + head.e_shoff + (size_t)section.sh_link * head.e_shentsize,
                   sizeof(names));
            if (strcmp((const char *)elf + names.sh_offset + symbol.st_name, name) == 0) {
                Elf64_Shdr home;
                memcpy(&home, elf + head.e_shoff + (size_t)symbol.st_shndx * head.e_shentsize,
                       sizeof(home));
                *bytes = symbol.st_size;
                return home.sh_offset + (symbol.st_value - home.sh_addr);
            }
        }
    }
    *bytes = 0;
    return 0;
}

void mutants_set_word(uint8_t *elf, size_t offset, uint32_t word)
{
    memcpy(elf + offset, &word, sizeof(word));
}
