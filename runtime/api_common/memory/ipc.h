/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of devices between processes (shared.h). */
#pragma once

#include "../process/process.h"
#include "shared.h"

/** Whole pages of one block: from here on other processes can import them by the key. */
leo_status api_ipc_export(void *ptr, size_t bytes, bool any_process, char key[API_KEY_BYTES]);
/** Lets processes at a key of this process. */
leo_status api_ipc_allow(const char *key, const int32_t *pids, size_t count);
/** The memory behind another process's key, at an address of the current device. Counted: the same
 * key gives the same address. */
leo_status api_ipc_import(const char *key, void **ptr);
/** Of an exporter: no process imports it any more; of an importer: one import less. */
leo_status api_ipc_close(const char *key);
/** One import less of what is imported at `ptr`. */
leo_status api_ipc_unmap(const void *ptr);
