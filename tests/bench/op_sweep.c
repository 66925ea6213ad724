/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_sweep FILE: what calls of operators cost on the chip of LEO_SOC. A line of FILE: bytes that
 * the largest tensor takes, name, and arguments as in op_calls.txt, or @AxB: tensors of that shape
 * for all parameters. Lines "number of the line,bytes of tensors,bytes of written ones,bytes moved,
 * simulated us,host us" on stdout; none for a call that the operator does not take. A tensor that
 * is read and written is moved twice. The second of two runs counts. "call NUMBER" on stderr is
 * before what LEO_OP_EXPLAIN says of it.
 */
#include "op_calls.h"

#include <aclnn/acl_meta.h>
#include <aclnn/objects.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, RUNS = 2 };

static const struct op_test_row *find_row(const char *name)
{
    for (unsigned r = 0; r < op_test_row_count; r++) {
        if (strcmp(op_test_rows[r].name, name) == 0) {
            return rig_row_is_here(&op_test_rows[r]) ? &op_test_rows[r] : NULL;
        }
    }
    return NULL;
}

static uint64_t tensor_bytes(const aclTensor *tensor)
{
    int64_t *dims = NULL;
    uint64_t rank = 0, bytes = 0;
    aclDataType type;
    if (tensor && !aclGetViewShape(tensor, &dims, &rank) && !aclGetDataType(tensor, &type)) {
        bytes = aclDataTypeSize(type);
        for (uint64_t d = 0; d < rank; d++) {
            bytes *= (uint64_t)dims[d];
        }
    }
    free(dims);
    return bytes;
}

static uint64_t list_bytes(const aclTensorList *list)
{
    uint64_t count = 0, bytes = 0;
    if (list && !aclGetTensorListSize(list, &count)) {
        for (uint64_t i = 0; i < count; i++) {
            bytes += tensor_bytes(list->items[i]);
        }
    }
    return bytes;
}

struct traffic {
    uint64_t all, written, moved;
};

static void add_traffic(struct traffic *traffic, const struct op_test_param *param,
                        const union op_test_arg *arg)
{
    const uint64_t bytes = strcmp(param->code, "T") == 0    ? tensor_bytes(arg->tensor)
                           : strcmp(param->code, "TL") == 0 ? list_bytes(arg->tensors)
                                                            : 0;
    traffic->all += bytes;
    traffic->written += param->role == 'I' ? 0 : bytes;
    traffic->moved += param->role == 'R' ? 2 * bytes : bytes;
}

/* "@64x32": all tensors of that shape. */
static void make_alike(const struct op_test_row *row, const char *text, struct rig_wish *wish,
                       union op_test_arg *args)
{
    for (char *end; *text && *text != '\n' && wish->rank < 8; text = end) {
        wish->dim[wish->rank++] = strtoll(text + 1, &end, 10);
    }
    for (unsigned i = 0; i < row->param_count; i++) {
        args[i] = rig_arg_make(&row->params[i], i, wish);
    }
}

/* False: the device must be opened anew. */
static bool measure(unsigned number, const struct op_test_row *row, const char *call, size_t slot)
{
    union op_test_arg args[RIG_PARAMS + 1] = {{.integer = 0}};
    struct rig_wish wish = {.param = RIG_PARAMS, .slot = slot};
    const size_t room = slot * row->param_count;
    double simulated = 0, host = 0;
    struct traffic traffic = {0, 0, 0};
    fprintf(stderr, "call %u\n", number);
    if (aclrtMalloc((void **)&wish.memory, room, 0) || aclrtMemset(wish.memory, room, 0, room)) {
        return false;
    }
    bool good = true, healthy = true;
    if (*call == '@') {
        make_alike(row, call, &wish, args);
    } else {
        good = op_call_make(row, call, wish.memory, args, &wish);
    }
    for (unsigned i = 0; good && i < row->param_count; i++) {
        add_traffic(&traffic, &row->params[i], &args[i]);
    }
    for (int i = 0; good && i < RUNS; i++) {
        good = op_call_run(row, args, &simulated, &host);
        healthy = good || !aclrtSynchronizeStream(rig_stream());
    }
    if (good) {
        printf("%u,%llu,%llu,%llu,%.3f,%.0f\n", number, (unsigned long long)traffic.all,
               (unsigned long long)traffic.written, (unsigned long long)traffic.moved, simulated,
               host);
        fflush(stdout);
    }
    for (unsigned i = 0; i < row->param_count; i++) {
        rig_arg_free(&row->params[i], args[i]);
    }
    return healthy && !aclrtFree(wish.memory);
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    char line[LINE], name[96];
    unsigned long slot;
    if (!file) {
        perror(argc == 2 ? argv[1] : "op_sweep FILE");
        return 2;
    }
    rig_open();
    for (unsigned number = 0; fgets(line, sizeof(line), file); number++) {
        int at = 0;
        if (sscanf(line, "%lu %95s %n", &slot, name, &at) != 2) {
            fprintf(stderr, "op_sweep: line %u is not BYTES NAME ARGUMENTS\n", number);
            return 2;
        }
        const struct op_test_row *row = find_row(name);
        if (row && !measure(number, row, line + at, slot)) {
            rig_reset();
        }
    }
    rig_close();
    return fclose(file) ? 1 : 0;
}
