/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes of namespace ge as adapters are compiled against them (libgraph, libge_runner,
 * libge_compiler; the old std::string, _GLIBCXX_USE_CXX11_ABI=0). Programs hold objects by value,
 * so sizes are part of the interface: each class is one shared_ptr, Operator has a vtable pointer
 * before it. Names and signatures: symbols that MindSpore 2.10.0 asks for.
 *
 * Descriptions of tensors and operators are containers. There is no graph engine: what would build,
 * compile or run a graph fails with a message.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace ge
{

using Status = uint32_t;
using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0, GRAPH_FAILED = 0xFFFFFFFF;

enum DataType : int; /* numbers of aclDataType */
enum Format : int;   /* numbers of aclFormat */
enum Placement : int;

constexpr DataType DT_UNDEFINED = static_cast<DataType>(28);
constexpr Format FORMAT_ND = static_cast<Format>(2);

class AscendString
{
  public:
    AscendString() = default;
    explicit AscendString(const char *name);
    const char *GetString() const; /**< "" for an empty one */
    size_t Hash() const;
    bool operator==(const AscendString &other) const;
    bool operator<(const AscendString &other) const;

  private:
    std::shared_ptr<std::string> name_;
};

class Shape
{
  public:
    Shape();
    explicit Shape(const std::vector<int64_t> &dims);
    size_t GetDimNum() const;
    graphStatus SetDim(size_t index, int64_t value);
    std::vector<int64_t> GetDims() const;
    int64_t GetDim(size_t index) const; /**< 0 beyond the last */
    int64_t GetShapeSize() const;       /**< -1 if a dimension is not known */

  private:
    std::shared_ptr<std::vector<int64_t>> dims_;
};

struct TensorDescData;
class TensorDesc
{
  public:
    TensorDesc();
    TensorDesc(Shape shape, Format format, DataType type);
    TensorDesc(const TensorDesc &other);
    TensorDesc(TensorDesc &&other);
    TensorDesc &operator=(const TensorDesc &other);
    TensorDesc &operator=(TensorDesc &&other);
    void SetShape(const Shape &shape);
    Shape GetShape() const;
    void SetOriginShape(const Shape &shape);
    Shape GetOriginShape() const;
    graphStatus SetShapeRange(const std::vector<std::pair<int64_t, int64_t>> &range);
    graphStatus GetShapeRange(std::vector<std::pair<int64_t, int64_t>> &range) const;
    void SetFormat(Format format);
    Format GetFormat() const;
    void SetOriginFormat(Format format);
    Format GetOriginFormat() const;
    void SetDataType(DataType type);
    DataType GetDataType() const;
    void SetPlacement(Placement placement);
    Placement GetPlacement() const;
    void SetRealDimCnt(int64_t count);
    int64_t GetRealDimCnt() const;

  private:
    std::shared_ptr<TensorDescData> data_;
};

struct TensorData;
class Tensor
{
  public:
    using Delete = std::function<void(uint8_t *)>;
    Tensor();
    explicit Tensor(const TensorDesc &desc);
    Tensor(const TensorDesc &desc, const uint8_t *data, size_t size);
    graphStatus SetTensorDesc(const TensorDesc &desc);
    TensorDesc GetTensorDesc() const;
    uint8_t *GetData();
    const uint8_t *GetData() const;
    size_t GetSize() const;
    std::unique_ptr<uint8_t[], Delete> ResetData(); /**< what it held; it is empty then */
    graphStatus SetData(const uint8_t *data, size_t size);
    graphStatus SetData(uint8_t *data, size_t size, const Delete &remove); /**< takes it over */
    graphStatus SetData(const std::string &data);
    graphStatus SetData(const std::vector<std::string> &data);

  private:
    std::shared_ptr<TensorData> data_;
};

class TensorType
{
  public:
    TensorType(const std::initializer_list<DataType> &types);

  private:
    std::shared_ptr<std::vector<DataType>> types_;
};

class Promote
{
  public:
    Promote(const std::initializer_list<const char *> &names);

  private:
    std::shared_ptr<std::vector<std::string>> names_;
};

class Graph;
class InferenceContext;
struct OperatorData;

class Operator
{
  public:
    using InferFunc = std::function<graphStatus(Operator &)>;
    Operator() = default;
    explicit Operator(const std::string &type);
    explicit Operator(const char *type);
    Operator(const std::string &name, const std::string &type);
    Operator(const AscendString &name, const AscendString &type);
    Operator(const char *name, const char *type);
    virtual ~Operator() = default;

    std::string GetName() const;
    graphStatus GetName(AscendString &name) const;
    std::string GetOpType() const;
    graphStatus GetOpType(AscendString &type) const;

    Operator &SetInput(const std::string &to, const Operator &from);
    Operator &SetInput(const char *to, const Operator &from);
    Operator &SetInput(const std::string &to, const Operator &from, const std::string &output);
    Operator &SetInput(const char *to, uint32_t index, const Operator &from);
    Operator &SetInput(const char *to, uint32_t index, const Operator &from, const char *output);
    Operator &AddControlInput(const Operator &from);
    void SetSubgraphBuilder(const char *name, uint32_t index,
                            const std::function<Graph()> &builder);

    /** GRAPH_FAILED: no such input or output was registered. */
    graphStatus UpdateInputDesc(const std::string &name, const TensorDesc &desc);
    graphStatus UpdateInputDesc(const char *name, const TensorDesc &desc);
    graphStatus UpdateOutputDesc(const std::string &name, const TensorDesc &desc);
    graphStatus UpdateOutputDesc(const char *name, const TensorDesc &desc);
    graphStatus UpdateDynamicOutputDesc(const char *name, uint32_t index, const TensorDesc &desc);
    TensorDesc GetInputDesc(const std::string &name) const;
    TensorDesc GetInputDesc(uint32_t index) const;
    TensorDesc GetInputDescByName(const char *name) const;
    TensorDesc GetDynamicInputDesc(const char *name, uint32_t index) const;
    TensorDesc GetOutputDesc(const std::string &name) const;
    TensorDesc GetOutputDesc(uint32_t index) const;
    TensorDesc GetOutputDescByName(const char *name) const;
    graphStatus TryGetInputDesc(const char *name, TensorDesc &desc) const;
    graphStatus GetInputConstData(const std::string &name, Tensor &data) const;
    graphStatus GetInputConstData(const char *name, Tensor &data) const;
    size_t GetInputsSize() const;
    int GetDynamicOutputNum(const std::string &name) const;
    std::shared_ptr<InferenceContext> GetInferenceContext() const;

    Operator &SetAttr(const char *name, bool value);
    Operator &SetAttr(const char *name, int32_t value);
    Operator &SetAttr(const char *name, uint32_t value);
    Operator &SetAttr(const char *name, int64_t value);
    Operator &SetAttr(const char *name, float value);
    Operator &SetAttr(const char *name, const char *value);
    Operator &SetAttr(const char *name, const DataType &value);
    Operator &SetAttr(const char *name, const Tensor &value);
    Operator &SetAttr(const char *name, const std::vector<int32_t> &value);
    Operator &SetAttr(const char *name, const std::vector<int64_t> &value);
    Operator &SetAttr(const char *name, const std::vector<float> &value);
    Operator &SetAttr(const char *name, const std::vector<DataType> &value);
    Operator &SetAttr(const char *name, const std::vector<std::vector<int64_t>> &value);
    Operator &SetAttr(const std::string &name, bool value);
    Operator &SetAttr(const std::string &name, int32_t value);
    Operator &SetAttr(const std::string &name, int64_t value);
    Operator &SetAttr(const std::string &name, float value);
    Operator &SetAttr(const std::string &name, const std::string &value);
    Operator &SetAttr(const std::string &name, const std::vector<bool> &value);
    Operator &SetAttr(const std::string &name, const std::vector<int32_t> &value);
    Operator &SetAttr(const std::string &name, const std::vector<int64_t> &value);
    Operator &SetAttr(const std::string &name, const std::vector<float> &value);
    Operator &SetAttr(const std::string &name, const std::vector<std::string> &value);
    /** GRAPH_FAILED, and an empty value: the type has no such attribute, or of another kind.
     * Callers send on what they read without a look at the status. */
    graphStatus GetAttr(const char *name, bool &value) const;
    graphStatus GetAttr(const char *name, int32_t &value) const;
    graphStatus GetAttr(const char *name, int64_t &value) const;
    graphStatus GetAttr(const char *name, float &value) const;
    graphStatus GetAttr(const char *name, DataType &value) const;
    graphStatus GetAttr(const char *name, Tensor &value) const;
    graphStatus GetAttr(const char *name, std::vector<int32_t> &value) const;
    graphStatus GetAttr(const char *name, std::vector<int64_t> &value) const;
    graphStatus GetAttr(const char *name, std::vector<float> &value) const;
    graphStatus GetAttr(const char *name, std::vector<DataType> &value) const;
    graphStatus GetAttr(const char *name, std::vector<std::vector<int64_t>> &value) const;
    graphStatus GetAttr(const std::string &name, int32_t &value) const;
    graphStatus GetAttr(const std::string &name, int64_t &value) const;
    graphStatus GetAttr(const std::string &name, std::string &value) const;
    graphStatus GetAttr(const std::string &name, std::vector<std::string> &value) const;

    /* What a type is: called by the constructors of programs' own types. */
    void InputRegister(const std::string &name);
    void InputRegister(const char *name, const char *type);
    void OptionalInputRegister(const std::string &name);
    void OptionalInputRegister(const char *name, const char *type);
    void OutputRegister(const std::string &name);
    void OutputRegister(const char *name, const char *type);
    void DynamicInputRegister(const char *name, uint32_t count, bool push_back);
    void DynamicInputRegister(const char *name, uint32_t count, const char *type, bool push_back);
    void DynamicInputRegisterByIndex(const char *name, uint32_t count, size_t index);
    void DynamicOutputRegister(const char *name, uint32_t count, bool push_back);
    void DynamicOutputRegister(const char *name, uint32_t count, const char *type, bool push_back);
    void SubgraphCountRegister(const char *name, uint32_t count);
    void RequiredAttrRegister(const std::string &name);
    void RequiredAttrWithTypeRegister(const char *name, const char *type);
    void DataTypeRegister(const char *name, const TensorType &types);
    void DataTypeRegister(const char *name, const Promote &types);
    void InferFuncRegister(const InferFunc &infer);
    void AttrRegister(const char *name, bool value);
    void AttrRegister(const char *name, int64_t value);
    void AttrRegister(const char *name, float value);
    void AttrRegister(const char *name, const AscendString &value);
    void AttrRegister(const char *name, const DataType &value);
    void AttrRegister(const char *name, const Tensor &value);
    void AttrRegister(const char *name, const std::vector<bool> &value);
    void AttrRegister(const char *name, const std::vector<int64_t> &value);
    void AttrRegister(const char *name, const std::vector<float> &value);
    void AttrRegister(const char *name, const std::vector<DataType> &value);
    void AttrRegister(const char *name, const std::vector<AscendString> &value);
    void AttrRegister(const char *name, const std::vector<std::vector<int64_t>> &value);

  private:
    OperatorData &Data(); /**< made on first use */
    std::shared_ptr<OperatorData> data_;
};

using OperatorCreator = std::function<Operator(const std::string &)>;
using OperatorCreatorV2 = std::function<Operator(const AscendString &)>;

class OperatorFactory
{
  public:
    /** An operator without a type if it is not defined. */
    static Operator CreateOperator(const std::string &name, const std::string &type);
    static Operator CreateOperator(const char *name, const char *type);
    static bool IsExistOp(const std::string &type);
    static bool IsExistOp(const char *type);
};

/* Objects of these are one byte large in programs: nothing may be kept in them. */
class OperatorCreatorRegister
{
  public:
    OperatorCreatorRegister(const std::string &type, const OperatorCreator &creator);
    OperatorCreatorRegister(const char *type, const OperatorCreatorV2 &creator);
};

class InferShapeFuncRegister
{
  public:
    InferShapeFuncRegister(const std::string &type, const Operator::InferFunc &infer);
    InferShapeFuncRegister(const char *type, const Operator::InferFunc &infer);
};

/** Texts of status codes; programs add theirs with inline code. */
class StatusFactory
{
  public:
    static StatusFactory *Instance();

  private:
    std::map<uint32_t, std::string> texts_;
};

class GNode;
class GraphBuffer;
struct GraphData;

/* Graphs are made while a program starts, so making and naming one is silent. */
class Graph
{
  public:
    explicit Graph(const std::string &name);
    explicit Graph(const char *name);
    Graph &SetInputs(const std::vector<Operator> &inputs);
    Graph &SetOutputs(const std::vector<Operator> &outputs);
    Graph &SetOutputs(const std::vector<std::pair<Operator, std::string>> &outputs);
    void SetNeedIteration(bool needs);
    const std::string GetName() const;
    std::vector<GNode> GetDirectNode() const;
    graphStatus RemoveNode(GNode &node);
    graphStatus RemoveEdge(GNode &from, int32_t output, GNode &to, int32_t input);
    graphStatus AddDataEdge(GNode &from, int32_t output, GNode &to, int32_t input);
    graphStatus AddControlEdge(GNode &from, GNode &to);
    graphStatus SaveToFile(const std::string &path) const;
    graphStatus SaveToMem(GraphBuffer &buffer) const;

  private:
    friend struct GraphAccess; /* ge_data.hpp */
    std::shared_ptr<GraphData> data_;
};

/** A compiled model: the bytes of its file. */
struct ModelBufferData {
    std::shared_ptr<uint8_t> data;
    uint64_t length;
};

using StringMap = std::map<AscendString, AscendString>;

/*
 * From an ONNX model to a compiled one (libfmk_onnx_parser). Any thread. They return GRAPH_FAILED
 * with the reason on stderr and in aclGetRecentErrMsg.
 */

/** Keeps a copy of the model in the graph; it is read when it is built. No option is known. */
graphStatus aclgrphParseONNXFromMem(const char *data, size_t size, const StringMap &options,
                                    Graph &graph);
/** Sets for all that is built from now on: ge.socVersion (needed), ge.exec.precision_mode. */
graphStatus aclgrphBuildInitialize(StringMap &options);
/** Compiles a parsed graph; input_shape ("a:2,3;b:4") for inputs whose sizes are open. */
graphStatus aclgrphBuildModel(const Graph &graph, const StringMap &options, ModelBufferData &model);
/** Writes NAME.om. */
graphStatus aclgrphSaveModel(const char *name, const ModelBufferData &model);
void aclgrphBuildFinalize();

using Options = std::map<std::string, std::string>;
Status GEInitialize(const Options &options);
Status GEFinalize();

} // namespace ge
#pragma GCC visibility pop
