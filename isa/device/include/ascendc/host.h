/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by the compiler's driver, after <acl/acl.h>, where kernels in Ascend C stand in
 * one file with code for the host (bisheng): what the launch of a kernel becomes. The compiler's
 * own language for such files asks for these names; they call AscendCL.
 */
#pragma once

// Headers of programs take them for another vendor's card.
#undef __CUDA_ARCH__
#undef __CUDA__
#ifndef __device__
#define __device__ __attribute__((device))
#define __host__   __attribute__((host))
#endif

#include <leo/one_file.h>

#include <map>
#include <mutex>
#include <string>

#define __global__ __attribute__((global, visibility("protected"), used))

/** Blocks of a launch, in the place that the compiler's language has for a grid. */
struct leo_blocks {
    uint32_t count, unused[2];
};

/** The second and third word of a launch: 0, nullptr, a stream or a number. */
struct leo_launch_word {
    __attribute__((host)) leo_launch_word(const void *pointer) : word((void *)pointer)
    {
    }
    __attribute__((host)) leo_launch_word(decltype(nullptr) = nullptr) : word(nullptr)
    {
    }
    __attribute__((host)) leo_launch_word(unsigned long long number) : word((void *)number)
    {
    }
    __attribute__((host)) leo_launch_word(unsigned long number) : word((void *)number)
    {
    }
    __attribute__((host)) leo_launch_word(unsigned number) : word((void *)(uintptr_t)number)
    {
    }
    __attribute__((host)) leo_launch_word(int number) : word((void *)(intptr_t)number)
    {
    }
    void *word;
};

/** What a program knows of its kernel files. One for all its objects; kernels may be launched by
 * several threads. */
struct leo_launcher {
    struct file {
        const unsigned char *image;
        aclrtBinHandle loaded;
    };
    struct kernel {
        file *from;
        std::string name;
    };
    std::mutex lock;
    std::map<const void *, file> files;
    std::map<const void *, kernel> kernels;

    // Bytes of an ELF file: its table of sections stands last.
    static size_t bytes_of(const unsigned char *image)
    {
        uint64_t at;
        uint16_t size, count;
        memcpy(&at, image + 0x28, sizeof(at));
        memcpy(&size, image + 0x3a, sizeof(size));
        memcpy(&count, image + 0x3c, sizeof(count));
        return (size_t)at + (size_t)size * count;
    }

    void **add_file(const void *image)
    {
        std::lock_guard<std::mutex> guard(lock);
        files[image] = {(const unsigned char *)image, nullptr};
        return (void **)&files[image];
    }

    void add_kernel(const void *stub, void **from, const char *name)
    {
        std::lock_guard<std::mutex> guard(lock);
        kernels[stub] = {(file *)from, name};
    }

    // The library it came with is unloaded: another one may stand there next.
    void forget(void **from)
    {
        std::lock_guard<std::mutex> guard(lock);
        for (auto at = kernels.begin(); at != kernels.end();) {
            at = at->second.from == (file *)from ? kernels.erase(at) : std::next(at);
        }
        files.erase(((file *)from)->image);
    }

    // A file is loaded again after aclrtResetDevice took it away.
    aclError find(const void *stub, aclrtFuncHandle *function)
    {
        std::lock_guard<std::mutex> guard(lock);
        const auto found = kernels.find(stub);
        if (found == kernels.end()) {
            return ACL_ERROR_INVALID_PARAM;
        }
        file *from = found->second.from;
        const char *name = found->second.name.c_str();
        if (from->loaded && aclrtBinaryGetFunction(from->loaded, name, function) == ACL_SUCCESS) {
            return ACL_SUCCESS;
        }
        aclError error =
            aclrtBinaryLoadFromData(from->image, bytes_of(from->image), nullptr, &from->loaded);
        return error == ACL_SUCCESS ? aclrtBinaryGetFunction(from->loaded, name, function) : error;
    }
};

/* It is never destroyed: libraries forget their kernels after the program's own objects have ended.
 */
__attribute__((host)) inline leo_launcher &leo_launcher_of_program()
{
    static leo_launcher &launcher = *new leo_launcher;
    return launcher;
}

/** The launch that is being made: between <<< >>> and the call. */
struct leo_launch {
    uint32_t blocks;
    void *stream;
};

__attribute__((host)) inline leo_launch &leo_launch_of_thread()
{
    static thread_local leo_launch launch;
    return launch;
}

extern "C" {

typedef void *cudaStream_t;

/** kernel<<<blocks, l2, stream>>>: kept for the call that follows. The L2's word counts for
 * nothing, as on a card. */
LEO_HOOK unsigned __cudaPushCallConfiguration(uint32_t blocks, leo_launch_word = nullptr,
                                              leo_launch_word stream = nullptr,
                                              leo_launch_word = nullptr)
{
    leo_launch_of_thread() = {blocks, stream.word};
    return 0;
}

LEO_HOOK unsigned __cudaPopCallConfiguration(leo_blocks *blocks, leo_blocks *, size_t *,
                                             void *stream)
{
    blocks->count = leo_launch_of_thread().blocks;
    *(void **)stream = leo_launch_of_thread().stream;
    return 0;
}

/** A launch that fails says so on stderr: `<<<>>>` gives no value. What waits for the stream does
 * not know of it. */
LEO_HOOK unsigned cudaLaunchKernel(const void *kernel, leo_blocks blocks, leo_blocks, void **args,
                                   size_t, cudaStream_t stream)
{
    aclrtFuncHandle function;
    aclError error = leo_launcher_of_program().find(kernel, &function);
    if (error == ACL_SUCCESS) {
        error = aclrtLaunchKernelWithArgsArray(function, blocks.count, stream, nullptr, args);
    }
    if (error != ACL_SUCCESS) {
        const char *why = aclGetRecentErrMsg();
        fprintf(stderr, "launch of a kernel: error %d: %s\n", (int)error, why ? why : "");
    }
    return (unsigned)error;
}

LEO_HOOK void **__cudaRegisterFatBinary(void *embedded)
{
    return leo_launcher_of_program().add_file(((leo_embedded *)embedded)->file);
}

LEO_HOOK void __cudaUnregisterFatBinary(void **handle)
{
    leo_launcher_of_program().forget(handle);
}

LEO_HOOK int __cudaRegisterFunction(void **handle, const char *stub, char *, const char *symbol,
                                    int, void *, void *, void *, void *, int *)
{
    leo_launcher_of_program().add_kernel(stub, handle, symbol);
    return 0;
}

} // extern "C"
