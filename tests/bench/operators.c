/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator costs the host through the two-phase interface: one element from phase 1 to the
 * synchronisation, a plan found again, and a chain of small operators. Each figure with its aim. */
#include <acl/acl.h>
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_mul.h>
#include <aclnnop/aclnn_relu.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    ROUNDS = 2001,
    CHAIN = 8000,   /* operators between two waits */
    CHAIN_RUNS = 9, /* the best counts: others use the machine too */
    PLANS = 20000,
    SMALL = 256 /* elements of the chain's tensors */
};

static aclrtStream stream;

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void check(int error, const char *call)
{
    if (error) {
        const char *text = aclGetRecentErrMsg();
        fprintf(stderr, "%s: %s\n", call, text ? text : "failed");
        exit(1);
    }
}
#undef OK
#define OK(call) check((call), #call)

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static aclTensor *make_tensor(int64_t count)
{
    const int64_t stride = 1;
    void *memory;
    OK(aclrtMalloc(&memory, (size_t)count * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(memory, (size_t)count * 4, 0, (size_t)count * 4));
    return aclCreateTensor(&count, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &count, 1, memory);
}

static aclOpExecutor *plan_add(aclTensor *a, aclTensor *b, aclScalar *alpha, aclTensor *out)
{
    uint64_t bytes;
    aclOpExecutor *executor;
    OK(aclnnAddGetWorkspaceSize(a, b, alpha, out, &bytes, &executor));
    return executor;
}

/* Both phases and the wait, of one element: the median. */
static double one_element_us(aclScalar *alpha)
{
    static double took[ROUNDS];
    aclTensor *a = make_tensor(1), *b = make_tensor(1), *out = make_tensor(1);
    for (int i = 0; i < ROUNDS; i++) {
        const double begin = now_us();
        OK(aclnnAdd(NULL, 0, plan_add(a, b, alpha, out), stream));
        OK(aclrtSynchronizeStream(stream));
        took[i] = now_us() - begin;
    }
    qsort(took, ROUNDS, sizeof(*took), compare);
    return took[ROUNDS / 2];
}

/* Phase 1 of a call made before, and giving its executor back: the best of some runs. */
static double plan_found_us(aclScalar *alpha)
{
    aclTensor *a = make_tensor(SMALL), *b = make_tensor(SMALL), *out = make_tensor(SMALL);
    double best = 1e9;
    for (int run = 0; run < CHAIN_RUNS; run++) {
        const double begin = now_us();
        for (int i = 0; i < PLANS; i++) {
            OK(aclDestroyAclOpExecutor(plan_add(a, b, alpha, out)));
        }
        const double took = (now_us() - begin) / PLANS;
        best = took < best ? took : best;
    }
    return best;
}

/* Operators a second when each reads what the one before wrote. */
static double chain_rate(aclScalar *alpha)
{
    aclTensor *a = make_tensor(SMALL), *b = make_tensor(SMALL), *c = make_tensor(SMALL);
    double best = 0;
    for (int run = 0; run < CHAIN_RUNS; run++) {
        const double begin = now_us();
        for (int i = 0; i < CHAIN; i += 4) {
            uint64_t bytes;
            aclOpExecutor *executor;
            OK(aclnnAdd(NULL, 0, plan_add(a, b, alpha, c), stream));
            OK(aclnnMulGetWorkspaceSize(c, b, a, &bytes, &executor));
            OK(aclnnMul(NULL, 0, executor, stream));
            OK(aclnnReluGetWorkspaceSize(a, c, &bytes, &executor));
            OK(aclnnRelu(NULL, 0, executor, stream));
            OK(aclnnAdd(NULL, 0, plan_add(c, b, alpha, a), stream));
        }
        OK(aclrtSynchronizeStream(stream));
        const double rate = CHAIN / ((now_us() - begin) / 1e6);
        best = rate > best ? rate : best;
    }
    return best;
}

int main(void)
{
    float one = 1;
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    printf("%s\n", aclrtGetSocName());
    printf("  one element, both phases and wait %8.2f us    aim <= 12\n", one_element_us(alpha));
    printf("  plan found again                  %8.3f us    aim < 1\n", plan_found_us(alpha));
    printf("  chain of small operators          %8.0f /s    aim >= 20000\n", chain_rate(alpha));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
