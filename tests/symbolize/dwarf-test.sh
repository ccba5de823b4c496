#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Forms of debug information that are rare: functions below abstract ones, units whose ranges are
# missing or cover a part, split DWARF with a relative directory, and sections that libelf cannot read.
# The programs mark the places that are asked for, so lines and functions are known.
#
#   dwarf-test.sh SYMBOLIZE

symbolize=$(realpath "$1")
# shellcheck source=tests/symbolize/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# answer PROGRAM ADDRESS: "NAME FILE:LINE;..." for all functions, innermost first
answer() {
	echo "$2" | "$symbolize" -i "$PWD/$1" "$(build_id "$1")" 2>/dev/null | tail -n +3 |
		awk -F '\t' '{ n = split($2, part, "/"); printf "%s %s;", $1, part[n] }'
}
symbol() { nm "$1" | awk -v name="$2" '$3 == name { print "0x" $1; exit }'; }

cat >below.c <<'END'
#include <stdio.h>
static inline int square(int n) { __asm__ volatile(".globl mark_omp\nmark_omp:\n\tnop"); return n * n; }
static inline __attribute__((always_inline)) int run(int n)
{
	int sum = 0;
#pragma omp parallel for reduction(+:sum)
	for (int i = 0; i < n; i++)
		sum += square(i);
	return sum;
}
int main(int argc, char **argv) { (void)argv; printf("%d\n", run(argc * 100)); return 0; }
END
gcc -g -O2 -fopenmp below.c -Wl,--build-id -o below
is "$(answer below "$(symbol below mark_omp)" | sed 's/_omp_fn\.[0-9]*/_omp_fn/')" "square below.c:2;run._omp_fn below.c:8;" \
	"parallel region below an abstract function: the inlined function, and its caller's line" ||
	diag "$(symbol below mark_omp)"
cat >nested.c <<'END'
static inline int twice(int n) { __asm__ volatile(".globl mark_nested\nmark_nested:\n\tnop"); return n * 2; }
static inline __attribute__((always_inline)) int outer(int n)
{
	__attribute__((noinline)) int inner(int k)
	{
		return twice(k) + n;
	}
	return inner(n + 1);
}
int main(int argc, char **argv) { (void)argv; return outer(argc); }
END
gcc -g -O2 nested.c -Wl,--build-id -o nested
is "$(answer nested "$(symbol nested mark_nested)" | sed 's/inner\.[^ ]*/inner/')" "twice nested.c:1;inner nested.c:6;" \
	"nested function below an abstract function: the inlined function, and its caller's line"
cat >lambda.cc <<'END'
static inline int thrice(int n) { __asm__ volatile(".globl mark_lambda\nmark_lambda:\n\tnop"); return n * 3; }
static inline __attribute__((always_inline)) int outer(int n)
{
	auto inner = [n](int k) __attribute__((noinline)) {
		return thrice(k) + n;
	};
	return inner(n + 1);
}
int main(int argc, char **) { return outer(argc); }
END
g++ -g -O2 lambda.cc -Wl,--build-id -o lambda
is "$(answer lambda "$(symbol lambda mark_lambda)" | sed 's/ \[clone[^]]*\]//')" "thrice lambda.cc:1;outer(int)::{lambda(int)#1}::operator()(int) const lambda.cc:5;" \
	"lambda below an abstract function: the inlined function, and its caller's line"

# DWARF 2 cannot say that a unit has several ranges.
cat >ranges.c <<'END'
#include <stdlib.h>
extern void fail(int) __attribute__((cold, noreturn));
static int volatile sum;
__attribute__((noinline)) int hot(int n) { if (__builtin_expect(n > 100, 0)) { sum = n; fail(n); } return n * sum; }
void fail(int n) { sum = n; exit(n & 1); }
int main(int argc, char **argv) { (void)argv; return hot(argc * 50); }
END
gcc -O2 -gdwarf-2 -gstrict-dwarf -ffunction-sections ranges.c -Wl,--build-id -o ranges
for place in main:6 hot:4 fail:5 hot.cold:4; do
	name=${place%:*}
	is "$(answer ranges "$(symbol ranges "$name")")" "$name ranges.c:${place#*:};" "unit without ranges: the line of $name()"
done
objcopy --remove-section .debug_aranges ranges no-aranges
is "$(answer no-aranges "$(symbol ranges hot)")" "hot ranges.c:4;" "unit without ranges and without .debug_aranges: the line of hot()"

cat >one.c <<'END'
extern void stop(int);
static inline __attribute__((always_inline)) void inner(int n)
{
	stop(n); __asm__ volatile(".globl mark_split\nmark_split:\n\tnop");
}
__attribute__((noinline)) void outer(int n) { inner(n + 1); }
int main(int argc, char **argv) { (void)argv; outer(argc); return 0; }
END
echo 'void stop(int n) { (void)n; }' >two.c
for flags in "-gdwarf-5 -ffile-prefix-map=$PWD=." "-gdwarf-4 -ffile-prefix-map=$PWD=." "-gdwarf-5" \
	"-gdwarf-4 -fdebug-prefix-map=$PWD=/proc/self/cwd"; do
	rm -f ./*.o ./*.dwo
	gcc -g -O2 -gsplit-dwarf $flags -c one.c two.c && gcc -Wl,--build-id one.o two.o -o split
	is "$(answer split "$(symbol split mark_split)")" "inner one.c:4;outer one.c:6;" "split DWARF, ${flags/$PWD/DIR}: inlined functions and lines"
done

if objcopy --compress-debug-sections=zstd nested packed 2>/dev/null; then
	address=$(symbol packed mark_nested)
	why=$(echo "$address" | "$symbolize" "$PWD/packed" "$(build_id packed)" 2>/dev/null | head -n 1)
	[ "$why" = ok ] && why="$(answer packed "$address" | cut -d ';' -f 1)"
	is "$why" "$([[ $why == twice* ]] && echo twice nested.c:1 || echo "libelf cannot decompress its debug information: objcopy --decompress-debug-sections")" \
		"sections that are compressed by zstd: lines, or the reason why there are none"
else
	skip "sections that are compressed by zstd" "objcopy does not know zstd"
fi
done_testing
