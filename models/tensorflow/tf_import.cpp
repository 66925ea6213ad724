/* SPDX-License-Identifier: Apache-2.0 */
/* A frozen graph of TensorFlow to an ONNX file: outputs, the nodes they need, one after the other.
 */
#include "tf_graph.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <set>

namespace leo
{
namespace
{

using tf_file::Node;

/* Nodes that hand on their first input. */
const std::set<std::string> aliases = {"Identity", "StopGradient",           "PreventGradient",
                                       "Snapshot", "PlaceholderWithDefault", "CheckNumerics",
                                       "Dropout"};

void read_graph(const void *data, size_t bytes, tf_file::Graph *graph)
{
    google::protobuf::io::CodedInputStream stream(static_cast<const uint8_t *>(data),
                                                  static_cast<int>(bytes));
    if (!graph->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage() ||
        graph->node_size() == 0) {
        throw import_error(LEO_ERR_PARSE, "the file is no frozen graph of TensorFlow");
    }
}

bool only_orders(const std::string &input)
{
    return !input.empty() && input[0] == '^';
}

/* "node:0;node2:1", or what no node reads. */
names choose_outputs(const tf_graph &net, const tf_file::Graph &graph)
{
    names outputs;
    if (net.options->out_nodes) {
        std::string rest = net.options->out_nodes;
        while (!rest.empty()) {
            const auto end = rest.find(';');
            outputs.push_back(tf_key(rest.substr(0, end)));
            rest = end == std::string::npos ? "" : rest.substr(end + 1);
        }
        return outputs;
    }
    std::set<std::string> read;
    for (const auto &node : graph.node()) {
        for (const auto &input : node.input()) {
            read.insert(tf_node_name(input));
        }
    }
    for (const auto &node : graph.node()) {
        const bool makes =
            node.op() != "Const" && node.op() != "NoOp" && node.op() != "Placeholder";
        if (makes && read.count(node.name()) == 0) {
            outputs.push_back(node.name() + ":0");
        }
    }
    return outputs;
}

const Node &node_called(const tf_graph &net, const std::string &name)
{
    const auto found = net.nodes.find(name);
    if (found == net.nodes.end()) {
        throw import_error(LEO_ERR_INVALID_ARG, "the graph has no node " + name);
    }
    return *found->second;
}

/* The nodes that `outputs` need, each behind its inputs. */
std::vector<const Node *> order_nodes(const tf_graph &net, const names &outputs)
{
    enum { OPEN = 1, DONE };
    std::vector<const Node *> order;
    std::map<const Node *, int> state;
    struct step {
        const Node *node;
        int next;
    };
    std::vector<step> stack;
    for (const auto &output : outputs) {
        stack.push_back({&node_called(net, tf_node_name(output)), 0});
        while (!stack.empty()) {
            step &top = stack.back();
            if (state[top.node] == DONE || top.next == top.node->input_size()) {
                if (state[top.node] != DONE) {
                    order.push_back(top.node);
                }
                state[top.node] = DONE;
                stack.pop_back();
                continue;
            }
            state[top.node] = OPEN;
            const std::string &input = top.node->input(top.next++);
            const Node *before =
                only_orders(input) ? nullptr : &node_called(net, tf_node_name(input));
            if (before && state[before] == OPEN) {
                throw import_error(LEO_ERR_UNSUPPORTED, "node " + before->name() +
                                                            " reads itself: loops are not served");
            }
            if (before && state[before] != DONE) {
                stack.push_back({before, 0});
            }
        }
    }
    return order;
}

using alias_map = std::map<std::string, std::string>;

void take_node(tf_graph &net, const Node &node, alias_map &alias)
{
    names in;
    for (const auto &input : node.input()) {
        if (!only_orders(input)) {
            const auto other = alias.find(tf_key(input));
            in.push_back(other == alias.end() ? tf_key(input) : other->second);
            if (net.tensors.count(in.back()) == 0) {
                throw import_error(LEO_ERR_UNSUPPORTED, "node " + node.name() + " (" + node.op() +
                                                            ") reads " + input +
                                                            ", which is not served");
            }
        }
    }
    const std::string own = node.name() + ":0";
    if (aliases.count(node.op()) && !in.empty()) {
        alias[own] = in[0];
        net.uses[in[0]] += net.uses[own] - 1;
        return;
    }
    if (node.op() == "IdentityN") {
        for (size_t i = 0; i < in.size(); i++) {
            const std::string output = node.name() + ":" + std::to_string(i);
            alias[output] = in[i];
            net.uses[in[i]] += net.uses[output] - 1;
        }
        return;
    }
    tf_node now = {net, net.to, node, in};
    if (tf_fold(now)) {
        return;
    }
    const tf_handler handler = tf_find(node.op());
    if (!handler) {
        now.fail("operators of this type are not served; --out_nodes can end the graph before it");
    }
    handler(now);
}

// An output as the file has it: NHWC, and integers of its own type; its name is "node:index".
void give_output(tf_graph &net, const std::string &name, const std::string &key)
{
    if (net.tensors.count(key) == 0) {
        throw import_error(LEO_ERR_INVALID_ARG, "the graph has no output " + name);
    }
    const Node none;
    const tf_node at = {net, net.to, none, {key}};
    const int type = at.tensor(0).type;
    const bool narrow = type == tf_file::DT_INT32;
    auto &node = net.to.node(narrow ? "Cast" : "Identity", {at.plain(0)}, {name});
    if (narrow) {
        set_int(node, "to", ONNX_S32);
    }
    net.to.output(name);
}

std::string import_graph(const void *data, size_t bytes, const struct leo_import_options *options)
{
    tf_file::Graph graph;
    tf_graph net;
    net.options = options;
    read_graph(data, bytes, &graph);
    for (const auto &node : graph.node()) {
        net.nodes[node.name()] = &node;
    }
    const names outputs = choose_outputs(net, graph);
    if (outputs.empty()) {
        throw import_error(LEO_ERR_PARSE, "the graph has no outputs");
    }
    const auto order = order_nodes(net, outputs);
    for (const Node *node : order) {
        for (const auto &input : node->input()) {
            net.uses[tf_key(input)] += !only_orders(input);
        }
    }
    for (const auto &output : outputs) {
        net.uses[output]++;
    }
    alias_map alias;
    for (const Node *node : order) {
        take_node(net, *node, alias);
    }
    for (const auto &output : outputs) {
        const auto other = alias.find(output);
        give_output(net, output, other == alias.end() ? output : other->second);
    }
    return net.to.serialize();
}

} // namespace
} // namespace leo

leo_status leo_tensorflow_to_onnx(const void *data, size_t bytes,
                                  const struct leo_import_options *options, uint8_t **onnx,
                                  size_t *onnx_bytes, char error[LEO_MODEL_ERROR])
{
    return leo::give_onnx([&] { return leo::import_graph(data, bytes, options); }, onnx, onnx_bytes,
                          error);
}
