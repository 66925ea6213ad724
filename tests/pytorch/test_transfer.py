# SPDX-License-Identifier: Apache-2.0
"""A script written for CUDA runs after one import."""

import copy
import warnings

import torch
import torch_npu

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch_npu.contrib import transfer_to_npu  # noqa: F401

import common
import models


class Transfer(common.Case):
    def test_a_cuda_script_trains(self):
        model, batches, loss_of = models.lenet(3)
        wanted = common.train(copy.deepcopy(model), batches, loss_of, lambda p: torch.optim.SGD(p, lr=0.05), "cpu")
        self.assertTrue(torch.cuda.is_available())
        torch.cuda.set_device(0)
        model = model.cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        got = []
        for images, labels in batches:
            images, labels = images.cuda(non_blocking=True), labels.to("cuda:0")
            optimizer.zero_grad()
            loss = loss_of(model, images, labels)
            loss.backward()
            optimizer.step()
            got.append(loss.item())
        torch.cuda.synchronize()
        self.expect_close(torch.tensor(got), torch.tensor(wanted), rtol=2e-3, atol=2e-3)
        self.assertTrue(images.is_cuda)
        self.assertEqual(images.device.type, "npu")

    def test_names_lead_to_the_device(self):
        x = torch.ones(3, device="cuda")
        self.assertEqual(x.device, torch.device("npu:0"))
        self.assertGreater(torch.cuda.memory_allocated(), 0)
        self.assertEqual(torch.cuda.get_device_name(0), torch.npu.get_device_name(0))
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())  # x is made there
        with torch.cuda.stream(stream):
            y = x + 1
        stream.synchronize()
        self.assertEqual(y.cpu().tolist(), [2, 2, 2])
        with torch.cuda.amp.autocast():
            self.assertEqual((torch.ones(2, 2).cuda() @ torch.ones(2, 2).cuda()).dtype, torch.float16)


common.main()
