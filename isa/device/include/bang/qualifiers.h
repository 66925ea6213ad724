/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <bang.h>: qualifiers, sizes of memories, and how functions of the language are made.
 */
#pragma once

#define __BANG__      1
#define __BANG_ARCH__ 372 /* isa_version of isa/soc/mlu370.ini */
/* KiB, as compilers for this chip tell them. */
#define __MLU_NRAM_SIZE__ 768
#define __MLU_WRAM_SIZE__ 1024
#define __MLU_SRAM_SIZE__ 2048

#ifdef LEO_ONE_FILE // one file with code for the host
#define __mlu_entry__  __attribute__((global, visibility("protected"), used))
#define __mlu_device__ __attribute__((device, unused))
#else
#define __mlu_entry__  __attribute__((visibility("protected"), used))
#define __mlu_device__ __attribute__((unused))
#endif
#define __mlu_global__ __mlu_entry__
#define __mlu_func__   __mlu_device__
#define __mlu_const__  static const LEO_DEVICE

/* Arrays in a core's memories, in a function or outside. An initialiser that is no constant is an
 * error: these are places, and they hold what was there before. */
#ifdef __riscv
#define LEO_BANG_ARRAY(name)                                                                       \
    static LEO_DEVICE __attribute__((section(name), aligned(128), require_constant_initialization))
#else
#define LEO_BANG_ARRAY(name) static LEO_DEVICE __attribute__((unused))
#endif
#define __nram__ LEO_BANG_ARRAY(".npu.ub")
#define __wram__ LEO_BANG_ARRAY(".npu.l1")

#define LEO_BANG        static inline __attribute__((always_inline, nodebug, unused))
#define LEO_BANG_METHOD inline __attribute__((always_inline, nodebug))
/* What may be long or seldom: fetched once. */
#define LEO_BANG_SMALL static __attribute__((noinline, unused))

enum : uint32_t { LEO_BLOCK_BYTES = 32 }; /**< what a unit reads and writes at least */

LEO_BANG bool leo_is_whole(uint64_t word)
{
    return word % LEO_BLOCK_BYTES == 0;
}

/** Ends the kernel: the message names what the program must mend. */
LEO_BANG void leo_bang_refuse(const char *what)
{
    leo_print("BANG C: %s\n", what);
    trap();
}
