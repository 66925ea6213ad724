/* SPDX-License-Identifier: Apache-2.0 */
/* Operators called by type name (aclopCompileAndExecute and its relatives). */
#include "aclop_args.h"
#include "aclop_types.h"
#include "float_status.h"
#include "run_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_mapping(const void *type, const void *mapping)
{
    return strcmp(type, ((const struct aclop_mapping *)mapping)->type);
}

static const struct aclop_mapping *find_type(const char *type)
{
    return bsearch(type, aclop_mappings, sizeof(aclop_mappings) / sizeof(aclop_mappings[0]),
                   sizeof(aclop_mappings[0]), compare_mapping);
}

static const struct aclop_mapping *find_mapping(const struct leo_acl_op *op)
{
    char with_mode[96];
    const struct aclop_mapping *mapping = NULL;
    for (const struct leo_acl_attr *attr = op->attr ? op->attr->first : NULL; attr && !mapping;
         attr = attr->next) {
        if (strcmp(attr->name, "mode") == 0 && attr->kind == LEO_ACL_ATTR_STRING) {
            snprintf(with_mode, sizeof(with_mode), "%s:%s", op->type, attr->value.text);
            mapping = find_type(with_mode);
        }
    }
    return mapping ? mapping : find_type(op->type);
}

// torch_npu calls from a thread that gives up at the first error, without a word from its main
// thread until that synchronises: so this is told at once, and where it can be seen.
static aclError tell(const char *type, aclError error)
{
    if (error) {
        aclAppLog(ACL_ERROR, "aclop", __FILE__, __LINE__,
                  "operator of type %s: error %d; work submitted behind it may be missing", type,
                  error);
        fprintf(stderr,
                "leonardo: operator of type %s: error %d. Under torch_npu what follows in this "
                "process may be wrong: its queue ends here. ASCEND_LAUNCH_BLOCKING=1 shows the "
                "line of the script\n",
                type, error);
    }
    return error;
}

static aclError run_op(const struct leo_acl_op *op)
{
    aclError status_error;
    if (aclop_run_float_status(op, &status_error)) {
        return status_error;
    }
    const struct aclop_mapping *mapping = find_mapping(op);
    struct aclop_call call = {.op = op};
    call.row = op_row_find(mapping ? mapping->row : op->type);
    aclError other = leo_acl_check_build(LEO_BUILD, aclop_mappings);
    if (other) {
        return other;
    }
    // A type without a line of its own may be a pointwise row by its name.
    if (!call.row || (!mapping && call.row->plan != op_row_find("Add")->plan)) {
        return tell(op->type, leo_acl_fail(ACL_ERROR_OP_NOT_FOUND, op->type,
                                           "there is no operator of this type"));
    }
    if (mapping) {
        aclop_take_args(&call, mapping->args);
    } else {
        aclop_take_tensors(&call);
    }
    aclError error =
        call.error ? call.error : opapi_run_row(op->type, call.row, call.args, op->stream);
    aclop_free_args(&call);
    return tell(op->type, error);
}

// Loading the library is what makes its operators known.
__attribute__((constructor)) static void register_operators(void)
{
    leo_acl_set_op_executor(run_op);
}
