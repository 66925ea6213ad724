/* SPDX-License-Identifier: Apache-2.0 */
/* A program's own allocator of device memory, offered to the operators of a stream. Nothing here
 * calls it: operators take their workspace from the call. */
#pragma once

#include "../process/process.h"

leo_status api_allocator_create(void **handle);
leo_status api_allocator_destroy(const void *handle);
/** Sets a member of what a handle holds, named by its offset: the pointer that `value` points at.
 */
leo_status api_allocator_set(const void *handle, size_t member, const void *value);
/** The stream's later operators may use it; replaces an earlier one. The handle stays the
 * caller's; its contents are copied. */
leo_status api_allocator_offer(const void *stream, const void *handle);
/** API_BAD_HANDLE: the stream has none. */
leo_status api_allocator_withdraw(const void *stream);
leo_status api_allocator_of(const void *stream, void **handle, struct api_allocator *allocator);
