/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the custom operator ScaleAdd through its two aclnn functions: with y, without, in half, on
 * a transposed matrix. */
#include <acl/acl.h>
#include <aclnn_scale_add.h>
#include <cmath>
#include <cstdio>
#include <vector>

namespace
{

constexpr int64_t ROWS = 100, COLUMNS = 1001, COUNT = ROWS * COLUMNS;
aclrtStream stream;

template <typename T> aclTensor *tensor(void *data, aclDataType type, bool transposed = false)
{
    const int64_t dims[] = {ROWS, COLUMNS}, strides[] = {1, ROWS}, storage[] = {COUNT};
    return aclCreateTensor(dims, 2, type, transposed ? strides : nullptr, 0, ACL_FORMAT_ND,
                           transposed ? storage : dims, transposed ? 1 : 2, data);
}

template <typename T> void *on_card(const std::vector<T> &values)
{
    void *data = nullptr;
    aclrtMalloc(&data, COUNT * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(data, COUNT * sizeof(T), values.data(), COUNT * sizeof(T),
                ACL_MEMCPY_HOST_TO_DEVICE);
    return data;
}

/** Elements that differ from alpha * x + y. All numbers are small integers: exact in both types. */
template <typename T> int wrong(aclDataType type, bool has_y, bool transposed)
{
    std::vector<T> x(COUNT), y(COUNT), z(COUNT);
    for (int64_t i = 0; i < COUNT; i++) {
        x[i] = (T)(i % 97);
        y[i] = (T)(i % 89);
    }
    void *data[] = {on_card(x), on_card(y), on_card(z)};
    aclTensor *tensors[] = {tensor<T>(data[0], type, transposed),
                            has_y ? tensor<T>(data[1], type) : nullptr, tensor<T>(data[2], type)};
    uint64_t bytes = 0;
    aclOpExecutor *executor = nullptr;
    void *workspace = nullptr;
    aclnnStatus status =
        aclnnScaleAddGetWorkspaceSize(tensors[0], tensors[1], 3.0, tensors[2], &bytes, &executor);
    if (status == ACLNN_SUCCESS && bytes > 0) {
        status = aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    }
    if (status == ACLNN_SUCCESS) {
        status = aclnnScaleAdd(workspace, bytes, executor, stream);
    }
    if (status != ACLNN_SUCCESS || aclrtSynchronizeStream(stream) != ACL_SUCCESS) {
        printf("error %d: %s\n", (int)status, aclGetRecentErrMsg());
        return -1;
    }
    aclrtMemcpy(z.data(), COUNT * sizeof(T), data[2], COUNT * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST);
    int count = 0;
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t at = transposed ? i % COLUMNS * ROWS + i / COLUMNS : i;
        count += (float)z[i] != 3 * (float)x[at] + (has_y ? (float)y[i] : 0);
    }
    for (int i = 0; i < 3; i++) {
        aclDestroyTensor(tensors[i]);
        aclrtFree(data[i]);
    }
    aclrtFree(workspace);
    return count;
}

} // namespace

int main()
{
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtCreateStream(&stream);
    printf("float with y: %d wrong\n", wrong<float>(ACL_FLOAT, true, false));
    printf("float without y: %d wrong\n", wrong<float>(ACL_FLOAT, false, false));
    printf("half with y: %d wrong\n", wrong<_Float16>(ACL_FLOAT16, true, false));
    printf("transposed x: %d wrong\n", wrong<float>(ACL_FLOAT, true, true));
    printf("int32: %d wrong\n", wrong<int32_t>(ACL_INT32, true, false)); // not in the description
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    return aclFinalize();
}
