/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of each element by itself, of two tensors, and reductions. */
#include "tf_graph.hpp"

#include <algorithm>

namespace leo
{

namespace
{

tf_order order_of(const tf_node &now)
{
    return now.is_nchw() ? TF_NCHW : TF_PLAIN;
}

/* Whether an input of several broadcasts in NCHW: a picture, a number, or channels of a constant.
 */
bool fits_nchw(const tf_node &now, size_t index)
{
    const int rank = now.rank(index);
    return rank == 4 || rank == 0 || (now.is_constant(index) && rank == 1);
}

// The order in which several inputs meet: NCHW if one has no other, and all can.
tf_order common_order(const tf_node &now, size_t count)
{
    bool wanted = false, possible = true;
    for (size_t i = 0; i < count; i++) {
        wanted = wanted || now.is_nchw(i);
        possible = possible && fits_nchw(now, i);
    }
    return wanted && possible ? TF_NCHW : TF_PLAIN;
}

int common_rank(const tf_node &now, size_t count)
{
    int rank = 0;
    for (size_t i = 0; i < count; i++) {
        rank = now.rank(i) < 0 || rank < 0 ? -1 : std::max(rank, now.rank(i));
    }
    return rank;
}

names all_in_order(const tf_node &now, size_t count, tf_order order)
{
    names inputs;
    for (size_t i = 0; i < count; i++) {
        inputs.push_back(now.in_order(i, order));
    }
    return inputs;
}

void give_two(tf_node &now, const std::string &type)
{
    const tf_order order = common_order(now, 2);
    now.give(type, all_in_order(now, 2, order), common_rank(now, 2), order);
}

} // namespace

void tf_unary(tf_node &now)
{
    static const std::map<std::string, std::string> others = {
        {"Rint", "Round"}, {"Inv", "Reciprocal"}, {"LogicalNot", "Not"}, {"IsNan", "IsNaN"}};
    const auto other = others.find(now.def.op());
    const tf_order order = order_of(now);
    auto &node = now.give(other == others.end() ? now.def.op() : other->second,
                          {now.in_order(0, order)}, now.rank(), order);
    if (now.def.op() == "Elu") {
        set_float(node, "alpha", 1);
    }
    if (now.def.op() == "IsNan") {
        now.set_type(tf_file::DT_BOOL);
    }
}

void tf_rsqrt(tf_node &now)
{
    const tf_order order = order_of(now);
    now.give("Reciprocal", {now.to.apply("Sqrt", {now.in_order(0, order)})}, now.rank(), order);
}

void tf_square(tf_node &now)
{
    const tf_order order = order_of(now);
    const std::string x = now.in_order(0, order);
    now.give("Mul", {x, x}, now.rank(), order);
}

void tf_log1p(tf_node &now)
{
    const tf_order order = order_of(now);
    const std::string sum = now.to.apply("Add", {now.in_order(0, order), now.to.number(1)});
    now.give("Log", {sum}, now.rank(), order);
}

void tf_relu6(tf_node &now)
{
    const tf_order order = order_of(now);
    now.give("Clip", {now.in_order(0, order), now.to.number(0), now.to.number(6)}, now.rank(),
             order);
}

void tf_leaky_relu(tf_node &now)
{
    const tf_order order = order_of(now);
    set_float(now.give("LeakyRelu", {now.in_order(0, order)}, now.rank(), order), "alpha",
              now.attr_float("alpha", 0.2f));
}

void tf_swish(tf_node &now)
{
    const tf_order order = order_of(now);
    const std::string x = now.in_order(0, order);
    now.give("Mul", {x, now.to.apply("Sigmoid", {x})}, now.rank(), order);
}

void tf_softmax(tf_node &now)
{
    set_int(now.give(now.def.op(), {now.plain(0)}, now.rank()), "axis", -1);
}

void tf_binary(tf_node &now)
{
    static const std::map<std::string, std::string> types = {
        {"Add", "Add"},     {"AddV2", "Add"},      {"Sub", "Sub"},      {"Mul", "Mul"},
        {"RealDiv", "Div"}, {"Div", "Div"},        {"Pow", "Pow"},      {"Maximum", "Max"},
        {"Minimum", "Min"}, {"LogicalAnd", "And"}, {"LogicalOr", "Or"}, {"FloorMod", "Mod"}};
    if (now.def.op() == "FloorMod" && tf_onnx_type(now.tensor(0).type) == ONNX_FLOAT) {
        now.fail("only integers are served");
    }
    give_two(now, types.at(now.def.op()));
    if (now.is_constant(0)) {
        now.set_type(now.tensor(1).type);
    }
}

void tf_compare(tf_node &now)
{
    give_two(now, now.def.op() == "GreaterEqual" ? "GreaterOrEqual"
                  : now.def.op() == "LessEqual"  ? "LessOrEqual"
                                                 : now.def.op());
    now.set_type(tf_file::DT_BOOL);
}

void tf_not_equal(tf_node &now)
{
    const tf_order order = common_order(now, 2);
    const std::string equal = now.to.apply("Equal", all_in_order(now, 2, order));
    now.give("Not", {equal}, common_rank(now, 2), order);
    now.set_type(tf_file::DT_BOOL);
}

void tf_squared_difference(tf_node &now)
{
    const tf_order order = common_order(now, 2);
    const std::string apart = now.to.apply("Sub", all_in_order(now, 2, order));
    now.give("Mul", {apart, apart}, common_rank(now, 2), order);
}

// Of integers the sizes of shapes, which are not negative: their division cuts downwards as well.
void tf_floor_div(tf_node &now)
{
    const tf_order order = common_order(now, 2);
    const names inputs = all_in_order(now, 2, order);
    if (tf_onnx_type(now.tensor(0).type) != ONNX_FLOAT) {
        now.need(now.is_constant(1) && !now.ints(1).empty() && now.ints(1)[0] > 0 &&
                     now.rank(0) <= 1,
                 "integers are served for shapes only");
        now.give("Div", inputs, common_rank(now, 2), order);
        return;
    }
    now.give("Floor", {now.to.apply("Div", inputs)}, common_rank(now, 2), order);
}

void tf_add_n(tf_node &now)
{
    const tf_order order = common_order(now, now.in.size());
    now.give("Sum", all_in_order(now, now.in.size(), order), now.rank(), order);
}

void tf_select(tf_node &now)
{
    now.need(now.def.op() == "SelectV2" || now.rank(0) == now.rank(1) || now.rank(0) == 0,
             "a condition of rows is not served");
    const tf_order order = common_order(now, 3);
    now.give("Where", all_in_order(now, 3, order), common_rank(now, 3), order);
    now.set_type(now.tensor(1).type);
}

namespace
{

// Axes of a picture in NCHW.
dims turned_axes(const dims &axes)
{
    static const int64_t places[] = {0, 2, 3, 1};
    dims turned_to;
    for (const int64_t axis : axes) {
        turned_to.push_back(places[axis]);
    }
    std::sort(turned_to.begin(), turned_to.end());
    return turned_to;
}

bool keeps_dims(const tf_node &now)
{
    return now.attr_bool("keep_dims") || now.attr_bool("keepdims");
}

} // namespace

void tf_reduce(tf_node &now)
{
    static const std::map<std::string, std::string> types = {{"Mean", "ReduceMean"},
                                                             {"Sum", "ReduceSum"},
                                                             {"Max", "ReduceMax"},
                                                             {"Min", "ReduceMin"},
                                                             {"Prod", "ReduceProd"}};
    const std::string &type = types.at(now.def.op());
    const bool keep = keeps_dims(now), by_input = type == "ReduceSum"; // as opset 13 has it
    dims axes;
    for (const int64_t axis : now.ints(1)) {
        axes.push_back(now.axis(axis, now.rank()));
    }
    std::sort(axes.begin(), axes.end());
    // In NCHW the order of what is left must be that of NHWC, too.
    const bool whole = axes == dims{1, 2} || axes == dims{1, 2, 3};
    const tf_order order = now.is_nchw() && (keep || whole) ? TF_NCHW : TF_PLAIN;
    axes = order == TF_NCHW ? turned_axes(axes) : axes;
    names inputs = {now.in_order(0, order)};
    if (by_input) {
        inputs.push_back(now.to.ints(axes));
    }
    const int rank =
        keep || now.rank() < 0 ? now.rank() : now.rank() - static_cast<int>(axes.size());
    auto &node = now.give(type, inputs, rank, keep ? order : TF_PLAIN);
    set_int(node, "keepdims", keep);
    if (!by_input) {
        set_ints(node, "axes", axes);
    }
}

void tf_arg(tf_node &now)
{
    const auto axis = now.ints(1);
    now.need(axis.size() == 1, "its dimension is not one number");
    auto &node = now.give(now.def.op(), {now.plain(0)}, now.rank() < 0 ? -1 : now.rank() - 1);
    set_int(node, "axis", now.axis(axis[0], now.rank()));
    set_int(node, "keepdims", 0);
    const int type = now.attr_type("output_type");
    now.set_type(type ? type : static_cast<int>(tf_file::DT_INT64));
}

void tf_top_k(tf_node &now)
{
    onnx_file::Node *reshape;
    const std::string k = now.to.apply("Reshape", {now.plain(1), now.to.ints({1})}, reshape);
    const std::string values = now.to.fresh("values"), indices = now.to.fresh("indices");
    now.to.node("TopK", {now.plain(0), k}, {values, indices});
    now.give_tensor(values, now.rank());
    now.give_tensor(indices, now.rank(), TF_PLAIN, 1).type = tf_file::DT_INT32;
}

void tf_cast(tf_node &now)
{
    const int type = now.attr_type("DstT"), onnx = tf_onnx_type(type);
    now.need(onnx != 0, "its type is not served");
    const tf_order order = order_of(now);
    set_int(now.give("Cast", {now.in_order(0, order)}, now.rank(), order), "to", onnx);
    now.set_type(type);
}

void tf_one_hot(tf_node &now)
{
    const auto depth = now.ints(1);
    const bool floats = tf_onnx_type(now.tensor(2).type) == ONNX_FLOAT;
    onnx_file::Node *concat;
    const auto as_row = [&](size_t i) {
        return now.to.apply("Reshape", {now.plain(i), now.to.ints({1})});
    };
    const std::string values = now.to.apply("Concat", {as_row(3), as_row(2)}, concat);
    set_int(*concat, "axis", 0);
    now.need(depth.size() == 1, "its depth is not one number");
    auto &node = now.give("OneHot", {now.plain(0), now.to.ints(depth), values},
                          now.rank() < 0 ? -1 : now.rank() + 1);
    set_int(node, "axis", now.attr_int("axis", -1));
    now.set_type(floats ? static_cast<int>(tf_file::DT_FLOAT) : now.tensor(2).type);
}

} // namespace leo
