/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of constant floats are computed here: norms come as several of them on their weights.
 */
#include "tf_graph.hpp"

#include <algorithm>
#include <cmath>

namespace leo
{

namespace
{

using one_number = float (*)(float);
using two_numbers = float (*)(float, float);

const std::map<std::string, one_number> &unary()
{
    static const std::map<std::string, one_number> table = {
        {"Rsqrt", [](float x) { return 1 / std::sqrt(x); }},
        {"Sqrt", [](float x) { return std::sqrt(x); }},
        {"Neg", [](float x) { return -x; }},
        {"Square", [](float x) { return x * x; }},
        {"Reciprocal", [](float x) { return 1 / x; }}};
    return table;
}

const std::map<std::string, two_numbers> &binary()
{
    static const two_numbers add = [](float a, float b) { return a + b; };
    static const two_numbers divide = [](float a, float b) { return a / b; };
    static const std::map<std::string, two_numbers> table = {
        {"Add", add},
        {"AddV2", add},
        {"Sub", [](float a, float b) { return a - b; }},
        {"Mul", [](float a, float b) { return a * b; }},
        {"RealDiv", divide},
        {"Div", divide},
        {"Maximum", [](float a, float b) { return std::max(a, b); }},
        {"Minimum", [](float a, float b) { return std::min(a, b); }}};
    return table;
}

void give_constant(tf_node &now, const dims &shape, const std::vector<float> &data)
{
    now.net.folded.emplace_back();
    tf_file::Tensor &tensor = now.net.folded.back();
    tensor.set_dtype(tf_file::DT_FLOAT);
    for (const int64_t size : shape) {
        tensor.mutable_tensor_shape()->add_dim()->set_size(size);
    }
    tensor.set_tensor_content(data.data(), data.size() * sizeof(float));
    tf_tensor &made = now.give_tensor("", static_cast<int>(shape.size()));
    made.constant = &tensor;
    made.type = tf_file::DT_FLOAT;
}

// The shape of two that broadcast; empty in `good` they do not.
dims broadcast(const dims &a, const dims &b, bool *good)
{
    dims shape(std::max(a.size(), b.size()), 1);
    *good = true;
    for (size_t d = 0; d < shape.size(); d++) {
        const int64_t x = d < a.size() ? a[a.size() - 1 - d] : 1,
                      y = d < b.size() ? b[b.size() - 1 - d] : 1;
        *good = *good && (x == y || x == 1 || y == 1);
        shape[shape.size() - 1 - d] = x == 1 ? y : x;
    }
    return shape;
}

// Where element `index` of the result lies in an operand.
size_t place_in(const dims &operand, const dims &result, size_t index)
{
    size_t place = 0, stride = 1;
    for (size_t d = 0; d < result.size(); d++) {
        const size_t size = static_cast<size_t>(result[result.size() - 1 - d]);
        if (d < operand.size()) {
            const size_t own = static_cast<size_t>(operand[operand.size() - 1 - d]);
            place += own == 1 ? 0 : index % size * stride;
            stride *= own;
        }
        index /= size;
    }
    return place;
}

bool fold_two(tf_node &now, two_numbers compute)
{
    const dims a = now.shape(0), b = now.shape(1);
    bool good;
    const dims shape = broadcast(a, b, &good);
    if (!good) {
        return false;
    }
    const auto x = now.floats(0), y = now.floats(1);
    size_t count = 1;
    for (const int64_t size : shape) {
        count *= static_cast<size_t>(size);
    }
    std::vector<float> data(count);
    for (size_t i = 0; i < count; i++) {
        data[i] = compute(x[place_in(a, shape, i)], y[place_in(b, shape, i)]);
    }
    give_constant(now, shape, data);
    return true;
}

bool fold_reshape(tf_node &now)
{
    const auto data = now.floats(0);
    dims shape = now.ints(1);
    int64_t known = 1, open = -1;
    for (size_t d = 0; d < shape.size(); d++) {
        if (shape[d] == -1 && open < 0) {
            open = static_cast<int64_t>(d);
        } else if (shape[d] < 1 || shape[d] > (INT64_C(1) << 40) / known) {
            return false;
        } else {
            known *= shape[d];
        }
    }
    const int64_t count = static_cast<int64_t>(data.size());
    if (open >= 0) {
        shape[static_cast<size_t>(open)] = count / known;
        known *= count / known;
    }
    if (known != count) {
        return false;
    }
    give_constant(now, shape, data);
    return true;
}

bool fold_squeeze(tf_node &now)
{
    const dims axes = now.attr_ints("squeeze_dims"), old = now.shape(0);
    dims shape;
    for (size_t d = 0; d < old.size(); d++) {
        const int64_t from_end = static_cast<int64_t>(d) - static_cast<int64_t>(old.size());
        const bool told = axes.empty() ||
                          std::count(axes.begin(), axes.end(), static_cast<int64_t>(d)) ||
                          std::count(axes.begin(), axes.end(), from_end);
        if (!told || old[d] != 1) {
            shape.push_back(old[d]);
        }
    }
    give_constant(now, shape, now.floats(0));
    return true;
}

bool is_float(const tf_node &now, size_t index)
{
    return index < now.in.size() && now.is_constant(index) &&
           tf_onnx_type(now.tensor(index).constant->dtype()) == ONNX_FLOAT;
}

} // namespace

bool tf_fold(tf_node &now)
{
    const std::string &op = now.def.op();
    if (!is_float(now, 0)) {
        return false;
    }
    const auto one = unary().find(op);
    if (one != unary().end()) {
        auto data = now.floats(0);
        std::transform(data.begin(), data.end(), data.begin(), one->second);
        give_constant(now, now.shape(0), data);
        return true;
    }
    const auto two = binary().find(op);
    if (two != binary().end()) {
        return is_float(now, 1) && fold_two(now, two->second);
    }
    if (op == "Reshape") {
        return now.in.size() > 1 && now.is_constant(1) && fold_reshape(now);
    }
    return op == "Squeeze" && fold_squeeze(now);
}

} // namespace leo
