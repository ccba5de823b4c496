#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 900
#
# Names for a trace that was carried away. A workload of python3, sqlite3 and
# git is recorded; what it ran is copied by build-id, and the trace is named from
# that copy alone: every frame as eu-addr2line names it in the originals. The
# plug-in for babeltrace2 gives the same to any component behind it; kernel
# stacks are named from kallsyms.

. "$(dirname "$0")/lib/tap.sh"
need lttng babeltrace2 kunwind gcc eu-addr2line python3 sqlite3 git

cd "$KUNWIND_TMP" || exit 1
unset DEBUGINFOD_URLS
cat >inline.c <<'END'
#include <sys/syscall.h>
#include <unistd.h>
static inline __attribute__((always_inline)) long innermost(void) { return syscall(SYS_gettid) + 1; }
static inline __attribute__((always_inline)) long middle(int i)
{
	return innermost() * i;
}
__attribute__((noinline)) long outer(int i) { return middle(i) + 2; }
int main(int argc, char **argv) { (void)argv; return outer(argc) == 0; }
END
gcc -g -O2 -fomit-frame-pointer -o inline inline.c || { echo "Bail out! the program does not build"; exit 1; }
{ modprobe kunwind && modprobe lttng-probe-kunwind; } || { echo "Bail out! no modules"; exit 1; }
lttng-sessiond --daemonize >/dev/null 2>&1

begin() { # DIRECTORY CONTEXTS EVENTS
	# shellcheck disable=SC2086
	lttng -q create names --output="$KUNWIND_TMP/$1" && lttng -q enable-channel -k all &&
		lttng -q add-context -k -c all -t vpid -t vtid -t pid -t procname $2 &&
		lttng -q enable-event -k -c all --syscall "$3" &&
		lttng -q enable-event -k -c all \
			kunwind_map,kunwind_unmap,kunwind_exec,kunwind_fork,kunwind_exit &&
		lttng -q start
}
end() { lttng -q stop && lttng -q destroy names; }

# ------------------------------------------------ inlined functions, through babeltrace2
begin inlined "-t callstack-user -t callstack-kernel" gettid
kunwind run -- ./inline
end
filter() { babeltrace2 "$@" 2>"$KUNWIND_TMP/stderr"; }
component=filter.kunwind.symbolize
filter inlined >plain
filter inlined -c $component >structured
filter inlined -c $component --params 'format="text"' >text
is "$(wc -l <structured)" "$(wc -l <plain)" "no event is lost or added"
line=$(grep syscall_entry_gettid text | head -n 1)
like "$line" "\"innermost \(inlined\) at .*inline.c:3\".*\"middle \(inlined\) at .*inline.c:6\".*\"outer\+0x[0-9a-f]+ \($KUNWIND_TMP/inline\) at .*inline.c:8\".*\"main\+0x" \
	"inlined functions and lines, innermost first"
line=$(grep syscall_entry_gettid structured | head -n 1)
like "$line" "function = \"middle\", offset = 0x0, inlined = 1, file = \"[^\"]*inline.c\", line = 6, object = \"$KUNWIND_TMP/inline\"" \
	"the same as a structure"
before=$(grep syscall_entry_gettid plain | head -n 1)
before=${before%\{ \}}
is "${line:0:${#before}}" "$before" "what the event had is unchanged"
like "$line" "callstack_kernel_frames = \[ \[0\] = \{ address = 0x[0-9A-F]+, function = \"[a-z]" "kernel stacks have names"
address=$(sed -n 's/.*callstack_kernel_frames = \[ \[0\] = { address = 0x\([0-9A-F]*\), function = "\([^"]*\)", offset = 0x\([0-9A-F]*\).*/\1 \2 \3/p' <<<"$line")
read -r address function offset <<<"$address"
is "$(awk -v name="$function" '$3 == name { print $1; exit }' /proc/kallsyms)" \
	"$(printf '%016x' $((16#$address - 16#$offset)))" "and kallsyms has that one there ($function)"
text=$(filter inlined -c $component --params 'local=no' | grep syscall_entry_gettid | head -n 1)
like "$text" 'why = "no such file"' "nothing of this host with local=no"
is "$(grep -c 'function = "outer"' <<<"$text")" 0 "and no names from it"
filter inlined -c $component -o ctf -w "$KUNWIND_TMP/written" >/dev/null
is "$(babeltrace2 written | grep -c 'function = "outer"')" "$(grep -c 'function = "outer"' structured)" "sink.ctf.fs writes them"
check_fails 1 "an unknown parameter" babeltrace2 inlined -c $component --params 'colour="red"'
check_fails 1 "a parameter of the wrong type" babeltrace2 inlined -c $component --params 'lines=3'

# ------------------------------------------------ a workload, carried away
begin work "-t callstack-user" openat,read,newfstatat,mmap,write,pread64
cat >work.sh <<'END'
python3 -c 'import json, sqlite3, re; c = sqlite3.connect("db2"); c.execute("create table t(a)"); c.executemany("insert into t values (?)", [(i,) for i in range(50)]); c.commit(); print(json.dumps({"n": c.execute("select sum(a) from t").fetchone()}))'
sqlite3 db 'create table t(a); insert into t values (1), (2), (3); select count(*) from t;'
git init -q repo && cd repo && echo x >file && git add file && git -c user.name=n -c user.email=e commit -q -m m && git log --oneline
END
/usr/bin/env PATH=/usr/local/bin:/usr/bin:/bin kunwind run -- sh work.sh >work.out 2>&1
end
cat work.out | head -n 5 | sed 's/^/# /'
like "$(cat work.out)" '"n": \[1225\]' "the workload ran"

# a copy of all objects by their build-id, as a server has them
mkdir -p saved carried
kunwind show --tsv --no-lines work | awk -F '\t' '$1 == "frame" && $9 != "" && $7 ~ "^/" { print $9 "\t" $7 }' | sort -u >objects
while IFS=$'\t' read -r id path; do
	mkdir -p "saved/.build-id/${id:0:2}"
	cp "$path" "saved/.build-id/${id:0:2}/${id:2}"
	[ ! -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ] ||
		cp "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" "saved/.build-id/${id:0:2}/${id:2}.debug"
done <objects
# where debug files look for what dwz moved: beside .build-id
[ ! -d /usr/lib/debug/.dwz ] || cp -r /usr/lib/debug/.dwz saved/
mv work carried/trace
kunwind show --tsv --no-local --debug-dir saved carried/trace >named
kunwind show --tsv carried/trace >here
# Frames with the build-id that the trace has, and their lines. The copy has no vDSO.
known() { awk -F '\t' '$1 != "source" { keep = $1 == "frame" && $9 != "" && $7 ~ "^/" } keep' "$1"; }
is "$(diff <(known here) <(known named) | head -n 5)" "" "the copy gives the names and lines that the originals give"
named_nr=$(awk -F '\t' '$1 == "frame" && $5 != ""' named | wc -l)
check "frames were named ($named_nr)" test "$named_nr" -ge 1000

# Every distinct frame against eu-addr2line on the original: where the function
# begins; where there is debug information, functions and lines.
known named | awk -F '\t' -v OFS='\t' '$1 == "frame" { print $7, $8, ($3 == 0 ? 0 : 1), ($5 == "" ? "-" : $6) }' |
	sort -u >distinct
wrong= compared=0
while read -r object; do
	awk -F '\t' -v object="$object" '$1 == object { print $2, $3, $4 }' distinct >ours
	while read -r at minus offset; do
		printf '0x%x\n' $((at - minus))
	done <ours >asked
	eu-addr2line -S -e "$object" <asked |
		awk 'NR % 2 { n = split($1, part, "+"); print ($1 ~ /^\(|^\?/ ? "-" : n > 1 ? part[n] : "0x0") }' >theirs
	while read -r at minus offset their; do
		compared=$((compared + 1))
		# a signal's trampoline is exact, and nothing but that one is
		if [ "$offset" = - ] || [ "$their" = - ]; then
			[ "$offset" = "$their" ] || wrong+="$object $at: $offset, theirs $their"$'\n'
		elif [ $((offset - minus)) -ne $((their)) ]; then
			wrong+="$object $at: $offset - $minus, theirs $their"$'\n'
		fi
	done < <(paste -d ' ' ours theirs)
done < <(cut -f 1 distinct | sort -u)
is "$(head -n 5 <<<"$wrong")" "" "each of $compared distinct frames begins where eu-addr2line says"
check "that many were compared" test "$compared" -ge 300

libc=$(readlink -f /lib/x86_64-linux-gnu/libc.so.6)
id=$(readelf -nW "$libc" | awk '/Build ID/ { print $NF }')
if [ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]; then
	# the chain of functions and lines of each return address in libc
	awk -F '\t' -v OFS='\t' -v libc="$libc" '
		$1 == "frame" { if (key != "") print key, chain; key = ($7 == libc && $3 > 0) ? $8 : ""; chain = "" }
		$1 == "source" { n = split($6, part, "/"); chain = chain " " part[n] ":" $7 }
		END { if (key != "") print key, chain }' named | sort -u >ours
	cut -f 1 ours | while read -r at; do printf '0x%x\n' $((at - 1)); done >asked
	eu-addr2line -a -i -f -e "$libc" <asked | awk '
		/^0x/ { if (seen++) print chain; chain = ""; n = 0; next }
		++n % 2 == 0 { m = split($0, part, "/"); split(part[m], line, ":"); sub(/ .*/, "", line[2]); chain = chain " " line[1] ":" line[2] }
		END { print chain }' >theirs
	is "$(diff <(cut -f 2 ours) theirs | head -n 5)" "" "lines of the $(wc -l <ours) return addresses in libc"
else
	skip "lines of return addresses in libc" "no libc6-dbg"
fi

# ------------------------------------------------ what is in the copy but is not it
python=$(readlink -f /usr/bin/python3)
id=$(readelf -nW "$python" | awk '/Build ID/ { print $NF }')
cp /usr/bin/git "saved/.build-id/${id:0:2}/${id:2}"
kunwind show --tsv --no-local --debug-dir saved carried/trace >without
is "$(awk -F '\t' -v object="$python" '$1 == "frame" && $7 == object && $5 != ""' without | wc -l)" 0 \
	"another object under python's build-id gives no names"
is "$(awk -F '\t' -v object="$python" '$1 == "frame" && $7 != object' <(known without) | md5sum)" \
	"$(awk -F '\t' -v object="$python" '$1 == "frame" && $7 != object' <(known named) | md5sum)" "and all others keep theirs"
head -c 5000 "$python" >"saved/.build-id/${id:0:2}/${id:2}"
kunwind show --tsv --no-local --debug-dir saved carried/trace >cut
is "$(awk -F '\t' -v object="$python" '$1 == "frame" && $7 != object' <(known cut) | md5sum)" \
	"$(awk -F '\t' -v object="$python" '$1 == "frame" && $7 != object' <(known named) | md5sum)" "one that is cut off costs its own names"
done_testing
