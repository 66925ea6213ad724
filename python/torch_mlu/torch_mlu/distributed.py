# SPDX-License-Identifier: Apache-2.0
"""The backend 'cncl' of torch.distributed."""
