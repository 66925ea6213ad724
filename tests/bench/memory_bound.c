/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that the chip's memory bounds, on both simulated chips: simulated time beside the time
 * that HBM alone needs for what they read and write (isa/soc, hbm_read_gb_per_s). Tensors of 64 MB
 * go round a pool larger than the L2, so that nothing is there twice. Aim: 0.85 for pointwise
 * operators and conversions. Arguments: a part of the lines' names, and a chip. Functions that
 * arithmetic bounds are measured if their names are asked for ("of" for all of them).
 */
#include "chip.h"

#include <string.h>

enum { SLOTS = 16, MEMBERS = 4, ARGS = 16, RUNS = 3 };
static const uint64_t mega = 1 << 20;

struct bench {
    struct bench_chip chip;
    uint64_t memory; /* SLOTS of 64 MB */
    unsigned next;
    double gb_per_s;
};

static struct bench bench_open(const char *soc)
{
    struct bench b = {.chip = bench_chip_open(soc, 0)};
    must(leo_rt_hbm_gb_per_s(b.chip.device, &b.gb_per_s), "soc_number");
    must(leo_rt_memory_alloc(b.chip.device, SLOTS * 64 * mega + LEO_OP_READ_MARGIN, &b.memory),
         "alloc");
    return b;
}

static void bench_close(struct bench *b)
{
    must(leo_rt_stream_synchronize(b->chip.stream, -1), "synchronize");
    must(leo_rt_memory_free(b->chip.device, b->memory), "free");
    bench_chip_close(&b->chip);
}

/*
 * A line of the table: the operator and its arguments, a letter each. Tensors [rows, columns] of a
 * type: f f32, h f16, b bf16, i i32, l i64, m bool; a capital is a row [columns], + before it a
 * column [rows, 1], * a list of MEMBERS tensors of a share of the rows. Else: 1 0 a number, [ the
 * list {1}, ] the list {0}, / the list {columns}, ! three yes, - none, ~f a type.
 */
struct line {
    const char *name, *op, *args;
    uint32_t rows, columns;
    double aim; /* 0: none */
    bool split_only;
};

static const struct line lines[] = {
    {"add f32", "Add", "ff1f", 8192, 2048, 0.85, false},
    {"mul f32", "Mul", "fff", 8192, 2048, 0.85, false},
    {"add f16", "Add", "hh1h", 8192, 4096, 0.85, false},
    {"add bf16", "Add", "bb1b", 8192, 4096, 0.85, true},
    {"relu f16", "Relu", "hh", 8192, 4096, 0.85, false},
    {"cast f32 to f16", "Cast", "f~hh", 8192, 2048, 0.85, false},
    {"cast f16 to f32", "Cast", "h~ff", 8192, 2048, 0.85, false},
    {"gelu f16", "Gelu", "hh", 8192, 4096, 0.85, false},
    {"gelu f32", "Gelu", "ff", 8192, 2048, 0.85, false},
    {"exp f32", "Exp", "ff", 8192, 2048, 0.85, false},
    {"sigmoid f16", "Sigmoid", "hh", 8192, 4096, 0.85, false},
    {"compare f32", "GtTensor", "ffm", 8192, 2048, 0.85, false},
    {"select f32", "SWhere", "mfff", 8192, 2048, 0.85, false},
    {"bias of a row f32", "Add", "fF1f", 8192, 2048, 0.85, false},
    {"foreach mul", "ForeachMulScalarV2", "*f1*f", 8192, 2048, 0.85, false},
    {"foreach addcmul", "ForeachAddcmulScalarV2", "*f*f*f1*f", 8192, 2048, 0.85, false},
    {"foreach addcdiv", "ForeachAddcdivScalarV2", "*f*f*f1*f", 8192, 2048, 0.85, false},
    {"sum of rows f32", "ReduceSum", "f[1~f+f", 8192, 2048, 0.85, false},
    {"sum of columns f32", "ReduceSum", "f]0~fF", 8192, 2048, 0.85, false},
    {"max of rows f32", "Amax", "f[1+f", 8192, 2048, 0.85, false},
    {"argmax of rows f32", "ArgMax", "f11+l", 512, 1024, 0, false},
    {"softmax f32", "Softmax", "f1f", 8192, 2048, 0.85, false},
    {"softmax f16", "Softmax", "h1h", 8192, 2048, 0.85, false},
    {"layer norm f32", "LayerNorm", "f/FF0f+f+f", 8192, 2048, 0.85, false},
    {"layer norm f16", "LayerNorm", "h/HH0h+f+f", 8192, 2048, 0.85, false},
    {"layer norm bf16", "LayerNorm", "b/BB0b+f+f", 1024, 1024, 0, true},
    {"gelu gradient f16", "GeluBackward", "hhh", 8192, 2048, 0.7, false},
    {"gelu gradient f32", "GeluBackward", "fff", 8192, 2048, 0.7, false},
    {"log softmax f16", "LogSoftmax", "h1h", 8192, 2048, 0.7, false},
    {"softmax gradient f32", "SoftmaxBackward", "ff1f", 8192, 2048, 0.7, false},
    {"softmax gradient f16", "SoftmaxBackward", "hh1h", 8192, 2048, 0.7, false},
    {"log softmax gradient f32", "LogSoftmaxBackward", "ff1f", 8192, 2048, 0.7, false},
    {"log softmax gradient f16", "LogSoftmaxBackward", "hh1h", 8192, 2048, 0.7, false},
    {"layer norm gradient f32", "LayerNormBackward", "ff/+f+fFF!fFF", 8192, 2048, 0.7, false},
    {"layer norm gradient f16", "LayerNormBackward", "hh/+f+fHH!hFF", 8192, 2048, 0.7, false},
    {"layer norm gradient bf16", "LayerNormBackward", "bb/+f+fBB!bFF", 8192, 2048, 0.7, true},
    {"rms norm f16", "RmsNorm", "hH0h+f", 8192, 2048, 0.85, false},
    {"rms norm gradient f32", "RmsNormGrad", "ff+fFfF", 8192, 2048, 0.7, false},
    {"rms norm gradient f16", "RmsNormGrad", "hh+fHhF", 8192, 2048, 0.7, false},
    {"add i32", "Add", "ii1i", 1024, 1024, 0, false},
    {"add i64", "Add", "ll1l", 512, 512, 0, false},
    {"cast i64 to f32", "Cast", "l~ff", 512, 512, 0, false},
};

static const struct line functions[] = {
    {"Exp2 of f32", "Exp2", "ff", 8192, 2048, 0, false},
    {"Exp2 of f16", "Exp2", "hh", 8192, 4096, 0, false},
    {"Expm1 of f32", "Expm1", "ff", 8192, 2048, 0, false},
    {"Expm1 of f16", "Expm1", "hh", 8192, 4096, 0, false},
    {"Log2 of f32", "Log2", "ff", 8192, 2048, 0, false},
    {"Log2 of f16", "Log2", "hh", 8192, 4096, 0, false},
    {"Log10 of f32", "Log10", "ff", 8192, 2048, 0, false},
    {"Log10 of f16", "Log10", "hh", 8192, 4096, 0, false},
    {"Log1p of f32", "Log1p", "ff", 8192, 2048, 0, false},
    {"Log1p of f16", "Log1p", "hh", 8192, 4096, 0, false},
    {"Sin of f32", "Sin", "ff", 8192, 2048, 0, false},
    {"Sin of f16", "Sin", "hh", 8192, 4096, 0, false},
    {"Cos of f32", "Cos", "ff", 8192, 2048, 0, false},
    {"Cos of f16", "Cos", "hh", 8192, 4096, 0, false},
    {"Tan of f32", "Tan", "ff", 8192, 2048, 0, false},
    {"Tan of f16", "Tan", "hh", 8192, 4096, 0, false},
    {"Asin of f32", "Asin", "ff", 8192, 2048, 0, false},
    {"Asin of f16", "Asin", "hh", 8192, 4096, 0, false},
    {"Acos of f32", "Acos", "ff", 8192, 2048, 0, false},
    {"Acos of f16", "Acos", "hh", 8192, 4096, 0, false},
    {"Atan of f32", "Atan", "ff", 8192, 2048, 0, false},
    {"Atan of f16", "Atan", "hh", 8192, 4096, 0, false},
    {"Sinh of f32", "Sinh", "ff", 8192, 2048, 0, false},
    {"Sinh of f16", "Sinh", "hh", 8192, 4096, 0, false},
    {"Cosh of f32", "Cosh", "ff", 8192, 2048, 0, false},
    {"Cosh of f16", "Cosh", "hh", 8192, 4096, 0, false},
    {"Tanh of f32", "Tanh", "ff", 8192, 2048, 0, false},
    {"Tanh of f16", "Tanh", "hh", 8192, 4096, 0, false},
    {"Asinh of f32", "Asinh", "ff", 8192, 2048, 0, false},
    {"Asinh of f16", "Asinh", "hh", 8192, 4096, 0, false},
    {"Acosh of f32", "Acosh", "ff", 8192, 2048, 0, false},
    {"Acosh of f16", "Acosh", "hh", 8192, 4096, 0, false},
    {"Atanh of f32", "Atanh", "ff", 8192, 2048, 0, false},
    {"Atanh of f16", "Atanh", "hh", 8192, 4096, 0, false},
    {"Erf of f32", "Erf", "ff", 8192, 2048, 0, false},
    {"Erf of f16", "Erf", "hh", 8192, 4096, 0, false},
    {"Erfc of f32", "Erfc", "ff", 8192, 2048, 0, false},
    {"Erfc of f16", "Erfc", "hh", 8192, 4096, 0, false},
    {"Erfinv of f32", "Erfinv", "ff", 8192, 2048, 0, false},
    {"Erfinv of f16", "Erfinv", "hh", 8192, 4096, 0, false},
    {"Silu of f32", "Silu", "ff", 8192, 2048, 0, false},
    {"Silu of f16", "Silu", "hh", 8192, 4096, 0, false},
    {"Mish of f32", "Mish", "ff", 8192, 2048, 0, false},
    {"Mish of f16", "Mish", "hh", 8192, 4096, 0, false},
    {"Floor of f32", "Floor", "ff", 8192, 2048, 0, false},
    {"Floor of f16", "Floor", "hh", 8192, 4096, 0, false},
    {"Ceil of f32", "Ceil", "ff", 8192, 2048, 0, false},
    {"Ceil of f16", "Ceil", "hh", 8192, 4096, 0, false},
    {"Trunc of f32", "Trunc", "ff", 8192, 2048, 0, false},
    {"Trunc of f16", "Trunc", "hh", 8192, 4096, 0, false},
    {"Round of f32", "Round", "ff", 8192, 2048, 0, false},
    {"Round of f16", "Round", "hh", 8192, 4096, 0, false},
    {"PowTensorTensor of f32", "PowTensorTensor", "fff", 8192, 2048, 0, false},
    {"PowTensorTensor of f16", "PowTensorTensor", "hhh", 8192, 4096, 0, false},
    {"FmodTensor of f32", "FmodTensor", "fff", 8192, 2048, 0, false},
    {"FmodTensor of f16", "FmodTensor", "hhh", 8192, 4096, 0, false},
    {"RemainderTensorTensor of f32", "RemainderTensorTensor", "fff", 8192, 2048, 0, false},
    {"RemainderTensorTensor of f16", "RemainderTensorTensor", "hhh", 8192, 4096, 0, false},
    {"FloorDivide of f32", "FloorDivide", "fff", 8192, 2048, 0, false},
    {"FloorDivide of f16", "FloorDivide", "hhh", 8192, 4096, 0, false},
    {"Atan2 of f32", "Atan2", "fff", 8192, 2048, 0, false},
    {"Atan2 of f16", "Atan2", "hhh", 8192, 4096, 0, false},
    {"LogAddExp of f32", "LogAddExp", "fff", 8192, 2048, 0, false},
    {"LogAddExp of f16", "LogAddExp", "hhh", 8192, 4096, 0, false},
    {"MishBackward of f32", "MishBackward", "fff", 8192, 2048, 0, false},
    {"MishBackward of f16", "MishBackward", "hhh", 8192, 4096, 0, false},
    {"Gelu by erf of f32", "GeluV2", "f0f", 8192, 2048, 0, false},
    {"Gelu by erf of f16", "GeluV2", "h0h", 8192, 4096, 0, false},
    {"gradient of Gelu by erf of f16", "GeluErfGrad", "hhh", 8192, 4096, 0, false},
    {"Softplus of f32", "Softplus", "f11f", 8192, 2048, 0, false},
    {"Softplus of f16", "Softplus", "h11h", 8192, 4096, 0, false},
    {"Elu of f16", "Elu", "h111h", 8192, 4096, 0, false},
};

static enum leo_dtype type_of(char letter)
{
    switch (letter | 0x20) {
    case 'f':
        return LEO_DTYPE_F32;
    case 'h':
        return LEO_DTYPE_F16;
    case 'b':
        return LEO_DTYPE_BF16;
    case 'i':
        return LEO_DTYPE_S32;
    case 'l':
        return LEO_DTYPE_S64;
    default:
        return LEO_DTYPE_B8;
    }
}

static uint64_t bytes_of(enum leo_dtype type)
{
    return type == LEO_DTYPE_S64                             ? 8
           : type == LEO_DTYPE_F32 || type == LEO_DTYPE_S32  ? 4
           : type == LEO_DTYPE_F16 || type == LEO_DTYPE_BF16 ? 2
                                                             : 1;
}

/* The arguments of a line, and the bytes they stand for. */
struct args {
    struct leo_op_arg arg[ARGS];
    struct leo_op_tensor tensor[ARGS][MEMBERS];
    unsigned count;
    double bytes;
};

static const int64_t zero[] = {0}, one[] = {1};

static void add_tensor(struct bench *b, struct args *args, const struct line *line, char letter,
                       char mark)
{
    const bool row = letter < 'a', column = mark == '+';
    const unsigned members = mark == '*' ? MEMBERS : 1;
    const int64_t dim[] = {column || !row ? (int64_t)(line->rows / members) : line->columns,
                           column ? 1 : line->columns};
    const enum leo_dtype type = type_of(letter);
    struct leo_op_tensor *tensors = args->tensor[args->count];
    for (unsigned i = 0; i < members; i++) {
        const uint64_t at = b->memory + (b->next % SLOTS) * 64 * mega;
        const uint64_t bytes = (uint64_t)dim[0] * (row ? 1 : (uint64_t)dim[1]) * bytes_of(type);
        tensors[i] = leo_op_tensor(at + i * bytes, type, row ? 1 : 2, dim);
        args->bytes += (double)bytes;
    }
    b->next++;
    args->arg[args->count++] =
        mark == '*' ? leo_op_arg_tensors(tensors, members) : leo_op_arg_tensor(tensors);
}

static void add_args(struct bench *b, struct args *args, const struct line *line)
{
    const int64_t *const lists[] = {one, zero};
    for (const char *at = line->args; *at; at++) {
        if (*at == '1' || *at == '0') {
            args->arg[args->count++] = leo_op_arg_number(*at - '0');
        } else if (*at == '[' || *at == ']') {
            args->arg[args->count++] = leo_op_arg_ints(lists[*at == ']'], 1);
        } else if (*at == '/') {
            static _Thread_local int64_t columns;
            columns = line->columns;
            args->arg[args->count++] = leo_op_arg_ints(&columns, 1);
        } else if (*at == '!') {
            static const bool yes[] = {true, true, true};
            args->arg[args->count++] = leo_op_arg_bools(yes, 3);
        } else if (*at == '-') {
            args->arg[args->count++] = leo_op_arg_none();
        } else if (*at == '~') {
            args->arg[args->count++] = leo_op_arg_dtype(type_of(*++at));
        } else {
            const char mark = *at == '+' || *at == '*' ? *at++ : 0;
            add_tensor(b, args, line, *at, mark);
        }
    }
}

/* Simulated time of a run. */
static double run_us(struct bench *b, const struct line *line, struct args *args)
{
    memset(args, 0, sizeof(*args));
    add_args(b, args, line);
    const uint64_t begin = leo_rt_device_host_time_ns(b->chip.device);
    must(leo_op_run(b->chip.context, line->op, args->arg, args->count), line->name);
    must(leo_rt_stream_synchronize(b->chip.stream, -1), line->name);
    return (double)(leo_rt_device_host_time_ns(b->chip.device) - begin) * 1e-3;
}

/* The mean of some runs after a first one: what one leaves in the L2 the next one has to write
 * back. */
static void measure(struct bench *b, const struct line *line)
{
    static struct args args;
    double mean = 0;
    (void)run_us(b, line, &args);
    for (int run = 0; run < RUNS; run++) {
        mean += run_us(b, line, &args) / RUNS;
    }
    const double bytes = args.bytes;
    const double bound = bytes / b->gb_per_s * 1e-3;
    printf("  %-24s %7.1f MB %10.1f us   memory alone %8.1f us   %5.2f of it", line->name,
           bytes / 1e6, mean, bound, bound / mean);
    printf(line->aim > 0 ? "   aim >= %.2f%s\n" : "\n", line->aim,
           bound / mean < line->aim ? "   MISSED" : "");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const char *const socs[] = {"ascend910a", "ascend910b1"};
    for (unsigned i = 0; i < 2; i++) {
        if (argc > 2 && strcmp(argv[2], socs[i]) != 0) {
            continue;
        }
        struct bench b = bench_open(socs[i]);
        printf("%s, HBM %.0f GB/s\n", socs[i], b.gb_per_s);
        for (unsigned k = 0; k < sizeof(lines) / sizeof(lines[0]); k++) {
            if ((i == 1 || !lines[k].split_only) && (argc < 2 || strstr(lines[k].name, argv[1]))) {
                measure(&b, &lines[k]);
            }
        }
        for (unsigned k = 0; argc > 1 && k < sizeof(functions) / sizeof(functions[0]); k++) {
            if (strstr(functions[k].name, argv[1])) {
                measure(&b, &functions[k]);
            }
        }
        bench_close(&b);
    }
    return 0;
}
