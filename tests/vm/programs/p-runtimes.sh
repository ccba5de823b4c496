#!/bin/bash
# SPDX-License-Identifier: MIT
#
# p-runtimes.sh - stacks of run-time systems that manage stacks themselves:
# OpenJDK, Python with "-X perf", Ruby's fibers, PHP, Go with C, makecontext(3)
#
# Each program calls C and is called back by it. C records its return addresses
# (fixtures/runtimes/record.h). "make check-runtimes" installs what the test needs,
# and runs it.
#
# vm: --mem 6000
# timeout: 1200

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng babeltrace2 gcc

built=$fixtures/runtimes
source=$here/fixtures/runtimes
number=100
mkdir -p "$built"
java_home=$(readlink -f "$(command -v javac)")
java_home=${java_home%/bin/javac}
build() {
	gcc -O2 -fomit-frame-pointer -shared -fPIC ${java_home:+-DWITH_JAVA "-I$java_home/include" \
		"-I$java_home/include/linux"} -o "$built/libnested.so" "$source/nested.c" &&
	gcc -O2 -o "$built/context" "$source/context.c" || return 1
	[ -z "$java_home" ] || javac -d "$built" "$source/Nested.java" || return 1
	! command -v go >/dev/null || (cd "$source/cgo" && HOME=/root go build -buildvcs=false -o "$built/cgo" .)
}
check "the programs are built" build
check "the module loads" modprobe kunwind

# ONLY="TITLE...": run only these
# play NAME-OF-THE-EVENTS TITLE PATTERN NAMES "LETTER=FILE..." COMMAND...
play() {
	[ -z "${ONLY:-}" ] || [[ " $ONLY " == *" $2 "* ]] || return 0
	local name=$1 title=$2 pattern=$3 names=$4 letters=$5 dir=$work/$2
	shift 5
	command -v "$1" >/dev/null || { skip "$title" "$1 is not installed"; return; }
	diag "$title: $*"
	reasons >"$dir.before"
	session_begin "$dir" --syscall openat
	kunwind run -- "$@" >"$dir.maps" 2>"$dir.err" 9>"$dir.record"
	is "$?" 0 "$title: exits with status 0"
	session_end
	head -c 1000 "$dir.err" | sed 's/^/# /'
	reasons | join "$dir.before" - | awk '$3 > $2 { printf "# %s: %d\n", $1, $3 - $2 }'
	# shellcheck disable=SC2086
	adopt /usr/bin/python3 "$oracle/runtimes.py" "$dir" "$dir.maps" "$dir.record" "$name" \
		"$number" "$pattern" "$names" $letters
}

# Between two calls of C: the native method's entry, nine frames of recurse(),
# five methods above it, and the stub by which libjvm calls (main() is one
# more). Then libjvm.
files="c=libc. n=libnested v=libjvm l=libjli"
by=JavaCalls
names=record_open,Java_Nested_opens,$by,Java_Nested_back,$by,Java_Nested_back,$by,JavaMain
java=(-cp "$built" Nested "$built/libnested.so" "$number")
play java java-Xint 'c*nn(j{16}v+n){2}j{17}v+l+cc' "$names" "$files" java -Xint "${java[@]}"
# compiled: some methods are inlined
play java java-fp 'c*nn(j+v+n){2}j+v+l+cc' "$names" "$files" \
	java -Xbatch -XX:+PreserveFramePointer "${java[@]}"
play java java 'c*nn(j+v+n){2}j+v+l+cc' "$names" "$files" java -Xbatch "${java[@]}"

files="c=libc. n=libnested p=python3 p=libpython f=libffi t=_ctypes"
names=record_open,opens,back,back,Py_BytesMain,_start
if python3 -X perf -c 'import sys; sys.exit(not sys.is_stack_trampoline_active())' 2>/dev/null; then
	# A trampoline for each Python function. gdb 16 finds it, too, if it is
	# given the trampoline's code:
	# "sub $8,%rsp; call *%rcx; add $8,%rsp; ret"
	deep='f+t+p+(jp+){6}t+f+'
	play python python-perf "c*nn(${deep}n){2}${deep}t+p+jp+c+p" "$names" "$files" \
		python3 -X perf "$source/nested.py" "$built/libnested.so" "$number"
fi
play python python 'c*nn(f+t+p+t+f+n){2}f+t+p+t+f+t+p+c+p' "$names" "$files" \
	python3 "$source/nested.py" "$built/libnested.so" "$number"
# The stack ends where the fiber begins, in libruby. The object between is
# fiddle.
play ruby ruby 'c*nn(f+[?]r[?]r+[?]r[?]f+n){3}f+[?]r[?]r+' \
	record_open,opens,back,back,back \
	"c=libc. n=libnested r=libruby f=libffi" \
	ruby "$source/fiber.rb" "$built/libnested.so" "$number"
play php php 'c*nn(f+[?]p+[?]f+n){3}f+[?]p+c+p' \
	record_open,opens,back,back,back,_start \
	"c=libc. n=libnested p=php f=libffi" \
	php -d ffi.enable=true "$source/nested.php" "$built/libnested.so" "$number"
# Go's frame pointers end in runtime.main()
names=record_open,opens,asmcgocall,runtime.cgocall,main.recurse*21,main.main,runtime.main
play cgo cgo 'c*g+' "$names" "c=libc. g=cgo" "$built/cgo"
# Go, called back by C that Go called. Go runs on the goroutine's stack, C on
# the thread's.
names=record_open,opens,asmcgocall,main.recurse*5,calledBack,runtime.cgocallback,crosscall2
names+=,calls,asmcgocall,main.recurse*5,calledBack,runtime.cgocallback,crosscall2
names+=,calls,asmcgocall,main.recurse*21,main.main,runtime.main
play cgo cgo-back 'c*g+' "$names" "c=libc. g=cgo" "$built/cgo" 2
play context context 'c*m{23}c' "record_open,recurse*21,coroutine" "c=libc. m=context" \
	"$built/context"

kunwind status --tsv | grep ^method | sed 's/^/# /'
check "the module is unloaded" rmmod kunwind
done_testing
