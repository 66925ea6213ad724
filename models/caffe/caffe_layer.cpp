/* SPDX-License-Identifier: Apache-2.0 */
/* What the handlers of layers ask and say. */
#include "caffe_net.hpp"

namespace leo
{

dims dims_of(const caffe_file::BlobShape &shape)
{
    return dims(shape.dim().begin(), shape.dim().end());
}

int caffe_layer::rank(size_t index) const
{
    const auto found = net.rank.find(in.at(index));
    return found == net.rank.end() ? 4 : found->second;
}

int caffe_layer::axis(int value, size_t index) const
{
    const int from_start = value < 0 ? value + rank(index) : value;
    need(from_start >= 0 && from_start < 8, "an axis lies outside of its input");
    return from_start;
}

onnx_file::Node &caffe_layer::end(const std::string &type, const names &inputs, int rank_of_out)
{
    for (const auto &name : out) {
        net.rank[name] = rank_of_out < 0 ? rank() : rank_of_out;
    }
    auto &node = to.node(type, inputs, out);
    node.set_name(layer.name());
    return node;
}

bool caffe_layer::has_blob(int index) const
{
    return weights && index < weights->size();
}

std::vector<float> caffe_layer::data(int index) const
{
    need(has_blob(index), "the file of --weight has not all of its weights");
    const auto &blob = weights->Get(index);
    if (blob.double_data_size()) {
        return std::vector<float>(blob.double_data().begin(), blob.double_data().end());
    }
    return std::vector<float>(blob.data().begin(), blob.data().end());
}

dims caffe_layer::shape(int index) const
{
    need(has_blob(index), "the file of --weight has not all of its weights");
    const auto &blob = weights->Get(index);
    if (blob.has_shape()) {
        return dims_of(blob.shape());
    }
    return {blob.num(), blob.channels(), blob.height(), blob.width()};
}

void caffe_layer::fail(const std::string &why) const
{
    throw import_error(LEO_ERR_UNSUPPORTED,
                       "layer " + layer.name() + " (" + layer.type() + "): " + why);
}

void caffe_layer::need(bool good, const char *why) const
{
    if (!good) {
        fail(why);
    }
}

} // namespace leo
