// SPDX-License-Identifier: Apache-2.0
#include "process_group.hpp"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/StreamGuard.h>

#include <cstring>
#include <utility>

namespace torch_mlu
{
namespace
{

void check(cnclResult_t result, const char *what)
{
    TORCH_CHECK_WITH(DistBackendError, result == CNCL_RET_SUCCESS, what, ": ",
                     cnclGetErrorStr(result));
}

cnclDataType_t type_of(const at::Tensor &tensor)
{
    switch (tensor.scalar_type()) {
    case at::kHalf:
        return cnclHalf;
    case at::kBFloat16:
        return cnclBfloat16;
    case at::kFloat:
        return cnclFloat;
    case at::kChar:
        return cnclInt8;
    case at::kShort:
        return cnclInt16;
    case at::kInt:
        return cnclInt32;
    case at::kLong:
        return cnclInt64;
    case at::kByte:
    case at::kBool:
        return cnclUint8;
    default:
        TORCH_CHECK(false, "collectives of ", tensor.scalar_type(), " are not possible with cncl");
    }
}

/** Truths are bytes: their sum is their largest. AVG is a sum, divided afterwards. */
cnclReduceOp_t reduction(const c10d::ReduceOp &op, const at::Tensor &tensor)
{
    const bool truth = tensor.scalar_type() == at::kBool;
    switch (op.op_) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::AVG:
        return truth ? cnclMax : cnclSum;
    case c10d::ReduceOp::PRODUCT:
        return truth ? cnclMin : cnclProd;
    case c10d::ReduceOp::MAX:
        return cnclMax;
    case c10d::ReduceOp::MIN:
        return cnclMin;
    default:
        TORCH_CHECK(false, "a reduction that is not possible with cncl: sum, mean, product, "
                           "largest and smallest are");
    }
}

const at::Tensor &only(const std::vector<at::Tensor> &tensors)
{
    TORCH_CHECK(tensors.size() == 1, "one tensor a process is needed, not ", tensors.size());
    return tensors[0];
}

void check_dense(const at::Tensor &tensor)
{
    TORCH_CHECK(tensor.device().type() == kMlu, "a tensor of a card is needed for cncl, not of ",
                tensor.device());
    TORCH_CHECK(tensor.is_contiguous(), "tensors of collectives must be contiguous");
}

size_t count(const at::Tensor &tensor)
{
    return static_cast<size_t>(tensor.numel());
}

using Transfer = cnclResult_t(void *, size_t, cnclDataType_t, int, cnclComm_t, cnrtQueue_t);

/** cnclSend or cnclRecv of a tensor to or from a rank. */
void transfer(Transfer *function, const at::Tensor &tensor, int rank, cnclComm_t comm,
              cnrtQueue_t queue)
{
    check(function(tensor.data_ptr(), count(tensor), type_of(tensor), rank, comm, queue),
          function == cnclSend ? "cnclSend" : "cnclRecv");
}

/** Rows of a tensor as many as each rank has; no sizes: as many for all. */
std::vector<at::Tensor> shares(const at::Tensor &tensor, const std::vector<int64_t> &sizes,
                               int ranks)
{
    if (sizes.empty()) {
        TORCH_CHECK(tensor.size(0) % ranks == 0, tensor.size(0), " rows cannot be shared among ",
                    ranks, " ranks");
        return tensor.chunk(ranks, 0);
    }
    return tensor.split_with_sizes(sizes, 0);
}

} // namespace

Work::Work(int rank, c10d::OpType type, std::vector<at::Tensor> outputs, const c10::Stream &stream)
    : c10d::Work(rank, type), outputs_(std::move(outputs)), event_(kMlu)
{
    event_.record(stream);
    future_ = c10::make_intrusive<c10::ivalue::Future>(
        c10::ListType::create(c10::TensorType::get()), std::vector<c10::Device>{stream.device()});
    const c10::StreamGuard on(stream); // who takes the result waits for this stream
    future_->markCompleted(c10::IValue(outputs_));
}

void Work::synchronize()
{
    event_.block(current_stream(event_.device_index()));
}

bool Work::wait(std::chrono::milliseconds)
{
    synchronize();
    return true;
}

ProcessGroup::ProcessGroup(c10::intrusive_ptr<c10d::Store> store, int rank, int size)
    : c10d::Backend(rank, size), store_(std::move(store))
{
}

ProcessGroup::~ProcessGroup()
{
    if (comm_) {
        (void)cnclFreeComm(comm_);
    }
}

void ProcessGroup::meet()
{
    if (comm_) {
        return;
    }
    cnclCliqueId id{};
    const std::string key = "cncl clique";
    if (rank_ == 0) {
        check(cnclGetCliqueId(&id), "cnclGetCliqueId");
        const auto *const bytes = reinterpret_cast<const uint8_t *>(&id);
        store_->set(key, std::vector<uint8_t>(bytes, bytes + sizeof(id)));
    } else {
        const std::vector<uint8_t> told = store_->get(key);
        TORCH_CHECK(told.size() == sizeof(id), "rank 0 told ", told.size(),
                    " bytes of a clique, not ", sizeof(id));
        std::memcpy(&id, told.data(), sizeof(id));
    }
    const int device = current_device();
    check(cnclInitComms(&comm_, 1, &device, &rank_, size_, &id), "cnclInitComms");
    stream_ = new_stream(static_cast<c10::DeviceIndex>(device), 0);
}

ProcessGroup::Handle ProcessGroup::start(c10d::OpType type, const Tensors &used, Tensors outputs,
                                         const Call &call)
{
    for (const at::Tensor &tensor : used) {
        check_dense(tensor);
    }
    const DeviceScope scope(used.empty() ? current_device() : used[0].device().index());
    meet();
    c10::Event before(kMlu);
    before.record(current_stream(stream_->device_index()));
    before.block(*stream_);
    {
        const c10::StreamGuard on(*stream_);
        call(comm_, queue_of(*stream_));
    }
    for (const at::Tensor &tensor : used) {
        c10::getDeviceAllocator(kMlu)->recordStream(tensor.storage().data_ptr(), *stream_);
    }
    return c10::make_intrusive<Work>(rank_, type, std::move(outputs), *stream_);
}

ProcessGroup::Handle ProcessGroup::broadcast(Tensors &tensors,
                                             const c10d::BroadcastOptions &options)
{
    const at::Tensor &tensor = only(tensors);
    return start(c10d::OpType::BROADCAST, tensors, tensors,
                 [&](cnclComm_t comm, cnrtQueue_t queue) {
                     check(cnclBcast(tensor.data_ptr(), count(tensor), type_of(tensor),
                                     static_cast<int>(options.rootRank), comm, queue),
                           "cnclBcast");
                 });
}

ProcessGroup::Handle ProcessGroup::allreduce(Tensors &tensors,
                                             const c10d::AllreduceOptions &options)
{
    c10d::AllreduceCoalescedOptions same;
    same.reduceOp = options.reduceOp;
    (void)only(tensors);
    return allreduce_coalesced(tensors, same);
}

ProcessGroup::Handle
ProcessGroup::allreduce_coalesced(Tensors &tensors, const c10d::AllreduceCoalescedOptions &options)
{
    return start(c10d::OpType::ALLREDUCE, tensors, tensors,
                 [&](cnclComm_t comm, cnrtQueue_t queue) {
                     for (at::Tensor &tensor : tensors) {
                         check(cnclAllReduce(tensor.data_ptr(), tensor.data_ptr(), count(tensor),
                                             type_of(tensor), reduction(options.reduceOp, tensor),
                                             comm, queue),
                               "cnclAllReduce");
                         if (options.reduceOp == c10d::ReduceOp::AVG) {
                             tensor.div_(size_);
                         }
                     }
                 });
}

ProcessGroup::Handle ProcessGroup::reduce(Tensors &tensors, const c10d::ReduceOptions &options)
{
    at::Tensor tensor = only(tensors);
    return start(c10d::OpType::REDUCE, tensors, tensors, [&](cnclComm_t comm, cnrtQueue_t queue) {
        check(cnclReduce(tensor.data_ptr(), tensor.data_ptr(), count(tensor), type_of(tensor),
                         reduction(options.reduceOp, tensor), static_cast<int>(options.rootRank),
                         comm, queue),
              "cnclReduce");
        if (options.reduceOp == c10d::ReduceOp::AVG && rank_ == options.rootRank) {
            tensor.div_(size_);
        }
    });
}

ProcessGroup::Handle ProcessGroup::_allgather_base(at::Tensor &output, at::Tensor &input,
                                                   const c10d::AllgatherOptions &)
{
    TORCH_CHECK(output.numel() == input.numel() * size_, "the result of a gathering has ",
                output.numel(), " elements, not ", size_, " times ", input.numel());
    return start(c10d::OpType::_ALLGATHER_BASE, {input, output}, {output},
                 [&](cnclComm_t comm, cnrtQueue_t queue) {
                     check(cnclAllGather(input.data_ptr(), output.data_ptr(), count(input),
                                         type_of(input), comm, queue),
                           "cnclAllGather");
                 });
}

ProcessGroup::Handle ProcessGroup::allgather(Lists &outputs, Tensors &inputs,
                                             const c10d::AllgatherOptions &)
{
    const at::Tensor &input = only(inputs);
    TORCH_CHECK(outputs.size() == 1 && outputs[0].size() == static_cast<size_t>(size_),
                "a result of each rank is needed");
    Tensors used = outputs[0];
    used.push_back(input);
    return start(
        c10d::OpType::ALLGATHER, used, outputs[0], [&](cnclComm_t comm, cnrtQueue_t queue) {
            const at::Tensor all = at::empty({size_ * input.numel()}, input.options());
            check(cnclAllGather(input.data_ptr(), all.data_ptr(), count(input), type_of(input),
                                comm, queue),
                  "cnclAllGather");
            for (int i = 0; i < size_; i++) {
                at::Tensor &part = outputs[0][static_cast<size_t>(i)];
                part.copy_(all.narrow(0, i * input.numel(), input.numel()).view(part.sizes()));
            }
        });
}

ProcessGroup::Handle ProcessGroup::_reduce_scatter_base(at::Tensor &output, at::Tensor &input,
                                                        const c10d::ReduceScatterOptions &options)
{
    TORCH_CHECK(input.numel() == output.numel() * size_, "what is scattered has ", input.numel(),
                " elements, not ", size_, " times ", output.numel());
    return start(c10d::OpType::_REDUCE_SCATTER_BASE, {input, output}, {output},
                 [&](cnclComm_t comm, cnrtQueue_t queue) {
                     check(cnclReduceScatter(input.data_ptr(), output.data_ptr(), count(output),
                                             type_of(input), reduction(options.reduceOp, input),
                                             comm, queue),
                           "cnclReduceScatter");
                     if (options.reduceOp == c10d::ReduceOp::AVG) {
                         output.div_(size_);
                     }
                 });
}

ProcessGroup::Handle ProcessGroup::reduce_scatter(Tensors &outputs, Lists &inputs,
                                                  const c10d::ReduceScatterOptions &options)
{
    at::Tensor output = only(outputs);
    TORCH_CHECK(inputs.size() == 1 && inputs[0].size() == static_cast<size_t>(size_),
                "a part for each rank is needed");
    at::Tensor all = at::cat(inputs[0]).contiguous();
    return _reduce_scatter_base(output, all, options);
}

ProcessGroup::Handle ProcessGroup::exchange(c10d::OpType type, const Tensors &sent,
                                            const Tensors &received, Tensors outputs)
{
    Tensors used = sent;
    used.insert(used.end(), received.begin(), received.end());
    const auto own = static_cast<size_t>(rank_);
    return start(type, used, std::move(outputs), [&](cnclComm_t comm, cnrtQueue_t queue) {
        if (own < sent.size() && own < received.size() && sent[own].numel()) {
            at::Tensor kept = received[own];
            kept.copy_(sent[own].view(kept.sizes()));
        }
        check(cnclGroupStart(), "cnclGroupStart");
        for (int i = 0; i < size_; i++) {
            const auto rank = static_cast<size_t>(i);
            if (i != rank_ && rank < sent.size() && sent[rank].numel()) {
                transfer(cnclSend, sent[rank], i, comm, queue);
            }
            if (i != rank_ && rank < received.size() && received[rank].numel()) {
                transfer(cnclRecv, received[rank], i, comm, queue);
            }
        }
        check(cnclGroupEnd(), "cnclGroupEnd");
    });
}

ProcessGroup::Handle ProcessGroup::gather(Lists &outputs, Tensors &inputs,
                                          const c10d::GatherOptions &options)
{
    const at::Tensor &input = only(inputs);
    Tensors sent(static_cast<size_t>(size_), at::empty({0}, input.options()));
    sent[static_cast<size_t>(options.rootRank)] = input;
    TORCH_CHECK(rank_ != options.rootRank ||
                    (outputs.size() == 1 && outputs[0].size() == static_cast<size_t>(size_)),
                "a result of each rank is needed");
    const Tensors received = rank_ == options.rootRank ? outputs[0] : Tensors();
    return exchange(c10d::OpType::GATHER, sent, received, received);
}

ProcessGroup::Handle ProcessGroup::scatter(Tensors &outputs, Lists &inputs,
                                           const c10d::ScatterOptions &options)
{
    const at::Tensor &output = only(outputs);
    Tensors received(static_cast<size_t>(size_), at::empty({0}, output.options()));
    received[static_cast<size_t>(options.rootRank)] = output;
    TORCH_CHECK(rank_ != options.rootRank ||
                    (inputs.size() == 1 && inputs[0].size() == static_cast<size_t>(size_)),
                "a part for each rank is needed");
    const Tensors sent = rank_ == options.rootRank ? inputs[0] : Tensors();
    return exchange(c10d::OpType::SCATTER, sent, received, outputs);
}

ProcessGroup::Handle ProcessGroup::alltoall_base(at::Tensor &output, at::Tensor &input,
                                                 std::vector<int64_t> &output_sizes,
                                                 std::vector<int64_t> &input_sizes,
                                                 const c10d::AllToAllOptions &)
{
    return exchange(c10d::OpType::ALLTOALL_BASE, shares(input, input_sizes, size_),
                    shares(output, output_sizes, size_), {output});
}

ProcessGroup::Handle ProcessGroup::alltoall(Tensors &outputs, Tensors &inputs,
                                            const c10d::AllToAllOptions &)
{
    TORCH_CHECK(outputs.size() == static_cast<size_t>(size_) && inputs.size() == outputs.size(),
                "a tensor to and from each rank is needed");
    return exchange(c10d::OpType::ALLTOALL, inputs, outputs, outputs);
}

ProcessGroup::Handle ProcessGroup::send(Tensors &tensors, int to, int)
{
    const at::Tensor &tensor = only(tensors);
    return start(c10d::OpType::SEND, tensors, tensors, [&](cnclComm_t comm, cnrtQueue_t queue) {
        transfer(cnclSend, tensor, to, comm, queue);
    });
}

ProcessGroup::Handle ProcessGroup::recv(Tensors &tensors, int from, int)
{
    const at::Tensor &tensor = only(tensors);
    return start(c10d::OpType::RECV, tensors, tensors, [&](cnclComm_t comm, cnrtQueue_t queue) {
        transfer(cnclRecv, tensor, from, comm, queue);
    });
}

ProcessGroup::Handle ProcessGroup::barrier(const c10d::BarrierOptions &)
{
    Tensors one = {at::zeros({1}, at::TensorOptions().device(at::Device(kMlu, current_device())))};
    Handle work = allreduce(one, {});
    work->wait();
    torch_mlu::synchronize(current_stream(one[0].device().index())); // the host itself waits
    return work;
}

} // namespace torch_mlu
