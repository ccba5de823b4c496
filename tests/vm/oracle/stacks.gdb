# SPDX-License-Identifier: MIT
# stacks.gdb - print the stacks of all threads in the form of eu-stack -q
#   gdb -nx -batch -iex "set debug-file-directory /nowhere" -p PID -x stacks.gdb
set pagination off
set backtrace past-main on
set backtrace past-entry on
python
for thread in reversed(gdb.selected_inferior().threads()):
    thread.switch()
    print("TID %d:" % thread.ptid[1])
    frame, n = gdb.newest_frame(), 0
    while frame:
        if frame.type() != gdb.INLINE_FRAME:
            print("#%d 0x%016x" % (n, frame.pc()))
            n += 1
        frame = frame.older()
end
