# SPDX-License-Identifier: Apache-2.0
"""The version of the toolkit."""

from te.version import version as __sys_version__  # noqa: F401
