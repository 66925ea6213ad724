# SPDX-License-Identifier: Apache-2.0
"""apex.amp: mixed precision by levels O0 to O3 with static or dynamic loss scale."""

from .casts import disable_casts, float_function, half_function, promote_function
from .casts import register_float_function, register_half_function, register_promote_function
from .frontend import initialize, load_state_dict, master_params, scale_loss, state_dict

__all__ = ["disable_casts", "float_function", "half_function", "initialize", "load_state_dict", "master_params",
           "promote_function", "register_float_function", "register_half_function", "register_promote_function",
           "scale_loss", "state_dict"]
