/* SPDX-License-Identifier: Apache-2.0 */
#include "op_calls.h"

#include <aclnn/aclnn_base.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT_MAX = 1 << 16, WORD_MAX = 256, ITEMS_MAX = 8 };

const char *op_calls_read(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, TEXT_MAX);
    if (!file || !text || fread(text, 1, TEXT_MAX - 1, file) == 0 || fclose(file)) {
        perror(path);
        exit(1);
    }
    return text;
}

const char *op_call_find(const char *calls, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = calls; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ' ') {
            return line + length + 1;
        }
    }
    return NULL;
}

/* The next word of a line; false at its end. */
static bool take_word(const char **line, char *word)
{
    const size_t length = strcspn(*line, " \n");
    if (length == 0 || length >= WORD_MAX) {
        return false;
    }
    memcpy(word, *line, length);
    word[length] = 0;
    *line += length;
    *line += **line == ' ';
    return true;
}

/* Numbers that zeros would be no input for: all 1, or the diagonal of matrices. */
static void fill(const struct rig_wish *wish, unsigned number, bool diagonal)
{
    const int64_t columns = wish->dim[wish->rank - 1];
    int64_t count = 1;
    for (unsigned i = 0; i < wish->rank; i++) {
        count *= wish->dim[i];
    }
    const bool wide = wish->type == OP_TYPE_I64;
    const size_t bytes = (size_t)count * (wide ? 8 : 4);
    float *floats = calloc(1, bytes);
    int64_t *integers = (int64_t *)(void *)floats;
    for (int64_t i = 0; i < count; i++) {
        const bool one = !diagonal || i / columns % columns == i % columns;
        if (wide) {
            integers[i] = one;
        } else {
            floats[i] = one;
        }
    }
    if (aclrtMemcpy(wish->memory + number * wish->slot, bytes, floats, bytes,
                    ACL_MEMCPY_HOST_TO_DEVICE)) {
        abort();
    }
    free(floats);
}

/* "f32:8x16", "8x16", "0d": its shape and type. */
static void read_tensor(const char *text, struct rig_wish *wish)
{
    static const struct {
        const char *name;
        enum op_type type;
    } types[] = {{"f32:", OP_TYPE_F32}, {"f16:", OP_TYPE_F16}, {"bf16:", OP_TYPE_BF16},
                 {"i64:", OP_TYPE_I64}, {"i32:", OP_TYPE_I32}, {"bool:", OP_TYPE_BOOL},
                 {"i8:", OP_TYPE_I8},   {"u8:", OP_TYPE_U8},   {"c64:", OP_TYPE_C64}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const size_t length = strlen(types[i].name);
        if (strncmp(text, types[i].name, length) == 0) {
            wish->type = types[i].type;
            text += length;
        }
    }
    wish->rank = 0;
    while (strcmp(text, "0d") != 0 && *text && *text != '=' && wish->rank < 8) {
        char *end;
        wish->dim[wish->rank++] = strtoll(text, &end, 10);
        text = end + (*end == 'x');
    }
}

static aclTensor *make_tensor(const struct op_test_param *param, unsigned number, const char *text,
                              struct rig_wish *shape)
{
    static const struct op_test_param tensor = {.code = "T"};
    shape->type = rig_first_type(param);
    shape->param = number; // so that its type is the wish's
    read_tensor(text, shape);
    const char *with = strchr(text, '=');
    if (with) {
        fill(shape, number, with[1] == 'e');
    }
    return rig_arg_make(&tensor, number, shape).tensor;
}

/* "2*8x16" or "8x16|16". */
static aclTensorList *make_list(const struct op_test_param *param, unsigned number, char *text,
                                struct rig_wish *shape)
{
    const aclTensor *items[ITEMS_MAX];
    unsigned count = 0;
    char *star = strchr(text, '*');
    if (star) {
        for (long i = strtol(text, NULL, 10); i > 0 && count < ITEMS_MAX; i--) {
            items[count++] = make_tensor(param, number, star + 1, shape);
        }
    } else {
        for (char *item = strtok(text, "|"); item && count < ITEMS_MAX; item = strtok(NULL, "|")) {
            items[count++] = make_tensor(param, number, item, shape);
        }
    }
    return aclCreateTensorList(items, count);
}

static unsigned read_numbers(const char *text, int64_t *numbers)
{
    unsigned count = 0;
    while (*text && count < ITEMS_MAX) {
        char *end;
        numbers[count++] = strtoll(text, &end, 10);
        text = end + (*end == ',');
    }
    return count;
}

static union op_test_arg make_arg(const struct op_test_param *param, unsigned number, char *text,
                                  struct rig_wish *shape)
{
    static char words[ITEMS_MAX][WORD_MAX]; // texts stay for the call
    union op_test_arg arg = {.integer = 0};
    int64_t numbers[ITEMS_MAX];
    bool flags[ITEMS_MAX];
    float real = strtof(text, NULL);
    if (strcmp(text, "-") == 0) {
        return arg;
    }
    if (strcmp(param->code, "T") == 0) {
        arg.tensor = make_tensor(param, number, text, shape);
    } else if (strcmp(param->code, "TL") == 0) {
        arg.tensors = make_list(param, number, text, shape);
    } else if (strcmp(param->code, "IA") == 0) {
        arg.ints = aclCreateIntArray(numbers, read_numbers(text, numbers));
    } else if (strcmp(param->code, "BA") == 0) {
        const unsigned count = read_numbers(text, numbers);
        for (unsigned i = 0; i < count; i++) {
            flags[i] = numbers[i] != 0;
        }
        arg.bools = aclCreateBoolArray(flags, count);
    } else if (strcmp(param->code, "S") == 0) {
        arg.scalar = aclCreateScalar(&real, ACL_FLOAT);
    } else if (strcmp(param->code, "str") == 0) {
        arg.text = strcpy(words[number % ITEMS_MAX], text);
    } else if (strcmp(param->code, "dtype") == 0) {
        arg.type = (aclDataType)strtol(text, NULL, 10);
    } else if (strcmp(param->code, "f32") == 0 || strcmp(param->code, "f64") == 0) {
        arg.real = strtod(text, NULL);
    } else {
        arg.integer = strtoll(text, NULL, 10);
    }
    return arg;
}

bool op_call_make(const struct op_test_row *row, const char *line, unsigned char *memory,
                  union op_test_arg *args, struct rig_wish *shape)
{
    struct rig_wish wish = {.memory = memory, .slot = shape->slot};
    bool first = true;
    for (unsigned i = 0; i < row->param_count; i++) {
        char word[WORD_MAX];
        if (!take_word(&line, word)) {
            return false;
        }
        args[i] = make_arg(&row->params[i], i, word, &wish);
        if (first && row->params[i].code[0] == 'T' && args[i].integer && wish.rank > 0) {
            *shape = wish;
            first = false;
        }
    }
    return true;
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

bool op_call_run(const struct op_test_row *row, const union op_test_arg *args, double *simulated,
                 double *host)
{
    uint64_t bytes;
    aclOpExecutor *executor;
    void *workspace = NULL;
    aclrtEvent begin, end;
    float ms = 0;
    const double start = now_us();
    if (row->phase1(args, &bytes, &executor) || (bytes && aclrtMalloc(&workspace, bytes, 0)) ||
        aclrtCreateEvent(&begin)) {
        return false;
    }
    bool good = !aclrtCreateEvent(&end) && !aclrtRecordEvent(begin, rig_stream()) &&
                !row->phase2(workspace, bytes, executor, rig_stream()) &&
                !aclrtRecordEvent(end, rig_stream()) && !aclrtSynchronizeStream(rig_stream());
    *host = now_us() - start;
    good = good && !aclrtEventElapsedTime(&ms, begin, end);
    *simulated = (double)ms * 1e3;
    if (good) {
        good = !aclrtDestroyEvent(begin) && !aclrtDestroyEvent(end) &&
               (!workspace || !aclrtFree(workspace));
    }
    return good;
}
