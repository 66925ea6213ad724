/* SPDX-License-Identifier: Apache-2.0 */
#include "rig_named.h"

#include "rig_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned param_of(const struct op_test_row *row, const char *name)
{
    unsigned at = 0;
    while (at < row->param_count && strcmp(row->params[at].name, name) != 0) {
        at++;
    }
    return at;
}

aclnnStatus rig_run_named(const char *op, const struct rig_named *named, unsigned count, bool loud)
{
    const struct op_test_row *row = rig_row(op);
    union op_test_arg args[RIG_PARAMS];
    memset(args, 0, sizeof(args));
    for (unsigned i = 0; i < count; i++) {
        const unsigned at = param_of(row, named[i].name);
        if (at == row->param_count) {
            fprintf(stderr, "%s has no parameter %s\n", op, named[i].name);
            CU_FAIL_FATAL("a parameter that the operator does not have");
        }
        args[at] = named[i].value;
    }
    return rig_run(row, args, loud);
}

aclTensorList *rig_list_make(struct rig_tensor *tensors, unsigned count)
{
    const aclTensor *items[16];
    for (unsigned i = 0; i < count && i < 16; i++) {
        items[i] = tensors[i].acl;
    }
    return aclCreateTensorList(items, count);
}

void rig_list_free(aclTensorList *list, struct rig_tensor *tensors, unsigned count)
{
    CU_ASSERT_EQUAL(aclDestroyTensorList(list), 0);
    for (unsigned i = 0; i < count; i++) {
        tensors[i].acl = NULL;
    }
}

void rig_end_fault(struct rig_tensor *tensors, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(tensors[i].acl ? aclDestroyTensor(tensors[i].acl) : 0, 0);
        free(tensors[i].host);
    }
    rig_reset();
}
