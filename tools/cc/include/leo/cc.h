/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles kernels: C or C++ source to an ELF file the runtime loads. */
#pragma once

#include <leo/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Set `size` to sizeof(struct leo_cc_opts); zero elsewhere means the default. Everything is
 * borrowed. */
struct leo_cc_opts {
    size_t size;
    const char *soc; /**< Built-in name or path of a SoC file; default LEO_SOC, else ascend910a. */
    const char *const *sources; /**< .c, .cpp, .cc, .cxx or .mlu files; at least one. */
    size_t source_count;
    const char *const
        *flags; /**< Passed to the compiler behind our defaults, before what must hold. */
    size_t flag_count;
    const char *output;      /**< The ELF file. */
    const char *depfile;     /**< Writes a make dependency file for the first source. */
    const char *device_root; /**< Folder with include/, lib/ and leo.ld; default LEO_DEVICE_ROOT,
                                else our own. */
    const char *host_triple; /**< The sources have code for a host of this target beside their
                                kernels, and are in C++; its headers are found by `flags`. */
    bool save_temps; /**< Keeps objects, the unnoted image and the note's assembly beside the
                        output. */
    bool strip;      /**< Drops DWARF: faults then have no source line. */
    bool verbose;    /**< Prints every command to stderr. */
};

/**
 * Compiles, links, derives the kernel note (isa/layout/kernel_note.layout) and links again. The
 * compiler's own messages go to stderr unchanged; then `error` is empty. Every other failure is
 * reported in `error`.
 */
LEO_MUST_CHECK leo_status leo_cc_compile(const struct leo_cc_opts *opts, char *error,
                                         size_t error_bytes);

/** Writes a disassembly of an ELF or object file to `out`, with source lines if `source`. */
LEO_MUST_CHECK leo_status leo_cc_objdump(const char *path, bool source, FILE *out, char *error,
                                         size_t error_bytes);
