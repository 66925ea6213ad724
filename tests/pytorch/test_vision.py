# SPDX-License-Identifier: Apache-2.0
"""torchvision's networks trained some steps on small pictures: the loss curve is that of the CPU in float32. Dropout is off,
since each device draws its own random numbers.

Batch norms over the few values that small pictures leave make some of these networks unstable: float32 and float64 on the CPU
part by a percent within three steps. So the bound is what a change of the first weights in the last digit of the device's
multiplier does to the losses on the CPU, and at least BOUND."""

import copy
import functools

import torch
import torchvision

import common
import models

SGD = functools.partial(torch.optim.SGD, lr=1e-3, momentum=0.9, weight_decay=1e-4)
# The first 910 multiplies in half.
DIGIT = 2.0**-24 if common.HAS_BF16 else 2.0**-11
BOUND = 1e-3 if common.HAS_BF16 else 1e-2


class Vision(common.Case):
    def train(self, name, size, steps=3, batch=8, **options):
        model = getattr(torchvision.models, name)(num_classes=10, **options)
        batches = models.pictures(steps, batch, 3, size)
        on_cpu = torch.tensor(common.train(copy.deepcopy(model), batches, models.classify, SGD, "cpu"))
        bound = torch.full((steps,), BOUND)
        for _ in range(2):
            other = copy.deepcopy(model)
            with torch.no_grad():
                for weight in other.parameters():
                    weight.mul_(1 + DIGIT * torch.randn(weight.shape))
            losses = common.train(other, batches, models.classify, SGD, "cpu")
            bound = torch.maximum(bound, 4 * (torch.tensor(losses) - on_cpu).abs())
        with common.full_float():
            got = torch.tensor(common.train(model, batches, models.classify, SGD, common.DEVICE))
        print(f"  cpu {on_cpu}\n  {common.KIND} {got}\n  bound {bound}", flush=True)
        self.assertTrue(((got - on_cpu).abs() <= bound).all())

    def test_resnet18(self):
        self.train("resnet18", 64)

    def test_resnet50(self):
        self.train("resnet50", 64)

    def test_mobilenet_v2(self):
        self.train("mobilenet_v2", 64, dropout=0.0)

    def test_alexnet(self):
        self.train("alexnet", 64, dropout=0.0)

    def test_vgg11(self):
        self.train("vgg11", 32, dropout=0.0)


common.main()
