/* SPDX-License-Identifier: Apache-2.0 */
/* Retrieval of features, which the chip does not have. */
#pragma once

#include <acl/absent/fv.h>
