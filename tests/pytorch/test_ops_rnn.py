# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: outputs, states and all gradients against the CPU."""

import copy

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import common

# The first 910 multiplies float32 matrices as half.
BOUND = 1e-4 if common.HAS_BF16 else 1e-2


class Recurrent(common.Case):
    def setUp(self):
        common.seed()

    def both(self, name, layer, run, *tensors, bound=BOUND, skipped=()):
        results = []
        for device in ("cpu", common.DEVICE):
            here = copy.deepcopy(layer).to(device)
            leaves = [tensor.detach().to(device).requires_grad_() for tensor in tensors]
            outs = run(here, *leaves)
            loss = sum((out * torch.linspace(-1, 1, out.numel(), device=device).view(out.shape)).sum() for out in outs)
            loss.backward()
            results.append([*outs, *(leaf.grad for leaf in leaves), *(p.grad for p in here.parameters())])
        for number, (want, got) in enumerate(zip(*results)):
            if number in skipped:
                continue
            scale = max(1.0, float(want.detach().abs().max()))
            self.expect_close(got, want, rtol=bound, atol=bound * scale, what=f"{name}, tensor {number}")

    def test_lstm(self):
        for batch_first in (False, True):
            layer = torch.nn.LSTM(8, 16, batch_first=batch_first)
            self.both(f"lstm {batch_first}", layer, lambda m, x: flat(m(x)), torch.randn(5, 4, 8))
            first = torch.randn(1, 5 if batch_first else 4, 16)
            self.both(f"lstm with states {batch_first}", layer, lambda m, x, h, c: flat(m(x, (h, c))), torch.randn(5, 4, 8), first,
                      torch.randn_like(first))
        self.both("one step", torch.nn.LSTM(7, 9), lambda m, x: flat(m(x)), torch.randn(1, 3, 7))

    def test_inference(self):
        # What only a gradient needs has no shape then, or is not there.
        for make in (torch.nn.LSTM, torch.nn.GRU):
            for bias in (True, False):
                layer, x = make(8, 16, bias=bias).eval(), torch.randn(5, 4, 8)
                for grad in (True, False):
                    with torch.set_grad_enabled(grad):
                        for want, got in zip(flat(layer(x)), flat(copy.deepcopy(layer).to(common.DEVICE)(x.to(common.DEVICE)))):
                            self.expect_close(got, want, rtol=BOUND, atol=BOUND, what=f"{make.__name__}, bias {bias}, grad {grad}")

    def test_lstm_of_several_layers(self):
        self.both("two directions", torch.nn.LSTM(8, 16, bidirectional=True), lambda m, x: flat(m(x)), torch.randn(5, 4, 8))
        self.both("two layers", torch.nn.LSTM(8, 16, num_layers=2), lambda m, x: flat(m(x)), torch.randn(5, 4, 8))

    def test_packed(self):
        lengths = torch.tensor([5, 3, 2])

        def run(layer, x):
            out, states = layer(pack_padded_sequence(x, lengths))
            return [pad_packed_sequence(out)[0], *flat((states,))]

        # torch_npu packs all rows of every step, but PyTorch's gradient of packing takes them for packed ones: the gradient of
        # the input is misplaced before and without us (tensor 3).
        self.both("packed lstm", torch.nn.LSTM(8, 16), run, torch.randn(5, 3, 8), skipped=(3,))
        self.both("packed, two layers", torch.nn.LSTM(8, 16, 2), run, torch.randn(5, 3, 8), skipped=(3,))

    def test_packed_in_two_directions(self):
        # By operators DynamicRNN with a mask, the second direction from the last step on.
        lengths = torch.tensor([3, 5, 2])

        def run(layer, x):
            out, states = layer(pack_padded_sequence(x, lengths, enforce_sorted=False))
            # The adapter's gradient takes the second direction's state from the wrong end.
            return [pad_packed_sequence(out)[0], *(state.detach() for state in states)]

        for layers in (1, 2):
            self.both(f"packed, two directions, {layers} layers", torch.nn.LSTM(8, 16, layers, bidirectional=True), run,
                      torch.randn(5, 3, 8), skipped=(3,))

    def test_gru(self):
        for layers, both in ((1, False), (1, True), (2, False), (2, True)):
            for batch_first in (False, True):
                layer = torch.nn.GRU(8, 16, layers, bidirectional=both, batch_first=batch_first)
                self.both(f"gru {layers} {both} {batch_first}", layer, lambda m, x: flat(m(x)), torch.randn(5, 4, 8))
        first = torch.randn(2, 4, 16)
        self.both("gru with states", torch.nn.GRU(8, 16, 2), lambda m, x, h: flat(m(x, h)), torch.randn(5, 4, 8), first)

    def test_cells(self):
        x, h, c = torch.randn(2, 8), torch.randn(2, 16), torch.randn(2, 16)
        self.both("lstm cell", torch.nn.LSTMCell(8, 16), lambda m, x, h, c: flat(m(x, (h, c))), x, h, c)
        self.both("gru cell", torch.nn.GRUCell(8, 16), lambda m, x, h: [m(x, h)], x, h)
        self.both("rnn", torch.nn.RNN(8, 16), lambda m, x: flat(m(x)), torch.randn(5, 4, 8))


def flat(results):
    """Tensors of nested tuples."""
    return [tensor for result in results for tensor in (flat(result) if isinstance(result, tuple) else [result])]


common.main()
