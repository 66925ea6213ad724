/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx_writer.hpp"

#include <cstring>
#include <leo/alloc.h>

namespace leo
{

onnx_writer::onnx_writer()
{
    model_.set_ir_version(7);
    auto *opset = model_.add_opset_import();
    opset->set_domain("");
    opset->set_version(13);
}

std::string onnx_writer::fresh(const std::string &stem)
{
    return stem + "#" + std::to_string(next_++); // '#' keeps it apart from a file's own names
}

onnx_file::Node &onnx_writer::node(const std::string &type, const names &inputs,
                                   const names &outputs)
{
    auto *made = model_.mutable_graph()->add_node();
    made->set_op_type(type);
    for (const auto &name : inputs) {
        made->add_input(name);
    }
    for (const auto &name : outputs) {
        made->add_output(name);
    }
    return *made;
}

std::string onnx_writer::apply(const std::string &type, const names &inputs, onnx_file::Node *&made)
{
    const std::string result = fresh(type);
    made = &node(type, inputs, {result});
    return result;
}

std::string onnx_writer::apply(const std::string &type, const names &inputs)
{
    onnx_file::Node *made;
    return apply(type, inputs, made);
}

void onnx_writer::raw(const std::string &name, int onnx_type, const dims &shape, std::string data)
{
    auto *tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx_type);
    for (const int64_t size : shape) {
        tensor->add_dims(size);
    }
    tensor->set_raw_data(std::move(data));
}

std::string onnx_writer::floats(const dims &shape, const std::vector<float> &data)
{
    const std::string name = fresh("weight");
    raw(name, ONNX_FLOAT, shape,
        std::string(reinterpret_cast<const char *>(data.data()), data.size() * sizeof(float)));
    return name;
}

std::string onnx_writer::ints(const dims &data)
{
    const std::string name = fresh("ints");
    raw(name, ONNX_S64, {static_cast<int64_t>(data.size())},
        std::string(reinterpret_cast<const char *>(data.data()), data.size() * sizeof(int64_t)));
    return name;
}

std::string onnx_writer::number(float value)
{
    return floats({}, {value});
}

std::string onnx_writer::integer(int64_t value)
{
    const std::string name = fresh("integer");
    raw(name, ONNX_S64, {}, std::string(reinterpret_cast<const char *>(&value), sizeof(value)));
    return name;
}

static void set_info(onnx_file::ValueInfo &info, const std::string &name, int onnx_type,
                     const dims &shape)
{
    info.set_name(name);
    auto *type = info.mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx_type);
    auto *dimensions = type->mutable_shape();
    for (const int64_t size : shape) {
        auto *dimension = dimensions->add_dim();
        if (size > 0) {
            dimension->set_dim_value(size);
        }
    }
}

void onnx_writer::input(const std::string &name, int onnx_type, const dims &shape)
{
    set_info(*model_.mutable_graph()->add_input(), name, onnx_type, shape);
}

void onnx_writer::output(const std::string &name)
{
    model_.mutable_graph()->add_output()->set_name(name); // type and shape follow from the nodes
}

std::string onnx_writer::serialize() const
{
    return model_.SerializeAsString();
}

static onnx_file::Attribute &add_attribute(onnx_file::Node &node, const char *name)
{
    auto *attribute = node.add_attribute();
    attribute->set_name(name);
    return *attribute;
}

void set_int(onnx_file::Node &node, const char *name, int64_t value)
{
    add_attribute(node, name).set_i(value);
}

void set_float(onnx_file::Node &node, const char *name, float value)
{
    add_attribute(node, name).set_f(value);
}

void set_ints(onnx_file::Node &node, const char *name, const dims &values)
{
    auto &attribute = add_attribute(node, name);
    for (const int64_t value : values) {
        attribute.add_ints(value);
    }
}

void set_text(onnx_file::Node &node, const char *name, const std::string &value)
{
    add_attribute(node, name).set_s(value);
}

std::vector<float> turned(const std::vector<float> &data, const dims &shape, const dims &order)
{
    const size_t rank = shape.size();
    dims stride(rank, 1), at(rank, 0);
    for (size_t d = rank - 1; d-- > 0;) {
        stride[d] = stride[d + 1] * shape[d + 1];
    }
    std::vector<float> result;
    result.reserve(data.size());
    for (size_t i = 0; i < data.size(); i++) {
        int64_t from = 0;
        for (size_t d = 0; d < rank; d++) {
            from += at[d] * stride[static_cast<size_t>(order[d])];
        }
        result.push_back(data[static_cast<size_t>(from)]);
        for (size_t d = rank; d-- > 0;) {
            if (++at[d] < shape[static_cast<size_t>(order[d])]) {
                break;
            }
            at[d] = 0;
        }
    }
    return result;
}

leo_status give_bytes(const std::string &file, uint8_t **onnx, size_t *bytes)
{
    *bytes = file.size();
    *onnx = static_cast<uint8_t *>(leo_calloc(file.size() + 1, 1));
    if (*onnx) {
        std::memcpy(*onnx, file.data(), file.size());
    }
    return *onnx ? LEO_OK : LEO_ERR_NO_MEMORY;
}

} // namespace leo
