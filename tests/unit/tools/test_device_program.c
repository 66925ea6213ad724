/* SPDX-License-Identifier: Apache-2.0 */
/* leo_device_program() of cmake/leo_device.cmake: the ELF is in this program. */
#include "harness.h"

#include <stdbool.h>
#include <string.h>

extern const unsigned char embedded_elf[];
extern const size_t embedded_elf_bytes;

static void array_is_an_elf_with_a_note(void)
{
    static const char note[] = "embedded 1001 aicore x:p8a8 count:u4a4";
    bool found = false;
    CU_ASSERT_FATAL(embedded_elf_bytes > 1000);
    CU_ASSERT_EQUAL(memcmp(embedded_elf, "\177ELF", 4), 0);
    for (size_t i = 0; i + sizeof(note) < embedded_elf_bytes && !found; i++) {
        found = memcmp(embedded_elf + i, note, sizeof(note) - 1) == 0;
    }
    CU_ASSERT_TRUE(found);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"array_is_an_elf_with_a_note", array_is_an_elf_with_a_note},
    };
    return leo_test_main("tools/device_program", tests, 1, argc, argv);
}
