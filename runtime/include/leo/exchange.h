/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchanges between cards for operators that compute and exchange in one. The library of
 * collectives (libhccl) stands above the runtime and offers them when it is loaded; communicators
 * are known by name, as the operators' `group` has it.
 */
#pragma once

#include <leo/runtime.h>

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

enum leo_rt_exchange_kind {
    LEO_RT_SUM_ALL,     /**< every rank gets the sum of `count` elements of all ranks */
    LEO_RT_SUM_SCATTER, /**< each rank gets `count` elements of the sum */
    LEO_RT_GATHER_ALL,  /**< every rank gets the `count` elements of each, in the order of ranks */
};
enum leo_rt_exchange_type { LEO_RT_EXCHANGE_F16, LEO_RT_EXCHANGE_BF16, LEO_RT_EXCHANGE_I8 };

struct leo_rt_exchange {
    const char *func; /**< whose it is, for messages and profiles; lasts */
    enum leo_rt_exchange_kind kind;
    enum leo_rt_exchange_type type; /**< I8: only carried */
    uint64_t send, recv;            /**< device addresses; equal ones: in place */
    uint64_t count;                 /**< elements of this rank's part */
};

/** What a library of collectives offers; all fail with the error text set. Any thread. */
struct leo_rt_exchanges {
    /** Which of how many ranks a device is in a group. */
    leo_status (*place)(const struct leo_rt_device *device, const char *group, uint32_t *rank,
                        uint32_t *ranks);
    /** Puts an exchange into a stream of the device. */
    leo_status (*put)(const struct leo_rt_device *device, const char *group,
                      const struct leo_rt_exchange *exchange, struct leo_rt_stream *stream);
    /** The next kernel of the stream asks for collectives itself: what it is given
     * (leo/group_message.h), and what `served` takes, once, when the kernel is in the stream or
     * could not be launched. NULL: this library does not serve kernels. */
    leo_status (*serve)(struct leo_rt_device *device, const char *group,
                        struct leo_rt_stream *stream, uint64_t *context, void **launch);
    leo_status (*served)(void *launch, struct leo_rt_stream *stream);
};

/** Offers them; `exchanges` lasts. Called once, when the library is loaded. */
void leo_rt_exchanges_offer(const struct leo_rt_exchanges *exchanges);
/** Those on offer; NULL with the error text set: no such library is loaded. */
const struct leo_rt_exchanges *leo_rt_exchanges(void);

/**
 * Kernels may poll memory for what a thread of the host does. From `start`, recorded in the
 * stream, until the promise ends the device stands still, but while the thread itself awaits an
 * event that has not come. The caller's structure, which lasts until then.
 */
struct leo_rt_promise {
    struct leo_rt_promise *next;
    struct leo_rt_device *device;
    struct leo_rt_event *awaited;
};
leo_status leo_rt_promise_begin(struct leo_rt_promise *promise, struct leo_rt_event *start,
                                struct leo_rt_stream *stream);
void leo_rt_promise_end(struct leo_rt_promise *promise);
/** Until the event is reached: when that was. */
leo_status leo_rt_promise_await(struct leo_rt_promise *promise, struct leo_rt_event *event,
                                uint64_t *ns);
struct leo_rt_word {
    uint64_t addr, value; /**< 8-byte aligned device memory */
};
/** Writes a word no earlier than `ns` of simulated time, in the order of the stream; records
 * `event` on the way. */
leo_status leo_rt_promise_write(struct leo_rt_promise *promise, struct leo_rt_event *event,
                                struct leo_rt_stream *stream, uint64_t ns,
                                const struct leo_rt_word *word);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop
