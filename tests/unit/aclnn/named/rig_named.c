/* SPDX-License-Identifier: Apache-2.0 */
#include "rig_named.h"

#include <acl/acl_op_compiler.h>

enum { TENSORS = 16 };

struct side {
    const aclTensorDesc *desc[TENSORS];
    aclDataBuffer *buffer[TENSORS];
};

static void describe(struct side *side, unsigned at, const struct rig_tensor *tensor, bool host)
{
    if (!tensor) {
        side->desc[at] = aclCreateTensorDesc(ACL_DT_UNDEFINED, 0, NULL, ACL_FORMAT_UNDEFINED);
        side->buffer[at] = aclCreateDataBuffer(NULL, 0);
        return;
    }
    aclTensorDesc *desc = aclCreateTensorDesc(rig_acl_type(tensor->type), (int)tensor->rank,
                                              tensor->dim, ACL_FORMAT_ND);
    if (host) {
        CU_ASSERT_EQUAL(aclSetTensorPlaceMent(desc, ACL_MEMTYPE_HOST), 0);
    }
    side->desc[at] = desc;
    side->buffer[at] = aclCreateDataBuffer(
        host ? rig_tensor_at(tensor, 0) : (void *)(uintptr_t)(tensor->base + RIG_GUARD),
        (size_t)rig_tensor_count(tensor) * rig_type_bytes(tensor->type));
}

static void forget(struct side *side, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        aclDestroyTensorDesc(side->desc[i]);
        aclDestroyDataBuffer(side->buffer[i]);
    }
}

aclError rig_named_try(const char *type, struct rig_named call)
{
    struct side in, out;
    CU_ASSERT_FATAL(call.ins <= TENSORS && call.outs <= TENSORS);
    for (unsigned i = 0; i < call.ins; i++) {
        describe(&in, i, call.in[i], call.host >> i & 1);
    }
    for (unsigned i = 0; i < call.outs; i++) {
        describe(&out, i, call.out[i], false);
    }
    aclError error = aclopCompileAndExecute(
        type, (int)call.ins, in.desc, (const aclDataBuffer *const *)in.buffer, (int)call.outs,
        out.desc, out.buffer, call.attr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, rig_stream());
    if (!error) {
        error = aclrtSynchronizeStream(rig_stream());
    }
    forget(&in, call.ins);
    forget(&out, call.outs);
    if (call.attr) {
        aclopDestroyAttr(call.attr);
    }
    return error;
}

void rig_named_run(const char *type, aclopAttr *attr, struct rig_tensor *const *in, unsigned ins,
                   struct rig_tensor *const *out, unsigned outs)
{
    CU_ASSERT_EQUAL(rig_named_try(type, (struct rig_named){in, ins, out, outs, attr, 0}), 0);
}

struct rig_tensor rig_named_floats(unsigned rank, const int64_t *dim, uint64_t seed)
{
    return rig_values_make(OP_TYPE_F32, rank, dim, RIG_DENSE, seed);
}

struct rig_tensor rig_named_ints(enum op_type type, unsigned rank, const int64_t *dim,
                                 const int64_t *values)
{
    struct rig_tensor tensor = rig_tensor_make(type, rank, dim, RIG_DENSE, 1);
    for (int64_t i = 0; i < rig_tensor_count(&tensor); i++) {
        rig_put_i(rig_tensor_at(&tensor, i), type, values[i]);
    }
    rig_tensor_put(&tensor);
    return tensor;
}

void rig_named_input(struct rig_named_made *made, struct rig_tensor tensor)
{
    CU_ASSERT_FATAL(made->outs == 0 && made->ins < RIG_NAMED_MAX);
    made->t[made->ins++] = tensor;
}

void rig_named_output(struct rig_named_made *made, struct rig_tensor tensor)
{
    CU_ASSERT_FATAL(made->ins + made->outs < RIG_NAMED_MAX);
    made->want[made->outs] = rig_values_zeros(rig_tensor_count(&tensor));
    made->t[made->ins + made->outs++] = tensor;
}

double rig_named_at(const struct rig_named_made *made, unsigned tensor, int64_t index)
{
    return rig_values_at(&made->t[tensor], index);
}

void rig_named_call(const char *type, aclopAttr *attr, struct rig_named_made *made, uint32_t host)
{
    struct rig_tensor *in[RIG_NAMED_MAX], *out[RIG_NAMED_MAX];
    for (unsigned i = 0; i < made->ins + made->outs; i++) {
        *(i < made->ins ? &in[i] : &out[i - made->ins]) = &made->t[i];
    }
    CU_ASSERT_EQUAL(
        rig_named_try(type, (struct rig_named){in, made->ins, out, made->outs, attr, host}), 0);
}

void rig_named_expect(const char *type, aclopAttr *attr, struct rig_named_made *made, uint32_t host,
                      struct rig_bound bound)
{
    rig_named_call(type, attr, made, host);
    for (unsigned i = 0; i < made->outs; i++) {
        rig_values_expect(&made->t[made->ins + i], made->want[i], bound, type);
    }
    rig_named_free(made);
}

void rig_named_free(struct rig_named_made *made)
{
    rig_values_free(made->t, made->ins + made->outs, made->want, made->outs);
}
