#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 900
# long: only
#
# t-symbolize.sh - names for a trace that was moved to another place
#
# A workload of python3, sqlite3 and git is recorded, and the objects that it
# ran are copied by build-id. With only that copy, each frame must get the name
# that eu-addr2line finds in the original. The babeltrace2 plug-in gives the
# same names to any component after it. Kernel stacks are named from kallsyms.

. "$(dirname "$0")/../lib/tap.sh"
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

# --------------------------------------- inlined functions, through babeltrace2
begin inlined "-t callstack-user -t callstack-kernel" gettid
kunwind run -- ./inline
end
filter() { babeltrace2 "$@" 2>"$KUNWIND_TMP/stderr"; }
component=filter.kunwind.symbolize
filter inlined >plain
filter inlined -c $component >structured
filter inlined -c $component --params 'format="text"' >text
is "$(wc -l <structured)" "$(wc -l <plain)" "plug-in: no event is lost or added"
line=$(grep syscall_entry_gettid text | head -n 1)
like "$line" "\"innermost \(inlined\) at .*inline.c:3\".*\"middle \(inlined\) at .*inline.c:6\".*\"outer\+0x[0-9a-f]+ \($KUNWIND_TMP/inline\) at .*inline.c:8\".*\"main\+0x" \
	"plug-in, text: inlined functions and lines, innermost first"
line=$(grep syscall_entry_gettid structured | head -n 1)
like "$line" "function = \"middle\", offset = 0x0, inlined = 1, file = \"[^\"]*inline.c\", line = 6, object = \"$KUNWIND_TMP/inline\"" \
	"plug-in, structure: function, inlined, file, line and object"
before=$(grep syscall_entry_gettid plain | head -n 1)
before=${before%\{ \}}
is "${line:0:${#before}}" "$before" "plug-in: other fields of the event are unchanged"
like "$line" "callstack_kernel_frames = \[ \[0\] = \{ address = 0x[0-9A-F]+, function = \"[a-z]" "plug-in: kernel stacks have names"
address=$(sed -n 's/.*callstack_kernel_frames = \[ \[0\] = { address = 0x\([0-9A-F]*\), function = "\([^"]*\)", offset = 0x\([0-9A-F]*\).*/\1 \2 \3/p' <<<"$line")
read -r address function offset <<<"$address"
is "$(awk -v name="$function" '$3 == name { print $1; exit }' /proc/kallsyms)" \
	"$(printf '%016x' $((16#$address - 16#$offset)))" "plug-in: a kernel function has its address in kallsyms ($function)"
text=$(filter inlined -c $component --params 'local=no' | grep syscall_entry_gettid | head -n 1)
like "$text" 'why = "no such file"' "plug-in, local=no: files of this host are not used"
is "$(grep -c 'function = "outer"' <<<"$text")" 0 "plug-in, local=no: frames have no names"
filter inlined -c $component -o ctf -w "$KUNWIND_TMP/written" >/dev/null
is "$(babeltrace2 written | grep -c 'function = "outer"')" "$(grep -c 'function = "outer"' structured)" "plug-in: a trace written by sink.ctf.fs has the names"
check_fails 1 "plug-in: an unknown parameter is refused" babeltrace2 inlined -c $component --params 'colour="red"'
check_fails 1 "plug-in: a parameter of the wrong type is refused" babeltrace2 inlined -c $component --params 'lines=3'

# -------------------------------- a workload, named from copies of its objects
begin work "-t callstack-user" openat,read,newfstatat,mmap,write,pread64
cat >work.sh <<'END'
python3 -c 'import json, sqlite3, re; c = sqlite3.connect("db2"); c.execute("create table t(a)"); c.executemany("insert into t values (?)", [(i,) for i in range(50)]); c.commit(); print(json.dumps({"n": c.execute("select sum(a) from t").fetchone()}))'
sqlite3 db 'create table t(a); insert into t values (1), (2), (3); select count(*) from t;'
git init -q repo && cd repo && echo x >file && git add file && git -c user.name=n -c user.email=e commit -q -m m && git log --oneline
END
/usr/bin/env PATH=/usr/local/bin:/usr/bin:/bin kunwind run -- sh work.sh >work.out 2>&1
end
cat work.out | head -n 5 | sed 's/^/# /'
like "$(cat work.out)" '"n": \[1225\]' "the workload has run"

# a copy of all objects by their build-id, laid out as on a server
mkdir -p saved carried
kunwind show --tsv --no-lines work | awk -F '\t' '$1 == "frame" && $9 != "" && $7 ~ "^/" { print $9 "\t" $7 }' | sort -u >objects
while IFS=$'\t' read -r id path; do
	mkdir -p "saved/.build-id/${id:0:2}"
	cp "$path" "saved/.build-id/${id:0:2}/${id:2}"
	[ ! -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ] ||
		cp "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" "saved/.build-id/${id:0:2}/${id:2}.debug"
done <objects
# debug files refer to the common parts that dwz moved, in .dwz beside .build-id
[ ! -d /usr/lib/debug/.dwz ] || cp -r /usr/lib/debug/.dwz saved/
mv work carried/trace
kunwind show --tsv --no-local --debug-dir saved carried/trace >named
kunwind show --tsv carried/trace >here
# Prints frames of objects with a build-id in the trace, and their source lines,
# except those of the vDSO, which the copy does not have.
known() { awk -F '\t' '$1 != "source" { keep = $1 == "frame" && $9 != "" && $7 ~ "^/" } keep' "$1"; }
is "$(diff <(known here) <(known named) | head -n 5)" "" "copy: names and lines are those from the originals"
named_nr=$(awk -F '\t' '$1 == "frame" && $5 != ""' named | wc -l)
check "copy: at least 1,000 frames are named ($named_nr)" test "$named_nr" -ge 1000

# Each distinct frame is compared with eu-addr2line on the original: the start
# of the function and, for libc with debug information, functions and lines.
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
		# except for the innermost frame, only a signal trampoline's is
		# exact
		if [ "$offset" = - ] || [ "$their" = - ]; then
			[ "$offset" = "$their" ] || wrong+="$object $at: $offset, theirs $their"$'\n'
		elif [ $((offset - minus)) -ne $((their)) ]; then
			wrong+="$object $at: $offset - $minus, theirs $their"$'\n'
		fi
	done < <(paste -d ' ' ours theirs)
done < <(cut -f 1 distinct | sort -u)
is "$(head -n 5 <<<"$wrong")" "" "copy: functions of $compared distinct frames start where eu-addr2line says"
check "copy: at least 300 distinct frames are compared" test "$compared" -ge 300

libc=$(readlink -f /lib/x86_64-linux-gnu/libc.so.6)
id=$(readelf -nW "$libc" | awk '/Build ID/ { print $NF }')
if [ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]; then
	# the source lines of each return address in libc, with those of inlined
	# functions
	awk -F '\t' -v OFS='\t' -v libc="$libc" '
		$1 == "frame" { if (key != "") print key, chain; key = ($7 == libc && $3 > 0) ? $8 : ""; chain = "" }
		$1 == "source" { n = split($6, part, "/"); chain = chain " " part[n] ":" $7 }
		END { if (key != "") print key, chain }' named | sort -u >ours
	cut -f 1 ours | while read -r at; do printf '0x%x\n' $((at - 1)); done >asked
	eu-addr2line -a -i -f -e "$libc" <asked | awk '
		/^0x/ { if (seen++) print chain; chain = ""; n = 0; next }
		++n % 2 == 0 { m = split($0, part, "/"); split(part[m], line, ":"); sub(/ .*/, "", line[2]); chain = chain " " line[1] ":" line[2] }
		END { print chain }' >theirs
	is "$(diff <(cut -f 2 ours) theirs | head -n 5)" "" "libc: source lines of $(wc -l <ours) return addresses are eu-addr2line's"
else
	skip "libc: source lines of return addresses" "no libc6-dbg"
fi

# --------------------------------- wrong and damaged files under a build-id
python=$(readlink -f /usr/bin/python3)
id=$(readelf -nW "$python" | awk '/Build ID/ { print $NF }')
cp /usr/bin/git "saved/.build-id/${id:0:2}/${id:2}"
kunwind show --tsv --no-local --debug-dir saved carried/trace >without
is "$(awk -F '\t' -v object="$python" '$1 == "frame" && $7 == object && $5 != ""' without | wc -l)" 0 \
	"another object under python's build-id: python's frames have no names"
is "$(awk -F '\t' -v object="$python" '$1 == "frame" && $7 != object' <(known without) | md5sum)" \
	"$(awk -F '\t' -v object="$python" '$1 == "frame" && $7 != object' <(known named) | md5sum)" "another object under python's build-id: other frames keep their names"
head -c 5000 "$python" >"saved/.build-id/${id:0:2}/${id:2}"
kunwind show --tsv --no-local --debug-dir saved carried/trace >cut
is "$(awk -F '\t' -v object="$python" '$1 == "frame" && $7 != object' <(known cut) | md5sum)" \
	"$(awk -F '\t' -v object="$python" '$1 == "frame" && $7 != object' <(known named) | md5sum)" "a truncated object under python's build-id: other frames keep their names"
done_testing
