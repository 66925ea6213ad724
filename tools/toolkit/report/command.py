# SPDX-License-Identifier: Apache-2.0
"""What leo report and leo diff have in common as commands."""

import argparse
import os
import sys

from raw import Error


class Parser(argparse.ArgumentParser):
    """One whose help must arrive: the library's takes a full disk for success."""

    def _print_message(self, message, file=None):
        (file or sys.stderr).write(message)


def run(name, main):
    """Calls main; the exit code is 1, with a line on standard error, if it cannot do its work or its output is lost."""
    try:
        try:
            main()
        finally:
            sys.stdout.flush()
    except (Error, OSError) as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        # What is left in the buffer would be tried again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
