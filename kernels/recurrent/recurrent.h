/* SPDX-License-Identifier: Apache-2.0 */
/* What recurrent layers share: steps, layers, directions and packed sequences. */
#pragma once

#include "../frame/chain.h"

/** A call to a recurrent layer. */
struct rnn {
    int64_t steps, batch, hidden;
    unsigned layers, directions;
    bool biased, batch_first;
    const struct op_tensor_list *params;
    const struct op_tensor *sizes; /**< of a packed sequence, else NULL */
    struct op_tensor x;            /**< [steps, batch, features] or [rows, features] packed */
    struct op_tensor
        valid; /**< packed: [steps, batch, 1], 1 where there is a row; rank 0 otherwise */
    enum op_type type;
};

/** Weights of one layer and direction: w_x [gates, features], w_h [gates, hidden]; biases may be
 * without memory (addr 0). */
struct rnn_weights {
    struct op_tensor wx, wh, bx, bh;
};

/**
 * Checks the call: `hx` is [layers * directions, batch, hidden], NULL: of `like`'s shape; `gates`
 * rows of weights for each hidden element. batch_sizes: NULL or i64[steps].
 */
LEO_MUST_CHECK leo_status rnn_take(const struct op_call *call, const struct op_tensor *hx,
                                   unsigned gates, const char *bidirectional,
                                   const struct op_tensor *batch_sizes, struct rnn *rnn);
/** A list of what the gradient needs; NULL if it is not given. torch_npu's calls that do not train
 * have some of them without shapes: they are not wanted. */
const struct op_tensor_list *rnn_list(const struct op_call *call, const char *name);
LEO_MUST_CHECK leo_status rnn_check_list(const struct op_call *call, const struct rnn *rnn,
                                         const char *name);
/** Packed sequences: finds the mask, and gives the input with all steps. */
struct op_tensor rnn_begin(struct op_chain *chain, struct rnn *rnn);
struct rnn_weights rnn_weights_of(const struct rnn *rnn, const struct op_tensor_list *list,
                                  unsigned index);
/** [steps, batch, hidden] of layer and direction `index` in a list; a temporary if there is no
 * list. */
struct op_tensor rnn_saved(struct op_chain *chain, const struct rnn *rnn,
                           const struct op_tensor_list *list, unsigned index);
/** x wx' + bx for all steps: f32 [steps, batch, gates]. */
struct op_tensor rnn_gates_of_input(struct op_chain *chain, const struct op_tensor *x,
                                    const struct rnn_weights *w);
/** Where step t of a packed sequence has no row, now = before. */
void rnn_keep_old(struct op_chain *chain, const struct rnn *rnn, int64_t t,
                  const struct op_tensor *now, const struct op_tensor *before);
/** [steps, batch, hidden]: the state each step began with. */
struct op_tensor rnn_states_before(struct op_chain *chain, const struct op_tensor *h,
                                   const struct op_tensor *first, bool reverse);
/** Gradients of weights and input from those of the gates (f32 [steps, batch, gates]: of x wx' +
 * bx, and of h wh' + bh). `dx` is written, or added to if `add`. */
void rnn_weight_gradients(struct op_chain *chain, const struct rnn_weights *w,
                          const struct rnn_weights *dw, const struct op_tensor *dgx,
                          const struct op_tensor *dgh, const struct op_tensor *x,
                          const struct op_tensor *before, const struct op_tensor *dx, bool add);
/** The gradient of the input: put from [steps, batch, features] where the call wants it. */
void rnn_put_input_gradient(struct op_chain *chain, const struct rnn *rnn,
                            const struct op_tensor *dx, const struct op_tensor *out);
/** Direction d's part of a layer's output = its states, zeros where a packed sequence has no row.
 */
void rnn_join(struct op_chain *chain, const struct rnn *rnn, const struct op_tensor *h, unsigned d,
              const struct op_tensor *out);
/** The output [steps, batch, ..] of the call seen in that order of dimensions. */
struct op_tensor rnn_in_steps(const struct rnn *rnn, const struct op_tensor *tensor);
/** f32 copy of a gradient of the state, of zeros if NULL: [batch, hidden]. */
struct op_tensor rnn_state_gradient(struct op_chain *chain, const struct rnn *rnn,
                                    const struct op_tensor *given, unsigned index);
/** Which step is the k-th one of a direction. */
int64_t rnn_step(const struct rnn *rnn, bool reverse, int64_t k);
/** Gate `number` of gates that lie side by side. */
struct op_tensor rnn_gate(const struct rnn *rnn, const struct op_tensor *gates, unsigned number);
/** [batch, hidden]: the state layer and direction `index` begin with; zeros if none is given. */
struct op_tensor rnn_first_state(struct op_chain *chain, const struct rnn *rnn,
                                 const struct op_tensor *given, unsigned index);
/** Backward: the input of a layer, which for the first one is `first`, for others the states `h` of
 * the one before. */
struct op_tensor rnn_layer_input(struct op_chain *chain, const struct rnn *rnn, unsigned layer,
                                 const struct op_tensor *first, const struct op_tensor_list *h);
/** The gradient of the output in steps, zeros where a packed sequence has no row; NULL gives a
 * tensor without memory. */
struct op_tensor rnn_output_gradient(struct op_chain *chain, const struct rnn *rnn,
                                     const struct op_tensor *dy);
