/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements or tell shapes. */
#include "tf_graph.hpp"

#include <algorithm>

namespace leo
{

namespace
{

int rank_or_unknown(int rank, int more)
{
    return rank < 0 ? -1 : rank + more;
}

bool all_pictures(const tf_node &now, size_t first, size_t count)
{
    bool wanted = false, possible = true;
    for (size_t i = first; i < first + count; i++) {
        wanted = wanted || now.is_nchw(i);
        possible = possible && now.rank(i) == 4;
    }
    return wanted && possible;
}

const int64_t place_in_nchw[] = {0, 2, 3, 1};

} // namespace

void tf_placeholder(tf_node &now)
{
    const auto shape = now.def.attr().find("shape");
    const auto *told = now.net.options->shapes;
    const int type = now.attr_type("dtype");
    int onnx = type == tf_file::DT_INT32   ? static_cast<int>(ONNX_S32)
               : type == tf_file::DT_UINT8 ? static_cast<int>(ONNX_U8)
                                           : tf_onnx_type(type);
    now.need(onnx != 0, "its type is not served");
    dims sizes;
    bool known = false;
    for (uint32_t i = 0; i < now.net.options->shape_count; i++) {
        if (now.def.name() == told[i].input) {
            sizes.assign(told[i].dim, told[i].dim + told[i].rank);
            known = true;
        }
    }
    if (!known) {
        now.need(shape != now.def.attr().end() && !shape->second.shape().unknown_rank(),
                 "its shape is not known: give --input_shape");
        sizes = tf_dims(shape->second.shape());
    }
    const std::string &name = now.def.name();
    now.to.input(name, onnx, sizes);
    if (onnx == tf_onnx_type(type)) {
        now.give_tensor(name, static_cast<int>(sizes.size()));
    } else { // integers are of 64 bits inside
        set_int(now.give("Cast", {name}, static_cast<int>(sizes.size())), "to", ONNX_S64);
    }
    now.set_type(type);
}

void tf_const(tf_node &now)
{
    const auto value = now.def.attr().find("value");
    now.need(value != now.def.attr().end() && value->second.has_tensor(), "it has no value");
    const tf_file::Tensor &tensor = value->second.tensor();
    tf_tensor &made = now.give_tensor("", tensor.tensor_shape().dim_size());
    made.constant = &tensor;
    made.type = tensor.dtype();
}

void tf_reshape(tf_node &now)
{
    now.give("Reshape", {now.plain(0), now.plain(1)}, now.length(1));
}

void tf_squeeze(tf_node &now)
{
    dims axes = now.attr_ints("squeeze_dims");
    if (axes.empty()) {
        axes = now.attr_ints("axis");
    }
    for (int64_t &axis : axes) {
        axis = now.axis(axis, now.rank());
    }
    std::sort(axes.begin(), axes.end());
    if (axes.empty()) {
        now.give("Squeeze", {now.plain(0)}, -1);
        return;
    }
    const int rank = rank_or_unknown(now.rank(), -static_cast<int>(axes.size()));
    if (now.is_nchw() && axes == dims{1, 2}) { // what is left is in the same order
        now.give("Squeeze", {now.nchw(0), now.to.ints({2, 3})}, rank);
        return;
    }
    now.give("Squeeze", {now.plain(0), now.to.ints(axes)}, rank);
}

void tf_expand_dims(tf_node &now)
{
    now.give("Unsqueeze", {now.plain(0), now.to.ints(now.ints(1))}, rank_or_unknown(now.rank(), 1));
}

void tf_transpose(tf_node &now)
{
    set_ints(now.give("Transpose", {now.plain(0)}, now.rank()), "perm", now.ints(1));
}

// ConcatV2 has its axis at the end, Concat at the beginning.
void tf_concat(tf_node &now)
{
    const bool last = now.def.op() == "ConcatV2";
    now.need(now.in.size() >= 2, "it has too few inputs");
    const size_t count = now.in.size() - 1, first = last ? 0 : 1;
    const auto told = now.ints(last ? count : 0);
    now.need(told.size() == 1, "its axis is not one number");
    const tf_order order = all_pictures(now, first, count) ? TF_NCHW : TF_PLAIN;
    int64_t axis = now.axis(told[0], now.rank(first));
    if (order == TF_NCHW) {
        now.need(axis < 4, "its axis lies outside of its inputs");
        axis = place_in_nchw[axis];
    }
    names inputs;
    int length = 0;
    for (size_t i = first; i < first + count; i++) {
        const int more = now.rank(i) == 1 ? now.length(i) : -1;
        inputs.push_back(now.in_order(i, order));
        length = length < 0 || more < 0 ? -1 : length + more;
    }
    set_int(now.give("Concat", inputs, now.rank(first), order), "axis", axis);
    now.net.tensors[now.def.name() + ":0"].length = length;
    now.set_type(now.tensor(first).type);
}

void tf_pack(tf_node &now)
{
    const int64_t axis = now.attr_int("axis", 0);
    names inputs;
    for (size_t i = 0; i < now.in.size(); i++) {
        inputs.push_back(now.to.apply("Unsqueeze", {now.plain(i), now.to.ints({axis})}));
    }
    set_int(now.give("Concat", inputs, rank_or_unknown(now.rank(), 1)), "axis", axis);
    now.net.tensors[now.def.name() + ":0"].length = static_cast<int>(now.in.size());
}

void tf_unpack(tf_node &now)
{
    const int64_t axis = now.attr_int("axis", 0), count = now.attr_int("num", 0);
    now.need(count > 0 && count < 4096, "its num is out of range");
    for (int64_t i = 0; i < count; i++) {
        auto &node = now.give("Gather", {now.plain(0), now.to.integer(i)},
                              rank_or_unknown(now.rank(), -1), TF_PLAIN, static_cast<int>(i));
        set_int(node, "axis", axis);
    }
}

// Split has its axis first; SplitV sizes and the axis behind.
void tf_split(tf_node &now)
{
    const bool sized = now.def.op() == "SplitV";
    const size_t data = sized ? 0 : 1;
    const auto told = now.ints(sized ? 2 : 0);
    const int64_t count = now.attr_int("num_split", 0);
    now.need(told.size() == 1 && count > 0 && count < 4096, "its axis or num_split is wrong");
    const tf_order order = now.is_nchw(data) ? TF_NCHW : TF_PLAIN;
    int64_t axis = now.axis(told[0], now.rank(data));
    if (order == TF_NCHW) {
        now.need(axis < 4, "its axis lies outside of its input");
        axis = place_in_nchw[axis];
    }
    names inputs = {now.in_order(data, order)}, outputs;
    if (sized) {
        inputs.push_back(now.plain(1));
    }
    for (int64_t i = 0; i < count; i++) {
        outputs.push_back(now.to.fresh("split"));
        now.give_tensor(outputs.back(), now.rank(data), order, static_cast<int>(i)).type =
            now.tensor(data).type;
    }
    set_int(now.to.node("Split", inputs, outputs), "axis", axis);
}

void tf_slice(tf_node &now)
{
    const auto begin = now.ints(1), size = now.ints(2);
    now.need(begin.size() == size.size(), "its begin and size have different lengths");
    dims end, axes;
    for (size_t d = 0; d < begin.size(); d++) {
        end.push_back(size[d] < 0 ? INT64_MAX : begin[d] + size[d]);
        axes.push_back(static_cast<int64_t>(d));
    }
    now.give("Slice", {now.plain(0), now.to.ints(begin), now.to.ints(end), now.to.ints(axes)},
             now.rank());
}

namespace
{

/* What a strided slice does to the dimensions: a cut, then those that go and those that come. */
struct slice_plan {
    dims begin, end, step, axes, gone, come;
};

bool bit(int64_t mask, size_t index)
{
    return (mask >> index & 1) != 0;
}

slice_plan plan_of(const tf_node &now)
{
    const auto begin = now.ints(1), end = now.ints(2), step = now.ints(3);
    const int64_t open = now.attr_int("begin_mask", 0), open_end = now.attr_int("end_mask", 0),
                  dots = now.attr_int("ellipsis_mask", 0), fresh = now.attr_int("new_axis_mask", 0),
                  shrink = now.attr_int("shrink_axis_mask", 0);
    now.need(begin.size() == end.size() && end.size() == step.size() && begin.size() <= 16,
             "its begin, end and strides have different lengths");
    slice_plan plan;
    int64_t from = 0, to = 0; // dimension of the input, of the result
    for (size_t i = 0; i < begin.size(); i++) {
        if (bit(dots, i)) {
            int64_t behind = 0;
            for (size_t k = i + 1; k < begin.size(); k++) {
                behind += !bit(fresh, k);
            }
            now.need(now.rank() >= 0, "the shape of its input is not known");
            to += now.rank() - behind - from;
            from = now.rank() - behind;
            continue;
        }
        if (bit(fresh, i)) {
            plan.come.push_back(to++);
            continue;
        }
        const bool one = bit(shrink, i), back = step[i] < 0;
        plan.axes.push_back(from);
        plan.begin.push_back(bit(open, i) && !one ? (back ? INT64_MAX : 0) : begin[i]);
        plan.end.push_back(one                ? (begin[i] == -1 ? INT64_MAX : begin[i] + 1)
                           : bit(open_end, i) ? (back ? INT64_MIN : INT64_MAX)
                                              : end[i]);
        plan.step.push_back(one ? 1 : step[i]);
        if (one) {
            plan.gone.push_back(from);
        } else {
            to++;
        }
        from++;
    }
    return plan;
}

} // namespace

void tf_strided_slice(tf_node &now)
{
    const slice_plan plan = plan_of(now);
    std::string x = now.plain(0);
    int rank = now.rank();
    if (!plan.axes.empty()) {
        x = now.to.apply("Slice", {x, now.to.ints(plan.begin), now.to.ints(plan.end),
                                   now.to.ints(plan.axes), now.to.ints(plan.step)});
    }
    if (!plan.gone.empty()) {
        x = now.to.apply("Squeeze", {x, now.to.ints(plan.gone)});
        rank = rank_or_unknown(rank, -static_cast<int>(plan.gone.size()));
    }
    if (!plan.come.empty()) {
        x = now.to.apply("Unsqueeze", {x, now.to.ints(plan.come)});
        rank = rank_or_unknown(rank, static_cast<int>(plan.come.size()));
    }
    now.give_tensor(x, rank);
}

void tf_gather(tf_node &now)
{
    now.need(now.attr_int("batch_dims", 0) == 0, "its batch_dims are not served");
    const auto told = now.in.size() > 2 ? now.ints(2) : std::vector<int64_t>{0};
    now.need(told.size() == 1, "its axis is not one number");
    const int rank = now.rank(0) < 0 || now.rank(1) < 0 ? -1 : now.rank(0) - 1 + now.rank(1);
    set_int(now.give("Gather", {now.plain(0), now.plain(1)}, rank), "axis", told[0]);
}

void tf_gather_nd(tf_node &now)
{
    now.give("GatherND", {now.plain(0), now.plain(1)}, -1);
}

void tf_tile(tf_node &now)
{
    now.give("Tile", {now.plain(0), now.plain(1)}, now.rank());
}

void tf_fill(tf_node &now)
{
    now.give("Expand", {now.plain(1), now.plain(0)}, now.length(0));
    now.set_type(now.tensor(1).type);
}

void tf_broadcast_to(tf_node &now)
{
    now.give("Expand", {now.plain(0), now.plain(1)}, now.length(1));
}

void tf_shape(tf_node &now)
{
    const std::string shape = now.to.apply("Shape", {now.plain(0)});
    if (now.def.op() == "Shape") {
        now.give_tensor(shape, 1).length = now.rank();
    } else if (now.def.op() == "Size") {
        now.give("Size", {now.plain(0)}, 0);
    } else { // Rank
        now.give("Size", {shape}, 0);
    }
    now.set_type(tf_file::DT_INT32);
}

void tf_range(tf_node &now)
{
    now.give("Range", {now.plain(0), now.plain(1), now.plain(2)}, 1);
}

namespace
{

void pad(tf_node &now, const char *mode, bool with_value)
{
    const auto told = now.ints(1); // pairs by dimension
    const int rank = static_cast<int>(told.size() / 2);
    const tf_order order = now.is_nchw() && rank == 4 ? TF_NCHW : TF_PLAIN;
    static const size_t of_nchw[] = {0, 3, 1, 2};
    dims before, after;
    for (size_t d = 0; d < static_cast<size_t>(rank); d++) {
        const size_t from = order == TF_NCHW ? of_nchw[d] : d;
        before.push_back(told[2 * from]);
        after.push_back(told[2 * from + 1]);
    }
    before.insert(before.end(), after.begin(), after.end());
    names inputs = {now.in_order(0, order), now.to.ints(before)};
    if (with_value) {
        inputs.push_back(now.plain(2));
    }
    set_text(now.give("Pad", inputs, rank, order), "mode", mode);
}

} // namespace

void tf_pad(tf_node &now)
{
    pad(now, "constant", now.def.op() == "PadV2");
}

void tf_mirror_pad(tf_node &now)
{
    now.need(now.attr_text("mode", "REFLECT") == "REFLECT", "only REFLECT is served");
    pad(now, "reflect", false);
}

void tf_like(tf_node &now)
{
    const bool floats = tf_onnx_type(now.tensor(0).type) == ONNX_FLOAT;
    const int64_t value = now.def.op() == "OnesLike";
    const std::string number =
        floats ? now.to.number(static_cast<float>(value)) : now.to.integer(value);
    now.give("Expand", {number, now.to.apply("Shape", {now.plain(0)})}, now.rank());
}

} // namespace leo
