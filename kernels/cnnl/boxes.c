/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing boxes by score and overlap. */
#include "cnnl_subjects.h"

void cnnl_nms(struct cnnl_call *call, const struct cnnlNmsStruct *d, const struct op_tensor *boxes,
              const struct op_tensor *scores, const struct op_tensor *y, void *count)
{
    if (d->box_mode != CNNL_NMS_BOX_DIAGONAL || d->offset != 0) {
        cnnl_refuse(call, "boxes by their centre, or sides longer by %g", (double)d->offset);
    }
    cnnl_need(call, "count", count != NULL);
    const struct op_tensor *rows =
        d->layout == 1 && boxes->rank == 2 ? cnnl_permuted(call, boxes, 2, (int[]){1, 0}) : boxes;
    if (!rows || rows->rank != 2 || rows->dim[1] != 4 || y->rank != 1) {
        cnnl_bad(call, "boxes are %s of 4 numbers, and y is a list",
                 d->layout == 1 ? "columns" : "rows");
        return;
    }
    const int64_t most = d->most < 0 ? rows->dim[0] : d->most;
    const struct op_value args[] = {
        op_value_tensor(rows),
        op_value_tensor(scores),
        op_value_tensor(cnnl_filled(call, OP_TYPE_I32, 1, (double)most)),
        op_value_tensor(cnnl_filled(call, OP_TYPE_F32, 1, (double)d->overlap)),
        op_value_tensor(cnnl_filled(call, OP_TYPE_F32, 1, (double)d->least)),
        op_value_tensor(y),
        op_value_tensor(cnnl_vector(call, count, OP_TYPE_I32, 1))};
    cnnl_run(call, "Suppress", args);
}
