# SPDX-License-Identifier: Apache-2.0
"""acl.media: pictures and JPEG. All functions stand in functions.txt."""
