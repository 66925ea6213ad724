# SPDX-License-Identifier: Apache-2.0
"""torch_mlu.core.device.device: a card inside a with statement."""
from ...mlu import device as Device  # noqa: F401
