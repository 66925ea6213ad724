/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of each element by itself, and those that combine or reduce. */
#include "caffe_net.hpp"

#include <cmath>

namespace leo
{

namespace
{

std::string scaled(caffe_layer &now, float scale, float shift)
{
    std::string x = now.in[0];
    if (scale != 1) {
        x = now.to.apply("Mul", {x, now.to.number(scale)});
    }
    if (shift != 0) {
        x = now.to.apply("Add", {x, now.to.number(shift)});
    }
    return x;
}

} // namespace

void caffe_relu(caffe_layer &now)
{
    const float slope = now.layer.relu_param().negative_slope();
    auto &node = now.end(slope != 0 ? "LeakyRelu" : "Relu", {now.in[0]});
    if (slope != 0) {
        set_float(node, "alpha", slope);
    }
}

void caffe_relu6(caffe_layer &now)
{
    now.need(now.layer.relu6_param().negative_slope() == 0, "a slope is not served");
    now.end("Clip", {now.in[0], now.to.number(0), now.to.number(6)});
}

void caffe_prelu(caffe_layer &now)
{
    const std::vector<float> slope = now.data(0);
    dims shape = {static_cast<int64_t>(slope.size())};
    shape.insert(shape.end(), static_cast<size_t>(now.rank() > 2 ? now.rank() - 2 : 0), 1);
    now.end("PRelu", {now.in[0], now.to.floats(shape, slope)});
}

void caffe_elu(caffe_layer &now)
{
    set_float(now.end("Elu", {now.in[0]}), "alpha", now.layer.elu_param().alpha());
}

void caffe_clip(caffe_layer &now)
{
    const auto &clip = now.layer.clip_param();
    now.end("Clip", {now.in[0], now.to.number(clip.min()), now.to.number(clip.max())});
}

void caffe_swish(caffe_layer &now)
{
    const float beta = now.layer.swish_param().beta();
    const std::string x =
        beta == 1 ? now.in[0] : now.to.apply("Mul", {now.in[0], now.to.number(beta)});
    now.end("Mul", {now.in[0], now.to.apply("Sigmoid", {x})});
}

void caffe_unary(caffe_layer &now)
{
    static const std::map<std::string, std::string> types = {
        {"AbsVal", "Abs"}, {"Sigmoid", "Sigmoid"}, {"TanH", "Tanh"}, {"BNLL", "Softplus"}};
    now.end(types.at(now.layer.type()), {now.in[0]});
}

void caffe_power(caffe_layer &now)
{
    const auto &power = now.layer.power_param();
    if (power.power() == 1) {
        now.end("Add", {now.to.apply("Mul", {now.in[0], now.to.number(power.scale())}),
                        now.to.number(power.shift())});
        return;
    }
    now.end("Pow", {scaled(now, power.scale(), power.shift()), now.to.number(power.power())});
}

void caffe_exp(caffe_layer &now)
{
    const auto &exp = now.layer.exp_param();
    const float log = exp.base() < 0 ? 1 : std::log(exp.base());
    now.end("Exp", {scaled(now, exp.scale() * log, exp.shift() * log)});
}

void caffe_log(caffe_layer &now)
{
    const auto &log = now.layer.log_param();
    const float base = log.base() < 0 ? 1 : 1 / std::log(log.base());
    const std::string x = now.to.apply("Log", {scaled(now, log.scale(), log.shift())});
    now.end("Mul", {x, now.to.number(base)});
}

void caffe_threshold(caffe_layer &now)
{
    const std::string above = now.to.apply(
        "Greater", {now.in[0], now.to.number(now.layer.threshold_param().threshold())});
    set_int(now.end("Cast", {above}), "to", ONNX_FLOAT);
}

void caffe_eltwise(caffe_layer &now)
{
    const auto &eltwise = now.layer.eltwise_param();
    static const char *const types[] = {"Mul", "Add", "Max"};
    const std::string type = types[eltwise.operation()];
    now.need(eltwise.coeff_size() == 0 ||
                 (static_cast<size_t>(eltwise.coeff_size()) == now.in.size() &&
                  eltwise.operation() == caffe_file::Eltwise::SUM),
             "its coefficients do not fit");
    now.need(now.in.size() > 1, "it has fewer than two bottoms");
    names terms = now.in;
    for (int i = 0; i < eltwise.coeff_size(); i++) {
        if (eltwise.coeff(i) != 1) {
            const size_t at = static_cast<size_t>(i);
            terms[at] = now.to.apply("Mul", {terms[at], now.to.number(eltwise.coeff(i))});
        }
    }
    std::string sum = terms[0];
    for (size_t i = 1; i + 1 < terms.size(); i++) {
        sum = now.to.apply(type, {sum, terms[i]});
    }
    now.end(type, {sum, terms.back()});
}

void caffe_softmax(caffe_layer &now)
{
    set_int(now.end("Softmax", {now.in[0]}), "axis", now.axis(now.layer.softmax_param().axis()));
}

// Over dimensions `axis` to the last.
void caffe_reduction(caffe_layer &now)
{
    using caffe_file::Reduction;
    const Reduction &reduction = now.layer.reduction_param();
    static const std::map<int, const char *> types = {{Reduction::SUM, "ReduceSum"},
                                                      {Reduction::ASUM, "ReduceL1"},
                                                      {Reduction::SUMSQ, "ReduceSumSquare"},
                                                      {Reduction::MEAN, "ReduceMean"}};
    const int axis = now.axis(reduction.axis());
    dims axes;
    for (int d = axis; d < now.rank(); d++) {
        axes.push_back(d);
    }
    const bool by_input = reduction.operation() == Reduction::SUM; // as opset 13 has it
    names inputs = {now.in[0]};
    if (by_input) {
        inputs.push_back(now.to.ints(axes));
    }
    onnx_file::Node *node;
    const std::string sum = now.to.apply(types.at(reduction.operation()), inputs, node);
    set_int(*node, "keepdims", 0);
    if (!by_input) {
        set_ints(*node, "axes", axes);
    }
    now.end("Mul", {sum, now.to.number(reduction.coeff())}, axis);
}

namespace
{

std::string indices_as_floats(caffe_layer &now, const std::string &indices)
{
    onnx_file::Node *cast;
    const std::string floats = now.to.apply("Cast", {indices}, cast);
    set_int(*cast, "to", ONNX_FLOAT);
    return floats;
}

} // namespace

// The k largest along an axis, or of each whole picture as (batch, 1 or 2, k).
void caffe_arg_max(caffe_layer &now)
{
    const auto &arg = now.layer.argmax_param();
    const bool whole = !arg.has_axis();
    const int axis = whole ? 1 : now.axis(arg.axis());
    const std::string x = whole ? now.to.apply("Flatten", {now.in[0]}) : now.in[0];
    const std::string values = now.to.fresh("values"), indices = now.to.fresh("indices");
    set_int(now.to.node("TopK", {x, now.to.ints({arg.top_k()})}, {values, indices}), "axis", axis);
    const std::string places = indices_as_floats(now, indices);
    if (!whole) {
        now.end("Identity", {arg.out_max_val() ? values : places});
        return;
    }
    const std::string one = now.to.ints({1});
    if (!arg.out_max_val()) {
        now.end("Unsqueeze", {places, one}, 3);
        return;
    }
    set_int(now.end("Concat",
                    {now.to.apply("Unsqueeze", {places, one}),
                     now.to.apply("Unsqueeze", {values, one})},
                    3),
            "axis", 1);
}

} // namespace leo
