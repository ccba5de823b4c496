#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Simulates processors that fork, exec and exit, and wait for global locks.

  locks.py LOCKS TRACE-PLAIN TRACE-REGISTERED SPAWNS PLAIN

LOCKS has lines "NAME ADDRESS". The traces have the calls of the kernel's lock
functions, with the address of the lock and the time in instructions, during SPAWNS
runs of a program. PLAIN is the number of instructions of one run without a registration.

A lock's time is that from its lock function to its unlock function. The probe's
own cost is subtracted: the shortest of all times is that of a few instructions. The
time of a lock that is taken around others includes the probes of these, so it is too long.
Each simulated processor runs programs without a pause; the locks are FIFO, as the
kernel's. Each handover costs TRANSFER instructions in addition, because the lock
and its data move from one processor's cache to another's. Prints unnumbered TAP.
"""
import collections
import heapq
import random
import re
import sys

PROCESSORS = 64
TRANSFER = 200
ROUNDS = 100		# runs of the program on each processor
MOST_WAIT = 0.05	# of the time
EVENT = re.compile(r"-(\d+)\s+\[\d+\] \S+ +(\d+): (_raw_\w+): .*l=0x([0-9a-f]+)")


def held(path, names):
    """The times for which each lock was held: {name: [instructions]}."""
    times = collections.defaultdict(list)
    since = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            event = EVENT.search(line)
            if not event:
                continue
            _, when, function, address = event.groups()
            name = names[int(address, 16)]
            if "unlock" not in function:
                since[name] = int(when)
            elif name in since:
                times[name].append(int(when) - since.pop(name))
    return times


def simulate(work, locks):
    """Returns the share of the time in which the processors wait for the locks.

    @work: instructions of one run; @locks: [(name, number in one run, hold)]
    """
    rng = random.Random(1)
    free = collections.Counter()	# when each lock is free
    queue = []
    waited = ended = 0
    sections = [(name, hold) for name, number, hold in locks for _ in range(number)]
    pause = (work - sum(hold for _, hold in sections)) / (len(sections) + 1)
    for cpu in range(PROCESSORS):
        heapq.heappush(queue, (rng.uniform(0, work), cpu, 0))
    while queue:
        now, cpu, done = heapq.heappop(queue)
        if done == ROUNDS * len(sections):
            ended += now
            continue
        name, hold = sections[done % len(sections)]
        begin = max(now, free[name])
        waited += begin - now
        free[name] = begin + hold + TRANSFER
        again = free[name] + rng.uniform(0, 2 * pause)
        heapq.heappush(queue, (again, cpu, done + 1))
    return waited / ended


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        names = {int(line.split()[1], 16): line.split()[0] for line in file}
    plain, registered = (held(path, names) for path in sys.argv[2:4])
    spawns, work = map(int, sys.argv[4:6])
    own = sorted(name for name in names.values() if name != "tasklist_lock")
    taken = sum(len(plain[name]) for name in own)
    print(f"{'not ok' if taken else 'ok'} - a program that is not registered takes no lock of the module")
    least = min(min(times) for times in registered.values() if times)
    locks = []
    for name in own + ["tasklist_lock"]:
        times = [when - least + 10 for when in registered[name]]
        if not times:
            print(f"# {name}: not taken")
            continue
        number = len(times) / spawns
        hold = sum(times) / len(times)
        locks.append((name, max(1, round(number)), hold))
        print(f"# {name}: {number:.1f} times a run, {hold:.0f} instructions on average, at most {max(times)}")
    locks = [lock for lock in locks if lock[0] != "tasklist_lock"]
    # A shorter run makes the locks more important: the time of one run may include waits.
    for part in (1_000_000, work):
        wait = simulate(part, locks)
        print(f"# runs of {part} instructions: {PROCESSORS} processors wait {100 * wait:.3f} % of the time")
        print(f"{'ok' if wait <= MOST_WAIT else 'not ok'} - {PROCESSORS} processors that only run programs "
              f"of {part} instructions wait at most {100 * MOST_WAIT:.0f} % of the time for the module's locks")


if __name__ == "__main__":
    main()
