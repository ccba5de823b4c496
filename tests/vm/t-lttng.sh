#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-lttng.sh - lttng enable-event --callstack with the real LTTng, and what a
# person does from create to show

# timeout: 500

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
need lttng babeltrace2
tmp=$KUNWIND_TMP

# saved SESSION CHANNEL WHAT: its contexts or events, as LTTng saves them (what it
# lists for people has another form in each version)
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
	    print(*[c.text for c in found.iter() if c.tag.endswith("type") and c.text in
	            ("CALLSTACK_USER", "VPID", "VTID")])
	else:
	    print(*sorted(e.find("name").text for e in found.iter("event")))
	END
}
contexts_of() { saved "$@" contexts; }
all="CALLSTACK_USER VPID VTID"
events_of() { saved "$@" events; }

# real ARGUMENTS...: the status that the real lttng ends with
real() { /usr/bin/lttng "$@" >/dev/null 2>&1; echo $?; }

is "$(command -v lttng)" /usr/local/bin/lttng "the front end is first in PATH"
is "$(lttng --version)" "$(/usr/bin/lttng --version | sed 's,^/usr/bin/,,')" "other uses are handed on"
check_fails "$(real nonsense)" "with their status" lttng nonsense
lttng-sessiond --daemonize >/dev/null 2>&1
check "the module loads" modprobe kunwind

# what a person does
check "create" lttng create demo --output="$tmp/demo"
check "enable-event --callstack" lttng enable-event --kernel --syscall openat,read --callstack
is "$(contexts_of demo channel0)" "$all" "the channel has the three contexts"
is "$(events_of demo channel0)" \
	"kunwind_exec kunwind_exit kunwind_fork kunwind_map kunwind_unmap openat read" \
	"the events, and those of the mappings, are enabled"
check "enable-event --callstack again" lttng enable-event -k --callstack sched_switch
is "$(contexts_of demo channel0 | tr ' ' '\n' | sort -u | tr '\n' ' ')" "$all " \
	"contexts that are there already are tolerated"
is "$(lttng enable-event -k --callstack sched_waking 2>&1 | grep -c 'not all events')" 0 \
	"nothing is said of events of mappings that are enabled already"
check "enable-event --callstack=whole" lttng enable-event -k --callstack=whole sched_process_exec
like "$(events_of demo channel0)" "^kunwind_callstack kunwind_exec " "kunwind_callstack is enabled too"
check "start" lttng start
check "a program under kunwind run" kunwind run -- perl -e 'sub f { open(F, "<", "/etc/hostname"); <F> } f()'
check "with contexts there, --callstack works on a started session" \
	lttng enable-event -k --callstack --syscall close
check "stop" lttng stop
out=$(babeltrace2 "$tmp/demo" 2>/dev/null | grep 'syscall_entry_openat:.*"/etc/hostname"' | head -n 1)
like "$out" 'callstack_user = \[ \[0\] = 0x.*vpid = [0-9]+, vtid = [0-9]+' \
	"the event has stack, vpid and vtid"
kunwind show --event syscall_entry_openat "$tmp/demo" >"$tmp/show" 2>&1
like "$(grep -A40 '"/etc/hostname"' "$tmp/show")" 'Perl_[a-z_]+.*_start' "show names its frames down to _start" ||
	diag "$(head -n 60 "$tmp/show")"
check "destroy" lttng destroy

# sessions and channels
lttng create one --output="$tmp/one" >/dev/null
lttng create two --output="$tmp/two" >/dev/null
lttng enable-channel -k -s one big >/dev/null
lttng enable-channel -k -s one plain >/dev/null
check "session and channel by name" lttng enable-event -k -s one -cbig --callstack sched_switch
is "$(contexts_of one big)" "$all" "the contexts are there"
is "$(contexts_of one plain)" "" "another channel of the session has none"
check_fails "$(real enable-event -k -s one sched_switch)" "no channel named, and there are only named ones: LTTng's own error" \
	lttng enable-event -k -s one --callstack sched_switch
check "a channel that does not exist yet" lttng enable-event -k --channel=new --callstack --all
is "$(contexts_of two new)" "$all" "it is made in the current session, with the contexts"
# the real one dies of SIGPIPE now and then here: lttng-sessiond has closed the connection
for _ in {1..10}; do
	wanted=$(real enable-event -k -s three sched_switch)
	lttng enable-event -k -s three --callstack sched_switch >/dev/null 2>&1
	status=$?
	[ "$status" = "$wanted" ] && break
done
is "$status" "$wanted" "no such session: LTTng's own error"
check_fails 1 "--userspace" lttng enable-event -u -s two --callstack --all
check_fails 1 "no domain: LTTng's own error" lttng enable-event -s two --callstack --all
lttng --mi xml enable-event -k -s two -c new --callstack sched_waking >"$tmp/mi"
check "--mi xml gives one document" /usr/bin/python3 -c \
	'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' "$tmp/mi"

# a session that was started
lttng start one >/dev/null
lttng enable-event -k -s one -c plain --callstack sched_switch >/dev/null 2>"$tmp/err"
is "$?" 4 "a session that was started, a channel without contexts: add-context's status"
is "$(wc -l <"$tmp/err")" 1 "one line says what to do"
like "$(cat "$tmp/err")" 'lttng destroy.*create a new one.*before its first .lttng start' "namely that"
is "$(events_of one plain)" "sched_switch" "the event itself is enabled"
lttng stop one >/dev/null
lttng enable-event -k -s one -c plain --callstack sched_waking >/dev/null 2>"$tmp/err"
is "$? $(wc -l <"$tmp/err")" "4 1" "the same when it was stopped since"
check "a channel that has them: no error" lttng enable-event -k -s one -c big --callstack sched_waking
check "destroy all" lttng destroy --all

check "help tells of it" sh -c 'lttng enable-event --help | grep -q -- --callstack'
done_testing
