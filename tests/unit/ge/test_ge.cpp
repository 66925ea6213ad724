// SPDX-License-Identifier: Apache-2.0
// Classes of namespace ge as an adapter with the old ABI of std::string uses them.
extern "C" {
#include "harness.h"
}

#include <ge.hpp>

#include <cstring>

using namespace ge;

static void standard_types_have_defaults(void)
{
    CU_ASSERT(OperatorFactory::IsExistOp("Conv2D"));
    CU_ASSERT(OperatorFactory::IsExistOp("OutfeedEnqueueOpV2")); // MindSpore's Print
    CU_ASSERT(!OperatorFactory::IsExistOp("NoSuchType"));
    CU_ASSERT(!OperatorFactory::IsExistOp(static_cast<const char *>(nullptr)));
    Operator conv = OperatorFactory::CreateOperator("first", "Conv2D");
    std::vector<int64_t> dilations;
    int64_t groups = 7;
    std::string format;
    CU_ASSERT_EQUAL(conv.GetAttr("dilations", dilations), GRAPH_SUCCESS);
    CU_ASSERT(dilations == std::vector<int64_t>({1, 1, 1, 1}));
    CU_ASSERT_EQUAL(conv.GetAttr("groups", groups), GRAPH_SUCCESS);
    CU_ASSERT_EQUAL(groups, 1);
    CU_ASSERT_EQUAL(conv.GetAttr(std::string("data_format"), format), GRAPH_SUCCESS);
    CU_ASSERT(format == "NHWC");
    CU_ASSERT(conv.GetName() == "first" && conv.GetOpType() == "Conv2D");
    CU_ASSERT_EQUAL(conv.GetInputsSize(), 4);
    bool keep = true, empty = false;
    Operator mean = OperatorFactory::CreateOperator("m", "ReduceMean");
    CU_ASSERT_EQUAL(mean.GetAttr("keep_dims", keep), GRAPH_SUCCESS);
    CU_ASSERT(!keep);
    CU_ASSERT_EQUAL(mean.GetAttr("noop_with_empty_axes", empty), GRAPH_SUCCESS);
    CU_ASSERT(empty);
    float epsilon = 0;
    Operator grad = OperatorFactory::CreateOperator("g", "BNTrainingUpdateGrad");
    CU_ASSERT_EQUAL(grad.GetAttr("epsilon", epsilon), GRAPH_SUCCESS);
    CU_ASSERT_EQUAL(epsilon, 0.0001f);
}

// Callers send on what they read without a look at the status.
static void what_is_not_there_is_empty(void)
{
    Operator conv = OperatorFactory::CreateOperator("c", "Conv2D");
    int64_t number = 182;
    bool flag = true;
    std::vector<int32_t> list = {1, 2};
    DataType type = static_cast<DataType>(9);
    CU_ASSERT_EQUAL(conv.GetAttr("no_such", number), GRAPH_FAILED);
    CU_ASSERT_EQUAL(number, 0);
    CU_ASSERT_EQUAL(conv.GetAttr("groups", flag), GRAPH_FAILED); // of another kind
    CU_ASSERT(!flag);
    CU_ASSERT_EQUAL(conv.GetAttr("no_such", list), GRAPH_FAILED);
    CU_ASSERT(list.empty());
    CU_ASSERT_EQUAL(conv.GetAttr("no_such", type), GRAPH_FAILED);
    CU_ASSERT_EQUAL(static_cast<int>(type), 0);
    Operator nothing = OperatorFactory::CreateOperator("n", "NoSuchType");
    CU_ASSERT(nothing.GetOpType().empty());
    CU_ASSERT_EQUAL(nothing.GetAttr("groups", number), GRAPH_FAILED);
}

class Own : public Operator
{
  public:
    explicit Own(const std::string &name) : Operator(name, "Own")
    {
        InputRegister("x");
        OptionalInputRegister("mask");
        DynamicOutputRegister("y", 2, true);
        AttrRegister("rate", 0.5f);
        AttrRegister("kind", AscendString("mean"));
    }
};

static void programs_define_their_own_types(void)
{
    static const OperatorCreatorRegister registered(
        "Own",
        [](const AscendString &name) -> Operator { return Own(std::string(name.GetString())); });
    CU_ASSERT_EQUAL(sizeof(registered), 1);
    CU_ASSERT_EQUAL(sizeof(Operator), 3 * sizeof(void *));
    CU_ASSERT_EQUAL(sizeof(Tensor), sizeof(std::shared_ptr<int>));
    Operator made = OperatorFactory::CreateOperator("mine", "Own");
    float rate = 0;
    std::string kind;
    CU_ASSERT_EQUAL(made.GetAttr("rate", rate), GRAPH_SUCCESS);
    CU_ASSERT_EQUAL(rate, 0.5f);
    CU_ASSERT_EQUAL(made.GetAttr(std::string("kind"), kind), GRAPH_SUCCESS);
    CU_ASSERT(kind == "mean");
    CU_ASSERT_EQUAL(made.GetDynamicOutputNum("y"), 2);
    CU_ASSERT_EQUAL(made.GetInputsSize(), 2);
    TensorDesc desc(Shape({2, 3}), FORMAT_ND, static_cast<DataType>(1));
    CU_ASSERT_EQUAL(made.UpdateDynamicOutputDesc("y", 1, desc), GRAPH_SUCCESS);
    CU_ASSERT_EQUAL(made.UpdateDynamicOutputDesc("y", 2, desc), GRAPH_FAILED);
    CU_ASSERT_EQUAL(made.GetOutputDesc("y1").GetShape().GetDim(1), 3);
    made.SetAttr("rate", 0.25f); // a copy shares what it describes
    Operator same = made;
    CU_ASSERT_EQUAL(same.GetAttr("rate", rate), GRAPH_SUCCESS);
    CU_ASSERT_EQUAL(rate, 0.25f);
}

static void tensors_hold_copies(void)
{
    uint8_t bytes[4] = {1, 2, 3, 4};
    Tensor tensor(TensorDesc(Shape({4}), FORMAT_ND, static_cast<DataType>(4)), bytes, 4);
    bytes[0] = 9;
    CU_ASSERT_EQUAL(tensor.GetSize(), 4);
    CU_ASSERT_EQUAL(tensor.GetData()[0], 1);
    int removed = 0;
    uint8_t *own = new uint8_t[2]();
    CU_ASSERT_EQUAL(tensor.SetData(own, 2,
                                   [&](uint8_t *data) {
                                       removed++;
                                       delete[] data;
                                   }),
                    GRAPH_SUCCESS);
    CU_ASSERT_EQUAL(tensor.GetSize(), 2);
    {
        auto taken = tensor.ResetData();
        CU_ASSERT(taken.get() == own);
        CU_ASSERT_EQUAL(removed, 0);
    }
    CU_ASSERT_EQUAL(removed, 1);
    CU_ASSERT_EQUAL(tensor.GetSize(), 0);
    CU_ASSERT_EQUAL(tensor.SetData(std::vector<std::string>{"a"}), GRAPH_FAILED);
    CU_ASSERT_EQUAL(tensor.SetData(static_cast<const uint8_t *>(nullptr), 3), GRAPH_FAILED);
    TensorDesc desc = tensor.GetTensorDesc(), moved = std::move(desc);
    CU_ASSERT_EQUAL(moved.GetShape().GetShapeSize(), 4);
    CU_ASSERT_EQUAL(Shape({2, -1}).GetShapeSize(), -1);
    CU_ASSERT(AscendString("a") < AscendString("b") && strcmp(AscendString().GetString(), "") == 0);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"standard_types_have_defaults", standard_types_have_defaults},
        {"what_is_not_there_is_empty", what_is_not_there_is_empty},
        {"programs_define_their_own_types", programs_define_their_own_types},
        {"tensors_hold_copies", tensors_hold_copies},
    };
    return leo_test_main("ge", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
