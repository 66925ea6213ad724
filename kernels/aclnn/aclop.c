/* SPDX-License-Identifier: Apache-2.0 */
/* Operators called by type name (aclopCompileAndExecute and its relatives). */
#include "aclop_arguments.h"
#include "aclop_types.h"
#include "float_status.h"
#include "run_row.h"

#include "../frame/run.h"

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

static bool all_on_device(const struct leo_acl_op *op)
{
    for (int i = 0; i < op->input_count; i++) {
        if (op->input_descs[i]->placement != ACL_MEMTYPE_DEVICE) {
            return false;
        }
    }
    return true;
}

static const struct aclop_mapping *find_variant(const struct leo_acl_op *op, const char *word)
{
    char name[96];
    snprintf(name, sizeof(name), "%s:%s", op->type, word);
    return find_type(name);
}

static bool is_integer(const struct leo_acl_op *op)
{
    static const aclDataType types[] = {ACL_INT8,   ACL_UINT8, ACL_INT16,  ACL_UINT16, ACL_INT32,
                                        ACL_UINT32, ACL_INT64, ACL_UINT64, ACL_BOOL};
    for (size_t i = 0; op->input_count > 1 && i < sizeof(types) / sizeof(types[0]); i++) {
        // The second one: the first of a transposed convolution is a size.
        if (op->input_descs[1]->type == types[i]) {
            return true;
        }
    }
    return false;
}

static const struct aclop_mapping *find_mapping(const struct leo_acl_op *op)
{
    const struct aclop_mapping *mapping = all_on_device(op) ? find_variant(op, "device") : NULL;
    if (!mapping && is_integer(op)) {
        mapping = find_variant(op, "integer");
    }
    for (const struct leo_acl_attr *attr = op->attr ? op->attr->first : NULL; attr && !mapping;
         attr = attr->next) {
        if (strcmp(attr->name, "mode") == 0 && attr->kind == LEO_ACL_ATTR_STRING) {
            mapping = find_variant(op, attr->value.text);
        } else if (attr->kind == LEO_ACL_ATTR_BOOL && attr->value.bools[0]) {
            mapping = find_variant(op, attr->name);
        }
    }
    return mapping ? mapping : find_type(op->type);
}

// An operator whose result sizes depend on data tells them of its tensors by number: the output
// with the memory of tensor `index` has this shape.
static void set_shape(void *user, unsigned index, unsigned rank, const int64_t *dim)
{
    const struct aclop_call *call = user;
    const struct leo_acl_op *op = call->op;
    uint64_t addr[OP_PARAMS_MAX + RUN_ROW_TENSORS];
    op_args_addresses(call->row, call->args, addr);
    for (int i = 0; op->shaped && i < op->output_count && rank <= LEO_ACL_MAX_DIMS; i++) {
        if ((uintptr_t)aclGetDataBufferAddr(op->outputs[i]) == addr[index]) {
            aclTensorDesc *desc = op->shaped[i];
            desc->dim_count = rank;
            memcpy(desc->dims, dim, rank * sizeof(*dim));
        }
    }
}

// torch_npu calls from a thread that gives up at the first error, and its main thread does not
// look: so this is reported at once, and by every later wait.
static aclError tell(const char *type, aclError error)
{
    if (!error) {
        return error;
    }
    char text[256];
    snprintf(text, sizeof(text),
             "an operator of type %.64s was refused with %d and not computed: results of this "
             "process are not valid",
             type, error);
    leo_acl_lost(text);
    aclAppLog(ACL_ERROR, "aclop", __FILE__, __LINE__,
              "operator of type %s: error %d; work submitted behind it may be missing", type,
              error);
    fprintf(stderr,
            "leonardo: operator of type %s: error %d. Under torch_npu what follows in this "
            "process may be wrong: its queue ends here. ASCEND_LAUNCH_BLOCKING=1 shows the "
            "line of the script. The reason: %s\n",
            type, error, leo_acl_error_text());
    return error;
}

// Of a type without a line of its own: it may be a pointwise row by its name.
static const struct op_row *find_pointwise(const char *type)
{
    const struct op_row *row = op_row_find(type);
    return row && row->plan == op_row_find("Add")->plan ? row : NULL;
}

static bool is_known(const char *type)
{
    const size_t length = strlen(type);
    for (size_t i = 0; i < sizeof(aclop_mappings) / sizeof(aclop_mappings[0]); i++) {
        const char *of = aclop_mappings[i].type; // "Type" or "Type:variant"
        if (strncmp(of, type, length) == 0 && (of[length] == '\0' || of[length] == ':')) {
            return true;
        }
    }
    return find_pointwise(type) != NULL;
}

static aclError run_op(const struct leo_acl_op *op)
{
    aclError error = leo_acl_check_build(LEO_BUILD, aclop_mappings);
    if (error || aclop_run_float_status(op, &error)) {
        return error;
    }
    const struct aclop_mapping *mapping = find_mapping(op);
    struct aclop_call call = {.op = op};
    call.row = mapping ? op_row_find(mapping->row) : find_pointwise(op->type);
    if (!call.row) {
        return tell(op->type, leo_acl_fail(ACL_ERROR_OP_NOT_FOUND, op->type,
                                           "there is no operator of this type"));
    }
    if (mapping) {
        aclop_take_args(&call, mapping->args);
    } else {
        aclop_take_tensors(&call);
    }
    error = call.error ? call.error
                       : opapi_run_row(op->type, call.row, call.args, op->stream,
                                       (struct run_row_shape){set_shape, &call});
    aclop_free_args(&call);
    return tell(op->type, error);
}

// Loading the library is what makes its operators known.
__attribute__((constructor)) static void register_operators(void)
{
    leo_acl_set_op_executor(run_op, is_known);
}
