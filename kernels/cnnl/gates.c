/* SPDX-License-Identifier: Apache-2.0 */
/* Gates of one step of a recurrent network: memory of batch x gates x channels. */
#include "cnnl_subjects.h"
#include "tensor_desc.h"

const struct op_tensor *cnnl_gates(struct cnnl_call *call, const char *name,
                                   cnnlTensorDescriptor_t desc, const void *data)
{
    const struct op_tensor *all = cnnl_in(call, name, desc, data);
    if (!all) {
        return NULL;
    }
    if (all->rank == 2) {
        return all;
    }
    if (all->rank != 3) {
        cnnl_bad(call, "%s has %u dimensions: batch, gates, channels", name, all->rank);
        return NULL;
    }
    return cnnl_shaped(call, name, all, 2,
                       (const int64_t[]){all->dim[0], all->dim[1] * all->dim[2]});
}

const struct op_tensor *cnnl_gate_bias(struct cnnl_call *call, const struct op_tensor *gates,
                                       const void *data)
{
    return gates && data ? cnnl_vector(call, data, gates->type, gates->dim[1]) : NULL;
}

const struct op_tensor *cnnl_gate_reserve(struct cnnl_call *call, const struct op_tensor *gates,
                                          const void *data, size_t bytes)
{
    cnnl_need(call, "reserve", data != NULL);
    if (!gates) {
        return NULL;
    }
    const int64_t count = op_tensor_count(gates);
    if (bytes < (size_t)count * op_type_bytes(gates->type)) {
        cnnl_bad(call, "reserve has %zu bytes: ask cnnlGetLSTMGatesTempSize", bytes);
        return NULL;
    }
    return cnnl_shaped(call, "reserve", cnnl_vector(call, data, gates->type, count), 2, gates->dim);
}

cnnlStatus_t cnnl_gate_bytes(const char *func, cnnlTensorDescriptor_t desc, size_t *bytes)
{
    if (!bytes || !cnnl_tensor_is_live(desc)) {
        return cnnl_fail(CNNL_STATUS_BAD_PARAM, func,
                         "size is NULL, or gates_desc no live tensor descriptor");
    }
    *bytes = cnnlGetTensorElementNum(desc) * cnnl_type_bytes(desc->type);
    return CNNL_STATUS_SUCCESS;
}
