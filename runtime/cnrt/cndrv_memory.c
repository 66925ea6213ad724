/* SPDX-License-Identifier: Apache-2.0 */
/* CNDrv: addresses reserved apart from the memory behind them, and what memory is. */
#include "cnrt_internal.h"

#include "../api_common/memory/memory_owner.h"

static CNresult result(const char *func, leo_status status)
{
    return (CNresult)cnrt_result(func, status);
}

static CNresult wrong(const char *func, const char *text)
{
    return (CNresult)cnrt_fail(cnrtErrorArgsInvalid, func, text);
}

static bool is_on_device(const CNmemAllocationProp *prop)
{
    return prop && prop->type == CN_MEM_ALLOCATION_TYPE_DEFAULT &&
           prop->location.type == CN_MEM_LOCATION_TYPE_DEVICE;
}

// What no memory here has ends with an error of its own.
static CNresult check_prop(const char *func, const CNmemAllocationProp *prop)
{
    if (!is_on_device(prop)) {
        return wrong(func, "prop is NULL or is not of device memory");
    }
    if (prop->requestedHandleTypes != CN_MEM_HANDLE_TYPE_NONE ||
        prop->allocFlags.compressionType != CN_MEM_ALLOCATION_COMP_NONE) {
        return (CNresult)cnrt_fail(cnrtErrorNotSupport, func,
                                   "memory of this kind is not shared by handles, nor compressed");
    }
    return CN_SUCCESS;
}

CNresult cnMemGetAllocationGranularity(size_t *granularity, const CNmemAllocationProp *prop,
                                       CNmemAllocationGranularity_flags option)
{
    if (!granularity || !is_on_device(prop) || option > CN_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
        return wrong(__func__, "granularity or prop is NULL, or is not of device memory");
    }
    *granularity = API_GRANULE;
    return CN_SUCCESS;
}

CNresult cnMemCreate(CNmemGenericAllocationHandle *handle, size_t bytes,
                     const CNmemAllocationProp *prop, unsigned long long flags)
{
    void *memory;
    if (!handle || flags) {
        return wrong(__func__, "handle is NULL, or flags are not 0");
    }
    CNresult code = check_prop(__func__, prop);
    if (code == CN_SUCCESS) {
        code = result(__func__, api_physical_alloc(prop->location.id, bytes, &memory));
    }
    if (code == CN_SUCCESS) {
        *handle = (uintptr_t)memory;
    }
    return code;
}

CNresult cnMemRelease(CNmemGenericAllocationHandle handle)
{
    return result(__func__, api_physical_free((const void *)(uintptr_t)handle));
}

CNresult cnMemAddressReserve(CNaddr *addr, size_t bytes, size_t alignment, CNaddr wanted,
                             unsigned long long flags)
{
    void *ptr;
    if (!addr || flags || alignment > API_GRANULE || (alignment & (alignment - 1))) {
        return wrong(__func__, "addr is NULL, flags are not 0, or the alignment is none of up to "
                               "2 MiB");
    }
    (void)wanted; // a hint
    const CNresult code = result(__func__, api_addresses_reserve(bytes, &ptr));
    if (code == CN_SUCCESS) {
        *addr = (uintptr_t)ptr;
    }
    return code;
}

CNresult cnMemAddressFree(CNaddr addr, size_t bytes)
{
    (void)bytes; // the reservation knows
    return result(__func__, api_addresses_release((void *)(uintptr_t)addr));
}

CNresult cnMemMap(CNaddr addr, size_t bytes, size_t offset, CNmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    if (offset || flags) {
        return wrong(__func__, "offset and flags must be 0");
    }
    return result(__func__, api_physical_map((void *)(uintptr_t)addr, bytes,
                                             (const void *)(uintptr_t)handle));
}

CNresult cnMemUnmap(CNaddr addr, size_t bytes)
{
    (void)bytes; // all that was mapped there
    return result(__func__, api_physical_unmap((void *)(uintptr_t)addr));
}

CNresult cnMemSetAccess(CNaddr addr, size_t bytes, const CNmemAccessDesc *access, size_t count)
{
    const leo_status status = api_memory_check((const void *)(uintptr_t)addr, bytes);
    struct api_pointer pointer;
    if (status != LEO_OK || !access || count == 0) {
        return wrong(__func__, "access is NULL or empty, or nothing is mapped there");
    }
    if (api_pointer_get((const void *)(uintptr_t)addr, &pointer) != LEO_OK) {
        return wrong(__func__, "nothing is mapped there");
    }
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type != CN_MEM_LOCATION_TYPE_DEVICE ||
            access[i].location.id != pointer.device ||
            access[i].accessFlags != CN_MEM_ACCESS_FLAGS_PROT_READWRITE) {
            return (CNresult)cnrt_fail(cnrtErrorNotSupport, __func__,
                                       "memory is read and written by the device that it is of");
        }
    }
    return CN_SUCCESS;
}

CNresult cnGetMemAttribute(void *data, CNmem_attribute attribute, CNaddr addr)
{
    struct api_pointer pointer;
    if (!data || attribute != CN_MEM_ATTRIBUTE_ISLINEAR) {
        return wrong(__func__, "data is NULL, or the attribute is not CN_MEM_ATTRIBUTE_ISLINEAR");
    }
    const leo_status status = api_pointer_get((const void *)(uintptr_t)addr, &pointer);
    if (status == LEO_OK && pointer.kind != API_PLACE_DEVICE) {
        return wrong(__func__, "not an address of device memory");
    }
    if (status == LEO_OK) {
        *(int *)data = 0; // no memory here is: CN_DEVICE_ATTRIBUTE_LINEAR_MAPPING_SUPPORTED is 0
    }
    return result(__func__, status);
}
