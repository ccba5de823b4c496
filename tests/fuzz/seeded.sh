#!/bin/bash
# SPDX-License-Identifier: MIT
#
# seeded.sh OUT CC CFLAGS... - are bugs found?
#
# Plants one bug at a time in a copy of the core, a line changed by sed, builds
# the fuzzers with it and runs them: first over the inputs that are kept, then,
# where these do not show it, under libFuzzer for at most 60 s. TAP: each must be
# found; without a bug they must pass. The core itself stays as it is. OUT/core
# holds its objects, which serve where the bug changes nothing.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
out=$(mkdir -p "$1/seeded" && realpath "$1/seeded")
cc=$2
shift 2
flags=("$@")
clang=${CLANG:-clang}
n=0 failed=0

# of the fuzzers that count the work: as in the Makefile
cost=(-DCOST_CORE -include "$PWD/../unit/cost.h" -fsanitize-coverage=trace-pc)
cost_flags=()
for flag in "${flags[@]}"; do
	[[ $flag == -fsanitize=* || $flag == -fno-sanitize* ]] || cost_flags+=("$flag")
done

# plant FILE SED-EXPRESSION: a fresh copy, changed
plant() {
	rm -rf "$out/kmod"
	mkdir -p "$out/kmod"
	cp -r ../../kmod/core ../../kmod/uapi "$out/kmod/"
	[ -z "$1" ] || {
		sed -i "$2" "$out/kmod/core/$1"
		! cmp -s "../../kmod/core/$1" "$out/kmod/core/$1" || { echo "# nothing to change: $2"; return 1; }
	}
}

# build_replay CORE FILE SOURCES...: the changed file, what includes it, and the rest's
# objects, which lie in OUT/CORE
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
	# the program's own work is not counted
	if [ "$core" = cost ]; then flags=("${cost_flags[@]}" -fsanitize=undefined); fi
	"$cc" "${flags[@]}" "$@" "$out"/objects/*.o "$out"/objects/*/*.o -o "$out/replay"
}

report() {
	n=$((n + 1))
	echo "$1 $n - seeded: $2"
	[ "$1" = ok ] || failed=1
}

# bug TARGET NAME FILE SED-EXPRESSION; without FILE: nothing must be found
bug() {
	local target=$1 name=$2 inputs input t0=$SECONDS core=core flags=("${flags[@]}") sources=(slow.c)
	case $target in elf | walk | bare | cost-build | cost-walk) inputs=$target ;; *) inputs=eh ;; esac
	if [ "$target" = cost-build ]; then
		core=cost sources=()
	fi
	plant "${3-}" "${4-}" || { report 'not ok' "$name"; return; }
	if [ "$target" = cost-walk ]; then	# compiled in a way of its own
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
		# which one it was is known but for what the compiler's checks end at once
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

for target in build rows stages walk bare elf cost-build cost-walk; do
	bug $target "no bug in $target"
done
bug build 'a LEB128 number read past the end' cfi/bytes.h \
	's/while (b->at < b->end) {/while (b->at <= b->end) {/'
bug build 'a record that may end one byte too far' cfi/cfi.c \
	's/if (b.bad || len > kunwind_bytes_left(&b))/if (b.bad || len > kunwind_bytes_left(\&b) + 1)/'
bug build 'a lookup past its block' table/table.c 's/stops |= 0x80ULL << 8/stops |= 0 \& 8/'
bug rows 'a row that begins a byte late' table/table.c 's/below = ((lefts - sums)/below = ((lefts - EVERY_LANE - sums)/'
bug rows 'DW_CFA_restore_state without the CFA' cfi/program.c \
	's/^	row_copy(&p->row, &p->remembered\[--p->nr_remembered\]);/	memcpy(\&p->row.changed, \&p->remembered[--p->nr_remembered].changed, sizeof(p->row) - offsetof(struct kunwind_row, changed));/'
bug rows 'the first distance of two bytes' table/pack.c \
	's/likely(distance < KUNWIND_NEAR_DISTANCE)/likely(distance <= KUNWIND_NEAR_DISTANCE)/'
bug rows 'an FDE within another that ends both' table/build.c \
	's/outer->end == fde->start + fde->len)$/outer->end >= fde->start + fde->len)/'
bug stages 'a part that begins within an FDE' table/stages.c 's/(!b->nr_active && i - /(i - /'
bug stages 'an instruction whose register is not seen' cfi/program.c \
	's/^			p->needed |= KUNWIND_REG(reg);$/			p->needed |= KUNWIND_REG(reg \& 7);/'
bug walk 'an expression that takes what was not pushed' walk/expr_eval.h \
	's/if (sp < 2 || !kunwind_expr_binary(/if (!kunwind_expr_binary(/'
bug walk 'a register beyond the last' walk/wide.c 's/if (reg >= KUNWIND_NR_REGS)$/if (0)/'
bug bare 'a jump more than there is room for' nocfi/code.c 's/if (i == MOST_TARGETS)$/if (i > MOST_TARGETS)/'
bug cost-build 'an FDE that is run again is not paid for' table/build.c \
	's/ && !kunwind_budget_work(&b->budget, 2 \* (fde.code_end - fde.code))/ \&\& 0/'
bug cost-build 'a wide rule for each row, changed or not' table/build.c 's/likely(p->changed || !packed)/1/'
bug cost-walk 'an instruction of user code that the budget does not pay for' x86/insn.c \
	's/if (!text->left || !kunwind_pay(text->mem, 1))/if (!text->left)/'
bug elf 'an offset that wraps around' cfi/elf.c \
	's/off > p->size || len > p->size - off/off + len > p->size/'
echo "1..$n"
exit $failed
