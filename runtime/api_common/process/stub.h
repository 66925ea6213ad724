/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that a program names by the address of a function of its own: what compilers register for
 * files of kernels that a program carries. A file is loaded onto a device when one of its kernels
 * is first launched there, and again after the device was reset.
 */
#pragma once

#include "../launch/module_handle.h"

/** A kernel file in memory, which stays the caller's: it must live as long as the registration.
 * NULL: not an ELF file, or no memory. */
struct api_image *api_image_register(const void *elf);
void api_image_unregister(struct api_image *image);
/** The kernel `name` of the file goes by `address` from here on. */
leo_status api_stub_register(struct api_image *image, const void *address, const char *name);
/** The function behind an address on the current device, loaded if it is not, or a live function's
 * own handle. API_BAD_HANDLE: it is neither. */
leo_status api_stub_find(const void *address, const void **func);
/** Loads a kernel file in memory whose size only its head tells. */
leo_status api_module_load_image(const void *elf, void **module);
/** Bytes of an ELF file in memory by its own head; 0: it is none. */
size_t api_elf_bytes(const void *elf);

/** A launch between the two calls that compilers make of one: how, then with what. */
struct api_call {
    unsigned dim[3];
    int type;
    void *stream;
};
/** Of the calling thread; calls may nest. LEO_ERR_STATE: too deep, or none is there. */
leo_status api_call_push(const struct api_call *call);
leo_status api_call_pop(struct api_call *call);
