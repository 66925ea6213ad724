/* SPDX-License-Identifier: Apache-2.0 */
#include "run_args.h"

#include <errno.h>
#include <leo/alloc.h>
#include <leo/driver.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char run_arg_help[] =
    "Arguments, one --arg for each parameter, in order:\n"
    "  in:FILE            pointer: a device buffer that holds the file\n"
    "  out:BYTES[:FILE]   pointer: a zeroed buffer, written to FILE after the run\n"
    "  inout:FILE[:FILE2] pointer: as in:, written to FILE2 (else FILE) after the run\n"
    "  null               pointer: 0\n"
    "  u32:N s16:N f32:X  a number of that type: u8 u16 u32 u64, s8 s16 s32 s64, f16 bf16 f32 f64\n"
    "  N                  a number of the type the parameter has (bf16 needs bf16:N)\n"
    "  bytes:FILE         a structure by value\n";

static int misuse(unsigned index, const struct leo_rt_arg_info *info, const struct run_arg *arg,
                  const char *want)
{
    fprintf(stderr, "leo run: argument %u%s%s%s is %s: '%s' does not fit\n", index,
            info->name[0] ? " (" : "", info->name, info->name[0] ? ")" : "", want, arg->spec);
    return 2;
}

static bool parse_bytes(const char *text, uint64_t *bytes, const char **rest)
{
    char *end;
    errno = 0;
    *bytes = strtoull(text, &end, 0);
    if (end == text || text[0] == '-' || errno) {
        return false;
    }
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        *bytes <<= 10 * (unit - units + 1);
        end++;
    }
    *rest = end;
    return *end == '\0' || *end == ':';
}

static int parse_out(struct run_arg *arg)
{
    uint64_t bytes;
    const char *rest;
    if (!parse_bytes(arg->spec + 4, &bytes, &rest) || bytes == 0 || bytes > (uint64_t)1 << 40) {
        fprintf(stderr, "leo run: %s: BYTES must be a size such as 4096 or 16K, at most 1024G\n",
                arg->spec);
        return 2;
    }
    arg->output = rest[0] ? rest + 1 : NULL;
    arg->content.bytes = bytes;
    arg->content.data = leo_calloc(1, bytes);
    if (!arg->content.data) {
        fprintf(stderr, "leo run: %s: out of memory\n", arg->spec);
        return 1;
    }
    return 0;
}

static int parse_inout(struct run_arg *arg)
{
    char path[4096];
    const char *colon = strchr(arg->spec + 6, ':');
    int length = colon ? (int)(colon - (arg->spec + 6)) : (int)strlen(arg->spec + 6);
    if ((size_t)length >= sizeof(path)) {
        fprintf(stderr, "leo run: %s: the path is too long\n", arg->spec);
        return 2;
    }
    snprintf(path, sizeof(path), "%.*s", length, arg->spec + 6);
    arg->output = colon ? colon + 1 : arg->spec + 6;
    return file_read("run", path, &arg->content) ? 0 : 1;
}

static int parse_pointer(struct run_arg *arg, unsigned index, const struct leo_rt_arg_info *info)
{
    arg->is_buffer = true;
    if (strcmp(arg->spec, "null") == 0) {
        arg->is_buffer = false;
        return 0;
    }
    if (strncmp(arg->spec, "in:", 3) == 0) {
        return file_read("run", arg->spec + 3, &arg->content) ? 0 : 1;
    }
    if (strncmp(arg->spec, "out:", 4) == 0) {
        return parse_out(arg);
    }
    if (strncmp(arg->spec, "inout:", 6) == 0) {
        return parse_inout(arg);
    }
    return misuse(index, info, arg, "a pointer (in:FILE, out:BYTES[:FILE], inout:FILE or null)");
}

/* Nearest, ties to even, of a float's value in fewer bits; the device reads the pattern. */
static uint16_t half_bits(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent = 0;
    if (isnan(value)) {
        return 0x7e00;
    }
    double magnitude = fabs(value);
    frexp(magnitude, &exponent);
    int scale =
        exponent - 11 < -24 ? -24 : exponent - 11; /* 2^scale is the distance of neighbours */
    double steps = nearbyint(ldexp(magnitude, -scale));
    magnitude = ldexp(steps, scale);
    if (magnitude > 65504) {
        return sign | 0x7c00;
    }
    if (magnitude < 0x1p-14) {
        return sign | (uint16_t)ldexp(magnitude, 24);
    }
    frexp(magnitude, &exponent);
    return sign | (uint16_t)((exponent + 14) << 10 | ((int)ldexp(magnitude, 11 - exponent) & 1023));
}

static uint16_t brain_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return isnan(value) ? 0x7fc0 : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static bool store_float(struct run_arg *arg, const char *text, uint32_t bytes, bool brain)
{
    char *end;
    double value = strtod(text, &end);
    float single = (float)value;
    uint16_t bits = brain ? brain_bits(single) : half_bits(value);
    if (end == text || *end) {
        return false;
    }
    const void *from = bytes == 2   ? (const void *)&bits
                       : bytes == 4 ? (const void *)&single
                                    : &value;
    memcpy(arg->value, from, bytes);
    return true;
}

static bool store_integer(struct run_arg *arg, const char *text, uint32_t bytes, bool is_signed)
{
    char *end;
    unsigned bits = bytes * 8;
    errno = 0;
    if (is_signed) {
        int64_t value = strtoll(text, &end, 0);
        int64_t limit = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
        memcpy(arg->value, &value, bytes);
        return end != text && !*end && !errno && value <= limit && value >= -limit - 1;
    }
    uint64_t value = strtoull(text, &end, 0);
    memcpy(arg->value, &value, bytes);
    return end != text && !*end && !errno && text[0] != '-' && (bits == 64 || value >> bits == 0);
}

static int parse_number(struct run_arg *arg, unsigned index, const struct leo_rt_arg_info *info)
{
    char want[96];
    const char *colon = strchr(arg->spec, ':');
    const char *text = colon ? colon + 1 : arg->spec;
    size_t prefix = colon ? (size_t)(colon - arg->spec) : 0;
    char type[8];
    snprintf(type, sizeof(type), "%c%u", info->kind, info->bytes * 8);
    snprintf(want, sizeof(want), "a number of %u bits (%s:N%s)", info->bytes * 8, type,
             strcmp(type, "f16") == 0 ? " or bf16:N" : "");
    bool brain =
        info->kind == 'f' && info->bytes == 2 && prefix == 4 && strncmp(arg->spec, "bf16", 4) == 0;
    if (colon && !brain && (prefix != strlen(type) || strncmp(arg->spec, type, prefix) != 0)) {
        return misuse(index, info, arg, want);
    }
    bool good = info->kind == 'f' ? store_float(arg, text, info->bytes, brain)
                                  : store_integer(arg, text, info->bytes, info->kind == 's');
    return good ? 0 : misuse(index, info, arg, want);
}

static int parse_structure(struct run_arg *arg, unsigned index, const struct leo_rt_arg_info *info)
{
    char want[96];
    snprintf(want, sizeof(want), "a structure of %u bytes (bytes:FILE)", info->bytes);
    if (strncmp(arg->spec, "bytes:", 6) != 0) {
        return misuse(index, info, arg, want);
    }
    if (!file_read("run", arg->spec + 6, &arg->content)) {
        return 1;
    }
    if (arg->content.bytes != info->bytes) {
        fprintf(stderr, "leo run: argument %u is %s; the file has %zu\n", index, want,
                arg->content.bytes);
        return 2;
    }
    return 0;
}

static int count_mismatch(unsigned count, const struct leo_rt_kernel *kernel)
{
    unsigned want = leo_rt_kernel_arg_count(kernel);
    fprintf(stderr, "leo run: kernel %s takes %u argument%s, %u given\n",
            leo_rt_kernel_name(kernel), want, want == 1 ? "" : "s", count);
    for (unsigned i = 0; i < want; i++) {
        struct leo_rt_arg_info info = leo_rt_kernel_arg(kernel, i);
        const char *kind = info.kind == 'p'   ? "pointer"
                           : info.kind == 'b' ? "structure"
                           : info.kind == 'f' ? "float"
                           : info.kind == 's' ? "signed"
                                              : "unsigned";
        fprintf(stderr, "    %u %-12s %s, %u bytes\n", i, info.name, kind, info.bytes);
    }
    return 2;
}

int run_args_parse(struct run_arg *args, unsigned count, const struct leo_rt_kernel *kernel)
{
    if (count != leo_rt_kernel_arg_count(kernel)) {
        return count_mismatch(count, kernel);
    }
    for (unsigned i = 0; i < count; i++) {
        struct leo_rt_arg_info info = leo_rt_kernel_arg(kernel, i);
        int code = info.kind == 'p'   ? parse_pointer(&args[i], i, &info)
                   : info.kind == 'b' ? parse_structure(&args[i], i, &info)
                                      : parse_number(&args[i], i, &info);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

/* A buffer that starts as zeros. */
static bool is_fresh(const struct run_arg *arg)
{
    return strncmp(arg->spec, "out:", 4) == 0;
}

/* `fresh`: buffers that start as zeros are as they come, so that the checker tells who reads them
 * before anybody wrote. */
static leo_status fill(struct run_arg *args, unsigned count, struct leo_rt_device *device,
                       bool fresh)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < count && status == LEO_OK; i++) {
        const bool skip = fresh && is_fresh(&args[i]);
        if (args[i].is_buffer && args[i].content.bytes > 0 && !skip) {
            status = leo_rt_memcpy(device, (void *)(uintptr_t)args[i].addr, args[i].content.data,
                                   args[i].content.bytes);
        }
    }
    return status;
}

leo_status run_args_refill(struct run_arg *args, unsigned count, struct leo_rt_device *device)
{
    return fill(args, count, device, false);
}

leo_status run_args_upload(struct run_arg *args, unsigned count, struct leo_rt_device *device)
{
    for (unsigned i = 0; i < count; i++) {
        if (!args[i].is_buffer) {
            continue;
        }
        leo_status status = leo_rt_memory_alloc(device, args[i].content.bytes, &args[i].addr);
        if (status != LEO_OK) {
            return status;
        }
        memcpy(args[i].value, &args[i].addr, sizeof(args[i].addr));
    }
    return fill(args, count, device, true);
}

leo_status run_args_tell_unwritten(const struct run_arg *args, unsigned count,
                                   struct leo_rt_device *device)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < count && status == LEO_OK; i++) {
        struct leo_unwritten found = {0};
        if (!args[i].is_buffer || !is_fresh(&args[i])) {
            continue;
        }
        status = leo_drv_memory_unwritten(leo_rt_device_driver(device), args[i].addr,
                                          args[i].content.bytes, &found);
        if (status == LEO_OK && found.bytes) {
            printf("argument %u (%s): %llu of %zu bytes were never written, the first at byte "
                   "%llu\n",
                   i, args[i].spec, (unsigned long long)found.bytes, args[i].content.bytes,
                   (unsigned long long)(found.first - args[i].addr));
        }
    }
    return status;
}

leo_status run_args_download(struct run_arg *args, unsigned count, struct leo_rt_device *device)
{
    leo_status status = LEO_OK;
    for (unsigned i = 0; i < count && status == LEO_OK; i++) {
        if (args[i].is_buffer && args[i].content.bytes > 0) {
            status = leo_rt_memcpy(device, args[i].content.data, (void *)(uintptr_t)args[i].addr,
                                   args[i].content.bytes);
        }
    }
    return status;
}

bool run_args_write(const struct run_arg *args, unsigned count)
{
    bool good = true;
    for (unsigned i = 0; i < count; i++) {
        if (args[i].output && *args[i].output) {
            good &= file_write("run", args[i].output, args[i].content.data, args[i].content.bytes);
        }
    }
    return good;
}

void run_args_values(struct run_arg *args, unsigned count, const void **values)
{
    for (unsigned i = 0; i < count; i++) {
        bool is_structure = !args[i].is_buffer && args[i].content.data;
        values[i] = is_structure ? (const void *)args[i].content.data : args[i].value;
    }
}

void run_args_finish(struct run_arg *args, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        file_finish(&args[i].content);
    }
}
