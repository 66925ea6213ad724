// SPDX-License-Identifier: Apache-2.0
// From an ONNX model in memory to a compiled one, as a program that builds models itself does it.
extern "C" {
#include "harness.h"
}

#include <ge.hpp>

#include <acl/acl.h>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace ge;

// Messages of ONNX, of which all lengths are below 128.
static std::string Field(int number, const std::string &bytes)
{
    return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) +
           bytes;
}

static std::string Number(int number, int value)
{
    return std::string(1, static_cast<char>(number << 3)) + static_cast<char>(value);
}

// A float tensor [open, 3], or [2, 3].
static std::string Tensor23(const char *name, bool open)
{
    const std::string rows = open ? Field(2, "rows") : Number(1, 2);
    const std::string shape = Field(1, rows) + Field(1, Number(1, 3));
    return Field(1, name) + Field(2, Field(1, Number(1, 1) + Field(2, shape)));
}

static std::string OneNode(const char *op, bool open)
{
    const std::string node = Field(1, "x") + Field(2, "y") + Field(4, op);
    const std::string graph = Field(1, node) + Field(2, "one") + Field(11, Tensor23("x", open)) +
                              Field(12, Tensor23("y", open));
    return Number(1, 8) + Field(7, graph) + Field(8, Number(2, 13));
}

static StringMap Map(const char *name, const char *value)
{
    return {{AscendString(name), AscendString(value)}};
}

static graphStatus Build(const std::string &onnx, const StringMap &options, ModelBufferData &model)
{
    Graph graph("one");
    if (aclgrphParseONNXFromMem(onnx.data(), onnx.size(), {}, graph) != GRAPH_SUCCESS) {
        return GRAPH_FAILED;
    }
    return aclgrphBuildModel(graph, options, model);
}

static void layouts_are_those_of_programs(void)
{
    CU_ASSERT_EQUAL(sizeof(Graph), sizeof(std::shared_ptr<int>));
    CU_ASSERT_EQUAL(sizeof(AscendString), sizeof(std::shared_ptr<int>));
    CU_ASSERT_EQUAL(sizeof(ModelBufferData), sizeof(std::shared_ptr<int>) + 8);
}

static void options_are_checked(void)
{
    ModelBufferData model = {};
    StringMap none, wrong_chip = Map("ge.socVersion", "Ascend999"),
                    unknown = Map("ge.socVersion", "Ascend910A"), mode = unknown;
    unknown.emplace(AscendString("ge.no_such"), AscendString("1"));
    mode.emplace(AscendString("ge.exec.precision_mode"), AscendString("force"));
    CU_ASSERT_EQUAL(Build(OneNode("Relu", false), {}, model), GRAPH_FAILED); // not initialized
    CU_ASSERT_EQUAL(aclgrphBuildInitialize(none), GRAPH_FAILED);
    CU_ASSERT_EQUAL(aclgrphBuildInitialize(wrong_chip), GRAPH_FAILED);
    CU_ASSERT(strstr(aclGetRecentErrMsg(), "Ascend999") != nullptr);
    CU_ASSERT_EQUAL(aclgrphBuildInitialize(unknown), GRAPH_FAILED);
    CU_ASSERT_EQUAL(aclgrphBuildInitialize(mode), GRAPH_FAILED);
}

static void bad_models_are_refused(void)
{
    ModelBufferData model = {};
    StringMap chip = Map("ge.socVersion", "Ascend910A");
    CU_ASSERT_EQUAL(aclgrphBuildInitialize(chip), GRAPH_SUCCESS);
    CU_ASSERT_EQUAL(Build("", {}, model), GRAPH_FAILED);
    CU_ASSERT_EQUAL(Build("no model", {}, model), GRAPH_FAILED);
    CU_ASSERT_EQUAL(Build(OneNode("NoSuchOperator", false), {}, model), GRAPH_FAILED);
    CU_ASSERT(strstr(aclGetRecentErrMsg(), "NoSuchOperator") != nullptr);
    CU_ASSERT_EQUAL(Build(OneNode("Relu", true), {}, model), GRAPH_FAILED);
    CU_ASSERT_EQUAL(Build(OneNode("Relu", true), Map("input_shape", "x:2,a"), model), GRAPH_FAILED);
    CU_ASSERT_EQUAL(Build(OneNode("Relu", true), Map("input_shape", "z:2,3"), model), GRAPH_FAILED);
    CU_ASSERT_EQUAL(Build(OneNode("Relu", false), Map("no_such", "1"), model), GRAPH_FAILED);
    CU_ASSERT_EQUAL(aclgrphBuildModel(Graph("empty"), {}, model), GRAPH_FAILED);
    CU_ASSERT(!model.data);
    CU_ASSERT_EQUAL(aclgrphSaveModel("nothing", model), GRAPH_FAILED);
    aclgrphBuildFinalize();
    CU_ASSERT_EQUAL(Build(OneNode("Relu", false), {}, model), GRAPH_FAILED);
}

// What a file holds is what the buffer holds.
static void models_are_built_and_saved(void)
{
    ModelBufferData model = {};
    StringMap chip = Map("ge.socVersion", "Ascend910A");
    const std::string name = "/tmp/test_aclgraph." + std::to_string(getpid());
    const std::string path = name + ".om";
    CU_ASSERT_EQUAL(aclgrphBuildInitialize(chip), GRAPH_SUCCESS);
    CU_ASSERT_EQUAL(Build(OneNode("Relu", true), Map("input_shape", "x:2,3"), model),
                    GRAPH_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(aclgrphSaveModel(name.c_str(), model), GRAPH_SUCCESS);
    std::string saved(model.length + 1, '\0');
    FILE *file = fopen(path.c_str(), "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fread(&saved[0], 1, saved.size(), file), model.length);
    CU_ASSERT_EQUAL(memcmp(saved.data(), model.data.get(), model.length), 0);
    (void)fclose(file);
    (void)remove(path.c_str());
    CU_ASSERT_EQUAL(aclgrphSaveModel("/no/such/folder/model", model), GRAPH_FAILED);
    aclgrphBuildFinalize();
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"layouts_are_those_of_programs", layouts_are_those_of_programs},
        {"options_are_checked", options_are_checked},
        {"bad_models_are_refused", bad_models_are_refused},
        {"models_are_built_and_saved", models_are_built_and_saved},
    };
    return leo_test_main("aclgraph", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
