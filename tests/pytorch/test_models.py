# SPDX-License-Identifier: Apache-2.0
"""Networks trained some steps: the loss curve is that of the CPU in float32."""

import functools

import torch

import common
import models

SGD = functools.partial(torch.optim.SGD, lr=0.05, momentum=0.9, weight_decay=1e-4)
ADAMW = functools.partial(torch.optim.AdamW, lr=1e-3)


class Models(common.Case):
    def test_lenet(self):
        self.expect_same_training(*models.lenet(), SGD)

    def test_gpt(self):
        self.expect_same_training(*models.gpt(), ADAMW)

    def test_bert_block(self):
        self.expect_same_training(*models.bert(), ADAMW)

    def test_lstm(self):
        self.expect_same_training(*models.lstm(), ADAMW)

    def test_unet(self):
        self.expect_same_training(*models.unet(), ADAMW)

    def test_training_repeats_bit_for_bit(self):
        runs = []
        for _ in range(2):
            common.seed(5)
            model, batches, loss = models.lenet(3)
            runs.append(common.train(model, batches, loss, SGD, common.DEVICE))
        self.assertEqual(runs[0], runs[1])


common.main()
