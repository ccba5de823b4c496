# SPDX-License-Identifier: MIT
"""till.py - a program in Python whose log goes to LTTng-UST, for docs/recipes-ust.md"""

import logging

import lttngust  # noqa: F401, sends the log to LTTng-UST

log = logging.getLogger("till")


def price(item):
    log.warning("%s: %d", item, 100 * len(item))
    return 100 * len(item)


def sell(items):
    return sum(price(item) for item in items)


sell(["tea", "coffee", "cocoa"])
