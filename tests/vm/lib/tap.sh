# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# TAP for test scripts, which source this file first:
#
#   . "$(dirname "$0")/lib/tap.sh"
#   need lttng babeltrace2            # if one is missing, the file is skipped
#   check "the module loads" modprobe kunwind
#   is "$(kunwind system-wide)" off "system_wide is off by default"
#   done_testing                      # the plan: without it the file fails
#
# A test file in the VM runs as root in the tree's directory. $KUNWIND_TMP is an
# empty directory of its own. After the file, guest-run ends left-over processes
# and unloads the modules. The first 20 lines of a file may have a line
# "# timeout: SECONDS" (300 if there is none) and "# vm: OPTIONS of scripts/vm".

tap_count=0
tap_failed=0

# Whether the kernel is a PREEMPT_RT kernel.
is_rt() { [[ $(uname -v) == *PREEMPT_RT* ]]; }

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

ok() {
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s\n' "$tap_count" "$*"
}

not_ok() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_count" "$*"
	# scripts/check-planted only needs to know whether the file fails
	[ -z "${KUNWIND_FIRST_FAILURE:-}" ] || exit 1
}

skip() { # DESCRIPTION REASON
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# Repeats a program's unnumbered TAP, read from FILE, as tests of this file.
tap_from() { # FILE [PREFIX]
	local line
	while IFS= read -r line; do
		case $line in
		'ok - '*) ok "${2-}${line#ok - }" ;;
		'not ok - '*) not_ok "${2-}${line#not ok - }" ;;
		*) diag "${line#\# }" ;;
		esac
	done <"$1"
}

# is GOT WANTED DESCRIPTION
is() {
	if [ "$1" = "$2" ]; then
		ok "$3"
	else
		not_ok "$3"
		diag "got:    $1"
		diag "wanted: $2"
	fi
}

# like GOT EXTENDED-REGEX DESCRIPTION
like() {
	if [[ $1 =~ $2 ]]; then
		ok "$3"
	else
		not_ok "$3"
		diag "got:            $1"
		diag "does not match: $2"
	fi
}

# verdict STATUS DESCRIPTION: passes if STATUS is 0
verdict() {
	if [ "$1" -eq 0 ]; then ok "$2"; else not_ok "$2"; fi
}

# check DESCRIPTION COMMAND...: COMMAND succeeds; if not, its output is shown
check() {
	local what=$1 out status=0
	shift
	out=$("$@" 2>&1 </dev/null) || status=$?
	if [ "$status" -eq 0 ]; then
		ok "$what"
	else
		not_ok "$what"
		diag "status $status of: $*"
		diag "$out"
	fi
	return "$status"
}

# check_fails STATUS DESCRIPTION COMMAND...: COMMAND ends with STATUS
check_fails() {
	local want=$1 what=$2 out status=0
	shift 2
	out=$("$@" 2>&1 </dev/null) || status=$?
	if [ "$status" -eq "$want" ]; then
		ok "$what"
	else
		not_ok "$what"
		diag "status $status, wanted $want, of: $*"
		diag "$out"
	fi
}

# eventually DESCRIPTION COMMAND...: COMMAND succeeds within 1200 tries, which
# take at least two minutes
eventually() {
	local what=$1 i
	shift
	for ((i = 0; i < 1200 * ${KUNWIND_TIMEOUT_SCALE:-1}; i++)); do
		if "$@"; then
			ok "$what"
			return
		fi
		sleep 0.1
	done
	not_ok "$what"
	diag "tried $i times: $*"
}

# need COMMAND...: skips the whole file if a command is missing
need() {
	local command
	for command in "$@"; do
		command -v "$command" >/dev/null && continue
		printf '1..0 # SKIP no %s\n' "$command"
		exit 0
	done
}

done_testing() {
	printf '1..%d\n' "$tap_count"
	exit $((tap_failed > 0))
}
