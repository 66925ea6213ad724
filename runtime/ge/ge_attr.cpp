/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of operators: each kind is one alternative of Attr. */
#include "ge_data.hpp"

namespace ge
{

static std::vector<int64_t> Wide(const std::vector<int32_t> &values)
{
    return std::vector<int64_t>(values.begin(), values.end());
}

// The value if it is of this kind.
template <typename T>
static graphStatus Take(const OperatorData *data, const std::string &name, T *value)
{
    *value = T();
    if (!data) {
        return GRAPH_FAILED;
    }
    auto at = data->attrs.find(name);
    const T *held = at == data->attrs.end() ? nullptr : std::get_if<T>(&at->second);
    if (!held) {
        return GRAPH_FAILED;
    }
    *value = *held;
    return GRAPH_SUCCESS;
}

Operator &Operator::SetAttr(const std::string &name, bool value)
{
    Data().attrs[name] = value;
    return *this;
}

Operator &Operator::SetAttr(const std::string &name, int64_t value)
{
    Data().attrs[name] = value;
    return *this;
}

Operator &Operator::SetAttr(const std::string &name, int32_t value)
{
    return SetAttr(name, static_cast<int64_t>(value));
}

Operator &Operator::SetAttr(const std::string &name, float value)
{
    Data().attrs[name] = value;
    return *this;
}

Operator &Operator::SetAttr(const std::string &name, const std::string &value)
{
    Data().attrs[name] = value;
    return *this;
}

Operator &Operator::SetAttr(const std::string &name, const std::vector<bool> &value)
{
    Data().attrs[name] = value;
    return *this;
}

Operator &Operator::SetAttr(const std::string &name, const std::vector<int64_t> &value)
{
    Data().attrs[name] = value;
    return *this;
}

Operator &Operator::SetAttr(const std::string &name, const std::vector<int32_t> &value)
{
    return SetAttr(name, Wide(value));
}

Operator &Operator::SetAttr(const std::string &name, const std::vector<float> &value)
{
    Data().attrs[name] = value;
    return *this;
}

Operator &Operator::SetAttr(const std::string &name, const std::vector<std::string> &value)
{
    Data().attrs[name] = value;
    return *this;
}

Operator &Operator::SetAttr(const char *name, bool value)
{
    return SetAttr(TextOf(name), value);
}

Operator &Operator::SetAttr(const char *name, int32_t value)
{
    return SetAttr(TextOf(name), static_cast<int64_t>(value));
}

Operator &Operator::SetAttr(const char *name, uint32_t value)
{
    return SetAttr(TextOf(name), static_cast<int64_t>(value));
}

Operator &Operator::SetAttr(const char *name, int64_t value)
{
    return SetAttr(TextOf(name), value);
}

Operator &Operator::SetAttr(const char *name, float value)
{
    return SetAttr(TextOf(name), value);
}

Operator &Operator::SetAttr(const char *name, const char *value)
{
    return SetAttr(TextOf(name), TextOf(value));
}

Operator &Operator::SetAttr(const char *name, const DataType &value)
{
    Data().attrs[TextOf(name)] = value;
    return *this;
}

Operator &Operator::SetAttr(const char *name, const Tensor &value)
{
    Data().attrs[TextOf(name)] = value;
    return *this;
}

Operator &Operator::SetAttr(const char *name, const std::vector<int32_t> &value)
{
    return SetAttr(TextOf(name), Wide(value));
}

Operator &Operator::SetAttr(const char *name, const std::vector<int64_t> &value)
{
    return SetAttr(TextOf(name), value);
}

Operator &Operator::SetAttr(const char *name, const std::vector<float> &value)
{
    return SetAttr(TextOf(name), value);
}

Operator &Operator::SetAttr(const char *name, const std::vector<DataType> &value)
{
    Data().attrs[TextOf(name)] = value;
    return *this;
}

Operator &Operator::SetAttr(const char *name, const std::vector<std::vector<int64_t>> &value)
{
    Data().attrs[TextOf(name)] = value;
    return *this;
}

graphStatus Operator::GetAttr(const char *name, bool &value) const
{
    return Take(data_.get(), TextOf(name), &value);
}

graphStatus Operator::GetAttr(const std::string &name, int64_t &value) const
{
    return Take(data_.get(), name, &value);
}

graphStatus Operator::GetAttr(const std::string &name, int32_t &value) const
{
    int64_t wide;
    graphStatus status = GetAttr(name, wide);
    value = static_cast<int32_t>(wide);
    return status;
}

graphStatus Operator::GetAttr(const char *name, int32_t &value) const
{
    return GetAttr(TextOf(name), value);
}

graphStatus Operator::GetAttr(const char *name, int64_t &value) const
{
    return GetAttr(TextOf(name), value);
}

graphStatus Operator::GetAttr(const char *name, float &value) const
{
    return Take(data_.get(), TextOf(name), &value);
}

graphStatus Operator::GetAttr(const char *name, DataType &value) const
{
    return Take(data_.get(), TextOf(name), &value);
}

graphStatus Operator::GetAttr(const char *name, Tensor &value) const
{
    return Take(data_.get(), TextOf(name), &value);
}

graphStatus Operator::GetAttr(const char *name, std::vector<int64_t> &value) const
{
    return Take(data_.get(), TextOf(name), &value);
}

graphStatus Operator::GetAttr(const char *name, std::vector<int32_t> &value) const
{
    std::vector<int64_t> wide;
    graphStatus status = GetAttr(name, wide);
    value.assign(wide.begin(), wide.end());
    return status;
}

graphStatus Operator::GetAttr(const char *name, std::vector<float> &value) const
{
    return Take(data_.get(), TextOf(name), &value);
}

graphStatus Operator::GetAttr(const char *name, std::vector<DataType> &value) const
{
    return Take(data_.get(), TextOf(name), &value);
}

graphStatus Operator::GetAttr(const char *name, std::vector<std::vector<int64_t>> &value) const
{
    return Take(data_.get(), TextOf(name), &value);
}

graphStatus Operator::GetAttr(const std::string &name, std::string &value) const
{
    return Take(data_.get(), name, &value);
}

graphStatus Operator::GetAttr(const std::string &name, std::vector<std::string> &value) const
{
    return Take(data_.get(), name, &value);
}

void Operator::AttrRegister(const char *name, bool value)
{
    (void)SetAttr(name, value);
}

void Operator::AttrRegister(const char *name, int64_t value)
{
    (void)SetAttr(name, value);
}

void Operator::AttrRegister(const char *name, float value)
{
    (void)SetAttr(name, value);
}

void Operator::AttrRegister(const char *name, const AscendString &value)
{
    (void)SetAttr(name, value.GetString());
}

void Operator::AttrRegister(const char *name, const DataType &value)
{
    (void)SetAttr(name, value);
}

void Operator::AttrRegister(const char *name, const Tensor &value)
{
    (void)SetAttr(name, value);
}

void Operator::AttrRegister(const char *name, const std::vector<bool> &value)
{
    (void)SetAttr(TextOf(name), value);
}

void Operator::AttrRegister(const char *name, const std::vector<int64_t> &value)
{
    (void)SetAttr(name, value);
}

void Operator::AttrRegister(const char *name, const std::vector<float> &value)
{
    (void)SetAttr(name, value);
}

void Operator::AttrRegister(const char *name, const std::vector<DataType> &value)
{
    (void)SetAttr(name, value);
}

void Operator::AttrRegister(const char *name, const std::vector<AscendString> &value)
{
    std::vector<std::string> texts;
    for (const AscendString &text : value) {
        texts.push_back(text.GetString());
    }
    (void)SetAttr(TextOf(name), texts);
}

void Operator::AttrRegister(const char *name, const std::vector<std::vector<int64_t>> &value)
{
    (void)SetAttr(name, value);
}

} // namespace ge
