/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: collectives that a kernel asks for. A core of the
 * kernel posts messages (leo/group_message.h); the host's library of collectives does the exchange.
 */
#pragma once

#include <leo/group_message.h>

#define LEO_NO_WINDOWS                                                                             \
    "a kernel does not reach another card's memory: use the collectives of Hccl (AllReduce, "      \
    "AllGather, ReduceScatter, AlltoAll)"
#define LEO_NO_SERVER "collectives in kernels are served by HCCL_SERVER_TYPE_AICPU alone"

namespace AscendC
{

constexpr uint32_t HCCL_MAX_RANK_NUM = 32, HCCL_GROUP_ID_0 = 0, HCCL_GROUP_ID_1 = 1;
constexpr int32_t HCCL_SUCCESS = 0, HCCL_FAILED = -1;
struct IbVerbsData;
using HcclHandle = int8_t;
enum HcclServerType { HCCL_SERVER_TYPE_AICPU, HCCL_SERVER_TYPE_CCU, HCCL_SERVER_TYPE_END };
enum class CoreType : uint8_t { DEFAULT, ON_AIV, ON_AIC };
enum HcclReduceOp { HCCL_REDUCE_SUM, HCCL_REDUCE_PROD, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN };
enum HcclDataType {
    HCCL_DATA_TYPE_INT8,
    HCCL_DATA_TYPE_INT16,
    HCCL_DATA_TYPE_INT32,
    HCCL_DATA_TYPE_FP16,
    HCCL_DATA_TYPE_FP32,
    HCCL_DATA_TYPE_INT64,
    HCCL_DATA_TYPE_UINT64,
    HCCL_DATA_TYPE_UINT8,
    HCCL_DATA_TYPE_UINT16,
    HCCL_DATA_TYPE_UINT32,
    HCCL_DATA_TYPE_FP64,
    HCCL_DATA_TYPE_BFP16,
};

/** Which core posts what all say. */
struct HcclServerConfig {
    CoreType type;
    int64_t blockId;
};
constexpr HcclServerConfig DEFAULT_CFG = {CoreType::DEFAULT, 0};

inline LEO_DEVICE GM_ADDR leo_hccl_contexts[2]; /**< of this launch */

/** What a custom operator's kernel is given for its groups, in the order of MC2().HcclGroup. */
template <uint32_t group> LEO_AC_INLINE GM_ADDR GetHcclContext()
{
    static_assert(group < 2, "a kernel has at most two groups");
    return leo_hccl_contexts[group];
}

template <uint32_t group> LEO_AC_INLINE void SetHcclContext(GM_ADDR context)
{
    static_assert(group < 2, "a kernel has at most two groups");
    leo_hccl_contexts[group] = context;
}

/**
 * Every core that waits makes the same calls; the one that `config` names posts. Messages are
 * served in the order in which they were prepared, each turn when it is committed.
 */
template <HcclServerType server = HCCL_SERVER_TYPE_AICPU,
          const HcclServerConfig &config = DEFAULT_CFG>
class Hccl
{
    static_assert(server == HCCL_SERVER_TYPE_AICPU, LEO_NO_SERVER);

  public:
    LEO_AC_METHOD void Init(GM_ADDR context, __gm__ void * = nullptr)
    {
        area_ = (leo_group_area *)context;
        launch_ = leo_poll_get((uint32_t *)&area_->launch);
        const bool is_kind = config.type == CoreType::DEFAULT ||
                             (config.type == CoreType::ON_AIC) == (bool)ASCEND_IS_AIC;
        posts_ = is_kind && GetBlockIdx() == config.blockId;
    }
    LEO_AC_METHOD void InitV2(GM_ADDR context, const void * = nullptr)
    {
        Init(context);
    }
    /* The algorithm is not the kernel's choice here. */
    LEO_AC_METHOD int32_t SetCcTiling(__gm__ void *)
    {
        return HCCL_SUCCESS;
    }
    LEO_AC_METHOD int32_t SetCcTilingV2(uint64_t)
    {
        return HCCL_SUCCESS;
    }

    template <bool commit = false>
    LEO_AC_METHOD HcclHandle AllReduce(GM_ADDR send, GM_ADDR recv, uint64_t count,
                                       HcclDataType type, HcclReduceOp op, uint8_t repeat = 1)
    {
        return Prepare<commit>(
            {LEO_GROUP_ALL_REDUCE, send, recv, count, 0, type, (uint32_t)op, repeat});
    }
    template <bool commit = false>
    LEO_AC_METHOD HcclHandle AllGather(GM_ADDR send, GM_ADDR recv, uint64_t count,
                                       HcclDataType type, uint64_t stride = 0, uint8_t repeat = 1)
    {
        return Prepare<commit>({LEO_GROUP_ALL_GATHER, send, recv, count, stride, type, 0, repeat});
    }
    template <bool commit = false>
    LEO_AC_METHOD HcclHandle ReduceScatter(GM_ADDR send, GM_ADDR recv, uint64_t count,
                                           HcclDataType type, HcclReduceOp op, uint64_t stride = 0,
                                           uint8_t repeat = 1)
    {
        return Prepare<commit>(
            {LEO_GROUP_REDUCE_SCATTER, send, recv, count, stride, type, (uint32_t)op, repeat});
    }
    template <bool commit = false>
    LEO_AC_METHOD HcclHandle AlltoAll(GM_ADDR send, GM_ADDR recv, uint64_t count, HcclDataType type,
                                      uint64_t stride = 0, uint8_t repeat = 1)
    {
        return Prepare<commit>({LEO_GROUP_ALL_TO_ALL, send, recv, count, stride, type, 0, repeat});
    }
    /** Arrays of one element a rank. */
    template <bool commit = false>
    LEO_AC_METHOD HcclHandle AlltoAllV(GM_ADDR send, void *sendCounts, void *sendOffsets,
                                       HcclDataType sendType, GM_ADDR recv, void *recvCounts,
                                       void *recvOffsets, HcclDataType recvType, uint8_t repeat = 1)
    {
        if (repeat != 1 || next_ >= LEO_GROUP_MESSAGES - 1 || sendType != recvType ||
            GetRankDim() > LEO_GROUP_PARTS) {
            return HCCL_FAILED;
        }
        const void *const lists[] = {sendCounts, sendOffsets, recvCounts, recvOffsets};
        for (uint32_t list = 0; posts_ && list < 4; list++) {
            for (uint32_t i = 0; i < GetRankDim(); i++) {
                Put(&area_->parts[next_][list][i], ((const uint64_t *)lists[list])[i]);
            }
        }
        return Prepare<commit>({LEO_GROUP_ALL_TO_ALL_PARTS, send, recv, 0, 0, sendType, 0, repeat});
    }

    /** One turn more of a message may be done: what it sends is there. */
    LEO_AC_METHOD void Commit(HcclHandle handle)
    {
        if (handle >= 0 && handle < next_ && committed_[handle] < turns_[handle]) {
            const uint32_t turn = committed_[handle]++;
            if (posts_) {
                leo_poll_set((uint32_t *)&area_->committed[handle][turn], launch_);
            }
        }
    }
    /** Until one turn more of it is done than were waited for. */
    LEO_AC_METHOD int32_t Wait(HcclHandle handle)
    {
        if (handle < 0 || handle >= next_ || waited_[handle] >= turns_[handle]) {
            return HCCL_FAILED;
        }
        return Until(handle, ++waited_[handle]);
    }
    /** Turns that are done. */
    LEO_AC_METHOD int32_t Query(HcclHandle handle)
    {
        if (handle < 0 || handle >= next_) {
            return HCCL_FAILED;
        }
        const uint64_t done = Look(&area_->done[handle].word);
        return done >> 32 != launch_ ? 0 : done & LEO_GROUP_FAILED ? HCCL_FAILED : (int32_t)done;
    }
    /** No messages come after it; all that were committed are done. */
    template <bool sync = true> LEO_AC_METHOD void Finalize()
    {
        const uint8_t last = next_;
        if (last >= LEO_GROUP_MESSAGES) { // it was called before
            return;
        }
        Post({LEO_GROUP_END, nullptr, nullptr, 0, 0, 0, 0, 1});
        if (posts_ && sync) {
            Until(last, 1);
        }
    }

    LEO_AC_METHOD uint32_t GetRankId()
    {
        return area_->rank;
    }
    LEO_AC_METHOD uint32_t GetRankDim()
    {
        return area_->ranks;
    }

    __attribute__((unavailable(LEO_NO_WINDOWS))) GM_ADDR GetWindowsInAddr(uint32_t rank);
    __attribute__((unavailable(LEO_NO_WINDOWS))) GM_ADDR GetWindowsOutAddr(uint32_t rank);
    template <bool commit = false>
    __attribute__((unavailable(LEO_NO_WINDOWS))) HcclHandle BatchWrite(GM_ADDR items,
                                                                       uint32_t count,
                                                                       uint32_t queue = 0);
    template <bool commit = false, typename... Words>
    __attribute__((unavailable(LEO_NO_WINDOWS))) HcclHandle AlltoAllvWrite(Words... words);

  private:
    struct Message {
        uint32_t kind;
        GM_ADDR send;
        GM_ADDR recv;
        uint64_t count, stride;
        uint32_t type, reduction, turns;
    };

    static LEO_AC_METHOD void Put(uint64_t *place, uint64_t value)
    {
        *(volatile uint64_t *)place = value;
        dcci(place, SINGLE_CACHE_LINE);
    }
    static LEO_AC_METHOD uint64_t Look(uint64_t *place)
    {
        dcci(place, SINGLE_CACHE_LINE);
        return *(volatile uint64_t *)place;
    }
    LEO_AC_METHOD int32_t Until(uint8_t handle, uint32_t turn)
    {
        uint64_t *const place = &area_->done[handle].word;
        const uint64_t done = (uint64_t)launch_ << 32 | turn;
        while ((int64_t)(Look(place) - done) < 0) {
        }
        return (uint32_t)Look(place) & LEO_GROUP_FAILED ? HCCL_FAILED : HCCL_SUCCESS;
    }
    LEO_AC_METHOD void Post(const Message &message)
    {
        leo_group_message *const to = &area_->message[next_++];
        if (posts_) {
            Put(&to->send, (uint64_t)message.send);
            Put(&to->recv, (uint64_t)message.recv);
            Put(&to->count, message.count);
            Put(&to->stride, message.stride);
            Put((uint64_t *)&to->kind, (uint64_t)message.type << 32 | message.kind);
            Put((uint64_t *)&to->reduction, (uint64_t)message.turns << 32 | message.reduction);
            leo_poll_set((uint32_t *)&to->posted, launch_);
        }
    }
    template <bool commit> LEO_AC_METHOD HcclHandle Prepare(const Message &message)
    {
        if (next_ >= LEO_GROUP_MESSAGES - 1 || message.turns == 0) {
            return HCCL_FAILED;
        }
        const HcclHandle handle = (HcclHandle)next_;
        turns_[handle] = (uint8_t)message.turns;
        committed_[handle] = waited_[handle] = 0;
        Post(message);
        for (uint32_t i = 0; commit && i < message.turns; i++) {
            Commit(handle);
        }
        return handle;
    }

    leo_group_area *area_ = nullptr;
    uint32_t launch_ = 0;
    bool posts_ = false;
    uint8_t next_ = 0;
    uint8_t turns_[LEO_GROUP_MESSAGES], committed_[LEO_GROUP_MESSAGES], waited_[LEO_GROUP_MESSAGES];
};

} // namespace AscendC
