/* SPDX-License-Identifier: Apache-2.0 */
/* From an ONNX model in memory to a compiled one: the importer behind the graph interface. */
#include <ge_data.hpp>

#include <leo/acl_hook.h>
#include <leo/alloc.h>
#include <leo/model_import.h>

#include <cstdio>
#include <cstring>
#include <mutex>

namespace ge
{

// What aclgrphBuildInitialize was given; programs build in other threads than the one that calls
// it.
struct Settings {
    std::mutex lock;
    std::string soc; /* "": not initialized */
    bool keep_f32 = false;
};

static Settings &TheSettings()
{
    static Settings *settings = new Settings; // threads may still build while the process ends
    return *settings;
}

static graphStatus Failed(const char *func, const std::string &reason)
{
    fprintf(stderr, "leonardo: %s: %s\n", func, reason.c_str());
    (void)leo_acl_fail(ACL_ERROR_INVALID_PARAM, func, "%s", reason.c_str());
    return GRAPH_FAILED;
}

// Each option is one that is used, or one that changes nothing here.
static graphStatus CheckOptions(const char *func, const StringMap &options,
                                std::initializer_list<const char *> known)
{
    for (const auto &option : options) {
        bool found = false;
        for (const char *name : known) {
            found = found || strcmp(name, option.first.GetString()) == 0;
        }
        if (!found) {
            return Failed(func,
                          std::string("option ") + option.first.GetString() + " is not served");
        }
    }
    return GRAPH_SUCCESS;
}

static std::string OptionOf(const StringMap &options, const char *name)
{
    const auto at = options.find(AscendString(name));
    return at == options.end() ? "" : at->second.GetString();
}

graphStatus aclgrphParseONNXFromMem(const char *data, size_t size, const StringMap &options,
                                    Graph &graph)
{
    GraphData *to = GraphAccess::Of(graph);
    if (!data || size == 0 || !to) {
        return Failed(__func__, "there is no model or no graph");
    }
    if (CheckOptions(__func__, options, {}) != GRAPH_SUCCESS) {
        return GRAPH_FAILED;
    }
    to->onnx.assign(data, data + size);
    return GRAPH_SUCCESS;
}

// Operators have one implementation, so what chooses among several is only read.
graphStatus aclgrphBuildInitialize(StringMap &options)
{
    Settings &settings = TheSettings();
    const std::string soc = OptionOf(options, "ge.socVersion");
    const std::string mode = OptionOf(options, "ge.exec.precision_mode");
    if (CheckOptions(__func__, options,
                     {"ge.socVersion", "ge.exec.precision_mode", "ge.opSelectImplmode",
                      "ge.optypelistForImplmode"}) != GRAPH_SUCCESS) {
        return GRAPH_FAILED;
    }
    if (!leo_import_knows_chip(soc.c_str())) {
        return Failed(__func__, "ge.socVersion is '" + soc + "', which is no chip that is known");
    }
    if (!mode.empty() &&
        std::string(LEO_IMPORT_PRECISIONS).find("|" + mode + "|") == std::string::npos) {
        return Failed(__func__, "ge.exec.precision_mode is '" + mode + "', which is none of " +
                                    LEO_IMPORT_PRECISIONS);
    }
    std::lock_guard<std::mutex> guard(settings.lock);
    settings.soc = soc;
    settings.keep_f32 = leo_import_keeps_f32(mode.c_str());
    return GRAPH_SUCCESS;
}

void aclgrphBuildFinalize()
{
    Settings &settings = TheSettings();
    std::lock_guard<std::mutex> guard(settings.lock);
    settings.soc.clear();
}

static graphStatus WriteModel(const char *func, leo_model *model, ModelBufferData &to)
{
    uint8_t *bytes = nullptr;
    size_t size = 0;
    const leo_status status = leo_model_write(model, &bytes, &size);
    if (status != LEO_OK) {
        return Failed(func, "out of host memory");
    }
    to.data = std::shared_ptr<uint8_t>(bytes, [](uint8_t *data) { leo_free(data); });
    to.length = size;
    return GRAPH_SUCCESS;
}

static graphStatus Compile(const char *func, const std::vector<uint8_t> &onnx,
                           const leo_import_options &options, ModelBufferData &to)
{
    leo_model model;
    char error[LEO_MODEL_ERROR];
    if (leo_import_onnx(onnx.data(), onnx.size(), &options, &model, error) != LEO_OK) {
        return Failed(func, error);
    }
    const graphStatus status = WriteModel(func, &model, to);
    leo_model_free(&model);
    return status;
}

graphStatus aclgrphBuildModel(const Graph &graph, const StringMap &options, ModelBufferData &model)
{
    Settings &settings = TheSettings();
    const GraphData *from = GraphAccess::Of(graph);
    leo_import_shapes shapes;
    leo_import_options import = {};
    std::string soc;
    {
        std::lock_guard<std::mutex> guard(settings.lock);
        soc = settings.soc;
        import.keep_f32 = settings.keep_f32;
    }
    if (soc.empty() || !from || from->onnx.empty()) {
        return Failed(__func__, soc.empty() ? "aclgrphBuildInitialize was not called"
                                            : "the graph is not one that was parsed");
    }
    if (CheckOptions(__func__, options, {"input_shape"}) != GRAPH_SUCCESS) {
        return GRAPH_FAILED;
    }
    const std::string text = OptionOf(options, "input_shape");
    if (!leo_import_read_shapes(text.c_str(), &shapes)) {
        return Failed(__func__, "input_shape is '" + text +
                                    "'; it must be like a:1,3,224,224;b:1,8 with fixed sizes");
    }
    import.soc = soc.c_str();
    import.name = "graph";
    import.shapes = shapes.list;
    import.shape_count = shapes.count;
    return Compile(__func__, from->onnx, import, model);
}

graphStatus aclgrphSaveModel(const char *name, const ModelBufferData &model)
{
    if (!name || !model.data) {
        return Failed(__func__, "there is no name or no model");
    }
    const std::string path = std::string(name) + ".om";
    FILE *file = fopen(path.c_str(), "wb");
    bool good = file && fwrite(model.data.get(), 1, model.length, file) == model.length;
    if (file) {
        good = fclose(file) == 0 && good;
    }
    return good ? GRAPH_SUCCESS : Failed(__func__, "the file " + path + " cannot be written");
}

} // namespace ge
