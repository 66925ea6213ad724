/* SPDX-License-Identifier: Apache-2.0 */
/* A layer of a Caffe network on its way to ONNX nodes. */
#pragma once

#include "../frontend/onnx_writer.hpp"

#include <caffe.pb.h>
#include <map>

namespace leo
{

/** The weights of a layer. */
using blobs = google::protobuf::RepeatedPtrField<caffe_file::Blob>;

dims dims_of(const caffe_file::BlobShape &shape);

/** What the layers before have made. */
struct caffe_net {
    onnx_writer to;
    std::map<std::string, int> rank;                /**< of each tensor */
    std::map<std::string, int> uses;                /**< how many layers read it */
    std::map<std::string, onnx_file::Node *> norms; /**< tensors that a BatchNorm made */
};

struct caffe_layer {
    caffe_net &net;
    onnx_writer &to;
    const caffe_file::Layer &layer;
    const blobs *weights; /**< NULL: the file of weights has no such layer */
    names in, out;        /**< tensors */

    /** Rank of input `index`. */
    int rank(size_t index = 0) const;
    /** An axis from 0 on; negative ones count from the end. */
    int axis(int value, size_t index = 0) const;
    /** The node that makes the layer's outputs, which have this rank (-1: as input 0). */
    onnx_file::Node &end(const std::string &type, const names &inputs, int rank = -1);
    /** Weights of blob `index`. */
    std::vector<float> data(int index) const;
    /** Its shape; old files tell four numbers. */
    dims shape(int index) const;
    bool has_blob(int index) const;
    [[noreturn]] void fail(const std::string &why) const;
    /** Fails unless `good`. */
    void need(bool good, const char *why) const;
};

using caffe_handler = void (*)(caffe_layer &);
/** NULL: no such layer is served. */
caffe_handler caffe_find(const std::string &type);

/* Handlers, by subject. */
void caffe_convolution(caffe_layer &);
void caffe_deconvolution(caffe_layer &);
void caffe_inner_product(caffe_layer &);
void caffe_pooling(caffe_layer &);
void caffe_batch_norm(caffe_layer &);
void caffe_scale(caffe_layer &);
void caffe_bias(caffe_layer &);
void caffe_lrn(caffe_layer &);
void caffe_mvn(caffe_layer &);
void caffe_normalize(caffe_layer &);

void caffe_relu(caffe_layer &);
void caffe_relu6(caffe_layer &);
void caffe_prelu(caffe_layer &);
void caffe_elu(caffe_layer &);
void caffe_clip(caffe_layer &);
void caffe_swish(caffe_layer &);
void caffe_unary(caffe_layer &);
void caffe_power(caffe_layer &);
void caffe_exp(caffe_layer &);
void caffe_log(caffe_layer &);
void caffe_threshold(caffe_layer &);
void caffe_eltwise(caffe_layer &);
void caffe_softmax(caffe_layer &);
void caffe_reduction(caffe_layer &);
void caffe_arg_max(caffe_layer &);

void caffe_identity(caffe_layer &);
void caffe_concat(caffe_layer &);
void caffe_slice(caffe_layer &);
void caffe_reshape(caffe_layer &);
void caffe_flatten(caffe_layer &);
void caffe_permute(caffe_layer &);
void caffe_tile(caffe_layer &);
void caffe_crop(caffe_layer &);
void caffe_shuffle(caffe_layer &);
void caffe_upsample(caffe_layer &);
void caffe_interp(caffe_layer &);
void caffe_prior_box(caffe_layer &);

} // namespace leo
