# SPDX-License-Identifier: Apache-2.0
"""The fused optimisers under the names apex gives them: torch_npu's own."""

from torch_npu.optim import NpuFusedAdadelta, NpuFusedAdam, NpuFusedAdamP, NpuFusedBertAdam, NpuFusedLamb, NpuFusedRMSprop
from torch_npu.optim import NpuFusedRMSpropTF, NpuFusedSGD

__all__ = ["NpuFusedAdadelta", "NpuFusedAdam", "NpuFusedAdamP", "NpuFusedBertAdam", "NpuFusedLamb", "NpuFusedRMSprop",
           "NpuFusedRMSpropTF", "NpuFusedSGD"]
