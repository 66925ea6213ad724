/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the table and what they say of a call's arguments. */
#include "row.h"

#include <stdlib.h>
#include <string.h>

static int compare_row(const void *name, const void *row)
{
    return strcmp(name, ((const struct op_row *)row)->name);
}

const struct op_row *op_row_find(const char *name)
{
    return bsearch(name, op_rows, op_row_count, sizeof(*op_rows), compare_row);
}

const char *op_row_attr(const struct op_row *row, const char *key)
{
    for (const struct op_attr *attr = row->attrs; attr->key; attr++) {
        if (strcmp(attr->key, key) == 0) {
            return attr->value;
        }
    }
    return NULL;
}

unsigned op_args_tensors(const struct op_row *row, const struct op_value *args)
{
    unsigned count = 0;
    for (unsigned i = 0; i < row->param_count; i++) {
        if (row->params[i].kind == OP_KIND_TENSOR) {
            count++;
        } else if (row->params[i].kind == OP_KIND_TENSOR_LIST && args[i].tensors) {
            count += (unsigned)args[i].tensors->count;
        }
    }
    return count;
}

void op_args_addresses(const struct op_row *row, const struct op_value *args, uint64_t *addr)
{
    for (unsigned i = 0; i < row->param_count; i++) {
        if (row->params[i].kind == OP_KIND_TENSOR) {
            *addr++ = args[i].tensor ? args[i].tensor->addr : 0;
        } else if (row->params[i].kind == OP_KIND_TENSOR_LIST && args[i].tensors) {
            for (uint64_t k = 0; k < args[i].tensors->count; k++) {
                *addr++ = args[i].tensors->items[k] ? args[i].tensors->items[k]->addr : 0;
            }
        }
    }
}
