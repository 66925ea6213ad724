# SPDX-License-Identifier: Apache-2.0
"""hccl: programs such as MindSpore look here for the version of the collectives' library, which is libhccl."""
