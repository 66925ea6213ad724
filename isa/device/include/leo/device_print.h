/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by <leo/device.h>: output of a kernel and assertions.
 *
 * leo_printf(format, ...): like printf, on every core; the runtime writes it to standard output
 * when the host synchronises. half and bfloat16_t print with %f, %g, %e. At most 16 values.
 * leo_assert(condition) or leo_assert(condition, format, ...): ends the kernel with a fault that
 * tells the text.
 */
#pragma once

/* A pass for the host gets nothing, nor does CUDA, whose device code has no variadic functions. */
#if defined(__riscv) && !defined(LEO_ONE_FILE)
#define LEO_PRINTS 1
#else
#define LEO_PRINTS 0
#endif

#if LEO_PRINTS
#ifdef __cplusplus
extern "C" {
#endif
void leo_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns where the text stands, for the trap that follows. */
uint64_t leo_print_assert(const char *format, ...) __attribute__((format(printf, 1, 2), cold));
#ifdef __cplusplus
}
#endif
#endif

/* What a value is passed as: only half and bfloat16_t are not what C makes of them. */
#define LEO_PRINT_ARG(type, passed)                                                                \
    LEO_INTRIN passed leo_print_arg(type value)                                                    \
    {                                                                                              \
        return (passed)value;                                                                      \
    }
LEO_PRINT_ARG(half, double)
LEO_PRINT_ARG(bfloat16_t, double)
LEO_PRINT_ARG(float, double)
LEO_PRINT_ARG(double, double)
LEO_PRINT_ARG(int, int)
LEO_PRINT_ARG(unsigned, unsigned)
LEO_PRINT_ARG(long, long)
LEO_PRINT_ARG(unsigned long, unsigned long)
LEO_PRINT_ARG(long long, long long)
LEO_PRINT_ARG(unsigned long long, unsigned long long)
LEO_PRINT_ARG(const char *, const char *)
LEO_PRINT_ARG(const volatile void *, const volatile void *)
#undef LEO_PRINT_ARG

#define LEO_PRINT_1(a, ...)  , leo_print_arg(a) __VA_OPT__(LEO_PRINT_2(__VA_ARGS__))
#define LEO_PRINT_2(a, ...)  , leo_print_arg(a) __VA_OPT__(LEO_PRINT_3(__VA_ARGS__))
#define LEO_PRINT_3(a, ...)  , leo_print_arg(a) __VA_OPT__(LEO_PRINT_4(__VA_ARGS__))
#define LEO_PRINT_4(a, ...)  , leo_print_arg(a) __VA_OPT__(LEO_PRINT_5(__VA_ARGS__))
#define LEO_PRINT_5(a, ...)  , leo_print_arg(a) __VA_OPT__(LEO_PRINT_6(__VA_ARGS__))
#define LEO_PRINT_6(a, ...)  , leo_print_arg(a) __VA_OPT__(LEO_PRINT_7(__VA_ARGS__))
#define LEO_PRINT_7(a, ...)  , leo_print_arg(a) __VA_OPT__(LEO_PRINT_8(__VA_ARGS__))
#define LEO_PRINT_8(a, ...)  , leo_print_arg(a) __VA_OPT__(LEO_PRINT_9(__VA_ARGS__))
#define LEO_PRINT_9(a, ...)  , leo_print_arg(a) __VA_OPT__(LEO_PRINT_10(__VA_ARGS__))
#define LEO_PRINT_10(a, ...) , leo_print_arg(a) __VA_OPT__(LEO_PRINT_11(__VA_ARGS__))
#define LEO_PRINT_11(a, ...) , leo_print_arg(a) __VA_OPT__(LEO_PRINT_12(__VA_ARGS__))
#define LEO_PRINT_12(a, ...) , leo_print_arg(a) __VA_OPT__(LEO_PRINT_13(__VA_ARGS__))
#define LEO_PRINT_13(a, ...) , leo_print_arg(a) __VA_OPT__(LEO_PRINT_14(__VA_ARGS__))
#define LEO_PRINT_14(a, ...) , leo_print_arg(a) __VA_OPT__(LEO_PRINT_15(__VA_ARGS__))
#define LEO_PRINT_15(a, ...) , leo_print_arg(a) __VA_OPT__(LEO_PRINT_16(__VA_ARGS__))
#define LEO_PRINT_16(a)      , leo_print_arg(a)

#define LEO_PRINT_FIRST(first, ...) first
#define LEO_PRINT_REST(first, ...)  __VA_OPT__(LEO_PRINT_1(__VA_ARGS__))

#if LEO_PRINTS
#define leo_printf(format, ...) leo_print(format __VA_OPT__(LEO_PRINT_1(__VA_ARGS__)))
/* The trap stands in the user's own line. */
#define leo_assert(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            uint64_t leo_told = leo_print_assert(                                                  \
                "assertion '%s' failed at %s:%d" __VA_OPT__(                                       \
                    ": " LEO_PRINT_FIRST(__VA_ARGS__, )) "\n",                                     \
                #condition, __FILE__, __LINE__ __VA_OPT__(LEO_PRINT_REST(__VA_ARGS__)));           \
            LEO_I(0x7b, 7, leo_told, 0);                                                           \
        }                                                                                          \
    } while (0)
#else
#define leo_printf(format, ...)    ((void)0)
#define leo_assert(condition, ...) ((void)sizeof(!(condition)))
#endif
