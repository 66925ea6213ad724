/* SPDX-License-Identifier: Apache-2.0 */
/* Fourier transforms of short pieces of a signal: pieces times a window, as one product with the
 * cosines and sines of the transform. */
#include "../frame/chain.h"

#include <inttypes.h>
#include <math.h>

struct stft {
    const struct op_tensor *signal, *window, *out;
    int64_t size, hop, window_size; /* samples of a piece, from one to the next, of the window */
    int64_t batch, length, pieces, bins;
    bool complex, batched;
};

static struct stft stft_of(const struct op_call *call)
{
    struct stft s = {
        .signal = op_call_tensor(call, "self"),
        .window = op_call_tensor(call, "windowOptional"),
        .out = op_call_tensor(call, "out"),
        .size = op_call_int(call, "nFft"),
        .hop = op_call_int(call, "hopLength"),
        .window_size = op_call_int(call, "winLength"),
        .complex = op_call_int(call, "returnComplex") != 0,
    };
    s.batched = s.signal->rank == 2;
    s.batch = s.batched ? s.signal->dim[0] : 1;
    s.length = s.signal->rank ? s.signal->dim[s.signal->rank - 1] : 0;
    s.pieces = s.hop > 0 && s.length >= s.size ? (s.length - s.size) / s.hop + 1 : 0;
    s.bins = op_call_int(call, "onesided") ? s.size / 2 + 1 : s.size;
    return s;
}

static leo_status check(const struct op_call *call, const struct stft *s)
{
    const int64_t shape[] = {s->batch, s->bins, s->pieces, 2};
    if (s->signal->rank < 1 || s->signal->rank > 2 || s->size < 1 || s->hop < 1 ||
        s->window_size < 1 || s->window_size > s->size || s->length < s->size) {
        return op_call_fail(call, LEO_ERR_SHAPE,
                            "self has shape %s, nFft is %" PRId64 ", hopLength %" PRId64
                            ", winLength %" PRId64
                            ": a row must hold nFft samples, the window at most as many",
                            op_tensor_shape_text(s->signal).text, s->size, s->hop, s->window_size);
    }
    if (s->out->type != (s->complex ? OP_TYPE_C64 : OP_TYPE_F32)) {
        return op_call_fail(call, LEO_ERR_DTYPE, "out is %s: it must be %s",
                            op_type_name(s->out->type), s->complex ? "c64" : "f32");
    }
    leo_status status = LEO_OK;
    if (s->window) {
        status = op_call_check_shape(call, "windowOptional", 1, &s->window_size);
    }
    return status == LEO_OK
               ? op_call_check_shape(call, "out", 4 - !s->batched - s->complex, shape + !s->batched)
               : status;
}

// The window in the middle of a piece, 0 around it.
static struct op_tensor window_of(struct op_chain *chain, const struct stft *s)
{
    const struct op_tensor whole = op_chain_temp(chain, OP_TYPE_F32, 1, &s->size),
                           middle = op_view_slice(&whole, 0, (s->size - s->window_size) / 2,
                                                  s->window_size);
    op_chain_fill(chain, &whole, 0);
    if (s->window) {
        op_chain_copy(chain, &middle, s->window);
    } else {
        op_chain_fill(chain, &middle, 1);
    }
    return whole;
}

// [batch * pieces, size]
static struct op_tensor pieces_of(struct op_chain *chain, const struct stft *s)
{
    const int64_t shape[] = {s->batch, s->pieces, s->size},
                  rows[] = {s->batch * s->pieces, s->size};
    const struct op_tensor dense = op_chain_dense(chain, OP_TYPE_F32, s->signal);
    struct op_tensor pieces = op_tensor_dense(dense.addr, OP_TYPE_F32, 3, shape);
    pieces.stride[0] = s->length;
    pieces.stride[1] = s->hop;
    const struct op_tensor made = op_chain_temp(chain, OP_TYPE_F32, 3, shape);
    if (s->window || s->window_size < s->size) {
        const struct op_tensor window = window_of(chain, s);
        OP_CHAIN_CALL(chain, "Mul", op_value_tensor(&pieces), op_value_tensor(&window),
                      op_value_tensor(&made));
    } else {
        op_chain_copy(chain, &made, &pieces);
    }
    return op_view_shape(&made, 2, rows);
}

leo_status op_plan_stft(const struct op_call *call)
{
    static const char *const waves[] = {"StftCosine", "StftSine"};
    const struct stft s = stft_of(call);
    leo_status status = check(call, &s);
    if (status != LEO_OK || op_tensor_count(s.out) == 0) {
        return status;
    }
    struct op_chain chain = op_chain_begin(call);
    const double turn = 2 * acos(-1) / (double)s.size,
                 scale = op_call_int(call, "normalized") ? 1 / sqrt((double)s.size) : 1;
    const int64_t matrix[] = {s.size, s.bins}, rows[] = {s.batch * s.pieces, s.bins},
                  shape[] = {s.batch, s.pieces, s.bins};
    const struct op_tensor pieces = pieces_of(&chain, &s),
                           place = op_chain_temp(&chain, OP_TYPE_I32, 2, matrix),
                           wave = op_chain_temp(&chain, OP_TYPE_F32, 2, matrix),
                           product = op_chain_temp(&chain, OP_TYPE_F32, 2, rows);
    OP_CHAIN_CALL(&chain, "StftPlace", op_value_int(s.size), op_value_tensor(&place));
    for (unsigned i = 0; i < 2; i++) {
        OP_CHAIN_CALL(&chain, waves[i], op_value_tensor(&place), op_value_real(turn),
                      op_value_real(scale), op_value_tensor(&wave));
        op_chain_matmul(&chain, &pieces, &wave, &product);
        const struct op_tensor by_piece = op_view_shape(&product, 3, shape),
                               by_bin = op_view_swap(&by_piece, 1, 2),
                               part = s.complex ? op_view_part(s.out, i)
                                                : op_view_select(s.out, s.out->rank - 1, i),
                               to = s.batched ? part : op_view_insert(&part, 0);
        op_chain_copy(&chain, &to, &by_bin);
    }
    return chain.status;
}
