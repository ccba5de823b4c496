# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Functions of the VM's tests for LTTng and for programs under test. Sourced.
#
#   session_begin DIRECTORY [EVENT-OPTIONS]...
#                              starts a session that records user stacks,
#                              by default at all system calls. CONTEXTS: which contexts
#   session_end                ends it
#   reasons                    prints how many stacks ended with each reason so far
#   start NAME COMMAND...      runs COMMAND in the background, registered, with
#                              random addresses; $pid
#   settle PID...              waits until all their threads stay asleep
#   examine NAME PID           writes the oracle's data of a program that sleeps
#   make_project DIRECTORY N   makes a C project of N files, for make
#
# If KUNWIND_STOCK is set, programs run without kunwind, to compare with LTTng
# alone.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=tests/vm/lib/tap.sh
. "$here/lib/tap.sh"
oracle=$here/oracle
progs=$here/../../build/vm-progs
progs=$(mkdir -p "$progs" && cd "$progs" && pwd -P)
work=${KUNWIND_TMP:-$(mktemp -d /tmp/test.XXXXXX)}
mkdir -p "$work/eu"

# Makes a program's TAP lines tests of this file, with this file's numbers.
adopt() { # COMMAND...
	local line plan=
	while IFS= read -r line; do
		case $line in
		"ok "*) ok "${line#ok * - }" ;;
		"not ok "*) not_ok "${line#not ok * - }" ;;
		1..*) plan=1 ;;
		*) printf '%s\n' "$line" ;;
		esac
	done < <("$@" 2>&1)
	[ -n "$plan" ] || not_ok "$*: prints the plan of its tests"
}

build_progs() {
	make -s -C "$here/fixtures" O="$progs" >"$work/build.log" 2>&1 || {
		cat "$work/build.log"
		echo "Bail out! the test programs do not build"
		exit 1
	}
}

# Contexts of a channel must be added before the session starts. The buffers are
# large enough for a whole test, because a lost event would be one not checked.
session_begin() {
	local dir=$1 context
	shift
	[ $# -gt 0 ] || set -- --syscall -a
	pgrep -x lttng-sessiond >/dev/null || lttng-sessiond --daemonize >/dev/null || return 1
	lttng -q create test --output="$dir" >/dev/null || return 1
	lttng -q enable-channel -k all --subbuf-size=4M --num-subbuf=16 || return 1
	for context in ${CONTEXTS-callstack-user vpid vtid}; do
		lttng -q add-context -k -c all -t "$context" || return 1
	done
	session_events "$@" || return 1
	lttng -q start
}

# Without LTTng's own daemons, which would trace their own writes of the trace.
others='$ctx.procname != "lttng-*" && $ctx.procname != "settle"'
session_events() { lttng -q enable-event -k -c all "$@" --filter "$others"; }

session_end() {
	lttng -q stop
	lttng -q destroy test
}

start() { # NAME COMMAND...
	local name=$1 random
	random=(setarch "$(uname -m)")
	shift
	mkdir -p "$work/$name"
	mkfifo "$work/$name/in"
	if [ -n "${KUNWIND_STOCK:-}" ]; then
		(exec "${random[@]}" "$@") <>"$work/$name/in" >"${OUTPUT:-$work/$name/out}" 2>"$work/$name/err" &
	else
		(exec "${random[@]}" ${KUNWIND_RUN:-kunwind run --} "$@") <>"$work/$name/in" >"${OUTPUT:-$work/$name/out}" 2>"$work/$name/err" &
	fi
	pid=$!
	printf '%s\t%s\n' "$name" "$pid" >>"$work/programs.tsv"
}

reasons() { kunwind status --tsv | awk -F'\t' '$1 == "reason" { print $2, $3 }' | sort; }

settle() { "$progs/settle" "${SETTLE:-240}" "$@"; }

# Writes what blocked.py needs of a program, after the session has ended.
examine() { # NAME PID
	local task
	eu-stack -q -n 0 -p "$2" >"$work/eu/$1.txt" 2>"$work/eu/$1.err"
	for task in /proc/"$2"/task/*; do
		printf '%s\t%s\n' "${task##*/}" "$(cat "$task/comm")"
	done >"$work/eu/$1.comm"
	cp "/proc/$2/maps" "$work/eu/$1.maps"
}

# Makes a C project of FILES files and a Makefile, in a new directory.
make_project() { # DIRECTORY FILES
	local dir=$1 i
	mkdir -p "$dir"
	for ((i = 0; i < $2; i++)); do
		cat >"$dir/f$i.h" <<-END
			struct s$i { struct s$i *next; long value[$((i % 7 + 1))]; };
			long f$i(struct s$i *s);
		END
		cat >"$dir/f$i.c" <<-END
			#include <stddef.h>
			#include <stdio.h>
			#include "f$i.h"
			long f$i(struct s$i *s)
			{
			    long sum = $i;
			    for (; s; s = s->next)
			        sum += s->value[0];
			    return sum;
			}
		END
		printf '#include "f%d.h"\n' "$i" >>"$dir/main.h"
	done
	printf '#include "main.h"\nint main(void) { return (int)f0(0); }\n' >"$dir/main.c"
	cat >"$dir/Makefile" <<-'END'
	objects := $(patsubst %.c,%.o,$(wildcard *.c))
	main: $(objects) ; $(CC) -o $@ $^
	%.o: %.c ; $(CC) -O1 -c -o $@ $<
	END
}
