# SPDX-License-Identifier: Apache-2.0
"""The 910A as scripts find it that switch nothing off: in mixed precision torch_npu keeps activations in NC1HWC0 and weights in
fractals, and calls operators by type name. Layers and a residual network against the CPU; the formats are really used."""

import copy

import common  # switches internal formats off: on again below
import torch
import torch_npu
from torch import nn
from torch.nn import functional as F

torch_npu.npu.config.allow_internal_format = True
NC1HWC0 = 3


class Block(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.one, self.two = nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.norm_one, self.norm_two = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        self.past = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.norm_two(self.two(F.relu(self.norm_one(self.one(x))))) + self.past(x))


def residual():
    return nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
                         Block(16, 20, 1), Block(20, 32, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 5))


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Formats(common.Case):
    def losses(self, model, x, device, steps=2):
        model = model.to(device).train()
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            with torch.autocast("npu", dtype=torch.float16, enabled=device != "cpu"):
                loss = model(x.to(device)).float().square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def expect_same(self, name, model, x, bound=5e-3):
        want, got = self.losses(copy.deepcopy(model), x, "cpu"), self.losses(model, x, common.DEVICE)
        self.expect_close(torch.tensor(got), torch.tensor(want), rtol=bound, atol=1e-5, what=name)

    def test_the_formats_are_used(self):
        convolution, x = nn.Conv2d(3, 20, 3).npu(), torch.randn(2, 3, 9, 9).npu()
        with torch.autocast("npu", dtype=torch.float16):
            y = convolution(x)
        self.assertEqual(torch_npu.get_npu_format(y), NC1HWC0)
        self.expect_close(y, convolution.cpu()(x.cpu()), rtol=5e-3, atol=5e-3)
        # There and back, padded channels among them.
        plain = torch_npu.npu_format_cast(y, 0)
        self.assertEqual(torch_npu.get_npu_format(plain), 0)
        self.assertTrue(torch.equal(plain, torch_npu.npu_format_cast(torch_npu.npu_format_cast(plain, NC1HWC0), 0)))

    def test_layers(self):
        x = torch.randn(2, 3, 12, 10)
        layers = [nn.ReLU6(), nn.LeakyReLU(0.1), nn.SiLU(), nn.Sigmoid(), nn.PReLU(), nn.Softmax(1), nn.AvgPool2d(2),
                  nn.MaxPool2d(3, 2, 1), nn.Upsample(scale_factor=2), nn.ReflectionPad2d(2), nn.ZeroPad2d(1), nn.PixelShuffle(2),
                  nn.Conv2d(16, 16, 3, groups=16), nn.ConvTranspose2d(16, 8, 2, 2), nn.AdaptiveAvgPool2d(3),
                  Call(lambda t: t * 0.5 + 1.5), Call(lambda t: torch.cat([t, t], 1)), Call(lambda t: t[:, :8] + t[:, 8:]),
                  Call(lambda t: t.mean((2, 3))), Call(lambda t: t * t.mean((2, 3), keepdim=True).sigmoid()),
                  Call(lambda t: t.amax(1)), Call(lambda t: t.clamp(-1, 1)), Call(lambda t: t.max(1)[0]),
                  Call(lambda t: F.interpolate(t, size=(7, 9), mode="bilinear"))]
        for layer in layers:
            self.expect_same(str(layer), nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), layer), x)

    def test_convolutions_of_integers(self):
        # By type name, as scripts do that set nothing: a refusal would come after the call has returned, and end the queue.
        torch_npu.npu.set_compile_mode(jit_compile=True)
        for dtype, options in [(torch.int64, dict(stride=2, padding=1)), (torch.int32, dict(groups=2)), (torch.int8, {})]:
            x = torch.arange(2 * 4 * 6 * 5).reshape(2, 4, 6, 5).to(dtype) * (1 << 40 if dtype == torch.int64 else 1)
            w = (torch.arange(6 * 4 * 3 * 3) % 13 - 6).reshape(6, 4, 3, 3)[:, : 4 // options.get("groups", 1)].to(dtype)
            got = F.conv2d(x.to(common.DEVICE), w.to(common.DEVICE), **options)
            self.assertTrue(torch.equal(got.cpu(), F.conv2d(x, w, **options)), str(dtype))
        torch_npu.npu.set_compile_mode(jit_compile=False)

    def test_volumes(self):
        volume = nn.Sequential(nn.Conv3d(3, 20, 3, padding=1), nn.BatchNorm3d(20), nn.ReLU(), nn.Conv3d(20, 4, 2, 2))
        self.expect_same("3 dimensions", volume, torch.randn(2, 3, 6, 8, 8))

    def test_parts_of_native_tensors(self):
        # Gradients of joins and pads are parts of a convolution's gradient: StridedSlice of NC1HWC0.
        class Joined(nn.Module):
            def __init__(self):
                super().__init__()
                self.one, self.two = nn.Conv2d(3, 9, 3, padding=1), nn.ConvTranspose2d(3, 7, 3, 2, 1, output_padding=1)
                self.last = nn.Conv2d(16, 4, 3, padding=1)

            def forward(self, x):
                one, two = self.one(x), self.two(F.max_pool2d(x, 2))
                two = F.pad(two, (0, one.shape[3] - two.shape[3], 0, one.shape[2] - two.shape[2]))
                return self.last(torch.cat([one, two], 1))

        self.expect_same("join", Joined(), torch.randn(3, 3, 13, 11))
        layer = nn.Conv2d(3, 20, 3, padding=1).half()
        x = torch.randn(2, 3, 9, 7).half()
        whole = layer.to(common.DEVICE)(x.to(common.DEVICE))
        self.assertEqual(torch_npu.get_npu_format(whole), NC1HWC0)
        for part in (lambda t: t[:, 3:11], lambda t: t[:, :, 1:8:2, 1::3], lambda t: t[..., -1], lambda t: t.chunk(3, 1)[1],
                     lambda t: torch.as_strided(t, (3, 4), (7, 2), 5), lambda t: t.diagonal(0, 2, 3)):
            self.expect_close(part(whole).clone(), part(whole.cpu()), rtol=0, atol=0, what="part")

    def test_operators_by_name(self):
        # With a tensor in fractals torch_npu calls these by type name.
        x, y = torch.randn(17, 20), torch.rand(17, 20) + 0.5
        index, mask, source = torch.tensor([3, 0, 11]), torch.rand(17, 20) > 0.4, torch.randn(400)
        for name, function in {
                "cummax": lambda t, o, i, m, s: t.cummax(1)[0], "cummin": lambda t, o, i, m, s: t.cummin(0)[0],
                "xlogy": lambda t, o, i, m, s: torch.xlogy(t, o), "fill": lambda t, o, i, m, s: t.index_fill(1, i, 0.5),
                "masked_scatter": lambda t, o, i, m, s: t.masked_scatter(m, s)}.items():
            fractals = torch_npu.npu_format_cast(x.to(common.DEVICE), 29)
            got = function(fractals, *(tensor.to(common.DEVICE) for tensor in (y, index, mask, source)))
            self.expect_close(got, function(x, y, index, mask, source), rtol=1e-5, atol=1e-6, what=name)

    def test_products_of_rows_and_columns(self):
        # A row in fractals that is turned has the strides of a column. Terms of some sums cancel: the bound is of their size.
        common.seed()
        for out, features in ((5, 1), (1, 5), (1, 1), (40, 1), (1, 40), (17, 33)):
            x, weight = torch.randn(6, features), torch.randn(out, features)
            for dtype, bound in ((torch.float16, 5e-3), (torch.float32, 5e-3)):
                for native in ((True, False), (False, True), (True, True)):
                    results = []
                    for device in ("cpu", common.DEVICE):
                        leaves = [tensor.to(device, dtype if device != "cpu" else torch.float32) for tensor in (x, weight)]
                        if device != "cpu":
                            leaves = [torch_npu.npu_format_cast(leaf, 29) if cast else leaf for leaf, cast in zip(leaves, native)]
                        leaves = [leaf.detach().requires_grad_() for leaf in leaves]
                        y = F.linear(*leaves)
                        (y.float() * torch.arange(y.numel(), device=device).view(y.shape)).sum().backward()
                        results.append([y, *(leaf.grad for leaf in leaves)])
                    for want, got in zip(*results):
                        self.expect_close(got.float(), want, rtol=bound, atol=bound * (1 + want.abs().max().item()),
                                          what=f"{out} x {features} {dtype} {native}")

    def test_clipped_gradients_and_positions(self):
        convolution, x = nn.Conv2d(3, 20, 3), torch.randn(2, 3, 9, 9)
        want = copy.deepcopy(convolution)
        convolution.npu()
        with torch.autocast("npu", dtype=torch.float16):
            y = convolution(x.npu())
        y.float().square().mean().backward()
        want(x).square().mean().backward()
        for order in (1, 2, 3.0, float("inf")):
            norms = [nn.utils.clip_grad_norm_(net.parameters(), 1e9, norm_type=order) for net in (want, convolution)]
            self.expect_close(norms[1], norms[0], rtol=5e-3, what=f"norm of order {order}")
        self.assertTrue(torch.equal(torch.nonzero(y > 0).cpu(), torch.nonzero(y.cpu() > 0)))
        self.assertTrue(torch.equal(y[y > 0.5].cpu(), y.cpu()[y.cpu() > 0.5]))

    def test_random_numbers(self):
        """Of tensors in these formats torch_npu asks by type name: the same numbers as in rows."""
        for shape, number in (((2, 24, 6, 6), NC1HWC0), ((33, 40), 29), ((2, 24, 3, 6, 6), 32)):
            for name, fill, mean in (("uniform", lambda t: t.uniform_(-1, 3), 1.0), ("normal", lambda t: t.normal_(0.5, 0.1), 0.5),
                                     ("bernoulli", lambda t: t.bernoulli_(0.3), 0.3), ("integers", lambda t: t.random_(0, 5), 2.0),
                                     ("by element", lambda t: torch.bernoulli(torch.full_like(t, 0.25)), 0.25),
                                     ("like", torch.rand_like, 0.5), ("dropout", lambda t: F.dropout(t.fill_(1), 0.5, True, True), 1.0),
                                     ("channels", lambda t: F.dropout2d(t.fill_(1), 0.5), 1.0)):
                made = []
                for turned in (False, True):
                    x = torch.zeros(shape, dtype=torch.float16, device=common.DEVICE)
                    common.seed(7)
                    made.append(fill(torch_npu.npu_format_cast(x, number) if turned else x).cpu().float())
                self.assertAlmostEqual(made[1].mean().item(), mean, delta=0.35 if name == "channels" else 0.1, msg=name)
                self.assertGreater(made[1].std().item(), 0.05, name)
                if name in ("uniform", "normal", "like"):
                    self.expect_close(made[1], made[0], rtol=2e-3, atol=2e-3, what=f"{name} {shape}")
        rows = torch_npu.npu_format_cast(torch.tensor([[0.0, 1, 0], [0, 0, 2]]).npu(), 29)
        self.assertEqual(torch.multinomial(rows, 4, True).tolist(), [[1] * 4, [2] * 4])

    def test_a_variational_encoder(self):
        """Noise of the shape and format of a convolution's result."""
        encode, decode = nn.Conv2d(3, 16, 3, 2, 1).npu(), nn.ConvTranspose2d(8, 3, 4, 2, 1).npu()
        x = torch.randn(4, 3, 16, 16).npu()
        with torch.autocast("npu", dtype=torch.float16):
            mean, spread = encode(x).chunk(2, 1)
            loss = F.mse_loss(decode(mean + torch.randn_like(spread) * (0.5 * spread).exp()).float(), x)
        loss.backward()
        self.assertTrue(1 < loss.item() < 3, loss)
        self.assertTrue(torch.isfinite(encode.weight.grad.cpu()).all())

    def test_a_residual_network_learns(self):
        common.seed(3)
        model, x, labels = residual(), torch.randn(8, 3, 32, 32), torch.arange(8) % 5
        reference, curves = copy.deepcopy(model), []
        for device, network in (("cpu", reference), (common.DEVICE, model)):
            network = network.to(device).train()
            optimizer = torch.optim.SGD(network.parameters(), 0.02, momentum=0.9)
            losses = []
            for _ in range(4):
                optimizer.zero_grad()
                with torch.autocast("npu", dtype=torch.float16, enabled=device != "cpu"):
                    loss = F.cross_entropy(network(x.to(device)), labels.to(device))
                (loss * 128).backward()
                for weight in network.parameters():
                    weight.grad.div_(128)
                optimizer.step()
                losses.append(loss.item())
            network.eval()
            with torch.no_grad(), torch.autocast("npu", dtype=torch.float16, enabled=device != "cpu"):
                losses.append(network(x.to(device)).float().std().item())
            curves.append(losses)
        print(curves)
        self.assertLess(curves[1][3], curves[1][0])
        self.expect_close(torch.tensor(curves[1]), torch.tensor(curves[0]), rtol=3e-2, atol=3e-2, what="losses and a test")


common.main()
