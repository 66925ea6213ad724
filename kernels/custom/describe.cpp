/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with the host parts of custom operators: prints what they describe, as JSON
 * (tools/toolkit/ascendc/custom_op/build.py reads it). */
#include "combinations.hpp"

#include <cstdio>

using optiling::TilingDef;

static std::string quoted(const std::string &text)
{
    return '"' + text + '"'; // names and types of C++: nothing to escape
}

template <typename List, typename Each> static std::string joined(const List &list, Each each)
{
    std::string all;
    for (const auto &item : list) {
        all += (all.empty() ? "" : ", ") + each(item);
    }
    return all;
}

static std::string numbers(const std::vector<leo_custom::Kind> &kinds)
{
    return '[' +
           joined(kinds,
                  [](const leo_custom::Kind &kind) {
                      return '[' + std::to_string(int(kind.type)) + ", " +
                             std::to_string(int(kind.format)) + ']';
                  }) +
           ']';
}

static std::string param(const ops::OpParamDef *param)
{
    return "{\"name\": " + quoted(param->name()) +
           ", \"option\": " + std::to_string(int(param->option())) +
           ", \"value\": " + (param->needs_value() ? "true" : "false") + ", \"type\": " +
           std::to_string(param->types().empty() ? int(ge::DT_UNDEFINED) : int(param->types()[0])) +
           ", \"refused\": " + quoted(param->refused()) + '}';
}

static std::string config(ops::OpDef &op, const std::string &soc)
{
    const auto params = leo_custom::parameters(op, soc);
    return quoted(soc) + ": {\"inputs\": " + std::to_string(params.size() - op.outputs().size()) +
           ", \"params\": [" + joined(params, param) + "], \"combinations\": [" +
           joined(leo_custom::combinations(params), numbers) + "]}";
}

static std::string describe(ops::OpDef &op)
{
    const bool tiled = op.AICore().tiling || gert::leo_tiling_functions().count(op.type());
    return "{\"type\": " + quoted(op.type()) + ", \"tiling\": " + (tiled ? "true" : "false") +
           ", \"groups\": [" + joined(op.mc2().groups, quoted) + "], \"attrs\": [" +
           joined(op.attrs(),
                  [](const ops::OpAttrDef &attr) {
                      return "{\"name\": " + quoted(attr.name()) +
                             ", \"kind\": " + std::to_string(int(attr.kind())) + '}';
                  }) +
           "], \"configs\": {" +
           joined(op.AICore().configs, [&op](const auto &one) { return config(op, one.first); }) +
           "}}";
}

/* Structures before those that hold them. */
static void collect(const TilingDef &data, std::map<std::string, std::string> &seen,
                    std::vector<std::string> &order)
{
    std::string fields;
    for (const TilingDef::Field &field : data.leo_fields) {
        if (field.is_structure) {
            collect(*reinterpret_cast<const TilingDef *>(reinterpret_cast<const char *>(&data) +
                                                         field.member),
                    seen, order);
        }
        fields += (fields.empty() ? "[" : ", [") + quoted(field.type) + ", " + quoted(field.name) +
                  ", " + std::to_string(field.count) + ']';
    }
    if (seen.insert({data.leo_name, fields}).second) {
        order.push_back(data.leo_name);
    }
}

int main()
{
    std::map<std::string, std::string> structures;
    std::vector<std::string> order;
    std::string owners;
    for (const auto &one : optiling::leo_tiling_classes()) {
        const auto data = one.second();
        collect(*data, structures, order);
        owners += (owners.empty() ? "" : ", ") + quoted(one.first) + ": " + quoted(data->leo_name);
    }
    printf(
        "{\"operators\": [%s],\n \"tiling\": {%s},\n \"structures\": [%s]}\n",
        joined(ops::leo_operators(), [](const auto &one) { return describe(*one.second); }).c_str(),
        owners.c_str(), joined(order, [&structures](const std::string &name) {
                            return '[' + quoted(name) + ", [" + structures[name] + "]]";
                        }).c_str());
}
