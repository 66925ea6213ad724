/* SPDX-License-Identifier: Apache-2.0 */
#include "rig_args.h"

#include <stdlib.h>
#include <string.h>

uint32_t rig_types(const struct op_test_param *param)
{
    enum { ON_910A, ON_910B };
    const uint32_t own = param->types[rig_chip()],
                   bf16 = param->types[ON_910B] & 1u << OP_TYPE_BF16;
    // An MLU has bf16 wherever a 910B has; its programs are those of the 910A.
    return own && strstr(aclrtGetSocName(), "Mlu") ? own | bf16 : own;
}

enum op_type rig_first_type(const struct op_test_param *param)
{
    const uint32_t types = rig_types(param);
    return types ? (enum op_type)__builtin_ctz(types) : OP_TYPE_F32;
}

static aclTensor *make_tensor(const struct rig_wish *wish, unsigned param, enum op_type type)
{
    int64_t stride[8] = {0}, next = 1;
    const bool differs = wish->param == param;
    const struct rig_wish *shape = differs && wish->shape ? wish->shape : wish;
    for (unsigned i = shape->rank; i-- > 0;) {
        stride[i] = differs && wish->repeats ? 0 : differs && wish->overlaps ? 1 : next;
        next *= shape->dim[i];
    }
    return aclCreateTensor(
        shape->dim, shape->rank, rig_acl_type(differs ? wish->type : type), stride, 0,
        differs && wish->format ? (aclFormat)wish->format : ACL_FORMAT_ND, shape->dim, shape->rank,
        differs && wish->no_memory ? NULL : wish->memory + param * wish->slot);
}

union op_test_arg rig_arg_make(const struct op_test_param *param, unsigned number,
                               const struct rig_wish *wish)
{
    static const int64_t ints[] = {1, 1};
    static const bool flags[] = {true, true, true};
    static float one = 1;
    const enum op_type type = rig_first_type(param);
    union op_test_arg arg = {.integer = 0};
    if (strcmp(param->code, "T") == 0) {
        arg.tensor = make_tensor(wish, number, type);
    } else if (strcmp(param->code, "TL") == 0) {
        const aclTensor *items[] = {make_tensor(wish, number, type)};
        arg.tensors = aclCreateTensorList(items, 1);
    } else if (strcmp(param->code, "S") == 0) {
        arg.scalar = aclCreateScalar(&one, ACL_FLOAT);
    } else if (strcmp(param->code, "SL") == 0) {
        const aclScalar *items[] = {aclCreateScalar(&one, ACL_FLOAT)};
        arg.scalars = aclCreateScalarList(items, 1);
    } else if (strcmp(param->code, "IA") == 0) {
        arg.ints = aclCreateIntArray(ints, 1);
    } else if (strcmp(param->code, "FA") == 0) {
        arg.floats = aclCreateFloatArray(&one, 1);
    } else if (strcmp(param->code, "BA") == 0) {
        arg.bools = aclCreateBoolArray(flags, 3);
    } else if (strcmp(param->code, "str") == 0) {
        arg.text = (char *)(uintptr_t)"none";
    } else if (strcmp(param->code, "dtype") == 0) {
        arg.type = ACL_FLOAT;
    } else if (param->code[0] == 'f') {
        arg.real = 1;
    } else {
        arg.integer = 1;
    }
    return arg;
}

void rig_arg_free(const struct op_test_param *param, union op_test_arg arg)
{
    if (!arg.integer) {
        return; // was made NULL
    }
    int error = 0;
    if (strcmp(param->code, "T") == 0) {
        error = aclDestroyTensor(arg.tensor);
    } else if (strcmp(param->code, "TL") == 0) {
        error = aclDestroyTensorList(arg.tensors);
    } else if (strcmp(param->code, "S") == 0) {
        error = aclDestroyScalar(arg.scalar);
    } else if (strcmp(param->code, "SL") == 0) {
        error = aclDestroyScalarList(arg.scalars);
    } else if (strcmp(param->code, "IA") == 0) {
        error = aclDestroyIntArray(arg.ints);
    } else if (strcmp(param->code, "FA") == 0) {
        error = aclDestroyFloatArray(arg.floats);
    } else if (strcmp(param->code, "BA") == 0) {
        error = aclDestroyBoolArray(arg.bools);
    }
    if (error) {
        abort();
    }
}

bool rig_param_is_handle(const struct op_test_param *param)
{
    static const char *const codes[] = {"T", "TL", "S", "SL", "IA", "FA", "BA"};
    for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (strcmp(param->code, codes[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool rig_row_is_here(const struct op_test_row *row)
{
    for (unsigned i = 0; i < row->param_count; i++) {
        if (row->params[i].code[0] == 'T' && !row->params[i].types[rig_chip()]) {
            return false; // not on this chip
        }
    }
    return row->param_count > 0;
}
