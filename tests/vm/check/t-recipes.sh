#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 600
# long: only
#
# t-recipes.sh - the commands of docs/recipes.md work and answer the questions
#
# Runs each line of the page that begins with "    $ ", in order, as root, and
# each block "sql" by sqlite3, on the latest database. The exit status has to be 0, or that of the comment "exit status: N" before the
# command's output in the page. The comment "output has: TEXT; TEXT" names texts
# that the output of the last command has to contain. After the comment "needs
# event: NAME", the rest of the section is skipped if LTTng does not have this
# event for the kernel. On PREEMPT_RT, which runs the timers of ordinary threads
# in a softirq, "softirq: hrtimer" stands for the text "interrupt: timer".

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
need lttng babeltrace2 kunwind gcc sqlite3
export KUNWIND_TREE=$PWD
page=$KUNWIND_TREE/docs/recipes.md
getent group tracing >/dev/null || groupadd -r tracing
check "the module loads" modprobe kunwind
cd "$KUNWIND_TMP" || exit 1

out='' status=0 command='' ran=0 lacks='' sql='' in_sql=
# Runs a command, and remembers its status and output.
run_line() {
	judge
	command=$1 wanted=0 ran=$((ran + 1))
	# not in a subshell: later commands use its variables
	eval "$command" >"$KUNWIND_TMP/out.txt" 2>&1 </dev/null
	status=$? out=$(cat "$KUNWIND_TMP/out.txt")
}
# The status of the last command is judged when its comments are known.
judge() {
	[ -n "$command" ] || return
	is "$status" "$wanted" "exit status of: $command"
	[ "$status" = "$wanted" ] || diag "$out"
	command=''
}
while IFS= read -r line; do
	case $line in
	'## '*)
		judge
		lacks=''
		;;
	'<!-- needs event: '*)
		lacks=${line#*: } lacks=${lacks% -->}
		if ! events=$(lttng list --kernel </dev/null) || grep -qw "$lacks" <<<"$events"; then
			lacks=''
		fi
		;;
	esac
	[ -z "$lacks" ] || {
		[ "${line#'    $ '}" = "$line" ] || skip "${line#*\$ }" "LTTng has no event $lacks here"
		continue
	}
	if [ -n "$in_sql" ] && [ "$line" != '```' ]; then
		sql+=$line$'\n'
		continue
	fi
	case $line in
	'```sql')
		in_sql=y sql=''
		;;
	'```')
		in_sql=
		run_line "sqlite3 -column -header day.db \"\$sql\""
		;;
	'    $ '*)
		run_line "${line#*\$ }"
		;;
	'<!-- exit status: '*)
		wanted=${line#*: } wanted=${wanted%% *}
		;;
	'<!-- output has: '*)
		texts=${line#*: } texts=${texts% -->}
		! is_rt || texts=${texts//interrupt: timer/softirq: hrtimer}
		last=$command
		while IFS= read -r text; do
			grep -qF -- "$text" <<<"$out"
			found=$?
			verdict "$found" "the output of \"${last:0:60}\" has: $text"
			[ "$found" -eq 0 ] || diag "$out"
		done <<<"${texts//; /$'\n'}"
		;;
	esac
done <"$page"
judge
verdict "$((ran < 20))" "the page has at least twenty commands"
check "the modules are unloaded" sh -c 'pkill lttng-sessiond; while pgrep lttng-sessiond; do sleep 0.1; done; rmmod lttng_probe_kunwind kunwind'
done_testing
