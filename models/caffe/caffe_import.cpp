/* SPDX-License-Identifier: Apache-2.0 */
/* A Caffe network, a text of layers and a file of weights, to an ONNX file. */
#include "caffe_net.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <set>

namespace leo
{
namespace
{

using caffe_file::Layer;
using caffe_file::Net;

/* Words that change nothing in a network that only runs forward. */
const std::set<std::string> harmless = {"param",
                                        "weight_filler",
                                        "bias_filler",
                                        "filler",
                                        "scale_filler",
                                        "engine",
                                        "loss_weight",
                                        "propagate_down",
                                        "phase",
                                        "transform_param",
                                        "data_param",
                                        "dummy_data_param",
                                        "loss_param",
                                        "accuracy_param",
                                        "dropout_param",
                                        "force_backward",
                                        "debug_info",
                                        "state",
                                        "blobs_lr",
                                        "weight_decay",
                                        "moving_average_fraction",
                                        "use_global_stats",
                                        "force_nd_im2col",
                                        "stable_prod_grad",
                                        "batchnorm_param",
                                        "sigmoid_param",
                                        "tanh_param",
                                        "image_data_param",
                                        "name",
                                        "min_level",
                                        "max_level"};

// Remembers errors, and names that the messages do not have.
class text_errors : public google::protobuf::io::ErrorCollector
{
  public:
    void AddError(int line, int column, const std::string &message) override
    {
        keep(line, column, message);
    }
    void AddWarning(int line, int column, const std::string &message) override
    {
        const auto end = message.rfind('"'), begin = message.rfind('"', end - 1);
        const bool named = message.find("has no field named") != std::string::npos;
        if (named && harmless.count(message.substr(begin + 1, end - begin - 1)) == 0) {
            keep(line, column, message.substr(message.find("has no")));
        }
    }
    std::string first;

  private:
    void keep(int line, int column, const std::string &message)
    {
        if (first.empty()) {
            first = "line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1) +
                    ": " + message;
        }
    }
};

void read_text(const void *data, size_t bytes, Net *net)
{
    google::protobuf::io::ArrayInputStream stream(data, static_cast<int>(bytes));
    google::protobuf::TextFormat::Parser parser;
    text_errors errors;
    parser.RecordErrorsTo(&errors);
    parser.AllowUnknownField(true);
    if (!parser.Parse(&stream, net) || !errors.first.empty()) {
        throw import_error(LEO_ERR_PARSE, "the network's text, " + errors.first);
    }
}

void read_weights(const void *data, size_t bytes, caffe_file::Weights *weights)
{
    google::protobuf::io::CodedInputStream stream(static_cast<const uint8_t *>(data),
                                                  static_cast<int>(bytes));
    if (!weights->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage() ||
        weights->layer_size() + weights->layers_size() == 0) {
        throw import_error(LEO_ERR_PARSE, "the file of --weight is no Caffe model");
    }
}

// "INNER_PRODUCT" is "InnerProduct"; what does not follow the rule stands in the list.
std::string type_of(const caffe_file::OldLayer &layer)
{
    static const std::map<std::string, std::string> special = {
        {"LRN", "LRN"},       {"RELU", "ReLU"},
        {"TANH", "TanH"},     {"BNLL", "BNLL"},
        {"ABSVAL", "AbsVal"}, {"ARGMAX", "ArgMax"},
        {"MVN", "MVN"},       {"SOFTMAX_LOSS", "SoftmaxWithLoss"}};
    const std::string name = caffe_file::OldType_Name(layer.type());
    const auto found = special.find(name);
    if (found != special.end()) {
        return found->second;
    }
    std::string type;
    for (size_t i = 0; i < name.size(); i++) {
        const bool starts = i == 0 || name[i - 1] == '_';
        if (name[i] != '_') {
            type += starts ? name[i] : static_cast<char>(name[i] - 'A' + 'a');
        }
    }
    return type;
}

// Layers of old files have the same parts under other numbers.
void take_old(const caffe_file::OldLayer &old, Layer *layer)
{
    std::string text;
    caffe_file::OldLayer rest = old;
    rest.clear_type();
    google::protobuf::TextFormat::PrintToString(rest, &text);
    if (!google::protobuf::TextFormat::ParseFromString(text, layer)) {
        throw import_error(LEO_ERR_PARSE, "layer " + old.name() + " cannot be read");
    }
    layer->set_type(type_of(old));
}

bool rules_say(const google::protobuf::RepeatedPtrField<caffe_file::StateRule> &rules)
{
    for (const auto &rule : rules) {
        if ((!rule.has_phase() || rule.phase() == caffe_file::TEST) && rule.stage_size() == 0) {
            return true;
        }
    }
    return false;
}

bool is_for_test(const Layer &layer)
{
    return layer.include_size() ? rules_say(layer.include()) : !rules_say(layer.exclude());
}

std::vector<Layer> layers_of(const Net &net)
{
    std::vector<Layer> layers;
    for (const auto &old : net.layers()) {
        layers.emplace_back();
        take_old(old, &layers.back());
    }
    for (const auto &layer : net.layer()) {
        layers.push_back(layer);
    }
    std::vector<Layer> kept;
    for (const auto &layer : layers) {
        if (is_for_test(layer) && layer.type() != "Silence" && layer.type() != "Accuracy") {
            kept.push_back(layer);
        }
    }
    return kept;
}

void add_input(caffe_net &net, const std::string &name, const dims &shape)
{
    net.to.input(name, ONNX_FLOAT, shape);
    net.rank[name] = static_cast<int>(shape.size());
}

void take_inputs(caffe_net &net, const Net &file)
{
    for (int i = 0; i < file.input_size(); i++) {
        dims shape;
        if (i < file.input_shape_size()) {
            shape = dims_of(file.input_shape(i));
        } else if (file.input_dim_size() >= 4 * (i + 1)) {
            shape.assign(file.input_dim().begin() + 4 * i, file.input_dim().begin() + 4 * (i + 1));
        } else {
            throw import_error(LEO_ERR_PARSE, "input " + file.input(i) + " has no shape");
        }
        add_input(net, file.input(i), shape);
    }
}

/* The tensors of layers: a name that is written several times (layers in place) stands for the
 * network's tensor when it is written last. */
struct wiring {
    std::vector<names> in, out;
    names left; /**< what no layer reads */
};

wiring wire(caffe_net &net, const Net &file, const std::vector<Layer> &layers)
{
    wiring wires;
    std::map<std::string, int> writes;
    std::map<std::string, std::string> now;
    names order;
    const std::set<std::string> inputs(file.input().begin(), file.input().end());
    for (const auto &name : inputs) {
        now[name] = name;
    }
    for (const auto &layer : layers) {
        for (const auto &top : layer.top()) {
            writes[top]++;
        }
    }
    for (const auto &layer : layers) {
        names in, out;
        for (const auto &bottom : layer.bottom()) {
            if (now.count(bottom) == 0) {
                throw import_error(LEO_ERR_PARSE, "layer " + layer.name() + " reads " + bottom +
                                                      ", which no layer before it makes");
            }
            in.push_back(now[bottom]);
            net.uses[now[bottom]]++;
        }
        for (const auto &top : layer.top()) {
            const bool last = --writes[top] == 0 && inputs.count(top) == 0;
            now[top] = last ? top : net.to.fresh(top);
            out.push_back(now[top]);
            order.push_back(now[top]);
        }
        wires.in.push_back(in);
        wires.out.push_back(out);
    }
    for (const auto &name : order) {
        if (net.uses[name] == 0) {
            wires.left.push_back(name);
        }
    }
    return wires;
}

std::map<std::string, const blobs *> by_layer(const caffe_file::Weights &weights)
{
    std::map<std::string, const blobs *> found;
    for (const auto &layer : weights.layers()) {
        found[layer.name()] = &layer.blobs();
    }
    for (const auto &layer : weights.layer()) {
        found[layer.name()] = &layer.blobs();
    }
    return found;
}

void take_layer(caffe_layer &now)
{
    const Layer &layer = now.layer;
    if (layer.type() == "Input") {
        const auto &shapes = layer.input_param();
        for (size_t i = 0; i < now.out.size(); i++) {
            now.need(shapes.shape_size() > 0, "an input has no shape");
            const int at = static_cast<int>(i) < shapes.shape_size() ? static_cast<int>(i) : 0;
            add_input(now.net, now.out[i], dims_of(shapes.shape(at)));
        }
        return;
    }
    const caffe_handler handler = caffe_find(layer.type());
    if (!handler) {
        now.fail("layers of this type are not served; --out_nodes can end the network before it");
    }
    now.need(!now.in.empty() && !now.out.empty(), "it has no bottom or no top");
    handler(now);
}

/* Layers that the outputs need; with --out_nodes a network may end before a layer that is not
 * served, so those behind are left out. */
std::set<size_t> needed_layers(const std::vector<Layer> &layers, const wiring &wires,
                               const char *out_nodes)
{
    std::set<std::string> wanted(wires.left.begin(), wires.left.end());
    std::set<size_t> needed;
    std::set<std::string> named;
    for (std::string rest = out_nodes ? out_nodes : ""; !rest.empty();) {
        const auto end = rest.find(';');
        const std::string item = rest.substr(0, end);
        named.insert(item.substr(0, item.rfind(':')));
        rest = end == std::string::npos ? "" : rest.substr(end + 1);
    }
    if (!named.empty()) {
        wanted.clear();
    }
    for (size_t i = layers.size(); i-- > 0;) {
        bool needs = named.count(layers[i].name()) > 0 || layers[i].type() == "Input";
        for (const auto &name : wires.out[i]) {
            needs = needs || wanted.count(name) > 0;
        }
        if (needs) {
            needed.insert(i);
            wanted.insert(wires.in[i].begin(), wires.in[i].end());
        }
    }
    return needed;
}

std::string import_caffe(const struct leo_import_bytes *text,
                         const struct leo_import_bytes *weights, const char *out_nodes)
{
    Net file;
    caffe_file::Weights values;
    read_text(text->data, text->bytes, &file);
    read_weights(weights->data, weights->bytes, &values);
    const std::vector<Layer> layers = layers_of(file);
    if (layers.empty()) {
        throw import_error(LEO_ERR_PARSE, "the network has no layers");
    }
    caffe_net net;
    take_inputs(net, file);
    const wiring wires = wire(net, file, layers);
    const auto found = by_layer(values);
    const auto needed = needed_layers(layers, wires, out_nodes);
    for (size_t i = 0; i < layers.size(); i++) {
        if (needed.count(i)) {
            const auto own = found.find(layers[i].name());
            caffe_layer now = {net,         net.to,
                               layers[i],   own == found.end() ? nullptr : own->second,
                               wires.in[i], wires.out[i]};
            take_layer(now);
        }
    }
    for (const auto &name : wires.left) {
        net.to.output(name);
    }
    return net.to.serialize();
}

} // namespace

} // namespace leo

leo_status leo_caffe_to_onnx(const struct leo_import_bytes *text,
                             const struct leo_import_bytes *weights, const char *out_nodes,
                             uint8_t **onnx, size_t *bytes, char error[LEO_MODEL_ERROR])
{
    return leo::give_onnx([&] { return leo::import_caffe(text, weights, out_nodes); }, onnx, bytes,
                          error);
}
