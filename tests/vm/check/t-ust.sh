#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 400
# long: only
#
# t-ust.sh - events of the kernel and of LTTng-UST in one recording
#
# The program opens a file, and then has an event, in the same function: the stack of
# the system call, by the module, and that of the event, by the preloaded library, must have
# the same functions. Also recordings of an ordinary user beside root's session daemon.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind g++
tree=$PWD
cd "$KUNWIND_TMP" || exit 1
g++ -O2 -g -I "$tree/tests/ust" -o till "$tree/tests/ust/till.cpp" -llttng-ust -ldl ||
	{ echo "Bail out! the program does not build"; exit 1; }
check "the module loads" modprobe kunwind

# stacks DIR EVENT: the functions of each such event, innermost first, without those of libc that make the call
stacks() {
	kunwind show --tsv --event "$2" "$1" | awk -F '\t' '
		$1 == "event" { if (nr++) print ""; skip = 1 }
		$1 == "frame" && $5 !~ /open/ { printf "%s ", $5 }
		END { print "" }' | grep price
}
count() { kunwind show --no-symbols --tsv --event "$2" "$1" | grep -c '^event'; }

kunwind record -q --ust 'till:*' -e openat -o both -- ./till
is $? 0 "record --ust -e: status"
check "the trace has both domains" [ -d both/kernel -a -d both/ust ]
is "$(count both till:price)" 7 "events of the program"
stacks both till:price >ust
stacks both syscall_entry_openat >kernel
is "$(wc -l <kernel)" 7 "system calls of the same function"
is "$(cat kernel)" "$(cat ust)" "the same functions are on both stacks"
like "$(cat ust)" "^price.* Cart::total.* sell.* main .*_start" "from the event to the program's entry"
is "$(kunwind show --no-symbols --tsv both | awk -F '\t' '
	$1 == "event" && $4 == "till:price" { print (last == "syscall_exit_openat") } $1 == "event" { last = $4 }' | sort -u)" 1 \
	"each event comes after the end of its system call"
report=$(kunwind report -n 0 both)
like "$report" "7  till:price" "report: the program's events"
like "$report" "openat" "report: the system calls"
is "$(grep -c '  price(.*(.*/till)$' <<<"$report")" 1 "report: one row for the function"

# an ordinary user, whose programs root's session daemon knows, too
mkdir -m 777 own
user() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$PWD/own" "$@"; }
chmod 755 . till
user kunwind record -q --ust 'till:*' -o own/alone -- ./till
is $? 0 "record --ust of an ordinary user: status"
is "$(count own/alone till:price)" 7 "its events"
user kunwind record -q --ust 'till:*' -e openat -o own/both -- ./till 2>err
is $? 125 "with events of the kernel, an ordinary user is refused"
check "the modules are unloaded" sh -c 'pkill lttng-sessiond; while pgrep lttng-sessiond; do sleep 0.1; done; rmmod lttng_probe_kunwind kunwind'
done_testing
