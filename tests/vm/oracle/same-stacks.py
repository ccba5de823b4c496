#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""same-stacks.py WHOLE IDS: compares the stacks of two traces of one program.

Both were recorded at the same time. Each thread of the program has the same events in
both traces, and the first thread between its two calls of getpriority(). Compares name,
process, user stack and kernel stack of each. A user stack by its id is that of the first event of the system
call. A thread's last event comes after it has given up its memory: LTTng's context then has the first address
only, and an id is that of the call, or, if the thread has changed its CPU since, there is none.
Prints what differs, then "equal N K": events with equal stacks, and those of them that have a
kernel stack, and fails if any differs.
"""

import subprocess
import sys


def events(path):
    """Events of each thread: {tid: [(name, pid, comm, addresses, kernel addresses)]}."""
    # the tracer's own kernel frames, which differ, are left out by name
    out = subprocess.run(["kunwind", "show", "--tsv", path], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    threads, last = {}, None
    for line in out.splitlines():
        words = line.split("\t")
        if words[0] == "event":
            last = [words[3], words[5], words[4], [], []]
            threads.setdefault(words[6], []).append(last)
        elif words[0] == "frame":
            last[3].append(words[3])
        elif words[0] == "kernel":
            last[4].append(words[3])
    return threads


def ours(threads):
    """Threads of the program. Of the first one, what is between its two marks: getpriority()."""
    mark = "syscall_entry_getpriority"
    pid = next(seen[0][1] for seen in threads.values() if any(event[0] == mark for event in seen))
    found = {tid: seen for tid, seen in threads.items() if seen[0][1] == pid}
    names = [event[0] for event in found[pid]]
    found[pid] = found[pid][names.index(mark):len(names) - names[::-1].index(mark)]
    return found


def main():
    one, two = (ours(events(path)) for path in sys.argv[1:])
    equal = kernel = bad = 0
    if set(one) != set(two):
        print("threads differ:", sorted(set(one) ^ set(two)))
        bad += 1
    for tid in sorted(set(one) & set(two)):
        if len(one[tid]) != len(two[tid]):
            print("thread", tid, "has", len(one[tid]), "and", len(two[tid]), "events")
            bad += 1
        # From Linux 6.13 on, a thread may lose its CPU between the two recorders' probes of a
        # system call. Then sched_switch comes before the call in one trace, after it in the other.
        for seen in (one, two):
            seen[tid][:-1] = sorted(seen[tid][:-1], key=lambda event: event[0])
        for number, (left, right) in enumerate(zip(one[tid], two[tid])):
            if number == len(one[tid]) - 1:
                right[3] = right[3][:len(left[3])] or left[3][:1]
            if left[:2] + left[3:] == right[:2] + right[3:]:
                equal += bool(left[3])
                kernel += bool(left[4])
                continue
            bad += 1
            if bad < 10:
                print("thread", tid, "event", number, *left[:3], "/", *right[:3])
                print("  ", *left[3], "/", *left[4])
                print("  ", *right[3], "/", *right[4])
    print("equal", equal, kernel)
    return bool(bad) or not equal


if __name__ == "__main__":
    sys.exit(main())
