/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of a frozen graph: constants, orders of pictures, attributes of nodes. */
#include "tf_graph.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace leo
{

namespace
{

const dims to_nchw = {0, 3, 1, 2}, to_nhwc = {0, 2, 3, 1};

int64_t count_of(const dims &shape)
{
    int64_t count = 1;
    for (const int64_t size : shape) {
        if (size < 0 || (size && count > (INT64_C(1) << 40) / size)) {
            throw import_error(LEO_ERR_PARSE, "a constant has a bad shape");
        }
        count *= size;
    }
    return count;
}

// The last number of a list stands for all that are missing.
template <typename T, typename L> std::vector<T> filled(const L &list, int64_t count)
{
    std::vector<T> data(list.begin(), list.end());
    if (data.empty() && count > 0) {
        data.push_back(0);
    }
    data.resize(static_cast<size_t>(count), data.empty() ? T{} : data.back());
    return data;
}

template <typename T, typename S>
std::vector<T> content(const tf_file::Tensor &tensor, int64_t count)
{
    const std::string &raw = tensor.tensor_content();
    if (raw.size() != static_cast<size_t>(count) * sizeof(S)) {
        throw import_error(LEO_ERR_PARSE, "a constant has not the bytes of its shape");
    }
    std::vector<T> data(static_cast<size_t>(count));
    for (size_t i = 0; i < data.size(); i++) {
        S value;
        std::memcpy(&value, raw.data() + i * sizeof(S), sizeof(S));
        data[i] = static_cast<T>(value);
    }
    return data;
}

// Half precision has few enough numbers to be spelt out.
float half_to_float(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float magnitude = exponent == 31 ? (fraction ? std::numeric_limits<float>::quiet_NaN()
                                                       : std::numeric_limits<float>::infinity())
                            : exponent == 0
                                ? std::ldexp(static_cast<float>(fraction), -24)
                                : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

std::vector<float> halves(const tf_file::Tensor &tensor, int64_t count)
{
    const auto bits = tensor.tensor_content().empty() ? filled<uint16_t>(tensor.half_val(), count)
                                                      : content<uint16_t, uint16_t>(tensor, count);
    std::vector<float> data;
    for (const uint16_t value : bits) {
        data.push_back(half_to_float(value));
    }
    return data;
}

} // namespace

std::string tf_key(const std::string &input)
{
    return input.find(':') == std::string::npos ? input + ":0" : input;
}

std::string tf_node_name(const std::string &input)
{
    const size_t start = !input.empty() && input[0] == '^' ? 1 : 0;
    return input.substr(start, input.find(':') - start);
}

int tf_onnx_type(int type)
{
    switch (type) {
    case tf_file::DT_FLOAT:
    case tf_file::DT_DOUBLE:
    case tf_file::DT_HALF:
        return ONNX_FLOAT;
    case tf_file::DT_BOOL:
        return ONNX_BOOL;
    case tf_file::DT_INT32:
    case tf_file::DT_UINT8:
    case tf_file::DT_INT16:
    case tf_file::DT_INT8:
    case tf_file::DT_INT64:
        return ONNX_S64;
    default:
        return 0;
    }
}

dims tf_dims(const tf_file::Shape &shape)
{
    dims sizes;
    for (const auto &dim : shape.dim()) {
        sizes.push_back(dim.size());
    }
    return sizes;
}

std::vector<float> tf_floats(const tf_file::Tensor &tensor)
{
    const int64_t count = count_of(tf_dims(tensor.tensor_shape()));
    const bool listed = tensor.tensor_content().empty();
    if (tensor.dtype() == tf_file::DT_DOUBLE) {
        return listed ? filled<float>(tensor.double_val(), count)
                      : content<float, double>(tensor, count);
    }
    if (tensor.dtype() == tf_file::DT_HALF) {
        return halves(tensor, count);
    }
    return listed ? filled<float>(tensor.float_val(), count) : content<float, float>(tensor, count);
}

std::vector<int64_t> tf_integers(const tf_file::Tensor &tensor)
{
    const int64_t count = count_of(tf_dims(tensor.tensor_shape()));
    const bool listed = tensor.tensor_content().empty();
    switch (tensor.dtype()) {
    case tf_file::DT_INT64:
        return listed ? filled<int64_t>(tensor.int64_val(), count)
                      : content<int64_t, int64_t>(tensor, count);
    case tf_file::DT_BOOL:
        return listed ? filled<int64_t>(tensor.bool_val(), count)
                      : content<int64_t, uint8_t>(tensor, count);
    case tf_file::DT_UINT8:
        return listed ? filled<int64_t>(tensor.int_val(), count)
                      : content<int64_t, uint8_t>(tensor, count);
    case tf_file::DT_INT8:
        return listed ? filled<int64_t>(tensor.int_val(), count)
                      : content<int64_t, int8_t>(tensor, count);
    case tf_file::DT_INT16:
        return listed ? filled<int64_t>(tensor.int_val(), count)
                      : content<int64_t, int16_t>(tensor, count);
    default:
        return listed ? filled<int64_t>(tensor.int_val(), count)
                      : content<int64_t, int32_t>(tensor, count);
    }
}

namespace
{

// A constant as weights; in NCHW with its dimensions turned, or one more behind each channel.
std::string make_constant(tf_graph &net, const tf_file::Tensor &constant, tf_order order)
{
    dims shape = tf_dims(constant.tensor_shape());
    const int type = tf_onnx_type(constant.dtype());
    if (type == ONNX_S64 || type == ONNX_BOOL) {
        const auto data = tf_integers(constant);
        const std::string name = net.to.fresh("const");
        std::string raw(reinterpret_cast<const char *>(data.data()), data.size() * sizeof(int64_t));
        if (type == ONNX_BOOL) {
            raw.assign(data.begin(), data.end());
        }
        net.to.raw(name, type, shape, raw);
        return name;
    }
    if (type != ONNX_FLOAT) {
        throw import_error(LEO_ERR_UNSUPPORTED, "a constant is of a type that is not served");
    }
    std::vector<float> data = tf_floats(constant);
    if (order == TF_NCHW && shape.size() == 4) {
        data = turned(data, shape, to_nchw);
        shape = {shape[0], shape[3], shape[1], shape[2]};
    } else if (order == TF_NCHW && shape.size() == 1 && shape[0] != 1) {
        shape = {shape[0], 1, 1};
    }
    return net.to.floats(shape, data);
}

std::string make_in_order(tf_graph &net, tf_tensor &tensor, tf_order order)
{
    if (tensor.constant) {
        return make_constant(net, *tensor.constant, order);
    }
    const std::string &other = tensor.made[order == TF_PLAIN ? TF_NCHW : TF_PLAIN];
    if (tensor.rank != 4 && order == TF_NCHW) {
        return other; // a single number
    }
    onnx_file::Node *turn;
    const std::string made = net.to.apply("Transpose", {other}, turn);
    set_ints(*turn, "perm", order == TF_NCHW ? to_nchw : to_nhwc);
    return made;
}

} // namespace

tf_tensor &tf_node::tensor(size_t index) const
{
    need(index < in.size(), "it has too few inputs");
    return net.tensors.at(in[index]);
}

int tf_node::rank(size_t index) const
{
    return tensor(index).rank;
}

int tf_node::length(size_t index) const
{
    const tf_tensor &input = tensor(index);
    return input.constant ? static_cast<int>(tf_integers(*input.constant).size()) : input.length;
}

std::string tf_node::in_order(size_t index, tf_order order) const
{
    tf_tensor &input = tensor(index);
    if (input.made[order].empty()) {
        input.made[order] = make_in_order(net, input, order);
    }
    return input.made[order];
}

std::string tf_node::plain(size_t index) const
{
    return in_order(index, TF_PLAIN);
}

std::string tf_node::nchw(size_t index) const
{
    return in_order(index, TF_NCHW);
}

bool tf_node::is_nchw(size_t index) const
{
    const tf_tensor &input = tensor(index);
    return !input.constant && !input.made[TF_NCHW].empty() && input.made[TF_PLAIN].empty();
}

bool tf_node::is_constant(size_t index) const
{
    return tensor(index).constant != nullptr;
}

std::vector<int64_t> tf_node::ints(size_t index) const
{
    need(is_constant(index), "an input of it must be a constant");
    return tf_integers(*tensor(index).constant);
}

std::vector<float> tf_node::floats(size_t index) const
{
    need(is_constant(index), "an input of it must be a constant");
    return tf_floats(*tensor(index).constant);
}

dims tf_node::shape(size_t index) const
{
    need(is_constant(index), "an input of it must be a constant");
    return tf_dims(tensor(index).constant->tensor_shape());
}

int64_t tf_node::axis(int64_t value, int rank_of_it) const
{
    need(value >= 0 || rank_of_it >= 0, "an axis counts from the end of an unknown shape");
    const int64_t from_start = value < 0 ? value + rank_of_it : value;
    need(from_start >= 0 && from_start < LEO_OP_RANK_MAX, "an axis lies outside of its input");
    return from_start;
}

tf_tensor &tf_node::give_tensor(const std::string &made, int rank_of_it, tf_order order,
                                int index) const
{
    tf_tensor &result = net.tensors[def.name() + ":" + std::to_string(index)];
    result = tf_tensor();
    result.made[order] = made;
    result.rank = rank_of_it;
    result.type = in.empty() ? static_cast<int>(tf_file::DT_FLOAT) : tensor(0).type;
    return result;
}

onnx_file::Node &tf_node::give(const std::string &type, const names &inputs, int rank_of_it,
                               tf_order order, int index) const
{
    onnx_file::Node *made;
    give_tensor(to.apply(type, inputs, made), rank_of_it, order, index);
    made->set_name(def.name());
    return *made;
}

void tf_node::set_type(int type, int index) const
{
    net.tensors.at(def.name() + ":" + std::to_string(index)).type = type;
}

static const tf_file::Attr *attr_of(const tf_node &node, const char *name)
{
    const auto found = node.def.attr().find(name);
    return found == node.def.attr().end() ? nullptr : &found->second;
}

bool tf_node::has(const char *name) const
{
    return attr_of(*this, name) != nullptr;
}

int64_t tf_node::attr_int(const char *name, int64_t other) const
{
    const auto *attr = attr_of(*this, name);
    return attr ? attr->i() : other;
}

float tf_node::attr_float(const char *name, float other) const
{
    const auto *attr = attr_of(*this, name);
    return attr ? attr->f() : other;
}

bool tf_node::attr_bool(const char *name) const
{
    const auto *attr = attr_of(*this, name);
    return attr && attr->b();
}

std::string tf_node::attr_text(const char *name, const std::string &other) const
{
    const auto *attr = attr_of(*this, name);
    return attr ? attr->s() : other;
}

int tf_node::attr_type(const char *name) const
{
    const auto *attr = attr_of(*this, name);
    return attr ? static_cast<int>(attr->type()) : 0;
}

dims tf_node::attr_ints(const char *name) const
{
    const auto *attr = attr_of(*this, name);
    return attr ? dims(attr->list().i().begin(), attr->list().i().end()) : dims();
}

void tf_node::fail(const std::string &why) const
{
    throw import_error(LEO_ERR_UNSUPPORTED, "node " + def.name() + " (" + def.op() + "): " + why);
}

void tf_node::need(bool good, const char *why) const
{
    if (!good) {
        fail(why);
    }
}

} // namespace leo
