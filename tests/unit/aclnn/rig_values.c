/* SPDX-License-Identifier: Apache-2.0 */
#include "rig_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double rig_values_at(const struct rig_tensor *tensor, int64_t index)
{
    return rig_get_d(rig_tensor_at(tensor, index), tensor->type);
}

double rig_values_round(double value, enum op_type type)
{
    unsigned char kept[16];
    rig_put_d(kept, type, value);
    return rig_get_d(kept, type);
}

struct rig_tensor rig_values_make(enum op_type type, unsigned rank, const int64_t *dim,
                                  enum rig_layout layout, uint64_t seed)
{
    struct rig_tensor tensor = rig_tensor_make(type, rank, dim, layout, seed);
    const int64_t count = rig_tensor_count(&tensor);
    for (int64_t i = 0; i < count; i++) {
        rig_put_d(rig_tensor_at(&tensor, i), type,
                  ((double)(rig_random(&seed) % 4097) - 2048) / 1024);
    }
    rig_tensor_put(&tensor);
    return tensor;
}

double *rig_values_zeros(int64_t count)
{
    return calloc((size_t)count + 1, sizeof(double));
}

void rig_values_free(struct rig_tensor *tensors, unsigned count, double **arrays, unsigned numbers)
{
    for (unsigned i = 0; i < count; i++) {
        rig_tensor_free(&tensors[i]);
    }
    for (unsigned i = 0; i < numbers; i++) {
        free(arrays[i]);
    }
}

// Half of the distance between neighbours, relative, and where numbers have lost their exponent.
static double half_step(enum op_type type, double value)
{
    const double magnitude = fabs(value);
    switch (type) {
    case OP_TYPE_F32:
        return fmax(magnitude * 0x1p-24, 0x1p-150);
    case OP_TYPE_F16:
        return fmax(magnitude * 0x1p-11, 0x1p-25);
    case OP_TYPE_BF16:
        return fmax(magnitude * 0x1p-8, 0x1p-134);
    default:
        return 0;
    }
}

void rig_values_expect(struct rig_tensor *out, const double *want, struct rig_bound bound,
                       const char *what)
{
    const int64_t count = rig_tensor_count(out);
    double largest = 0;
    int64_t wrong = 0;
    rig_tensor_take(out);
    for (int64_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(want[i]));
    }
    for (int64_t i = 0; i < count; i++) {
        const double room = bound.at_all + bound.of_each * fabs(want[i]) +
                            bound.of_largest * largest +
                            bound.roundings * half_step(out->type, want[i]);
        const double is = room > 0 ? want[i] : rig_values_round(want[i], out->type),
                     got = rig_values_at(out, i);
        if (!(fabs(got - is) <= room) && wrong++ == 0) {
            fprintf(stderr, "%s, %s of %lld: element %lld is %.9g, expected %.9g within %.3g\n",
                    what, rig_type_name(out->type), (long long)count, (long long)i, got, is, room);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}
