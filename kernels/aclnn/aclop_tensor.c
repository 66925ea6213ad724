/* SPDX-License-Identifier: Apache-2.0 */
/* A call by type name: its attributes by name, its tensors with their storage, room for numbers. */
#include "../frame/layout.h"
#include "aclop_internal.h"
#include "objects.h"

#include <leo/alloc.h>
#include <string.h>

aclError aclop_fail(struct aclop_call *call, aclError code, const char *text)
{
    call->error = leo_acl_fail(code, call->op->type, "%s", text);
    return call->error;
}

const struct leo_acl_attr *aclop_attr(const struct aclop_call *call, const char *name)
{
    for (const struct leo_acl_attr *attr = call->op->attr ? call->op->attr->first : NULL; attr;
         attr = attr->next) {
        if (strcmp(attr->name, name) == 0) {
            return attr;
        }
    }
    return NULL;
}

static bool is_plain(aclFormat format)
{
    return format == ACL_FORMAT_UNDEFINED || format == ACL_FORMAT_ND || format == ACL_FORMAT_NCHW ||
           format == ACL_FORMAT_NCDHW || format == ACL_FORMAT_NCL;
}

// Rows whose operator has its channels last: the sizes are given in that order.
static bool is_as_told(const struct aclop_call *call, aclFormat format)
{
    return format == ACL_FORMAT_NHWC && op_row_attr(call->row, "channels");
}

// The storage as the caller has it: torch_npu stores bytes in NC1HWC0 by 16 channels, CANN by 32.
static bool take_storage(struct aclop_call *call, const aclTensorDesc *desc,
                         const aclDataBuffer *buffer, struct op_tensor *tensor)
{
    struct op_tensor storage;
    const size_t rank = desc->storage_dim_count;
    const int64_t c0 = rank > 0 && rank <= LEO_ACL_MAX_DIMS ? desc->storage_dims[rank - 1] : 0;
    if (c0 == 16 || c0 == 32) {
        tensor->c0 = c0 == op_layout_c0(tensor->type) ? 0 : (unsigned)c0;
    }
    if (!op_layout_storage(tensor, &storage)) {
        return true; // the operator tells
    }
    const uint64_t bytes = (uint64_t)op_tensor_count(&storage) * op_type_bytes(tensor->type);
    if (bytes > aclGetDataBufferSizeV2(buffer)) {
        call->error = leo_acl_fail(
            ACL_ERROR_OP_INPUT_NOT_MATCH, call->op->type,
            "a tensor %s in format %s is stored as %s, %llu bytes: the buffer has %zu. "
            "Under torch_npu: a view of another shape cannot be changed in place",
            op_tensor_shape_text(tensor).text, op_format_name(tensor->format),
            op_tensor_shape_text(&storage).text, (unsigned long long)bytes,
            aclGetDataBufferSizeV2(buffer));
        return false;
    }
    return true;
}

bool aclop_tensor(struct aclop_call *call, char side, unsigned number, struct op_tensor *tensor)
{
    const struct leo_acl_op *op = call->op;
    const unsigned count = (unsigned)(side == 'x' ? op->input_count : op->output_count);
    if (number >= count) {
        aclop_fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH,
                   "the call has fewer tensors than the operator");
        return false;
    }
    const aclTensorDesc *desc = side == 'x' ? op->input_descs[number] : op->output_descs[number];
    const aclDataBuffer *buffer = side == 'x' ? op->inputs[number] : op->outputs[number];
    const bool stored = desc->storage_format != ACL_FORMAT_UNDEFINED;
    const aclFormat format = stored ? desc->storage_format : desc->format;
    const bool plain = is_plain(format) || is_as_told(call, format);
    if (!plain && !op_format_is_native((int)format)) {
        call->error =
            leo_acl_fail(ACL_ERROR_FORMAT_NOT_MATCH, call->op->type,
                         "%s %u is stored in format %d: ND, NCHW, NCDHW, NC1HWC0, NDC1HWC0, "
                         "FRACTAL_Z, FRACTAL_Z_3D and FRACTAL_NZ are possible",
                         side == 'x' ? "input" : "output", number, (int)format);
        return false;
    }
    const size_t rank = desc->dim_count == LEO_ACL_NO_DIMS ? 0 : desc->dim_count;
    if (rank > OP_RANK_MAX) {
        aclop_fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH, "a tensor has more than 8 dimensions");
        return false;
    }
    *tensor = op_tensor_dense((uintptr_t)aclGetDataBufferAddr(buffer), opapi_type(desc->type),
                              (unsigned)rank, desc->dims);
    if (plain) {
        return true;
    }
    tensor->format = (int)format;
    return take_storage(call, desc, buffer, tensor);
}

int64_t *aclop_numbers(struct aclop_call *call, unsigned at, uint64_t count)
{
    call->numbers[at] = leo_calloc(count + 1, sizeof(int64_t));
    if (!call->numbers[at]) {
        aclop_fail(call, ACL_ERROR_BAD_ALLOC, "out of host memory");
    }
    call->ints[at] = (struct op_ints){call->numbers[at], count};
    return call->numbers[at];
}

void aclop_put_number(struct aclop_call *call, unsigned at, struct op_scalar scalar)
{
    const enum op_kind kind = call->row->params[at].kind;
    call->scalars[at] = scalar;
    call->args[at] = kind == OP_KIND_SCALAR ? op_value_scalar(&call->scalars[at])
                     : kind == OP_KIND_REAL ? op_value_real(scalar.real)
                                            : op_value_int(scalar.integer);
}
