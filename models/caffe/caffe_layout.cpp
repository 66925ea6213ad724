/* SPDX-License-Identifier: Apache-2.0 */
/* Layers that move elements, resize, or make boxes of a grid. */
#include "caffe_net.hpp"

#include <algorithm>

namespace leo
{

namespace
{

const int64_t TO_THE_END = INT64_MAX;

// Dimensions `from` up to `to` of a tensor's shape.
std::string part_of_shape(caffe_layer &now, const std::string &x, int64_t from, int64_t to)
{
    return now.to.apply("Slice",
                        {now.to.apply("Shape", {x}), now.to.ints({from}), now.to.ints({to})});
}

std::string joined(caffe_layer &now, const names &parts)
{
    onnx_file::Node *concat;
    const std::string all = now.to.apply("Concat", parts, concat);
    set_int(*concat, "axis", 0);
    return all;
}

std::string turned(caffe_layer &now, const std::string &x, const dims &order)
{
    onnx_file::Node *transpose;
    const std::string result = now.to.apply("Transpose", {x}, transpose);
    set_ints(*transpose, "perm", order);
    return result;
}

} // namespace

void caffe_identity(caffe_layer &now)
{
    const names tops = now.out;
    for (const auto &top : tops) {
        now.out = {top};
        now.end("Identity", {now.in[0]});
    }
}

void caffe_concat(caffe_layer &now)
{
    const auto &concat = now.layer.concat_param();
    const int axis =
        concat.has_concat_dim() ? static_cast<int>(concat.concat_dim()) : now.axis(concat.axis());
    set_int(now.end("Concat", now.in), "axis", axis);
}

void caffe_slice(caffe_layer &now)
{
    const auto &slice = now.layer.slice_param();
    const int axis =
        slice.has_slice_dim() ? static_cast<int>(slice.slice_dim()) : now.axis(slice.axis());
    if (slice.slice_point_size() == 0) {
        set_int(now.end("Split", {now.in[0]}), "axis", axis);
        return;
    }
    now.need(static_cast<size_t>(slice.slice_point_size()) + 1 == now.out.size(),
             "it has not one slice_point less than tops");
    const names tops = now.out;
    int64_t from = 0;
    for (size_t i = 0; i < tops.size(); i++) {
        const bool last = i + 1 == tops.size();
        const int64_t to = last ? TO_THE_END : slice.slice_point(static_cast<int>(i));
        now.need(to > from, "its slice_points do not rise");
        now.out = {tops[i]};
        now.end("Slice", {now.in[0], now.to.ints({from}), now.to.ints({to}), now.to.ints({axis})});
        from = to;
    }
}

void caffe_reshape(caffe_layer &now)
{
    const auto &reshape = now.layer.reshape_param();
    const int axis = now.axis(reshape.axis()), count = reshape.num_axes();
    dims shape(static_cast<size_t>(axis), 0); // 0 keeps the dimension
    shape.insert(shape.end(), reshape.shape().dim().begin(), reshape.shape().dim().end());
    if (count != -1) {
        now.need(count == reshape.shape().dim_size(),
                 "num_axes other than the count of its dimensions is not served");
        shape.resize(static_cast<size_t>(now.rank()), 0);
    }
    now.end("Reshape", {now.in[0], now.to.ints(shape)}, static_cast<int>(shape.size()));
}

void caffe_flatten(caffe_layer &now)
{
    const auto &flatten = now.layer.flatten_param();
    const int axis = now.axis(flatten.axis()), last = now.axis(flatten.end_axis());
    now.need(axis <= last, "its axes do not rise");
    const int behind = now.rank() - 1 - last;
    dims shape(static_cast<size_t>(axis), 0);
    shape.push_back(-1);
    std::string to = now.to.ints(shape);
    if (behind > 0) {
        to = joined(now, {to, part_of_shape(now, now.in[0], last + 1, TO_THE_END)});
    }
    now.end("Reshape", {now.in[0], to}, axis + 1 + behind);
}

void caffe_permute(caffe_layer &now)
{
    const auto &order = now.layer.permute_param().order();
    dims perm(order.begin(), order.end());
    for (int d = 0; d < now.rank(); d++) { // those that are not named stay in order, behind
        if (std::find(perm.begin(), perm.end(), d) == perm.end()) {
            perm.push_back(d);
        }
    }
    now.need(static_cast<int>(perm.size()) == now.rank(), "its order does not fit its input");
    set_ints(now.end("Transpose", {now.in[0]}), "perm", perm);
}

void caffe_tile(caffe_layer &now)
{
    const auto &tile = now.layer.tile_param();
    dims repeats(static_cast<size_t>(now.rank()), 1);
    repeats.at(static_cast<size_t>(now.axis(tile.axis()))) = tile.tiles();
    now.end("Tile", {now.in[0], now.to.ints(repeats)});
}

// Dimensions from `axis` on become as large as the second bottom's.
void caffe_crop(caffe_layer &now)
{
    const auto &crop = now.layer.crop_param();
    now.need(now.in.size() == 2, "it needs two bottoms");
    const int axis = now.axis(crop.axis()), count = now.rank() - axis;
    now.need(crop.offset_size() <= 1 || crop.offset_size() == count, "its offsets do not fit");
    dims offsets, axes;
    for (int d = 0; d < count; d++) {
        offsets.push_back(crop.offset_size() == 0 ? 0
                                                  : crop.offset(crop.offset_size() > 1 ? d : 0));
        axes.push_back(axis + d);
    }
    const std::string from = now.to.ints(offsets),
                      size = part_of_shape(now, now.in[1], axis, TO_THE_END);
    now.end("Slice", {now.in[0], from, now.to.apply("Add", {size, from}), now.to.ints(axes)});
}

// (n, g, c / g, h, w) with its channels turned.
void caffe_shuffle(caffe_layer &now)
{
    const int64_t group = now.layer.shuffle_channel_param().group();
    now.need(now.rank() == 4 && group > 0, "it needs four dimensions");
    const std::string &x = now.in[0];
    const std::string split = joined(now, {part_of_shape(now, x, 0, 1), now.to.ints({group, -1}),
                                           part_of_shape(now, x, 2, TO_THE_END)});
    const std::string mixed = turned(now, now.to.apply("Reshape", {x, split}), {0, 2, 1, 3, 4});
    now.end("Reshape", {mixed, now.to.apply("Shape", {x})});
}

void caffe_upsample(caffe_layer &now)
{
    const auto &upsample = now.layer.upsample_param();
    const int64_t both = upsample.has_scale() ? upsample.scale() : upsample.stride(),
                  h = upsample.has_stride_h() ? upsample.stride_h() : both,
                  w = upsample.has_stride_w() ? upsample.stride_w() : both;
    now.need(now.in.size() == 1 && h > 0 && w > 0,
             "only the form with one bottom and a scale is served");
    const std::string scales =
        now.to.floats({4}, {1, 1, static_cast<float>(h), static_cast<float>(w)});
    auto &node = now.end("Resize", {now.in[0], "", scales});
    set_text(node, "mode", "nearest");
    set_text(node, "coordinate_transformation_mode", "asymmetric");
    set_text(node, "nearest_mode", "floor");
}

/* Bilinear, corners on corners. The size: zoom - 1 numbers between two, or height and width. */
void caffe_interp(caffe_layer &now)
{
    const auto &interp = now.layer.interp_param();
    now.need(interp.pad_beg() == 0 && interp.pad_end() == 0 && !interp.has_shrink_factor(),
             "pads and shrink_factor are not served");
    std::string size = now.to.ints({interp.height(), interp.width()});
    if (interp.has_zoom_factor()) { // h + (h - 1) * (zoom - 1) = (h - 1) * zoom + 1
        const std::string one = now.to.ints({1}), old = part_of_shape(now, now.in[0], 2, 4);
        size = now.to.apply("Mul",
                            {now.to.apply("Sub", {old, one}), now.to.ints({interp.zoom_factor()})});
        size = now.to.apply("Add", {size, one});
    } else {
        now.need(interp.height() > 0 && interp.width() > 0, "it has no size");
    }
    const std::string sizes = joined(now, {part_of_shape(now, now.in[0], 0, 2), size});
    auto &node = now.end("Resize", {now.in[0], "", "", sizes});
    set_text(node, "mode", "linear");
    set_text(node, "coordinate_transformation_mode", "align_corners");
}

/* The handler in the importer of ONNX has the shapes that this needs. */
void caffe_prior_box(caffe_layer &now)
{
    const auto &prior = now.layer.prior_box_param();
    now.need(now.in.size() == 2, "it needs two bottoms");
    now.need(prior.variance_size() == 0 || prior.variance_size() == 1 || prior.variance_size() == 4,
             "it has neither one nor four variances");
    auto &node = now.end("CaffePriorBox", now.in, 3);
    const auto list = [&](const char *name, const google::protobuf::RepeatedField<float> &values) {
        auto *attribute = node.add_attribute();
        attribute->set_name(name);
        attribute->mutable_floats()->CopyFrom(values);
    };
    list("min_size", prior.min_size());
    list("max_size", prior.max_size());
    list("aspect_ratio", prior.aspect_ratio());
    list("variance", prior.variance());
    set_int(node, "flip", prior.flip());
    set_int(node, "clip", prior.clip());
    set_float(node, "offset", prior.offset());
    set_float(node, "step_h", prior.has_step_h() ? prior.step_h() : prior.step());
    set_float(node, "step_w", prior.has_step_w() ? prior.step_w() : prior.step());
    set_int(node, "img_h", prior.has_img_h() ? prior.img_h() : prior.img_size());
    set_int(node, "img_w", prior.has_img_w() ? prior.img_w() : prior.img_size());
}

} // namespace leo
