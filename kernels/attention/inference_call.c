/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of attention of inference: three families of operators name them differently. */
#include "inference.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What these would say is not computed: a call that gives one of them fails. */
static const char *const refused[] = {
    "deqScale1",          "quantScale1",         "deqScale2",
    "quantScale2",        "quantOffset2",        "dequantScale1",
    "dequantScale2",      "antiquantScale",      "antiquantOffset",
    "queryPaddingSize",   "kvPaddingSize",       "keyAntiquantScale",
    "keyAntiquantOffset", "valueAntiquantScale", "valueAntiquantOffset",
    "keySharedPrefix",    "valueSharedPrefix",   "keyRopeAntiquantScale",
    "dequantScaleQuery",  "learnableSink",
};

static const struct {
    const char *name;
    enum op_infer_layout in, out;
} layouts[] = {
    {"BNSD", OP_INFER_BNSD, OP_INFER_BNSD}, {"BSND", OP_INFER_BSND, OP_INFER_BSND},
    {"BSH", OP_INFER_BSH, OP_INFER_BSH},    {"BNSD_BSND", OP_INFER_BNSD, OP_INFER_BSND},
    {"TND", OP_INFER_TND, OP_INFER_TND},
};

// The argument `name`, or that with "Optional" behind it; NULL: the operator has neither.
static const struct op_value *find(const struct op_call *call, const char *name)
{
    char longer[64];
    if (op_call_has(call, name)) {
        return op_call_value(call, name);
    }
    snprintf(longer, sizeof(longer), "%sOptional", name);
    return op_call_has(call, longer) ? op_call_value(call, longer) : NULL;
}

static const struct op_tensor *find_tensor(const struct op_call *call, const char *name)
{
    const struct op_value *value = find(call, name);
    return value && value->kind == OP_KIND_TENSOR && value->tensor && op_tensor_count(value->tensor)
               ? value->tensor
               : NULL;
}

static const struct op_ints *find_ints(const struct op_call *call, const char *name)
{
    const struct op_value *value = find(call, name);
    return value && value->ints && value->ints->count ? value->ints : NULL;
}

static int64_t find_int(const struct op_call *call, const char *name, int64_t otherwise)
{
    return op_call_has(call, name) ? op_call_int(call, name) : otherwise;
}

static leo_status check_refused(const struct op_call *call)
{
    for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (find_tensor(call, refused[i])) {
            return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                                "%s must be NULL: quantised keys, padding on the left, shared "
                                "prefixes and sinks are not computed",
                                refused[i]);
        }
    }
    return LEO_OK;
}

static leo_status take_layout(const struct op_call *call, struct op_infer *infer)
{
    const char *text = op_call_value(call, "inputLayout")->text;
    text = text ? text : "BSH";
    for (unsigned i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        if (strcmp(text, layouts[i].name) == 0) {
            infer->layout = layouts[i].in;
            infer->out_layout = layouts[i].out;
            return LEO_OK;
        }
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED,
                        "inputLayout %s: BNSD, BSND, BSH, BNSD_BSND and TND are possible", text);
}

static leo_status take_keys(const struct op_call *call, struct op_infer *infer)
{
    const struct op_value *key = op_call_value(call, "key"), *value = op_call_value(call, "value");
    if (key->kind == OP_KIND_TENSOR_LIST) {
        infer->key = *key->tensors;
        infer->value = *value->tensors;
    } else {
        infer->one_key = key->tensor;
        infer->one_value = value->tensor;
    }
    if (key->kind == OP_KIND_TENSOR_LIST &&
        (infer->key.count == 0 || infer->key.count != infer->value.count)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "%" PRIu64 " keys and %" PRIu64 " values: they must be as many",
                            infer->key.count, infer->value.count);
    }
    return LEO_OK;
}

static leo_status take_numbers(const struct op_call *call, struct op_infer *infer)
{
    const bool one_query = strncmp(call->row->name, "Incre", 5) == 0;
    infer->heads = op_call_int(call, "numHeads");
    infer->key_heads = op_call_int(call, "numKeyValueHeads");
    infer->key_heads = infer->key_heads ? infer->key_heads : infer->heads;
    infer->scale = op_call_real(call, "scaleValue");
    infer->before = find_int(call, "preTokens", INT32_MAX);
    infer->after = find_int(call, "nextTokens", INT32_MAX);
    infer->sparse = find_int(call, "sparseMode", 0);
    infer->page = find_int(call, "blockSize", 0);
    infer->rows_may_die = find_int(call, "innerPrecise", 0) >= 2;
    infer->query_ends = one_query ? NULL : find_ints(call, "actualSeqLengths");
    infer->key_ends = find_ints(call, one_query ? "actualSeqLengths" : "actualSeqLengthsKv");
    if (infer->heads <= 0 || infer->key_heads <= 0 || infer->heads % infer->key_heads ||
        infer->sparse < 0 || infer->sparse > 4 || !(infer->scale > 0 || infer->scale < 0)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "%" PRId64 " heads on %" PRId64 " of keys, sparseMode %" PRId64
                            " (0 to 4), scaleValue %g: they do not fit",
                            infer->heads, infer->key_heads, infer->sparse, infer->scale);
    }
    return LEO_OK;
}

static leo_status take_batch(const struct op_call *call, struct op_infer *infer)
{
    struct op_tensor seen;
    if (!op_infer_view(infer->query, infer->layout, infer->heads, &seen)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "query of shape %s does not hold %" PRId64 " heads",
                            op_tensor_shape_text(infer->query).text, infer->heads);
    }
    const bool packed = infer->layout == OP_INFER_TND;
    if (packed && (!infer->query_ends || !infer->key_ends)) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "TND needs actualSeqLengths and actualSeqLengthsKv");
    }
    infer->batch = packed ? (int64_t)infer->query_ends->count : seen.dim[0];
    infer->queries = seen.dim[2];
    const struct op_ints *const lists[] = {infer->query_ends, infer->key_ends};
    for (unsigned i = 0; i < 2; i++) {
        const int64_t count = lists[i] ? (int64_t)lists[i]->count : infer->batch;
        if (count != infer->batch && (packed || count != 1)) {
            return op_call_fail(call, LEO_ERR_SHAPE,
                                "%" PRId64 " lengths for %" PRId64 " sequences", count,
                                infer->batch);
        }
    }
    const uint64_t keys = infer->one_key ? 1 : infer->key.count;
    if (keys != 1 && (infer->table || (int64_t)keys != infer->batch)) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%" PRIu64 " keys for %" PRId64 " sequences", keys,
                            infer->batch);
    }
    if (infer->table && (infer->table->rank != 2 || infer->table->dim[0] != infer->batch ||
                         infer->page <= 0 || !infer->key_ends)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "blockTable of shape %s for %" PRId64
                            " sequences with pages of %" PRId64
                            ": it needs a row each, and lengths of keys",
                            op_tensor_shape_text(infer->table).text, infer->batch, infer->page);
    }
    return LEO_OK;
}

leo_status op_infer_take(const struct op_call *call, struct op_infer *infer)
{
    const bool asked = !op_call_has(call, "softmaxLseFlag") || op_call_int(call, "softmaxLseFlag");
    *infer = (struct op_infer){
        .query = op_call_tensor(call, "query"),
        .out = op_call_tensor(call, "attentionOut"),
        .lse = asked ? find_tensor(call, "softmaxLse") : NULL,
        .query_rope = find_tensor(call, "queryRope"),
        .key_rope = find_tensor(call, "keyRope"),
        .mask = find_tensor(call, "attenMask"),
        .shift = find_tensor(call, "pseShift"),
        .table = op_call_has(call, "blocktable") ? find_tensor(call, "blocktable")
                                                 : find_tensor(call, "blockTable"),
    };
    leo_status status = check_refused(call);
    if (status == LEO_OK && !infer->query_rope != !infer->key_rope) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG, "queryRope and keyRope go together");
    }
    if (status == LEO_OK) {
        status = take_layout(call, infer);
    }
    if (status == LEO_OK) {
        status = take_keys(call, infer);
    }
    if (status == LEO_OK) {
        status = take_numbers(call, infer);
    }
    return status == LEO_OK ? take_batch(call, infer) : status;
}

int64_t op_infer_length(const struct op_infer *infer, const struct op_ints *ends, int64_t index,
                        int64_t all, int64_t *begin)
{
    *begin = 0;
    if (!ends) {
        return all;
    }
    // Of keys in pages each sequence has its own: lengths, whatever the layout.
    if (infer->layout != OP_INFER_TND || (infer->table && ends == infer->key_ends)) {
        return ends->items[ends->count == 1 ? 0 : index];
    }
    *begin = index ? ends->items[index - 1] : 0;
    return ends->items[index] - *begin;
}

bool op_infer_view(const struct op_tensor *tensor, enum op_infer_layout layout, int64_t heads,
                   struct op_tensor *out)
{
    struct op_tensor seen = *tensor;
    const bool joined = layout == OP_INFER_BSH, packed = layout == OP_INFER_TND;
    if (tensor->rank != (joined || packed ? 3 : 4) || (joined && seen.dim[2] % heads)) {
        return false;
    }
    if (joined) {
        seen.rank = 4;
        seen.dim[3] = seen.dim[2] / heads;
        seen.stride[3] = seen.stride[2];
        seen.dim[2] = heads;
        seen.stride[2] *= seen.dim[3];
    } else if (packed) {
        seen = op_view_insert(tensor, 0);
    }
    *out = layout == OP_INFER_BNSD ? seen : op_view_swap(&seen, 1, 2);
    return out->dim[1] == heads;
}
