#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""idioms.py [ROOT]: one way to go on after an error: return, or `if (status == LEO_OK) {`; two results are one by
leo_status_first. A chain of `status = status != LEO_OK ? status : f()` hides in each line that nothing may be done.
And one word for one idea in names (WORDS) and in comments (SAID).
"""

import re
import sys

import tree

CHAIN = re.compile(r"\b(status|error|code|result) =\s+(?:\1 (?:!= \w+ )?\?\s+\1\s+:|\1 == LEO_OK \?[^;]*:\s+\1;)")
# What names must not have, and the word of the field that stands for it.
WORDS = {
    r"\b(?:\w*MOST_[A-Z0-9_]+|[A-Z0-9_]+_MOST)\b": "MAX",
    r"\b(?:front|FRONT)_[A-Za-z]\w*": "api_ (runtime/api_common)",
    r"\b(?:rt|sim|coll)_(?:lead|led|background|spin|lazy|litter|meeting)\w*": "run_ahead, poll_loop, deferred, shm_cleanup, bootstrap",
    r"(?:->|\.)(?:lead|led)\b": "run_ahead, early",
    r"\b\w*(?:rescue|RESCUE)\w*": "fallback",
}
# What comments must not have: people are told of things, things are not told.
SAID = {r"\b(?:fault|failure|error|finding|mistake|warning|name|handle|size|frame|file|call|row|time|line)s? (?:is|are|was) told\b(?! (?:to|of|that|what|apart))": "reported, given"}


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    violations = []
    for path in tree.files(root, ".c", ".h", ".cpp"):
        whole = tree.read(root, path)
        text = tree.without_comments(whole)
        for match in CHAIN.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            violations.append(f"{path}:{line}: {match.group(1)} = {match.group(1)} ? ... : return, or ask before the call")
        for word, better in [*WORDS.items(), *SAID.items()]:
            among = whole if word in SAID else text
            for match in re.finditer(word, among):
                line = among.count("\n", 0, match.start()) + 1
                violations.append(f"{path}:{line}: {match.group(0)}: the word here is {better}")
    tree.finish("idioms", violations)


main()
