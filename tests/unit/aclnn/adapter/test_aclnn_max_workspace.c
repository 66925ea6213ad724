/* SPDX-License-Identifier: Apache-2.0 */
/* The largest workspace of attention: enough for any lists of lengths, whatever those of the call
 * are. */
#include "rig_values.h"

#include <aclnnop/aclnn_flash_attention_var_len_score_v5.h>
#include <aclnnop/aclnn_fused_infer_attention_score_v4.h>
#include <aclnnop/aclnn_fused_infer_attention_score_v5.h>
#include <string.h>

enum { HEADS = 4, WIDTH = 16, BATCH = 3, TOKENS = 96, PAGE = 128, PAGES = 3 };

typedef aclnnStatus (*size_fn)(const int64_t *q, const int64_t *k, bool most, uint64_t *bytes);

static struct rig_tensor q, k, v, max, sum, out, table;

static aclnnStatus destroyed(aclnnStatus code, aclOpExecutor *executor)
{
    return code ? code : aclDestroyAclOpExecutor(executor);
}

static aclnnStatus packed(const int64_t *q_ends, const int64_t *k_ends, bool most, uint64_t *bytes)
{
    static char layout[] = "TND", same[] = "same_as_input";
    aclOpExecutor *executor = NULL;
    aclIntArray *of_q = aclCreateIntArray(q_ends, BATCH), *of_k = aclCreateIntArray(k_ends, BATCH);
    const aclnnStatus code = (most ? aclnnFlashAttentionVarLenScoreV5GetMaxWorkspaceSize
                                   : aclnnFlashAttentionVarLenScoreV5GetWorkspaceSize)(
        q.acl, NULL, k.acl, NULL, v.acl, NULL, NULL, NULL, NULL, NULL, NULL, of_q, of_k, NULL, NULL,
        0.25, 1, 1000, 1000, HEADS, layout, 0, 0, 1, same, max.acl, sum.acl, NULL, out.acl, bytes,
        &executor);
    (void)aclDestroyIntArray(of_q);
    (void)aclDestroyIntArray(of_k);
    return destroyed(code, executor);
}

static aclnnStatus paged(const int64_t *q_ends, const int64_t *lengths, bool most, uint64_t *bytes)
{
    static char layout[] = "TND";
    aclOpExecutor *executor = NULL;
    aclIntArray *of_q = aclCreateIntArray(q_ends, BATCH), *of_k = aclCreateIntArray(lengths, BATCH);
    const aclTensor *keys[] = {k.acl}, *values[] = {v.acl};
    aclTensorList *key = aclCreateTensorList(keys, 1), *value = aclCreateTensorList(values, 1);
    const aclnnStatus code = (most ? aclnnFusedInferAttentionScoreV4GetMaxWorkspaceSize
                                   : aclnnFusedInferAttentionScoreV4GetWorkspaceSize)(
        q.acl, key, value, NULL, NULL, of_q, of_k, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        table.acl, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL, HEADS, 0.25, INT32_MAX, INT32_MAX, layout, HEADS, 0, 0, PAGE, 0, false, 0, 0, 0,
        out.acl, NULL, bytes, &executor);
    CU_ASSERT_EQUAL(aclDestroyTensorList(key), 0);
    CU_ASSERT_EQUAL(aclDestroyTensorList(value), 0);
    k.acl = v.acl = NULL;
    (void)aclDestroyIntArray(of_q);
    (void)aclDestroyIntArray(of_k);
    return destroyed(code, executor);
}

static void make(bool pages)
{
    const int64_t tokens[] = {TOKENS, HEADS, WIDTH}, sums[] = {TOKENS, HEADS, 8},
                  cache[] = {8, PAGE, HEADS * WIDTH}, entries[] = {BATCH, PAGES};
    q = rig_values_make(OP_TYPE_F16, 3, tokens, RIG_DENSE, 1);
    k = rig_values_make(OP_TYPE_F16, 3, pages ? cache : tokens, RIG_DENSE, 2);
    v = rig_values_make(OP_TYPE_F16, 3, pages ? cache : tokens, RIG_DENSE, 3);
    max = rig_values_make(OP_TYPE_F32, 3, sums, RIG_DENSE, 4);
    sum = rig_values_make(OP_TYPE_F32, 3, sums, RIG_DENSE, 5);
    out = rig_values_make(OP_TYPE_F16, 3, tokens, RIG_DENSE, 6);
    table = rig_tensor_make(OP_TYPE_I32, 2, entries, RIG_DENSE, 7);
    memset(table.host, 0, table.storage_bytes);
    rig_tensor_put(&table);
}

static void end(void)
{
    struct rig_tensor all[] = {q, k, v, max, sum, out, table};
    rig_values_free(all, 7, NULL, 0);
}

/* Each list's own workspace fits into the largest, and all lists have the same largest one. */
static void bounds(size_fn size, bool pages)
{
    static const int64_t q_ends[][BATCH] = {{32, 64, 96}, {1, 2, 96}, {96, 96, 96}, {90, 95, 96}},
                         lengths[][BATCH] = {{1, 1, 1}, {384, 1, 5}, {384, 384, 384}, {7, 380, 9}};
    uint64_t most = 0, least = UINT64_MAX, largest = 0;
    for (unsigned i = 0; rig_chip() == 1 && i < 4; i++) {
        uint64_t own = 0, bytes = 0;
        make(pages);
        CU_ASSERT_EQUAL(size(q_ends[i], pages ? lengths[i] : q_ends[i], false, &own), 0);
        end();
        make(pages);
        CU_ASSERT_EQUAL(size(q_ends[i], pages ? lengths[i] : q_ends[i], true, &bytes), 0);
        end();
        most = i ? most : bytes;
        CU_ASSERT_EQUAL(bytes, most);
        CU_ASSERT_TRUE(own <= most);
        least = own < least ? own : least;
        largest = own > largest ? own : largest;
    }
    CU_ASSERT_TRUE(rig_chip() == 0 || least < largest); // lengths do make a difference
}

static void packed_sequences_have_a_bound(void)
{
    bounds(packed, false);
}

static void pages_have_a_bound(void)
{
    bounds(paged, true);
}

static void others_are_not_here(void)
{
    uint64_t bytes = 7;
    aclOpExecutor *executor = NULL;
    char layout[] = "TND";
    CU_ASSERT_EQUAL(aclnnFusedInferAttentionScoreV5GetMaxWorkspaceSize(
                        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                        NULL, NULL, NULL, NULL, NULL, NULL, NULL, HEADS, 1, 0, 0, layout, HEADS, 0,
                        0, PAGE, 0, false, 0, 0, 0, 0, NULL, NULL, &bytes, &executor),
                    ACLNN_ERR_PARAM_INVALID);
    CU_ASSERT_EQUAL(bytes, 7);
}

int main(int argc, char **argv)
{
    static const struct leo_test tests[] = {
        {"packed_sequences_have_a_bound", packed_sequences_have_a_bound},
        {"pages_have_a_bound", pages_have_a_bound},
        {"others_are_not_here", others_are_not_here},
    };
    rig_open();
    const int code =
        leo_test_main("aclnn_max_workspace", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
    rig_close();
    return code;
}
