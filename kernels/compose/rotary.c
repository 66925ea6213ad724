/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary position embedding: pairs of features turn by an angle, given as its cosine and sine. */
#include "../frame/chain.h"

#include <inttypes.h>
#include <string.h>

enum rotary_mode { HALF, INTERLEAVE, QUARTER, MODES };
static const char *const mode_names[MODES] = {"half", "interleave", "quarter"};

// Groups of pairs: halves of each half are two.
static int64_t groups_of(int64_t mode)
{
    return mode == QUARTER ? 2 : 1;
}

// The first (0) or second (1) features of the pairs of a group.
static struct op_tensor members(const struct op_tensor *tensor, int64_t mode, int64_t group,
                                int64_t part)
{
    const unsigned last = tensor->rank - 1;
    const int64_t count = tensor->dim[last] / groups_of(mode) / 2;
    const int64_t begin = mode == INTERLEAVE ? part : (2 * group + part) * count;
    struct op_tensor view = op_view_slice(tensor, last, begin, count);
    view.stride[last] *= mode == INTERLEAVE ? 2 : 1;
    return view;
}

// What turns: tensors of one shape, cosine and sine broadcast to it.
struct rotary {
    int64_t mode;
    struct op_tensor cos, sin;
};

static leo_status take(const struct op_call *call, const struct op_tensor *x,
                       const struct op_tensor *cos, const struct op_tensor *sin, int64_t mode,
                       struct rotary *out)
{
    out->mode = mode;
    if (mode < 0 || mode >= MODES) {
        return op_call_fail(
            call, LEO_ERR_UNSUPPORTED,
            "mode %" PRId64 ": 0 (half), 1 (interleave) and 2 (quarter) are possible", mode);
    }
    if (x->rank == 0 || x->dim[x->rank - 1] % (2 * groups_of(mode)) ||
        !op_tensor_broadcast(cos, x->rank, x->dim, &out->cos) ||
        !op_tensor_broadcast(sin, x->rank, x->dim, &out->sin)) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "the input of shape %s must have pairs that cosine of shape %s and "
                            "sine of shape %s broadcast to",
                            op_tensor_shape_text(x).text, op_tensor_shape_text(cos).text,
                            op_tensor_shape_text(sin).text);
    }
    return LEO_OK;
}

// y1 = x1 cos1 - x2 sin1, y2 = x2 cos2 + x1 sin2; back: y1 = x1 cos1 + x2 sin2, y2 = x2 cos2 - x1
// sin1
static void turn(struct op_chain *chain, const struct rotary *r, bool back,
                 const struct op_tensor *x, const struct op_tensor *y)
{
    for (int64_t i = 0; i < 2 * groups_of(r->mode); i++) {
        const int64_t group = i / 2, part = i % 2;
        const bool adds = (part == 1) != back;
        const struct op_tensor own = members(x, r->mode, group, part),
                               other = members(x, r->mode, group, 1 - part),
                               c = members(&r->cos, r->mode, group, part),
                               s = members(&r->sin, r->mode, group, back ? 1 - part : part),
                               to = members(y, r->mode, group, part);
        OP_CHAIN_CALL(chain, adds ? "RnnMulAdd" : "CrossPart", op_value_tensor(&own),
                      op_value_tensor(&c), op_value_tensor(&other), op_value_tensor(&s),
                      op_value_tensor(&to));
    }
}

// out = sum of `each` over the dimensions in which out repeats.
static void sum_to(struct op_chain *chain, const struct op_tensor *each,
                   const struct op_tensor *out)
{
    int64_t list[OP_RANK_MAX];
    uint64_t count = 0;
    struct op_tensor to = *out;
    while (to.rank < each->rank) {
        to = op_view_insert(&to, 0);
    }
    for (unsigned i = 0; i < each->rank; i++) {
        if (to.dim[i] != each->dim[i]) {
            list[count++] = i;
        }
    }
    if (count == 0) {
        op_chain_copy(chain, &to, each);
        return;
    }
    const struct op_tensor sum = op_chain_temp_like(chain, OP_TYPE_F32, &to);
    op_chain_sum_kept(chain, each, list, count, &sum);
    op_chain_copy(chain, &to, &sum);
}

// Products of dy with x (by cosine), or with x turned by a right angle (by sine).
static void angle_products(struct op_chain *chain, int64_t mode, const struct op_tensor *dy,
                           const struct op_tensor *x, const struct op_tensor *by_cos,
                           const struct op_tensor *by_sin)
{
    const struct op_scalar minus = op_scalar_int(-1);
    OP_CHAIN_CALL(chain, "Mul", op_value_tensor(dy), op_value_tensor(x), op_value_tensor(by_cos));
    for (int64_t i = 0; i < 2 * groups_of(mode); i++) {
        const int64_t group = i / 2, part = i % 2;
        const struct op_tensor own = members(dy, mode, group, part),
                               other = members(x, mode, group, 1 - part),
                               to = members(by_sin, mode, group, part);
        OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&own), op_value_tensor(&other),
                      op_value_tensor(&to));
        if (part == 0) {
            OP_CHAIN_CALL(chain, "Muls", op_value_tensor(&to), op_value_scalar(&minus),
                          op_value_tensor(&to));
        }
    }
}

// Pairs that lie side by side are gathered in the workspace while parts of the result are written
// already. Programs free the result's memory too early and have the workspace begin there: so the
// result is made at the workspace's beginning.
static void turn_aside(struct op_chain *chain, const struct rotary *r, const struct op_tensor *x,
                       const struct op_tensor *out)
{
    const struct op_tensor made = op_chain_temp(chain, out->type, out->rank, out->dim);
    turn(chain, r, false, x, &made);
    op_chain_copy(chain, out, &made);
}

leo_status op_plan_rotary(const struct op_call *call)
{
    const bool second = op_call_has(call, "result");
    const char *name = second ? "result" : "out";
    const struct op_tensor *x = op_call_tensor(call, second ? "self" : "x"),
                           *out = op_call_tensor(call, name);
    struct rotary r;
    if (second && op_call_tensor(call, "rotate")) {
        return op_call_fail(call, LEO_ERR_UNSUPPORTED, "rotate must be NULL");
    }
    leo_status status = op_call_check_shape(call, name, x->rank, x->dim);
    if (status == LEO_OK) {
        status =
            take(call, x, op_call_tensor(call, second ? "cosCast" : "cos"),
                 op_call_tensor(call, second ? "sinCast" : "sin"), op_call_int(call, "mode"), &r);
    }
    if (status != LEO_OK) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    if (r.mode == INTERLEAVE) {
        turn_aside(&chain, &r, x, out);
    } else {
        turn(&chain, &r, false, x, out);
    }
    return chain.status;
}

static leo_status check_angles(const struct op_call *call, const struct op_tensor *x)
{
    const struct op_tensor *cos = op_call_tensor(call, "cos"), *sin = op_call_tensor(call, "sin");
    leo_status status = LEO_OK;
    if (op_call_tensor(call, "dcosOut")) {
        status = op_call_check_shape(call, "dcosOut", cos->rank, cos->dim);
    }
    if (status == LEO_OK && op_call_tensor(call, "dsinOut")) {
        status = op_call_check_shape(call, "dsinOut", sin->rank, sin->dim);
    }
    return status == LEO_OK && x
               ? op_call_check_shape(call, "xOptional", op_call_tensor(call, "dy")->rank,
                                     op_call_tensor(call, "dy")->dim)
               : status;
}

leo_status op_plan_rotary_grad(const struct op_call *call)
{
    const struct op_tensor *dy = op_call_tensor(call, "dy"), *x = op_call_tensor(call, "xOptional"),
                           *dcos = op_call_tensor(call, "dcosOut"),
                           *dsin = op_call_tensor(call, "dsinOut");
    struct rotary r;
    leo_status status = op_call_check_shape(call, "dxOut", dy->rank, dy->dim);
    if (status == LEO_OK) {
        status = check_angles(call, x);
    }
    if (status == LEO_OK) {
        status = take(call, dy, op_call_tensor(call, "cos"), op_call_tensor(call, "sin"),
                      op_call_int(call, "mode"), &r);
    }
    if (status != LEO_OK || op_tensor_count(dy) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    turn(&chain, &r, true, dy, op_call_tensor(call, "dxOut"));
    if (x && dcos && dsin) {
        const struct op_tensor by_cos = op_chain_temp_like(&chain, OP_TYPE_F32, dy),
                               by_sin = op_chain_temp_like(&chain, OP_TYPE_F32, dy);
        angle_products(&chain, r.mode, dy, x, &by_cos, &by_sin);
        sum_to(&chain, &by_cos, dcos);
        sum_to(&chain, &by_sin, dsin);
    }
    return chain.status;
}

static int64_t mode_named(const char *name)
{
    for (int64_t i = 0; i < MODES; i++) {
        if (strcmp(name, mode_names[i]) == 0) {
            return i;
        }
    }
    return MODES;
}

static leo_status turn_in_place(struct op_chain *chain, const char *name, int64_t mode)
{
    const struct op_call *call = chain->call;
    const struct op_tensor *x = op_call_tensor(call, name);
    struct rotary r;
    leo_status status =
        take(call, x, op_call_tensor(call, "cos"), op_call_tensor(call, "sin"), mode, &r);
    if (status != LEO_OK || op_tensor_count(x) == 0) {
        return status;
    }
    const struct op_tensor turned = op_chain_temp_like(chain, x->type, x);
    turn(chain, &r, false, x, &turned);
    op_chain_copy(chain, x, &turned);
    return chain->status;
}

leo_status op_plan_apply_rotary(const struct op_call *call)
{
    enum { BSND = 1, SBND, BNSD, TND };
    const char *word =
        op_call_has(call, "rotaryMode") ? op_call_value(call, "rotaryMode")->text : NULL;
    const int64_t layout = op_call_int(call, "layout"), mode = mode_named(word ? word : "half");
    const unsigned rank = layout == TND ? 3 : 4;
    if (layout < BSND || layout > TND || mode == MODES) {
        return op_call_fail(call, LEO_ERR_INVALID_ARG,
                            "layout %" PRId64 ", rotaryMode %s: layout must be 1 (BSND), 2 "
                            "(SBND), 3 (BNSD) or 4 (TND), rotaryMode half, interleave or quarter",
                            layout, word ? word : "half");
    }
    if (op_call_tensor(call, "queryRef")->rank != rank ||
        op_call_tensor(call, "keyRef")->rank != rank) {
        return op_call_fail(
            call, LEO_ERR_SHAPE,
            "queryRef and keyRef have shapes %s and %s: layout %" PRId64 " has %u dimensions",
            op_tensor_shape_text(op_call_tensor(call, "queryRef")).text,
            op_tensor_shape_text(op_call_tensor(call, "keyRef")).text, layout, rank);
    }
    struct op_chain chain = op_chain_begin(call);
    leo_status status = turn_in_place(&chain, "queryRef", mode);
    return status == LEO_OK ? turn_in_place(&chain, "keyRef", mode) : status;
}
