#!/bin/bash
# SPDX-License-Identifier: MIT
#
# front-end.sh - the lttng front end: a table of command lines, and the calls of
# the real lttng that each must cause
#
# A recorder, after the front end in PATH, takes the place of the real lttng. It
# writes each of its arguments, in brackets, to a file (those of "save" to
# another one), and ends with the status and output that the test sets. If lttng-tools is installed and no session
# daemon runs, the recorder also passes each enable-event to LTTng's lttng. That
# call fails, and its error names the session and the channel that lttng parsed:
# the front end must have parsed the same.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
build=$PWD/../../tools/build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/front" "$work/real" "$work/home" "$work/lttng-home"
ln -s "$build/lttng" "$work/front/lttng"
cat >"$work/real/lttng" <<'END'
#!/bin/bash
{
	printf '[%s]' "$@"
	echo
} >>"$([[ " $* " = *' save '* ]] && echo "$SAVES" || echo "$RECORD")"
if [ "$1" = enable-event ] && [ -n "$LTTNG" ] && [ ! -e "$PARSED" ]; then
	LC_ALL=C LTTNG_HOME=$LTTNG_HOMES "$LTTNG" "$@" 2>&1 |
		sed -n "s/.*(channel \(.*\), session \([^,]*\)\(, filter.*\)\?)\$/\2|\1/p" |
		head -n 1 >"$PARSED"
fi
[ -z "$ECHO_NAME" ] || echo "name=$0"
for word in "$@"; do
	case $word in
	add-context)
		[ -z "$CONTEXT_PRINTS" ] || echo "$CONTEXT_PRINTS"
		[ -z "$CONTEXT_SAYS" ] || echo "$CONTEXT_SAYS" >&2
		exit "${CONTEXT_STATUS:-0}" ;;
	save)
		for option in "$@"; do
			case $option in
			--output-path=*) printf '%s' "$SAVED" >"${option#*=}/${!#}.lttng" ;;
			esac
		done
		exit 0 ;;
	esac
done
[ -z "$SAYS" ] || echo "$SAYS"
[ -z "$KILL" ] || kill -"$KILL" $$
exit "${STATUS:-0}"
END
chmod +x "$work/real/lttng"
export PATH="$work/front:$work/real:$PATH" RECORD=$work/record SAVES=$work/saves HOME=$work/home
export PARSED=$work/parsed LTTNG_HOMES=$work/lttng-home LTTNG
echo session=current >"$LTTNG_HOMES/.lttngrc"
unset LTTNG_HOME KUNWIND_LTTNG_SEEN POSIXLY_CORRECT POSIX_ME_HARDER

LTTNG=$(PATH=/usr/bin:/bin command -v lttng)
if [ -z "$LTTNG" ] || "$LTTNG" -n list >/dev/null 2>&1 ||
	! LC_ALL=C "$LTTNG" -n enable-event -k -s s a 2>&1 | grep -q '(channel channel0, session s)$'; then
	LTTNG=
	skip "what LTTng's lttng parses" "no lttng-tools 2.13, or a session daemon runs"
fi

# calls ARGUMENTS...: runs the front end; sets $got (its calls of the real
# lttng), $status, $out and $err
calls() {
	: >"$RECORD"
	rm -f "$PARSED"
	lttng "$@" >"$work/out" 2>"$work/err"
	status=$?
	got=$(cat "$RECORD")
	out=$(cat "$work/out")
	err=$(cat "$work/err")
}

# through ARGUMENTS...: the front end must pass exactly these on, in one call
through() {
	calls "$@"
	is "$got" "$(printf '[%s]' "$@")" "passed on unchanged: lttng $*"
	if [ -n "$LTTNG" ] && [[ $1 = enable-event && $* = *--callstack* ]]; then
		check "LTTng accepts: lttng $*" [ -s "$PARSED" ]
	fi
}
through create demo
through create 'a b' --output='/x y'
through
through --version
through -V enable-event --callstack
through --help
through --nonsense enable-event -k --callstack x
through list --kernel
through enable-event -k --all
through enable-event --kernel sched_switch -c ch -s 'se ss'
through enable-event -u --all
through enable-event -k --filter --callstack x
through enable-event -k -f --callstack x
through enable-event -kf --callstack x
through enable-event -k -- --callstack
through enable-event -kas --callstack
through enable-event -k --loglevel --callstack x
through enable-event -k --channel --callstack x
through enable-event -k -f --callstack=x x
through enable-event -k -- --callstack=x
through enable-event -k x -s --callstack
through start --callstack
through --group enable-event create
through view -e 'babeltrace2 --x'
through help create

# callstack WANTED-ENABLE WANTED-CONTEXT ARGUMENTS...: two calls, the second one
# is add-context
contexts='[--type=callstack-user][--type=vpid][--type=vtid][--type=procname]'
callstack() {
	local enable=$1 context=$2
	shift 2
	calls "$@"
	is "$got" "$enable
$context$contexts" "lttng $*"
	if [ -n "$LTTNG" ] && [ "$1" = enable-event ]; then
		local session channel
		IFS='|' read -r session channel <"$PARSED"
		[ "$session" = current ] && session= || session="[--session][$session]"
		is "[add-context][--kernel]$session[--channel][$channel]" "$context" \
			"LTTng parses the same session and channel: lttng $*"
	fi
}
in_default='[add-context][--kernel][--channel][channel0]'
callstack '[enable-event][--kernel][--syscall][openat,read]' "$in_default" \
	enable-event --kernel --syscall openat,read --callstack
callstack '[enable-event][--kernel][--syscall][openat,read]' "$in_default" \
	enable-event --callstack --kernel --syscall openat,read
callstack '[enable-event][-ka]' "$in_default" enable-event -ka --callstack
callstack '[enable-event][-k][x]' "$in_default" enable-event -k --callstack --callstack x
callstack '[enable-event][-k][a][-c][big]' '[add-context][--kernel][--channel][big]' \
	enable-event -k --callstack a -c big
callstack '[enable-event][-k][a][-cbig]' '[add-context][--kernel][--channel][big]' \
	enable-event -k --callstack a -cbig
callstack '[enable-event][-k][a][-c=big]' '[add-context][--kernel][--channel][big]' \
	enable-event -k --callstack a -c=big
callstack '[enable-event][-kc][big][a]' '[add-context][--kernel][--channel][big]' \
	enable-event -kc big --callstack a
callstack '[enable-event][-akcbig]' '[add-context][--kernel][--channel][big]' \
	enable-event -akcbig --callstack
callstack '[enable-event][-k][a][--channel][big one]' '[add-context][--kernel][--channel][big one]' \
	enable-event -k --callstack a --channel 'big one'
callstack '[enable-event][-k][a][--channel=big][--session=s 1]' \
	'[add-context][--kernel][--session][s 1][--channel][big]' \
	enable-event -k --callstack a --channel=big --session='s 1'
callstack '[enable-event][-k][a][-s][one][-s][two]' \
	'[add-context][--kernel][--session][two][--channel][channel0]' \
	enable-event -k --callstack a -s one -s two
callstack '[enable-event][-k][a][-s][--weird]' \
	'[add-context][--kernel][--session][--weird][--channel][channel0]' \
	enable-event -k --callstack a -s --weird
callstack '[enable-event][-k][--filter][a == "b c"][a]' "$in_default" \
	enable-event -k --callstack --filter 'a == "b c"' a
# LTTng refuses this value after it has parsed all options.
LTTNG='' callstack '[enable-event][-k][--probe][-c][a][-c][real]' '[add-context][--kernel][--channel][real]' \
	enable-event -k --callstack --probe -c a -c real
# Bundles of short options that are easy to misread.
callstack '[enable-event][-kc=][a]' '[add-context][--kernel][--channel][]' \
	enable-event -kc= a --callstack
callstack '[enable-event][-kc==x][a]' '[add-context][--kernel][--channel][=x]' \
	enable-event -kc==x a --callstack
callstack '[enable-event][-kcs][a]' '[add-context][--kernel][--channel][s]' \
	enable-event -kcs --callstack a
callstack '[enable-event][-k][-callstack][a]' '[add-context][--kernel][--channel][allstack]' \
	enable-event -k -callstack --callstack a
callstack '[enable-event][-kas][one]' '[add-context][--kernel][--session][one][--channel][channel0]' \
	enable-event --callstack -kas one
# A value that looks like an option.
callstack '[enable-event][-k][-c][-k][a]' '[add-context][--kernel][--channel][-k]' \
	enable-event -k -c -k --callstack a
callstack '[enable-event][-k][-s][--][a]' '[add-context][--kernel][--session][--][--channel][channel0]' \
	enable-event -k -s -- --callstack a
callstack '[enable-event][-k][--channel][--channel=x][a]' \
	'[add-context][--kernel][--channel][--channel=x]' \
	enable-event -k --channel --channel=x a --callstack
callstack '[enable-event][-k][--channel=a=b][a]' '[add-context][--kernel][--channel][a=b]' \
	enable-event -k --callstack --channel=a=b a
callstack '[enable-event][-k][-f][-c][-c][x][a]' '[add-context][--kernel][--channel][x]' \
	enable-event -k -f -c -c x a --callstack
callstack '[enable-event][-k][-c][--callstack][a]' '[add-context][--kernel][--channel][--callstack]' \
	enable-event -k --callstack -c --callstack a
# The end of the options.
callstack '[enable-event][-k][--][a]' "$in_default" enable-event --callstack -k -- a
callstack '[enable-event][-k][--][--callstack]' "$in_default" \
	enable-event -k --callstack -- --callstack
callstack '[enable-event][-k][-]' "$in_default" enable-event -k - --callstack
POSIX_ME_HARDER=1 callstack '[enable-event][-k][a]' "$in_default" enable-event -k --callstack a
# Repeated and empty options; a value that popt replaces by the next argument.
callstack '[enable-event][-k][-k][a]' "$in_default" \
	enable-event --callstack -k --callstack -k --callstack a --callstack
callstack '[enable-event][-k][-cx][a][--channel][y]' '[add-context][--kernel][--channel][y]' \
	enable-event -k -cx --callstack a --channel y
callstack '[enable-event][-k][--channel=][a]' '[add-context][--kernel][--channel][]' \
	enable-event -k --channel= --callstack a
callstack '[enable-event][-k][-s][][-c][][a]' '[add-context][--kernel][--session][][--channel][]' \
	enable-event -k -s '' --callstack -c '' a
callstack '[enable-event][-ka][]' "$in_default" enable-event -ka '' --callstack
callstack '[enable-event][-ka][-c][!#:+][big]' '[add-context][--kernel][--channel][big]' \
	enable-event -ka -c '!#:+' --callstack big

# refuses WANTED ARGUMENTS...: LTTng refuses an option; the front end must pass
# the option on, in its place
refuses() {
	local want=$1
	shift
	STATUS=2 calls "$@"
	is "$status $got" "2 $want" "passed on for LTTng to refuse: lttng $*"
	if [ -n "$LTTNG" ]; then
		is "$(cat "$PARSED")" '' "LTTng refuses: lttng $*"
	fi
}
refuses '[enable-event][-k][--chan][big][a]' enable-event -k --callstack --chan big a
refuses '[enable-event][-k][--chan=big][a]' enable-event -k --chan=big --callstack a
refuses '[enable-event][--Kernel][a]' enable-event --Kernel a --callstack
refuses '[enable-event][-k][--callstac][a]' enable-event -k --callstac a
refuses '[enable-event][-k][---callstack][a]' enable-event -k ---callstack a
refuses '[enable-event][-k][--callstack-all][a]' enable-event -k --callstack-all --callstack a
refuses '[enable-event][-zk][a]' enable-event -zk a --callstack
refuses '[enable-event][-kz=b][-][a]' enable-event -kz=b - a --callstack
refuses '[enable-event][--kernel=yes][a]' enable-event --kernel=yes --callstack a
refuses '[enable-event][-k=c][a]' enable-event -k=c --callstack a
refuses '[enable-event][--help=me][-k][a]' enable-event --help=me -k --callstack a
refuses '[enable-event][-k][a][-c]' enable-event -k a --callstack -c
refuses '[enable-event][-k][a][--session]' enable-event --callstack -k a --session
POSIX_ME_HARDER=1 refuses '[enable-event][-k][a][--callstack]' enable-event -k a --callstack

for value in '' yes whole =; do
	calls enable-event -k a "--callstack=$value"
	is "$status $got$err" "1 lttng: --callstack=$value: --callstack takes no value" \
		"--callstack=$value is refused with one line, and nothing runs"
done

callstack '[-n][--group][tracing][-v][enable-event][-k][a]' \
	"[--no-sessiond][--group=tracing][--verbose]$in_default" \
	-n --group tracing -v enable-event -k a --callstack
callstack '[-vvng][my group][enable-event][-k][a]' \
	"[--verbose][--verbose][--no-sessiond][--group=my group]$in_default" \
	-vvng 'my group' enable-event -k a --callstack
callstack '[--gr=t][--quie][enable-event][-k][a]' "[--group=t][--quiet]$in_default" \
	--gr=t --quie enable-event -k a --callstack
callstack '[--sessiond-path][/x y][enable-event][-k][a]' "[--sessiond-path=/x y]$in_default" \
	--sessiond-path '/x y' enable-event -k a --callstack
callstack '[--mi][xml][enable-event][-k][a]' "$in_default" --mi xml enable-event -k a --callstack
callstack '[-qmxml][enable-event][-k][a]' "[--quiet]$in_default" -qmxml enable-event -k a --callstack

SAYS='<xml/>' CONTEXT_PRINTS='<more/>' calls --mi=xml enable-event -k a --callstack
is "$out" '<xml/>' "with --mi, only enable-event prints to stdout"

calls enable-event --jul --callstack a
is "$status $got" "1 " "--jul --callstack runs nothing"
is "$err" "lttng: --callstack is for events of the kernel (--kernel) and of programs (--userspace): LTTng has no call \
stacks in other domains" "--jul --callstack prints the reason"
calls enable-event -uc x --callstack a
is "$status $(tr '\n' ' ' <<<"$got" | sed 's/ $//')" "0 [enable-event][-uc][x][a] [add-context][--userspace][--channel][x]\
[--type=\$app.kunwind:stack][--type=vpid][--type=vtid][--type=procname] \
[enable-event][--userspace][--channel][x][lttng_ust_statedump:*] \
[enable-event][--userspace][--channel][x][lttng_ust_lib:*]" "-u --callstack adds the context of programs, and what they load"
calls enable-event --callstack -p a
is "$status $got" "1 " "-p (--python) --callstack runs nothing"

for code in 0 1 2 3 4 5 77 255; do
	STATUS=$code calls start
	is "$status" "$code" "status $code of another command is returned"
	STATUS=$code calls enable-event -k a --callstack
	is "$status $(wc -l <"$RECORD")" "$code $([ "$code" = 0 ] && echo 2 || echo 1)" \
		"status $code of enable-event is returned; add-context runs only after 0"
	CONTEXT_STATUS=$code calls enable-event -k a --callstack
	is "$status" "$code" "status $code of add-context is returned"
done
KILL=TERM calls enable-event -k a --callstack
is "$status" 143 "a signal that kills the real lttng: status 128 + signal"

# The session was started once: LTTng accepts no more contexts.
started='Error: callstack-user: Tracing has already been started once'
advice='lttng: no contexts can be added to a session that was started: `lttng destroy`, then create a new one and use --callstack before its first `lttng start`'
CONTEXT_STATUS=4 CONTEXT_SAYS=$started calls enable-event -k a --callstack -s demo
is "$status" 4 "started session: status of add-context is returned"
is "$err" "$advice" "started session: one line of advice on stderr"
xml() { # DOMAIN CHANNEL CONTEXT...
	local context
	printf '<sessions><session><name>demo</name><domains><domain><type>%s</type>' "$1"
	printf '<channels><channel><name>%s</name><events><event><name>a</name><type>SYSCALL</type></event></events><contexts>' "$2"
	shift 2
	for context in "$@"; do printf '<context><type>%s</type></context>' "$context"; done
	printf '</contexts></channel><channel><name>other</name><contexts/></channel></channels></domain></domains></session></sessions>'
}
has() { # STATUS TEXT SAVED-SESSION ARGUMENTS...
	local want=$1 text=$2
	export SAVED=$3
	shift 3
	CONTEXT_STATUS=4 CONTEXT_SAYS=$started calls enable-event -k a --callstack "$@"
	is "$status" "$want" "started session: $text"
	unset SAVED
}
has 0 "no error if the channel has the contexts" \
	"$(xml KERNEL channel0 VPID CALLSTACK_USER VTID)" -s demo
is "$err" "" "started session: no message if the channel has the contexts"
has 0 "no error if the channel has procname, too" \
	"$(xml KERNEL channel0 PROCNAME VPID CALLSTACK_USER VTID)" -s demo
has 4 "error if a context that stacks need is missing" "$(xml KERNEL channel0 VPID CALLSTACK_USER)" -s demo
has 4 "error if the channel has no contexts" "$(xml KERNEL channel0 VPID CALLSTACK_USER VTID)" -s demo -c other
has 4 "error if only a channel with a longer name has the contexts" \
	"$(xml KERNEL channel01 VPID CALLSTACK_USER VTID)" -s demo
has 4 "error if the channel does not exist" "$(xml KERNEL channel0 VPID CALLSTACK_USER VTID)" -s demo -c third
has 4 "error if the channel belongs to another domain" "$(xml UST channel0 VPID CALLSTACK_USER VTID)" -s demo
has 0 "no error if the named channel has the contexts" "$(xml KERNEL big VPID CALLSTACK_USER VTID)" -s demo -c big
has 4 "error if no session is named or current" "$(xml KERNEL channel0 VPID CALLSTACK_USER VTID)"
echo session=mine >"$HOME/.lttngrc"
has 0 "the session in .lttngrc is the current one" "$(xml KERNEL channel0 VPID CALLSTACK_USER VTID)"
is "$(tail -n 1 "$SAVES" | sed 's/.*\[--\]//')" "[mine]" "started session: the session in .lttngrc is saved by its name"
mkdir "$work/other-home"
echo session=theirs >"$work/other-home/.lttngrc"
LTTNG_HOME=$work/other-home has 0 "the session in .lttngrc of LTTNG_HOME is the current one" \
	"$(xml KERNEL channel0 VPID CALLSTACK_USER VTID)"
is "$(tail -n 1 "$SAVES" | sed 's/.*\[--\]//')" "[theirs]" "started session: LTTNG_HOME comes before HOME"
is "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'kunwind-lttng-*' | wc -l)" 0 "started session: no temporary directory is left"
CONTEXT_STATUS=4 CONTEXT_SAYS='Error: callstack-user: Context unavailable on this kernel' \
	calls enable-event -k a --callstack -s demo
is "$err" 'Error: callstack-user: Context unavailable on this kernel' "other errors of add-context are LTTng's, without advice"

# A session that already has the channel kunwind: LTTng wants the name of the
# channel, so channel0 is named.
channels() { # CHANNEL...
	local channel
	printf '<sessions><session><domains><domain><type>KERNEL</type><channels>'
	for channel in "$@"; do printf '<channel><name>%s</name></channel>' "$channel"; done
	printf '</channels></domain></domains></session></sessions>'
}
named() { # TEXT WANTED ARGUMENTS...
	local text=$1 wanted=$2
	shift 2
	LTTNG='' calls "$@"
	is "$(head -n 1 <<<"$got")" "$wanted" "$text: lttng $*"
}
export SAVED
SAVED=$(channels kunwind channel0)
for option in '' --callstack; do
	named "channel0 and kunwind: channel0 is named" '[enable-event][--channel=channel0][-k][a]' \
		enable-event -k a $option
	named "channel0 and kunwind: the user's channel stays" '[enable-event][-k][a][-c][b]' \
		enable-event -k a -c b $option
done
is "$(sed -n 2p <<<"$got")" "[add-context][--kernel][--channel][b]$contexts" "a named channel gets the contexts"
named "channel0 and kunwind: user space is left alone" '[enable-event][-u][a]' enable-event -u a
named "channel0 and kunwind: other commands are left alone" '[disable-event][-k][a]' disable-event -k a
named "the general options stay" '[-n][enable-event][--channel=channel0][-k][a]' -n enable-event -k a
is "$(tail -n 1 "$SAVES" | sed 's/\[--output.*\[--\]//')" "[--no-sessiond][save][mine]" "the current session is looked at"
named "the session that the user names is looked at" '[enable-event][--channel=channel0][-k][-s][other][a]' \
	enable-event -k -s other a
is "$(tail -n 1 "$SAVES" | sed 's/\[--output.*\[--\]//')" "[save][other]" "the named session is looked at"
SAVED=$(channels big channel0)
named "no channel kunwind: no channel is named" '[enable-event][-k][a]' enable-event -k a
SAVED=$(channels kunwind big)
named "no channel0: no channel is named" '[enable-event][-k][a]' enable-event -k a --callstack
unset SAVED

SAYS='real help' calls enable-event --help
is "$(head -n 1 <<<"$out") $(grep -c -- '--callstack$' <<<"$out")" "real help 1" "enable-event --help: LTTng's help, then --callstack"
is "$got" "[enable-event][--help]" "enable-event --help runs the real lttng"
calls help enable-event
is "$(grep -c -- '--callstack$' <<<"$out") $got" "1 [help][enable-event]" "help enable-event lists --callstack"
calls enable-event --list-options
is "$out" "--callstack" "enable-event --list-options lists --callstack, for completion"
STATUS=1 calls enable-event --help
is "$status $(grep -c -- '--callstack$' <<<"$out")" "1 1" "enable-event --help fails (no man): its status, and --callstack is listed"
STATUS=1 calls help enable-event
is "$status $(grep -c -- '--callstack$' <<<"$out")" "1 1" "help enable-event fails: its status, and --callstack is listed"
STATUS=1 calls enable-event --list-options
is "$status $out" "1 " "enable-event --list-options fails: its status, and nothing is added"

trap '' CHLD
STATUS=4 calls enable-event -k a --callstack
trap - CHLD
is "$status" 4 "SIGCHLD ignored by the parent: the real lttng's exit status"

# The search for the real lttng in PATH.
mkdir "$work/copy" "$work/none"
cp -L "$build/lttng" "$work/copy/lttng"
for path in front:copy:front:real front:copy:real:front:copy copy:front:real real:copy:front; do
	: >"$RECORD"
	PATH=$work/${path//:/:$work/} "$work/front/lttng" "$path" 2>&1
	is "$(cat "$RECORD")" "[$path]" "several front ends in PATH: the real lttng runs ($path)"
done
PATH=$work/real:$work/front:/usr/bin:/bin
: >"$RECORD"
(cd "$work/front" && PATH=:$work/real:/usr/bin:/bin ./lttng three)
is "$(cat "$RECORD")" "[three]" "front end in the current directory, which is in PATH: the real lttng runs"
out=$(PATH=$work/front:$work/copy:$work/none "$work/front/lttng" x 2>&1)
is "$? $(grep -c 'no other lttng in PATH' <<<"$out")" "127 1" "no real lttng in PATH: status 127 and a message"
PATH=$work/front:$work/real:/usr/bin:/bin
is "$(ECHO_NAME=1 lttng x)" "name=$work/real/lttng" "the real lttng runs by its path"
input=$(echo text | (printf '#!/bin/sh\ncat\n' >"$work/real/lttng"; lttng x))
is "$input" text "the real lttng reads standard input"

done_testing
