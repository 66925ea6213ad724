/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs and sessions: there is no graph engine, and each call that would need one says so. */
#include "ge_data.hpp"

#include <acl/acl_base.h>
#include <cstdio>

#pragma GCC visibility push(default)
namespace ge
{

graphStatus NoGraphEngine(const char *what)
{
    fprintf(
        stderr,
        "leonardo: ge: %s needs the graph engine, which is not here. MindSpore runs operator by "
        "operator in graph mode with set_context(jit_config={\"jit_level\": \"O0\"}), in PyNative "
        "mode with MS_JIT=0 in the environment (on the 910A it compiles what is marked @jit, such "
        "as nn.SGD and nn.Adam, for the graph engine) or with @jit(backend=\"ms_backend\")\n",
        what);
    aclAppLog(ACL_ERROR, "ge", __FILE__, __LINE__, "%s needs a graph engine", what);
    return GRAPH_FAILED;
}

Status GEInitialize(const Options &)
{
    return GRAPH_SUCCESS; // options are of the graph engine; operators by name need none
}

Status GEFinalize()
{
    return GRAPH_SUCCESS;
}

using GNodePtr = std::shared_ptr<GNode>;

class GNode
{
  public:
    graphStatus GetName(AscendString &name) const;
    graphStatus GetType(AscendString &type) const;
    size_t GetInputsSize() const;
    size_t GetOutputsSize() const;
    std::pair<GNodePtr, int32_t> GetInDataNodesAndPortIndexs(int32_t index) const;
    std::vector<std::pair<GNodePtr, int32_t>> GetOutDataNodesAndPortIndexs(int32_t index) const;
    std::vector<GNodePtr> GetInControlNodes() const;
    std::vector<GNodePtr> GetOutControlNodes() const;

  private:
    std::shared_ptr<OperatorData> data_;
};

graphStatus GNode::GetName(AscendString &name) const
{
    name = AscendString("");
    return NoGraphEngine("a node of a graph");
}

graphStatus GNode::GetType(AscendString &type) const
{
    type = AscendString("");
    return NoGraphEngine("a node of a graph");
}

size_t GNode::GetInputsSize() const
{
    return 0;
}

size_t GNode::GetOutputsSize() const
{
    return 0;
}

std::pair<GNodePtr, int32_t> GNode::GetInDataNodesAndPortIndexs(int32_t) const
{
    return {nullptr, -1};
}

std::vector<std::pair<GNodePtr, int32_t>> GNode::GetOutDataNodesAndPortIndexs(int32_t) const
{
    return {};
}

std::vector<GNodePtr> GNode::GetInControlNodes() const
{
    return {};
}

std::vector<GNodePtr> GNode::GetOutControlNodes() const
{
    return {};
}

struct GraphBufferData;
class GraphBuffer
{
  public:
    GraphBuffer();
    ~GraphBuffer();
    const uint8_t *GetData() const;
    size_t GetSize() const;

  private:
    std::shared_ptr<GraphBufferData> data_;
};

GraphBuffer::GraphBuffer() = default;
GraphBuffer::~GraphBuffer() = default;

const uint8_t *GraphBuffer::GetData() const
{
    return nullptr;
}

size_t GraphBuffer::GetSize() const
{
    return 0;
}

Graph::Graph(const std::string &name) : data_(std::make_shared<GraphData>())
{
    data_->name = name;
}
Graph::Graph(const char *name) : Graph(TextOf(name))
{
}

Graph &Graph::SetInputs(const std::vector<Operator> &)
{
    (void)NoGraphEngine("building a graph");
    return *this;
}

Graph &Graph::SetOutputs(const std::vector<Operator> &)
{
    (void)NoGraphEngine("building a graph");
    return *this;
}

Graph &Graph::SetOutputs(const std::vector<std::pair<Operator, std::string>> &)
{
    (void)NoGraphEngine("building a graph");
    return *this;
}

void Graph::SetNeedIteration(bool)
{
    (void)NoGraphEngine("a graph with iterations");
}

const std::string Graph::GetName() const
{
    return data_ ? data_->name : "";
}

std::vector<GNode> Graph::GetDirectNode() const
{
    return {};
}

graphStatus Graph::RemoveNode(GNode &)
{
    return NoGraphEngine("changing a graph");
}

graphStatus Graph::RemoveEdge(GNode &, int32_t, GNode &, int32_t)
{
    return NoGraphEngine("changing a graph");
}

graphStatus Graph::AddDataEdge(GNode &, int32_t, GNode &, int32_t)
{
    return NoGraphEngine("changing a graph");
}

graphStatus Graph::AddControlEdge(GNode &, GNode &)
{
    return NoGraphEngine("changing a graph");
}

graphStatus Graph::SaveToFile(const std::string &) const
{
    return NoGraphEngine("saving a graph");
}

graphStatus Graph::SaveToMem(GraphBuffer &) const
{
    return NoGraphEngine("saving a graph");
}

class CompiledGraphSummary
{
  public:
    bool IsStatic() const;
    Status GetConstMemorySize(size_t &size) const;
    Status GetFeatureMemorySize(size_t &size) const;
    Status GetFixedFeatureMemorySize(size_t &size) const;
    Status GetRefreshableFeatureMemorySize(size_t &size) const;
    Status GetFeatureMemoryBaseRefreshable(bool &value) const;
    Status GetStreamNum(size_t &count) const;
    Status GetEventNum(size_t &count) const;
    Status GetOutputShapes(std::vector<Shape> &shapes) const;
    Status GetOutputDtypes(std::vector<DataType> &types) const;
    Status GetIOIndexesWithSameAddr(std::vector<std::pair<uint32_t, uint32_t>> &pairs) const;
};

bool CompiledGraphSummary::IsStatic() const
{
    return false;
}

static Status NoSummary()
{
    return NoGraphEngine("the summary of a compiled graph");
}

Status CompiledGraphSummary::GetConstMemorySize(size_t &) const
{
    return NoSummary();
}

Status CompiledGraphSummary::GetFeatureMemorySize(size_t &) const
{
    return NoSummary();
}

Status CompiledGraphSummary::GetFixedFeatureMemorySize(size_t &) const
{
    return NoSummary();
}

Status CompiledGraphSummary::GetRefreshableFeatureMemorySize(size_t &) const
{
    return NoSummary();
}

Status CompiledGraphSummary::GetFeatureMemoryBaseRefreshable(bool &) const
{
    return NoSummary();
}

Status CompiledGraphSummary::GetStreamNum(size_t &) const
{
    return NoSummary();
}

Status CompiledGraphSummary::GetEventNum(size_t &) const
{
    return NoSummary();
}

Status CompiledGraphSummary::GetOutputShapes(std::vector<Shape> &) const
{
    return NoSummary();
}

Status CompiledGraphSummary::GetOutputDtypes(std::vector<DataType> &) const
{
    return NoSummary();
}

Status
CompiledGraphSummary::GetIOIndexesWithSameAddr(std::vector<std::pair<uint32_t, uint32_t>> &) const
{
    return NoSummary();
}

class Allocator;

/* Programs make a session when they start, whether they will use it or not. */
class Session
{
  public:
    using Done = std::function<void(Status, std::vector<Tensor> &)>;
    using Callback = Status (*)(uint32_t, const std::map<std::string, Tensor> &);
    explicit Session(const Options &options);
    ~Session();
    Status AddGraph(uint32_t id, const Graph &graph, const Options &options);
    Status RemoveGraph(uint32_t id);
    Status CompileGraph(uint32_t id);
    Status RunGraph(uint32_t id, const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs);
    Status RunGraphAsync(uint32_t id, const std::vector<Tensor> &inputs, Done done);
    Status RunGraphWithStreamAsync(uint32_t id, void *stream, const std::vector<Tensor> &inputs,
                                   std::vector<Tensor> &outputs);
    Status RegisterCallBackFunc(const std::string &key, const Callback &callback);
    std::shared_ptr<CompiledGraphSummary> GetCompiledGraphSummary(uint32_t id);
    Status SetGraphConstMemoryBase(uint32_t id, const void *memory, size_t size);
    Status UpdateGraphFeatureMemoryBase(uint32_t id, const void *memory, size_t size);
    Status SetGraphFixedFeatureMemoryBase(uint32_t id, const void *memory, size_t size);
    Status UpdateGraphRefreshableFeatureMemoryBase(uint32_t id, const void *memory, size_t size);
    Status RegisterExternalAllocator(const void *stream,
                                     std::shared_ptr<Allocator> allocator) const;
    Status UnregisterExternalAllocator(const void *stream) const;
};

Session::Session(const Options &)
{
}
Session::~Session() = default;

Status Session::AddGraph(uint32_t, const Graph &, const Options &)
{
    return NoGraphEngine("adding a graph to a session");
}

Status Session::RemoveGraph(uint32_t)
{
    return NoGraphEngine("removing a graph");
}

Status Session::CompileGraph(uint32_t)
{
    return NoGraphEngine("compiling a graph");
}

Status Session::RunGraph(uint32_t, const std::vector<Tensor> &, std::vector<Tensor> &)
{
    return NoGraphEngine("running a graph");
}

Status Session::RunGraphAsync(uint32_t, const std::vector<Tensor> &, Done)
{
    return NoGraphEngine("running a graph");
}

Status Session::RunGraphWithStreamAsync(uint32_t, void *, const std::vector<Tensor> &,
                                        std::vector<Tensor> &)
{
    return NoGraphEngine("running a graph");
}

// Programs register these when they start. Only a graph would call them, and none can be added.
Status Session::RegisterCallBackFunc(const std::string &, const Callback &)
{
    return GRAPH_SUCCESS;
}

std::shared_ptr<CompiledGraphSummary> Session::GetCompiledGraphSummary(uint32_t)
{
    (void)NoSummary();
    return nullptr;
}

Status Session::SetGraphConstMemoryBase(uint32_t, const void *, size_t)
{
    return NoGraphEngine("memory of a graph");
}

Status Session::UpdateGraphFeatureMemoryBase(uint32_t, const void *, size_t)
{
    return NoGraphEngine("memory of a graph");
}

Status Session::SetGraphFixedFeatureMemoryBase(uint32_t, const void *, size_t)
{
    return NoGraphEngine("memory of a graph");
}

Status Session::UpdateGraphRefreshableFeatureMemoryBase(uint32_t, const void *, size_t)
{
    return NoGraphEngine("memory of a graph");
}

Status Session::RegisterExternalAllocator(const void *, std::shared_ptr<Allocator>) const
{
    return NoGraphEngine("an allocator of a graph");
}

Status Session::UnregisterExternalAllocator(const void *) const
{
    return NoGraphEngine("an allocator of a graph");
}

} // namespace ge
#pragma GCC visibility pop
