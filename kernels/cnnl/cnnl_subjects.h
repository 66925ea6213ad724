/* SPDX-License-Identifier: Apache-2.0 */
/* What rows cannot say in a line, by subject. Tensors may be NULL after a failure of the call,
 * which ends what is done here too. */
#pragma once

#include "cnnl_call.h"

#include <cnnl_objects.h>

/* blend.c */
/** A factor as an operator's number: float, or a whole number for integers. */
const struct op_scalar *cnnl_factor_of(struct cnnl_call *call, enum op_type type, const void *data,
                                       double none);
/** f32 for what is narrower, so that a result is rounded once. */
enum op_type cnnl_wide(enum op_type type);
/** c = op(alpha1 a, alpha2 b) + beta c. */
void cnnl_op_tensor(struct cnnl_call *call, cnnlOpTensorDesc_t op, const void *alpha1,
                    const struct op_tensor *a, const void *alpha2, const struct op_tensor *b,
                    const void *beta, const struct op_tensor *c);
/** y = alpha x + beta. */
void cnnl_transform(struct cnnl_call *call, cnnlPointerMode_t mode, const void *alpha,
                    const struct op_tensor *x, const void *beta, const struct op_tensor *y);

/* shape.c */
/** The same elements in another shape of as many; the tensor must not have gaps. */
const struct op_tensor *cnnl_shaped(struct cnnl_call *call, const char *name,
                                    const struct op_tensor *tensor, unsigned rank,
                                    const int64_t *dim);
/** The tensor for its shape alone: what it holds is not read. */
const struct op_tensor *cnnl_shape_only(struct cnnl_call *call, const struct op_tensor *tensor);
const struct op_tensor *cnnl_permuted(struct cnnl_call *call, const struct op_tensor *tensor,
                                      int rank, const int *permute);
const struct op_tensor *cnnl_sliced(struct cnnl_call *call, const struct op_tensor *tensor,
                                    const int64_t *begin, const int64_t *end, const int64_t *step);
/** A vector of the same number. */
const struct op_tensor *cnnl_filled(struct cnnl_call *call, enum op_type type, int64_t count,
                                    double number);
/** The tensor itself if it is i64, else memory of its shape for cnnl_give. */
const struct op_tensor *cnnl_i64(struct cnnl_call *call, const struct op_tensor *tensor);
/** The tensor itself if it has no gaps, else memory of its shape for cnnl_give. */
const struct op_tensor *cnnl_dense_like(struct cnnl_call *call, const struct op_tensor *tensor);
/** to = from unless they are one. */
void cnnl_give(struct cnnl_call *call, const struct op_tensor *to, const struct op_tensor *from);
const struct op_ints *cnnl_repeats(struct cnnl_call *call, const struct op_tensor *x,
                                   const struct op_tensor *y);
void cnnl_split(struct cnnl_call *call, const struct op_tensor *x, int64_t axis,
                const struct op_tensor_list *pieces);
const struct op_scalar *cnnl_arange_end(struct cnnl_call *call, const struct op_scalar *start,
                                        const struct op_scalar *step, const struct op_tensor *y);

/* window.c: convolution, pooling, resizing */
struct cnnl_window {
    const struct op_ints *kernel, *stride, *pad, *dilation, *zeros;
};
struct cnnl_window cnnl_convolution_window(struct cnnl_call *call,
                                           const struct cnnlConvolutionStruct *d,
                                           const struct op_tensor *x);
/** index NULL: places are not asked for. */
void cnnl_pool(struct cnnl_call *call, const struct cnnlPoolingStruct *d, const struct op_tensor *x,
               const struct op_tensor *y, const struct op_tensor *index);
void cnnl_pool_backward(struct cnnl_call *call, const struct cnnlPoolingStruct *d,
                        const struct op_tensor *index, const struct op_tensor *diff_y,
                        const struct op_tensor *diff_x);
void cnnl_adaptive_pool(struct cnnl_call *call, cnnlPoolingMode_t mode, const struct op_tensor *x,
                        const struct op_tensor *y, const struct op_tensor *index);
void cnnl_adaptive_pool_backward(struct cnnl_call *call, cnnlPoolingMode_t mode,
                                 const struct op_tensor *diff_y, const struct op_tensor *index,
                                 const struct op_tensor *diff_x);
void cnnl_resize(struct cnnl_call *call, const struct cnnlInterpStruct *d,
                 const struct op_tensor *x, const struct op_tensor *y);
void cnnl_resize_backward(struct cnnl_call *call, const struct cnnlInterpStruct *d,
                          const struct op_tensor *diff_y, const struct op_tensor *diff_x);

/* layer.c: normalisation, softmax, losses */
struct cnnl_layer {
    const struct op_ints *sizes; /**< of the dimensions it normalises over */
    enum op_type vector_type;
    const struct op_tensor *mean, *rstd;
};
enum op_type cnnl_vector_type(struct cnnl_call *call, cnnlTensorDescriptor_t desc);
struct cnnl_layer cnnl_layer_of(struct cnnl_call *call, const struct op_tensor *x, int64_t axis,
                                cnnlTensorDescriptor_t vector, cnnlTensorDescriptor_t mean_rstd,
                                const void *mean, const void *rstd);
/** A vector of the shape that is normalised over; NULL stays NULL. */
const struct op_tensor *cnnl_layer_vector(struct cnnl_call *call, const struct cnnl_layer *layer,
                                          const void *data);
/** From the variance, which operators of batch normalisation keep, to 1 / sqrt(variance + eps). */
void cnnl_inverse_deviation(struct cnnl_call *call, const struct op_tensor *saved, float eps);
int64_t cnnl_softmax_dim(struct cnnl_call *call, cnnlSoftmaxMode_t mode, const struct op_tensor *x);
/** none, sum, mean of CNNL as operators count them: none, mean, sum. */
int64_t cnnl_reduction(int mode);

/* reduce.c */
void cnnl_reduce(struct cnnl_call *call, const struct cnnlReduceStruct *d,
                 const struct op_tensor *x, const struct op_tensor *y,
                 const struct op_tensor *index);
void cnnl_sum_but(struct cnnl_call *call, const struct op_tensor *x, int64_t axis,
                  const struct op_tensor *y);
void cnnl_std_var_mean(struct cnnl_call *call, const struct cnnlStdVarMeanStruct *d,
                       const struct op_tensor *x, const struct op_tensor *std,
                       const struct op_tensor *var, const struct op_tensor *mean);

/* product.c */
/** The tensor's last two dimensions as a matrix, rows `pitch` elements apart (0: as they are),
 * turned or not. */
const struct op_tensor *cnnl_matrix(struct cnnl_call *call, const struct op_tensor *tensor,
                                    int pitch, bool turned);
/** `batch` matrices of rows times columns (turned: stored the other way round). */
const struct op_tensor *cnnl_batch(struct cnnl_call *call, const struct op_tensor *tensor,
                                   int batch, int rows, int columns, int pitch, int64_t stride,
                                   bool turned);
/** y = alpha a b + beta c. */
void cnnl_multiply(struct cnnl_call *call, const struct op_tensor *a, const struct op_tensor *b,
                   const void *alpha, const void *beta, const struct op_tensor *c,
                   const struct op_tensor *y);
void cnnl_multiply_more(struct cnnl_call *call, cnnlMatMulExDescriptor_t d, const void *alpha,
                        const struct op_tensor *a, const struct op_tensor *b, const void *beta,
                        const struct op_tensor *c, const struct op_tensor *y);
/** What a question for algorithms answers: there is one. */
cnnlStatus_t cnnl_one_algo(const char *func, int requested, bool results, int *returned);

/* place.c: masks, indices, random numbers */
void cnnl_masked(struct cnnl_call *call, cnnlMaskedOp_t op, const struct op_tensor *x,
                 const struct op_tensor *mask, const struct op_tensor *value, const void *scale,
                 const struct op_tensor *y);
/** As operators take them: without the NULLs behind the last index. */
const struct op_tensor_list *cnnl_indices(struct cnnl_call *call, const struct op_tensor *x,
                                          const struct op_tensor_list *indices);
cnnlStatus_t cnnl_index_shape(const char *func, cnnlTensorDescriptor_t x,
                              const cnnlTensorDescriptor_t indices[], int *rank, int64_t *sizes);
/** Refuses seeds in device memory. */
void cnnl_random(struct cnnl_call *call, bool is_device);

/* foreach.c */
void cnnl_foreach_zero(struct cnnl_call *call, const struct op_tensor_list *ys);
void cnnl_foreach_norm(struct cnnl_call *call, const struct op_tensor_list *xs, double p,
                       const struct op_tensor_list *ys);
void cnnl_foreach_binary(struct cnnl_call *call, cnnlForeachOpMode_t op,
                         cnnlForeachBinaryMode_t mode, const struct op_tensor_list *as,
                         const struct op_tensor_list *bs, cnnlTensorDescriptor_t scalar_desc,
                         const void *scalar, const void *alpha, const struct op_tensor_list *ys);
void cnnl_foreach_pointwise(struct cnnl_call *call, cnnlForeachOpMode_t op,
                            cnnlForeachPointWiseMode_t mode, const struct op_tensor_list *xs,
                            const struct op_tensor_list *as, const struct op_tensor_list *bs,
                            const void *scalar, const struct op_tensor_list *ys);
void cnnl_foreach_lerp(struct cnnl_call *call, cnnlForeachLerpMode_t mode,
                       const struct op_tensor_list *as, const struct op_tensor_list *bs,
                       const cnnlTensorDescriptor_t weight_desc[], const void *const weight[],
                       const struct op_tensor_list *ys);

/* found.c */
/** dim -1: of all elements. index may be NULL. */
void cnnl_median(struct cnnl_call *call, const struct op_tensor *x, int64_t dim, bool ignore_nan,
                 const struct op_tensor *values, const struct op_tensor *index);
void cnnl_count_true(struct cnnl_call *call, const struct op_tensor *x,
                     const struct op_tensor *count);
void cnnl_where(struct cnnl_call *call, const struct op_tensor *x, bool as_index,
                const struct op_tensor *y);
/** The first elements of x where mask is true; count (device memory) may be NULL. */
void cnnl_masked_select(struct cnnl_call *call, const struct op_tensor *x,
                        const struct op_tensor *mask, const struct op_tensor *y, void *count);
/** dim -1: of all elements. index and counts may be NULL; length is memory of the device. */
void cnnl_unique(struct cnnl_call *call, const struct op_tensor *x, int64_t dim,
                 const struct op_tensor *values, const struct op_tensor *index,
                 const struct op_tensor *counts, int *length);
/** dim x->rank: of all elements. */
void cnnl_unique_consecutive(struct cnnl_call *call, const struct op_tensor *x, int64_t dim,
                             const struct op_tensor *values, const struct op_tensor *index,
                             const struct op_tensor *counts, int64_t *length);

/* planes.c */
/** How operators count modes of interpolation. */
int64_t cnnl_grid_mode(struct cnnl_call *call, cnnlInterpMode_t mode);
/** The window of an image's columns: its size is the filter's. */
struct cnnl_window cnnl_column_window(struct cnnl_call *call, const struct cnnlConvolutionStruct *d,
                                      cnnlTensorDescriptor_t filter);
/** The last dimension first, as operators take them. */
const struct op_ints *cnnl_pad_pairs(struct cnnl_call *call, const struct op_tensor *x,
                                     const int pad[][2]);
const struct op_tensor *cnnl_unfolded(struct cnnl_call *call, const struct op_tensor *x, int dim,
                                      int size, int step, const struct op_tensor *y);
void cnnl_group_norm(struct cnnl_call *call, double eps, int64_t groups, const struct op_tensor *x,
                     cnnlTensorDescriptor_t vector, const void *weight, const void *bias,
                     const struct op_tensor *y, cnnlTensorDescriptor_t mean_rstd, void *mean,
                     void *rstd);
void cnnl_group_norm_backward(struct cnnl_call *call, const struct op_tensor *x,
                              const struct op_tensor *diff_y, const struct op_tensor *weight,
                              const struct op_tensor *mean, const struct op_tensor *rstd,
                              int64_t groups, const struct op_tensor *diff_x,
                              const struct op_tensor *diff_weight,
                              const struct op_tensor *diff_bias);

/* boxes.c */
/** y = numbers of the boxes that are kept, count (i32 in device memory) how many. */
void cnnl_nms(struct cnnl_call *call, const struct cnnlNmsStruct *d, const struct op_tensor *boxes,
              const struct op_tensor *scores, const struct op_tensor *y, void *count);

/* gates.c */
/** A row of gates x channels for each of the batch. */
const struct op_tensor *cnnl_gates(struct cnnl_call *call, const char *name,
                                   cnnlTensorDescriptor_t desc, const void *data);
/** As many numbers as a row has, of its type; NULL without memory. */
const struct op_tensor *cnnl_gate_bias(struct cnnl_call *call, const struct op_tensor *gates,
                                       const void *data);
/** Memory of the gates' shape and type, if `bytes` are enough. */
const struct op_tensor *cnnl_gate_reserve(struct cnnl_call *call, const struct op_tensor *gates,
                                          const void *data, size_t bytes);
/** The bytes of what the gradient of a step needs. */
cnnlStatus_t cnnl_gate_bytes(const char *func, cnnlTensorDescriptor_t desc, size_t *bytes);

/* fixed.c */
/** What a whole number stands for, each one number in device memory: (q - offset) step / scale;
 * scale and offset may be NULL. */
struct cnnl_fixed {
    const struct op_tensor *step, *scale, *offset;
};
struct cnnl_fixed cnnl_fixed_of_desc(struct cnnl_call *call, cnnlQuantizeMode_t mode,
                                     cnnlTensorDescriptor_t desc);
struct cnnl_fixed cnnl_fixed_of_memory(struct cnnl_call *call, const void *position,
                                       const void *scale, const void *offset);
/** The tensor as its whole numbers. */
const struct op_tensor *cnnl_fixed(struct cnnl_call *call, const char *name,
                                   cnnlTensorDescriptor_t desc, const void *data);
/** The whole numbers in a float type that holds each of them. */
const struct op_tensor *cnnl_widened(struct cnnl_call *call, const struct op_tensor *fixed);
void cnnl_quantize(struct cnnl_call *call, const struct op_tensor *x, struct cnnl_fixed fixed,
                   const struct op_tensor *y);
/** y = sums of products of whole numbers as what they stand for, plus bias, which may be NULL. */
void cnnl_dequantize(struct cnnl_call *call, const struct op_tensor *sums, struct cnnl_fixed a,
                     struct cnnl_fixed b, const struct op_tensor *bias, const struct op_tensor *y);
/** A bias that has a number for each of y's channels, which are y's second dimension. */
const struct op_tensor *cnnl_channel_bias(struct cnnl_call *call, const struct op_tensor *bias,
                                          const struct op_tensor *y);
void cnnl_choose_fixed(struct cnnl_call *call, cnnlQuantizeMode_t mode, const struct op_tensor *x,
                       int bits, void *position, void *scale);

/* rnn.c */
/** What a call of a long short-term memory has, forward or backward. */
struct cnnl_lstm_data {
    const struct cnnlSeqDataStruct *x, *y;
    const void *input, *output, *diff_output, *diff_input;
    const struct op_tensor *h, *c; /**< states before the first step */
    const void *weight, *diff_weight, *reserve;
    size_t weight_bytes, reserve_bytes;
};
cnnlStatus_t cnnl_rnn_sizes(const char *func, const struct cnnlRNNParam *d,
                            const struct cnnlSeqDataStruct *x, size_t *work, size_t *reserve);
void cnnl_lstm(struct cnnl_call *call, const struct cnnlRNNParam *d,
               const struct cnnl_lstm_data *data, const struct op_tensor *hy,
               const struct op_tensor *cy);
void cnnl_lstm_backward(struct cnnl_call *call, const struct cnnlRNNParam *d,
                        const struct cnnl_lstm_data *data, const struct op_tensor *diff_hy,
                        const struct op_tensor *diff_cy, const struct op_tensor *diff_hx,
                        const struct op_tensor *diff_cx);
