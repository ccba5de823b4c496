#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 600
# long: only
#
# t-others.sh - other tools get true user stacks, kunwind symbolize names the addresses
# in their output, and babeltrace2 reads the copy of a trace for Trace Compass
#
# All tools watch one process, which has ended when its stacks are named: perf
# record -g (read by perf script and by KDAB hotspot's hotspot-perfparser),
# bpftrace (bpf_get_stackid()), and a program with libbpf (bpf_get_stack(), as
# wprof and systing use it). eu-addr2line names the program's frames by the
# program's own record of its load address.

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind gcc eu-addr2line perf bpftrace

fixtures=$PWD/tests/vm/fixtures oracle=$PWD/tests/vm/oracle
cd "$KUNWIND_TMP" || exit 1
unset DEBUGINFOD_URLS
program=$KUNWIND_TMP/otherschain
gcc -g -O2 -fomit-frame-pointer -o otherschain "$fixtures/otherschain.c" ||
	{ echo "Bail out! the program does not build"; exit 1; }
main=0x$(nm otherschain | awk '$3 == "main" { print $1 }')

# A BPF object needs clang and the headers of libbpf.
bpf=
if clang -O2 -g -target bpf -I"/usr/include/$(gcc -print-multiarch)" -I"$fixtures" -c "$fixtures/bpfstack.bpf.c" -o bpf.o 2>bpf.log &&
	gcc -o bpfstack "$fixtures/bpfstack.c" -lbpf 2>>bpf.log; then
	bpf=yes
fi
perfparser=$(find /usr/lib /usr/libexec -name hotspot-perfparser 2>/dev/null | head -n 1)

# Runs the program under all tools. False: one of them hung, and was ended.
observe_once() { # DIRECTORY COMMAND-BEFORE-IT...
	local dir=$1 bt ready go hung=0 status
	local limit="timeout -k 5 -s INT 120"
	shift
	mkdir "$dir"
	$limit bpftrace -e 'BEGIN { printf("ready\n"); }
		tracepoint:syscalls:sys_enter_gettid /comm == "otherschain"/ { @raw[ustack] = count(); @perf[ustack(perf)] = count(); }' \
		>"$dir/bpftrace" 2>"$dir/bpftrace.err" &
	bt=$!
	if [ -n "$bpf" ]; then
		rm -f end
		mkfifo end
		$limit ./bpfstack bpf.o <end >"$dir/bpf" 2>"$dir/bpf.err" &
		ready=$!
		exec {go}>end
		until grep -q ready "$dir/bpf" || ! kill -0 $ready 2>/dev/null; do sleep 0.2; done
	fi
	until grep -q ready "$dir/bpftrace" || ! kill -0 $bt 2>/dev/null; do sleep 0.2; done
	sleep 3		# bpftrace begins before it attaches
	$limit perf record -q -a -g -e syscalls:sys_enter_gettid -o "$dir/perf.data" -- "$@" "$program" >"$dir/said" 2>"$dir/log"
	status=$?
	kill -INT $bt
	wait $bt || hung=$?
	[ $status -ne 124 ] || hung=124
	if [ -n "$bpf" ]; then
		exec {go}>&-
		wait $ready || status=$?
		[ $status -ne 124 ] || hung=124
	fi
	[ $hung -ne 124 ]
}
observe() {
	local try
	for try in 1 2 3; do
		rm -rf "$1"
		[ "$try" -eq 1 ] || rm -rf trace
		! observe_once "$@" || return
		diag "a tool hung in try $try: $(head -n 3 "$1"/*.err "$1/log")"
	done
}

# Names for lines of addresses, innermost first: of the program by eu-addr2line,
# "-" in other objects.
oracle_names() { # DIRECTORY
	local bias end address names exact
	bias=$(($(grep -m1 '^0x' "$1/said") - main))
	end=$((bias + 0x4000))
	while read -r -a stack; do
		names="" exact=0
		for address in "${stack[@]}"; do
			if ((address >= bias && address < end)); then
				names+=" $(eu-addr2line -f -e otherschain "$(printf '%#x' $((address - bias - exact)))" | head -n 1)"
			else
				names+=" -"
			fi
			exact=1
		done
		echo "${names# }"
	done
}
# Prints the addresses of each stack of a map of bpftrace, one stack a line.
bpftrace_stacks() { # FILE MAP
	awk -v map="@$2[" '$0 == map { take = 1; line = ""; next }
		take && /^]/ { print line; take = 0 } take { line = line " " $1 }' "$1"
}
# The names of the program's functions in lines of names with offsets.
functions() { sed -E 's/\+0x[0-9a-f]+//g'; }
chain="fct_c fct_b fct_a main"

# --------------------------------------------------- without the module
observe stock
for tool in bpftrace ${bpf:+bpf}; do
	if [ "$tool" = bpftrace ]; then
		got=$(bpftrace_stacks stock/bpftrace raw | oracle_names stock)
	else
		got=$(awk '$1 != "ready" { $1 = $2 = ""; print }' stock/bpf | oracle_names stock | sort -u)
	fi
	check "without the module, $tool gets stacks, so the test can fail" test -n "$got"
	is "$(grep -c "$chain" <<<"$got")" 0 "without the module, no stack of $tool has the chain"
done

# --------------------------------------------------- with it
check "the module loads" modprobe kunwind
check "the module with LTTng's probe loads" modprobe lttng-probe-kunwind
observe own kunwind record -o trace --
diag "$(head -n 3 own/log)"
pid=$(kunwind show --own --no-symbols --event kunwind_exec trace | grep -oP 'tgid = \K\d+(?=, comm = "otherschain")' | head -n 1)
like "$pid" '^[0-9]+$' "the trace has the process"
is "$(ls -d "/proc/$pid" 2>/dev/null)" "" "the process has ended"

# bpf_get_stackid(): bpftrace prints addresses, because the process has ended
bpftrace_stacks own/bpftrace raw >stacks
is "$(oracle_names own <stacks)" "- $chain - - _start" "bpf_get_stackid(): the whole chain is in the stack" || diag "$(cat own/bpftrace)"
kunwind symbolize trace <own/bpftrace >named
like "$(bpftrace_stacks named raw | functions | sed 's/^ //')" "^[^ ]*gettid $chain __libc_start[^ ]* __libc_start[^ ]* _start$" \
	"kunwind symbolize names the stack of a process that ended before bpftrace printed it"
is "$(sed 's/.*+0x.*/X/' named | grep -v X)" "$(sed -E 's/^\s+(0x)?[0-9a-f]+( .*)?$/X/' own/bpftrace | grep -v X)" \
	"kunwind symbolize leaves the other text of bpftrace alone"
is "$(grep -cE "^	[0-9a-f]+ fct_[abc]\+0x[0-9a-f]+ \($program\)$" named)" 3 "kunwind symbolize names the frames of ustack(perf), with their objects"

# bpf_get_stack()
if [ -n "$bpf" ]; then
	for where in call switch; do
		grep "^$where $pid " own/bpf | cut -d' ' -f3- >stacks
		check "bpf_get_stack(): there are at least 10 stacks at a $where" test "$(wc -l <stacks)" -ge 10
		oracle_names own <stacks >names
		if [ $where = call ]; then
			is "$(sort -u names)" "- $chain - - _start" "bpf_get_stack(): the whole chain is in each stack at gettid"
		else
			check "bpf_get_stack(): the whole chain is in stacks at sched_switch" \
				test "$(grep -cE "^(- )+$chain - - _start$" names)" -ge 10
		fi
		# as frames of a stack, one a line
		paste names stacks | grep "$chain" | head -n 1 | cut -f2 | tr ' ' '\n' | sed 's/^/  /' |
			kunwind symbolize --pid "$pid" trace | functions | xargs >named
		like "$(cat named)" " $chain __libc_start[^ ]* __libc_start[^ ]* _start$" "kunwind symbolize names a stack at a $where"
	done
else
	diag "$(head -n 3 bpf.log)"
	skip "bpf_get_stack()" "no clang or libbpf-dev"
fi

# perf record -g, by perf script
perf_names() { awk 'NF == 0 { print line; line = "" } /^\t/ { line = line " " $2 }' | functions | sed 's/^ //' | sort -u; }
perf script -i own/perf.data --comm otherschain 2>/dev/null >perf.before
like "$(perf_names <perf.before)" "^[^ ]*gettid $chain [^ ]+ [^ ]+ _start$" "perf script has the whole chain"
# perf record -g, by hotspot
if [ -n "$perfparser" ]; then
	"$perfparser" --input own/perf.data --output hotspot.out >hotspot.log 2>&1
	like "$("$oracle/perfparser.py" hotspot.out | grep "^$pid " | cut -d' ' -f2- | sort -u)" "^[^ ]*gettid $chain [^ ]+ [^ ]+ _start$" \
		"hotspot has the whole chain"
	"$perfparser" --input stock/perf.data --output hotspot.out >hotspot.log 2>&1
	is "$("$oracle/perfparser.py" hotspot.out | grep -c "$chain")" 0 "hotspot does not have the chain without the module"
else
	skip "hotspot has the whole chain" "no hotspot-perfparser"
fi

# babeltrace2 reads the copy of the trace for Trace Compass. The copy must have the same
# events, and each call of the program must have the names of its stack.
check "kunwind export ctf writes a copy of the trace" kunwind export ctf -o compass trace
babeltrace2 compass >copied
is "$(grep -vc ' kunwind_frames_' copied)" "$(babeltrace2 trace | wc -l)" "the copy has as many events as the trace"
calls=$(kunwind show --tsv --pid "$pid" --event gettid trace | grep -c '^event.*syscall_entry_gettid')
check "the trace has the program's calls" test "$calls" -ge 10
is "$(grep ' syscall_entry_gettid: ' copied | grep -c '"fct_c[^"]*".*"fct_b[^"]*".*"fct_a[^"]*".*"main[^"]*"')" "$calls" \
	"each of these calls has the whole chain in the copy"

# The program's file is gone: perf has offsets, the trace has the build-id.
id=$(readelf -nW otherschain | awk '/Build ID/ { print $NF }')
mkdir -p "copy/.build-id/${id:0:2}"
mv otherschain "copy/.build-id/${id:0:2}/${id:2}"
rm -rf ~/.debug	# perf's own copies
perf script -i own/perf.data --comm otherschain -F comm,pid,tid,cpu,time,event,ip,sym,symoff,dso 2>/dev/null >perf.after
is "$(grep -c "\[unknown\] ($program)" perf.after)" "$((10 * 5))" "perf script cannot name frames of a deleted program"
kunwind symbolize --debug-dir copy trace <perf.after >named
is "$(grep -c unknown named)" 0 "kunwind symbolize names all frames of perf script, by build-id"
is "$(perf_names <named)" "$(perf_names <perf.before)" "these are the names that perf script had"
is "$(grep -v "($program)" named)" "$(grep -v "($program)" perf.after)" "the other lines of perf script are left alone"
kunwind symbolize trace <perf.after >named 2>err
is "$(cat named)" "$(cat perf.after)" "without the file there are no names"
[ -z "${KEEP_DIR:-}" ] || cp -r own stock perf.before perf.after copy "$KEEP_DIR/"
done_testing
