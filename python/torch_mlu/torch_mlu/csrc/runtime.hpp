// SPDX-License-Identifier: Apache-2.0
// Devices, queues and handles: what the rest of the adapter knows of libcnrt and libcnnl. C++ only.
#pragma once

#include <c10/core/Stream.h>

#include <cnnl.h>
#include <cnrt.h>

namespace torch_mlu
{

constexpr c10::DeviceType kMlu = c10::DeviceType::PrivateUse1;

/** Throws torch's error with the library's text if a call of CNRT failed; what: the function's
 * name. */
void check(cnrtRet_t ret, const char *what);
/** The same for CNNL. */
void check(cnnlStatus_t status, const char *what);

/** Cards there are, 0 without one. Never throws. */
c10::DeviceIndex device_count() noexcept;
c10::DeviceIndex current_device();
void set_device(c10::DeviceIndex index);

/** The stream that the calling thread's work goes to; stream 0 of each card is its default queue.
 */
c10::Stream current_stream(c10::DeviceIndex index);
/** Makes it the calling thread's and gives the one before. */
c10::Stream exchange_stream(c10::Stream stream);
/** A stream with a queue of its own, which lives as long as the program. */
c10::Stream new_stream(c10::DeviceIndex index, int priority);
/** The queue of a stream; of stream 0 the card's default one. */
cnrtQueue_t queue_of(const c10::Stream &stream);
cnrtQueue_t current_queue();

/** Waits for one stream, or for all of a card. */
void synchronize(const c10::Stream &stream);
void synchronize_device(c10::DeviceIndex index);

/** The calling thread's handle for the current card and stream; lives until the thread ends. */
cnnlHandle_t current_handle();

/** Makes a card current while it lives. */
class DeviceScope
{
  public:
    explicit DeviceScope(c10::DeviceIndex index);
    ~DeviceScope();
    DeviceScope(const DeviceScope &) = delete;
    DeviceScope &operator=(const DeviceScope &) = delete;

  private:
    c10::DeviceIndex before_;
    bool changed_ = false;
};

} // namespace torch_mlu
