# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Functions of the tests of kunwind_sample, sourced after oracle/session.sh

sampled=$oracle/sampled.py
parameters=/sys/module/kunwind/parameters

status() { kunwind status --tsv | awk -F '\t' -v k="$1" -v n="$2" '$1 == k && (n == "" || $2 == n) { print $(n == "" ? 2 : 3) }'; }
stat_of() { status stat "$1"; }
# begin DIR [EVENT...]: samples, and these events with user stacks
begin() {
	local dir=$1
	shift
	pgrep -x lttng-sessiond >/dev/null || lttng-sessiond --daemonize >/dev/null
	lttng -q create sampler --output="$PWD/$dir"
	lttng -q enable-channel -k samples --subbuf-size=4M --num-subbuf=8
	lttng -q enable-event -k -c samples kunwind_sample
	if [ $# -gt 0 ]; then
		lttng -q enable-channel -k all --subbuf-size=4M --num-subbuf=16
		lttng -q add-context -k -c all -t callstack-user -t callstack-kernel -t vpid -t vtid
		lttng -q enable-event -k -c all "$(IFS=,; echo "$*")"
	fi
	lttng -q start
	until [ "$(status sampler '')" != off ] || [ "$(kunwind status --tsv | grep -c '^sampler.*error')" -gt 0 ]; do sleep 0.1; done
}
# burn SAMPLES COMMAND...: COMMAND, which runs ./burner with its truth as output,
# until there are that many samples. A busy host makes the timer late, so that
# there are fewer samples a second.
burn() {
	local before wanted=$1
	shift
	before=$(stat_of samples)
	"$@" >truth 2>burn.err &
	until [ $(($(stat_of samples) - before)) -ge "$wanted" ]; do sleep 0.2; done
	pkill -TERM -x burner
	wait $!
}
end() { lttng -q stop; lttng -q destroy sampler; }
# A thread that sleeps with a queued task work of kunwind's holds the module. The session
# daemon ends first. All other threads are stopped for a moment: a stop runs task works.
unload() {
	local pid
	pkill -x lttng-sessiond
	for pid in $(ps -e -o pid= --no-headers); do
		[ "$pid" -le 2 ] || [ "$pid" = $$ ] || kill -STOP "$pid" && kill -CONT "$pid"
	done 2>/dev/null
	unloads() { rmmod kunwind 2>/dev/null; }
	eventually "the module is unloaded" unloads
	[ -d /sys/module/kunwind ] || return
	diag "references: $(cat /sys/module/kunwind/refcnt), modules: $(ls /sys/module/kunwind/holders)"
	diag "$(kunwind status --tsv)"
}
list() { "$sampled" "$1" list; }
