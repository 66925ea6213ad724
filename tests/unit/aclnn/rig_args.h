/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments for any row, made from its parameters alone. */
#pragma once

#include "rig.h"

enum { RIG_PARAMS = 48 }; /**< more than any row has */

/** What a call shall be like beside its row: a shape for all tensors, each in a slot of device
 * memory, and one parameter that differs. */
struct rig_wish {
    unsigned char *memory;
    size_t slot;          /**< bytes */
    unsigned rank, param; /**< RIG_PARAMS: none differs */
    int64_t dim[8];
    enum op_type type;
    bool no_memory, repeats, overlaps; /**< overlaps: every stride is 1 */
    int format;                        /**< of the parameter that differs; 0: ND */
    const struct rig_wish *shape;      /**< of the parameter that differs; NULL: as the others */
};

/** The types a parameter takes on this chip. */
uint32_t rig_types(const struct op_test_param *param);

/** Whether every tensor of the row has a type on this chip. */
bool rig_row_is_here(const struct op_test_row *row);
/** Whether a parameter is a handle, which may be NULL. */
bool rig_param_is_handle(const struct op_test_param *param);
enum op_type rig_first_type(const struct op_test_param *param);
union op_test_arg rig_arg_make(const struct op_test_param *param, unsigned number,
                               const struct rig_wish *wish);
void rig_arg_free(const struct op_test_param *param, union op_test_arg arg);
