/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel file taken apart: checked, relocated, its kernels described. No device involved. */
#pragma once

#include "../rt.h"
#include <elfutils/libdw.h>
#include <gelf.h>
#include <leo/map.h>

enum {
    RT_IMAGE_MAX = 16 << 20, /**< most bytes of an image, zeros included */
    RT_IMAGE_STACK_DEFAULT = 32 << 10,
    RT_IMAGE_STACK_MAX = 8 << 20,
};

struct rt_image {
    const char *name; /**< for messages; borrowed */
    char *file;       /**< copy of the ELF */
    size_t file_bytes;
    Elf *elf;
    Dwarf *dwarf; /**< made at the first look for a line */
    bool dwarf_tried;
    struct leo_image_desc desc;
    uint8_t *flat; /**< descriptor and image as they go to the device; freed once they are there */
    struct leo_rt_kernel *kernels;
    unsigned kernel_count;
};

/** Parses and checks a file for a chip. Errors are LEO_ERR_BAD_ELF, _WRONG_ARCH, _NO_MEMORY with a
 * text. */
LEO_MUST_CHECK leo_status rt_image_create(const void *elf, size_t bytes, const char *name,
                                          const struct leo_caps *caps, struct rt_image **out);
void rt_image_destroy(struct rt_image *image);

/** Reads one note's text into a kernel: everything but `entry` and `module` (kernel.c). */
LEO_MUST_CHECK leo_status rt_kernel_parse(const struct rt_image *image, const char *note,
                                          size_t bytes, struct leo_rt_kernel *kernel);
/** Whether this chip can run it. */
LEO_MUST_CHECK leo_status rt_kernel_check_chip(const struct rt_image *image,
                                               const struct leo_rt_kernel *kernel,
                                               const struct leo_caps *caps);
void rt_kernel_finish(struct leo_rt_kernel *kernel);

/** A symbol by its name, or a variable by the name that a C++ source has for it. */
bool rt_image_find(const struct rt_image *image, const char *name, GElf_Sym *found);
/** Link address of a symbol. */
bool rt_image_symbol(const struct rt_image *image, const char *name, uint64_t *value);
/** The instruction word at a link address. */
bool rt_image_word(const struct rt_image *image, uint64_t link, uint32_t *word);
/** Compilation unit of a link address (line.c). The device's lock is held. */
bool rt_image_unit(struct rt_image *image, uint64_t pc, Dwarf_Die *unit);
/** Source line of a link address (line.c). The device's lock is held. */
bool rt_image_line(struct rt_image *image, uint64_t pc, char *file, size_t file_bytes, int *line);
