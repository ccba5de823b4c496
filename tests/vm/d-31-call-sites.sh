#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Each place in kunwind.ko that asks the kernel for something which may fail for
# want of memory is made to fail: first one time, then every time.
#
# A place is a call, found in the module's relocations; the filter of fault
# injection on stack traces lets just those allocations fail which are made
# below it. Each is tried with the module's load, with what the module does for
# processes (scene), and with its unload. What then may be: the load is refused
# with "Cannot allocate memory", a call fails with an errno, a stack is shorter
# than it is. What may not: a wrong frame, a program that ends otherwise, a
# complaint of the kernel, memory lost, a module that cannot be unloaded.
# vm: --debug
# timeout: 3000

. "$(dirname "$0")/lib/tap.sh"
. "$(dirname "$0")/debug/lib.sh"
progs=$PWD/build/vm-progs
tracefs=/sys/kernel/tracing
module=$(modinfo -n kunwind)

# Functions of the kernel that allocate, or that register something and allocate for it.
allocating='^(__)?(k[vmz]*alloc|kmem_cache_alloc|vmalloc|vzalloc|alloc_percpu|kstrdup|kmemdup|alloc_workqueue|misc_register|register_ftrace|unregister_ftrace|ftrace_set|tracepoint_probe|tracepoint_synchronize|register_shrinker|shrinker_alloc|prealloc_shrinker|single_open|smpboot_register|seq_|filp_open|get_user_pages|fixup_user_fault|task_work_add|mmap_read|fput|kthread_|set_user_nice|queue_|copy_from_user|_copy_)'

# "OFFSET FUNCTION" of each call in .text: the offset is that of the instruction after it.
sites() {
	readelf -rW "$module" | awk -v want="$allocating" '
		/^Relocation section/ { text = /\.rela\.text'"'"'/ }
		text && $3 ~ /PLT32|PC32/ && $5 ~ want { print strtonum("0x" $1) + 4, $5 }'
}

text_base() { cat /sys/module/kunwind/sections/.text; }

# Only allocations below the call that ends at OFFSET fail, TIMES of them (-1: all).
fail_below() { # BASE OFFSET TIMES
	local dir own next
	# the kernel warns where ftrace has no memory for a trampoline; it does without
	read -r own next < <(extent arch_ftrace_update_trampoline)
	for dir in failslab fail_page_alloc; do
		echo 0 >$debugfs/$dir/verbose
		echo N >$debugfs/$dir/ignore-gfp-wait
		echo 32 >$debugfs/$dir/stacktrace-depth
		printf '0x%x' $(($1 + $2)) >$debugfs/$dir/require-start
		printf '0x%x' $(($1 + $2 + 1)) >$debugfs/$dir/require-end
		echo "$own" >$debugfs/$dir/reject-start
		echo "$next" >$debugfs/$dir/reject-end
		echo 1 >$debugfs/$dir/interval
		echo 100 >$debugfs/$dir/probability
		echo "$3" >$debugfs/$dir/times
	done
	echo 0 >$debugfs/fail_page_alloc/min-order
}
# With TIMES of 1: whether one failed.
has_failed() { [ "$(cat $debugfs/failslab/times)" = 0 ] || [ "$(cat $debugfs/fail_page_alloc/times)" = 0 ]; }

# A program's own answer: the frames of perfchain that a walk gave are the innermost ones.
true_stack() {
	local got
	got=$("$progs/perfchain" "$1" 2>/dev/null | grep -v -- - | tr '\n' ' ')
	case "third second first main " in
	"$got"*) return 0 ;;
	esac
	echo "stack: $got"
	return 1
}

# Something of all that the module does for processes. Each command may be refused, but
# what ends otherwise than with a status of its own is said.
scene() {
	local status=0 auto=
	true_stack register || return 1
	kunwind auto on >/dev/null 2>&1 && auto=1
	python3 -c 'import json, sqlite3, subprocess; subprocess.run(["/bin/true"], check=True)' || status=$?
	[ $status -eq 0 ] || { echo "python3: $status"; return 1; }
	$storm leaf >/dev/null 2>&1
	[ $? -lt 124 ] || { echo "storm: ended by a signal"; return 1; }
	# of a process that is not registered, the kernel answers by itself
	[ -z "$auto" ] || true_stack stranger || return 1
	cat /dev/kunwind >/dev/null
	echo 1 >$tracefs/events/kunwind/enable 2>/dev/null
	/bin/true
	echo 0 >$tracefs/events/kunwind/enable 2>/dev/null
	echo 2 >/proc/sys/vm/drop_caches
	kunwind auto off >/dev/null 2>&1
	return 0
}

unload() {
	local i
	for ((i = 0; i < 100; i++)); do
		rmmod kunwind 2>/dev/null && return 0
		[ -d /sys/module/kunwind ] || return 0
		sleep 0.1
	done
	echo "it does not unload"
	return 1
}

# One site, one time or every time; the module is not loaded before and after.
try_site() { # BASE OFFSET FUNCTION TIMES
	local status=0 text
	fail_below "$1" "$2" "$4"
	if ! text=$(modprobe kunwind 2>&1); then
		[[ $text == *"Cannot allocate memory"* ]] || { echo "load: $text"; status=1; }
		! has_failed || hit[$2]=1
	else
		[ "$(text_base)" = "$1" ] || moved=$((moved + 1))
		scene || status=1
		unload || status=1
		! has_failed || hit[$2]=1
	fi
	stop_failing
	[ $status -eq 0 ] || echo "  with $3 at +$2 failing ($4)"
	return $status
}

declare -A hit=()
moved=0
check "it loads" modprobe kunwind
base=$(text_base)
check "the scene, with nothing failing" scene
check "it unloads" rmmod kunwind
mapfile -t list < <(sites)
diag "${#list[@]} calls"
status=0
for site in "${list[@]}"; do
	for times in 1 -1; do
		try_site "$base" ${site% *} "${site#* }" $times || status=1
	done
done >"$KUNWIND_TMP/said"
[ $status -eq 0 ] && ok "each call fails, once and always" || { not_ok "each call fails, once and always"; diag "$(cat "$KUNWIND_TMP/said")"; }
diag "${#hit[@]} of ${#list[@]} calls were reached by an allocation that failed"
for site in "${list[@]}"; do
	[ -n "${hit[${site% *}]:-}" ] || diag "not reached: +${site% *} ${site#* }"
done
[ "${#hit[@]}" -ge $((${#list[@]} / 3)) ] && ok "a third of them or more were reached" || not_ok "a third of them or more were reached"
is "$moved" 0 "the module was loaded at the same address each time"
check "it works after all that" modprobe kunwind
is "$("$progs/perfchain" register | grep -v -- - | tr '\n' ' ')" "third second first main " "and gives true stacks"
no_leaks "while loaded"
check "it unloads" rmmod kunwind
no_leaks "once unloaded"
done_testing
