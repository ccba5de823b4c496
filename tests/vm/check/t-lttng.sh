#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-lttng.sh - lttng enable-event --callstack with the real LTTng, and a user's
# session from lttng create to kunwind show
# timeout: 300

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2
tmp=$KUNWIND_TMP

# saved SESSION CHANNEL WHAT: the channel's contexts, events or other element, as
# lttng save writes them. The output of lttng list differs from version to version.
saved() {
	rm -rf "$tmp/saved"
	mkdir "$tmp/saved"
	/usr/bin/lttng save --output-path="$tmp/saved" "$1" >/dev/null 2>&1
	/usr/bin/python3 - "$tmp/saved/$1.lttng" "$2" "$3" <<-'END'
	import sys, xml.etree.ElementTree as tree
	for element in tree.parse(sys.argv[1]).iter():
	    element.tag = element.tag.split("}")[-1]
	    if element.tag == "channel" and element[0].text == sys.argv[2]:
	        found = element
	if sys.argv[3] == "contexts":
	    print(*sorted(c.text for c in found.iter() if c.tag.endswith("type") and c.text in
	            ("CALLSTACK_USER", "PROCNAME", "VPID", "VTID")))
	elif sys.argv[3] == "events":
	    print(*sorted(e.find("name").text for e in found.iter("event")))
	else:
	    print(next(found.iter(sys.argv[3])).text)
	END
}
contexts_of() { saved "$@" contexts; }
all="CALLSTACK_USER PROCNAME VPID VTID"
events_of() { saved "$@" events; }

# real ARGUMENTS...: prints the exit status of the real lttng
real() { /usr/bin/lttng "$@" >/dev/null 2>&1; echo $?; }

is "$(command -v lttng)" /usr/local/bin/lttng "kunwind's lttng is first in PATH"
is "$(lttng --version)" "$(/usr/bin/lttng --version | sed 's,^/usr/bin/,,')" "other commands are passed to the real lttng"
check_fails "$(real nonsense)" "other commands have the real lttng's status" lttng nonsense
lttng-sessiond --daemonize >/dev/null 2>&1
check "the module loads" modprobe kunwind

# a user's session
check "lttng create" lttng create demo --output="$tmp/demo"
check "enable-event --callstack of system calls" lttng enable-event --kernel --syscall openat,read --callstack
is "$(contexts_of demo channel0)" "$all" "--callstack: channel0 has its contexts"
is "$(events_of demo channel0)" "openat read" "--callstack: the events are in channel0"
own="kunwind_callstack kunwind_exec kunwind_exit kunwind_fork kunwind_map kunwind_unmap"
is "$(events_of demo kunwind)" "$own" "--callstack: kunwind's events are in the channel kunwind"
is "$(contexts_of demo kunwind)" "" "--callstack: the channel kunwind has no contexts"
check "enable-event --callstack a second time" lttng enable-event -k --callstack sched_switch
is "$(contexts_of demo channel0 | tr ' ' '\n' | sort -u | tr '\n' ' ')" "$all " \
	"--callstack a second time: the channel has each context once"
is "$(lttng enable-event -k --callstack sched_waking 2>&1 >/dev/null)" "" \
	"--callstack a third time: no message about events that are enabled already"
is "$(lttng -q enable-event -k --callstack sched_wakeup 2>&1; echo $?)" 0 \
	"--callstack with -q: nothing is printed about events that are enabled already"
check "enable-event without --callstack and without a channel" lttng enable-event -k sched_process_exec
is "$(events_of demo channel0)" "openat read sched_process_exec sched_switch sched_wakeup sched_waking" \
	"events without a named channel are in channel0, also after --callstack"
is "$(contexts_of demo kunwind)" "" "--callstack three times: the channel kunwind has no contexts"
check "lttng start" lttng start
check "kunwind run of a program" kunwind run -- perl -e 'sub f { open(F, "<", "/etc/hostname"); <F> } f()'
check "started session, channel with contexts: --callstack works" \
	lttng enable-event -k --callstack --syscall close
is "$(lttng enable-event -k --callstack --syscall close 2>&1 >/dev/null | grep -c kunwind)" 0 \
	"started session with the channel kunwind: no message about it"
check "lttng stop" lttng stop
out=$(babeltrace2 "$tmp/demo" 2>/dev/null | grep 'syscall_entry_openat:.*"/etc/hostname"' | head -n 1)
like "$out" 'callstack_user = \[ \[0\] = 0x.*vpid = [0-9]+, vtid = [0-9]+, procname = "perl"' \
	"an event has stack, vpid, vtid and procname"
kunwind show --event syscall_entry_openat "$tmp/demo" >"$tmp/show" 2>&1
like "$(grep -A40 '"/etc/hostname"' "$tmp/show")" 'Perl_[a-z_]+.*_start' "kunwind show names the frames of the event down to _start" ||
	diag "$(head -n 60 "$tmp/show")"
check "lttng destroy" lttng destroy

# sessions and channels
lttng create one --output="$tmp/one" >/dev/null
lttng create two --output="$tmp/two" >/dev/null
lttng enable-channel -k -s one big >/dev/null
lttng enable-channel -k -s one plain >/dev/null
check "--callstack with -s and -c" lttng enable-event -k -s one -cbig --callstack sched_switch
is "$(contexts_of one big)" "$all" "--callstack with -s and -c: the channel has the contexts"
is "$(contexts_of one plain)" "" "--callstack with -s and -c: another channel of the session has no context"
check_fails "$(real enable-event -k -s one sched_switch)" "no -c, session with named channels only: LTTng's own error" \
	lttng enable-event -k -s one --callstack sched_switch
check "--callstack with a channel that does not exist" lttng enable-event -k --channel=new --callstack --all
is "$(contexts_of two new)" "$all" "channel that did not exist: created in the current session with the contexts"
# The real lttng sometimes dies of SIGPIPE here, because lttng-sessiond has
# closed the connection. So try again.
for _ in {1..10}; do
	wanted=$(real enable-event -k -s three sched_switch)
	lttng enable-event -k -s three --callstack sched_switch >/dev/null 2>&1
	status=$?
	[ "$status" = "$wanted" ] && break
done
is "$status" "$wanted" "--callstack of no such session: LTTng's own error"
lttng enable-event -u -s two --callstack --all >"$tmp/user-space" 2>&1
is "$?" 0 "--callstack with -u: status 0"
check "--callstack with -u: the context of programs" grep -qF 'ust context $app.kunwind:stack added' "$tmp/user-space"
check_fails 1 "--callstack without a domain: LTTng's own error" lttng enable-event -s two --callstack --all
lttng --mi xml enable-event -k -s two -c new --callstack sched_waking >"$tmp/mi"
check "--callstack with --mi xml: the output is one document" /usr/bin/python3 -c \
	'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' "$tmp/mi"

# a session that was started
lttng start one >/dev/null
lttng enable-event -k -s one -c plain --callstack sched_switch >/dev/null 2>"$tmp/err"
is "$?" 4 "started session, channel without contexts: add-context's status"
is "$(wc -l <"$tmp/err")" 1 "started session, channel without contexts: the error is one line"
like "$(cat "$tmp/err")" 'lttng destroy.*create a new one.*before its first .lttng start' "started session, channel without contexts: the error says what to do"
is "$(events_of one plain)" "sched_switch" "started session, channel without contexts: the event is enabled"
lttng stop one >/dev/null
lttng enable-event -k -s one -c plain --callstack sched_waking >/dev/null 2>"$tmp/err"
is "$? $(wc -l <"$tmp/err")" "4 1" "stopped session, channel without contexts: the same status, one line"
check "stopped session, channel with contexts: --callstack works" lttng enable-event -k -s one -c big --callstack sched_waking
check "lttng destroy --all" lttng destroy --all

# a session that was started without the channel kunwind
lttng create late --output="$tmp/late" >/dev/null
/usr/bin/lttng enable-event -k sched_switch >/dev/null
/usr/bin/lttng add-context -k -t callstack-user -t vpid -t vtid >/dev/null
lttng start >/dev/null
lttng enable-event -k --callstack sched_waking >/dev/null 2>"$tmp/err"
is "$? $(wc -l <"$tmp/err")" "0 1" "started session without the channel kunwind: one line"
like "$(cat "$tmp/err")" 'no channel for kunwind.*lttng destroy.*before its first .lttng start' \
	"started session without the channel kunwind: the line says what to do"
is "$(events_of late channel0)" "sched_switch sched_waking" "started session without the channel kunwind: the event is enabled"
lttng destroy >/dev/null

# the channel kunwind, created before
lttng create sized --output="$tmp/sized" >/dev/null
lttng enable-channel -k kunwind --subbuf-size=1M >/dev/null
lttng enable-channel -k channel0 >/dev/null
check "--callstack with a channel kunwind that exists" lttng enable-event -k --callstack sched_switch
is "$(events_of sized kunwind)" "$own" "channel kunwind that exists: it has kunwind's events"
is "$(saved sized kunwind subbuffer_size)" 1048576 "channel kunwind that exists: it keeps its size"
lttng destroy >/dev/null

check "enable-event --help describes --callstack" sh -c 'lttng enable-event --help | grep -q -- --callstack'
done_testing
