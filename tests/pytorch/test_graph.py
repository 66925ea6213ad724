# SPDX-License-Identifier: Apache-2.0
"""torch.npu.NPUGraph: captured work is repeated with new values in the same memory."""

import unittest

import torch

import common
from common import DEVICE


@unittest.skipUnless(common.HAS_BF16, "torch_npu captures from the 910B on")
class Graph(common.Case):
    def test_capture_and_replay(self):
        x = torch.zeros(100, device=DEVICE)
        y = x * 2 + 1  # operators are loaded before the capture
        torch.npu.synchronize()
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            y = x * 2 + 1
        for value in (3.0, -1.5):
            x.fill_(value)
            graph.replay()
            torch.npu.synchronize()
            self.assertEqual(set(y.cpu().tolist()), {value * 2 + 1})


common.main()
