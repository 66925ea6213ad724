# SPDX-License-Identifier: Apache-2.0
"""torch_mlu itself: cards, streams, events, memory, random numbers, mixed precision, the names of CATCH, migration from cuda."""

import copy
import functools
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch_mlu.core.mlu_model as ct
from torch import nn
from torch.nn import functional as F

import common

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "mlu" / "resnet50_imagenet.py"
PICTURES = Path(__file__).resolve().parents[3] / "examples" / "pytorch" / "pictures.py"


def region_by_points(x, region, scale, cells, samples, aligned):
    """Means of bilinear samples in the cells of a region (image, x1, y1, x2, y2) that lies inside of x."""
    begin, end = region[1:3].flip(0) * scale - aligned / 2, region[3:].flip(0) * scale - aligned / 2  # y, x
    points = []
    for axis in range(2):
        length = end[axis] - begin[axis] if aligned else (end[axis] - begin[axis]).clamp(min=1)
        each = samples if samples > 0 else max(int((length / cells[axis]).ceil()), 1)
        at = begin[axis] + (torch.arange(cells[axis] * each) + 0.5) * length / (cells[axis] * each)
        points.append(at / (x.shape[2 + axis] - 1) * 2 - 1)
    grid = torch.stack(torch.meshgrid(*points, indexing="ij")[::-1], -1)[None]
    image = int(region[0])
    found = F.grid_sample(x[image:image + 1], grid, padding_mode="border", align_corners=True)
    return F.adaptive_avg_pool2d(found, cells)


class Mlu(common.Case):
    def test_streams_and_events(self):
        first, second = torch.mlu.Stream(), torch.mlu.Stream(priority=-1)
        a = torch.ones(1000, device="mlu")
        first.wait_stream(torch.mlu.current_stream())
        with torch.mlu.stream(first):
            self.assertEqual(torch.mlu.current_stream(), first)
            b = a * 2
            done = first.record_event()
        self.assertEqual(torch.mlu.current_stream(), torch.mlu.default_stream())
        second.wait_event(done)
        with torch.mlu.stream(second):
            c = b + 1
        b.record_stream(second)
        torch.mlu.current_stream().wait_stream(second)
        self.assertEqual(c.sum().item(), 3000)
        begin, end = torch.mlu.Event(enable_timing=True), torch.mlu.Event(enable_timing=True)
        begin.record()
        for _ in range(10):
            a = a * 1
        end.record()
        end.synchronize()
        self.assertGreater(begin.elapsed_time(end), 0.005)  # ten operators cannot take less than 5 us on a card

    def test_memory(self):
        before = torch.mlu.memory_allocated()
        held = torch.empty(3 << 20, device="mlu")
        self.assertEqual(torch.mlu.memory_allocated() - before, 12 << 20)
        del held
        self.assertEqual(torch.mlu.memory_allocated(), before)
        kept = torch.mlu.memory_reserved()
        torch.mlu.empty_cache()
        self.assertLessEqual(torch.mlu.memory_reserved(), kept - (12 << 20))
        self.assertGreaterEqual(torch.mlu.max_memory_allocated(), before + (12 << 20))
        with self.assertRaises(torch.OutOfMemoryError):
            torch.empty(1 << 40, device="mlu")

    def test_memory_is_not_given_again_while_a_stream_uses_it(self):
        side = torch.mlu.Stream()
        big = torch.ones(4 << 20, device="mlu")
        torch.mlu.synchronize()
        with torch.mlu.stream(side):
            total = big
            for _ in range(20):
                total = total * 1
        big.record_stream(side)
        del big
        other = torch.zeros(4 << 20, device="mlu")
        side.synchronize()
        self.assertEqual(total.min().item(), 1)
        self.assertEqual(other.max().item(), 0)

    def test_random_numbers(self):
        torch.mlu.manual_seed(3)
        one, state, two = torch.rand(5, device="mlu"), torch.mlu.get_rng_state(), torch.rand(5, device="mlu")
        torch.mlu.set_rng_state(state)
        self.assertTrue(torch.equal(two, torch.rand(5, device="mlu")))
        torch.manual_seed(3)
        self.assertTrue(torch.equal(one, torch.rand(5, device="mlu")))
        own = torch.Generator("mlu").manual_seed(3)
        self.assertTrue(torch.equal(one, torch.rand(5, device="mlu", generator=own)))
        self.assertFalse(torch.equal(one, two))

    def test_names_of_catch(self):
        ct.set_device(0)
        self.assertEqual(ct.mlu_device(), torch.device("mlu:0"))
        self.assertTrue(torch.is_mlu_available())
        model, criterion = nn.Linear(4, 3).to(ct.mlu_device()).train(), nn.CrossEntropyLoss()
        criterion.mlu()
        loss = criterion(model(torch.ones(2, 4).to("mlu", non_blocking=True)), torch.tensor([0, 1]).mlu())
        self.assertTrue(loss.is_mlu)
        whole = nn.DataParallel(nn.Linear(4, 3)).mlu()
        self.assertEqual(whole(torch.ones(2, 4)).device, torch.device("mlu:0"))

    def test_notifiers_and_queues_of_catch(self):
        from torch_mlu.core.device.notifier import Notifier
        from torch_mlu.core.device.queue import Queue

        begin, end = Notifier(), Notifier()
        begin.place()
        a = torch.ones(1000, device="mlu") * 2
        end.place()
        end.synchronize()
        self.assertTrue(end.query())
        self.assertGreater(begin.hardware_time(end), 0.1)  # microseconds
        self.assertAlmostEqual(begin.hardware_time(end), begin.elapsed_time(end) * 1000, places=3)
        queue = Queue()
        with queue:
            self.assertEqual(ct.current_stream(), queue.stream)
            end.wait()
            b = a + 1
        queue.synchronize()
        self.assertNotEqual(ct.current_stream(), queue.stream)
        self.assertEqual(b.sum().item(), 3000)

    def test_mixed_precision_by_its_first_name(self):
        from torch.cuda import amp

        scaler = amp.GradScaler(enabled=True)
        self.assertTrue(scaler.is_enabled())
        with amp.autocast(enabled=True):
            self.assertEqual((torch.ones(2, 2, device="mlu") @ torch.ones(2, 2, device="mlu")).dtype, torch.float16)
        with amp.autocast(enabled=False):
            self.assertEqual((torch.ones(2, 2, device="mlu") @ torch.ones(2, 2, device="mlu")).dtype, torch.float32)

    def test_optimizers_take_lists(self):
        for name in ("add_.List", "mul_.Scalar", "sqrt", "addcmul_.Scalar", "addcdiv_.ScalarList"):
            self.assertTrue(torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::_foreach_{name}", "PrivateUse1"), name)
        for make in (functools.partial(torch.optim.SGD, lr=0.1, momentum=0.9, weight_decay=1e-3), functools.partial(torch.optim.Adam, lr=0.01),
                     functools.partial(torch.optim.AdamW, lr=0.01), functools.partial(torch.optim.RMSprop, lr=0.01)):
            # A list of one type, then one with a half: torch takes that tensor by tensor.
            for types in ((torch.float32,) * 3, (torch.float32, torch.float16, torch.float32)):
                host = [nn.Parameter(torch.randn(3, 5).to(dtype)) for dtype in types]
                card = [nn.Parameter(p.detach().mlu()) for p in host]
                steps = [make(host), make(card)]
                for _ in range(3):
                    for a, b in zip(host, card):
                        a.grad = torch.randn(3, 5).to(a.dtype)
                        b.grad = a.grad.mlu()
                    for step in steps:
                        step.step()
                for a, b in zip(host, card):
                    self.expect_close(b.detach().cpu(), a.detach(), rtol=2e-3 if a.dtype == torch.float16 else 1e-5, atol=1e-3)

    def test_results_whose_size_depends_on_data(self):
        x = torch.randn(4, 6)
        mask = x > 0
        a = x.mlu()
        self.assertTrue(torch.equal(a[mask.mlu()].cpu(), x[mask]))
        self.assertTrue(torch.equal(mask.mlu().nonzero().cpu(), mask.nonzero()))
        self.assertEqual(torch.zeros(0, 3, device="mlu").nonzero().shape, (0, 2))
        self.assertEqual(torch.tensor(5, device="mlu").nonzero().shape, (1, 0))
        self.assertEqual(torch.zeros(3, device="mlu").masked_select(torch.zeros(3, dtype=torch.bool, device="mlu")).shape, (0,))
        numbers = torch.tensor([[3, 1], [1, 3], [3, 1]])
        for dim in (None, 0):
            for got, wanted in zip(numbers.mlu().unique(return_inverse=True, return_counts=True, dim=dim),
                                   numbers.unique(return_inverse=True, return_counts=True, dim=dim)):
                self.assertTrue(torch.equal(got.cpu(), wanted))
        with self.assertRaisesRegex(RuntimeError, "more truths"):
            a.masked_scatter_(torch.ones(4, 6, dtype=torch.bool, device="mlu"), torch.ones(3, device="mlu"))
        with self.assertRaises(IndexError):
            torch.empty(0, 3, device="mlu").median(0)

    def test_results_of_another_shape_are_fitted(self):
        x, index, source = torch.ones(3), torch.tensor([0, 1]), torch.full((2,), 3.0)
        for reduce in ("sum", "amax", "prod"):  # on the card, on the card, on the host
            got = torch.empty(0, device="mlu")
            torch.scatter_reduce(x.mlu(), 0, index.mlu(), source.mlu(), reduce, out=got)
            self.assertTrue(torch.equal(got.cpu(), x.scatter_reduce(0, index, source, reduce)), reduce)
        with self.assertRaisesRegex(RuntimeError, "does not fit"):
            nn.functional.unfold(torch.zeros(1, 1, 2, 2, device="mlu"), 3, stride=2)

    def test_boxes(self):
        from torchvision import ops

        torch.manual_seed(3)
        corner, scores, kinds = torch.rand(40, 2) * 16, torch.rand(40) - 0.5, torch.arange(40) % 3
        boxes = torch.cat([corner, corner + 1 + torch.rand(40, 2) * 6], 1)
        for overlap in (0.1, 0.5):
            self.assertTrue(torch.equal(ops.nms(boxes.mlu(), scores.mlu(), overlap).cpu(), ops.nms(boxes, scores, overlap)))
        got = ops.batched_nms(boxes.mlu(), scores.mlu(), kinds.mlu(), 0.3).cpu()
        self.assertTrue(torch.equal(got, ops.batched_nms(boxes, scores, kinds, 0.3)))
        self.assertEqual(ops.nms(boxes[:0].mlu(), scores[:0].mlu(), 0.5).numel(), 0)
        picture, table = torch.randn(2, 3, 9, 9), torch.cat([torch.tensor([[0.0]] * 4 + [[1.0]] * 2), boxes[:6].clamp(max=17)], 1)
        if not hasattr(torch.ops.torchvision, "roi_align"):  # torchvision's wheel without its compiled part
            schemas = torch.library.Library("torchvision", "FRAGMENT")
            cells = "Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
            schemas.define(f"roi_align(Tensor input, {cells}, int sampling_ratio, bool aligned) -> Tensor")
            schemas.define(f"_roi_align_backward(Tensor grad, {cells}, SymInt batch_size, SymInt channels, SymInt height, SymInt width, "
                           "int sampling_ratio, bool aligned) -> Tensor")
        for samples, aligned in ((2, False), (-1, True)):
            x = picture.clone().requires_grad_()
            want = torch.cat([region_by_points(x, region, 0.5, (3, 2), samples, aligned) for region in table])
            diff = torch.arange(want.numel(), dtype=torch.float).view_as(want)
            want.backward(diff)
            got = torch.ops.torchvision.roi_align(picture.mlu(), table.mlu(), 0.5, 3, 2, samples, aligned)
            self.assertTrue(torch.allclose(got.cpu(), want.detach(), atol=1e-5))
            got = torch.ops.torchvision._roi_align_backward(diff.mlu(), table.mlu(), 0.5, 3, 2, 2, 3, 9, 9, samples, aligned)
            self.assertTrue(torch.allclose(got.cpu(), x.grad, atol=1e-3))
        with self.assertRaisesRegex(RuntimeError, "rows of 4 numbers"):
            ops.nms(boxes[:, :3].mlu(), scores.mlu(), 0.5)

    def test_files(self):
        with tempfile.TemporaryDirectory() as place:
            torch.save({"w": torch.arange(3.0).mlu()}, f"{place}/x.pt")
            self.assertEqual(torch.load(f"{place}/x.pt")["w"].device.type, "mlu")
            self.assertEqual(torch.load(f"{place}/x.pt", map_location="cpu")["w"].tolist(), [0, 1, 2])
        self.assertEqual(copy.deepcopy(nn.Linear(2, 2).mlu()).weight.device.type, "mlu")

    def test_mistakes(self):
        with self.assertRaisesRegex(RuntimeError, "there is no card 5"):
            torch.mlu.set_device(5)
        with self.assertRaisesRegex(RuntimeError, "no device of this number"):
            torch.ones(2, device="mlu:7")
        with self.assertRaisesRegex(RuntimeError, "same device"):
            torch.ones(2, device="mlu") + torch.ones(2)
        with self.assertRaisesRegex(RuntimeError, "complex numbers"):
            torch.ones(2, dtype=torch.complex64).mlu()
        with self.assertRaises(RuntimeError):
            torch.ones(2, 3, device="mlu") @ torch.ones(2, 3, device="mlu")

    def test_autocast_and_scaler(self):
        model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4)).mlu()
        x = torch.randn(5, 8).mlu()
        with torch.mlu.amp.autocast(True):
            self.assertEqual(model(x).dtype, torch.float16)
            self.assertEqual(F.softmax(model(x), 1).dtype, torch.float32)
        with torch.mlu.amp.autocast(False):
            self.assertEqual(model(x).dtype, torch.float32)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        scaler = torch.mlu.amp.GradScaler(init_scale=1024.0, growth_interval=2)
        scales = []
        for step in range(4):
            optimizer.zero_grad()
            with torch.mlu.amp.autocast():
                loss = F.mse_loss(model(x).float(), torch.zeros(5, 4).mlu())
            before = model[0].weight.detach().clone()
            scaler.scale(loss * (float("inf") if step == 2 else 1)).backward()
            scaler.step(optimizer)
            scaler.update()
            scales.append(scaler.get_scale())
            self.assertEqual(torch.equal(before, model[0].weight), step == 2, "an overflow skips the step, and it alone")
        self.assertEqual(scales, [1024, 2048, 1024, 1024])

    def test_migration(self):
        script = """
import torch, torch_mlu.utils.gpu_migration
from torch import nn
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 2).to(device)
x = torch.ones(4, 3, device="cuda").cuda()
scaler = torch.cuda.amp.GradScaler()
with torch.cuda.amp.autocast():
    y = model(x)
    loss = y.sum()
scaler.scale(loss).backward()
torch.cuda.synchronize()
assert torch.zeros(2).to("cuda").is_cuda and model.weight.grad.device.type == "mlu" and y.dtype == torch.float16
print("good", torch.cuda.device_count(), device)
"""
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=200)
        self.assertEqual(done.stdout.split()[:1], ["good"], done.stderr[-2000:])

    def test_example(self):
        with tempfile.TemporaryDirectory() as place:
            subprocess.run([sys.executable, PICTURES, f"{place}/pictures", "--size", "32", "--train", "8", "--val", "4"], check=True)
            run = [sys.executable, "-W", "ignore", EXAMPLE, "--gpu", "0", "--arch", "resnet18", "--size", "32", "--batch-size", "8", "--pyamp"]
            first = subprocess.run([*run, "--epoch", "2", "pictures"], cwd=place, capture_output=True, text=True, check=False, timeout=300)
            self.assertEqual(first.returncode, 0, first.stderr[-2000:])
            self.assertIn("=> creating model 'resnet18'\nUse GPU: 0 for training", first.stdout)
            self.assertRegex(first.stdout, r"Epoch: \[1\]\[4/4\]  Time .* Loss .* Acc@1 .* Acc@5 ")
            resumed = subprocess.run([*run, "--evaluate", "--resume", "checkpoint.pth.tar", "pictures"], cwd=place, capture_output=True, text=True,
                                     check=False, timeout=300)
            self.assertIn("(epoch 2)", resumed.stdout, resumed.stderr[-2000:])
            self.assertEqual(resumed.stdout.splitlines()[-1], first.stdout.splitlines()[-1])  # the accuracy after the last epoch


common.main()
