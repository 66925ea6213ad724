# SPDX-License-Identifier: Apache-2.0
"""Leonardo, a DaVinci-class NPU in software. The toolkit is in the folder `home()`; `python -m leonardo` tells more."""

from ._environment import home

__all__ = ["home"]
