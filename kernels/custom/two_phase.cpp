/* SPDX-License-Identifier: Apache-2.0 */
#include "two_phase.hpp"

#include "combinations.hpp"
#include <aclnnop/aclnn_copy.h>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>

namespace leo_custom
{
namespace
{

constexpr size_t TILING_CAPACITY = 32768, ALIGN = 512;

/** A tensor argument, copied: the caller's object may be gone in phase two. */
struct Held {
    std::vector<int64_t> view, strides, storage;
    int64_t offset = 0;
    ge::DataType type = ge::DT_UNDEFINED;
    ge::Format format = ge::FORMAT_ND;
    char *data = nullptr; /**< of the storage */
    bool dense = true;
    size_t temporary = 0; /**< of one that is not dense: where its copy is in the workspace */

    size_t bytes() const
    {
        size_t count = static_cast<size_t>(ge::GetSizeByDataType(type));
        for (int64_t dim : view) {
            count *= static_cast<size_t>(dim);
        }
        return count;
    }
    char *first() const
    {
        return data ? data + offset * ge::GetSizeByDataType(type) : nullptr;
    }
};

/** What the kernel gets for a parameter. */
struct Slot {
    enum { NOTHING, ONE, LIST, VALUES } kind = NOTHING;
    std::vector<Held> tensors;
    std::vector<char> values;   /**< of an array on the host */
    bool is_written = false;    /**< by the kernel */
    const Slot *same = nullptr; /**< an output of an input's name is that input */
};

struct Executor {
    uint32_t is_other; /**< where the operator library's own executors have a mark that none has */
    const Image *image;
    std::vector<Slot> slots;
    std::vector<char> tiling;
    uint64_t key;
    uint32_t blocks;
    size_t copy_workspace, copy_workspace_at, workspace_bytes;
    std::vector<std::string> groups; /**< that the kernel communicates in */
};

/** Executors that phase two may still take. */
struct Live {
    std::mutex lock;
    std::set<Executor *> all;
};
Live &live()
{
    static Live executors;
    return executors;
}

struct Failure {
    aclnnStatus status;
    std::string text;
};

[[noreturn]] void refuse(const std::string &text)
{
    throw Failure{ACLNN_ERR_PARAM_INVALID, text};
}

std::vector<int64_t> take(int64_t *items, uint64_t count)
{
    std::vector<int64_t> all(items, items + count);
    delete[] items;
    return all;
}

Held hold(const aclTensor *tensor)
{
    Held held;
    int64_t *items = nullptr;
    uint64_t count = 0;
    void *data = nullptr;
    aclDataType type = ACL_DT_UNDEFINED;
    aclFormat format = ACL_FORMAT_ND;
    aclGetViewShape(tensor, &items, &count);
    held.view = take(items, count);
    aclGetViewStrides(tensor, &items, &count);
    held.strides = take(items, count);
    aclGetStorageShape(tensor, &items, &count);
    held.storage = take(items, count);
    aclGetViewOffset(tensor, &held.offset);
    aclGetDataType(tensor, &type);
    aclGetFormat(tensor, &format);
    aclGetRawTensorAddr(tensor, &data);
    held.type = static_cast<ge::DataType>(type);
    held.format = static_cast<ge::Format>(format);
    held.data = static_cast<char *>(data);
    int64_t step = 1;
    for (size_t i = held.view.size(); i-- > 0;) {
        held.dense = held.dense && (held.view[i] == 1 || held.strides[i] == step);
        step *= held.view[i];
    }
    held.dense = held.dense || step == 0;
    return held;
}

gert::Shape shape_of(const std::vector<int64_t> &dims)
{
    gert::Shape shape;
    for (int64_t dim : dims) {
        shape.AppendDim(dim);
    }
    return shape;
}

gert::Tensor described(const Held &held)
{
    // In a private format the storage has another shape than the view; else it may be a larger one.
    const bool is_plain = held.format < ge::FORMAT_NC1HWC0 || held.format == ge::FORMAT_NDHWC ||
                          held.format == ge::FORMAT_NCDHW;
    const gert::Shape view = shape_of(held.view);
    return {{view, is_plain ? view : shape_of(held.storage)},
            {held.type, is_plain ? held.format : ge::FORMAT_ND, held.format},
            nullptr};
}

Slot values_of(const Argument &argument, ge::DataType *type)
{
    Slot slot;
    uint64_t count = 0;
    const void *items = nullptr;
    size_t unit = 0;
    if (argument.kind == Argument::INTS) {
        items = opapiIntArrayItems(argument.ints, &count);
        unit = sizeof(int64_t);
        *type = ge::DT_INT64;
    } else if (argument.kind == Argument::FLOATS) {
        items = opapiFloatArrayItems(argument.floats, &count);
        unit = sizeof(float);
        *type = ge::DT_FLOAT;
    } else {
        items = opapiBoolArrayItems(argument.bools, &count);
        unit = sizeof(bool);
        *type = ge::DT_BOOL;
    }
    if (items) {
        slot.kind = Slot::VALUES;
        slot.values.assign(static_cast<const char *>(items),
                           static_cast<const char *>(items) + count * unit);
    }
    return slot;
}

/** The slot of an input or output, and the tiling function's view of it. */
Slot slot_of(const ops::OpParamDef &param, const Argument &argument, gert::LeoParameter &view)
{
    Slot slot;
    if (argument.kind == Argument::TENSOR && argument.tensor) {
        slot.kind = Slot::ONE;
        slot.tensors.push_back(hold(argument.tensor));
    } else if (argument.kind == Argument::TENSORS && argument.tensors) {
        uint64_t count = 0;
        const aclTensor *const *items = opapiTensorListItems(argument.tensors, &count);
        slot.kind = Slot::LIST;
        for (uint64_t i = 0; i < count; i++) {
            slot.tensors.push_back(hold(items[i]));
        }
    } else if (argument.kind == Argument::INTS || argument.kind == Argument::FLOATS ||
               argument.kind == Argument::BOOLS) {
        ge::DataType type = ge::DT_UNDEFINED;
        slot = values_of(argument, &type);
        if (slot.kind == Slot::VALUES) {
            const gert::Shape shape = {static_cast<int64_t>(slot.values.size()) /
                                       ge::GetSizeByDataType(type)};
            view.push_back({{shape, shape}, {type}, slot.values.data()});
        }
    }
    if (slot.kind == Slot::NOTHING && param.option() != ops::OPTIONAL) {
        refuse("parameter " + param.name() + " is NULL");
    }
    for (const Held &held : slot.tensors) {
        view.push_back(described(held));
    }
    return slot;
}

void add_attr(const ops::OpAttrDef &attr, const Argument &argument, gert::RuntimeAttrs &attrs)
{
    uint64_t count = 0;
    const void *items = nullptr;
    switch (attr.kind()) {
    case ops::OpAttrDef::INT:
        attrs.add(argument.integer);
        return;
    case ops::OpAttrDef::BOOL:
        attrs.add(argument.integer);
        return;
    case ops::OpAttrDef::FLOAT:
        attrs.add(static_cast<float>(argument.real));
        return;
    case ops::OpAttrDef::TEXT:
        attrs.add(std::string(argument.text ? argument.text : ""));
        return;
    case ops::OpAttrDef::INTS:
        items = opapiIntArrayItems(argument.ints, &count);
        attrs.add(items, count, sizeof(int64_t));
        return;
    case ops::OpAttrDef::FLOATS:
        items = opapiFloatArrayItems(argument.floats, &count);
        attrs.add(items, count, sizeof(float));
        return;
    case ops::OpAttrDef::BOOLS:
        items = opapiBoolArrayItems(argument.bools, &count);
        attrs.add(items, count, sizeof(bool));
        return;
    case ops::OpAttrDef::OTHER:
        refuse("attribute " + attr.name() + " has a kind that is not there");
    }
}

bool fits(const Kind &kind, const gert::LeoParameter &given, bool with_format)
{
    for (const gert::Tensor &tensor : given) {
        const bool same = kind.format == ge::FORMAT_ND || kind.format == tensor.GetStorageFormat();
        if (kind.type != tensor.GetDataType() || (with_format && !same)) {
            return false;
        }
    }
    return true;
}

/** The combination with the types of the arguments; formats decide between equal ones. */
unsigned choose(const std::vector<const ops::OpParamDef *> &params,
                const std::vector<gert::LeoParameter> &given)
{
    const auto all = combinations(params);
    for (bool with_format : {true, false}) {
        for (unsigned i = 0; i < all.size(); i++) {
            bool good = true;
            for (size_t p = 0; p < params.size(); p++) {
                good = good && fits(all[i][p], given[p], with_format);
            }
            if (good) {
                return i;
            }
        }
    }
    std::string types;
    for (size_t p = 0; p < params.size(); p++) {
        types += " " + params[p]->name() + " " +
                 (given[p].empty() ? "none" : std::to_string(int(given[p][0].GetDataType())));
    }
    refuse("the operator's description has no combination of these types:" + types);
}

std::string soc_of(ops::OpDef &op, const std::string &arch)
{
    for (size_t i = 0; i < image_count; i++) {
        if (op.type() == images[i].op && arch == images[i].arch) {
            return images[i].soc;
        }
    }
    throw Failure{ACLNN_ERR_INNER, "the library has no kernel of " + op.type() +
                                       " for a chip of architecture " + arch +
                                       "; build it for this chip (AddConfig, ASCEND_COMPUTE_UNIT)"};
}

const Image *find(const std::string &op, const std::string &soc, unsigned combination, uint64_t key)
{
    // Kernels whose text does not depend on types have one image for all combinations: the last
    // that does not come after.
    const Image *best = nullptr;
    for (size_t i = 0; i < image_count; i++) {
        const Image &image = images[i];
        if (op != image.op || soc != image.soc || image.combination > combination ||
            (image.key != key && image.key != ANY_KEY)) {
            continue;
        }
        const bool better = !best || image.combination > best->combination ||
                            (image.combination == best->combination && image.key == key);
        best = better ? &image : best;
    }
    return best;
}

void tile(ops::OpDef &op, gert::TilingContext &context)
{
    gert::LeoTilingFunc function = op.AICore().tiling;
    if (!function) {
        const auto found = gert::leo_tiling_functions().find(op.type());
        function = found == gert::leo_tiling_functions().end() ? nullptr : found->second;
    }
    context.tiling = gert::TilingData(TILING_CAPACITY);
    if (!function) {
        throw Failure{ACLNN_ERR_INNER, op.type() + " has no tiling function (SetTiling)"};
    }
    const ge::graphStatus status = function(&context);
    if (status != ge::GRAPH_SUCCESS) {
        throw Failure{ACLNN_ERR_INNER, "the tiling function of " + op.type() + " failed with " +
                                           std::to_string(status)};
    }
    if (context.blocks == 0) {
        throw Failure{ACLNN_ERR_INNER, "the tiling function of " + op.type() +
                                           " set no number of blocks (SetBlockDim)"};
    }
}

size_t aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

aclTensor *tensor_of(const Held &held, char *dense)
{
    return dense ? aclCreateTensor(held.view.data(), held.view.size(),
                                   static_cast<aclDataType>(held.type), nullptr, 0, ACL_FORMAT_ND,
                                   held.view.data(), held.view.size(), dense)
                 : aclCreateTensor(held.view.data(), held.view.size(),
                                   static_cast<aclDataType>(held.type), held.strides.data(),
                                   held.offset, ACL_FORMAT_ND, held.storage.data(),
                                   held.storage.size(), held.data);
}

/** Between a tensor of any strides and a dense one; without a stream only the workspace is asked.
 */
void copy(const Held &held, char *dense, bool to_dense, void *workspace, uint64_t *bytes,
          aclrtStream stream, bool run)
{
    aclTensor *strided = tensor_of(held, nullptr), *packed = tensor_of(held, dense);
    aclOpExecutor *executor = nullptr;
    aclnnStatus status = aclnnInplaceCopyGetWorkspaceSize(
        to_dense ? packed : strided, to_dense ? strided : packed, bytes, &executor);
    if (status == ACLNN_SUCCESS) {
        status = run ? aclnnInplaceCopy(workspace, *bytes, executor, stream)
                     : aclDestroyAclOpExecutor(executor);
    }
    aclDestroyTensor(strided);
    aclDestroyTensor(packed);
    if (status != ACLNN_SUCCESS) {
        const char *why = aclGetRecentErrMsg();
        throw Failure{status, std::string("copy to dense memory: ") + (why ? why : "")};
    }
}

/** Room behind the operator's own workspace for dense copies of what has other strides. */
void place_copies(Executor &executor, const std::vector<const ops::OpParamDef *> &params)
{
    for (size_t p = 0; p < params.size(); p++) {
        for (Held &held : executor.slots[p].tensors) {
            if (held.dense || params[p]->any_strides()) {
                held.dense = true;
                continue;
            }
            uint64_t bytes = 0;
            copy(held, held.data, true, nullptr, &bytes, nullptr, false);
            executor.copy_workspace =
                bytes > executor.copy_workspace ? bytes : executor.copy_workspace;
            held.temporary = executor.workspace_bytes;
            executor.workspace_bytes += aligned(held.bytes());
        }
    }
    executor.copy_workspace_at = executor.workspace_bytes;
    executor.workspace_bytes += aligned(executor.copy_workspace);
}

Executor *make(const std::string &type, std::initializer_list<Argument> arguments)
{
    const auto found = ops::leo_operators().find(type);
    if (found == ops::leo_operators().end()) {
        throw Failure{ACLNN_ERR_INNER, "the library has no operator " + type};
    }
    ops::OpDef &op = *found->second;
    gert::TilingContext context;
    const std::string soc = soc_of(op, context.platform.text(ACL_PLATFORM_NPU_ARCH));
    const auto params = parameters(op, soc);
    const size_t outputs = op.outputs().size(), inputs = params.size() - outputs;
    std::unique_ptr<Executor> executor(new Executor());
    std::vector<gert::LeoParameter> given(params.size());
    const Argument *next = arguments.begin();
    executor->slots.resize(params.size());
    context.type = type;
    for (size_t p = 0; p < inputs; p++) {
        executor->slots[p] = slot_of(*params[p], *next++, given[p]);
    }
    executor->groups.resize(op.mc2().groups.size());
    for (const ops::OpAttrDef &attr : op.attrs()) {
        for (size_t i = 0; i < executor->groups.size(); i++) {
            if (op.mc2().groups[i] == attr.name() && attr.kind() == ops::OpAttrDef::TEXT) {
                executor->groups[i] = next->text ? next->text : "";
            }
        }
        add_attr(attr, *next++, context.attrs);
    }
    for (size_t p = inputs; p < params.size(); p++) {
        // One of an input's name is that input.
        size_t same = 0;
        while (same < inputs && params[same]->name() != params[p]->name()) {
            same++;
        }
        if (same < inputs) {
            executor->slots[p].same = &executor->slots[same];
            executor->slots[same].is_written = true;
            given[p] = given[same];
        } else {
            executor->slots[p] = slot_of(*params[p], *next++, given[p]);
            executor->slots[p].is_written = true;
        }
    }
    context.inputs.assign(given.begin(), given.begin() + static_cast<ptrdiff_t>(inputs));
    context.outputs.assign(given.begin() + static_cast<ptrdiff_t>(inputs), given.end());
    const unsigned combination = choose(params, given);
    tile(op, context);
    executor->image = find(type, soc, combination, context.key);
    if (!executor->image) {
        throw Failure{ACLNN_ERR_INNER, "the library has no kernel for combination " +
                                           std::to_string(combination) + " of " + type};
    }
    const char *bytes = static_cast<const char *>(context.tiling.GetData());
    executor->tiling.assign(
        bytes, bytes + (context.tiling.GetDataSize() ? context.tiling.GetDataSize() : 8));
    executor->key = context.key;
    executor->blocks = context.blocks;
    for (size_t size : context.workspaces) {
        executor->workspace_bytes += aligned(size);
    }
    place_copies(*executor, params);
    std::lock_guard<std::mutex> guard(live().lock);
    live().all.insert(executor.get());
    return executor.release();
}

/* Kernel files are loaded once, and again after aclrtResetDevice took them away. */
aclrtFuncHandle function_of(const Image &image)
{
    static std::mutex lock;
    static std::map<std::pair<const Image *, int32_t>, aclrtBinHandle> loaded;
    std::lock_guard<std::mutex> guard(lock);
    aclrtFuncHandle function = nullptr;
    int32_t device = 0;
    aclrtGetDevice(&device);
    aclrtBinHandle &handle = loaded[{&image, device}];
    if (handle && aclrtBinaryGetFunction(handle, image.entry, &function) == ACL_SUCCESS) {
        return function;
    }
    aclError error = aclrtBinaryLoadFromData(
        image.begin, static_cast<size_t>(image.end - image.begin), nullptr, &handle);
    if (error == ACL_SUCCESS) {
        error = aclrtBinaryGetFunction(handle, image.entry, &function);
    }
    if (error != ACL_SUCCESS) {
        const char *why = aclGetRecentErrMsg();
        throw Failure{ACLNN_ERR_RUNTIME_ERROR,
                      std::string("the kernel file of ") + image.op + ": " + (why ? why : "")};
    }
    return function;
}

void check(aclError error)
{
    if (error != ACL_SUCCESS) {
        const char *why = aclGetRecentErrMsg();
        throw Failure{error, why ? why : "launch of the kernel"};
    }
}

/** A list of tensors as kernels read it (ListTensorDesc): where the addresses start; of each
 * tensor its rank, index and dimensions; the addresses. */
std::vector<uint64_t> list_words(const Slot &slot, const std::vector<char *> &addresses)
{
    std::vector<uint64_t> words(1);
    for (size_t i = 0; i < slot.tensors.size(); i++) {
        words.push_back(slot.tensors[i].view.size() | i << 32);
        words.insert(words.end(), slot.tensors[i].view.begin(), slot.tensors[i].view.end());
    }
    words[0] = words.size() * sizeof(uint64_t);
    for (char *address : addresses) {
        words.push_back(reinterpret_cast<uintptr_t>(address));
    }
    return words;
}

/** Appends a pointer to data that travels with the launch. */
void append_data(aclrtArgsHandle args, const void *data, size_t bytes)
{
    aclrtParamHandle place;
    void *buffer = nullptr;
    check(aclrtKernelArgsAppendPlaceHolder(args, &place));
    check(aclrtKernelArgsGetPlaceHolderBuffer(args, place, bytes, &buffer));
    memcpy(buffer, data, bytes);
}

void append(aclrtArgsHandle args, void *word)
{
    aclrtParamHandle place;
    check(aclrtKernelArgsAppend(args, &word, sizeof(word), &place));
}

void append_slot(aclrtArgsHandle args, const Slot &slot, char *workspace)
{
    std::vector<char *> addresses;
    for (const Held &held : slot.tensors) {
        addresses.push_back(held.dense ? held.first() : workspace + held.temporary);
    }
    if (slot.kind == Slot::ONE) {
        append(args, addresses[0]);
    } else if (slot.kind == Slot::LIST) {
        const std::vector<uint64_t> words = list_words(slot, addresses);
        append_data(args, words.data(), words.size() * sizeof(uint64_t));
    } else if (slot.kind == Slot::VALUES && !slot.values.empty()) {
        append_data(args, slot.values.data(), slot.values.size());
    } else {
        append(args, nullptr);
    }
}

void copy_all(const Executor &executor, char *workspace, bool to_dense, aclrtStream stream)
{
    for (const Slot &slot : executor.slots) {
        for (const Held &held : slot.tensors) {
            uint64_t bytes = 0;
            if (!held.dense && (to_dense || slot.is_written)) {
                copy(held, workspace + held.temporary, to_dense,
                     workspace + executor.copy_workspace_at, &bytes, stream, true);
            }
        }
    }
}

/** The groups of a launch: those who serve them wait for its end. */
class Groups
{
  public:
    Groups(const std::vector<std::string> &names, aclrtStream stream) : Groups(stream)
    {
        // From here on a group that cannot be served ends those before it: the object is made.
        for (const std::string &name : names) {
            void *context = nullptr, *launch = nullptr;
            if (!name.empty()) {
                check(opapiGroupServe(name.c_str(), stream, &context, &launch));
                launches_.push_back(launch);
            }
            contexts.push_back(context);
        }
    }
    ~Groups()
    {
        for (void *launch : launches_) {
            (void)opapiGroupServed(launch, stream_);
        }
    }
    Groups(const Groups &) = delete;
    Groups &operator=(const Groups &) = delete;

    std::vector<void *> contexts;

  private:
    explicit Groups(aclrtStream stream) : stream_(stream)
    {
    }

    aclrtStream stream_;
    std::vector<void *> launches_;
};

void run(const Executor &executor, char *workspace, aclrtStream stream)
{
    const aclrtFuncHandle function = function_of(*executor.image);
    aclrtArgsHandle args;
    copy_all(executor, workspace, true, stream);
    check(aclrtKernelArgsInit(function, &args));
    for (const Slot &slot : executor.slots) {
        append_slot(args, slot.same ? *slot.same : slot, workspace);
    }
    append(args, workspace);
    append_data(args, executor.tiling.data(), executor.tiling.size());
    uint64_t key = executor.key;
    aclrtParamHandle place;
    check(aclrtKernelArgsAppend(args, &key, sizeof(key), &place));
    {
        const Groups groups(executor.groups, stream);
        for (void *context : groups.contexts) {
            append(args, context);
        }
        check(aclrtKernelArgsFinalize(args));
        check(
            aclrtLaunchKernelWithConfig(function, executor.blocks, stream, nullptr, args, nullptr));
    }
    copy_all(executor, workspace, false, stream);
}

} // namespace

aclnnStatus prepare(const char *func, const char *op, std::initializer_list<Argument> arguments,
                    uint64_t *workspace_bytes, aclOpExecutor **executor)
{
    if (!workspace_bytes || !executor) {
        return opapiFail(ACLNN_ERR_PARAM_NULLPTR, func, "workspaceSize or executor is NULL");
    }
    try {
        Executor *made = make(op, arguments);
        *workspace_bytes = made->workspace_bytes;
        *executor = reinterpret_cast<aclOpExecutor *>(made);
        return ACLNN_SUCCESS;
    } catch (const Failure &failure) {
        return opapiFail(failure.status, func, failure.text.c_str());
    }
}

aclnnStatus launch(const char *func, void *workspace, uint64_t workspace_bytes,
                   aclOpExecutor *executor, aclrtStream stream)
{
    Executor *taken = reinterpret_cast<Executor *>(executor);
    std::unique_lock<std::mutex> guard(live().lock);
    const bool is_live = live().all.erase(taken) == 1;
    guard.unlock();
    std::unique_ptr<Executor> own(is_live ? taken : nullptr);
    if (!own) {
        return opapiFail(ACLNN_ERR_PARAM_INVALID, func, "the executor is NULL or used");
    }
    if (workspace_bytes < own->workspace_bytes || (own->workspace_bytes && !workspace)) {
        return opapiFail(ACLNN_ERR_PARAM_INVALID, func,
                         "the workspace is smaller than phase one said");
    }
    try {
        run(*own, static_cast<char *>(workspace), stream);
        return ACLNN_SUCCESS;
    } catch (const Failure &failure) {
        return opapiFail(failure.status, func, failure.text.c_str());
    }
}

} // namespace leo_custom
