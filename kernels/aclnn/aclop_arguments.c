/* SPDX-License-Identifier: Apache-2.0 */
#include "aclop_internal.h"

#include "../frame/layout.h"

#include "objects.h"

#include <acl/acl_op_compiler.h>
#include <inttypes.h>
#include <leo/alloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t attr_int(const struct aclop_call *call, const char *name, int64_t absent)
{
    const struct leo_acl_attr *attr = aclop_attr(call, name);
    if (!attr || attr->count == 0) {
        return absent;
    }
    const bool whole = attr->kind == LEO_ACL_ATTR_INT || attr->kind == LEO_ACL_ATTR_INTS;
    return attr->kind == LEO_ACL_ATTR_BOOL ? attr->value.bools[0]
           : whole                         ? attr->value.ints[0]
                                           : absent;
}

static bool attr_is_text(const struct aclop_call *call, const char *name, const char *text)
{
    const struct leo_acl_attr *attr = aclop_attr(call, name);
    return attr && attr->kind == LEO_ACL_ATTR_STRING && strcmp(attr->value.text, text) == 0;
}

// The size of a tensor from dimension `from` on.
static void tensor_dims(struct aclop_call *call, unsigned at, char side, unsigned number,
                        unsigned from)
{
    struct op_tensor tensor;
    if (!aclop_tensor(call, side, number, &tensor)) {
        return;
    }
    const unsigned count = tensor.rank > from ? tensor.rank - from : 0;
    int64_t *numbers = aclop_numbers(call, at, count);
    if (numbers && count) {
        memcpy(numbers, tensor.dim + from, count * sizeof(*numbers));
    }
    call->args[at] = op_value_ints(&call->ints[at]);
}

// A list of floats stays where the attribute has it.
static void attr_floats(struct aclop_call *call, unsigned at, const char *name)
{
    const struct leo_acl_attr *attr = aclop_attr(call, name);
    const bool given = attr && attr->kind == LEO_ACL_ATTR_FLOATS;
    call->floats[at] =
        (struct op_floats){given ? attr->value.floats : NULL, given ? attr->count : 0};
    call->args[at] = op_value_floats(&call->floats[at]);
}

// Numbers [from, from + most) of an attribute; most 0: all from `from` on.
static void attr_numbers(struct aclop_call *call, unsigned at, const char *name, uint64_t from,
                         uint64_t most)
{
    const struct leo_acl_attr *attr = aclop_attr(call, name);
    const uint64_t all = attr && attr->kind == LEO_ACL_ATTR_INTS ? attr->count : 0,
                   rest = all > from ? all - from : 0, count = most && rest > most ? most : rest;
    // A dilation that is not given is 1.
    const bool ones = count == 0 && strncmp(name, "dilation", 8) == 0;
    int64_t *numbers = aclop_numbers(call, at, count + ones);
    if (numbers && count) {
        memcpy(numbers, attr->value.ints + from, count * sizeof(*numbers));
    } else if (numbers && ones) {
        numbers[0] = 1;
    }
    call->args[at] = op_value_ints(&call->ints[at]);
}

static void attr_paddings(struct aclop_call *call, unsigned at, const char *name)
{
    const struct leo_acl_attr *attr = aclop_attr(call, name);
    const bool three = attr && attr->kind == LEO_ACL_ATTR_INTS && attr->count == 6;
    int64_t *numbers = aclop_numbers(call, at, three ? 3 : 2);
    if (numbers && attr && attr->kind == LEO_ACL_ATTR_INTS && (three || attr->count == 4)) {
        for (size_t i = 0; i < attr->count / 2; i++) {
            if (attr->value.ints[2 * i] != attr->value.ints[2 * i + 1]) {
                aclop_fail(call, ACL_ERROR_OP_ATTR_NOT_MATCH,
                           "paddings must be the same on both sides");
            }
            numbers[i] = attr->value.ints[2 * i];
        }
    }
    call->args[at] = op_value_ints(&call->ints[at]);
}

// Of three dimensions: the depth's, which come last, first.
static void turn_paddings(struct aclop_call *call, unsigned at)
{
    int64_t *numbers = call->numbers[at];
    if (numbers && call->ints[at].count == 3) {
        const int64_t depth = numbers[2];
        numbers[2] = numbers[1];
        numbers[1] = numbers[0];
        numbers[0] = depth;
    }
}

// Whether products of f32 stay f32.
static bool keeps_float(const struct aclop_call *call)
{
    enum { NO_F32_CUBE = 1001 };
    char mode[64];
    struct leo_rt_stream *rt;
    struct leo_rt_device *device;
    struct leo_caps caps;
    if (leo_acl_stream_get(call->op->stream, &rt, &device) ||
        aclGetCompileopt(ACL_PRECISION_MODE, mode, sizeof(mode))) {
        return false;
    }
    leo_rt_device_get_caps(device, &caps);
    return caps.arch != NO_F32_CUBE && strcmp(mode, "must_keep_origin_dtype") == 0;
}

static int64_t attr_at(const struct aclop_call *call, const char *name, size_t index)
{
    const struct leo_acl_attr *attr = aclop_attr(call, name);
    return attr && attr->kind == LEO_ACL_ATTR_INTS && index < attr->count ? attr->value.ints[index]
                                                                          : 1;
}

// Paddings of a pool over the last two dimensions, given by a word.
static void word_paddings(struct aclop_call *call, unsigned at, const char *name)
{
    struct op_tensor in, out;
    if (attr_is_text(call, name, "CALCULATED")) {
        attr_paddings(call, at, "pads");
        return;
    }
    int64_t *numbers = aclop_numbers(call, at, 2);
    const bool same = attr_is_text(call, name, "SAME"),
               backward = strstr(call->op->type, "Grad") != NULL;
    if (!numbers || !aclop_tensor(call, 'x', 0, &in) ||
        !aclop_tensor(call, backward ? 'x' : 'y', backward ? 2 : 0, &out)) {
        return;
    }
    for (unsigned d = 0; d < 2 && same && in.rank == 4 && out.rank == 4; d++) {
        const int64_t all = (out.dim[2 + d] - 1) * attr_at(call, "strides", 2 + d) +
                            attr_at(call, "ksize", 2 + d) - in.dim[2 + d];
        if (all > 0 && all % 2 && attr_at(call, "strides", 2 + d) == 1) {
            aclop_fail(call, ACL_ERROR_OP_ATTR_NOT_MATCH,
                       "padding SAME with stride 1 would be different on both sides");
        }
        numbers[d] = all > 0 ? all / 2 : 0;
    }
    if (!same && !attr_is_text(call, name, "VALID")) {
        aclop_fail(call, ACL_ERROR_OP_ATTR_NOT_MATCH, "padding must be VALID, SAME or CALCULATED");
    }
    call->args[at] = op_value_ints(&call->ints[at]);
}

static void attr_scalar(struct aclop_call *call, unsigned at, const char *name, int64_t absent)
{
    const struct leo_acl_attr *attr = aclop_attr(call, name);
    aclop_put_number(call, at,
                     attr && attr->kind == LEO_ACL_ATTR_FLOAT
                         ? op_scalar_real((double)attr->value.floats[0])
                         : op_scalar_int(attr_int(call, name, absent)));
}

// The position of an attribute's word among `words`, which commas separate; "*" marks the one that
// is meant if it is not given.
static void attr_choice(struct aclop_call *call, unsigned at, const char *name, const char *words)
{
    int64_t position = 0;
    const bool given = aclop_attr(call, name) != NULL;
    for (const char *word = words; *word; position++) {
        char text[32];
        const size_t length = strcspn(word, ",");
        const bool marked = *word == '*';
        snprintf(text, sizeof(text), "%.*s", (int)(length - marked), word + marked);
        if (given ? attr_is_text(call, name, text) : marked) {
            call->args[at] = op_value_int(position);
            return;
        }
        word += length + (word[length] == ',');
    }
    call->error = leo_acl_fail(ACL_ERROR_OP_ATTR_NOT_MATCH, call->op->type,
                               "attribute %s must be one of %s", name, words);
}

// All inputs ('x') or outputs ('y') as a list.
static void take_list(struct aclop_call *call, unsigned at, char side)
{
    const unsigned count = (unsigned)(side == 'x' ? call->op->input_count : call->op->output_count);
    if (count > ACLOP_LIST) {
        aclop_fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH, "there are more than 64 tensors");
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        if (!aclop_tensor(call, side, i, &call->members[i])) {
            return;
        }
        call->member[i] = &call->members[i];
    }
    call->list = (struct op_tensor_list){call->member, count};
    call->args[at] = op_value_tensors(&call->list);
}

static void take_flags(struct aclop_call *call, unsigned at, const char *digits)
{
    uint64_t count = 0;
    for (; digits[count] && count < 4; count++) {
        call->flags[at][count] = digits[count] == '1';
    }
    call->bools[at] = (struct op_bools){call->flags[at], count};
    call->args[at] = op_value_bools(&call->bools[at]);
}

// An input in host memory, as a device tensor: all of them lie in one piece of device memory.
static bool put_on_device(struct aclop_call *call, unsigned number, struct op_tensor *tensor)
{
    const aclTensorDesc *desc = call->op->input_descs[number];
    const uint64_t bytes = op_tensor_extent(tensor);
    if (desc->placement == ACL_MEMTYPE_DEVICE || bytes == 0) {
        return true;
    }
    struct leo_rt_stream *stream;
    struct leo_rt_device *device;
    call->error = leo_acl_stream_get(call->op->stream, &stream, &device);
    if (!call->error && call->constant_count == ACLOP_CONSTANTS) {
        aclop_fail(call, ACL_ERROR_OP_INPUT_NOT_MATCH,
                   "too many inputs are in host memory: 16 at most");
    }
    if (call->error) {
        return false;
    }
    const void *data = desc->constant ? desc->constant : (const void *)(uintptr_t)tensor->addr;
    leo_status status = leo_rt_memory_alloc(device, bytes, &tensor->addr);
    if (status == LEO_OK) {
        call->constants[call->constant_count++] = tensor->addr;
        status = leo_rt_memcpy(device, (void *)(uintptr_t)tensor->addr, data, bytes);
    }
    call->error = leo_acl_status(call->op->type, status);
    return !call->error;
}

static void take_tensor(struct aclop_call *call, unsigned at, const char *word)
{
    const unsigned number = (unsigned)strtoul(word + 1, NULL, 10);
    struct op_tensor *tensor = &call->tensors[at];
    if (strchr(word, '?') && (number >= (unsigned)call->op->input_count ||
                              call->op->input_descs[number]->type == ACL_DT_UNDEFINED)) {
        call->args[at] = op_value_tensor(NULL);
        return;
    }
    if (!aclop_tensor(call, word[0] == 'x' ? 'x' : 'y', number, tensor) ||
        (word[0] == 'x' && !put_on_device(call, number, tensor))) {
        return;
    }
    tensor->unread = word[0] == 'u';
    const char *flag = strchr(word, ':');
    if (flag && attr_int(call, flag + 1, 0) && tensor->rank >= 2) {
        unsigned order[OP_RANK_MAX];
        for (unsigned i = 0; i < tensor->rank; i++) {
            order[i] = i;
        }
        order[tensor->rank - 1] = tensor->rank - 2;
        order[tensor->rank - 2] = tensor->rank - 1;
        *tensor = op_tensor_permute(tensor, order);
    }
    call->args[at] = op_value_tensor(tensor);
}

// An input's elements in the shape of output 0.
static void take_flat(struct aclop_call *call, unsigned at, unsigned number)
{
    char word[16];
    struct op_tensor shape, *tensor = &call->tensors[at];
    snprintf(word, sizeof(word), "x%u", number);
    take_tensor(call, at, word);
    if (call->error || !aclop_tensor(call, 'y', 0, &shape)) {
        return;
    }
    const int format = tensor->format;
    const int64_t had = op_tensor_count(tensor);
    *tensor = op_tensor_dense(tensor->addr, tensor->type, shape.rank, shape.dim);
    tensor->format = format;
    if (op_tensor_count(tensor) != had) {
        aclop_fail(call, ACL_ERROR_OP_OUTPUT_NOT_MATCH,
                   "the output has another number of elements");
    }
}

static void take_word(struct aclop_call *call, unsigned at, const char *word)
{
    char name[64];
    const bool named = word[0] && word[1] == ':';
    const char *more = named ? strchr(word + 2, ':') : strchr(word, ':');
    const char *last = more ? strchr(more + 1, ':') : NULL;
    const unsigned number = named ? 0 : (unsigned)strtoul(word + 1, NULL, 10);
    const uint64_t from = more ? strtoul(more + 1, NULL, 10) : 0,
                   most = last ? strtoul(last + 1, NULL, 10) : 0;
    snprintf(name, sizeof(name), "%.*s", (int)(named && more ? more - word - 2 : 60),
             word + (named ? 2 : 0));
    struct op_tensor tensor;
    switch (word[0]) {
    case 'x':
    case 'y':
    case 'u':
        take_tensor(call, at, word);
        return;
    case 'f':
        take_flat(call, at, number);
        return;
    case 'X':
        take_list(call, at, 'x');
        return;
    case 'Y':
        take_list(call, at, 'y');
        return;
    case 'g':
        if (aclop_attr(call, "perm")) {
            attr_numbers(call, at, "perm", 0, 0);
        } else {
            aclop_host_numbers(call, at, number);
        }
        return;
    case 'w':
        aclop_host_view(call, at, number, (unsigned)from);
        return;
    case 'I':
        aclop_host_indices(call, at, number, (unsigned)from);
        return;
    case 'c':
        attr_choice(call, at, name, more ? more + 1 : "");
        return;
    case 'h':
        aclop_host_numbers(call, at, number);
        return;
    case 'q':
        aclop_host_pairs(call, at, number, from);
        return;
    case 'v':
        aclop_host_scalar(call, at, number, from);
        return;
    case 'd':
        tensor_dims(call, at, name[0], (unsigned)strtoul(name + 1, NULL, 10), (unsigned)from);
        return;
    case 'l':
        if (call->row->params[at].kind == OP_KIND_FLOATS) {
            attr_floats(call, at, name);
        } else {
            attr_numbers(call, at, name, from, most);
        }
        return;
    case 'p':
        attr_paddings(call, at, name);
        return;
    case 'r':
        attr_paddings(call, at, name);
        turn_paddings(call, at);
        return;
    case 'M':
        call->args[at] = op_value_int(!keeps_float(call));
        return;
    case 'C':
        call->args[at] =
            op_value_int(attr_is_text(call, name, "SAME") || attr_int(call, "ceil_mode", 0));
        return;
    case 'P':
        word_paddings(call, at, name);
        return;
    case 's':
        attr_scalar(call, at, name, more ? strtol(more + 1, NULL, 10) : 1);
        return;
    case 'i':
        call->args[at] = op_value_int(attr_int(call, name, more ? strtol(more + 1, NULL, 10) : 0));
        return;
    case 'e':
        call->args[at] = op_value_int(!attr_int(call, name, 1));
        return;
    case 'k':
        aclop_host_scalar(call, at, number, 0);
        aclop_put_number(call, at, op_scalar_real(1 - call->scalars[at].real));
        return;
    case 'o':
        call->args[at] = op_value_int(attr_is_text(call, name, "iof"));
        return;
    case 'm':
        take_flags(call, at, name);
        return;
    case 't':
        if (aclop_tensor(call, name[0], (unsigned)strtoul(name + 1, NULL, 10), &tensor)) {
            call->args[at] = op_value_type(tensor.type);
        }
        return;
    case '-':
        call->args[at] = (struct op_value){.kind = call->row->params[at].kind};
        return;
    default:
        aclop_put_number(call, at, op_scalar_int(strtol(word, NULL, 10)));
        return;
    }
}

// Numbers and words that a row has no argument for.
static void check_attr(struct aclop_call *call, const char *word)
{
    char name[64];
    const bool needed = word[1] == '=';
    const char *first = word + 1 + needed, *value = strchr(word, ':');
    snprintf(name, sizeof(name), "%.*s", (int)(value - first), first);
    const struct leo_acl_attr *attr = aclop_attr(call, name);
    if (needed && !attr) {
        call->error =
            leo_acl_fail(ACL_ERROR_OP_ATTR_NOT_MATCH, call->op->type,
                         "attribute %s is not given: only %s is possible", name, value + 1);
        return;
    }
    if (attr && attr->kind == LEO_ACL_ATTR_STRING) {
        if (strcmp(attr->value.text, value + 1) != 0) {
            call->error = leo_acl_fail(ACL_ERROR_OP_ATTR_NOT_MATCH, call->op->type,
                                       "attribute %s is %s: only %s is possible", name,
                                       attr->value.text, value + 1);
        }
        return;
    }
    const double want = strtod(value + 1, NULL);
    const double got = attr && attr->kind == LEO_ACL_ATTR_FLOAT
                           ? (double)attr->value.floats[0]
                           : (double)attr_int(call, name, (int64_t)want);
    if (got != want) {
        call->error = leo_acl_fail(ACL_ERROR_OP_ATTR_NOT_MATCH, call->op->type,
                                   "attribute %s is %g: only %g is possible", name, got, want);
    }
}

void aclop_take_args(struct aclop_call *call, const char *words)
{
    for (unsigned at = 0; *words && at < ACLOP_ARGS && !call->error;) {
        char word[64];
        const size_t length = strcspn(words, " ");
        snprintf(word, sizeof(word), "%.*s", (int)length, words);
        words += length + strspn(words + length, " ");
        if (word[0] == '=') {
            check_attr(call, word);
        } else {
            take_word(call, at++, word);
        }
    }
}

void aclop_take_tensors(struct aclop_call *call)
{
    unsigned ins = 0, outs = 0;
    for (unsigned at = 0; at < call->row->param_count && at < ACLOP_ARGS && !call->error; at++) {
        const struct op_param *param = &call->row->params[at];
        const bool out = param->role == OP_ROLE_OUT;
        if (param->kind != OP_KIND_TENSOR || param->role == OP_ROLE_REF) {
            aclop_fail(call, ACL_ERROR_OP_NOT_FOUND, "there is no operator of this type");
            return;
        }
        const unsigned number = out ? outs++ : ins++;
        if (aclop_tensor(call, out ? 'y' : 'x', number, &call->tensors[at]) &&
            (out || put_on_device(call, number, &call->tensors[at]))) {
            call->args[at] = op_value_tensor(&call->tensors[at]);
        }
    }
}

// The work reads constants until it is done.
static void free_constants(struct aclop_call *call)
{
    struct leo_rt_stream *stream;
    struct leo_rt_device *device;
    if (!call->constant_count || leo_acl_stream_get(call->op->stream, &stream, &device)) {
        return;
    }
    // A fault stays the stream's to report: it is not taken here.
    while (leo_rt_stream_query(stream) == LEO_ERR_NOT_READY) {
    }
    for (unsigned i = 0; i < call->constant_count; i++) {
        leo_status status = leo_rt_memory_free(device, call->constants[i]);
        (void)status; // allocated here: it cannot fail
    }
}

void aclop_free_args(struct aclop_call *call)
{
    free_constants(call);
    for (unsigned i = 0; i < ACLOP_ARGS; i++) {
        leo_free(call->numbers[i]);
    }
}
