/* SPDX-License-Identifier: Apache-2.0 */
/* Operators: inputs, outputs and attributes by name. */
#include "ge_data.hpp"

#include <algorithm>

namespace ge
{

OperatorData &Operator::Data()
{
    if (!data_) {
        data_ = std::make_shared<OperatorData>();
    }
    return *data_;
}

Operator::Operator(const std::string &name, const std::string &type)
{
    Data().name = name;
    Data().type = type;
    (void)DefineStandardType(type, data_.get());
}

Operator::Operator(const std::string &type) : Operator(type, type)
{
}

Operator::Operator(const char *type) : Operator(TextOf(type))
{
}

Operator::Operator(const AscendString &name, const AscendString &type)
    : Operator(std::string(name.GetString()), std::string(type.GetString()))
{
}

Operator::Operator(const char *name, const char *type) : Operator(TextOf(name), TextOf(type))
{
}

std::string Operator::GetName() const
{
    return data_ ? data_->name : "";
}

graphStatus Operator::GetName(AscendString &name) const
{
    name = AscendString(GetName().c_str());
    return GRAPH_SUCCESS;
}

std::string Operator::GetOpType() const
{
    return data_ ? data_->type : "";
}

graphStatus Operator::GetOpType(AscendString &type) const
{
    type = AscendString(GetOpType().c_str());
    return GRAPH_SUCCESS;
}

/* ---- inputs and outputs ---- */

static Place *Find(std::vector<Place> &places, const std::string &name)
{
    auto at = std::find_if(places.begin(), places.end(),
                           [&](const Place &place) { return place.name == name; });
    return at == places.end() ? nullptr : &*at;
}

static void Register(std::vector<Place> &places, const std::string &name)
{
    if (!Find(places, name)) {
        places.push_back({name, TensorDesc()});
    }
}

static void RegisterSeveral(std::vector<Place> &places, const char *name, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        Register(places, name + std::to_string(i));
    }
}

static graphStatus Update(std::vector<Place> &places, const std::string &name,
                          const TensorDesc &desc)
{
    Place *place = Find(places, name);
    if (!place) {
        return GRAPH_FAILED;
    }
    place->desc = desc;
    return GRAPH_SUCCESS;
}

static graphStatus Read(std::vector<Place> &places, const std::string &name, TensorDesc *desc)
{
    const Place *place = Find(places, name);
    *desc = place ? place->desc : TensorDesc();
    return place ? GRAPH_SUCCESS : GRAPH_FAILED;
}

Operator &Operator::SetInput(const std::string &to, const Operator &)
{
    Register(Data().inputs, to);
    return *this;
}

Operator &Operator::SetInput(const std::string &to, const Operator &from, const std::string &)
{
    return SetInput(to, from);
}

Operator &Operator::SetInput(const char *to, const Operator &from)
{
    return SetInput(TextOf(to), from);
}

Operator &Operator::SetInput(const char *to, uint32_t index, const Operator &from)
{
    return SetInput(TextOf(to) + std::to_string(index), from);
}

Operator &Operator::SetInput(const char *to, uint32_t index, const Operator &from, const char *)
{
    return SetInput(to, index, from);
}

Operator &Operator::AddControlInput(const Operator &)
{
    return *this;
}

void Operator::SetSubgraphBuilder(const char *, uint32_t, const std::function<Graph()> &)
{
    (void)NoGraphEngine("an operator with a graph inside");
}

graphStatus Operator::UpdateInputDesc(const std::string &name, const TensorDesc &desc)
{
    return Update(Data().inputs, name, desc);
}

graphStatus Operator::UpdateInputDesc(const char *name, const TensorDesc &desc)
{
    return Update(Data().inputs, TextOf(name), desc);
}

graphStatus Operator::UpdateOutputDesc(const std::string &name, const TensorDesc &desc)
{
    return Update(Data().outputs, name, desc);
}

graphStatus Operator::UpdateOutputDesc(const char *name, const TensorDesc &desc)
{
    return Update(Data().outputs, TextOf(name), desc);
}

graphStatus Operator::UpdateDynamicOutputDesc(const char *name, uint32_t index,
                                              const TensorDesc &desc)
{
    return Update(Data().outputs, TextOf(name) + std::to_string(index), desc);
}

graphStatus Operator::TryGetInputDesc(const char *name, TensorDesc &desc) const
{
    return data_ ? Read(data_->inputs, TextOf(name), &desc) : GRAPH_FAILED;
}

TensorDesc Operator::GetInputDescByName(const char *name) const
{
    TensorDesc desc;
    (void)TryGetInputDesc(name, desc);
    return desc;
}

TensorDesc Operator::GetInputDesc(const std::string &name) const
{
    return GetInputDescByName(name.c_str());
}

TensorDesc Operator::GetInputDesc(uint32_t index) const
{
    return data_ && index < data_->inputs.size() ? data_->inputs[index].desc : TensorDesc();
}

TensorDesc Operator::GetDynamicInputDesc(const char *name, uint32_t index) const
{
    return GetInputDesc(TextOf(name) + std::to_string(index));
}

TensorDesc Operator::GetOutputDescByName(const char *name) const
{
    TensorDesc desc;
    if (data_) {
        (void)Read(data_->outputs, TextOf(name), &desc);
    }
    return desc;
}

TensorDesc Operator::GetOutputDesc(const std::string &name) const
{
    return GetOutputDescByName(name.c_str());
}

TensorDesc Operator::GetOutputDesc(uint32_t index) const
{
    return data_ && index < data_->outputs.size() ? data_->outputs[index].desc : TensorDesc();
}

// Values of inputs are not known to a description.
graphStatus Operator::GetInputConstData(const std::string &, Tensor &data) const
{
    data = Tensor();
    return GRAPH_FAILED;
}

graphStatus Operator::GetInputConstData(const char *, Tensor &data) const
{
    data = Tensor();
    return GRAPH_FAILED;
}

size_t Operator::GetInputsSize() const
{
    return data_ ? data_->inputs.size() : 0;
}

int Operator::GetDynamicOutputNum(const std::string &name) const
{
    if (!data_) {
        return 0;
    }
    auto at = data_->dynamic_outputs.find(name);
    return at == data_->dynamic_outputs.end() ? 0 : static_cast<int>(at->second);
}

std::shared_ptr<InferenceContext> Operator::GetInferenceContext() const
{
    return nullptr;
}

void Operator::InputRegister(const std::string &name)
{
    Register(Data().inputs, name);
}

void Operator::InputRegister(const char *name, const char *)
{
    Register(Data().inputs, TextOf(name));
}

void Operator::OptionalInputRegister(const std::string &name)
{
    Register(Data().inputs, name);
}

void Operator::OptionalInputRegister(const char *name, const char *)
{
    Register(Data().inputs, TextOf(name));
}

void Operator::OutputRegister(const std::string &name)
{
    Register(Data().outputs, name);
}

void Operator::OutputRegister(const char *name, const char *)
{
    Register(Data().outputs, TextOf(name));
}

void Operator::DynamicInputRegister(const char *name, uint32_t count, bool)
{
    RegisterSeveral(Data().inputs, name, count);
}

void Operator::DynamicInputRegister(const char *name, uint32_t count, const char *, bool)
{
    RegisterSeveral(Data().inputs, name, count);
}

void Operator::DynamicInputRegisterByIndex(const char *name, uint32_t count, size_t index)
{
    std::vector<Place> added;
    RegisterSeveral(added, name, count);
    std::vector<Place> &inputs = Data().inputs;
    inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(std::min(index, inputs.size())),
                  added.begin(), added.end());
}

void Operator::DynamicOutputRegister(const char *name, uint32_t count, bool)
{
    RegisterSeveral(Data().outputs, name, count);
    data_->dynamic_outputs[TextOf(name)] += count;
}

void Operator::DynamicOutputRegister(const char *name, uint32_t count, const char *, bool push_back)
{
    DynamicOutputRegister(name, count, push_back);
}

/* What only a graph engine would read. */
void Operator::SubgraphCountRegister(const char *, uint32_t)
{
}
void Operator::RequiredAttrRegister(const std::string &)
{
}
void Operator::RequiredAttrWithTypeRegister(const char *, const char *)
{
}
void Operator::DataTypeRegister(const char *, const TensorType &)
{
}
void Operator::DataTypeRegister(const char *, const Promote &)
{
}
void Operator::InferFuncRegister(const InferFunc &)
{
}

} // namespace ge
