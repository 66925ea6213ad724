// SPDX-License-Identifier: Apache-2.0
// torch.distributed's backend 'cncl': collectives between cards, one process a card. C++ only.
#pragma once

#include "runtime.hpp"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <cncl.h>

#include <functional>

namespace torch_mlu
{

/** A collective that was put on the group's stream. */
class Work final : public c10d::Work
{
  public:
    Work(int rank, c10d::OpType type, std::vector<at::Tensor> outputs, const c10::Stream &stream);
    bool isCompleted() override
    {
        return event_.query();
    }
    bool isSuccess() const override
    {
        return event_.query();
    }
    /** The current stream goes on after the collective; the host does not wait. */
    void synchronize() override;
    bool wait(std::chrono::milliseconds timeout) override;
    std::vector<at::Tensor> result() override
    {
        return outputs_;
    }
    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override
    {
        return future_;
    }

  private:
    std::vector<at::Tensor> outputs_;
    c10::Event event_;
    c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/** Ranks of a group; the clique is made at the first collective, on the card that is current then.
 */
class ProcessGroup final : public c10d::Backend
{
  public:
    ProcessGroup(c10::intrusive_ptr<c10d::Store> store, int rank, int size);
    ~ProcessGroup() override;
    const std::string getBackendName() const override
    {
        return "cncl";
    }

    using Tensors = std::vector<at::Tensor>;
    using Lists = std::vector<Tensors>;
    using Handle = c10::intrusive_ptr<c10d::Work>;
    Handle broadcast(Tensors &tensors, const c10d::BroadcastOptions &options) override;
    Handle allreduce(Tensors &tensors, const c10d::AllreduceOptions &options) override;
    Handle allreduce_coalesced(Tensors &tensors,
                               const c10d::AllreduceCoalescedOptions &options) override;
    Handle reduce(Tensors &tensors, const c10d::ReduceOptions &options) override;
    Handle allgather(Lists &outputs, Tensors &inputs,
                     const c10d::AllgatherOptions &options) override;
    Handle _allgather_base(at::Tensor &output, at::Tensor &input,
                           const c10d::AllgatherOptions &options) override;
    Handle reduce_scatter(Tensors &outputs, Lists &inputs,
                          const c10d::ReduceScatterOptions &options) override;
    Handle _reduce_scatter_base(at::Tensor &output, at::Tensor &input,
                                const c10d::ReduceScatterOptions &options) override;
    Handle gather(Lists &outputs, Tensors &inputs, const c10d::GatherOptions &options) override;
    Handle scatter(Tensors &outputs, Lists &inputs, const c10d::ScatterOptions &options) override;
    Handle alltoall_base(at::Tensor &output, at::Tensor &input, std::vector<int64_t> &output_sizes,
                         std::vector<int64_t> &input_sizes,
                         const c10d::AllToAllOptions &options) override;
    Handle alltoall(Tensors &outputs, Tensors &inputs,
                    const c10d::AllToAllOptions &options) override;
    Handle send(Tensors &tensors, int to, int tag) override;
    Handle recv(Tensors &tensors, int from, int tag) override;
    Handle barrier(const c10d::BarrierOptions &options) override;

  private:
    /** What a collective does on the group's stream. */
    using Call = std::function<void(cnclComm_t, cnrtQueue_t)>;
    /** Runs it behind the current stream's work; `used` are all its tensors. */
    Handle start(c10d::OpType type, const Tensors &used, Tensors outputs, const Call &call);
    void meet();
    /** Parts to and from every rank, the empty ones left out. */
    Handle exchange(c10d::OpType type, const Tensors &sent, const Tensors &received,
                    Tensors outputs);

    c10::intrusive_ptr<c10d::Store> store_;
    cnclComm_t comm_ = nullptr;
    std::optional<c10::Stream> stream_;
};

} // namespace torch_mlu
