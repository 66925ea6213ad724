# SPDX-License-Identifier: Apache-2.0
"""python -m leonardo exec train.py: a script on the simulated chip. Any other word is a command of leo."""

import os
import sys

from . import home
from .versions import complaint

HELP = """usage: python -m leonardo exec [--soc NAME|FILE] [--devices N] [--profile DIR] [--] SCRIPT.py|COMMAND [arguments]
       python -m leonardo home
       python -m leonardo COMMAND ...   any other command of leo (smi, run, ...)
"""


def run_leo(arguments):
    program = os.path.join(home(), "bin", "leo")
    try:
        os.execv(program, ["leo", *arguments])
    except OSError as error:
        sys.exit(f"leonardo: cannot run {program}: {error}; is the package complete? (pip install --force-reinstall)")


def leo():
    run_leo(sys.argv[1:])


def first_word(arguments):
    """Index of the command behind exec's own options."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        if arguments[at] == "--":
            return at + 1
        at += 2 if arguments[at] in ("--soc", "--devices", "--profile") else 1
    return at


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(HELP, end="")
        return
    if arguments[0] == "home":
        print(home())
        return
    if arguments[0] == "exec":
        at = 1 + first_word(arguments[1:])
        # A script runs in this Python: that is where its packages are.
        if at < len(arguments) and arguments[at].endswith(".py"):
            wrong = complaint(arguments[at])
            if wrong:
                # Said, not refused: the script may go another way.
                print(f"leonardo: {wrong}", file=sys.stderr)
            arguments.insert(at, sys.executable)
    run_leo(arguments)


if __name__ == "__main__":
    main()
