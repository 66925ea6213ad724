# SPDX-License-Identifier: Apache-2.0
"""Quantisation-aware training: prepared, trained on the device with fake quantisation, converted on the CPU."""

import copy
import functools
import warnings

import torch
from torch import nn
from torch.ao import quantization

import common
from common import DEVICE


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        self.conv, self.norm, self.relu = nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU()
        self.pool, self.head = nn.MaxPool2d(4), nn.Linear(6 * 7 * 7, 10)

    def forward(self, x):
        x = self.pool(self.relu(self.norm(self.conv(self.quant(x)))))
        return self.dequant(self.head(torch.flatten(x, 1)))


class Qat(common.Case):
    def test_prepare_train_convert(self):
        warnings.simplefilter("ignore")
        model = Net().train()
        model.qconfig = quantization.QConfig(
            activation=quantization.FakeQuantize.with_args(observer=quantization.MovingAverageMinMaxObserver, quant_min=0,
                                                           quant_max=255, reduce_range=False),
            weight=quantization.default_weight_fake_quant)
        quantization.prepare_qat(model, inplace=True)
        batches = [(torch.randn(8, 1, 28, 28), torch.randint(0, 10, (8,))) for _ in range(4)]
        loss = lambda m, x, t: nn.functional.cross_entropy(m(x), t)
        sgd = functools.partial(torch.optim.SGD, lr=0.05, momentum=0.9)
        wanted = common.train(copy.deepcopy(model), batches, loss, sgd, "cpu")
        trained = copy.deepcopy(model)
        got = common.train(trained, batches, loss, sgd, DEVICE)
        print("  cpu", wanted, "\n  npu", got)
        self.expect_close(torch.tensor(got), torch.tensor(wanted), rtol=2e-2, atol=2e-2)
        # The observers ran on the device.
        observer = trained.conv.activation_post_process.activation_post_process
        self.assertEqual(observer.min_val.device.type, common.KIND)
        converted = quantization.convert(trained.cpu().eval())
        self.assertIn("Quantized", repr(converted.conv))
        self.assertEqual(converted(batches[0][0]).shape, (8, 10))


common.main()
