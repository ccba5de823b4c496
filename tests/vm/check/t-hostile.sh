#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-hostile.sh - hostile ELF files, registers and stacks
#
# A registered process maps files that contradict themselves as code
# (oracle/hostile_elf.py). Each is refused with a named reason, and the stacks
# of the process stay complete. False registers and memory (fixtures/hostile.c)
# give a short stack with the right reason. guest-run searches the kernel's log.
# timeout: 200

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"

build_progs
hostile=$progs/hostile
files=$work/elf
libz=$(realpath /lib/x86_64-linux-gnu/libz.so.1)
check "the module loads" modprobe kunwind

/usr/bin/python3 "$oracle/hostile_elf.py" "$files" "$libz" "${MUTANTS:-120}" \
	>"$work/expected.tsv"
verdict $? "hostile_elf.py writes $(wc -l <"$work/expected.tsv") files"

mkfifo "$work/hold"
exec {hold}<>"$work/hold"
begin=$SECONDS
mapfile -t names < <(cut -f1 "$work/expected.tsv")
"$hostile" map "${names[@]/#/$files/}" <"$work/hold" >"$work/objects" &
mapper=$!
while kill -0 "$mapper" 2>/dev/null && ! grep -q '^end' "$work/objects" && [ $((SECONDS - begin)) -lt 120 ]; do
	sleep 0.5
done
grep -q '^end' "$work/objects"
verdict $? "a process maps all hostile files as code"
diag "all files were mapped and their objects settled after $((SECONDS - begin)) s"
like "$(grep '^own' "$work/objects")" $'^own\t0\t' "hostile files mapped: the process's own stack is complete at the end"
is "$(grep -c '^own stack' "$work/objects")" 0 "hostile files mapped: the process's own stack is complete after each mmap"
[ -z "${KEEP_DIR:-}" ] || cp "$work/objects" "$work/expected.tsv" "$KEEP_DIR/"
# the state of each file's object
while IFS=$'\t' read -r name expected wanted state why; do
	case $expected,$state in
	refused:,refused) is "$why" "$wanted" "$name is refused: $wanted" ;;
	ready,ready | any,ready) ok "$name is accepted" ;;
	refused,refused | refused,failed | refused,no_cfi | any,refused | any,failed | any,no_cfi)
		like "$why" '^[a-z_]+$' "$name is $state: $why" ;;
	*) not_ok "$name: expected $expected, is \"$state\" $why" ;;
	esac
done < <(awk -F'\t' -v d="$files/" '
	NR == FNR { if ($1 == "object") { state[$7] = $2; why[$7] = $3 } next }
	$1 !~ /^mutant/ { print $1 "\t" $2 ($3 == "" ? "" : ":") "\t" ($3 == "" ? "-" : $3) "\t" state[d $1] "\t" why[d $1] }' \
	"$work/objects" "$work/expected.tsv")
is "$(grep -c "/mutant-[0-9]*\$" "$work/objects")" "$(grep -c ^mutant- "$work/expected.tsv")" \
	"each mutant has an object in the status"
is "$(grep "/mutant-" "$work/objects" | awk -F'\t' '$2 == "pending"' | wc -l)" 0 "no mutant's object is pending"
diag "mutants by state: $(grep mutant- "$work/objects" | cut -f2 | sort | uniq -c | tr '\n' ' ')"
echo >&"$hold"
wait "$mapper"
verdict $? "the process that mapped the hostile files ends with status 0"
held() { awk -F'\t' -v d="$files" '$1 == "object" && index($7, d) && $6 > 0' /dev/kunwind | wc -l; }
# a worker drops the references after a grace period (kmod/space/reap.c)
begin=$SECONDS
until [ "$(held)" -eq 0 ] || [ $((SECONDS - begin)) -ge 20 ]; do sleep 0.2; done
is "$(held)" 0 "after its end no process holds an object of a hostile file"

# a library that works, except for its .eh_frame
cp "$progs/plugin.so" "$work/plugin-broken.so"
offset=$((16#$(readelf -SW "$progs/plugin.so" | awk '$2 == ".eh_frame" || $3 == ".eh_frame" { sub(/.*PROGBITS +/, ""); print $2 }')))
printf '\x09' | dd of="$work/plugin-broken.so" bs=1 seek=$((offset + 8)) conv=notrunc status=none
like "$("$hostile" through "$progs/plugin.so")" '^0 ([5-9]|1[0-9]) ' "good library: a stack through it is complete"
gcc -O2 -g -shared -fPIC -fno-asynchronous-unwind-tables "$(dirname "$0")/../fixtures/plugin.c" -o "$work/plugin-debug.so"
is "$(readelf --debug-dump=frames "$work/plugin-debug.so" | sed -n '/debug_frame/,$p' | grep -c FDE)" 2 \
	"library with .debug_frame: its two functions have FDEs there"
is "$("$hostile" through "$work/plugin-debug.so")" "$("$hostile" through "$progs/plugin.so")" \
	"library with .debug_frame: a stack through it is as through the good one"
read -r reason count own < <("$hostile" through "$work/plugin-broken.so")
# The walk analyses the library's code (kmod/core/nocfi/step.c).
read -r _ whole _ < <("$hostile" through "$progs/plugin.so")
is "$reason $count" "0 $whole" "library with broken .eh_frame: a stack through it is complete, $own addresses to the library"

# a file that is truncated while it is mapped
cp "$libz" "$work/shrinks.so"
like "$("$hostile" truncate "$work/shrinks.so")" '^0 ' "file truncated and written again while mapped: a stack through it is complete"

adopt "$hostile" liar "${ROUNDS:-20000}"
is "$(awk '$1 == "stat" && $2 == "processes" { print $3 }' /dev/kunwind)" 0 "no process is registered at the end"
check "the module is unloaded" rmmod kunwind
done_testing
