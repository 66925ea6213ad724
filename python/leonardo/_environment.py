# SPDX-License-Identifier: Apache-2.0
"""What set_env.sh does, for a Python that starts: run by leonardo.pth. What the user has set stays."""

import os
import sys


def home():
    """The folder cann of this package."""
    return os.path.join(os.path.dirname(os.path.realpath(__file__)), "cann")


def prepare(environment=os.environ):
    folder = home()
    if "ASCEND_HOME_PATH" in environment or not os.path.isdir(folder):
        return
    environment["ASCEND_HOME_PATH"] = environment["ASCEND_TOOLKIT_HOME"] = folder
    environment["ASCEND_OPP_PATH"] = os.path.join(folder, "opp")
    environment["ASCEND_AICPU_PATH"] = folder
    # msprof; at the end, so that the user's own commands stay theirs.
    environment["PATH"] = os.pathsep.join(
        [environment.get("PATH", os.defpath), os.path.join(folder, "tools", "profiler", "bin"),
         os.path.join(folder, "bin")])
    # Packages of ours that scripts import (apex), behind what is installed.
    sys.path.append(os.path.join(folder, "python", "site-packages"))


prepare()
