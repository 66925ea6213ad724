/* SPDX-License-Identifier: Apache-2.0 */
/* The second operator library's names, in libcnnl_extra.so, which is libcnnl.so. */
#pragma once

#include <cnnl.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Not supported: calls are not written to files. */
CNNL_FUNC_VISIBILITY cnnlStatus_t cnnlExtraSetGenCaseMode(int mode);

#ifdef __cplusplus
}
#endif
