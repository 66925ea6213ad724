/* SPDX-License-Identifier: Apache-2.0 */
/* Operators: each checks its arguments, then launches its device programs on a stream of the
 * context's device. */
#pragma once

#include <leo/isa_enums.h>
#include <leo/runtime.h>
#include <leo/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Loaded device programs and tiling of one device. Create once, use from one thread at a time. */
struct leo_op_context;
leo_status leo_op_context_create(struct leo_rt_device *device, struct leo_op_context **context);
void leo_op_context_destroy(struct leo_op_context *context);

/** Bytes behind a tensor's end that must belong to its allocation: the coupled generation's DMA
 * reads whole blocks. */
enum { LEO_OP_READ_MARGIN = 32 };

/** A dense row-major tensor in device memory of up to 4 dimensions. Describes, does not own. */
struct leo_op_tensor {
    uint64_t addr;
    enum leo_dtype dtype; /**< LEO_DTYPE_F16 or LEO_DTYPE_F32 or LEO_DTYPE_S32 */
    unsigned rank;        /**< 0..4 */
    uint32_t dim[4];
};

/** out[m,n] = op(a)[m,k] x op(b)[k,n] (+ bias[n]) (then relu). a, b f16; out f16 or f32; bias f32;
 * sums f32. */
struct leo_op_matmul_opts {
    bool transpose_a, transpose_b; /**< a is stored k x m; b is stored n x k. */
    bool relu;
    const struct leo_op_tensor *bias; /**< NULL = none. */
};
leo_status leo_op_matmul(struct leo_op_context *context, struct leo_rt_stream *stream,
                         const struct leo_op_tensor *a, const struct leo_op_tensor *b,
                         const struct leo_op_matmul_opts *opts, const struct leo_op_tensor *out);
/** out = a + b, same shape, f16 or f32. */
leo_status leo_op_add(struct leo_op_context *context, struct leo_rt_stream *stream,
                      const struct leo_op_tensor *a, const struct leo_op_tensor *b,
                      const struct leo_op_tensor *out);
/** out = max(in, 0); f16 or f32. */
leo_status leo_op_relu(struct leo_op_context *context, struct leo_rt_stream *stream,
                       const struct leo_op_tensor *in, const struct leo_op_tensor *out);
/** din = out > 0 ? dout : 0, where `out` is relu's result. */
leo_status leo_op_relu_grad(struct leo_op_context *context, struct leo_rt_stream *stream,
                            const struct leo_op_tensor *dout, const struct leo_op_tensor *out,
                            const struct leo_op_tensor *din);
/** loss[i] = -log softmax(logits[i])[label[i]]; logits f32 [rows, classes], labels s32 [rows], loss
 * f32 [rows]; prob (f32 [rows, classes]) receives the softmax. */
leo_status leo_op_softmax_xent(struct leo_op_context *context, struct leo_rt_stream *stream,
                               const struct leo_op_tensor *logits,
                               const struct leo_op_tensor *labels, const struct leo_op_tensor *loss,
                               const struct leo_op_tensor *prob);
/** dlogits = (prob - onehot(label)) * scale; dlogits f16 or f32. */
leo_status leo_op_softmax_xent_grad(struct leo_op_context *context, struct leo_rt_stream *stream,
                                    const struct leo_op_tensor *prob,
                                    const struct leo_op_tensor *labels, float scale,
                                    const struct leo_op_tensor *dlogits);
/** out[n] (f32) = sum over rows of in[m,n] (f16 or f32), in f32, ascending rows. */
leo_status leo_op_column_sum(struct leo_op_context *context, struct leo_rt_stream *stream,
                             const struct leo_op_tensor *in, const struct leo_op_tensor *out);
/** out = (out's dtype) in, f32 <-> f16. overflow (s32 [1], may be NULL) becomes 1 if any result is
 * Inf or NaN; it is never cleared here. */
leo_status leo_op_cast(struct leo_op_context *context, struct leo_rt_stream *stream,
                       const struct leo_op_tensor *in, const struct leo_op_tensor *out,
                       const struct leo_op_tensor *overflow);
/** velocity = momentum * velocity + grad * grad_scale; weight -= rate * velocity. weight, velocity
 * f32; grad f32 or f16. */
leo_status leo_op_momentum_sgd(struct leo_op_context *context, struct leo_rt_stream *stream,
                               const struct leo_op_tensor *weight,
                               const struct leo_op_tensor *velocity,
                               const struct leo_op_tensor *grad, float grad_scale, float rate,
                               float momentum);

#ifdef __cplusplus
}
#endif
