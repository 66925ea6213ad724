/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's note: name, chip, core kind, arguments and where they stand in the argument block. */
#include "image.h"

#include <leo/alloc.h>
#include <stdlib.h>
#include <string.h>

static leo_status bad_note(const struct rt_image *image, const struct leo_rt_kernel *kernel,
                           const char *why)
{
    return rt_fail(LEO_ERR_BAD_ELF, "%s: the note of kernel %s is damaged: %s", image->name,
                   kernel->name ? kernel->name : "?", why);
}

// Cuts the next word off a text; NULL at its end.
static char *next_word(char **text)
{
    char *word = *text;
    if (!word || !*word) {
        return NULL;
    }
    char *space = strchr(word, ' ');
    if (space) {
        *space = '\0';
    }
    *text = space ? space + 1 : NULL;
    return word;
}

static bool parse_kind(const char *word, enum leo_core_kind *kind)
{
    for (int i = 1; i < LEO_CORE_KIND_COUNT; i++) {
        if (strcmp(word, leo_core_kind_name((enum leo_core_kind)i)) == 0) {
            *kind = (enum leo_core_kind)i;
            return true;
        }
    }
    return false;
}

static bool is_size_allowed(char kind, unsigned long bytes, unsigned long align)
{
    bool scalar = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    if (align == 0 || align > 64 || (align & (align - 1))) {
        return false;
    }
    switch (kind) {
    case 'p':
        return bytes == 8;
    case 's':
    case 'u':
    case 'f':
        return scalar;
    case 'b':
        return bytes > 0 && bytes <= 32768;
    }
    return false;
}

static bool parse_arg(char *word, struct rt_arg *arg)
{
    char *colon = strchr(word, ':');
    *arg = (struct rt_arg){.info.name = ""};
    if (colon) {
        *colon = '\0';
        arg->info.name = word;
        word = colon + 1;
    }
    char kind = *word, *end;
    if (!kind) {
        return false;
    }
    unsigned long bytes = strtoul(word + 1, &end, 10);
    if (end == word + 1 || *end != 'a') {
        return false;
    }
    char *tail;
    unsigned long align = strtoul(end + 1, &tail, 10);
    if (tail == end + 1 || *tail || !is_size_allowed(kind, bytes, align)) {
        return false;
    }
    arg->info.kind = kind;
    arg->info.bytes = (uint32_t)bytes;
    arg->info.align = (uint32_t)align;
    return true;
}

static uint32_t align_up(uint32_t value, uint32_t align)
{
    return (value + align - 1) & ~(align - 1);
}

// As the compiler reads them (RISC-V ELF psABI, integer calling convention): registers, then the
// stack. Only on the stack does an alignment of 16 count; a pair may be split between the two.
enum { REGISTER_SLOTS = 8 };

// Gives every argument its slots, and larger structs a place behind the slots.
static bool place_args(struct leo_rt_kernel *kernel)
{
    uint32_t slot = 0;
    for (unsigned i = 0; i < kernel->arg_count; i++) {
        struct rt_arg *arg = &kernel->args[i];
        bool pair = arg->info.bytes > 8 && arg->info.bytes <= 16;
        if (pair && arg->info.align >= 16 && slot >= REGISTER_SLOTS) {
            slot = align_up(slot, 2);
        }
        arg->slot = slot;
        slot += pair ? 2 : 1;
        if (slot > LEO_MAX_SLOTS) {
            return false;
        }
    }
    uint32_t offset = slot * 8;
    for (unsigned i = 0; i < kernel->arg_count; i++) {
        struct rt_arg *arg = &kernel->args[i];
        if (arg->info.bytes > 16) {
            offset = align_up(offset, arg->info.align < 8 ? 8 : arg->info.align);
            arg->offset = offset;
            kernel->reloc |= 1ull << arg->slot;
            offset += arg->info.bytes;
        }
    }
    kernel->slots = slot;
    // The block stands at the end of the core's private memory: its length decides its alignment.
    kernel->block_bytes = align_up(offset, kernel->reloc ? 64 : 8);
    return kernel->block_bytes <= LEO_MAX_ARGS_BYTES;
}

static leo_status parse_args(const struct rt_image *image, struct leo_rt_kernel *kernel, char *rest)
{
    unsigned count = rest && *rest ? 1 : 0;
    for (const char *at = rest; at && *at; at++) {
        count += *at == ' ';
    }
    kernel->args = leo_calloc(count, sizeof(*kernel->args));
    if (!kernel->args) {
        return rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", image->name);
    }
    char *word;
    while (kernel->arg_count < count && (word = next_word(&rest))) {
        if (strncmp(word, "task", 4) == 0 && !strchr(word, ':') && !rest) {
            kernel->takes_task = true;
            kernel->shared_bytes = (uint32_t)strtoul(word + 4, NULL, 10);
            break;
        }
        if (!parse_arg(word, &kernel->args[kernel->arg_count++])) {
            return bad_note(image, kernel, "an argument is not <letter><size>a<align>");
        }
    }
    return place_args(kernel)
               ? LEO_OK
               : rt_fail(LEO_ERR_UNSUPPORTED,
                         "%s: kernel %s has more than %u argument slots or too large structs",
                         image->name, kernel->name, LEO_MAX_SLOTS);
}

static leo_status parse_note(const struct rt_image *image, struct leo_rt_kernel *kernel)
{
    char *rest = kernel->text;
    kernel->name = next_word(&rest);
    const char *arch = next_word(&rest), *kind = next_word(&rest);
    if (!kernel->name || !arch || !kind) {
        return bad_note(image, kernel, "fields are missing");
    }
    if (strcmp(arch, "0") != 0 && strcmp(arch, "1001") != 0 && strcmp(arch, "2201") != 0) {
        return bad_note(image, kernel, "the chip is not 0, 1001 or 2201");
    }
    kernel->arch = (uint32_t)strtoul(arch, NULL, 10);
    if (!parse_kind(kind, &kernel->kind)) {
        return bad_note(image, kernel, "the core kind is not aicore, cube, vector, mix or mix_one");
    }
    return parse_args(image, kernel, rest);
}

leo_status rt_kernel_parse(const struct rt_image *image, const char *note, size_t bytes,
                           struct leo_rt_kernel *kernel)
{
    *kernel = (struct leo_rt_kernel){0};
    kernel->text = leo_calloc(1, bytes + 1);
    if (!kernel->text) {
        return rt_fail(LEO_ERR_NO_MEMORY, "%s: out of host memory", image->name);
    }
    memcpy(kernel->text, note, bytes);
    leo_status status = parse_note(image, kernel);
    if (status) {
        rt_kernel_finish(kernel);
    }
    return status;
}

leo_status rt_kernel_check_chip(const struct rt_image *image, const struct leo_rt_kernel *kernel,
                                const struct leo_caps *caps)
{
    if (kernel->arch && kernel->arch != caps->arch) {
        return rt_fail(
            LEO_ERR_WRONG_ARCH,
            "%s: kernel %s is compiled for chips of architecture %u, this one (%s) is %u: "
            "compile it with leo cc --soc %s, or choose another chip with LEO_SOC",
            image->name, kernel->name, kernel->arch, caps->soc_name, caps->arch, caps->soc_name);
    }
    bool split = caps->vector_cores > 0;
    bool fits = split ? kernel->kind != LEO_CORE_KIND_AICORE : kernel->kind == LEO_CORE_KIND_AICORE;
    if (!fits && kernel->kind != LEO_CORE_KIND_ANY) {
        return rt_fail(LEO_ERR_WRONG_ARCH, "%s: kernel %s is for %s cores, this chip (%s) has %s",
                       image->name, kernel->name, leo_core_kind_name(kernel->kind), caps->soc_name,
                       split ? "cube and vector cores apart" : "aicore only");
    }
    return LEO_OK;
}

void rt_kernel_finish(struct leo_rt_kernel *kernel)
{
    leo_free(kernel->args);
    leo_free(kernel->text);
    *kernel = (struct leo_rt_kernel){0};
}

const char *leo_rt_kernel_name(const struct leo_rt_kernel *kernel)
{
    return kernel->name;
}

enum leo_core_kind leo_rt_kernel_kind(const struct leo_rt_kernel *kernel)
{
    return kernel->kind;
}

unsigned leo_rt_kernel_arg_count(const struct leo_rt_kernel *kernel)
{
    return kernel->arg_count;
}

struct leo_rt_arg_info leo_rt_kernel_arg(const struct leo_rt_kernel *kernel, unsigned index)
{
    return kernel->args[index].info;
}
