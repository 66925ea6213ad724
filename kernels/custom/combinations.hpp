/* SPDX-License-Identifier: Apache-2.0 */
/* The combinations of types that an operator's description gives: the kernel is compiled once for
 * each. */
#pragma once

#include <register/op_def_registry.h>

namespace leo_custom
{

struct Kind {
    ge::DataType type;
    ge::Format format;
};

/** The parameters on that family of chips, inputs before outputs. */
inline std::vector<const ops::OpParamDef *> parameters(ops::OpDef &op, const std::string &soc)
{
    static const ops::OpAICoreConfig nothing;
    const auto found = op.AICore().configs.find(soc);
    const ops::OpAICoreConfig &config =
        found == op.AICore().configs.end() ? nothing : found->second;
    const auto pick = [](const ops::OpParamDef &own, const ops::LeoParams &others) {
        for (const ops::OpParamDef &other : others) {
            if (other.name() == own.name() && !other.types().empty()) {
                return &other;
            }
        }
        return &own;
    };
    std::vector<const ops::OpParamDef *> all;
    for (const ops::OpParamDef &param : op.inputs()) {
        all.push_back(pick(param, config.inputs));
    }
    // Descriptions may stand in the configurations alone.
    for (const ops::OpParamDef &param : op.inputs().empty() ? config.inputs : ops::LeoParams()) {
        all.push_back(&param);
    }
    for (const ops::OpParamDef &param : op.outputs()) {
        all.push_back(pick(param, config.outputs));
    }
    return all;
}

/** [combination][parameter]: the i-th type of every list, times every type of a DataTypeList. */
inline std::vector<std::vector<Kind>>
combinations(const std::vector<const ops::OpParamDef *> &params)
{
    size_t rows = 1;
    for (const ops::OpParamDef *param : params) {
        rows = !param->has_list() && param->types().size() > rows ? param->types().size() : rows;
    }
    std::vector<std::vector<Kind>> all(rows);
    for (const ops::OpParamDef *param : params) {
        std::vector<std::vector<Kind>> wider;
        for (size_t row = 0; row < all.size(); row++) {
            const std::vector<ge::DataType> &types = param->types();
            const std::vector<ge::Format> &formats = param->formats();
            const size_t copies = param->has_list() ? types.size() : 1;
            for (size_t copy = 0; copy < copies; copy++) {
                // Rows are multiplied by lists from the back: the original row is found by
                // division.
                const size_t at = param->has_list() ? copy : row * rows / all.size();
                Kind kind = {types.empty() ? ge::DT_UNDEFINED : types[at < types.size() ? at : 0],
                             formats.empty() ? ge::FORMAT_ND
                                             : formats[at < formats.size() ? at : 0]};
                wider.push_back(all[row]);
                wider.back().push_back(kind);
            }
        }
        all = wider;
    }
    return all;
}

} // namespace leo_custom
