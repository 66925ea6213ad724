/* SPDX-License-Identifier: Apache-2.0 */
#include "program/image.h"

#include <stdio.h>
#include <string.h>

// Not dwarf_addrdie: that needs .debug_aranges, which compilers leave out unless asked.
static bool find_unit(Dwarf *dwarf, uint64_t pc, Dwarf_Die *unit)
{
    Dwarf_Off offset = 0, next;
    size_t header;
    while (dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0) {
        if (dwarf_offdie(dwarf, offset + header, unit) && dwarf_haspc(unit, pc) == 1) {
            return true;
        }
        offset = next;
    }
    return false;
}

bool rt_image_unit(struct rt_image *image, uint64_t pc, Dwarf_Die *unit)
{
    if (!image->dwarf_tried) {
        image->dwarf_tried = true;
        image->dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
    }
    return image->dwarf && find_unit(image->dwarf, pc, unit);
}

bool rt_image_line(struct rt_image *image, uint64_t pc, char *file, size_t file_bytes, int *line)
{
    Dwarf_Die unit;
    if (!rt_image_unit(image, pc, &unit)) {
        return false;
    }
    Dwarf_Line *source = dwarf_getsrc_die(&unit, pc);
    const char *name = source ? dwarf_linesrc(source, NULL, NULL) : NULL;
    if (!name || dwarf_lineno(source, line)) {
        return false;
    }
    snprintf(file, file_bytes, "%s", name);
    return true;
}
