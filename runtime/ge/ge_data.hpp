/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator holds, and what a type of the table is. Not seen by programs. */
#pragma once

#include "ge.hpp"

#include <variant>

namespace ge
{

using Attr = std::variant<bool, int64_t, float, std::string, DataType, Tensor, std::vector<bool>,
                          std::vector<int64_t>, std::vector<float>, std::vector<std::string>,
                          std::vector<DataType>, std::vector<std::vector<int64_t>>>;

/** An input or output. What an input comes from only a graph engine would ask. */
struct Place {
    std::string name;
    TensorDesc desc;
};

struct OperatorData {
    std::string name, type;
    std::vector<Place> inputs, outputs;
    std::map<std::string, Attr> attrs;
    std::map<std::string, uint32_t> dynamic_outputs;
};

/** A graph that was parsed is its file's bytes until it is built. */
struct GraphData {
    std::string name;
    std::vector<uint8_t> onnx;
};

/** For the library that parses and builds graphs. */
struct GraphAccess {
    static GraphData *Of(const Graph &graph)
    {
        return graph.data_.get();
    }
};

/** Inputs, outputs and attributes with defaults of a type of the table (ge_standard.cpp); false:
 * it has none. */
bool DefineStandardType(const std::string &type, OperatorData *data);
bool IsStandardType(const std::string &type);

/** "" for NULL. */
inline std::string TextOf(const char *text)
{
    return text ? text : "";
}

/** Says on stderr and in the log that there is no graph engine, and what was asked of it. */
graphStatus NoGraphEngine(const char *what);

} // namespace ge
