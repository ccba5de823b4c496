# SPDX-License-Identifier: MIT
"""
tap.py - print results in the Test Anything Protocol
"""


class Tap:
    """Prints a line for each test. done() prints the plan, returns the status."""

    def __init__(self):
        self.number = self.failed = 0

    def test(self, good, text):
        self.number += 1
        self.failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", self.number, text), flush=True)

    def skip(self, text, reason):
        self.test(True, "%s # SKIP %s" % (text, reason))

    def note(self, text):
        for line in text.splitlines():
            print("# " + line, flush=True)

    def done(self):
        print("1..%d" % self.number, flush=True)
        return 1 if self.failed or not self.number else 0
