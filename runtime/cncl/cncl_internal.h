/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of CNCL. They only translate: names, types, defaults and error codes; what
 * happens is in ../comm. */
#pragma once

#include "../collective/communicator.h"

#include <cncl/cncl.h>

/** Tells the error as CNRT does and returns `code`. */
cnclResult_t cncl_fail(cnclResult_t code, const char *func, const char *text);
/** The code of a status; tells the runtime's text if it is an error. */
cnclResult_t cncl_result(const char *func, leo_status status);
cnclResult_t cncl_code(leo_status status);
