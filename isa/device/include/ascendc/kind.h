/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: the cores that a kernel runs on, said in its body. */
#pragma once

/** Kinds of kernels: vector cores, cube cores, or a cube core with its vector cores. leo cc reads
 * the numbers (tools/cc/kernels.c). */
enum leo_kernel_type {
    KERNEL_TYPE_AIV_ONLY,
    KERNEL_TYPE_AIC_ONLY,
    KERNEL_TYPE_MIX_AIV_1_0,
    KERNEL_TYPE_MIX_AIC_1_0,
    KERNEL_TYPE_MIX_AIC_1_1,
    KERNEL_TYPE_MIX_AIC_1_2,
    KERNEL_TYPE_AICORE,
    LEO_KERNEL_TYPE_MIX_UNLESS_SAID, /**< said by the Matmul object */
};

/* An entry (place in the kernel, kind) of a section that is not loaded; leo cc finds the kernel by
 * the place. */
#define LEO_KIND(kind)                                                                             \
    __asm__ volatile("7070: .pushsection .leo.kind,\"\",@progbits\n"                               \
                     ".8byte 7070b, %0\n"                                                          \
                     ".popsection" ::"i"(kind))
#define KERNEL_TASK_TYPE_DEFAULT(kind) LEO_KIND(kind)

/** Of one tiling key: an image has one (-DLEO_TILING_KEY=KEY), others say nothing; keys that a
 * kernel names here have an image of their own in a custom operator's library. */
#define KERNEL_TASK_TYPE(key, kind)                                                                \
    do {                                                                                           \
        if constexpr (AscendC::leo_key_is_ours((uint64_t)(key))) {                                 \
            KERNEL_TASK_TYPE_DEFAULT(kind);                                                        \
        }                                                                                          \
    } while (0)

namespace AscendC
{

#ifdef LEO_TILING_KEY
constexpr bool leo_key_is_ours(uint64_t key)
{
    return key == (uint64_t)(LEO_TILING_KEY);
}
#elif defined(LEO_TILING_KEY_BY_LAUNCH)
constexpr bool leo_key_is_ours(uint64_t)
{
    return false;
}
#else
__attribute__((unavailable("compile with -DLEO_TILING_KEY=KEY: an image is of one tiling "
                           "key"))) constexpr bool
leo_key_is_ours(uint64_t)
{
    return false;
}
#endif

} // namespace AscendC
