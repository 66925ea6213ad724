/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frozen graph of TensorFlow on its way to ONNX nodes. Pictures are NHWC there and NCHW here: a
 * tensor of four dimensions may be made in either order, and is turned only where the other one is
 * asked for.
 */
#pragma once

#include "../frontend/onnx_writer.hpp"

#include <deque>
#include <graph.pb.h>
#include <map>

namespace leo
{

enum tf_order { TF_PLAIN, TF_NCHW, TF_ORDERS };

struct tf_tensor {
    std::string made[TF_ORDERS]; /**< ONNX tensors; empty: not made in this order */
    int rank = -1;               /**< -1: not known */
    int length = -1;             /**< elements of a row that may be a shape; -1: not known */
    int type = tf_file::DT_FLOAT;
    const tf_file::Tensor *constant = nullptr;
    onnx_file::Node *biased = nullptr; /**< a convolution or product made it that has no bias yet */
};

struct tf_graph {
    onnx_writer to;
    const struct leo_import_options *options;
    std::map<std::string, const tf_file::Node *> nodes;
    std::map<std::string, tf_tensor> tensors; /**< by "node:index" */
    std::map<std::string, int> uses;          /**< of a tensor, by nodes that are needed */
    std::deque<tf_file::Tensor> folded;       /**< constants that were computed */
};

/** "node:index" of an input's text ("node" is "node:0"); the node's name alone. */
std::string tf_key(const std::string &input);
std::string tf_node_name(const std::string &input);

/** Element `type` of the file as ONNX has it: integers are all of 64 bits. */
int tf_onnx_type(int type);
std::vector<float> tf_floats(const tf_file::Tensor &tensor);
std::vector<int64_t> tf_integers(const tf_file::Tensor &tensor);
dims tf_dims(const tf_file::Shape &shape);

/** A node that is being imported. */
struct tf_node {
    tf_graph &net;
    onnx_writer &to;
    const tf_file::Node &def;
    names in; /**< keys of its inputs, without those that only order */

    tf_tensor &tensor(size_t index) const;
    int rank(size_t index = 0) const;
    /** Elements of input `index`, a row: the rank of what has it as its shape; -1: not known. */
    int length(size_t index) const;
    /** Input `index` as an ONNX tensor. */
    std::string plain(size_t index) const;
    std::string nchw(size_t index) const;
    std::string in_order(size_t index, tf_order order) const;
    /** Whether it is at hand in NCHW only. */
    bool is_nchw(size_t index = 0) const;
    bool is_constant(size_t index) const;
    /** A constant of integers or floats. Fails if it is none. */
    std::vector<int64_t> ints(size_t index) const;
    std::vector<float> floats(size_t index) const;
    dims shape(size_t index) const; /**< of a constant */
    /** An axis from 0 on; negative ones count from the end. */
    int64_t axis(int64_t value, int rank) const;

    /** Output `index` is what `type` makes of the inputs. */
    onnx_file::Node &give(const std::string &type, const names &inputs, int rank,
                          tf_order order = TF_PLAIN, int index = 0) const;
    /** Output `index` is this ONNX tensor. */
    tf_tensor &give_tensor(const std::string &made, int rank, tf_order order = TF_PLAIN,
                           int index = 0) const;
    void set_type(int type, int index = 0) const;

    bool has(const char *name) const;
    int64_t attr_int(const char *name, int64_t other) const;
    float attr_float(const char *name, float other) const;
    bool attr_bool(const char *name) const;
    std::string attr_text(const char *name, const std::string &other) const;
    int attr_type(const char *name) const;
    dims attr_ints(const char *name) const;
    [[noreturn]] void fail(const std::string &why) const;
    void need(bool good, const char *why) const;
};

using tf_handler = void (*)(tf_node &);
/** NULL: no such operator is served. */
tf_handler tf_find(const std::string &op);

/** Computes an operator of constants. False: it is none, or its inputs are not all constant. */
bool tf_fold(tf_node &);

/* Handlers, by subject. */
void tf_placeholder(tf_node &);
void tf_const(tf_node &);
void tf_alias(tf_node &);

void tf_conv(tf_node &);
void tf_depthwise(tf_node &);
void tf_conv_transpose(tf_node &);
void tf_pool(tf_node &);
void tf_batch_norm(tf_node &);
void tf_bias_add(tf_node &);
void tf_lrn(tf_node &);
void tf_resize(tf_node &);
void tf_depth_space(tf_node &);
void tf_space_to_batch(tf_node &);
void tf_batch_to_space(tf_node &);
void tf_matmul(tf_node &);
void tf_batch_matmul(tf_node &);

void tf_unary(tf_node &);
void tf_rsqrt(tf_node &);
void tf_square(tf_node &);
void tf_log1p(tf_node &);
void tf_relu6(tf_node &);
void tf_leaky_relu(tf_node &);
void tf_swish(tf_node &);
void tf_softmax(tf_node &);
void tf_binary(tf_node &);
void tf_compare(tf_node &);
void tf_not_equal(tf_node &);
void tf_squared_difference(tf_node &);
void tf_floor_div(tf_node &);
void tf_add_n(tf_node &);
void tf_select(tf_node &);
void tf_reduce(tf_node &);
void tf_arg(tf_node &);
void tf_top_k(tf_node &);
void tf_cast(tf_node &);
void tf_one_hot(tf_node &);

void tf_reshape(tf_node &);
void tf_squeeze(tf_node &);
void tf_expand_dims(tf_node &);
void tf_transpose(tf_node &);
void tf_concat(tf_node &);
void tf_pack(tf_node &);
void tf_unpack(tf_node &);
void tf_split(tf_node &);
void tf_slice(tf_node &);
void tf_strided_slice(tf_node &);
void tf_gather(tf_node &);
void tf_gather_nd(tf_node &);
void tf_tile(tf_node &);
void tf_fill(tf_node &);
void tf_broadcast_to(tf_node &);
void tf_shape(tf_node &);
void tf_range(tf_node &);
void tf_pad(tf_node &);
void tf_mirror_pad(tf_node &);
void tf_like(tf_node &);

} // namespace leo
