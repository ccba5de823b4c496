#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-takeover.sh - the module takes over kernel functions, and gives them back
#
# Programs that are not registered get exactly the stacks that the kernel finds
# without the module; with the kill switch on, all programs do. A function that
# another user of ftrace redirects stays with that user. perf's call chains are
# taken over like LTTng's stacks.
# timeout: 600
# long: only

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2 setarch

build_progs
hook() { awk -v h="$1" '$1 == "hook" && $2 == h { print $3 }' /dev/kunwind; }

# Stock LTTng finds a part of the stacks of a program with frame pointers, and
# almost nothing of one without. Both must be unchanged. Without frame pointers
# the kernel also finds pointers to the stack, which depend on the environment,
# so the environment must be the same in each run.
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
verdict $? "LTTng session of all system calls starts"
run_both stock
check "the module loads" modprobe kunwind
is "$(hook stack_trace_save_user) $(hook perf_callchain_user)" "on on" "stack_trace_save_user and perf_callchain_user are taken over"
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
	"perf: the chain of a registered program is right"
"$progs/perfchain" stranger >"$work/chain"
is $? 0 "perf: a program that is not registered has a chain"

# perf's deferred chains, taken on return to user mode, on kernels with
# unwind_user()
deferred=
if grep -qx unwind_user /sys/kernel/tracing/available_filter_functions; then
	deferred=1
	is "$(hook unwind_user)" on "unwind_user is taken over"
	is "$("$progs/perfchain" register deferred | grep -v -- - | tr '\n' ' ')" "third second first main " \
		"perf: the deferred chain of a registered program is right"
	"$progs/perfchain" stranger deferred >"$work/chain"
	is "$? $(grep -c first "$work/chain")" "0 0" \
		"perf: the deferred chain of an unregistered program without frame pointers is the kernel's"
	echo N >/sys/module/kunwind/parameters/enabled
	is "$("$progs/perfchain" stranger deferred)" "$(cat "$work/chain")" "perf: that deferred chain is the same with the kill switch on"
	echo Y >/sys/module/kunwind/parameters/enabled
else
	is "$(hook unwind_user)" "" "status names no function that this kernel does not have"
	skip "perf's deferred chains" "this kernel has no unwind_user()"
fi

# ftrace cannot be disabled
like "$( (echo 0 >/proc/sys/kernel/ftrace_enabled) 2>&1)" "Device or resource busy" \
	"kernel.ftrace_enabled=0 is refused while hooks are on"
is "$(cat /proc/sys/kernel/ftrace_enabled)" 1 "ftrace is still enabled"
is "$("$progs/perfchain" register | grep -v -- - | tr '\n' ' ')" "third second first main " \
	"perf: the chain of a registered program is still right after the refused write"

# another user of the function after kunwind
# (On Linux 7.2 register_kprobe() returns 0 nevertheless, without a probe.)
modprobe conflict 2>/dev/null
is "$(grep -c "stack_trace_save_user" /sys/kernel/debug/kprobes/list) $(hook stack_trace_save_user)" "0 on" \
	"a kprobe with a post-handler on a function that is taken over is refused"
rmmod conflict 2>/dev/null
check "the module is unloaded after the refused kprobe" rmmod kunwind

# another user of the function before kunwind
for function in stack_trace_save_user perf_callchain_user ${deferred:+unwind_user}; do
	check "$function: a kprobe with a post-handler is registered first" modprobe conflict function=$function
	dmesg -C
	check "$function: the module loads after the kprobe" modprobe kunwind
	is "$(hook $function)" refused "$function: the device's status has the hook as refused"
	like "$(kunwind status)" "$function +refused" "$function: kunwind status has the hook as refused"
	is "$(dmesg | grep -c "$function")" 1 "$function: the kernel's log names the refused hook once"
	case $function in
	stack_trace_save_user) other=perf_callchain_user ;;
	*) other=stack_trace_save_user ;;
	esac
	is "$(hook $other)" on "$function is refused: $other is taken over"
	check "$function: the module is unloaded before the kprobe" rmmod kunwind
	check "$function: the kprobe is removed" rmmod conflict
done
check "the module loads when no other kprobe is left" modprobe kunwind
is "$(hook stack_trace_save_user) $(hook perf_callchain_user)" "on on" "when no other kprobe is left both functions are taken over"
check "the module is unloaded" rmmod kunwind
done_testing
