#!/bin/bash
# SPDX-License-Identifier: MIT
# vm: --mem 6000
# timeout: 900
#
# p-programs.sh - stacks of widely used programs (programs/README) equal
# eu-stack's
#
# "make check-programs" runs this test. Each program is registered from its
# start and traced until all its threads wait in a system call. Then the stack
# of each thread is compared with eu-stack's.

. "$(dirname "$0")/../oracle/session.sh"
# shellcheck disable=SC2034 # the commands in programs/list use these two
source=$here/programs/source built=$here/../../build/programs
export HOME=/root

check "the module loads" modprobe kunwind
cat >"$work/nginx.conf" <<-END
	events {}
	error_log /dev/null;
	pid $work/nginx.pid;
	http { server { listen 7799; } }
END
cat >"$work/haproxy.cfg" <<-END
	global
	 nbthread 2
	defaults
	 mode http
	 timeout connect 5s
	 timeout client 5s
	 timeout server 5s
	frontend f
	 bind :7798
END
if [ -x /usr/lib/postgresql/15/bin/initdb ]; then
	chmod 755 "$work"
	install -d -o postgres "$work/postgres"
	setpriv --reuid=postgres --regid=postgres --clear-groups \
		/usr/lib/postgresql/15/bin/initdb -D "$work/postgres" >/dev/null 2>&1
fi
mkdir "$work/tor" "$work/my"

session_begin "$work/trace"
verdict $? "an LTTng session with the context callstack-user starts"
mkfifo "$work/never"
exec {never}<>"$work/never"
while IFS=$'\t' read -r name _ package command; do
	case $name in "#"*) continue ;; esac
	eval "words=($command)"
	if command -v "${words[0]}" >/dev/null || [ "$name" = postgres ] && [ -d "$work/postgres/base" ]; then
		start "$name" "${words[@]}"
	else
		skip "stacks of $name" "package $package is not installed"
	fi
done <"$here/programs/list"

mapfile -t pids < <(cut -f2 "$work/programs.tsv")
# Some threads poll, and never rest. Their stacks are compared too, and must be
# equal.
SETTLE=60 settle "${pids[@]}" || diag "some threads do not rest"
session_end
: >"$work/alive.tsv"
while IFS=$'\t' read -r name pid; do
	if [ -d "/proc/$pid" ]; then
		printf '%s\t%s\n' "$name" "$pid" >>"$work/alive.tsv"
		examine "$name" "$pid"
	else
		not_ok "$name waits for its input"
		head -c 300 "$work/$name/err" | sed "s/^/# $name: /"
	fi
done <"$work/programs.tsv"
kunwind status | sed 's/^/# /'
kunwind status --tsv | grep ^method | sed 's/^/# /'
[ -z "${KEEP_DIR:-}" ] || cp -r "$work/trace" "$work/eu" "$work/alive.tsv" "$KEEP_DIR/"
adopt /usr/bin/python3 "$oracle/blocked.py" "$work/trace" "$work/alive.tsv" "$work/eu" \
	--kinds "$here/programs/list"
kill -9 "${pids[@]}" 2>/dev/null
wait 2>/dev/null
check "the module is unloaded" rmmod kunwind
done_testing
