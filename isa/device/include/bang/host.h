/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by the compiler's driver where kernels stand in one file with code for the host (cncc):
 * what the launch of a kernel becomes. The compiler's own language for such files asks for these
 * names; each is a call of CNRT.
 */
#pragma once

#include <leo/one_file.h>

#include <assert.h>
#include <cnrt.h>

extern "C" {

typedef cnrtQueue_t cudaStream_t;

/** kernel<<<dim, type, queue>>>: kept for the call that follows. */
LEO_HOOK unsigned __cudaPushCallConfiguration(cnrtDim3_t dim, cnrtFunctionType_t type,
                                              cnrtQueue_t queue)
{
    return (unsigned)__bangPushCallConfiguration(dim, type, queue);
}

/** type.x holds the type. */
LEO_HOOK unsigned __cudaPopCallConfiguration(cnrtDim3_t *dim, cnrtDim3_t *type, size_t *,
                                             void *queue)
{
    cnrtFunctionType_t kind;
    const cnrtRet_t status = __bangPopCallConfiguration(dim, &kind, (cnrtQueue_t *)queue);
    type->x = (unsigned)kind;
    return (unsigned)status;
}

LEO_HOOK unsigned cudaLaunchKernel(const void *kernel, cnrtDim3_t dim, cnrtDim3_t type, void **args,
                                   size_t, cudaStream_t queue)
{
    return (unsigned)cnrtInvokeKernel(kernel, dim, (cnrtFunctionType_t)type.x, args, 0, queue);
}

LEO_HOOK void **__cudaRegisterFatBinary(void *embedded)
{
    return __bangRegisterFatBinary(((leo_embedded *)embedded)->file);
}

LEO_HOOK void __cudaUnregisterFatBinary(void **handle)
{
    __bangUnregisterFatBinary(handle);
}

LEO_HOOK int __cudaRegisterFunction(void **handle, const char *stub, char *name, const char *symbol,
                                    int, void *, void *, void *, void *, int *)
{
    __bangRegisterFunction(handle, stub, name, symbol, 0, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    return 0;
}

} // extern "C"
