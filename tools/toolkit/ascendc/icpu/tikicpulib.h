/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of kernels in the style of the vendor's CPU debugging (docs/ascend_c.md): memory that
 * the test fills and reads as its own, and ICPU_RUN_KF, which runs a kernel on the simulated card
 * and waits. Kernels are those of the program's own files (compile.py). C++ only.
 */
#pragma once

#include <acl/acl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#ifndef __global__
#define __global__
#endif
#ifndef __aicore__
#define __aicore__
#endif
#ifndef __gm__
#define __gm__
#endif
using GM_ADDR = uint8_t *;
using half = _Float16;

/** On which cores a test's kernels run: the kernel's own word holds, this is taken and changes
 * nothing. */
enum class KernelMode { MIX_MODE = 0, AIC_MODE, AIV_MODE, MIX_AIC_1_1 };

namespace AscendC
{

/** What a test has: kernel files, and memory with a copy on the card while a kernel runs. */
struct LeoTest {
    struct Image {
        const unsigned char *bytes;
        size_t size;
        aclrtBinHandle loaded;
    };
    std::vector<Image> images;
    std::map<char *, size_t> memory; /**< by address */
    aclrtStream stream = nullptr;

    static LeoTest &get()
    {
        static LeoTest &test = *new LeoTest; // lives as long as the program
        return test;
    }

    [[noreturn]] static void fail(const std::string &what)
    {
        fprintf(stderr, "ICPU_RUN_KF: %s\n", what.c_str());
        exit(1);
    }

    static void check(aclError error, const std::string &what)
    {
        if (error != ACL_SUCCESS) {
            const char *why = aclGetRecentErrMsg();
            fail(what + ": error " + std::to_string(error) + (why ? std::string(": ") + why : ""));
        }
    }

    aclrtFuncHandle find(const std::string &kernel)
    {
        if (!stream) {
            int32_t device;
            aclInit(nullptr); // the test may have done it
            if (aclrtGetDevice(&device) != ACL_SUCCESS) {
                check(aclrtSetDevice(0), "aclrtSetDevice");
            }
            check(aclrtCreateStream(&stream), "aclrtCreateStream");
        }
        for (Image &image : images) {
            if (!image.loaded) {
                check(aclrtBinaryLoadFromData(image.bytes, image.size, nullptr, &image.loaded),
                      "kernel file");
            }
            aclrtFuncHandle function;
            if (aclrtBinaryGetFunction(image.loaded, kernel.c_str(), &function) == ACL_SUCCESS) {
                return function;
            }
        }
        fail("no kernel " + kernel + " in the program's files");
    }
};

/** Memory for a kernel's arguments, zeros. */
inline void *GmAlloc(size_t size)
{
    char *memory = static_cast<char *>(calloc(size ? size : 1, 1));
    LeoTest::get().memory[memory] = size;
    return memory;
}

inline void GmFree(void *memory)
{
    LeoTest::get().memory.erase(static_cast<char *>(memory));
    free(memory);
}

inline void SetKernelMode(KernelMode)
{
}

inline int32_t SetArgInfoPath(const std::string &)
{
    return 0;
}

/** One launch: memory goes to the card, the kernel runs, memory comes back. */
class LeoLaunch
{
  public:
    explicit LeoLaunch(const char *kernel) : kernel_(kernel), function_(LeoTest::get().find(kernel))
    {
        for (const auto &block : LeoTest::get().memory) {
            void *copy = nullptr;
            LeoTest::check(
                aclrtMalloc(&copy, block.second ? block.second : 1, ACL_MEM_MALLOC_HUGE_FIRST),
                "aclrtMalloc");
            LeoTest::check(aclrtMemcpy(copy, block.second, block.first, block.second,
                                       ACL_MEMCPY_HOST_TO_DEVICE),
                           "aclrtMemcpy");
            copies_[block.first] = static_cast<char *>(copy);
        }
    }

    template <typename... A> void run(uint32_t blocks, A... values)
    {
        const uint64_t words[] = {word(values)..., 0};
        void *args[sizeof...(A) + 1] = {};
        for (size_t i = 0; i < sizeof...(A); i++) {
            args[i] = const_cast<uint64_t *>(&words[i]);
        }
        LeoTest &test = LeoTest::get();
        LeoTest::check(
            aclrtLaunchKernelWithArgsArray(function_, blocks, test.stream, nullptr, args), kernel_);
        LeoTest::check(aclrtSynchronizeStream(test.stream), kernel_);
        for (const auto &copy : copies_) {
            const size_t size = test.memory[copy.first];
            LeoTest::check(
                aclrtMemcpy(copy.first, size, copy.second, size, ACL_MEMCPY_DEVICE_TO_HOST),
                "aclrtMemcpy");
            aclrtFree(copy.second);
        }
    }

  private:
    /** A pointer into memory of GmAlloc becomes one on the card; other values stay. */
    template <typename T> uint64_t word(T value)
    {
        uint64_t bits = 0;
        static_assert(sizeof(T) <= sizeof(bits) && std::is_trivially_copyable_v<T>,
                      "arguments: pointers and numbers");
        memcpy(&bits, &value, sizeof(value));
        if constexpr (std::is_pointer_v<T>) {
            char *place = reinterpret_cast<char *>(bits);
            auto block = LeoTest::get().memory.upper_bound(place);
            if (block != LeoTest::get().memory.begin() &&
                place < (--block)->first + block->second) {
                bits = reinterpret_cast<uint64_t>(copies_[block->first] + (place - block->first));
            } else if (place) {
                LeoTest::fail(kernel_ + ": a pointer is not of GmAlloc");
            }
        }
        return bits;
    }

    std::string kernel_;
    aclrtFuncHandle function_;
    std::map<char *, char *> copies_;
};

/** A file of kernels of this program. */
struct LeoTestImage {
    LeoTestImage(const unsigned char *bytes, size_t size)
    {
        LeoTest::get().images.push_back({bytes, size, nullptr});
    }
};

} // namespace AscendC

#define ICPU_RUN_KF(kernel, blocks, ...) AscendC::LeoLaunch(#kernel).run(blocks, ##__VA_ARGS__)
#define ICPU_SET_TILING_KEY(key)                                                                   \
    static_assert(sizeof(key) == 0, "compile the kernel with -DLEO_TILING_KEY=" #key)
