#!/bin/bash
# SPDX-License-Identifier: MIT
#
# seeded.sh OUT CC CFLAGS... - check that the fuzzers find planted bugs
#
# Plants one bug at a time in a copy of the core (sed changes a line), and
# builds a fuzzer with it. Runs the fuzzer with the kept inputs; if none finds
# the bug, under libFuzzer for at most 60 s. Prints TAP: each bug must be found,
# and without a bug each fuzzer must pass. The core itself is not changed.
# OUT/core has its objects, which are used for files that the bug does not
# change.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
out=$(mkdir -p "$1/seeded" && realpath "$1/seeded")
cc=$2
shift 2
flags=("$@")
clang=${CLANG:-clang}
n=0 failed=0

# Flags of the fuzzers that count work: as in the Makefile.
cost=(-DCOST_CORE -include "$PWD/../unit/cost.h" -fsanitize-coverage=trace-pc)
cost_flags=()
for flag in "${flags[@]}"; do
	[[ $flag == -fsanitize=* || $flag == -fno-sanitize* ]] || cost_flags+=("$flag")
done

# plant FILE SED-EXPRESSION: makes a new copy of the core, and changes FILE in
# it
plant() {
	rm -rf "$out/kmod"
	mkdir -p "$out/kmod"
	cp -r ../../kmod/core ../../kmod/uapi "$out/kmod/"
	[ -z "$1" ] || {
		sed -i "$2" "$out/kmod/core/$1"
		! cmp -s "../../kmod/core/$1" "$out/kmod/core/$1" || { echo "# $1: no line matches $2"; return 1; }
	}
}

# build_replay CORE FILE SOURCES...: compiles the changed file and the files
# that include it; takes the other objects from OUT/CORE
build_replay() {
	local core=$1 changed=$2 source name flags=("${flags[@]}")
	shift 2
	if [ "$core" = cost ]; then flags=("${cost_flags[@]}" "${cost[@]}"); fi
	rm -rf "$out/objects"
	cp -r "$out/../$core" "$out/objects"
	for source in ../../kmod/core/*.c ../../kmod/core/*/*.c; do
		name=${source#../../kmod/core/} name=${name%.c}
		[ -n "$changed" ] || break
		"$cc" "${flags[@]}" -MM "$source" | tr ' ' '\n' | grep -q "/$changed\$" || continue
		"$cc" "${flags[@]//..\/..\/kmod\/core/$out/kmod/core}" -c "$out/kmod/core/$name.c" -o "$out/objects/$name.o"
	done
	# Work of the fuzzer itself is not counted.
	if [ "$core" = cost ]; then flags=("${cost_flags[@]}" -fsanitize=undefined); fi
	"$cc" "${flags[@]}" "$@" "$out"/objects/*.o "$out"/objects/*/*.o -o "$out/replay"
}

report() {
	n=$((n + 1))
	echo "$1 $n - seeded: $2"
	[ "$1" = ok ] || failed=1
}

# bug TARGET NAME [FILE SED-EXPRESSION]: the fuzzer must find the bug; without
# FILE, it must pass
bug() {
	local target=$1 name=$2 inputs input t0=$SECONDS core=core flags=("${flags[@]}") sources=(slow.c)
	case $target in elf | walk | nocfi | cost-build | cost-walk) inputs=$target ;; *) inputs=eh ;; esac
	if [ "$target" = cost-build ]; then
		core=cost sources=()
	fi
	plant "${3-}" "${4-}" || { report 'not ok' "$name"; return; }
	if [ "$target" = cost-walk ]; then	# the Makefile has other rules for it
		rm -rf "$out/counted" "$out/replay"
		make -s OUT="$out/counted" CORE="$out/kmod/core" "$out/counted/replay-$target" ||
			{ report 'not ok' "$name: not built"; return; }
		cp "$out/counted/replay-$target" "$out/replay"
	else
		build_replay "$core" "${3-}" "fuzz-$target.c" replay.c "${sources[@]}"
	fi
	if [ "$core" = cost ]; then
		flags=("${cost_flags[@]}" "${cost[@]}" -Wl,--wrap=__sanitizer_cov_trace_pc)
	fi
	if ! "$out/replay" x "../data/fuzz/$inputs.inputs" >"$out/log" 2>&1; then
		# the input's number is known unless a compiler's check ended
		# the program
		input=$(sed -n 's/^not ok.*: \(input [0-9]*\)$/\1/p' "$out/log")
		if [ $# -gt 2 ]; then report ok "$name: found by ${input:-a kept input}"
		else report 'not ok' "$name"; sed 's/^/# /' "$out/log" | tail -n 5; fi
		return
	fi
	[ $# -gt 2 ] || { report ok "$name"; return; }
	[ "$target" != cost-walk ] || { report 'not ok' "$name: not found"; return; }
	"$clang" "${flags[@]//..\/..\/kmod\/core/$out/kmod/core}" -fsanitize=fuzzer "fuzz-$target.c" "${sources[@]}" \
		"$out"/kmod/core/*.c "$out"/kmod/core/*/*.c -o "$out/fuzz"
	rm -rf "$out/corpus"
	./inputs.py unpack "../data/fuzz/$inputs.inputs" "$out/corpus"
	if (cd "$out" && ./fuzz -max_total_time=60 -max_len=4096 -timeout=10 corpus >log 2>&1); then
		report 'not ok' "$name: not found"
	else
		report ok "$name: found by the fuzzer after $((SECONDS - t0)) s"
	fi
}

for target in build rows parts walk nocfi elf cost-build cost-walk; do
	bug $target "fuzz-$target passes without a bug"
done
bug build 'LEB128 number is read past the end' cfi/bytes.h \
	's/while (b->at < b->end) {/while (b->at <= b->end) {/'
bug build 'record may end one byte after its section' cfi/cfi.c \
	's/if (b.bad || len > kunwind_bytes_left(&b))/if (b.bad || len > kunwind_bytes_left(\&b) + 1)/'
bug build 'lookup reads past its block' table/table.c 's/stops |= 0x80ULL << 8/stops |= 0 \& 8/'
bug rows 'row begins one byte late' table/table.c 's/below = ((lefts - sums)/below = ((lefts - EVERY_LANE - sums)/'
bug rows 'DW_CFA_restore_state does not restore the CFA' cfi/cfi_program.c \
	's/^	memcpy(&p->row, &last->row, offsetof(struct kunwind_row, saved));/	memcpy(\&p->row.changed, \&last->row.changed, 2 * sizeof(u32));/'
bug rows 'first distance of two bytes is packed as one byte' table/pack.c \
	's/likely(distance < KUNWIND_NEAR_DISTANCE)/likely(distance <= KUNWIND_NEAR_DISTANCE)/'
bug rows 'end of an inner FDE also ends the outer FDE' table/build.c \
	's/outer->start < fde->start && outer->end > end)$/0)/; s/outer->end == end)$/outer->end >= end)/'
bug parts 'part begins within an FDE' table/build_parts.c 's/(!b->nr_active && i - /(i - /'
bug parts 'needed register of an instruction is missed' cfi/cfi_program.c \
	's/^		p->needed |= KUNWIND_REG(reg);$/		p->needed |= KUNWIND_REG(reg \& 7);/'
bug walk 'expression pops from an empty stack' walk/expr_eval.h \
	's/if (sp < 2 || !kunwind_expr_binary(/if (!kunwind_expr_binary(/'
bug walk 'register number is not checked' walk/full_rule.c 's/if (reg >= KUNWIND_NR_REGS)$/if (0)/'
bug nocfi 'list of jump targets overflows by one' nocfi/code_analysis.c 's/if (i == MOST_TARGETS)$/if (i > MOST_TARGETS)/'
bug cost-build 'FDE that is run again is not charged' table/build.c \
	's/ && !kunwind_budget_work(&b->budget, 2 \* (fde.code_end - fde.code))/ \&\& 0/'
bug cost-build 'each unchanged row makes a full rule' table/build.c 's/likely(p->changed || !packed)/1/'
bug cost-walk 'decoded instruction of user code is not charged' x86/insn_decode.c \
	's/if (!text->left || !kunwind_pay(text->mem, 1))/if (!text->left)/'
bug elf 'sum of offset and size overflows' cfi/elf.c \
	's/off > p->size || len > p->size - off/off + len > p->size/'
echo "1..$n"
exit $failed
