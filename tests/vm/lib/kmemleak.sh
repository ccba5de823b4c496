# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# kmemleak.sh - search for memory that kunwind has lost, on the debug kernel

kmemleak=/sys/kernel/debug/kmemleak

# Prints the objects that kunwind allocated and that nothing points to, with
# their stacks (the first 60 lines). The first scan may report an object that
# only a register or RCU holds; the second one is reliable. Memory that leaks
# while the module is loaded is still lost after rmmod; an unloaded module has
# no symbols any more, only addresses. Returns 1 if kmemleak has disabled
# itself: then leaks are unknown.
kmemleak_ours() {
	sync
	sleep 1
	{ echo scan >$kmemleak && sleep 6 && echo scan >$kmemleak; } || return 1
	awk '/^unreferenced/ { if (ours) printf "%s", text; text = ""; ours = 0 }
		{ text = text $0 "\n" }
		/\[kunwind\]|\[<?0*ffffffffc/ { ours = 1 }
		END { if (ours) printf "%s", text }' $kmemleak | head -n 60
}
