#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-takeover.sh - what the module takes over, from whom, and how it gives it back
#
# Programs that are not registered get exactly what the kernel gives without the
# module; so do all with the kill switch on. A function that somebody else holds
# is left to them. perf's call chains are served as LTTng's are.
# timeout: 600

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/oracle/session.sh"
need lttng babeltrace2 setarch

build_progs
hook() { awk -v h="$1" '$1 == "hook" && $2 == h { print $3 }' /dev/kunwind; }

# A program with frame pointers, whose stacks stock LTTng finds in part, and one
# without, whose it does not: both are to be as they were. What is found besides
# are pointers to the stack, where the environment lies: it has to be the same.
run_both() { # SUFFIX [KUNWIND-RUN]
	local suffix=$1
	KUNWIND_RUN=${2:-env} start "fp-$suffix" setarch -R env -i "$progs/stacks-gcc-fp" lambda
	settle "$pid" && kill -9 "$pid"
	wait "$pid" 2>/dev/null
	KUNWIND_RUN=${2:-env} start "python-$suffix" setarch -R env -i PYTHONHASHSEED=0 \
		/usr/bin/python3 -IBS -c 'import re, json; json.loads("[1]")'
	wait
}

session_begin "$work/trace"
verdict $? "an LTTng session of all system calls"
run_both stock
check "the module loads" modprobe kunwind
is "$(hook stack_trace_save_user) $(hook perf_callchain_user)" "on on" "it takes over both"
run_both stranger
echo N >/sys/module/kunwind/parameters/enabled
# the switch refuses new registrations: register with it off, then turn it on
cat >"$work/switched" <<-'END'
	#!/bin/bash
	echo Y >/sys/module/kunwind/parameters/enabled
	exec kunwind run -- /bin/bash -c 'echo N >/sys/module/kunwind/parameters/enabled; exec "$@"' - "$@"
END
chmod +x "$work/switched"
run_both switched "$work/switched"
echo Y >/sys/module/kunwind/parameters/enabled
run_both registered "kunwind run --"
session_end
[ -z "${KEEP_DIR:-}" ] || cp -r "$work/trace" "$work/programs.tsv" "$KEEP_DIR/"
adopt /usr/bin/python3 "$oracle/same.py" "$work/trace" "$work/programs.tsv" \
	fp-stock fp-stranger fp-switched -- python-stock python-stranger python-switched \
	'!' python-stock python-registered

# perf
is "$("$progs/perfchain" register | grep -v -- - | tr '\n' ' ')" "third second first main " \
	"perf's chain of a registered program is the true one"
"$progs/perfchain" stranger >"$work/chain"
is $? 0 "perf gives a chain of a program that is not registered"

# perf's chains that are taken on the way back to user mode: kernels with unwind_user()
deferred=
if grep -qx unwind_user /sys/kernel/tracing/available_filter_functions; then
	deferred=1
	is "$(hook unwind_user)" on "it takes over unwind_user"
	is "$("$progs/perfchain" register deferred | grep -v -- - | tr '\n' ' ')" "third second first main " \
		"perf's deferred chain of a registered program is the true one"
	"$progs/perfchain" stranger deferred >"$work/chain"
	is "$? $(grep -c first "$work/chain")" "0 0" \
		"without frame pointers a stranger's is what it was"
	echo N >/sys/module/kunwind/parameters/enabled
	is "$("$progs/perfchain" stranger deferred)" "$(cat "$work/chain")" "as with the kill switch"
	echo Y >/sys/module/kunwind/parameters/enabled
else
	is "$(hook unwind_user)" "" "status names no function that this kernel does not have"
	skip "perf's deferred chains" "this kernel has no unwind_user()"
fi

# ftrace cannot be switched off
like "$( (echo 0 >/proc/sys/kernel/ftrace_enabled) 2>&1)" "Device or resource busy" \
	"kernel.ftrace_enabled=0 is refused while hooks are on"
is "$(cat /proc/sys/kernel/ftrace_enabled)" 1 "ftrace is still enabled"
is "$("$progs/perfchain" register | grep -v -- - | tr '\n' ' ')" "third second first main " \
	"after the refused write kunwind still makes the stacks"

# somebody else comes second
# (7.2's register_kprobe() returns 0 all the same, and there is no probe)
modprobe conflict 2>/dev/null
is "$(grep -c "stack_trace_save_user" /sys/kernel/debug/kprobes/list) $(hook stack_trace_save_user)" "0 on" \
	"while it is taken over, no kprobe with a post-handler gets the function"
rmmod conflict 2>/dev/null
check "the module is unloaded" rmmod kunwind

# somebody else was first
for function in stack_trace_save_user perf_callchain_user ${deferred:+unwind_user}; do
	check "a kprobe with a post-handler holds $function" modprobe conflict function=$function
	dmesg -C
	check "the module loads all the same" modprobe kunwind
	is "$(hook $function)" refused "status says that $function is refused"
	like "$(kunwind status)" "$function +refused" "and kunwind status names it"
	is "$(dmesg | grep -c "$function")" 1 "the log says so once"
	case $function in
	stack_trace_save_user) other=perf_callchain_user ;;
	*) other=stack_trace_save_user ;;
	esac
	is "$(hook $other)" on "$other is taken over"
	check "the module is unloaded" rmmod kunwind
	check "the kprobe goes" rmmod conflict
done
check "the module loads again" modprobe kunwind
is "$(hook stack_trace_save_user) $(hook perf_callchain_user)" "on on" "and takes over both"
check "the module is unloaded" rmmod kunwind
done_testing
