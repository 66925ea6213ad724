/* SPDX-License-Identifier: Apache-2.0 */
/* What giving work costs the simulated host (LEO_HOST_MODEL, docs/env.md). Any thread. */
#pragma once

#include <leo/runtime.h>

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

/** What is given to the stream between the two is one operator, however many tasks it has: the
 * model charges it once. May be nested. */
void leo_rt_operator_begin(struct leo_rt_stream *stream);
void leo_rt_operator_end(struct leo_rt_stream *stream);
/** What an operator costs the script of a framework (torch_npu, mindspore, torch_mlu); 0: there
 * is none of that name. */
uint64_t leo_rt_framework_operator_ns(const char *name);
/** What launches cost the simulated host, as a text for profiles and reports; lasts as the device
 * does. */
const char *leo_rt_device_host_model(const struct leo_rt_device *device);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop
