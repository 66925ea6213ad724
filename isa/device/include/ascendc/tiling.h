/* SPDX-License-Identifier: Apache-2.0 */
/* Included by <kernel_operator.h>. Ascend C: what a custom operator's host part hands its kernel.
 */
#pragma once

/* The structure from global memory, as a local variable. */
#define GET_TILING_DATA_WITH_STRUCT(type, name, address)                                           \
    type name;                                                                                     \
    AscendC::leo_take_tiling(&name, address, sizeof(name))
#define REGISTER_TILING_DEFAULT(type) using leo_tiling_default = type
#define REGISTER_TILING_FOR_TILINGKEY(text, type)

/* The structure that REGISTER_TILING_DEFAULT registered; else that of the operator -DLEO_OP=NAME.
 */
#ifdef LEO_OP
#define LEO_TILING_OF_(name) leo_tiling_of_##name
#define LEO_TILING_OF(name)  LEO_TILING_OF_(name)
#define GET_TILING_DATA(name, address)                                                             \
    GET_TILING_DATA_WITH_STRUCT(LEO_TILING_OF(LEO_OP), name, address)
#else
#define GET_TILING_DATA(name, address)                                                             \
    GET_TILING_DATA_WITH_STRUCT(leo_tiling_default, name, address)
#endif

/* One field of a structure. */
#define GET_TILING_DATA_MEMBER(type, member, name, address)                                        \
    decltype(type::member) name;                                                                   \
    AscendC::leo_take_tiling(&name, (address) + __builtin_offsetof(type, member), sizeof(name))

/* Whether the kernel runs with this tiling key. An image has one (-DLEO_TILING_KEY=KEY), or the
 * launch brings it: -DLEO_TILING_KEY_BY_LAUNCH, in a custom operator's library. */
#ifdef LEO_TILING_KEY_BY_LAUNCH
#define TILING_KEY_IS(key) (AscendC::leo_tiling_key == (uint64_t)(key))
#define TILING_KEY_VAR     AscendC::leo_tiling_key
#elif defined(LEO_TILING_KEY)
#define TILING_KEY_IS(key) ((uint64_t)(key) == (uint64_t)(LEO_TILING_KEY))
#else
#define TILING_KEY_IS(key) AscendC::leo_tiling_key_is((uint64_t)(key))
#endif

/* The workspace behind what the language keeps for itself: nothing without the Matmul object. */
#define LEO_SYS_WORKSPACE           0u
#define GetUserWorkspace(workspace) leo_user_workspace(workspace, LEO_SYS_WORKSPACE)

namespace AscendC
{

__attribute__((
    unavailable("compile with -DLEO_TILING_KEY=KEY: an image is of one tiling key"))) bool
leo_tiling_key_is(uint64_t key);

LEO_AC_INLINE void leo_take_tiling(void *to, GM_ADDR from, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += 4) {
        __builtin_memcpy((uint8_t *)to + i, from + i, bytes - i < 4 ? bytes - i : 4);
    }
}

inline LEO_DEVICE uint64_t leo_tiling_key;   /**< of this launch */
inline LEO_DEVICE GM_ADDR leo_sys_workspace; /**< of this launch, as the kernel set it */

LEO_AC_INLINE void SetSysWorkspace(GM_ADDR workspace)
{
    leo_sys_workspace = workspace;
}

LEO_AC_INLINE GM_ADDR GetSysWorkSpacePtr()
{
    return leo_sys_workspace;
}

LEO_AC_INLINE GM_ADDR leo_user_workspace(GM_ADDR workspace, uint32_t kept)
{
    leo_sys_workspace = workspace;
    return workspace + kept;
}

} // namespace AscendC

// Public code names them without the namespace.
using AscendC::GetSysWorkSpacePtr;
using AscendC::SetSysWorkspace;
