/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two phases of a custom operator's aclnn functions. A library of custom operators is their
 * host parts, generated functions that pack arguments, and this.
 */
#pragma once

#include <acl/acl.h>
#include <aclnn/custom_op.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace leo_custom
{

/** One argument of phase one, in the order of the operator's inputs, attributes, outputs. */
struct Argument {
    enum { NONE, TENSOR, TENSORS, INTS, FLOATS, BOOLS, INTEGER, REAL, TEXT } kind = NONE;
    union {
        const aclTensor *tensor;
        const aclTensorList *tensors;
        const aclIntArray *ints;
        const aclFloatArray *floats;
        const aclBoolArray *bools;
        int64_t integer;
        double real;
        const char *text;
    };
    Argument(const aclTensor *value) : kind(TENSOR), tensor(value)
    {
    }
    Argument(const aclTensorList *value) : kind(TENSORS), tensors(value)
    {
    }
    Argument(const aclIntArray *value) : kind(INTS), ints(value)
    {
    }
    Argument(const aclFloatArray *value) : kind(FLOATS), floats(value)
    {
    }
    Argument(const aclBoolArray *value) : kind(BOOLS), bools(value)
    {
    }
    Argument(int64_t value) : kind(INTEGER), integer(value)
    {
    }
    Argument(bool value) : kind(INTEGER), integer(value)
    {
    }
    Argument(double value) : kind(REAL), real(value)
    {
    }
    Argument(const char *value) : kind(TEXT), text(value)
    {
    }
};

constexpr uint64_t ANY_KEY = ~0ull;

/** A kernel file in the library. */
struct Image {
    const char *op, *soc; /**< the family: ascend910b */
    const char *arch;     /**< of the chips it runs on: 2201 */
    unsigned combination; /**< of types, the first that uses it */
    uint64_t key;         /**< of the tiling; ANY_KEY: others than those that have an own image */
    const char *entry;    /**< the kernel's symbol */
    const unsigned char *begin, *end;
};

/** Generated: the images, and which image's combination stands for combination i of an operator. */
extern const Image images[];
extern const size_t image_count;

aclnnStatus prepare(const char *func, const char *op, std::initializer_list<Argument> arguments,
                    uint64_t *workspace_bytes, aclOpExecutor **executor);
aclnnStatus launch(const char *func, void *workspace, uint64_t workspace_bytes,
                   aclOpExecutor *executor, aclrtStream stream);

} // namespace leo_custom
