# SPDX-License-Identifier: Apache-2.0
"""Operators of detection networks and others that torch_npu calls by type name, beside plain PyTorch on the CPU or beside numbers
that the adapter's own tests have for a card."""

import unittest

import torch
import torch_npu
from torch.nn import functional


def corners(box):
    return box[0] - box[2] / 2, box[1] - box[3] / 2, box[0] + box[2] / 2, box[1] + box[3] / 2


def giou(one, other):
    a, b = corners(one), corners(other)
    common = (torch.min(a[2], b[2]) - torch.max(a[0], b[0])).clamp(0) * (torch.min(a[3], b[3]) - torch.max(a[1], b[1])).clamp(0)
    both = one[2] * one[3] + other[2] * other[3] - common
    outer = (torch.max(a[2], b[2]) - torch.min(a[0], b[0])) * (torch.max(a[3], b[3]) - torch.min(a[1], b[1]))
    return common / both - (outer - both) / outer


def distance(one, other):
    """The centres', by the diagonal of what holds both boxes, squared."""
    a, b = corners(one), corners(other)
    diagonal = (torch.max(a[2], b[2]) - torch.min(a[0], b[0])) ** 2 + (torch.max(a[3], b[3]) - torch.min(a[1], b[1])) ** 2
    return ((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2) / diagonal


def diou(one, other):
    a, b = corners(one), corners(other)
    common = (torch.min(a[2], b[2]) - torch.max(a[0], b[0])).clamp(0) * (torch.min(a[3], b[3]) - torch.max(a[1], b[1])).clamp(0)
    return common / (one[2] * one[3] + other[2] * other[3] - common) - distance(one, other)


def boxes(count):
    return torch.cat([torch.rand(2, count), 0.5 + torch.rand(2, count)])


class Named(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def near(self, got, want, tol=1e-4):
        want = torch.as_tensor(want)
        self.assertTrue(torch.allclose(got.detach().cpu().float(), want.detach().float(), rtol=tol, atol=tol), f"{got}, expected {want}")

    def pair(self, *tensors):
        """Leaves of the same values on the CPU and on the card."""
        return ([tensor.clone().requires_grad_() for tensor in tensors],
                [tensor.clone().npu().requires_grad_() for tensor in tensors])

    def same_gradients(self, on_cpu, on_card, want, got, tol=1e-4):
        self.near(got, want, tol)
        weight = torch.rand(want.shape)
        (want * weight).sum().backward()
        (got.float() * weight.npu()).sum().backward()
        for here, there in zip(on_cpu, on_card):
            self.near(there.grad, here.grad, tol)


class Unions(Named):
    def test_giou(self):
        cpu, card = self.pair(boxes(20), boxes(20))
        self.same_gradients(cpu, card, giou(*cpu), torch_npu.npu_giou(*card, trans=True, is_cross=False, mode=0)[:, 0])

    def test_diou(self):
        cpu, card = self.pair(boxes(20), boxes(20))
        self.same_gradients(cpu, card, diou(*cpu), torch_npu.npu_diou(*card, trans=True, is_cross=False, mode=0)[0])

    def test_ciou(self):
        cpu, card = self.pair(boxes(20), boxes(20))
        apart = (torch.atan(cpu[1][2] / cpu[1][3]) - torch.atan(cpu[0][2] / cpu[0][3])) * 2 / torch.pi
        share = diou(*cpu) + distance(*cpu)
        weight = (apart**2 / (1 - share + apart**2)).detach()
        got = torch_npu.npu_ciou(*card, trans=True, is_cross=False, mode=0, atan_sub_flag=True)[0]
        self.same_gradients(cpu, card, diou(*cpu) - weight * apart**2, got)

    def test_iou_of_halves(self):
        one = torch.tensor([[0, 0, 10, 10], [10, 10, 20, 20]]).half().npu()
        other = torch.tensor([[0, 0, 10, 20], [10, 10, 20, 20]]).half().npu()
        self.near(torch_npu.npu_iou(one, other, 0), [[0.4985, 0], [0, 0.9961]], 1e-3)
        self.near(torch_npu.npu_iou(one, other, 1), [[0.4990, 0], [0, 0.9980]], 1e-3)


class Boxes(Named):
    def test_told_by_distance(self):
        one = torch.tensor([[1.0, 2, 3, 4], [3, 4, 5, 6]]).npu()
        other = torch.tensor([[5.0, 6, 7, 8], [7, 8, 9, 6]]).npu()
        got = torch_npu.npu_bounding_box_encode(one, other, 0, 0, 0, 0, 0.1, 0.1, 0.2, 0.2)
        self.near(got[:, :3], [[13.3281, 13.3281, 0], [13.3281, 6.6641, 0]])
        got = torch_npu.npu_bounding_box_decode(one, other, 0, 0, 0, 0, 1, 1, 1, 1, (10, 10), 0.1)
        self.near(got, [[2.5, 6.5, 9, 9], [9, 9, 9, 9]])

    def test_told_by_cells(self):
        torch.manual_seed(1234)
        one, other = torch.rand(2, 4).npu(), torch.rand(2, 4).npu()
        got = torch_npu.npu_yolo_boxes_encode(one, other, torch.tensor([2, 2], dtype=torch.int32).npu(), False)
        self.near(got, [[0.7921727, 0.5314963, -0.74224466, -13.815511], [0.7360072, 0.58343244, 4.3334002, -0.51378196]])

    def test_turned(self):
        one = torch.tensor([32.1855, 41.9922, 64.1435, 62.5325, 34.607]).reshape(1, 5, 1).npu()
        deltas = torch.tensor([1.8725, -1.8915, 0.2395, -0.4622, -34.6539]).reshape(1, 5, 1).npu()
        got = torch_npu.npu_rotated_box_decode(one, deltas, torch.ones(5).npu())
        self.near(got.flatten(), [87.70366, 6.9412346, 128.31055, 19.879467, -88.313515])

    def test_suppression(self):
        rows = torch.tensor([[0, 0, 2, 2, 0.6], [0, 0, 2, 1.8, 0.9], [6, 7, 8, 9, 0.4]]).npu()
        chosen, number, mask = torch_npu.npu_nms_with_mask(rows, 0.5)
        self.near(chosen, rows.cpu())
        self.assertEqual((number.tolist(), mask.tolist()), ([0, 1, 2], [0, 1, 1]))
        best, scores, classes, count = torch_npu.npu_batch_nms(rows[None, :, None, :4], rows[None, :, 4:], 0.3, 0.5, 4, 4)
        self.assertEqual((count.tolist(), classes.tolist()), ([2], [[0, 0, 0, 0]]))
        self.near(scores, [[0.9, 0.4, 0, 0]])
        self.near(best[0, :2], rows[[1, 2], :4].cpu())

    def test_places(self):
        got = torch_npu.npu_anchor_response_flags(torch.tensor([[1.0, 1, 4, 3], [5, 5, 6, 6]]).npu(), [3, 4], [2, 2], 2)
        want = torch.zeros(3, 4, 2)
        want[1, 1] = want[2, 2] = 1
        self.near(got, want.flatten())

    def test_places_are_given(self):
        torch.manual_seed(1234)
        assigned, overlaps = torch.rand(4).npu(), torch.rand(2, 4).npu()
        flags, most = torch.tensor([1, 1, 1, 0], dtype=torch.uint8).npu(), torch.rand(4).npu()
        arg, of_box = torch.tensor([1, 0, 1, 0], dtype=torch.int32).npu(), torch.rand(2).npu()
        at = torch.tensor([1, 0], dtype=torch.int32).npu()
        got = torch_npu.npu_grid_assign_positive(assigned, overlaps, flags, most, arg, of_box, at, 128, 0.5, 0.0, True)
        self.near(got, [2, 1, 0.25984418, 0.36664134])


class Layers(Named):
    def test_deformable_convolution_without_offsets(self):
        image, weight = torch.randn(2, 32, 6, 7), torch.randn(32, 32, 3, 3) / 16
        offsets = torch.cat([torch.zeros(2, 18, 6, 7), torch.ones(2, 9, 6, 7)], 1)
        cpu, card = self.pair(image, weight)
        shape = {"kernel_size": [3, 3], "stride": [1, 1, 1, 1], "padding": [1, 1, 1, 1], "dilation": [1, 1, 1, 1]}
        got = torch_npu.npu_deformable_conv2d(card[0], card[1], offsets.npu(), None, groups=1, deformable_groups=1, **shape)[0]
        self.same_gradients(cpu, card, functional.conv2d(*cpu, padding=1), got, 2e-2)

    def test_gated_recurrent_unit(self):
        features, hidden = 10, 6
        shapes = ((3, 2, features), (features, 3 * hidden), (hidden, 3 * hidden), (3 * hidden,), (3 * hidden,), (1, 2, hidden))
        x, wx, wh, bx, bh, first = (torch.rand(shape).half() - 0.5 for shape in shapes)
        unit = torch.nn.GRU(features, hidden)
        with torch.no_grad():
            for to, value in zip(unit.parameters(), (wx.t(), wh.t(), bx, bh)):
                to.copy_(value)
        cpu, card = self.pair(x)
        weights = [torch_npu.npu_format_cast(weight.npu(), 4) for weight in (wx, wh)]
        lengths = torch.tensor([3, 3], dtype=torch.int32).npu()
        got = torch_npu.npu_gru(card[0], first.npu(), *weights, bx.npu(), bh.npu(), lengths, has_biases=True, num_layers=1, dropout=0.0,
                                train=False, bidirectional=False, batch_first=False)[0]
        self.same_gradients(cpu, card, unit(cpu[0].float(), first.float())[0], got, 5e-3)

    def test_rotation(self):
        cpu, card = self.pair(torch.rand(2, 2, 5, 128), torch.rand(1, 2, 1, 128), torch.rand(1, 2, 1, 128))
        low, high = cpu[0].chunk(2, -1)
        want = cpu[1] * cpu[0] + cpu[2] * torch.cat((-high, low), -1)
        self.same_gradients(cpu, card, want, torch_npu.npu_rotary_mul(*card))

    def test_attention_of_several_heads(self):
        heads, size, steps = 16, 16, 16
        width = heads * size
        rows, weights, biases = ([torch.randn(shape).half() / 16 for _ in range(count)]
                                 for shape, count in (((steps, width), 3), ((width, width), 4), ((width,), 4)))
        cpu, card = self.pair(*rows, *weights, *biases)
        mask = torch.randn(1, heads, steps, steps).half()
        q, k, v = (functional.linear(cpu[i].float(), cpu[3 + i].float(), cpu[7 + i].float()).reshape(steps, heads, size).transpose(0, 1)
                   for i in range(3))
        context = torch.softmax(q @ k.transpose(1, 2) / size**0.5 + mask[0].float(), -1) @ v
        want = functional.linear(context.transpose(0, 1).reshape(steps, width), cpu[6].float(), cpu[10].float())
        got = torch_npu.npu_multi_head_attention(*card[:6], mask.npu(), card[6], *card[7:], None, heads, size, steps, steps, 0.0, True)[0]
        self.same_gradients(cpu, card, want, got, 5e-3)

    def test_activation(self):
        cpu, card = self.pair(torch.randn(5, 7))
        self.same_gradients(cpu, card, functional.silu(cpu[0]), torch_npu.npu_silu(card[0]))

    def test_turned_shape(self):
        cpu, card = self.pair(torch.rand(2, 3, 4, 6))
        got = torch_npu.npu_confusion_transpose(card[0], (0, 2, 1, 3), (2, 4, 18), True)
        self.same_gradients(cpu, card, cpu[0].permute(0, 2, 1, 3).reshape(2, 4, 18), got)

    def test_one_hot(self):
        self.near(torch_npu.npu_one_hot(torch.tensor([1, 2, 0]).npu(), depth=4), functional.one_hot(torch.tensor([1, 2, 0]), 4))

    def test_strided_sum(self):
        got = torch_npu.npu_stride_add(torch.full((1, 1, 1, 1), 2.0).npu(), torch.full((1, 1, 1, 1), 3.0).npu(), 0, 0, 1)
        self.near(got.flatten(), [5.0] + [0.0] * 15)


if __name__ == "__main__":
    unittest.main()
