/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: text from kernels. */
#pragma once

namespace AscendC
{

#ifdef LEO_ONE_FILE // code for the host has C's
#pragma clang force_cuda_host_device end
#endif
/** As C's printf; the host prints it. */
template <typename... A> LEO_DEVICE static inline void printf(const char *format, A... values)
{
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-security"
    leo_print(format, leo_print_arg(values)...);
#pragma clang diagnostic pop
}
#ifdef LEO_ONE_FILE
#pragma clang force_cuda_host_device begin
#endif

template <typename... A> static inline void PRINTF(const char *format, A... values)
{
    AscendC::printf(format, values...);
}

enum class leo_log_level { debug, info, warning, error };

/** A line of text; of errors and warnings only. */
template <typename... A>
static inline void leo_log(leo_log_level level, const char *format, A... values)
{
    if (level >= leo_log_level::warning) {
        AscendC::printf(format, values...);
        leo_print("\n");
    }
}

/** The first `count` elements, and a number that says which dump this is. */
LEO_AC void DumpTensor(const LocalTensor<T> &tensor, uint32_t desc, uint32_t count)
{
    leo_print("DumpTensor: desc=%u, addr=%x, dump_size=%u\n[", desc,
              (unsigned)(uintptr_t)tensor.GetPhyAddr(), count);
    for (uint32_t i = 0; i < count; i++) {
        leo_print(i + 1 < count ? "%f, " : "%f]\n", (double)(float)tensor.GetValue(i));
    }
}

LEO_AC void DumpTensor(const GlobalTensor<T> &tensor, uint32_t desc, uint32_t count)
{
    leo_print("DumpTensor: desc=%u, position=GM, dump_size=%u\n[", desc, count);
    for (uint32_t i = 0; i < count; i++) {
        leo_print(i + 1 < count ? "%f, " : "%f]\n", (double)(float)tensor.GetValue(i));
    }
}

} // namespace AscendC

#define ASSERT(condition) leo_assert(condition)
#undef assert
#define assert(condition) leo_assert(condition)
/* What comes behind the condition is done before the kernel ends. Of a debug build alone, as the
 * vendor's: without it the condition is not read. */
#if defined(ASCENDC_DEBUG) || defined(ASCENDC_CPU_DEBUG)
#define ASCENDC_ASSERT(condition, ...)                                                             \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            __VA_ARGS__;                                                                           \
            leo_assert(false && #condition);                                                       \
        }                                                                                          \
    } while (0)
#else
#define ASCENDC_ASSERT(condition, ...) ((void)0)
#endif
#define ascendc_assert(condition, ...) leo_assert(condition)

#define KERNEL_DEBUG           AscendC::leo_log_level::debug
#define KERNEL_INFO            AscendC::leo_log_level::info
#define KERNEL_WARN            AscendC::leo_log_level::warning
#define KERNEL_ERROR           AscendC::leo_log_level::error
#define KERNEL_LOG(level, ...) AscendC::leo_log(level, __VA_ARGS__)
