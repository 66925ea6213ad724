# SPDX-License-Identifier: Apache-2.0
"""Names of CATCH, the adapter before torch_mlu: torch_mlu.core.set_device, torch_mlu.core.mlu_model."""
from .mlu_model import device_count, is_mlu_available, mlu_device, set_device  # noqa: F401
