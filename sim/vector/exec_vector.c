/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_vector.h"

#include <string.h>

struct handler {
    sim_vec_family_fn family;
    unsigned member;
};

static const struct handler handlers[LEO_INSN_COUNT] = {
    [LEO_INSN_VADD] = {sim_vec_binary, SIM_BINARY_ADD},
    [LEO_INSN_VSUB] = {sim_vec_binary, SIM_BINARY_SUB},
    [LEO_INSN_VMUL] = {sim_vec_binary, SIM_BINARY_MUL},
    [LEO_INSN_VDIV] = {sim_vec_binary, SIM_BINARY_DIV},
    [LEO_INSN_VMAX] = {sim_vec_binary, SIM_BINARY_MAX},
    [LEO_INSN_VMIN] = {sim_vec_binary, SIM_BINARY_MIN},
    [LEO_INSN_VSEL] = {sim_vec_select, 0},
    [LEO_INSN_VCMPV] = {sim_vec_compare, 0},
    [LEO_INSN_VCMP] = {sim_vec_compare_to_csr, 0},
    [LEO_INSN_VADDS] = {sim_vec_scalar, SIM_BINARY_ADD},
    [LEO_INSN_VMULS] = {sim_vec_scalar, SIM_BINARY_MUL},
    [LEO_INSN_VMAXS] = {sim_vec_scalar, SIM_BINARY_MAX},
    [LEO_INSN_VMINS] = {sim_vec_scalar, SIM_BINARY_MIN},
    [LEO_INSN_VAXPY] = {sim_vec_axpy, 0},
    [LEO_INSN_VCMPVS] = {sim_vec_compare_scalar, 0},
    [LEO_INSN_VDUP] = {sim_vec_dup, 0},
    [LEO_INSN_VCOPY] = {sim_vec_copy, 0},
    [LEO_INSN_VABS] = {sim_vec_unary, SIM_UNARY_ABS},
    [LEO_INSN_VRELU] = {sim_vec_unary, SIM_UNARY_RELU},
    [LEO_INSN_VEXP] = {sim_vec_unary, SIM_UNARY_EXP},
    [LEO_INSN_VLN] = {sim_vec_unary, SIM_UNARY_LN},
    [LEO_INSN_VSQRT] = {sim_vec_unary, SIM_UNARY_SQRT},
    [LEO_INSN_VRSQRT] = {sim_vec_unary, SIM_UNARY_RSQRT},
    [LEO_INSN_VREC] = {sim_vec_unary, SIM_UNARY_REC},
    [LEO_INSN_VCONV] = {sim_vec_convert, 0},
    [LEO_INSN_VCADD] = {sim_vec_reduce_repeat, SIM_BINARY_ADD},
    [LEO_INSN_VCMAX] = {sim_vec_reduce_repeat, SIM_BINARY_MAX},
    [LEO_INSN_VCMIN] = {sim_vec_reduce_repeat, SIM_BINARY_MIN},
    [LEO_INSN_VCGADD] = {sim_vec_reduce_block, SIM_BINARY_ADD},
    [LEO_INSN_VCGMAX] = {sim_vec_reduce_block, SIM_BINARY_MAX},
    [LEO_INSN_VCGMIN] = {sim_vec_reduce_block, SIM_BINARY_MIN},
    [LEO_INSN_VCPADD] = {sim_vec_reduce_pair, SIM_BINARY_ADD},
};

bool sim_exec_vector(struct sim_core *core, const struct sim_op *op)
{
    const struct handler *handler =
        op->insn < LEO_INSN_COUNT ? &handlers[op->insn] : &handlers[LEO_INSN_NONE];
    if (handler->family == NULL || !leo_insn_has_arch(op->insn, core->config->arch)) {
        return sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_UB, 0, 0);
    }
    return handler->family(core, op, handler->member);
}

bool sim_vec_check_type(struct sim_core *core, const struct sim_op *op, unsigned type)
{
    return leo_insn_has_type(op->insn, core->config->arch, type) ||
           sim_core_fault(core, LEO_FAULT_ILLEGAL_INSTRUCTION, LEO_MEM_SPACE_UB, 0, 0);
}

bool sim_vec_bad_config(struct sim_core *core)
{
    return sim_core_fault(core, LEO_FAULT_ILLEGAL_CONFIG, LEO_MEM_SPACE_UB, 0, 0);
}

uint32_t sim_vec_type_bytes(enum leo_dtype type)
{
    switch (type) {
    case LEO_DTYPE_S8:
    case LEO_DTYPE_U8:
    case LEO_DTYPE_B8:
    case LEO_DTYPE_S4: // has no lane of its own; no vector instruction takes it
        return 1;
    case LEO_DTYPE_F16:
    case LEO_DTYPE_BF16:
    case LEO_DTYPE_S16:
    case LEO_DTYPE_U16:
    case LEO_DTYPE_B16:
        return 2;
    case LEO_DTYPE_F32:
    case LEO_DTYPE_S32:
    case LEO_DTYPE_U32:
    case LEO_DTYPE_B32:
        return 4;
    case LEO_DTYPE_S64:
    case LEO_DTYPE_U64:
        break;
    }
    return 8;
}

enum sim_lane sim_vec_lane_of(enum leo_dtype type)
{
    switch (type) {
    case LEO_DTYPE_F16:
        return SIM_LANE_F16;
    case LEO_DTYPE_F32:
        return SIM_LANE_F32;
    case LEO_DTYPE_S16:
        return SIM_LANE_S16;
    default:
        return SIM_LANE_S32;
    }
}

void sim_vec_splat_fill(struct sim_vec_splat *splat, uint64_t scalar, uint32_t lane_bytes,
                        uint64_t lanes)
{
    const size_t most = sizeof(splat->bytes) / lane_bytes;
    splat->lanes = lanes < most ? lanes : most;
    if (lane_bytes == 2) {
        uint16_t *to = (uint16_t *)splat->bytes;
        for (size_t i = 0; i < splat->lanes; i++) {
            to[i] = (uint16_t)scalar;
        }
        return;
    }
    uint32_t *to = (uint32_t *)splat->bytes;
    for (size_t i = 0; i < splat->lanes; i++) {
        to[i] = (uint32_t)scalar;
    }
}
