/* SPDX-License-Identifier: Apache-2.0 */
/* Elements taken or changed one by one, and whole rows by the ways of index.h: what the operators
 * of indexing share. */
#pragma once

#include "index.h"
#include "index_args.h"

/** A place at which ScatterGeneral does nothing. */
#define OP_INDEX_NOWHERE (-(INT64_C(1) << 40))

/** Everything but the table's and the indices' part. `dim`: the index space. */
void op_index_begin(struct op_index_args *args, unsigned rank, const int64_t *dim, uint8_t mode);
void op_index_set_table(struct op_index_args *args, const struct op_tensor *table);
/** `value` has the shape of the index space. */
void op_index_set_value(struct op_index_args *args, const struct op_tensor *value);
/** One more index tensor, seen with the shape of the index space from dimension `at` on; it picks
 * along `dim` of the table. */
void op_index_add_tensor(struct op_index_args *args, const struct op_tensor *index, unsigned at,
                         const struct op_tensor *table, unsigned dim);
LEO_MUST_CHECK leo_status op_index_launch(const struct op_call *call, struct op_index_args *args);
/** Takes into `out`, of any layout. */
LEO_MUST_CHECK leo_status op_index_get_into(const struct op_call *call, struct op_index_args *args,
                                            const struct op_tensor *out);

/** A call of indexing: all of it element by element, and what quicker ways are given. */
struct op_index_goal {
    const struct op_call *call;
    struct op_index_args *elements;
    const struct op_tensor *taken_into; /**< NULL: it changes a table */
    const struct op_index_lines *lines; /**< NULL: it is not along one dimension */
    leo_status (*rows)(const struct op_index_goal *goal); /**< NULL: it has none */
    const struct op_tensor *table, *index, *values;
    const struct op_tensor *from; /**< what the table is before elements change it; NULL: itself */
    unsigned dim;
    bool add;
    double alpha;
    const bool *turned;
};
LEO_MUST_CHECK leo_status op_index_choose(const struct op_index_goal *goal);
/** Whole slices along `dim` of the table are taken. */
LEO_MUST_CHECK leo_status op_index_by_taking_rows(const struct op_index_goal *goal);
/** Whole slices of the table along its first dimension, which values (dense rows of them, in the
 * order of the list) replace, or are added to times `alpha`. */
LEO_MUST_CHECK leo_status op_index_by_changing_rows(const struct op_index_goal *goal);

/** Plans of rows with the word "index" (index.c picks). */
LEO_MUST_CHECK leo_status op_index_plan_several(const struct op_call *call);
LEO_MUST_CHECK leo_status op_index_plan_put_several(const struct op_call *call);
LEO_MUST_CHECK leo_status op_index_plan_embedding(const struct op_call *call);
LEO_MUST_CHECK leo_status op_index_plan_embedding_gradient(const struct op_call *call);
