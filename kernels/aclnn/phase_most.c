/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workspace of attention for any lists of lengths. Sequences are worked on one after the other:
 * most is needed if one of them has all there is.
 */
#include "phase.h"

#include "executor.h"

#include <stdlib.h>
#include <string.h>

static int find(const struct op_row *row, const char *const *names)
{
    for (unsigned i = 0; i < row->param_count; i++) {
        for (const char *const *name = names; *name; name++) {
            if (strcmp(row->params[i].name, *name) == 0) {
                return (int)i;
            }
        }
    }
    return -1;
}

static const struct op_tensor *first_of(const struct op_row *row, const struct op_value *args,
                                        const char *const *names)
{
    const int at = find(row, names);
    if (at < 0 || !args[at].pointer) {
        return NULL;
    }
    if (row->params[at].kind == OP_KIND_TENSOR) {
        return args[at].tensor;
    }
    return args[at].tensors->count ? args[at].tensors->items[0] : NULL;
}

static bool is_packed(const struct op_row *row, const struct op_value *args)
{
    static const char *const names[] = {"inputLayout", NULL};
    const int at = find(row, names);
    return at >= 0 && args[at].text && strncmp(args[at].text, "TND", 3) == 0;
}

// Slots in the pages of a sequence; 0: there are no pages.
static int64_t slots_of(const struct op_row *row, const struct op_value *args)
{
    static const char *const tables[] = {"blockTableOptional", NULL}, *const sizes[] = {"blockSize",
                                                                                        NULL};
    const struct op_tensor *table = first_of(row, args, tables);
    const int size = find(row, sizes);
    return table && table->rank == 2 && size >= 0 ? table->dim[1] * args[size].integer : 0;
}

// A list of lengths with the same number everywhere; 0: none, so that lengths are the tensor's.
static struct op_ints *fill(const struct op_ints *like, int64_t number)
{
    struct op_ints *out = malloc(sizeof(*out) + like->count * sizeof(int64_t));
    if (out) {
        int64_t *items = (int64_t *)(out + 1);
        for (uint64_t i = 0; i < like->count; i++) {
            items[i] = number;
        }
        *out = (struct op_ints){items, like->count};
    }
    return out;
}

/* Lists that stand in for those of the call. */
struct longest {
    struct op_value args[OP_PARAMS_MAX];
    struct op_ints *lists[2];
    unsigned count;
};

static bool replace(struct longest *l, const struct op_row *row, const char *const *names,
                    int64_t number)
{
    const int at = find(row, names);
    if (at < 0 || !l->args[at].ints || l->args[at].ints->count == 0) {
        return true;
    }
    if (number == 0) {
        l->args[at].pointer = NULL;
        return true;
    }
    struct op_ints *list = fill(l->args[at].ints, number);
    l->args[at].ints = list;
    l->lists[l->count++] = list;
    return list != NULL;
}

static bool make_longest(struct longest *l, const struct op_row *row, const struct op_value *args)
{
    static const char *const q_names[] = {"query", NULL}, *const k_names[] = {"key", "keyIn", NULL},
                             *const q_lists[] = {"actualSeqLengthsOptional",
                                                 "actualSeqQLenOptional", NULL},
                             *const k_lists[] = {"actualSeqLengthsKvOptional",
                                                 "actualSeqKvLenOptional", NULL};
    const struct op_tensor *q = first_of(row, args, q_names), *k = first_of(row, args, k_names);
    const bool packed = is_packed(row, args);
    const int64_t slots = slots_of(row, args);
    *l = (struct longest){.count = 0};
    memcpy(l->args, args, row->param_count * sizeof(*args));
    return q && k && q->rank && k->rank && replace(l, row, q_lists, packed ? q->dim[0] : 0) &&
           replace(l, row, k_lists,
                   slots    ? slots
                   : packed ? k->dim[0]
                            : 0);
}

aclnnStatus opapi_phase1_most(const struct op_row *row, const struct op_value *args,
                              uint64_t *workspace_size, aclOpExecutor **executor)
{
    struct longest longest;
    aclOpExecutor *other = NULL;
    uint64_t most = 0;
    aclnnStatus code = opapi_phase1(row, args, workspace_size, executor);
    if (code || row->param_count > OP_PARAMS_MAX) {
        return code;
    }
    const bool made = make_longest(&longest, row, args);
    if (made && opapi_phase1(row, longest.args, &most, &other) == ACLNN_SUCCESS) {
        opapi_executor_free(other);
        *workspace_size = most > *workspace_size ? most : *workspace_size;
    }
    for (unsigned i = 0; i < longest.count; i++) {
        free(longest.lists[i]);
    }
    return code;
}
