/* SPDX-License-Identifier: Apache-2.0 */
#include "run_dump.h"

#include "golden.h"
#include <leo/alloc.h>
#include <leo/driver.h>
#include <leo/dtype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef unsigned long long ull; // for printf

enum { PARTS_MAX = 4, ROW_BYTES = 32 };

static const char form[] = "--dump takes BUFFER:ARRAY[:DTYPE] or BUFFER:OFFSET:BYTES[:DTYPE], "
                           "BUFFER ub l1 l0a l0b l0c bt fb";

static int misuse(const char *text, const char *why)
{
    fprintf(stderr, "leo run: %s: %s (%s)\n", text, why, form);
    return 2;
}

static bool parse_space(const char *name, enum leo_mem_space *space)
{
    for (int i = LEO_MEM_SPACE_UB; i <= LEO_MEM_SPACE_FB; i++) {
        if (strcasecmp(name, leo_mem_space_name((enum leo_mem_space)i)) == 0) {
            *space = (enum leo_mem_space)i;
            return true;
        }
    }
    return false;
}

static bool parse_number(const char *text, uint64_t *value)
{
    char *end;
    *value = strtoull(text, &end, 0);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

static unsigned split(char *text, char *parts[PARTS_MAX])
{
    unsigned count = 0;
    for (char *part = strtok(text, ":"); part; part = strtok(NULL, ":")) {
        if (count == PARTS_MAX) {
            return PARTS_MAX + 1;
        }
        parts[count++] = part;
    }
    return count;
}

// An array stands in the window of its buffer: bits 31:24 of its address tell which.
static bool find_array(struct leo_rt_module *module, const char *name, struct run_dump *dump)
{
    uint64_t addr;
    uint64_t window = 0x20 + (uint64_t)(dump->space - LEO_MEM_SPACE_UB);
    bool found = leo_rt_module_symbol(module, name, &addr, &dump->bytes) && addr >> 24 == window;
    dump->offset = addr & 0xffffff;
    return found;
}

int run_dump_parse(const char *text, struct leo_rt_module *module, struct run_dump *dump)
{
    char copy[256], *parts[PARTS_MAX];
    *dump = (struct run_dump){.text = text, .hex = true, .type = LEO_DTYPE_U32};
    if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy)) {
        return misuse(text, "too long");
    }
    unsigned count = split(copy, parts);
    if (count < 2 || count > PARTS_MAX) {
        return misuse(text, "2 to 4 parts are wanted");
    }
    if (!parse_space(parts[0], &dump->space)) {
        return misuse(text, "no such buffer");
    }
    unsigned used = 2;
    if (parse_number(parts[1], &dump->offset)) {
        if (count < 3 || !parse_number(parts[2], &dump->bytes)) {
            return misuse(text, "the number of bytes is missing");
        }
        used = 3;
    } else if (!find_array(module, parts[1], dump)) {
        return misuse(text, "the kernel file has no array of that name in this buffer");
    }
    if (count > used + 1) {
        return misuse(text, "too many parts");
    }
    if (count == used + 1) {
        dump->hex = false;
        if (!golden_type(parts[used], &dump->type)) {
            return misuse(text, "no such DTYPE");
        }
    }
    if (dump->bytes == 0 || dump->bytes % leo_dtype_bytes(dump->type)) {
        return misuse(text, "the bytes must be a multiple of the element (of 4 without DTYPE)");
    }
    return 0;
}

static void print_bytes(const struct run_dump *dump, const unsigned char *data)
{
    size_t bytes = leo_dtype_bytes(dump->type), in_row = ROW_BYTES / bytes,
           count = dump->bytes / bytes;
    for (size_t i = 0; i < count; i++) {
        if (i % in_row == 0) {
            printf("  %6zu:", i);
        }
        if (dump->hex) {
            uint32_t word;
            memcpy(&word, data + i * bytes, sizeof(word));
            printf(" %08x", word);
        } else {
            printf(" %.7g", golden_element(data, i, dump->type));
        }
        if (i % in_row == in_row - 1 || i == count - 1) {
            printf("\n");
        }
    }
}

int run_dump_print(const struct run_dump *dump, struct leo_rt_device *device, unsigned first,
                   unsigned count)
{
    unsigned char *data = leo_alloc(dump->bytes);
    leo_status status = data ? LEO_OK : LEO_ERR_NO_MEMORY;
    for (unsigned core = first; core < first + count && status == LEO_OK; core++) {
        status = leo_drv_local_read(leo_rt_device_driver(device), core, dump->space, dump->offset,
                                    data, dump->bytes);
        if (status == LEO_OK) {
            printf("core %u %s: %llu bytes from %s offset %llu\n", core, dump->text,
                   (ull)dump->bytes, leo_mem_space_name(dump->space), (ull)dump->offset);
            print_bytes(dump, data);
        }
    }
    leo_free(data);
    if (status != LEO_OK) {
        fprintf(stderr,
                "leo run: --dump %s: %s of these cores has no %llu bytes from offset %llu on\n",
                dump->text, leo_mem_space_name(dump->space), (ull)dump->bytes, (ull)dump->offset);
    }
    return status != LEO_OK;
}
