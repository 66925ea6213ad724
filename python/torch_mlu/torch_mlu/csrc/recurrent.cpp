// SPDX-License-Identifier: Apache-2.0
// Cells of LSTM and GRU, whose gates torch has already multiplied; gates lie one after the other
// along the columns.
#include "elementwise.hpp"

#include <torch/library.h>

namespace torch_mlu
{
namespace
{

using Maybe = std::optional<at::Tensor>;

at::Tensor plus(const at::Tensor &gates, const Maybe &bias)
{
    return bias.has_value() && bias->defined() ? gates + *bias : gates;
}

/** Gradients through sigmoid and tanh, by their results. */
at::Tensor through_sigmoid(const at::Tensor &diff, const at::Tensor &y)
{
    return at::sigmoid_backward(diff, y);
}

at::Tensor through_tanh(const at::Tensor &diff, const at::Tensor &y)
{
    return at::tanh_backward(diff, y);
}

/** New output, new state, and the gates (in, forget, cell, out) for the gradient. */
std::tuple<at::Tensor, at::Tensor, at::Tensor>
lstm(const at::Tensor &from_input, const at::Tensor &from_hidden, const at::Tensor &state,
     const Maybe &input_bias, const Maybe &hidden_bias)
{
    const auto gates = (plus(from_input, input_bias) + plus(from_hidden, hidden_bias)).chunk(4, 1);
    const at::Tensor in = gates[0].sigmoid(), forget = gates[1].sigmoid(), cell = gates[2].tanh(),
                     out = gates[3].sigmoid();
    const at::Tensor next = forget * state + in * cell;
    return {out * next.tanh(), next, at::cat({in, forget, cell, out}, 1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor>
lstm_backward(const Maybe &diff_output, const Maybe &diff_next, const at::Tensor &state,
              const at::Tensor &next, const at::Tensor &workspace, bool has_bias)
{
    if (!(diff_output.has_value() && diff_output->defined()) &&
        !(diff_next.has_value() && diff_next->defined())) {
        return {};
    }
    const auto gates = workspace.chunk(4, 1);
    const at::Tensor &in = gates[0], &forget = gates[1], &cell = gates[2], &out = gates[3];
    const at::Tensor bent = next.tanh();
    const at::Tensor by_output =
        diff_output.has_value() && diff_output->defined() ? *diff_output : at::zeros_like(next);
    at::Tensor diff = through_tanh(by_output * out, bent);
    if (diff_next.has_value() && diff_next->defined()) {
        diff = diff + *diff_next;
    }
    const at::Tensor all =
        at::cat({through_sigmoid(diff * cell, in), through_sigmoid(diff * state, forget),
                 through_tanh(diff * in, cell), through_sigmoid(by_output * bent, out)},
                1);
    return {all, diff * forget, has_bias ? all.sum(0) : at::Tensor()};
}

/** New output, and (reset, update, new, output before, its part of new) for the gradient. */
std::tuple<at::Tensor, at::Tensor> gru(const at::Tensor &from_input, const at::Tensor &from_hidden,
                                       const at::Tensor &before, const Maybe &input_bias,
                                       const Maybe &hidden_bias)
{
    const auto input = plus(from_input, input_bias).chunk(3, 1),
               hidden = plus(from_hidden, hidden_bias).chunk(3, 1);
    const at::Tensor reset = (input[0] + hidden[0]).sigmoid(),
                     update = (input[1] + hidden[1]).sigmoid(),
                     fresh = (input[2] + reset * hidden[2]).tanh();
    return {fresh + update * (before - fresh),
            at::cat({reset, update, fresh, before, hidden[2]}, 1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>
gru_backward(const at::Tensor &diff, const at::Tensor &workspace, bool has_bias)
{
    const auto kept = workspace.chunk(5, 1);
    const at::Tensor &reset = kept[0], &update = kept[1], &fresh = kept[2], &before = kept[3],
                     &hidden = kept[4];
    const at::Tensor of_update = through_sigmoid(diff * (before - fresh), update),
                     of_fresh = through_tanh(diff * (1 - update), fresh),
                     of_reset = through_sigmoid(of_fresh * hidden, reset);
    const at::Tensor input = at::cat({of_reset, of_update, of_fresh}, 1),
                     recurrent = at::cat({of_reset, of_update, of_fresh * reset}, 1);
    return {input, recurrent, diff * update, has_bias ? input.sum(0) : at::Tensor(),
            has_bias ? recurrent.sum(0) : at::Tensor()};
}

} // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("_thnn_fused_lstm_cell", lstm);
    m.impl("_thnn_fused_lstm_cell_backward_impl", lstm_backward);
    m.impl("_thnn_fused_gru_cell", gru);
    m.impl("_thnn_fused_gru_cell_backward", gru_backward);
}

} // namespace torch_mlu
