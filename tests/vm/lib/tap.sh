# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# TAP for tests/vm/t-*.sh, which source it first:
#
#   . "$(dirname "$0")/lib/tap.sh"
#   need lttng babeltrace2            # or the whole file is skipped
#   is "$(cat /proc/kunwind)" "on" "it is on"
#   check "the module loads" modprobe kunwind
#   done_testing                      # the plan: without it the file has failed
#
# A test file runs as root in the VM, in the tree's directory, with
# $KUNWIND_TMP an empty directory of its own; the runner unloads the modules
# and ends left-over processes after it. A first comment block may say
# "# timeout: SECONDS" (300) and "# vm: OPTIONS of scripts/vm".

tap_count=0
tap_failed=0

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

ok() {
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s\n' "$tap_count" "$*"
}

not_ok() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_count" "$*"
	# scripts/check-planted needs to know only whether the file fails
	[ -z "${KUNWIND_FIRST_FAILURE:-}" ] || exit 1
}

skip() { # DESCRIPTION REASON
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# A program's unnumbered TAP, in a file, as tests of this one; PREFIX before each.
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

# check DESCRIPTION COMMAND...: COMMAND succeeds; its output is shown if not
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

# check_fails STATUS DESCRIPTION COMMAND...
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

# eventually DESCRIPTION COMMAND...: retries COMMAND until it succeeds once, for at least two minutes
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

# need COMMAND...: skip the whole file when one is missing
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
