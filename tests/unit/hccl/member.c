/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member TABLE RANK ROUNDS: one rank of a rank table that does collectives of many sizes. A program
 * for tests that start ranks on their own terms: on two hosts, or to be killed.
 *
 * Exit code: 0 all rounds gave the right sums; 3 an error was reported, as it should be when
 * another rank is gone; 1 anything else. Prints "met" when the group stands.
 */
#include <acl/acl.h>
#include <hccl/hccl.h>
#include <stdio.h>
#include <stdlib.h>

enum { ELEMENTS = 1 << 18, WRONG = 1, REPORTED = 3 };

static int report(const char *what, int code)
{
    const char *text = aclGetRecentErrMsg();
    fprintf(stderr, "%s: %d %s\n", what, code, text ? text : "");
    return REPORTED;
}

/* One round: sums over the ranks, in place every other time. */
static int sum_up(HcclComm comm, aclrtStream stream, float *data, uint32_t ranks, size_t round)
{
    static float host[ELEMENTS];
    const size_t count = (size_t)1 << (round * 5 % 19); // 4 bytes to 1 MiB
    for (size_t i = 0; i < count; i++) {
        host[i] = (float)(i % 7);
    }
    if (aclrtMemcpy(data, sizeof(host), host, count * sizeof(float), ACL_MEMCPY_HOST_TO_DEVICE)) {
        return WRONG;
    }
    float *out = round % 2 ? data : data + ELEMENTS;
    int code = HcclAllReduce(data, out, count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream);
    if (code == HCCL_SUCCESS) {
        code = aclrtSynchronizeStream(stream);
    }
    if (code) {
        return report("all_reduce", code);
    }
    if (aclrtMemcpy(host, sizeof(host), out, count * sizeof(float), ACL_MEMCPY_DEVICE_TO_HOST)) {
        return WRONG;
    }
    for (size_t i = 0; i < count; i++) {
        if (host[i] != (float)(i % 7 * ranks)) {
            fprintf(stderr, "round %zu, element %zu: %g\n", round, i, (double)host[i]);
            return WRONG;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    aclrtStream stream;
    HcclComm comm;
    uint32_t ranks = 0;
    void *data;
    if (argc != 4 || aclInit(NULL) || aclrtSetDevice(0) || aclrtCreateStream(&stream) ||
        aclrtMalloc(&data, 2 * ELEMENTS * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST)) {
        fprintf(stderr, "usage: member TABLE RANK ROUNDS\n");
        return WRONG;
    }
    int code = HcclCommInitClusterInfo(argv[1], (uint32_t)atoi(argv[2]), &comm);
    if (code) {
        return report("bootstrap", code);
    }
    printf("met\n");
    fflush(stdout);
    code = HcclGetRankSize(comm, &ranks);
    const size_t rounds = (size_t)atol(argv[3]);
    for (size_t round = 0; round < rounds && code == 0; round++) {
        code = sum_up(comm, stream, data, ranks, round);
    }
    HcclCommDestroy(comm);
    aclrtResetDevice(0);
    aclFinalize();
    return code;
}
