# SPDX-License-Identifier: Apache-2.0
"""Operators by themselves: the device's result and gradients are those of the CPU. One line of the table, one test.

`python test_operators.py --report` prints what fails instead, most frequent reason first. `--without NAMES` leaves cases out
(names separated by commas). `--formats` gives operators their floating-point tensors in the chip's own formats, as convolutions
and products leave them on the 910A in its default mode: they are called by type name then. `--special N` puts NaN, infinities, zeros of
either sign, denormal and largest numbers among the elements of every N-th case's floating-point tensors (results alone, no gradients).
"""

import collections
import sys

import torch
import torch_npu
from torch.nn import functional as F

import common
from common import DEVICE


def real(*shape, low=-2.0, high=2.0, dtype=torch.float32):
    return (torch.rand(shape) * (high - low) + low).to(dtype)


def ints(*shape, low=0, high=10, dtype=torch.int64):
    return torch.randint(low, high, shape, dtype=dtype)


# name: (function of tensors, tensors); floating-point inputs also get gradients if the name does not end in "!".
CASES = {}


def case(name, function, *tensors, rtol=2e-4, atol=1e-5):
    assert name not in CASES, name
    CASES[name] = (function, tensors, rtol, atol)


# The first 910 multiplies float32 matrices as half: 11 bits of each factor, sums in float32.
NEAR = dict(rtol=5e-3, atol=5e-3) if common.HAS_BF16 else dict(rtol=2e-2, atol=5e-2)


def pointwise():
    x, y, positive = real(3, 5, 7), real(3, 5, 7), real(3, 5, 7, low=0.1)
    for name in ("abs", "neg", "exp", "sin", "cos", "tan", "tanh", "sigmoid", "relu", "erf", "atan", "sinh", "cosh", "square",
                 "expm1", "asinh", "exp2", "sgn"):
        case(name, getattr(torch, name), x)
    for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"):
        case(name, getattr(torch, name), positive)
    for name in ("asin", "acos", "atanh", "erfinv"):
        case(name, getattr(torch, name), real(3, 5, low=-0.9, high=0.9))
    case("acosh", torch.acosh, real(3, 5, low=1.1, high=4))
    for name in ("ceil", "floor", "round", "trunc", "frac", "sign", "signbit", "isnan", "isinf", "isfinite"):
        case(name + "!", getattr(torch, name), x)
    for name in ("add", "sub", "mul", "div", "maximum", "minimum", "atan2"):
        case(name, getattr(torch, name), x, y)
        case(name + " broadcast", getattr(torch, name), real(3, 1, 7), real(5, 1))
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"):
        case(name + "!", getattr(torch, name), ints(4, 5, high=3), ints(4, 5, high=3))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        case(name + " scalar!", lambda a, n=name: getattr(torch, n)(a, 1), ints(4, 5, high=3))
    case("pow 2", lambda a: a**2, x)
    case("pow 3.5", lambda a: a**3.5, positive)
    case("pow tensor", torch.pow, positive, y)
    case("pow of 2", lambda a: 2.0**a, x)
    case("rsub", lambda a: 1 - a, x)
    case("add alpha", lambda a, b: torch.add(a, b, alpha=0.3), x, y)
    case("add scalar", lambda a: a + 2.5, x)
    case("add int!", lambda a: a + 2, ints(3, 4))
    case("add mixed", lambda a, b: a + b, real(3, 4, dtype=torch.float16), x[0, 0, :4].clone(), rtol=2e-3)
    case("mul bool", lambda a, b: a * (b > 0), x, y)
    case("floor_divide!", torch.floor_divide, ints(3, 4, low=-9), ints(3, 4, low=1))
    case("remainder!", torch.remainder, ints(3, 4, low=-9), ints(3, 4, low=1))
    case("remainder scalar!", lambda a: a % 3, real(3, 4))
    case("fmod!", lambda a: torch.fmod(a, 3), real(3, 4, low=-9, high=9))
    case("true divide ints!", torch.true_divide, ints(3, 4), ints(3, 4, low=1))
    case("div floor!", lambda a: torch.div(a, 3, rounding_mode="floor"), real(3, 4, low=-9, high=9))
    case("div trunc!", lambda a: torch.div(a, 3, rounding_mode="trunc"), real(3, 4, low=-9, high=9))
    case("bitwise!", lambda a, b: (a & b) | (a ^ 5), ints(3, 4, high=99), ints(3, 4, high=99))
    case("bitwise_not!", torch.bitwise_not, ints(3, 4))
    case("logical_not!", torch.logical_not, ints(3, 4, high=2))
    case("shift!", lambda a: (a << 2) + (a >> 1), ints(3, 4))
    case("clamp", lambda a: a.clamp(-0.5, 0.7), x)
    case("clamp min", lambda a: a.clamp(min=0.1), x)
    case("clamp max", lambda a: a.clamp(max=0.1), x)
    case("clamp tensor", lambda a, b: a.clamp(min=b), x, y)
    case("addcmul", lambda a, b, c: torch.addcmul(a, b, c, value=0.5), x, y, positive)
    case("addcdiv", lambda a, b, c: torch.addcdiv(a, b, c, value=0.5), x, y, positive)
    case("lerp", lambda a, b: torch.lerp(a, b, 0.3), x, y)
    case("where", lambda a, b: torch.where(a > 0, a, b), x, y)
    case("masked_fill", lambda a, b: a.masked_fill(b > 0, -7.0), x, y)
    case("nan_to_num!", torch.nan_to_num, torch.tensor([1.0, float("nan"), float("inf"), -float("inf")]))
    case("logaddexp", torch.logaddexp, x, y)
    case("transposed", lambda a, b: a.transpose(0, 2) + b.transpose(0, 2) * 2, x, y)
    case("sliced", lambda a: a[:, 1:4:2, ::3] * 2, x)
    case("0-d", lambda a, b: a * b, torch.tensor(2.0), x)
    case("empty!", lambda a: a + 1, torch.zeros(0, 3))
    for kind in (torch.float16, torch.int8, torch.uint8, torch.int16, torch.int32, torch.bool, torch.int64,
                 *([torch.bfloat16] if common.HAS_BF16 else [])):
        case(f"to {kind}!", lambda a, k=kind: a.to(k), real(9, 9, low=0, high=100))
        case(f"from {kind}!", lambda a: a.to(torch.float32), real(9, 9, low=0, high=100).to(kind))
    case("add f16", torch.add, real(64, 3, dtype=torch.float16), real(64, 3, dtype=torch.float16), rtol=2e-3)
    case("exp f16", torch.exp, real(64, 3, dtype=torch.float16), rtol=4e-3, atol=1e-3)
    case("big", lambda a, b: a * b + a, real(1025, 513), real(1025, 513))


def activations():
    x = real(4, 6, 5)
    for name in ("silu", "elu", "selu", "celu", "leaky_relu", "softplus", "hardtanh", "hardswish", "hardsigmoid", "mish",
                 "relu6", "logsigmoid", "softsign", "tanhshrink", "hardshrink", "softshrink"):
        case(name, getattr(F, name), x)
    # The vendor documents aclnnGelu by its tanh form, which is used for both.
    # The chip has the tanh formula, whose gradient is up to 0.9e-3 from that of erf; the weights go up to 1.5.
    case("gelu", F.gelu, x, rtol=1e-3, atol=1.5e-3)
    case("gelu tanh", lambda a: F.gelu(a, approximate="tanh"), x, rtol=1e-3, atol=1e-3)
    case("threshold", lambda a: F.threshold(a, 0.1, 20.0), x)
    case("glu", lambda a: F.glu(a, dim=1), x)
    case("prelu", F.prelu, x, real(6))
    for dim in (0, 1, -1):
        case(f"softmax {dim}", lambda a, d=dim: F.softmax(a, dim=d), x)
        case(f"log_softmax {dim}", lambda a, d=dim: F.log_softmax(a, dim=d), x)
    case("softmax f16", lambda a: F.softmax(a, dim=-1), real(8, 33, dtype=torch.float16), rtol=4e-3, atol=1e-3)


def reductions():
    x = real(4, 5, 6)
    for name in ("sum", "mean", "prod", "amax", "amin", "logsumexp", "var", "std"):
        if name not in ("amax", "amin", "logsumexp"):
            case(name, getattr(torch, name), x)
        case(f"{name} dim", lambda a, n=name: getattr(torch, n)(a, 1), x)
        case(f"{name} keep", lambda a, n=name: getattr(torch, n)(a, -1, keepdim=True), x)
    case("sum dims", lambda a: a.sum((0, 2)), x)
    case("mean dims", lambda a: a.mean((0, 2), keepdim=True), x)
    case("sum int!", torch.sum, ints(7, 8))
    case("sum bool!", torch.sum, ints(7, 8, high=2).bool())
    case("sum big", torch.sum, real(300, 301), rtol=1e-3, atol=1e-2)
    case("sum f16", lambda a: a.sum(0), real(300, 31, dtype=torch.float16), rtol=4e-3, atol=1e-2)
    for name in ("max", "min", "median"):
        case(f"{name}!", getattr(torch, name), x)
        case(f"{name} dim!", lambda a, n=name: getattr(torch, n)(a, 1)[0], x)
        case(f"{name} index!", lambda a, n=name: getattr(torch, n)(a, 1)[1], x)
    for name in ("argmax", "argmin"):
        case(f"{name}!", getattr(torch, name), x)
        case(f"{name} dim!", lambda a, n=name: getattr(torch, n)(a, dim=1), x)
    for name in ("all", "any"):
        case(f"{name}!", lambda a, n=name: getattr(torch, n)(a > 0), x)
        case(f"{name} dim!", lambda a, n=name: getattr(torch, n)(a > 0, dim=1), x)
    for name in ("cumsum", "cumprod"):
        case(name, lambda a, n=name: getattr(torch, n)(a, 1), x)
    for p in (1, 2, 3, float("inf")):
        case(f"norm {p}", lambda a, p=p: torch.linalg.vector_norm(a, p), x)
        case(f"norm {p} dim", lambda a, p=p: torch.linalg.vector_norm(a, p, dim=1), x)
    case("count_nonzero!", torch.count_nonzero, ints(7, 8, high=2))


def products():
    a, b, c = real(5, 7), real(7, 9), real(5, 9)
    near = NEAR
    case("mm", torch.mm, a, b, **near)
    case("mm transposed", lambda x, y: x.t() @ y, real(7, 5), b, **near)
    case("mm big", torch.mm, real(130, 257), real(257, 140), rtol=2e-2, atol=1e-1)
    case("mm f16", torch.mm, real(33, 64, dtype=torch.float16), real(64, 48, dtype=torch.float16), rtol=1e-2, atol=5e-2)
    case("mv", torch.mv, a, real(7), **near)
    case("dot", torch.dot, real(33), real(33), **near)
    case("outer", torch.outer, real(5), real(6), **near)
    case("addmm", torch.addmm, c, a, b, **near)
    case("addmm beta", lambda x, y, z: torch.addmm(x, y, z, beta=0.5, alpha=2), c, a, b, **near)
    case("linear", F.linear, real(3, 4, 7), real(9, 7), real(9), **near)
    case("bmm", torch.bmm, real(3, 4, 5), real(3, 5, 6), **near)
    case("baddbmm", torch.baddbmm, real(3, 4, 6), real(3, 4, 5), real(3, 5, 6), **near)
    case("matmul 4d", torch.matmul, real(2, 3, 4, 5), real(2, 3, 5, 6), **near)
    case("matmul broadcast", torch.matmul, real(2, 3, 4, 5), real(5, 6), **near)
    case("einsum", lambda x, y: torch.einsum("bij,bkj->bik", x, y), real(2, 3, 4), real(2, 5, 4), **near)
    case("attention", lambda q, k, v: F.scaled_dot_product_attention(q, k, v), real(2, 3, 8, 16), real(2, 3, 8, 16),
         real(2, 3, 8, 16), **near)
    case("attention causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), real(2, 3, 8, 16),
         real(2, 3, 8, 16), real(2, 3, 8, 16), **near)


def layers():
    near = NEAR
    image = real(2, 4, 9, 11)
    for name, options in {"": {}, " stride": dict(stride=2), " pad": dict(padding=1), " dilation": dict(dilation=2),
                          " uneven": dict(stride=(2, 1), padding=(0, 2))}.items():
        case("conv2d" + name, lambda x, w, b, o=options: F.conv2d(x, w, b, **o), image, real(6, 4, 3, 3), real(6), **near)
    case("conv2d groups", lambda x, w: F.conv2d(x, w, groups=2), image, real(6, 2, 3, 3), **near)
    case("conv2d depthwise", lambda x, w: F.conv2d(x, w, padding=1, groups=4), image, real(4, 1, 3, 3), **near)
    case("conv2d 1x1", F.conv2d, image, real(8, 4, 1, 1), **near)
    case("conv2d 7x7", lambda x, w: F.conv2d(x, w, stride=2, padding=3), real(1, 3, 32, 32), real(16, 3, 7, 7), **near)
    case("conv2d f16", lambda x, w: F.conv2d(x, w, padding=1), image.half(), real(6, 4, 3, 3).half(), rtol=1e-2, atol=5e-2)
    case("conv1d", lambda x, w: F.conv1d(x, w, padding=1), real(2, 4, 9), real(6, 4, 3), **near)
    case("conv3d", lambda x, w: F.conv3d(x, w, padding=1), real(1, 2, 5, 6, 7), real(3, 2, 3, 3, 3), **near)
    case("conv_transpose2d", lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2), image, real(4, 3, 2, 2), real(3), **near)
    case("conv_transpose2d 3", lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1), image,
         real(4, 3, 3, 3), **near)
    case("batch_norm", lambda x, w, b: F.batch_norm(x, torch.zeros(4, device=x.device), torch.ones(4, device=x.device), w, b,
                                                    training=True), image, real(4), real(4), **near)
    case("batch_norm eval", lambda x, w, b: F.batch_norm(x, torch.full((4,), 0.1, device=x.device),
                                                         torch.full((4,), 2.0, device=x.device), w, b), image, real(4), real(4))
    case("batch_norm 2d", lambda x: F.batch_norm(x, None, None, training=True), real(8, 5), **near)
    case("layer_norm", lambda x, w, b: F.layer_norm(x, (11,), w, b), image, real(11), real(11), rtol=1e-3, atol=1e-4)
    case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), image, real(4), real(4), rtol=1e-3, atol=1e-4)
    case("instance_norm", F.instance_norm, image, rtol=1e-3, atol=1e-4)
    case("max_pool2d", lambda x: F.max_pool2d(x, 2), image)
    case("max_pool2d 3", lambda x: F.max_pool2d(x, 3, 2, 1), image)
    case("avg_pool2d", lambda x: F.avg_pool2d(x, 2), image)
    case("avg_pool2d pad", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), image)
    case("avg_pool3d", lambda x: F.avg_pool3d(x, 2, 1), real(2, 3, 4, 5, 6))
    case("avg_pool3d uneven", lambda x: F.avg_pool3d(x, (2, 3, 4), (1, 2, 2), (0, 1, 2)), real(1, 2, 5, 5, 5))
    case("adaptive_avg_pool2d 1", lambda x: F.adaptive_avg_pool2d(x, 1), image)
    case("adaptive_avg_pool2d 7", lambda x: F.adaptive_avg_pool2d(x, 7), image)
    case("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, 3), real(2, 4, 9, 12))
    case("interpolate nearest", lambda x: F.interpolate(x, scale_factor=2), image)
    case("interpolate bilinear", lambda x: F.interpolate(x, size=(20, 17), mode="bilinear", align_corners=False), image)
    case("embedding", lambda w, i: F.embedding(i, w), real(10, 6), ints(3, 4))
    case("embedding pad", lambda w, i: F.embedding(i, w, padding_idx=2), real(10, 6), ints(3, 4))
    case("pad", lambda x: F.pad(x, (1, 2, 0, 1)), image)
    case("pad reflect", lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect"), image)
    case("pad replicate", lambda x: F.pad(x, (1, 2, 2, 1), mode="replicate"), image)
    case("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), image)
    case("unfold", lambda x: F.unfold(x, 3, padding=1), image)
    case("one_hot!", lambda i: F.one_hot(i, 10), ints(3, 4))
    case("normalize", F.normalize, real(4, 9))
    case("cosine_similarity", F.cosine_similarity, real(4, 9), real(4, 9))
    case("grid_sample", lambda x, g: F.grid_sample(x, g, align_corners=False), image, real(2, 5, 6, 2, low=-0.9, high=0.9))


def losses():
    x, y, share = real(6, 5), real(6, 5), real(6, 5, low=0.05, high=0.95)
    labels = ints(6, high=5)
    case("cross_entropy", F.cross_entropy, x, labels)
    case("cross_entropy smooth", lambda a, t: F.cross_entropy(a, t, label_smoothing=0.1), x, labels)
    case("cross_entropy weight", lambda a, t: F.cross_entropy(a, t, weight=share[0].to(a.device)), x, labels)
    case("cross_entropy ignore", lambda a, t: F.cross_entropy(a, t, ignore_index=2), x, labels)
    planes, marks, weights = real(3, 5, 7, 9), ints(3, 7, 9, high=5), real(5, low=0.5)
    for reduction in ("none", "mean", "sum"):
        case(f"cross_entropy planes {reduction}",
             lambda a, t, r=reduction: F.cross_entropy(a, t, weight=weights.to(a), ignore_index=2, reduction=r), planes, marks)
    case("cross_entropy none", lambda a, t: F.cross_entropy(a, t, reduction="none"), x, labels)
    case("cross_entropy 2d", F.cross_entropy, real(2, 5, 3, 4), ints(2, 3, 4, high=5))
    case("cross_entropy soft", F.cross_entropy, x, F.softmax(y, dim=1))
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        case(name, getattr(F, name), x, y)
        case(name + " sum", lambda a, b, n=name: getattr(F, n)(a, b, reduction="sum"), x, y)
    case("binary_cross_entropy", F.binary_cross_entropy, share, share.flip(0).clone())
    case("bce logits", lambda a: F.binary_cross_entropy_with_logits(a, share.to(a.device)), x)
    case("bce logits weight", lambda a: F.binary_cross_entropy_with_logits(a, share.to(a.device), pos_weight=share[0].to(a.device)),
         x)
    case("kl_div", lambda a, b: F.kl_div(F.log_softmax(a, 1), F.softmax(b, 1), reduction="batchmean"), x, y)


def shapes():
    x, i = real(4, 5, 6), ints(3, high=4)
    case("cat", lambda a, b: torch.cat([a, b], 1), x, real(4, 2, 6))
    case("stack", lambda a, b: torch.stack([a, b], 1), x, x.flip(0).clone())
    case("split", lambda a: torch.split(a, 2, 1)[1] * 2, x)
    case("chunk", lambda a: torch.chunk(a, 3, 2)[2] * 2, x)
    case("repeat", lambda a: a.repeat(2, 1, 3), x)
    case("expand", lambda a: a.expand(4, 5, 6).contiguous(), real(4, 1, 6))
    case("permute", lambda a: a.permute(2, 0, 1).contiguous(), x)
    case("flip", lambda a: a.flip(1), x)
    case("roll", lambda a: torch.roll(a, 2, 1), x)
    case("tril", torch.tril, x)
    case("triu", lambda a: torch.triu(a, 1), x)
    case("diag!", torch.diag, real(5))
    case("index_select", lambda a, n: torch.index_select(a, 0, n), x, i)
    case("index", lambda a, n: a[n], x, i)
    case("index two", lambda a, n, m: a[n, m], x, i, ints(3, high=5))
    case("index mask!", lambda a: a[a > 0.5], x)
    case("index_put", lambda a, n, v: a.index_put((n,), v), x, i, real(3, 5, 6))
    case("index_add", lambda a, n, v: a.index_add(0, n, v), x, i, real(3, 5, 6))
    case("gather", lambda a, n: a.gather(1, n), x, ints(4, 3, 6, high=5))
    case("scatter", lambda a, n, v: a.scatter(1, n, v), x, torch.arange(3).view(1, 3, 1).expand(4, 3, 6).contiguous(),
         real(4, 3, 6))
    case("scatter_add", lambda a, n, v: a.scatter_add(1, n, v), x, ints(4, 3, 6, high=5), real(4, 3, 6))
    case("masked_select!", lambda a: torch.masked_select(a, a > 0), x)
    case("nonzero!", torch.nonzero, ints(5, 6, high=2))
    case("where one!", lambda a: torch.where(a > 1)[0], ints(5, 6, high=3))
    case("sort!", lambda a: torch.sort(a, dim=1)[0], x)
    case("argsort!", lambda a: torch.argsort(a, dim=1, descending=True), x)
    case("topk!", lambda a: torch.topk(a, 3)[0], x)
    case("topk index!", lambda a: torch.topk(a, 3)[1], x)
    case("unique!", torch.unique, ints(20, high=6))
    case("slice assign", lambda a: slice_assign(a), x)
    case("meshgrid!", lambda a, b: torch.meshgrid(a, b, indexing="ij")[0] + 0, real(3), real(4))
    case("arange!", lambda a: torch.arange(2, 20, 3, device=a.device), real(1))
    case("linspace!", lambda a: torch.linspace(0, 1, 7, device=a.device), real(1))
    case("full!", lambda a: torch.full((3, 4), 2.5, device=a.device), real(1))
    case("eye!", lambda a: torch.eye(4, device=a.device), real(1))
    case("zeros_like!", torch.zeros_like, x)
    case("bincount!", torch.bincount, ints(30, high=6))
    case("searchsorted!", lambda a, b: torch.searchsorted(a, b), torch.arange(10.0), real(5, low=0, high=9))
    case("repeat_interleave!", lambda a: torch.repeat_interleave(a, 3, dim=1), x)


def slice_assign(a):
    b = a.clone()
    b[:, 0] = 3
    b[1:3, ::2] = a[1:3, ::2] * 2
    return b


# NC1HWC0, NDC1HWC0 and FRACTAL_NZ, by number of dimensions.
FORMATS = {2: 29, 3: 29, 4: 3, 5: 32}


def place(tensor, device):
    there = tensor.detach().clone().to(device)
    if IN_FORMATS and device != "cpu" and tensor.dim() in FORMATS and tensor.is_floating_point():
        there = torch_npu.npu_format_cast(there, FORMATS[tensor.dim()])
        assert torch_npu.get_npu_format(there) == FORMATS[tensor.dim()]
    return there


def run(function, tensors, device, gradients):
    inputs = [place(t, device).requires_grad_(gradients and t.is_floating_point()) for t in tensors]
    result = function(*inputs)
    if not gradients:
        return [result]
    weight = torch.linspace(0.5, 1.5, max(result.numel(), 1))[:result.numel()].view(result.shape)
    (result.float() * weight.to(device)).sum().backward()
    return [result, *(t.grad for t in inputs if t.requires_grad)]


def check(self, name):
    function, tensors, rtol, atol = CASES[name]
    gradients = not name.endswith("!")
    wants = run(function, tensors, "cpu", gradients)
    gots = run(function, tensors, DEVICE, gradients)
    for number, (got, want) in enumerate(zip(gots, wants)):
        what = f"{name}: " + (f"gradient {number}" if number else "result")
        if want is None:
            self.assertIsNone(got, what)
            continue
        self.assertEqual((got.shape, got.dtype), (want.shape, want.dtype), what)
        self.expect_close(got, want, rtol=rtol, atol=atol, what=what)


SPECIAL = {"nan": float("nan"), "inf": float("inf"), "-inf": -float("inf"), "-0": -0.0, "denormal": 1e-40, "most": 3.4028234e38,
           "least": -3.4028234e38}
# By the beginnings of names: which of these are not compared, and why.
ENDLESS, LARGE, ALL = "nan inf -inf", "most least", " ".join(SPECIAL)
OPEN = [
    ("to torch.", "nan inf -inf most least", "integers of what they cannot hold, and half of float32's largest, are what the host makes of them"),
    ("binary_cross_entropy", "nan inf -inf most least", "PyTorch refuses it on the CPU"),
    ("gelu", "inf most", "the CPU has NaN of infinity and infinity of the largest"),
    ("grid_sample", f"{ENDLESS} {LARGE}", "a place that is no number is any place"),
    ("attention", "nan", "the CPU has 0 for a row that is no number"),
    ("interpolate bilinear", "inf -inf", "infinity times a share of 0"),
    ("conv", f"{ENDLESS} {LARGE}", "a window over the border multiplies weights by 0; the largest become infinite in HF32"),
    ("batch_norm", f"inf -inf {LARGE}", "the CPU's variance is a running one"), ("group_norm", f"inf -inf {LARGE}", "as batch_norm"),
    # Where a mean's square is infinite (from 1.9e19 on) the CPU has NaN for rows that fill its vectors (8, 32 or 1024 elements, equal
    # ones too) and 0 for others (17, 100). Here a row whose variance is infinite is 0 and one whose sum is infinite NaN.
    ("layer_norm", LARGE, "the CPU has 0 or NaN by the length of the row"),
    *((name, LARGE, "sums of squares or products beyond float32, which the CPU has in double, or in another order")
      for name in ("norm", "normalize", "cosine_similarity", "std", "prod", "mv", "einsum", "bce logits", "cross_entropy")),
]
if not common.HAS_BF16:
    OPEN += [(name, ALL, "products of half, which has neither NaN nor infinity on the 910A")
             for name in ("addmm", "attention", "baddbmm", "bmm", "einsum", "linear", "matmul", "mm", "mv", "conv")]
    # Known: the programs of batch norm saturate on the 910A, so that NaN is 0 behind one and infinity the largest number.
    OPEN += [(name, ENDLESS, "saturates") for name in ("batch_norm", "instance_norm", "avg_pool2d pad")]


def is_open(name, what):
    return any(name.startswith(begin) and what in words.split() for begin, words, _ in OPEN)


def check_special(self, name, what):
    function, tensors, rtol, atol = CASES[name]
    spoiled = []
    for tensor in tensors:
        tensor = tensor.detach().clone().contiguous()
        if tensor.dtype == torch.float32 and tensor.numel():
            tensor.view(-1)[::max(tensor.numel() // 3, 1)] = SPECIAL[what]
        spoiled.append(tensor)
    want, got = (run(function, spoiled, device, False)[0] for device in ("cpu", DEVICE))
    self.assertEqual((got.shape, got.dtype), (want.shape, want.dtype), name)
    self.expect_close(got, want, rtol=rtol, atol=atol, what=f"{name} with {what}")


class Operators(common.Case):
    pass


class Special(common.Case):
    pass


common.seed()
for group in (pointwise, activations, reductions, products, layers, losses, shapes):
    group()
IN_FORMATS = "--formats" in sys.argv
if IN_FORMATS:
    sys.argv.remove("--formats")
    torch_npu.npu.config.allow_internal_format = True
if "--without" in sys.argv:
    at = sys.argv.index("--without")
    for case_name in sys.argv[at + 1].split(","):
        del CASES[case_name]
    del sys.argv[at:at + 2]
if "--special" in sys.argv:
    at = sys.argv.index("--special")
    EACH = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    for case_name, special in [(n, w) for i, n in enumerate(CASES) for w in SPECIAL if i % EACH == 0 and not is_open(n, w)]:
        setattr(Special, f"test_{case_name} {special}", lambda self, n=case_name, w=special: check_special(self, n, w))
else:
    for case_name in CASES:
        setattr(Operators, f"test_{case_name}", lambda self, n=case_name: check(self, n))


def report():
    """What does not work yet, grouped by operator or message."""
    reasons = collections.defaultdict(list)
    for name in CASES:
        try:
            check(Operators(), name)
            torch.npu.synchronize()
        except Exception as error:  # every kind of failure is what is asked for here
            text = str(error)
            key = next((line.strip()[:150] for line in text.split("\n") if "EZ" in line or "Tensor-likes" in line), text[:150])
            key = key.split(".", 2)[-1] if key.startswith("EZ") else f"wrong: {key}"
            reasons[key[4:] if key[:3].isdigit() else key].append(name)
    for reason, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(names):4d} {reason}: {', '.join(names)}")
    failed = sum(map(len, reasons.values()))
    print(f"{len(CASES) - failed} of {len(CASES)} cases are good")


if "--report" in sys.argv:
    report()
else:
    common.main()
