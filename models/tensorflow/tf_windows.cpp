/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, pools and other operators on pictures, and products. */
#include "tf_graph.hpp"

namespace leo
{

namespace
{

/* Numbers of a list as the node's data_format orders them: those of height and width. */
struct picture_list {
    int64_t h, w;
};

bool is_nhwc(const tf_node &now)
{
    const std::string format = now.attr_text("data_format", "NHWC");
    now.need(format == "NHWC" || format == "NCHW", "its data_format is not served");
    return format == "NHWC";
}

picture_list of_picture(const tf_node &now, const dims &list, const char *what)
{
    if (list.empty()) {
        return {1, 1};
    }
    now.need(list.size() == 4, what);
    const size_t h = is_nhwc(now) ? 1 : 2, other = is_nhwc(now) ? 3 : 1;
    now.need(list[0] == 1 && list[other] == 1, what);
    return {list[h], list[h + 1]};
}

tf_order order_of(const tf_node &now)
{
    return is_nhwc(now) ? TF_NCHW : TF_PLAIN;
}

void set_pads(const tf_node &now, onnx_file::Node &node)
{
    const std::string padding = now.attr_text("padding", "VALID");
    if (padding == "SAME") {
        set_text(node, "auto_pad", "SAME_UPPER");
        return;
    }
    if (padding == "EXPLICIT") {
        const dims list = now.attr_ints("explicit_paddings");
        now.need(list.size() == 8, "its explicit_paddings are not eight numbers");
        const size_t h = is_nhwc(now) ? 2 : 4;
        set_ints(node, "pads", {list[h], list[h + 2], list[h + 1], list[h + 3]});
        return;
    }
    now.need(padding == "VALID", "its padding is not served");
}

void set_steps(const tf_node &now, onnx_file::Node &node, const char *strides_name)
{
    const picture_list strides = of_picture(now, now.attr_ints(strides_name), "its strides"),
                       dilations = of_picture(now, now.attr_ints("dilations"), "its dilations");
    set_ints(node, "strides", {strides.h, strides.w});
    if (dilations.h != 1 || dilations.w != 1) {
        set_ints(node, "dilations", {dilations.h, dilations.w});
    }
}

} // namespace

void tf_conv(tf_node &now)
{
    const dims shape = now.shape(1); // h, w, in, out
    now.need(shape.size() == 4, "its filter has not four dimensions");
    const std::string filter = now.to.floats({shape[3], shape[2], shape[0], shape[1]},
                                             turned(now.floats(1), shape, {3, 2, 0, 1}));
    const tf_order order = order_of(now);
    auto &node = now.give("Conv", {now.in_order(0, order), filter}, 4, order);
    set_ints(node, "kernel_shape", {shape[0], shape[1]});
    set_steps(now, node, "strides");
    set_pads(now, node);
    now.net.tensors[now.def.name() + ":0"].biased = &node;
}

// Each channel by itself, with several results a channel: they are neighbours.
void tf_depthwise(tf_node &now)
{
    const dims shape = now.shape(1); // h, w, in, results a channel
    now.need(shape.size() == 4, "its filter has not four dimensions");
    const std::string filter = now.to.floats({shape[2] * shape[3], 1, shape[0], shape[1]},
                                             turned(now.floats(1), shape, {2, 3, 0, 1}));
    const tf_order order = order_of(now);
    auto &node = now.give("Conv", {now.in_order(0, order), filter}, 4, order);
    set_ints(node, "kernel_shape", {shape[0], shape[1]});
    set_int(node, "group", shape[2]);
    set_steps(now, node, "strides");
    set_pads(now, node);
    now.net.tensors[now.def.name() + ":0"].biased = &node;
}

// The gradient of a convolution: the size of the result comes first, the picture last.
void tf_conv_transpose(tf_node &now)
{
    const std::vector<int64_t> size = now.ints(0);
    const dims shape = now.shape(1); // h, w, out, in
    now.need(shape.size() == 4 && size.size() >= 2, "its filter has not four dimensions");
    const std::string filter = now.to.floats({shape[3], shape[2], shape[0], shape[1]},
                                             turned(now.floats(1), shape, {3, 2, 0, 1}));
    const tf_order order = order_of(now);
    const size_t h = size.size() == 2 ? 0 : order == TF_NCHW ? 1 : 2;
    now.need(h + 1 < size.size(), "its size has too few numbers");
    auto &node = now.give("ConvTranspose", {now.in_order(2, order), filter}, 4, order);
    set_ints(node, "kernel_shape", {shape[0], shape[1]});
    set_steps(now, node, "strides");
    set_ints(node, "output_shape", {size[h], size[h + 1]});
    const std::string padding = now.attr_text("padding", "VALID");
    now.need(padding == "SAME" || padding == "VALID", "its padding is not served");
    if (padding == "SAME") {
        set_text(node, "auto_pad", "SAME_UPPER");
    }
    now.set_type(now.tensor(2).type);
}

void tf_pool(tf_node &now)
{
    const picture_list kernel = of_picture(now, now.attr_ints("ksize"), "its ksize");
    const tf_order order = order_of(now);
    auto &node = now.give(now.def.op() == "MaxPool" ? "MaxPool" : "AveragePool",
                          {now.in_order(0, order)}, 4, order);
    set_ints(node, "kernel_shape", {kernel.h, kernel.w});
    set_steps(now, node, "strides");
    set_pads(now, node);
}

void tf_batch_norm(tf_node &now)
{
    now.need(!now.attr_bool("is_training") || !now.has("is_training"),
             "it is in training; freeze the graph for inference");
    const tf_order order = order_of(now);
    names inputs = {now.in_order(0, order)};
    for (size_t i = 1; i < 5; i++) {
        inputs.push_back(now.plain(i));
    }
    set_float(now.give("BatchNormalization", inputs, 4, order), "epsilon",
              now.attr_float("epsilon", 1e-4f));
}

/* A bias of channels joins the convolution or product before it, if nothing else reads that. */
void tf_bias_add(tf_node &now)
{
    tf_tensor &input = now.tensor(0);
    if (input.biased && now.net.uses[now.in[0]] == 1 && now.is_constant(1)) {
        const tf_tensor made = input;
        made.biased->add_input(now.plain(1));
        tf_tensor &result = now.give_tensor(made.made[TF_PLAIN], made.rank);
        result.made[TF_NCHW] = made.made[TF_NCHW];
        return;
    }
    if (!is_nhwc(now)) {
        const dims shape = now.shape(1);
        now.need(shape.size() == 1, "its bias is not one row");
        now.give("Add", {now.plain(0), now.to.floats({shape[0], 1, 1}, now.floats(1))}, now.rank());
        return;
    }
    const tf_order order = now.is_nchw() && now.is_constant(1) ? TF_NCHW : TF_PLAIN;
    now.give("Add", {now.in_order(0, order), now.in_order(1, order)}, now.rank(), order);
}

void tf_lrn(tf_node &now)
{
    const int64_t size = 2 * now.attr_int("depth_radius", 5) + 1;
    auto &node = now.give("LRN", {now.nchw(0)}, 4, TF_NCHW);
    set_int(node, "size", size);
    set_float(node, "alpha", now.attr_float("alpha", 1) * static_cast<float>(size));
    set_float(node, "beta", now.attr_float("beta", 0.5f));
    set_float(node, "bias", now.attr_float("bias", 1));
}

void tf_resize(tf_node &now)
{
    const bool nearest = now.def.op() == "ResizeNearestNeighbor",
               corners = now.attr_bool("align_corners"), half = now.attr_bool("half_pixel_centers");
    const std::string x = now.nchw(0);
    onnx_file::Node *concat;
    const std::string front =
        now.to.apply("Slice", {now.to.apply("Shape", {x}), now.to.ints({0}), now.to.ints({2})});
    const std::string sizes = now.to.apply("Concat", {front, now.plain(1)}, concat);
    set_int(*concat, "axis", 0);
    auto &node = now.give("Resize", {x, "", "", sizes}, 4, TF_NCHW);
    set_text(node, "mode", nearest ? "nearest" : "linear");
    set_text(node, "coordinate_transformation_mode",
             corners           ? "align_corners"
             : half && nearest ? "tf_half_pixel_for_nn"
             : half            ? "half_pixel"
                               : "asymmetric");
    if (nearest) {
        set_text(node, "nearest_mode", corners ? "round_prefer_ceil" : "floor");
    }
    now.set_type(tf_file::DT_FLOAT);
}

void tf_depth_space(tf_node &now)
{
    const tf_order order = order_of(now);
    set_int(now.give(now.def.op(), {now.in_order(0, order)}, 4, order), "blocksize",
            now.attr_int("block_size", 1));
}

namespace
{

/* The block and the rows of two numbers of SpaceToBatchND and BatchToSpaceND on pictures. */
struct batch_blocks {
    int64_t h, w, rows[4];
};

batch_blocks blocks_of(const tf_node &now)
{
    const auto block = now.ints(1), rows = now.ints(2);
    now.need(block.size() == 2 && rows.size() == 4 && block[0] > 0 && block[1] > 0,
             "only blocks of height and width are served");
    return {block[0], block[1], {rows[0], rows[1], rows[2], rows[3]}};
}

std::string part_of_shape(const tf_node &now, const std::string &x, int64_t from, int64_t to)
{
    return now.to.apply("Slice",
                        {now.to.apply("Shape", {x}), now.to.ints({from}), now.to.ints({to})});
}

std::string joined(const tf_node &now, const names &parts)
{
    onnx_file::Node *concat;
    const std::string all = now.to.apply("Concat", parts, concat);
    set_int(*concat, "axis", 0);
    return all;
}

} // namespace

// [n, c, h, w] -> [bh, bw, n, c, h / bh, w / bw].
void tf_space_to_batch(tf_node &now)
{
    const batch_blocks block = blocks_of(now);
    const std::string x =
        now.to.apply("Pad", {now.nchw(0), now.to.ints({0, 0, block.rows[0], block.rows[2], 0, 0,
                                                       block.rows[1], block.rows[3]})});
    const std::string n = part_of_shape(now, x, 0, 1), c = part_of_shape(now, x, 1, 2),
                      sizes = now.to.ints({block.h, block.w}),
                      small = now.to.apply("Div", {part_of_shape(now, x, 2, 4), sizes}),
                      h = now.to.apply("Slice", {small, now.to.ints({0}), now.to.ints({1})}),
                      w = now.to.apply("Slice", {small, now.to.ints({1}), now.to.ints({2})});
    const std::string split = now.to.apply(
        "Reshape", {x, joined(now, {n, c, h, now.to.ints({block.h}), w, now.to.ints({block.w})})});
    onnx_file::Node *turn;
    const std::string mixed = now.to.apply("Transpose", {split}, turn);
    set_ints(*turn, "perm", {3, 5, 0, 1, 2, 4});
    now.give("Reshape", {mixed, joined(now, {now.to.ints({-1}), c, small})}, 4, TF_NCHW);
}

// The way back, then what hangs over is cut.
void tf_batch_to_space(tf_node &now)
{
    const batch_blocks block = blocks_of(now);
    const std::string x = now.nchw(0);
    const std::string rest = part_of_shape(now, x, 1, 4),
                      split = now.to.apply(
                          "Reshape", {x, joined(now, {now.to.ints({block.h, block.w, -1}), rest})});
    onnx_file::Node *turn;
    const std::string mixed = now.to.apply("Transpose", {split}, turn);
    set_ints(*turn, "perm", {2, 3, 4, 0, 5, 1});
    const std::string c = part_of_shape(now, x, 1, 2),
                      size = now.to.apply(
                          "Mul", {part_of_shape(now, x, 2, 4), now.to.ints({block.h, block.w})}),
                      whole = now.to.apply("Reshape",
                                           {mixed, joined(now, {now.to.ints({-1}), c, size})}),
                      end =
                          now.to.apply("Sub", {size, now.to.ints({block.rows[1], block.rows[3]})});
    now.give("Slice",
             {whole, now.to.ints({block.rows[0], block.rows[2]}), end, now.to.ints({2, 3})}, 4,
             TF_NCHW);
}

void tf_matmul(tf_node &now)
{
    const bool a = now.attr_bool("transpose_a"), b = now.attr_bool("transpose_b");
    auto &node = now.give("Gemm", {now.plain(0), now.plain(1)}, 2);
    set_int(node, "transA", a);
    set_int(node, "transB", b);
    now.net.tensors[now.def.name() + ":0"].biased = &node;
}

void tf_batch_matmul(tf_node &now)
{
    names inputs;
    for (size_t i = 0; i < 2; i++) {
        std::string x = now.plain(i);
        if (now.attr_bool(i == 0 ? "adj_x" : "adj_y")) {
            const int rank = now.rank(i);
            now.need(rank >= 2, "the shape of an input is not known");
            dims order;
            for (int d = 0; d < rank - 2; d++) {
                order.push_back(d);
            }
            order.insert(order.end(), {rank - 1, rank - 2});
            onnx_file::Node *turn;
            x = now.to.apply("Transpose", {x}, turn);
            set_ints(*turn, "perm", order);
        }
        inputs.push_back(x);
    }
    now.give("MatMul", inputs, std::max(now.rank(0), now.rank(1)));
}

} // namespace leo
