# SPDX-License-Identifier: Apache-2.0
"""Networks trained some steps: the loss curve is that of the CPU in float32."""

import copy
import functools

import torch

import common
import models
import yolo

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

    def test_diffusion(self):
        for half in (None, torch.float16):
            self.expect_same_training(*models.diffusion(), ADAMW, half=half)

    def test_graph_attention(self):
        for half in (None, torch.float16):
            self.expect_same_training(*models.graph(), functools.partial(torch.optim.RAdam, lr=5e-3), half=half)

    def test_policy(self):
        for half in (None, torch.float16):
            self.expect_same_training(*models.policy(), torch.optim.Adadelta, half=half)

    def test_yolo(self):
        # Its third step multiplies what convolutions round away by a hundred; the 910B can have them in full f32.
        with common.full_float():
            self.expect_same_training(*yolo.yolo(), SGD, rtol=1e-4 if common.HAS_BF16 else 3e-2)

    def test_suppression_keeps_the_boxes_the_cpu_keeps(self):
        centres = 200 * torch.rand(6, 1, 2) + 4 * torch.randn(6, 10, 2)
        half = 20 + 4 * torch.rand(6, 10, 2)
        boxes, scores = torch.cat((centres - half, centres + half), -1).view(-1, 4), torch.rand(60)
        want = yolo.keep_best(boxes, scores, 0.5)
        self.assertTrue(5 < len(want) < 40)
        got = yolo.keep_best(boxes.to(common.DEVICE), scores.to(common.DEVICE), 0.5)
        self.assertEqual(got.tolist(), want.tolist())

    def test_yolo_detects_what_the_cpu_detects(self):
        model = yolo.Yolo().eval()
        images = torch.rand(2, 3, 64, 64)
        with torch.no_grad():
            for head in model.heads:
                # Untrained heads give all boxes nearly the same score.
                head.weight.mul_(20)
            want = yolo.detect(model, images)
            got = yolo.detect(copy.deepcopy(model).to(common.DEVICE), images.to(common.DEVICE))
        for (boxes, scores), (on_device, likely) in zip(want, got):
            # Scores that are nearly the same may change places, so a box more or less may stay.
            self.assertAlmostEqual(len(boxes), len(on_device), delta=2)
            self.expect_close(likely[0], scores[0], rtol=1e-2, atol=1e-2)
            best = yolo.overlap(on_device.cpu()[:, None], boxes[None]).amax(1)
            self.assertGreater((best > 0.95).float().mean(), 0.85)

    def test_gpt_of_ten_million_parameters(self):
        model, batches, loss = models.gpt(steps=2, vocabulary=4096, tokens=64, width=320, heads=8, layers=7, batch=1)
        self.assertGreater(sum(p.numel() for p in model.parameters()), 9_900_000)
        self.expect_same_training(model, batches, loss, ADAMW)

    def test_training_repeats_bit_for_bit(self):
        runs = []
        for _ in range(2):
            common.seed(5)
            model, batches, loss = models.lenet(3)
            runs.append(common.train(model, batches, loss, SGD, common.DEVICE))
        self.assertEqual(runs[0], runs[1])


common.main()
