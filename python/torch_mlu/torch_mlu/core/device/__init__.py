# SPDX-License-Identifier: Apache-2.0
"""Names of CATCH for cards, queues and notifiers."""
