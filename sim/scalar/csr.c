/* SPDX-License-Identifier: Apache-2.0 */
/* Control and status registers: the floating-point ones are the scalar unit's own, the rest the
 * environment's. */
#include "decode.h"

enum { CSR_FFLAGS = 1, CSR_FRM = 2, CSR_FCSR = 3 };

static bool read_csr(struct sim_scalar *scalar, unsigned csr, uint64_t *value)
{
    switch (csr) {
    case CSR_FFLAGS:
        *value = scalar->fcsr & 0x1f;
        return true;
    case CSR_FRM:
        *value = scalar->fcsr >> 5 & 7;
        return true;
    case CSR_FCSR:
        *value = scalar->fcsr & 0xff;
        return true;
    default:
        return scalar->env->csr_read(scalar, csr, value);
    }
}

static bool write_csr(struct sim_scalar *scalar, unsigned csr, uint64_t value)
{
    switch (csr) {
    case CSR_FFLAGS:
        scalar->fcsr = (scalar->fcsr & 0xe0) | (value & 0x1f);
        return true;
    case CSR_FRM:
        scalar->fcsr = (scalar->fcsr & 0x1f) | (value & 7) << 5;
        return true;
    case CSR_FCSR:
        scalar->fcsr = value & 0xff;
        return true;
    default:
        return scalar->env->csr_write(scalar, csr, value);
    }
}

bool sim_scalar_csr(struct sim_scalar *scalar, const struct sim_scalar_op *op)
{
    unsigned csr = (unsigned)op->imm;
    const enum sim_scalar_code code = sim_scalar_meaning(op);
    bool immediate = code >= SIM_CODE_CSRRWI;
    bool swap = code == SIM_CODE_CSRRW || code == SIM_CODE_CSRRWI;
    bool clear = code == SIM_CODE_CSRRC || code == SIM_CODE_CSRRCI;
    uint64_t source = immediate ? op->rs1 : scalar->x[op->rs1];
    uint64_t old = 0;
    // By the ISA a swap into x0 does not read, and setting or clearing by x0 or 0 does not write.
    if ((!swap || op->rd) && !read_csr(scalar, csr, &old)) {
        return false;
    }
    if (swap || op->rs1) {
        uint64_t value = swap ? source : clear ? old & ~source : old | source;
        if (!write_csr(scalar, csr, value)) {
            return false;
        }
    }
    if (op->rd) {
        scalar->x[op->rd] = old;
    }
    return true;
}
