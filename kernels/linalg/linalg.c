/* SPDX-License-Identifier: Apache-2.0 */
/* Decompositions of batches of matrices, and distances. A row says which ("linalg"). */
#include "../frame/chain.h"
#include "../frame/dims.h"

#include "linalg_args.h"

#include <inttypes.h>
#include <string.h>

/* A batch of f64 matrices, each on lines of its own. */
struct batch {
    struct op_tensor memory; /* [count, pitch] */
    int64_t pitch;
};

static int64_t count_of(const struct op_tensor *tensor, unsigned inner)
{
    int64_t count = 1;
    for (unsigned i = 0; i + inner < tensor->rank; i++) {
        count *= tensor->dim[i];
    }
    return count;
}

static struct batch make_batch(struct op_chain *chain, int64_t count, int64_t elements)
{
    const int64_t pitch = (elements + 7) / 8 * 8, shape[] = {count, pitch};
    return (struct batch){op_chain_temp(chain, OP_TYPE_F64, 2, shape), pitch};
}

// The batch seen with the shape of a tensor of the call whose last `inner` dimensions are a matrix
// (or a row).
static struct op_tensor seen_as(const struct batch *batch, const struct op_tensor *like,
                                unsigned inner)
{
    struct op_tensor view = op_tensor_dense(batch->memory.addr, OP_TYPE_F64, like->rank, like->dim);
    int64_t stride = batch->pitch;
    for (unsigned i = like->rank - inner; i-- > 0;) {
        view.stride[i] = stride;
        stride *= like->dim[i] > 0 ? like->dim[i] : 1;
    }
    return view;
}

static leo_status check_matrix(const struct op_call *call, const char *name, bool square)
{
    const struct op_tensor *tensor = op_call_tensor(call, name);
    if (tensor->rank < 2 ||
        (square && tensor->dim[tensor->rank - 1] != tensor->dim[tensor->rank - 2])) {
        return op_call_fail(call, LEO_ERR_SHAPE, "%s has shape %s: it must be %smatrices", name,
                            op_tensor_shape_text(tensor).text, square ? "square " : "");
    }
    return LEO_OK;
}

// Output `name` has self's batch and, for its last dimensions, `inner` numbers.
static leo_status check_output(const struct op_call *call, const char *name,
                               const struct op_tensor *self, unsigned inner, const int64_t *dim)
{
    int64_t shape[OP_RANK_MAX];
    memcpy(shape, self->dim, sizeof(shape));
    for (unsigned i = 0; i < inner; i++) {
        shape[self->rank - 2 + i] = dim[i];
    }
    return op_call_check_shape(call, name, self->rank - 2 + inner, shape);
}

static void launch(struct op_chain *chain, const char *kernel, struct op_linalg_args *args)
{
    const struct op_share share =
        op_share_make(args->count, 1, 1, op_plan_vector_cores(chain->plan));
    args->per_block = share.per_block;
    if (chain->status == LEO_OK) {
        chain->status =
            op_plan_launch(chain->plan, "linalg", kernel, share.blocks, args, sizeof(*args), 5);
    }
}

static struct op_linalg_args begin(struct op_chain *chain, const struct op_tensor *self,
                                   struct batch *a)
{
    struct op_linalg_args args;
    memset(&args, 0, sizeof(args));
    args.rows = self->dim[self->rank - 2];
    args.columns = self->dim[self->rank - 1];
    args.count = (uint64_t)count_of(self, 2);
    *a = make_batch(chain, (int64_t)args.count, args.rows * args.columns);
    const struct op_tensor to = seen_as(a, self, 2);
    op_chain_copy(chain, &to, self);
    args.a = a->memory.addr;
    args.a_pitch = a->pitch;
    return args;
}

static leo_status plan_square(const struct op_call *call, const char *kernel)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *out = op_call_tensor(call, "out");
    leo_status status = check_matrix(call, "self", true);
    if (status == LEO_OK) {
        status = op_call_check_shape(call, "out", self->rank, self->dim);
    }
    if (status != LEO_OK || op_tensor_count(self) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    struct batch a;
    struct op_linalg_args args = begin(&chain, self, &a);
    const struct batch q = make_batch(&chain, (int64_t)args.count, args.rows * args.rows);
    args.q = q.memory.addr;
    args.q_pitch = q.pitch;
    args.upper = op_call_has(call, "upper") && op_call_int(call, "upper");
    launch(&chain, kernel, &args);
    const struct op_tensor result = seen_as(&q, out, 2);
    op_chain_copy(&chain, out, &result);
    return chain.status;
}

static leo_status plan_cholesky(const struct op_call *call)
{
    return plan_square(call, "linalg_cholesky");
}

static leo_status plan_inverse(const struct op_call *call)
{
    return plan_square(call, "linalg_inverse");
}

static leo_status plan_qr(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *q_out = op_call_tensor(call, "Q"),
                           *r_out = op_call_tensor(call, "R");
    const int64_t mode = op_call_int(call, "mode");
    leo_status status = check_matrix(call, "self", false);
    if (status == LEO_OK && (mode < 0 || mode > 2)) {
        status = op_call_fail(call, LEO_ERR_INVALID_ARG,
                              "mode is %" PRId64 ": it must be 0, 1 or 2", mode);
    }
    if (status != LEO_OK) {
        return status;
    }
    const int64_t rows = self->dim[self->rank - 2], columns = self->dim[self->rank - 1],
                  least = rows < columns ? rows : columns, inner = mode == 1 ? rows : least,
                  q_shape[] = {rows, inner}, r_shape[] = {inner, columns};
    status = check_output(call, "R", self, 2, r_shape);
    if (status == LEO_OK && mode != 2) {
        status = check_output(call, "Q", self, 2, q_shape);
    }
    if (status != LEO_OK || op_tensor_count(self) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    struct batch a;
    struct op_linalg_args args = begin(&chain, self, &a);
    const struct batch q = make_batch(&chain, (int64_t)args.count, rows * inner),
                       scratch = make_batch(&chain, (int64_t)args.count, least * (rows + 1));
    args.q = q.memory.addr;
    args.q_pitch = q.pitch;
    args.q_columns = inner;
    args.scratch = scratch.memory.addr;
    args.scratch_pitch = scratch.pitch;
    launch(&chain, "linalg_qr", &args);
    struct op_tensor r = seen_as(&a, self, 2);
    r.dim[r.rank - 2] = inner;
    op_chain_copy(&chain, r_out, &r);
    if (mode != 2) {
        const struct op_tensor result = seen_as(&q, q_out, 2);
        op_chain_copy(&chain, q_out, &result);
    }
    return chain.status;
}

// A wide matrix is decomposed turned, and u and v change places.
static leo_status plan_svd(const struct op_call *call)
{
    const struct op_tensor *given = op_call_tensor(call, "input"),
                           *sigma_out = op_call_tensor(call, "sigma"),
                           *u_out = op_call_tensor(call, "u"), *v_out = op_call_tensor(call, "v");
    const bool vectors = op_call_int(call, "computeUV") != 0;
    leo_status status = check_matrix(call, "input", false);
    if (status != LEO_OK) {
        return status;
    }
    const unsigned last = given->rank - 1;
    const bool wide = given->dim[last] > given->dim[last - 1];
    const struct op_tensor self = wide ? op_view_swap(given, last - 1, last) : *given;
    const int64_t rows = self.dim[last - 1], n = self.dim[last];
    const int64_t columns = op_call_int(call, "fullMatrices") ? rows : n, tall[] = {rows, columns},
                  square[] = {n, n};
    status = check_output(call, "sigma", given, 1, &n);
    if (status == LEO_OK && vectors) {
        status = check_output(call, "u", given, 2, wide ? square : tall);
    }
    if (status == LEO_OK && vectors) {
        status = check_output(call, "v", given, 2, wide ? tall : square);
    }
    if (status != LEO_OK || op_tensor_count(given) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    struct batch a;
    struct op_linalg_args args = begin(&chain, &self, &a);
    const struct batch u = make_batch(&chain, (int64_t)args.count, rows * columns),
                       v = make_batch(&chain, (int64_t)args.count, n * n),
                       sigma = make_batch(&chain, (int64_t)args.count, n);
    args.q = u.memory.addr;
    args.q_pitch = u.pitch;
    args.q_columns = columns;
    args.r = v.memory.addr;
    args.r_pitch = v.pitch;
    args.sigma = sigma.memory.addr;
    args.sigma_pitch = sigma.pitch;
    launch(&chain, "linalg_svd", &args);
    const struct op_tensor values = seen_as(&sigma, sigma_out, 1);
    op_chain_copy(&chain, sigma_out, &values);
    if (vectors) {
        const struct op_tensor left = seen_as(&u, wide ? v_out : u_out, 2),
                               right = seen_as(&v, wide ? u_out : v_out, 2);
        op_chain_copy(&chain, wide ? v_out : u_out, &left);
        op_chain_copy(&chain, wide ? u_out : v_out, &right);
    }
    return chain.status;
}

static leo_status plan_slogdet(const struct op_call *call)
{
    const bool both = op_call_has(call, "signOut");
    const struct op_tensor *self = op_call_tensor(call, "self"),
                           *sign_out = both ? op_call_tensor(call, "signOut") : NULL,
                           *log_out = op_call_tensor(call, both ? "logOut" : "out");
    leo_status status = check_matrix(call, "self", true);
    if (status == LEO_OK && both) {
        status = check_output(call, "signOut", self, 0, NULL);
    }
    if (status == LEO_OK) {
        status = check_output(call, both ? "logOut" : "out", self, 0, NULL);
    }
    if (status != LEO_OK || count_of(self, 2) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    struct batch a;
    struct op_linalg_args args = begin(&chain, self, &a);
    const struct batch made = make_batch(&chain, (int64_t)args.count, 2);
    args.sigma = made.memory.addr;
    args.sigma_pitch = made.pitch;
    launch(&chain, "linalg_slogdet", &args);
    const struct op_tensor sign = seen_as(&made, log_out, 0);
    struct op_tensor log = sign;
    log.addr += sizeof(double);
    if (both) {
        op_chain_copy(&chain, sign_out, &sign);
        op_chain_copy(&chain, log_out, &log);
    } else {
        OP_CHAIN_CALL(&chain, "LogOfDeterminant", op_value_tensor(&sign), op_value_tensor(&log),
                      op_value_tensor(log_out));
    }
    return chain.status;
}

static leo_status plan_triangular(const struct op_call *call)
{
    const struct op_tensor *self = op_call_tensor(call, "self"), *a_in = op_call_tensor(call, "A"),
                           *x_out = op_call_tensor(call, "xOut");
    leo_status status = check_matrix(call, "A", true);
    if (status == LEO_OK) {
        status = check_matrix(call, "self", false);
    }
    if (status != LEO_OK) {
        return status;
    }
    const unsigned rank = x_out->rank;
    int64_t a_shape[OP_RANK_MAX];
    struct op_tensor a_seen, b_seen;
    bool fits = rank >= 2;
    if (fits) {
        memcpy(a_shape, x_out->dim, sizeof(a_shape));
        a_shape[rank - 1] = a_shape[rank - 2];
        fits = op_tensor_broadcast(self, rank, x_out->dim, &b_seen) &&
               op_tensor_broadcast(a_in, rank, a_shape, &a_seen) &&
               self->dim[self->rank - 2] == a_in->dim[a_in->rank - 1];
    }
    if (!fits) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "self of shape %s, A of %s and xOut of %s do not fit",
                            op_tensor_shape_text(self).text, op_tensor_shape_text(a_in).text,
                            op_tensor_shape_text(x_out).text);
    }
    struct op_chain chain = op_chain_begin(call);
    if (op_tensor_count(x_out) > 0) {
        struct batch a;
        struct op_linalg_args args = begin(&chain, &a_seen, &a);
        args.q_columns = x_out->dim[rank - 1];
        const struct batch x = make_batch(&chain, (int64_t)args.count, args.rows * args.q_columns);
        const struct op_tensor to = seen_as(&x, x_out, 2);
        op_chain_copy(&chain, &to, &b_seen);
        args.q = x.memory.addr;
        args.q_pitch = x.pitch;
        args.upper = op_call_int(call, "upper") != 0;
        args.transposed = op_call_int(call, "transpose") != 0;
        args.unit = op_call_int(call, "unitriangular") != 0;
        launch(&chain, "linalg_triangular", &args);
        op_chain_copy(&chain, x_out, &to);
    }
    const struct op_tensor *copy = op_call_tensor(call, "mOut");
    if (op_tensor_count(copy) > 0) {
        struct op_tensor a_wide;
        if (!op_tensor_broadcast(a_in, copy->rank, copy->dim, &a_wide)) {
            return op_call_fail(call, LEO_ERR_SHAPE, "mOut has shape %s, A %s",
                                op_tensor_shape_text(copy).text, op_tensor_shape_text(a_in).text);
        }
        op_chain_copy(&chain, copy, &a_wide);
    }
    return chain.status;
}

leo_status op_plan_linalg(const struct op_call *call)
{
    static const struct {
        const char *word;
        leo_status (*plan)(const struct op_call *call);
    } plans[] = {
        {"cholesky", plan_cholesky}, {"inverse", plan_inverse}, {"qr", plan_qr},
        {"svd", plan_svd},           {"slogdet", plan_slogdet}, {"triangular", plan_triangular},
    };
    const char *word = op_row_attr(call->row, "linalg");
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (strcmp(word, plans[i].word) == 0) {
            return plans[i].plan(call);
        }
    }
    return op_call_fail(call, LEO_ERR_UNSUPPORTED, "its row names no decomposition");
}
